//! Layouts with run-time integers whose values are coordinates.

use super::Profile;
use super::recipe::LayoutRecipe;
use super::value::tree;
use alloc::vec::Vec;
use core::fmt;
use cute_algebra::{IntTuple, LayoutError, ScaledBasis, Stride};

/// A layout with run-time extents or strides, and with coordinates of `N` integers as values.
///
/// `layout! { pub C = (m,n):(1@1,1@0); }` declares a type that implements this trait. `C::try_new(m, n)` builds a value, and
/// `offset` gives the value at a coordinate with one integer for each leaf. As an expression, `layout!` is a `Result` of such a
/// value.
/// ```
/// use cute_runtime::{DynamicCoordinateLayout, layout};
/// layout! { pub C = (m,(2,n)):(1@1,(1@0,2@0)); }
/// let c = C::try_new(4, 5)?;
/// assert_eq!((c.size(), c.at(6), c.offset((2, (1, 0)))), (40, [1, 2], [1, 2]));
/// assert_eq!(c.to_string(), "(4,(2,5)):(1@1,(1@0,2@0))");
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
pub trait DynamicCoordinateLayout<const N: usize>: Copy {
    /// How to check and compute the layout from its run-time integers. Expansions define it.
    #[doc(hidden)]
    const RECIPE: &'static CoordinateRecipe;

    /// How the modes nest.
    const PROFILE: Profile = Self::RECIPE.layout.profile;

    /// Number of top-level modes.
    const RANK: usize = Self::RECIPE.layout.profile.rank();

    /// The numbers that were computed when the layout was built, in the order of `RECIPE`. Expansions define it.
    #[doc(hidden)]
    fn numbers(&self) -> &[i64];

    /// Number of 1-D coordinates that the layout takes.
    fn size(&self) -> i64;

    /// The value at 1-D coordinate `coord`, which must not be negative. As in CuTe, it may exceed the size: the last mode then
    /// continues.
    fn index(&self, coord: i64) -> [i64; N];

    /// The value at 1-D coordinate `coord`.
    ///
    /// # Panics
    /// If `coord` is negative or not below the size.
    #[track_caller]
    fn at(&self, coord: i64) -> [i64; N] {
        assert!((0..self.size()).contains(&coord), "coordinate out of range");
        self.index(coord)
    }

    /// This layout as a value of `cute-algebra`.
    ///
    /// # Errors
    /// None for a value from `try_new` or `layout!`.
    fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let CoordinateRecipe { layout, axes } = Self::RECIPE;
        let mut extents = layout.shape.iter().map(|leaf| leaf.value(self.numbers()));
        let shape: IntTuple = tree(Self::PROFILE, &mut extents);
        let strides = layout.stride.iter().zip(*axes);
        let strides = strides.map(|(stride, &axis)| match stride.value(self.numbers()) {
            0 => Ok(0.into()),
            stride => ScaledBasis::new(stride, [axis]),
        });
        let mut strides = strides.collect::<Result<Vec<_>, _>>()?.into_iter();
        let stride: Stride = tree(Self::PROFILE, &mut strides);
        cute_algebra::Layout::new(shape, stride)
    }
}

/// For expansions: how to compute a layout whose values are coordinates from its run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinateRecipe {
    /// The layout, with the integer factor of each stride.
    pub layout: LayoutRecipe,
    /// For each leaf, which number of the value its stride runs along.
    pub axes: &'static [usize],
}

/// For expansions: writes the layout as text.
pub fn write_coordinates<const N: usize>(
    layout: &impl DynamicCoordinateLayout<N>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let layout = layout.to_layout().map_err(|_| fmt::Error)?;
    fmt::Display::fmt(&layout, f)
}
