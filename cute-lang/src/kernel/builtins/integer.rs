//! Functions of integers.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::is_signed;
use crate::kernel::value::{Num, Value};
use cute_ptx::ast::Type;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "min(a, b)",
        apply: min,
    },
    Builtin {
        signature: "max(a, b)",
        apply: max,
    },
    Builtin {
        signature: "ceil_div(a, b)",
        apply: ceil_div,
    },
    Builtin {
        signature: "bits::<T>()",
        apply: bits,
    },
];

fn min(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Min)
}

fn max(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Max)
}

fn extremum(b: &mut Builder, call: &Call, op: Op) -> Result<Value> {
    call.num(0)?;
    call.num(1)?;
    b.integers(op, &call.args[0].value, &call.args[1].value)
}

/// ⌈a / b⌉, computed as (a + b − 1) / b. Integers of 8 and 16 bits are widened to 32, so that the sum does not wrap.
fn ceil_div(b: &mut Builder, call: &Call) -> Result<Value> {
    let (x, y) = (call.num(0)?, call.num(1)?);
    if let Num::Const(divisor) = y
        && divisor < 1
    {
        return Err(call.error_at(1, format!("the divisor is at least 1, not {divisor}")));
    }
    let ty = b.common_type(&call.args[0].value, &call.args[1].value)?;
    let (x, y) = (widen(b, x)?, widen(b, y)?);
    let less = b.sub(&y, &Num::Const(1))?;
    let sum = b.add(&x, &less)?;
    let quotient = match (b.div(&sum, &y)?, ty) {
        (Num::Reg(quotient), Some(ty)) => Num::Reg(b.convert(&quotient, ty)?),
        (known, _) => known,
    };
    Ok(quotient.typed(ty))
}

fn widen(b: &mut Builder, num: Num) -> Result<Num> {
    match num {
        Num::Reg(narrow) if narrow.ty.bits() < 32 => {
            let wide = if is_signed(narrow.ty) {
                Type::S32
            } else {
                Type::U32
            };
            Ok(Num::Reg(b.convert(&narrow, wide)?))
        }
        num => Ok(num),
    }
}

fn bits(_: &mut Builder, call: &Call) -> Result<Value> {
    Ok(Value::Int(call.element()?.bits().into(), None))
}
