//! The coordinates of a layout one after the other, without a division; of a tile, as far as they are on this side of the edge.
//!
//! A walk goes in runs along one leaf. Where a run ends is found once, so that what is done for each of its elements is a
//! loop with a constant stride.

use super::{Invariant, StaticTiling, Swizzle, Tiling};
use cute_algebra::{Axis, PROOF_LEAVES};
use std::iter::once;
use std::marker::PhantomData;
use std::ops::Range;

/// Coordinates that differ along one leaf.
#[derive(Clone, Copy)]
pub(crate) struct Run<const N: usize> {
    /// How many there are.
    pub(crate) len: i64,
    /// The first one; of a tile, in the whole.
    pub(crate) coordinate: [i64; N],
    /// Its value, before the swizzle.
    pub(crate) linear: i64,
    /// From one to the next.
    step: ([i64; N], i64),
}

impl<const N: usize> Run<N> {
    /// The values of a run along which they follow one another, or of one coordinate.
    #[inline]
    pub(crate) fn values(&self, swizzle: Swizzle) -> Range<i64> {
        let first = swizzle.apply(self.linear);
        first..first + self.len
    }

    /// The first coordinate and its value before the swizzle; the run goes on at the next one.
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

/// What is walked.
pub(crate) trait Leaves<const N: usize> {
    /// A number for each leaf.
    type Digits: AsMut<[i64]>;

    /// Zeros.
    fn digits(&self) -> Self::Digits;

    /// The extents of the leaves.
    fn shape(&self) -> &[i64];

    /// Their strides.
    fn stride(&self) -> &[i64];

    /// How the coordinate goes on along a leaf: never down.
    fn step(&self, leaf: usize) -> [i64; N];

    /// What coordinates stay below, where not all of them do.
    fn edge(&self) -> Option<[i64; N]>;
}

/// The leaf of the least stride, whose elements are nearest to each other.
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

/// The leaf along which values follow one another.
pub(crate) const fn contiguous(shape: &[i64], stride: &[i64], swizzle: Swizzle) -> Option<usize> {
    match nearest(shape, stride) {
        Some(leaf) if stride[leaf] == 1 && swizzle.is_identity() => Some(leaf),
        _ => None,
    }
}

/// The runs of a layout along one leaf, or of one coordinate each.
pub(crate) struct Runs<W: Leaves<N>, const N: usize> {
    walked: W,
    along: Option<usize>,
    left: i64,
    digits: W::Digits,
    next: Run<N>,
}

impl<W: Leaves<N>, const N: usize> Runs<W, N> {
    /// From the coordinate whose digits are all 0, and its value before the swizzle.
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

    /// How many coordinates of the next run are on this side of the edge: the first ones, as coordinates go up.
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

    /// To the next run, by the other leaves.
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

/// The coordinates of runs, with their values before the swizzle.
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

    // What `for_each` and the like come down to: two loops, and no question between two elements of a run.
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

/// The leaves of the tiles of a tiling, and the coordinates in the whole.
pub(crate) struct Tile<T>(Invariant<T>);

impl<T: StaticTiling> Tile<T> {
    const TILING: &'static Tiling = &T::TILING;
    const AXES: &'static [Axis<'static>] = Self::TILING.axes();
    const SHAPE: &'static [i64] = Self::TILING.tile_leaves().0;
    const STRIDE: &'static [i64] = Self::TILING.tile_leaves().1;
    const FITS: () = assert!(
        Self::SHAPE.len() <= PROOF_LEAVES,
        "a tile has too many leaves to be walked"
    );

    /// Runs whose values follow one another.
    ///
    /// # Panics
    /// If there is no such tile, or the tiler does not tell `N` modes apart.
    #[track_caller]
    pub(crate) fn runs<const N: usize>(tile: i64) -> Runs<Self, N> {
        let along = const {
            let swizzle = Self::TILING.layout().swizzle();
            contiguous(Self::SHAPE, Self::STRIDE, swizzle)
        };
        Self::along(tile, along)
    }

    /// The coordinates with their values before the swizzle, by the leaf of the least stride first.
    ///
    /// # Panics
    /// If there is no such tile, or the tiler does not tell `N` modes apart.
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
        std::array::from_fn(|axis| Self::AXES[axis].strides[leaf])
    }

    #[inline]
    fn edge(&self) -> Option<[i64; N]> {
        let extents = || std::array::from_fn(|axis| Self::AXES[axis].extent);
        Self::TILING.is_ragged().then(extents)
    }
}
