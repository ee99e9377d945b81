//! What the caches are told of a copy.

use crate::kernel::builtins::call::Call;
use crate::kernel::value::Value;
use cute_ptx::table::Modifier;
use syn::Result;

/// The words, and what loads and stores of global memory have for them.
const HINTS: &[(&str, Modifier)] = &[
    ("STREAMING", Modifier::Cs),
    ("EVICT_FIRST", Modifier::L1EvictFirst),
    ("EVICT_LAST", Modifier::L1EvictLast),
    ("NO_ALLOCATE", Modifier::L1NoAllocate),
];

/// The hint, if argument `index` is given.
pub(super) fn hint(call: &Call, index: usize) -> Result<Option<Modifier>> {
    let Some(argument) = call.args.get(index) else {
        return Ok(None);
    };
    let found = HINTS
        .iter()
        .find(|(word, _)| matches!(argument.value, Value::Word(given) if given == *word));
    match found {
        Some((_, modifier)) => Ok(Some(*modifier)),
        None => Err(call.mismatch(index, "STREAMING, EVICT_FIRST, EVICT_LAST or NO_ALLOCATE")),
    }
}
