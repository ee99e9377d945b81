//! Exchanges between lanes, barriers, `setmaxnreg`, and the ranks of CTAs in a cluster.

use super::bindings::Bindings;
use super::operands::{Arg, Result, take};
use crate::arithmetic;
use crate::op::{Op, Shuffle, ShuffleMode, Vote};
use cute_ptx::table::Modifier;

pub(super) fn shuffle(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let mode = match m.get("mode") {
        Some(Modifier::Up) => ShuffleMode::Up,
        Some(Modifier::Down) => ShuffleMode::Down,
        Some(Modifier::Bfly) => ShuffleMode::Butterfly,
        _ => ShuffleMode::Index,
    };
    let [dst, src, lane, clamp, _] = take(args)?;
    let (dst, valid) = dst.pair()?;
    Ok(Op::Shuffle(Shuffle {
        mode,
        dst,
        valid,
        src: src.row()?,
        lane: lane.row()?,
        clamp: clamp.row()?,
    }))
}

pub(super) fn vote(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let mode = match m.get("mode") {
        Some(Modifier::Any) => Vote::Any,
        Some(Modifier::All) => Vote::All,
        Some(Modifier::Uni) => Vote::Uniform,
        _ => Vote::Ballot,
    };
    let [dst, predicate, members] = take(args)?;
    Ok(Op::Vote {
        mode,
        dst: dst.row()?,
        predicate: predicate.row()?,
        members: members.row()?,
    })
}

pub(super) fn match_lanes(m: &Bindings, args: Vec<Arg>, all: bool) -> Result<Op> {
    m.ignore(&["t"]);
    let [dst, src, members] = take(args)?;
    let (dst, same) = dst.pair()?;
    Ok(Op::Match {
        all,
        dst,
        same,
        src: src.row()?,
        members: members.row()?,
    })
}

pub(super) fn redux(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (op, ty) = (m.get("op"), m.ty("t")?);
    let op = op.and_then(|op| arithmetic::update(op, ty));
    let [dst, src, _] = take(args)?;
    Ok(Op::Reduce {
        op: op.ok_or_else(|| m.unmodelled_on(ty))?,
        dst: dst.row()?,
        src: src.row()?,
    })
}

pub(super) fn elect(args: Vec<Arg>) -> Result<Op> {
    let [dst, members] = take(args)?;
    let (dst, Some(elected)) = dst.pair()? else {
        return Err("elect.sync needs two destinations".to_owned());
    };
    Ok(Op::Elect {
        dst,
        elected,
        members: members.row()?,
    })
}

pub(super) fn barrier(m: &Bindings, args: Vec<Arg>, wait: bool) -> Result<Op> {
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
pub(super) fn barrier_reduce(m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
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

pub(super) fn move_matrix(args: Vec<Arg>) -> Result<Op> {
    let [dst, src] = take(args)?;
    Ok(Op::MoveMatrix {
        dst: dst.row()?,
        src: src.row()?,
    })
}

pub(super) fn set_max_registers(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let increase = m.get("direction") == Some(Modifier::Inc);
    let [count] = take(args)?;
    let count = count.int()?;
    Ok(Op::SetMaxRegisters {
        count: u32::try_from(count).map_err(|_| format!("{count} is not a number of registers"))?,
        increase,
    })
}

pub(super) fn map_rank(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["t"]);
    let [dst, address, rank] = take(args)?;
    Ok(Op::MapRank {
        dst: dst.row()?,
        address: address.row()?,
        rank: rank.row()?,
        generic: m.get("space").is_none(),
    })
}

pub(super) fn rank_of(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    m.ignore(&["t"]);
    let [dst, address] = take(args)?;
    Ok(Op::RankOf {
        dst: dst.row()?,
        address: address.row()?,
        generic: m.get("space").is_none(),
    })
}
