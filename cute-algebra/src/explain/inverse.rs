//! The steps of inverses, of null spaces, and of layouts that are common to two.

use super::coalesce::joins;
use super::{Step, behind, called, layout_of, rules};
use crate::alignment;
use crate::ascending::{ascending, steps as leaves};
use crate::composed::{ComposedLayout, conjugate};
use crate::domain::Numbers;
use crate::inverse::{Invert, along_chain, contiguous, contiguous_inverse, right_inverse};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;

/// R grows by the mode of A that has the next value, as long as there is one.
pub(super) fn right(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    if let Some(Value::Composed(swizzled)) = operands.first() {
        return right_of_swizzled(swizzled);
    }
    let a = layout_of(operands.first())?;
    let (contiguous, others) = contiguous(&Numbers, &a).ok()?;
    let mut list = rules(contiguous.iter().map(|step| Rule::Contiguous {
        mode: (step.extent, step.stride),
        weight: step.weight,
    }));
    let begin = contiguous.len();
    let modes = contiguous.into_iter();
    let modes = modes
        .map(|step| (step.extent, step.weight.into()))
        .collect();
    let modes = Numbers.prolong(&a, modes, &others);
    let mut reached = 1;
    for (i, (extent, stride)) in modes.iter().enumerate() {
        if i >= begin {
            list.extend(rules([Rule::Found {
                value: reached,
                coordinate: stride.value(),
                extent: *extent,
            }]));
        }
        reached *= extent;
    }
    list.extend(rules([Rule::Ends { stride: reached }]));
    list.extend(joins(&modes));
    Some(list)
}

fn right_of_swizzled(a: &ComposedLayout) -> Option<Vec<Step>> {
    let inverse = right_inverse(a.layout()).ok().filter(|_| a.offset() == 0)?;
    let swizzle = conjugate(&inverse, a.swizzle(), inverse.size()).ok()?;
    let (step, _) = called("right_inverse", &[a.layout().into()], Overhang::Strict);
    Some(vec![step, Step::Rule(Rule::Moved { swizzle })])
}

/// Each digit of a value with respect to the strides is the coordinate along a mode.
pub(super) fn left(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    if let Some(Value::Composed(swizzled)) = operands.first() {
        let inverse = swizzled.right_inverse().ok();
        inverse.filter(|inverse| inverse.size() == swizzled.size())?;
        return Some(vec![called("right_inverse", operands, Overhang::Strict).0]);
    }
    let a = layout_of(operands.first())?;
    let steps = ascending(&Numbers, &a).ok()?;
    let Some(first) = steps.first() else {
        let coalesced = called("coalesce", &[a.into()], Overhang::Strict).0;
        return Some(vec![Step::Rule(Rule::Constant), coalesced]);
    };
    let modes = steps
        .iter()
        .map(|step| (step.extent, step.stride))
        .collect();
    let mut list = rules([Rule::Ascending { modes }]);
    let Ok(mut modes) = along_chain(&mut Numbers, &steps) else {
        list.extend(rules([Rule::Searched]));
        return Some(list);
    };
    if first.stride > 1 {
        list.extend(rules([Rule::Below {
            stride: first.stride,
        }]));
    }
    for (i, step) in steps.iter().enumerate() {
        list.extend(rules([Rule::Digit {
            mode: (step.extent, step.stride),
            next: steps.get(i + 1).map(|next| next.stride),
            weight: step.weight,
        }]));
    }
    modes.retain(|(extent, _)| *extent != 1);
    list.extend(joins(&modes));
    Some(list)
}

/// The coordinates along modes of stride 0.
pub(super) fn nullspace(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let (a, _) = match operands.first() {
        Some(Value::Composed(composed)) if composed.offset() != 0 => return None,
        first => behind(first)?,
    };
    let still = leaves(&a).ok()?.into_iter().filter(|leaf| leaf.stride == 0);
    let mut still = still.peekable();
    if still.peek().is_none() {
        return Some(rules([Rule::Once { modes: Vec::new() }]));
    }
    Some(rules(still.map(|leaf| Rule::Null {
        mode: Layout::leaf(leaf.extent, leaf.stride),
        weight: leaf.weight,
    })))
}

/// The right inverses of both, as far as they agree.
pub(super) fn max_common_layout(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let [a, b] = operands else {
        return None;
    };
    let mut list = Vec::new();
    for value in [a, b] {
        let layout = layout_of(Some(value))?;
        // A right inverse of negative strides is longer than what is common.
        let contiguous = contiguous_inverse(&Numbers, &layout).ok()?;
        right_inverse(&layout)
            .ok()
            .filter(|inverse| *inverse == contiguous)?;
        list.push(called("right_inverse", &[layout.into()], Overhang::Strict).0);
    }
    let (a, b) = (layout_of(Some(a))?, layout_of(Some(b))?);
    let layout = alignment::max_common_layout(&a, &b).ok()?;
    list.extend(rules([Rule::Common { layout }]));
    Some(list)
}

pub(super) fn max_common_vector(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let (step, common) = called("max_common_layout", operands, Overhang::Strict);
    let size = common.map(|common| called("size", &[common], Overhang::Strict).0);
    Some([step].into_iter().chain(size).collect())
}
