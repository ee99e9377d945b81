//! Layouts whose leaves are known at run time, coordinate by coordinate.

use std::ops::Range;

use super::HostLayout;
use super::layout::{leaves, modes};
use crate::layout::{Leaves, Run, Runs, Walk, contiguous, nearest};

/// The values in the order of 1-D coordinates; `None` where there is no element.
pub(super) fn in_order<L: HostLayout>(layout: L) -> impl Iterator<Item = Option<i64>> {
    let swizzle = layout.swizzle();
    let leaves = Counted::<0>::of(&layout, |_, _| {});
    let along = leaves.leftmost();
    let walk = Walk::new(leaves.runs(along, layout.offset()));
    let elements = only_elements(layout, walk);
    elements.map(move |element| element.map(|(_, linear)| swizzle.apply(linear)))
}

/// What [`HostLayout::walk`] is.
#[track_caller]
pub(super) fn walk<L: HostLayout, const N: usize>(
    layout: L,
) -> impl Iterator<Item = ([i64; N], i64)> {
    let swizzle = layout.swizzle();
    let leaves = by_mode(&layout);
    let along = match layout.is_complete() {
        true => nearest(&leaves.shape, &leaves.stride),
        false => leaves.leftmost(),
    };
    let walk = Walk::new(leaves.runs(along, layout.offset()));
    let elements = only_elements(layout, walk).flatten();
    elements.map(move |(coordinate, linear)| (coordinate, swizzle.apply(linear)))
}

/// What [`HostLayout::runs`] is.
#[track_caller]
pub(super) fn runs<L: HostLayout, const N: usize>(
    layout: L,
) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
    let swizzle = layout.swizzle();
    let leaves = by_mode(&layout);
    let along = match layout.is_complete() {
        true => contiguous(&leaves.shape, &leaves.stride, swizzle),
        false => None,
    };
    let runs = only_elements(layout, leaves.runs(along, layout.offset())).flatten();
    runs.map(move |run: Run<N>| (run.coordinate, run.values(swizzle)))
}

/// `None` for what has no element, where the items are those of the 1-D coordinates in order; else all of them.
fn only_elements<L: HostLayout, I>(
    layout: L,
    items: impl Iterator<Item = I>,
) -> impl Iterator<Item = Option<I>> {
    let is_element =
        move |coord: usize| layout.is_complete() || layout.index(coord as i64).is_some();
    let items = items.enumerate();
    items.map(move |(coord, item)| is_element(coord).then_some(item))
}

/// The leaves of a layout, with how coordinates of `N` numbers go on along them.
struct Counted<const N: usize> {
    shape: Vec<i64>,
    stride: Vec<i64>,
    steps: Vec<[i64; N]>,
}

/// Coordinates have a number for each top-level mode.
#[track_caller]
fn by_mode<const N: usize>(layout: &impl HostLayout) -> Counted<N> {
    let rank = modes(layout).count();
    assert!(rank == N, "a coordinate has {rank} numbers, not {N}");
    Counted::of(layout, |shape, steps| {
        for (axis, (_, leaves)) in modes(layout).enumerate() {
            let mut weight = 1;
            for leaf in leaves {
                steps[leaf][axis] = weight;
                weight *= shape[leaf];
            }
        }
    })
}

impl<const N: usize> Counted<N> {
    fn of(layout: &impl HostLayout, count: impl FnOnce(&[i64], &mut [[i64; N]])) -> Self {
        let (shape, stride): (Vec<_>, Vec<_>) = leaves(layout).unzip();
        let mut steps = vec![[0; N]; shape.len()];
        count(&shape, &mut steps);
        Self {
            shape,
            stride,
            steps,
        }
    }

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
