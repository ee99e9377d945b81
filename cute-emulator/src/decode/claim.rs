//! Reads claims: the comments of instructions.

use super::operands::Arg;
use super::registers::Registers;
use crate::claim::{Claim, Comparison, Condition, Order, Place, Sum, Swizzle, View};
use crate::op::Reg;
use std::ops::Range;

/// An operand of which something can be claimed.
pub(super) enum Operand {
    Address(Sum),
    /// The coordinates of a box.
    Box(Box<[Reg]>),
}

/// The operands of which something can be claimed, in their order.
pub(super) fn operands(args: &[Arg]) -> Vec<Operand> {
    let found = args.iter().filter_map(|arg| match arg {
        Arg::Address(address) => Some(Operand::Address(Sum {
            register: Some(address.base),
            signed: false,
            number: address.offset,
        })),
        Arg::Tile(_, coordinates) => Some(Operand::Box(coordinates.clone())),
        _ => None,
    });
    found.collect()
}

/// The claims of a comment about these operands. Other comments claim nothing.
pub(super) fn claims(
    registers: &mut Registers<'_, '_>,
    views: &[View],
    comment: &str,
    operands: Vec<Operand>,
) -> Vec<Claim> {
    let texts = comment.split("; ").zip(operands);
    let claims = texts.filter_map(|(text, operand)| claim(registers, views, text, operand));
    claims.collect()
}

/// The condition that a comment on a line of its own claims of the threads that get there.
pub(super) fn here(registers: &mut Registers<'_, '_>, comment: &str) -> Option<Condition> {
    condition(registers, comment.strip_prefix("where ")?)
}

/// The condition that the comment of an instruction ends with, if it says this of it: `if %i < %n`.
pub(super) fn says(
    registers: &mut Registers<'_, '_>,
    comment: &str,
    what: &str,
) -> Option<Condition> {
    let last = comment.rsplit("; ").next()?;
    condition(registers, last.strip_prefix(what)?)
}

fn condition(registers: &mut Registers<'_, '_>, text: &str) -> Option<Condition> {
    let any = text.contains(" || ");
    let parts = text.split(if any { " || " } else { " && " });
    let comparisons = parts.map(|part| comparison(registers, part));
    Some(Condition {
        text: text.to_owned(),
        any,
        comparisons: comparisons.collect::<Option<_>>()?,
    })
}

/// `%r3 + 8 < %n`.
fn comparison(registers: &mut Registers<'_, '_>, text: &str) -> Option<Comparison> {
    let (left, order, right) = Order::ALL.iter().find_map(|(symbol, order)| {
        let (left, right) = text.split_once(&format!(" {symbol} "))?;
        Some((left, *order, right))
    })?;
    let (left, right) = (sum(registers, left)?, sum(registers, right)?);
    (left.register.is_none() || right.register.is_none() || left.signed == right.signed)
        .then_some(Comparison { left, order, right })
}

fn claim(
    registers: &mut Registers<'_, '_>,
    views: &[View],
    text: &str,
    operand: Operand,
) -> Option<Claim> {
    let (element, place) = match text.split_once(" at ") {
        Some((element, place)) => (element, Some(place)),
        None => match text.strip_prefix("at ") {
            Some(place) => ("", Some(place)),
            None => (text, None),
        },
    };
    let (tensor, coordinate) = match element.split_once('[') {
        Some((tensor, coordinate)) => (tensor, coordinate.strip_suffix(']')?.split(", ").collect()),
        None => (element, Vec::new()),
    };
    let mut extents = Vec::new();
    let mut sums = Vec::new();
    for part in coordinate {
        let (number, extent) = match part.split_once(" < ") {
            Some((number, extent)) => (number, Some(extent)),
            None => (part, None),
        };
        sums.push(sum(registers, number)?);
        if let Some(extent) = extent {
            extents.push(extent.parse().ok()?);
        }
    }
    let place = match (operand, place) {
        (Operand::Address(address), Some(place)) => {
            let (place, bytes) = place.split_once(" in ")?;
            let (base, swizzle, offset) = swizzled(place)?;
            Place::Shared {
                address,
                extents: extents.into(),
                base,
                swizzle,
                offset: sum(registers, offset)?,
                bytes: range(bytes)?,
            }
        }
        (Operand::Address(address), None) => {
            let view = views.iter().position(|view| view.name == tensor)?;
            if views[view].strides.len() != sums.len() {
                return None;
            }
            Place::Global { address, view }
        }
        (Operand::Box(coordinates), None) if coordinates.len() == sums.len() => {
            Place::Box { coordinates }
        }
        (Operand::Box(_), _) => return None,
    };
    Some(Claim {
        tensor: tensor.to_owned(),
        coordinate: sums.into(),
        place,
    })
}

/// `1024 + Sw<3,4,3>(offset)`, or the offset alone: what is added, the swizzle and the text of the offset.
fn swizzled(text: &str) -> Option<(i64, Swizzle, &str)> {
    let Some((base, rest)) = text.split_once(" + Sw<") else {
        return Some((0, Swizzle::default(), text));
    };
    let (swizzle, offset) = rest.strip_suffix(')')?.split_once(">(")?;
    let mut parts = swizzle.split(',');
    let swizzle = Swizzle {
        bits: parts.next()?.parse().ok()?,
        base: parts.next()?.parse().ok()?,
        shift: parts.next()?.parse().ok()?,
    };
    // Offsets in shared memory have far fewer bits.
    let end = u64::from(swizzle.bits) + u64::from(swizzle.base);
    let end = end + u64::from(swizzle.shift.unsigned_abs());
    (end < 32).then_some((base.parse().ok()?, swizzle, offset))
}

/// `%r3 + 8`, `s32 %r3 + 8`, `%r3` or `8`.
fn sum(registers: &mut Registers<'_, '_>, text: &str) -> Option<Sum> {
    let (signed, text) = match text.strip_prefix("s32 ") {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (register, number) = match text.split_once(" + ") {
        Some((register, number)) => (Some(register), number.parse().ok()?),
        None => match text.parse() {
            Ok(number) => (None, number),
            Err(_) => (Some(text), 0),
        },
    };
    let register = match register {
        Some(name) => Some(registers.register(name).ok()?),
        None => None,
    };
    Some(Sum {
        register,
        signed,
        number,
    })
}

fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    let (start, end): (u32, u32) = (start.parse().ok()?, end.parse().ok()?);
    (start <= end).then_some(start.into()..end.into())
}
