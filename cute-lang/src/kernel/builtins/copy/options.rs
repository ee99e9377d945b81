//! The options of copies.

use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::value::Value;
use cute_ptx::table::{Modifier, Modifiers};
use syn::Result;

/// What the loads or stores of a copy have as modifiers, besides their vectors and types.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// The state space.
    space: Modifier,
    /// The eviction hint of a line.
    line: Option<Modifier>,
    /// How many bytes the L2 cache prefetches on a miss.
    fetch: Option<Modifier>,
}

impl Options {
    /// Those of a copy without hints.
    pub(super) fn of(space: Modifier) -> Self {
        Self {
            space,
            line: None,
            fetch: None,
        }
    }
}

impl Modifiers for Options {
    fn push_to(self, modifiers: &mut Vec<Modifier>) {
        (self.space, self.line, self.fetch).push_to(modifiers);
    }
}

/// Words for the eviction hints of loads and stores of global memory.
const LINES: &[(&str, Modifier)] = &[
    ("STREAMING", Modifier::Cs),
    ("EVICT_FIRST", Modifier::L1EvictFirst),
    ("EVICT_LAST", Modifier::L1EvictLast),
    ("NO_ALLOCATE", Modifier::L1NoAllocate),
];

/// Words for the prefetch sizes of loads of global memory.
const FETCHES: &[(&str, Modifier)] = &[
    ("L2_64B", Modifier::L2Prefetch64B),
    ("L2_128B", Modifier::L2Prefetch128B),
    ("L2_256B", Modifier::L2Prefetch256B),
];

/// The options of a copy of global memory. If argument `index` is given, it is its hint: a word of one of the tables, or one of each. For a
/// copy from global memory to global memory, the store only has the first part.
pub(super) fn options(call: &Call, index: usize, direction: Direction) -> Result<Options> {
    let plain = Options::of(Modifier::Global);
    let Some(argument) = call.args.get(index) else {
        return Ok(plain);
    };
    let found = match &argument.value {
        Value::Tuple(words) => match &words[..] {
            [line, fetch] => Some((find(LINES, line), find(FETCHES, fetch)))
                .filter(|(line, fetch)| line.is_some() && fetch.is_some()),
            _ => None,
        },
        word => Some((find(LINES, word), find(FETCHES, word)))
            .filter(|(line, fetch)| line.is_some() || fetch.is_some()),
    };
    let Some((line, fetch)) = found else {
        return Err(call.mismatch(
            index,
            "STREAMING, EVICT_FIRST, EVICT_LAST or NO_ALLOCATE, for a load also L2_64B, L2_128B or L2_256B, or two of these as in \
             (NO_ALLOCATE, L2_256B)",
        ));
    };
    match direction {
        Direction::Load => Ok(Options {
            line,
            fetch,
            ..plain
        }),
        Direction::Store if fetch.is_some() && !matches!(call.args[0].value, Value::Global(_)) => {
            Err(call.error_at(
                index,
                "a store fetches nothing: L2_64B, L2_128B and L2_256B belong to loads",
            ))
        }
        Direction::Store => Ok(Options { line, ..plain }),
    }
}

fn find(words: &[(&str, Modifier)], value: &Value) -> Option<Modifier> {
    let mut words = words.iter();
    words.find_map(|(word, modifier)| {
        matches!(value, Value::Word(given) if given == word).then_some(*modifier)
    })
}
