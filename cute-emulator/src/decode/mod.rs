//! From the syntax tree to [`Code`]: names become rows of the register file, labels become indices.

pub(crate) mod arithmetic;
mod asynchronous;
mod memory;
mod threads;

use crate::exec::special;
use crate::op::{
    Address, Code, Function, Instruction, MAX_SHARED_BYTES, Op, PARAM_WINDOW, Reg, SHARED_BASE,
    SHARED_WINDOW, Together, WINDOW_BYTES,
};
use cute_ptx::ast::{Entry, Inst, Item, Line, Module, Operand, ParamType, Type, Variable};
use std::collections::{HashMap, HashSet};

/// What is not understood, without its place.
type Result<T> = std::result::Result<T, String>;

/// The parameters of a kernel have at most this many bytes (PTX ISA 9.0, §5.1.6).
const MAX_PARAM_BYTES: u32 = 32_764;

/// An error in an entry: the line of the text, the instruction, and what is wrong with it.
pub(crate) struct Unsupported {
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) message: String,
}

/// Decodes an entry, whose body's lines stand on `lines` of the text.
pub(crate) fn decode(
    module: &Module,
    entry: &Entry,
    lines: &[u32],
) -> std::result::Result<Code, Unsupported> {
    let mut decoder = Decoder::new(entry);
    if decoder.param_bytes > MAX_PARAM_BYTES {
        return Err(Unsupported {
            line: 0,
            text: format!(".entry {}", entry.name),
            message: format!("more than {MAX_PARAM_BYTES} bytes of parameters"),
        });
    }
    let place = |index: Option<usize>, message: String| Unsupported {
        line: index
            .and_then(|index| lines.get(index))
            .copied()
            .unwrap_or(0),
        text: index
            .and_then(|index| entry.body.get(index))
            .map(|line| line.to_string().trim().to_owned())
            .unwrap_or_default(),
        message,
    };
    let variables = module.items.iter().filter_map(|item| match item {
        Item::Variable(variable) => Some((None, variable)),
        _ => None,
    });
    let local = entry
        .body
        .iter()
        .enumerate()
        .filter_map(|(index, line)| match line {
            Line::Variable(variable) => Some((Some(index), variable)),
            _ => None,
        });
    let variables: Vec<_> = variables.chain(local).collect();
    // Static variables first: dynamic shared memory begins where they end.
    for external in [false, true] {
        for (index, variable) in variables
            .iter()
            .filter(|(_, variable)| variable.external == external)
        {
            decoder
                .variable(variable)
                .map_err(|message| place(*index, message))?;
        }
    }
    for (index, line) in entry.body.iter().enumerate() {
        decoder.place = (lines.get(index).copied().unwrap_or(0), index);
        decoder
            .line(line)
            .map_err(|message| place(Some(index), message))?;
    }
    decoder
        .finish(entry)
        .map_err(|(index, message)| place(Some(index), message))
}

struct Decoder<'a> {
    /// `.reg` with a count: prefix, count, type.
    families: Vec<(&'a str, u32, Type)>,
    /// `.reg` with a name.
    singles: HashMap<&'a str, Type>,
    /// Rows of the names met so far.
    rows: HashMap<String, Reg>,
    names: Vec<String>,
    constants: HashMap<u64, Reg>,
    specials: Vec<(Reg, String)>,
    /// Addresses of variables and parameters.
    addresses: HashMap<&'a str, u64>,
    static_shared: u32,
    param_offsets: Vec<u32>,
    param_bytes: u32,
    labels: HashMap<&'a str, usize>,
    /// Branches whose target is not known yet: instruction, label, line of the body.
    branches: Vec<(usize, &'a str, usize)>,
    instructions: Vec<Instruction>,
    matrix_registers: HashSet<Reg>,
    /// Line of the text, and index in the body.
    place: (u32, usize),
}

impl<'a> Decoder<'a> {
    fn new(entry: &'a Entry) -> Decoder<'a> {
        let mut decoder = Decoder {
            families: Vec::new(),
            singles: HashMap::new(),
            rows: HashMap::new(),
            names: Vec::new(),
            constants: HashMap::new(),
            specials: Vec::new(),
            addresses: HashMap::new(),
            static_shared: 0,
            param_offsets: Vec::new(),
            param_bytes: 0,
            labels: HashMap::new(),
            branches: Vec::new(),
            instructions: Vec::new(),
            matrix_registers: HashSet::new(),
            place: (0, 0),
        };
        for param in &entry.params {
            let (align, bytes) = param_layout(&param.ty);
            let offset = u64::from(decoder.param_bytes).next_multiple_of(u64::from(align));
            let end = offset
                .saturating_add(u64::from(bytes))
                .min(u64::from(MAX_PARAM_BYTES) + 1);
            decoder.param_offsets.push(offset as u32);
            decoder.param_bytes = end as u32;
            decoder.addresses.insert(&param.name, PARAM_WINDOW + offset);
        }
        decoder
    }

    fn variable(&mut self, variable: &'a Variable) -> Result<()> {
        if variable.space != "shared" {
            return Err(format!("variables in .{} are not modelled", variable.space));
        }
        let size = u64::from(variable.ty.bits().div_ceil(8));
        let len = variable.len.unwrap_or(u64::from(!variable.external));
        let bytes = len.saturating_mul(size);
        let align = variable.align.max(1);
        let address =
            u64::from(SHARED_BASE + self.static_shared).next_multiple_of(u64::from(align));
        let end = (address - u64::from(SHARED_BASE)).saturating_add(bytes);
        if end > u64::from(MAX_SHARED_BYTES) {
            return Err(format!(
                "{end} bytes of static shared memory; the limit is {MAX_SHARED_BYTES}"
            ));
        }
        self.addresses.insert(&variable.name, address);
        if !variable.external {
            self.static_shared = end as u32;
        }
        Ok(())
    }

    fn line(&mut self, line: &'a Line) -> Result<()> {
        match line {
            Line::Blank | Line::Comment(_) | Line::Variable(_) => {}
            Line::Registers { ty, prefix, count } => self.families.push((prefix, *count, *ty)),
            Line::Register { ty, name } => {
                self.singles.insert(name, *ty);
            }
            Line::Label(name) => {
                self.labels.insert(name, self.instructions.len());
            }
            Line::Inst(inst) => self.instruction(inst)?,
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &'a Inst) -> Result<()> {
        let guard = match &inst.guard {
            Some(guard) => Some((self.register(&guard.predicate)?, guard.negated)),
            None => None,
        };
        let mut mnemonic = Mnemonic::new(inst.mnemonic.as_str());
        let operands = &inst.operands[..];
        let (op, together) = self
            .control(&mut mnemonic, operands)
            .or_else(|| self.memory(&mut mnemonic, operands))
            .or_else(|| self.threads(&mut mnemonic, operands))
            .or_else(|| self.asynchronous(&mut mnemonic, operands))
            .or_else(|| self.compute(&mut mnemonic, operands))
            .unwrap_or_else(|| Err(format!("unknown instruction `{}`", inst.mnemonic)))?;
        mnemonic.end()?;
        if let (Op::Branch { .. }, [Operand::Name(label)]) = (&op, operands) {
            self.branches
                .push((self.instructions.len(), label, self.place.1));
        }
        if let Op::Wgmma(wgmma) = &op {
            self.matrix_registers.extend(wgmma.d.iter());
            if let crate::op::MatrixA::Registers(a) = &wgmma.a {
                self.matrix_registers.extend(a);
            }
        }
        self.push(guard, op, together, inst_text(inst));
        let mut rows = Vec::new();
        for operand in operands {
            operand.for_each_name(&mut |name| rows.extend(self.rows.get(name)));
        }
        if let Some(last) = self.instructions.last_mut() {
            last.matrix_registers = rows.into();
        }
        Ok(())
    }

    fn push(&mut self, guard: Option<(Reg, bool)>, op: Op, together: Together, text: String) {
        let line = self.place.0;
        self.instructions.push(Instruction {
            guard,
            op,
            together,
            matrix_registers: Box::default(),
            line,
            text,
        });
    }

    /// Branches and ends.
    fn control(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Decoded {
        let op = match (m.name, operands) {
            ("bra", [Operand::Name(_)]) => {
                m.flag("uni");
                Op::Branch { target: 0 }
            }
            ("ret" | "exit", []) => {
                m.flag("uni");
                Op::Exit
            }
            ("trap", []) => Op::Trap,
            ("bra" | "ret" | "exit" | "trap", _) => {
                return Some(Err("unexpected operands".to_owned()));
            }
            _ => return None,
        };
        Some(Ok((op, Together::No)))
    }

    /// Instructions on registers alone.
    fn compute(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Decoded {
        let decoded = match m.name {
            "mov" => self.mov(m, operands),
            "cvt" => self.cvt(m, operands),
            "cvta" => self.cvta(m, operands),
            "setp" => self.setp(m, operands),
            "isspacep" => self.isspacep(m, operands),
            name => {
                let ty = m.ty()?;
                let mut flags = m.rest.clone();
                let name = match (name, flags.first().copied()) {
                    ("mul" | "mad", Some(part @ ("lo" | "hi" | "wide"))) => {
                        format!("{name}.{part}")
                    }
                    ("min" | "max", _) if flags.contains(&"NaN") => format!("{name}.NaN"),
                    ("add" | "sub", _) if flags.contains(&"sat") && ty == Type::S32 => {
                        m.flag("sat");
                        format!("{name}.sat")
                    }
                    ("fma", _) if flags.contains(&"relu") => "fma.relu".to_owned(),
                    ("shf", _) if flags.len() == 2 => format!("shf.{}.{}", flags[0], flags[1]),
                    _ => name.to_owned(),
                };
                let function = arithmetic::function(&name, ty)?;
                flags.retain(|flag| {
                    !name.split('.').skip(1).any(|part| part == *flag)
                        && !matches!(*flag, "rn" | "approx" | "full" | "ftz" | "sat" | "noftz")
                });
                if let Some(flag) = flags.first() {
                    return Some(Err(format!("`.{flag}` is not modelled on `{}`", m.name)));
                }
                let (flush, saturate) = (m.rest.contains(&"ftz"), m.rest.contains(&"sat"));
                if saturate && ty != Type::F32 {
                    return Some(Err(format!("`.sat` is not modelled on .{ty:?}")));
                }
                m.rest.clear();
                self.computation(function, flush, saturate, operands)
            }
        };
        Some(decoded.map(|op| (op, Together::No)))
    }

    fn computation(
        &mut self,
        function: Function,
        flush: bool,
        saturate: bool,
        operands: &'a [Operand],
    ) -> Result<Op> {
        let arity = match function {
            Function::F1(_) => 1,
            Function::F2(_) => 2,
            Function::F3(_) => 3,
            Function::F4(_) => 4,
        };
        let [dst, sources @ ..] = operands else {
            return Err("no operands".to_owned());
        };
        if sources.len() != arity {
            return Err(format!(
                "{} operands where {} are expected",
                operands.len(),
                arity + 1
            ));
        }
        let mut src = [0; 4];
        for (row, operand) in src.iter_mut().zip(sources) {
            *row = self.source(operand)?;
        }
        Ok(Op::Compute {
            function,
            dst: self.dest(dst)?,
            src,
            flush,
            saturate,
        })
    }

    fn mov(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let ty = m.ty().ok_or("a type is missing")?;
        match operands {
            [dst, Operand::Vector(parts)] if !parts.is_empty() => {
                let parts_rows = self.sources(parts)?;
                Ok(Op::Pack {
                    dst: self.dest(dst)?,
                    bits: ty.bits() / parts.len() as u32,
                    parts: parts_rows,
                })
            }
            [Operand::Vector(parts), src] if !parts.is_empty() => {
                let rows = self.dests(parts)?;
                Ok(Op::Unpack {
                    src: self.source(src)?,
                    bits: ty.bits() / parts.len() as u32,
                    parts: rows,
                })
            }
            [dst, Operand::Name(name)]
                if matches!(
                    &name[..],
                    "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo"
                ) =>
            {
                Ok(Op::Clock {
                    dst: self.dest(dst)?,
                })
            }
            _ => {
                let function = arithmetic::function("mov", ty)
                    .ok_or_else(|| format!("mov of .{}", ty.name()))?;
                self.computation(function, false, false, operands)
            }
        }
    }

    fn cvt(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let rounding = m
            .one_of(&["rn", "rz", "rna", "rni", "rzi", "rmi", "rpi"])
            .unwrap_or("");
        let flush = m.flag("ftz");
        m.flag("satfinite");
        let (relu, saturate) = (m.flag("relu"), m.flag("sat"));
        let [to, from] = m.rest[..] else {
            return Err("two types are expected".to_owned());
        };
        let function =
            arithmetic::conversion(rounding, relu, saturate, to, from).ok_or_else(|| {
                format!("the conversion from .{from} to .{to} with this rounding is not modelled")
            })?;
        if saturate && matches!(to, "f16" | "f64") {
            return Err(format!("`.sat` is not modelled for .{to}"));
        }
        // To an integer every conversion from floating point saturates.
        let saturate = saturate && to == "f32";
        // A subnormal f32 vanishes in every other type anyway.
        let flush = flush && (to, from) == ("f32", "f32");
        let op = self.computation(function, flush, saturate, operands)?;
        let signed = matches!(to, "s8" | "s16" | "s32")
            .then(|| Type::from_name(to))
            .flatten();
        m.rest.clear();
        match (op, signed, operands.first()) {
            (
                Op::Compute {
                    function,
                    dst,
                    src,
                    flush,
                    saturate,
                },
                Some(ty),
                Some(register),
            ) if self.width(register) > ty.bits() => {
                // A register wider than the result takes its sign along.
                let narrow = self.row("narrow");
                let op = Op::Compute {
                    function,
                    dst: narrow,
                    src,
                    flush,
                    saturate,
                };
                self.push(None, op, Together::No, format!("cvt.{to}.{from}"));
                let function = match self.width(register) {
                    64 => arithmetic::function("bfe", Type::S64),
                    _ => arithmetic::function("bfe", Type::S32),
                };
                let function = function.ok_or("no bfe")?;
                let src = [
                    narrow,
                    self.constant(0),
                    self.constant(u64::from(ty.bits())),
                    0,
                ];
                Ok(Op::Compute {
                    function,
                    dst,
                    src,
                    flush: false,
                    saturate: false,
                })
            }
            (op, ..) => Ok(op),
        }
    }

    fn cvta(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        m.ty();
        let to = m.flag("to");
        let space = m.one_of(&[
            "global",
            "shared",
            "shared::cta",
            "shared::cluster",
            "param",
            "const",
        ]);
        let function: fn(u64) -> u64 = match (space, to) {
            (Some("shared" | "shared::cta" | "shared::cluster"), false) => |a| a | SHARED_WINDOW,
            (Some("shared" | "shared::cta" | "shared::cluster"), true) => {
                |a| a & (WINDOW_BYTES - 1)
            }
            // Addresses of parameters are generic from the start.
            (Some("global" | "param" | "const"), _) => |a| a,
            _ => return Err("a state space is missing".to_owned()),
        };
        self.computation(Function::F1(function), false, false, operands)
    }

    /// Whether a generic address is in a state space.
    fn isspacep(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let function: fn(u64) -> u64 = match m.rest[..] {
            ["shared" | "shared::cta" | "shared::cluster"] => {
                |a| u64::from(a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES)
            }
            ["param"] => |a| u64::from(a.wrapping_sub(PARAM_WINDOW) < WINDOW_BYTES),
            ["global"] => |a| u64::from(a < SHARED_WINDOW),
            ["const" | "local"] => |_| 0,
            _ => return Err("a state space is missing".to_owned()),
        };
        m.rest.clear();
        self.computation(Function::F1(function), false, false, operands)
    }

    fn setp(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let ty = m.ty().ok_or("a type is missing")?;
        let flush = m.flag("ftz");
        let [name, combine @ ..] = &m.rest[..] else {
            return Err("a comparison is missing".to_owned());
        };
        let compare = arithmetic::comparison(name, ty)
            .ok_or_else(|| format!("comparison `.{name}` of .{}", ty.name()))?;
        let combine = match combine {
            [] => None,
            [name] => Some(
                arithmetic::combination(name)
                    .ok_or_else(|| format!("unknown modifier `.{name}`"))?,
            ),
            [_, name, ..] => return Err(format!("unknown modifier `.{name}`")),
        };
        m.rest.clear();
        let (dst, a, b, combine) = match (operands, combine) {
            ([dst, a, b], None) => (dst, a, b, None),
            ([dst, a, b, c], Some(function)) => (dst, a, b, Some((function, self.source(c)?))),
            _ => return Err(format!("{} operands", operands.len())),
        };
        let (p, q) = match dst {
            Operand::Pair(p, q) => (self.dest(p)?, Some(self.dest(q)?)),
            p => (self.dest(p)?, None),
        };
        Ok(Op::Compare {
            compare,
            flush,
            combine,
            p,
            q,
            a: self.source(a)?,
            b: self.source(b)?,
        })
    }

    /// The row of a declared register.
    fn register(&mut self, name: &str) -> Result<Reg> {
        if let Some(row) = self.rows.get(name) {
            return Ok(*row);
        }
        self.declared(name)
            .ok_or_else(|| format!("register `{name}` is not declared"))?;
        let row = self.row(name);
        self.rows.insert(name.to_owned(), row);
        Ok(row)
    }

    fn declared(&self, name: &str) -> Option<Type> {
        self.singles.get(name).copied().or_else(|| {
            self.families.iter().find_map(|(prefix, count, ty)| {
                let number = name.strip_prefix(prefix)?;
                let canonical =
                    number == "0" || number.starts_with(|c: char| c.is_ascii_digit() && c != '0');
                (canonical && number.parse::<u32>().ok()? < *count).then_some(*ty)
            })
        })
    }

    /// The width in bits of what an operand holds.
    fn width(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Name(name) => self.declared(name).map_or(64, Type::bits),
            _ => 64,
        }
    }

    fn row(&mut self, name: &str) -> Reg {
        self.names.push(name.to_owned());
        (self.names.len() - 1) as Reg
    }

    fn constant(&mut self, value: u64) -> Reg {
        if let Some(row) = self.constants.get(&value) {
            return *row;
        }
        let row = self.row(&format!("{value:#x}"));
        self.constants.insert(value, row);
        row
    }

    /// The row of an operand that is read.
    fn source(&mut self, operand: &Operand) -> Result<Reg> {
        match operand {
            Operand::Name(name) => {
                if let Some(row) = self.rows.get(name.as_str()) {
                    return Ok(*row);
                }
                if self.declared(name).is_some() {
                    return self.register(name);
                }
                if let Some(address) = self.addresses.get(name.as_str()) {
                    return Ok(self.constant(*address));
                }
                if name == "WARP_SZ" {
                    return Ok(self.constant(32));
                }
                if !special::exists(name) {
                    return Err(format!("`{name}` is not declared"));
                }
                let row = self.row(name);
                self.specials.push((row, name.clone()));
                self.rows.insert(name.clone(), row);
                Ok(row)
            }
            Operand::Not(name) => {
                let src = [self.register(name)?, self.constant(1), 0, 0];
                let dst = self.row(&format!("!{name}"));
                let function = Function::F2(|a, one| a ^ one);
                let op = Op::Compute {
                    function,
                    dst,
                    src,
                    flush: false,
                    saturate: false,
                };
                self.push(None, op, Together::No, format!("!{name}"));
                Ok(dst)
            }
            Operand::Int(value) => Ok(self.constant(*value as u64)),
            Operand::F32(bits) => Ok(self.constant(u64::from(*bits))),
            Operand::F64(bits) => Ok(self.constant(*bits)),
            other => Err(format!("`{other}` is not a value")),
        }
    }

    fn sources(&mut self, operands: &[Operand]) -> Result<Box<[Reg]>> {
        operands
            .iter()
            .map(|operand| self.source(operand))
            .collect()
    }

    /// The row of an operand that is written.
    fn dest(&mut self, operand: &Operand) -> Result<Reg> {
        match operand {
            Operand::Name(name) => self.register(name),
            Operand::Sink => Ok(self.row("_")),
            other => Err(format!("`{other}` is not a register")),
        }
    }

    fn dests(&mut self, operands: &[Operand]) -> Result<Box<[Reg]>> {
        operands.iter().map(|operand| self.dest(operand)).collect()
    }

    fn address(&mut self, operand: &Operand) -> Result<Address> {
        match operand {
            Operand::Address { base, offset } => Ok(Address {
                base: self.source(base)?,
                offset: *offset,
            }),
            other => Err(format!("`{other}` is not an address")),
        }
    }

    fn finish(mut self, entry: &Entry) -> std::result::Result<Code, (usize, String)> {
        for (instruction, label, index) in &self.branches {
            let Some(destination) = self.labels.get(label) else {
                return Err((*index, format!("label `{label}` is not defined")));
            };
            if let Op::Branch { target } = &mut self.instructions[*instruction].op {
                *target = *destination;
            }
        }
        self.place = (self.instructions.last().map_or(0, |last| last.line), 0);
        // Falling off the end ends a thread too, and so does a label at the end.
        self.push(None, Op::Exit, Together::No, "}".to_owned());
        for instruction in &mut self.instructions {
            let rows = instruction.matrix_registers.iter().copied();
            instruction.matrix_registers = rows
                .filter(|row| self.matrix_registers.contains(row))
                .collect();
        }
        Ok(Code {
            name: entry.name.clone(),
            instructions: self.instructions,
            registers: self.names,
            constants: self
                .constants
                .into_iter()
                .map(|(value, row)| (row, value))
                .collect(),
            specials: self.specials,
            static_shared: self.static_shared,
            param_offsets: self.param_offsets,
            param_bytes: self.param_bytes,
        })
    }
}

/// `None`: no instruction of this family.
type Decoded = Option<Result<(Op, Together)>>;

/// A mnemonic, whose modifiers are taken off one by one; what remains is not understood.
struct Mnemonic<'a> {
    name: &'a str,
    rest: Vec<&'a str>,
}

impl<'a> Mnemonic<'a> {
    fn new(text: &'a str) -> Mnemonic<'a> {
        let mut parts = text.split('.');
        Mnemonic {
            name: parts.next().unwrap_or_default(),
            rest: parts.collect(),
        }
    }

    /// Takes a modifier, wherever it stands.
    fn flag(&mut self, modifier: &str) -> bool {
        let found = self.rest.iter().position(|part| *part == modifier);
        if let Some(index) = found {
            self.rest.remove(index);
        }
        found.is_some()
    }

    /// Takes the first of these modifiers that is there.
    fn one_of(&mut self, modifiers: &[&'static str]) -> Option<&'static str> {
        modifiers
            .iter()
            .copied()
            .find(|modifier| self.flag(modifier))
    }

    /// Takes the modifiers, which must all be there in this order from the front.
    fn prefix(&mut self, modifiers: &[&str]) -> bool {
        let found = self.rest.starts_with(modifiers);
        if found {
            self.rest.drain(..modifiers.len());
        }
        found
    }

    /// Takes the last modifier, if it is a type.
    fn ty(&mut self) -> Option<Type> {
        let ty = Type::from_name(self.rest.last()?)?;
        self.rest.pop();
        Some(ty)
    }

    fn end(&self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(modifier) => Err(format!("`.{modifier}` is not modelled on `{}`", self.name)),
        }
    }
}

/// Alignment and size of a parameter in bytes.
pub(crate) fn param_layout(ty: &ParamType) -> (u32, u32) {
    match ty {
        ParamType::Scalar(ty) => (ty.bits().div_ceil(8), ty.bits().div_ceil(8)),
        ParamType::Bytes { align, len } => ((*align).max(1), *len),
    }
}

/// Messages quote this much of an instruction.
const QUOTED: usize = 120;

/// The instruction on one line, without its comment, shortened.
fn inst_text(inst: &Inst) -> String {
    let bare = Inst {
        comment: None,
        ..inst.clone()
    };
    let text = bare
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
