//! Conversions of numbers and fragments to other types.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::number_type;
use crate::kernel::value::{Element, Fragment, Held, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{PackedFp8, Rna, Rounding, Satfinite, Tf32};
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "convert::<T>(x)",
    apply: convert,
}];

fn convert(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.whole_element()?;
    b.set_place(call.args[0].span);
    match &call.args[0].value {
        Value::Scalar(scalar) => match number_type(element) {
            Some(ty) => Ok(b.convert(scalar, ty)?.into()),
            None => Err(b.error(format!(
                "no instruction computes with one element of `{element}`: convert a fragment"
            ))),
        },
        Value::Fragment(fragment) if fragment.element == element => {
            Ok(Value::Fragment(fragment.clone()))
        }
        Value::Fragment(fragment) => {
            let result = fragment.like(b, element);
            match (fragment.element, element) {
                (Element::F32, Element::BF16) => pairs(b, fragment, &result, Type::Bf16x2),
                (Element::F32, Element::F16) => pairs(b, fragment, &result, Type::F16x2),
                (Element::BF16, Element::F32) => widened(b, fragment, &result),
                (_, Element::E4M3) => quadruples(b, fragment, &result, PackedFp8::E4m3x2)?,
                (_, Element::E5M2) => quadruples(b, fragment, &result, PackedFp8::E5m2x2)?,
                (_, Element::TF32) => {
                    for (value, number) in singles(b, fragment)?.iter().enumerate() {
                        let (register, _) = result.part(value);
                        let operands = [register.operand(), number.operand()];
                        let modifiers = (Rna, Tf32, Type::F32);
                        b.emit(op::Cvt, modifiers, operands);
                    }
                }
                _ => one_by_one(b, fragment, &result)?,
            }
            Ok(Value::Fragment(result))
        }
        _ => Err(call.mismatch(0, "a run-time number or a fragment")),
    }
}

/// Converts each value alone, to a type that instructions compute with.
fn one_by_one(b: &mut Builder, fragment: &Fragment, result: &Fragment) -> Result<()> {
    let ty = Type::of(result.element);
    let singles = match number_type(fragment.element) {
        Some(_) => None,
        None => Some(singles(b, fragment)?),
    };
    for value in 0..fragment.values.len() {
        let from = match &singles {
            Some(singles) => singles[value].clone(),
            None => fragment.read(b, value),
        };
        let to = b.convert(&from, ty)?;
        result.write(b, value, &to);
    }
    Ok(())
}

/// Converts pairs of f32 to registers of two halves.
fn pairs(b: &mut Builder, fragment: &Fragment, result: &Fragment, pair: Type) {
    for value in (0..fragment.values.len()).step_by(2) {
        let low = fragment.part(value).0;
        // The last of an odd number of values is converted together with itself.
        let high = if value + 1 < fragment.values.len() {
            fragment.part(value + 1).0
        } else {
            low.clone()
        };
        b.emit(
            op::Cvt,
            (Rounding::Rn, pair, Type::F32),
            [
                result.part(value).0.operand(),
                high.operand(),
                low.operand(),
            ],
        );
    }
}

/// Converts bf16 to f32. A bf16 is the upper half of an f32.
fn widened(b: &mut Builder, fragment: &Fragment, result: &Fragment) {
    for value in 0..fragment.values.len() {
        let (word, part) = fragment.part(value);
        let register = result.part(value).0;
        let operands = |number| [register.operand(), word.operand(), Operand::Int(number)];
        match part {
            0 => b.emit(op::Shl, Type::B32, operands(16)),
            _ => b.emit(op::And, Type::B32, operands(0xffff_0000)),
        }
    }
}

/// Converts four values at a time to a register of four 8-bit floating-point numbers; one `cvt` makes each half. Values beyond the largest
/// finite number become this number.
fn quadruples(
    b: &mut Builder,
    fragment: &Fragment,
    result: &Fragment,
    pair: PackedFp8,
) -> Result<()> {
    let singles = singles(b, fragment)?;
    for (register, four) in result.registers.iter().zip(singles.chunks(4)) {
        let halves = [0, 2].map(|first| {
            // Values past the last one are copies of it.
            let value = |index: usize| four[index.min(four.len() - 1)].operand();
            let modifiers = (Rounding::Rn, Satfinite, pair, Type::F32);
            b.compute(
                Type::B16,
                op::Cvt,
                modifiers,
                [value(first + 1), value(first)],
            )
        });
        let halves = Operand::Vector(halves.iter().map(Scalar::operand).collect());
        b.emit(op::Mov, Type::B32, [register.operand(), halves]);
    }
    Ok(())
}

/// The values as f32, each in a register.
fn singles(b: &mut Builder, fragment: &Fragment) -> Result<Vec<Scalar>> {
    let count = fragment.values.len();
    let pair = match fragment.element {
        Element::E4M3 => PackedFp8::E4m3x2,
        Element::E5M2 => PackedFp8::E5m2x2,
        Element::TF32 => {
            // A tf32 is an f32 whose lowest bits are ignored.
            let single = |value| {
                let word = fragment.part(value).0;
                b.compute(Type::F32, op::Mov, Type::B32, [word.operand()])
            };
            return Ok((0..count).map(single).collect());
        }
        _ => {
            let single = |value| {
                let number = fragment.read(b, value);
                b.convert(&number, Type::F32)
            };
            return (0..count).map(single).collect();
        }
    };
    let slots: Vec<Scalar> = fragment
        .registers
        .iter()
        .flat_map(|register| unpack(b, register, pair))
        .collect();
    let slot = |held: &Held| slots[held.slot].clone();
    Ok(fragment.values.iter().map(slot).collect())
}

/// The four 8-bit floating-point numbers in a register as f32. `cvt` reads them as two halves, and gives f16.
fn unpack(b: &mut Builder, register: &Scalar, pair: PackedFp8) -> Vec<Scalar> {
    let split = |b: &mut Builder, ty: Type, word: &Scalar| {
        let halves = [b.register(ty), b.register(ty)];
        let vector = Operand::Vector(halves.iter().map(Scalar::operand).collect());
        b.emit(op::Mov, Type::B32, [vector, word.operand()]);
        halves
    };
    let mut singles = Vec::new();
    for half in split(b, Type::B16, register) {
        let modifiers = (Rounding::Rn, Type::F16x2, pair);
        let word = b.compute(Type::B32, op::Cvt, modifiers, [half.operand()]);
        for half in split(b, Type::F16, &word) {
            let modifiers = (Type::F32, Type::F16);
            singles.push(b.compute(Type::F32, op::Cvt, modifiers, [half.operand()]));
        }
    }
    singles
}
