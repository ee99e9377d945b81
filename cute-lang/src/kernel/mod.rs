//! The kernel language: Rust syntax, interpreted when a macro is expanded, to PTX. The folders are layers, from below:
//! `syntax` reads the module, `value` says what expressions evaluate to, `emit` collects PTX, `access` gives addresses,
//! `builtins` holds the functions of the language, `interp` runs statements and expressions, `lower` makes PTX of a
//! kernel, and `expand` makes Rust of that. `instantiate` does what `expand` does, but while a program runs.

mod access;
pub mod builtins;
pub mod emit;
pub mod expand;
#[cfg(feature = "instantiate")]
pub mod instantiate;
pub mod interp;
pub mod lower;
pub mod syntax;
pub mod value;
