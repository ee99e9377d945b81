//! The macros `layout!`, `tile!` and `#[kernels]`; their logic is in `cute-lang`.
