//! Whatever is written in `layout!` and `tile!`, the expansion is Rust.
#![no_main]

use cute_fuzz::words;
use cute_lang::notation::Reader;
use libfuzzer_sys::fuzz_target;
use proc_macro2::TokenStream;
use std::str::FromStr;
use syn::parse::Parser;

#[rustfmt::skip] // A list of words, by what they are.
const WORDS: &[&str] = &[
    "(", "(", "(", ")", ")", ")", "<", ">", ",", ",", ",", ":", ":", "@", "/", "-", "_", "o", "then", "ragged", "where", ";",
    "0", "1", "2", "3", "4", "6", "8", "16", "64", "0x10", "_4", "9223372036854775807", "1.5", "7u8", "\"s\"", "'a'", "%", "=",
    "A", "m", "a::B", "::a", "{n}", "{", "}", "[", "]", "row", "col", "Sw<3,4,3>", "Sw", "#", "pub", "pub A =", "#[doc = \"d\"]", "K", "SW128",
    "composition(", "complement(", "coalesce(", "logical_divide(", "zipped_divide(", "logical_product(", "blocked_product(",
    "right_inverse(", "left_inverse(", "get(", "select(", "slice(", "tile_to_shape(", "recast(", "upcast(", "concat(", "from_table(",
    "size(", "smem_atom(", "filter(", "group(", "max_common_vector(", "(4,8):(8,1)", "(2,2):(1,3)", "<2,4>", "6:2", "4:1",
];

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = TokenStream::from_str(&words(bytes, WORDS)) else {
        return;
    };
    let facade = TokenStream::from_str("[::cute_runtime]").expect("a path");
    let input = || facade.clone().into_iter().chain(body.clone()).collect();
    for expansion in [
        cute_lang::notation::layout(input(), Reader::Compiler),
        cute_lang::notation::tile(input(), Reader::Compiler),
    ] {
        let is_expression = syn::parse2::<syn::Expr>(expansion.clone()).is_ok();
        let is_items = || syn::File::parse.parse2(expansion.clone()).is_ok();
        assert!(is_expression || is_items(), "{body}\n{expansion}");
    }
});

use syn::parse::Parse as _;
