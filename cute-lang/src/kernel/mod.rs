//! The kernel language: Rust syntax, interpreted at macro expansion, to PTX. The folders are layers, from below: `syntax` reads the module,
//! `ir` defines registers and instructions, `value` the values of expressions, `emit` collects instructions, `access` computes addresses, `builtins` contains the functions of the
//! language, `interp` runs statements and expressions, `lower` turns a kernel into PTX, and `expand` turns PTX into Rust. `instantiate`
//! does the work of `expand` while a program runs, and `file` reads the modules of a file without rustc.

mod access;
pub mod builtins;
pub mod emit;
pub mod expand;
#[cfg(feature = "instantiate")]
pub mod file;
#[cfg(feature = "instantiate")]
pub mod instantiate;
pub mod interp;
pub mod ir;
pub mod lower;
pub mod syntax;
pub mod value;
