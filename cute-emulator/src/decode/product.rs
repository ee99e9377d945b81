//! Products of matrices in registers, and the types of all products.

use super::bindings::Bindings;
use super::operands::{Arg, Result, take};
use crate::numerics::Format;
use crate::op::{Inputs, Mma, Op, Output};
use cute_ptx::ast::Type;
use cute_ptx::table::Modifier;

pub(super) fn mma(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // The numbers of registers follow from the shape, and C has the type of D.
    m.ignore(&["shape", "c"]);
    let (inputs, output) = types(m)?;
    let [d, a, b, c] = take(args)?;
    Ok(Op::Mma(Box::new(Mma {
        inputs,
        output,
        d: d.rows()?,
        a: a.rows()?,
        b: b.rows()?,
        c: c.rows()?,
    })))
}

/// The types of A and B, and the type of D.
pub(super) fn types(m: &Bindings) -> Result<(Inputs, Output)> {
    let (d, a, b) = (m.get("d"), m.get("a"), m.get("b"));
    let inputs = a.zip(b).and_then(|(a, b)| inputs(a, b));
    let inputs = inputs.ok_or("products of these types are not modelled")?;
    let output = match d.and_then(Modifier::ty) {
        Some(Type::F32) => Output::F32,
        Some(Type::F16) => Output::F16,
        _ => Output::S32 {
            saturate: m.has(Modifier::Satfinite),
        },
    };
    Ok((inputs, output))
}

fn inputs(a: Modifier, b: Modifier) -> Option<Inputs> {
    let float = |modifier| match modifier {
        Modifier::Type(Type::F16) => Some(Format::F16),
        Modifier::Type(Type::Bf16) => Some(Format::Bf16),
        Modifier::Tf32 => Some(Format::Tf32),
        Modifier::E4m3 => Some(Format::E4m3),
        Modifier::E5m2 => Some(Format::E5m2),
        _ => None,
    };
    let signed = |modifier| match modifier {
        Modifier::Type(Type::S8) => Some(true),
        Modifier::Type(Type::U8) => Some(false),
        _ => None,
    };
    match (float(a), float(b)) {
        (Some(a), Some(b)) => Some(Inputs::Float(a, b)),
        _ => Some(Inputs::Int(signed(a)?, signed(b)?)),
    }
}
