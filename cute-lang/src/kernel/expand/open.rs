//! The type of an instance with some values given at run time.

use super::instance::safety;
use super::library::key;
use super::parameter::rust_type;
use crate::kernel::lower::{Field, FieldType, Open};
use crate::kernel::syntax::placed::Placed;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Element;
use crate::notation::carrier;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Safety};

/// The types of all open instances of a module.
pub(super) struct Opens {
    /// The declarations beside the module.
    pub(super) outside: TokenStream,
    /// The declarations in the module.
    pub(super) inside: TokenStream,
}

impl Opens {
    /// The types, and the text from which their instances are made. Empty for a module without open instances.
    pub(super) fn new(
        facade: &TokenStream,
        source: &Source,
        tokens: &TokenStream,
        opens: &[Open<'_>],
    ) -> Self {
        if opens.is_empty() {
            return Self {
                outside: TokenStream::new(),
                inside: TokenStream::new(),
            };
        }
        let types = opens.iter().map(|open| instance(facade, open));
        let text = text(facade, source, tokens);
        Self {
            outside: aliases(opens),
            inside: quote!(#(#types)* #text),
        }
    }
}

/// The imported structs, under names by which the module finds them in Rust.
fn aliases(opens: &[Open<'_>]) -> TokenStream {
    let mut known: Vec<Ident> = Vec::new();
    let mut aliases = TokenStream::new();
    for field in opens.iter().flat_map(|open| &open.fields) {
        let FieldType::Struct {
            name,
            path: Some(path),
            ..
        } = &field.ty
        else {
            continue;
        };
        let alias = alias(name);
        if !known.contains(&alias) {
            aliases.extend(quote!(#[doc(hidden)] use #path as #alias;));
            known.push(alias);
        }
    }
    aliases
}

fn alias(name: &Ident) -> Ident {
    carrier::hidden("struct", name)
}

/// The module with all of its imports, as text.
fn text(facade: &TokenStream, source: &Source, tokens: &TokenStream) -> TokenStream {
    let passed = source.passed(key(source.module(HERE)), tokens.clone());
    let Placed { text, places, .. } = Placed::new(quote!(#passed));
    let places = places.iter().map(|place| {
        let (line, file, line_of_file) = (place.line, &place.file, place.line_of_file);
        quote!((#line, #file, #line_of_file))
    });
    quote! {
        #facade::__private::instantiable! {
            []
            [
                const __MODULE: #facade::__private::Text = #facade::__private::Text {
                    text: #text,
                    places: &[#(#places),*],
                };
            ]
        }
    }
}

fn instance(facade: &TokenStream, open: &Open<'_>) -> TokenStream {
    let name = open.name;
    let text = name.to_string();
    let docs = &open.kernel.docs;
    let fields: Vec<(&Ident, TokenStream)> = (open.fields.iter())
        .map(|field| (field.name, field_type(facade, field)))
        .collect();
    let declaration = declaration(docs, name, &fields);
    let values = open.fields.iter().map(|field| value(facade, field));
    let unsafety = open.kernel.unsafety;
    let safety = unsafety.iter().flat_map(|_| safety(&[]));
    let names = open.arguments.iter().map(|(name, _)| name);
    let arguments: Vec<TokenStream> = (open.arguments.iter())
        .map(|(_, number)| argument(facade, *number))
        .collect();
    let launch_doc = format!(" Launches the instance of `{name}` for these values on `grid` CTAs.");
    let stub = stub(facade, name, &open.kernel.function.sig.safety, &arguments);
    let launch = match unsafety {
        None => quote!(#facade::__private::launch_safe_instance(self, device, grid, arguments)),
        Some(_) => {
            quote!(unsafe { #facade::__private::launch_instance(self, device, grid, arguments) })
        }
    };
    let named = open.arguments.iter().zip(&arguments);
    let named = named.map(|((name, _), ty)| quote!(#name: #ty));
    quote! {
        #declaration
        #facade::__private::instantiable! {
            [#stub]
            [
                impl #facade::Instantiate for #name {
                    const NAME: &'static ::core::primitive::str = #text;
                    const MODULE: #facade::__private::Text = __MODULE;
                    fn values(&self) -> #facade::__private::Values {
                        #facade::__private::Values::of(&[#(#values),*])
                    }
                }

                impl #name {
                    #[doc = #launch_doc]
                    /// At the first launch with these values, the instance is made.
                    ///
                    /// # Errors
                    ///
                    /// Values for which there is no instance, and arguments that it cannot take, named with the rule they break;
                    /// nothing has been launched then.
                    #(#[doc = #safety])*
                    #[allow(clippy::too_many_arguments)]
                    pub #unsafety fn launch<'a>(
                        &self,
                        device: &#facade::Device,
                        grid: impl ::core::convert::Into<#facade::Grid>,
                        #(#named),*
                    ) -> ::core::result::Result<(), #facade::Error> {
                        let grid = ::core::convert::Into::into(grid);
                        let arguments: &[#facade::__private::Argument<'_>] =
                            &[#(::core::convert::Into::into(#names)),*];
                        #launch
                    }
                }
            ]
        }
    }
}

/// The struct of an open instance.
pub(super) fn declaration(
    docs: &[Attribute],
    name: &Ident,
    fields: &[(&Ident, TokenStream)],
) -> TokenStream {
    let fields = fields.iter().map(|(name, ty)| {
        let doc = format!(" The value of `{name}`.");
        quote!(#[doc = #doc] pub #name: #ty)
    });
    quote! {
        #(#docs)*
        ///
        /// The values of this instance are given when the program runs.
        #[allow(non_camel_case_types, non_snake_case)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        pub struct #name { #(#fields),* }
    }
}

/// The functions of an open instance whose kernel has errors, or that cannot be made.
pub(super) fn stub(
    facade: &TokenStream,
    name: &Ident,
    safety: &Safety,
    arguments: &[TokenStream],
) -> TokenStream {
    quote! {
        impl #name {
            #[allow(missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            pub #safety fn launch<'a>(
                &self,
                _: &#facade::Device,
                _: impl ::core::convert::Into<#facade::Grid>,
                #(_: #arguments),*
            ) -> ::core::result::Result<(), #facade::Error> {
                ::core::unreachable!()
            }
        }
    }
}

/// The type of a launch argument. The launch determines the elements of a tensor, and whether it is written.
pub(super) fn argument(facade: &TokenStream, number: Option<Element>) -> TokenStream {
    match number {
        Some(number) => rust_type(facade, number),
        None => quote!(impl ::core::convert::Into<#facade::__private::Argument<'a>>),
    }
}

fn field_type(facade: &TokenStream, field: &Field<'_>) -> TokenStream {
    match &field.ty {
        FieldType::Element => quote!(#facade::ElementType),
        FieldType::Number(ty) => quote!(::core::primitive::#ty),
        FieldType::Struct {
            name, path: None, ..
        } => quote!(#name),
        FieldType::Struct { name, .. } => {
            let alias = alias(name);
            quote!(super::#alias)
        }
    }
}

/// A value with its name.
fn value(facade: &TokenStream, field: &Field<'_>) -> TokenStream {
    let name = field.name;
    let text = name.to_string();
    let value = match &field.ty {
        FieldType::Element | FieldType::Number(_) => quote!(&self.#name),
        FieldType::Struct { name: ty, item, .. } => {
            let ty = ty.to_string();
            let parts = item.fields.members().map(|part| {
                let text = part.to_token_stream().to_string();
                quote!((#text, &self.#name.#part))
            });
            quote!(&#facade::__private::Struct(#ty, &[#(#parts),*]))
        }
    };
    quote!((#text, #value))
}
