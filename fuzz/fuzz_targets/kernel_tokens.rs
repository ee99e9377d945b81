//! Whatever is written in a kernel, `#[kernels]` expands to a module.
#![no_main]

use cute_fuzz::words;
use cute_lang::notation::Reader;
use libfuzzer_sys::fuzz_target;
use proc_macro2::TokenStream;
use std::str::FromStr;

#[rustfmt::skip] // A list of words, by what they are.
const WORDS: &[&str] = &[
    "(", "(", ")", ")", "{", "}", "}", "[", "]", ",", ",", ";", ";", ";", "let a =", "let b =", "let mut i =", "let t =", "a", "b", "i", "t", "x", "n", "g", "l", "s",
    "=", "+=", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "==", "!", "&&", ".0", ".1", ".at(", "as u64", "as i32",
    "0", "1", "2", "3", "4", "8", "16", "32", "64", "128", "4294967295", "1.5", "true", "_", "N", "T",
    "if", "else {", "for i in", "0..", "while", "loop {", "break", "return",
    "thread()", "lane()", "warp()", "block_idx()", "sync_threads();", "smem::<f32>(", "smem::<T>(", "fragment::<f32>(", "mbarriers(1, 1)", "wait(", "copy(",
    "layout!(", "(4,8):(8,1)", "(64,64):(64,1)", "zipped_divide(", "local_tile(", "tile_to_shape(", "smem_atom::<bf16>(K, SW128)", "select(", "bytes(", "convert::<f32>(",
    "wgmma_c(64)", "wgmma(", "tma_load(", "tma_store(", "expect_tx(", "helper(", "setmaxnreg_dec(", "min(", "ptx!(", "\"add.u32\"",
];

fuzz_target!(|bytes: &[u8]| {
    let source = format!(
        "mod k {{
            fn helper(a: u32) -> u32 {{ a + 1 }}
            #[kernel(threads = 128)]
            #[instance(one: T = bf16, N = 4)]
            pub unsafe fn k<T: Element, const N: u32>(l: TmaLoad<T, 2>, s: TmaStore<T, 2>, g: Global<f32, 2>, x: u32, n: u64) {{ {} }}
        }}",
        words(bytes, WORDS)
    );
    let Ok(module) = TokenStream::from_str(&source) else {
        return;
    };
    let expansion = cute_lang::kernel::expand::kernels(TokenStream::new(), module, Reader::Compiler);
    assert!(
        syn::parse2::<syn::File>(expansion.clone()).is_ok(),
        "{source}\n{expansion}"
    );
});
