//! Layouts as constants.

use super::Swizzle;
use super::profile::{Profile, profile};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use cute_algebra::{
    COSIZE_STEPS, ComposedLayout, LayoutError, ScaledBasis, Tuple, swizzled_cosize,
};

/// A layout with integer values, and with an optional offset and swizzle, over static tables.
///
/// `layout!` expands to such a value. The macro has checked the layout, so methods fail only for a coordinate or mode out of
/// range.
/// ```
/// use cute_runtime::{Layout, layout};
/// const S: Layout = layout!((2,(2,2)):(4,(2,1)));
/// const THIRD: i64 = S.at(3);
/// assert_eq!((THIRD, S.size(), S.rank(), S.depth()), (6, 8, 2, 2));
/// assert_eq!(S.to_string(), "(2,(2,2)):(4,(2,1))");
/// ```
#[derive(Clone, Copy)]
pub struct Layout {
    shape: &'static [i64],
    stride: &'static [i64],
    profile: Profile,
    swizzle: Swizzle,
    offset: i64,
    injective: Option<bool>,
    offsets: &'static [i64],
}

/// For expansions: a layout whose coordinates all have different values. `nesting` is the text of its profile, and `offsets`
/// its values, or empty if there are more than 64.
pub const fn injective(
    nesting: &'static str,
    shape: &'static [i64],
    stride: &'static [i64],
    offsets: &'static [i64],
) -> Layout {
    Layout {
        shape,
        stride,
        profile: profile(nesting),
        swizzle: Swizzle::IDENTITY,
        offset: 0,
        injective: Some(true),
        offsets,
    }
}

/// For expansions: as `injective`, but at least two coordinates have the same value.
pub const fn not_injective(
    nesting: &'static str,
    shape: &'static [i64],
    stride: &'static [i64],
    offsets: &'static [i64],
) -> Layout {
    Layout {
        injective: Some(false),
        ..injective(nesting, shape, stride, offsets)
    }
}

/// For expansions: as `injective`, but it is not known whether two coordinates have the same value.
pub const fn unproved(
    nesting: &'static str,
    shape: &'static [i64],
    stride: &'static [i64],
    offsets: &'static [i64],
) -> Layout {
    Layout {
        injective: None,
        ..injective(nesting, shape, stride, offsets)
    }
}

/// For expansions: `swizzle o offset o inner`, with the values of the result, or empty if there are more than 64.
pub const fn swizzled(
    swizzle: Swizzle,
    offset: i64,
    inner: Layout,
    offsets: &'static [i64],
) -> Layout {
    Layout {
        swizzle,
        offset,
        offsets,
        ..inner
    }
}

impl Layout {
    /// Number of coordinates.
    #[inline]
    pub const fn size(&self) -> i64 {
        let (mut i, mut size) = (0, 1);
        while i < self.shape.len() {
            size *= self.shape[i];
            i += 1;
        }
        size
    }

    /// The number of contiguous elements that hold index 0 and all values.
    ///
    /// Without a swizzle and an offset, this is 1 + the sum of `(extent - 1) * |stride|` over the leaves. With a swizzle, a
    /// search finds it, at compile time if the result is a constant.
    /// ```
    /// assert_eq!(cute_runtime::layout!(Sw<3,4,3> o 129:1).cosize(), 145);
    /// ```
    ///
    /// # Panics
    /// If the cosize of a swizzled layout does not fit in 64 bits, or takes more than [`COSIZE_STEPS`](cute_algebra::COSIZE_STEPS)
    /// to find.
    #[track_caller]
    pub const fn cosize(&self) -> i64 {
        if self.swizzle.is_identity() && self.offset == 0 {
            return self.span();
        }
        let leaves = self
            .swizzle
            .after_leaves(self.shape, self.stride, self.offset);
        match swizzled_cosize(&leaves, COSIZE_STEPS) {
            Some(cosize) => cosize,
            None => panic!("the cosize does not fit 64 bits, or takes too many steps to find"),
        }
    }

    /// The span of the layout under the swizzle.
    pub(super) const fn span(&self) -> i64 {
        let (mut i, mut span) = (0, 1);
        while i < self.shape.len() {
            span += (self.shape[i] - 1) * self.stride[i].abs();
            i += 1;
        }
        span
    }

    /// Number of top-level modes; 1 if the shape is an integer.
    #[inline]
    pub const fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// Depth of the nesting: 0 if the shape is an integer, 1 if it is a tuple of integers.
    pub const fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// The extents of the leaves from left to right.
    #[inline]
    pub const fn flat_shape(&self) -> &'static [i64] {
        self.shape
    }

    /// The strides of the leaves from left to right.
    #[inline]
    pub const fn flat_stride(&self) -> &'static [i64] {
        self.stride
    }

    /// How the modes nest.
    #[inline]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The swizzle that is applied to every value; the identity if there is none.
    #[inline]
    pub const fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// The constant that is added to every value, before the swizzle.
    #[inline]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// Whether different coordinates have different values; `None` if neither is proved. A swizzle does not change the answer.
    pub const fn is_injective(&self) -> Option<bool> {
        self.injective
    }

    /// The values in the order of 1-D coordinates. Empty if there are more than 64 values, and for parts of a result of
    /// `layout!`, such as a mode or a tile.
    pub const fn offsets(&self) -> &'static [i64] {
        self.offsets
    }

    /// Top-level mode `index`, with the same swizzle.
    ///
    /// # Panics
    /// If there is no such mode.
    #[track_caller]
    pub const fn mode(&self, index: usize) -> Layout {
        let (mut first, mut mode) = (0, self.profile.first());
        let mut i = 0;
        let profile = loop {
            let Some((profile, end)) = mode else {
                panic!("mode out of range")
            };
            if i == index {
                break profile;
            }
            (first, mode) = (first + profile.leaves(), self.profile.after(end));
            i += 1;
        };
        let leaves = profile.leaves();
        Layout {
            shape: self.shape.split_at(first).1.split_at(leaves).0,
            stride: self.stride.split_at(first).1.split_at(leaves).0,
            profile,
            // A mode of an injective layout is injective. A mode of any other layout may be injective or not.
            injective: match self.injective {
                Some(true) => Some(true),
                _ => None,
            },
            offsets: &[],
            ..*self
        }
    }

    /// The value at 1-D coordinate `index`: the leftmost mode runs fastest.
    ///
    /// # Panics
    /// If `index` is negative or not below the size.
    #[inline]
    #[track_caller]
    pub const fn at(&self, index: i64) -> i64 {
        assert!(0 <= index && index < self.size(), "coordinate out of range");
        self.swizzle.apply(self.offset + self.linear(index))
    }

    /// The value at a coordinate that has one integer for each top-level mode: the 1-D coordinate in that mode.
    ///
    /// # Panics
    /// If `coord` does not have one integer for each mode, or one of them is negative or not below the size of its mode.
    #[track_caller]
    pub const fn crd2idx(&self, coord: &[i64]) -> i64 {
        assert!(
            coord.len() == self.rank(),
            "a coordinate must have one integer for each mode"
        );
        let (mut i, mut sum) = (0, self.offset);
        while i < coord.len() {
            let mode = self.mode(i);
            assert!(
                0 <= coord[i] && coord[i] < mode.size(),
                "coordinate out of range"
            );
            sum += mode.linear(coord[i]);
            i += 1;
        }
        self.swizzle.apply(sum)
    }

    /// [`at`](Self::at) with `usize` for coordinate and value, to index slices.
    /// ```
    /// use cute_runtime::{Layout, layout};
    /// const COLUMNS: Layout = layout!((2,3):(3,1));
    /// let rows = ["a", "b", "c", "d", "e", "f"];
    /// let columns: String = (0..rows.len()).map(|i| rows[COLUMNS.position(i)]).collect();
    /// assert_eq!(columns, "adbecf");
    /// ```
    ///
    /// # Panics
    /// If `index` is not below the size, or the value is negative.
    #[inline]
    #[track_caller]
    pub const fn position(&self, index: usize) -> usize {
        assert!(index <= i64::MAX as usize, "coordinate out of range");
        let value = self.at(index as i64);
        assert!(
            0 <= value && value as usize as i64 == value,
            "the value is no index of a slice"
        );
        value as usize
    }

    /// 1-D coordinate `index` as a coordinate with one integer for each top-level mode, as [`crd2idx`](Self::crd2idx) takes it.
    /// ```
    /// use cute_runtime::{Layout, layout};
    /// const L: Layout = layout!((6,(2,4)):(8,(1,2)));
    /// const CRD: [i64; 2] = L.idx2crd(20);
    /// assert_eq!((CRD, L.crd2idx(&CRD)), ([2, 3], L.at(20)));
    /// ```
    ///
    /// # Panics
    /// If `index` is negative or not below the size, or there are not `N` modes.
    #[track_caller]
    pub const fn idx2crd<const N: usize>(&self, index: i64) -> [i64; N] {
        assert!(0 <= index && index < self.size(), "coordinate out of range");
        assert!(
            self.rank() == N,
            "a coordinate has one integer for each mode"
        );
        let (mut i, mut rest, mut coord) = (0, index, [0; N]);
        while i < N {
            let size = self.mode(i).size();
            coord[i] = rest % size;
            rest /= size;
            i += 1;
        }
        coord
    }

    /// The same layout with `by` added to every value, before the swizzle.
    pub(super) const fn moved(self, by: i64) -> Layout {
        Layout {
            offset: self.offset + by,
            offsets: &[],
            ..self
        }
    }

    #[inline]
    const fn linear(&self, index: i64) -> i64 {
        let (mut i, mut rest, mut sum) = (0, index, 0);
        while i < self.shape.len() {
            sum += rest % self.shape[i] * self.stride[i];
            rest /= self.shape[i];
            i += 1;
        }
        sum
    }

    /// The shape and strides as a layout of `cute-algebra`, without the offset and the swizzle.
    ///
    /// # Errors
    /// None for a layout that a macro made.
    pub fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let shape = tree(self.profile, &mut self.shape.iter().copied());
        let mut leaves = self.stride.iter().copied().map(ScaledBasis::from);
        let stride = tree(self.profile, &mut leaves);
        cute_algebra::Layout::new(shape, stride)
    }

    /// This layout as a value of `cute-algebra`, with its swizzle and offset.
    ///
    /// # Errors
    /// None for a layout that a macro made.
    pub fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        let swizzle = cute_algebra::Swizzle::new(
            self.swizzle.bits(),
            self.swizzle.base(),
            self.swizzle.shift(),
        )?;
        ComposedLayout::new(swizzle, self.offset, self.to_layout()?)
    }
}

/// The tuple with this profile and these leaves, from left to right.
pub(super) fn tree<T>(profile: Profile, leaves: &mut dyn Iterator<Item = T>) -> Tuple<T> {
    if profile.is_leaf() {
        return leaves.next().map_or(Tuple::Node(Vec::new()), Tuple::Leaf);
    }
    let modes = core::iter::successors(profile.first(), |(_, end)| profile.after(*end));
    modes.map(|(mode, _)| tree(mode, leaves)).collect()
}

impl Layout {
    /// The fields to compare: `offsets` and `injective` follow from them, and a mode may lack these two.
    fn key(&self) -> (Profile, &[i64], &[i64], Swizzle, i64) {
        (
            self.profile,
            self.shape,
            self.stride,
            self.swizzle,
            self.offset,
        )
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// An order for sorted collections. It has no meaning for layouts as functions.
impl Ord for Layout {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Layout {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.swizzle.is_identity() || self.offset != 0 {
            write!(f, "{} o {} o ", self.swizzle, self.offset)?;
        }
        write_leaves(f, self.profile, self.shape)?;
        f.write_str(":")?;
        write_leaves(f, self.profile, self.stride)
    }
}

/// Writes the profile with a leaf in place of each `_`.
fn write_leaves(f: &mut fmt::Formatter<'_>, profile: Profile, leaves: &[i64]) -> fmt::Result {
    let mut texts = profile.as_str().split('_');
    f.write_str(texts.next().unwrap_or_default())?;
    texts
        .zip(leaves)
        .try_for_each(|(text, leaf)| write!(f, "{leaf}{text}"))
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
