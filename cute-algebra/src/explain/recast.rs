//! The steps of a change of the elements' size.

use super::{Step, called};
use crate::overhang::Overhang;
use crate::recast::{Cast, recast_factor};
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;

/// The units are larger or smaller by a factor.
pub(super) fn recast(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    let [a, Value::Int(old), Value::Int(new)] = operands else {
        return None;
    };
    let (operation, factor) = match recast_factor(*old, *new).ok()? {
        Cast::Up(factor) => ("upcast", factor),
        Cast::Down(factor) => ("downcast", factor),
    };
    Some(vec![
        called(operation, &[a.clone(), factor.into()], overhang).0,
    ])
}
