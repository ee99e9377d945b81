//! Kernels to Rust: a type for each instance, with its PTX as a constant and a typed launch.

mod choice;
mod editor;
mod fact;
mod instance;
mod item;
mod library;
mod open;
mod parameter;
mod report;
mod stub;
mod unused;

use crate::kernel::interp::resolve::unused_variables;
use crate::kernel::lower::{Lowered, LoweredKernel, Open, constants, kernels as kernels_of, opens};
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::kernel::Kernel;
use crate::kernel::syntax::module::Module;
use crate::kernel::syntax::source::{HERE, Source};
use crate::notation::{Bound, Context, Question, Reader, ask};
use library::Library;
use open::Opens;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::{Error, Path, Result, Token};

/// Expands `#[kernels]`, or `#[kernels(crate = path)]` where the facade has another name.
pub fn kernels(attribute: TokenStream, module: TokenStream, reader: Reader) -> TokenStream {
    match facade(attribute) {
        Ok(facade) => expand(
            Context {
                facade,
                bindings: Vec::new(),
                reader,
            },
            module,
        ),
        Err(error) => error.to_compile_error(),
    }
}

/// Expands a module again after a carrier has passed an import, or the value of a layout. The input is `[context] module`.
pub fn resume(input: TokenStream, reader: Reader) -> TokenStream {
    let mut tokens = input.into_iter();
    let context = match tokens.next() {
        Some(TokenTree::Group(group)) => Context::parse(group.stream(), reader),
        _ => Err(Error::new(
            Span::call_site(),
            "only the expansion of `#[kernels]` calls this macro",
        )),
    };
    match context {
        Ok(context) => expand(context, tokens.collect()),
        Err(error) => error.to_compile_error(),
    }
}

fn expand(mut context: Context, module: TokenStream) -> TokenStream {
    library::pass_once(&mut context.bindings);
    lowered(&context, &module).unwrap_or_else(|error| {
        let errors = error.map(|error| error.to_compile_error());
        let stubs = stub::module(&context, module);
        // An editor compares the text before a half-typed name, and an error may contain this text.
        quote!(#stubs #errors)
    })
}

/// The expansion, or an error; or `None` if the error has been reported in an imported module.
fn lowered(
    context: &Context,
    module: &TokenStream,
) -> std::result::Result<TokenStream, Option<Error>> {
    let parsed = Module::parse(module.clone())?;
    if let Some((first, others)) = questions(context, &parsed).split_first() {
        return Ok(ask(context, "kernels", first, others, module));
    }
    let broken = |(_, bound): &(String, Bound)| matches!(bound, Bound::Broken);
    if context.bindings.iter().any(broken) {
        return Err(None);
    }
    let mut source = Source::new(parsed, &context.bindings)?;
    let kernels = kernels_of(&mut source);
    let lowered = (kernels, constants(&source), opens(&source));
    // A layout declared outside of the module has a carrier, a macro that calls `resume` with the value.
    let unresolved = source.unresolved.borrow();
    let layouts = unresolved.iter().map(|path| Question::path(context, path));
    if let Some((first, others)) = layouts.collect::<Vec<_>>().split_first() {
        return Ok(ask(context, "kernels", first, others, module));
    }
    match lowered {
        (Ok(kernels), Ok(constants), Ok(opens)) => {
            let declared = item::items(&source, &constants);
            Ok(items(context, &source, module, &kernels, &opens, &declared))
        }
        (kernels, constants, opens) => {
            let mut errors = Errors::default();
            errors.record(kernels);
            errors.record(constants);
            errors.record(opens);
            Err(errors.finish(()).err())
        }
    }
}

/// The questions to answer before a module can be lowered: the meanings of its imports, and the enabled features. Each is asked once.
fn questions(context: &Context, module: &Module) -> Vec<Question> {
    let mut known: Vec<String> = context
        .bindings
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let mut new = |name: String| {
        let new = !known.contains(&name);
        known.push(name);
        new
    };
    let mut questions = Vec::new();
    for import in &module.imports {
        if new(import.key()) {
            questions.push(Question::path(context, &import.path));
        }
    }
    for feature in module.kernels.iter().flat_map(Kernel::features) {
        if new(feature.token().to_string()) {
            questions.push(Question::feature(context, feature));
        }
    }
    questions
}

fn facade(attribute: TokenStream) -> Result<TokenStream> {
    if attribute.is_empty() {
        return Ok(quote!(::cute_runtime));
    }
    let parser = |input: syn::parse::ParseStream<'_>| {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.call(Path::parse_mod_style)
    };
    let path = parser.parse2(attribute)?;
    Ok(quote!(#path))
}

fn items(
    context: &Context,
    source: &Source,
    tokens: &TokenStream,
    kernels: &[LoweredKernel],
    opens: &[Open<'_>],
    declared: &TokenStream,
) -> TokenStream {
    let module = source.module(HERE);
    let Module {
        attrs, vis, ident, ..
    } = module;
    let facade = &context.facade;
    let Library { carrier, names } = Library::new(context, source, tokens);
    let choices = module.kernels.iter().zip(kernels);
    let choices = choices.map(|(kernel, lowered)| choice::choice(facade, source, kernel, lowered));
    let choices: TokenStream = choices.collect();
    let instances: Vec<&Lowered> = kernels.iter().flat_map(LoweredKernel::lowered).collect();
    let listed = listed(facade, module, &instances);
    let instances = instances
        .iter()
        .map(|instance| instance::instance(facade, instance));
    let Opens { outside, inside } = Opens::new(facade, source, tokens, opens);
    let shown = editor::items(context, tokens);
    let unused = unused::unused(&unused_variables(source));
    quote! {
        #carrier
        #outside
        #(#attrs)*
        #vis mod #ident {
            #shown
            #declared
            #(#instances)*
            #choices
            #listed
            #inside
            #names
            #unused
        }
    }
}

/// `KERNELS`, the list of all instances, unless there are none, or the module has a constant of this name.
fn listed(facade: &TokenStream, module: &Module, instances: &[&Lowered]) -> TokenStream {
    let taken = module.consts.iter().any(|it| it.ident == "KERNELS");
    if instances.is_empty() || taken {
        return TokenStream::new();
    }
    let kernels = instances.iter().map(|instance| {
        let name = &instance.name;
        quote!((<#name as #facade::Kernel>::NAME, <#name as #facade::Kernel>::PTX))
    });
    let text = quote!(&'static ::core::primitive::str);
    quote! {
        /// Name and PTX of each instance of the kernels of this module.
        #[allow(dead_code)]
        pub const KERNELS: &'static [(#text, #text)] = &[#(#kernels),*];
    }
}
