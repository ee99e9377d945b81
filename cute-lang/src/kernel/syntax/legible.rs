//! The legible parts of a module that does not parse, for example while it is being typed.

use super::height::check_height;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Attribute, Item, ItemMod};

/// The module and those of its items that parse, at least without their bodies. Kernels are also searched in bodies: while a brace is
/// missing, they are there.
pub(crate) fn legible(tokens: TokenStream) -> Option<(ItemMod, Vec<Item>)> {
    check_height(tokens.clone()).ok()?;
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let name = 1 + tokens.iter().position(|token| is_word(token, "mod"))?;
    let (head, body) = tokens.split_at_checked(name + 1)?;
    let module = parsed(head, Some(empty_body()))?;
    let Item::Mod(module) = module else {
        return None;
    };
    let mut items = Vec::new();
    match body {
        [TokenTree::Group(body)] => collect(body.stream(), &mut items),
        _ => collect(body.iter().skip(1).cloned().collect(), &mut items),
    }
    Some((module, items))
}

fn collect(tokens: TokenStream, items: &mut Vec<Item>) {
    let mut item: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match &token {
            _ if is_sign(&token, ';') => {
                items.extend(parsed(&item, Some(token)));
                item.clear();
            }
            TokenTree::Group(body)
                if body.delimiter() == Delimiter::Brace && !ends_with_semicolon(&item) =>
            {
                let whole = parsed(&item, Some(token.clone()));
                items.extend(whole.or_else(|| parsed(&item, Some(empty_body()))));
                let mut inner = Vec::new();
                collect(body.stream(), &mut inner);
                items.extend(inner.into_iter().filter(is_kernel));
                item.clear();
            }
            // An unmatched brace.
            _ if is_sign(&token, '{') || is_sign(&token, '}') => {
                items.extend(parsed(&item, Some(empty_body())));
                item.clear();
            }
            _ => item.push(token),
        }
    }
}

fn is_kernel(item: &Item) -> bool {
    let is_kernel = |attribute: &Attribute| attribute.path().is_ident("kernel");
    matches!(item, Item::Fn(function) if function.attrs.iter().any(is_kernel))
}

/// Whether an item that begins with these tokens ends with `;`: a constant or a `use`.
fn ends_with_semicolon(item: &[TokenTree]) -> bool {
    let mut words = item
        .iter()
        .filter(|token| matches!(token, TokenTree::Ident(_)));
    let first = words.find(|word| !is_word(word, "pub"));
    first.is_some_and(|word| is_word(word, "const") || is_word(word, "use"))
}

/// The item of these tokens. An unfinished item without `;` may precede its attributes.
fn parsed(item: &[TokenTree], end: Option<TokenTree>) -> Option<Item> {
    let attributes = item.iter().position(|token| is_sign(token, '#'));
    let mut starts = [0].into_iter().chain(attributes.filter(|&start| start > 0));
    let item = |start: usize| item[start..].iter().cloned().chain(end.clone());
    starts.find_map(|start| syn::parse2(item(start).collect()).ok())
}

fn empty_body() -> TokenTree {
    Group::new(Delimiter::Brace, TokenStream::new()).into()
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_word(token: &TokenTree, text: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == text)
}
