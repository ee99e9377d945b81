//! The notation: from text or tokens to values.
//!
//! One grammar serves [`FromStr`](core::str::FromStr), the macros and the kernel language. Lowest binding first:
//!
//! ```text
//! expr    := ["ragged"] chain ("/" chain)*            // zipped_divide; `ragged` rounds up
//! chain   := operand (("o" | "then") operand)*        // A o B is A(B(c)); `then` is the other order
//! operand := primary [":" stride]                     // a shape alone is a layout with the leftmost mode fastest
//! primary := sum | basis | word | "_" | "(" [expr ("," expr)*] ")" | "<" [expr ("," expr)*] ">" | swizzle
//! sum     := product (("+" | "-") product)*;  product := factor (("*" | "%") factor)*
//! factor  := int | name | braces | name "(" args ")" | "(" sum ")" | factor ".div_ceil(" sum ")"  // numbers and run-time integers
//! braces  := "{" sum "}" | "{" Rust expression "}"    // one integer
//! stride  := sum | basis | tuple | "row" | "col"
//! basis   := factor ("@" int)+                        // rightmost index is outermost
//! swizzle := "Sw" "<" int "," int "," int ">"         // Sw o L, or Sw o offset o L
//! ```
//!
//! A name inside a tuple, beside a `:` or in braces is an integer. Where a layout may stand as well, a known name has its value. An
//! unknown name is a run-time integer if it begins with a lower-case letter, otherwise the name of a layout.
//!
//! Between integers, `/` is the quotient, rounded towards 0, and binds as `*` does: `(8+BM/2,4)` has two modes, and `24/4` is 6.
//! A layout divided by an integer has a stride: `24:1 / 4`. As `/` binds less than `:`, a quotient that is an extent or a
//! stride by itself stands in a tuple.
//!
//! A token has a position, which is a [`Range`](core::ops::Range). For a text it counts bytes; for a macro it counts
//! indices into a list of spans. Expressions and errors keep these positions, and this module never looks at their unit.
//!
//! The notation is parsed in `cute-algebra`, not in `cute-lang`. `FromStr` needs it, and a parser over numbered tokens serves text and
//! token streams alike: `cute-lang` numbers a `TokenStream`'s tokens and keeps the spans.

mod definition;
mod elsewhere;
mod error;
mod eval;
mod explain;
mod expr;
mod from_str;
mod kernel_functions;
mod parse;
#[cfg(test)]
mod range_tests;
mod run_time;
#[cfg(test)]
mod run_time_tests;
mod show;
mod tiling;
mod token;

pub use definition::{Definition, Definitions};
pub use error::NotationError;
pub use eval::{Captured, eval, eval_layout};
pub use explain::explain;
pub use expr::{Expr, ExprKind, Fact, MAX_NESTING, Names, Order, Relation, Sign};
pub use from_str::eval_str;
pub use parse::{parse, parse_where};
pub use run_time::{
    Symbolic, eval_symbolic, eval_symbolic_str, eval_symbolic_tiling, eval_symbolic_value,
};
pub use tiling::{eval_tiling, require_disjoint};
pub use token::{MAX_TOKENS, Token, TokenKind, lex, parse_integer};
