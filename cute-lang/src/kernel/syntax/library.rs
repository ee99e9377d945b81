//! Modules of kernels as the tokens that their carriers pass to the modules that import them.
//!
//! ```text
//! passed := "key" entry*                                  // the module that is named, and what is needed to read it
//! entry  := "key" "[" (path "=" bound),* "]" "{" module "}"
//! ```
//!
//! The path and bound of an entry are those of what its module names outside of it.

use crate::notation::{Bound, bindings};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Result, braced, bracketed};

/// What a carrier of a module of kernels passes.
pub(crate) struct Passed {
    /// The key of the module that is named.
    pub(crate) key: String,
    /// The modules, as far as they are not passed elsewhere.
    pub(crate) entries: Vec<Entry>,
}

/// A module.
pub(crate) struct Entry {
    /// What tells it from modules of the same name.
    pub(crate) key: String,
    /// What it names outside of it.
    pub(crate) bindings: Vec<(String, Bound)>,
    /// Its tokens.
    pub(crate) module: TokenStream,
}

impl Parse for Passed {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.parse::<LitStr>()?.value();
        let mut entries = Vec::new();
        while !input.is_empty() {
            entries.push(input.parse()?);
        }
        Ok(Self { key, entries })
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.parse::<LitStr>()?.value();
        let (bound, module);
        bracketed!(bound in input);
        braced!(module in input);
        Ok(Self {
            key,
            bindings: bindings(&bound)?,
            module: module.parse()?,
        })
    }
}

impl ToTokens for Passed {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { key, entries } = self;
        tokens.extend(quote!(#key #(#entries)*));
    }
}

impl ToTokens for Entry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            key,
            bindings,
            module,
        } = self;
        let bindings = bindings.iter().map(|(name, bound)| {
            let path: TokenStream = name.parse().unwrap_or_default();
            quote!(#path = #bound)
        });
        tokens.extend(quote!(#key [#(#bindings),*] { #module }));
    }
}
