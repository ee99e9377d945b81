//! Arithmetic, conversions and moves: instructions in which each lane uses only its own registers.

use super::bindings::{Bindings, no_space};
use super::operands::{Arg, Result, take};
use super::registers::Registers;
use crate::arithmetic;
use crate::op::{
    Compare, Compute, Flush, Function, Op, PARAM_WINDOW, Reg, SHARED_WINDOW, Unary, WINDOW_BYTES,
};
use crate::special::counts_time;
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::special;
use cute_ptx::table::{Modifier, Opcode};

/// An instruction that computes one register from up to four sources.
pub(super) fn compute(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // Instructions without a type modifier operate on 32 bits.
    let ty = m.get("t").and_then(Modifier::ty).unwrap_or(Type::B32);
    let rounding = m.get("round");
    if let Some(rounding) = rounding {
        // The approximations (`.approx`, `.full`) are computed correctly rounded too.
        if !matches!(rounding, Modifier::Rn | Modifier::Approx | Modifier::Full) {
            return Err(m.unmodelled(rounding));
        }
    }
    let saturate = m.has(Modifier::Sat);
    if saturate && !matches!(ty, Type::F32 | Type::S32) {
        return Err(format!("`.sat` is not modelled on .{}", ty.name()));
    }
    let variant = m
        .get("part")
        .or_else(|| m.one_of(&[Modifier::NaN, Modifier::Relu]))
        .or((saturate && ty == Type::S32).then_some(Modifier::Sat))
        .or(rounding.filter(|it| *it == Modifier::Approx && m.opcode() == Opcode::Div));
    let function = match (m.get("side"), m.get("past")) {
        (Some(side), Some(past)) => Some(arithmetic::funnel_shift(side, past)),
        _ => arithmetic::function(m.opcode(), variant, ty),
    };
    let function = function.ok_or_else(|| m.unmodelled_on(ty))?;
    let flushed = flushed(m, ty);
    let flush = Flush {
        sources: flushed,
        result: flushed,
    };
    computation(function, args, flush, saturate && ty == Type::F32)
}

pub(super) fn compare(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (cmp, ty) = (m.get("cmp"), m.ty("t")?);
    let compare = cmp.and_then(|cmp| arithmetic::comparison(cmp, ty));
    let compare = compare.ok_or_else(|| m.unmodelled_on(ty))?;
    let combine = m.get("bool").and_then(arithmetic::combination);
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (p, q) = next()?.pair()?;
    let (a, b) = (next()?.row()?, next()?.row()?);
    let combine = match combine {
        Some(function) => Some((function, next()?.row()?)),
        None => None,
    };
    Ok(Op::Compare(Compare {
        compare,
        flush: flushed(m, ty),
        combine,
        p,
        q,
        a,
        b,
    }))
}

/// `cvt`. If the destination register is wider than a signed result, the result's sign is extended to the register.
pub(super) fn convert(
    registers: &mut Registers,
    inst: &Inst,
    m: &Bindings,
    mut args: Vec<Arg>,
) -> Result<Op> {
    let width = inst.operands.first().map_or(0, |dst| registers.width(dst));
    let ty = match m.get("d").and_then(Modifier::ty) {
        Some(ty @ (Type::S8 | Type::S16 | Type::S32)) if ty.bits() < width => ty,
        _ => return conversion(m, args),
    };
    let narrow = registers.row("narrow");
    let dst = match args.first_mut() {
        Some(first) => std::mem::replace(first, Arg::Row(narrow)),
        None => return Err("the conversion has no destination".to_owned()),
    };
    let op = conversion(m, args)?;
    registers.preceding.push(op);
    let wide = match width {
        16 => Type::S16,
        32 => Type::S32,
        _ => Type::S64,
    };
    let (wide, ty) = (Modifier::Type(wide), Modifier::Type(ty));
    let function = arithmetic::conversion(None, false, false, wide, ty);
    let function = function.ok_or("this sign extension is not modelled")?;
    computation(
        function,
        vec![dst, Arg::Row(narrow)],
        Flush::default(),
        false,
    )
}

pub(super) fn mov(inst: &Inst, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let ty = m.ty("t")?;
    match take(args)? {
        [Arg::Row(dst), Arg::Rows(parts)] => Ok(Op::Pack {
            dst,
            bits: ty.bits() / parts.len() as u32,
            parts,
        }),
        [Arg::Rows(parts), Arg::Row(src)] => Ok(Op::Unpack {
            src,
            bits: ty.bits() / parts.len() as u32,
            parts,
        }),
        [Arg::Row(dst), Arg::Row(_)] if inst.operands.get(1).is_some_and(is_clock) => {
            Ok(Op::Clock { dst })
        }
        [dst, src] => {
            let function = arithmetic::function(Opcode::Mov, None, ty);
            let function = function.ok_or_else(|| m.unmodelled_on(ty))?;
            computation(function, vec![dst, src], Flush::default(), false)
        }
    }
}

pub(super) fn address_conversion(m: &Bindings, args: Vec<Arg>, to: bool) -> Result<Op> {
    let function: Unary = match (m.get("space"), to) {
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), false) => {
            |a| a | SHARED_WINDOW
        }
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), true) => {
            |a| a & (WINDOW_BYTES - 1)
        }
        // The emulator's addresses of parameters are generic already.
        (Some(Modifier::Global | Modifier::Param | Modifier::Const), _) => |a| a,
        (space, _) => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, Flush::default(), false)
}

/// `isspacep`: whether a generic address is in a state space.
pub(super) fn is_in_space(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let function: Unary = match m.get("space") {
        Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster) => {
            |a| u64::from(a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES)
        }
        Some(Modifier::Param) => |a| u64::from(a.wrapping_sub(PARAM_WINDOW) < WINDOW_BYTES),
        Some(Modifier::Global) => |a| u64::from(a < SHARED_WINDOW),
        Some(Modifier::Const | Modifier::Local) => |_| 0,
        space => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, Flush::default(), false)
}

/// The operation dst = function(sources), where the first argument is dst.
pub(super) fn computation(
    function: Function,
    args: Vec<Arg>,
    flush: Flush,
    saturate: bool,
) -> Result<Op> {
    let [Arg::Row(dst), sources @ ..] = &args[..] else {
        return Err("the instruction has no destination register".to_owned());
    };
    Ok(Op::Compute(Compute {
        function,
        dst: *dst,
        src: rows_of(sources)?,
        flush,
        saturate,
    }))
}

fn conversion(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (Some(to), Some(from)) = (m.get("d"), m.get("s")) else {
        return Err("the conversion does not name two types".to_owned());
    };
    let rounding = m.get("round");
    let (relu, saturate) = (m.has(Modifier::Relu), m.has(Modifier::Sat));
    let flushed = flushed(m, Type::F32);
    m.has(Modifier::Satfinite);
    let function = arithmetic::conversion(rounding, relu, saturate, to, from);
    let function = function.ok_or_else(|| {
        format!("the conversion from .{from} to .{to} with this rounding is not modelled")
    })?;
    if saturate && matches!(to.ty(), Some(Type::F16 | Type::F64)) {
        return Err(format!("`.sat` is not modelled for .{to}"));
    }
    let single = Modifier::Type(Type::F32);
    let flush = Flush {
        sources: flushed.filter(|_| from == single),
        result: flushed.filter(|_| to == single),
    };
    // `.sat` to an integer changes nothing, since conversions from floating point to integer saturate anyway.
    let saturate = saturate && to == single;
    computation(function, args, flush, saturate)
}

/// The function of `.ftz` on numbers of a type, if the instruction has it.
fn flushed(m: &Bindings, ty: Type) -> Option<Unary> {
    let flushes = m.has(Modifier::Ftz);
    arithmetic::flush(ty).filter(|_| flushes)
}

/// Up to four rows; 0 in place of those that are missing, which the function does not read.
fn rows_of(args: &[Arg]) -> Result<[Reg; 4]> {
    let mut rows = [0; 4];
    if args.len() > rows.len() {
        return Err(format!(
            "{} source operands are more than the 4 that are modelled",
            args.len()
        ));
    }
    for (row, arg) in rows.iter_mut().zip(args) {
        *row = match arg {
            Arg::Row(row) => *row,
            other => return Err(format!("expected a register, found {other:?}")),
        };
    }
    Ok(rows)
}

/// Whether an operand is a special register that counts time.
fn is_clock(operand: &Operand) -> bool {
    let register = match operand {
        Operand::Name(name) => special::lookup(name).map(|(special, _)| special.register),
        _ => None,
    };
    register.is_some_and(counts_time)
}
