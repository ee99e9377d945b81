//! Barriers of a CTA and of a cluster, fences, and the order of dependent grids.

use super::warp;
use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, NumberType, Value};
use cute_chip::barriers::NAMED;
use cute_chip::threads::WARP;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Aligned, Dependency, SharedCta};
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "sync_threads()",
        apply: |b, _| instruction(b, op::BarSync, (), Some(0)),
    },
    Builtin {
        signature: "bar_sync(id, threads)",
        apply: bar_sync,
    },
    Builtin {
        signature: "named_barriers(count)",
        apply: named_barriers,
    },
    Builtin {
        signature: "sync_warp()",
        apply: sync_warp,
    },
    Builtin {
        signature: "sync_cluster()",
        apply: sync_cluster,
    },
    Builtin {
        signature: "fence_proxy_async()",
        apply: |b, _| instruction(b, op::FenceProxyAsync, SharedCta, None),
    },
    Builtin {
        signature: "griddepcontrol_launch_dependents()",
        apply: |b, _| instruction(b, op::Griddepcontrol, Dependency::LaunchDependents, None),
    },
    Builtin {
        signature: "griddepcontrol_wait()",
        apply: |b, _| instruction(b, op::Griddepcontrol, Dependency::Wait, None),
    },
];

/// Argument `index` as the number of a barrier of the CTA.
pub(super) fn barrier_number(call: &Call, index: usize) -> Result<Num> {
    let id = call.num(index)?;
    if let Num::Const(id) = id
        && !(0..NAMED.into()).contains(&id)
    {
        let message = format!("a CTA has the barriers 0 to {}, not {id}", NAMED - 1);
        return Err(call.error_at(index, message));
    }
    Ok(id)
}

fn bar_sync(b: &mut Builder, call: &Call) -> Result<Value> {
    let id = barrier_number(call, 0)?;
    let threads = call.constant_in(1, WARP..=b.threads)?;
    if threads % WARP != 0 {
        return Err(call.error_at(
            1,
            format!("{threads} threads are not a multiple of a warp, {WARP} threads"),
        ));
    }
    b.emit(
        op::BarSync,
        (),
        [id.operand(), Operand::Int(threads.into())],
    );
    Ok(Value::Unit)
}

/// The first of so many numbers of barriers, from the highest down: those from 1 on are left to numbers that are written.
fn named_barriers(b: &mut Builder, call: &Call) -> Result<Value> {
    let count = call.constant_in(0, 1..=NAMED - 1)?;
    match b.named.checked_sub(count) {
        // Barrier 0 is that of all threads.
        Some(first) if first > 0 => {
            b.named = first;
            Ok(Value::Int(first.into(), NumberType::Is(Type::U32)))
        }
        _ => Err(call.error_at(
            0,
            format!(
                "{count} more named barriers are wanted, and {} are left of the {} of a CTA",
                b.named - 1,
                NAMED - 1
            ),
        )),
    }
}

/// Waits for all lanes of the warp.
fn sync_warp(b: &mut Builder, _: &Call) -> Result<Value> {
    let members = warp::members(b)?;
    b.emit(op::BarWarpSync, (), [members]);
    Ok(Value::Unit)
}

fn sync_cluster(b: &mut Builder, _: &Call) -> Result<Value> {
    wait_for_cluster(b);
    Ok(Value::Unit)
}

/// Waits for all threads of the cluster.
pub(super) fn wait_for_cluster(b: &mut Builder) {
    b.emit(op::BarrierClusterArrive, Aligned, []);
    b.emit(op::BarrierClusterWait, Aligned, []);
}
