//! The rules by which operations on layouts of numbers have their results.

use crate::layout::Layout;
use crate::swizzle::Swizzle;
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
    /// Divisions and products: two parts are put in an order.
    Arranged {
        /// The two parts, such as `tile and rest`.
        parts: &'static str,
        /// The order of the modes, such as `((tile, …), (rest, …))`.
        order: &'static str,
    },
    /// Profiles: each part of a layout is done by itself.
    Part {
        /// The index of the mode.
        mode: usize,
        /// The mode.
        part: Layout,
    },
    /// Coalescing: modes of one coordinate are left out.
    LeftOut {
        /// The modes.
        modes: Vec<Layout>,
    },
    /// Coalescing: where one mode ends, the next one goes on.
    Joined {
        /// The mode, joined with those before it.
        left: Layout,
        /// The mode after it.
        right: Layout,
        /// Both as one mode.
        joined: Layout,
    },
    /// Coalescing: where one mode ends, the next one does not go on.
    Apart {
        /// The mode, joined with those before it.
        left: Layout,
        /// The mode after it.
        right: Layout,
        /// Where `left` ends: the stride with which it would go on.
        end: String,
    },
    /// Coalescing: there is no second mode.
    Alone {
        /// The only mode.
        mode: Layout,
    },
    /// Filtering: modes of stride 0 get extent 1.
    Once {
        /// The modes of stride 0.
        modes: Vec<Layout>,
    },
    /// Product: blocks of A fit below a stride of A.
    Room {
        /// The stride.
        stride: i64,
        /// The mode before it; its extent times its stride is the block.
        previous: (i64, i64),
    },
    /// Product: places for copies go on behind A without end.
    Endless {
        /// The mode with the largest stride; its extent times its stride is the block.
        last: (i64, i64),
        /// As many places as the values of B need.
        count: i64,
    },
    /// Product: a stride of B steps over the end of a gap, so further places are counted, at which there are no copies.
    Widened {
        /// All places.
        places: Layout,
    },
    /// Products of A and B with different ranks: modes `1:0` are appended.
    Padded {
        /// `A` or `B`.
        operand: &'static str,
        /// The operand with these modes.
        padded: Layout,
    },
    /// A block repeated over a shape: the number of copies along a mode.
    Copies {
        /// The index of the mode.
        mode: usize,
        /// The size of the mode of the shape.
        target: i64,
        /// The size of the mode of the block.
        block: i64,
    },
    /// Right inverse: the mode of A with the stride that R has reached.
    Contiguous {
        /// The mode of A.
        mode: (i64, i64),
        /// How far its coordinate steps in the 1-D coordinate.
        weight: i64,
    },
    /// Right inverse with negative strides: a value is found at a coordinate.
    Found {
        /// The value, the first that R did not reach.
        value: i64,
        /// The coordinate of the value.
        coordinate: i64,
        /// For how many steps of that length A counts up.
        extent: i64,
    },
    /// Right inverse: no mode of A has the stride that R has reached.
    Ends {
        /// The stride.
        stride: i64,
    },
    /// Left inverse: no value of A is a number strictly between 0 and the smallest stride.
    Below {
        /// The smallest stride.
        stride: i64,
    },
    /// Left inverse: a digit of the value is the coordinate along a mode.
    Digit {
        /// The mode of A.
        mode: (i64, i64),
        /// The stride after it; `None` after the last one.
        next: Option<i64>,
        /// How far its coordinate steps in the 1-D coordinate.
        weight: i64,
    },
    /// Left inverse: the strides are not multiples of each other, so all layouts are searched.
    Searched,
    /// Left inverse: all values are 0.
    Constant,
    /// Null space: the coordinate along a mode of stride 0.
    Null {
        /// The mode.
        mode: Layout,
        /// How far its coordinate steps in the 1-D coordinate.
        weight: i64,
    },
    /// Common layouts: the modes with which two layouts begin.
    Common {
        /// The common modes.
        layout: Layout,
    },
    /// The part of a layout for a CTA or a thread: what stands at a coordinate.
    At {
        /// What it is, such as `thread 5`.
        what: String,
        /// The coordinate.
        coord: String,
    },
    /// A swizzle in front of A is applied to the result, too.
    Outside {
        /// The swizzle.
        swizzle: Swizzle,
    },
    /// An inverse of a swizzled layout: the swizzle moves to the other side.
    Moved {
        /// The swizzle on the other side.
        swizzle: Swizzle,
    },
    /// The operation has no steps.
    Direct {
        /// The result in words.
        what: &'static str,
    },
    /// The steps are known for numbers only, and there are run-time integers.
    RunTime,
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
            Self::Arranged { parts, order } => write!(f, "{parts} are arranged as {order}"),
            Self::Part { mode, part } => write!(f, "mode {mode} is {part}:"),
            Self::LeftOut { modes } => match &modes[..] {
                [only] => write!(f, "{only} has one coordinate, so it is left out"),
                _ => {
                    let list = listed(modes.iter().map(Layout::to_string));
                    write!(f, "{list} have one coordinate, so they are left out")
                }
            },
            Self::Joined { left, right, joined } => {
                let (extent, stride) = (left.shape(), left.stride());
                let end = right.stride();
                write!(f, "{left} and {right} become {joined}, since {extent}*{stride} = {end}")
            }
            Self::Apart { left, right, end } => {
                let (extent, stride) = (left.shape(), left.stride());
                let next = right.stride();
                write!(f, "{left} and {right} stay apart, since {extent}*{stride} = {end} is not {next}")
            }
            Self::Alone { mode } => write!(f, "{mode} is a single mode, with nothing to join"),
            Self::Once { modes } => match &modes[..] {
                [] => f.write_str("no mode has stride 0"),
                [only] => write!(f, "{only} has stride 0, so its extent becomes 1"),
                _ => {
                    let list = listed(modes.iter().map(Layout::to_string));
                    write!(f, "{list} have stride 0, so their extents become 1")
                }
            },
            Self::Room { stride, previous } => {
                let block = previous.0 * previous.1;
                let of = format!("{}*{} = {block}", previous.0, previous.1);
                match (stride / block, previous) {
                    (1, (1, 1)) => write!(f, "below stride {stride} is no free place"),
                    (count, (1, 1)) => write!(f, "below stride {stride} are the places {count}:1"),
                    (1, _) => write!(f, "below stride {stride} fits one block of {of}, so no further place is free"),
                    (count, _) => write!(f, "below stride {stride} fit {count} blocks of {of}: the places {count}:{block}"),
                }
            }
            Self::Endless { last, count } => {
                let block = last.0 * last.1;
                write!(f, "A ends at {}*{} = {block}, ", last.0, last.1)?;
                write!(f, "and B needs {count} such blocks at most: the places {count}:{block}")
            }
            Self::Widened { places } => write!(
                f,
                "a stride of B steps over the end of a gap, so places are counted as {places}, and no two copies overlap"
            ),
            Self::Padded { operand, padded } => {
                write!(f, "{operand} has fewer modes, so modes 1:0 are appended: {padded}")
            }
            Self::Copies { mode, target, block } => {
                let count = (target - 1) / block + 1;
                let remark = if target % block == 0 { "" } else { ", rounded up" };
                write!(f, "the number of copies along mode {mode} is {target}/{block} = {count}{remark}")
            }
            Self::Contiguous { mode: (extent, stride), weight } => write!(
                f,
                "R has reached {stride}: the mode {extent}:{stride} goes on, and its coordinate steps by {weight}, which \
                 is {extent}:{weight}"
            ),
            Self::Found { value, coordinate, extent } => write!(
                f,
                "R has reached {value}, the value at coordinate {coordinate}, and A counts up for {extent} such steps, \
                 which is {extent}:{coordinate}"
            ),
            Self::Ends { stride } => write!(f, "R ends, since nothing goes on at {stride}"),
            Self::Below { stride } => write!(
                f,
                "below the smallest stride {stride} is no value but 0: {stride}:0"
            ),
            Self::Digit { mode: (extent, stride), next, weight } => match next {
                Some(next) => write!(
                    f,
                    "{next} is a multiple of {stride} and at least {extent}*{stride} = {}, so the digit between them is the \
                     coordinate along {extent}:{stride}, which steps by {weight}: {}:{weight}",
                    extent * stride,
                    next / stride
                ),
                None => write!(
                    f,
                    "the digit from {stride} on is the coordinate along {extent}:{stride}, which steps by {weight}: \
                     {extent}:{weight}"
                ),
            },
            Self::Searched => f.write_str(
                "the strides are not multiples with room for the modes before them, so all layouts are searched",
            ),
            Self::Constant => f.write_str("all values are 0, and so are those of the inverse"),
            Self::Null { mode, weight } => write!(
                f,
                "the coordinate along {mode} changes no value, and steps by {weight}: {}:{weight}",
                mode.shape()
            ),
            Self::Common { layout } => write!(f, "both begin with {layout}"),
            Self::At { what, coord } => write!(f, "{what} is at {coord}"),
            Self::Outside { swizzle } => {
                write!(f, "{swizzle} stays in front, and the steps are those of the layout behind it")
            }
            Self::Moved { swizzle } => {
                write!(f, "the swizzle moves to the other side, where it is {swizzle}")
            }
            Self::Direct { what } => write!(f, "computed at once, without steps: {what}"),
            Self::RunTime => f.write_str(
                "there are run-time integers; the steps are shown for numbers, such as `where m == 64;` in front gives",
            ),
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
