//! Validation: checks a module against the instruction table and against the rules of the driver and the hardware.
//!
//! It finds the errors for which the assembler refuses a module. It also refuses some modules that the assembler accepts but
//! that fail later: modules with a `setmaxnreg` that the assembler would drop, or with a wgmma descriptor that is a compile-time
//! constant. Every declared name of a valid module is an identifier, so the printed module parses.

mod constants;
mod names;
mod operands;

use crate::ast::{
    Directive, Entry, Function, Inst, Item, Line, Module, Operand, Param, ParamType, Prototype,
    Type, Variable,
};
use crate::special::{self, Special};
use crate::table::{Kind, Opcode, Target};
use cute_chip::{Chip, registers, shared, threads};
use names::{Declared, Names};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

const MAX_STATIC_SHARED: u64 = shared::MAX_STATIC_BYTES as u64;
/// The first version with the larger limit on bytes of parameters.
const MANY_PARAMS: (u32, u32) = (8, 1);
/// The most bytes of parameters before that version, and from that version on.
const MAX_PARAMS: (u64, u64) = (
    threads::MAX_PARAMETER_BYTES as u64,
    threads::MAX_PARAMETER_BYTES_8_1 as u64,
);
/// The most registers that an entry may declare. PTX has no limit; this one is far more than kernels use.
const MAX_REGISTERS: u64 = 1 << 20;

/// A problem and its place in the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The name of the entry or function; `None` outside them.
    pub entry: Option<String>,
    /// The index of the line in the entry's body, from 0; `None` if the problem is not in one line of the body.
    pub line: Option<usize>,
    /// The instruction or declaration, as it is printed.
    pub text: String,
    /// The problem.
    pub problem: Problem,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No form of the instruction takes this number of operands.
    #[error("the instruction takes {}, but {found} are given", counts(.takes))]
    OperandCount {
        /// The number of operands given.
        found: usize,
        /// The least and the most operands of each form.
        takes: Vec<(usize, usize)>,
    },
    /// An operand is not of the kind that the instruction takes at its place.
    #[error("operand {number}, `{operand}`, {mismatch}; expected {expected}")]
    Operand {
        /// The number of the operand, from 1.
        number: usize,
        /// The operand, as it is printed.
        operand: String,
        /// The operands that the instruction takes at this place.
        expected: Kind,
        /// The reason why it does not fit.
        mismatch: Mismatch,
    },
    /// The guard is not a predicate register.
    #[error("the guard `{name}` {mismatch}; expected a .pred register")]
    Guard {
        /// The name in the guard.
        name: String,
        /// The reason why it does not fit.
        mismatch: Mismatch,
    },
    /// A branch to a label that does not exist.
    #[error("the entry has no label `{0}`")]
    MissingLabel(String),
    /// A name or a `.file` is declared twice, or a name belongs to a declared family of registers.
    #[error("`{0}` is declared twice")]
    Duplicate(String),
    /// The path of a `.file` contains a quotation mark, a backslash or a line break.
    #[error("`{0}` cannot be the path of a file in PTX")]
    InvalidPath(String),
    /// The place of an instruction is in a file that no `.file` declares.
    #[error("the module has no `.file {0}`")]
    MissingFile(u32),
    /// A declared name is not legal in PTX.
    #[error("`{0}` is not a PTX identifier")]
    InvalidName(String),
    /// The target is not `sm_` with a number and perhaps an `a`.
    #[error("`{0}` is not a target such as sm_90a")]
    UnknownTarget(String),
    /// The module's `.version` is too low.
    #[error("{what} needs PTX {}.{}, but the module says {}.{}", .needed.0, .needed.1, .found.0, .found.1)]
    Version {
        /// The instruction, special register, directive or target that needs a later version.
        what: String,
        /// The first version that has it, as major and minor number.
        needed: (u32, u32),
        /// The version of the module.
        found: (u32, u32),
    },
    /// The module's target lacks an instruction, special register or directive.
    #[error("{what} needs {needed}, but the module says {found}")]
    Target {
        /// The instruction, special register or directive.
        what: String,
        /// The lowest target that has it.
        needed: Target,
        /// The target of the module.
        found: Target,
    },
    /// A register, variable or parameter is declared with an illegal type.
    #[error("{what} cannot be declared {ty}")]
    DeclaredType {
        /// "a register", "a variable" or "a parameter".
        what: &'static str,
        /// The type in the declaration.
        ty: Type,
    },
    /// A variable is declared in an illegal state space.
    #[error("a variable {place} cannot be in .{space}")]
    Space {
        /// "of an entry" or "of a module".
        place: &'static str,
        /// The state space in the declaration, without the dot.
        space: String,
    },
    /// A function is declared twice with different parameters, or has two bodies.
    #[error("`{0}` is declared with other parameters, or defined, before")]
    Redeclared(String),
    /// A variable has illegal initial values: too many, not of its type, or in a state space without initial values.
    #[error("the initial value `{value}` does not fit a variable of {len} {ty} in .{space}")]
    InitialValue {
        /// The first value that does not fit.
        value: String,
        /// The number of elements.
        len: u64,
        /// The type of an element.
        ty: Type,
        /// The state space, without the dot.
        space: String,
    },
    /// A variable has no elements.
    #[error("a variable must have at least one element, unless it is `.extern .shared`")]
    Empty,
    /// An `.extern` variable is not dynamic shared memory.
    #[error(
        "`.extern` is only for dynamic shared memory: a module's `.shared` array without a length"
    )]
    External,
    /// An entry has both `.maxntid` and `.reqntid`.
    #[error("`.maxntid` and `.reqntid` exclude each other")]
    ConflictingDirectives,
    /// An alignment is not a power of two.
    #[error("the alignment {0} is not a power of two")]
    Alignment(u32),
    /// A directive is not one of PTX's performance directives.
    #[error("`.{0}` is not a performance directive")]
    UnknownDirective(String),
    /// A directive has too few, too many or too large numbers.
    #[error("`.{name}` takes {takes}")]
    DirectiveValues {
        /// The name of the directive, without the dot.
        name: String,
        /// The allowed numbers, such as "one number from 1 to 255".
        takes: String,
    },
    /// An entry has more static shared memory than a kernel can have.
    #[error(
        "{bytes} bytes of static shared memory are over the limit of {MAX_STATIC_SHARED}; declare them `.extern .shared`"
    )]
    StaticShared {
        /// The bytes of the entry's and the module's variables.
        bytes: u64,
    },
    /// An entry has more bytes of parameters than a kernel can have.
    #[error("{bytes} bytes of parameters are over the limit of {limit}")]
    Params {
        /// The bytes of all parameters, with the padding between them.
        bytes: u64,
        /// The limit of the module's PTX version.
        limit: u64,
    },
    /// An entry declares more registers than this crate supports.
    #[error("{count} registers are over the limit of {MAX_REGISTERS}")]
    TooManyRegisters {
        /// The number of declared registers.
        count: u64,
    },
    /// `setmaxnreg` in an entry without a bound on its threads or registers: the assembler would drop the instruction
    /// (its note C7508). With `.reqntid` alone, it may still drop it in a kernel with few registers. With `.minnctapersm 1` or
    /// `.maxnreg` in addition, it does not.
    #[error("setmaxnreg has no effect in an entry without .reqntid, .maxntid or .maxnreg; add one")]
    SetmaxnregUnbounded,
    /// The matrix descriptor of a wgmma is known at compile time. The field is its register.
    #[error(
        "the matrix descriptor `{0}` is a compile-time constant, which crashes the driver's JIT compiler"
    )]
    ConstantDescriptor(String),
}

/// The reason why an operand does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// It is a different kind of operand, such as a constant instead of a register, or a special register instead of a
    /// declared one.
    #[error("does not fit here")]
    Kind,
    /// It is a register of this type, and the instruction takes another type.
    #[error("is a {0} register")]
    Type(Type),
    /// It is a constant that does not fit the type or is out of the allowed range.
    #[error("is not an allowed constant")]
    Constant,
    /// It is a name that is not declared.
    #[error("is not declared")]
    Undeclared,
    /// It is a vector of this length, and the instruction takes another length.
    #[error("has {0} element{s}", s = if *.0 == 1 { "" } else { "s" })]
    Length(usize),
    /// It is a variable or parameter in this state space, and the instruction accesses another space.
    #[error("is in .{0}")]
    Space(String),
    /// The address is in a register of this type: too narrow for the state space, or not an integer.
    #[error("holds its address in a {0} register")]
    AddressType(Type),
}

impl std::error::Error for Error {}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.entry, self.line) {
            (Some(entry), Some(line)) => write!(f, "entry {entry}, line {line} of its body, ")?,
            (Some(entry), None) => write!(f, "entry {entry}, ")?,
            (None, _) => {}
        }
        write!(f, "`{}`: {}", self.text, self.problem)
    }
}

/// All problems of a module, in the order of its text: empty if the module is valid.
///
/// ```
/// let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    wgmma.fence.sync.aligned;\n}\n";
/// let errors = cute_ptx::validate(&text.parse()?);
/// assert_eq!(
///     errors[0].to_string(),
///     "entry k, line 0 of its body, `wgmma.fence.sync.aligned`: \
///      wgmma.fence.sync.aligned needs sm_90a, but the module says sm_90"
/// );
/// # Ok::<(), cute_ptx::ParseError>(())
/// ```
pub fn validate(module: &Module) -> Vec<Error> {
    let target = Target::from_name(&module.target);
    let mut checker = Checker {
        module,
        target,
        chip: Chip::or_default(target),
        files: BTreeSet::new(),
        errors: Vec::new(),
        entry: None,
        line: None,
    };
    checker.module();
    checker.errors
}

impl Module {
    /// The lowest PTX version with all features of the module, as major and minor number: target, instructions, special registers,
    /// directives, and bytes of parameters.
    pub fn required_version(&self) -> (u32, u32) {
        let mut version = Target::from_name(&self.target).map_or((1, 0), Target::version);
        for item in &self.items {
            let (directives, body) = match item {
                Item::Entry(entry) => {
                    let params = entry.params.iter();
                    if params.fold(0, |end, param| param.end(end)) > MAX_PARAMS.0 {
                        version = version.max(MANY_PARAMS);
                    }
                    (&entry.directives, &entry.body[..])
                }
                Item::Function(function) => (
                    &function.directives,
                    function.body.as_deref().unwrap_or(&[]),
                ),
                _ => continue,
            };
            for directive in directives {
                version = version
                    .max(DirectiveRow::find(&directive.name).map_or((1, 0), |row| row.version));
            }
            for line in body {
                let Line::Inst(inst) = line else { continue };
                version = version.max(inst.mnemonic.version());
                for operand in &inst.operands {
                    operand.for_each_name(&mut |name| {
                        version = version.max(
                            special::lookup(name).map_or((1, 0), |(special, _)| special.version),
                        );
                    });
                }
            }
        }
        version
    }
}

/// A performance directive.
struct DirectiveRow {
    name: &'static str,
    /// The least and the most numbers of the directive.
    values: (usize, usize),
    /// The largest allowed product of the numbers.
    product: fn(&Chip) -> u32,
    version: (u32, u32),
    sm: u32,
}

impl DirectiveRow {
    const fn new(
        name: &'static str,
        values: (usize, usize),
        product: fn(&Chip) -> u32,
        version: (u32, u32),
        sm: u32,
    ) -> DirectiveRow {
        DirectiveRow {
            name,
            values,
            product,
            version,
            sm,
        }
    }

    fn find(name: &str) -> Option<&'static DirectiveRow> {
        DIRECTIVES.iter().find(|row| row.name == name)
    }
}

const DIRECTIVES: &[DirectiveRow] = &[
    DirectiveRow::new("reqntid", (1, 3), |chip| chip.cta_threads, (2, 1), 10),
    DirectiveRow::new("maxntid", (1, 3), |chip| chip.cta_threads, (1, 3), 10),
    DirectiveRow::new("maxnreg", (1, 1), |_| registers::MAX, (1, 3), 10),
    DirectiveRow::new("minnctapersm", (1, 1), |_| 64, (2, 0), 20),
    DirectiveRow::new(
        "reqnctapercluster",
        (1, 3),
        |chip| chip.non_portable_cluster_ctas,
        (7, 8),
        90,
    ),
    DirectiveRow::new(
        "maxclusterrank",
        (1, 1),
        |chip| chip.non_portable_cluster_ctas,
        (7, 8),
        90,
    ),
    DirectiveRow::new("explicitcluster", (0, 0), |_| 1, (7, 8), 90),
    DirectiveRow::new("blocksareclusters", (0, 0), |_| 1, (9, 0), 90),
];

struct Checker<'m> {
    module: &'m Module,
    /// `None` if the module's target is not valid.
    target: Option<Target>,
    /// The chip of the target, which limits directives. A target without a row has the limits of the default.
    chip: &'static Chip,
    /// The numbers of the files declared anywhere in the module.
    files: BTreeSet<u32>,
    errors: Vec<Error>,
    entry: Option<&'m str>,
    line: Option<usize>,
}

impl<'m> Checker<'m> {
    fn module(&mut self) {
        let text = format!(".target {}", self.module.target);
        match self.target {
            None => self.error(&text, Problem::UnknownTarget(self.module.target.clone())),
            Some(target) => self.needs(&text, &self.module.target, target.version(), None),
        }
        for item in &self.module.items {
            if let Item::File { number, path } = item {
                self.file(item, *number, path);
            }
        }
        let mut names = Names::default();
        let mut shared = 0;
        let mut functions: BTreeMap<&str, &Function> = BTreeMap::new();
        for item in &self.module.items {
            match item {
                Item::Blank | Item::Comment(_) | Item::File { .. } => {}
                Item::Variable(variable) => {
                    self.variable(variable, &mut names);
                    shared = static_shared(variable).saturating_add(shared);
                }
                Item::Entry(entry) => {
                    self.entry = Some(&entry.name);
                    self.declare(&entry.name, &entry.name, Declared::Entry, &mut names);
                    self.check_entry(entry, Names::inside(&names), shared);
                    (self.entry, self.line) = (None, None);
                }
                Item::Function(function) => {
                    self.entry = Some(&function.name);
                    match functions.insert(&function.name, function) {
                        None => {
                            let name = &function.name;
                            self.declare(name, name, Declared::Function, &mut names);
                        }
                        Some(before) if !agree(before, function) => {
                            let problem = Problem::Redeclared(function.name.clone());
                            self.error(&function.name, problem);
                        }
                        Some(_) => {}
                    }
                    self.check_function(function, Names::inside(&names), shared);
                    (self.entry, self.line) = (None, None);
                }
            }
        }
    }

    fn file(&mut self, text: &dyn Display, number: u32, path: &str) {
        if !self.files.insert(number) {
            self.error(text, Problem::Duplicate(format!(".file {number}")));
        }
        if path.contains(['"', '\\', '\n', '\r']) {
            self.error(text, Problem::InvalidPath(path.to_owned()));
        }
    }

    fn check_entry(&mut self, entry: &'m Entry, mut names: Names<'_>, shared: u64) {
        let mut bytes = 0_u64;
        for param in &entry.params {
            self.param(param, &mut names, &mut bytes);
        }
        let limit = if self.module.version >= MANY_PARAMS {
            MAX_PARAMS.1
        } else {
            MAX_PARAMS.0
        };
        if bytes > limit {
            self.error(&entry.name, Problem::Params { bytes, limit });
        }
        for directive in &entry.directives {
            self.directive(directive);
        }
        let has = |name: &str| {
            entry
                .directives
                .iter()
                .any(|directive| directive.name == name)
        };
        if has("maxntid") && has("reqntid") {
            self.error(&entry.name, Problem::ConflictingDirectives);
        }
        let bounded = has("reqntid") || has("maxntid") || has("maxnreg");
        self.routine(&entry.name, &entry.body, names, shared, bounded);
    }

    fn check_function(&mut self, function: &'m Function, mut names: Names<'_>, shared: u64) {
        let mut bytes = 0;
        for param in function.returns.iter().chain(&function.params) {
            self.param(param, &mut names, &mut bytes);
        }
        for directive in &function.directives {
            if directive.name != "noreturn" || !directive.values.is_empty() {
                self.error(directive, Problem::UnknownDirective(directive.name.clone()));
            }
        }
        if let Some(body) = &function.body {
            self.routine(&function.name, body, names, shared, true);
        }
    }

    /// Checks the body of an entry or a function. `bounded` is true if a directive bounds its threads or registers.
    fn routine(
        &mut self,
        name: &str,
        body: &[Line],
        mut names: Names<'_>,
        mut shared: u64,
        bounded: bool,
    ) {
        self.declarations(name, body, &mut names, &mut shared);
        if shared > MAX_STATIC_SHARED {
            self.error(&name, Problem::StaticShared { bytes: shared });
        }
        self.body(body, &names, bounded);
    }

    fn declarations(&mut self, name: &str, body: &[Line], names: &mut Names<'_>, shared: &mut u64) {
        let mut registers = 0_u64;
        for (index, line) in body.iter().enumerate() {
            self.line = Some(index);
            match line {
                Line::Blank | Line::Comment(_) | Line::Inst(_) => {}
                Line::Registers { ty, prefix, count } => {
                    registers += u64::from(*count);
                    self.declared_type(line, "a register", *ty, &[]);
                    self.declare(line, prefix, Declared::Registers(*ty, *count), names);
                }
                Line::Register { ty, name } => {
                    registers += 1;
                    self.declared_type(line, "a register", *ty, &[]);
                    self.declare(line, name, Declared::Register(*ty), names);
                }
                Line::Variable(variable) => {
                    self.variable(variable, names);
                    *shared = shared.saturating_add(static_shared(variable));
                }
                Line::Param(param) => self.param(param, names, &mut 0),
                Line::Prototype(prototype) => self.prototype(line, prototype, names),
                // The labels are checked with the instructions, since they may be declared later.
                Line::Targets { name, .. } => self.declare(line, name, Declared::Targets, names),
                Line::Label(name) => self.declare(line, name, Declared::Label, names),
            }
        }
        self.line = None;
        if registers > MAX_REGISTERS {
            self.error(&name, Problem::TooManyRegisters { count: registers });
        }
    }

    fn prototype(&mut self, line: &Line, prototype: &Prototype, names: &mut Names<'_>) {
        self.declare(line, &prototype.name, Declared::Prototype, names);
        for param in prototype.returns.iter().chain(&prototype.params) {
            self.param_type(param, &mut 0);
        }
    }

    /// Checks the instructions, after all declarations: labels and registers may be declared after their use.
    fn body(&mut self, body: &[Line], names: &Names<'_>, bounded: bool) {
        let constants = constants::registers(body);
        for (index, line) in body.iter().enumerate() {
            self.line = Some(index);
            if let Line::Targets { labels, .. } = line {
                for label in labels.iter().filter(|label| !names.label(label)) {
                    self.error(line, Problem::MissingLabel(label.clone()));
                }
            }
            let Line::Inst(inst) = line else { continue };
            self.inst(inst, names);
            let opcode = inst.mnemonic.opcode();
            if !bounded && opcode == Opcode::Setmaxnreg {
                self.error(inst, Problem::SetmaxnregUnbounded);
            }
            if opcode == Opcode::WgmmaMmaAsync {
                // The second operand is the descriptor of A, or a vector if A is in registers. The third is the descriptor of B.
                for operand in inst.operands.iter().skip(1).take(2) {
                    if let Operand::Name(name) = operand
                        && constants.contains(name.as_str())
                    {
                        self.error(inst, Problem::ConstantDescriptor(name.clone()));
                    }
                }
            }
        }
        self.line = None;
    }

    fn inst(&mut self, inst: &Inst, names: &Names<'_>) {
        let mnemonic = inst.mnemonic;
        self.needs(
            inst,
            mnemonic.as_str(),
            mnemonic.version(),
            Some(mnemonic.target()),
        );
        if let Some(guard) = &inst.guard {
            let mismatch = match names.register(&guard.predicate) {
                Some(Type::Pred) => None,
                Some(other) => Some(Mismatch::Type(other)),
                None => Some(Mismatch::Undeclared),
            };
            if let Some(mismatch) = mismatch {
                self.error(
                    inst,
                    Problem::Guard {
                        name: guard.predicate.clone(),
                        mismatch,
                    },
                );
            }
        }
        if let Some(place) = inst.place
            && !self.files.contains(&place.file)
        {
            self.error(inst, Problem::MissingFile(place.file));
        }
        for problem in operands::check(inst, mnemonic.forms(), names) {
            self.error(inst, problem);
        }
        // Each special register is reported once, even if the instruction names it several times.
        let mut needed: Vec<&Special> = Vec::new();
        for operand in &inst.operands {
            operand.for_each_name(&mut |name| match special::lookup(name) {
                Some((special, _)) if !needed.contains(&special) => needed.push(special),
                _ => {}
            });
        }
        for special in needed {
            self.needs(inst, special.name, special.version, Some(special.target()));
        }
    }

    fn variable(&mut self, variable: &Variable, names: &mut Names<'_>) {
        self.alignment(variable, variable.align);
        self.declared_type(variable, "a variable", variable.ty, &[Type::Pred]);
        let (place, spaces) = match self.entry {
            Some(_) => (
                "of an entry",
                ["shared", "local", "global", "const"].as_slice(),
            ),
            None => ("of a module", ["shared", "global", "const"].as_slice()),
        };
        if !spaces.contains(&variable.space.as_str()) {
            self.error(
                variable,
                Problem::Space {
                    place,
                    space: variable.space.clone(),
                },
            );
        }
        // Dynamic shared memory is declared at module scope, since the launch sets its size.
        let dynamic = self.entry.is_none() && variable.space == "shared" && variable.len.is_none();
        if variable.external && !dynamic {
            self.error(variable, Problem::External);
        }
        if !variable.external && variable.len.unwrap_or(0) == 0 {
            self.error(variable, Problem::Empty);
        }
        if let Some(value) = unfit(variable) {
            self.error(
                variable,
                Problem::InitialValue {
                    value: value.to_string(),
                    len: variable.len.unwrap_or(0),
                    ty: variable.ty,
                    space: variable.space.clone(),
                },
            );
        }
        self.declare(
            variable,
            &variable.name,
            Declared::Variable(variable.space.clone()),
            names,
        );
    }

    fn param(&mut self, param: &Param, names: &mut Names<'_>, bytes: &mut u64) {
        self.param_type(param, bytes);
        self.declare(
            param,
            &param.name,
            Declared::Variable("param".into()),
            names,
        );
    }

    /// Checks the type of a parameter, and adds its bytes.
    fn param_type(&mut self, param: &Param, bytes: &mut u64) {
        let align = match param.ty {
            ParamType::Scalar(ty) => {
                self.declared_type(param, "a parameter", ty, &[Type::Pred, Type::F16x2]);
                param.ty.layout().0
            }
            ParamType::Bytes { align, .. } => align,
        };
        self.alignment(param, align);
        *bytes = param.end(*bytes);
    }

    /// Checks the type of a declaration. The bf16 types exist only in instructions, and `neither` are not allowed here.
    fn declared_type(
        &mut self,
        text: &dyn Display,
        what: &'static str,
        ty: Type,
        neither: &[Type],
    ) {
        if matches!(ty, Type::Bf16 | Type::Bf16x2) || neither.contains(&ty) {
            self.error(text, Problem::DeclaredType { what, ty });
        }
        if ty == Type::B128 {
            self.needs(
                text,
                ".b128",
                (8, 3),
                Some(Target {
                    sm: 70,
                    specific: false,
                }),
            );
        }
    }

    fn directive(&mut self, directive: &Directive) {
        let Some(row) = DirectiveRow::find(&directive.name) else {
            self.error(directive, Problem::UnknownDirective(directive.name.clone()));
            return;
        };
        let target = Target {
            sm: row.sm,
            specific: false,
        };
        self.needs(
            directive,
            &format!(".{}", row.name),
            row.version,
            Some(target),
        );
        let product = directive
            .values
            .iter()
            .map(|&value| u64::from(value))
            .fold(1, u64::saturating_mul);
        let (least, most) = row.values;
        let limit = (row.product)(self.chip);
        if !(least..=most).contains(&directive.values.len())
            || !(1..=u64::from(limit)).contains(&product)
        {
            let takes = match most {
                0 => "no number".to_owned(),
                1 => format!("one number from 1 to {limit}"),
                _ => format!("{least} to {most} numbers whose product is from 1 to {limit}"),
            };
            self.error(
                directive,
                Problem::DirectiveValues {
                    name: directive.name.clone(),
                    takes,
                },
            );
        }
    }

    fn alignment(&mut self, text: &dyn Display, align: u32) {
        if !align.is_power_of_two() {
            self.error(text, Problem::Alignment(align));
        }
    }

    fn declare(
        &mut self,
        text: &dyn Display,
        name: &str,
        declared: Declared,
        names: &mut Names<'_>,
    ) {
        if !names::is_name(name) {
            self.error(text, Problem::InvalidName(name.to_owned()));
        }
        if !names.declare(name, declared) {
            self.error(text, Problem::Duplicate(name.to_owned()));
        }
    }

    /// Checks that the module's version and target have `what`.
    fn needs(
        &mut self,
        text: &dyn Display,
        what: &str,
        version: (u32, u32),
        target: Option<Target>,
    ) {
        if self.module.version < version {
            let (needed, found) = (version, self.module.version);
            self.error(
                text,
                Problem::Version {
                    what: what.to_owned(),
                    needed,
                    found,
                },
            );
        }
        if let (Some(needed), Some(found)) = (target, self.target)
            && !found.has(needed)
        {
            self.error(
                text,
                Problem::Target {
                    what: what.to_owned(),
                    needed,
                    found,
                },
            );
        }
    }

    fn error(&mut self, text: &dyn Display, problem: Problem) {
        let entry = self.entry.map(str::to_owned);
        self.errors.push(Error {
            entry,
            line: self.line,
            text: text.to_string().trim().to_owned(),
            problem,
        });
    }
}

/// Whether two declarations of a function agree. At most one may have a body.
fn agree(a: &Function, b: &Function) -> bool {
    let types = |params: &[Param]| -> Vec<ParamType> {
        params.iter().map(|param| param.ty.clone()).collect()
    };
    types(&a.returns) == types(&b.returns)
        && types(&a.params) == types(&b.params)
        && !(a.body.is_some() && b.body.is_some())
}

/// The first illegal initial value of a variable.
fn unfit(variable: &Variable) -> Option<&Operand> {
    let space = matches!(variable.space.as_str(), "global" | "const") && !variable.external;
    let len = usize::try_from(variable.len.unwrap_or(0)).unwrap_or(usize::MAX);
    let fits = |value: &Operand| {
        let float = matches!(variable.ty, Type::F32 | Type::F64);
        match value {
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if float => true,
            Operand::Int(_) => true,
            Operand::Name(_) | Operand::Address { .. } => !float && variable.ty.bits() == 64,
            _ => false,
        }
    };
    let mut values = variable.init.iter().enumerate();
    let (_, value) = values.find(|(i, value)| !space || *i >= len || !fits(value))?;
    Some(value)
}

fn static_shared(variable: &Variable) -> u64 {
    match variable.space.as_str() {
        "shared" => variable
            .len
            .unwrap_or(0)
            .saturating_mul(u64::from(variable.ty.bits() / 8)),
        _ => 0,
    }
}

fn counts(takes: &[(usize, usize)]) -> String {
    let mut takes: Vec<String> = takes
        .iter()
        .map(|(least, most)| {
            if least == most {
                least.to_string()
            } else {
                format!("{least} to {most}")
            }
        })
        .collect();
    takes.dedup();
    let plural = if takes == ["1"] { "" } else { "s" };
    format!("{} operand{plural}", takes.join(" or "))
}
