//! Mnemonics: rows of the table with their modifiers bound.

use super::choice::Modifiers;
use super::column::{Class, Effect, Group, Results};
use super::modifier::Modifier;
use super::op::Instruction;
use super::opcode::Opcode;
use super::operands::{self, Form, Kind};
use super::pattern::{self, Furthest, Input, Named, Piece};
use super::rows::{self, Row, Section};
use crate::types::Type;
use cute_chip::Target;
use std::collections::HashMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

/// The mnemonic of an instruction: a row of the table with its modifiers bound.
///
/// It is built from an opcode and modifiers, or parsed from text; both give the same value. There are only mnemonics of the
/// table.
///
/// ```
/// use cute_ptx::ast::Type;
/// use cute_ptx::table::choice::{CtaShared, Matrices, StateSpace, Vector};
/// use cute_ptx::table::{Mnemonic, Modifier, op};
///
/// let load = Mnemonic::new(op::Ld, (StateSpace::SharedCta, Vector(4), Type::F32))?;
/// assert_eq!(load, "ld.shared::cta.v4.f32".parse()?);
/// assert_eq!(load.as_str(), "ld.shared::cta.v4.f32");
/// assert_eq!(load.get("space"), Some(Modifier::SharedCta));
/// assert_eq!(load.ty("t"), Some(Type::F32));
///
/// // Only the words in the row's braces are given; the other words follow from the row.
/// let load = Mnemonic::new(op::Ldmatrix, (Matrices(4), CtaShared::Shared))?;
/// assert_eq!(load.as_str(), "ldmatrix.sync.aligned.m8n8.x4.shared.b16");
/// # Ok::<(), cute_ptx::table::Unknown>(())
/// ```
#[derive(Clone, Copy)]
pub struct Mnemonic(&'static Bound);

struct Bound {
    row: &'static Row,
    section: &'static Section,
    text: String,
    modifiers: Vec<Modifier>,
    forms: Vec<Form>,
    named: Named,
    together: Together,
    version: (u32, u32),
    target: Target,
}

/// The lanes of a warp that execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Each lane executes it on its own.
    No,
    /// All lanes of the warp (`.aligned`).
    Warp,
    /// The lanes of the member mask, which is the last operand.
    Members,
}

impl Mnemonic {
    /// The mnemonic of an instruction with these modifiers, in the order of the mnemonic. A word that no row of the instruction has does
    /// not compile.
    ///
    /// # Errors
    ///
    /// No row of the instruction has exactly these modifiers.
    pub fn new<I: Instruction>(_: I, modifiers: impl Modifiers<I>) -> Found {
        let mut list = Vec::with_capacity(4);
        modifiers.push_to(&mut list);
        Mnemonic::build((I::OPCODE, list))
    }

    /// The mnemonic of an opcode with these modifiers, in the order of the mnemonic: for those that are known only at run time.
    ///
    /// # Errors
    ///
    /// No row of the opcode has exactly these modifiers.
    pub fn from_modifiers(opcode: Opcode, modifiers: &[Modifier]) -> Found {
        Mnemonic::build((opcode, modifiers.to_vec()))
    }

    fn build(key: (Opcode, Vec<Modifier>)) -> Found {
        if let Some(known) = read(&INTERNED).built.get(&key) {
            return Ok(*known);
        }
        let candidates = TABLE.rows.iter().filter(|it| it.row.opcode == key.0);
        let found = find(candidates, Input::Modifiers(&key.1))?;
        let mut interned = write(&INTERNED);
        Ok(*interned.built.entry(key).or_insert(found))
    }

    /// The mnemonic's row of the table.
    pub fn row(self) -> &'static Row {
        self.0.row
    }

    /// The opcode of its row.
    pub fn opcode(self) -> Opcode {
        self.0.row.opcode
    }

    /// The section of the PTX ISA 9.0 about it, such as "9.7.1 Integer Arithmetic".
    pub fn section(self) -> &'static str {
        self.0.section.title
    }

    /// The class of instructions to which it belongs.
    pub fn class(self) -> Class {
        self.0.section.class
    }

    /// The text, such as `add.u32`.
    pub fn as_str(self) -> &'static str {
        &self.0.text
    }

    /// The modifiers, in the order of the text.
    pub fn modifiers(self) -> &'static [Modifier] {
        &self.0.modifiers
    }

    /// Whether it has a modifier.
    pub fn has(self, modifier: Modifier) -> bool {
        self.0.modifiers.contains(&modifier)
    }

    /// The modifier that the row binds to a name; `None` if that choice was left out or does not exist.
    pub fn get(self, name: &str) -> Option<Modifier> {
        self.0.named.get(name)
    }

    /// The type that the row binds to a name; `None` if it binds no modifier or one of another kind.
    pub fn ty(self, name: &str) -> Option<Type> {
        self.get(name).and_then(Modifier::ty)
    }

    /// The forms of its operands, with the bound types filled in. An instruction must match one of them.
    pub fn forms(self) -> &'static [Form] {
        &self.0.forms
    }

    /// The kinds of so many operands, by the first form that takes as many; `None` if no form does.
    pub fn kinds(self, operands: usize) -> Option<Vec<&'static Kind>> {
        let mut forms = self.forms().iter();
        forms.find_map(|form| operands::present(form, operands))
    }

    /// Whether it writes the registers of an operand, given by its index from 0. All forms of a row write the same operands.
    pub fn writes(self, operand: usize) -> bool {
        let form = self.0.forms.first();
        form.and_then(|form| form.get(operand))
            .is_some_and(|slot| slot.kind.writes())
    }

    /// The effect besides writing its destinations: the row's effect, except that a load from `.param` or `.const` has none.
    pub fn effect(self) -> Effect {
        match (self.row().effect, self.get("space")) {
            // No thread can write these spaces, so a load from them depends on its sources alone.
            (Effect::Reads, Some(Modifier::Param | Modifier::Const)) => Effect::None,
            (effect, _) => effect,
        }
    }

    /// What its results depend on.
    pub fn results(self) -> Results {
        self.row().results
    }

    /// Whether other threads may wait for it: the row's [`signals`](Row::signals).
    pub fn signals(self) -> bool {
        self.row().signals
    }

    /// The threads that all have to execute it, if they are more than a warp.
    pub fn group(self) -> Option<Group> {
        self.0.section.group
    }

    /// The lanes of a warp that execute it together.
    pub fn together(self) -> Together {
        self.0.together
    }

    /// The first PTX version with this mnemonic, as major and minor number: the row's, or a later one required by a modifier.
    pub fn version(self) -> (u32, u32) {
        self.0.version
    }

    /// The lowest target with this mnemonic: the row's, or a higher one required by a modifier.
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
        // Mnemonics are interned: equal ones have the same address.
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Mnemonic {}

impl Hash for Mnemonic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

/// Mnemonics of a row. Together they contain every alternative of its pattern.
pub fn samples(row: &Row) -> Vec<String> {
    pattern::samples(&pattern::compile(row.pattern))
}

/// A mnemonic of the table, or why the table has none.
pub type Found = Result<Mnemonic, Unknown>;

/// A mnemonic that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unknown {
    /// The longest prefix that is also a prefix of a mnemonic in the table; empty if not even the first word is.
    pub known: String,
    /// The word after it; `None` if the mnemonic ends too early.
    pub found: Option<String>,
    /// The words that can follow `known`, without their dots.
    pub expected: Vec<String>,
}

impl Display for Unknown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        /// The most words in a message. A longer list does not help the reader.
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

/// A row with its pattern. The pattern is compiled at its first use.
struct Entry {
    section: &'static Section,
    row: &'static Row,
    /// The first word of the pattern.
    head: &'static str,
    pieces: OnceLock<Vec<Piece>>,
}

struct Table {
    rows: Vec<Entry>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let entries = |section: &'static Section| {
        section.rows.iter().map(move |row| Entry {
            section,
            row,
            head: row.pattern.split(['.', '{']).next().unwrap_or_default(),
            pieces: OnceLock::new(),
        })
    };
    Table {
        rows: rows::sections().iter().flat_map(entries).collect(),
    }
});

/// The mnemonics used so far, by text and by modifiers. They are never freed, so a [`Mnemonic`] is just a reference. The
/// table bounds their number.
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

/// The mnemonic of one of the candidate rows that matches the input.
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
    // `bar` is PTX's abbreviation of `barrier.cta` with `.aligned`.
    match words[0] == "bar" || words.iter().any(|word| word == "aligned") {
        true => Together::Warp,
        false => Together::No,
    }
}
