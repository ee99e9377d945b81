//! The kinds of errors, and their messages.

use super::ModePath;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

/// The kind of an error, with its numbers. The `Display` is the message without the operation and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A shape and a stride are nested differently.
    NotCongruent {
        /// The mode of the shape where they first differ, as text.
        shape: String,
        /// The mode of the stride in the same position, as text.
        stride: String,
    },
    /// An extent below 1.
    Extent {
        /// The extent, as text.
        extent: String,
    },
    /// A factor or a number of bits below 1.
    Factor {
        /// The factor or the number of bits.
        factor: i64,
    },
    /// A fraction whose denominator is 0.
    Denominator,
    /// A tuple that is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep {
        /// How deep the tuple is nested; a flat tuple has 1.
        depth: usize,
        /// The greatest depth allowed.
        limit: usize,
    },
    /// A tuple with more leaves than [`MAX_LEAVES`](crate::MAX_LEAVES).
    TooManyLeaves {
        /// How many leaves it has.
        leaves: usize,
        /// The greatest number allowed.
        limit: usize,
    },
    /// A stride in a coordinate space, such as `1@0`, where the operation needs integer strides.
    NotIntegral {
        /// The first such stride, as text.
        stride: String,
    },
    /// Strides that cannot be added, such as `1@0` and `1@1@0`, or `1` and `1@0`.
    MixedStrides {
        /// This stride gives an integer at some position of the coordinate …
        first: String,
        /// … where this one gives a tuple.
        second: String,
    },
    /// A swizzle `Sw<B,M,S>` whose two bit fields overlap, or reach beyond bit 62.
    Swizzle {
        /// B, the number of bits in each field.
        bits: u32,
        /// M, the number of low bits that stay as they are.
        base: u32,
        /// S, the distance between the fields.
        shift: i32,
    },
    /// A coordinate, tiler or other tuple that is nested differently from the shape it is used with.
    Profile {
        /// The shape, as text.
        expected: String,
        /// The tuple, as text.
        found: String,
    },
    /// A division with a remainder, where the operation needs an exact quotient.
    Indivisible {
        /// The dividend, as text.
        dividend: String,
        /// The divisor, as text.
        divisor: String,
    },
    /// `_` in a coordinate where every leaf must be an integer.
    Underscore,
    /// The index of a mode that does not exist.
    NoMode {
        /// The index, counted from 0.
        index: i64,
        /// How many there are.
        rank: usize,
    },
    /// A stride such as `1@2` along a coordinate that the shape does not have.
    NoCoordinate {
        /// The stride, such as `1@2`.
        stride: String,
        /// The shape, as text.
        shape: String,
    },
    /// Coordinates past the end of a layout. Only the ragged form of the operation allows them.
    Overhang {
        /// The largest 1-D coordinate, or the smallest if it is below 0.
        reach: i64,
        /// The size of the layout or mode that it is a coordinate of.
        size: i64,
        /// The nearest (extent, stride) that the operation accepts, if a single mode reaches too far; else empty.
        nearest: Vec<(i64, i64)>,
    },
    /// An access at a coordinate outside of the memory.
    OutsideMode {
        /// The largest coordinate along the mode, or the smallest if it is below 0.
        reach: i64,
        /// The mode of the memory.
        mode: ModePath,
        /// The size of the mode.
        size: i64,
        /// The shape of the memory, as text.
        shape: String,
    },
    /// In A o B, the steps of a mode of B are not multiples of a boundary of A, and their remainders add up to the
    /// boundary or more. So the mode does not advance in A by equal steps.
    Drift {
        /// The extent of B's mode.
        extent: i64,
        /// The stride of that mode.
        stride: i64,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// (steps, remainder) pairs whose products add up to the boundary or more.
        terms: Vec<(i64, i64)>,
        /// The nearest composable (extent, stride) pairs for this mode.
        nearest: Vec<(i64, i64)>,
        /// A counterexample.
        witness: Option<Witness>,
    },
    /// In A o B, a boundary of A splits a mode of B into parts, and the extent of the mode is not a multiple of the part.
    Split {
        /// The extent of B's mode.
        extent: i64,
        /// The stride of that mode.
        stride: i64,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// How many steps of the mode lie before the boundary; this does not divide the extent.
        after: i64,
        /// The nearest composable (extent, stride) pairs for this mode.
        nearest: Vec<(i64, i64)>,
        /// A counterexample.
        witness: Option<Witness>,
    },
    /// In A o B, each of several modes of B stays below a boundary of A, but their sum does not.
    Carry {
        /// The modes of B, and the largest value of each modulo the boundary.
        modes: Vec<(ModePath, i64)>,
        /// The boundary: a product of leading extents of A.
        boundary: i64,
        /// The nearest composable (extent, stride) pairs for the last of these modes.
        nearest: Vec<(i64, i64)>,
        /// A counterexample.
        witness: Option<Witness>,
    },
    /// A negative stride where strides must be positive, or must all have one sign.
    NegativeStride {
        /// The negative stride, as text.
        stride: String,
    },
    /// A 1-D coordinate below 0 of a layout with several modes.
    BelowZero {
        /// The coordinate.
        index: i64,
    },
    /// In A o B, a step of B that moves along several coordinates of A's coordinate space at once.
    Diagonal {
        /// The size of the step.
        stride: i64,
        /// The coordinate that A gives for one step, as text.
        value: String,
    },
    /// A stride that is not a multiple of the end of the previous mode. The end is extent times stride.
    Gap {
        /// (extent, stride) of the mode before, where modes are sorted by stride.
        previous: (i64, i64),
        /// The stride that should be a multiple.
        stride: i64,
        /// The nearest multiples.
        nearest: [i64; 2],
    },
    /// In a product, a stride of A below the end of the previous mode. The end is extent times stride.
    Interleaved {
        /// (extent, stride) of the mode before, where modes are sorted by stride.
        previous: (i64, i64),
        /// The stride that is too small.
        stride: i64,
    },
    /// No left inverse was found. This stride is not a multiple of the smaller stride before it, or is less than that
    /// stride times its extent.
    Overlap {
        /// (extent, stride) of the mode before, where modes are sorted by stride.
        previous: (i64, i64),
        /// The stride that does not fulfil the condition.
        stride: i64,
        /// The nearest strides that fulfil the condition; both are the same if there is only one.
        nearest: [i64; 2],
        /// Whether the layout has no left inverse, or none was found.
        inverse: NoInverse,
    },
    /// A target that is not a multiple of the block that a layout fills.
    Target {
        /// The size of a block: the largest stride times its extent.
        block: i64,
        /// The target.
        target: i64,
        /// The nearest multiples.
        nearest: [i64; 2],
    },
    /// A stride that is neither a multiple nor a divisor of the factor of a recast.
    Recast {
        /// The stride, in elements before the recast.
        stride: i64,
        /// How many elements the recast joins into one.
        factor: i64,
        /// The nearest strides that are multiples or divisors.
        nearest: Vec<i64>,
    },
    /// The offset of a swizzled layout, where it is not a multiple of the factor of a recast.
    Offset {
        /// The offset, as text.
        offset: String,
        /// How many elements the recast joins into one.
        factor: i64,
    },
    /// A recast joins `factor` elements into a group. The stride of this mode divides the factor, but its extent is
    /// neither a multiple nor a divisor of `factor / stride`, so the mode does not fill whole groups.
    RecastShare {
        /// The extent of the mode.
        extent: i64,
        /// The stride of the mode, in elements before the recast.
        stride: i64,
        /// How many elements the recast joins into one.
        factor: i64,
        /// The nearest multiples or divisors of `factor / stride`.
        nearest: Vec<i64>,
    },
    /// A recast joins elements into groups, but some elements of a group are missing or occur twice.
    RecastHoles {
        /// The modes inside a group, as a layout.
        group: String,
        /// How many elements a group has.
        factor: String,
    },
    /// A recast that splits elements, of a layout in which no mode or several modes have stride 1.
    NotContiguous {
        /// How many parts an element would be split into.
        factor: String,
    },
    /// A recast between element sizes of which neither is a multiple of the other.
    Bits {
        /// Bits of an element before the recast.
        old: i64,
        /// Bits of an element after the recast.
        new: i64,
    },
    /// The target rank of an extension is below the rank of the layout, or above the limits.
    Rank {
        /// The requested rank.
        rank: i64,
        /// The rank of the layout.
        found: usize,
    },
    /// A range with modes that do not exist.
    Range {
        /// First mode.
        begin: i64,
        /// One past the last.
        end: i64,
        /// How many there are.
        rank: usize,
    },
    /// A recast of swizzled data by a factor other than a power of two. Such a factor does not act on whole bits.
    NotAPowerOfTwo {
        /// How many elements the recast joins, or how many parts it splits an element into.
        factor: i64,
    },
    /// A function that cannot be written as a layout followed by one swizzle of CuTe's form.
    NotASwizzle {
        /// The computed function, such as "the composition".
        what: &'static str,
    },
    /// A product with a swizzled second operand. Its swizzle permutes the numbers of the copies, but no swizzle of the values
    /// permutes the copies in the same way.
    SwizzledCopies {
        /// The swizzle of the second operand, as text.
        swizzle: String,
        /// The layout of the places of copies.
        places: String,
        /// Why there is no such swizzle.
        because: String,
    },
    /// A swizzled tile without a matching rest of its layout.
    SwizzledTile {
        /// The swizzle of the tile, as text.
        swizzle: String,
        /// The rest beside the tile without its swizzle, as text.
        rest: String,
        /// Why it is not the rest beside the swizzled tile.
        because: String,
    },
    /// A function that is not linear over bits: not every bit of the coordinate exclusive-ors a fixed number into the
    /// value.
    NotBitwise {
        /// The computed function, such as "the composition".
        what: &'static str,
    },
    /// An element size for which there is no shared-memory atom.
    ElementBits {
        /// The element size in bits.
        bits: i64,
    },
    /// A width N that wgmma does not have. It has multiples of 8 from 8 to 256; for integers only some of them.
    WgmmaN {
        /// The requested width.
        n: i64,
        /// The nearest widths that it has.
        nearest: [i64; 2],
    },
    /// A name that is not in a table.
    NotOneOf {
        /// The kind of entry, such as "swizzle mode".
        what: &'static str,
        /// The unknown name.
        found: String,
        /// The names in the table, separated by commas.
        names: String,
    },
    /// A tiled copy whose number of threads or values is not a multiple of its atom's.
    AtomShare {
        /// `threads` or `values`.
        what: &'static str,
        /// How many the tiled copy has.
        tiled: i64,
        /// How many the atom has.
        atom: i64,
    },
    /// A coordinate or an index that is below 0 or not below the number of its values.
    OutOfRange {
        /// `coordinate`, `index` or `thread`.
        what: &'static str,
        /// The coordinate, counted from 0.
        index: i64,
        /// How many there are.
        size: String,
    },
    /// The index of a thread that lies in a gap between the threads of an operation.
    NoThread {
        /// The index, counted from 0.
        thread: i64,
        /// The layout of the threads.
        threads: String,
    },
    /// A property that a layout does not have.
    Refuted {
        /// The property, as an adjective.
        property: &'static str,
        /// Coordinates and values that disprove the property.
        counterexample: String,
    },
    /// A property that could not be decided within the limits on work.
    Unproved {
        /// The property.
        property: &'static str,
    },
    /// An access pattern that names a coordinate outside the tile.
    OutsideTile {
        /// The 1-D coordinate.
        coordinate: i64,
        /// The size of the tile.
        size: i64,
    },
    /// A tile that an instruction cannot use, or that causes bank conflicts in shared memory.
    Hardware {
        /// The whole message.
        refusal: String,
    },
    /// An operand of the wrong kind.
    Argument {
        /// The expected kind of operand.
        expected: &'static str,
        /// The given kind of operand.
        found: &'static str,
    },
    /// Too few or too many operands.
    ArgumentCount {
        /// Name of the operation.
        operation: &'static str,
        /// The operands, as in the table of operations.
        signature: &'static str,
        /// How many it takes.
        counts: RangeInclusive<usize>,
        /// How many there are.
        found: usize,
    },
    /// `ragged` before an operation that rounds nothing.
    NotRagged,
    /// A tile with a stride 0 takes values several times, so tile and rest together have more coordinates than the
    /// layout.
    RepeatingTile {
        /// The extent of a mode with stride 0.
        extent: String,
    },
    /// `_` in the tiler of a division that groups tiles and rests: it leaves its mode undivided.
    KeepUngrouped,
    /// A tiler with more modes than the layout.
    TilerRank {
        /// How many modes the tiler has.
        tiler: usize,
        /// The shape of the layout.
        shape: String,
        /// The rank of the layout.
        rank: usize,
    },
    /// A list of values that no layout has.
    NotALayout {
        /// The first 1-D coordinate at which the value is wrong.
        position: i64,
        /// The value there.
        found: i64,
        /// The value there of a layout with the same earlier values.
        expected: i64,
    },
    /// A number that does not fit 64 bits.
    Overflow {
        /// The quantity, such as "size".
        quantity: &'static str,
    },
    /// The modes of the result depend on a condition left open by the facts about run-time integers.
    Undecided {
        /// The condition, as a fact to add.
        condition: String,
        /// The opposite condition, as a fact to add instead.
        opposite: String,
    },
    /// A yes-or-no answer or a number depends on a condition left open by the facts about run-time integers.
    Open {
        /// The condition, as text.
        condition: String,
    },
    /// A condition that no values of the run-time integers fulfil.
    Never {
        /// The condition, as text.
        condition: String,
    },
    /// Facts about run-time integers contradict one another, or contradict a condition of an operation.
    Contradiction {
        /// The condition that cannot hold.
        condition: String,
        /// The facts that it contradicts.
        facts: Vec<String>,
    },
    /// An operation on run-time integers that works only on numbers known at expansion.
    NeedsNumbers {
        /// The name of the operation.
        operation: &'static str,
        /// Why it needs numbers.
        why: &'static str,
    },
    /// A case of an operation that is not supported for run-time integers.
    Unsupported {
        /// The case.
        what: &'static str,
    },
    /// The largest value of a swizzled layout does not fit 64 bits, or was not found within a limit on steps.
    CosizeLimit {
        /// How many steps the search may take.
        limit: u64,
    },
    /// A recast of a ragged division along a mode in which the data may end.
    RaggedEdge {
        /// `joined` or `split`.
        what: &'static str,
        /// The extent of the mode, as text.
        extent: String,
    },
    /// More run-time integers or checks than a limit allows.
    TooMany {
        /// The counted items, such as "run-time integers".
        what: &'static str,
        /// The greatest number allowed.
        limit: usize,
    },
}

/// Why a layout got no left inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoInverse {
    /// There is none, since two coordinates have the same value.
    Collision,
    /// There is none, though no two coordinates have the same value: no layout maps each value back to its coordinate.
    Never,
    /// A search of limited length found none; there may be one.
    Unknown,
}

/// A coordinate at which A(B(c)) is not the value of a layout with the same earlier values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The 1-D coordinate of B.
    pub index: i64,
    /// `A(B(index))`.
    pub value: i64,
    /// The value of such a layout at `index`.
    pub expected: i64,
}

impl ErrorKind {
    /// Whether the ragged form of the operation, which rounds up as CuTe does, has a result in this case.
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

/// `{:#}` leaves out the advice to write `ragged`, for a place where it cannot be written.
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
                advise(f, "; `ragged` allows the overhang")
            }
            Self::OutsideMode { reach: reach @ ..0, mode, .. } => {
                write!(f, "this reaches coordinate {reach} of {mode}, which is below 0")
            }
            Self::OutsideMode { reach, mode, size, shape } => {
                write!(f, "this reaches coordinate {reach} of {mode}, where the memory of shape {shape} has {size}")
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
            Self::Interleaved {
                previous: (extent, before),
                stride,
            } => write!(
                f,
                "stride {stride} is less than {} (= {before} * {extent}, of the mode `{extent}:{before}`)",
                i128::from(*before) * i128::from(*extent),
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
            } => {
                write!(f, "blocks of {block} do not fill {target}: use ")?;
                match nearest_divisors(*target, *block) {
                    [Some(below), Some(above)] => write!(f, "blocks of {below} or {above}, ")?,
                    [Some(only), None] | [None, Some(only)] => write!(f, "blocks of {only}, ")?,
                    [None, None] => {}
                }
                let [below, above] = nearest;
                write!(f, "an extent of {below} or {above}")?;
                advise(f, ", or `ragged`")
            }
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
                advise(f, "; `ragged` rounds up")
            }
            Self::RecastHoles { group, factor } => {
                write!(
                    f,
                    "the modes `{group}` inside a group of {factor} do not fill it"
                )?;
                advise(f, "; `ragged` leaves holes")
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
            Self::Range { begin, end, .. } if begin == end => {
                write!(f, "the modes from {begin} to before {end} are none: the second number is that of the mode behind the last")
            }
            Self::Range { begin, end, .. } if begin > end => {
                write!(f, "the modes from {begin} to before {end} are none: the first number is the smaller one")
            }
            Self::Range { begin, end, rank } => {
                write!(f, "there are no modes {begin}..{end}: the rank is {rank}")
            }
            Self::NotAPowerOfTwo { factor } => write!(f, "{factor} is not a power of two"),
            Self::NotASwizzle { what } => write!(f, "{what} cannot be written as one swizzle after a layout"),
            Self::SwizzledCopies { swizzle, places, because } => write!(
                f,
                "no swizzle and no map of bits moves the copies, which are placed at `{places}`, as {swizzle} moves their numbers: {because}"
            ),
            Self::SwizzledTile { swizzle, rest, because } => write!(
                f,
                "`{rest}` is the complement without {swizzle}, but not with it: {because}"
            ),
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
            Self::OutOfRange { what, index, size } => {
                write!(f, "{what} {index} is out of range: it must be at least 0 and below {size}")
            }
            Self::NoThread { thread, threads } => {
                write!(f, "thread {thread} has no part: the threads are the values of {threads}")
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
                write!(f, "the tile takes each value {extent} times (`{extent}:0`)")?;
                advise(f, "; `ragged` allows that")
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

/// Writes the advice to write `ragged`.
fn advise(f: &mut fmt::Formatter<'_>, advice: &str) -> fmt::Result {
    match f.alternate() {
        true => Ok(()),
        false => f.write_str(advice),
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

/// The nearest divisors of `value` below `unit`, from 2 on, and above `unit`. The search ends at a distance of `FARTHEST`, the size
/// of a large tile.
fn nearest_divisors(value: i64, unit: i64) -> [Option<i64>; 2] {
    const FARTHEST: i64 = 4096;
    let divides = |divisor: &i64| value % divisor == 0;
    let below = (unit.saturating_sub(FARTHEST).max(2)..unit).rev();
    let above = unit.saturating_add(1)..=value.min(unit.saturating_add(FARTHEST));
    [
        below.into_iter().find(divides),
        above.into_iter().find(divides),
    ]
}
