//! The values of a fragment that are outside of a tensor, and the places of a thread's values.

use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::vector::WIDEST;
use crate::kernel::builtins::copy::vector::vectorise;
use crate::kernel::builtins::index::element_register;
use crate::kernel::emit::builder::{Builder, unless, when};
use crate::kernel::value::{Num, NumberType, Value};
use cute_ptx::ast::Type;
use syn::Result;

/// Gives the values at coordinates outside of a tile's tensor one number.
pub(super) fn fill_outside(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(fragment) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let Value::Global(tile) = &call.args[1].value else {
        return Err(call.mismatch(1, "a tile of global memory"));
    };
    b.set_place(call.args[2].span);
    let number = element_register(b, fragment.element, &call.args[2].value)?;
    b.set_place(call.span);
    let part = Part::of_values(b, tile, fragment)?;
    let mut inside = part.inside(b);
    let Some(all) = inside.all(b)? else {
        return Ok(Value::Unit);
    };
    let done = b.label("inside");
    b.branch_if(when(&all), &done);
    // Values of one vector are inside together, so they need one predicate.
    for vector in vectorise(part.lanes_at_end(b), &part.places()) {
        let predicate = inside.predicate(b, &part.coordinates[vector[0]])?;
        b.guarded(predicate.as_ref().map(unless), |b| {
            for value in vector {
                fragment.write(b, value, &number);
            }
        });
    }
    b.place_label(&done);
    Ok(Value::Unit)
}

/// The number of elements from the previous multiple of 16 bytes to the first element of a thread.
pub(super) fn misalignment(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Global(tile) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tile of global memory"));
    };
    let Value::Fragment(fragment) = &call.args[1].value else {
        return Err(call.mismatch(1, "a fragment"));
    };
    let mut part = Part::of_values(b, tile, fragment)?;
    let address = part.first(b)?;
    let address = b.convert(&address, Type::U32)?;
    let above = b.and(&address.into(), &Num::from(WIDEST - 1))?;
    let elements = b.div(&above, &Num::from(part.width))?;
    Ok(elements.typed(NumberType::Is(Type::U32)))
}
