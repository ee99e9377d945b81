//! Constants and structs of numbers for host code: `pub const TILE: u32 = 128`.
//!
//! Constants and structs of numbers are expanded as Rust items, so a host function plans its launch with the numbers of the kernel.

use crate::kernel::syntax::enumeration::{Enumeration, derives_trait};
use crate::kernel::syntax::module::Module;
use crate::kernel::syntax::plain::{is_plain, is_plain_enum, is_public, primitive, structure};
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::{NumberType, Value};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Expr, ExprLit, Fields, ItemConst, ItemStruct, Lit, Type, TypeArray, Visibility,
};

/// A struct of numbers that host code has, with its path in Rust.
type Known<'s> = Option<(TokenStream, &'s ItemStruct)>;

/// The public constants and structs of the module that consist of numbers and truth values, as Rust, with the same values as in kernels.
pub(super) fn items(source: &Source, values: &[(&ItemConst, Value)]) -> TokenStream {
    let values = values.iter().map(|(item, value)| (*item, Some(value)));
    let module = source.module(HERE);
    let known = |ty: &Type| of_module(module, ty).or_else(|| structure_of(source, ty));
    declarations(module, values, &known)
}

/// The same declarations for a module with errors, with 0 for each value.
pub(super) fn placeholders(module: &Module) -> TokenStream {
    let values = module.consts.iter().map(|item| (item, None));
    declarations(module, values, &|ty| of_module(module, ty))
}

/// The struct of this name that the module declares.
fn of_module<'m>(module: &'m Module, ty: &Type) -> Known<'m> {
    structure(module, ty).map(|item| (item.ident.to_token_stream(), item))
}

/// The struct of this name, with its path in Rust, if it is public, as its fields are where another module declares it, and exists under every `cfg`.
pub(super) fn structure_of<'s>(
    source: &'s Source,
    ty: &Type,
) -> Option<(TokenStream, &'s ItemStruct)> {
    let Type::Path(ty) = ty else {
        return None;
    };
    let name = ty.path.get_ident()?;
    let (declared, item) = source.structure(HERE, &name.to_string())?;
    let has_cfg = item.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
    let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
    let is_open = declared == HERE || item.fields.iter().all(|field| public(&field.vis));
    let known = is_plain(item) && public(&item.vis) && is_open && !has_cfg;
    let path = match declared == HERE {
        true => quote!(#name),
        false => source.path_inside(name, declared)?,
    };
    known.then_some((path, item))
}

fn declarations<'m>(
    module: &'m Module,
    values: impl Iterator<Item = (&'m ItemConst, Option<&'m Value>)>,
    known: &dyn Fn(&Type) -> Known<'m>,
) -> TokenStream {
    let structs = module.structs.iter().filter(|item| is_plain(item));
    let structs = structs.map(|item| {
        let ItemStruct {
            attrs,
            vis,
            ident,
            fields,
            ..
        } = item;
        let derives = derives(attrs, &["Clone", "Copy", "Debug", "PartialEq"]);
        let end = match fields {
            Fields::Named(_) => None,
            Fields::Unnamed(_) | Fields::Unit => Some(quote!(;)),
        };
        quote! {
            #(#attrs)*
            #[allow(dead_code)]
            #derives
            #vis struct #ident #fields #end
        }
    });
    let enums = module.enums.iter().filter(|it| is_plain_enum(it));
    let enums = enums.map(|Enumeration { item, .. }| {
        let derives = derives(&item.attrs, &["Clone", "Copy", "Debug", "PartialEq", "Eq"]);
        quote! {
            #[allow(dead_code)]
            #derives
            #item
        }
    });
    let consts = values.filter_map(|(item, value)| {
        let ItemConst {
            attrs, vis, ident, ..
        } = item;
        let (ty, value) = literal(known, &item.ty, value, Some(&item.expr))?;
        is_public(vis).then(|| {
            quote! {
                #(#attrs)*
                #[allow(dead_code)]
                #vis const #ident: #ty = #value;
            }
        })
    });
    quote!(#(#structs)* #(#enums)* #(#consts)*)
}

/// The `derive` of the wanted traits that no attribute derives.
fn derives(attrs: &[Attribute], wanted: &[&str]) -> TokenStream {
    let missing = wanted.iter().filter(|name| !derives_trait(attrs, name));
    let missing = missing.map(|name| {
        let name = format_ident!("{name}");
        match name.to_string().as_str() {
            "Clone" => quote!(::core::clone::#name),
            "Copy" => quote!(::core::marker::#name),
            "Debug" => quote!(::core::fmt::#name),
            _ => quote!(::core::cmp::#name),
        }
    });
    quote!(#[derive(#(#missing),*)])
}

/// The type and the value in Rust, if host code has the type: a number, a truth value, a known struct of these, or an array. Without a value
/// it is 0. An array then has its written length.
fn literal<'s>(
    known: &dyn Fn(&Type) -> Known<'s>,
    ty: &Type,
    value: Option<&Value>,
    written: Option<&Expr>,
) -> Option<(TokenStream, TokenStream)> {
    let Type::Array(array) = ty else {
        return match known(ty) {
            Some((path, item)) => {
                let value = struct_literal(&path, item, value)?;
                Some((path, value))
            }
            None => Some((ty.to_token_stream(), number(ty, value)?)),
        };
    };
    let element = |value| literal(known, &array.elem, value, None);
    let elements = match value {
        Some(Value::Array(elements)) => Some(elements),
        Some(_) => return None,
        None => None,
    };
    // In a kernel, a length may be a constant of any integer type.
    let length = match elements {
        Some(elements) => elements.len(),
        None => length(array, written)?,
    };
    let (inner, first) = element(elements.and_then(|elements| elements.first()))?;
    let value = match elements {
        Some(elements) if !matches!(written, Some(Expr::Repeat(_))) => {
            let values = elements.iter().map(|value| Some(element(Some(value))?.1));
            let values: Vec<TokenStream> = values.collect::<Option<_>>()?;
            quote!([#(#values),*])
        }
        _ => quote!([#first; #length]),
    };
    Some((quote!([#inner; #length]), value))
}

/// The length of a constant array, if it is a literal or if all elements are written.
pub(super) fn written_length(item: &ItemConst) -> Option<usize> {
    match &*item.ty {
        Type::Array(array) => length(array, Some(&item.expr)),
        _ => None,
    }
}

fn length(array: &TypeArray, written: Option<&Expr>) -> Option<usize> {
    match written {
        Some(Expr::Array(written)) => Some(written.elems.len()),
        _ => number_of(&array.len).filter(|length| *length <= MAX_PLACEHOLDERS),
    }
}

/// The longest array of zeros in place of an array with a mistake.
const MAX_PLACEHOLDERS: usize = 65_536;

/// The number of a literal.
fn number_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(lit), ..
        }) => lit.base10_parse().ok(),
        _ => None,
    }
}

/// The value of a struct with this path in Rust; of zeros if there is none.
pub(super) fn struct_literal(
    path: impl ToTokens,
    item: &ItemStruct,
    value: Option<&Value>,
) -> Option<TokenStream> {
    let fields = item.fields.iter().zip(item.fields.members()).enumerate();
    let fields = fields.map(|(index, (field, name))| {
        let value = match value {
            Some(Value::Struct(value)) => Some(value.fields.get(index)?),
            _ => None,
        };
        let value = number(&field.ty, value)?;
        Some(quote!(#name: #value))
    });
    let fields: Vec<TokenStream> = fields.collect::<Option<_>>()?;
    Some(quote!(#path { #(#fields),* }))
}

/// The number, or truth value, with its type; 0 if there is none.
pub(super) fn number(ty: &Type, value: Option<&Value>) -> Option<TokenStream> {
    let name = primitive(ty)?;
    let zero = match name.as_str() {
        "bool" => Value::Bool(false),
        "f32" | "f64" => Value::Float(0.0, NumberType::Any),
        _ => Value::Int(0, NumberType::Any),
    };
    Some(match value.unwrap_or(&zero) {
        Value::Bool(value) => quote!(#value),
        Value::Int(value, _) => {
            let digits = format!("{}{name}", value.unsigned_abs());
            let digits: Literal = digits.parse().expect("digits and a suffix are a literal");
            match *value < 0 {
                true => quote!(-#digits),
                false => quote!(#digits),
            }
        }
        Value::Float(value, _) => {
            let ty = format_ident!("{name}");
            match name.as_str() {
                "f32" => {
                    let bits = (*value as f32).to_bits();
                    quote!(#ty::from_bits(#bits))
                }
                _ => {
                    let bits = value.to_bits();
                    quote!(#ty::from_bits(#bits))
                }
            }
        }
        _ => return None,
    })
}
