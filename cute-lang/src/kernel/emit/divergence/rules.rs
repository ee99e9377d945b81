//! What the results of an instruction may differ in, by what its operands may differ in.
//!
//! Integers are followed bit by bit, so that `thread() / 32`, `thread() & !31`, `thread() - 128 < 64` and the like are known to be
//! the same in all lanes of a warp. Of other values, all bits may differ if a bit of an operand may.

use super::group::{Group, Members, is_of_cta, members};
use super::varies::Varies;
use crate::kernel::emit::operation::Cmp;
use cute_hopper::threads::WARP;
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::special;
use cute_ptx::table::{Effect, Modifier, Opcode};

/// What is known of the registers that an instruction reads.
pub(super) trait Known {
    /// What a register may differ in.
    fn varies(&self, register: &str) -> Varies;
    /// The bits of a register that may be set.
    fn possible(&self, register: &str) -> u64;
    /// Threads of a CTA.
    fn threads(&self) -> u32;
    /// CTAs of a cluster.
    fn cluster(&self) -> [u32; 3];
}

/// What the results of an instruction may differ in among the threads that execute it.
pub(super) fn result(inst: &Inst, known: &impl Known) -> Varies {
    let sources: Vec<Source> = inst
        .operands
        .iter()
        .enumerate()
        .filter(|(at, _)| !inst.mnemonic.writes(*at))
        .map(|(_, operand)| Source::of(operand, known))
        .collect();
    let all = || {
        let mut all = Varies::NOT;
        sources.iter().for_each(|it| _ = all.join(&it.varies));
        all.spread()
    };
    let mnemonic = inst.mnemonic;
    let is_listed = matches!(members(inst, known.threads()), Some(Members::Listed(_)));
    match (mnemonic.opcode(), mnemonic.effect()) {
        (Opcode::Elect, _) => Varies::by_lane("`elect()`"),
        (Opcode::Activemask, _) => Varies::by_lane("`activemask()`"),
        (Opcode::MatchAny, _) => Varies::by_lane("`match_any`"),
        (Opcode::Vote | Opcode::Redux | Opcode::MatchAll, _) if is_listed => {
            Varies::by_lane("lanes of a mask")
        }
        (Opcode::Vote | Opcode::Redux | Opcode::MatchAll, _) => all().gathered(),
        (Opcode::Shfl, _) => match is_listed {
            true => Varies::by_lane("a shuffle of lanes of a mask"),
            false => shuffled(inst, &sources),
        },
        (Opcode::BarRed | Opcode::BarrierRed, _) => {
            let group = match is_of_cta(inst, known.threads()) {
                true => Group::Cluster,
                false => Group::Warpgroup,
            };
            Varies::in_group(group, "the result of a barrier")
        }
        // All lanes ask at once; warps do not.
        (Opcode::MbarrierTestWait | Opcode::MbarrierTryWait, _) => {
            let mut result = Varies::in_group(Group::Warpgroup, "the state of an mbarrier");
            result.join(&all());
            result
        }
        (Opcode::Ld | Opcode::Ldu, _) => match mnemonic.get("space") {
            Some(Modifier::Local) => Varies::by_lane("memory of the thread"),
            _ if is_strong(inst) => Varies::by_lane("data that other threads change meanwhile"),
            _ => match all() {
                loaded if loaded.is_in(Group::Cluster) => {
                    loaded.because("data that is loaded from different addresses")
                }
                loaded => loaded,
            },
        },
        (Opcode::Atom, _) => Varies::by_lane("the result of an atomic operation"),
        (_, Effect::None) => computed(inst, &sources).unwrap_or_else(all),
        (_, Effect::Exchanges | Effect::Reads) => Varies::by_lane("the values of a matrix"),
        (_, Effect::Acts) => Varies::by_lane("what the hardware returns"),
    }
}

/// Whether a load may see what other threads write meanwhile, without a race.
fn is_strong(inst: &Inst) -> bool {
    use Modifier::*;
    let strong = [Volatile, Relaxed, Acquire];
    strong.into_iter().any(|it| inst.mnemonic.has(it))
}

/// An operand that is read.
struct Source {
    varies: Varies,
    possible: u64,
    constant: Option<u64>,
}

impl Source {
    fn of(operand: &Operand, known: &impl Known) -> Self {
        let mut varies = Varies::NOT;
        operand.for_each_name(&mut |name| {
            let of = match special::lookup(name) {
                Some((found, axis)) => {
                    let (threads, cluster) = (known.threads(), known.cluster());
                    Varies::special(found.register, axis, threads, cluster)
                }
                None => known.varies(name),
            };
            varies.join(&of);
        });
        let constant = match operand {
            // The bits of a negative number.
            Operand::Int(number) => Some(*number as u64),
            _ => None,
        };
        let possible = match operand {
            Operand::Name(name) => known.possible(name),
            _ => constant.unwrap_or(u64::MAX),
        };
        Self {
            varies,
            possible,
            constant,
        }
    }
}

/// The result of an operation on integers; `None` if all of its bits may differ if a bit of an operand may.
fn computed(inst: &Inst, sources: &[Source]) -> Option<Varies> {
    let mnemonic = inst.mnemonic;
    let opcode = mnemonic.opcode();
    let is_saturated = mnemonic.has(Modifier::Sat) || mnemonic.has(Modifier::Relu);
    let ty = mnemonic.ty("t").or(mnemonic.ty("d"));
    let signed = ty.is_some_and(is_signed);
    let [a, rest @ ..] = sources else {
        return None;
    };
    let b = rest.first();
    let both = |bits: &dyn Fn(u64, u64) -> u64| Some(a.varies.with(&b?.varies, bits));
    let is_vector = inst
        .operands
        .iter()
        .any(|it| matches!(it, Operand::Vector(_)));
    match opcode {
        Opcode::Mov | Opcode::Cvta | Opcode::CvtaTo if !is_vector => return Some(a.varies),
        Opcode::Selp => return Some(chosen(a, b?, &rest.get(1)?.varies)),
        _ if is_saturated || !ty.is_some_and(is_integer) => return None,
        _ => {}
    }
    match opcode {
        Opcode::Cvt => {
            let (from, to) = (mnemonic.ty("s")?, mnemonic.ty("d")?);
            is_integer(from).then(|| converted(&a.varies, from, to))
        }
        Opcode::Not => Some(a.varies),
        Opcode::And => {
            let possible = a.possible & b?.possible;
            both(&|a, b| (a | b) & possible)
        }
        Opcode::Or | Opcode::Xor => both(&|a, b| a | b),
        Opcode::Shl => {
            let (amount, all) = (b?.constant?, below(ty?.bits()));
            let shift = |bits: u64, by| bits.checked_shl(by).map(|bits| bits & all);
            Some(a.varies.map(|bits| shifted(bits, amount, shift)))
        }
        Opcode::Shr if !signed => {
            let amount = b?.constant?;
            Some(
                a.varies
                    .map(|bits| shifted(bits, amount, |bits, by| bits.checked_shr(by))),
            )
        }
        Opcode::Add => {
            let carries = carries(a.possible & b?.possible);
            both(&|a, b| carries(a | b))
        }
        Opcode::Sub => {
            let carries = carries(b?.possible);
            both(&|a, b| carries(a | b))
        }
        Opcode::Mul if mnemonic.get("part") != Some(Modifier::Hi) => both(&product(a, b?)),
        Opcode::Mad if mnemonic.get("part") != Some(Modifier::Hi) => {
            let product = both(&product(a, b?))?;
            Some(product.with(&rest.get(1)?.varies, |a, b| up(a | b)))
        }
        Opcode::Div | Opcode::Rem if !signed => {
            let by = b?.constant.filter(|by| *by != 0)?;
            let low = below(by.trailing_zeros());
            Some(a.varies.map(|bits| match (opcode, bits & !low) {
                (Opcode::Div, 0) => 0,
                (Opcode::Div, _) => u64::MAX,
                (_, 0) => bits,
                (_, _) => bits | !low,
            }))
        }
        Opcode::Min | Opcode::Max => {
            let less = compared(Cmp::Lt.modifier(), ty?, a, b?);
            Some(chosen(a, b?, &less))
        }
        Opcode::Setp => {
            let compared = compared(mnemonic.get("cmp")?, ty?, a, b?);
            Some(match rest.get(1) {
                Some(other) => compared.with(&other.varies, |a, b| a | b),
                None => compared,
            })
        }
        _ => None,
    }
}

/// One of two values, by a truth value.
fn chosen(a: &Source, b: &Source, chooses: &Varies) -> Varies {
    let differ = match (a.constant, b.constant) {
        (Some(a), Some(b)) => a ^ b,
        _ => a.possible | b.possible,
    };
    let chosen = chooses.spread().map(|bits| bits & differ);
    let values = a.varies.with(&b.varies, |a, b| a | b);
    values.with(&chosen, |a, b| a | b)
}

fn is_integer(ty: Type) -> bool {
    use Type::*;
    is_signed(ty) || matches!(ty, Pred | B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64)
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// A mask of the lowest bits.
fn below(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// These bits and all above the lowest of them.
fn up(bits: u64) -> u64 {
    match bits {
        0 => 0,
        bits => !below(bits.trailing_zeros()),
    }
}

fn shifted(bits: u64, amount: u64, shift: impl Fn(u64, u32) -> Option<u64>) -> u64 {
    u32::try_from(amount)
        .ok()
        .and_then(|amount| shift(bits, amount))
        .unwrap_or(0)
}

/// The bits of a sum that may differ, by those of its operands, where carries begin at these bits only.
fn carries(from: u64) -> impl Fn(u64) -> u64 {
    let low = below(from.trailing_zeros());
    move |bits| bits & low | up(bits & !low)
}

fn product(a: &Source, b: &Source) -> impl Fn(u64, u64) -> u64 + use<> {
    // A bit of a factor is moved up by the zeros below the other one.
    let zeros = [b.possible, a.possible].map(|possible| possible.trailing_zeros());
    move |a, b| {
        let moved = |bits: u64, by: u32| bits.checked_shl(by).map_or(0, up);
        moved(up(a), zeros[0]) | moved(up(b), zeros[1])
    }
}

/// Of an integer that is converted, the bits that stay, and copies of its sign.
fn converted(varies: &Varies, from: Type, to: Type) -> Varies {
    let (width, kept) = (below(from.bits()), below(to.bits()));
    let sign = 1 << (from.bits() - 1);
    varies.map(|bits| {
        let copies = match is_signed(from) && bits & sign != 0 {
            true => !width,
            false => 0,
        };
        (bits & width | copies) & kept
    })
}

/// The result of a comparison. Multiples of a power of two split the numbers at the multiples of this power, so that lower bits
/// of the other number do not matter.
fn compared(cmp: Modifier, ty: Type, a: &Source, b: &Source) -> Varies {
    let cmp = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]
        .into_iter()
        .find(|it| it.modifier() == cmp);
    let zeros = |source: &Source, more: u64| match source.constant {
        Some(constant) => constant.wrapping_add(more).trailing_zeros(),
        None if more == 0 => source.possible.trailing_zeros(),
        None => 0,
    };
    let zeros = match cmp {
        // `a < b`, and `b <= a`.
        Some(Cmp::Lt | Cmp::Ge) => zeros(b, 0).max(zeros(a, 1)),
        Some(Cmp::Le | Cmp::Gt) => zeros(a, 0).max(zeros(b, 1)),
        _ => 0,
    };
    // The sign decides in any case.
    let least = if is_signed(ty) { ty.bits() - 1 } else { 64 };
    let high = !below(zeros.min(least));
    a.varies
        .with(&b.varies, |a, b| u64::from((a | b) & high != 0))
        .spread()
}

/// A value of another lane.
fn shuffled(inst: &Inst, sources: &[Source]) -> Varies {
    let [value, lane, segments, ..] = sources else {
        return Varies::by_lane("a shuffle");
    };
    // The second result tells whether the lane exists.
    if matches!(inst.operands.first(), Some(Operand::Pair(..))) {
        return Varies::by_lane("a shuffle");
    }
    let lanes = WARP as u64 - 1;
    // Lanes whose numbers differ in the other bits are in other segments.
    let segment = segments.constant.filter(|it| it & lanes == lanes);
    let segment = segment.map(|it| (lanes & !(it >> 8)) as u8);
    let mode = inst.mnemonic.get("mode");
    let mut result = match (mode, segment) {
        (Some(Modifier::Idx), Some(segment)) if !lane.varies.is_in(Group::Warp) => {
            value.varies.without_lanes(segment)
        }
        (Some(Modifier::Bfly), Some(_)) if !lane.varies.is_in(Group::Warp) => value.varies,
        _ => value.varies.in_all_lanes(),
    };
    // Which lane is read may differ between warps.
    if value.varies.is_in(Group::Warp) {
        result.join(&lane.varies.spread());
    }
    result
}

/// The lanes that a butterfly exchanges, the register whose values it exchanges, and the one in which they are.
pub(super) fn butterfly(inst: &Inst) -> Option<(u8, &str, &str)> {
    let mnemonic = inst.mnemonic;
    let [
        Operand::Name(to),
        Operand::Name(from),
        Operand::Int(mask),
        Operand::Int(segments),
        _,
    ] = &inst.operands[..]
    else {
        return None;
    };
    let is_butterfly =
        mnemonic.opcode() == Opcode::Shfl && mnemonic.get("mode") == Some(Modifier::Bfly);
    let lanes = i128::from(WARP) - 1;
    let exchanges = mask & lanes == *mask && segments & lanes == lanes && segments >> 8 & mask == 0;
    let is_bit = u8::try_from(*mask).is_ok_and(u8::is_power_of_two);
    (is_butterfly && exchanges && is_bit && inst.guard.is_none()).then_some((*mask as u8, from, to))
}

/// The two registers that an instruction joins, if their order does not matter.
pub(super) fn joined(inst: &Inst) -> Option<(&str, &str)> {
    use Opcode::*;
    let commutes = matches!(
        inst.mnemonic.opcode(),
        Add | Mul | Min | Max | And | Or | Xor
    );
    match &inst.operands[..] {
        [_, Operand::Name(a), Operand::Name(b)] if commutes && inst.guard.is_none() => Some((a, b)),
        _ => None,
    }
}
