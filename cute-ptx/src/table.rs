//! The instruction table: one row for each form of an instruction, and the lookup from a mnemonic to its row.
//!
//! A row says which mnemonics it stands for, which operands they take, and since which PTX version and on which target
//! they exist. [`validate`](mod@crate::validate) holds a module against the rows; a decoder reads the modifiers that a
//! [`Match`] has bound. Rows are disjoint: no mnemonic belongs to two of them.
//!
//! **Patterns.** A pattern is a mnemonic in which `{.a|.b}` stands for one of its alternatives and `{…}?` for one or
//! none; an alternative may be empty, may hold several words, and may hold braces again. `{name=…}` binds what was
//! chosen. A word in capitals is a class of words, such as `SCOPE`.
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
//! | `label`, `_` | label; the sink alone |
//! | `name?x` | `x`, exactly when `name` is bound |
//! | `x?` | `x` may be left out, with all that follows it |

mod operands;
mod pattern;
mod rows;

pub use operands::{Fit, Form, Kind, Pair, Range, Slot, Space};

use crate::ast::Type;
use pattern::Piece;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::sync::LazyLock;

/// One form of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which mnemonics it stands for.
    pub pattern: &'static str,
    /// Which operands they take.
    pub operands: &'static str,
    /// The PTX version that introduced it.
    pub version: (u32, u32),
    /// The least target that has it.
    pub target: Target,
}

/// A target: `sm_90`, or `sm_90a`, whose features no other target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Compute capability, times ten.
    pub sm: u32,
    /// Whether it is the architecture-specific variant.
    pub specific: bool,
}

impl Target {
    /// The target of that name, such as `sm_90a`.
    pub fn from_name(name: &str) -> Option<Target> {
        let digits = name.strip_prefix("sm_")?;
        let (digits, specific) = match digits.strip_suffix('a') {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        let sm = digits
            .bytes()
            .all(|c| c.is_ascii_digit())
            .then(|| digits.parse().ok())??;
        Some(Target { sm, specific })
    }

    /// Whether code for `self` may use what `needed` has.
    pub fn has(self, needed: Target) -> bool {
        match needed.specific {
            true => self == needed,
            false => self.sm >= needed.sm,
        }
    }

    /// The first PTX version that knows the target.
    pub fn version(self) -> (u32, u32) {
        let Target { sm, specific } = self;
        match sm {
            _ if specific && sm == 90 => (8, 0),
            103 | 121 => (8, 8),
            88 | 110 => (9, 0),
            120 => (8, 7),
            100.. => (8, 6),
            89 | 90 => (7, 8),
            87 => (7, 4),
            86 => (7, 1),
            80 => (7, 0),
            75 => (6, 3),
            70 | 72 => (6, 1),
            _ => (5, 0),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.sm, if self.specific { "a" } else { "" })
    }
}

/// A mnemonic that a row stands for.
#[derive(Clone, Debug)]
pub struct Match {
    /// The row.
    pub row: &'static Row,
    /// The section of the PTX ISA (9.0) that specifies it.
    pub section: &'static str,
    words: Vec<String>,
    bound: Vec<(String, String)>,
}

impl Match {
    /// What the pattern bound to a name, without its leading dot.
    ///
    /// ```
    /// let found = cute_ptx::table::lookup("ld.shared::cta.v4.f32").unwrap();
    /// assert_eq!(found.get("space"), Some("shared::cta"));
    /// assert_eq!(found.get("vec"), Some("v4"));
    /// assert_eq!(found.get("cop"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&str> {
        self.bound
            .iter()
            .find(|(bound, _)| bound == name)
            .map(|(_, value)| value.as_str())
    }

    /// The type that the pattern bound to a name.
    pub fn ty(&self, name: &str) -> Option<Type> {
        self.get(name).and_then(Type::from_name)
    }

    /// Whether a modifier, given without its dot, stands in the mnemonic.
    pub fn has(&self, modifier: &str) -> bool {
        self.words.iter().any(|word| word == modifier)
    }

    /// The operands it takes, each form with its types filled in.
    pub fn forms(&self) -> Vec<Form> {
        operands::forms(self)
    }

    /// The PTX version it needs: the row's, or a later one for one of its modifiers.
    pub fn version(&self) -> (u32, u32) {
        self.phrases()
            .map(|phrase| phrase.version)
            .fold(self.row.version, Ord::max)
    }

    /// The target it needs: the row's, or a later one for one of its modifiers.
    pub fn target(&self) -> Target {
        let needed = self.row.target;
        let sm = self
            .phrases()
            .map(|phrase| phrase.sm)
            .fold(needed.sm, Ord::max);
        Target { sm, ..needed }
    }

    fn phrases(&self) -> impl Iterator<Item = &'static rows::Phrase> {
        rows::PHRASES.iter().filter(|phrase| {
            let words: Vec<&str> = phrase.words.split('.').collect();
            self.words
                .windows(words.len())
                .any(|window| window == words)
        })
    }
}

/// Every row, with the section that specifies it.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static Row)> {
    rows::SECTIONS
        .iter()
        .flat_map(|(section, rows)| rows.iter().map(|row| (*section, row)))
}

/// Looks a mnemonic up.
pub fn lookup(mnemonic: &str) -> Option<Match> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    TABLE.candidates(words[0]).iter().find_map(|entry| {
        let bound = pattern::matches(&entry.pieces, &words)?;
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Some(Match {
            row: entry.row,
            section: entry.section,
            words,
            bound,
        })
    })
}

/// Mnemonics of a row in which every alternative of its pattern occurs at least once.
pub fn samples(row: &'static Row) -> Vec<String> {
    pattern::samples(&pattern::compile(row.pattern))
}

/// Why [`lookup`] finds nothing: how much of the mnemonic is known, and what could follow.
pub fn explain(mnemonic: &str) -> Unknown {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let mut known = 0;
    let mut expected = Vec::new();
    for entry in TABLE.candidates(words[0]) {
        let (reached, next) = pattern::furthest(&entry.pieces, &words);
        if reached > known {
            known = reached;
            expected.clear();
        }
        if reached == known {
            expected.extend(next);
        }
    }
    expected.sort();
    expected.dedup();
    Unknown {
        known: words[..known].join("."),
        found: words.get(known).map(|word| (*word).to_owned()),
        expected,
    }
}

/// A mnemonic that no row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The longest beginning that some row shares; empty if the opcode itself is unknown.
    pub known: String,
    /// The word after it; none if the mnemonic ends too soon.
    pub found: Option<String>,
    /// The words that could stand there.
    pub expected: Vec<String>,
}

impl Display for Unknown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        /// More than this is no help.
        const SHOWN: usize = 12;
        let Unknown {
            known,
            found,
            expected,
        } = self;
        match found {
            Some(found) if known.is_empty() => {
                return write!(f, "`{found}` is not an instruction of the table");
            }
            Some(found) => write!(f, "`.{found}` cannot follow `{known}`")?,
            None => write!(f, "`{known}` is not complete")?,
        }
        for (i, word) in expected.iter().take(SHOWN).enumerate() {
            write!(
                f,
                "{}.{word}",
                if i == 0 { "; expected one of " } else { ", " }
            )?;
        }
        if expected.len() > SHOWN {
            write!(f, ", …")?;
        }
        Ok(())
    }
}

struct Entry {
    section: &'static str,
    row: &'static Row,
    pieces: Vec<Piece>,
}

struct Table {
    by_opcode: HashMap<&'static str, Vec<Entry>>,
}

impl Table {
    fn candidates(&self, opcode: &str) -> &[Entry] {
        self.by_opcode.get(opcode).map_or(&[], Vec::as_slice)
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut by_opcode: HashMap<_, Vec<Entry>> = HashMap::new();
    for (section, row) in rows() {
        let opcode = row.pattern.split(['.', '{']).next().unwrap_or_default();
        let pieces = pattern::compile(row.pattern);
        by_opcode.entry(opcode).or_default().push(Entry {
            section,
            row,
            pieces,
        });
    }
    Table { by_opcode }
});
