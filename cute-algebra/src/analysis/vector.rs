//! How many elements can be moved at once, and what all indices are multiples of.

use crate::coalesce::coalesce;
use crate::common::gcd;
use crate::composed::ComposedLayout;
use crate::layout::Layout;

impl Layout {
    /// The largest v such that each v consecutive coordinates, from a multiple of v on, have v consecutive values, from
    /// a multiple of v on. 1 for a layout into a coordinate space.
    /// ```
    /// use cute_algebra::Layout;
    /// assert_eq!(Layout::new([4, 8], [1, 6])?.vector_width(), 2);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn vector_width(&self) -> i64 {
        let Ok(modes) = coalesce(self).integral_modes(0) else {
            return 1;
        };
        match modes.split_first() {
            // Where a vector ends inside the first mode, the next begins there.
            Some((&(extent, 1), rest)) => rest
                .iter()
                .fold(extent, |vector, (_, stride)| gcd(vector, *stride)),
            _ => 1,
        }
    }

    /// The largest number that divides all values; 0 where all are 0. Of a layout into a coordinate space, that divides
    /// all their components.
    /// ```
    /// use cute_algebra::Layout;
    /// assert_eq!(Layout::new([4, 8], [12, 16])?.alignment(), 4);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn alignment(&self) -> i64 {
        let modes = self.flat_modes();
        let moving = modes.iter().filter(|(extent, _)| *extent > 1);
        moving.fold(0, |divisor, (_, stride)| gcd(divisor, stride.value()))
    }
}

impl ComposedLayout {
    /// A v as [`Layout::vector_width`] has it: the largest but for what bits of the swizzle that lie too low for vectors
    /// might leave whole.
    /// ```
    /// use cute_algebra::{ComposedLayout, Layout, Swizzle};
    /// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, Layout::new([64, 8], [1, 64])?)?;
    /// assert_eq!(tile.vector_width(), 8);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn vector_width(&self) -> i64 {
        let vector = gcd(self.layout().vector_width(), self.offset());
        self.whole(vector)
    }

    /// A number that divides all values, the largest but for what a swizzle of low bits might leave aligned.
    pub fn alignment(&self) -> i64 {
        self.whole(gcd(self.layout().alignment(), self.offset()))
    }

    /// The part of a block that the swizzle moves as a whole, by a multiple of it.
    fn whole(&self, block: i64) -> i64 {
        let swizzle = self.swizzle();
        if swizzle.is_identity() {
            return block;
        }
        gcd(block, 1 << swizzle.base())
    }
}
