//! Maps that are linear over bits: they include swizzled layouts and their compositions and inverses.

use crate::composition::ENUMERATION_LIMIT;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::from_table::from_table;
use crate::layout::Layout;
use crate::swizzle::{Swizzle, combine, swizzle_of};
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use alloc::vec::Vec;
use core::fmt;

/// Most bits of a coordinate, and of a value.
pub const XOR_MAP_BITS: u32 = 63;

/// A function on the coordinates of a shape. It splits each digit of the coordinate into bits, and its value is a
/// constant exclusive-ored with one column for each bit that is set.
///
/// A swizzled layout whose sums have no carries is such a map. Unlike swizzled layouts, these maps are closed under
/// composition and inverse. Extents need not be powers of two: a digit below an extent s has as many bits as s − 1,
/// and digits at or above s do not occur.
///
/// ```
/// use cute_algebra::{Layout, Swizzle, XorMap};
/// let rows = XorMap::from_layout(&Layout::new([8, 64], [64, 1])?).unwrap();
/// let swizzle = XorMap::from_swizzle(Swizzle::new(3, 3, 3)?, 9);
/// let tile = swizzle.after(&rows).unwrap();
/// assert_eq!(tile.at(1), Some(72));
/// // The swizzle on the other side of the layout.
/// let inverse = rows.inverse().unwrap();
/// let moved = inverse.after(&swizzle).unwrap().after(&rows).unwrap();
/// assert_eq!(moved.to_string(), "Sw<3,0,-6>");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct XorMap {
    shape: Shape,
    /// One column for each bit of each digit: the leftmost digit first, and in a digit the lowest bit first.
    columns: Vec<u64>,
    constant: u64,
}

impl XorMap {
    /// The map of `0..2^n` with these n columns. `None` for more than [`XOR_MAP_BITS`] columns, and where a column
    /// has more bits than that.
    pub fn new(columns: impl Into<Vec<u64>>) -> Option<Self> {
        let columns = columns.into();
        let bits = u32::try_from(columns.len())
            .ok()
            .filter(|&bits| bits < XOR_MAP_BITS)?;
        let fits = columns.iter().all(|column| column >> XOR_MAP_BITS == 0);
        fits.then_some(Self {
            shape: Tuple::Leaf(1 << bits),
            columns,
            constant: 0,
        })
    }

    /// The map with this value at 0. It is exclusive-ored into every value. Bits above the lowest 63 are dropped.
    pub fn with_constant(self, constant: u64) -> Self {
        let constant = constant & ((1 << XOR_MAP_BITS) - 1);
        Self { constant, ..self }
    }

    /// The identity on numbers of `bits` bits; more than 62 count as 62.
    pub fn identity(bits: u32) -> Self {
        Self::from_swizzle(Swizzle::IDENTITY, bits)
    }

    /// The swizzle on numbers of `bits` bits; more than 62 count as 62.
    pub fn from_swizzle(swizzle: Swizzle, bits: u32) -> Self {
        let bits = bits.min(XOR_MAP_BITS - 1);
        Self {
            shape: Tuple::Leaf(1 << bits),
            columns: (0..bits)
                .map(|bit| swizzle.apply(1 << bit) as u64)
                .collect(),
            constant: 0,
        }
    }

    /// The layout as a map, under the conditions of [`from_composed`](Self::from_composed).
    pub fn from_layout(layout: &Layout) -> Option<Self> {
        Self::of(Swizzle::IDENTITY, 0, layout)
    }

    /// The swizzled layout as a map. It is one if its sums have no carries, or if it has at most
    /// [`ENUMERATION_LIMIT`] coordinates and all values agree with the map's.
    pub(crate) fn of(swizzle: Swizzle, offset: i64, layout: &Layout) -> Option<Self> {
        let modes = layout.integral_modes(0).ok()?;
        let value = |index: i64| u64::try_from(swizzle.apply(index)).ok();
        let constant = value(offset)?;
        let mut columns = Vec::new();
        let mut sums: Vec<Vec<i64>> = Vec::new();
        for &(extent, stride) in &modes {
            let digit: Vec<i64> = (0..bits_below(extent)).map(|bit| stride << bit).collect();
            for &step in &digit {
                columns.push(value(offset + step)? ^ constant);
            }
            sums.push(digit);
        }
        if columns.len() >= XOR_MAP_BITS as usize {
            return None;
        }
        let map = Self {
            shape: layout.shape().clone(),
            columns,
            constant,
        };
        let extents: Vec<i64> = modes.iter().map(|&(extent, _)| extent).collect();
        let carries = together(&extents, &sums).any(|(a, b)| a & b != 0)
            || sums.iter().flatten().any(|step| step & offset != 0);
        let agrees = || {
            let swizzled = layout.values().map(|index| swizzle.apply(offset + index));
            layout.size() <= ENUMERATION_LIMIT && swizzled.zip(map.values()).all(|(a, b)| a == b)
        };
        (!carries || agrees()).then_some(map)
    }

    /// The shape of the coordinates.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The columns, one for each bit of each digit: the leftmost digit first, and in a digit the lowest bit first.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// The columns of the bits of a 1-D coordinate. `None` unless these are the bits of the digits: all extents but
    /// the last must be powers of two.
    pub fn bit_columns(&self) -> Option<&[u64]> {
        self.digits_are_bits().then_some(&self.columns)
    }

    /// The value at 0. It is exclusive-ored into every value.
    pub fn constant(&self) -> u64 {
        self.constant
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.shape.leaves().product()
    }

    /// The value at a 1-D coordinate; `None` outside `0..size`.
    pub fn at(&self, index: i64) -> Option<i64> {
        (0..self.size()).contains(&index).then(|| self.apply(index))
    }

    /// The value at a coordinate; refused outside of the shape.
    pub fn crd2idx(&self, coord: &Coord) -> Result<i64, LayoutError> {
        let overflow = || ErrorKind::Overflow { quantity: "index" }.at(Place::operand(0));
        match Layout::left(self.shape.clone())?.crd2idx(coord)? {
            Tuple::Leaf(index) => self.at(index).ok_or_else(overflow),
            Tuple::Node(_) => Err(overflow()),
        }
    }

    /// The values at 0, 1, 2, … up to the size.
    pub fn values(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.size()).map(|index| self.apply(index))
    }

    fn apply(&self, mut index: i64) -> i64 {
        let (mut value, mut first) = (self.constant, 0);
        for &extent in self.shape.leaves() {
            let digit = index % extent;
            index /= extent;
            let bits = bits_below(extent) as usize;
            for (bit, column) in self.columns[first..first + bits].iter().enumerate() {
                value ^= column * (digit >> bit & 1) as u64;
            }
            first += bits;
        }
        value as i64
    }

    /// `self(first(x))`. `None` where a value of `first` is outside `0..size` of `self`, or where the bits of a
    /// value are not those of a coordinate of `self`, because an extent other than the last is not a power of two.
    pub fn after(&self, first: &Self) -> Option<Self> {
        if !self.digits_are_bits() {
            return None;
        }
        let domain = self.size();
        let inside = bits_below(domain) >= 64 - first.support().leading_zeros()
            && (domain & (domain - 1) == 0
                || first.size() <= ENUMERATION_LIMIT && first.values().all(|value| value < domain));
        let linear = |value: u64| combine(&self.columns, value);
        inside.then(|| Self {
            shape: first.shape.clone(),
            columns: first.columns.iter().map(|&column| linear(column)).collect(),
            constant: linear(first.constant) ^ self.constant,
        })
    }

    /// The inverse of a bijection of `0..size`; `None` where this map is none, and for other sizes than powers of two above
    /// [`ENUMERATION_LIMIT`].
    /// ```
    /// use cute_algebra::{ComposedLayout, XorMap};
    /// let a: ComposedLayout = "Sw<1,0,1> o (2,3):(1,2)".parse()?;
    /// let inverse = XorMap::from_composed(&a).unwrap().inverse().unwrap();
    /// assert!(inverse.values().eq([0, 1, 3, 2, 4, 5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inverse(&self) -> Option<Self> {
        let bits = self.columns.len();
        let size = self.size();
        let stays = || {
            size == 1 << bits
                || size <= ENUMERATION_LIMIT && self.values().all(|value| value < size)
        };
        if !self.digits_are_bits() || self.support() >> bits != 0 || !stays() {
            return None;
        }
        let columns: Option<Vec<u64>> = Basis::of(&self.columns).invert(bits);
        let columns = columns?;
        Some(Self {
            shape: Tuple::Leaf(size),
            constant: combine(&columns, self.constant),
            columns,
        })
    }

    /// The coordinate with this value, for an injective map; `None` if there is none.
    /// ```
    /// use cute_algebra::{ComposedLayout, Layout, Swizzle, XorMap};
    /// // Ten columns: the swizzle sees the bits of each digit.
    /// let tile = ComposedLayout::new(Swizzle::new(1, 0, 1)?, 0, Layout::new([10, 2], [2, 1])?)?;
    /// let map = XorMap::from_composed(&tile).unwrap();
    /// assert!((0..20).all(|i| map.coordinate_of(tile.at(i).unwrap()) == Some(i)));
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn coordinate_of(&self, value: i64) -> Option<i64> {
        let bits = Basis::of(&self.columns).solve(u64::try_from(value).ok()? ^ self.constant)?;
        let (mut index, mut weight, mut first) = (0, 1, 0);
        for &extent in self.shape.leaves() {
            let digit = (bits >> first & ((1u64 << bits_below(extent)) - 1)) as i64;
            if digit >= extent {
                return None;
            }
            index += digit * weight;
            weight *= extent;
            first += bits_below(extent);
        }
        Some(index)
    }

    /// Dimension of the space that the columns span. A map on a power-of-two domain has `2^rank` different values.
    pub fn rank(&self) -> u32 {
        Basis::of(&self.columns).0.len() as u32
    }

    /// The layout of the differences to the value at 0. `None` unless columns of different digits have no bit in
    /// common, and the values along each digit are those of a layout.
    /// ```
    /// use cute_algebra::XorMap;
    /// let plain = XorMap::new([4, 1, 2]).unwrap();
    /// assert_eq!(plain.to_layout().unwrap().to_string(), "(2,4):(4,1)");
    /// assert_eq!(XorMap::new([1, 3]).unwrap().to_layout(), None);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn to_layout(&self) -> Option<Layout> {
        // The differences of two columns add up if the columns share no bit. A bit that a column shares with the
        // constant is cleared by it, so it counts as negative in the difference.
        let extents: Vec<i64> = self.shape.leaves().copied().collect();
        let steps = |column: u64| (column ^ self.constant) as i64 - self.constant as i64;
        let mut columns = self.columns.iter().copied();
        let digits: Vec<Vec<u64>> = extents
            .iter()
            .map(|&extent| columns.by_ref().take(bits_below(extent) as usize).collect())
            .collect();
        let across = digits.iter().enumerate().any(|(i, digit)| {
            digits[..i]
                .iter()
                .flatten()
                .any(|a| digit.iter().any(|b| a & b != 0))
        });
        if across {
            return None;
        }
        let leaves = extents.iter().zip(&digits).map(|(&extent, digit)| {
            if extent & (extent - 1) == 0 {
                let steps: Vec<i64> = digit.iter().map(|&column| steps(column)).collect();
                let disjoint = digit
                    .iter()
                    .enumerate()
                    .all(|(i, a)| digit[..i].iter().all(|b| a & b == 0));
                return disjoint.then(|| leaves_of(&steps))?;
            }
            if extent > ENUMERATION_LIMIT {
                return None;
            }
            let table: Vec<i64> = (0..extent as u64)
                .map(|index| steps(combine(digit, index)))
                .collect();
            from_table(&table).ok()
        });
        let leaves = leaves.collect::<Option<Vec<_>>>()?;
        Layout::replace_leaves(&self.shape, leaves).ok()
    }

    /// The same columns on all numbers of their bits. `None` unless the bits of a coordinate are those of the digits.
    pub(crate) fn widened(&self) -> Option<Self> {
        let shape = Tuple::Leaf(1 << self.columns.len());
        let whole = Self {
            shape,
            ..self.clone()
        };
        self.digits_are_bits().then_some(whole)
    }

    /// The same map on another shape with the same leaves.
    pub(crate) fn in_shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The strides that place the bits of a coordinate's digits side by side from bit `first` on.
    pub(crate) fn places(&self, mut first: u32) -> IntTuple {
        self.shape.map(|extent| {
            let place = 1i64 << first;
            first += bits_below(*extent);
            place
        })
    }

    /// All bits set in some value, and maybe others.
    pub(crate) fn support(&self) -> u64 {
        let columns = self.columns.iter();
        columns.fold(self.constant, |bits, column| bits | column)
    }

    /// Number of bits of a coordinate.
    pub(crate) fn bits(&self) -> u32 {
        self.columns.len() as u32
    }

    /// The swizzle that is equal to this map; `None` where there is none.
    pub fn to_swizzle(&self) -> Option<Swizzle> {
        if self.constant != 0 || !self.digits_are_bits() {
            return None;
        }
        swizzle_of(&self.columns)
    }

    /// The swizzle S with `S(self(x)) = swizzled(x)`, for a map whose columns each have a single bit.
    pub(crate) fn to_swizzle_before(&self, swizzled: &Self) -> Option<Swizzle> {
        let bits = swizzled.columns.len().min(self.columns.len());
        let mut columns: Vec<u64> = (0..XOR_MAP_BITS).map(|bit| 1 << bit).collect();
        for (from, to) in self.columns.iter().zip(&swizzled.columns).take(bits) {
            if !from.is_power_of_two() {
                return None;
            }
            columns[from.trailing_zeros() as usize] = *to;
        }
        swizzle_of(&columns)
    }

    /// Whether the bits of a 1-D coordinate are those of its digits: all extents but the last are powers of two.
    fn digits_are_bits(&self) -> bool {
        let last = self.shape.leaf_count().saturating_sub(1);
        self.shape
            .leaves()
            .take(last)
            .all(|&extent| extent & (extent - 1) == 0)
    }
}

/// Number of bits of the numbers below `extent`.
fn bits_below(extent: i64) -> u32 {
    64 - (extent - 1).leading_zeros()
}

/// Pairs of steps whose bits can both be set in one coordinate.
fn together<'a>(
    extents: &'a [i64],
    steps: &'a [Vec<i64>],
) -> impl Iterator<Item = (i64, i64)> + 'a {
    let flat = |digit: usize| {
        steps[digit]
            .iter()
            .enumerate()
            .map(move |(bit, step)| (digit, bit, *step))
    };
    let all = move || (0..steps.len()).flat_map(flat);
    all().flat_map(move |(digit, bit, step)| {
        all().filter_map(move |(other, lower, other_step)| {
            let pair = other < digit
                || other == digit && lower < bit && (1i64 << bit) + (1 << lower) < extents[digit];
            pair.then_some((step, other_step))
        })
    })
}

/// The layout of a digit whose bits have these steps.
fn leaves_of(steps: &[i64]) -> Option<Layout> {
    let mut modes: Vec<(i64, i64)> = Vec::new();
    for &step in steps {
        match modes.last_mut() {
            Some((extent, stride)) if stride.checked_mul(*extent) == Some(step) => *extent *= 2,
            _ => modes.push((2, step)),
        }
    }
    match modes[..] {
        [] => Some(Layout::unit()),
        [(extent, stride)] => Layout::new(extent, stride).ok(),
        _ => {
            let modes = modes
                .into_iter()
                .map(|(extent, stride)| Layout::new(extent, stride));
            Layout::concat(modes.collect::<Result<Vec<_>, _>>().ok()?).ok()
        }
    }
}

/// Vectors in echelon form. Each has a highest bit of its own, and is stored with the set of columns whose sum it
/// is.
pub(crate) struct Basis(Vec<(u64, u64)>);

impl Basis {
    pub(crate) fn of(columns: &[u64]) -> Self {
        let mut basis = Self(Vec::new());
        for (bit, &column) in columns.iter().enumerate() {
            basis.insert(column, 1 << bit);
        }
        basis
    }

    /// Adds a vector, the sum of the columns `sources`. `false` if it is a sum of earlier vectors.
    pub(crate) fn insert(&mut self, vector: u64, sources: u64) -> bool {
        let (rest, sources) = self.reduce(vector, sources);
        if rest != 0 {
            self.0.push((rest, sources));
            self.0.sort_unstable_by(|a, b| b.cmp(a));
        }
        rest != 0
    }

    pub(crate) fn contains(&self, vector: u64) -> bool {
        self.reduce(vector, 0).0 == 0
    }

    fn reduce(&self, vector: u64, sources: u64) -> (u64, u64) {
        // The vectors are in descending order of highest bits, and no later vector contains the highest bit of an
        // earlier one.
        self.0.iter().fold(
            (vector, sources),
            |(vector, sources), (other, theirs)| match vector >> other.ilog2() & 1 {
                1 => (vector ^ other, sources ^ theirs),
                _ => (vector, sources),
            },
        )
    }

    /// The set of columns whose sum is this vector.
    fn solve(&self, vector: u64) -> Option<u64> {
        let (rest, sources) = self.reduce(vector, 0);
        (rest == 0).then_some(sources)
    }

    fn invert(&self, bits: usize) -> Option<Vec<u64>> {
        (0..bits).map(|bit| self.solve(1 << bit)).collect()
    }
}

/// In the notation: a swizzle of the 1-D coordinate, or the columns after the layout that places the digits of a
/// coordinate side by side.
impl fmt::Display for XorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(swizzle) = self.to_swizzle() {
            return swizzle.fmt(f);
        }
        f.write_str("xor_map((")?;
        for (i, column) in self.columns.iter().enumerate() {
            write!(f, "{}{column}", if i > 0 { "," } else { "" })?;
        }
        f.write_str(")")?;
        if self.constant != 0 {
            write!(f, ",{}", self.constant)?;
        }
        f.write_str(")")?;
        if self.shape == Tuple::Leaf(1 << self.columns.len()) {
            return Ok(());
        }
        write!(f, " o {}:{}", self.shape, self.places(0))
    }
}
