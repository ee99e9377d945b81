//! Coordinates of elements in global memory, as numbers of 32 or 64 bits.

use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Num, Value};
use cute_ptx::ast::Type;
use syn::Result;

/// A coordinate as a number of type `u32`, or of `u64` where the kernel gives 64 bits.
pub(crate) fn number(b: &mut Builder, coordinate: &Value) -> Result<Num> {
    match coordinate.as_num() {
        Some(Num::Reg(scalar)) => {
            let ty = match scalar.ty.bits() {
                64 => Type::U64,
                _ => Type::U32,
            };
            Ok(b.convert(&scalar, ty)?.into())
        }
        Some(Num::Const(known)) if known < 0 => {
            Err(b.error(format!("coordinate {known} is below 0")))
        }
        Some(known) => Ok(known),
        None => Err(b.error(format!(
            "a coordinate is an integer, `_` or a tuple of these, not {}",
            coordinate.kind()
        ))),
    }
}

/// The sum of two coordinates, of 64 bits if one of them has 64.
pub(crate) fn sum(b: &mut Builder, a: &Num, c: &Num) -> Result<Num> {
    let wide = |num: &Num| matches!(num, Num::Reg(scalar) if scalar.ty == Type::U64);
    if !wide(a) && !wide(c) {
        return b.add(a, c);
    }
    let (a, c) = (widened(b, a)?, widened(b, c)?);
    b.add(&a, &c)
}

/// A coordinate with 64 bits if another one has 64.
pub(crate) fn like(b: &mut Builder, num: &Num, other: &Num) -> Result<Num> {
    match other {
        Num::Reg(scalar) if scalar.ty == Type::U64 => widened(b, num),
        _ => Ok(num.clone()),
    }
}

/// A coordinate that may be below 0 with 64 bits.
pub(crate) fn sign_extended(b: &mut Builder, num: &Num) -> Result<Num> {
    match num {
        Num::Reg(scalar) if scalar.ty == Type::U32 => {
            let signed = b.convert(scalar, Type::S32)?;
            let wide = b.convert(&signed, Type::S64)?;
            Ok(b.convert(&wide, Type::U64)?.into())
        }
        wide => widened(b, wide),
    }
}

/// A coordinate with 64 bits.
pub(crate) fn widened(b: &mut Builder, num: &Num) -> Result<Num> {
    match num {
        Num::Reg(scalar) => Ok(b.convert(scalar, Type::U64)?.into()),
        known => Ok(known.clone()),
    }
}
