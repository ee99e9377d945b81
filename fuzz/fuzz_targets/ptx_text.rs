//! Any text is a module that prints and reads back the same, loads and launches, or it is an error.
#![no_main]

#[path = "../../cute-emulator/tests/support/mod.rs"]
#[expect(dead_code, reason = "it has parts for other targets")]
mod support;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    support::run(text, &mut |_| 0);
});
