//! Tilings of layouts with run-time integers.

use super::dynamic::DynamicLayout;
use super::recipe::TilingRecipe;
use alloc::vec;
use alloc::vec::Vec;
use cute_algebra::LayoutError;

/// A layout with run-time integers, divided into tiles: mode 0 is the tile, and mode 1, the rest, counts the tiles. Every
/// coordinate is in exactly one tile.
///
/// `tile! { pub T = L / tiler; }` declares a type that implements this trait, and `T::try_new` builds a value from the
/// integers. As an expression, `tile!` is a `Result` of such a value. Axes are as in a [`Tiling`](crate::Tiling).
/// ```
/// use cute_runtime::{DynamicTiling, tile};
/// tile! { pub T = ragged (m,n):(n,1) / <4,32>; }
/// let tiles = T::try_new(10, 64)?;
/// assert_eq!((tiles.tile_size(), tiles.rest_size(), tiles.is_ragged()), (128, 6, true));
/// // Rows 9 and 10 of column 0: elements 1 and 2 of the third tile.
/// assert_eq!((tiles.get(1, 2), tiles.get(2, 2)), (Some(9 * 64), None));
/// assert_eq!(tiles.coordinate(1, 2), [9, 0]);
/// assert_eq!(tiles.elements::<2>(5).last(), Some(([9, 63], 9 * 64 + 63)));
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
/// With `mut` before the name, `try_new` also checks that no two tiles share an element:
/// ```
/// use cute_runtime::tile;
/// tile! { mut T = (m,n):(1,d) / <4,_>; }
/// assert!(T::try_new(8, 4, 8).is_ok());
/// let refused = T::try_new(8, 4, 6).unwrap_err();
/// assert_eq!(refused.to_string(), "`no two tiles share an element` does not hold for m = 8, n = 4, d = 6");
/// ```
pub trait DynamicTiling: DynamicLayout {
    /// The tiles' part of `RECIPE`.
    #[doc(hidden)]
    const TILES: TilingRecipe = match Self::RECIPE.tiles {
        Some(tiles) => tiles,
        None => panic!("this layout was not made by `tile!`"),
    };

    /// Number of coordinates of a tile.
    #[inline]
    fn tile_size(&self) -> i64 {
        (0..Self::TILES.tile_leaves)
            .map(|leaf| self.leaf(leaf).0)
            .product()
    }

    /// Number of tiles.
    #[inline]
    fn rest_size(&self) -> i64 {
        let leaves = Self::TILES.tile_leaves..Self::RECIPE.shape.len();
        leaves.map(|leaf| self.leaf(leaf).0).product()
    }

    /// The layout of the first tile, as a value of `cute-algebra`, without the offset and the swizzle.
    ///
    /// # Errors
    /// None for a value from `try_new` or `tile!`.
    fn tile(&self) -> Result<cute_algebra::Layout, LayoutError> {
        cute_algebra::get(&self.to_layout()?, &[0])
    }

    /// The layout from the number of a tile to the place of its first element, as a value of `cute-algebra`, without the offset
    /// and the swizzle.
    ///
    /// # Errors
    /// None for a value from `try_new` or `tile!`.
    fn rest(&self) -> Result<cute_algebra::Layout, LayoutError> {
        cute_algebra::get(&self.to_layout()?, &[1])
    }

    /// The value at 1-D coordinate `within` of tile number `tile`; `None` out of range and past the edge.
    #[inline]
    fn get(&self, within: i64, tile: i64) -> Option<i64> {
        self.contains(within, tile).then(|| {
            let linear = sum(self, within, tile, |leaf| self.leaf(leaf).1);
            Self::RECIPE.swizzle.apply(self.base() + linear)
        })
    }

    /// Whether 1-D coordinate `within` of tile number `tile` is in range and not past the edge.
    #[inline]
    fn contains(&self, within: i64, tile: i64) -> bool {
        (0..self.tile_size()).contains(&within)
            && (0..self.rest_size()).contains(&tile)
            && Self::TILES.axes.iter().all(|axis| {
                let steps = |leaf: usize| axis.strides[leaf].value(self.numbers());
                sum(self, within, tile, steps) < axis.extent.value(self.numbers())
            })
    }

    /// The place of 1-D coordinate `within` of tile number `tile` in the tiled layout, as one number for each axis. Past the
    /// edge, at least one number is not below the extent of its axis.
    ///
    /// # Panics
    /// If the tiling does not have `N` axes.
    #[inline]
    #[track_caller]
    fn coordinate<const N: usize>(&self, within: i64, tile: i64) -> [i64; N] {
        let axes = Self::TILES.axes;
        assert!(axes.len() == N, "the tiling does not have N axes");
        core::array::from_fn(|axis| {
            let steps = |leaf: usize| axes[axis].strides[leaf].value(self.numbers());
            sum(self, within, tile, steps)
        })
    }

    /// Whether a tile reaches past the edge.
    fn is_ragged(&self) -> bool {
        Self::TILES.axes.iter().any(|axis| {
            let last = axis
                .strides
                .iter()
                .enumerate()
                .map(|(leaf, stride)| (self.leaf(leaf).0 - 1) * stride.value(self.numbers()));
            last.sum::<i64>() >= axis.extent.value(self.numbers())
        })
    }

    /// The coordinates of a tile in 1-D order, each as the coordinate in the tiled layout and the value. Coordinates past the
    /// edge are left out.
    ///
    /// # Panics
    /// If the tiling does not have `N` axes.
    #[track_caller]
    fn elements<const N: usize>(&self, tile: i64) -> impl Iterator<Item = ([i64; N], i64)> {
        let tiling = *self;
        let first: [i64; N] = self.coordinate(0, tile);
        let start = self.base() + sum(self, 0, tile, |leaf| self.leaf(leaf).1);
        let inside = (0..self.rest_size()).contains(&tile);
        let count = if inside { self.tile_size() } else { 0 };
        let walk = Walk {
            tiling,
            left: count,
            digits: vec![0; Self::TILES.tile_leaves],
            coordinate: first,
            linear: start,
        };
        walk.filter_map(move |(coordinate, linear)| {
            let mut pairs = coordinate.iter().zip(Self::TILES.axes);
            let inside = pairs.all(|(&along, axis)| along < axis.extent.value(tiling.numbers()));
            inside.then(|| (coordinate, Self::RECIPE.swizzle.apply(linear)))
        })
    }
}

/// Splits both 1-D coordinates into one digit for each leaf, and sums up each digit times `step` of its leaf.
#[inline]
fn sum<T: DynamicTiling>(tiling: &T, within: i64, tile: i64, step: impl Fn(usize) -> i64) -> i64 {
    let (mut sum, mut rest) = (0, within);
    for leaf in 0..T::RECIPE.shape.len() {
        if leaf == T::TILES.tile_leaves {
            rest = tile;
        }
        let extent = tiling.leaf(leaf).0;
        sum += rest % extent * step(leaf);
        rest /= extent;
    }
    sum
}

/// The coordinates of a tile with their values before the swizzle, in 1-D order. Each step adds to the one before, so that
/// no division is needed.
struct Walk<T, const N: usize> {
    tiling: T,
    left: i64,
    digits: Vec<i64>,
    coordinate: [i64; N],
    linear: i64,
}

impl<T: DynamicTiling, const N: usize> Iterator for Walk<T, N> {
    type Item = ([i64; N], i64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1).filter(|&left| left >= 0)?;
        let item = (self.coordinate, self.linear);
        for (leaf, digit) in self.digits.iter_mut().enumerate() {
            let (extent, stride) = self.tiling.leaf(leaf);
            let is_last = *digit + 1 == extent;
            let steps = if is_last { -*digit } else { 1 };
            *digit += steps;
            self.linear += steps * stride;
            for (along, axis) in self.coordinate.iter_mut().zip(T::TILES.axes) {
                *along += steps * axis.strides[leaf].value(self.tiling.numbers());
            }
            if !is_last {
                break;
            }
        }
        Some(item)
    }
}
