//! Tensors in global memory: their parts, where elements lie, and which are inside of the tensor.

pub(crate) mod address;
pub(crate) mod inside;
pub(crate) mod part;

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::param::ParamKind;
use crate::kernel::value::{Global, Value};
use address::Addresses;
use cute_ptx::ast::Operand;
use inside::is_inside;
use syn::Result;

/// The address of an element of a tensor.
pub(crate) fn global_address(
    b: &mut Builder,
    global: &Global,
    coordinate: &Value,
) -> Result<Operand> {
    let element = global.slice(b, coordinate)?;
    if element.tile().is_none_or(|kept| kept.rank() != 0) {
        return Err(b.error(
            "a coordinate with `_` names several elements, and this takes one: use `copy`",
        ));
    }
    let here = vec![0; element.origin.len()];
    if !is_inside(b, &element, &here)? {
        unproven(b, &element);
    }
    Addresses::new(&element).operand(b, &here)
}

/// Notes that nothing proves that an element that the kernel accesses is inside of the tensor.
pub(crate) fn unproven(b: &mut Builder, global: &Global) {
    let place = b.place();
    if let ParamKind::Global { unproven, .. } = &mut b.params[global.param].kind {
        unproven.get_or_insert(place);
    }
}
