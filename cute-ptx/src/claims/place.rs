//! What is at an address.

use super::condition::{Condition, Sum};
use super::{Malformed, is_name};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// What is at an address of an instruction.
///
/// | operand | claim |
/// |---|---|
/// | `[%rd5+16]` | `x[%i, %thread + 4]`: this element of a tensor in global memory |
/// | `[%x_map, {%r1, %r0}]` | `x[%r0, %r1]`: the box that begins at this element |
/// | `[%rd5+16]` | `d[%i][%r0, %r1]`: this element, or the box that begins there, of item `%i` of a list of tensors |
/// | `[%rd5]` | `item %i of d_ptr`: what item `%i` of a list has of this PTX parameter |
/// | `[%r3]` | `tile[%i < 8, %thread < 32] at %r2 in 0..1024`: byte `%r2` of the kernel's shared memory, where the tensor has bytes 0 to 1023, and the coordinates must be below these extents |
/// | `[%r4+8]` | `tile at 0 + Sw<3,4,3>(%r2 + 8) in 0..1024`: a byte that the swizzle gives |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<R = String> {
    /// An element of a tensor in global memory, or a box that begins there.
    Element {
        /// The name of the tensor, or of a list of tensors.
        tensor: String,
        /// The number of the tensor in the list.
        item: Option<Sum<R>>,
        /// The coordinate: one sum or more.
        coordinate: Vec<Sum<R>>,
    },
    /// What an item of a list has of a PTX parameter.
    Item {
        /// The number of the item.
        index: Sum<R>,
        /// The name of the parameter.
        parameter: String,
    },
    /// A byte of the kernel's shared memory.
    Shared {
        /// The name of the tensor; empty if it has none.
        tensor: String,
        /// The numbers of the coordinate, each with the extent of its mode.
        coordinate: Vec<(Sum<R>, i64)>,
        /// Where the swizzled bytes begin, and their swizzle.
        swizzle: Option<(i128, Swizzle)>,
        /// The byte, before it is swizzled.
        offset: Sum<R>,
        /// The bytes of the tensor.
        bytes: Range<u32>,
    },
}

/// A permutation of offsets, `Sw<bits,base,shift>`: `bits` bits from bit `base` on are XORed with those `shift` higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// The number of bits.
    pub bits: u32,
    /// The lowest of them.
    pub base: u32,
    /// The distance to the other bits.
    pub shift: i32,
}

impl Place {
    /// Whether a text begins like one: with `item` and a number, a name and `[`, or with a place in shared memory.
    pub(super) fn begins(text: &str) -> bool {
        let is_item = text.strip_prefix("item ").is_some_and(Condition::begins);
        let before = |separator: &str| text.split_once(separator).map(|(before, _)| before);
        let is_shared = |(name, place): (&str, &str)| {
            (name.is_empty() || is_name(name)) && place.contains(" in ") && place.contains("..")
        };
        let at = text.strip_prefix("at ").map(|place| ("", place));
        is_item
            || before("[").is_some_and(is_name)
            || at.or(text.split_once(" at ")).is_some_and(is_shared)
    }
}

impl<R> Place<R> {
    /// The same place, with other names of its registers.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Place<S> {
        match self {
            Self::Element {
                tensor,
                item,
                coordinate,
            } => Place::Element {
                tensor: tensor.clone(),
                item: item.as_ref().map(|item| item.map(name)),
                coordinate: coordinate.iter().map(|sum| sum.map(name)).collect(),
            },
            Self::Item { index, parameter } => Place::Item {
                index: index.map(name),
                parameter: parameter.clone(),
            },
            Self::Shared {
                tensor,
                coordinate,
                swizzle,
                offset,
                bytes,
            } => {
                let bounded = coordinate.iter();
                let bounded = bounded.map(|(sum, extent)| (sum.map(name), *extent));
                Place::Shared {
                    tensor: tensor.clone(),
                    coordinate: bounded.collect(),
                    swizzle: *swizzle,
                    offset: offset.map(name),
                    bytes: bytes.clone(),
                }
            }
        }
    }
}

impl<R: Display> Display for Place<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item { index, parameter } => write!(f, "item {index} of {parameter}"),
            Self::Element {
                tensor,
                item,
                coordinate,
            } => {
                f.write_str(tensor)?;
                if let Some(item) = item {
                    write!(f, "[{item}]")?;
                }
                list(f, coordinate)
            }
            Self::Shared {
                tensor,
                coordinate,
                swizzle,
                offset,
                bytes,
            } => {
                f.write_str(tensor)?;
                let bounded = coordinate.iter();
                let bounded: Vec<String> = bounded
                    .map(|(sum, extent)| format!("{sum} < {extent}"))
                    .collect();
                list(f, &bounded)?;
                if !(tensor.is_empty() && coordinate.is_empty()) {
                    f.write_str(" ")?;
                }
                match swizzle {
                    Some((base, swizzle)) => write!(f, "at {base} + {swizzle}({offset})")?,
                    None => write!(f, "at {offset}")?,
                }
                write!(f, " in {}..{}", bytes.start, bytes.end)
            }
        }
    }
}

impl FromStr for Place {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let place = match text.strip_prefix("item ") {
            Some(item) => read_item(item),
            None => match text.strip_prefix("at ") {
                Some(place) => read_shared("", place),
                None => match text.split_once(" at ") {
                    Some((tensor, place)) => read_shared(tensor, place),
                    None => read_element(text),
                },
            },
        };
        place.ok_or_else(|| Malformed {
            text: text.to_owned(),
            like: "a claim about an address, such as `x[%i, %j + 4]` or `tile[%i < 8] at %r2 in 0..1024`",
        })
    }
}

/// `%i of d_ptr`.
fn read_item(text: &str) -> Option<Place> {
    let (index, parameter) = text.split_once(" of ")?;
    is_name(parameter).then_some(())?;
    Some(Place::Item {
        index: index.parse().ok()?,
        parameter: parameter.to_owned(),
    })
}

/// `d[%i][%r0, %r1]`.
fn read_element(text: &str) -> Option<Place> {
    let (tensor, rest) = text.strip_suffix(']')?.split_once('[')?;
    let (item, coordinate) = match rest.split_once("][") {
        Some((item, coordinate)) => (Some(item.parse().ok()?), coordinate),
        None => (None, rest),
    };
    let sums = coordinate.split(", ").map(|sum| sum.parse().ok());
    is_name(tensor).then_some(())?;
    Some(Place::Element {
        tensor: tensor.to_owned(),
        item,
        coordinate: sums.collect::<Option<_>>()?,
    })
}

/// `tile[%i < 8, %thread < 32]` and `0 + Sw<3,4,3>(%r2 + 8) in 0..1024`.
fn read_shared(tensor: &str, place: &str) -> Option<Place> {
    let (tensor, coordinate) = match tensor.split_once('[') {
        Some((tensor, coordinate)) => (tensor, Some(coordinate.strip_suffix(']')?)),
        None => (tensor, None),
    };
    (tensor.is_empty() || is_name(tensor)).then_some(())?;
    let bounded = coordinate.into_iter().flat_map(|it| it.split(", "));
    let bounded = bounded.map(|part| {
        let (sum, extent) = part.split_once(" < ")?;
        Some((sum.parse().ok()?, extent.parse().ok()?))
    });
    let (offset, bytes) = place.split_once(" in ")?;
    let (start, end) = bytes.split_once("..")?;
    let bytes: Range<u32> = start.parse().ok()?..end.parse().ok()?;
    (bytes.start <= bytes.end).then_some(())?;
    let (swizzle, offset) = match offset.split_once(" + Sw<") {
        Some((base, rest)) => {
            let (swizzle, offset) = rest.strip_suffix(')')?.split_once(">(")?;
            (Some((base.parse().ok()?, read_swizzle(swizzle)?)), offset)
        }
        None => (None, offset),
    };
    Some(Place::Shared {
        tensor: tensor.to_owned(),
        coordinate: bounded.collect::<Option<_>>()?,
        swizzle,
        offset: offset.parse().ok()?,
        bytes,
    })
}

/// `3,4,3`. Offsets in shared memory have fewer than 32 bits.
fn read_swizzle(text: &str) -> Option<Swizzle> {
    let mut parts = text.split(',');
    let swizzle = Swizzle {
        bits: parts.next()?.parse().ok()?,
        base: parts.next()?.parse().ok()?,
        shift: parts.next()?.parse().ok()?,
    };
    let end = u64::from(swizzle.bits) + u64::from(swizzle.base);
    let end = end + u64::from(swizzle.shift.unsigned_abs());
    (end < 32 && parts.next().is_none()).then_some(swizzle)
}

/// `[a, b]`, or nothing for none.
fn list<T: Display>(f: &mut Formatter<'_>, parts: &[T]) -> fmt::Result {
    let mut separator = "[";
    for part in parts {
        write!(f, "{separator}{part}")?;
        separator = ", ";
    }
    match parts.is_empty() {
        true => Ok(()),
        false => f.write_str("]"),
    }
}

impl Display for Swizzle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}
