//! A text as Rust and as source of a kernel module, held against each other.

/// A test that runs the function `f` of a text as rustc compiles it, and as kernels do.
macro_rules! same {
    ($name:ident, $($text:tt)*) => {
        #[test]
        fn $name() {
            #[allow(
                unused,
                clippy::all,
                reason = "the text says what the kernel language must accept, not what is good style"
            )]
            mod rust {
                $($text)*
                pub(super) fn run(x: u32, y: u32) -> u32 { f(x, y) }
            }
            crate::meaning::check(stringify!($($text)*), rust::run);
        }
    };
}
