//! Modules of kernels as tokens. Their carriers pass these tokens to importing modules.
//!
//! ```text
//! passed := "key" entry*                                  // the module that is named, and what is needed to read it
//! entry  := "key" "[" (path "=" bound),* "]" "{" module "}"
//! ```
//!
//! The path and bound of an entry describe names outside of its module.

use crate::kernel::syntax::module::Module;
use crate::notation::{Bound, bindings, known};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, LitStr, Result, braced, bracketed};

/// The tokens that a carrier of a module of kernels passes.
pub(crate) struct Passed {
    /// The key of the named module.
    pub(crate) key: String,
    /// The modules, as far as they are not passed elsewhere.
    pub(crate) entries: Vec<Entry>,
}

/// A module.
pub(crate) struct Entry {
    /// The key that distinguishes modules of the same name.
    pub(crate) key: String,
    /// Names from outside, with their bindings.
    pub(crate) bindings: Vec<(String, Bound)>,
    /// The tokens of the module.
    pub(crate) module: TokenStream,
}

/// The bindings that carriers would pass for the imports of a module. The imported modules are given with their paths.
pub(crate) fn bindings_from(
    module: &Module,
    libraries: &[(&str, TokenStream)],
) -> Result<Vec<(String, Bound)>> {
    let bindings = module.imports.iter().map(|import| {
        let key = import.key();
        let bound = bound_from(&key, libraries)?;
        let missing = || {
            let message = format!("no module of kernels has the path of `{key}`");
            Error::new(import.item.span(), message)
        };
        Ok((key.clone(), bound.ok_or_else(missing)?))
    });
    bindings.collect()
}

/// The binding that a carrier would pass for the path of an import; `None` if no module has the path.
pub(crate) fn bound_from(key: &str, libraries: &[(&str, TokenStream)]) -> Result<Option<Bound>> {
    let found = libraries.iter().find(|(path, _)| {
        key.strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    });
    let Some((path, tokens)) = found else {
        return Ok(None);
    };
    let imported = bindings_from(&Module::parse(tokens.clone())?, libraries)?;
    let mut entries = Vec::new();
    let mut references = Vec::new();
    for (name, bound) in imported {
        if let Bound::Kernels(passed) = bound {
            let passed: Passed = syn::parse2(passed)?;
            let key = &passed.key;
            references.push((name, Bound::Kernels(quote!(#key))));
            entries.extend(passed.entries);
        }
    }
    entries.insert(
        0,
        Entry {
            key: path.to_string(),
            bindings: references,
            module: tokens.clone(),
        },
    );
    let passed = Passed {
        key: path.to_string(),
        entries,
    };
    Ok(Some(Bound::Kernels(quote!(#passed))))
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
        let bindings = known(bindings);
        tokens.extend(quote!(#key [#(#bindings),*] { #module }));
    }
}
