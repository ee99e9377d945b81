//! Exchanges between the lanes of a warp, votes and matches. All lanes of the warp execute them together.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::ir::claims::Statement;
use crate::kernel::ir::{Line, Operand};
use crate::kernel::value::{Num, Scalar, Value};
use cute_chip::threads::WARP;
use cute_ptx::ast::Type;
use cute_ptx::claims::Group;
use cute_ptx::table::choice::{ReduxOp, ShuffleMode, VoteMode};
use cute_ptx::table::op;
use syn::Result;

#[rustfmt::skip]
pub(super) const ROWS: &[Builtin] = &[
    Builtin { signature: "shfl_idx(x, lane, [width])", apply: |b, call| shuffle(b, call, ShuffleMode::Idx) },
    Builtin { signature: "shfl_up(x, delta, [width])", apply: |b, call| shuffle(b, call, ShuffleMode::Up) },
    Builtin { signature: "shfl_down(x, delta, [width])", apply: |b, call| shuffle(b, call, ShuffleMode::Down) },
    Builtin { signature: "shfl_bfly(x, mask, [width])", apply: |b, call| shuffle(b, call, ShuffleMode::Bfly) },
    Builtin { signature: "vote_any(condition)", apply: |b, call| vote(b, call, VoteMode::Any) },
    Builtin { signature: "vote_all(condition)", apply: |b, call| vote(b, call, VoteMode::All) },
    Builtin { signature: "vote_ballot(condition)", apply: |b, call| vote(b, call, VoteMode::Ballot) },
    Builtin { signature: "match_any(x)", apply: match_any },
    Builtin { signature: "redux_add(x)", apply: |b, call| redux(b, call, ReduxOp::Add) },
    Builtin { signature: "redux_min(x)", apply: |b, call| redux(b, call, ReduxOp::Min) },
    Builtin { signature: "redux_max(x)", apply: |b, call| redux(b, call, ReduxOp::Max) },
    Builtin { signature: "redux_and(x)", apply: |b, call| redux(b, call, ReduxOp::And) },
    Builtin { signature: "redux_or(x)", apply: |b, call| redux(b, call, ReduxOp::Or) },
    Builtin { signature: "redux_xor(x)", apply: |b, call| redux(b, call, ReduxOp::Xor) },
    Builtin { signature: "elect()", apply: elect },
    Builtin { signature: "uniform(x, [group])", apply: uniform },
    Builtin { signature: "activemask()", apply: |b, _| Ok(b.compute(Type::U32, op::Activemask, (), []).into()) },
];

/// The value of another lane. Lanes are numbered within segments of `width` lanes. A lane that names a lane outside of its segment gets its
/// own value.
fn shuffle(b: &mut Builder, call: &Call, mode: ShuffleMode) -> Result<Value> {
    let x = exchanged(call)?;
    if x.is_none() && call.args[1].value.as_num().is_none() {
        let message = format!(
            "`{}` takes no mask of lanes: the number comes first, and the lanes are those of the warp",
            call.name
        );
        return Err(call.error_at(0, message));
    }
    let width = match call.args.len() {
        3 => call.constant_in(2, 1..=WARP)?,
        _ => WARP,
    };
    if !width.is_power_of_two() {
        return Err(call.error_at(2, format!("{width} lanes are not a power of two")));
    }
    let lane = match call.num(1)? {
        Num::Const(_) => Operand::Int(call.constant_in(1, 0..=WARP - 1)?.into()),
        Num::Reg(lane) => b.convert(&lane, Type::U32)?.operand(),
    };
    let Some(x) = x else {
        return Ok(call.args[0].value.clone());
    };
    // Bits 8 to 12 are a mask for the bits of a lane that number its segment; the lowest bits are the last lane that may be read.
    let last = if mode == ShuffleMode::Up { 0 } else { WARP - 1 };
    let clamp = Operand::Int(((WARP - width) << 8 | last).into());
    let members = members(b)?;
    let words = to_words(b, &x);
    let mut exchanged = Vec::with_capacity(words.len());
    for word in words {
        let operands = [word.operand(), lane.clone(), clamp.clone(), members.clone()];
        exchanged.push(b.compute(word.ty, op::Shfl, mode, operands));
    }
    Ok(from_words(b, x.ty, &exchanged).into())
}

fn vote(b: &mut Builder, call: &Call, mode: VoteMode) -> Result<Value> {
    let members = members(b)?;
    let condition = match &call.args[0].value {
        Value::Bool(known) if mode != VoteMode::Ballot => return Ok(Value::Bool(*known)),
        Value::Bool(known) => Operand::Int((*known).into()),
        Value::Scalar(scalar) if scalar.ty == Type::Pred => scalar.operand(),
        _ => return Err(call.mismatch(0, "a truth value")),
    };
    let ty = match mode {
        VoteMode::Ballot => Type::U32,
        _ => Type::Pred,
    };
    Ok(b.compute(ty, op::Vote, mode, [condition, members]).into())
}

/// The mask of the lanes with the same bits.
fn match_any(b: &mut Builder, call: &Call) -> Result<Value> {
    let members = members(b)?;
    let Some(x) = exchanged(call)? else {
        return Err(call.mismatch(0, "a run-time number"));
    };
    let compared = match x.ty.bits() {
        64 => x,
        _ => to_words(b, &x).swap_remove(0),
    };
    let operands = [compared.operand(), members];
    let lanes = b.compute(Type::U32, op::MatchAny, compared.ty.untyped(), operands);
    Ok(lanes.into())
}

fn redux(b: &mut Builder, call: &Call, op: ReduxOp) -> Result<Value> {
    let members = members(b)?;
    let x = match &call.args[0].value {
        Value::Scalar(x) if matches!(x.ty, Type::U32 | Type::S32) => x.clone(),
        _ => return Err(call.mismatch(0, "a run-time u32 or i32")),
    };
    let ty = match op {
        ReduxOp::Add | ReduxOp::Min | ReduxOp::Max => x.ty,
        _ => x.ty.untyped(),
    };
    let operands = [x.operand(), members];
    Ok(b.compute(x.ty, op::Redux, (op, ty), operands).into())
}

/// Whether this is the lane that the hardware elects.
fn elect(b: &mut Builder, _: &Call) -> Result<Value> {
    let members = members(b)?;
    let elected = b.register(Type::Pred);
    let lane = Operand::Pair(Box::new(Operand::Sink), Box::new(elected.operand()));
    b.emit(op::Elect, (), [lane, members]);
    Ok(elected.into())
}

/// The value itself. A comment of the PTX claims that it is the same in all threads of the group.
fn uniform(b: &mut Builder, call: &Call) -> Result<Value> {
    let group = match call.args.get(1).map(|argument| &argument.value) {
        None => Group::Warp,
        Some(Value::Word("WARPGROUP")) => Group::Warpgroup,
        Some(Value::Word("CTA")) => Group::Cta,
        Some(_) => return Err(call.mismatch(1, "`WARPGROUP` or `CTA`")),
    };
    if let Some(x) = exchanged(call)? {
        let register = x.register;
        b.push(Line::Statement(Statement::Uniform { register, group }));
    }
    Ok(call.args[0].value.clone())
}

/// The number or truth value of argument 0, or `None` if it is known and so the same in all lanes.
fn exchanged(call: &Call) -> Result<Option<Scalar>> {
    match &call.args[0].value {
        Value::Scalar(x) => Ok(Some(x.clone())),
        Value::Int(..) | Value::Float(..) | Value::Bool(_) => Ok(None),
        _ => Err(call.mismatch(0, "a number or a truth value")),
    }
}

/// The mask of the lanes of each warp.
pub(super) fn members(b: &Builder) -> Result<Operand> {
    match b.threads {
        threads if threads.is_multiple_of(WARP) => Ok(Operand::Int(u32::MAX.into())),
        threads if threads < WARP => Ok(Operand::Int((1 << threads) - 1)),
        threads => Err(b.error(format!(
            "{threads} threads are not a multiple of a warp, {WARP} threads"
        ))),
    }
}

/// A number as registers of 32 bits.
fn to_words(b: &mut Builder, x: &Scalar) -> Vec<Scalar> {
    match x.ty.bits() {
        64 => {
            let halves = [b.register(Type::U32), b.register(Type::U32)];
            let vector = Operand::Vector(halves.iter().map(Scalar::operand).collect());
            b.emit(op::Mov, Type::B64, [vector, x.operand()]);
            halves.into()
        }
        32 => vec![x.clone()],
        1 => {
            let operands = [Operand::Int(1), Operand::Int(0), x.operand()];
            vec![b.compute(Type::U32, op::Selp, Type::U32, operands)]
        }
        _ => {
            vec![b.compute(Type::U32, op::Cvt, (Type::U32, Type::U16), [x.operand()])]
        }
    }
}

/// A number from registers of 32 bits.
fn from_words(b: &mut Builder, ty: Type, words: &[Scalar]) -> Scalar {
    match (ty.bits(), words) {
        (64, words) => {
            let vector = Operand::Vector(words.iter().map(Scalar::operand).collect());
            b.compute(ty, op::Mov, Type::B64, [vector])
        }
        (1, [word, ..]) => {
            b.set_predicate(Cmp::Ne, Type::U32, &word.clone().into(), &Num::Const(0))
        }
        (8 | 16, [word, ..]) => b.compute(ty, op::Cvt, (Type::U16, Type::U32), [word.operand()]),
        (_, words) => words[0].clone(),
    }
}
