//! Layouts with run-time integers: checked once, when they are built.

use super::Profile;
use super::recipe::{LayoutRecipe, Number};
use super::value::tree;
use cute_algebra::{ComposedLayout, IntTuple, LayoutError};
use std::fmt;

/// A layout of which some extents or strides are known at run time only.
///
/// `layout! { pub L = (m,n):(1,m); }` declares a type that implements it, with `L::try_new(m, n)`, which makes the checks
/// that are left over at expansion, and `offset`, which takes a coordinate with one integer for each leaf. As an
/// expression, `layout!((m,n):(1,m))` takes the variables `m` and `n` and is a `Result` of such a value.
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
    /// What expansions fill in.
    #[doc(hidden)]
    const RECIPE: &'static LayoutRecipe;

    /// How the leaves nest.
    const PROFILE: Profile = Self::RECIPE.profile;

    /// Number of top-level modes.
    const RANK: usize = Self::RECIPE.profile.rank();

    /// What expansions fill in.
    #[doc(hidden)]
    fn numbers(&self) -> &[i64];

    /// Number of coordinates.
    fn size(&self) -> i64;

    /// The span of the values: one more than the sum of `(extent - 1) * |stride|`.
    fn cosize(&self) -> i64;

    /// The value at 1-D coordinate `coord`, which is not negative; like CuTe's, it does not ask whether that is below the size.
    ///
    /// No division is made: the reciprocals of the extents are computed when the layout is built.
    fn index(&self, coord: i64) -> i64;

    /// The value at 1-D coordinate `coord`.
    ///
    /// # Panics
    /// If `coord` is not below the size.
    #[track_caller]
    fn at(&self, coord: i64) -> i64 {
        assert!((0..self.size()).contains(&coord), "coordinate out of range");
        self.index(coord)
    }

    /// Extent and stride of a leaf.
    ///
    /// # Panics
    /// If there is no such leaf.
    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        let [extent, stride] =
            [Self::RECIPE.shape, Self::RECIPE.stride].map(|side| side[leaf].value(self.numbers()));
        (extent, stride)
    }

    /// What is added to the values, before the swizzle.
    #[inline]
    fn base(&self) -> i64 {
        Self::RECIPE.offset.value(self.numbers())
    }

    /// The same layout in the algebra, with its swizzle and offset.
    ///
    /// # Errors
    /// Never for a value that was built.
    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        let swizzle = Self::RECIPE.swizzle;
        let swizzle = cute_algebra::Swizzle::new(swizzle.bits(), swizzle.base(), swizzle.shift())?;
        ComposedLayout::new(swizzle, self.base(), self.to_layout()?)
    }

    /// The same layout in the algebra, before the offset and the swizzle.
    ///
    /// # Errors
    /// Never for a value that was built.
    fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let side = |leaves: &[Number]| {
            let mut leaves = leaves.iter().map(|leaf| leaf.value(self.numbers()));
            tree(Self::PROFILE, &mut leaves)
        };
        let stride: IntTuple = side(Self::RECIPE.stride);
        cute_algebra::Layout::new(side(Self::RECIPE.shape), &stride)
    }
}

/// For expansions: the layout as text.
pub fn write_dynamic<L: DynamicLayout>(layout: &L, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let composed = layout.to_composed().map_err(|_| fmt::Error)?;
    match composed.as_layout() {
        Some(layout) => fmt::Display::fmt(layout, f),
        None => fmt::Display::fmt(&composed, f),
    }
}
