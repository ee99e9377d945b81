//! The indices of a thread, its warp, its CTA and its cluster.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::setmaxnreg;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Value};
use cute_chip::threads::{MAX_GRID, WARP, WARPGROUP};
use cute_ptx::ast::Type;
use cute_ptx::special::Register;
use cute_ptx::table::choice::ShuffleMode;
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "thread()",
        apply: thread,
    },
    Builtin {
        signature: "lane()",
        apply: lane,
    },
    Builtin {
        signature: "warp()",
        apply: warp,
    },
    Builtin {
        signature: "warpgroup()",
        apply: warpgroup,
    },
    Builtin {
        signature: "warpgroup_thread()",
        apply: warpgroup_thread,
    },
    Builtin {
        signature: "block_idx()",
        apply: |b, _| Ok(xyz(b, "block", Register::Ctaid)),
    },
    Builtin {
        signature: "cluster_idx()",
        apply: |b, _| Ok(xyz(b, "cluster", Register::Clusterid)),
    },
    Builtin {
        signature: "grid_dim()",
        apply: |b, _| Ok(xyz(b, "grid", Register::Nctaid)),
    },
    Builtin {
        signature: "cluster_ctarank()",
        apply: cluster_ctarank,
    },
];

fn thread(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(b.thread().into())
}

fn lane(b: &mut Builder, _: &Call) -> Result<Value> {
    let lane = b.once("lane", Type::U32, |b, lane| {
        let thread = b.thread();
        b.emit(
            op::And,
            Type::B32,
            [
                lane.operand(),
                thread.operand(),
                Operand::Int((WARP - 1).into()),
            ],
        );
    });
    b.known.limit_bits(&lane, (WARP - 1).into());
    Ok(lane.into())
}

fn warp(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(uniform(b, "warp", WARP)?.into())
}

fn warpgroup(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(uniform(b, setmaxnreg::INDEX, WARPGROUP)?.into())
}

/// The index of the group of `size` threads. It is read from lane 0 of the warp, so that the assembler knows it to be the same in all lanes
/// and does not treat branches on it as divergent.
fn uniform(b: &mut Builder, name: &str, size: u32) -> Result<Num> {
    if b.threads <= size {
        return Ok(Num::Const(0));
    }
    if !b.threads.is_multiple_of(WARP) {
        return Err(b.error(format!(
            "{} threads are not a multiple of a warp, {WARP} threads",
            b.threads
        )));
    }
    let group = b.once(name, Type::U32, |b, group| {
        let thread = b.thread();
        let mine = b.compute(
            Type::U32,
            op::Shr,
            Type::U32,
            [thread.operand(), Operand::Int(size.trailing_zeros().into())],
        );
        let lane_0 = [
            Operand::Int(0),
            Operand::Int((WARP - 1).into()),
            Operand::Int(u32::MAX.into()),
        ];
        b.emit(
            op::Shfl,
            ShuffleMode::Idx,
            [group.operand(), mine.operand()].into_iter().chain(lane_0),
        );
    });
    let groups = b.threads.div_ceil(size);
    b.known
        .limit_bits(&group, u64::from(groups.next_power_of_two()) - 1);
    Ok(Num::Reg(group))
}

fn warpgroup_thread(b: &mut Builder, _: &Call) -> Result<Value> {
    if b.threads <= WARPGROUP {
        return Ok(b.thread().into());
    }
    let thread = b.once("warpgroup_thread", Type::U32, |b, result| {
        let thread = b.thread();
        b.emit(
            op::And,
            Type::B32,
            [
                result.operand(),
                thread.operand(),
                Operand::Int((WARPGROUP - 1).into()),
            ],
        );
    });
    b.known.limit_bits(&thread, (WARPGROUP - 1).into());
    Ok(thread.into())
}

/// The three parts of a special register.
fn xyz(b: &mut Builder, name: &str, register: Register) -> Value {
    let parts = ["x", "y", "z"].into_iter().enumerate();
    let parts = parts.map(|(axis, suffix)| {
        let part = b.special(&format!("{name}_{suffix}"), register, axis);
        // An index, or how many there are.
        b.known.always(&part, Cmp::Le, &Num::from(MAX_GRID[axis]));
        part.into()
    });
    Value::Tuple(parts.collect())
}

fn cluster_ctarank(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(ctarank(b).into())
}

/// The rank of the CTA in its cluster.
pub(super) fn ctarank(b: &mut Builder) -> Num {
    if b.cluster == [1, 1, 1] {
        return Num::Const(0);
    }
    let rank = b.special("ctarank", Register::ClusterCtarank, 0);
    let size: u32 = b.cluster.iter().product();
    b.known
        .limit_bits(&rank, u64::from(size.next_power_of_two()) - 1);
    rank.into()
}
