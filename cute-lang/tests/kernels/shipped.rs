//! The kernels of `cute-kernels` as tokens and as instances.

use cute_lang::kernel::lower::{Lowered, lower_with};
use proc_macro2::TokenStream;
use quote::ToTokens;

/// The kernel module in a file of `cute-kernels`.
pub(crate) fn module(file: &str) -> TokenStream {
    let path = format!("{}/../cute-kernels/src/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file = syn::parse_file(&text).expect("Rust");
    let module = file.items.into_iter().find_map(|item| match item {
        syn::Item::Mod(item) if item.ident == "kernels" => Some(item),
        _ => None,
    });
    module.expect("a module of kernels").to_token_stream()
}

/// The instances of a module that imports what the modules of `cute-kernels` do.
pub(crate) fn lowered(module_of_kernels: TokenStream) -> syn::Result<Vec<Lowered>> {
    let libraries = [
        "parts/config",
        "parts/epilogue/activation",
        "parts/epilogue/scale",
        "parts/epilogue/store",
        "parts/mainloop/consume",
        "parts/mainloop/load",
        "parts/mainloop/mod",
        "parts/mainloop/promoted",
        "parts/mainloop/registers",
        "parts/mainloop/shared",
        "parts/mainloop/stages",
        "parts/mainloop/turns",
        "parts/mma",
        "parts/ring",
        "parts/split",
        "parts/tiles",
        "product/table",
        "row",
    ];
    let paths = libraries.map(|name| {
        let name = name.trim_end_matches("/mod").replace('/', "::");
        format!("crate::{name}::kernels")
    });
    let modules = libraries.map(|name| module(&format!("{name}.rs")));
    let libraries: Vec<_> = paths.iter().map(String::as_str).zip(modules).collect();
    lower_with(module_of_kernels, &libraries)
}
