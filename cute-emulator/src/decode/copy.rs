//! Asynchronous copies, their groups and waits.

use super::bindings::Bindings;
use super::operands::{Arg, Result, pending, take};
use crate::arithmetic;
use crate::op::{Op, Reduction, Region};
use cute_chip::shared::WIDEST_ACCESS;
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn operation(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    match m.opcode() {
        Opcode::StAsync => store_async(m, args),
        Opcode::RedAsync => reduce_async(m, args),
        Opcode::CpAsync => copy_async(m, args),
        Opcode::CpAsyncCommitGroup => Ok(Op::CopyAsyncCommit),
        Opcode::CpAsyncWaitGroup => {
            let pending = Some(pending(args)?);
            Ok(Op::CopyAsyncWait { pending })
        }
        Opcode::CpAsyncWaitAll => Ok(Op::CopyAsyncWait { pending: None }),
        Opcode::CpAsyncMbarrierArrive => copy_async_arrive(m, args),
        Opcode::CpAsyncBulk | Opcode::CpAsyncBulkTensor => bulk_copy(m, args),
        Opcode::CpReduceAsyncBulk | Opcode::CpReduceAsyncBulkTensor => bulk_reduce(m, args),
        Opcode::CpAsyncBulkCommitGroup => Ok(Op::BulkCommit),
        Opcode::CpAsyncBulkWaitGroup => Ok(Op::BulkWait {
            read: m.has(Modifier::Read),
            pending: pending(args)?,
        }),
        Opcode::TensormapCpFenceproxy => {
            m.ignore(&["scope"]);
            let [to, from, _] = take(args)?;
            Ok(Op::CopyMap {
                to: to.address()?,
                from: from.address()?,
            })
        }
        _ => m.unknown(),
    }
}

fn store_async(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["sem", "vec"]);
    let ty = m.ty("t")?;
    let [to, src, barrier] = take(args)?;
    let src = src.rows()?;
    let (bytes, count) = (ty.bits() as usize / 8, src.len());
    if bytes * count > WIDEST_ACCESS as usize {
        return Err(format!(
            "st.async of {count} values of .{} is not modelled: they have more than {WIDEST_ACCESS} bytes",
            ty.name()
        ));
    }
    Ok(Op::CopyIn {
        to: to.address()?,
        region: Region::Values {
            src,
            bytes,
            update: None,
        },
        barrier: barrier.address()?,
        multicast: None,
    })
}

/// `red.async`.
fn reduce_async(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let ty = m.ty("t")?;
    let update = m.get("op").and_then(|op| arithmetic::update(op, ty));
    let update = update.ok_or_else(|| {
        format!(
            "this asynchronous reduction of .{} is not modelled",
            ty.name()
        )
    })?;
    let [to, src, barrier] = take(args)?;
    Ok(Op::CopyIn {
        to: to.address()?,
        region: Region::Values {
            src: src.rows()?,
            bytes: ty.bits() as usize / 8,
            update: Some(update),
        },
        barrier: barrier.address()?,
        multicast: None,
    })
}

/// `cp.async`, the non-bulk copy.
fn copy_async(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["cop", "space", "hint"]);
    m.one_of(&[
        Modifier::L2Prefetch64B,
        Modifier::L2Prefetch128B,
        Modifier::L2Prefetch256B,
    ]);
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (to, from, bytes) = (next()?.address()?, next()?.address()?, next()?.int()?);
    Ok(Op::CopyAsync {
        to,
        from,
        bytes: u32::try_from(bytes).map_err(|_| format!("cp.async cannot copy {bytes} bytes"))?,
        source_bytes: args.next().map(Arg::row).transpose()?,
    })
}

fn copy_async_arrive(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address] = take(args)?;
    Ok(Op::CopyAsyncArrive {
        address: address.address()?,
        counted: !m.has(Modifier::Noinc),
    })
}

/// `cp.async.bulk` and `cp.async.bulk.tensor`, into shared memory or out of it.
fn bulk_copy(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["hint", "mask"]);
    let (to, from) = (m.get("to"), m.get("from"));
    if to == Some(Modifier::Global) {
        return copy_out(m, args, None);
    }
    tiled(m)?;
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let to = next()?.address()?;
    let region = match next()? {
        Arg::Tile(map, coords) => Region::Tile { map, coords },
        address => {
            let (address, bytes) = (address.address()?, next()?.row()?);
            match from {
                Some(Modifier::Global) => Region::Bytes { address, bytes },
                _ => Region::Shared { address, bytes },
            }
        }
    };
    Ok(Op::CopyIn {
        to,
        region,
        barrier: next()?.address()?,
        multicast: args.next().map(Arg::row).transpose()?,
    })
}

/// `cp.reduce.async.bulk` and its tensor form: bulk reductions from shared memory into global memory.
fn bulk_reduce(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["hint"]);
    m.has(Modifier::Noftz);
    let op = m
        .get("op")
        .ok_or("the operation of the reduction is missing")?;
    // The tensor form takes the element type from the tensor map when it executes. The other form has it in the mnemonic.
    let reduction = match m.opcode() {
        Opcode::CpReduceAsyncBulkTensor => Reduction::ByElement(op),
        _ => {
            let ty = m.ty("t")?;
            let update = arithmetic::update(op, ty);
            Reduction::Typed {
                update: update.ok_or_else(|| {
                    format!("the reduction `.{op}` of .{} is not modelled", ty.name())
                })?,
                bytes: ty.bits() as usize / 8,
            }
        }
    };
    copy_out(m, args, Some(reduction))
}

fn copy_out(m: &Bindings, args: Vec<Arg>, reduction: Option<Reduction>) -> Result<Op> {
    tiled(m)?;
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (to, from) = (next()?, next()?.address()?);
    let region = match to {
        Arg::Tile(map, coords) => Region::Tile { map, coords },
        address => Region::Bytes {
            address: address.address()?,
            bytes: next()?.row()?,
        },
    };
    Ok(Op::CopyOut {
        region,
        from,
        reduction,
    })
}

/// An error unless a tensor copy has the mode `.tile`, which is the default.
fn tiled(m: &Bindings) -> Result<()> {
    m.ignore(&["dim"]);
    match m.get("mode") {
        None | Some(Modifier::Tile) => Ok(()),
        Some(mode) => Err(format!("tensor copies in mode .{mode} are not modelled")),
    }
}
