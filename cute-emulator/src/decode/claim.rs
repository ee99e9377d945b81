//! Reads claims: the comments of instructions.

use super::operands::Arg;
use super::registers::Registers;
use crate::claim::{
    Agreement, Arguments, Claim, Comparison, Condition, Item, Order, Place, Sum, Swizzle,
};
use crate::error::Group;
use crate::op::{Address, Reg};
use std::ops::Range;

/// An operand that can have a claim.
pub(super) enum Operand {
    Address(Sum),
    /// The address of a tensor map, and the coordinates of a box.
    Box(Sum, Box<[Reg]>),
}

/// The operands that can have a claim, in order.
pub(super) fn operands(args: &[Arg]) -> Vec<Operand> {
    let sum = |address: &Address| Sum {
        register: Some(address.base),
        signed: false,
        number: address.offset,
    };
    let found = args.iter().filter_map(|arg| match arg {
        Arg::Address(address) => Some(Operand::Address(sum(address))),
        Arg::Tile(map, coordinates) => Some(Operand::Box(sum(map), coordinates.clone())),
        _ => None,
    });
    found.collect()
}

/// The claims of a comment about these operands. A comment of another form has none.
pub(super) fn claims(
    registers: &mut Registers<'_, '_>,
    arguments: &Arguments,
    comment: &str,
    operands: Vec<Operand>,
) -> Vec<Claim> {
    let texts = comment.split("; ").zip(operands);
    let claims = texts.filter_map(|(text, operand)| match text.strip_prefix("item ") {
        Some(text) => item(registers, arguments, text, operand),
        None => claim(registers, arguments, text, operand),
    });
    claims.collect()
}

/// The condition that a comment on its own line claims for the threads that get there.
pub(super) fn here(registers: &mut Registers<'_, '_>, comment: &str) -> Option<Condition> {
    condition(registers, comment.strip_prefix("where ")?)
}

/// The claim of a comment on its own line that a register is equal in several threads: `uniform %r5 in warp`.
pub(super) fn agreement(registers: &mut Registers<'_, '_>, comment: &str) -> Option<Agreement> {
    let (register, name) = comment.strip_prefix("uniform ")?.split_once(" in ")?;
    let (_, group) = Group::ALL.iter().find(|(it, _)| *it == name)?;
    Some(Agreement {
        register: registers.register(register).ok()?,
        group: *group,
    })
}

/// The condition at the end of an instruction's comment, if it has this form: `if %i < %n`.
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

/// `%r3 of x_ptr`.
fn item(
    registers: &mut Registers<'_, '_>,
    arguments: &Arguments,
    text: &str,
    operand: Operand,
) -> Option<Claim> {
    let (index, name) = text.split_once(" of ")?;
    let Operand::Address(address) = operand else {
        return None;
    };
    let index = sum(registers, index)?;
    let mut parts = arguments.lists.iter().enumerate().flat_map(|(list, it)| {
        let parts = it.parts.iter().enumerate();
        parts.map(move |(number, part)| (list, number, part))
    });
    let (list, part, _) = parts.find(|(_, _, part)| part.name == name)?;
    Some(Claim {
        tensor: arguments.lists[list].name.clone(),
        item: Some(Item { list, index }),
        coordinate: Box::new([]),
        place: Place::Item { address, part },
    })
}

fn claim(
    registers: &mut Registers<'_, '_>,
    arguments: &Arguments,
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
        Some((tensor, coordinate)) => (tensor, coordinate.strip_suffix(']')?),
        None => (element, ""),
    };
    let (item, coordinate) = match coordinate.split_once("][") {
        Some((index, coordinate)) => {
            let list = arguments.lists.iter().position(|it| it.name == tensor)?;
            let index = sum(registers, index)?;
            (Some(Item { list, index }), coordinate)
        }
        None => (None, coordinate),
    };
    let coordinate = coordinate.split(", ").filter(|part| !part.is_empty());
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
            let views = &arguments.views;
            let view = views.iter().position(|view| view.name == tensor)?;
            let of_list = item.map(|item| item.list);
            if views[view].strides.len() != sums.len() || views[view].list != of_list {
                return None;
            }
            Place::Global { address, view }
        }
        (Operand::Box(map, coordinates), None) if coordinates.len() == sums.len() => {
            Place::Box { map, coordinates }
        }
        (Operand::Box(..), _) => return None,
    };
    Some(Claim {
        tensor: tensor.to_owned(),
        item,
        coordinate: sums.into(),
        place,
    })
}

/// `1024 + Sw<3,4,3>(offset)`, or the offset alone: the number added, the swizzle and the text of the offset.
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
