//! Arithmetic, comparisons, conversions and moves: instructions in which each lane uses only its own registers.

use super::bindings::{Bindings, no_space};
use super::operands::{Arg, Result, take};
use super::registers::Registers;
use crate::arithmetic;
use crate::op::{Compare, Compute, Flush, Function, Integers, Op, PENDING_SHIFT, Reg, Unary};
use crate::special::counts_time;
use crate::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::special;
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn operation(
    registers: &mut Registers,
    inst: &Inst,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    match m.opcode() {
        Opcode::AddCc
        | Opcode::Addc
        | Opcode::SubCc
        | Opcode::Subc
        | Opcode::MadCc
        | Opcode::Madc => extended(registers, m, args),
        Opcode::Dp4a | Opcode::Dp2a | Opcode::Vabsdiff4 => packed_bytes(m, args),
        Opcode::Lop3 => {
            let [dst, a, b, c, table] = take(args)?;
            let table = registers.constant(table.int()? as u64);
            compute(m, vec![dst, a, b, c, Arg::Row(table)])
        }
        Opcode::Testp => test(m, args),
        Opcode::Set => set(registers, m, args),
        Opcode::Slct => select(m, args),
        Opcode::Setp if matches!(m.ty("t")?, Type::F16x2 | Type::Bf16x2) => {
            compare_packed(registers, m, args)
        }
        Opcode::Setp => compare(m, args),
        Opcode::Mov => mov(inst, m, args),
        Opcode::Cvt => convert(registers, inst, m, args),
        Opcode::CvtPack => pack(m, args),
        Opcode::Cvta => address_conversion(m, args, false),
        Opcode::CvtaTo => address_conversion(m, args, true),
        Opcode::Isspacep => is_in_space(m, args),
        Opcode::Mapa => map_rank(m, args),
        Opcode::Getctarank => rank_of(m, args),
        Opcode::MbarrierPendingCount => {
            // The state holds the pending count in the bits above the phase number.
            let function = Function::F1(|state| state >> PENDING_SHIFT);
            computation(function, args, Flush::default(), None)
        }
        _ => match m.get("t") {
            Some(Modifier::U16x2 | Modifier::S16x2) => compute_halves(m, args),
            _ => compute(m, args),
        },
    }
}

/// An instruction that computes one register from up to four sources.
fn compute(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // Instructions without a type modifier operate on 32 bits.
    let ty = m.get("t").and_then(Modifier::ty).unwrap_or(Type::B32);
    let rounding = m.get("round");
    let directed = rounding.filter(|it| matches!(it, Modifier::Rz | Modifier::Rm | Modifier::Rp));
    let saturate = m.has(Modifier::Sat);
    let saturation = arithmetic::saturation(ty).filter(|_| saturate);
    // The number is computed after its sign, since the mnemonic can have modifiers for both.
    let xorsign = m.one_of(&[Modifier::Xorsign]);
    m.has(Modifier::Abs);
    let nan = m.one_of(&[Modifier::NaN]);
    let variant = m
        .get("part")
        .or(xorsign.or(nan))
        .or_else(|| m.one_of(&[Modifier::Relu, Modifier::Shiftamt]))
        .or((saturate && saturation.is_none()).then_some(Modifier::Sat))
        .or(rounding.filter(|it| *it == Modifier::Approx && m.opcode() == Opcode::Div))
        .or_else(|| coarse(m, ty));
    // The approximations (`.approx`, `.full`) are computed correctly rounded too.
    let function = match (m.get("side"), m.get("past"), m.get("mode"), directed) {
        (Some(side), Some(past), ..) => Some(arithmetic::funnel_shift(side, past)),
        (None, Some(past), ..) => arithmetic::function(m.opcode(), Some(past), ty),
        (_, _, Some(mode), _) => arithmetic::permutation(mode),
        (.., Some(direction)) => arithmetic::rounded_function(m.opcode(), direction, ty),
        _ if xorsign.is_some() && nan.is_some() => arithmetic::nan_xorsign(m.opcode(), ty),
        _ => arithmetic::function(m.opcode(), variant, ty),
    };
    let function = function.ok_or_else(|| m.unmodelled_on(ty))?;
    let flushed = flushed(m, ty);
    let flush = Flush {
        sources: flushed,
        result: flushed,
    };
    let op = computation(function, args, flush, saturation)?;
    Ok(match op {
        Op::Compute(compute) => Op::Compute(Compute {
            divides: divided(m.opcode(), ty),
            ..compute
        }),
        op => op,
    })
}

/// The integer type of a division or a remainder.
fn divided(opcode: Opcode, ty: Type) -> Option<Integers> {
    let is_signed = match ty {
        Type::S16 | Type::S32 | Type::S64 => true,
        Type::U16 | Type::U32 | Type::U64 => false,
        _ => return None,
    };
    let bits = ty.bits();
    matches!(opcode, Opcode::Div | Opcode::Rem).then_some(Integers { bits, is_signed })
}

/// `.approx` of an f64 with `.ftz`: an approximation from only the upper half of the number.
fn coarse(m: &Bindings, ty: Type) -> Option<Modifier> {
    let coarse = ty == Type::F64 && m.has(Modifier::Ftz);
    coarse.then_some(Modifier::Approx)
}

/// An instruction on packed 16-bit integers.
fn compute_halves(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let ty = m.get("t").ok_or("the type is missing")?;
    let function = arithmetic::of_halves(m.opcode(), ty, m.has(Modifier::Relu));
    let function = function.ok_or_else(|| m.unmodelled(ty))?;
    computation(function, args, Flush::default(), None)
}

/// `dp4a`, `dp2a` and `vabsdiff4`.
fn packed_bytes(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let function = match m.opcode() {
        Opcode::Dp4a => arithmetic::dot_of_four(m.ty("a")?, m.ty("b")?),
        Opcode::Dp2a => {
            let high = m.get("part") == Some(Modifier::Hi);
            arithmetic::dot_of_two(high, m.ty("a")?, m.ty("b")?)
        }
        _ => arithmetic::differences(m.ty("t")?, m.ty("u")?, m.has(Modifier::Add)),
    };
    computation(function, args, Flush::default(), None)
}

/// Instructions that read or write the carry flag.
fn extended(registers: &mut Registers, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (part, ty) = (m.get("part"), m.ty("t")?);
    let function = arithmetic::extended(m.opcode(), part, ty);
    let function = function.ok_or_else(|| m.unmodelled_on(ty))?;
    let writes = matches!(m.opcode(), Opcode::AddCc | Opcode::SubCc | Opcode::MadCc);
    let writes = m.has(Modifier::Cc) || writes;
    let [Arg::Row(dst), sources @ ..] = &args[..] else {
        return Err("the instruction has no destination register".to_owned());
    };
    let [a, b, c, _] = rows_of(sources)?;
    Ok(Op::Extended {
        function,
        dst: *dst,
        src: [a, b, c],
        carry: registers.carry(),
        writes,
    })
}

fn test(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (test, ty) = (m.get("test"), m.ty("t")?);
    let function = test.and_then(|test| arithmetic::test(test, ty));
    let function = function.ok_or_else(|| m.unmodelled_on(ty))?;
    computation(Function::F1(function), args, Flush::default(), None)
}

/// `slct`: a selection by the sign of a number.
fn select(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["t"]);
    let function = arithmetic::selection(m.ty("c")?, m.has(Modifier::Ftz));
    computation(function, args, Flush::default(), None)
}

fn pack(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let ty = m.ty("d")?;
    m.has(Modifier::Sat);
    let function = arithmetic::packing(ty).ok_or_else(|| m.unmodelled_on(ty))?;
    computation(function, args, Flush::default(), None)
}

/// The comparison of packed numbers that precedes the instruction. The results go into the rows of `holds`, the low half's first.
fn compare_halves(registers: &mut Registers, m: &Bindings, args: &[Arg]) -> Result<[Reg; 2]> {
    let (cmp, ty) = (m.get("cmp"), m.ty("t")?);
    let half = if ty == Type::F16x2 {
        Type::F16
    } else {
        Type::Bf16
    };
    let compare = cmp.and_then(|cmp| arithmetic::comparison(cmp, half));
    let compare = compare.ok_or_else(|| m.unmodelled_on(ty))?;
    let flush = flushed(m, half);
    let combine = m.get("bool").and_then(arithmetic::combination);
    let [a, b, c, _] = rows_of(args)?;
    let mut unpacked = |src| {
        let parts = [registers.row("low half"), registers.row("high half")];
        registers.preceding.push(Op::Unpack {
            parts: parts.into(),
            src,
            bits: 16,
        });
        parts
    };
    let (a, b) = (unpacked(a), unpacked(b));
    let holds = [registers.row("low holds"), registers.row("high holds")];
    for i in 0..2 {
        registers.preceding.push(Op::Compare(Compare {
            compare,
            flush,
            combine: combine.map(|function| (function, c)),
            p: holds[i],
            q: None,
            a: a[i],
            b: b[i],
        }));
    }
    Ok(holds)
}

/// `setp` of packed numbers: p is the result of the low half, q that of the high half.
fn compare_packed(registers: &mut Registers, m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
    let (p, Some(q)) = args.remove(0).pair()? else {
        return Err("a comparison of packed numbers needs two destinations".to_owned());
    };
    let holds = compare_halves(registers, m, &args)?;
    let both = registers.row("both");
    registers.preceding.push(Op::Pack {
        dst: both,
        parts: holds.into(),
        bits: 1,
    });
    Ok(Op::Unpack {
        parts: [p, q].into(),
        src: both,
        bits: 1,
    })
}

/// `set`: a comparison whose result is a number: 1.0 for floating-point types, all ones for integers, 0 if it does not hold.
fn set(registers: &mut Registers, m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
    let (ty, from) = (m.ty("d")?, m.ty("t")?);
    let yes = match ty {
        Type::F32 => 0x3f80_0000,
        Type::F16 | Type::F16x2 => 0x3c00,
        Type::Bf16 | Type::Bf16x2 => 0x3f80,
        Type::U16 | Type::S16 => 0xffff,
        _ if matches!(from, Type::F16x2 | Type::Bf16x2) => 0xffff,
        _ => 0xffff_ffff,
    };
    let (yes, no) = (registers.constant(yes), registers.constant(0));
    let select = |dst, holds| -> Result<Op> {
        let function = arithmetic::function(Opcode::Selp, None, Type::B32);
        let function = function.ok_or("selections are not modelled")?;
        let args = [dst, yes, no, holds].map(Arg::Row);
        computation(function, args.into(), Flush::default(), None)
    };
    let dst = args.remove(0).row()?;
    if !matches!(from, Type::F16x2 | Type::Bf16x2) {
        let holds = registers.row("holds");
        args.insert(0, Arg::Row(holds));
        let compare = compare(m, args)?;
        registers.preceding.push(compare);
        return select(dst, holds);
    }
    let holds = compare_halves(registers, m, &args)?;
    let parts = [registers.row("low result"), registers.row("high result")];
    for (part, holds) in parts.into_iter().zip(holds) {
        let op = select(part, holds)?;
        registers.preceding.push(op);
    }
    Ok(Op::Pack {
        dst,
        parts: parts.into(),
        bits: 16,
    })
}

fn compare(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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
fn convert(registers: &mut Registers, inst: &Inst, m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
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
    let function = arithmetic::conversion(None, false, wide, ty);
    let function = function.ok_or("this sign extension is not modelled")?;
    computation(
        function,
        vec![dst, Arg::Row(narrow)],
        Flush::default(),
        None,
    )
}

fn mov(inst: &Inst, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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
            computation(function, vec![dst, src], Flush::default(), None)
        }
    }
}

fn address_conversion(m: &Bindings, args: Vec<Arg>, to: bool) -> Result<Op> {
    let function: Unary = match (m.get("space"), to) {
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), false) => {
            |a| a | SHARED_WINDOW
        }
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), true) => {
            |a| a & (WINDOW_BYTES - 1)
        }
        // The emulator's addresses of parameters are generic already.
        (Some(Modifier::Local), false) => |a| a | LOCAL_WINDOW,
        (Some(Modifier::Local), true) => |a| a & (WINDOW_BYTES - 1),
        (Some(Modifier::Global | Modifier::Param | Modifier::Const), _) => |a| a,
        (space, _) => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, Flush::default(), None)
}

/// `isspacep`: whether a generic address is in a state space.
fn is_in_space(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let function: Unary = match m.get("space") {
        Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster) => {
            |a| u64::from(a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES)
        }
        Some(Modifier::Param) => |a| u64::from(a.wrapping_sub(PARAM_WINDOW) < WINDOW_BYTES),
        Some(Modifier::Global) => |a| u64::from(a < SHARED_WINDOW),
        Some(Modifier::Local) => |a| u64::from(a.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES),
        // The constants of a module are in global memory.
        Some(Modifier::Const) => |_| 0,
        space => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, Flush::default(), None)
}

fn map_rank(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["t"]);
    let [dst, address, rank] = take(args)?;
    Ok(Op::MapRank {
        dst: dst.row()?,
        address: address.row()?,
        rank: rank.row()?,
        generic: m.get("space").is_none(),
    })
}

fn rank_of(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["t"]);
    let [dst, address] = take(args)?;
    Ok(Op::RankOf {
        dst: dst.row()?,
        address: address.row()?,
        generic: m.get("space").is_none(),
    })
}

/// The operation dst = function(sources), where the first argument is dst.
fn computation(
    function: Function,
    args: Vec<Arg>,
    flush: Flush,
    saturate: Option<Unary>,
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
        divides: None,
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
    let function = arithmetic::conversion(rounding, saturate, to, from);
    let function = function.ok_or_else(|| {
        format!("the conversion from .{from} to .{to} with this rounding is not modelled")
    })?;
    let single = Modifier::Type(Type::F32);
    // 8-bit floats have no `.relu`; the other type of the conversion has it.
    let relu = |ty: Modifier| ty.ty().and_then(arithmetic::relu).filter(|_| relu);
    let flush = Flush {
        sources: flushed.filter(|_| from == single).or(relu(from)),
        result: flushed.filter(|_| to == single).or(relu(to)),
    };
    // `.sat` to an integer changes nothing, since conversions from floating point to integer saturate anyway.
    let saturation = to.ty().and_then(arithmetic::saturation);
    computation(function, args, flush, saturation.filter(|_| saturate))
}

/// The function of `.ftz` on numbers of a type, if the instruction has it.
fn flushed(m: &Bindings, ty: Type) -> Option<Unary> {
    let flushes = m.has(Modifier::Ftz);
    arithmetic::flush(ty).filter(|_| flushes)
}

/// Up to four rows. Row 0 fills missing places; the function does not read it.
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
