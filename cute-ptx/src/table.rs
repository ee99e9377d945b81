//! The instruction table: one row for each form of an instruction, and [`Mnemonic`], a row with its modifiers bound.
//!
//! A row says which instruction it is, what that does besides writing its destinations, which mnemonics it stands for,
//! which operands they take, and since which PTX version and on which target they exist. Whoever emits an instruction
//! builds its mnemonic from the row's modifiers, the parser reads it, [`validate`](mod@crate::validate) holds operands
//! against it, and a decoder asks it what is bound. Rows are disjoint: no mnemonic belongs to two of them, and no two
//! mnemonics of an [`Opcode`] have the same modifiers.
//!
//! **Patterns.** A pattern is a mnemonic in which `{.a|.b}` stands for one of its alternatives and `{…}?` for one or
//! none; an alternative may be empty, may hold several words, and may hold braces again. `{name=…}` binds the first of
//! the words chosen. A word in capitals is a class of words, such as `SCOPE`. What is in braces is a [`Modifier`], which
//! whoever builds the mnemonic names; the other words are always there.
//!
//! **Operands.** Forms are separated by `;`, operands by `,`. A type is that of PTX or a bound name; `2t` is twice as
//! wide, `~t` lets the register be wider than the type, as loads, stores and conversions do, and `t!` wants a register
//! declared with that very type, as packed formats do that have no type of their own.
//!
//! | notation | operand |
//! |---|---|
//! | `=t`, `=_t` | destination register; or `_` |
//! | `=t\|pred`, `=t[\|pred]` | two destinations; the second may be left out |
//! | `t`, `t@0..15`, `t@0..64/16` | register or constant; the constant in a range, a multiple of a step |
//! | `%t` | register |
//! | `@t` | register, constant, special register, or the address of a variable or parameter |
//! | `!pred` | predicate register, perhaps negated, 0 or 1 |
//! | `#0..7`, `#4\|8\|16` | integer constant |
//! | `[space]` | address; the space is written out or bound, and generic where its choice was left out |
//! | `[tensor dim]` | tensor map with as many coordinates as `dim` says |
//! | `n*t`, `=n*t` | vector of `n` registers, where `n` is a number or bound (`v4`, `x2`, `3d`); one register if it was left out |
//! | `={t}`, `{t}` | vector whose elements fill `t` |
//! | `=acc` | accumulators of a wgmma: their number follows from its shape |
//! | `scale` | predicate register, 0 or 1 |
//! | `offsets` | im2col offsets: two fewer than dimensions |
//! | `members` | the lanes that run it together, as a mask |
//! | `label`, `_` | label; the sink alone |
//! | `name?x` | `x`, exactly when `name` is bound |
//! | `x?` | `x` may be left out, with all that follows it |

mod mnemonic;
mod modifier;
mod opcode;
mod operands;
mod pattern;
mod rows;
mod target;

pub use mnemonic::{Mnemonic, Together, Unknown, samples};
pub use modifier::{Modifier, Modifiers};
pub use opcode::Opcode;
pub use operands::{Fit, Form, Kind, Pair, Range, Slot, Space, present};
pub use rows::{Effect, Row, rows};
pub use target::Target;
