//! Barriers and fences: mbarriers, the barriers of the CTA, and the groups of bulk copies.

use super::address::Addresses;
use super::builder::{Builder, unless};
use super::builtins::{Builtin, Call};
use super::value::{Num, Scalar, Value};
use cute_algebra::Swizzle;
use cute_hopper::barriers::{MAX_ARRIVALS, MBARRIER_BYTES, NAMED};
use cute_hopper::registers::{self, UNIT};
use cute_hopper::threads::WARP;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Modifiers, Opcode};
use syn::Result;

/// The rows of the builtin table that make and use barriers.
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
        signature: "sync_cluster()",
        apply: sync_cluster,
    },
    Builtin {
        signature: "expect_tx(barrier, bytes)",
        apply: expect_tx,
    },
    Builtin {
        signature: "sync_threads()",
        apply: |b, _| plain(b, Opcode::BarSync, (), Some(0)),
    },
    Builtin {
        signature: "bar_sync(id, threads)",
        apply: bar_sync,
    },
    Builtin {
        signature: "fence_proxy_async()",
        apply: |b, _| plain(b, Opcode::FenceProxyAsync, Modifier::SharedCta, None),
    },
    Builtin {
        signature: "setmaxnreg_inc(registers)",
        apply: |b, call| setmaxnreg(b, call, Modifier::Inc),
    },
    Builtin {
        signature: "setmaxnreg_dec(registers)",
        apply: |b, call| setmaxnreg(b, call, Modifier::Dec),
    },
];

/// Several mbarriers, side by side.
#[derive(Clone, Debug)]
pub struct Barriers {
    /// Where the first lies in the kernel's shared memory, in bytes.
    pub base: u32,
    /// How many.
    pub count: u32,
}

/// One mbarrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Where the first of its kind lies in the kernel's shared memory, in bytes.
    pub base: u32,
    /// How many bytes it lies behind that one.
    pub offset: Num,
}

impl Barrier {
    /// Calls `f` on every register in it.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.offset {
            f(scalar);
        }
    }

    /// Its address.
    pub fn operand(&self, b: &mut Builder) -> Result<Operand> {
        self.addresses().operand(b, 0)
    }

    fn addresses(&self) -> Addresses {
        Addresses::new(self.base.into(), Swizzle::IDENTITY, self.offset.clone())
    }
}

/// One of several barriers.
pub(super) fn pick(b: &mut Builder, barriers: &Barriers, index: &Value) -> Result<Value> {
    let Some(index) = index.as_num() else {
        return Err(b.error(format!(
            "a barrier is picked by an integer, not by {}",
            index.kind()
        )));
    };
    if let Num::Const(index) = index
        && !(0..i128::from(barriers.count)).contains(&index)
    {
        return Err(b.error(format!(
            "index {index} is outside of {} barriers",
            barriers.count
        )));
    }
    let offset = b.mul(&index, &Num::from(MBARRIER_BYTES))?;
    Ok(Value::Barrier(Barrier {
        base: barriers.base,
        offset,
    }))
}

fn mbarriers(b: &mut Builder, call: &Call) -> Result<Value> {
    let count = call.constant_in(0, 1..=1024)?;
    let arrivals = call.constant_in(1, 1..=MAX_ARRIVALS)?;
    let base = b.allocate(count * MBARRIER_BYTES, MBARRIER_BYTES)?;
    b.header(format!(
        "shared memory {base}..{}: {count} mbarriers, {arrivals} arrivals a phase",
        base + count * MBARRIER_BYTES
    ));
    for index in 0..count {
        let barrier = Barrier {
            base,
            offset: Num::from(index * MBARRIER_BYTES),
        };
        let address = barrier.operand(b)?;
        b.init(
            Opcode::MbarrierInit,
            Modifier::SharedCta,
            [address, Operand::Int(arrivals.into())],
        );
    }
    Ok(Value::Barriers(Barriers { base, count }))
}

/// Argument `index` as the address of a barrier.
pub(super) fn address(b: &mut Builder, call: &Call, index: usize) -> Result<Operand> {
    match &call.args[index].value {
        Value::Barrier(barrier) => barrier.operand(b),
        Value::Barriers(barriers) => Err(call.error_at(
            index,
            format!(
                "one of these {} barriers is wanted: index them",
                barriers.count
            ),
        )),
        _ => Err(call.mismatch(index, "a barrier")),
    }
}

/// Waits until the phase of that parity has completed. A wait may time out, so it is tried again.
fn wait(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    let parity = call.num(1)?;
    if parity
        .constant()
        .is_some_and(|parity| !(0..2).contains(&parity))
    {
        return Err(call.error_at(
            1,
            format!(
                "a parity is 0 or 1, not {}",
                parity.constant().unwrap_or_default()
            ),
        ));
    }
    let label = b.label("wait");
    b.place_label(&label);
    let done = b.register(Type::Pred);
    // Arrivals from other CTAs of a cluster are to be seen with what they announce.
    let scope = match b.cluster {
        [1, 1, 1] => None,
        _ => Some((Modifier::Acquire, Modifier::Cluster)),
    };
    b.emit(
        Opcode::MbarrierTryWait,
        (Modifier::Parity, scope, Modifier::SharedCta),
        [done.operand(), barrier, parity.operand()],
    );
    b.branch_if(unless(&done), &label);
    Ok(Value::Unit)
}

fn arrive(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    b.emit(
        Opcode::MbarrierArrive,
        (Modifier::Arrive, Modifier::SharedCta),
        [Operand::Sink, barrier],
    );
    Ok(Value::Unit)
}

/// Arrives at the barrier at the same place in another CTA of the cluster: what wgmma, TMA and loads read before has been
/// read. It does not make stores visible there. `.release.cluster` would, and on an H100 it waits for all of a thread's
/// memory accesses, which costs a GEMM a third of its speed.
fn arrive_at(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Barrier(barrier) = &call.args[0].value else {
        return Err(call.mismatch(0, "a barrier"));
    };
    let own = barrier.addresses().register(b, 0)?;
    let cta = call.num(1)?;
    let size: u32 = b.cluster.iter().product();
    if let Num::Const(rank) = cta
        && !(0..i128::from(size)).contains(&rank)
    {
        return Err(call.error_at(1, format!("a cluster has the CTAs 0..{size}, not {rank}")));
    }
    let there = b.compute(
        Type::U32,
        Opcode::Mapa,
        (Modifier::SharedCluster, Type::U32),
        [own.operand(), cta.operand()],
    );
    let there = super::builder::address(&there, 0);
    b.emit(
        Opcode::MbarrierArrive,
        (Modifier::Arrive, Modifier::SharedCluster),
        [Operand::Sink, there],
    );
    Ok(Value::Unit)
}

/// Waits for all threads of the cluster.
fn sync_cluster(b: &mut Builder, _: &Call) -> Result<Value> {
    b.emit(Opcode::BarrierClusterArrive, Modifier::Aligned, []);
    b.emit(Opcode::BarrierClusterWait, Modifier::Aligned, []);
    Ok(Value::Unit)
}

/// Arrives, and announces bytes that copies will deliver before the phase completes.
fn expect_tx(b: &mut Builder, call: &Call) -> Result<Value> {
    let barrier = address(b, call, 0)?;
    let bytes = call.num(1)?;
    b.emit(
        Opcode::MbarrierArrive,
        (Modifier::Arrive, Modifier::ExpectTx, Modifier::SharedCta),
        [Operand::Sink, barrier, bytes.operand()],
    );
    Ok(Value::Unit)
}

fn bar_sync(b: &mut Builder, call: &Call) -> Result<Value> {
    let id = call.num(0)?;
    if id
        .constant()
        .is_some_and(|id| !(0..NAMED.into()).contains(&id))
    {
        return Err(call.error_at(0, format!("a CTA has barriers 0 to {}", NAMED - 1)));
    }
    let threads = call.constant_in(1, WARP..=b.threads)?;
    if threads % WARP != 0 {
        return Err(call.error_at(
            1,
            format!("{threads} threads are not whole warps of {WARP}"),
        ));
    }
    b.emit(
        Opcode::BarSync,
        (),
        [id.operand(), Operand::Int(threads.into())],
    );
    Ok(Value::Unit)
}

fn setmaxnreg(b: &mut Builder, call: &Call, direction: Modifier) -> Result<Value> {
    let registers = call.constant_in(0, registers::SETMAXNREG)?;
    let low = registers / UNIT * UNIT;
    if registers != low {
        let high = low + UNIT;
        return Err(call.error_at(
            0,
            format!("{registers} is not a multiple of {UNIT}; nearest: {low} and {high}"),
        ));
    }
    let launched = registers::at_launch(b.threads);
    let contradicts = match direction {
        Modifier::Dec => registers > launched,
        _ => registers < launched,
    };
    if contradicts {
        return Err(call.error_at(
            0,
            format!(
                "a CTA of {} threads starts with {launched} registers a thread, and {registers} does not {direction}rease that",
                b.threads
            ),
        ));
    }
    plain(b, Opcode::Setmaxnreg, direction, Some(registers.into()))
}

/// An instruction with at most one number.
pub(super) fn plain(
    b: &mut Builder,
    opcode: Opcode,
    modifiers: impl Modifiers,
    number: Option<i128>,
) -> Result<Value> {
    b.emit(opcode, modifiers, number.map(Operand::Int));
    Ok(Value::Unit)
}
