//! Products of matrices.

use super::bindings::Bindings;
use super::operands::{Arg, Result, pending, take};
use super::registers::Registers;
use crate::numerics::Format;
use crate::op::{
    Address, Fragment, Inputs, MatrixA, Mma, Op, Output, Reg, Space, TileProduct, Wgmma, WmmaAccess,
};
use cute_ptx::ast::Type;
use cute_ptx::table::{Mnk, Modifier, Opcode};

pub(super) fn operation(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    match m.opcode() {
        Opcode::Mma => mma(m, args),
        Opcode::WmmaMma => wmma(m, args),
        Opcode::WgmmaMmaAsync => wgmma(m, args),
        Opcode::WgmmaFence => Ok(Op::WgmmaFence),
        Opcode::WgmmaCommitGroup => Ok(Op::WgmmaCommit),
        Opcode::WgmmaWaitGroup => Ok(Op::WgmmaWait {
            pending: pending(args)?,
        }),
        _ => m.unknown(),
    }
}

fn mma(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // The shape gives the numbers of registers, and C has the type of D.
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

pub(super) fn wmma_load(
    registers: &mut Registers<'_, '_>,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (tile, address) = (next()?.rows()?, next()?.address()?);
    let stride = args.next().map(Arg::row).transpose()?;
    let access = wmma_access(registers, m, m.get("which"), tile, address, stride)?;
    Ok(Op::WmmaLoad(Box::new(access)))
}

pub(super) fn wmma_store(
    registers: &mut Registers<'_, '_>,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (address, tile) = (next()?.address()?, next()?.rows()?);
    let stride = args.next().map(Arg::row).transpose()?;
    let access = wmma_access(registers, m, None, tile, address, stride)?;
    Ok(Op::WmmaStore(Box::new(access)))
}

fn wmma_access(
    registers: &mut Registers<'_, '_>,
    m: &Bindings,
    which: Option<Modifier>,
    tile: Box<[Reg]>,
    address: Address,
    stride: Option<Reg>,
) -> Result<WmmaAccess> {
    let element = m.get("t").ok_or("the type is missing")?;
    let fragment = fragment(m, which, element)?;
    let by_column = m.get("layout") == Some(Modifier::Col);
    // Without a stride operand, the elements are dense.
    let dense = if by_column {
        fragment.rows
    } else {
        fragment.columns
    };
    Ok(WmmaAccess {
        space: match m.get("space") {
            Some(Modifier::Global) => Space::Global,
            Some(_) => Space::Shared,
            None => Space::Generic,
        },
        fragment,
        registers: tile,
        address,
        stride: stride.unwrap_or_else(|| registers.constant(dense as u64)),
        by_column,
    })
}

fn wmma(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // The layouts of A and B matter only for their loads. The fragments here do not depend on them.
    m.ignore(&["al", "bl"]);
    let (d, c) = (m.get("d"), m.get("c"));
    let half = Modifier::Type(Type::F16);
    let (a, b) = (m.get("a").unwrap_or(half), m.get("b").unwrap_or(half));
    let inputs = inputs(a, b).ok_or("products of these types are not modelled")?;
    let [d_registers, a_registers, b_registers, c_registers] = take(args)?;
    let tile = |which, element: Modifier, registers: Arg| {
        Ok::<_, String>((fragment(m, which, element)?, registers.rows()?))
    };
    Ok(Op::Wmma(Box::new(TileProduct {
        inputs,
        saturate: m.has(Modifier::Satfinite),
        a: tile(Some(Modifier::FragmentA), a, a_registers)?,
        b: tile(Some(Modifier::FragmentB), b, b_registers)?,
        c: tile(None, c.ok_or("the type of C is missing")?, c_registers)?,
        d: tile(None, d.ok_or("the type of D is missing")?, d_registers)?,
    })))
}

/// The matrix of a `wmma`: A, B, or one with the shape of D.
fn fragment(m: &Bindings, which: Option<Modifier>, element: Modifier) -> Result<Fragment> {
    let Some(Modifier::Mnk(Mnk { m: rows, n, k })) = m.get("shape") else {
        return Err("the shape is missing".to_owned());
    };
    let (rows, columns, depth) = (usize::from(rows), usize::from(n), usize::from(k));
    let (rows, columns) = match which {
        Some(Modifier::FragmentA) => (rows, depth),
        Some(Modifier::FragmentB) => (depth, columns),
        _ => (rows, columns),
    };
    let bytes = element.ty().map_or(4, |ty| ty.bits() as usize / 8);
    Ok(Fragment {
        rows,
        columns,
        bytes,
    })
}

/// The types of A and B, and the type of D.
fn types(m: &Bindings) -> Result<(Inputs, Output)> {
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

fn wgmma(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let Some(Modifier::Mnk(Mnk { n, .. })) = m.get("shape") else {
        return Err("the shape of the wgmma is missing".to_owned());
    };
    let (inputs, output) = types(m)?;
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let d = next()?.rows()?;
    let a = match next()? {
        Arg::Row(descriptor) => MatrixA::Descriptor(descriptor),
        registers => {
            let rows: Box<[Reg; 4]> = registers
                .rows()?
                .try_into()
                .map_err(|_| "a fragment of A must have four registers")?;
            MatrixA::Registers(*rows)
        }
    };
    let (b, scale_d) = (next()?.row()?, next()?.row()?);
    let numbers: Vec<i128> = args.map(Arg::int).collect::<Result<_>>()?;
    // The constants are imm-scale-a and imm-scale-b and, for 16-bit inputs, imm-trans-a (only if A is in shared memory) and
    // imm-trans-b.
    let (transpose_a, transpose_b) = match (&a, &numbers[2.min(numbers.len())..]) {
        (MatrixA::Descriptor(_), [a, b]) => (*a == 1, *b == 1),
        (MatrixA::Registers(_), [b]) => (false, *b == 1),
        _ => (false, false),
    };
    Ok(Op::Wgmma(Box::new(Wgmma {
        n: n.into(),
        inputs,
        output,
        d,
        a,
        b,
        scale_d,
        negate_a: numbers.first() == Some(&-1),
        negate_b: numbers.get(1) == Some(&-1),
        transpose_a,
        transpose_b,
    })))
}
