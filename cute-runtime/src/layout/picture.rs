//! Pictures of layouts and swizzles that are constants.

use super::{CoordinateLayout, Layout, Swizzle};
use alloc::string::String;
use cute_algebra::{Picture, PictureError};

/// The values as a table of text, as CuTe's `print_layout` shows them.
///
/// # Errors
/// If it has more than [`PICTURE_LIMIT`](cute_algebra::PICTURE_LIMIT) cells.
/// ```
/// use cute_runtime::{layout, print_layout};
/// let table = print_layout(layout!((2,4):(1,3)))?;
/// assert_eq!(table, "\
/// (2,4):(1,3)
///        0    1    2    3\x20
///     +----+----+----+----+
///  0  |  0 |  3 |  6 |  9 |
///     +----+----+----+----+
///  1  |  1 |  4 |  7 | 10 |
///     +----+----+----+----+
/// ");
/// # Ok::<(), cute_runtime::PictureError>(())
/// ```
pub fn print_layout(layout: Layout) -> Result<String, PictureError> {
    match layout.swizzle().is_identity() && layout.offset() == 0 {
        true => cute_algebra::print_layout(layout.to_layout()?),
        false => cute_algebra::print_layout(layout.to_composed()?),
    }
}

impl Layout {
    /// A picture of the values, which can be coloured and rendered: see [`Picture::new`].
    /// ```
    /// use cute_runtime::{ColorBy, Layout, layout};
    /// const TILE: Layout = layout!(smem_atom(K, SW128, 16));
    /// let picture = TILE.to_picture()?.color_by(ColorBy::Bank { bits: 16 })?;
    /// assert!(picture.to_svg().contains("Sw&lt;3,3,3&gt; o (8,64):(64,1)"));
    /// # Ok::<(), cute_runtime::PictureError>(())
    /// ```
    pub fn to_picture(&self) -> Result<Picture, PictureError> {
        match self.swizzle().is_identity() && self.offset() == 0 {
            true => Picture::new(self.to_layout()?),
            false => Picture::new(self.to_composed()?),
        }
    }

    /// A picture of the values as SVG. The larger a value, the darker its cell.
    ///
    /// # Errors
    /// If it has more than [`PICTURE_LIMIT`](cute_algebra::PICTURE_LIMIT) cells.
    /// ```
    /// use cute_runtime::layout;
    /// let svg = layout!((4,8):(8,1)).to_svg()?;
    /// assert!(svg.starts_with("<svg"));
    /// # Ok::<(), cute_runtime::PictureError>(())
    /// ```
    pub fn to_svg(&self) -> Result<String, PictureError> {
        Ok(self.to_picture()?.to_svg())
    }
}

impl CoordinateLayout {
    /// A picture of the values, which are coordinates, as SVG.
    ///
    /// # Errors
    /// If it has more than [`PICTURE_LIMIT`](cute_algebra::PICTURE_LIMIT) cells.
    /// ```
    /// use cute_runtime::layout;
    /// let svg = layout!((4,5):(1@1,1@0)).to_svg()?;
    /// assert!(svg.contains("(4,3)"));
    /// # Ok::<(), cute_runtime::PictureError>(())
    /// ```
    pub fn to_svg(&self) -> Result<String, PictureError> {
        Ok(Picture::new(self.to_layout()?)?.to_svg())
    }
}

impl Swizzle {
    /// A picture of how the swizzle permutes units of `2^base` elements, as SVG: see [`Picture::new`].
    ///
    /// # Errors
    /// If it has more than [`PICTURE_LIMIT`](cute_algebra::PICTURE_LIMIT) cells.
    pub fn to_svg(self) -> Result<String, PictureError> {
        cute_algebra::Swizzle::new(self.bits(), self.base(), self.shift())?.to_svg()
    }
}
