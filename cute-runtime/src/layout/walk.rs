//! Iteration over the coordinates of a layout, without divisions. Coordinates past the edge of a tile are left out.
//!
//! An iteration consists of runs along one leaf. The length of a run is computed once, so that the loop over its elements only
//! adds a constant stride.

use super::{StaticTiling, Swizzle, Tiling};
use core::iter::once;
use core::marker::PhantomData;
use core::ops::Range;
use cute_algebra::{Axis, PROOF_LEAVES};

/// Consecutive coordinates along one leaf.
#[derive(Clone, Copy)]
pub(crate) struct Run<const N: usize> {
    /// Number of coordinates.
    pub(crate) len: i64,
    /// The first coordinate; for a tile, its coordinate in the tiled layout.
    pub(crate) coordinate: [i64; N],
    /// The value of the first coordinate, before the swizzle.
    pub(crate) linear: i64,
    /// The increments of the coordinate and of the value from one coordinate to the next.
    step: ([i64; N], i64),
}

impl<const N: usize> Run<N> {
    /// The values of the run, after the swizzle. The run must have one coordinate, or lie along the leaf that `contiguous` returned.
    #[inline]
    pub(crate) fn values(&self, swizzle: Swizzle) -> Range<i64> {
        let first = swizzle.apply(self.linear);
        first..first + self.len
    }

    /// Removes the first coordinate from the run, and returns it with its value before the swizzle.
    #[inline]
    fn take(&mut self) -> ([i64; N], i64) {
        let taken = (self.coordinate, self.linear);
        let (step, stride) = self.step;
        for (coordinate, step) in self.coordinate.iter_mut().zip(step) {
            *coordinate += step;
        }
        self.linear += stride;
        self.len -= 1;
        taken
    }
}

/// The leaves of a layout whose coordinates have `N` numbers.
pub(crate) trait Leaves<const N: usize> {
    /// An array with one number for each leaf.
    type Digits: AsMut<[i64]>;

    /// An array of zeros, one for each leaf.
    fn digits(&self) -> Self::Digits;

    /// The extents of the leaves.
    fn shape(&self) -> &[i64];

    /// The strides of the leaves.
    fn stride(&self) -> &[i64];

    /// The increment of the coordinate for a step along a leaf. No number of it is negative.
    fn step(&self, leaf: usize) -> [i64; N];

    /// The extents of the axes, if some coordinates reach past them and are to be left out.
    fn edge(&self) -> Option<[i64; N]>;
}

/// The leaf with the smallest absolute stride, of those with more than one element: its neighbours are nearest in memory.
pub(crate) const fn nearest(shape: &[i64], stride: &[i64]) -> Option<usize> {
    let (mut leaf, mut nearest, mut least) = (0, None, u64::MAX);
    while leaf < shape.len() {
        let distance = stride[leaf].unsigned_abs();
        if shape[leaf] > 1 && distance < least {
            (nearest, least) = (Some(leaf), distance);
        }
        leaf += 1;
    }
    nearest
}

/// The leaf along which values are consecutive; `None` if there is none.
pub(crate) const fn contiguous(shape: &[i64], stride: &[i64], swizzle: Swizzle) -> Option<usize> {
    match nearest(shape, stride) {
        Some(leaf) if stride[leaf] == 1 && swizzle.is_identity() => Some(leaf),
        _ => None,
    }
}

/// The runs of a layout along the leaf `along`, or runs of one coordinate each if `along` is `None`.
pub(crate) struct Runs<W: Leaves<N>, const N: usize> {
    walked: W,
    along: Option<usize>,
    left: i64,
    digits: W::Digits,
    next: Run<N>,
}

impl<W: Leaves<N>, const N: usize> Runs<W, N> {
    /// `coordinate` is the first coordinate, and `linear` its value before the swizzle.
    #[inline]
    pub(crate) fn new(walked: W, along: Option<usize>, coordinate: [i64; N], linear: i64) -> Self {
        let (mut len, mut step) = (1, ([0; N], 0));
        if let Some(leaf) = along {
            len = walked.shape()[leaf];
            step = (walked.step(leaf), walked.stride()[leaf]);
        }
        let size: i64 = walked.shape().iter().product();
        Self {
            along,
            left: size.checked_div(len).unwrap_or(0),
            digits: walked.digits(),
            next: Run {
                len,
                coordinate,
                linear,
                step,
            },
            walked,
        }
    }

    /// The number of coordinates of the next run inside the edge. They come first, since no number of a coordinate decreases along
    /// a leaf.
    #[inline]
    fn clipped(&self) -> i64 {
        let mut len = self.next.len;
        let Some(edge) = self.walked.edge() else {
            return len;
        };
        let (coordinates, steps) = (self.next.coordinate, self.next.step.0);
        for ((extent, coordinate), step) in edge.into_iter().zip(coordinates).zip(steps) {
            let room = extent.checked_sub(coordinate).unwrap_or(0);
            len = match step {
                _ if room <= 0 => 0,
                0 => len,
                1 => len.min(room),
                step => len.min((room - 1) / step + 1),
            };
        }
        len
    }

    /// Moves to the next run: increments the digits of the leaves other than `along`.
    #[inline]
    fn advance(&mut self) {
        let (shape, stride) = (self.walked.shape(), self.walked.stride());
        for leaf in (0..shape.len()).filter(|&leaf| Some(leaf) != self.along) {
            let digit = &mut self.digits.as_mut()[leaf];
            let is_last = *digit + 1 == shape[leaf];
            let steps = if is_last { -*digit } else { 1 };
            *digit += steps;
            self.next.linear += steps * stride[leaf];
            let step = self.walked.step(leaf);
            for (coordinate, step) in self.next.coordinate.iter_mut().zip(step) {
                *coordinate += steps * step;
            }
            if !is_last {
                return;
            }
        }
    }
}

impl<W: Leaves<N>, const N: usize> Iterator for Runs<W, N> {
    type Item = Run<N>;

    #[inline]
    fn next(&mut self) -> Option<Run<N>> {
        while self.left > 0 {
            let run = Run {
                len: self.clipped(),
                ..self.next
            };
            self.left -= 1;
            self.advance();
            if run.len > 0 {
                return Some(run);
            }
        }
        None
    }
}

/// The coordinates of all runs one after the other, with their values before the swizzle.
pub(crate) struct Walk<W: Leaves<N>, const N: usize> {
    run: Run<N>,
    runs: Runs<W, N>,
}

impl<W: Leaves<N>, const N: usize> Walk<W, N> {
    #[inline]
    pub(crate) fn new(runs: Runs<W, N>) -> Self {
        Self {
            run: Run {
                len: 0,
                ..runs.next
            },
            runs,
        }
    }
}

impl<W: Leaves<N>, const N: usize> Iterator for Walk<W, N> {
    type Item = ([i64; N], i64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.run.len == 0 {
            self.run = self.runs.next()?;
        }
        Some(self.run.take())
    }

    // `for_each`, `sum` and similar methods call `fold`. Its inner loop has no test for the end of the run at each element, unlike
    // `next`.
    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, first: A, mut f: F) -> A {
        once(self.run)
            .chain(self.runs)
            .fold(first, |mut a, mut run| {
                for _ in 0..run.len {
                    a = f(a, run.take());
                }
                a
            })
    }
}

/// A marker that is invariant in `T`: it is not converted to the marker of a subtype or supertype. Such types can have different
/// constants: `W<for<'a> fn(&'a ())>` is a subtype of `W<fn(&'static ())>`, and each can implement `StaticTiling` with another
/// tiling.
pub(crate) type Invariant<T> = PhantomData<fn(T) -> T>;

/// The leaves of a tile of the tiling `T`. Coordinates are those in the tiled layout.
pub(crate) struct Tile<T>(Invariant<T>);

impl<T: StaticTiling> Tile<T> {
    const TILING: &'static Tiling = &T::TILING;
    const AXES: &'static [Axis<'static>] = Self::TILING.axes();
    const SHAPE: &'static [i64] = Self::TILING.tile_leaves().0;
    const STRIDE: &'static [i64] = Self::TILING.tile_leaves().1;
    const FITS: () = assert!(
        Self::SHAPE.len() <= PROOF_LEAVES,
        "a tile must not have more than 64 leaves"
    );

    /// The coordinates of tile number `tile` in runs of consecutive values.
    ///
    /// # Panics
    /// If there is no such tile, or the tiling does not have `N` axes.
    #[track_caller]
    pub(crate) fn runs<const N: usize>(tile: i64) -> Runs<Self, N> {
        let along = const {
            let swizzle = Self::TILING.layout().swizzle();
            contiguous(Self::SHAPE, Self::STRIDE, swizzle)
        };
        Self::along(tile, along)
    }

    /// The coordinates of tile number `tile` with their values before the swizzle, along the leaf of the smallest stride first.
    ///
    /// # Panics
    /// If there is no such tile, or the tiling does not have `N` axes.
    #[track_caller]
    pub(crate) fn walk<const N: usize>(tile: i64) -> Walk<Self, N> {
        Walk::new(Self::along(
            tile,
            const { nearest(Self::SHAPE, Self::STRIDE) },
        ))
    }

    #[track_caller]
    fn along<const N: usize>(tile: i64, along: Option<usize>) -> Runs<Self, N> {
        const { Self::FITS };
        let first = Self::TILING.coordinate(0, tile);
        Runs::new(Tile(PhantomData), along, first, Self::TILING.first(tile))
    }
}

impl<T: StaticTiling, const N: usize> Leaves<N> for Tile<T> {
    type Digits = [i64; PROOF_LEAVES];

    #[inline]
    fn digits(&self) -> Self::Digits {
        [0; PROOF_LEAVES]
    }

    #[inline]
    fn shape(&self) -> &[i64] {
        Self::SHAPE
    }

    #[inline]
    fn stride(&self) -> &[i64] {
        Self::STRIDE
    }

    #[inline]
    fn step(&self, leaf: usize) -> [i64; N] {
        core::array::from_fn(|axis| Self::AXES[axis].strides[leaf])
    }

    #[inline]
    fn edge(&self) -> Option<[i64; N]> {
        let extents = || core::array::from_fn(|axis| Self::AXES[axis].extent);
        Self::TILING.is_ragged().then(extents)
    }
}
