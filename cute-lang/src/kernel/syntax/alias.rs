//! Type aliases.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Error, ItemType, Result, Type};

/// The aliases of a module. None leads to itself.
pub(super) struct Aliases<'m>(HashMap<String, &'m ItemType>);

/// The deepest nesting of aliases.
const MAX_DEPTH: usize = 32;

impl<'m> Aliases<'m> {
    pub(super) fn of(items: &'m [ItemType]) -> Result<Self> {
        let named = items.iter().map(|item| (item.ident.to_string(), item));
        let aliases = Self(named.collect());
        let mut heights = HashMap::new();
        for item in items {
            aliases.height(item, &mut Vec::new(), &mut heights)?;
        }
        Ok(aliases)
    }

    /// How many aliases nest in one, itself included. One in itself is an error.
    fn height(
        &self,
        item: &'m ItemType,
        around: &mut Vec<&'m Ident>,
        known: &mut HashMap<&'m Ident, usize>,
    ) -> Result<usize> {
        if let Some(height) = known.get(&item.ident) {
            return Ok(*height);
        }
        if around.contains(&&item.ident) {
            let message = format!("the type `{}` stands for itself", item.ident);
            return Err(Error::new(item.ident.span(), message));
        }
        around.push(&item.ident);
        let mut height = 0;
        let mut open = vec![item.ty.to_token_stream()];
        while let Some(tokens) = open.pop() {
            for token in tokens {
                match token {
                    TokenTree::Group(group) => open.push(group.stream()),
                    TokenTree::Ident(name) => {
                        if around.len() <= MAX_DEPTH
                            && let Some(inner) = self.0.get(&name.to_string())
                        {
                            height = height.max(self.height(inner, around, known)?);
                        }
                    }
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
        }
        around.pop();
        if around.len() + height >= MAX_DEPTH {
            let message = format!("names of types nest more than {MAX_DEPTH} deep");
            return Err(Error::new(item.ident.span(), message));
        }
        known.insert(&item.ident, height + 1);
        Ok(height + 1)
    }

    /// Replaces an alias without parameters by its type, also in the elements of an array.
    pub(super) fn replace(&self, ty: &mut Type) {
        match ty {
            Type::Array(array) => self.replace(&mut array.elem),
            Type::Path(path) => {
                let name = path.path.get_ident().map(Ident::to_string);
                let found = name.and_then(|name| self.0.get(&name));
                if let Some(found) = found.filter(|it| it.generics.params.is_empty()) {
                    *ty = (*found.ty).clone();
                    self.replace(ty);
                }
            }
            _ => {}
        }
    }
}
