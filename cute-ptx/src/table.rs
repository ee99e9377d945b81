//! The instruction table: one row for each form of an instruction, and [`Mnemonic`], a row with its modifiers bound.
//!
//! A row gives the opcode, the pattern of its mnemonics, the forms of their operands, the first PTX version and the lowest target.
//! Its first word is a verb, which says what the instruction does: its effect besides writing its destinations, what these depend on,
//! and whether other threads may wait for it. Rows stand together that have the same section of the PTX ISA, the same class, and the
//! same group of threads that have to execute them. Code that emits an instruction builds the mnemonic from an [`op`] and modifiers
//! of its [choices](choice); the parser reads the mnemonic from text; [`validate`](mod@crate::validate) checks operands against its
//! forms; a decoder reads the modifiers bound in it. Rows are disjoint: no mnemonic belongs to two of them, and no two mnemonics of an
//! [`Opcode`] have the same modifiers.
//!
//! **Patterns.** A pattern is a mnemonic in which `{.a|.b}` stands for one of the alternatives and `{…}?` for one or
//! none. An alternative can be empty, contain several words, and contain braces. `{name=…}` binds the first word of the
//! chosen alternative to a name. A word in capitals stands for several alternatives: `SCOPE` for `cta|cluster|gpu|sys`.
//! The words in braces are [`Modifier`]s, which are chosen when a mnemonic is built; the other words are part of every
//! mnemonic of the row. The opcode's line in `opcode.rs` has the [`choice`]s that its rows have between them.
//!
//! **Operands.** Forms are separated by `;`, operands by `,`. A type `t` is a type of PTX or a bound name. `2t` is the
//! type of twice the width. `~t` allows a register wider than the type, as in loads, stores and conversions. `t!`
//! requires a register declared with exactly this type, as for packed formats that have no register type.
//!
//! | notation | operand |
//! |---|---|
//! | `=t`, `=_t` | destination register; with `_`, also the operand `_` |
//! | `=t\|pred`, `=t[\|pred]` | destination register and predicate `d\|p`; in brackets, the predicate is optional |
//! | `t`, `t@0..15`, `t@0..64/16` | register or constant; the constant in this range; and a multiple of this step |
//! | `%t` | register |
//! | `@t` | register, constant, special register, or the address of a variable or parameter |
//! | `!pred` | predicate register, which may be negated, or 0 or 1 |
//! | `#0..7`, `#4\|8\|16` | integer constant |
//! | `[space]` | address in a space, which is a space of PTX or a bound name; generic if that name is not bound |
//! | `[tensor dim]` | tensor map and as many coordinates as the bound `dim` |
//! | `n*t`, `=n*t` | vector of `n` registers, where `n` is a number or bound (`v4`, `x2`, `3d`); one register if it is not bound |
//! | `={t}`, `{t}` | vector whose elements together have the width of `t` |
//! | `=acc` | accumulators of a wgmma, whose number follows from the shape |
//! | `scale` | predicate register, 0 or 1 |
//! | `offsets` | im2col offsets, two fewer than the dimensions |
//! | `members` | member mask: the lanes that execute the instruction together |
//! | `label`, `_` | label; only the operand `_` |
//! | `targets`, `function`, `prototype` | name of a list of labels, of a function, of a prototype |
//! | `(param)` | parameters that a call passes, or those that receive its results |
//! | `name?x` | `x` if `name` is bound, otherwise no operand |
//! | `x?` | `x`, optional; when fewer operands are given, the last optional ones are left out |

pub mod choice;
mod column;
mod mnemonic;
mod modifier;
mod opcode;
mod operands;
mod pattern;
mod rows;

pub use column::{Class, Effect, Group, Results};
pub use cute_chip::Target;
pub use mnemonic::{Found, Mnemonic, Together, Unknown, samples};
pub use modifier::{Mnk, Modifier};
pub use opcode::{Opcode, op};
pub use operands::{Fit, Form, Kind, Pair, Range, Slot, Space, present};
pub use rows::{Row, rows};
