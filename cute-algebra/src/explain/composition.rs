//! The steps of compositions.

use super::{Step, behind, by_mode, called, layout_of, rules, tiler_of};
use crate::composed::{ComposedLayout, conjugate};
use crate::composition;
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::tiler::Others;
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn by_tiler(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    if let Some(Value::Composed(b)) = operands.get(1) {
        return before_swizzle(operands.first(), b, overhang);
    }
    let (a, mut steps) = behind(operands.first())?;
    let tiler = tiler_of(operands.get(1))?;
    steps.extend(by_mode(&a, &tiler, Others::Drop, &|a, b| {
        rules(composition::rules(a, b, overhang))
    }));
    Some(steps)
}

/// The composition with the compact layout of a shape.
pub(super) fn with_shape(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    let b = layout_of(operands.get(1))?;
    let operands = [operands.first()?.clone(), b.into()];
    Some(vec![called("composition", &operands, overhang).0])
}

/// The swizzle of B moves in front of A, and the layouts are composed.
fn before_swizzle(a: Option<&Value>, b: &ComposedLayout, overhang: Overhang) -> Option<Vec<Step>> {
    let (a, mut steps) = behind(a)?;
    let reach = b.cosize_bound().unwrap_or(i64::MAX);
    let swizzle = conjugate(&a, b.swizzle(), reach).ok()?;
    steps.extend(rules([Rule::Moved { swizzle }]));
    let operands = [a.into(), b.layout().into()];
    steps.push(called("composition", &operands, overhang).0);
    Some(steps)
}
