//! A limit on the nesting of a module. It bounds the recursion of the parser.

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use syn::{Error, Result};

/// The greatest height of the syntax tree. The parser and the interpreter recurse as deep.
const MAX_HEIGHT: usize = 256;

/// The most characters of a number. The time to read one grows with the square of its length.
const MAX_DIGITS: usize = 1024;

/// Refuses a module whose syntax tree may be too high for the stack of the parser. The bound on the height uses the tokens alone: an
/// operator, a keyword and a bracket each add at most one.
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
            // An attribute is read beside the others, not inside of them.
            TokenTree::Punct(punct) if punct.as_char() == '#' => {}
            TokenTree::Punct(_) => level.operators += 1,
            TokenTree::Ident(_) => level.operators += usize::from(level.after_word),
            // In `f(x)(y)[z]`, each group after another adds to the height.
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
                format!(
                    "operators and brackets nest more than {MAX_HEIGHT} deep: give inner parts names, by `let` or as functions of the module"
                ),
            ));
        }
        if let TokenTree::Group(group) = token {
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

/// The tokens between two brackets read so far.
struct Level {
    tokens: proc_macro2::token_stream::IntoIter,
    /// Operators of the current expression.
    operators: usize,
    /// The greatest height of the nested brackets.
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

/// Whether a token after a block begins a new statement. An operator or `else` continues the expression of the block.
fn starts_statement(token: &TokenTree) -> bool {
    match token {
        // An attribute, or the label of a loop.
        TokenTree::Punct(punct) => matches!(punct.as_char(), '#' | '\''),
        TokenTree::Ident(ident) => ident != "else",
        _ => true,
    }
}
