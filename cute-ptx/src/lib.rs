//! A typed model of PTX.
//!
//! [`ast`] is the one representation: the kernel language builds it, its `Display` writes it, [`parse`](mod@parse)
//! reads it back, and the emulator runs it.

pub mod ast;
mod lex;
pub mod parse;
mod print;

pub use ast::Module;
pub use parse::{ParseError, Source, parse, parse_with_lines};
