//! The items of a module of kernels as Rust for an editor, so that names in them can be resolved.
//!
//! They are the user's own tokens, so half-typed code stays as typed. Only syntax that Rust does not have is replaced: attributes of
//! kernels are omitted; a call `x.f(y)` of a function of the language, and a call with omitted arguments, becomes `x.call(f, (y))`; of
//! `layout!` and `ptx!`, only the names remain.
//!
//! rust-analyzer gets the user's tokens again (`Reader::Editor`), as Rust code that nothing calls. `cute-runtime` names the macros' entry
//! points for it under `cfg(rust_analyzer)`. So names in kernels and layouts have hover, definitions and completion, also if a kernel
//! does not parse, and rustc's expansions contain nothing for editors. The functions of the language and the operations are Rust items
//! only for documentation and editors (`kernel_language`, `operations`); a test writes them from the tables.

use crate::kernel::builtins;
use crate::notation::{Context, Reader, paths};
use cute_algebra::operations;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

/// Attributes of the language that Rust does not have.
const ATTRIBUTES: &[&str] = &["kernel", "instance", "instances", "facts", "unroll"];

/// The items of the module with these tokens; nothing for the compiler.
pub(super) fn items(context: &Context, module: &TokenStream) -> Option<TokenStream> {
    if context.reader == Reader::Compiler {
        return None;
    }
    let facade = &context.facade;
    let items = between_braces(module);
    let mut rewrite = Rewrite::default();
    rewrite.read(&items);
    let items = rewrite.tokens(&items);
    Some(quote! {
        #[allow(unused_imports)]
        use #facade::kernel_language::*;
        #items
    })
}

/// The tokens between the braces. If a brace is missing, all tokens after the name.
fn between_braces(module: &TokenStream) -> Vec<TokenTree> {
    let tokens: Vec<TokenTree> = module.clone().into_iter().collect();
    let word = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "mod");
    let start = tokens.iter().position(word).map_or(0, |word| word + 2);
    match tokens.get(start) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            group.stream().into_iter().collect()
        }
        Some(_) => tokens[start + 1..].to_vec(),
        None => Vec::new(),
    }
}

#[derive(Default)]
struct Rewrite {
    /// The functions of the module outside of structs.
    functions: Vec<String>,
    /// The functions of structs.
    methods: Vec<String>,
}

impl Rewrite {
    /// Reads the names of functions.
    fn read(&mut self, items: &[TokenTree]) {
        self.functions = functions(items);
        let mut is_impl = false;
        for token in items {
            match token {
                TokenTree::Ident(word) if word == "impl" => is_impl = true,
                TokenTree::Ident(word) if word == "fn" => is_impl = false,
                TokenTree::Group(body) if is_impl && body.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = body.stream().into_iter().collect();
                    self.methods.extend(functions(&inner));
                    is_impl = false;
                }
                _ => {}
            }
        }
    }

    /// The tokens as Rust. How deep they nest has been checked.
    fn tokens(&self, tokens: &[TokenTree]) -> TokenStream {
        let mut rust = TokenStream::new();
        let mut rest = tokens;
        let mut before = None;
        while let [token, after @ ..] = rest {
            rest = match self.special(before, rest, &mut rust) {
                Some(length) => &rest[length..],
                None => {
                    rust.extend([self.token(token)]);
                    after
                }
            };
            before = tokens.get(tokens.len() - rest.len() - 1);
        }
        rust
    }

    fn token(&self, token: &TokenTree) -> TokenTree {
        let TokenTree::Group(group) = token else {
            return token.clone();
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let mut rewritten = Group::new(group.delimiter(), self.tokens(&inner));
        rewritten.set_span(group.span());
        rewritten.into()
    }

    /// Replaces syntax that Rust does not have at the start of the tokens. Returns its number of tokens.
    fn special(
        &self,
        before: Option<&TokenTree>,
        tokens: &[TokenTree],
        rust: &mut TokenStream,
    ) -> Option<usize> {
        match tokens {
            [TokenTree::Punct(sign), TokenTree::Group(attribute), ..] if sign.as_char() == '#' => {
                let name = attribute.stream().into_iter().next()?.to_string();
                ATTRIBUTES.contains(&&name[..]).then_some(2)
            }
            [
                TokenTree::Ident(name),
                TokenTree::Punct(sign),
                TokenTree::Group(group),
                ..,
            ] if sign.as_char() == '!' && (name == "layout" || name == "ptx") => {
                let names = paths(&group.stream());
                rust.extend(quote!(().call((#(#names,)*), ())));
                Some(3)
            }
            [TokenTree::Punct(sign), TokenTree::Ident(name), ..]
                if sign.as_char() == '.' && self.is_function(name) =>
            {
                let call = Call::new(&tokens[1..])?;
                rust.extend([tokens[0].clone()]);
                rust.extend(self.call(&call));
                Some(1 + call.length)
            }
            [TokenTree::Ident(name), ..] if starts_name(before) && takes_fewer(name) => {
                let call = Call::new(tokens)?;
                rust.extend(quote!(().));
                rust.extend(self.call(&call));
                Some(call.length)
            }
            _ => None,
        }
    }

    /// Whether `x.name(y)` is a call of a function, not of a method of a struct.
    fn is_function(&self, name: &Ident) -> bool {
        let name = name.to_string();
        !self.methods.contains(&name)
            && (self.functions.contains(&name) || builtins::names().any(|known| known == name))
    }

    fn call(&self, call: &Call<'_>) -> TokenStream {
        let Call { name, generics, .. } = call;
        let arguments: Vec<TokenTree> = call.arguments.stream().into_iter().collect();
        let arguments = self.tokens(&arguments);
        quote!(call(#name #(#generics)*, (#arguments)))
    }
}

/// The names after `fn`.
fn functions(items: &[TokenTree]) -> Vec<String> {
    let pairs = items.windows(2);
    let names = pairs.filter_map(|pair| match pair {
        [TokenTree::Ident(keyword), TokenTree::Ident(name)] if keyword == "fn" => {
            Some(name.to_string())
        }
        _ => None,
    });
    names.collect()
}

/// `name::<generics>(arguments)`.
struct Call<'t> {
    name: &'t Ident,
    generics: &'t [TokenTree],
    arguments: &'t Group,
    /// The number of tokens.
    length: usize,
}

impl<'t> Call<'t> {
    fn new(tokens: &'t [TokenTree]) -> Option<Self> {
        let [TokenTree::Ident(name), after @ ..] = tokens else {
            return None;
        };
        let turbofish = generics(after);
        match after.get(turbofish) {
            Some(TokenTree::Group(arguments))
                if arguments.delimiter() == Delimiter::Parenthesis =>
            {
                Some(Self {
                    name,
                    generics: &after[..turbofish],
                    arguments,
                    length: turbofish + 2,
                })
            }
            _ => None,
        }
    }
}

/// The number of tokens of a leading `::<…>`.
fn generics(tokens: &[TokenTree]) -> usize {
    let sign = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(sign)) if sign.as_char() == wanted);
    if !(sign(0, ':') && sign(1, ':') && sign(2, '<')) {
        return 0;
    }
    let mut open = 0_usize;
    for at in 2..tokens.len() {
        open += usize::from(sign(at, '<'));
        open -= usize::from(sign(at, '>'));
        if open == 0 {
            return at + 1;
        }
    }
    0
}

/// Whether a name after this token starts a path, and is not a method, an item or a later part of a path.
fn starts_name(before: Option<&TokenTree>) -> bool {
    match before {
        Some(TokenTree::Punct(sign)) => !matches!(sign.as_char(), '.' | ':'),
        Some(TokenTree::Ident(word)) => word != "fn",
        _ => true,
    }
}

/// Whether it is a function of the language with optional arguments.
fn takes_fewer(name: &Ident) -> bool {
    let name = name.to_string();
    match builtins::find(&name) {
        Some(function) => function.signature.contains('['),
        None => operations::find(&name)
            .is_some_and(|operation| operation.counts.start() != operation.counts.end()),
    }
}
