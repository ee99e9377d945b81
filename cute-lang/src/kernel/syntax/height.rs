//! How deep the tokens of a module nest.

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use syn::{Error, Result};

/// Greatest height of the syntax tree. Parser and interpreter recurse.
const MAX_HEIGHT: usize = 256;

/// Most characters of a number: reading more takes time that grows with their square.
const MAX_DIGITS: usize = 1024;

/// Refuses what would take the parser, which recurses, to the end of its stack: a bound on the height of the syntax tree,
/// from the tokens alone. An operator, a keyword and a bracket may each add one.
pub(super) fn check_height(tokens: TokenStream) -> Result<()> {
    let mut open = vec![Level::new(tokens)];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.tokens.next() else {
            let height = level.height();
            open.pop();
            if let Some(parent) = open.last_mut() {
                parent.inner = parent.inner.max(height);
            }
            continue;
        };
        if level.after_block && starts_statement(&token) {
            level.end_expression();
        }
        level.after_block = false;
        match &token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => {
                level.end_expression()
            }
            TokenTree::Punct(_) => level.operators += 1,
            TokenTree::Ident(_) => level.operators += usize::from(level.after_word),
            // `f(x)(y)[z]`: what is called or indexed may be a call or an index again.
            TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => {
                level.operators += usize::from(level.after_group);
            }
            TokenTree::Literal(literal) => check_digits(literal)?,
            TokenTree::Group(_) => {}
        }
        level.after_word = matches!(token, TokenTree::Ident(_));
        level.after_group = matches!(token, TokenTree::Group(_));
        if level.height() > MAX_HEIGHT || open.len() > MAX_HEIGHT {
            return Err(Error::new(
                token.span(),
                format!("operators and brackets nest more than {MAX_HEIGHT} deep"),
            ));
        }
        if let TokenTree::Group(group) = token {
            // The level is still the last.
            if let Some(level) = open.last_mut() {
                level.after_block = group.delimiter() == Delimiter::Brace;
            }
            open.push(Level::new(group.stream()));
        }
    }
    Ok(())
}

fn check_digits(literal: &Literal) -> Result<()> {
    let text = literal.to_string();
    if text.len() <= MAX_DIGITS || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    let message = format!(
        "a number of {} characters: the limit is {MAX_DIGITS}",
        text.len()
    );
    Err(Error::new(literal.span(), message))
}

/// What is known of the tokens between two brackets, up to the one that comes next.
struct Level {
    tokens: proc_macro2::token_stream::IntoIter,
    /// Operators of the expression under way.
    operators: usize,
    /// Height of what stands in brackets.
    inner: usize,
    after_word: bool,
    after_group: bool,
    after_block: bool,
}

impl Level {
    fn new(tokens: TokenStream) -> Self {
        Self {
            tokens: tokens.into_iter(),
            operators: 0,
            inner: 0,
            after_word: false,
            after_group: false,
            after_block: false,
        }
    }

    fn height(&self) -> usize {
        self.operators + self.inner + 1
    }

    fn end_expression(&mut self) {
        self.operators = 0;
    }
}

/// Whether a token after a block begins something new; an operator or `else` goes on with what the block is part of.
fn starts_statement(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => punct.as_char() == '#',
        TokenTree::Ident(ident) => ident != "else",
        _ => true,
    }
}
