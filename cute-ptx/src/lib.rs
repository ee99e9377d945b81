//! A typed model of PTX.
//!
//! [`ast`] is the one representation: the kernel language builds it, [`print`](mod@print) writes it, [`parse`](mod@parse)
//! reads it back, [`validate`](mod@validate) holds it against the [`table`] of instruction rows, and the emulator runs it.

pub mod ast;
