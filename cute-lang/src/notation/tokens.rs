//! Rust tokens to tokens of the notation, and positions of errors to spans.

use cute_algebra::Value;
use cute_algebra::notation::{
    Definition, Expr, ExprKind, Fact, Names, NotationError, Token, TokenKind, eval_layout, parse,
    parse_integer, parse_where,
};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::ops::Range;
use syn::parse::{Parse, Parser};

/// The value of an expression of the notation. A shape stands for its layout.
///
/// # Errors
/// At the token with the mistake.
pub fn eval(tokens: TokenStream, names: Names<'_>) -> syn::Result<Value> {
    let spanned = Spanned::new(tokens)?;
    let expr = spanned.parse()?;
    eval_layout(&expr, names).map_err(|error| spanned.error(&error))
}

/// The names of layouts in an expression of the notation, with their paths in Rust.
///
/// # Errors
/// At the token with the mistake.
pub fn layout_names(tokens: TokenStream) -> syn::Result<Vec<(String, TokenStream)>> {
    let spanned = Spanned::new(tokens)?;
    let expr = spanned.parse()?;
    let names = expr.layout_names();
    Ok(names
        .into_iter()
        .map(|(name, at)| (name.to_owned(), spanned.path(&at)))
        .collect())
}

/// The names of run-time integers in an expression; none if it has an error.
pub(super) fn integer_names(tokens: TokenStream) -> Vec<String> {
    let parsed = Spanned::new(tokens).and_then(|spanned| spanned.parse());
    let integers = parsed.map(|expr| Definition::new(Vec::new(), expr).integers(&|_| None));
    let names = integers.unwrap_or_default().into_iter();
    names.map(|(name, _)| name).collect()
}

/// Whether an expression is a shape with strides, swizzled or not.
pub(super) fn is_layout(tokens: TokenStream) -> bool {
    let parsed = Spanned::new(tokens).and_then(|spanned| spanned.parse());
    parsed.is_ok_and(|expr| {
        matches!(
            expr.kind,
            ExprKind::Layout(..) | ExprKind::Ordered(..) | ExprKind::Swizzled(_)
        )
    })
}

/// Tokens of the notation. Their positions are indices into `sources`, the list of their spans.
pub(super) struct Spanned {
    tokens: Vec<Token>,
    sources: Vec<Ident>,
    /// The tokens between braces, by position.
    braced: Vec<(usize, TokenStream)>,
}

impl Spanned {
    pub(super) fn new(stream: TokenStream) -> syn::Result<Self> {
        let mut spanned = Self {
            tokens: Vec::new(),
            sources: Vec::new(),
            braced: Vec::new(),
        };
        spanned.flatten(stream)?;
        Ok(spanned)
    }

    pub(super) fn parse(&self) -> syn::Result<Expr> {
        let end = self.sources.len();
        parse(&self.tokens, end..end).map_err(|error| self.error(&error))
    }

    /// Parses an expression, with optional facts about run-time integers in front.
    pub(super) fn parse_where(&self) -> syn::Result<(Vec<Fact>, Expr)> {
        let end = self.sources.len();
        parse_where(&self.tokens, end..end).map_err(|error| self.error(&error))
    }

    /// The Rust expression of a run-time integer. An integer from a named layout is the variable of its name in scope where the layout is
    /// named.
    pub(super) fn leaf(&self, name: &str, at: &Range<usize>) -> TokenStream {
        let text = |tokens: &TokenStream| -> String {
            let text = tokens.to_string();
            text.split_whitespace().collect()
        };
        let inner = self.braced.iter().find(|(start, _)| *start == at.start);
        // In arithmetic between braces, the integer is one of several names.
        let is_all =
            |inner: &TokenStream| text(inner) == name.split_whitespace().collect::<String>();
        if let Some((_, inner)) = inner.filter(|(_, inner)| is_all(inner)) {
            return inner.clone();
        }
        let path = self.path(at);
        let written: String = path
            .clone()
            .into_iter()
            .map(|token| token.to_string())
            .collect();
        if written == name {
            return path;
        }
        let span = self.span(at.end.saturating_sub(1));
        let named: TokenStream = name.parse().unwrap_or_else(|error| {
            let message = format!("the integer `{name}` is no Rust (a defect): {error}");
            syn::Error::new(span, message).to_compile_error()
        });
        let respan = |mut token: TokenTree| {
            token.set_span(span);
            token
        };
        named.into_iter().map(respan).collect()
    }

    /// The error with the span of the tokens at its position.
    pub(super) fn error(&self, error: &NotationError) -> syn::Error {
        let last = error.at.end.saturating_sub(1).max(error.at.start);
        // syn reports an error from the first to the last of these tokens. Joining spans is not stable Rust.
        let cover: TokenStream = [error.at.start, last]
            .map(|position| TokenTree::Ident(Ident::new("_", self.span(position))))
            .into_iter()
            .collect();
        syn::Error::new_spanned(cover, error)
    }

    /// The path of a name.
    pub(super) fn path(&self, at: &Range<usize>) -> TokenStream {
        let segments = &self.sources[at.clone()];
        quote::quote!(#(#segments)::*)
    }

    fn span(&self, position: usize) -> Span {
        self.sources
            .get(position)
            .or(self.sources.last())
            .map_or_else(Span::call_site, Ident::span)
    }

    /// Appends the tokens, with the delimiters of groups among them. A list of pending streams replaces recursion, which would be as deep
    /// as the input.
    fn flatten(&mut self, stream: TokenStream) -> syn::Result<()> {
        let list = |stream: TokenStream| stream.into_iter().collect::<Vec<_>>().into_iter();
        let mut pending = vec![(list(stream), None)];
        while let Some((tokens, close)) = pending.last_mut() {
            let Some(token) = tokens.next() else {
                if let Some(span) = close.take() {
                    self.push(TokenKind::Punct(')'), span);
                }
                pending.pop();
                continue;
            };
            let span = token.span();
            match token {
                TokenTree::Group(group) => match group.delimiter() {
                    Delimiter::Parenthesis => {
                        self.push(TokenKind::Punct('('), group.span_open());
                        pending.push((list(group.stream()), Some(group.span_close())));
                    }
                    // The group around a `macro_rules!` fragment such as `$e:expr`.
                    Delimiter::None => pending.push((list(group.stream()), None)),
                    Delimiter::Brace => {
                        self.braced.push((self.sources.len(), group.stream()));
                        self.push(TokenKind::Braced(group.to_string()), span);
                    }
                    Delimiter::Bracket => {
                        self.push(TokenKind::Other("[".to_owned()), group.span_open())
                    }
                },
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    match text.starts_with(|c: char| c.is_ascii_digit()) {
                        true => self.push_integer(&text, span)?,
                        false => self.push(TokenKind::Other(text), span),
                    }
                }
                TokenTree::Punct(punct) => match punct.as_char() {
                    sign @ ('<' | '>' | ',' | ':' | '@' | '/' | '-') => {
                        self.push(TokenKind::Punct(sign), span)
                    }
                    sign => self.push(TokenKind::Other(sign.to_string()), span),
                },
                TokenTree::Ident(ident) => {
                    let mut path = vec![ident];
                    while let [
                        TokenTree::Punct(a),
                        TokenTree::Punct(b),
                        TokenTree::Ident(segment),
                        ..,
                    ] = tokens.as_slice()
                        && (a.as_char(), b.as_char()) == (':', ':')
                    {
                        path.push(segment.clone());
                        tokens.nth(2);
                    }
                    self.push_path(path)?;
                }
            }
        }
        Ok(())
    }

    fn push_path(&mut self, path: Vec<Ident>) -> syn::Result<()> {
        let name = path
            .iter()
            .map(Ident::to_string)
            .collect::<Vec<_>>()
            .join("::");
        if name == "_" {
            self.push(TokenKind::Punct('_'), path[0].span());
        } else if let Some(digits) = name
            .strip_prefix('_')
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.push_integer(digits, path[0].span())?;
        } else {
            let kind = match can_be_named(&path) {
                true => TokenKind::Word(name),
                false => TokenKind::Other(name),
            };
            let start = self.sources.len();
            self.sources.extend(path);
            self.tokens.push(Token {
                kind,
                at: start..self.sources.len(),
            });
        }
        Ok(())
    }

    fn push_integer(&mut self, digits: &str, span: Span) -> syn::Result<()> {
        let value = parse_integer(digits).map_err(|message| syn::Error::new(span, message))?;
        self.push(TokenKind::Int(value), span);
        Ok(())
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        let start = self.sources.len();
        self.sources.push(Ident::new("_", span));
        self.tokens.push(Token {
            kind,
            at: start..start + 1,
        });
    }
}

/// Whether a macro can have this path. Keywords are refused here, so that the error is not in the expansion.
fn can_be_named(path: &[Ident]) -> bool {
    let is_ident = |segment: &Ident| Ident::parse.parse2(segment.to_token_stream()).is_ok();
    let is_root = |segment: &Ident| {
        ["crate", "self", "super"]
            .iter()
            .any(|root| segment == root)
    };
    match path.split_last() {
        Some((last, modules)) => {
            is_ident(last)
                && modules
                    .iter()
                    .all(|module| is_root(module) || is_ident(module))
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_that_is_no_rust_is_an_error() {
        let spanned = Spanned::new(quote::quote!(A)).unwrap();
        assert_eq!(spanned.leaf("n", &(0..1)).to_string(), "n");
        let error = spanned.leaf("(", &(0..1)).to_string();
        assert!(error.contains("compile_error"), "{error}");
    }
}
