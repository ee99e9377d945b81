//! Fragments: values in registers.

use super::element::Element;
use super::num::{Num, Scalar};
use cute_algebra::{Layout, Shape, Tuple};
use cute_ptx::ast::Type;
use std::borrow::Cow;

/// Registers of this thread, or this thread's part of a tile that several threads hold together.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The type of its elements.
    pub element: Element,
    /// The registers. Elements of fewer than 32 bits share them, the first one lowest.
    pub registers: Vec<Scalar>,
    /// The values, in order.
    pub values: Vec<Held>,
    /// The tile that several threads hold; `None` for a fragment of one thread.
    pub tile: Option<Distributed>,
    /// The extents of the fragment, or of the tile that it is a part of.
    pub shape: Shape,
    /// Whether it is a `let mut` variable, which is assigned as a whole.
    pub is_variable: bool,
}

/// A value of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The index among the elements of the registers.
    pub slot: usize,
    /// The coordinate in the tile, relative to the coordinate of the thread. It is empty in a fragment of one thread.
    pub coordinate: Vec<i64>,
}

/// How threads are distributed over a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Distributed {
    /// For each mode of the tile, the layout from threads to coordinates.
    pub threads: Vec<Layout>,
    /// The coordinate of this thread.
    pub origin: Vec<Num>,
}

impl Distributed {
    /// The coordinate of a thread in a mode. The layouts of all modes have the same threads.
    pub fn start(&self, mode: usize, thread: i64) -> Result<i64, String> {
        let layout = &self.threads[mode];
        let found = layout.at(thread);
        found.ok_or_else(|| {
            format!("thread {thread} has no coordinate in mode {mode}, {layout} (a defect)")
        })
    }

    /// The largest coordinate of a thread in a mode, modulo `boundary`.
    pub fn reach(&self, mode: usize, boundary: i64) -> i64 {
        let coordinates = self.threads[mode].values();
        coordinates
            .map(|coordinate| coordinate % boundary)
            .max()
            .unwrap_or(0)
    }
}

/// How many elements share a register.
pub fn packing(element: Element) -> usize {
    (32 / element.bits() as usize).max(1)
}

/// The type of a fragment's registers.
pub fn word_type(element: Element) -> Type {
    match element.bits() {
        ..=16 => Type::B32,
        _ => Type::of(element),
    }
}

impl Fragment {
    /// The values at the coordinates of a layout, in order, without registers.
    pub fn of_one_thread(element: Element, layout: &Layout) -> Self {
        let slots = 0..usize::try_from(layout.size()).unwrap_or(0);
        let value = |slot| Held {
            slot,
            coordinate: Vec::new(),
        };
        Self {
            element,
            registers: Vec::new(),
            values: slots.map(value).collect(),
            tile: None,
            shape: layout.shape().clone(),
            is_variable: false,
        }
    }

    /// The fragment as a part of a tile with at least `rank` modes. The added modes come last and have extent 1. A layout into coordinates
    /// omits them: they have no strides.
    pub fn in_modes(&self, rank: usize) -> Cow<'_, Self> {
        let (Some(tile), missing) = (&self.tile, rank.saturating_sub(self.shape.rank())) else {
            return Cow::Borrowed(self);
        };
        let Some(threads) = tile.threads.first().filter(|_| missing > 0) else {
            return Cow::Borrowed(self);
        };
        let still = Layout::new(threads.size(), 0);
        let still = still.expect("as many threads as the layout of another mode has");
        let mut padded = self.clone();
        let shape = self.shape.leaves().copied().chain(vec![1; missing]);
        padded.shape = shape.map(Tuple::Leaf).collect();
        for held in &mut padded.values {
            held.coordinate.extend(vec![0; missing]);
        }
        padded.tile = Some(Distributed {
            threads: [&tile.threads[..], &vec![still; missing]].concat(),
            origin: [&tile.origin[..], &vec![Num::Const(0); missing]].concat(),
        });
        Cow::Owned(padded)
    }

    /// The register of a value, and the index of the value among the elements in the register.
    pub fn part(&self, value: usize) -> (Scalar, usize) {
        let (slot, packing) = (self.values[value].slot, packing(self.element));
        (self.registers[slot / packing].clone(), slot % packing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_begins_outside_of_the_tile() {
        let tile = Distributed {
            threads: vec![Layout::new(32, 2).unwrap()],
            origin: vec![Num::Const(0)],
        };
        assert_eq!(tile.start(0, 31), Ok(62));
        let error = tile.start(0, 32).unwrap_err();
        assert!(error.contains("a defect"), "{error}");
    }
}
