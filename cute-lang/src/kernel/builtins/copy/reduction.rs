//! Reductions by bulk copies: operations on old and new elements of global memory.

use crate::kernel::builtins::call::Call;
use crate::kernel::value::Element;
use crate::kernel::value::types::{alternatives, is_integer};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::ReductionOp;
use syn::Result;

/// The operations, as the kernel language and as PTX write them.
const OPERATIONS: &[(&str, ReductionOp)] = &[
    ("add", ReductionOp::Add),
    ("min", ReductionOp::Min),
    ("max", ReductionOp::Max),
    ("inc", ReductionOp::Inc),
    ("dec", ReductionOp::Dec),
    ("and", ReductionOp::And),
    ("or", ReductionOp::Or),
    ("xor", ReductionOp::Xor),
];

/// The names of the operations in words.
pub(in crate::kernel::builtins) const NAMES: &str = "add, min, max, inc, dec, and, or or xor";

/// Argument `index` as an operation on elements, and the PTX type of the operation.
pub(in crate::kernel::builtins) fn reduction(
    call: &Call,
    index: usize,
    element: Element,
) -> Result<(ReductionOp, Type)> {
    let word = call.operation(index);
    let named = OPERATIONS.iter().find(|(name, _)| Some(*name) == word);
    let Some(&(name, op)) = named else {
        return Err(call.mismatch(index, NAMES));
    };
    match instruction_type(op, Type::of(element)) {
        Some(ty) => Ok((op, ty)),
        None => {
            let types = alternatives(|ty| instruction_type(op, ty).is_some());
            let message =
                format!("`{name}` works on elements of type {types} here, not on `{element}`");
            Err(call.error_at(index, message))
        }
    }
}

/// The PTX type of an operation on elements of this type; `None` if there is none.
fn instruction_type(op: ReductionOp, ty: Type) -> Option<Type> {
    let wide = is_integer(ty) && matches!(ty.bits(), 32 | 64);
    let half = matches!(ty, Type::F16 | Type::Bf16);
    match op {
        // A wrapping sum has the same bits for signed and unsigned integers.
        ReductionOp::Add if ty == Type::S64 => Some(Type::U64),
        ReductionOp::Add => (wide || half || matches!(ty, Type::F32 | Type::F64)).then_some(ty),
        ReductionOp::Min | ReductionOp::Max => (wide || half).then_some(ty),
        ReductionOp::Inc | ReductionOp::Dec => (ty == Type::U32).then_some(ty),
        _ => wide.then(|| ty.untyped()),
    }
}
