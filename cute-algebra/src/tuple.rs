//! Nested tuples, CuTe's IntTuples: shapes, strides and coordinates.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::{Integer, Leaf};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The greatest depth of a tuple. All recursion in this crate is over tuples, so this bounds the stack.
pub const MAX_DEPTH: usize = 32;

/// The largest number of leaves of a tuple. The time of composition and complement grows at worst with its cube.
pub const MAX_LEAVES: usize = 1024;

/// A leaf, or a tuple of such trees. `24` and `(24)` differ: both have rank 1, but depth 0 and 1.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tuple<T> {
    /// A single element, without parentheses.
    Leaf(T),
    /// A tuple in parentheses; it may be empty.
    Node(Vec<Tuple<T>>),
}

/// A nested tuple of integers: CuTe's `IntTuple`.
pub type IntTuple = Tuple<i64>;

/// The extents of a layout, each at least 1.
pub type Shape = Tuple<i64>;

/// A coordinate. A leaf `None` is written `_` and selects the whole mode.
pub type Coord = Tuple<Option<i64>>;

impl<T> Tuple<T> {
    /// Number of top-level modes; a leaf has one.
    pub fn rank(&self) -> usize {
        match self {
            Tuple::Leaf(_) => 1,
            Tuple::Node(modes) => modes.len(),
        }
    }

    /// How deep the tuple is nested: 0 for a leaf, 1 for a flat tuple.
    pub fn depth(&self) -> usize {
        let mut depth = 0;
        // A list of pending nodes instead of recursion, since `check_limits` calls this on trees of any depth.
        let mut pending = vec![(self, 0)];
        while let Some((tuple, level)) = pending.pop() {
            depth = depth.max(level);
            if let Tuple::Node(modes) = tuple {
                depth = depth.max(level + 1);
                pending.extend(modes.iter().map(|mode| (mode, level + 1)));
            }
        }
        depth
    }

    /// Whether this is a leaf: an element without parentheses.
    pub fn is_leaf(&self) -> bool {
        matches!(self, Tuple::Leaf(_))
    }

    /// The top-level modes; a leaf is its own only mode.
    pub fn modes(&self) -> &[Tuple<T>] {
        match self {
            Tuple::Leaf(_) => core::slice::from_ref(self),
            Tuple::Node(modes) => modes,
        }
    }

    /// The subtree at `path`, whose indices count from 0; `None` if there is none. Index 0 of a leaf is the leaf.
    pub fn get(&self, path: &[usize]) -> Option<&Tuple<T>> {
        path.iter().try_fold(self, |tuple, &i| tuple.modes().get(i))
    }

    /// The leaves from left to right.
    pub fn leaves(&self) -> impl Iterator<Item = &T> {
        let mut pending = vec![self];
        core::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    Tuple::Leaf(leaf) => return Some(leaf),
                    Tuple::Node(modes) => pending.extend(modes.iter().rev()),
                }
            }
        })
    }

    /// The number of leaves at all depths.
    pub fn leaf_count(&self) -> usize {
        self.leaves().count()
    }

    /// The paths of the leaves from left to right.
    pub(crate) fn leaf_paths(&self) -> Vec<Vec<usize>> {
        let mut paths = Vec::new();
        let mut pending = vec![(self, Vec::new())];
        while let Some((tuple, path)) = pending.pop() {
            match tuple {
                Tuple::Leaf(_) => paths.push(path),
                Tuple::Node(modes) => {
                    let children = modes
                        .iter()
                        .enumerate()
                        .map(|(i, mode)| (mode, [&path[..], &[i]].concat()));
                    pending.extend(children.rev());
                }
            }
        }
        paths
    }

    /// The same tree with each leaf replaced by another.
    pub fn map<U>(&self, mut leaf: impl FnMut(&T) -> U) -> Tuple<U> {
        self.map_dyn(&mut leaf)
    }

    fn map_dyn<U>(&self, leaf: &mut dyn FnMut(&T) -> U) -> Tuple<U> {
        match self {
            Tuple::Leaf(value) => Tuple::Leaf(leaf(value)),
            Tuple::Node(modes) => {
                Tuple::Node(modes.iter().map(|mode| mode.map_dyn(leaf)).collect())
            }
        }
    }

    /// The same tree with each leaf replaced by another, or the first error.
    pub(crate) fn try_map<U, E>(
        &self,
        mut leaf: impl FnMut(&T) -> Result<U, E>,
    ) -> Result<Tuple<U>, E> {
        self.try_map_dyn(&mut leaf)
    }

    fn try_map_dyn<U, E>(&self, leaf: &mut dyn FnMut(&T) -> Result<U, E>) -> Result<Tuple<U>, E> {
        Ok(match self {
            Tuple::Leaf(value) => Tuple::Leaf(leaf(value)?),
            Tuple::Node(modes) => {
                let modes = modes.iter().map(|mode| mode.try_map_dyn(leaf));
                Tuple::Node(modes.collect::<Result<_, _>>()?)
            }
        })
    }

    /// The same tree with each leaf replaced by a whole tree.
    pub fn expand<U>(&self, mut leaf: impl FnMut(&T) -> Tuple<U>) -> Tuple<U> {
        self.expand_dyn(&mut leaf)
    }

    fn expand_dyn<U>(&self, leaf: &mut dyn FnMut(&T) -> Tuple<U>) -> Tuple<U> {
        match self {
            Tuple::Leaf(value) => leaf(value),
            Tuple::Node(modes) => {
                Tuple::Node(modes.iter().map(|mode| mode.expand_dyn(leaf)).collect())
            }
        }
    }

    /// Whether both trees are nested in the same way. The leaves do not matter.
    pub fn is_congruent<U>(&self, other: &Tuple<U>) -> bool {
        match (self, other) {
            (Tuple::Leaf(_), Tuple::Leaf(_)) => true,
            (Tuple::Node(a), Tuple::Node(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_congruent(b))
            }
            _ => false,
        }
    }

    /// An error for trees that are nested deeper than [`MAX_DEPTH`] or have more than [`MAX_LEAVES`] leaves.
    pub(crate) fn check_limits(&self) -> Result<(), LayoutError> {
        let depth = self.depth();
        if depth > MAX_DEPTH {
            return Err(ErrorKind::TooDeep {
                depth,
                limit: MAX_DEPTH,
            }
            .at(Place::default()));
        }
        let leaves = self.leaf_count();
        if leaves > MAX_LEAVES {
            return Err(ErrorKind::TooManyLeaves {
                leaves,
                limit: MAX_LEAVES,
            }
            .at(Place::default()));
        }
        Ok(())
    }
}

impl<I: Integer> Tuple<I> {
    /// The product of the leaves; 1 for `()`. `None` where it does not fit 64 bits.
    pub fn product(&self) -> Option<I> {
        self.leaves()
            .try_fold(I::ONE, |product, leaf| product.times(leaf))
    }
}

impl<T: Clone> Tuple<T> {
    /// The coordinate of this one point, without any `_`.
    pub fn to_coord(&self) -> Tuple<Option<T>> {
        self.map(|leaf| Some(leaf.clone()))
    }
}

impl<T: Clone> Tuple<Option<T>> {
    /// The integers; `None` if a leaf is `_`.
    pub fn to_int_tuple(&self) -> Option<Tuple<T>> {
        self.try_map(|leaf| leaf.clone().ok_or(())).ok()
    }
}

impl<T> From<T> for Tuple<T> {
    fn from(leaf: T) -> Self {
        Tuple::Leaf(leaf)
    }
}

impl<T, const N: usize> From<[T; N]> for Tuple<T> {
    fn from(leaves: [T; N]) -> Self {
        leaves.into_iter().map(Tuple::Leaf).collect()
    }
}

impl<T> FromIterator<Tuple<T>> for Tuple<T> {
    fn from_iter<I: IntoIterator<Item = Tuple<T>>>(modes: I) -> Self {
        Tuple::Node(modes.into_iter().collect())
    }
}

/// Writes a tree in the form `(a,(b,c))`. `leaf` writes the leaves.
fn write_tuple<T>(
    f: &mut fmt::Formatter<'_>,
    tuple: &Tuple<T>,
    leaf: &dyn Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    match tuple {
        Tuple::Leaf(value) => leaf(value, f),
        Tuple::Node(modes) => {
            f.write_str("(")?;
            for (i, mode) in modes.iter().enumerate() {
                if i > 0 {
                    f.write_str(",")?;
                }
                write_tuple(f, mode, leaf)?;
            }
            f.write_str(")")
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Tuple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self, &|leaf, f| leaf.fmt(f))
    }
}

impl<T: Leaf> fmt::Display for Tuple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self, &|leaf, f| leaf.fmt_leaf(f))
    }
}

impl<T: Leaf> Leaf for Option<T> {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(index) => index.fmt_leaf(f),
            None => f.write_str("_"),
        }
    }
}
