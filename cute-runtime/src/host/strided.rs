//! Layouts of axes: one extent and one stride for each mode, known when the program runs.

use std::fmt;

use cute_algebra::{ComposedLayout, LayoutError};

use super::HostError;
use super::layout::{HostLayout, modes, text};
use crate::{Profile, Swizzle};

/// A layout with `N` modes, each of one extent and one stride, like an array of another library. The element at coordinate `c` is
/// number `offset + c[0]·stride[0] + c[1]·stride[1] + …` of the slice. `N` is from 1 to 8.
/// ```
/// use cute_runtime::{HostTensor, Strided};
/// let data: Vec<i32> = (0..12).collect();
/// // The columns of three rows of four, the last column first.
/// let columns = HostTensor::new(&data, Strided::new([4, 3], [-1, 4], 3)?)?;
/// assert_eq!((columns[[0, 0]], columns[[3, 2]]), (3, 8));
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Strided<const N: usize> {
    shape: [i64; N],
    stride: [i64; N],
    offset: i64,
}

impl<const N: usize> Strided<N> {
    const PROFILE: Profile = match Profile::flat(N) {
        Some(profile) => profile,
        None => panic!("a strided layout has 1 to 8 modes"),
    };

    /// A layout with these extents and strides, in elements, whose coordinate 0 has the value `offset`.
    ///
    /// # Errors
    /// If an extent is not positive, or a value does not fit 64 bits ([`HostError::Layout`]).
    pub fn new(shape: [i64; N], stride: [i64; N], offset: i64) -> Result<Self, HostError> {
        const { assert!(Self::PROFILE.rank() == N) };
        let layout = Self {
            shape,
            stride,
            offset,
        };
        layout.composed()?;
        Ok(layout)
    }

    /// The same function of coordinates with one number for each mode that a layout has. A nested mode is an axis if its
    /// elements are one stride apart.
    /// ```
    /// use cute_runtime::{HostError, Strided, layout};
    /// let axes = Strided::<2>::of(&layout!(((2,3),4):((4,8),1)))?;
    /// assert_eq!(axes, Strided::new([6, 4], [4, 1], 0)?);
    ///
    /// let error = Strided::<2>::of(&layout!((4,(2,3)):(6,(3,1)))).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "mode 1 of (4,(2,3)):(6,(3,1)) is no axis, since its elements are not one stride apart"
    /// );
    /// # Ok::<(), HostError>(())
    /// ```
    ///
    /// # Errors
    /// If the layout does not have `N` modes ([`HostError::OtherRank`]), one of them takes more than one stride
    /// ([`HostError::NoAxis`]), the layout is swizzled ([`HostError::Swizzled`]), or it is a tile of a ragged tiling
    /// ([`HostError::Ragged`]).
    pub fn of(layout: &impl HostLayout) -> Result<Self, HostError> {
        let found = modes(layout).count();
        if found != N {
            return Err(HostError::OtherRank {
                layout: text(layout),
                modes: found,
                axes: N,
            });
        }
        if !layout.swizzle().is_identity() {
            return Err(HostError::Swizzled {
                layout: text(layout),
            });
        }
        if !layout.is_complete() {
            return Err(HostError::Ragged {
                layout: text(layout),
            });
        }
        let (mut shape, mut stride) = ([1; N], [0; N]);
        for (axis, (_, leaves)) in modes(layout).enumerate() {
            for (extent, step) in leaves.map(|leaf| layout.extent_and_stride(leaf)) {
                if shape[axis] == 1 {
                    stride[axis] = step;
                } else if extent != 1 && Some(step) != stride[axis].checked_mul(shape[axis]) {
                    return Err(HostError::NoAxis {
                        layout: text(layout),
                        mode: axis,
                    });
                }
                shape[axis] *= extent;
            }
        }
        Self::new(shape, stride, layout.offset())
    }

    /// The extent of each mode.
    pub const fn shape(&self) -> [i64; N] {
        self.shape
    }

    /// The stride of each mode, in elements.
    pub const fn stride(&self) -> [i64; N] {
        self.stride
    }

    /// The smallest value.
    #[cfg(any(feature = "ndarray", feature = "dlpack"))]
    pub(super) fn lowest(&self) -> i64 {
        let steps = self.shape.iter().zip(&self.stride);
        self.offset
            + steps
                .map(|(extent, stride)| (extent - 1) * stride.min(&0))
                .sum::<i64>()
    }

    /// The largest value.
    #[cfg(feature = "dlpack")]
    pub(super) fn highest(&self) -> i64 {
        let steps = self.shape.iter().zip(&self.stride);
        self.offset
            + steps
                .map(|(extent, stride)| (extent - 1) * stride.max(&0))
                .sum::<i64>()
    }
}

impl<const N: usize> HostLayout for Strided<N> {
    #[inline]
    fn profile(&self) -> Profile {
        Self::PROFILE
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        (self.shape[leaf], self.stride[leaf])
    }

    fn offset(&self) -> i64 {
        self.offset
    }

    fn swizzle(&self) -> Swizzle {
        Swizzle::IDENTITY
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        self.shape.iter().product()
    }

    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        if !(0..self.coordinates()).contains(&coord) {
            return None;
        }
        let (mut rest, mut value) = (coord, self.offset);
        for (extent, stride) in self.shape.iter().zip(&self.stride) {
            value += rest % extent * stride;
            rest /= extent;
        }
        Some(value)
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        let layout = cute_algebra::Layout::new(self.shape, self.stride)?;
        ComposedLayout::new(cute_algebra::Swizzle::IDENTITY, self.offset, layout)
    }
}

/// In the notation, with the offset as the algebra writes it.
impl<const N: usize> fmt::Display for Strided<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

impl<const N: usize> fmt::Debug for Strided<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
