//! The names in an expression of the notation, as Rust, for an editor.
//!
//! They are found among the tokens without the parser, so they exist while an expression is being typed.

use crate::notation::fold::integers;
use crate::notation::input::{Context, Item, Reader};
use cute_algebra::{CopyAtom, MmaAtom};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::quote;

/// Words of the notation without a meaning in Rust.
const WORDS: &[&str] = &["o", "then", "where", "ragged", "row", "col", "Sw", "_"];

/// The names in an expression, as a statement; empty for the compiler, and if a carrier has called the macro again.
pub(super) fn expression(context: &Context, body: &TokenStream) -> Option<TokenStream> {
    block(context, || paths(body))
}

/// The names in an item, as an item. Its run-time integers are not variables and are omitted.
pub(super) fn item(context: &Context, item: &Item) -> Option<TokenStream> {
    let names = || {
        let integers = integers(context, &item.body);
        let integers: Vec<String> = integers.iter().map(TokenStream::to_string).collect();
        let mut names = paths(&item.expression());
        names.retain(|name| !integers.contains(&name.to_string()));
        names
    };
    let block = block(context, names)?;
    let conditions = item.conditions();
    Some(quote!(#(#conditions)* const _: () = #block;))
}

fn block(context: &Context, names: impl FnOnce() -> Vec<TokenStream>) -> Option<TokenStream> {
    if context.reader == Reader::Compiler || !context.bindings.is_empty() {
        return None;
    }
    let (facade, names) = (&context.facade, names());
    Some(quote! {
        {
            #[allow(unused_imports)]
            use #facade::operations::*;
            #(let _ = #names;)*
        }
    })
}

/// The paths in tokens of the notation that may be names of layouts, operations or integers.
pub(crate) fn paths(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut names = Vec::new();
    // A list of pending streams replaces recursion, which would be as deep as the input.
    let mut pending = vec![tokens.clone()];
    while let Some(stream) = pending.pop() {
        let mut path: Vec<TokenTree> = Vec::new();
        for token in stream {
            match &token {
                TokenTree::Ident(_) if !ends_with_colons(&path) => {
                    finish(&mut path, &mut names);
                    path.push(token);
                }
                TokenTree::Ident(_) => path.push(token),
                TokenTree::Punct(sign) if sign.as_char() == ':' && !path.is_empty() => {
                    path.push(token);
                }
                TokenTree::Group(group) => {
                    finish(&mut path, &mut names);
                    match group.delimiter() {
                        Delimiter::Brace => {}
                        _ => pending.push(group.stream()),
                    }
                }
                _ => finish(&mut path, &mut names),
            }
        }
        finish(&mut path, &mut names);
    }
    names
}

fn ends_with_colons(path: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(_));
    path.len() > 2 && path[path.len() - 2..].iter().all(is_colon)
}

/// Adds the path read so far, if it may be a name. A single `:` after it is the sign of a layout.
fn finish(path: &mut Vec<TokenTree>, names: &mut Vec<TokenStream>) {
    let mut path = std::mem::take(path);
    while matches!(path.last(), Some(TokenTree::Punct(_))) {
        path.pop();
    }
    let is_name = match &path[..] {
        [] => false,
        [TokenTree::Ident(name)] => is_name(name),
        _ => true,
    };
    if is_name {
        names.push(path.into_iter().collect());
    }
}

fn is_name(name: &Ident) -> bool {
    let name = name.to_string();
    let is_number = name.starts_with('_') && name[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_operation = name.parse::<CopyAtom>().is_ok() || name.parse::<MmaAtom>().is_ok();
    !is_number && !is_operation && !WORDS.contains(&&name[..])
}
