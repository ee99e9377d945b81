//! Operations of the algebra on a tensor in shared memory that depend on its layout with the swizzle, or on the width of its elements. They
//! are computed at expansion and emit nothing.

use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Tensor, Value};
use cute_algebra::Value as Algebra;
use cute_algebra::operations::Operation;
use cute_chip::shared::WIDEST_ACCESS;
use syn::Result;

/// The inputs of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The layout alone.
    Layout,
    /// The layout and the width of an element.
    Elements,
    /// The layout, the width of an element, and the address at which the tensor begins.
    Addresses,
}

/// The operations, and whether they return the tensor itself if the answer is yes.
#[rustfmt::skip] // A table is read by its rows.
const QUESTIONS: &[(&str, Question, bool)] = &[
    ("alignment", Question::Layout, false),
    ("bank_conflicts", Question::Addresses, false),
    ("bijective", Question::Layout, true),
    ("conflict_free", Question::Addresses, true),
    ("dense", Question::Layout, true),
    ("injective", Question::Layout, true),
    ("is_bijective", Question::Layout, false),
    ("is_dense", Question::Layout, false),
    ("is_injective", Question::Layout, false),
    ("matrix_operand", Question::Elements, false),
    ("vector_width", Question::Layout, false),
    ("wgmma_operand", Question::Elements, false),
];

/// The answer, if the operation is one of [`QUESTIONS`].
pub(crate) fn ask(
    b: &mut Builder,
    operation: &Operation,
    call: &Call,
    tensor: &Tensor,
) -> Result<Option<Value>> {
    let Some((_, question, gives_back)) =
        QUESTIONS.iter().find(|(name, ..)| *name == operation.name)
    else {
        return Ok(None);
    };
    let layout = match tensor.layout.as_layout() {
        Some(plain) => Algebra::from(plain),
        None => Algebra::from(&tensor.layout),
    };
    let mut operands = vec![layout];
    if *question != Question::Layout {
        operands.push(Algebra::Int(tensor.element.bits().into()));
    }
    if *question == Question::Addresses && !same_for_all(b, tensor) {
        return Err(call.error_at(
            0,
            "the banks of this part of the tensor depend on where it begins, which is known only when the kernel runs",
        ));
    }
    let answer = call.apply(operation, operands)?;
    Ok(Some(match gives_back {
        true => Value::Tensor(tensor.clone()),
        false => answer,
    }))
}

/// Whether bank conflicts are the same for every run-time offset. This holds if the offset has no bit in common with the offsets within the
/// tensor and is a multiple of the widest access: then the swizzle of the sum is the xor of the two swizzles.
fn same_for_all(b: &Builder, tensor: &Tensor) -> bool {
    let dynamic = b.known.possible_bits(&tensor.dynamic) as i64;
    let reach = tensor.layout.offset() + tensor.layout.layout().cosize();
    let room = u64::try_from(reach).ok();
    let room = room.and_then(|reach| tensor.element.room_of(reach));
    let bytes = room.unwrap_or(u64::MAX).max(WIDEST_ACCESS.into());
    let span = bytes.checked_next_power_of_two().unwrap_or(0);
    dynamic & span.wrapping_sub(1) as i64 == 0
}
