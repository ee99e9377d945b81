//! Stubs for a module whose kernels have errors: their types, with a `launch` of the same arguments, so that uses give no further errors.

use super::library::Library;
use super::{editor, item, open};
use crate::kernel::syntax::kernel::instance_names;
use crate::kernel::syntax::legible::legible;
use crate::kernel::syntax::module::{self, Module};
use crate::kernel::syntax::plain::{is_plain, primitive};
use crate::kernel::syntax::product::MAX_INSTANCES;
use crate::notation::{Context, Reader};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, FnArg, GenericParam, Item, ItemFn, Safety, Type};

/// The module with a stub for each instance, or nothing if the input is not a module.
pub(crate) fn module(context: &Context, module: TokenStream) -> TokenStream {
    let facade = &context.facade;
    let tokens = module.clone();
    let read = match context.reader {
        Reader::Compiler => module::items(module).ok(),
        Reader::Editor => legible(module),
    };
    let Some((module, items)) = read else {
        return TokenStream::new();
    };
    let Library {
        carrier,
        names: exported,
    } = Library::broken(context, &module, &items);
    let plain: Vec<Ident> = (items.iter())
        .filter_map(|item| match item {
            Item::Struct(item) if is_plain(item) => Some(item.ident.clone()),
            _ => None,
        })
        .collect();
    let kernels = items.iter().filter_map(|item| match item {
        Item::Fn(function) if attributes(function, "kernel").next().is_some() => Some(function),
        _ => None,
    });
    let stubs = kernels.flat_map(|kernel| {
        let arguments: Vec<_> = kernel
            .sig
            .inputs
            .iter()
            .map(|input| argument(facade, input))
            .collect();
        let safety = &kernel.sig.safety;
        let stub = |(name, open): &(Ident, Vec<Ident>)| match open.is_empty() {
            true => stub(facade, name, safety, &arguments),
            false => {
                let fields = fields(facade, kernel, open, &plain);
                let declaration = open::declaration(&[], name, &fields);
                let functions = open::stub(facade, name, safety, &arguments);
                quote!(#declaration #functions)
            }
        };
        let names = instance_names(kernel, &|array| length(&items, array));
        names.iter().map(stub).collect::<Vec<_>>()
    });
    let stubs: TokenStream = stubs.collect();
    // Items after a missing brace are in the module, and name items around it.
    let shown = editor::items(context, &tokens).map(|items| {
        quote! {
            #[allow(unused_imports)]
            use super::*;
            #items
        }
    });
    let (module, _) = Module::of(module, items);
    let declared = item::placeholders(&module);
    let Module {
        attrs, vis, ident, ..
    } = module;
    quote! {
        #carrier
        #(#attrs)*
        #[allow(missing_docs, non_camel_case_types, clippy::missing_safety_doc)]
        #vis mod #ident {
            #shown
            #declared
            #stubs
            #exported
        }
    }
}

/// The length of an array of the module, as far as it is written.
fn length(items: &[Item], array: &Expr) -> usize {
    let Expr::Path(path) = array else {
        return 0;
    };
    let found = items.iter().find_map(|item| match item {
        Item::Const(item) if path.path.is_ident(&item.ident) => Some(item),
        _ => None,
    });
    let length = found.and_then(item::written_length).unwrap_or_default();
    length.min(MAX_INSTANCES)
}

fn attributes<'a>(function: &'a ItemFn, name: &'a str) -> impl Iterator<Item = &'a Attribute> {
    function
        .attrs
        .iter()
        .filter(move |attr| attr.path().is_ident(name))
}

/// The values of an instance that are given at run time. If host code cannot have the type of one, it is `()`.
fn fields<'k>(
    facade: &TokenStream,
    kernel: &'k ItemFn,
    open: &[Ident],
    plain: &[Ident],
) -> Vec<(&'k Ident, TokenStream)> {
    let params = kernel.sig.generics.params.iter();
    let is_known = |ty: &Type| match ty {
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| plain.contains(name)),
        _ => false,
    };
    let fields = params.filter_map(|param| match param {
        GenericParam::Type(param) => Some((&param.ident, quote!(#facade::ElementType))),
        GenericParam::Const(param) => Some(
            match primitive(&param.ty).is_some() || is_known(&param.ty) {
                true => (&param.ident, param.ty.to_token_stream()),
                false => (&param.ident, quote!(())),
            },
        ),
        GenericParam::Lifetime(_) => None,
    });
    fields.filter(|(name, _)| open.contains(name)).collect()
}

/// The type of a launch argument: a number or a view. Every argument is accepted for a list, which may be a vector, and for a parameter
/// with a wrong type.
fn argument(facade: &TokenStream, input: &FnArg) -> TokenStream {
    let FnArg::Typed(input) = input else {
        return quote!(impl ::core::marker::Sized);
    };
    let segment = match &*input.ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let Some(name) = segment.map(|segment| &segment.ident) else {
        return quote!(impl ::core::marker::Sized);
    };
    match name.to_string().as_str() {
        "TmaLoad" | "TmaStore" | "Store" | "Global" => {
            quote!(impl ::core::convert::Into<#facade::__private::Argument<'a>>)
        }
        "u32" | "i32" | "u64" | "i64" | "f32" | "f64" => quote!(::core::primitive::#name),
        _ => quote!(impl ::core::marker::Sized),
    }
}

fn stub(
    facade: &TokenStream,
    name: &Ident,
    safety: &Safety,
    arguments: &[TokenStream],
) -> TokenStream {
    quote! {
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        pub struct #name;

        unsafe impl #facade::Kernel for #name {
            const NAME: &'static ::core::primitive::str = "";
            const PTX: &'static ::core::primitive::str = "";
            const THREADS: ::core::primitive::u32 = 0;
            const CLUSTER: [::core::primitive::u32; 3] = [0; 3];
            const SMEM_BYTES: ::core::primitive::u32 = 0;
            const PARAMS: &'static [#facade::Param] = &[];
        }

        impl #name {
            #[allow(clippy::too_many_arguments)]
            pub #safety fn launch<'a>(
                _: &#facade::Device,
                _: impl ::core::convert::Into<#facade::Grid>,
                #(_: #arguments),*
            ) -> ::core::result::Result<(), #facade::Error> {
                ::core::unreachable!()
            }
        }
    }
}
