//! The carrier of a module of kernels. Other modules import its items through it.
//!
//! A module of kernels is a macro, too, as a named layout is: `#[kernels] pub mod m` declares a carrier, a macro that holds the tokens of
//! m and of the imports of m, under the names of m and of each public item. `use path::Item` in another module expands to a call of the
//! carrier `path::Item!`. It passes the tokens on to the carrier of the next import, and the last carrier passes all tokens to the one
//! expansion of that module. So rustc resolves paths and privacy, across modules, crates and re-exports.

use crate::kernel::syntax::library::Passed;
use crate::kernel::syntax::module::Module;
use crate::kernel::syntax::source::{HERE, Source};
use crate::notation::{Bound, Context, carrier};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Item, ItemMod, Visibility};

/// The declarations that let other modules import from a module.
pub(super) struct Library {
    /// The carrier, beside the module, under the module's name.
    pub(super) carrier: TokenStream,
    /// The carrier again inside of the module, under the name of each item.
    pub(super) names: TokenStream,
}

impl Library {
    /// The declarations for a module with these tokens; empty if it exports nothing.
    pub(super) fn new(context: &Context, source: &Source, tokens: &TokenStream) -> Self {
        let module = source.module(HERE);
        let key = key(module);
        let passed = source.passed(key, tokens.clone());
        let bound = Bound::Kernels(quote!(#passed));
        Self::of(
            context,
            (&module.vis, &module.ident),
            module.exports(),
            &bound,
        )
    }

    /// The declarations for a module with errors, which have been reported.
    pub(super) fn broken(context: &Context, module: &ItemMod, items: &[Item]) -> Self {
        let exports = items.iter().filter_map(|item| match item {
            Item::Const(item) => Some((&item.vis, &item.ident)),
            Item::Fn(item) => Some((&item.vis, &item.sig.ident)),
            Item::Struct(item) => Some((&item.vis, &item.ident)),
            Item::Enum(item) => Some((&item.vis, &item.ident)),
            Item::Type(item) => Some((&item.vis, &item.ident)),
            _ => None,
        });
        let exports = exports.filter(|(vis, _)| !matches!(vis, Visibility::Inherited));
        Self::of(
            context,
            (&module.vis, &module.ident),
            exports,
            &Bound::Broken,
        )
    }

    fn of<'m>(
        context: &Context,
        (vis, name): (&Visibility, &Ident),
        exports: impl Iterator<Item = (&'m Visibility, &'m Ident)>,
        bound: &Bound,
    ) -> Self {
        let mut exports: Vec<_> = exports.collect();
        exports.sort_by_key(|(_, name)| name.to_string());
        exports.dedup_by_key(|(_, name)| name.to_string());
        if exports.is_empty() {
            return Self {
                carrier: TokenStream::new(),
                names: TokenStream::new(),
            };
        }
        let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
        let exported = public(vis) || exports.iter().any(|(vis, _)| public(vis));
        let (hidden, declaration) = carrier::declaration(context, "kernels", name, exported, bound);
        let name = context.hidden(name);
        let carrier = quote! {
            #declaration
            #[doc(hidden)]
            #[allow(unused_imports)]
            #vis use #hidden as #name;
        };
        let names = exports.iter().map(|(vis, name)| {
            let name = context.hidden(name);
            quote! {
                #[doc(hidden)]
                #[allow(unused_imports)]
                #vis use #hidden as #name;
            }
        });
        Self {
            carrier,
            names: names.collect(),
        }
    }
}

/// The key that distinguishes modules of the same name: the package and the place of the declaration.
pub(super) fn key(module: &Module) -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let hidden = carrier::hidden("kernels", &module.ident);
    format!("{package}:{hidden}")
}

/// Drops the tokens of modules that an earlier binding already passes.
pub(super) fn pass_once(bindings: &mut [(String, Bound)]) {
    let mut seen: Vec<String> = Vec::new();
    for (_, bound) in bindings {
        let Bound::Kernels(tokens) = bound else {
            continue;
        };
        // `Source::new` reports malformed tokens of a carrier.
        let Ok(mut passed) = syn::parse2::<Passed>(tokens.clone()) else {
            continue;
        };
        let all = passed.entries.len();
        passed.entries.retain(|entry| !seen.contains(&entry.key));
        seen.extend(passed.entries.iter().map(|entry| entry.key.clone()));
        if passed.entries.len() < all {
            *tokens = quote!(#passed);
        }
    }
}
