//! Mnemonics: a row of the table and the modifiers that are bound in it.

use super::modifier::{Modifier, Modifiers};
use super::opcode::Opcode;
use super::operands::{self, Form};
use super::pattern::{self, Furthest, Input, Named, Piece};
use super::rows::{self, Effect, Row};
use super::target::Target;
use crate::types::Type;
use std::collections::HashMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

/// What an instruction is called: a row of the table and the modifiers that are bound in it.
///
/// It is built from them or read from text; either way it is the same value, and there is none that the table lacks.
///
/// ```
/// use cute_ptx::ast::Type;
/// use cute_ptx::table::{Mnemonic, Modifier, Opcode};
///
/// let load = Mnemonic::new(Opcode::Ld, (Modifier::SharedCta, Modifier::Vector(4), Type::F32))?;
/// assert_eq!(load, "ld.shared::cta.v4.f32".parse()?);
/// assert_eq!(load.as_str(), "ld.shared::cta.v4.f32");
/// assert_eq!(load.get("space"), Some(Modifier::SharedCta));
/// assert_eq!(load.ty("t"), Some(Type::F32));
///
/// // Only what is in braces in the row is chosen; the other words follow.
/// let load = Mnemonic::new(Opcode::Ldmatrix, (Modifier::Matrices(4), Modifier::Shared))?;
/// assert_eq!(load.as_str(), "ldmatrix.sync.aligned.m8n8.x4.shared.b16");
/// # Ok::<(), cute_ptx::table::Unknown>(())
/// ```
#[derive(Clone, Copy)]
pub struct Mnemonic(&'static Bound);

struct Bound {
    row: &'static Row,
    section: &'static str,
    text: String,
    modifiers: Vec<Modifier>,
    forms: Vec<Form>,
    named: Named,
    together: Together,
    version: (u32, u32),
    target: Target,
}

/// The lanes of a warp that run an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Each on its own.
    No,
    /// All that have not ended.
    Warp,
    /// Those of the member mask, which is the last operand.
    Members,
}

impl Mnemonic {
    /// The mnemonic of an instruction with these modifiers, which stand in the order in which they are written.
    ///
    /// # Errors
    ///
    /// No row of the instruction takes the modifiers.
    pub fn new(opcode: Opcode, modifiers: impl Modifiers) -> Result<Mnemonic, Unknown> {
        let mut key = (opcode, Vec::with_capacity(4));
        modifiers.push_to(&mut key.1);
        if let Some(known) = read(&INTERNED).built.get(&key) {
            return Ok(*known);
        }
        let candidates = TABLE.rows.iter().filter(|it| it.row.opcode == opcode);
        let found = find(candidates, Input::Modifiers(&key.1))?;
        let mut interned = write(&INTERNED);
        Ok(*interned.built.entry(key).or_insert(found))
    }

    /// The row.
    pub fn row(self) -> &'static Row {
        self.0.row
    }

    /// The instruction.
    pub fn opcode(self) -> Opcode {
        self.0.row.opcode
    }

    /// The section of the PTX ISA (9.0) that specifies it.
    pub fn section(self) -> &'static str {
        self.0.section
    }

    /// The text.
    pub fn as_str(self) -> &'static str {
        &self.0.text
    }

    /// The modifiers, in order.
    pub fn modifiers(self) -> &'static [Modifier] {
        &self.0.modifiers
    }

    /// Whether a modifier is bound.
    pub fn has(self, modifier: Modifier) -> bool {
        self.0.modifiers.contains(&modifier)
    }

    /// The modifier that the row binds to a name.
    pub fn get(self, name: &str) -> Option<Modifier> {
        self.0.named.get(name)
    }

    /// The type that the row binds to a name.
    pub fn ty(self, name: &str) -> Option<Type> {
        self.get(name).and_then(Modifier::ty)
    }

    /// The operands it takes, each form with its types filled in.
    pub fn forms(self) -> &'static [Form] {
        &self.0.forms
    }

    /// Whether it writes the registers of the operand at a place. All forms of a row write in the same places.
    pub fn writes(self, operand: usize) -> bool {
        let form = self.0.forms.first();
        form.and_then(|form| form.get(operand))
            .is_some_and(|slot| slot.kind.writes())
    }

    /// What it does besides writing its destinations.
    pub fn effect(self) -> Effect {
        match (self.row().effect, self.get("space")) {
            // What nobody writes is as good as a register.
            (Effect::Reads, Some(Modifier::Param | Modifier::Const)) => Effect::None,
            (effect, _) => effect,
        }
    }

    /// The lanes that run it together.
    pub fn together(self) -> Together {
        self.0.together
    }

    /// The PTX version it needs: the row's, or a later one for some of its words.
    pub fn version(self) -> (u32, u32) {
        self.0.version
    }

    /// The target it needs: the row's, or a later one for some of its words.
    pub fn target(self) -> Target {
        self.0.target
    }
}

impl FromStr for Mnemonic {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Mnemonic, Unknown> {
        if let Some(known) = read(&INTERNED).read.get(text) {
            return Ok(*known);
        }
        let words: Vec<&str> = text.split('.').collect();
        let candidates = TABLE.rows.iter().filter(|it| it.head == words[0]);
        find(candidates, Input::Words(&words))
    }
}

impl Display for Mnemonic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Debug for Mnemonic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Mnemonic({})", self.as_str())
    }
}

impl PartialEq for Mnemonic {
    fn eq(&self, other: &Mnemonic) -> bool {
        // Each exists once.
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Mnemonic {}

impl Hash for Mnemonic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

/// Mnemonics of a row in which every alternative of its pattern occurs at least once.
pub fn samples(row: &Row) -> Vec<String> {
    pattern::samples(&pattern::compile(row.pattern))
}

/// A mnemonic that no row stands for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unknown {
    /// The longest beginning that some row shares; empty if the instruction itself is unknown.
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

/// A row with its pattern taken apart, once somebody asks for it.
struct Entry {
    section: &'static str,
    row: &'static Row,
    /// The first word.
    head: &'static str,
    pieces: OnceLock<Vec<Piece>>,
}

struct Table {
    rows: Vec<Entry>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let entry = |(section, row): (&'static str, &'static Row)| Entry {
        section,
        row,
        head: row.pattern.split(['.', '{']).next().unwrap_or_default(),
        pieces: OnceLock::new(),
    };
    Table {
        rows: rows::rows().map(entry).collect(),
    }
});

/// The mnemonics met so far. They stay, so that one is a pointer; the table has a limited number of them.
#[derive(Default)]
struct Interned {
    read: HashMap<&'static str, Mnemonic>,
    built: HashMap<(Opcode, Vec<Modifier>), Mnemonic>,
}

static INTERNED: LazyLock<RwLock<Interned>> = LazyLock::new(RwLock::default);

fn read(interned: &RwLock<Interned>) -> std::sync::RwLockReadGuard<'_, Interned> {
    interned.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(interned: &RwLock<Interned>) -> std::sync::RwLockWriteGuard<'_, Interned> {
    interned.write().unwrap_or_else(PoisonError::into_inner)
}

/// The mnemonic of one of the rows that covers the input.
fn find(
    candidates: impl Iterator<Item = &'static Entry>,
    input: Input<'_>,
) -> Result<Mnemonic, Unknown> {
    let mut furthest = Furthest::default();
    for entry in candidates {
        let pieces = entry
            .pieces
            .get_or_init(|| pattern::compile(entry.row.pattern));
        if let Some(path) = pattern::matches(pieces, input, &mut furthest) {
            return Ok(intern(entry, path));
        }
    }
    let Furthest {
        at,
        words,
        mut expected,
    } = furthest;
    expected.sort();
    expected.dedup();
    Err(Unknown {
        known: words.join("."),
        found: input.text(at),
        expected,
    })
}

fn intern(entry: &Entry, path: pattern::Path) -> Mnemonic {
    let text = path.words.join(".");
    let mut interned = write(&INTERNED);
    if let Some(known) = interned.read.get(text.as_str()) {
        return *known;
    }
    let row = entry.row;
    let phrases: Vec<_> = rows::phrases(&path.words).collect();
    let target = Target {
        sm: phrases.iter().map(|it| it.sm).fold(row.target.sm, Ord::max),
        ..row.target
    };
    let mnemonic = Mnemonic(Box::leak(Box::new(Bound {
        row,
        section: entry.section,
        forms: operands::forms(row, &path.named),
        together: together(row, &path.words),
        version: phrases
            .iter()
            .map(|it| it.version)
            .fold(row.version, Ord::max),
        target,
        text,
        modifiers: path.modifiers,
        named: path.named,
    })));
    interned.read.insert(mnemonic.as_str(), mnemonic);
    mnemonic
}

fn together(row: &Row, words: &[String]) -> Together {
    if row.operands.ends_with("members") {
        return Together::Members;
    }
    // `bar` is short for `barrier.cta….aligned`.
    match words[0] == "bar" || words.iter().any(|word| word == "aligned") {
        true => Together::Warp,
        false => Together::No,
    }
}
