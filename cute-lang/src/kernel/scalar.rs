//! Integers, and who a thread is.

use super::arithmetic::Op;
use super::builder::Builder;
use super::builtins::{Builtin, Call};
use super::value::{Num, Value, is_signed};
use cute_hopper::threads;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::special::Register;
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// Threads of a warp.
const WARP: u32 = threads::WARP;

/// Threads of a warpgroup.
const WARPGROUP: u32 = threads::WARPGROUP;

/// The rows of the builtin table about integers and threads.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "min(a, b)",
        apply: min,
    },
    Builtin {
        signature: "max(a, b)",
        apply: max,
    },
    Builtin {
        signature: "ceil_div(a, b)",
        apply: ceil_div,
    },
    Builtin {
        signature: "bits::<T>()",
        apply: bits,
    },
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
        signature: "grid_dim()",
        apply: |b, _| Ok(xyz(b, "grid", Register::Nctaid)),
    },
    Builtin {
        signature: "cluster_ctarank()",
        apply: cluster_ctarank,
    },
];

fn min(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Min)
}

fn max(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Max)
}

fn extremum(b: &mut Builder, call: &Call, op: Op) -> Result<Value> {
    call.num(0)?;
    call.num(1)?;
    b.integers(op, &call.args[0].value, &call.args[1].value)
}

/// ⌈a / b⌉ as (a + b − 1) / b, for which integers of 8 and 16 bits take 32.
fn ceil_div(b: &mut Builder, call: &Call) -> Result<Value> {
    let (x, y) = (call.num(0)?, call.num(1)?);
    if let Num::Const(divisor) = y
        && divisor < 1
    {
        return Err(call.error_at(1, format!("the divisor is at least 1, not {divisor}")));
    }
    let ty = b.common_type(&call.args[0].value, &call.args[1].value)?;
    let (x, y) = (widen(b, x)?, widen(b, y)?);
    let less = b.sub(&y, &Num::Const(1))?;
    let sum = b.add(&x, &less)?;
    let quotient = match (b.div(&sum, &y)?, ty) {
        (Num::Reg(quotient), Some(ty)) => Num::Reg(b.convert(&quotient, ty)?),
        (known, _) => known,
    };
    Ok(quotient.typed(ty))
}

fn widen(b: &mut Builder, num: Num) -> Result<Num> {
    match num {
        Num::Reg(narrow) if narrow.ty.bits() < 32 => {
            let wide = if is_signed(narrow.ty) {
                Type::S32
            } else {
                Type::U32
            };
            Ok(Num::Reg(b.convert(&narrow, wide)?))
        }
        num => Ok(num),
    }
}

fn bits(_: &mut Builder, call: &Call) -> Result<Value> {
    Ok(Value::Int(call.element()?.bits().into(), None))
}

fn thread(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(b.thread().into())
}

fn lane(b: &mut Builder, _: &Call) -> Result<Value> {
    let lane = b.once("lane", Type::U32, |b, lane| {
        let thread = b.thread();
        b.emit(
            Opcode::And,
            Type::B32,
            [
                lane.operand(),
                thread.operand(),
                Operand::Int((WARP - 1).into()),
            ],
        );
    });
    b.limit_bits(&lane, (WARP - 1).into());
    Ok(lane.into())
}

fn warp(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(uniform(b, "warp", WARP)?.into())
}

fn warpgroup(b: &mut Builder, _: &Call) -> Result<Value> {
    Ok(uniform(b, "warpgroup", WARPGROUP)?.into())
}

/// The index of the group of `size` threads. It is taken from lane 0 of the warp, so that the assembler knows it to be
/// the same in all of a warp and branches on it as one.
fn uniform(b: &mut Builder, name: &str, size: u32) -> Result<Num> {
    if b.threads <= size {
        return Ok(Num::Const(0));
    }
    if !b.threads.is_multiple_of(WARP) {
        return Err(b.error(format!(
            "{} threads are not whole warps of {WARP}",
            b.threads
        )));
    }
    let group = b.once(name, Type::U32, |b, group| {
        let thread = b.thread();
        let mine = b.compute(
            Type::U32,
            Opcode::Shr,
            Type::U32,
            [thread.operand(), Operand::Int(size.trailing_zeros().into())],
        );
        let lane_0 = [
            Operand::Int(0),
            Operand::Int((WARP - 1).into()),
            Operand::Int(u32::MAX.into()),
        ];
        b.emit(
            Opcode::Shfl,
            Modifier::Idx,
            [group.operand(), mine.operand()].into_iter().chain(lane_0),
        );
    });
    let groups = b.threads.div_ceil(size);
    b.limit_bits(&group, u64::from(groups.next_power_of_two()) - 1);
    Ok(Num::Reg(group))
}

fn warpgroup_thread(b: &mut Builder, _: &Call) -> Result<Value> {
    if b.threads <= WARPGROUP {
        return Ok(b.thread().into());
    }
    let thread = b.once("warpgroup_thread", Type::U32, |b, result| {
        let thread = b.thread();
        b.emit(
            Opcode::And,
            Type::B32,
            [
                result.operand(),
                thread.operand(),
                Operand::Int((WARPGROUP - 1).into()),
            ],
        );
    });
    b.limit_bits(&thread, (WARPGROUP - 1).into());
    Ok(thread.into())
}

/// The three parts of a special register.
fn xyz(b: &mut Builder, name: &str, register: Register) -> Value {
    let parts = ["x", "y", "z"].into_iter().enumerate();
    let parts = parts.map(|(axis, suffix)| {
        let part = b.special(&format!("{name}_{suffix}"), register, axis);
        part.into()
    });
    Value::Tuple(parts.collect())
}

fn cluster_ctarank(b: &mut Builder, _: &Call) -> Result<Value> {
    if b.cluster == [1, 1, 1] {
        return Ok(Value::Int(0, None));
    }
    let rank = b.special("ctarank", Register::ClusterCtarank, 0);
    let size: u32 = b.cluster.iter().product();
    b.limit_bits(&rank, u64::from(size.next_power_of_two()) - 1);
    Ok(rank.into())
}
