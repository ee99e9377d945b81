//! The comments of PTX: what the emulator reads of them, beside names and expressions of the source.

use crate::judge;
use cute_emulator::Program;
use cute_lang::kernel::lower::lower;

/// No kernel is refused for a name or an expression that looks like a claim or a note.
#[test]
fn names_of_any_source_are_read() {
    let source = "mod kernels {
        pub fn rest(uniform: u32, n: u32) -> u32 {
            uniform % n
        }

        #[kernel(threads = 32)]
        pub unsafe fn k(r#type: Global<f32, 1>, tensor: [Global<f32, 1>; 2], list: u32) {
            let r#box = smem::<f32>(32);
            r#box[thread()] = 1.0;
            sync_threads();
            if list < 100 {
                r#type[rest(thread(), 5)] = r#box[thread()];
            }
            if list < tensor.len() {
                tensor[list][0] = 2.0;
            }
        }
    }";
    let instances =
        lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
    judge(&instances);
    let text = instances[0].module.to_string();
    if let Err(error) = Program::load(&text) {
        panic!("{error}: {text}");
    }
    for comment in ["// r#type[", "// tensor[", "// r#box[", "uniform % n"] {
        assert!(text.contains(comment), "{comment}: {text}");
    }
}
