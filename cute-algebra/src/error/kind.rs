//! The kinds of refusals, and what they say.

use super::ModePath;
use std::fmt;
use std::ops::RangeInclusive;

/// What is wrong, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A shape and a stride nest differently.
    NotCongruent {
        /// The mode of the shape, as text.
        shape: String,
        /// The mode of the stride at the same place.
        stride: String,
    },
    /// An extent below 1.
    Extent {
        /// The extent.
        extent: String,
    },
    /// A factor below 1, or a number of bits.
    Factor {
        /// The factor.
        factor: i64,
    },
    /// A fraction whose denominator is 0.
    Denominator,
    /// Nesting over [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep {
        /// The nesting.
        depth: usize,
        /// The limit.
        limit: usize,
    },
    /// More leaves than [`MAX_LEAVES`](crate::MAX_LEAVES).
    TooManyLeaves {
        /// The leaves.
        leaves: usize,
        /// The limit.
        limit: usize,
    },
    /// An operation on integers met a stride in a coordinate space.
    NotIntegral {
        /// One such stride.
        stride: String,
    },
    /// Strides that cannot be added, such as `1@0` and `1@1@0`, or `1` and `1@0`.
    MixedStrides {
        /// Runs along a coordinate …
        first: String,
        /// … that this one takes apart.
        second: String,
    },
    /// Fields of a swizzle that overlap or leave 63 bits.
    Swizzle {
        /// B.
        bits: u32,
        /// M.
        base: u32,
        /// S.
        shift: i32,
    },
    /// A tuple that does not fit the shape at its place.
    Profile {
        /// The shape.
        expected: String,
        /// What met it.
        found: String,
    },
    /// A division that leaves a remainder where it must not.
    Indivisible {
        /// What is divided.
        dividend: String,
        /// What it is divided by.
        divisor: String,
    },
    /// `_` where a point is wanted.
    Underscore,
    /// A mode that is not there.
    NoMode {
        /// Its index.
        index: i64,
        /// How many there are.
        rank: usize,
    },
    /// A stride along a coordinate that the shape does not have.
    NoCoordinate {
        /// The stride.
        stride: String,
        /// The shape.
        shape: String,
    },
    /// Coordinates past the end, where only a ragged form goes on.
    Overhang {
        /// The largest coordinate.
        reach: i64,
        /// The size of what it is a coordinate of.
        size: i64,
        /// The nearest extents and strides of the mode that compose, where it is one mode that reaches too far.
        nearest: Vec<(i64, i64)>,
    },
    /// Multiples of a stride of B drift over a boundary of A.
    Drift {
        /// The extent of B's mode.
        extent: i64,
        /// Its stride.
        stride: i64,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// Steps and remainders whose products add up to the boundary or more.
        terms: Vec<(i64, i64)>,
        /// The nearest extents and strides of the mode that compose.
        nearest: Vec<(i64, i64)>,
        /// A point that shows it.
        witness: Option<Witness>,
    },
    /// A boundary of A cuts a mode of B where its extent has no divisor.
    Split {
        /// The extent of B's mode.
        extent: i64,
        /// Its stride.
        stride: i64,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// Where the cut falls, which does not divide the extent.
        after: i64,
        /// The nearest extents and strides of the mode that compose.
        nearest: Vec<(i64, i64)>,
        /// A point that shows it.
        witness: Option<Witness>,
    },
    /// Modes of B together carry over a boundary of A.
    Carry {
        /// The modes and how far each reaches, modulo the boundary.
        modes: Vec<(ModePath, i64)>,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// The nearest extents and strides of the last of them that compose.
        nearest: Vec<(i64, i64)>,
        /// A point that shows it.
        witness: Option<Witness>,
    },
    /// A negative stride where strides must be positive, or beside positive ones.
    NegativeStride {
        /// The stride.
        stride: String,
    },
    /// A number below 0 as the coordinate of several modes.
    BelowZero {
        /// The number.
        index: i64,
    },
    /// A step of B that moves along several coordinates of A's coordinate space at once.
    Diagonal {
        /// The step.
        stride: i64,
        /// The coordinate where it leads.
        value: String,
    },
    /// A stride that is not a multiple of the smaller stride before it times its extent.
    Gap {
        /// Extent and stride of the mode before, in ascending order of strides.
        previous: (i64, i64),
        /// The stride.
        stride: i64,
        /// The nearest multiples.
        nearest: [i64; 2],
    },
    /// A layout without a left inverse, one of whose strides is not told from the multiples of the smaller stride before it.
    Overlap {
        /// Extent and stride of the mode before, in ascending order of strides.
        previous: (i64, i64),
        /// The stride.
        stride: i64,
        /// The nearest strides that are.
        nearest: [i64; 2],
        /// What was found out about a left inverse.
        inverse: NoInverse,
    },
    /// A target that the blocks of a layout do not fill.
    Target {
        /// Size of a block: the largest stride times its extent.
        block: i64,
        /// The target.
        target: i64,
        /// The nearest multiples.
        nearest: [i64; 2],
    },
    /// A stride that neither is a multiple of the factor of a recast nor divides it.
    Recast {
        /// The stride.
        stride: i64,
        /// The factor.
        factor: i64,
        /// The nearest strides that do.
        nearest: Vec<i64>,
    },
    /// An offset before a swizzle that is not a multiple of the factor of a recast.
    Offset {
        /// The offset.
        offset: String,
        /// The factor.
        factor: i64,
    },
    /// A mode below the factor of a recast that fills no whole number of groups, nor a whole part of one.
    RecastShare {
        /// Its extent.
        extent: i64,
        /// Its stride.
        stride: i64,
        /// The factor.
        factor: i64,
        /// The nearest extents that do.
        nearest: Vec<i64>,
    },
    /// Groups of a recast of which a part is absent or doubled.
    RecastHoles {
        /// The modes inside a group.
        group: String,
        /// The size of a group.
        factor: String,
    },
    /// Elements that cannot be split because not exactly one mode has stride 1.
    NotContiguous {
        /// The parts of an element.
        factor: String,
    },
    /// Element sizes of which neither is a multiple of the other.
    Bits {
        /// From.
        old: i64,
        /// To.
        new: i64,
    },
    /// A rank that is smaller than the rank there is, or over the limits.
    Rank {
        /// The rank.
        rank: i64,
        /// The rank there is.
        found: usize,
    },
    /// A range of modes that is not there.
    Range {
        /// First mode.
        begin: i64,
        /// One past the last.
        end: i64,
        /// How many there are.
        rank: usize,
    },
    /// A factor that bits cannot be regrouped by.
    NotAPowerOfTwo {
        /// The factor.
        factor: i64,
    },
    /// A function that is a swizzled layout, but not with one swizzle of CuTe's form.
    NotASwizzle {
        /// What was computed.
        what: &'static str,
    },
    /// A function that is not linear over bits.
    NotBitwise {
        /// What was computed.
        what: &'static str,
    },
    /// Elements that shared-memory atoms do not come in.
    ElementBits {
        /// Bits of an element.
        bits: i64,
    },
    /// A width that wgmma does not have.
    WgmmaN {
        /// The width.
        n: i64,
        /// The nearest widths that it has.
        nearest: [i64; 2],
    },
    /// A name that a table does not have.
    NotOneOf {
        /// What it would name.
        what: &'static str,
        /// The name.
        found: String,
        /// The names there are.
        names: String,
    },
    /// A tiled copy that the threads or the values of its atom do not divide.
    AtomShare {
        /// Threads or values.
        what: &'static str,
        /// How many the tiled copy has.
        tiled: i64,
        /// How many the atom has.
        atom: i64,
    },
    /// A thread that has no part.
    NoThread {
        /// The thread.
        thread: i64,
        /// How many threads there are.
        threads: i64,
    },
    /// A property that a layout does not have.
    Refuted {
        /// The property.
        property: &'static str,
        /// What shows it.
        counterexample: String,
    },
    /// A question that is too large to be decided.
    Unproved {
        /// What is asked for.
        property: &'static str,
    },
    /// An access outside the tile.
    OutsideTile {
        /// The coordinate.
        coordinate: i64,
        /// The size of the tile.
        size: i64,
    },
    /// A tile that an instruction of the hardware cannot use, or not without lanes that wait for a bank of shared memory.
    Hardware {
        /// Why.
        refusal: String,
    },
    /// An operand of the wrong kind.
    Argument {
        /// What is wanted.
        expected: &'static str,
        /// What was given.
        found: &'static str,
    },
    /// Too few or too many operands.
    ArgumentCount {
        /// Name of the operation.
        operation: &'static str,
        /// The operands wanted, as in the operation's signature.
        signature: &'static str,
        /// How many it takes.
        counts: RangeInclusive<usize>,
        /// How many there are.
        found: usize,
    },
    /// An operation for which rounding up means nothing.
    NotRagged,
    /// A tile that takes values more than once, so that tile and rest are more than the whole.
    RepeatingTile {
        /// The extent of a mode with stride 0.
        extent: String,
    },
    /// `_` where tile and rest are to be grouped: it says neither.
    KeepUngrouped,
    /// A tiler with more modes than the layout.
    TilerRank {
        /// Modes of the tiler.
        tiler: usize,
        /// The shape of the layout.
        shape: String,
        /// Its modes.
        rank: usize,
    },
    /// Values that are not those of any layout.
    NotALayout {
        /// The first coordinate where a layout with the values before it differs.
        position: i64,
        /// The value there.
        found: i64,
        /// The value that a layout has there.
        expected: i64,
    },
    /// A number that does not fit 64 bits.
    Overflow {
        /// The quantity.
        quantity: &'static str,
    },
    /// The modes of a result depend on what the facts about run-time integers leave open.
    Undecided {
        /// The condition that is open.
        condition: String,
        /// Its opposite.
        opposite: String,
    },
    /// A yes or no, or a number, that depends on a condition that the facts about run-time integers leave open.
    Open {
        /// The condition.
        condition: String,
    },
    /// A condition that no values of the run-time integers fulfil.
    Never {
        /// The condition.
        condition: String,
    },
    /// Facts about run-time integers that exclude one another, or what an operation needs.
    Contradiction {
        /// What cannot hold.
        condition: String,
        /// Because these do.
        facts: Vec<String>,
    },
    /// An operation that is of numbers only, on run-time integers.
    NeedsNumbers {
        /// Its name.
        operation: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A case of an operation that has no form for run-time integers.
    Unsupported {
        /// The case.
        what: &'static str,
    },
    /// The largest value of a swizzled layout was not found.
    CosizeLimit {
        /// How many steps were made.
        limit: u64,
    },
    /// Elements of a ragged division that would be joined or split where its edge is.
    RaggedEdge {
        /// What cannot be done with them.
        what: &'static str,
        /// The extent of their mode.
        extent: String,
    },
    /// More run-time integers or checks than a limit allows.
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// Why there is no left inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInverse {
    /// Two coordinates have one value.
    Collision,
    /// No layout takes all values back.
    Never,
    /// None was found by a search of limited length.
    Unknown,
}

/// A point where the values of a composition are not those of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The 1-D coordinate of B.
    pub index: i64,
    /// `A(B(index))`.
    pub value: i64,
    /// What a layout that agrees on the coordinates before it gives.
    pub expected: i64,
}

impl ErrorKind {
    /// Whether the ragged form of the operation, which rounds up as CuTe does, has a result here.
    pub fn is_overhang(&self) -> bool {
        matches!(
            self,
            Self::Overhang { .. }
                | Self::Target { .. }
                | Self::RecastShare { .. }
                | Self::RepeatingTile { .. }
                | Self::RecastHoles { .. }
        )
    }

    pub(crate) fn takes_witness(&self) -> bool {
        matches!(
            self,
            Self::Drift { .. } | Self::Split { .. } | Self::Carry { .. }
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCongruent { shape, stride } => {
                write!(
                    f,
                    "shape and stride are not congruent: {shape} in the shape meets {stride} in the stride"
                )
            }
            Self::Extent { extent } => write!(f, "an extent must be at least 1, not {extent}"),
            Self::Factor { factor } => write!(f, "a factor or a number of bits must be at least 1, not {factor}"),
            Self::TooDeep { depth, limit } => {
                write!(f, "the tuple is nested {depth} deep; the limit is {limit}")
            }
            Self::TooManyLeaves { leaves, limit } => {
                write!(f, "the tuple has {leaves} leaves; the limit is {limit}")
            }
            Self::NotIntegral { stride } => write!(f, "the strides must be integers, not {stride}"),
            Self::MixedStrides { first, second } => {
                write!(
                    f,
                    "strides {first} and {second} cannot be added: where {first} gives an integer, {second} gives a tuple"
                )
            }
            Self::Swizzle { bits, base, shift } if shift.unsigned_abs() < *bits => write!(
                f,
                "the fields of Sw<{bits},{base},{shift}> overlap: the distance |{shift}| must be at least {bits} bits"
            ),
            Self::Swizzle { bits, base, shift } => {
                write!(f, "the fields of Sw<{bits},{base},{shift}> reach beyond bit 62, the highest bit that a swizzle can change")
            }
            Self::Profile { expected, found } => {
                write!(f, "{found} does not fit the shape {expected}")
            }
            Self::Indivisible { dividend, divisor } => {
                write!(f, "{dividend} is not a multiple of {divisor}")
            }
            Self::NoMode { index, rank } => {
                write!(f, "there is no mode {index}: the rank is {rank}")
            }
            Self::NoCoordinate { stride, shape } => {
                write!(
                    f,
                    "stride {stride} runs along a coordinate that the shape {shape} does not have"
                )
            }
            Self::Overhang { reach, size, nearest } => {
                match reach {
                    ..0 => write!(f, "this reaches coordinate {reach}, which is below 0")?,
                    _ => write!(f, "this reaches coordinate {reach}, but the size is {size}")?,
                }
                write_nearest(f, nearest)?;
                f.write_str("; `ragged` allows the overhang")
            }
            Self::Drift {
                extent,
                stride,
                boundary,
                terms,
                nearest,
                witness,
            } => {
                write!(
                    f,
                    "the steps of `{extent}:{stride}` carry over the boundary {boundary} ("
                )?;
                for (i, (steps, rest)) in terms.iter().enumerate() {
                    write!(f, "{}{steps}*{rest}", if i > 0 { " + " } else { "" })?;
                }
                let sum: i128 = terms
                    .iter()
                    .map(|&(steps, rest)| i128::from(steps) * i128::from(rest))
                    .sum();
                write!(f, " = {sum} >= {boundary})")?;
                write_witness(f, witness)?;
                write_nearest(f, nearest)
            }
            Self::Split {
                extent,
                stride,
                boundary,
                after,
                nearest,
                witness,
            } => {
                write!(
                    f,
                    "the boundary {boundary} splits `{extent}:{stride}` after {after}, and {extent} is not a multiple of {after}"
                )?;
                write_witness(f, witness)?;
                write_nearest(f, nearest)
            }
            Self::Carry { modes, boundary, nearest, witness } => {
                f.write_str("modes ")?;
                for (i, (path, _)) in modes.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, path.indices())?;
                }
                f.write_str(" together reach ")?;
                for (i, (_, reach)) in modes.iter().enumerate() {
                    write!(f, "{}{reach}", if i > 0 { " + " } else { "" })?;
                }
                let sum: i128 = modes.iter().map(|&(_, reach)| i128::from(reach)).sum();
                write!(f, " = {sum} and carry over the boundary {boundary}")?;
                write_witness(f, witness)?;
                write_nearest(f, nearest)
            }
            Self::NegativeStride { stride } => {
                write!(f, "the stride {stride} must not be negative here")
            }
            Self::BelowZero { index } => {
                write!(f, "{index} is below 0: the 1-D coordinate of several modes must be at least 0")
            }
            Self::Diagonal { stride, value } => {
                write!(
                    f,
                    "a step of {stride} moves by {value} in the coordinate space; it must move along one coordinate only"
                )
            }
            Self::Gap {
                previous: (extent, before),
                stride,
                nearest,
            } => write!(
                f,
                "stride {stride} is not a multiple of {} (= {before} * {extent}, of the mode `{extent}:{before}`); the nearest are {} and {}",
                i128::from(*before) * i128::from(*extent),
                nearest[0],
                nearest[1]
            ),
            Self::Overlap { previous: (extent, before), stride, nearest, inverse } => {
                f.write_str(match inverse {
                    NoInverse::Collision => "",
                    NoInverse::Never => "there is no left inverse: ",
                    NoInverse::Unknown => "no left inverse was found, though there may be one: ",
                })?;
                let end = extent.saturating_mul(*before);
                write!(f, "stride {stride} does not fit after the mode `{extent}:{before}`: it must be a multiple of {before} and at least {end}")?;
                match nearest {
                    [only, other] if only == other => write!(f, "; the nearest is {only}"),
                    [below, above] => write!(f, "; the nearest are {below} and {above}"),
                }
            }
            Self::Target {
                block,
                target,
                nearest,
            } => write!(
                f,
                "blocks of {block} do not fill {target}; use {} or {}, or `ragged`",
                nearest[0], nearest[1]
            ),
            Self::Recast {
                stride,
                factor,
                nearest,
            } => {
                write!(
                    f,
                    "stride {stride} is not a multiple of {factor} and does not divide it"
                )?;
                write_numbers(f, nearest)
            }
            Self::Offset { offset, factor } => {
                write!(f, "the offset {offset} is not a multiple of {factor}")
            }
            Self::RecastShare {
                extent,
                stride,
                factor,
                nearest,
            } => {
                write!(
                    f,
                    "`{extent}:{stride}` does not fill whole groups of {factor}"
                )?;
                let modes: Vec<_> = nearest.iter().map(|extent| (*extent, *stride)).collect();
                write_nearest(f, &modes)?;
                f.write_str("; `ragged` rounds up")
            }
            Self::RecastHoles { group, factor } => {
                write!(
                    f,
                    "the modes `{group}` inside a group of {factor} do not fill it; `ragged` leaves holes"
                )
            }
            Self::NotContiguous { factor } => {
                write!(
                    f,
                    "elements can be split in {factor} only if exactly one mode has stride 1"
                )
            }
            Self::Bits { old, new } => {
                write!(
                    f,
                    "one element size must be a multiple of the other, but these are {old} and {new} bits"
                )
            }
            Self::Rank { rank, found } => write!(
                f,
                "a layout of rank {found} cannot be extended to rank {rank}"
            ),
            Self::Range { begin, end, rank } => {
                write!(f, "there are no modes {begin}..{end}: the rank is {rank}")
            }
            Self::NotAPowerOfTwo { factor } => write!(f, "{factor} is not a power of two"),
            Self::NotASwizzle { what } => write!(f, "{what} cannot be written as one swizzle after a layout"),
            Self::NotBitwise { what } => write!(f, "{what} is not linear over bits"),
            Self::ElementBits { bits } => {
                write!(f, "elements have 4, 8, 16, 32 or 64 bits, not {bits}")
            }
            Self::WgmmaN { n, nearest: [below, above] } => {
                write!(f, "wgmma has no N of {n}; nearest: {below}")?;
                match below == above {
                    true => Ok(()),
                    false => write!(f, " and {above}"),
                }
            }
            Self::NotOneOf { what, found, names } => {
                write!(f, "there is no {what} `{found}`; there are {names}")
            }
            Self::AtomShare { what, tiled, atom } => {
                write!(f, "the tiled copy has {tiled} {what}, which is not a multiple of the {atom} of the copy operation")
            }
            Self::NoThread { thread, threads } => {
                write!(f, "thread {thread} has no part: threads are 0 to {}", threads - 1)
            }
            Self::Refuted {
                property,
                counterexample,
            } => write!(f, "not {property}: {counterexample}"),
            Self::Unproved { property } => {
                write!(f, "{property} cannot be decided within the limits")
            }
            Self::OutsideTile { coordinate, size } => {
                write!(f, "coordinate {coordinate} is outside a tile of {size} elements")
            }
            Self::Hardware { refusal } => f.write_str(refusal),
            Self::Argument { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::ArgumentCount {
                operation,
                signature,
                counts,
                found,
            } => {
                write!(f, "`{operation}({signature})` takes ")?;
                match (*counts.start(), *counts.end()) {
                    (1, 1) => f.write_str("1 operand")?,
                    (least, most) if least == most => write!(f, "{least} operands")?,
                    (least, usize::MAX) => write!(f, "at least {least} operands")?,
                    (least, most) => write!(f, "{least} to {most} operands")?,
                }
                write!(f, ", not {found}")
            }
            Self::NotRagged => f.write_str("this operation rounds nothing, so it has no `ragged` form"),
            Self::RepeatingTile { extent } => {
                write!(f, "the tile takes each value {extent} times (`{extent}:0`); `ragged` allows that")
            }
            Self::KeepUngrouped => {
                f.write_str("`_` leaves its mode undivided, so there is no tile and no rest to group; use `logical_divide` or `logical_product`, or give an extent")
            }
            Self::TilerRank { tiler, shape, rank } => write!(
                f,
                "the tiler has {tiler} modes, but the shape {shape} has rank {rank}; a shape or `<...>` tiles mode by mode, a layout tiles the whole"
            ),
            Self::NotALayout {
                position,
                found,
                expected,
            } => {
                write!(
                    f,
                    "no layout has these values: the value at {position} is {found}, but the values before it require {expected}"
                )
            }
            Self::Denominator => f.write_str("a stride cannot be a fraction over 0"),
            Self::Underscore => f.write_str("`_` stands for a whole mode, but a point is wanted"),
            Self::Overflow { quantity } => write!(f, "the {quantity} does not fit 64 bits"),
            Self::Undecided { condition, opposite } => write!(
                f,
                "the modes of the result depend on whether `{condition}`, which is not known; add the fact `where {condition};` or `where {opposite};`"
            ),
            Self::Open { condition } => {
                write!(f, "the answer depends on whether `{condition}`, which is not known")
            }
            Self::Never { condition } => write!(f, "`{condition}` never holds"),
            Self::Contradiction { condition, facts } => {
                write!(f, "`{condition}` contradicts `{}`", facts.join("` and `"))
            }
            Self::NeedsNumbers { operation, why } => {
                write!(f, "`{operation}` needs numbers that are known at expansion: {why}")
            }
            Self::Unsupported { what } => {
                write!(f, "{what} needs numbers that are known at expansion")
            }
            Self::CosizeLimit { limit } => write!(
                f,
                "the cosize does not fit 64 bits, or takes more than {limit} steps to find: \
                 `cosize_bound` gives an upper bound"
            ),
            Self::RaggedEdge { what, extent } => write!(
                f,
                "elements of a ragged division cannot be {what}: the end of the data may lie inside the mode of extent {extent}"
            ),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
        }
    }
}

fn write_witness(f: &mut fmt::Formatter<'_>, witness: &Option<Witness>) -> fmt::Result {
    match witness {
        None => f.write_str("; no coordinate that shows this was searched for"),
        Some(Witness {
            index,
            value,
            expected,
        }) => {
            write!(
                f,
                ": A(B({index})) is {value}, where a layout would give {expected}"
            )
        }
    }
}

fn write_nearest(f: &mut fmt::Formatter<'_>, nearest: &[(i64, i64)]) -> fmt::Result {
    for (i, (extent, stride)) in nearest.iter().enumerate() {
        write!(
            f,
            "{}`{extent}:{stride}`",
            if i > 0 { ", " } else { "; nearest: " }
        )?;
    }
    Ok(())
}

fn write_numbers(f: &mut fmt::Formatter<'_>, nearest: &[i64]) -> fmt::Result {
    for (i, number) in nearest.iter().enumerate() {
        write!(f, "{}{number}", if i > 0 { ", " } else { "; nearest: " })?;
    }
    Ok(())
}
