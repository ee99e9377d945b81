//! What the macros are called with.
//!
//! ```text
//! input   := "[" facade ("," path "=" (literal | "error"))* "]" body
//! body    := item (";" item)* [";"]  |  expression
//! item    := attribute* [visibility] ["mut"] name "=" expression
//! ```
//!
//! The facade is `$crate` of the `macro_rules!` macro that users call; the rest of the first group are names that
//! carriers have resolved already.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, LitStr, Token, Visibility};

/// The parsed input.
pub(super) enum Input {
    /// In the place of an expression.
    Expression { context: Context, body: TokenStream },
    /// In the place of items.
    Items {
        context: Context,
        items: Vec<syn::Result<Item>>,
    },
}

/// What does not come from the user.
pub(crate) struct Context {
    /// Path of the crate that expansions name.
    pub(crate) facade: TokenStream,
    /// Names and their values in the notation; none where the definition of the name has an error.
    pub(crate) bindings: Vec<(String, Option<String>)>,
}

/// `pub A = …`.
pub(super) struct Item {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    /// Of a tiling: it must be proved that no two of its coordinates share an element.
    pub(super) mutable: Option<Token![mut]>,
    pub(super) name: Ident,
    /// The expression.
    pub(super) body: TokenStream,
    /// All of the item.
    pub(super) tokens: TokenStream,
}

impl Input {
    pub(super) fn parse(input: TokenStream) -> syn::Result<Self> {
        let mut tokens = input.into_iter();
        let context = match tokens.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                Context::parse.parse2(group.stream())?
            }
            _ => {
                return Err(syn::Error::new(
                    proc_macro2::Span::call_site(),
                    "call this macro through the facade",
                ));
            }
        };
        let body: Vec<TokenTree> = tokens.collect();
        if !is_items(&body) {
            return Ok(Self::Expression {
                context,
                body: body.into_iter().collect(),
            });
        }
        let items = body
            .split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'))
            .filter(|tokens| !tokens.is_empty())
            .map(|tokens| Item::parse.parse2(tokens.iter().cloned().collect()))
            .collect();
        Ok(Self::Items { context, items })
    }
}

/// Items have a `=`, which expressions never do, or begin as only items do.
fn is_items(body: &[TokenTree]) -> bool {
    let first = body.first().map(ToString::to_string);
    matches!(first.as_deref(), Some("pub" | "#"))
        || body.iter().any(|token| matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | ';')))
}

impl Context {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let facade = tokens_until(input, |input| input.peek(Token![,]))?;
        let mut bindings = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() {
            let path = tokens_until(input, |input| input.peek(Token![=]))?;
            let name = path.into_iter().map(|token| token.to_string()).collect();
            input.parse::<Token![=]>()?;
            let value = match input.peek(LitStr) {
                true => Some(input.parse::<LitStr>()?.value()),
                false => {
                    input.parse::<Ident>()?;
                    None
                }
            };
            bindings.push((name, value));
        }
        Ok(Self { facade, bindings })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens = input.fork().parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mutable = input.parse()?;
        let name = input.parse()?;
        let sign = input.parse::<Token![=]>()?;
        if input.is_empty() {
            return Err(syn::Error::new_spanned(
                sign,
                "expected an expression after `=`",
            ));
        }
        Ok(Self {
            attributes,
            visibility,
            mutable,
            name,
            body: input.parse()?,
            tokens,
        })
    }
}

fn tokens_until(
    input: ParseStream<'_>,
    end: fn(ParseStream<'_>) -> bool,
) -> syn::Result<TokenStream> {
    let mut tokens = Vec::new();
    while !input.is_empty() && !end(input) {
        tokens.push(input.parse::<TokenTree>()?);
    }
    Ok(tokens.into_iter().collect())
}
