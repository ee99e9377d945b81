//! Kernels to Rust: a type for each instance, with its PTX as a constant and a typed launch.

mod instance;
mod parameter;
mod stub;

use crate::kernel::lower::Lowered;
use crate::kernel::lower::instances;
use crate::kernel::syntax::parse;
use crate::kernel::syntax::parse::Source;
use crate::notation::{Context, state};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::{Error, Path, Result, Token};

/// Expands `#[kernels]`, or `#[kernels(crate = path)]` where the facade has another name.
pub fn kernels(attribute: TokenStream, module: TokenStream) -> TokenStream {
    match facade(attribute) {
        Ok(facade) => expand(
            &Context {
                facade,
                bindings: Vec::new(),
            },
            module,
        ),
        Err(error) => error.to_compile_error(),
    }
}

/// Expands a module again after a carrier has passed the value of a layout that the module names. The input is
/// `[context] module`.
pub fn resume(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let context = match tokens.next() {
        Some(TokenTree::Group(group)) => Context::parse.parse2(group.stream()),
        _ => Err(Error::new(
            Span::call_site(),
            "only the expansion of `#[kernels]` calls this macro",
        )),
    };
    match context {
        Ok(context) => expand(&context, tokens.collect()),
        Err(error) => error.to_compile_error(),
    }
}

fn expand(context: &Context, module: TokenStream) -> TokenStream {
    lowered(context, &module).unwrap_or_else(|error| {
        let errors = error.to_compile_error();
        let stubs = stub::module(&context.facade, module);
        quote!(#errors #stubs)
    })
}

fn lowered(context: &Context, module: &TokenStream) -> Result<TokenStream> {
    let mut source = parse::source(module.clone())?;
    source.layouts.clone_from(&context.bindings);
    let error = match instances(&source) {
        Ok(instances) => return Ok(items(&context.facade, &source, &instances)),
        Err(error) => error,
    };
    // A layout that is declared outside of the module has a carrier, a macro that calls `resume` with the value.
    if let Some(carrier) = source.unresolved.borrow().first() {
        let state = state(context, "kernels", carrier);
        return Ok(quote!(#carrier ! { #state #module }));
    }
    Err(error)
}

fn facade(attribute: TokenStream) -> Result<TokenStream> {
    if attribute.is_empty() {
        return Ok(quote!(::cute_runtime));
    }
    let parser = |input: syn::parse::ParseStream<'_>| {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.call(Path::parse_mod_style)
    };
    let path = parser.parse2(attribute)?;
    Ok(quote!(#path))
}

fn items(facade: &TokenStream, source: &Source, instances: &[Lowered]) -> TokenStream {
    let Source {
        attrs, vis, ident, ..
    } = source;
    let instances = instances
        .iter()
        .map(|instance| instance::instance(facade, instance));
    quote! {
        #(#attrs)*
        #vis mod #ident {
            #(#instances)*
        }
    }
}
