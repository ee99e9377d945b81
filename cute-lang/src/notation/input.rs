//! What the macros are called with.
//!
//! ```text
//! input   := "[" facade ("," path "=" (literal | "error"))* "]" body
//! body    := (item | facts) (";" (item | facts))* [";"]  |  [facts ";"] expression
//! facts   := "where" fact ("," fact)*                 // about the items after them
//! item    := attribute* [visibility] ["mut"] name "=" expression
//! ```
//!
//! The facade is `$crate` of the `macro_rules!` macro that users call; the rest of the first group are names that
//! carriers have resolved already.

use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;
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
        let unused = check_facts(&body);
        let statements = body.split_inclusive(is_semicolon);
        let mut facts: &[TokenTree] = &[];
        let mut items = Vec::new();
        for statement in statements {
            let (statement, end) = match statement.split_last() {
                Some((end, statement)) if is_semicolon(end) => (statement, Some(end)),
                _ => (statement, None),
            };
            match (statement, end) {
                ([], _) => {}
                ([TokenTree::Ident(first), stated @ ..], Some(_)) if first == "where" => {
                    facts = stated;
                }
                ([TokenTree::Ident(first), ..], None) if first == "where" => {
                    let error =
                        syn::Error::new_spanned(first, "facts end with `;`, and a layout follows");
                    items.push(Err(error));
                }
                (_, None) if items.is_empty() && !is_item(statement) => {
                    unused?;
                    let expression = statement.iter().cloned();
                    return Ok(Self::Expression {
                        context,
                        body: clause(facts).into_iter().chain(expression).collect(),
                    });
                }
                _ => {
                    let item = Item::parse.parse2(statement.iter().cloned().collect());
                    items.push(item.map(|item| item.under(facts)));
                }
            }
        }
        if items.is_empty() {
            let body = clause(facts);
            return Ok(Self::Expression { context, body });
        }
        items.extend(unused.err().map(Err));
        Ok(Self::Items { context, items })
    }
}

/// Items have a `=`, which expressions never do, or begin as only items do.
fn is_item(statement: &[TokenTree]) -> bool {
    let first = statement.first().map(ToString::to_string);
    matches!(first.as_deref(), Some("pub" | "#"))
        || statement
            .iter()
            .any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '='))
}

/// Every name of a fact is in a statement after it.
fn check_facts(body: &[TokenTree]) -> syn::Result<()> {
    let mut rest = body;
    while let Some(end) = rest.iter().position(is_semicolon) {
        let (statement, after) = rest.split_at(end);
        if matches!(statement.first(), Some(TokenTree::Ident(first)) if first == "where") {
            let used = idents(after);
            let unused = idents(statement)
                .into_iter()
                .skip(1)
                .find(|name| !used.contains(name));
            if let Some(name) = unused {
                return Err(syn::Error::new_spanned(
                    &name,
                    format!("a fact about `{name}`, which is in no layout after it"),
                ));
            }
        }
        rest = &after[1..];
    }
    Ok(())
}

/// All identifiers; a list of pending tokens instead of recursion.
fn idents(tokens: &[TokenTree]) -> Vec<Ident> {
    let mut idents = Vec::new();
    let mut pending: Vec<TokenTree> = tokens.iter().rev().cloned().collect();
    while let Some(token) = pending.pop() {
        match token {
            TokenTree::Ident(ident) => idents.push(ident),
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                pending.extend(inner.into_iter().rev());
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    idents
}

/// `where facts;`, or nothing of no facts.
fn clause(facts: &[TokenTree]) -> TokenStream {
    let facts = facts.iter();
    match facts.len() {
        0 => TokenStream::new(),
        _ => quote!(where #(#facts)*;),
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

impl Item {
    /// The item with those of the facts in front of its expression that are about it.
    fn under(self, facts: &[TokenTree]) -> Self {
        let used = idents(&self.body.clone().into_iter().collect::<Vec<_>>());
        let about: Vec<_> = facts
            .split(is_comma)
            .filter(|fact| idents(fact).iter().all(|name| used.contains(name)))
            .collect();
        let comma = TokenTree::Punct(Punct::new(',', Spacing::Alone));
        let facts = clause(&about.join(&comma));
        let before = |tokens: TokenStream| facts.clone().into_iter().chain(tokens).collect();
        Self {
            body: before(self.body),
            tokens: before(self.tokens),
            ..self
        }
    }
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
