//! Mbarriers: barriers in shared memory.
//!
//! Barriers are initialised by the lowering, before the body: a declared barrier is ready, and no fence can be missing.

use crate::kernel::access::address::Addresses;
use crate::kernel::access::check::check_shared;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::{Builder, address_operand, unless};
use crate::kernel::emit::shared::Purpose;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Barrier, Barriers, Num, Scalar, Value};
use cute_algebra::{Swizzle, Tuple};
use cute_chip::barriers::{MAX_ARRIVALS, MBARRIER_BYTES};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{
    Arrival, CtaShared, ExpectTx, LoadOrder, MbarrierScope, Parity, SharedCluster,
};
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "mbarriers(count, arrivals)",
        apply: mbarriers,
    },
    Builtin {
        signature: "wait(barrier, parity)",
        apply: wait,
    },
    Builtin {
        signature: "arrive(barrier)",
        apply: arrive,
    },
    Builtin {
        signature: "arrive_at(barrier, cta)",
        apply: arrive_at,
    },
    Builtin {
        signature: "expect_tx(barrier, bytes)",
        apply: expect_tx,
    },
];

impl Barrier {
    /// The address as an operand.
    pub fn operand(&self, b: &mut Builder) -> Result<Operand> {
        self.addresses().operand(b, 0)
    }

    /// The addresses; there is one.
    pub(super) fn addresses(&self) -> Addresses {
        Addresses::new(self.base.into(), Swizzle::IDENTITY, self.offset.clone())
    }
}

/// One of several barriers.
pub(crate) fn pick(b: &mut Builder, barriers: &Barriers, index: &Value) -> Result<Value> {
    let Some(number) = index.as_num() else {
        return Err(b.error(format!(
            "the index of a barrier is an integer, not {}",
            index.kind()
        )));
    };
    if let Num::Const(index) = number
        && !(0..i128::from(barriers.count)).contains(&index)
    {
        return Err(b.error(format!(
            "index {index} is outside of {} barriers",
            barriers.count
        )));
    }
    check_shared(b, barriers.base, &Tuple::Leaf(barriers.count.into()), index)?;
    let offset = b.mul(&number, &Num::from(MBARRIER_BYTES))?;
    Ok(Value::Barrier(Barrier {
        base: barriers.base,
        offset,
    }))
}

fn mbarriers(b: &mut Builder, call: &Call) -> Result<Value> {
    let count = call.constant_in(0, 1..=1024)?;
    let arrivals = call.constant_in(1, 1..=MAX_ARRIVALS)?;
    let base = b.allocate(count * MBARRIER_BYTES, MBARRIER_BYTES, Purpose::Barriers)?;
    let bytes = base..base + count * MBARRIER_BYTES;
    let in_turn = b.shared.is_shared(&bytes);
    b.notes.describe_shared(
        bytes,
        in_turn,
        format!("{count} mbarriers, {arrivals} arrivals a phase"),
    );
    for index in 0..count {
        let barrier = Barrier {
            base,
            offset: Num::from(index * MBARRIER_BYTES),
        };
        let address = barrier.operand(b)?;
        b.init(
            op::MbarrierInit,
            CtaShared::SharedCta,
            [address, Operand::Int(arrivals.into())],
        );
    }
    Ok(Value::Barriers(Barriers { base, count }))
}

/// Argument `index` as the address of a barrier.
pub(crate) fn address(b: &mut Builder, call: &Call, index: usize) -> Result<Operand> {
    match &call.args[index].value {
        Value::Barrier(barrier) => barrier.operand(b),
        Value::Barriers(barriers) => Err(call.error_at(
            index,
            format!(
                "expected one barrier, found {} barriers: choose one by its index",
                barriers.count
            ),
        )),
        _ => Err(call.mismatch(index, "a barrier")),
    }
}

/// Waits until the phase of this parity has completed. `try_wait` may return earlier, so it is repeated.
fn wait(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    let parity = call.num(1)?;
    if let Some(parity) = parity.constant()
        && !(0..2).contains(&parity)
    {
        return Err(call.error_at(1, format!("a parity is 0 or 1, not {parity}")));
    }
    let label = b.label("wait");
    b.place_label(&label);
    let done = b.register(Type::Pred);
    // With cluster scope, the wait also makes the writes visible that another CTA has released by its arrival.
    let scope = match b.cluster {
        [1, 1, 1] => None,
        _ => Some((LoadOrder::Acquire, MbarrierScope::Cluster)),
    };
    b.emit(
        op::MbarrierTryWait,
        (Parity, scope, CtaShared::SharedCta),
        [done.operand(), barrier, parity.operand()],
    );
    b.branch_if(unless(&done), &label);
    Ok(Value::Unit)
}

fn arrive(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    b.emit(
        op::MbarrierArrive,
        (Arrival::Arrive, CtaShared::SharedCta),
        [Operand::Sink, barrier],
    );
    Ok(Value::Unit)
}

/// Arrives at the barrier at the same offset in another CTA of the cluster. The arrival says that earlier reads, by wgmma, TMA or loads,
/// are complete. It does not make stores visible to the other CTA: `.release.cluster` would, but on an H100 it waits for all memory
/// accesses of the thread, which costs a GEMM a third of its speed.
fn arrive_at(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Barrier(barrier) = &call.args[0].value else {
        return Err(call.mismatch(0, "a barrier"));
    };
    let own = barrier.addresses().register(b, 0)?;
    let there = there(b, call, 1, &own)?;
    let there = address_operand(&there, 0);
    b.emit(
        op::MbarrierArrive,
        (Arrival::Arrive, SharedCluster),
        [Operand::Sink, there],
    );
    Ok(Value::Unit)
}

/// Maps an address in this CTA's shared memory to the CTA of the cluster with rank `index`, an argument.
pub(super) fn there(b: &mut Builder, call: &Call, index: usize, own: &Scalar) -> Result<Scalar> {
    let cta = call.num(index)?;
    let size: u32 = b.cluster.iter().product();
    if let Num::Const(rank) = cta
        && !(0..i128::from(size)).contains(&rank)
    {
        let message = format!("a cluster has the CTAs 0..{size}, not {rank}");
        return Err(call.error_at(index, message));
    }
    let modifiers = (SharedCluster, Type::U32);
    let cta = match cta {
        Num::Reg(cta) => b.convert(&cta, Type::U32)?.operand(),
        Num::Const(_) => cta.operand(),
    };
    let operands = [own.operand(), cta];
    Ok(b.compute(Type::U32, op::Mapa, modifiers, operands))
}

/// Arrives, and adds to the bytes that copies must write before the phase completes.
fn expect_tx(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    let bytes = call.num(1)?;
    b.emit(
        op::MbarrierArrive,
        (Arrival::Arrive, ExpectTx, CtaShared::SharedCta),
        [Operand::Sink, barrier, bytes.operand()],
    );
    Ok(Value::Unit)
}
