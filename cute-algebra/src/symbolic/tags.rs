//! Regrouping by the operations on numbers.

use super::SymbolicError;
use super::layout::{Mode, SymbolicLayout, SymbolicTiler};
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::stride::Stride;
use crate::tiler::Tiler;

type Result<T> = std::result::Result<T, SymbolicError>;

/// Leaves that stand for themselves while a layout is regrouped.
///
/// A regrouping looks at no extent and no stride. So the operation on layouts of numbers does it, on a layout whose
/// strides are the numbers of the leaves.
#[derive(Default)]
pub(super) struct Tags {
    leaves: Vec<Mode>,
}

impl Tags {
    /// The layout of the numbers of its leaves, from 1 on; 0 is `1:0`.
    pub(super) fn tag(&mut self, layout: &SymbolicLayout) -> Result<Layout> {
        let stride: Stride = layout.tree().map(|mode| {
            self.leaves.push(mode.clone());
            (self.leaves.len() as i64).into()
        });
        Ok(Layout::new(layout.tree().map(|_| 1), stride)?)
    }

    pub(super) fn tag_tiler(&mut self, tiler: &SymbolicTiler) -> Result<Tiler> {
        Ok(match tiler {
            SymbolicTiler::Keep => Tiler::Keep,
            SymbolicTiler::Layout(layout) => Tiler::Layout(self.tag(layout)?),
            SymbolicTiler::Modes(tilers) => {
                let tilers = tilers.iter().map(|tiler| self.tag_tiler(tiler));
                Tiler::Modes(tilers.collect::<Result<_>>()?)
            }
        })
    }

    /// The leaves in the places of their numbers.
    pub(super) fn untag(&self, layout: &Layout) -> SymbolicLayout {
        SymbolicLayout::from_tree(layout.stride().map(|tag| {
            let number = usize::try_from(tag.value()).unwrap_or(0);
            let leaf = number.checked_sub(1).and_then(|i| self.leaves.get(i));
            leaf.cloned().unwrap_or_else(Mode::unit)
        }))
    }

    /// An operation on parts of a layout while it is regrouped.
    pub(super) fn on<'a>(
        &'a mut self,
        mut act: impl FnMut(&SymbolicLayout) -> Result<SymbolicLayout> + 'a,
    ) -> impl FnMut(&Layout) -> Result<Layout> + 'a {
        move |part| {
            let result = act(&self.untag(part))?;
            self.tag(&result)
        }
    }

    /// The same of two operands.
    pub(super) fn on_both<'a>(
        &'a mut self,
        mut act: impl FnMut(&SymbolicLayout, &SymbolicLayout) -> Result<SymbolicLayout> + 'a,
    ) -> impl FnMut(&Layout, &Layout) -> Result<Layout> + 'a {
        move |a, b| {
            let result = act(&self.untag(a), &self.untag(b))?;
            self.tag(&result)
        }
    }
}

/// The result of a regrouping of one layout.
pub(super) fn regrouped(
    layout: &SymbolicLayout,
    act: impl FnOnce(&Layout) -> std::result::Result<Layout, LayoutError>,
) -> Result<SymbolicLayout> {
    let mut tags = Tags::default();
    let tagged = tags.tag(layout)?;
    Ok(tags.untag(&act(&tagged)?))
}
