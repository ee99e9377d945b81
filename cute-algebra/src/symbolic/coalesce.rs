//! Fewer modes for the same function: coalesce, filter.

use super::SymbolicError;
use super::chain::is_zero;
use super::layout::{Mode, SymbolicLayout};
use super::scope::Scope;
use super::tags::Tags;
use super::term::Term;
use crate::coalesce::by_profile;
use crate::error::Place;
use crate::tuple::Tuple;

impl SymbolicLayout {
    /// The fewest modes with the same values, whatever the run-time integers are.
    pub(crate) fn coalesce(&self) -> Self {
        Self::from_flat(merge(
            self.leaves().filter(|mode| !mode.is_single()).cloned(),
        ))
    }

    /// Extent 1 where the stride is 0.
    pub(crate) fn filter_zeros(&self, scope: &Scope) -> Result<Self, SymbolicError> {
        let leaves = self.leaves().zip(self.tree().leaf_paths());
        let leaves = leaves.map(|(mode, path)| {
            let mut mode = mode.clone();
            if is_zero(scope, &mode.stride, &Place::operand(0).mode(path).stride())? {
                mode.extent = Term::ONE;
            }
            Ok(Self::leaf(mode))
        });
        self.replace_leaves(leaves.collect::<Result<_, SymbolicError>>()?)
    }

    /// Does the same to the part at each leaf of a profile.
    pub(crate) fn by_profile<T>(
        &self,
        profile: Option<&Tuple<T>>,
        mut act: impl FnMut(&Self) -> Result<Self, SymbolicError>,
    ) -> Result<Self, SymbolicError> {
        let Some(profile) = profile else {
            return act(self);
        };
        let mut tags = Tags::default();
        let tagged = tags.tag(self)?;
        let result = by_profile(&tagged, &profile.map(|_| 1), &mut tags.on(act))?;
        Ok(tags.untag(&result))
    }
}

/// Joins neighbours `s:d, s':s*d`, wherever they come from in the same way.
pub(crate) fn merge(modes: impl IntoIterator<Item = Mode>) -> Vec<Mode> {
    let mut merged: Vec<Mode> = Vec::new();
    for mode in modes {
        if let Some(last) = merged.last_mut()
            && let Some(next) = last.stepped(&mode.extent, &last.extent)
            && next == mode
            && let Some(extent) = last.extent.checked_mul(&mode.extent)
        {
            last.extent = extent;
        } else {
            merged.push(mode);
        }
    }
    merged
}
