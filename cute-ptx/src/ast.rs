//! The syntax tree of a PTX module: what a file says, in the order in which it says it.
//!
//! Names are kept as written, with their `%`. The mnemonic of an instruction is a row of the instruction table with its
//! modifiers bound, so that no tree holds an instruction that the table lacks.

use crate::table::{Effect, Kind, Mnemonic, present};

pub use crate::types::Type;

/// A PTX module: the text of one `.ptx` file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version major.minor`.
    pub version: (u32, u32),
    /// `.target`, such as `sm_90a`.
    pub target: String,
    /// What follows, in order.
    pub items: Vec<Item>,
}

/// A directive at module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An empty line.
    Blank,
    /// `// text`.
    Comment(String),
    /// `.extern .shared …` or `.global …`.
    Variable(Variable),
    /// `.visible .entry`.
    Entry(Entry),
}

/// A variable: `.shared .align 1024 .b8 smem[49152];`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Declared `.extern`: dynamic shared memory.
    pub external: bool,
    /// `shared`, `global`, `const` or `local`, without the dot.
    pub space: String,
    /// Alignment in bytes.
    pub align: u32,
    /// Element type.
    pub ty: Type,
    /// Name.
    pub name: String,
    /// Number of elements; `None` prints `[]`.
    pub len: Option<u64>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name, as the driver looks it up.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Performance directives, such as `.reqntid 384`.
    pub directives: Vec<Directive>,
    /// The body, line by line.
    pub body: Vec<Line>,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Its type.
    pub ty: ParamType,
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamType {
    /// `.param .u32 name`.
    Scalar(Type),
    /// `.param .align 64 .b8 name[128]`: a tensor map, for one.
    Bytes {
        /// Alignment in bytes.
        align: u32,
        /// Length in bytes.
        len: u32,
    },
}

/// A performance directive: `.reqntid 384, 1, 1` is `name: "reqntid"`, `values: [384, 1, 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// Name without the dot.
    pub name: String,
    /// Its numbers.
    pub values: Vec<u32>,
}

/// One line of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An empty line.
    Blank,
    /// `// text`.
    Comment(String),
    /// `.reg .b32 %r<12>;`: registers `%r0` to `%r11`.
    Registers {
        /// Their type.
        ty: Type,
        /// The common prefix, with its `%`.
        prefix: String,
        /// How many.
        count: u32,
    },
    /// `.reg .pred p;`: one register, named as it stands.
    Register {
        /// Its type.
        ty: Type,
        /// Its name.
        name: String,
    },
    /// A variable of the body.
    Variable(Variable),
    /// `name:`, with its `$` if it has one.
    Label(String),
    /// An instruction.
    Inst(Inst),
}

/// An instruction: `@!%p1 add.u32 %r1, %r2, 4; // comment`.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The predicate under which it runs.
    pub guard: Option<Guard>,
    /// The mnemonic, such as `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16`.
    pub mnemonic: Mnemonic,
    /// Operands, destination first.
    pub operands: Vec<Operand>,
    /// A comment at the end of the line.
    pub comment: Option<String>,
}

/// The guard of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// `@!%p` rather than `@%p`.
    pub negated: bool,
    /// The predicate register.
    pub predicate: String,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, special register (`%tid.x`), variable, parameter or label.
    Name(String),
    /// `!%p`.
    Not(String),
    /// An integer.
    Int(i128),
    /// A single-precision constant by its bits: `0f3F800000`.
    F32(u32),
    /// A double-precision constant by its bits: `0d3FF0000000000000`.
    F64(u64),
    /// `{a, b, …}`.
    Vector(Vec<Operand>),
    /// `[base]` or `[base+offset]`; `base` is a name or an integer.
    Address {
        /// The base.
        base: Box<Operand>,
        /// Bytes added to it.
        offset: i64,
    },
    /// `[map, {c0, c1, …}]`: a tensor coordinate.
    Tensor {
        /// The address of the tensor map.
        map: Box<Operand>,
        /// Coordinates, innermost dimension first.
        coords: Vec<Operand>,
    },
    /// `d|p`: two destinations in one.
    Pair(Box<Operand>, Box<Operand>),
    /// `_`: a destination nobody reads.
    Sink,
}

impl Inst {
    /// An instruction without guard or comment.
    pub fn new(mnemonic: Mnemonic, operands: impl IntoIterator<Item = Operand>) -> Inst {
        Inst {
            guard: None,
            mnemonic,
            operands: operands.into_iter().collect(),
            comment: None,
        }
    }

    /// What it does besides writing its destinations.
    pub fn effect(&self) -> Effect {
        self.mnemonic.effect()
    }

    /// The operands, each with what the row wants there, by the first form in which operands of such shapes stand. None if
    /// there is no such form, and so always something in a valid module.
    pub fn slots(&self) -> Option<Vec<(&Operand, &'static Kind)>> {
        self.mnemonic.forms().iter().find_map(|form| {
            let kinds = present(form, self.operands.len())?;
            let slots: Vec<_> = self.operands.iter().zip(kinds).collect();
            slots
                .iter()
                .all(|(operand, kind)| operand.has_shape_of(kind))
                .then_some(slots)
        })
    }

    /// Calls `f` on every register that it writes.
    pub fn for_each_written<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        for (i, operand) in self.operands.iter().enumerate() {
            if self.mnemonic.writes(i) {
                operand.for_each_name(f);
            }
        }
    }

    /// Calls `f` on every name that it reads: its guard's, and those of its sources.
    pub fn for_each_read<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        if let Some(guard) = &self.guard {
            f(&guard.predicate);
        }
        self.for_each_source(f);
    }

    /// Calls `f` on every name among its sources: registers, variables, labels.
    pub fn for_each_source<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        for (i, operand) in self.operands.iter().enumerate() {
            if !self.mnemonic.writes(i) {
                operand.for_each_name(f);
            }
        }
    }
}

impl Operand {
    /// Whether it is what stands at such a place, whatever its names mean.
    fn has_shape_of(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Def { .. } => {
                matches!(self, Operand::Name(_) | Operand::Sink | Operand::Pair(..))
            }
            Kind::Use { .. } | Kind::Register(_) | Kind::Value(_) => matches!(
                self,
                Operand::Name(_) | Operand::Int(_) | Operand::F32(_) | Operand::F64(_)
            ),
            Kind::Predicate | Kind::Scale => {
                matches!(self, Operand::Name(_) | Operand::Not(_) | Operand::Int(_))
            }
            Kind::Int(_) => matches!(self, Operand::Int(_)),
            Kind::Vector { .. } | Kind::Pack { .. } => matches!(self, Operand::Vector(_)),
            Kind::Address(_) => matches!(self, Operand::Address { .. }),
            Kind::Tensor { .. } => matches!(self, Operand::Tensor { .. }),
            Kind::Label => matches!(self, Operand::Name(_)),
            Kind::Sink => matches!(self, Operand::Sink),
        }
    }

    /// Calls `f` on every name in the operand: registers, variables and labels alike.
    pub fn for_each_name<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        match self {
            Operand::Name(name) | Operand::Not(name) => f(name),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => {}
            Operand::Vector(elements) => {
                elements.iter().for_each(|element| element.for_each_name(f))
            }
            Operand::Address { base, .. } => base.for_each_name(f),
            Operand::Tensor { map, coords } => {
                map.for_each_name(f);
                coords.iter().for_each(|coord| coord.for_each_name(f));
            }
            Operand::Pair(first, second) => {
                first.for_each_name(f);
                second.for_each_name(f);
            }
        }
    }

    pub(crate) fn for_each_name_mut(&mut self, f: &impl Fn(&mut String)) {
        match self {
            Operand::Name(name) | Operand::Not(name) => f(name),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => {}
            Operand::Vector(elements) => elements
                .iter_mut()
                .for_each(|element| element.for_each_name_mut(f)),
            Operand::Address { base, .. } => base.for_each_name_mut(f),
            Operand::Tensor { map, coords } => {
                map.for_each_name_mut(f);
                coords
                    .iter_mut()
                    .for_each(|coord| coord.for_each_name_mut(f));
            }
            Operand::Pair(first, second) => {
                first.for_each_name_mut(f);
                second.for_each_name_mut(f);
            }
        }
    }
}

/// The families that a register may belong to: each prefix with the index in it. `%r12` is 12 of `%r` or 2 of `%r1`.
///
/// An index has no leading zero and at most ten digits, so there are at most ten prefixes.
///
/// ```
/// let families: Vec<_> = cute_ptx::ast::families("%r102").collect();
/// assert_eq!(families, [("%r10", 2), ("%r", 102)]);
/// ```
pub fn families(register: &str) -> impl Iterator<Item = (&str, u32)> {
    const MAX_DIGITS: usize = 10;
    let digits = register.len()
        - register
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .len();
    (1..=digits.min(MAX_DIGITS)).filter_map(|len| {
        let (prefix, index) = register.split_at(register.len() - len);
        let canonical = len == 1 || !index.starts_with('0');
        Some((prefix, index.parse().ok().filter(|_| canonical)?))
    })
}
