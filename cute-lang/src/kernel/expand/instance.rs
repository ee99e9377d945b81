//! The type of an instance.

use super::fact::facts_of;
use super::parameter::{param_type, param_value};
use super::report;
use crate::kernel::emit::param::Param;
use crate::kernel::lower::Lowered;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Error;

/// The types of the facade in the constants of an instance. rustc compares each with the type that the trait names, since a program that
/// gives the path of the facade can have other types there.
const NAMED: [&str; 11] = [
    "Param",
    "TmaRecipe",
    "ElementType",
    "SwizzleMode",
    "L2Promotion",
    "OobFill",
    "Fact",
    "Comparison",
    "Term",
    "Report",
    "Piece",
];

pub(super) fn instance(facade: &TokenStream, lowered: &Lowered) -> TokenStream {
    let Lowered {
        name,
        docs,
        threads,
        cluster,
        smem_bytes,
        unsafety,
        facts,
        ..
    } = lowered;
    let mut relied: Vec<String> = facts
        .iter()
        .map(|fact| format!(" - `{}`", fact.text))
        .collect();
    relied.dedup();
    if !relied.is_empty() {
        let heading = " The kernel relies on these facts, and a launch for which one does not hold is refused:";
        relied.splice(0..0, [String::new(), heading.into(), String::new()]);
    }
    let facts = facts_of(facade, facts);
    let [x, y, z] = cluster;
    let text = name.to_string();
    let ptx = raw_string(&lowered.module.to_string());
    let params = lowered
        .params
        .iter()
        .map(|param| param_value(facade, param));
    let notes = lowered.notes.iter().map(|note| format!(" {note}"));
    let notes = match lowered.notes.is_empty() {
        true => Vec::new(),
        false => [String::new(), " ```text".into()]
            .into_iter()
            .chain(notes)
            .chain([" ```".into()])
            .collect(),
    };
    let reports = report::table(facade, &lowered.reports);
    let shown = format!(" Its PTX is `<{name} as Kernel>::PTX`, and `cargo expand` shows it.");
    let launch_doc = format!(" Launches `{name}` with {threads} threads a CTA on `grid` CTAs.");
    let safety = unsafety.map(|_| safety(&lowered.params));
    let safety = safety.iter().flatten();
    let names: Vec<Ident> = lowered
        .params
        .iter()
        .map(|param| format_ident!("{}", param.name, span = param.span))
        .collect();
    let types = lowered.params.iter().map(|param| param_type(facade, param));
    let is_safe = unsafety.is_none();
    // The program chooses the path of the facade. A safe function is called, so that rustc refuses an unsafe one.
    let launch = match unsafety {
        None => quote!(#facade::__private::launch_safe::<Self>(device, grid, &arguments)),
        Some(_) => quote!(unsafe { #facade::__private::launch::<Self>(device, grid, &arguments) }),
    };
    let named = NAMED.map(|name| format_ident!("{name}"));
    quote! {
        #(#docs)*
        ///
        #[doc = #shown]
        #(#[doc = #notes])*
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        pub struct #name;

        unsafe impl #facade::Kernel for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const PTX: &'static ::core::primitive::str = match () { () => #ptx };
            const THREADS: ::core::primitive::u32 = #threads;
            const CLUSTER: [::core::primitive::u32; 3] = [#x, #y, #z];
            const SMEM_BYTES: ::core::primitive::u32 = #smem_bytes;
            const PARAMS: &'static [#facade::Param] = &[#(#params),*];
            #reports
            #facts
            const IS_SAFE: ::core::primitive::bool = #is_safe;
            const TYPES: [(#(#facade::#named),*); 0] = [];
        }

        impl #name {
            #[doc = #launch_doc]
            ///
            /// # Errors
            ///
            /// Arguments that the kernel cannot take, named with the rule they break; nothing has been launched then.
            #(#[doc = #relied])*
            #(#[doc = #safety])*
            #[allow(clippy::too_many_arguments)]
            pub #unsafety fn launch(
                device: &#facade::Device,
                grid: impl ::core::convert::Into<#facade::Grid>,
                #(#names: #types),*
            ) -> ::core::result::Result<(), #facade::Error> {
                let grid = ::core::convert::Into::into(grid);
                let arguments = [
                    #(<#facade::__private::Argument<'_> as ::core::convert::From<_>>::from(#names)),*
                ];
                #launch
            }
        }
    }
}

/// The documentation of the guarantees that the caller of an unsafe launch must give.
pub(super) fn safety(params: &[Param]) -> Vec<String> {
    let accessed: Vec<String> = params
        .iter()
        .filter(|param| param.unproven().next().is_some())
        .map(|param| format!("`{}`", param.name))
        .collect();
    let contract = match &accessed[..] {
        [] => " What the documentation of the kernel asks for.".into(),
        tensors => format!(
            " With this grid and these numbers, every coordinate at which the kernel reads or writes {} is inside of the \
             tensor.",
            tensors.join(", ")
        ),
    };
    vec![String::new(), " # Safety".into(), String::new(), contract]
}

/// The text as a raw string literal with unchanged lines.
fn raw_string(text: &str) -> TokenStream {
    let closes_early = |hashes: &usize| text.contains(&format!("\"{}", "#".repeat(*hashes)));
    let hashes = "#".repeat((0..).find(|it| !closes_early(it)).unwrap_or_default());
    match format!("r{hashes}\"{text}\"{hashes}").parse::<Literal>() {
        Ok(literal) => quote!(#literal),
        Err(error) => {
            let message = format!("the PTX is no raw string literal (a defect): {error}");
            Error::new(Span::call_site(), message).to_compile_error()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::raw_string;

    /// The string of a literal, and the literal.
    fn read(text: &str) -> (String, String) {
        let literal = raw_string(text);
        let value = syn::parse2::<syn::LitStr>(literal.clone()).expect("a literal");
        (value.value(), literal.to_string())
    }

    #[test]
    fn a_text_keeps_its_lines() {
        for text in [
            "",
            ".version 8.0\n.target sm_90a\n",
            ".file 1 \"src/main.rs\"\n",
            "// \"# and \"## and \\n\n",
            "\"",
            "#",
        ] {
            let (value, literal) = read(text);
            assert_eq!(value, text);
            assert!(literal.starts_with('r'), "{literal}");
            assert_eq!(literal.lines().count(), format!("{text}x").lines().count());
        }
    }

    #[test]
    fn what_no_raw_string_holds_is_an_error_that_says_so() {
        let error = raw_string("a carriage return \r alone").to_string();
        assert!(error.contains("compile_error"), "{error}");
        assert!(error.contains("a defect"), "{error}");
    }
}
