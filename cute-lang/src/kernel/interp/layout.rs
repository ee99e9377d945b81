//! `layout!(…)` in a kernel.

use crate::kernel::interp::{Interpreter, OPERATION_STEPS, VALUES_A_STEP};
use crate::kernel::value::Value;
use crate::notation;
use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Error, Result};

impl Interpreter<'_> {
    /// The value of `layout!(…)`. It may use the names in scope, the constants of the module, and layouts declared outside of it.
    pub(super) fn notation(&mut self, mac: &syn::Macro) -> Result<Value> {
        if let Some(span) = self.wrong_name(mac.tokens.clone()) {
            return Err(self.follow(span));
        }
        let names: usize = self.scopes.iter().map(HashMap::len).sum();
        self.work(OPERATION_STEPS + names / VALUES_A_STEP, mac.path.span())?;
        let mut known: HashMap<String, cute_algebra::Value> = HashMap::new();
        for scope in &self.scopes {
            known.extend(
                scope.iter().filter_map(|(name, value)| {
                    Some((name.clone(), value.as_ref()?.to_algebra()?))
                }),
            );
        }
        self.add_constants(mac.tokens.clone(), &mut known)?;
        for (name, path) in notation::layout_names(mac.tokens.clone())? {
            if !known.contains_key(&name) {
                known.insert(name.clone(), self.named_layout(&name, path)?);
            }
        }
        notation::eval(mac.tokens.clone(), &|name| known.get(name).cloned())
            .map(Value::from_algebra)
    }

    /// Adds the constants of the module named by the tokens, unless a name in scope hides them.
    fn add_constants(
        &mut self,
        tokens: TokenStream,
        known: &mut HashMap<String, cute_algebra::Value>,
    ) -> Result<()> {
        let source = self.source;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_constants(group.stream(), known)?,
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    let constant = source.constant(self.module, &name);
                    if let (None, Some((module, item))) = (self.find(&name), constant)
                        && let Some(value) = self.constant(module, item)?.to_algebra()
                    {
                        known.insert(name, value);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The value of a layout declared outside of the module.
    fn named_layout(&mut self, name: &str, path: TokenStream) -> Result<cute_algebra::Value> {
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Err(Error::new_spanned(
                path,
                format!("`{name}` is known only when the kernel runs"),
            ));
        }
        match self.source.layout(self.module, name) {
            Some(bound) => bound
                .value(name)
                .map_err(|message| Error::new_spanned(path, message)),
            None => {
                self.source.unresolved.borrow_mut().push(path.clone());
                Err(Error::new_spanned(
                    path,
                    format!("cannot find layout `{name}`"),
                ))
            }
        }
    }

    /// The first name among the tokens with an error in its definition.
    fn wrong_name(&self, tokens: TokenStream) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => self.wrong_name(group.stream()),
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let value = self.find(&name)?;
                value.is_none().then(|| ident.span())
            }
            _ => None,
        })
    }
}
