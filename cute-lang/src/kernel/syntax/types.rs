//! Types that are not allowed in a module: stored references, and trait objects.

use crate::kernel::syntax::errors::Errors;
use syn::{Error, FnArg, GenericArgument, PathArguments, Result, ReturnType, Signature, Type};

/// Refuses trait objects as parameters, and references as results.
pub(super) fn check_signature(sig: &Signature) -> Result<()> {
    let mut errors = Errors::default();
    for input in &sig.inputs {
        if let FnArg::Typed(input) = input {
            errors.record(check(&input.ty, None));
        }
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.record(check(
            ty,
            Some("a function returns the value itself, not a reference to it"),
        ));
    }
    errors.finish(())
}

/// Refuses fields with references or trait objects.
pub(super) fn check_field(ty: &Type) -> Result<()> {
    check(
        ty,
        Some("a field holds the value itself, not a reference to it"),
    )
}

/// Refuses trait objects in a type and, with a message for them, references.
fn check(ty: &Type, reference: Option<&str>) -> Result<()> {
    match (ty, reference) {
        (Type::TraitObject(_), _) => Err(Error::new_spanned(
            ty,
            "the kernel language has no trait objects: a function is passed as `impl Fn(…) -> …`, and its call is inlined",
        )),
        (Type::Slice(_), _) => Err(Error::new_spanned(
            ty,
            "the kernel language has no slices: an array has a known length, `[f32; N]`, which may be a const parameter",
        )),
        (Type::Ptr(_), _) => Err(Error::new_spanned(
            ty,
            "the kernel language has no pointers: a tensor in global memory is a `Global<f32, 1>`, and in shared memory a `Tensor`",
        )),
        (Type::Reference(_), Some(message)) => Err(Error::new_spanned(ty, message)),
        (Type::Reference(ty), None) => check(&ty.elem, None),
        (Type::Array(ty), _) => check(&ty.elem, reference),
        (Type::Paren(ty), _) => check(&ty.elem, reference),
        (Type::Group(ty), _) => check(&ty.elem, reference),
        (Type::Tuple(ty), _) => ty.elems.iter().try_for_each(|ty| check(ty, reference)),
        (Type::Path(ty), _) => {
            let arguments =
                ty.path
                    .segments
                    .iter()
                    .filter_map(|segment| match &segment.arguments {
                        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
                        _ => None,
                    });
            arguments.flatten().try_for_each(|argument| match argument {
                GenericArgument::Type(ty) => check(ty, reference),
                _ => Ok(()),
            })
        }
        _ => Ok(()),
    }
}
