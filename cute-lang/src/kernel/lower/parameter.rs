//! Parameters of a kernel.

use crate::kernel::emit::param::{List, Param, ParamKind, TmaParam};
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::elsewhere::type_elsewhere;
use crate::kernel::interp::generics::value_of;
use crate::kernel::ir::ascii;
use crate::kernel::lower::constant::{constant, truth};
use crate::kernel::syntax::kernel::Kernel;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::syntax::text;
use crate::kernel::value::element::width;
use crate::kernel::value::types::register_type;
use crate::kernel::value::{Element, Global, TmaTensor, Value};
use cute_chip::threads::MAX_PARAMETER_BYTES_8_1;
use cute_ptx::ast::Type;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    AngleBracketedGenericArguments, Error, Expr, FnArg, GenericArgument, Pat, PathArguments, Result,
};

const EXPECTED: &str = "expected `TmaLoad<T, R>`, `TmaStore<T, R>`, `Store<T, R, TMA>`, `Global<T, R>`, a number type, or a list `[…; N]` of one of these";

pub(super) fn declare(interpreter: &mut Interpreter<'_>, input: &FnArg) -> Result<()> {
    let (ident, ty) = named(input)?;
    let (ty, length) = each(ty);
    let (name, index) = (ident.to_string(), interpreter.b.params.len());
    let mut param = Param {
        name: name.clone(),
        symbol: ascii(&name),
        span: ident.span(),
        list: match length {
            Some(length) => Some(List {
                most: constant(
                    interpreter,
                    "the length of a list of parameters",
                    length,
                    1..=MAX_PARAMETER_BYTES_8_1,
                )?,
                unproven: None,
            }),
            None => None,
        },
        kind: kind(interpreter, ty)?,
    };
    if let (Some(_), ParamKind::Global { extents, .. }) = (&param.list, &mut param.kind) {
        *extents = true;
    }
    param.make_unique(&mut interpreter.b.symbols);
    let value = match &param.kind {
        _ if param.list.is_some() => Value::List(index),
        ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => Value::TmaTensor(TmaTensor(index.into())),
        ParamKind::Global { element, rank, .. } => {
            Value::Global(Global::whole(*element, index.into(), *rank))
        }
        ParamKind::Scalar(ty) => Value::Scalar(interpreter.b.parameter(
            &param.symbol,
            &name,
            *ty,
            |_, _| {},
        )),
    };
    interpreter.b.params.push(param);
    interpreter.define(&name, value);
    Ok(())
}

/// For a list `[T; N]`, the type of an item and the greatest number of items; for any other type, the type itself.
pub(super) fn each(ty: &syn::Type) -> (&syn::Type, Option<&Expr>) {
    match ty {
        syn::Type::Array(list) => (&list.elem, Some(&list.len)),
        ty => (ty, None),
    }
}

/// The name and the type of a parameter.
pub(super) fn named(input: &FnArg) -> Result<(&Ident, &syn::Type)> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(input, "a kernel takes no `self`"));
    };
    let Pat::Ident(pat) = &*input.pat else {
        return Err(Error::new_spanned(
            &input.pat,
            "a parameter of a kernel is a name",
        ));
    };
    if pat.mutability.is_some() || pat.by_ref.is_some() {
        return Err(Error::new_spanned(
            pat,
            "a parameter of a kernel cannot change: copy it into a `let mut` variable",
        ));
    }
    if pat.ident == "device" || pat.ident == "grid" {
        return Err(Error::new(
            pat.ident.span(),
            format!("`{}` is an argument of `launch` already", pat.ident),
        ));
    }
    Ok((&pat.ident, &input.ty))
}

/// Refuses parameters with the name of an instance: for an argument of `launch`, Rust would take it as the instance's type.
pub(super) fn check_are_free(source: &Source, kernel: &Kernel) -> Result<()> {
    let named = kernel.function.sig.inputs.iter().map(named);
    // `declare` refuses those without a name.
    let mut names = named.filter_map(|named| Some(named.ok()?.0));
    names.try_for_each(|name| check_is_free(source, name))
}

fn check_is_free(source: &Source, name: &Ident) -> Result<()> {
    let mut types = source.module(HERE).kernels.iter().flat_map(|kernel| {
        let chosen = kernel.chosen().next().map(|_| &kernel.function.sig.ident);
        let instances = kernel.instances.iter().map(|instance| &instance.name);
        instances.chain(chosen)
    });
    if types.any(|other| other == name) {
        return Err(Error::new(
            name.span(),
            format!("`{name}` is also the type of an instance: give the parameter another name"),
        ));
    }
    Ok(())
}

fn kind(interpreter: &mut Interpreter<'_>, ty: &syn::Type) -> Result<ParamKind> {
    let (name, generics) = match form(ty)? {
        Form::Scalar(ty) => return Ok(ParamKind::Scalar(ty)),
        Form::Tensor(name, generics) => (name, generics),
    };
    let given = |is_number| {
        let mut given = generics.args.iter();
        let given = given.find(|it| matches!(it, GenericArgument::Const(_)) == is_number);
        let example = if is_number { "2" } else { "f32" };
        given.map_or(example.to_owned(), |it| text::shorten(it.to_token_stream()))
    };
    let arguments: Vec<_> = generics.args.iter().collect();
    let (element, rank, by_tma) = match (&arguments[..], name == "Store") {
        ([GenericArgument::Type(element), GenericArgument::Const(rank)], false) => {
            (element, rank, None)
        }
        (
            [
                GenericArgument::Type(element),
                GenericArgument::Const(rank),
                by_tma,
            ],
            true,
        ) if let Some(by_tma) = value_of(by_tma) => (element, rank, Some(by_tma)),
        (_, is_either) => {
            let (also, more) = match is_either {
                true => (", and whether TMA stores it", ", true"),
                false => ("", ""),
            };
            return Err(Error::new_spanned(
                ty,
                format!(
                    "`{name}` takes an element type and the number of modes{also}: `{name}<{}, {}{more}>`",
                    given(false),
                    given(true)
                ),
            ));
        }
    };
    let syn::Type::Path(element_path) = element else {
        return Err(Error::new_spanned(element, "expected an element type"));
    };
    let expr = syn::ExprPath {
        attrs: Vec::new(),
        qself: None,
        path: element_path.path.clone(),
    };
    let Value::Element(element) = interpreter.eval(&Expr::Path(expr))? else {
        return Err(Error::new_spanned(element, "expected an element type"));
    };
    if element.bytes().is_err() {
        let message = format!(
            "a parameter of a kernel has elements of whole bytes, and {}: a tensor of `u8` has the same memory",
            width(element)
        );
        return Err(Error::new_spanned(element_path, message));
    }
    let rank = constant(interpreter, "the number of modes of a tensor", rank, 1..=5)? as usize;
    let tma = |element: Element| TmaParam {
        element,
        rank,
        recipe: None,
    };
    let is_stored = match &by_tma {
        Some(by_tma) => truth(interpreter, by_tma)?,
        None => name == "TmaStore",
    };
    Ok(match (name == "TmaLoad", is_stored) {
        (true, _) => ParamKind::TmaLoad(tma(element)),
        (false, true) => ParamKind::TmaStore(tma(element)),
        (false, false) => ParamKind::Global {
            element,
            rank,
            written: by_tma.is_some(),
            extents: false,
            unproven: None,
        },
    })
}

/// The kind of a parameter, from its type without the values of generic parameters.
pub(super) enum Form<'t> {
    /// A number of this type.
    Scalar(Type),
    /// `TmaLoad<…>`, `TmaStore<…>`, `Store<…>` or `Global<…>`.
    Tensor(&'t Ident, &'t AngleBracketedGenericArguments),
}

pub(super) fn form(ty: &syn::Type) -> Result<Form<'_>> {
    let segment = match ty {
        syn::Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let Some(segment) = segment else {
        return Err(unexpected(ty, ""));
    };
    let name = segment.ident.to_string();
    if let PathArguments::AngleBracketed(generics) = &segment.arguments {
        return match name.as_str() {
            "TmaLoad" | "TmaStore" | "Store" | "Global" => {
                Ok(Form::Tensor(&segment.ident, generics))
            }
            _ => Err(unexpected(ty, "")),
        };
    }
    match register_type(&name) {
        Some(ty) if ty != Type::Pred && ty.bits() >= 32 => Ok(Form::Scalar(ty)),
        Some(Type::Pred) => Err(Error::new_spanned(
            ty,
            "a number parameter has 32 or 64 bits: a truth value is a `u32`, and `x != 0` in the kernel",
        )),
        Some(_) => Err(Error::new_spanned(
            ty,
            "a number parameter has 32 or 64 bits",
        )),
        None => match Element::from_name(&name).filter(|element| element.bytes().is_err()) {
            Some(element) => Err(Error::new_spanned(
                ty,
                format!(
                    "a number parameter has 32 or 64 bits, and {}",
                    width(element)
                ),
            )),
            None => Err(unexpected(ty, &name)),
        },
    }
}

/// Integer types with the width of the machine.
const NUMBERS: &[(&[&str], &str)] = &[
    (&["usize", "size_t"], "u32` or `u64"),
    (&["isize", "ptrdiff_t"], "i32` or `i64"),
];

/// The error of a type that no parameter can have. `name` is empty if the type is not a single name.
fn unexpected(ty: &syn::Type, name: &str) -> Error {
    let number = NUMBERS.iter().find(|(names, _)| names.contains(&name));
    let number = number
        .map(|(_, here)| *here)
        .or_else(|| type_elsewhere(name));
    let hint = match number {
        Some(here) => format!(": write `{here}`"),
        None if name.is_empty() => {
            ": pointers, slices and tensors are `Global<f32, 1>`, a tensor in global memory with one mode".to_owned()
        }
        None => String::new(),
    };
    Error::new_spanned(ty, format!("{EXPECTED}{hint}"))
}
