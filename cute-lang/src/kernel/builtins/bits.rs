//! Functions of the bits of numbers. The type of a known integer gives its number of bits.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{
    half_bits, instruction_type, is_float, is_signed, number_type, wrap,
};
use crate::kernel::value::{Num, NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Half, Takes};
use cute_ptx::table::op::{self, Instruction};
use syn::{Error, Result};

#[rustfmt::skip]
pub(super) const ROWS: &[Builtin] = &[
    Builtin { signature: "popc(x)", apply: |b, call| count(b, call, known_popc, popc) },
    Builtin { signature: "count_ones(x)", apply: |b, call| count(b, call, known_popc, popc) },
    Builtin { signature: "clz(x)", apply: |b, call| count(b, call, known_clz, clz) },
    Builtin { signature: "leading_zeros(x)", apply: |b, call| count(b, call, known_clz, clz) },
    Builtin { signature: "trailing_zeros(x)", apply: |b, call| count(b, call, known_ctz, ctz) },
    Builtin { signature: "brev(x)", apply: brev },
    Builtin { signature: "reverse_bits(x)", apply: brev },
    Builtin { signature: "bfe(x, position, length)", apply: bfe },
    Builtin { signature: "bfi(field, x, position, length)", apply: bfi },
    Builtin { signature: "mul_hi(x, y)", apply: mul_hi },
    Builtin { signature: "to_bits(x)", apply: |b, call| call.elementwise(b, |_| false, to_bits) },
    Builtin { signature: "from_bits::<T>(bits)", apply: |b, call| call.elementwise(b, |_| false, from_bits) },
];

/// The number of certain bits of an integer, as u32. `known` counts in the lowest bits of 64, and `emit` in a register.
fn count(
    b: &mut Builder,
    call: &Call,
    known: fn(u64, u32) -> u32,
    emit: fn(&mut Builder, &Scalar) -> Result<Scalar>,
) -> Result<Value> {
    let x = match call.num(0)? {
        Num::Reg(x) => x,
        Num::Const(x) => {
            let width = typed(call, 0)?.bits();
            let count = known(low_bits(x, width), width);
            return Ok(Value::Int(count.into(), NumberType::Is(Type::U32)));
        }
    };
    let count = emit(b, &x)?;
    b.known.limit_bits(&count, 0x7f);
    Ok(count.into())
}

fn known_popc(bits: u64, _: u32) -> u32 {
    bits.count_ones()
}

fn known_clz(bits: u64, width: u32) -> u32 {
    bits.leading_zeros() - (64 - width)
}

fn known_ctz(bits: u64, width: u32) -> u32 {
    bits.trailing_zeros().min(width)
}

fn popc(b: &mut Builder, x: &Scalar) -> Result<Scalar> {
    let wide = widened(b, x)?;
    Ok(of_bits(b, op::Popc, Type::U32, &wide))
}

fn clz(b: &mut Builder, x: &Scalar) -> Result<Scalar> {
    let wide = widened(b, x)?;
    let zeros = of_bits(b, op::Clz, Type::U32, &wide);
    let more = wide.ty.bits() - x.ty.bits();
    let zeros = b.sub(&zeros.into(), &Num::from(more))?;
    b.to_register(&zeros, Type::U32)
}

fn ctz(b: &mut Builder, x: &Scalar) -> Result<Scalar> {
    let wide = widened(b, x)?;
    let wide = match x.ty.bits() {
        // The first bit above the integer ends the count of zeros.
        bits @ (8 | 16) => {
            let marked = b.or(&wide.into(), &Num::from(1u32 << bits))?;
            b.to_register(&marked, Type::U32)?
        }
        _ => wide,
    };
    let reversed = of_bits(b, op::Brev, wide.ty, &wide);
    Ok(of_bits(b, op::Clz, Type::U32, &reversed))
}

fn brev(b: &mut Builder, call: &Call) -> Result<Value> {
    let x = match call.num(0)? {
        Num::Reg(x) => x,
        Num::Const(x) => {
            let ty = typed(call, 0)?;
            let reversed = low_bits(x, ty.bits()).reverse_bits() >> (64 - ty.bits());
            return Ok(Value::Int(wrap(reversed.into(), ty), NumberType::Is(ty)));
        }
    };
    let wide = widened(b, &x)?;
    let reversed = of_bits(b, op::Brev, wide.ty, &wide);
    let more = wide.ty.bits() - x.ty.bits();
    let reversed = b.shr(&reversed.into(), &Num::from(more))?;
    let reversed = b.to_register(&reversed, wide.ty)?;
    Ok(b.convert(&reversed, x.ty)?.into())
}

/// The bits from `position` on, zero-extended or, for a signed type, sign-extended from the highest bit of the field.
fn bfe(b: &mut Builder, call: &Call) -> Result<Value> {
    let ty = typed(call, 0)?;
    let bounds = field(call, ty, 1)?;
    if let (Num::Const(x), Some((position, length))) = (call.num(0)?, bounds) {
        let field = i128::from(low_bits(x >> position, length));
        let above = match is_signed(ty) && length > 0 {
            true => field >> (length - 1) & 1,
            false => 0,
        };
        return Ok(Value::Int(field - (above << length), NumberType::Is(ty)));
    }
    // An integer of 32 bits with the same value has the same bits, and copies of the sign above them.
    let computed = widest(ty, is_signed(ty));
    let x = b.to_register(&call.num(0)?, ty)?;
    let x = b.convert(&x, computed)?.operand();
    let operands = [x, bound(b, call, 1)?, bound(b, call, 2)?];
    let field = b.compute(computed, op::Bfe, computed, operands);
    Ok(b.convert(&field, ty)?.into())
}

/// x with its bits from `position` on replaced by the lowest bits of `field`.
fn bfi(b: &mut Builder, call: &Call) -> Result<Value> {
    let (field_value, x) = (&call.args[0].value, &call.args[1].value);
    let (from, into) = (call.num(0)?, call.num(1)?);
    let ty = b.common_type(field_value, x)?;
    let ty = typed_as(b, call, 1, ty)?;
    let bounds = field(call, ty, 2)?;
    if let (Num::Const(from), Num::Const(into), Some((position, length))) = (&from, &into, bounds) {
        let mask = i128::from(low_bits(-1, length)) << position;
        let value = into & !mask | (from << position) & mask;
        return Ok(Value::Int(wrap(value, ty), NumberType::Is(ty)));
    }
    let computed = widest(ty, false);
    let mut operands = Vec::with_capacity(4);
    for num in [&from, &into] {
        let register = b.to_register(num, ty)?;
        operands.push(b.convert(&register, computed)?.operand());
    }
    operands.extend([bound(b, call, 2)?, bound(b, call, 3)?]);
    let whole = b.compute(computed, op::Bfi, computed.untyped(), operands);
    Ok(b.convert(&whole, ty)?.into())
}

/// The upper half of the product.
fn mul_hi(b: &mut Builder, call: &Call) -> Result<Value> {
    let (x, y) = (call.num(0)?, call.num(1)?);
    let ty = b.common_type(&call.args[0].value, &call.args[1].value)?;
    let ty = typed_as(b, call, 0, ty)?;
    let (register, other) = match (&x, &y) {
        (Num::Const(x), Num::Const(y)) => {
            // Two of u64 have a product of 128 bits, and others of at most 127.
            let high = match is_signed(ty) {
                true => (x * y) >> ty.bits(),
                false => ((*x as u128 * *y as u128) >> ty.bits()) as i128,
            };
            return Ok(Value::Int(high, NumberType::Is(ty)));
        }
        (Num::Reg(x), y) | (y, Num::Reg(x)) => (x.operand(), y.operand()),
    };
    let computed = instruction_type(ty);
    if computed.bits() == ty.bits() {
        let high = b.compute(ty, op::Mul, (Half::Hi, computed), [register, other]);
        return Ok(high.into());
    }
    // A product of 8-bit integers has 16 bits.
    let product = b.compute(ty, op::Mul, (Half::Lo, computed), [register, other]);
    let shift = [product.operand(), Operand::Int(ty.bits().into())];
    Ok(b.compute(ty, op::Shr, computed, shift).into())
}

/// The common type of two integers, or the type of argument `index` if the common type is not known.
fn typed_as(b: &Builder, call: &Call, index: usize, common: NumberType) -> Result<Type> {
    match b.inference.now(common) {
        NumberType::Is(ty) => Ok(ty),
        _ => typed(call, index),
    }
}

/// The type of an integer. A known one without a type has no number of bits.
fn typed(call: &Call, index: usize) -> Result<Type> {
    call.num(index)?;
    let x = &call.args[index].value;
    x.integer_type().ok_or_else(|| {
        let message = "depends on its number of bits: give it a type, such as `5u32`";
        call.error_at(index, format!("the result for {} {message}", x.kind()))
    })
}

/// The position and the length of a field, if both are known. They are arguments `index` and the one after it.
fn field(call: &Call, ty: Type, index: usize) -> Result<Option<(u32, u32)>> {
    let width = ty.bits();
    let known = |index| match call.num(index)? {
        Num::Const(_) => call.constant_in(index, 0..=width).map(Some),
        Num::Reg(_) => Ok(None),
    };
    let (Some(position), Some(length)) = (known(index)?, known(index + 1)?) else {
        return Ok(None);
    };
    if position + length > width {
        return Err(call.error_at(
            index,
            format!("{length} bits from bit {position} on are not in an integer of {width} bits"),
        ));
    }
    Ok(Some((position, length)))
}

/// A position or a length as an operand of 32 bits.
fn bound(b: &mut Builder, call: &Call, index: usize) -> Result<Operand> {
    Ok(match call.num(index)? {
        Num::Const(known) => Operand::Int(known),
        Num::Reg(register) => b.convert(&register, Type::U32)?.operand(),
    })
}

/// The lowest bits of an integer.
fn low_bits(value: i128, width: u32) -> u64 {
    value as u64 & u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

/// The type of 32 bits, or of 64 if `ty` has as many.
fn widest(ty: Type, signed: bool) -> Type {
    match (ty.bits() > 32, signed) {
        (false, false) => Type::U32,
        (false, true) => Type::S32,
        (true, false) => Type::U64,
        (true, true) => Type::S64,
    }
}

/// The bits of an integer in a register of 32 or 64 bits, with zeros above them.
fn widened(b: &mut Builder, x: &Scalar) -> Result<Scalar> {
    let unsigned = match x.ty {
        Type::S8 => Type::U8,
        Type::S16 => Type::U16,
        ty => ty,
    };
    let wide = widest(unsigned, false);
    match x.ty.bits() {
        // The instruction reads the full width of its type.
        8 | 16 => Ok(b.compute(wide, op::Cvt, (wide, unsigned), [x.operand()])),
        _ => b.convert(x, wide),
    }
}

fn of_bits<I: Instruction + Takes<Type>>(
    b: &mut Builder,
    opcode: I,
    result: Type,
    x: &Scalar,
) -> Scalar {
    b.compute(result, opcode, x.ty.untyped(), [x.operand()])
}

/// The bits of a floating-point number as an integer of the same width.
fn to_bits(b: &mut Builder, call: &Call) -> Result<Value> {
    let x = &call.args[0].value;
    match x {
        Value::Float(_, ty) if ty.known().is_none() => Err(call.error_at(
            0,
            format!(
                "the bits of {} depend on its type: write `1.0f32`, say",
                x.kind()
            ),
        )),
        Value::Float(x, NumberType::Is(ty)) => {
            let bits = match ty {
                Type::F64 => x.to_bits(),
                Type::F32 => (*x as f32).to_bits().into(),
                half => half_bits(*x, *half).into(),
            };
            Ok(Value::Int(bits.into(), NumberType::Is(bits_type(*ty))))
        }
        Value::Scalar(x) if is_float(x.ty) => Ok(reinterpreted(b, x, bits_type(x.ty)).into()),
        _ => Err(call.mismatch(0, "a floating-point number")),
    }
}

/// The floating-point number with these bits.
fn from_bits(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.whole_element()?;
    let Some(ty) = number_type(element).filter(|ty| is_float(*ty)) else {
        let message =
            format!("`{element}` is no type of floating-point numbers that have registers");
        return Err(Error::new(call.types[0].span, message));
    };
    let from = bits_type(ty);
    let bits = call.num(0)?;
    b.set_place(call.args[0].span);
    b.expect(&call.args[0].value, from)?;
    if let Num::Const(bits) = bits {
        b.check_fits(bits, from)?;
        let known = match ty {
            Type::F64 => f64::from_bits(bits as u64),
            Type::F32 => f32::from_bits(bits as u32).into(),
            Type::Bf16 => f32::from_bits((bits as u32) << 16).into(),
            _ => of_half(bits as u16),
        };
        // The bits of a NaN may differ from those of a known NaN.
        if !known.is_nan() {
            return Ok(Value::Float(known, NumberType::Is(ty)));
        }
    }
    let bits = b.to_register(&bits, from)?;
    Ok(reinterpreted(b, &bits, ty).into())
}

/// The unsigned integer type of the same width.
fn bits_type(ty: Type) -> Type {
    match ty.bits() {
        16 => Type::U16,
        32 => Type::U32,
        _ => Type::U64,
    }
}

fn reinterpreted(b: &mut Builder, x: &Scalar, ty: Type) -> Scalar {
    b.compute(ty, op::Mov, bits_type(ty).untyped(), [x.operand()])
}

/// The number of f16 with these bits.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    match bits >> 15 {
        0 => magnitude,
        _ => -magnitude,
    }
}
