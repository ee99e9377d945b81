//! Generic parameters of a kernel.

use proc_macro2::Ident;
use syn::{GenericParam, Signature};

/// The names of the type and const parameters.
pub(super) fn parameters(sig: &Signature) -> impl Iterator<Item = &Ident> {
    sig.generics.params.iter().filter_map(parameter_name)
}

/// The type or const parameter with this name.
pub(super) fn parameter<'s>(sig: &'s Signature, name: &Ident) -> Option<&'s GenericParam> {
    let mut params = sig.generics.params.iter();
    params.find(|param| parameter_name(param) == Some(name))
}

/// The name of a type or const parameter.
pub fn parameter_name(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        _ => None,
    }
}
