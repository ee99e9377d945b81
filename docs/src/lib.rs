//! The code of the README and of the guides, which is tested as the examples of documentation are. A guide that a published crate
//! shows lies in that crate and is tested there.

#![forbid(unsafe_code)]
#![cfg(doctest)]

macro_rules! guides {
    ($($name:ident: $path:literal;)*) => { $(
        #[doc = include_str!($path)]
        struct $name;
    )* };
}

guides! {
    Readme: "../../README.md";
    Analyses: "../analyses.md";
    Debugging: "../debugging.md";
    Dictionary: "../dictionary.md";
    Emulator: "../emulator.md";
    Kernels: "../kernels.md";
    Layouts: "../layouts.md";
    Pictures: "../pictures.md";
    Soundness: "../soundness.md";
    Testing: "../testing-kernels.md";
    Tour: "../tour.md";
}
