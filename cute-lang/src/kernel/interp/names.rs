//! The names that can be used at a place: those of variables and of generic parameters, by block.

use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::source::Source;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::HashMap;
use syn::Error;

/// Resolves the names of a module. `resolve.rs` has what goes through its functions.
pub(super) struct Resolver<'s> {
    pub(super) source: &'s Source,
    /// The names of variables and generic parameters by block, the innermost last.
    pub(super) scopes: Vec<Scope>,
    pub(super) unused: Vec<Ident>,
    pub(super) errors: Errors,
}

/// The names of a block.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) names: Vec<Name>,
    /// By text, the last name.
    last: HashMap<String, usize>,
}

impl Scope {
    pub(super) fn push(&mut self, name: Name) {
        self.last.insert(name.text.clone(), self.names.len());
        self.names.push(name);
    }
}

/// A variable or a generic parameter.
pub(super) struct Name {
    pub(super) text: String,
    /// The declaration of a variable without a use.
    unused: Option<Ident>,
}

impl Name {
    /// A name that may remain unused.
    pub(super) fn known(text: impl ToString) -> Self {
        Self {
            text: text.to_string(),
            unused: None,
        }
    }

    pub(super) fn variable(name: &Ident) -> Self {
        let text = name.to_string();
        Self {
            unused: (!text.starts_with('_')).then(|| name.clone()),
            text,
        }
    }
}

impl<'s> Resolver<'s> {
    /// A resolver outside of all functions.
    pub(super) fn new(source: &'s Source) -> Self {
        Self {
            source,
            scopes: Vec::new(),
            unused: Vec::new(),
            errors: Errors::default(),
        }
    }

    pub(super) fn error(&mut self, error: Error) {
        self.errors.push(error);
    }

    /// Goes through a block with names of its own.
    pub(super) fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        self.scopes.push(Scope::default());
        f(self);
        let names = self.scopes.pop().into_iter().flat_map(|scope| scope.names);
        self.unused.extend(names.filter_map(|name| name.unused));
    }

    /// Whether it is the name of a variable, which is then used, or of a generic parameter.
    pub(super) fn is_local(&mut self, name: &str) -> bool {
        let mut scopes = self.scopes.iter_mut().rev();
        let found = scopes.find_map(|scope| scope.names.get_mut(*scope.last.get(name)?));
        found.is_some_and(|found| {
            found.unused = None;
            true
        })
    }

    /// Marks all variables in tokens with a syntax of their own as used.
    pub(super) fn mention(&mut self, tokens: TokenStream) {
        let mut pending = vec![tokens];
        while let Some(tokens) = pending.pop() {
            for token in tokens {
                match token {
                    TokenTree::Group(group) => pending.push(group.stream()),
                    TokenTree::Ident(name) => _ = self.is_local(&name.to_string()),
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
        }
    }
}
