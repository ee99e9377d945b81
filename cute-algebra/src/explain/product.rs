//! The steps of products, and of blocks repeated over a shape.

use super::{Step, behind, by_mode, called, explanation_of, layout_of, rules, tiler_of, tuple_of};
use crate::ascending::ascending;
use crate::complement::{Chain, Gaps};
use crate::composition::{self, compose};
use crate::domain::Numbers;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::{pad, places, widened_copies};
use crate::rule::Rule;
use crate::tiler::Others;
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// For each part of the tiler, the places of the copies; then layout and copies in an order.
pub(super) fn by_tiler(operands: &[Value], order: &'static str) -> Option<Vec<Step>> {
    let (a, mut steps) = behind(operands.first())?;
    let tiler = tiler_of(operands.get(1))?;
    steps.extend(by_mode(&a, &tiler, Others::Keep, &copies));
    let parts = "layout and copies";
    steps.extend(rules([Rule::Arranged { parts, order }]));
    Some(steps)
}

/// The places of the copies; then the modes of A and of its copies in pairs.
pub(super) fn ranked(operands: &[Value], order: &'static str) -> Option<Vec<Step>> {
    let (a, mut steps) = behind(operands.first())?;
    let b = layout_of(operands.get(1))?;
    let rank = a.rank().max(b.rank());
    for (operand, layout) in [("A", &a), ("B", &b)] {
        steps.extend(padding(operand, layout, rank));
    }
    steps.extend(copies(&pad(&a, rank), &pad(&b, rank)));
    let parts = "the modes A0, … of A and B0, … of its copies";
    steps.extend(rules([Rule::Arranged { parts, order }]));
    Some(steps)
}

/// How many copies there are along each mode, the order of the copies, and the product.
pub(super) fn tile_to_shape(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    let (block, mut steps) = behind(operands.first())?;
    let shape = tuple_of(operands.get(1))?;
    if block.rank() > shape.rank() {
        return Some(steps);
    }
    steps.extend(padding("the block", &block, shape.rank()));
    let block = pad(&block, shape.rank());
    let mut counts = Vec::new();
    for (mode, (target, block)) in shape.modes().iter().zip(block.modes()).enumerate() {
        let (target, block) = (target.product()?, block.size());
        if target < 1 || overhang == Overhang::Strict && target % block != 0 {
            return Some(steps);
        }
        steps.extend(rules([Rule::Copies {
            mode,
            target,
            block,
        }]));
        counts.push(Tuple::Leaf((target - 1) / block + 1));
    }
    let counts: IntTuple = match shape {
        Tuple::Leaf(_) => counts.remove(0),
        Tuple::Node(_) => Tuple::Node(counts),
    };
    let by_mode = || {
        (0..counts.rank() as i64)
            .map(Tuple::Leaf)
            .collect::<IntTuple>()
    };
    let order = operands.get(2).cloned().unwrap_or_else(|| by_mode().into());
    let (step, grid) = called(
        "make_ordered_layout",
        &[counts.into(), order],
        Overhang::Strict,
    );
    steps.push(step);
    if let Some(grid) = grid {
        steps.push(called("blocked_product", &[block.into(), grid], Overhang::Strict).0);
    }
    Some(steps)
}

/// The atom, and the atom repeated.
pub(super) fn smem_tile_to_shape(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let (atom, rest) = operands.split_at_checked(3)?;
    let (step, atom) = called("smem_atom", atom, Overhang::Strict);
    let mut steps = vec![step];
    if let Some(atom) = atom {
        let operands = [&[atom], rest].concat();
        steps.push(called("tile_to_shape", &operands, Overhang::Strict).0);
    }
    Some(steps)
}

fn padding(operand: &'static str, layout: &Layout, rank: usize) -> Vec<Step> {
    let padded = pad(layout, rank);
    match padded == *layout {
        true => Vec::new(),
        false => rules([Rule::Padded { operand, padded }]),
    }
}

/// The free places of A, composed with B.
fn copies(a: &Layout, b: &Layout) -> Vec<Step> {
    let Ok(ascending) = ascending(&Numbers, a) else {
        return Vec::new();
    };
    let modes = ascending.iter().map(|step| (step.extent, step.stride));
    let modes = modes.collect();
    let mut list = rules([Rule::Ascending { modes }]);
    let mut last = (1, 1);
    for step in ascending {
        let (stride, previous) = (step.stride, last);
        if stride < previous.0 * previous.1 {
            return list;
        }
        list.extend(rules([Rule::Room { stride, previous }]));
        last = (step.extent, stride);
    }
    let count = b.span();
    let Some((count, free)) = count.and_then(|count| Some((count, places(a, count).ok()?))) else {
        return list;
    };
    list.extend(rules([Rule::Endless { last, count }]));
    let mut composed = (free, None);
    match compose(&mut Numbers, &composed.0, b, Overhang::Ragged) {
        Ok(copies) => composed.1 = Some(copies),
        Err(_) => {
            let chain = Chain::of(&mut Numbers, a, Gaps::Roomy).ok();
            let wide = chain.and_then(|chain| widened_copies(&mut Numbers, a, &chain, b, &count));
            if let Some([places, copies]) = wide {
                list.extend(rules([Rule::Widened {
                    places: places.clone(),
                }]));
                composed = (places, Some(copies));
            }
        }
    }
    let (places, copies) = composed;
    let found = composition::rules(&places, b, Overhang::Ragged);
    let operands = [places.to_string(), b.to_string()];
    list.push(explanation_of(
        "composition",
        operands,
        found,
        copies.as_ref(),
    ));
    list
}
