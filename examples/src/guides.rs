//! The code of the README and of the guides, which is tested as the examples of documentation are. A guide that a published crate
//! shows lies in that crate and is tested there.

macro_rules! guides {
    ($($name:ident: $path:literal;)*) => { $(
        #[doc = include_str!($path)]
        struct $name;
    )* };
}

guides! {
    Readme: "../../README.md";
    Analyses: "../../docs/analyses.md";
    Debugging: "../../docs/debugging.md";
    Dictionary: "../../docs/dictionary.md";
    Emulator: "../../docs/emulator.md";
    Kernels: "../../docs/kernels.md";
    Layouts: "../../docs/layouts.md";
    Pictures: "../../docs/pictures.md";
    Soundness: "../../docs/soundness.md";
    Testing: "../../docs/testing-kernels.md";
    Tour: "../../docs/tour.md";
}
