//! The names of the axes of a grid.

use crate::tuple::{Shape, Tuple};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// What runs down a grid, and what runs to the right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(super) struct Axes {
    /// `None` for a grid of one row, whose elements have a single coordinate.
    pub(super) down: Option<String>,
    pub(super) across: String,
}

impl Axes {
    pub(super) fn new(down: impl Into<String>, across: impl Into<String>) -> Self {
        Self {
            down: Some(down.into()),
            across: across.into(),
        }
    }

    /// The axes of a grid with coordinates of this shape: mode 0 runs down and the others to the right. They are row i and
    /// column j if each is one integer, and otherwise the modes with their shapes.
    pub(super) fn of(shape: &Shape) -> Self {
        match shape.modes() {
            [Tuple::Leaf(_), Tuple::Leaf(_)] => Self::new("row i", "column j"),
            [down, across] => Self::new(format!("mode 0 = {down}"), format!("mode 1 = {across}")),
            [down, across @ ..] if !across.is_empty() => Self::new(
                format!("mode 0 = {down}"),
                format!(
                    "modes 1 to {} = {}",
                    across.len(),
                    Tuple::Node(across.to_vec())
                ),
            ),
            [nested @ Tuple::Node(_)] => Self {
                down: None,
                across: format!("mode 0 = {nested}"),
            },
            _ => Self {
                down: None,
                across: "coordinate i".to_owned(),
            },
        }
    }

    /// The same axes of a grid that shows a tile.
    pub(super) fn of_tile(shape: &Shape) -> Self {
        let Self { down, across } = Self::of(shape);
        Self {
            down: down.map(|name| name + " of the tile"),
            across: across + " of the tile",
        }
    }
}
