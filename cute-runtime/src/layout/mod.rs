//! Layouts evaluated at compile time by the macros: `Copy` values over static tables, and types.

mod coordinate;
mod divisor;
mod dynamic;
mod dynamic_coordinate;
mod dynamic_tiling;
#[cfg(all(test, feature = "host"))]
mod forged;
mod picture;
mod profile;
mod recipe;
mod static_layout;
mod swizzle;
mod tiling;
mod value;
#[cfg(feature = "host")]
mod walk;

pub use coordinate::CoordinateLayout;
pub use dynamic::DynamicLayout;
pub use dynamic_coordinate::DynamicCoordinateLayout;
pub use dynamic_tiling::DynamicTiling;
pub use picture::print_layout;
pub use profile::Profile;
pub use recipe::LayoutCheck;
pub use static_layout::{DisjointTiling, StaticLayout, StaticTiling};
pub use swizzle::Swizzle;
pub use tiling::Tiling;
pub use value::Layout;
#[cfg(feature = "host")]
pub(crate) use walk::{Invariant, Leaves, Run, Runs, Tile, Walk, contiguous, nearest};

/// The items that expansions of the macros use.
pub(crate) mod private {
    pub use cute_algebra::Axis;

    pub use super::coordinate::coordinate_layout;
    pub use super::dynamic::write_dynamic;
    pub use super::dynamic_coordinate::{CoordinateRecipe, write_coordinates};
    pub use super::profile::profile;
    pub use super::recipe::{
        AtomOrigin, AxisRecipe, Condition, LayoutRecipe, Number, Numbers, Recipe, Term,
        TilingRecipe, capture,
    };
    pub use super::swizzle::swizzle;
    pub use super::tiling::tiling;
    pub use super::value::{injective, not_injective, swizzled, unproved};
}
