//! Exchanges between the lanes of a warp.

use super::bindings::Bindings;
use super::operands::{Arg, Result, take};
use crate::arithmetic;
use crate::op::{Op, Shuffle, ShuffleMode, Vote};
use cute_ptx::table::{Modifier, Opcode};

pub(super) fn operation(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    match m.opcode() {
        Opcode::Shfl => shuffle(m, args),
        Opcode::Vote => vote(m, args),
        Opcode::MatchAny => match_lanes(m, args, false),
        Opcode::MatchAll => match_lanes(m, args, true),
        Opcode::Activemask => {
            let [dst] = take(args)?;
            Ok(Op::ActiveMask { dst: dst.row()? })
        }
        Opcode::Redux => redux(m, args),
        Opcode::Elect => elect(args),
        Opcode::BarWarpSync => {
            let [members] = take(args)?;
            Ok(Op::WarpSync {
                members: members.row()?,
            })
        }
        Opcode::Movmatrix => move_matrix(args),
        _ => m.unknown(),
    }
}

fn shuffle(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

fn vote(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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

fn match_lanes(m: &Bindings, args: Vec<Arg>, all: bool) -> Result<Op> {
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

fn redux(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (op, ty) = (m.get("op"), m.ty("t")?);
    let op = op.and_then(|op| arithmetic::update(op, ty));
    let [dst, src, _] = take(args)?;
    Ok(Op::Reduce {
        op: op.ok_or_else(|| m.unmodelled_on(ty))?,
        dst: dst.row()?,
        src: src.row()?,
    })
}

fn elect(args: Vec<Arg>) -> Result<Op> {
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

fn move_matrix(args: Vec<Arg>) -> Result<Op> {
    let [dst, src] = take(args)?;
    Ok(Op::MoveMatrix {
        dst: dst.row()?,
        src: src.row()?,
    })
}
