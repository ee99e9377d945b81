//! Barriers, mbarriers, fences and `setmaxnreg`.

use super::bindings::Bindings;
use super::memory::scope;
use super::operands::{Arg, Result, take};
use super::registers::Registers;
use crate::op::{Acquire, Arrival, Op, Phase, Vote};
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn operation(
    registers: &mut Registers<'_, '_>,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    match m.opcode() {
        Opcode::BarSync | Opcode::BarrierSync => barrier(m, args, true),
        Opcode::BarArrive | Opcode::BarrierArrive => barrier(m, args, false),
        Opcode::BarRed | Opcode::BarrierRed => barrier_reduce(m, args),
        Opcode::BarrierClusterArrive => {
            m.has(Modifier::Aligned);
            Ok(Op::ClusterArrive {
                relaxed: m.get("sem") == Some(Modifier::Relaxed),
            })
        }
        Opcode::BarrierClusterWait => {
            m.ignore(&["sem"]);
            m.has(Modifier::Aligned);
            Ok(Op::ClusterWait)
        }
        Opcode::MbarrierInit => mbarrier_init(m, args),
        Opcode::MbarrierInval => mbarrier_inval(m, args),
        Opcode::MbarrierArrive => mbarrier_arrive(registers, m, args),
        Opcode::MbarrierTx => mbarrier_tx(m, args),
        Opcode::MbarrierTestWait | Opcode::MbarrierTryWait => mbarrier_wait(m, args),
        Opcode::Membar | Opcode::Fence => Ok(fence(m)),
        Opcode::FenceProxyAlias => Ok(Op::Nop),
        Opcode::FenceProxyAsync => {
            let space = m.get("space");
            Ok(Op::ProxyFence {
                shared: space != Some(Modifier::Global),
                global: matches!(space, None | Some(Modifier::Global)),
            })
        }
        Opcode::FenceMbarrierInit => Ok(Op::InitFence),
        Opcode::FenceProxyTensormap => {
            m.ignore(&["scope"]);
            match m.get("sem") {
                Some(Modifier::Acquire) => {
                    let [address, _] = take(args)?;
                    Ok(Op::AcquireMap {
                        address: address.address()?,
                    })
                }
                _ => Ok(Op::Nop),
            }
        }
        Opcode::Griddepcontrol => {
            let waits = m.get("what") == Some(Modifier::Wait);
            Ok(if waits { Op::WaitForGrid } else { Op::Nop })
        }
        Opcode::Setmaxnreg => set_max_registers(m, args),
        _ => m.unknown(),
    }
}

fn barrier(m: &Bindings, args: Vec<Arg>, wait: bool) -> Result<Op> {
    m.has(Modifier::Cta);
    m.has(Modifier::Aligned);
    let mut args = args.into_iter();
    Ok(Op::Barrier {
        id: args
            .next()
            .ok_or("the number of the barrier is missing")?
            .row()?,
        threads: args.next().map(Arg::row).transpose()?,
        wait,
    })
}

/// `bar.red` and `barrier.red`.
fn barrier_reduce(m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
    m.has(Modifier::Cta);
    m.has(Modifier::Aligned);
    let op = match m.get("op") {
        Some(Modifier::And) => Vote::All,
        Some(Modifier::Or) => Vote::Any,
        _ => Vote::Ballot,
    };
    let predicate = args.pop().ok_or("the predicate is missing")?.row()?;
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (dst, id) = (next()?.row()?, next()?.row()?);
    Ok(Op::BarrierReduce {
        id,
        threads: args.next().map(Arg::row).transpose()?,
        op,
        dst,
        predicate,
    })
}

fn set_max_registers(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let increase = m.get("direction") == Some(Modifier::Inc);
    let [count] = take(args)?;
    let count = count.int()?;
    Ok(Op::SetMaxRegisters {
        count: u32::try_from(count).map_err(|_| format!("{count} is not a number of registers"))?,
        increase,
    })
}

fn mbarrier_init(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address, count] = take(args)?;
    Ok(Op::MbarrierInit {
        address: address.address()?,
        count: count.row()?,
    })
}

fn mbarrier_inval(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["space"]);
    let [address] = take(args)?;
    Ok(Op::MbarrierInval {
        address: address.address()?,
    })
}

fn mbarrier_arrive(registers: &mut Registers<'_, '_>, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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
fn mbarrier_tx(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

fn mbarrier_wait(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

/// `fence` and `membar`.
fn fence(m: &Bindings) -> Op {
    let sem = m.get("sem");
    let level = m.get("scope").or_else(|| m.get("level"));
    Op::Fence {
        scope: scope(level),
        // "membar is a synonym for fence.sc" (PTX ISA, "membar, fence").
        sequential: matches!(sem, None | Some(Modifier::Sc)),
    }
}
