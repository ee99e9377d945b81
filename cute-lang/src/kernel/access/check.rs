//! Checks of coordinates while the kernel runs.

use crate::kernel::access::coordinate::number;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::report::Message;
use crate::kernel::value::types::element_of;
use crate::kernel::value::{Num, Scalar, Value};
use cute_algebra::Shape;
use syn::Result;

/// Ends the kernel unless the predicate holds. `computed` gives the coordinate and the shape for the message: `x[(3, 70)] is outside of x
/// of shape (4, 64)`.
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

/// In a checked kernel, checks a coordinate of the tensor of this shape at byte `base` of shared memory.
pub(crate) fn check_shared(
    b: &mut Builder,
    base: u32,
    shape: &Shape,
    coordinate: &Value,
) -> Result<()> {
    if !b.checked {
        return Ok(());
    }
    let open = unproven(b, shape, coordinate)?;
    let name = b
        .notes
        .shared_name(base)
        .unwrap_or("shared memory")
        .to_owned();
    check_inside(b, &open, shape, coordinate, &name)
}

/// Requires that a coordinate is inside of this shape, where no access follows at once, such as the index of a thread. If there is no
/// proof, a checked kernel checks it at run time; in another kernel it is an error.
pub(crate) fn require_inside(
    b: &mut Builder,
    what: &str,
    shape: &Shape,
    coordinate: &Value,
) -> Result<()> {
    let open = unproven(b, shape, coordinate)?;
    let Some((index, Num::Const(size))) = open.first() else {
        return Ok(());
    };
    if b.checked {
        return check_inside(b, &open, shape, coordinate, what);
    }
    let changing = b.changing("it", index, &size.to_string());
    let remedy = changing.unwrap_or_else(|| "put it under a condition by which it is".into());
    Err(b.error(format!(
        "nothing proves that this index is below {size}, the number of {what}: {remedy}, or let \
         the kernel check it when it runs, `#[kernel(…, checked)]`"
    )))
}

/// Checks the open integers of a coordinate, as [`unproven`] gives them, at run time.
pub(super) fn check_inside(
    b: &mut Builder,
    open: &[(Num, Num)],
    shape: &Shape,
    coordinate: &Value,
    name: &str,
) -> Result<()> {
    let mut holds = None;
    for (number, size) in open {
        holds = Some(b.compare_and(Cmp::Lt, number, size, holds.as_ref())?);
    }
    let Some(holds) = holds else { return Ok(()) };
    let shape = Value::Algebra(cute_algebra::Value::Tuple(shape.clone()));
    check(b, &holds, name, |_| Ok([coordinate.clone(), shape]))?;
    for (number, size) in open {
        b.known.assume_below(number, size);
    }
    Ok(())
}

/// The run-time integers of a coordinate that may be outside of their modes, with the sizes of these modes.
pub(super) fn unproven(
    b: &mut Builder,
    mode: &Shape,
    coordinate: &Value,
) -> Result<Vec<(Num, Num)>> {
    let mut open = Vec::new();
    match coordinate {
        Value::Tuple(coordinates) => {
            for (mode, coordinate) in mode.modes().iter().zip(coordinates) {
                open.extend(unproven(b, mode, coordinate)?);
            }
        }
        Value::Scalar(_) => {
            let number = number(b, coordinate)?;
            let size: i64 = mode.leaves().product();
            if !b.known.is_below_known(&number, size.into()) {
                open.push((number, Num::from(size)));
            }
        }
        _ => {}
    }
    Ok(open)
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
