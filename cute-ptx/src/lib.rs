//! A typed model of PTX.
//!
//! [`ast`] is the one representation: the kernel language builds it, its `Display` writes it, [`parse`](mod@parse)
//! reads it back, [`validate`](mod@validate) holds it against the [`table`] of instructions, and the emulator runs it.
//! [`ptxas`] asks NVIDIA's own assembler, where there is one.

pub mod ast;
mod lex;
pub mod parse;
mod print;
pub mod ptxas;
pub mod special;
pub mod table;
pub mod validate;

pub use ast::Module;
pub use parse::{ParseError, Source, parse, parse_with_lines};
pub use validate::validate;
