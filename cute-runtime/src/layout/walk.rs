//! The coordinates of a tile one after the other, without a division, as far as they are on this side of the edge.
//!
//! A walk goes in runs along one leaf. Where a run ends is found once, so that what is done for each of its elements is a
//! loop with a constant stride.

use super::{StaticTiling, Tiling};
use cute_algebra::{Axis, PROOF_LEAVES};
use std::iter::once;
use std::marker::PhantomData;

/// Coordinates of a tile that differ along one leaf.
#[derive(Clone, Copy)]
pub(crate) struct Run<const N: usize> {
    /// How many there are.
    pub(crate) len: i64,
    /// The first one, in the whole.
    pub(crate) coordinate: [i64; N],
    /// Its value, before the swizzle.
    pub(crate) linear: i64,
    /// From one to the next.
    step: ([i64; N], i64),
}

impl<const N: usize> Run<N> {
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

/// The runs of a tile along one leaf, or of one coordinate each. The tiling is one that is proved to be disjoint, and so has
/// no more leaves than there are digits, and no coordinate that goes down.
pub(crate) struct Runs<T, const N: usize> {
    along: Option<usize>,
    left: i64,
    digits: [i64; PROOF_LEAVES],
    next: Run<N>,
    tiling: PhantomData<fn() -> T>,
}

impl<T: StaticTiling, const N: usize> Runs<T, N> {
    const TILING: &'static Tiling = &T::TILING;
    const AXES: &'static [Axis<'static>] = Self::TILING.axes();
    const SHAPE: &'static [i64] = Self::TILING.tile_leaves().0;
    const STRIDE: &'static [i64] = Self::TILING.tile_leaves().1;
    /// The leaf of the least stride, whose elements are nearest to each other.
    const NEAREST: Option<usize> = {
        let (mut leaf, mut nearest, mut least) = (0, None, u64::MAX);
        while leaf < Self::SHAPE.len() {
            let stride = Self::STRIDE[leaf].unsigned_abs();
            if Self::SHAPE[leaf] > 1 && stride < least {
                (nearest, least) = (Some(leaf), stride);
            }
            leaf += 1;
        }
        nearest
    };
    /// The leaf along which values follow one another.
    const CONTIGUOUS: Option<usize> = match Self::NEAREST {
        Some(leaf) if Self::STRIDE[leaf] == 1 && Self::TILING.layout().swizzle().is_identity() => {
            Some(leaf)
        }
        _ => None,
    };

    /// Runs whose values follow one another.
    ///
    /// # Panics
    /// If there is no such tile, or the tiler does not tell `N` modes apart.
    #[track_caller]
    pub(crate) fn contiguous(tile: i64) -> Self {
        Self::new(tile, Self::CONTIGUOUS)
    }

    #[track_caller]
    fn new(tile: i64, along: Option<usize>) -> Self {
        let coordinate = Self::TILING.coordinate(0, tile);
        let (mut step, mut stride) = ([0; N], 0);
        if let Some(leaf) = along {
            step = std::array::from_fn(|axis| Self::AXES[axis].strides[leaf]);
            stride = Self::STRIDE[leaf];
        }
        Self {
            along,
            left: Self::TILING.tile_size() / Self::extent(along),
            digits: [0; PROOF_LEAVES],
            next: Run {
                len: Self::extent(along),
                coordinate,
                linear: Self::TILING.first(tile),
                step: (step, stride),
            },
            tiling: PhantomData,
        }
    }

    const fn extent(along: Option<usize>) -> i64 {
        match along {
            Some(leaf) => Self::SHAPE[leaf],
            None => 1,
        }
    }

    /// How many coordinates of the next run are on this side of the edge: the first ones, as coordinates go up.
    #[inline]
    fn clipped(&self) -> i64 {
        let mut len = self.next.len;
        if !Self::TILING.is_ragged() {
            return len;
        }
        let (coordinates, steps) = (self.next.coordinate, self.next.step.0);
        for ((axis, coordinate), step) in Self::AXES.iter().zip(coordinates).zip(steps) {
            let room = axis.extent - coordinate;
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
        for leaf in (0..Self::SHAPE.len()).filter(|&leaf| Some(leaf) != self.along) {
            let digit = &mut self.digits[leaf];
            let is_last = *digit + 1 == Self::SHAPE[leaf];
            let steps = if is_last { -*digit } else { 1 };
            *digit += steps;
            self.next.linear += steps * Self::STRIDE[leaf];
            for (coordinate, axis) in self.next.coordinate.iter_mut().zip(Self::AXES) {
                *coordinate += steps * axis.strides[leaf];
            }
            if !is_last {
                return;
            }
        }
    }
}

impl<T: StaticTiling, const N: usize> Iterator for Runs<T, N> {
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

/// The coordinates of a tile with their values, by the leaf of the least stride first.
pub(crate) struct Walk<T, const N: usize> {
    run: Run<N>,
    runs: Runs<T, N>,
}

impl<T: StaticTiling, const N: usize> Walk<T, N> {
    /// # Panics
    /// If there is no such tile, or the tiler does not tell `N` modes apart.
    #[track_caller]
    pub(crate) fn new(tile: i64) -> Self {
        let runs = Runs::<T, N>::new(tile, Runs::<T, N>::NEAREST);
        Self {
            run: Run {
                len: 0,
                ..runs.next
            },
            runs,
        }
    }

    #[inline]
    fn value((coordinate, linear): ([i64; N], i64)) -> ([i64; N], i64) {
        let swizzle = const { T::TILING.layout().swizzle() };
        (coordinate, swizzle.apply(linear))
    }
}

impl<T: StaticTiling, const N: usize> Iterator for Walk<T, N> {
    type Item = ([i64; N], i64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.run.len == 0 {
            self.run = self.runs.next()?;
        }
        Some(Self::value(self.run.take()))
    }

    // What `for_each` and the like come down to: two loops, and no question between two elements of a run.
    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, first: A, mut f: F) -> A {
        once(self.run)
            .chain(self.runs)
            .fold(first, |mut a, mut run| {
                for _ in 0..run.len {
                    a = f(a, Self::value(run.take()));
                }
                a
            })
    }
}
