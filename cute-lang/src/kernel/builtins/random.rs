//! Random numbers.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::wrap;
use crate::kernel::value::{Num, NumberType, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Half;
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "philox(counter, key)",
    apply: philox,
}];

/// The constants of Philox-4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
const ROUNDS: usize = 10;
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// Philox-4x32-10: four random numbers from a counter of four numbers and a key of two.
fn philox(b: &mut Builder, call: &Call) -> Result<Value> {
    let mut counter: [Num; 4] = numbers(b, call, 0)?;
    let mut key: [Num; 2] = numbers(b, call, 1)?;
    b.set_place(call.span);
    for round in 0..ROUNDS {
        if round > 0 {
            for (key, step) in key.iter_mut().zip(KEY_STEPS) {
                *key = wrapping(b, Op::Add, key, step)?;
            }
        }
        let [x, y, z, w] = &counter;
        let (low_x, high_x) = product(b, x, MULTIPLIERS[0])?;
        let (low_z, high_z) = product(b, z, MULTIPLIERS[1])?;
        let first = b.xor(&high_z, y)?;
        let third = b.xor(&high_x, w)?;
        counter = [
            b.xor(&first, &key[0])?,
            low_z,
            b.xor(&third, &key[1])?,
            low_x,
        ];
    }
    let numbers = counter.map(|number| number.typed(NumberType::Is(Type::U32)));
    Ok(Value::Tuple(numbers.into()))
}

/// Argument `index`, a tuple of N numbers.
fn numbers<const N: usize>(b: &mut Builder, call: &Call, index: usize) -> Result<[Num; N]> {
    let expected = format!("a tuple of {N} numbers of type u32");
    let Value::Tuple(values) = &call.args[index].value else {
        return Err(call.mismatch(index, &expected));
    };
    b.set_place(call.args[index].span);
    let mut numbers = Vec::with_capacity(N);
    for value in values {
        match (value.as_num(), value.integer_type()) {
            (Some(number), None | Some(Type::U32)) => {
                if let Num::Const(number) = number {
                    b.check_fits(number, Type::U32)?;
                }
                numbers.push(number);
            }
            _ => {
                return Err(call.error_at(
                    index,
                    format!("expected {expected}, found {} among them", value.kind()),
                ));
            }
        }
    }
    numbers
        .try_into()
        .map_err(|_| call.mismatch(index, &expected))
}

/// The lower and the upper half of a product.
fn product(b: &mut Builder, x: &Num, factor: u32) -> Result<(Num, Num)> {
    let low = wrapping(b, Op::Mul, x, factor)?;
    let high = match x {
        Num::Const(x) => Num::Const((x * i128::from(factor)) >> 32),
        Num::Reg(x) => {
            let operands = [x.operand(), Num::from(factor).operand()];
            let modifiers = (Half::Hi, Type::U32);
            b.compute(Type::U32, op::Mul, modifiers, operands).into()
        }
    };
    Ok((low, high))
}

fn wrapping(b: &mut Builder, op: Op, x: &Num, y: u32) -> Result<Num> {
    Ok(match b.binary(op, x, &Num::from(y))? {
        Num::Const(value) => Num::Const(wrap(value, Type::U32)),
        register => register,
    })
}
