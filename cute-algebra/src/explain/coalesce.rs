//! The steps of coalescing and filtering.

use super::{Step, behind, called, rules, tuple_of};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::stride::ScaledBasis;
use crate::tiler::Tiler;
use crate::tuple::{Shape, Tuple};
use crate::value::Value;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// Each mode goes on where the one before it ends, or stays apart.
pub(super) fn coalesce(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    by_profile(operands, &|part| rules(neighbours(part)))
}

/// Modes of stride 0 are cut down to one coordinate, which coalescing leaves out.
pub(super) fn filter(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    by_profile(operands, &|part| {
        let (filtered, result) = called("filter_zeros", &[part.into()], Overhang::Strict);
        let coalesced = result.map(|result| called("coalesce", &[result], Overhang::Strict).0);
        [filtered].into_iter().chain(coalesced).collect()
    })
}

pub(super) fn filter_zeros(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let (a, mut steps) = behind(operands.first())?;
    let zeros = modes(&a).filter(|mode| mode.stride().leaves().all(ScaledBasis::is_zero));
    steps.extend(rules([Rule::Once {
        modes: zeros.collect(),
    }]));
    Some(steps)
}

/// The rules by which a list of modes with more than one coordinate is merged: only those of modes that become one.
pub(super) fn joins(list: &[(i64, ScaledBasis)]) -> Vec<Step> {
    let rules = merge(list).into_iter();
    let joined = rules.filter(|rule| matches!(rule, Rule::Joined { .. }));
    joined.map(Step::Rule).collect()
}

fn neighbours(a: &Layout) -> Vec<Rule> {
    let is_single = |mode: &Layout| mode.size() == 1;
    let left_out: Vec<_> = modes(a).filter(is_single).collect();
    let mut list = a.flat_modes();
    list.retain(|(extent, _)| *extent != 1);
    let mut rules = Vec::new();
    if !left_out.is_empty() {
        rules.push(Rule::LeftOut { modes: left_out });
    }
    if let [(extent, stride)] = &list[..] {
        let mode = Layout::leaf(*extent, stride.clone());
        rules.push(Rule::Alone { mode });
    }
    rules.extend(merge(&list));
    rules
}

fn modes(a: &Layout) -> impl Iterator<Item = Layout> + use<> {
    let modes = a.flat_modes().into_iter();
    modes.map(|(extent, stride)| Layout::leaf(extent, stride))
}

/// A rule for each mode but the first, which is joined with those before it, or not.
fn merge(list: &[(i64, ScaledBasis)]) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut list = list.iter().cloned();
    let Some((mut extent, mut stride)) = list.next() else {
        return rules;
    };
    for (next, behind) in list {
        let (left, right) = (
            Layout::leaf(extent, stride.clone()),
            Layout::leaf(next, behind.clone()),
        );
        let end = stride.checked_mul(&extent);
        let joined = extent
            .checked_mul(next)
            .filter(|_| end.as_ref() == Some(&behind));
        match joined {
            Some(both) => {
                extent = both;
                let joined = Layout::leaf(extent, stride.clone());
                rules.push(Rule::Joined {
                    left,
                    right,
                    joined,
                });
            }
            None => {
                let end = end.map(|end| end.to_string());
                rules.extend(end.map(|end| Rule::Apart { left, right, end }));
                (extent, stride) = (next, behind);
            }
        }
    }
    rules
}

/// The steps of the first operand, or of each part of it at a leaf of the second one.
fn by_profile(operands: &[Value], steps: &dyn Fn(&Layout) -> Vec<Step>) -> Option<Vec<Step>> {
    let (a, mut list) = behind(operands.first())?;
    let profile = match operands.len() {
        1 => Tuple::Leaf(0),
        _ => tuple_of(operands.get(1))?,
    };
    list.extend(at_leaves(&a, &profile, steps));
    Some(list)
}

fn at_leaves(a: &Layout, profile: &Shape, steps: &dyn Fn(&Layout) -> Vec<Step>) -> Vec<Step> {
    let Tuple::Node(profiles) = profile else {
        return steps(a);
    };
    let parts = a.modes().into_iter().enumerate();
    let parts = parts.flat_map(|(mode, part)| {
        let inner = profiles
            .get(mode)
            .map(|profile| at_leaves(&part, profile, steps));
        let rule = match inner {
            Some(_) => Rule::Part { mode, part },
            None => Rule::ByMode {
                mode,
                tiler: Tiler::Keep,
            },
        };
        let rule = vec![Step::Rule(rule)].into_iter();
        rule.chain(inner.unwrap_or_default()).collect::<Vec<_>>()
    });
    parts.collect()
}
