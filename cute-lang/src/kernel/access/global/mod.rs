//! Tensors in global memory: their parts, the addresses of elements, and bounds.

pub(crate) mod address;
mod check;
pub(crate) mod inside;
pub(crate) mod part;

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Global, Value};
use address::Addresses;
pub(crate) use check::{require, unproven};
use inside::Inside;
use syn::Result;

/// The function that loads only the elements inside of a tensor.
pub(crate) const COPY_OR: &str = "`copy_or`";

/// The function that stores only the elements inside of a tensor.
pub(crate) const COPY_INSIDE: &str = "`copy_inside`";

/// The address of an element of a tensor. `instead` is the function that accesses only the elements inside of a tile, for messages.
pub(crate) fn global_address(
    b: &mut Builder,
    global: &Global,
    coordinate: &Value,
    instead: &str,
) -> Result<Operand> {
    let element = global.slice(b, coordinate)?;
    if element.tile().is_none_or(|kept| kept.rank() != 0) {
        return Err(b.error(
            "a coordinate with `_` or a range names several elements, and this takes one: use `copy`",
        ));
    }
    let here = vec![0; element.origin.len()];
    let inside = Inside::new(b, &element, std::slice::from_ref(&here));
    require(b, inside, Some(instead))?;
    Addresses::new(&element).operand(b, &here)
}
