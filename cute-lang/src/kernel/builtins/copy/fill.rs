//! The values of registers for elements that are not loaded.

use crate::kernel::builtins::index::element_register;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::number_type;
use crate::kernel::value::{Element, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::op;
use syn::Result;

/// A register of a fragment with this value in each element.
pub(super) fn fill_word(b: &mut Builder, element: Element, value: &Value) -> Result<Operand> {
    if number_type(element).is_none() {
        let zero = matches!(value, Value::Int(0, _)) || value.as_float() == Some(0.0);
        return match zero {
            true => Ok(Operand::Int(0)),
            false => Err(b.error(format!(
                "the fill of elements of `{element}` is 0, not {}",
                value.kind()
            ))),
        };
    }
    let register = element_register(b, element, value)?;
    let word = match element.bits() {
        8 => {
            let byte = b.compute(
                Type::U32,
                op::Cvt,
                (Type::U32, Type::U16),
                [register.operand()],
            );
            // The selector takes the lowest byte four times.
            let operands = [byte.operand(), Operand::Int(0), Operand::Int(0)];
            b.compute(Type::B32, op::Prmt, (), operands)
        }
        16 => {
            let halves = Operand::Vector(vec![register.operand(), register.operand()]);
            b.compute(Type::B32, op::Mov, Type::B32, [halves])
        }
        _ => register,
    };
    Ok(word.operand())
}
