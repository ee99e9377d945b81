//! The input of the macros.
//!
//! ```text
//! input   := "[" facade ("," path "=" bound)* "]" body
//! bound   := literal | "error" ["(" name ("," name)* ")"] | "kernels" "{" modules "}" | "broken" | "on" | "off"
//! body    := (item | facts) (";" (item | facts))* [";"]  |  [facts ";"] expression
//! facts   := "where" fact ("," fact)*                 // about the items after them
//! item    := attribute* [visibility] ["mut"] name "=" expression
//! ```
//!
//! The facade is the `$crate` of the `macro_rules!` macro that users call. The rest of the first group are names with the values passed by
//! carriers.

use crate::notation::tokens::layout_names;
use cute_algebra::Value;
#[cfg(feature = "kernels")]
use cute_algebra::notation::{Definition, NotationError, eval};
use cute_algebra::symbolic::is_integer_name;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, LitStr, Token, Visibility, braced, parenthesized, token};

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

/// The input that does not come from the user.
pub(crate) struct Context {
    /// The path of the crate for expansions.
    pub(crate) facade: TokenStream,
    /// Names and their bindings.
    pub(crate) bindings: Vec<(String, Bound)>,
    /// Who reads the expansion.
    pub(crate) reader: Reader,
}

/// Who reads an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// rustc.
    Compiler,
    /// rust-analyzer. Its expansions also contain the names that the user wrote, in a form that it can resolve.
    Editor,
}

/// The binding of a name.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// A value, or an expression with run-time integers, in the notation.
    Text(String),
    /// An expression with these run-time integers and a reported error.
    Error(Vec<Ident>),
    /// A module of kernels.
    Kernels(TokenStream),
    /// A module of kernels with a reported error.
    Broken,
    /// Whether the compiled crate has a feature, with the feature as the name of the binding.
    Feature(bool),
}

/// `pub A = …`.
pub(super) struct Item {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    /// The `mut` of a tiling: it asks for a proof that no two coordinates share an element.
    pub(super) mutable: Option<Token![mut]>,
    pub(super) name: Ident,
    /// The expression.
    pub(super) body: TokenStream,
    /// All tokens of the item.
    pub(super) tokens: TokenStream,
    /// Set if the item is not to be evaluated: the errors that are the reason. Another item may have given all of them.
    pub(super) fault: Option<TokenStream>,
}

impl Input {
    pub(super) fn parse(input: TokenStream, reader: Reader) -> syn::Result<Self> {
        let mut tokens = input.into_iter();
        let context = match tokens.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                Context::parse(group.stream(), reader)?
            }
            _ => {
                return Err(syn::Error::new(
                    proc_macro2::Span::call_site(),
                    "call `layout!` or `tile!` instead of this macro, which is internal",
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
                    let mut signs = stated.iter().enumerate();
                    let item = signs.find_map(|(at, _)| {
                        match defines(stated, at) && !is_arrow(stated, at) {
                            true => start_of_item(stated, at).filter(|start| *start > 0),
                            false => None,
                        }
                    });
                    if let Some(item) = item {
                        let message = "expected `;` behind the facts, before the item";
                        items.push(Err(syn::Error::new_spanned(&stated[item], message)));
                        continue;
                    }
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
                    let mut parts = items_of(statement);
                    if let Some(next) = parts.get(1) {
                        items.push(Err(missing_semicolon(next)));
                    }
                    items.extend(parts.drain(..).map(|part| {
                        let item = Item::parse.parse2(part.iter().cloned().collect());
                        item.map(|item| item.under(facts))
                    }));
                }
            }
        }
        if items.is_empty() {
            let body = clause(facts);
            return Ok(Self::Expression { context, body });
        }
        // If an item has an error, some of its integers may be unknown.
        if items.iter().all(Result::is_ok) {
            items.extend(unused.err().map(Err));
        }
        Ok(Self::Items { context, items })
    }
}

/// The items of a statement: several, if a `;` is missing between them. Each begins at its attributes, its visibility or its name, and has
/// one `=`.
fn items_of(statement: &[TokenTree]) -> Vec<&[TokenTree]> {
    let signs = statement.iter().enumerate();
    let signs = signs.filter_map(|(at, token)| is_equals(token).then_some(at));
    let mut starts: Vec<usize> = signs
        .skip(1)
        .filter_map(|sign| start_of_item(statement, sign))
        .collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([statement.len()]);
    let ranges = starts.iter().zip(ends);
    ranges.map(|(&start, end)| &statement[start..end]).collect()
}

/// The start of the item with its `=` at `sign`; `None` if no name is before it.
fn start_of_item(statement: &[TokenTree], sign: usize) -> Option<usize> {
    let mut start = sign.checked_sub(1)?;
    let TokenTree::Ident(_) = statement[start] else {
        return None;
    };
    loop {
        start = match &statement[..start] {
            [.., TokenTree::Ident(word)] if word == "pub" || word == "mut" => start - 1,
            [.., TokenTree::Ident(word), TokenTree::Group(_)] if word == "pub" => start - 2,
            [.., TokenTree::Punct(sign), TokenTree::Group(group)]
                if sign.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
            {
                start - 2
            }
            _ => return Some(start),
        };
    }
}

/// Whether a `=` is followed by `>` or `<`, in place of `>=`.
fn is_arrow(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at + 1), Some(TokenTree::Punct(next)) if "<>".contains(next.as_char()))
}

/// Whether the token is the `=` of an item and no part of a comparison.
fn defines(tokens: &[TokenTree], at: usize) -> bool {
    let is_sign = |token: Option<&TokenTree>, signs: &str| matches!(token, Some(TokenTree::Punct(punct)) if signs.contains(punct.as_char()));
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    is_equals(&tokens[at]) && !is_sign(before, "=<>!") && !is_sign(tokens.get(at + 1), "=")
}

fn missing_semicolon(next: &[TokenTree]) -> syn::Error {
    syn::Error::new_spanned(
        &next[0],
        "expected `;` before the next item: the one before has none, or has it in a comment, which begins with `//`",
    )
}

/// Whether a statement is an item: it has a `=`, or begins with `pub` or `#`, unlike any expression.
fn is_item(statement: &[TokenTree]) -> bool {
    let first = statement.first().map(ToString::to_string);
    let is_definition = (0..statement.len()).any(|at| defines(statement, at));
    matches!(first.as_deref(), Some("pub" | "#")) || is_definition
}

/// Refuses a fact about an integer that no later statement has. If a later statement names another layout, this layout may have it.
fn check_facts(body: &[TokenTree]) -> syn::Result<()> {
    let mut rest = body;
    while let Some(end) = rest.iter().position(is_semicolon) {
        let (statement, after) = rest.split_at(end);
        if matches!(statement.first(), Some(TokenTree::Ident(first)) if first == "where") {
            let colon = statement
                .iter()
                .find(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ':'));
            if let Some(colon) = colon.filter(|_| !names_paths(statement)) {
                let message = "names of run-time integers have no types: `where` states facts about them, such as `m % 64 == 0` and `m >= 64`";
                return Err(syn::Error::new_spanned(colon, message));
            }
            let arrow = statement.windows(2).find(|pair| match pair {
                [TokenTree::Punct(sign), TokenTree::Punct(next)] => {
                    (sign.as_char(), next.as_char()) == ('=', '>')
                        || (sign.as_char(), next.as_char()) == ('=', '<')
                }
                _ => false,
            });
            if let Some([sign, next]) = arrow {
                let message = format!("a comparison is written `{next}=`");
                return Err(syn::Error::new_spanned(sign, message));
            }
            // As a name of an integer, such a word would make both facts one.
            let is_and = |token: &&TokenTree| matches!(token, TokenTree::Ident(word) if word == "and" || word == "or");
            if let Some(and) = statement.iter().find(is_and) {
                let message = "facts have `,` between them, and all of them hold";
                return Err(syn::Error::new_spanned(and, message));
            }
            let used = idents(after);
            let unused = integers_of(statement)
                .into_iter()
                .find(|name| !used.contains(name));
            if let Some(name) = unused
                && !after
                    .split(is_semicolon)
                    .any(|statement| names_layouts(expression_of(statement)))
            {
                return Err(syn::Error::new_spanned(
                    &name,
                    format!(
                        "this fact has the integer `{name}`, which does not occur in a layout after it"
                    ),
                ));
            }
        }
        rest = &after[1..];
    }
    Ok(())
}

/// The integers in facts, by their names: all identifiers except operations.
fn integers_of(facts: &[TokenTree]) -> Vec<Ident> {
    let mut integers = idents(facts);
    integers.retain(|name| !["where", "div_ceil", "crd2idx", "Sw"].contains(&&*name.to_string()));
    integers
}

/// Whether there is a `::` among the tokens.
fn names_paths(tokens: &[TokenTree]) -> bool {
    tokens.windows(2).any(|pair| {
        pair.iter()
            .all(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ':'))
    })
}

/// All identifiers. A list of pending tokens replaces recursion, which would be as deep as the input.
pub(super) fn idents(tokens: &[TokenTree]) -> Vec<Ident> {
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

/// The expression of a statement: the tokens after its `=`, or all of it.
fn expression_of(statement: &[TokenTree]) -> &[TokenTree] {
    let sign = statement.iter().position(is_equals);
    sign.map_or(statement, |sign| &statement[sign + 1..])
}

/// Whether an expression names layouts. They may have run-time integers that the expression does not show.
fn names_layouts(expression: &[TokenTree]) -> bool {
    let tokens = expression.iter().cloned().collect();
    layout_names(tokens).is_ok_and(|names| !names.is_empty())
}

/// `where facts;`, or nothing if there are no facts.
fn clause(facts: &[TokenTree]) -> TokenStream {
    let facts = facts.iter();
    match facts.len() {
        0 => TokenStream::new(),
        _ => quote!(where #(#facts)*;),
    }
}

fn is_equals(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '=')
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

impl Item {
    /// The `cfg` attributes, which apply to all declarations of the item.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        let attributes = self.attributes.iter();
        attributes.filter(|attribute| attribute.path().is_ident("cfg"))
    }

    pub(super) fn is_conditional(&self) -> bool {
        self.conditions().next().is_some()
    }

    /// The part of the body after the facts.
    pub(super) fn expression(&self) -> TokenStream {
        let body: Vec<TokenTree> = self.body.clone().into_iter().collect();
        let end = body.iter().rposition(is_semicolon);
        body[end.map_or(0, |end| end + 1)..]
            .iter()
            .cloned()
            .collect()
    }

    /// The item with facts in front of its expression: the facts with integers in it, or all facts if it names other layouts.
    fn under(self, facts: &[TokenTree]) -> Self {
        if facts.is_empty() {
            return self;
        }
        let body: Vec<_> = self.body.clone().into_iter().collect();
        let (used, any) = (idents(&body), names_layouts(&body));
        let about: Vec<_> = facts
            .split(is_comma)
            .filter(|fact| {
                any || {
                    let integers = integers_of(fact);
                    integers.iter().all(|name| used.contains(name))
                }
            })
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
    pub(crate) fn parse(tokens: TokenStream, reader: Reader) -> syn::Result<Self> {
        let context = |input: ParseStream<'_>| {
            let facade = tokens_until(input, |input| input.peek(Token![,]))?;
            let bindings = match input.parse::<Option<Token![,]>>()? {
                Some(_) => bindings(input)?,
                None => Vec::new(),
            };
            Ok(Self {
                facade,
                bindings,
                reader,
            })
        };
        context.parse2(tokens)
    }

    /// A name of the user where it is not a use of its meaning: an editor must not find it there.
    pub(crate) fn hidden(&self, name: &Ident) -> Ident {
        match self.reader {
            Reader::Compiler => name.clone(),
            Reader::Editor => Ident::new(&name.to_string(), Span::call_site()),
        }
    }

    /// A path of the user in such a place.
    pub(crate) fn hidden_path(&self, path: &TokenStream) -> TokenStream {
        let hidden = path.clone().into_iter().map(|token| match token {
            TokenTree::Ident(name) => self.hidden(&name).into(),
            token => token,
        });
        hidden.collect()
    }
}

/// `path = bound`, separated by commas.
pub(crate) fn bindings(input: ParseStream<'_>) -> syn::Result<Vec<(String, Bound)>> {
    let mut bindings = Vec::new();
    while !input.is_empty() {
        let path = tokens_until(input, |input| input.peek(Token![=]))?;
        let name = path.into_iter().map(|token| token.to_string()).collect();
        input.parse::<Token![=]>()?;
        bindings.push((name, input.parse()?));
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(bindings)
}

impl Bound {
    pub(super) fn of(value: &Value) -> Self {
        Self::Text(value.to_string())
    }

    /// The value of a name, or an error if it has run-time integers.
    #[cfg(feature = "kernels")]
    pub(crate) fn value(&self, name: &str) -> Result<Value, String> {
        let text = match self {
            Self::Text(text) => text,
            Self::Error(_) | Self::Broken => {
                return Err(format!("the definition of `{name}` has an error"));
            }
            Self::Kernels(_) | Self::Feature(_) => {
                return Err(format!("`{name}` is of a module of kernels, not a layout"));
            }
        };
        let named: Definition = text
            .parse()
            .map_err(|error: NotationError| error.to_string())?;
        match named.expr.has_run_time_leaf(&|_| None) {
            true => Err(format!(
                "`{name}` has run-time integers, and a kernel takes layouts of known numbers only"
            )),
            false => eval(&named.expr, &|_| None).map_err(|error| error.to_string()),
        }
    }
}

impl Parse for Bound {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Text(input.parse::<LitStr>()?.value()));
        }
        let word: Ident = input.parse()?;
        if word == "broken" {
            return Ok(Self::Broken);
        }
        if word == "on" || word == "off" {
            return Ok(Self::Feature(word == "on"));
        }
        if word == "kernels" {
            let content;
            braced!(content in input);
            return Ok(Self::Kernels(content.parse()?));
        }
        if !input.peek(token::Paren) {
            return Ok(Self::Error(Vec::new()));
        }
        let content;
        parenthesized!(content in input);
        let names = content.parse_terminated(Ident::parse, Token![,])?;
        Ok(Self::Error(names.into_iter().collect()))
    }
}

impl ToTokens for Bound {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Text(text) => quote!(#text),
            Self::Error(integers) if integers.is_empty() => quote!(error),
            Self::Error(integers) => quote!(error(#(#integers),*)),
            Self::Kernels(module) => quote!(kernels { #module }),
            Self::Feature(true) => quote!(on),
            Self::Feature(false) => quote!(off),
            Self::Broken => quote!(broken),
        });
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens = input.fork().parse()?;
        if input.peek(Token![#]) && !input.peek2(token::Bracket) {
            return Err(input.error("a comment begins with `//`"));
        }
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mutable = input.parse()?;
        if input.peek(token::Paren) {
            let message =
                "expected an item, `NAME = 4:1`; a stride stands behind `:`, as in `(4,8):(8,1)`";
            return Err(input.error(message));
        }
        for keyword in ["const", "static", "let", "type"] {
            refuse(input, keyword)?;
        }
        let name: Ident = input.parse()?;
        if name == "ragged" && input.peek(syn::Ident) {
            let message = "`ragged` stands behind `=`: `A = ragged (7,10):(10,1) / <3,4>`";
            return Err(syn::Error::new_spanned(name, message));
        }
        if input.peek(Token![<]) {
            let message = "a layout has no parameters here: each name in its expression that stands for nothing else is a run-time integer";
            return Err(input.error(message));
        }
        if input.peek(token::Paren) {
            let message = format!(
                "expected `=`: an item is `{name} = …`, and a check stands behind the macro, `const _: () = assert!(layout!(…));`"
            );
            return Err(input.error(message));
        }
        refuse(input, ":")?;
        if is_integer_name(&name.to_string()) {
            let message = format!(
                "the name of a layout begins with an upper-case letter, as in `{}`: in an expression, `{name}` is a run-time integer",
                name.to_string().to_uppercase()
            );
            return Err(syn::Error::new_spanned(name, message));
        }
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
            fault: None,
        })
    }
}

/// Refuses a token before the `=` that a Rust constant has, but an item of the macro does not.
fn refuse(input: ParseStream<'_>, word: &str) -> syn::Result<()> {
    let next = input.fork().parse::<TokenTree>();
    match next.is_ok_and(|next| next.to_string() == word) {
        true => Err(input.error(format!(
            "expected an item such as `pub NAME = 4:1;`, which declares a constant and a type, found `{word}`"
        ))),
        false => Ok(()),
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

/// The expanded macro.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Layout,
    Tile,
    /// An item of `tile!` with `mut`. Its tiles must be proved disjoint.
    DisjointTile,
}

impl Form {
    /// The name of the macro.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Self::Layout => "layout",
            Self::Tile | Self::DisjointTile => "tile",
        }
    }
}
