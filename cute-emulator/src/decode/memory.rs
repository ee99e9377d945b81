//! Loads, stores, atomics, and the matrices that a warp loads or stores.

use super::bindings::{Bindings, no_space};
use super::matrix::{wmma_load, wmma_store};
use super::operands::{Arg, Result, take};
use super::registers::Registers;
use crate::arithmetic::{self, low_bits};
use crate::op::{Access, Atomic, AtomicOperation, Op, Reg, Scope, Space, Strong};
use crate::tensor_map::Field;
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn operation(
    registers: &mut Registers<'_, '_>,
    inst: &Inst,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    match m.opcode() {
        Opcode::Ld | Opcode::Ldu => load(registers, inst, m, args),
        Opcode::St => store(m, args),
        Opcode::Atom | Opcode::Red => atomic(m, args),
        Opcode::Ldmatrix => load_matrix(m, args),
        Opcode::Stmatrix => store_matrix(m, args),
        Opcode::WmmaLoad => wmma_load(registers, m, args),
        Opcode::WmmaStore => wmma_store(registers, m, args),
        Opcode::TensormapReplace => replace_in_map(registers, m, args),
        Opcode::PrefetchTensormap => prefetch_map(m, args),
        _ => m.unknown(),
    }
}

fn load(registers: &Registers<'_, '_>, inst: &Inst, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let access = access(m)?;
    let [dst, address] = take(args)?;
    let operands = match inst.operands.first() {
        Some(Operand::Vector(parts)) => &parts[..],
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let rows = dst.rows()?;
    let masks = operands.iter().map(|it| low_bits(registers.width(it)));
    Ok(Op::Load {
        access,
        dst: rows.iter().copied().zip(masks).collect(),
        address: address.address()?,
    })
}

fn store(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let access = access(m)?;
    let [address, src] = take(args)?;
    Ok(Op::Store {
        access,
        src: src.rows()?,
        address: address.address()?,
    })
}

/// `atom` returns the old value; `red` does not.
fn atomic(m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
    let access = access(m)?;
    m.has(Modifier::Noftz);
    let (op, ty) = (m.get("op"), m.ty("t")?);
    let op = match op {
        Some(Modifier::Cas) => Some(AtomicOperation::CompareAndSwap),
        Some(op) => arithmetic::update(op, ty).map(AtomicOperation::Update),
        None => None,
    };
    let op =
        op.ok_or_else(|| format!("this atomic operation on .{} is not modelled", ty.name()))?;
    let dst = match m.opcode() {
        Opcode::Atom => Some(args.remove(0).rows()?),
        _ => None,
    };
    let swap = match op {
        AtomicOperation::CompareAndSwap => args.pop().map(Arg::row).transpose()?,
        AtomicOperation::Update(_) => None,
    };
    let [address, src] = take(args)?;
    Ok(Op::Atomic(Atomic {
        access,
        op,
        dst,
        address: address.address()?,
        src: src.rows()?,
        swap,
    }))
}

fn load_matrix(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let [registers, address] = take(args)?;
    Ok(Op::LoadMatrix {
        dst: matrix_rows(m, registers)?,
        address: address.address()?,
        transpose: m.has(Modifier::Trans),
    })
}

fn store_matrix(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let [address, registers] = take(args)?;
    Ok(Op::StoreMatrix {
        src: matrix_rows(m, registers)?,
        address: address.address()?,
        transpose: m.has(Modifier::Trans),
    })
}

/// `tensormap.replace`. The value is a register or a number.
fn replace_in_map(registers: &mut Registers<'_, '_>, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let address = next()?.address()?;
    let mut number = || -> Result<usize> {
        let number = next()?.int()?;
        usize::try_from(number).map_err(|_| format!("{number} is not a number of a dimension"))
    };
    let field = match m.get("field") {
        Some(Modifier::GlobalAddress) => Field::Address,
        Some(Modifier::Rank) => Field::Rank,
        Some(Modifier::BoxDim) => Field::Box(number()?),
        Some(Modifier::GlobalDim) => Field::Extent(number()?),
        Some(Modifier::GlobalStride) => Field::Stride(number()?),
        Some(Modifier::ElementStride) => Field::ElementStride(number()?),
        Some(Modifier::Elemtype) => Field::Element,
        Some(Modifier::InterleaveLayout) => Field::Interleave,
        Some(Modifier::SwizzleMode) => Field::Swizzle,
        _ => Field::Fill,
    };
    let value = match next()? {
        Arg::Int(value) => registers.constant(value as u64),
        value => value.row()?,
    };
    let space = match m.get("space") {
        Some(Modifier::Global) => Space::Global,
        Some(_) => Space::Shared,
        None => Space::Generic,
    };
    Ok(Op::ReplaceInMap {
        space,
        address,
        field,
        value,
    })
}

/// `prefetch.tensormap`.
fn prefetch_map(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let [address] = take(args)?;
    Ok(Op::PrefetchMap {
        space: space(m)?,
        address: address.address()?,
    })
}

fn matrix_rows(m: &Bindings, registers: Arg) -> Result<Box<[Reg]>> {
    m.ignore(&["num", "space"]);
    registers.rows()
}

fn access(m: &Bindings) -> Result<Access> {
    let ty = m.ty("t")?;
    // Cache hints change no result.
    m.ignore(&["cop", "evict", "hint", "vec"]);
    let read_only = m.has(Modifier::Nc);
    m.one_of(&[
        Modifier::L2Prefetch64B,
        Modifier::L2Prefetch128B,
        Modifier::L2Prefetch256B,
    ]);
    let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    Ok(Access {
        space: space(m)?,
        bytes: (ty.bits() / 8) as u8,
        signed,
        strong: strong(m),
        read_only,
    })
}

/// The state space of an address.
fn space(m: &Bindings) -> Result<Space> {
    Ok(match m.get("space") {
        Some(Modifier::Global) => Space::Global,
        Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster) => Space::Shared,
        Some(Modifier::Param) => Space::Param,
        Some(Modifier::Local) => Space::Local,
        // Constants are part of the module's image in global memory.
        Some(Modifier::Const) => Space::Global,
        None => Space::Generic,
        space => return Err(no_space(space)),
    })
}

/// The semantics of an access; `None` for a weak one.
fn strong(m: &Bindings) -> Option<Strong> {
    let sem = m.get("sem");
    let atomic = matches!(m.opcode(), Opcode::Atom | Opcode::Red);
    if !atomic && matches!(sem, None | Some(Modifier::Weak)) {
        return None;
    }
    Some(Strong {
        scope: scope(m.get("scope")),
        acquire: matches!(sem, Some(Modifier::Acquire | Modifier::AcqRel)),
        release: matches!(sem, Some(Modifier::Release | Modifier::AcqRel)),
    })
}

/// The scope of a modifier. Without one, atomics have `.gpu`, and volatile accesses `.sys`.
pub(super) fn scope(modifier: Option<Modifier>) -> Scope {
    match modifier {
        Some(Modifier::Cta) => Scope::Cta,
        Some(Modifier::Cluster) => Scope::Cluster,
        _ => Scope::Gpu,
    }
}
