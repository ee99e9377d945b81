//! A guess at the run-time integers of an expression that does not parse.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// The names where integers may be: beside a comma, a colon or a star, or first or last between parentheses or braces. A name in upper case
/// counts as a layout. A wrong guess only causes a second error.
pub(super) fn seen(body: &TokenStream) -> Vec<Ident> {
    let mut names: Vec<Ident> = Vec::new();
    // A list of pending streams replaces recursion, which would be as deep as the input.
    let mut pending = vec![(body.clone(), false)];
    while let Some((stream, is_inside)) = pending.pop() {
        let tokens: Vec<_> = stream.into_iter().collect();
        let (statement, is_inside) = match tokens.iter().rposition(|token| is_sign(token, ";")) {
            // The facts before the `;` are skipped.
            Some(end) => (&tokens[end + 1..], false),
            None => (&tokens[..], is_inside),
        };
        for (i, token) in statement.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    pending.push((group.stream(), group.delimiter() != Delimiter::Bracket));
                }
                TokenTree::Ident(name) => {
                    let before = i.checked_sub(1).and_then(|before| statement.get(before));
                    let beside = [before, statement.get(i + 1)];
                    let is_call = matches!(beside[1], Some(TokenTree::Group(_)));
                    let is_integer = beside
                        .iter()
                        .any(|token| token.map_or(is_inside, |token| is_sign(token, ",:*")));
                    if is_integer && !is_call && is_variable(name) && !names.contains(name) {
                        names.push(name.clone());
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    names
}

fn is_sign(token: &TokenTree, signs: &str) -> bool {
    matches!(token, TokenTree::Punct(punct) if signs.contains(punct.as_char()))
}

fn is_variable(name: &Ident) -> bool {
    let text = name.to_string();
    text.starts_with(char::is_lowercase) && !["row", "col"].contains(&&text[..])
}
