//! Modules that compilers have made, with random changes and random launches: each ends with a result or an error.
#![no_main]

#[path = "../../cute-emulator/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["cute-emulator/tests/cuda", "cute-ptx/tests/ptx/kernels"];
    let texts = folders.map(|folder| support::texts(&root.join(folder)));
    texts.concat()
});

fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    // Too few bytes make the first choice.
    let mut below = |n: usize| u.int_in_range(0..=n - 1).unwrap_or(0);
    let text = support::mutant(&TEXTS[below(TEXTS.len())], &mut below);
    support::run(&text, &mut below);
});
