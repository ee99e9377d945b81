//! Selects an instance of `#[instances(…)]` by types and constants, for generic host functions.

use super::parameter::{param_type_of, rust_type};
use crate::kernel::emit::builder::Builder;
use crate::kernel::expand::item::{number, struct_literal, structure_of};
use crate::kernel::interp::Interpreter;
use crate::kernel::lower::{LoweredKernel, Made};
use crate::kernel::syntax::enumeration::Enumeration;
use crate::kernel::syntax::instance::Instance;
use crate::kernel::syntax::kernel::Kernel;
use crate::kernel::syntax::listed::text_of;
use crate::kernel::syntax::plain::is_plain_enum;
use crate::kernel::syntax::source::{HERE, ModuleId, Source};
use crate::kernel::value::{Element, Value};
use cute_chip::RustType;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::{HashMap, HashSet};
use syn::{Expr, FnArg, GenericArgument, GenericParam, PathArguments, Type, Visibility};

/// An instance as written, with the result of lowering it.
type Chosen<'k> = (&'k Instance, &'k Made);

/// A type with the name of the kernel and a `launch` that selects; an enum for each constant; and a trait for the types, and then the
/// constants, of the instances. Empty for a kernel without `#[instances(…)]`.
pub(super) fn choice(
    facade: &TokenStream,
    source: &Source,
    kernel: &Kernel,
    lowered: &LoweredKernel,
) -> TokenStream {
    let LoweredKernel { instances, params } = lowered;
    let chosen = kernel.chosen();
    let chosen: Vec<Chosen<'_>> = chosen
        .filter_map(|(at, instance)| Some((instance, instances.get(at)?)))
        .collect();
    let Some((written, _)) = chosen.first() else {
        return TokenStream::new();
    };
    let name = &kernel.function.sig.ident;
    let is_type = |name: &&Ident| {
        let mut params = kernel.function.sig.generics.params.iter();
        params.any(|param| matches!(param, GenericParam::Type(param) if param.ident == **name))
    };
    let given = written.values.iter().map(|(name, _)| name);
    let (generics, constants): (Vec<&Ident>, Vec<&Ident>) = given.partition(is_type);
    let values = |constant| distinct(chosen.iter().filter_map(|(it, _)| value(it, constant)));
    let values: Vec<Vec<&Expr>> = constants.iter().map(|it| values(it)).collect();
    let enums = constants.iter().zip(&values);
    let enums = enums.map(|(constant, values)| {
        let value = value_of(facade, source, kernel, constant, &chosen);
        enumeration(kernel, constant, values, value)
    });
    let unsafety = kernel.unsafety;
    let safety = unsafety.map(|_| {
        quote! {
            ///
            /// # Safety
            ///
            /// What the documentation of the kernel asks for.
        }
    });

    let constant_types: Vec<Ident> = constants.iter().map(|it| enum_name(name, it)).collect();
    let names: Vec<Ident> = params
        .iter()
        .map(|param| format_ident!("{}", param.name, span = param.span))
        .collect();
    let constant_names = argument_names(&constants, &names);
    // The types of the arguments, if the first type parameter has this name.
    let argument_types = |generics: &[&Ident], leading: &Ident| -> Vec<TokenStream> {
        let inputs = kernel.function.sig.inputs.iter();
        let pairs = params.iter().zip(inputs);
        let named = |input| match element(input, generics) {
            Some(name) if generics.first() == Some(&name) => Some(leading),
            name => name,
        };
        pairs
            .map(|(param, input)| param_type_of(facade, param, named(input)))
            .collect()
    };
    let arguments = match generics.first() {
        Some(leading) => argument_types(&generics, leading),
        None => argument_types(&generics, name),
    };
    let doc =
        format!(" The instances of the kernel `{name}`, chosen by their types and constants.");
    let launch_doc = format!(" Launches the instance of `{name}` for these types and constants.");
    let result = quote!(::core::result::Result<(), #facade::Error>);
    let variants = |instance: &Instance| -> Vec<TokenStream> {
        let variants = constants.iter().zip(&constant_types);
        let variants = variants.filter_map(|(constant, ty)| {
            let variant = variant(value(instance, constant)?);
            Some(quote!(#ty::#variant))
        });
        variants.collect()
    };
    let combinations: usize = values.iter().map(Vec::len).product();
    // The body of `launch` for the instances of some types.
    let body = |of_types: &[Chosen<'_>]| -> TokenStream {
        let none = |missing: &[String]| {
            let (kernel, (instance, _)) = (name.to_string(), of_types[0]);
            let types = generics.iter().filter_map(|name| {
                let (ty, name) = (text(value(instance, name)?), name.to_string());
                Some(quote!((#name, &::core::format_args!(#ty))))
            });
            let constants = constants.iter().map(|name| name.to_string());
            let constants = constants.zip(&constant_names);
            let constants = constants.map(|(name, argument)| quote!((#name, &#argument)));
            let given = types.chain(constants);
            quote! {
                ::core::result::Result::Err(#facade::__private::no_instance(
                    #kernel, &[#(#given),*], ::core::env!("CARGO_PKG_NAME"), &[#(#missing),*]
                ))
            }
        };
        let arms = of_types.iter().map(|(instance, made)| {
            let patterns = variants(instance);
            let result = match made {
                Made::Lowered(lowered) => {
                    let instance = &lowered.name;
                    let call = quote!(#instance::launch(device, grid, #(#names),*));
                    guarded(unsafety.is_some(), call)
                }
                Made::Unbuilt(unbuilt) => none(&unbuilt.missing),
            };
            quote!((#(#patterns,)*) => #result,)
        });
        let other = (of_types.len() < combinations).then(|| {
            let none = none(&[]);
            quote!(_ => #none,)
        });
        quote!(match (#(#constant_names,)*) { #(#arms)* #other })
    };
    // `MISSING`: the features that would add instances of these types.
    let missing = |of_types: &[Chosen<'_>]| -> TokenStream {
        let mut features: Vec<&String> = Vec::new();
        for (_, made) in of_types {
            if let Made::Unbuilt(unbuilt) = made {
                features.extend(&unbuilt.missing);
            }
        }
        features.sort();
        features.dedup();
        quote!(= &[#(#features),*])
    };
    let missing_doc = " The features of this crate that are off, and with which there would be more of these instances.";
    let missing_list = |vis: TokenStream, features: TokenStream| {
        quote! {
            #[doc = #missing_doc]
            #vis const MISSING: &'static [&'static ::core::primitive::str] #features;
        }
    };
    // `INSTANCES`: the documentation, the declaration and the value for the instances of these types.
    let listed = |of_types: &[Chosen<'_>]| -> TokenStream {
        let built = of_types.iter();
        let built = built.filter(|(_, made)| matches!(made, Made::Lowered(_)));
        let tuples = built.map(|(instance, _)| tuple(&variants(instance)));
        quote!(= &[#(#tuples),*])
    };
    let list = |doc: &str, vis: TokenStream, listed: TokenStream| match constants.is_empty() {
        true => TokenStream::new(),
        false => {
            let ty = tuple(&constant_types);
            quote!(#[doc = #doc] #vis const INSTANCES: &'static [#ty] #listed;)
        }
    };

    let (bound, launch, inherent, declared) = if let Some((leading, others)) =
        generics.split_first()
    {
        let instances_of = format_ident!("{}_types", name);
        let trait_doc = format!(" The types for which `{name}` has instances.");
        let list_doc = format!(" The constants for which `{name}` has instances of these types.");
        let of_self = argument_types(&generics, &format_ident!("Self"));
        let signature = quote! {
            #unsafety fn launch(
                #(#constant_names: #constant_types,)*
                device: &#facade::Device,
                grid: #facade::Grid,
                #(#names: #of_self),*
            ) -> #result
        };
        let implementations = by_types(&chosen, &generics)
            .into_iter()
            .filter_map(|of_types| {
                let (instance, _) = of_types[0];
                let values = generics.iter().filter_map(|name| value(instance, name));
                // A type without a Rust type chooses nothing: the instance has its own type only.
                let elements = values.map(|value| element_type(facade, value));
                let elements: Vec<TokenStream> = elements.collect::<Option<_>>()?;
                let (element, rest) = elements.split_first()?;
                let aliases = others.iter().zip(rest);
                let aliases = aliases.map(|(name, element)| quote!(type #name = #element;));
                let list = list(&list_doc, TokenStream::new(), listed(&of_types));
                let features = missing_list(TokenStream::new(), missing(&of_types));
                let body = body(&of_types);
                Some(quote! {
                    const _: () = {
                        #(#aliases)*
                        impl #instances_of<#(#rest),*> for #element {
                            #list
                            #features
                            #[allow(unused_variables)]
                            #signature { #body }
                        }
                    };
                })
            });
        let list = list(&list_doc, TokenStream::new(), TokenStream::new());
        let features = missing_list(TokenStream::new(), TokenStream::new());
        let call = quote! {
            <#leading as #instances_of<#(#others),*>>::launch(#(#constant_names,)* device, grid, #(#names),*)
        };
        let declaration = quote! {
            #[doc = #trait_doc]
            #[allow(non_camel_case_types, clippy::missing_safety_doc)]
            pub trait #instances_of<#(#others: #facade::Element),*>: #facade::Element {
                #list
                #features
                #[doc = #launch_doc]
                #safety
                ///
                /// # Errors
                ///
                /// Those of the instance's `launch`, and that there is no instance.
                #[allow(clippy::too_many_arguments)]
                #signature;
            }
            #(#implementations)*
        };
        (
            quote!(where #leading: #instances_of<#(#others),*>),
            guarded(unsafety.is_some(), call),
            TokenStream::new(),
            declaration,
        )
    } else {
        let list_doc = format!(" The constants for which `{name}` has instances.");
        let list = list(&list_doc, quote!(pub), listed(&chosen));
        let features = missing_list(quote!(pub), missing(&chosen));
        let declared = quote!(#list #features);
        (
            TokenStream::new(),
            body(&chosen),
            declared,
            TokenStream::new(),
        )
    };
    let parameters = match generics.split_first() {
        None => TokenStream::new(),
        // The `where` clause implies that the first is an element type.
        Some((first, others)) => quote!(<#first #(, #others: #facade::Element)*>),
    };
    quote! {
        #(#enums)*
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        pub struct #name;

        impl #name {
            #inherent
            #[doc = #launch_doc]
            #safety
            ///
            /// # Errors
            ///
            /// Those of the instance's `launch`, and that there is no instance.
            #[allow(clippy::too_many_arguments, unused_variables)]
            pub #unsafety fn launch #parameters (
                #(#constant_names: #constant_types,)*
                device: &#facade::Device,
                grid: impl ::core::convert::Into<#facade::Grid>,
                #(#names: #arguments),*
            ) -> #result #bound {
                let grid = ::core::convert::Into::into(grid);
                #launch
            }
        }
        #declared
    }
}

/// A call, of an `unsafe fn` if `unsafety`.
fn guarded(unsafety: bool, call: TokenStream) -> TokenStream {
    match unsafety {
        true => quote!(unsafe { #call }),
        false => call,
    }
}

/// One thing, or a tuple of several.
fn tuple(parts: &[impl ToTokens]) -> TokenStream {
    match parts {
        [part] => quote!(#part),
        parts => quote!((#(#parts),*)),
    }
}

/// The value of a parameter, which each instance has.
fn value<'k>(instance: &'k Instance, name: &Ident) -> Option<&'k Expr> {
    let mut values = instance.values.iter();
    values.find_map(|(known, value)| (known == name).then_some(value))
}

/// The text of a value in the name of an instance.
fn text(value: &Expr) -> String {
    match text_of(value) {
        Ok(text) => text,
        // A value without a text would not be a value of the enum, and no launch could select its instance.
        Err(error) => unreachable!("the instances have been named by their values: {error}"),
    }
}

/// Values with different texts, in order.
fn distinct<'k>(values: impl Iterator<Item = &'k Expr>) -> Vec<&'k Expr> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(text(value))).collect()
}

/// The instances, grouped by types.
fn by_types<'k>(chosen: &[Chosen<'k>], types: &[&Ident]) -> Vec<Vec<Chosen<'k>>> {
    let key = |instance: &Instance| -> Vec<Option<String>> {
        let values = types.iter().map(|name| value(instance, name));
        values.map(|value| value.map(text)).collect()
    };
    let mut groups: Vec<Vec<Chosen<'k>>> = Vec::new();
    let mut places = HashMap::new();
    for &chosen in chosen {
        let place = *places.entry(key(chosen.0)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(chosen),
            None => groups.push(vec![chosen]),
        }
    }
    groups
}

/// An argument name for each constant: its own name in lower case, followed by `_` if Rust or another argument uses it.
fn argument_names(constants: &[&Ident], parameters: &[Ident]) -> Vec<Ident> {
    let mut taken: Vec<String> = vec!["device".into(), "grid".into()];
    taken.extend(parameters.iter().map(Ident::to_string));
    let name = |constant: &&Ident| {
        let mut name = constant.to_string().to_lowercase();
        while taken.contains(&name) || syn::parse_str::<Ident>(&name).is_err() {
            name.push('_');
        }
        taken.push(name.clone());
        format_ident!("{name}")
    };
    constants.iter().map(name).collect()
}

/// `gemm_CFG`: an enum of the values of a constant, with its function `value` and the trait of it, if it has one.
fn enumeration(
    written: &Kernel,
    constant: &Ident,
    values: &[&Expr],
    value: Option<TokenStream>,
) -> TokenStream {
    let kernel = &written.function.sig.ident;
    let name = enum_name(kernel, constant);
    let doc = format!(" The values of `{constant}` for which `{kernel}` has instances.");
    let variants = values.iter().map(|value| {
        let doc = format!(" `{}`.", text(value));
        (doc, variant(value))
    });
    let (docs, variants): (Vec<String>, Vec<Ident>) = variants.unzip();
    let count = variants.len();
    // Another name of a value is a constant, and no variant, so that each value is once in `ALL`.
    let renamed = written.renamed.iter();
    let renamed = renamed.filter(|(parameter, ..)| parameter == constant);
    let renamed = renamed.map(|(_, name, of)| {
        let doc = format!(" The same value as `{}`.", text(of));
        let (name, of) = (format_ident!("{name}"), variant(of));
        quote!(#[doc = #doc] pub const #name: Self = Self::#of;)
    });
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[derive(
            ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq, ::core::cmp::Eq
        )]
        pub enum #name { #(#[doc = #docs] #variants),* }

        impl #name {
            /// All values, in the order of `#[instances(…)]`.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];
            #(#renamed)*
        }

        #value
    }
}

/// `value`, from a variant to the value of the constant, if host code has its type, and the implementation of `Constant` by it.
fn value_of(
    facade: &TokenStream,
    source: &Source,
    kernel: &Kernel,
    constant: &Ident,
    chosen: &[Chosen<'_>],
) -> Option<TokenStream> {
    let mut params = kernel.function.sig.generics.params.iter();
    let ty = params.find_map(|param| match param {
        GenericParam::Const(param) if param.ident == *constant => Some(&param.ty),
        _ => None,
    })?;
    let known = structure_of(source, ty);
    let variants = enumeration_of(source, ty);
    let mut seen = HashSet::new();
    let arms = chosen.iter().filter_map(|(it, made)| {
        let written = value(it, constant)?;
        seen.insert(text(written)).then_some((written, made))
    });
    let arms = arms.map(|(written, made)| {
        let mut values = made.constants().iter();
        let (_, value) = values.find(|(name, _)| constant == name)?;
        let value = match (&known, &variants) {
            (Some((path, item)), _) => struct_literal(path, item, Some(value)),
            (None, Some(named)) => variant_of(source, named, value),
            (None, None) => number(ty, Some(value)),
        };
        let (variant, value) = (variant(written), value?);
        Some(quote!(Self::#variant => #value))
    });
    let arms: Vec<TokenStream> = arms.collect::<Option<_>>()?;
    let returned = match (&known, &variants) {
        (Some((path, _)), _) => path.clone(),
        (None, Some(named)) => named.path.clone(),
        (None, None) => quote!(::core::primitive::#ty),
    };
    let doc = format!(" What `{constant}` is.");
    let name = enum_name(&kernel.function.sig.ident, constant);
    Some(quote! {
        impl #name {
            #[doc = #doc]
            pub const fn value(self) -> #returned {
                match self { #(#arms),* }
            }
        }

        impl #facade::Constant for #name {
            type Value = #returned;
            const ALL: &'static [Self] = &Self::ALL;

            fn value(self) -> #returned {
                Self::value(self)
            }
        }
    })
}

/// An enum whose constants host code can name.
struct Named<'s> {
    module: ModuleId,
    path: TokenStream,
    declared: &'s Enumeration,
}

/// The enum of this name, if it is public and exists under every `cfg`.
fn enumeration_of<'s>(source: &'s Source, ty: &Type) -> Option<Named<'s>> {
    let Type::Path(ty) = ty else {
        return None;
    };
    let name = ty.path.get_ident()?;
    let (module, declared) = source.enumeration(HERE, &name.to_string())?;
    let mut attrs = declared.item.attrs.iter();
    let has_cfg = attrs.any(|attr| attr.path().is_ident("cfg"));
    let public = matches!(declared.item.vis, Visibility::Public(_));
    let path = match module == HERE {
        true => quote!(#name),
        false => source.path_inside(name, module)?,
    };
    let known = is_plain_enum(declared) && public && !has_cfg;
    known.then_some(Named {
        module,
        path,
        declared,
    })
}

/// The variant of an enum with this value, as Rust.
fn variant_of(source: &Source, named: &Named<'_>, value: &Value) -> Option<TokenStream> {
    let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
    let Named {
        module,
        path,
        declared,
    } = named;
    let (all, _) = interpreter.discriminants(*module, declared).ok()?;
    let [Value::Int(value, _)] = value.parts()? else {
        return None;
    };
    let mut variants = declared.item.variants.iter().zip(all.iter());
    let (variant, _) = variants.find(|(_, it)| *it == value)?;
    let name = &variant.ident;
    Some(quote!(#path::#name))
}

fn enum_name(kernel: &Ident, constant: &Ident) -> Ident {
    format_ident!("{}_{}", kernel, constant)
}

/// The variant for a value: its name, or a number after `_`.
fn variant(value: &Expr) -> Ident {
    let text = text(value);
    match value {
        Expr::Path(_) => format_ident!("{text}"),
        _ => format_ident!("_{text}"),
    }
}

/// The type parameter for the elements of a kernel's parameter, or of the items of a list.
fn element<'g>(input: &FnArg, generics: &[&'g Ident]) -> Option<&'g Ident> {
    let FnArg::Typed(input) = input else {
        return None;
    };
    let ty = match &*input.ty {
        Type::Array(list) => &*list.elem,
        ty => ty,
    };
    let Type::Path(path) = ty else {
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let GenericArgument::Type(Type::Path(element)) = arguments.args.first()? else {
        return None;
    };
    let name = element.path.get_ident()?;
    generics.iter().copied().find(|generic| *generic == name)
}

/// The Rust type of elements for a value of a type parameter; `None` if they have none.
fn element_type(facade: &TokenStream, value: &Expr) -> Option<TokenStream> {
    match Element::from_name(&text(value)) {
        Some(element) if element.rust() == RustType::Absent => None,
        Some(element) => Some(rust_type(facade, element)),
        None => Some(quote!(#value)),
    }
}
