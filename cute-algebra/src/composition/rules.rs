//! The rules that allow a composition of numbers, with their numbers.

use super::numbers::carry;
use super::{Leaf, Target, leaves_of, targets_of};
use crate::coalesce::coalesce;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::rule::Rule;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The rules in the order in which they are applied, up to the one that refuses.
pub(crate) fn rules(a: &Layout, b: &Layout, overhang: Overhang) -> Vec<Rule> {
    let leaves = leaves_of(b);
    let targets = targets_of(a, &leaves).unwrap_or_default();
    let mut rules = Vec::new();
    for target in &targets {
        target.rules(&leaves, overhang, &mut rules);
    }
    let moves = |i: &usize| targets.iter().any(|target| target.leaves.contains(i));
    let still = leaves.iter().enumerate().filter(|(i, _)| !moves(i));
    rules.extend(still.map(|(_, leaf)| Rule::Still { mode: leaf.mode() }));
    rules
}

impl Leaf<i64> {
    fn mode(&self) -> Layout {
        Layout::leaf(self.extent, self.stride.clone())
    }
}

impl Target<i64> {
    fn rules(&self, leaves: &[Leaf<i64>], overhang: Overhang, rules: &mut Vec<Rule>) {
        rules.push(Rule::Boundaries {
            layout: coalesce(&self.layout),
            boundaries: self.boundaries.clone(),
        });
        if overhang == Overhang::Strict {
            if self.check_domain(leaves).is_err() {
                return;
            }
            let reach = |leaf: &Leaf<i64>| (leaf.extent - 1) * leaf.stride.value();
            rules.push(Rule::Inside {
                reach: self.leaves(leaves).map(reach).sum(),
                size: self.layout.size(),
            });
        }
        let cuts: Vec<_> = self
            .leaves(leaves)
            .map_while(|leaf| self.cut(leaf).ok())
            .collect();
        if !self.boundaries.is_empty() {
            rules.extend(
                self.leaves(leaves)
                    .zip(&cuts)
                    .map(|(leaf, parts)| Rule::Cut {
                        mode: leaf.mode(),
                        parts: parts.clone(),
                    }),
            );
        }
        for &boundary in &self.boundaries {
            let reach = cuts
                .iter()
                .map(|parts| carry(parts, boundary))
                .sum::<i128>();
            if cuts.len() == self.leaves.len() && reach < i128::from(boundary) {
                let remainder =
                    |&(extent, stride): &(i64, i64)| (extent - 1, (stride % boundary).abs());
                let terms = cuts
                    .iter()
                    .flatten()
                    .map(remainder)
                    .filter(|term| term.1 != 0);
                rules.push(Rule::NoCarry {
                    boundary,
                    terms: terms.collect(),
                });
            }
        }
        match self.admit(leaves, overhang) {
            Ok(_) => {
                let image = |&(extent, stride): &(i64, i64)| {
                    let value = self.layout.extended(stride)?.to_string();
                    Some(Rule::Image {
                        extent,
                        stride,
                        value,
                    })
                };
                rules.extend(cuts.iter().flatten().filter_map(image));
            }
            Err(_) => rules.push(Rule::Compared {
                points: self.leaves(leaves).map(|leaf| leaf.extent).product(),
            }),
        }
    }
}
