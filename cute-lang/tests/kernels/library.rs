//! The kernels of `cute-kernels`: their main loop is short. A test of that crate asks ptxas about them.

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
    let libraries = ["epilogue", "mma", "pipeline", "tile_scheduler"];
    let paths = libraries.map(|name| format!("crate::{name}::kernels"));
    let modules = libraries.map(|name| module(&format!("{name}.rs")));
    let libraries: Vec<_> = paths.iter().map(String::as_str).zip(modules).collect();
    lower_with(module_of_kernels, &libraries)
}

/// The instances of the module in a file of `cute-kernels`.
fn library(file: &str) -> Vec<Lowered> {
    lowered(module(file)).unwrap_or_else(|error| {
        let errors: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        panic!("{file}: {}", errors.join("\n"))
    })
}

/// The main loop of the GEMM has few instructions besides its four wgmmas: those of the ring, the descriptors and the
/// loop itself.
#[test]
fn the_main_loop_of_gemm_is_short() {
    let gemm = &library("gemm.rs")[0];
    let text = gemm.module.to_string();
    let (before, after) = text.split_once("wgmma.commit_group").expect("a batch");
    let head = before.rsplit_once("$for").expect("a loop").1;
    let tail = after.split_once("bra $for").expect("the end of the loop").0;
    let instructions: Vec<&str> = head
        .lines()
        .chain(tail.lines())
        .map(str::trim)
        .filter(|line| line.ends_with(';'))
        .collect();
    for slow in ["div", "rem"] {
        assert!(
            !instructions.iter().any(|line| line.starts_with(slow)),
            "{instructions:#?}"
        );
    }
    assert_eq!(
        instructions
            .iter()
            .filter(|line| line.starts_with("wgmma.mma_async") || **line == "0, 0;")
            .count(),
        4
    );
    assert!(
        instructions.len() < 60,
        "{} instructions: {instructions:#?}",
        instructions.len()
    );
}
