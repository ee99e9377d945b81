//! The claims of comments, with the names of registers and parameters resolved.

use super::operands::{Arg, Result};
use super::registers::Registers;
use crate::claim::{Agreement, Arguments, Claim, Comparison, Condition, Item, Place, Sum};
use crate::op::{Address, Reg};
use cute_ptx::claims::{self, Group};

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

/// The claims of a comment about these operands.
pub(super) fn claims(
    registers: &mut Registers<'_, '_>,
    arguments: &Arguments,
    places: &[Option<claims::Place>],
    operands: Vec<Operand>,
) -> Result<Vec<Claim>> {
    if places.len() > operands.len() {
        let (claims, addresses) = (places.len(), operands.len());
        return Err(format!(
            "the comment claims {claims} addresses, and the instruction has {addresses}"
        ));
    }
    let pairs = places.iter().zip(operands);
    let claims = pairs.filter_map(|(place, operand)| {
        let place = place.as_ref()?;
        let claim = claim(registers, arguments, place, operand);
        Some(claim.map_err(|error| format!("the claim `{place}`: {error}")))
    });
    claims.collect()
}

/// The claim that a register is equal in several threads.
pub(super) fn agreement(
    registers: &mut Registers<'_, '_>,
    register: &str,
    group: Group,
) -> Result<Agreement> {
    Ok(Agreement {
        register: registers.register(register)?,
        group,
    })
}

pub(super) fn condition(
    registers: &mut Registers<'_, '_>,
    said: &claims::Condition,
) -> Result<Condition> {
    let comparisons = said.comparisons.iter().map(|it| {
        Ok(Comparison {
            left: sum(registers, &it.left)?,
            order: it.order,
            right: sum(registers, &it.right)?,
        })
    });
    let comparisons = comparisons.collect::<Result<_>>();
    Ok(Condition {
        text: said.to_string(),
        any: said.any,
        comparisons: comparisons.map_err(|error| format!("the claim `{said}`: {error}"))?,
    })
}

fn claim(
    registers: &mut Registers<'_, '_>,
    arguments: &Arguments,
    place: &claims::Place,
    operand: Operand,
) -> Result<Claim> {
    let other = || Err("it is about another kind of operand".to_owned());
    match (place, operand) {
        (claims::Place::Item { index, parameter }, Operand::Address(address)) => {
            let mut parts = arguments.lists.iter().enumerate().flat_map(|(list, it)| {
                let parts = it.parts.iter().enumerate();
                parts.map(move |(number, part)| (list, number, part))
            });
            let (list, part, _) = parts
                .find(|(_, _, part)| part.name == *parameter)
                .ok_or("no comment describes this parameter of a list")?;
            let index = sum(registers, index)?;
            Ok(Claim {
                tensor: arguments.lists[list].name.clone(),
                item: Some(Item { list, index }),
                coordinate: Box::new([]),
                place: Place::Item { address, part },
            })
        }
        (
            claims::Place::Element {
                tensor,
                item,
                coordinate,
            },
            operand,
        ) => {
            let item = match item {
                Some(index) => {
                    let mut lists = arguments.lists.iter();
                    let list = lists
                        .position(|it| it.name == *tensor)
                        .ok_or("no comment describes this list")?;
                    let index = sum(registers, index)?;
                    Some(Item { list, index })
                }
                None => None,
            };
            let sums: Box<[Sum]> = coordinate
                .iter()
                .map(|it| sum(registers, it))
                .collect::<Result<_>>()?;
            let place = match operand {
                Operand::Address(address) => {
                    let view = arguments.views.iter().position(|view| view.name == *tensor);
                    let view = view.ok_or("no comment describes this tensor")?;
                    let of_list = item.map(|item| item.list);
                    let described = &arguments.views[view];
                    if described.strides.len() != sums.len() || described.list != of_list {
                        return Err("the comment that describes this tensor has other modes".into());
                    }
                    Place::Global { address, view }
                }
                Operand::Box(map, coordinates) if coordinates.len() == sums.len() => {
                    Place::Box { map, coordinates }
                }
                Operand::Box(..) => return Err("the box has another number of modes".into()),
            };
            Ok(Claim {
                tensor: tensor.clone(),
                item,
                coordinate: sums,
                place,
            })
        }
        (
            claims::Place::Shared {
                tensor,
                coordinate,
                swizzle,
                offset,
                bytes,
            },
            Operand::Address(address),
        ) => {
            let sums = coordinate.iter().map(|(it, _)| sum(registers, it));
            let sums: Box<[Sum]> = sums.collect::<Result<_>>()?;
            let extents = coordinate.iter().map(|(_, extent)| {
                let negative = |_| format!("an extent of {extent} is below 0");
                u64::try_from(*extent).map_err(negative)
            });
            let (base, swizzle) = match swizzle {
                Some((base, swizzle)) => (number(*base)?, Some(*swizzle)),
                None => (0, None),
            };
            Ok(Claim {
                tensor: tensor.clone(),
                item: None,
                coordinate: sums,
                place: Place::Shared {
                    address,
                    extents: extents.collect::<Result<_>>()?,
                    base,
                    swizzle,
                    offset: sum(registers, offset)?,
                    bytes: bytes.start.into()..bytes.end.into(),
                },
            })
        }
        (claims::Place::Item { .. } | claims::Place::Shared { .. }, Operand::Box(..)) => other(),
    }
}

fn sum(registers: &mut Registers<'_, '_>, said: &claims::Sum) -> Result<Sum> {
    let register = said.register.as_ref();
    Ok(Sum {
        register: register.map(|name| registers.register(name)).transpose()?,
        signed: said.signed,
        number: number(said.number)?,
    })
}

/// A signed number of 64 bits, or an unsigned one with the same bits.
fn number(said: i128) -> Result<i64> {
    let unsigned = u64::try_from(said).map(u64::cast_signed);
    i64::try_from(said)
        .or(unsigned)
        .map_err(|_| format!("{said} is no number of 64 bits"))
}
