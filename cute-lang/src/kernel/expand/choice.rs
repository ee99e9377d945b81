//! The choice among the instances of `#[instances(…)]` by types and constants, for host functions that are generic.

use super::parameter::{param_type_of, rust_type};
use crate::kernel::lower::Lowered;
use crate::kernel::syntax::kernel::{Choice, Kernel, text_of};
use crate::kernel::value::Element;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Expr, FnArg, GenericArgument, GenericParam, PathArguments, Type};

/// A type with the name of the kernel and a `launch` that chooses; an enum for each constant; and a trait that says for
/// which types there are instances. It is nothing for a kernel without `#[instances(…)]`.
pub(super) fn choice(facade: &TokenStream, kernel: &Kernel, instances: &[Lowered]) -> TokenStream {
    let Some(first) = instances.first().filter(|_| !kernel.choices.is_empty()) else {
        return TokenStream::new();
    };
    let name = &kernel.function.sig.ident;
    let is_type = |choice: &Choice| {
        let mut params = kernel.function.sig.generics.params.iter();
        params.any(|param| matches!(param, GenericParam::Type(param) if choice.names.contains(&param.ident)))
    };
    let (types, constants): (Vec<&Choice>, Vec<&Choice>) =
        kernel.choices.iter().partition(|choice| is_type(choice));
    // A constant is chosen alone.
    let constants: Vec<&Ident> = constants.iter().flat_map(|choice| &choice.names).collect();
    let generics: Vec<&Ident> = types.iter().flat_map(|choice| &choice.names).collect();
    let enums = constants.iter().map(|constant| {
        let choices = kernel.choices.iter();
        let values = choices.filter(|choice| choice.names.contains(constant));
        enumeration(
            name,
            constant,
            values.flat_map(|choice| choice.values.iter().flatten()),
        )
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
    let names: Vec<Ident> = first
        .params
        .iter()
        .map(|param| format_ident!("{}", param.name, span = param.span))
        .collect();
    let constant_names = argument_names(&constants, &names);
    // The types of the arguments, where the first type parameter has that name.
    let argument_types = |generics: &[&Ident], leading: &Ident| -> Vec<TokenStream> {
        let inputs = kernel.function.sig.inputs.iter();
        let pairs = first.params.iter().zip(inputs);
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
    let body = |values: &[(&Ident, &Expr)]| -> TokenStream {
        let arms = kernel
            .instances
            .iter()
            .zip(instances)
            .filter(|(instance, _)| {
                values.iter().all(|(name, value)| {
                    let mut given = instance.values.iter();
                    given.any(|(known, given)| {
                        known == *name && text_of(given).ok() == text_of(value).ok()
                    })
                })
            });
        let arms = arms.filter_map(|(instance, lowered)| {
            let patterns = constants.iter().map(|constant| {
                let (_, value) = instance
                    .values
                    .iter()
                    .find(|(known, _)| known == *constant)?;
                let (ty, variant) = (enum_name(name, constant), variant(value)?);
                Some(quote!(#ty::#variant))
            });
            let patterns: Vec<TokenStream> = patterns.collect::<Option<_>>()?;
            let instance = &lowered.name;
            let call = quote!(#instance::launch(device, grid, #(#names),*));
            let call = match unsafety {
                Some(_) => quote!(unsafe { #call }),
                None => call,
            };
            Some(quote!((#(#patterns,)*) => #call,))
        });
        quote!(match (#(#constant_names,)*) { #(#arms)* })
    };

    let (bound, launch, implementations) = if let Some((first, others)) = generics.split_first() {
        let instances_of = format_ident!("{}_types", name);
        let trait_doc = format!(" The types for which `{name}` has instances.");
        let of_self = argument_types(&generics, &format_ident!("Self"));
        let signature = quote! {
            #unsafety fn launch(
                #(#constant_names: #constant_types,)*
                device: &#facade::Device,
                grid: #facade::Grid,
                #(#names: #of_self),*
            ) -> #result
        };
        let implementations = combinations(&types).into_iter().filter_map(|values| {
            let elements = values.iter().map(|(_, value)| element_type(facade, value));
            let elements: Vec<TokenStream> = elements.collect();
            let (element, rest) = elements.split_first()?;
            let aliases = others.iter().zip(rest);
            let aliases = aliases.map(|(name, element)| quote!(type #name = #element;));
            let body = body(&values);
            Some(quote! {
                const _: () = {
                    #(#aliases)*
                    impl #instances_of<#(#rest),*> for #element {
                        #signature { #body }
                    }
                };
            })
        });
        let call = quote! {
            <#first as #instances_of<#(#others),*>>::launch(#(#constant_names,)* device, grid, #(#names),*)
        };
        let call = match unsafety {
            Some(_) => quote!(unsafe { #call }),
            None => call,
        };
        let declaration = quote! {
            #[doc = #trait_doc]
            #[allow(non_camel_case_types, clippy::missing_safety_doc)]
            pub trait #instances_of<#(#others: #facade::Element),*>: #facade::Element {
                #[doc = #launch_doc]
                #safety
                ///
                /// # Errors
                ///
                /// Those of the instance's `launch`.
                #[allow(clippy::too_many_arguments)]
                #signature;
            }
            #(#implementations)*
        };
        (
            quote!(where #first: #instances_of<#(#others),*>),
            call,
            declaration,
        )
    } else {
        (TokenStream::new(), body(&[]), TokenStream::new())
    };
    let parameters = match generics.split_first() {
        None => TokenStream::new(),
        // That the first is an element type follows from the `where` clause.
        Some((first, others)) => quote!(<#first #(, #others: #facade::Element)*>),
    };
    quote! {
        #(#enums)*
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        pub struct #name;

        impl #name {
            #[doc = #launch_doc]
            #safety
            ///
            /// # Errors
            ///
            /// Those of the instance's `launch`.
            #[allow(clippy::too_many_arguments)]
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
        #implementations
    }
}

/// A name for the argument of each constant: its own in lower case, with `_` behind it where Rust or another argument has that name.
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

/// `gemm_CFG`: an enum of the values of a constant.
fn enumeration<'v>(
    kernel: &Ident,
    constant: &Ident,
    values: impl Iterator<Item = &'v Expr>,
) -> TokenStream {
    let name = enum_name(kernel, constant);
    let doc = format!(" The values of `{constant}` for which `{kernel}` has instances.");
    let variants = values.filter_map(|value| {
        let doc = format!(" `{}`.", text_of(value).ok()?);
        Some((doc, variant(value)?))
    });
    let (docs, variants): (Vec<String>, Vec<Ident>) = variants.unzip();
    let count = variants.len();
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
        }
    }
}

fn enum_name(kernel: &Ident, constant: &Ident) -> Ident {
    format_ident!("{}_{}", kernel, constant)
}

/// The variant for a value: its name, or a number after `_`.
fn variant(value: &Expr) -> Option<Ident> {
    let text = text_of(value).ok()?;
    Some(match value {
        Expr::Path(_) => format_ident!("{text}"),
        _ => format_ident!("_{text}"),
    })
}

/// The type parameter that is the element type of a kernel's parameter.
fn element<'g>(input: &FnArg, generics: &[&'g Ident]) -> Option<&'g Ident> {
    let FnArg::Typed(input) = input else {
        return None;
    };
    let Type::Path(path) = &*input.ty else {
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

/// Each combination of the values of the types.
fn combinations<'c>(types: &[&'c Choice]) -> Vec<Vec<(&'c Ident, &'c Expr)>> {
    types.iter().fold(vec![Vec::new()], |combinations, choice| {
        let longer = combinations.iter().flat_map(|before| {
            choice.pairs().map(|pairs| {
                let mut all = before.clone();
                all.extend(pairs);
                all
            })
        });
        longer.collect()
    })
}

/// The Rust type of elements that a value of a type parameter names.
fn element_type(facade: &TokenStream, value: &Expr) -> TokenStream {
    let element = text_of(value)
        .ok()
        .and_then(|name| Element::from_name(&name));
    match element {
        Some(element) => rust_type(facade, element),
        None => quote!(#value),
    }
}
