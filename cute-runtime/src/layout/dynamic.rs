//! Layouts with run-time integers, which are checked once, when they are built.

use super::Profile;
use super::recipe::{LayoutRecipe, Number};
use super::value::tree;
use core::fmt;
use cute_algebra::{ComposedLayout, IntTuple, LayoutError};

/// A layout with extents or strides that are known only at run time.
///
/// `layout! { pub L = (m,n):(1,m); }` declares a type that implements this trait. `L::try_new(m, n)` checks the conditions that
/// are undecided at compile time, and builds a value. `offset` gives the value at a coordinate with one integer for each leaf.
/// The expression `layout!((m,n):(1,m))` takes the variables `m` and `n` and is a `Result` of such a value.
/// ```
/// use cute_runtime::{DynamicLayout, layout};
/// layout! {
///     where m % 64 == 0, m >= 64;
///     pub L = (m,(4,k)):(1,(m,4*m));
/// }
/// let l = L::try_new(128, 3)?;
/// assert_eq!((l.m(), l.size(), l.cosize()), (128, 1536, 1536));
/// assert_eq!(l.offset((5, (1, 2))), 5 + 128 + 2 * 512);
/// assert_eq!(l.index(1000), 1000);
///
/// let refused = L::try_new(100, 3).unwrap_err();
/// assert_eq!(refused.to_string(), "`m % 64 == 0` does not hold for m = 100, k = 3");
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
pub trait DynamicLayout: Copy {
    /// How to check and compute the layout from its run-time integers. Expansions define it.
    #[doc(hidden)]
    const RECIPE: &'static LayoutRecipe;

    /// How the modes nest.
    const PROFILE: Profile = Self::RECIPE.profile;

    /// Number of top-level modes.
    const RANK: usize = Self::RECIPE.profile.rank();

    /// The numbers that were computed when the layout was built, in the order of `RECIPE`. Expansions define it.
    #[doc(hidden)]
    fn numbers(&self) -> &[i64];

    /// Number of coordinates.
    fn size(&self) -> i64;

    /// An upper bound of the cosize: 1 + the sum of `(extent - 1) * |stride|` over the leaves + the offset, rounded up to the
    /// blocks that the swizzle permutes. The cosize is the number of contiguous elements that hold index 0 and all values.
    ///
    /// Without a swizzle and an offset, the bound is the cosize, and the type also has a function `cosize`.
    fn cosize_bound(&self) -> i64;

    /// The value at 1-D coordinate `coord`, which must not be negative. As in CuTe, it may exceed the size: the last mode then
    /// continues.
    ///
    /// This takes no division instruction: the reciprocals of the extents are computed when the layout is built.
    fn index(&self, coord: i64) -> i64;

    /// The value at 1-D coordinate `coord`.
    ///
    /// # Panics
    /// If `coord` is negative or not below the size.
    #[track_caller]
    fn at(&self, coord: i64) -> i64 {
        assert!((0..self.size()).contains(&coord), "coordinate out of range");
        self.index(coord)
    }

    /// Extent and stride of leaf number `leaf`, counted from left to right.
    ///
    /// # Panics
    /// If there is no such leaf.
    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        let [extent, stride] =
            [Self::RECIPE.shape, Self::RECIPE.stride].map(|side| side[leaf].value(self.numbers()));
        (extent, stride)
    }

    /// The constant that is added to every value, before the swizzle.
    #[inline]
    fn base(&self) -> i64 {
        Self::RECIPE.offset.value(self.numbers())
    }

    /// This layout as a value of `cute-algebra`, with its swizzle and offset.
    ///
    /// # Errors
    /// None for a value from `try_new` or `layout!`.
    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        let swizzle = Self::RECIPE.swizzle;
        let swizzle = cute_algebra::Swizzle::new(swizzle.bits(), swizzle.base(), swizzle.shift())?;
        ComposedLayout::new(swizzle, self.base(), self.to_layout()?)
    }

    /// The shape and strides as a layout of `cute-algebra`, without the offset and the swizzle.
    ///
    /// # Errors
    /// None for a value from `try_new` or `layout!`.
    fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let side = |leaves: &[Number]| {
            let mut leaves = leaves.iter().map(|leaf| leaf.value(self.numbers()));
            tree(Self::PROFILE, &mut leaves)
        };
        let stride: IntTuple = side(Self::RECIPE.stride);
        cute_algebra::Layout::new(side(Self::RECIPE.shape), &stride)
    }
}

/// For expansions: writes the layout as text.
pub fn write_dynamic<L: DynamicLayout>(layout: &L, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let composed = layout.to_composed().map_err(|_| fmt::Error)?;
    match composed.as_layout() {
        Some(layout) => fmt::Display::fmt(layout, f),
        None => fmt::Display::fmt(&composed, f),
    }
}
