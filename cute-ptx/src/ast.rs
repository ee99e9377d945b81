//! The syntax tree of a PTX module: its declarations, instructions and comments in the order of the text.
//!
//! Names are kept as written, with their `%`. The mnemonic of an instruction is a row of the instruction table with its
//! modifiers bound. So a tree can hold only instructions of the table.
//!
//! The place of an instruction is a field of it (`cute-ptx` `Inst`), not a line of the body: moved code keeps its place, and `.loc` is
//! printed where the place changes.

use crate::table::{Effect, Kind, Mnemonic, present};

pub use crate::types::Type;

/// A PTX module: the text of one `.ptx` file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The major and minor number of `.version`.
    pub version: (u32, u32),
    /// The name in `.target`, such as `sm_90a`.
    pub target: String,
    /// Variables, entries, comments and blank lines, in order.
    pub items: Vec<Item>,
}

/// A directive at module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An empty line.
    Blank,
    /// A comment, as the text after `// `. Line breaks in it begin further comments.
    Comment(String),
    /// A source file for the locations of instructions: `.file 1 "src/gemm.rs"`.
    File {
        /// The number of the file in `.loc`.
        number: u32,
        /// The path, without quotation marks.
        path: String,
    },
    /// A variable, such as `.extern .shared .align 128 .b8 smem[];`.
    Variable(Variable),
    /// A kernel. It is printed as `.visible .entry`.
    Entry(Entry),
    /// A function that kernels call.
    Function(Function),
}

/// A variable: `.shared .align 1024 .b8 smem[49152];`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Whether it is declared `.extern`: dynamic shared memory.
    pub external: bool,
    /// `shared`, `global`, `const` or `local`, without the dot.
    pub space: String,
    /// The alignment in bytes, a power of two.
    pub align: u32,
    /// The type of an element.
    pub ty: Type,
    /// The name, without its brackets.
    pub name: String,
    /// The number of elements; `None` prints `[]`, for dynamic shared memory.
    pub len: Option<u64>,
    /// The values of the first elements: constants, and names of functions and variables. A name stands for an address, also with an
    /// offset (`[name+8]` in the tree, `name+8` in text). The other elements are 0.
    pub init: Vec<Operand>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name by which the driver finds the kernel.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// Performance directives, such as `.reqntid 384`.
    pub directives: Vec<Directive>,
    /// The body, line by line.
    pub body: Vec<Line>,
}

/// A function: `.func (.param .b32 r) f(.param .b32 x)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Whether it is declared `.extern`: a function of the driver, such as `vprintf`.
    pub external: bool,
    /// The name in a `call`.
    pub name: String,
    /// The parameters that receive its results; at most one in compiler output.
    pub returns: Vec<Param>,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// Directives, such as `.noreturn`.
    pub directives: Vec<Directive>,
    /// The body, line by line; `None` for a declaration.
    pub body: Option<Vec<Line>>,
}

/// The parameters of a function called by its address: `p: .callprototype (.param .b32 _) _ (.param .b64 _);`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// The name in a `call`.
    pub name: String,
    /// The parameters that receive the results. Their names mean nothing.
    pub returns: Vec<Param>,
    /// The parameters, in order. Their names mean nothing.
    pub params: Vec<Param>,
}

/// A parameter of a kernel or of a function, or an argument or result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name in `ld.param`.
    pub name: String,
    /// A scalar type, or an array of bytes.
    pub ty: ParamType,
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamType {
    /// A scalar: `.param .u32 name`.
    Scalar(Type),
    /// Bytes, such as a tensor map: `.param .align 64 .b8 name[128]`.
    Bytes {
        /// The alignment in bytes, a power of two.
        align: u32,
        /// The number of bytes.
        len: u32,
    },
}

impl ParamType {
    /// The alignment and the size, in bytes.
    pub fn layout(&self) -> (u32, u32) {
        match self {
            ParamType::Scalar(ty) => (ty.bits().div_ceil(8), ty.bits().div_ceil(8)),
            ParamType::Bytes { align, len } => ((*align).max(1), *len),
        }
    }
}

impl Param {
    /// The end in bytes, if the parameters before it end at `before`.
    pub fn end(&self, before: u64) -> u64 {
        let (align, len) = self.ty.layout();
        before.next_multiple_of(align.into()) + u64::from(len)
    }
}

/// A performance directive: `.reqntid 384, 1, 1` is `name: "reqntid"`, `values: [384, 1, 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// The name, without the dot.
    pub name: String,
    /// The numbers, as many as are written.
    pub values: Vec<u32>,
}

/// One line of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An empty line.
    Blank,
    /// A comment on lines of its own, as the text after `// `. Line breaks in it begin further comments.
    Comment(String),
    /// A family of registers: `.reg .b32 %r<12>;` declares `%r0` to `%r11`.
    Registers {
        /// The type of each register.
        ty: Type,
        /// The common prefix of the names, with its `%`.
        prefix: String,
        /// The number of registers.
        count: u32,
    },
    /// A single register: `.reg .pred p;`.
    Register {
        /// The type of the register.
        ty: Type,
        /// The name, with its `%` if it has one.
        name: String,
    },
    /// A variable that only this entry sees.
    Variable(Variable),
    /// An argument or a result of a call: `.param .b32 param0;`.
    Param(Param),
    /// The parameters of functions called by their addresses.
    Prototype(Prototype),
    /// The labels to which a `brx.idx` can branch: `t: .branchtargets a, b;`.
    Targets {
        /// The name of the list in a `brx.idx`.
        name: String,
        /// The labels, by their indices.
        labels: Vec<String>,
    },
    /// A label, without its colon.
    Label(String),
    /// An instruction, with its guard and its comment.
    Inst(Inst),
}

/// An instruction: `@!%p1 add.u32 %r1, %r2, 4; // comment`.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The predicate under which it executes; `None` if it always does.
    pub guard: Option<Guard>,
    /// The mnemonic, such as `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16`.
    pub mnemonic: Mnemonic,
    /// The operands, in the order of the text.
    pub operands: Vec<Operand>,
    /// The source location of the instruction. In text, an instruction has the location of the last `.loc` before it. So after printing
    /// and parsing, an instruction without a location has that of its predecessor.
    pub place: Option<Place>,
    /// A comment at the end of the line, as the text after `// `.
    pub comment: Option<String>,
}

/// A source location: `.loc 1 120 9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the file, declared by an [`Item::File`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The guard of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Whether it is `@!%p` rather than `@%p`.
    pub negated: bool,
    /// The name of the predicate register.
    pub predicate: String,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The name of a register, special register (`%tid.x`), variable, parameter or label.
    Name(String),
    /// The negation of a predicate register: `!%p`.
    Not(String),
    /// An integer constant, from -(2^64 - 1) to 2^64 - 1 if it was parsed.
    Int(i128),
    /// A single-precision constant by its bits: `0f3F800000`.
    F32(u32),
    /// A double-precision constant by its bits: `0d3FF0000000000000`.
    F64(u64),
    /// A vector: `{a, b, …}`.
    Vector(Vec<Operand>),
    /// An address: `[base]` or `[base+offset]`.
    Address {
        /// A name or an integer.
        base: Box<Operand>,
        /// The number of bytes added to the base.
        offset: i64,
    },
    /// Coordinates in a tensor: `[map, {c0, c1, …}]`.
    Tensor {
        /// A register that holds the generic address of the tensor map.
        map: Box<Operand>,
        /// The coordinates in elements, innermost dimension first.
        coords: Vec<Operand>,
    },
    /// Two destinations as one operand: `d|p`.
    Pair(Box<Operand>, Box<Operand>),
    /// The parameters of a call, or its results: `(param0, param1)`.
    List(Vec<Operand>),
    /// A destination whose value is discarded: `_`.
    Sink,
}

impl Inst {
    /// An instruction without guard, place and comment. Whether the mnemonic takes the operands is checked by validation.
    pub fn new(mnemonic: Mnemonic, operands: impl IntoIterator<Item = Operand>) -> Inst {
        Inst {
            guard: None,
            mnemonic,
            operands: operands.into_iter().collect(),
            place: None,
            comment: None,
        }
    }

    /// The effect besides writing its destinations; see [`Mnemonic::effect`].
    pub fn effect(&self) -> Effect {
        self.mnemonic.effect()
    }

    /// The operands, each with the kind that the row expects at its place. If the row has several forms, the first with this number
    /// and syntax of operands counts, whatever their types. `None` if no form fits; validation refuses such an instruction.
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

    /// Calls `f` with the name of every register that the instruction writes.
    pub fn for_each_written<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        for (i, operand) in self.operands.iter().enumerate() {
            if self.mnemonic.writes(i) {
                operand.for_each_name(f);
            }
        }
    }

    /// Calls `f` with every name that the instruction reads: the guard's name, and the names in its source operands.
    pub fn for_each_read<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        if let Some(guard) = &self.guard {
            f(&guard.predicate);
        }
        self.for_each_source(f);
    }

    /// Calls `f` with every name in the source operands: registers, variables and labels.
    pub fn for_each_source<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        for (i, operand) in self.operands.iter().enumerate() {
            if !self.mnemonic.writes(i) {
                operand.for_each_name(f);
            }
        }
    }
}

impl Operand {
    /// Whether an operand of this syntax can be of this kind, whatever its names mean.
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
            Kind::Label | Kind::Function | Kind::Prototype | Kind::Targets => {
                matches!(self, Operand::Name(_))
            }
            Kind::Parameters => matches!(self, Operand::List(_)),
            Kind::Sink => matches!(self, Operand::Sink),
        }
    }

    /// Calls `f` with every name in the operand: registers, variables and labels.
    pub fn for_each_name<'a>(&'a self, f: &mut impl FnMut(&'a str)) {
        match self {
            Operand::Name(name) | Operand::Not(name) => f(name),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => {}
            Operand::Vector(elements) | Operand::List(elements) => {
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

    /// Calls `f` with every name in the operand; `f` may change it.
    pub fn for_each_name_mut(&mut self, f: &impl Fn(&mut String)) {
        match self {
            Operand::Name(name) | Operand::Not(name) => f(name),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => {}
            Operand::Vector(elements) | Operand::List(elements) => elements
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

/// The families of registers to which a name can belong, each as the prefix and the index: `%r12` is number 12 of `%r`, or
/// number 2 of `%r1`.
///
/// An index has no leading zero and at most ten digits, so there are at most ten families.
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
