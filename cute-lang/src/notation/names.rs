//! Duplicate names in a block, and items defined by themselves. Without these checks, rustc would report errors of the expansion.

use crate::notation::input::{Item, idents};
use crate::notation::tokens::{integer_names, is_layout, layout_names};
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::VecDeque;

/// Replaces an item with the name of an earlier one by an error, and sets the fault of items that are defined by themselves.
pub(super) fn check(items: &mut [syn::Result<Item>]) {
    for at in 1..items.len() {
        let (before, item) = items.split_at(at);
        if let Ok(item) = &item[0]
            && before
                .iter()
                .flatten()
                .any(|earlier| collide(earlier, item))
        {
            let message = format!("`{}` is declared twice", item.name);
            items[at] = Err(syn::Error::new_spanned(&item.name, message));
        }
    }
    let mut items: Vec<&mut Item> = items.iter_mut().flatten().collect();
    for at in 0..items.len() {
        items[at].fault = layout_as_integer(&items, at).map(|error| error.to_compile_error());
    }
    let uses: Vec<_> = items.iter().map(|item| uses(item, &items)).collect();
    for start in 0..items.len() {
        let Some(circle) = circle(&uses, start).filter(|_| items[start].fault.is_none()) else {
            continue;
        };
        let names: Vec<_> = (circle
            .iter()
            .map(|(at, _)| format!("`{}`", items[*at].name)))
        .collect();
        let Some((first, others)) = names.split_first() else {
            continue;
        };
        let mut message = format!("{first} is used in its own definition");
        if !others.is_empty() {
            message += &format!(", through {}", others.join(" and "));
        }
        // One error for the circle, at the use in its first item.
        for (at, _) in &circle {
            items[*at].fault = Some(TokenStream::new());
        }
        let error = syn::Error::new_spanned(circle[0].1, message);
        items[start].fault = Some(error.to_compile_error());
    }
}

/// The error of the first name where an integer is needed, as in a tuple, that is a layout of the block.
fn layout_as_integer(items: &[&mut Item], at: usize) -> Option<syn::Error> {
    let expression: Vec<TokenTree> = items[at].expression().into_iter().collect();
    let declared = |word: &Ident| items.iter().position(|item| item.name == *word);
    let names = idents(&expression);
    let mut used = names
        .iter()
        .filter_map(|name| Some((name, declared(name)?)));
    if !used.clone().any(|(_, other)| other != at) {
        return None;
    }
    let integers = integer_names(expression.into_iter().collect());
    let (name, _) = used.find(|(name, other)| {
        integers.iter().any(|integer| *name == integer) && is_layout(items[*other].expression())
    })?;
    let message = format!(
        "`{name}` is a layout, and the names in a tuple are integers: layouts are put side by side by `concat({name}, …)`"
    );
    Some(syn::Error::new_spanned(name, message))
}

/// Whether the two names collide. Of two items under `cfg`, one may be absent.
fn collide(earlier: &Item, item: &Item) -> bool {
    earlier.name == item.name && !(earlier.is_conditional() && item.is_conditional())
}

/// The items of the block named by an item, with the tokens that name them.
fn uses(item: &Item, items: &[&mut Item]) -> Vec<(usize, TokenStream)> {
    let expression: Vec<TokenTree> = item.expression().into_iter().collect();
    let is_name = |word: &Ident| items.iter().any(|item| item.name == *word);
    // Most items name none of them, and need no parsing.
    if !idents(&expression).iter().any(is_name) {
        return Vec::new();
    }
    let names = layout_names(expression.into_iter().collect()).unwrap_or_default();
    let found = names.into_iter().filter_map(|(name, path)| {
        let at = items.iter().position(|item| item.name == name)?;
        Some((at, path))
    });
    found.collect()
}

/// The items of the shortest circle of uses through an item, from this item on, each with its use of the next.
fn circle(uses: &[Vec<(usize, TokenStream)>], start: usize) -> Option<Vec<(usize, &TokenStream)>> {
    let mut reached = vec![false; uses.len()];
    let mut pending = VecDeque::from([(start, Vec::new())]);
    while let Some((item, path)) = pending.pop_front() {
        for (next, by) in &uses[item] {
            let longer = || path.iter().copied().chain([(item, by)]).collect();
            if *next == start {
                return Some(longer());
            }
            if !reached[*next] {
                reached[*next] = true;
                pending.push_back((*next, longer()));
            }
        }
    }
    None
}
