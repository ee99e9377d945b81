//! `use` in a module of kernels: names of other modules of kernels, and of layouts.

use crate::kernel::syntax::errors::Errors;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, ItemUse, Result, Token, UseTree, Visibility};

/// A name declared by a `use`, or its `*`.
pub struct Import {
    /// The name in this module; `None` for `*`.
    pub name: Option<Ident>,
    /// Whether other modules may import it from here.
    pub vis: Visibility,
    /// The path of the imported item, or of the module before `::*`, seen from outside of this module.
    pub path: TokenStream,
    /// Whether the path begins with `super`, so that it differs inside of this module.
    pub from_outside: bool,
    /// The last name of the path.
    pub item: Ident,
}

impl Import {
    /// The path as text. Carriers use it as the key of the item.
    pub fn key(&self) -> String {
        self.path
            .clone()
            .into_iter()
            .map(|token| token.to_string())
            .collect()
    }

    /// Whether the last two names of the path are equal, as in `gemm::gemm`: an item with the name of its module.
    pub fn doubles(&self) -> bool {
        self.key().ends_with(&format!("{0}::{0}", self.item))
    }
}

/// The names declared by a `use`.
pub(super) fn imports(item: ItemUse) -> Result<Vec<Import>> {
    let mut found = Found {
        vis: item.vis,
        imports: Vec::new(),
        errors: Errors::default(),
    };
    let path = match item.leading_colon {
        Some(colons) => quote!(#colons),
        None => TokenStream::new(),
    };
    let path = Path {
        tokens: path,
        last: None,
        from_outside: false,
    };
    found.add(path, item.tree);
    found.errors.finish(found.imports)
}

struct Found {
    vis: Visibility,
    imports: Vec<Import>,
    errors: Errors,
}

/// The names before the current part of a tree.
#[derive(Clone)]
struct Path {
    tokens: TokenStream,
    last: Option<Ident>,
    /// Whether `super` was before them.
    from_outside: bool,
}

impl Path {
    fn then(&self, name: Ident) -> Self {
        let mut tokens = self.tokens.clone();
        if self.last.is_some() {
            <Token![::]>::default().to_tokens(&mut tokens);
        }
        name.to_tokens(&mut tokens);
        Self {
            tokens,
            last: Some(name),
            from_outside: self.from_outside,
        }
    }
}

impl Found {
    fn add(&mut self, path: Path, tree: UseTree) {
        match tree {
            UseTree::Path(tree)
                if tree.ident == "super" && path.last.is_none() && !path.from_outside =>
            {
                // The path is resolved in the parent of the module.
                let path = Path {
                    from_outside: true,
                    ..path
                };
                self.add(path, *tree.tree);
            }
            UseTree::Path(tree) if tree.ident == "self" && path.last.is_none() => {
                self.errors.push(Error::new(
                    tree.ident.span(),
                    "the names of this module are in scope without `use`",
                ));
            }
            UseTree::Path(tree) => self.add(path.then(tree.ident), *tree.tree),
            UseTree::Group(group) => {
                for tree in group.items {
                    self.add(path.clone(), tree);
                }
            }
            UseTree::Name(tree) if tree.ident == "self" => self.name(path, None, tree.ident.span()),
            UseTree::Name(tree) => {
                let span = tree.ident.span();
                self.name(path.then(tree.ident), None, span);
            }
            UseTree::Rename(tree) if tree.ident == "self" => {
                self.name(path, Some(tree.rename), tree.ident.span());
            }
            UseTree::Rename(tree) => {
                let span = tree.ident.span();
                self.name(path.then(tree.ident), Some(tree.rename), span);
            }
            UseTree::Glob(tree) => match path.last {
                Some(item) => self.imports.push(Import {
                    name: None,
                    vis: self.vis.clone(),
                    path: path.tokens,
                    from_outside: path.from_outside,
                    item,
                }),
                None => self.errors.push(Error::new(
                    tree.star_token.spans[0],
                    "`*` follows the path of a module of kernels",
                )),
            },
        }
    }

    fn name(&mut self, path: Path, rename: Option<Ident>, span: Span) {
        let Some(item) = path.last else {
            return self.errors.push(Error::new(
                span,
                "`self` follows the path of a module of kernels",
            ));
        };
        self.imports.push(Import {
            name: Some(rename.unwrap_or_else(|| item.clone())),
            vis: self.vis.clone(),
            path: path.tokens,
            from_outside: path.from_outside,
            item,
        });
    }
}
