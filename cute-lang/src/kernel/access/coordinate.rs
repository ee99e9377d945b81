//! Coordinates of elements in global memory, as numbers of 32 or 64 bits.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::{Cmp, Op};
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
            let from_end = format!("`extent(x, 0) - {}`", known.unsigned_abs());
            Err(b.error(format!("coordinate {known} is below 0: counted from the end of mode 0 of x, it is {from_end}")))
        }
        Some(known) => Ok(known),
        None => Err(b.error(no_coordinate(coordinate))),
    }
}

/// The error of a value that is no coordinate.
pub(crate) fn no_coordinate(value: &Value) -> String {
    let hint = match value {
        Value::Option(_) => ": `_` keeps a mode",
        Value::Range(..) => ": a part of a tensor is a tile, `local_tile(x, (32, 64), (i, j))`",
        _ => "",
    };
    let kind = value.kind();
    format!("a coordinate is an integer, `_` or a tuple of these, not {kind}{hint}")
}

/// The sum of two coordinates, of 64 bits if one of them has 64.
///
/// A coordinate in a register is exact or outside of every tensor: then it is at least half of the range of its type, which no extent
/// exceeds. A sum that may wrap is computed from coordinates limited to this half. If `proven` says that the plain sum is inside, it stays
/// as it is: the kernel has compared it.
pub(crate) fn sum(
    b: &mut Builder,
    a: &Num,
    c: &Num,
    proven: impl Fn(&Builder, &Num) -> bool,
) -> Result<Num> {
    if let (Num::Const(a), Num::Const(c)) = (a, c) {
        return Ok(Num::Const(a + c));
    }
    let (a, c, ty) = match is_wide(a) || is_wide(c) {
        true => (widened(b, a)?, widened(b, c)?, Type::U64),
        false => (a.clone(), c.clone(), Type::U32),
    };
    if b.known.greatest(&a) + b.known.greatest(&c) < 1 << ty.bits() {
        return b.add(&a, &c);
    }
    let half = half_of(ty);
    let is_known = |num: &Num| num.constant().is_some_and(|known| known > half);
    if !is_known(&a) && !is_known(&c) {
        let start = b.check_length()?;
        let plain = b.add(&a, &c)?;
        if proven(b, &plain) {
            return Ok(plain);
        }
        b.split_off(start);
    }
    let [(a, greatest_a), (c, greatest_c)] = [at_most(b, &a, half)?, at_most(b, &c, half)?];
    let sum = b.add(&a, &c)?;
    match greatest_a + greatest_c {
        // Only twice the half wraps, to 0.
        greatest if greatest >> ty.bits() != 0 => b.binary(Op::Max, &sum, &c),
        greatest => Ok(limited(b, sum, greatest)),
    }
}

/// The coordinate of the first element of a tile, from the tile's number and extent. It is exact, or outside of every tensor, as in
/// [`sum`].
pub(crate) fn first_of_tile(
    b: &mut Builder,
    number: &Num,
    extent: i64,
    proven: impl Fn(&Builder, &Num) -> bool,
) -> Result<Num> {
    let (ty, tile) = match number {
        Num::Reg(scalar) if extent != 1 => (scalar.ty, Num::from(extent)),
        _ => return b.mul(number, &Num::from(extent)),
    };
    let (all, extent) = (1i128 << ty.bits(), i128::from(extent));
    if b.known.is_below_known(number, all / extent) {
        let first = b.mul(number, &tile)?;
        return Ok(limited(b, first, all - extent));
    }
    let start = b.check_length()?;
    let plain = b.mul(number, &tile)?;
    if proven(b, &plain) {
        return Ok(plain);
    }
    b.split_off(start);
    let (number, greatest) = at_most(b, number, (half_of(ty) + extent - 1) / extent)?;
    let first = b.mul(&number, &tile)?;
    Ok(limited(b, first, greatest * extent))
}

/// The minimum of a coordinate and a limit, and an upper bound of the result.
pub(crate) fn at_most(b: &mut Builder, num: &Num, limit: i128) -> Result<(Num, i128)> {
    let greatest = b.known.greatest(num).min(limit);
    Ok(match num {
        Num::Const(_) => (Num::Const(greatest), greatest),
        Num::Reg(_) if b.known.is_below_known(num, limit) => (num.clone(), greatest.min(limit - 1)),
        Num::Reg(_) if b.known.is_below_known(num, limit + 1) => (num.clone(), greatest),
        Num::Reg(_) => (b.binary(Op::Min, num, &Num::Const(limit))?, limit),
    })
}

/// Half of the range of an unsigned type. The greatest extent is that of 32 bits.
fn half_of(ty: Type) -> i128 {
    1 << (ty.bits() - 1)
}

/// A number that has just been computed, with its upper bound.
fn limited(b: &mut Builder, num: Num, greatest: i128) -> Num {
    if let Num::Reg(register) = &num {
        b.known.always(register, Cmp::Le, &Num::Const(greatest));
    }
    num
}

/// Whether a coordinate has 64 bits.
pub(crate) fn is_wide(num: &Num) -> bool {
    matches!(num, Num::Reg(scalar) if scalar.ty == Type::U64)
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
        Num::Reg(scalar) if scalar.ty != Type::U64 => {
            let wide = b.convert(scalar, Type::U64)?;
            b.known.limit_bits(&wide, b.known.possible_bits(num));
            b.known.always(&wide, Cmp::Le, num);
            Ok(limited(b, wide.into(), b.known.greatest(num)))
        }
        known => Ok(known.clone()),
    }
}
