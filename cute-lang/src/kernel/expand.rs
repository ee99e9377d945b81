//! Instances to Rust: a type for each, with its PTX as a constant and a typed launch.

use super::lower::{Lowered, instances};
use super::param::{Param, ParamKind, TmaParam};
use super::parse::{self, Source};
use super::stub;
use super::value::Element;
use crate::notation::{Context, state};
use cute_hopper::{RustType, SwizzleMode, tma};
use cute_ptx::ast::Type;
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
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

/// Goes on with a module after a carrier has given the value of a layout that it names: `[context] module`.
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
    // A layout named elsewhere is known by its macro, which comes back with its value.
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
    let instances = instances.iter().map(|instance| item(facade, instance));
    quote! {
        #(#attrs)*
        #vis mod #ident {
            #(#instances)*
        }
    }
}

fn item(facade: &TokenStream, instance: &Lowered) -> TokenStream {
    let Lowered {
        name,
        docs,
        threads,
        cluster,
        smem_bytes,
        unsafety,
        ..
    } = instance;
    let [x, y, z] = cluster;
    let text = name.to_string();
    let ptx = raw_string(&instance.module.to_string());
    let params = instance
        .params
        .iter()
        .map(|param| param_value(facade, param));
    let notes = instance.notes.iter().map(|note| format!(" {note}"));
    let notes = match instance.notes.is_empty() {
        true => Vec::new(),
        false => [String::new(), " ```text".into()]
            .into_iter()
            .chain(notes)
            .chain([" ```".into()])
            .collect(),
    };
    let launch_doc = format!(" Launches `{name}` with {threads} threads a CTA on `grid` CTAs.");
    let safety = unsafety.map(|_| safety(&instance.params));
    let safety = safety.iter().flatten();
    let names: Vec<Ident> = instance
        .params
        .iter()
        .map(|param| format_ident!("{}", param.name, span = param.span))
        .collect();
    let types = instance
        .params
        .iter()
        .map(|param| param_type(facade, param));
    quote! {
        #(#docs)*
        #(#[doc = #notes])*
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        pub struct #name;

        unsafe impl #facade::Kernel for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const PTX: &'static ::core::primitive::str = #ptx;
            const THREADS: ::core::primitive::u32 = #threads;
            const CLUSTER: [::core::primitive::u32; 3] = [#x, #y, #z];
            const SMEM_BYTES: ::core::primitive::u32 = #smem_bytes;
            const PARAMS: &'static [#facade::Param] = &[#(#params),*];
        }

        impl #name {
            #[doc = #launch_doc]
            ///
            /// # Errors
            ///
            /// Arguments that the kernel cannot take, named with the rule they break; nothing has been launched then.
            #(#[doc = #safety])*
            #[allow(clippy::too_many_arguments)]
            pub #unsafety fn launch(
                device: &#facade::Device,
                grid: impl ::core::convert::Into<#facade::Grid>,
                #(#names: #types),*
            ) -> ::core::result::Result<(), #facade::Error> {
                let grid = ::core::convert::Into::into(grid);
                let arguments = [
                    #(<#facade::__private::Argument<'_> as ::core::convert::From<_>>::from(#names)),*
                ];
                unsafe { #facade::__private::launch::<Self>(device, grid, &arguments) }
            }
        }
    }
}

/// What the caller of an unsafe launch must keep, as documentation.
fn safety(params: &[Param]) -> Vec<String> {
    let accessed: Vec<String> = params
        .iter()
        .filter_map(|param| match param.kind {
            ParamKind::Global {
                accessed: Some(_), ..
            } => Some(format!("`{}`", param.name)),
            _ => None,
        })
        .collect();
    let contract = match &accessed[..] {
        [] => " What the documentation of the kernel asks for.".into(),
        tensors => format!(
            " With this grid and these numbers, every coordinate at which the kernel reads or writes {} is inside of the \
             tensor.",
            tensors.join(", ")
        ),
    };
    vec![String::new(), " # Safety".into(), String::new(), contract]
}

/// The value of `Param` for a parameter.
fn param_value(facade: &TokenStream, param: &Param) -> TokenStream {
    let name = &param.name;
    match &param.kind {
        ParamKind::TmaLoad(tma) => {
            let recipe = recipe(facade, name, tma);
            quote!(#facade::Param::TmaLoad(#recipe))
        }
        ParamKind::TmaStore(tma) => {
            let recipe = recipe(facade, name, tma);
            quote!(#facade::Param::TmaStore(#recipe))
        }
        ParamKind::Global {
            element,
            rank,
            written,
            ..
        } => {
            let element = element_type(facade, *element);
            quote! {
                #facade::Param::Global { name: #name, element: #element, rank: #rank, written: #written }
            }
        }
        ParamKind::Scalar(ty) => {
            let ty = element_type(facade, scalar_element(*ty));
            quote!(#facade::Param::Scalar { name: #name, ty: #ty })
        }
    }
}

fn recipe(facade: &TokenStream, name: &str, tma: &TmaParam) -> TokenStream {
    let element = element_type(facade, tma.element);
    // A tensor that is never accessed has a map all the same: of single elements, along the contiguous mode as many as
    // the 16 bytes that TMA moves at least.
    let (box_shape, swizzle) = match &tma.recipe {
        Some(recipe) => (recipe.box_shape.clone(), recipe.swizzle),
        None => {
            let mut unit = vec![1; tma.rank - 1];
            unit.push(tma::GLOBAL_ALIGN / tma.element.bytes());
            (unit, SwizzleMode::None)
        }
    };
    let swizzle = format_ident!("{}", format!("{swizzle:?}"));
    // Fetching 256 bytes wastes a fifth of the bandwidth where rows do not start at multiples of it, and gains nothing
    // elsewhere: measured for the GEMM on an H100.
    quote! {
        #facade::TmaRecipe {
            name: #name,
            element: #element,
            box_shape: &[#(#box_shape),*],
            swizzle: #facade::SwizzleMode::#swizzle,
            l2: #facade::L2Promotion::B128,
            fill: #facade::OobFill::Zero,
        }
    }
}

/// The type of a launch argument.
fn param_type(facade: &TokenStream, param: &Param) -> TokenStream {
    let view = |element: Element, rank: usize, written: bool| {
        let element = rust_type(facade, element);
        match written {
            true => quote!(&mut #facade::TensorViewMut<'_, #element, #rank>),
            false => quote!(&#facade::TensorView<'_, #element, #rank>),
        }
    };
    match &param.kind {
        ParamKind::TmaLoad(tma) => view(tma.element, tma.rank, false),
        ParamKind::TmaStore(tma) => view(tma.element, tma.rank, true),
        ParamKind::Global {
            element,
            rank,
            written,
            ..
        } => view(*element, *rank, *written),
        ParamKind::Scalar(ty) => rust_type(facade, scalar_element(*ty)),
    }
}

fn rust_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.name());
    match element.rust() {
        Some(RustType::Primitive) => quote!(::core::primitive::#name),
        // The facade has the types of `half`; the other types are in no signature.
        Some(RustType::Half) | None => quote!(#facade::#name),
    }
}

fn element_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.name().to_uppercase());
    quote!(#facade::ElementType::#name)
}

/// The element type of a number parameter, of which there are only wide ones.
fn scalar_element(ty: Type) -> Element {
    let found = Element::ALL
        .iter()
        .copied()
        .find(|&element| Type::of(element) == ty);
    found.unwrap_or(Element::U32)
}

/// A raw string literal with real line breaks.
fn raw_string(text: &str) -> TokenStream {
    let hashes = (0..)
        .map(|n| "#".repeat(n))
        .find(|hashes| !text.contains(&format!("\"{hashes}")));
    let hashes = hashes.unwrap_or_default();
    let literal: Result<Literal> = format!("r{hashes}\"\n{text}{hashes}\"")
        .parse()
        .map_err(|error| Error::new(Span::call_site(), error));
    match literal {
        Ok(literal) => quote!(#literal),
        Err(_) => quote!(#text),
    }
}
