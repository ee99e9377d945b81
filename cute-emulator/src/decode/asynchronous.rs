//! mbarriers, asynchronous copies and wgmma.

use super::bindings::Bindings;
use super::operands::{Arg, Result, take};
use super::product;
use super::registers::Registers;
use crate::arithmetic;
use crate::op::{Acquire, Arrival, MatrixA, Op, Phase, Reduction, Reg, Region, Wgmma};
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn mbarrier_init(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address, count] = take(args)?;
    Ok(Op::MbarrierInit {
        address: address.address()?,
        count: count.row()?,
    })
}

pub(super) fn mbarrier_inval(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address] = take(args)?;
    Ok(Op::MbarrierInval {
        address: address.address()?,
    })
}

pub(super) fn mbarrier_arrive(
    registers: &mut Registers<'_, '_>,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    m.ignore(&["space"]);
    let relaxed = m.get("sem") == Some(Modifier::Relaxed);
    // The PTX ISA's default scope is `.cta`, but kernels commonly release to other CTAs without a scope, and run correctly.
    let own_cta = m.get("scope") == Some(Modifier::Cta);
    // `.noComplete` promises that the arrival does not complete the phase; the emulator does not rely on it.
    m.has(Modifier::NoComplete);
    let drop = m.get("kind") == Some(Modifier::ArriveDrop);
    let mut args = args.into_iter();
    // The first operand is the destination of the state or `_`; the form for a remote mbarrier has only `_`.
    let state = match args.next() {
        Some(Arg::Nothing) | None => None,
        Some(state) => Some(state.row()?),
    };
    let address = args
        .next()
        .ok_or("the address of the mbarrier is missing")?
        .address()?;
    let number = args.next().map(Arg::row).transpose()?;
    let one = registers.constant(1);
    let (count, expect) = match m.has(Modifier::ExpectTx) {
        true => (one, number),
        false => (number.unwrap_or(one), None),
    };
    Ok(Op::MbarrierArrive {
        address,
        arrival: Arrival {
            state,
            count: Some(count),
            drop,
            expect,
            own_cta,
            relaxed,
        },
    })
}

/// `mbarrier.expect_tx` and `mbarrier.complete_tx`: they change the transaction count without an arrival.
pub(super) fn mbarrier_tx(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["sem", "scope", "space"]);
    let [address, bytes] = take(args)?;
    let (address, bytes) = (address.address()?, bytes.row()?);
    Ok(match m.get("kind") {
        Some(Modifier::CompleteTx) => Op::MbarrierCompleteTx { address, bytes },
        _ => Op::MbarrierArrive {
            address,
            arrival: Arrival {
                state: None,
                count: None,
                drop: false,
                expect: Some(bytes),
                own_cta: false,
                relaxed: true,
            },
        },
    })
}

pub(super) fn mbarrier_wait(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let relaxed = m.get("sem") == Some(Modifier::Relaxed);
    // The PTX ISA's default scope is `.cta`, but kernels commonly wait for other CTAs without a scope, and run correctly.
    let own_cta = m.get("scope") == Some(Modifier::Cta);
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (done, address, phase) = (next()?.row()?, next()?.address()?, next()?.row()?);
    // A time limit of the wait may follow as an operand. It changes no result.
    Ok(Op::MbarrierWait {
        address,
        done,
        acquire: Acquire { own_cta, relaxed },
        phase: match m.has(Modifier::Parity) {
            true => Phase::Parity(phase),
            false => Phase::State(phase),
        },
    })
}

/// `cp.async`, the non-bulk copy.
pub(super) fn copy_async(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

pub(super) fn copy_async_arrive(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address] = take(args)?;
    Ok(Op::CopyAsyncArrive {
        address: address.address()?,
        counted: !m.has(Modifier::Noinc),
    })
}

/// `cp.async.bulk` and `cp.async.bulk.tensor`, into shared memory or out of it.
pub(super) fn bulk_copy(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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
pub(super) fn bulk_reduce(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

pub(super) fn wgmma(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let Some(Modifier::Mnk { n, .. }) = m.get("shape") else {
        return Err("the shape of the wgmma is missing".to_owned());
    };
    let (inputs, output) = product::types(m)?;
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
