//! The source text of statements, for the comments in the PTX.
//!
//! The text is made from the tokens, with the spaces of rustfmt. Only within the compiler does the span of a token have the text itself.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Stmt};

/// The most characters of a comment.
const MAX_CHARS: usize = 100;

/// After so many characters, no more are written.
const WRITTEN: usize = 4 * MAX_CHARS;

/// The statement on one line. A compound statement is shown up to its block.
pub(crate) fn statement(stmt: &Stmt) -> String {
    shorten(match stmt {
        Stmt::Expr(expr, _) => head(expr),
        Stmt::Local(local) => match &local.init {
            Some(init) if init.diverge.is_some() => {
                let (keyword, pat, value) = (local.let_token, &local.pat, &init.expr);
                quote::quote!(#keyword #pat = #value else)
            }
            _ => stmt.to_token_stream(),
        },
        stmt => stmt.to_token_stream(),
    })
}

/// Where the text of a statement begins. A block has no text.
pub(crate) fn start(stmt: &Stmt) -> Option<Span> {
    match stmt {
        Stmt::Local(local) if local.attrs.is_empty() => Some(local.let_token.span),
        Stmt::Expr(Expr::Block(_), _) => None,
        Stmt::Expr(expr, _) => start_of(expr),
        stmt => first(stmt.to_token_stream()),
    }
}

/// The start of an expression. Converting it to tokens, as the last arm does, takes far longer.
fn start_of(expr: &Expr) -> Option<Span> {
    match expr {
        Expr::Assign(e) if e.attrs.is_empty() => start_of(&e.left),
        Expr::Binary(e) if e.attrs.is_empty() => start_of(&e.left),
        Expr::Call(e) if e.attrs.is_empty() => start_of(&e.func),
        Expr::Field(e) if e.attrs.is_empty() => start_of(&e.base),
        Expr::ForLoop(e) => Some(e.for_token.span),
        Expr::If(e) => Some(e.if_token.span),
        Expr::Index(e) if e.attrs.is_empty() => start_of(&e.expr),
        Expr::Loop(e) => Some(e.loop_token.span),
        Expr::MethodCall(e) if e.attrs.is_empty() => start_of(&e.receiver),
        Expr::Path(e) if e.attrs.is_empty() && e.qself.is_none() => match e.path.leading_colon {
            Some(colons) => Some(colons.spans[0]),
            None => Some(e.path.segments.first()?.ident.span()),
        },
        Expr::While(e) => Some(e.while_token.span),
        expr => first(expr.to_token_stream()),
    }
}

fn first(tokens: TokenStream) -> Option<Span> {
    Some(tokens.into_iter().next()?.span())
}

fn head(expr: &Expr) -> TokenStream {
    match expr {
        Expr::If(e) => {
            let (keyword, cond) = (e.if_token, &e.cond);
            quote::quote!(#keyword #cond)
        }
        Expr::ForLoop(e) => {
            let (keyword, pat, range) = (e.for_token, &e.pat, &e.expr);
            quote::quote!(#keyword #pat in #range)
        }
        Expr::While(e) => {
            let (keyword, cond) = (e.while_token, &e.cond);
            quote::quote!(#keyword #cond)
        }
        Expr::Loop(e) => e.loop_token.to_token_stream(),
        Expr::Block(_) => TokenStream::new(),
        expr => expr.to_token_stream(),
    }
}

/// The tokens on one line, truncated to [`MAX_CHARS`]. Non-ASCII characters become `?`, because ptxas warns about them even in comments.
pub(crate) fn shorten(tokens: TokenStream) -> String {
    cut(tokens, MAX_CHARS)
}

/// The tokens of a fact on one line. Unlike a comment, it is not truncated, so that a printed fact can be stated again.
pub(crate) fn fact(tokens: TokenStream) -> String {
    cut(tokens, WRITTEN)
}

fn cut(tokens: TokenStream, most: usize) -> String {
    let mut text = String::new();
    write(tokens, &mut text);
    let ascii = |char: char| if char.is_ascii() { char } else { '?' };
    let text: String = text
        .trim_end_matches([';', ' '])
        .chars()
        .map(ascii)
        .collect();
    match text.get(..most) {
        Some(start) if start != text => format!("{start}..."),
        _ => text,
    }
}

/// The kind of the previous token, which determines whether a space follows.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    /// Nothing, or an opening delimiter: no space follows.
    Open,
    /// An identifier or a literal.
    Word,
    /// A word before an operand: `let`, `mut`, `in`, `return`.
    Keyword,
    /// A closing delimiter.
    Close,
    /// An operator with a space on both sides.
    Binary,
    /// An operator without a space after it.
    Tight,
    /// `,` and `;`: a space follows.
    Comma,
}

fn write(tokens: TokenStream, out: &mut String) {
    let mut previous = Previous::Open;
    let mut generics = 0;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if out.len() > WRITTEN {
            return;
        }
        match token {
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                space(out, !matches!(previous, Previous::Open | Previous::Tight));
                let keyword = [
                    "let", "mut", "in", "return", "if", "else", "while", "for", "as", "match",
                ];
                previous = if keyword.contains(&word.as_str()) {
                    Previous::Keyword
                } else {
                    Previous::Word
                };
                out.push_str(&word);
            }
            TokenTree::Literal(literal) => {
                space(out, !matches!(previous, Previous::Open | Previous::Tight));
                out.push_str(&literal.to_string());
                previous = Previous::Word;
            }
            TokenTree::Group(group) if out.ends_with("layout!") => {
                notation(TokenTree::Group(group).into(), out);
                previous = Previous::Close;
            }
            TokenTree::Group(group) => {
                let call = matches!(
                    previous,
                    Previous::Open | Previous::Word | Previous::Close | Previous::Tight
                );
                let (open, close) = delimiters(&group);
                space(
                    out,
                    !call || (group.delimiter() == Delimiter::Brace && previous != Previous::Open),
                );
                out.push_str(open);
                write(group.stream(), out);
                out.push_str(close);
                previous = Previous::Close;
            }
            TokenTree::Punct(punct) => {
                let mut operator = punct.as_char().to_string();
                let mut joint = punct.spacing() == Spacing::Joint;
                while joint && let Some(TokenTree::Punct(next)) = tokens.peek() {
                    if generics > 0 && operator == ">" {
                        break;
                    }
                    operator.push(next.as_char());
                    joint = next.spacing() == Spacing::Joint;
                    tokens.next();
                }
                let operand_precedes = matches!(previous, Previous::Word | Previous::Close);
                let capitalised = operator == "<" && follows_type(out);
                previous = match operator.as_str() {
                    "," | ";" | ":" => {
                        out.push_str(&operator);
                        Previous::Comma
                    }
                    "::" | "." | ".." | "..=" => {
                        space(out, matches!(previous, Previous::Binary | Previous::Comma));
                        out.push_str(&operator);
                        Previous::Tight
                    }
                    "'" => {
                        space(out, previous != Previous::Open);
                        out.push('\'');
                        Previous::Tight
                    }
                    "<" if capitalised => {
                        generics += 1;
                        out.push('<');
                        Previous::Tight
                    }
                    ">" if generics > 0 => {
                        generics -= 1;
                        out.push('>');
                        Previous::Word
                    }
                    "!" if operand_precedes => {
                        out.push('!');
                        Previous::Tight
                    }
                    _ if operand_precedes => {
                        out.push(' ');
                        out.push_str(&operator);
                        Previous::Binary
                    }
                    _ => {
                        space(out, !matches!(previous, Previous::Open | Previous::Tight));
                        out.push_str(&operator);
                        Previous::Tight
                    }
                };
            }
        }
    }
}

/// Layouts are written without spaces, except around `o` and `then`.
fn notation(tokens: TokenStream, out: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = delimiters(&group);
                out.push_str(open);
                notation(group.stream(), out);
                out.push_str(close);
            }
            TokenTree::Ident(ident) if ident == "o" || ident == "then" => {
                out.push_str(&format!(" {ident} "))
            }
            TokenTree::Punct(punct) => out.push(punct.as_char()),
            word => {
                space(
                    out,
                    out.ends_with(|c: char| c.is_alphanumeric() || c == '_'),
                );
                out.push_str(&word.to_string());
            }
        }
    }
}

fn delimiters(group: &Group) -> (&'static str, &'static str) {
    match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{ ", " }"),
        Delimiter::None => ("", ""),
    }
}

/// Whether a `<` now opens generic arguments: the text ends with `::` or with the name of a type.
fn follows_type(out: &str) -> bool {
    let word = out
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or("");
    out.ends_with("::")
        || (word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase))
}

fn space(out: &mut String, wanted: bool) {
    if wanted && !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the first statement of a block.
    fn first(block: &str) -> String {
        let block: syn::Block = syn::parse_str(block).expect("a statement");
        statement(&block.stmts[0])
    }

    /// Checks that the text of a statement is its source.
    fn check(text: &str) {
        assert_eq!(first(&format!("{{ {text} }}")), text.trim_end_matches(';'));
    }

    #[test]
    fn statements_read_as_written() {
        for text in [
            "let block = layout!(Sw<3,0,3> o (8,8):(8,1)).at(thread());",
            "let (m, n) = (block_idx().1 * TILE, -block_idx().0);",
            "let input = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));",
            "wgmma(acc, local_tile(sa[(_, _, *stage)], (64, BK), (consumer, 0)), sb[(_, _, *stage)], kt > 0);",
            "advance::<STAGES>(&mut stage, &mut phase);",
            "*phase ^= 1;",
            "let high = ptx!(u32: \"mul.hi.u32\", a, -b);",
            "continue 'outer;",
            "let x: u32 = if a <= b { a } else { b << 2 };",
            "let mut y = !(a == b) && -c < 2..4;",
            "t[(i, j)] = convert::<D>(acc[v]) as f32;",
        ] {
            check(text);
        }
    }

    #[test]
    fn compound_statements_stop_before_their_block() {
        let text = first("{ for i in 0..ceil_div(n, 4) { x += i; } }");
        assert_eq!(text, "for i in 0..ceil_div(n, 4)");
        let text = first("{ let Some(x) = next(n) else { return 0; }; }");
        assert_eq!(text, "let Some(x) = next(n) else");
    }

    #[test]
    fn long_statements_are_cut() {
        let text = first(&format!("{{ let x = {}1; }}", "1 + ".repeat(100)));
        assert!(text.is_ascii() && text.len() == MAX_CHARS + 3 && text.ends_with("..."));
    }
}
