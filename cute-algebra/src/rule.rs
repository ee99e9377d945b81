//! The rules that allow compositions, divisions and complements.

use crate::layout::Layout;
use crate::tiler::Tiler;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

/// A rule that allows an operation, with the numbers for which it holds. Modes are pairs of extent and stride.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Composition: A is linear between its boundaries, the products of the leading extents of the coalesced A.
    Boundaries {
        /// A, coalesced.
        layout: Layout,
        /// Where one mode ends and the next begins.
        boundaries: Vec<i64>,
    },
    /// Composition: every value of B is a coordinate of A.
    Inside {
        /// The value of B that is farthest from 0.
        reach: i64,
        /// The size of A.
        size: i64,
    },
    /// Composition: a mode of B is cut where its multiples cross a boundary of A.
    Cut {
        /// The mode.
        mode: Layout,
        /// The parts of the mode; only the mode itself where it crosses no boundary.
        parts: Vec<(i64, i64)>,
    },
    /// Composition: the remainders of B's values modulo a boundary stay below it, so that A of a sum is the sum of A.
    NoCarry {
        /// The boundary.
        boundary: i64,
        /// The pair (`t - 1`, `d` modulo the boundary) for each part `t:d` of B, without remainders 0.
        terms: Vec<(i64, i64)>,
    },
    /// Composition: the stride of a part of B becomes the value of A there.
    Image {
        /// The extent of the part.
        extent: i64,
        /// The stride of the part.
        stride: i64,
        /// The value of A at that stride: the new stride.
        value: String,
    },
    /// Composition: a mode of B of extent 1 or stride 0 stays where it is.
    Still {
        /// The mode.
        mode: Layout,
    },
    /// Composition: carries cancel, as a comparison of all values shows.
    Compared {
        /// How many values there are.
        points: i64,
    },
    /// Complement: the modes are taken in ascending order of their strides.
    Ascending {
        /// The modes that have more than one value.
        modes: Vec<(i64, i64)>,
    },
    /// Complement: whole blocks fit below a stride.
    Gap {
        /// The stride.
        stride: i64,
        /// The mode before it; its extent times its stride is the block.
        previous: (i64, i64),
    },
    /// Complement: whole blocks fill the target.
    Fills {
        /// The target.
        target: i64,
        /// The mode with the largest stride; its extent times its stride is the block.
        last: (i64, i64),
    },
    /// Tilers with several modes: each mode is done by itself.
    ByMode {
        /// The index of the mode.
        mode: usize,
        /// The tiler of the mode.
        tiler: Tiler,
    },
    /// Division: tile and rest are put in this order.
    Arranged {
        /// The order of the modes, such as `((tile, …), (rest, …))`.
        order: &'static str,
    },
}

/// The rule as a sentence without a full stop.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = |(extent, stride): &(i64, i64)| format!("{extent}:{stride}");
        match self {
            Self::Boundaries { layout, boundaries } if boundaries.is_empty() => {
                write!(
                    f,
                    "A coalesces to the single mode {layout}, so it is linear"
                )
            }
            Self::Boundaries { layout, boundaries } => {
                let list = listed(boundaries.iter().map(i64::to_string));
                match &boundaries[..] {
                    [_] => write!(
                        f,
                        "A coalesces to {layout}, linear on both sides of the boundary {list}"
                    ),
                    _ => write!(
                        f,
                        "A coalesces to {layout}, linear between the boundaries {list}"
                    ),
                }
            }
            Self::Inside { reach, size } if *reach < 0 => {
                write!(f, "B reaches {reach}, and the size of A is {size}")
            }
            Self::Inside { reach, size } => {
                write!(f, "B reaches {reach}, inside of the size {size} of A")
            }
            Self::Cut { mode, parts } if parts.len() < 2 => write!(f, "{mode} need not be cut"),
            Self::Cut { mode: whole, parts } => write!(
                f,
                "{whole} is cut where it crosses a boundary, into {}",
                listed(parts.iter().map(mode))
            ),
            Self::NoCarry { boundary, terms } if terms.is_empty() => {
                write!(
                    f,
                    "all strides are multiples of {boundary}, so no sum carries over it"
                )
            }
            Self::NoCarry { boundary, terms } => {
                let sum: i128 = terms
                    .iter()
                    .map(|&(steps, rest)| i128::from(steps) * i128::from(rest))
                    .sum();
                let terms: Vec<_> = terms
                    .iter()
                    .map(|(steps, rest)| format!("{steps}*{rest}"))
                    .collect();
                let terms = terms.join(" + ");
                write!(
                    f,
                    "modulo {boundary}, B reaches {terms} = {sum} < {boundary}, so no sum carries over it"
                )
            }
            Self::Image {
                extent,
                stride,
                value,
            } => {
                write!(
                    f,
                    "A({stride}) = {value}, so {extent}:{stride} becomes {extent}:{value}"
                )
            }
            Self::Still { mode } => write!(f, "{mode} stays where it is"),
            Self::Compared { points } => {
                write!(
                    f,
                    "sums of these steps carry, so all {points} values are compared"
                )
            }
            Self::Ascending { modes } if modes.is_empty() => {
                f.write_str("no mode has more than one value")
            }
            Self::Ascending { modes } => {
                write!(
                    f,
                    "the modes in ascending order of strides: {}",
                    listed(modes.iter().map(mode))
                )
            }
            Self::Gap { stride, previous } => {
                let block = previous.0 * previous.1;
                let count = stride / block;
                match (count, previous) {
                    (1, (1, 1)) => write!(f, "below stride {stride} is no gap"),
                    (1, _) => write!(
                        f,
                        "stride {stride} = {}*{}, so there is no gap",
                        previous.0, previous.1
                    ),
                    (_, (1, 1)) => write!(f, "stride {stride} leaves the gap {count}:1"),
                    _ => write!(
                        f,
                        "stride {stride} is a multiple of {}*{} = {block}, which leaves the gap {count}:{block}",
                        previous.0, previous.1
                    ),
                }
            }
            Self::Fills { target, last } => {
                let block = last.0 * last.1;
                let count = (target - 1) / block + 1;
                if count == 1 && target % block == 0 {
                    return write!(
                        f,
                        "a block of {}*{} = {block} fills {target}",
                        last.0, last.1
                    );
                }
                let remark = if target % block == 0 {
                    ""
                } else {
                    ", rounded up"
                };
                write!(
                    f,
                    "blocks of {}*{} = {block} fill {target} as {count}:{block}{remark}",
                    last.0, last.1
                )
            }
            Self::ByMode {
                mode,
                tiler: Tiler::Keep,
            } => write!(f, "mode {mode} stays whole"),
            Self::ByMode { mode, tiler } => write!(f, "mode {mode} by {tiler}:"),
            Self::Arranged { order } => write!(f, "tile and rest are arranged as {order}"),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &items[..] {
        [] => String::new(),
        [only] => only.clone(),
        [init @ .., end] => format!("{} and {end}", init.join(", ")),
    }
}
