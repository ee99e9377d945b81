//! From coordinate to coordinate of layouts whose leaves are known at run time.

use std::ops::Range;

use crate::Swizzle;
use crate::layout::{Leaves, Run, Runs, Walk, contiguous, nearest};

/// What a walk goes through: a layout, leaf by leaf.
pub(super) struct Walked<E> {
    pub(super) shape: Vec<i64>,
    pub(super) stride: Vec<i64>,
    /// The leaves of each top-level mode that coordinates have a number for.
    pub(super) modes: Vec<Range<usize>>,
    pub(super) offset: i64,
    pub(super) swizzle: Swizzle,
    /// Whether each 1-D coordinate has an element.
    pub(super) is_complete: bool,
    /// Whether a 1-D coordinate has an element.
    pub(super) is_element: E,
}

impl<E: Fn(i64) -> bool> Walked<E> {
    /// The values in the order of 1-D coordinates; `None` where there is no element.
    pub(super) fn in_order(self) -> impl Iterator<Item = Option<i64>> {
        let (offset, swizzle) = (self.offset, self.swizzle);
        let steps = vec![[]; self.shape.len()];
        let (leaves, elements) = self.split::<0>(steps);
        let along = leaves.leftmost();
        let walk = Walk::new(leaves.runs(along, offset));
        let values = elements.only(walk);
        values.map(move |element| element.map(|(_, linear)| swizzle.apply(linear)))
    }

    /// The coordinates with their values.
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

    /// The coordinates in runs along what is contiguous.
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

    /// How far a step along each leaf moves the coordinate, which has a number for each mode.
    #[track_caller]
    fn steps<const N: usize>(&self) -> Vec<[i64; N]> {
        let rank = self.modes.len();
        assert!(rank == N, "a coordinate has {rank} numbers, not {N}");
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
    /// `None` for what has no element, where the items are those of the 1-D coordinates in order; else all of them.
    fn only<I>(self, items: impl Iterator<Item = I>) -> impl Iterator<Item = Option<I>> {
        let items = items.enumerate();
        items.map(move |(coord, item)| {
            (self.is_complete || (self.is_element)(coord as i64)).then_some(item)
        })
    }
}

/// The leaves of a layout, with how coordinates of `N` numbers go on along them.
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
