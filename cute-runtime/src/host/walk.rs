//! Iteration over the coordinates of a layout whose leaves are known only at run time.

use std::ops::Range;

use crate::Swizzle;
use crate::layout::{Leaves, Run, Runs, Walk, contiguous, nearest};

/// A layout to iterate over, by its leaves.
pub(super) struct Walked<E> {
    pub(super) shape: Vec<i64>,
    pub(super) stride: Vec<i64>,
    /// The leaves of each top-level mode. Modes that a slice fixes are left out, since coordinates have no number for them.
    pub(super) modes: Vec<Range<usize>>,
    pub(super) offset: i64,
    pub(super) swizzle: Swizzle,
    /// Whether every 1-D coordinate has an element.
    pub(super) is_complete: bool,
    /// Tells whether a given 1-D coordinate has an element; called only if `is_complete` is false.
    pub(super) is_element: E,
}

impl<E: Fn(i64) -> bool> Walked<E> {
    /// The values in the order of 1-D coordinates, with `None` for a coordinate without an element.
    pub(super) fn in_order(self) -> impl Iterator<Item = Option<i64>> {
        let (offset, swizzle) = (self.offset, self.swizzle);
        let steps = vec![[]; self.shape.len()];
        let (leaves, elements) = self.split::<0>(steps);
        let along = leaves.leftmost();
        let walk = Walk::new(leaves.runs(along, offset));
        let values = elements.only(walk);
        values.map(move |element| element.map(|(_, linear)| swizzle.apply(linear)))
    }

    /// The coordinates with their values, along the mode of the smallest stride first if every coordinate has an element.
    #[track_caller]
    pub(super) fn walk<const N: usize>(self) -> impl Iterator<Item = ([i64; N], i64)> {
        let (offset, swizzle) = (self.offset, self.swizzle);
        let steps = self.steps();
        let (leaves, elements) = self.split(steps);
        let along = match elements.is_complete {
            true => nearest(&leaves.shape, &leaves.stride),
            false => leaves.leftmost(),
        };
        let walk = Walk::new(leaves.runs(along, offset));
        let values = elements.only(walk).flatten();
        values.map(move |(coordinate, linear)| (coordinate, swizzle.apply(linear)))
    }

    /// The coordinates in runs whose values are consecutive: the first coordinate of each run, and its values.
    #[track_caller]
    pub(super) fn runs<const N: usize>(self) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
        let (offset, swizzle) = (self.offset, self.swizzle);
        let steps = self.steps();
        let (leaves, elements) = self.split(steps);
        let along = match elements.is_complete {
            true => contiguous(&leaves.shape, &leaves.stride, swizzle),
            false => None,
        };
        let runs = elements.only(leaves.runs(along, offset)).flatten();
        runs.map(move |run: Run<N>| (run.coordinate, run.values(swizzle)))
    }

    /// For each leaf, how much one step along it adds to the coordinate, which has one number for each of `modes`.
    #[track_caller]
    fn steps<const N: usize>(&self) -> Vec<[i64; N]> {
        let rank = self.modes.len();
        assert!(
            rank == N,
            "coordinates of this layout have {rank} numbers, not {N}"
        );
        let mut steps = vec![[0; N]; self.shape.len()];
        for (axis, leaves) in self.modes.iter().enumerate() {
            let mut weight = 1;
            for leaf in leaves.clone() {
                steps[leaf][axis] = weight;
                weight *= self.shape[leaf];
            }
        }
        steps
    }

    fn split<const N: usize>(self, steps: Vec<[i64; N]>) -> (Counted<N>, Elements<E>) {
        let leaves = Counted {
            shape: self.shape,
            stride: self.stride,
            steps,
        };
        let elements = Elements {
            is_complete: self.is_complete,
            is_element: self.is_element,
        };
        (leaves, elements)
    }
}

/// Which 1-D coordinates have an element.
struct Elements<E> {
    is_complete: bool,
    is_element: E,
}

impl<E: Fn(i64) -> bool> Elements<E> {
    /// Replaces each item whose coordinate has no element by `None`. Unless every coordinate has an element, item `i` must
    /// be that of 1-D coordinate `i`.
    fn only<I>(self, items: impl Iterator<Item = I>) -> impl Iterator<Item = Option<I>> {
        let items = items.enumerate();
        items.map(move |(coord, item)| {
            (self.is_complete || (self.is_element)(coord as i64)).then_some(item)
        })
    }
}

/// The leaves of a layout, with what one step along each adds to a coordinate of `N` numbers.
struct Counted<const N: usize> {
    shape: Vec<i64>,
    stride: Vec<i64>,
    steps: Vec<[i64; N]>,
}

impl<const N: usize> Counted<N> {
    fn leftmost(&self) -> Option<usize> {
        (!self.shape.is_empty()).then_some(0)
    }

    fn runs(self, along: Option<usize>, offset: i64) -> Runs<Self, N> {
        Runs::new(self, along, [0; N], offset)
    }
}

impl<const N: usize> Leaves<N> for Counted<N> {
    type Digits = Vec<i64>;

    fn digits(&self) -> Vec<i64> {
        vec![0; self.shape.len()]
    }

    #[inline]
    fn shape(&self) -> &[i64] {
        &self.shape
    }

    #[inline]
    fn stride(&self) -> &[i64] {
        &self.stride
    }

    #[inline]
    fn step(&self, leaf: usize) -> [i64; N] {
        self.steps[leaf]
    }

    #[inline]
    fn edge(&self) -> Option<[i64; N]> {
        None
    }
}
