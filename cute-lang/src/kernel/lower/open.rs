//! Instances with some values given at run time: their properties without these values.

use crate::kernel::lower::parameter::{Form, each, form, named};
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::instance::Instance;
use crate::kernel::syntax::kernel::Kernel;
use crate::kernel::syntax::plain::{is_plain, primitive};
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Element;
use crate::kernel::value::types::element_of;
use proc_macro2::{Ident, TokenStream};
use syn::{Error, GenericParam, ItemStruct, Result, Type};

/// An instance without its run-time values.
pub(crate) struct Open<'s> {
    pub(crate) kernel: &'s Kernel,
    pub(crate) name: &'s Ident,
    /// The parameters whose values are given at run time.
    pub(crate) fields: Vec<Field<'s>>,
    /// The arguments of a launch: a number of this type, or a tensor or a list.
    pub(crate) arguments: Vec<(&'s Ident, Option<Element>)>,
}

/// A parameter whose value is given at run time.
pub(crate) struct Field<'s> {
    pub(crate) name: &'s Ident,
    pub(crate) ty: FieldType<'s>,
}

/// The type of a value given at run time.
pub(crate) enum FieldType<'s> {
    /// An element type.
    Element,
    /// An integer or truth value of this type.
    Number(&'s Type),
    /// A struct of numbers.
    Struct {
        /// The name in the module.
        name: &'s Ident,
        /// The declaration.
        item: &'s ItemStruct,
        /// The path outside of the module, if it is imported.
        path: Option<TokenStream>,
    },
}

/// The open instances of a module.
pub(crate) fn opens(source: &Source) -> Result<Vec<Open<'_>>> {
    let (mut all, mut errors) = (Vec::new(), Errors::default());
    for kernel in &source.module(HERE).kernels {
        for instance in &kernel.open {
            all.extend(errors.record(open(source, kernel, instance)));
        }
    }
    errors.finish(all)
}

fn open<'s>(source: &'s Source, kernel: &'s Kernel, instance: &'s Instance) -> Result<Open<'s>> {
    let (mut fields, mut errors) = (Vec::new(), Errors::default());
    for param in &kernel.function.sig.generics.params {
        let (name, ty) = match param {
            GenericParam::Type(param) => (&param.ident, None),
            GenericParam::Const(param) => (&param.ident, Some(&param.ty)),
            GenericParam::Lifetime(_) => continue,
        };
        if instance.open().any(|open| open == name) {
            let ty = match ty {
                None => Ok(FieldType::Element),
                Some(ty) => constant(source, name, ty),
            };
            fields.extend(errors.record(ty).map(|ty| Field { name, ty }));
        }
    }
    let mut arguments = Vec::new();
    for input in &kernel.function.sig.inputs {
        let argument = named(input).and_then(|(name, ty)| {
            let (ty, length) = each(ty);
            Ok(match form(ty)? {
                Form::Scalar(ty) if length.is_none() => (name, element_of(ty)),
                Form::Scalar(_) | Form::Tensor(..) => (name, None),
            })
        });
        arguments.extend(errors.record(argument));
    }
    errors.finish(Open {
        kernel,
        name: &instance.name,
        fields,
        arguments,
    })
}

fn constant<'s>(source: &'s Source, name: &Ident, ty: &'s Type) -> Result<FieldType<'s>> {
    match primitive(ty).as_deref() {
        Some("f32" | "f64") | None => {}
        Some(_) => return Ok(FieldType::Number(ty)),
    }
    let ident = match ty {
        Type::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let found = ident.and_then(|ident| Some((ident, source.structure(HERE, &ident.to_string())?)));
    match found {
        Some((name, (id, item))) if is_plain(item) => {
            let path = if id == HERE { None } else { source.path(name) };
            Ok(FieldType::Struct { name, item, path })
        }
        _ => Err(Error::new_spanned(
            ty,
            format!(
                "a value of this type cannot be given at run time: `{name} = _` needs an integer, `bool`, or a `pub struct` \
                 of numbers"
            ),
        )),
    }
}
