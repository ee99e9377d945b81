//! Checks of coordinates while the kernel runs.

use crate::kernel::access::coordinate::number;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::report::Message;
use crate::kernel::value::types::element_of;
use crate::kernel::value::{Num, Scalar, Value};
use cute_algebra::Shape;
use syn::Result;

/// Ends the kernel unless the predicate holds, and tells the coordinate at which it would access a tensor, and the tensor's shape,
/// which `computed` gives: `x[(3, 70)] is outside of x of shape (4, 64)`.
pub(super) fn check(
    b: &mut Builder,
    holds: &Scalar,
    name: &str,
    computed: impl FnOnce(&mut Builder) -> Result<[Value; 2]>,
) -> Result<()> {
    let start = b.check_length()?;
    let [coordinate, shape] = computed(b)?;
    let instructions = b.split_off(start);
    let mut message = Message::default();
    message.text(&format!("{name}["));
    show(&mut message, &coordinate);
    message.text(&format!("] is outside of {name} of shape "));
    show(&mut message, &shape);
    b.check(holds, instructions, message);
    Ok(())
}

/// Checks a coordinate of what lies at byte `base` of shared memory and has this shape, in a checked kernel.
pub(crate) fn check_shared(
    b: &mut Builder,
    base: u32,
    shape: &Shape,
    coordinate: &Value,
) -> Result<()> {
    if !b.checked {
        return Ok(());
    }
    let mut open = Vec::new();
    unproven(b, shape, coordinate, &mut open)?;
    let mut holds = None;
    for (number, size) in &open {
        holds = Some(b.compare_and(Cmp::Lt, number, size, holds.as_ref())?);
    }
    let Some(holds) = holds else { return Ok(()) };
    let name = b.shared_name(base).unwrap_or("shared memory").to_owned();
    let shape = Value::Algebra(cute_algebra::Value::Tuple(shape.clone()));
    check(b, &holds, &name, |_| Ok([coordinate.clone(), shape]))?;
    for (number, size) in &open {
        b.assume_below(number, size);
    }
    Ok(())
}

/// The run-time integers of a coordinate that may be outside of their modes, with the sizes of these.
fn unproven(
    b: &mut Builder,
    mode: &Shape,
    coordinate: &Value,
    open: &mut Vec<(Num, Num)>,
) -> Result<()> {
    match coordinate {
        Value::Tuple(coordinates) => {
            for (mode, coordinate) in mode.modes().iter().zip(coordinates) {
                unproven(b, mode, coordinate, open)?;
            }
        }
        Value::Scalar(_) => {
            let number = number(b, coordinate)?;
            let size: i64 = mode.leaves().product();
            if !b.is_below_known(&number, size.into()) {
                open.push((number, Num::from(size)));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Appends a coordinate.
fn show(message: &mut Message, coordinate: &Value) {
    match coordinate {
        Value::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                message.text(if index == 0 { "(" } else { ", " });
                show(message, part);
            }
            message.text(")");
        }
        Value::Int(known, _) => message.text(&known.to_string()),
        Value::Algebra(known) => message.text(&known.to_string().replace(',', ", ")),
        Value::Scalar(scalar) if let Some(element) = element_of(scalar.ty) => {
            message.number(element, scalar.clone());
        }
        _ => message.text("_"),
    }
}
