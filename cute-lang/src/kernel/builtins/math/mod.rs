//! Functions of numbers.
//!
//! The plain name of a function is its accurate form. The name with `_fast` is the approximation by a hardware instruction, which treats
//! subnormal f32 numbers as zeros. `cute-runtime/docs/kernel-language.md` has the error of each.

mod accurate;
pub(super) mod classify;
mod double;
mod float;
mod function;
mod integer;
pub(super) mod pow;
mod single;
mod trigonometric;

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Approx, Ftz, Rounding};
use cute_ptx::table::{Mnemonic, op};
use function::Code::{Instruction, Sequence};
use function::Known::{F1, F2, F3};
use function::{Code, Function, Integers, Known};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &rows(FUNCTIONS);

/// One instruction with these modifiers, then the type.
macro_rules! instruction {
    ($name:ident $(, $modifier:expr)*) => {
        Instruction(|ty| Mnemonic::new(op::$name, ($($modifier,)* ty)))
    };
}

#[rustfmt::skip]
const FUNCTIONS: &[Function; 37] = &[
    row("sqrt(x)", F1(f64::sqrt), &[(WIDE, instruction!(Sqrt, Rounding::Rn))]),
    row("sqrt_fast(x)", F1(f64::sqrt), &[(SINGLE, instruction!(Sqrt, Approx, Ftz))]),
    row("rsqrt(x)", F1(|x| 1.0 / x.sqrt()), &[
        (SINGLE, instruction!(Rsqrt)),
        (DOUBLE, Sequence(float::rsqrt)),
    ]),
    row("rsqrt_fast(x)", F1(|x| 1.0 / x.sqrt()), &[(SINGLE, instruction!(Rsqrt, Ftz))]),
    row("rcp(x)", F1(|x| 1.0 / x), &[(WIDE, instruction!(Rcp, Rounding::Rn))]),
    row("rcp_fast(x)", F1(|x| 1.0 / x), &[(SINGLE, instruction!(Rcp, Approx, Ftz))]),
    row("div_fast(x, y)", F2(|x, y| x / y), &[(SINGLE, instruction!(Div, Approx, Ftz))]),
    row("fma(x, y, z)", F3(f64::mul_add), &[(FLOATS, instruction!(Fma, Rounding::Rn))]),

    row("mul_add(x, y, z)", F3(f64::mul_add), &[(FLOATS, instruction!(Fma, Rounding::Rn))]),
    row("pow(x, y)", F2(f64::powf), &[(WIDE, Sequence(pow::pow))]),
    row("powf(x, y)", F2(f64::powf), &[(WIDE, Sequence(pow::pow))]),
    row("pow_fast(x, y)", F2(f64::powf), &[(SINGLE, Sequence(pow::pow_fast))]),

    row("exp(x)", F1(f64::exp), &[(SINGLE, Sequence(accurate::exp)), (DOUBLE, Sequence(double::exp))]),
    row("log(x)", F1(f64::ln), &[(SINGLE, Sequence(accurate::log)), (DOUBLE, Sequence(double::log))]),
    row("log2(x)", F1(f64::log2), &[(SINGLE, Sequence(accurate::log2)), (DOUBLE, Sequence(double::log2))]),
    row("tanh(x)", F1(f64::tanh), &[(SINGLE, Sequence(accurate::tanh)), (DOUBLE, Sequence(double::tanh))]),
    row("sin(x)", F1(f64::sin), &[(SINGLE, Sequence(trigonometric::sin))]),
    row("cos(x)", F1(f64::cos), &[(SINGLE, Sequence(trigonometric::cos))]),
    row("erf(x)", F1(float::known_erf), &[(SINGLE, Sequence(accurate::erf))]),
    row("exp2(x)", F1(f64::exp2), &[(SINGLE, instruction!(Ex2)), (DOUBLE, Sequence(double::exp2))]),
    row("exp2_fast(x)", F1(f64::exp2), &[
        (&[Type::F32, Type::Bf16], instruction!(Ex2, Ftz)),
        (&[Type::F16], instruction!(Ex2)),
    ]),
    row("exp_fast(x)", F1(f64::exp), &[(SINGLE, Sequence(float::exp_fast))]),
    row("log2_fast(x)", F1(f64::log2), &[(SINGLE, instruction!(Lg2, Ftz))]),
    row("log_fast(x)", F1(f64::ln), &[(SINGLE, Sequence(float::log_fast))]),
    row("sin_fast(x)", F1(f64::sin), &[(SINGLE, instruction!(Sin, Ftz))]),
    row("cos_fast(x)", F1(f64::cos), &[(SINGLE, instruction!(Cos, Ftz))]),
    row("tanh_fast(x)", F1(f64::tanh), &[(&[Type::F16, Type::Bf16, Type::F32], instruction!(Tanh))]),

    row("floor(x)", F1(f64::floor), &[(ROUNDED, Sequence(float::floor))]),
    row("ceil(x)", F1(f64::ceil), &[(ROUNDED, Sequence(float::ceil))]),
    row("trunc(x)", F1(f64::trunc), &[(ROUNDED, Sequence(float::trunc))]),
    row("round_ties_even(x)", F1(f64::round_ties_even), &[(ROUNDED, Sequence(float::round_ties_even))]),
    row("round(x)", F1(f64::round), &[(WIDE, Sequence(float::round))]),
    row("copysign(x, sign)", F2(f64::copysign), &[(WIDE, Sequence(float::copysign))]),

    row("abs(x)", F1(f64::abs), &[(FLOATS, instruction!(Abs))]).on("a signed integer", integer::abs),
    row("min(x, y)", F2(float::least), &[(FLOATS, instruction!(Min))]).on("an integer", integer::min),
    row("max(x, y)", F2(float::greatest), &[(FLOATS, instruction!(Max))]).on("an integer", integer::max),
    row("clamp(x, least, greatest)", F3(float::known_clamp), &[(FLOATS, Sequence(float::clamp))]).on("an integer", integer::clamp),
];

const FLOATS: &[Type] = &[Type::F16, Type::Bf16, Type::F32, Type::F64];
const ROUNDED: &[Type] = &[Type::F16, Type::F32, Type::F64];
const WIDE: &[Type] = &[Type::F32, Type::F64];
const SINGLE: &[Type] = &[Type::F32];
const DOUBLE: &[Type] = &[Type::F64];

const fn row(
    signature: &'static str,
    known: Known,
    forms: &'static [(&'static [Type], Code)],
) -> Function {
    Function {
        signature,
        known,
        forms,
        integers: None,
    }
}

impl Function {
    /// The function with a value for integers as well. Messages call these integers `kind`.
    const fn on(self, kind: &'static str, integers: Integers) -> Function {
        Function {
            integers: Some((kind, integers)),
            ..self
        }
    }
}

/// The rows of the table of all functions of the language.
const fn rows<const N: usize>(functions: &[Function; N]) -> [Builtin; N] {
    let mut rows = [Builtin {
        signature: "",
        apply,
    }; N];
    let mut i = 0;
    while i < N {
        rows[i].signature = functions[i].signature;
        i += 1;
    }
    rows
}

fn apply(b: &mut Builder, call: &Call) -> Result<Value> {
    let function = FUNCTIONS.iter().find(|row| row.name() == call.name);
    match function {
        Some(function) => {
            call.elementwise(b, |ty| function.takes(ty), |b, call| function.call(b, call))
        }
        None => Err(b.error(format!("`{}` is no function of numbers", call.name))),
    }
}
