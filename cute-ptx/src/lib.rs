//! A typed model of PTX.
//!
//! It serves the kernel language and the emulator of `cute-runtime`. Its interface is not a promise: any release may change it.
//!
//! A module is a tree ([`ast`]). The kernel language builds it, its `Display` prints it, [`parse`](mod@parse) reads it back,
//! [`validate`](mod@validate) checks it against the [`table`] of instructions, and the emulator runs it. An instruction in the
//! tree is a row of the table with its modifiers bound, and its operands.
//!
//! ```
//! use cute_ptx::ast::{Entry, Inst, Item, Line, Module, Operand, Type};
//! use cute_ptx::table::{Mnemonic, op};
//!
//! let register = Line::Register { ty: Type::U32, name: "%thread".into() };
//! let (d, a) = (Operand::Name("%thread".into()), Operand::Name("%tid.x".into()));
//! let mov = Inst::new(Mnemonic::new(op::Mov, Type::U32)?, [d, a]);
//! let ret = Inst::new("ret".parse()?, []);
//! let mut body = vec![register, Line::Inst(mov), Line::Inst(ret)];
//! let module = |body| Module {
//!     version: (8, 0),
//!     target: "sm_90a".into(),
//!     items: vec![Item::Entry(Entry { name: "k".into(), params: vec![], directives: vec![], body })],
//! };
//! assert_eq!(cute_ptx::validate(&module(body.clone())), []);
//! assert!(module(body.clone()).to_string().contains("    mov.u32 %thread, %tid.x;\n"));
//!
//! body.remove(0);
//! assert_eq!(
//!     cute_ptx::validate(&module(body))[0].to_string(),
//!     "entry k, line 0 of its body, `mov.u32 %thread, %tid.x`: operand 1, `%thread`, is not declared; \
//!      expected a .u32 register to write"
//! );
//! # Ok::<(), cute_ptx::table::Unknown>(())
//! ```

#![forbid(unsafe_code)]

pub mod ast;
pub mod claims;
mod lex;
pub mod parse;
mod print;
pub mod special;
pub mod table;
mod types;
pub mod validate;

pub use ast::Module;
pub use parse::{ParseError, Source, parse, parse_with_lines};
pub use validate::validate;
