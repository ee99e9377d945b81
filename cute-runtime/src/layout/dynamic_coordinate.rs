//! Layouts with run-time integers into a coordinate space.

use super::Profile;
use super::recipe::LayoutRecipe;
use super::value::tree;
use cute_algebra::{IntTuple, LayoutError, ScaledBasis, Stride};
use std::fmt;

/// A layout of which some extents are known at run time only, and whose values are coordinates of `N` integers.
///
/// `layout! { pub C = (m,n):(1@1,1@0); }` declares a type that implements it, with `C::try_new(m, n)`, and `offset`, which takes a
/// coordinate with one integer for each leaf. As an expression, `layout!` is a `Result` of such a value.
/// ```
/// use cute_runtime::{DynamicCoordinateLayout, layout};
/// layout! { pub C = (m,(2,n)):(1@1,(1@0,2@0)); }
/// let c = C::try_new(4, 5)?;
/// assert_eq!((c.size(), c.at(6), c.offset((2, (1, 0)))), (40, [1, 2], [1, 2]));
/// assert_eq!(c.to_string(), "(4,(2,5)):(1@1,(1@0,2@0))");
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
pub trait DynamicCoordinateLayout<const N: usize>: Copy {
    /// What expansions fill in.
    #[doc(hidden)]
    const RECIPE: &'static CoordinateRecipe;

    /// How the leaves nest.
    const PROFILE: Profile = Self::RECIPE.layout.profile;

    /// Number of top-level modes.
    const RANK: usize = Self::RECIPE.layout.profile.rank();

    /// What expansions fill in.
    #[doc(hidden)]
    fn numbers(&self) -> &[i64];

    /// Number of coordinates of the domain.
    fn size(&self) -> i64;

    /// The value at 1-D coordinate `coord`, which is not negative; like CuTe's, it does not ask whether that is below the size.
    fn index(&self, coord: i64) -> [i64; N];

    /// The value at 1-D coordinate `coord`.
    ///
    /// # Panics
    /// If `coord` is not below the size.
    #[track_caller]
    fn at(&self, coord: i64) -> [i64; N] {
        assert!((0..self.size()).contains(&coord), "coordinate out of range");
        self.index(coord)
    }

    /// The same layout in the algebra.
    ///
    /// # Errors
    /// Never for a value that was built.
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

/// For expansions: how a layout into coordinates comes from its run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinateRecipe {
    /// The layout, its strides without the coordinates that they run along.
    pub layout: LayoutRecipe,
    /// Which coordinate each leaf runs along.
    pub axes: &'static [usize],
}

/// For expansions: the layout as text.
pub fn write_coordinates<const N: usize>(
    layout: &impl DynamicCoordinateLayout<N>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let layout = layout.to_layout().map_err(|_| fmt::Error)?;
    fmt::Display::fmt(&layout, f)
}
