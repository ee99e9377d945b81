//! From the syntax tree to [`Code`]: names become rows of the register file, labels become indices.

pub(crate) mod arithmetic;
mod asynchronous;
mod memory;
mod threads;

use crate::exec::special;
use crate::limits::{Limits, hold};
use crate::op::{
    Address, Code, Function, Instruction, MAX_SHARED_BYTES, Op, PARAM_WINDOW, Reg, SHARED_BASE,
    SHARED_WINDOW, Together, WINDOW_BYTES,
};
use arithmetic::Types;
use cute_ptx::ast::{
    Entry, Inst, Item, Line, Module, Operand, ParamType, Type, Variable, families,
};
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

/// The variables of a module, which all of its entries share.
pub(crate) struct Scope<'a> {
    statics: Layout<'a>,
    /// Dynamic shared memory, which begins where the entry's own variables end.
    dynamic: HashMap<&'a str, &'a Variable>,
}

/// Static shared memory: the variables' addresses, and the bytes that they take.
#[derive(Clone, Default)]
struct Layout<'a> {
    addresses: HashMap<&'a str, u64>,
    bytes: u32,
}

/// Places the variables of a module.
pub(crate) fn module_scope(module: &Module) -> std::result::Result<Scope<'_>, Unsupported> {
    let mut scope = Scope {
        statics: Layout::default(),
        dynamic: HashMap::new(),
    };
    for item in &module.items {
        let Item::Variable(variable) = item else {
            continue;
        };
        scope.variable(variable).map_err(|message| Unsupported {
            line: 0,
            text: variable.to_string(),
            message,
        })?;
    }
    Ok(scope)
}

impl<'a> Scope<'a> {
    fn variable(&mut self, variable: &'a Variable) -> Result<()> {
        if variable.external {
            shared_range(variable, 0)?;
            return once(
                &variable.name,
                self.dynamic.insert(&variable.name, variable),
            );
        }
        self.statics.place(variable)
    }
}

impl<'a> Layout<'a> {
    fn place(&mut self, variable: &'a Variable) -> Result<()> {
        let (address, end) = shared_range(variable, self.bytes)?;
        self.bytes = end;
        once(
            &variable.name,
            self.addresses.insert(&variable.name, address),
        )
    }
}

/// The address of a variable after so many bytes of shared memory, and the bytes up to its end.
fn shared_range(variable: &Variable, before: u32) -> Result<(u64, u32)> {
    if variable.space != "shared" {
        return Err(format!("variables in .{} are not modelled", variable.space));
    }
    let size = u64::from(variable.ty.bits().div_ceil(8));
    let len = variable.len.unwrap_or(u64::from(!variable.external));
    let base = u64::from(SHARED_BASE);
    let address = (base + u64::from(before)).next_multiple_of(u64::from(variable.align.max(1)));
    let end = (address - base).saturating_add(len.saturating_mul(size));
    match u32::try_from(end) {
        Ok(end) if end <= MAX_SHARED_BYTES => Ok((address, end)),
        _ => Err(format!(
            "{end} bytes of static shared memory; the limit is {MAX_SHARED_BYTES}"
        )),
    }
}

/// Decodes an entry, whose body's lines stand on `lines` of the text.
pub(crate) fn decode(
    scope: &Scope<'_>,
    entry: &Entry,
    lines: &[u32],
    limits: &Limits,
) -> std::result::Result<Code, Unsupported> {
    let mut decoder = Decoder::new(entry, scope);
    if decoder.param_bytes > MAX_PARAM_BYTES {
        return Err(Unsupported {
            line: 0,
            text: format!(".entry {}", entry.name),
            message: format!("more than {MAX_PARAM_BYTES} bytes of parameters"),
        });
    }
    let place = |index: usize, message: String| Unsupported {
        line: lines.get(index).copied().unwrap_or(0),
        text: entry
            .body
            .get(index)
            .map(|line| line.to_string().trim().to_owned())
            .unwrap_or_default(),
        message,
    };
    // All variables first, for dynamic shared memory begins where the static part ends.
    for (index, line) in entry.body.iter().enumerate() {
        if let Line::Variable(variable) = line {
            decoder
                .variable(variable)
                .map_err(|message| place(index, message))?;
        }
    }
    for (index, line) in entry.body.iter().enumerate() {
        decoder.place = (lines.get(index).copied().unwrap_or(0), index);
        decoder
            .line(line)
            .and_then(|()| decoder.check_limits(limits))
            .map_err(|message| place(index, message))?;
    }
    decoder
        .finish(entry)
        .map_err(|(index, message)| place(index, message))
}

struct Decoder<'a, 's> {
    scope: &'s Scope<'s>,
    /// `.reg` with a count, by prefix: count and type.
    families: HashMap<&'a str, (u32, Type)>,
    /// `.reg` with a name.
    singles: HashMap<&'a str, Type>,
    /// Rows of the names met so far, with the types of those that are registers.
    rows: HashMap<String, (Reg, Option<Type>)>,
    names: Vec<String>,
    constants: HashMap<u64, Reg>,
    specials: Vec<(Reg, String)>,
    /// Addresses of parameters.
    params: HashMap<&'a str, u64>,
    /// Addresses of the entry's own variables, and all static shared memory.
    statics: Layout<'a>,
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

impl<'a, 's> Decoder<'a, 's> {
    fn new(entry: &'a Entry, scope: &'s Scope<'s>) -> Decoder<'a, 's> {
        let mut decoder = Decoder {
            scope,
            families: HashMap::new(),
            singles: HashMap::new(),
            rows: HashMap::new(),
            names: Vec::new(),
            constants: HashMap::new(),
            specials: Vec::new(),
            params: HashMap::new(),
            statics: Layout {
                addresses: HashMap::new(),
                bytes: scope.statics.bytes,
            },
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
            decoder.params.insert(&param.name, PARAM_WINDOW + offset);
        }
        decoder
    }

    fn variable(&mut self, variable: &'a Variable) -> Result<()> {
        if variable.external {
            return Err("only a variable of the module can be .extern".to_owned());
        }
        self.statics.place(variable)
    }

    /// The address of a variable or parameter.
    fn variable_address(&self, name: &str) -> Result<Option<u64>> {
        let known = self
            .params
            .get(name)
            .or_else(|| self.statics.addresses.get(name))
            .or_else(|| self.scope.statics.addresses.get(name));
        match (known, self.scope.dynamic.get(name)) {
            (Some(address), _) => Ok(Some(*address)),
            (None, Some(variable)) => Ok(Some(shared_range(variable, self.statics.bytes)?.0)),
            (None, None) => Ok(None),
        }
    }

    fn check_limits(&self, limits: &Limits) -> Result<()> {
        hold(
            "instructions of the entry",
            self.instructions.len() as u64,
            limits.most_instructions(),
        )
        .and_then(|()| {
            hold(
                "registers, constants included,",
                self.names.len() as u64,
                limits.registers,
            )
        })
        .map_err(|error| error.to_string())
    }

    fn line(&mut self, line: &'a Line) -> Result<()> {
        match line {
            Line::Blank | Line::Comment(_) | Line::Variable(_) => {}
            Line::Registers { ty, prefix, count } => {
                let known = self.families.insert(prefix, (*count, *ty));
                return once(prefix, known);
            }
            Line::Register { ty, name } => return once(name, self.singles.insert(name, *ty)),
            Line::Label(name) => {
                return once(name, self.labels.insert(name, self.instructions.len()));
            }
            Line::Inst(inst) => self.instruction(inst)?,
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &'a Inst) -> Result<()> {
        let guard = match &inst.guard {
            Some(guard) => Some((
                self.register(&guard.predicate, Type::Pred, Fit::Same)?,
                guard.negated,
            )),
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
            operand
                .for_each_name(&mut |name| rows.extend(self.rows.get(name).map(|(row, _)| *row)));
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
                let types = arithmetic::types(&name, ty);
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
                self.computation(function, types, flush, saturate, operands)
            }
        };
        Some(decoded.map(|op| (op, Together::No)))
    }

    fn computation(
        &mut self,
        function: Function,
        types: Types,
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
        for ((row, operand), ty) in src.iter_mut().zip(sources).zip(types.src) {
            *row = self.source_that(operand, ty, types.fit)?;
        }
        Ok(Op::Compute {
            function,
            dst: self.dest_that(dst, types.dst, types.fit)?,
            src,
            flush,
            saturate,
        })
    }

    fn mov(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let ty = m.ty().ok_or("a type is missing")?;
        let part = |parts: &[Operand]| match (ty.bits(), ty.bits() / parts.len() as u32) {
            (16.., 8) => Ok(Type::B8),
            (32.., 16) => Ok(Type::B16),
            (64.., 32) => Ok(Type::B32),
            _ => Err(format!("{} parts of .{}", parts.len(), ty.name())),
        };
        match operands {
            [dst, Operand::Vector(parts)] if !parts.is_empty() => {
                let part = part(parts)?;
                let parts = self.sources(parts, part)?;
                Ok(Op::Pack {
                    dst: self.dest(dst, ty)?,
                    bits: part.bits(),
                    parts,
                })
            }
            [Operand::Vector(parts), src] if !parts.is_empty() => {
                let part = part(parts)?;
                let parts = self.dests(parts, part)?;
                Ok(Op::Unpack {
                    src: self.source(src, ty)?,
                    bits: part.bits(),
                    parts,
                })
            }
            [dst, Operand::Name(name)]
                if matches!(
                    &name[..],
                    "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo"
                ) =>
            {
                Ok(Op::Clock {
                    dst: self.dest(dst, ty)?,
                })
            }
            _ => {
                let function = arithmetic::function("mov", ty)
                    .ok_or_else(|| format!("mov of .{}", ty.name()))?;
                self.computation(function, Types::all(ty), false, false, operands)
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
        let types = arithmetic::conversion_types(to, from)
            .ok_or_else(|| format!("types .{to} and .{from}"))?;
        let op = self.computation(function, types, flush, saturate, operands)?;
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
        let Some(Type::U64) = m.ty() else {
            return Err("addresses of 64 bits are expected: .u64".to_owned());
        };
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
        let types = Types::all(Type::U64);
        self.computation(Function::F1(function), types, false, false, operands)
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
        let types = Types {
            dst: Type::Pred,
            ..Types::all(Type::U64)
        };
        self.computation(Function::F1(function), types, false, false, operands)
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
            ([dst, a, b, c], Some(function)) => {
                (dst, a, b, Some((function, self.source(c, Type::Pred)?)))
            }
            _ => return Err(format!("{} operands", operands.len())),
        };
        let (p, q) = match dst {
            Operand::Pair(p, q) => (self.dest(p, Type::Pred)?, Some(self.dest(q, Type::Pred)?)),
            p => (self.dest(p, Type::Pred)?, None),
        };
        Ok(Op::Compare {
            compare,
            flush,
            combine,
            p,
            q,
            a: self.source(a, ty)?,
            b: self.source(b, ty)?,
        })
    }

    fn declared(&self, name: &str) -> Option<Type> {
        self.singles.get(name).copied().or_else(|| {
            families(name).find_map(|(prefix, index)| {
                let (count, ty) = self.families.get(prefix)?;
                (index < *count).then_some(*ty)
            })
        })
    }

    /// The width in bits of what an operand holds.
    fn width(&self, operand: &Operand) -> u32 {
        let Operand::Name(name) = operand else {
            return 64;
        };
        let ty = match self.rows.get(name) {
            Some((_, ty)) => *ty,
            None => self.declared(name),
        };
        ty.map_or(64, Type::bits)
    }

    /// The row of a register, if there is one of this name. It has to fit the type of the operand, so that no row ever holds
    /// more than its register's bits.
    fn find_register(&mut self, name: &str, ty: Type, fit: Fit) -> Result<Option<Reg>> {
        let (row, found) = match self.rows.get(name) {
            Some((row, None)) => return Ok(Some(*row)),
            Some((row, Some(found))) => (*row, *found),
            None => {
                let Some(found) = self.declared(name) else {
                    return Ok(None);
                };
                if found == Type::B128 {
                    return Err("registers of .b128 are not modelled".to_owned());
                }
                let row = self.row(name);
                self.rows.insert(name.to_owned(), (row, Some(found)));
                (row, found)
            }
        };
        if fit.holds(found, ty) {
            return Ok(Some(row));
        }
        Err(format!(
            "`{name}` is a .{} register where .{} is expected",
            found.name(),
            ty.name()
        ))
    }

    fn register(&mut self, name: &str, ty: Type, fit: Fit) -> Result<Reg> {
        self.find_register(name, ty, fit)?
            .ok_or_else(|| format!("register `{name}` is not declared"))
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

    /// The row of an operand of this type that is read. A constant becomes a value of the type here, and nowhere else.
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Reg> {
        self.source_that(operand, ty, Fit::Same)
    }

    /// The same where the register may be wider than the type, as in stores and conversions.
    fn wide_source(&mut self, operand: &Operand, ty: Type) -> Result<Reg> {
        self.source_that(operand, ty, Fit::Wider)
    }

    fn source_that(&mut self, operand: &Operand, ty: Type, fit: Fit) -> Result<Reg> {
        match operand {
            Operand::Name(name) => {
                if let Some(row) = self.find_register(name, ty, fit)? {
                    return Ok(row);
                }
                if let Some(address) = self.variable_address(name)? {
                    return Ok(self.constant(address & arithmetic::low_bits(ty.bits())));
                }
                if name == "WARP_SZ" {
                    return Ok(self.constant(32));
                }
                if !special::exists(name) {
                    return Err(format!("`{name}` is not declared"));
                }
                let row = self.row(name);
                self.specials.push((row, name.clone()));
                self.rows.insert(name.clone(), (row, None));
                Ok(row)
            }
            Operand::Not(name) => {
                let src = [
                    self.register(name, Type::Pred, Fit::Same)?,
                    self.constant(1),
                    0,
                    0,
                ];
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
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let bits = arithmetic::constant(operand, ty)
                    .ok_or_else(|| format!("`{operand}` is not a constant of .{}", ty.name()))?;
                Ok(self.constant(bits))
            }
            other => Err(format!("`{other}` is not a value")),
        }
    }

    fn sources(&mut self, operands: &[Operand], ty: Type) -> Result<Box<[Reg]>> {
        operands
            .iter()
            .map(|operand| self.source(operand, ty))
            .collect()
    }

    /// The row of an operand of this type that is written.
    fn dest(&mut self, operand: &Operand, ty: Type) -> Result<Reg> {
        self.dest_that(operand, ty, Fit::Same)
    }

    /// The same where the register may be wider than the type, as in loads and conversions.
    fn wide_dest(&mut self, operand: &Operand, ty: Type) -> Result<Reg> {
        self.dest_that(operand, ty, Fit::Wider)
    }

    fn dest_that(&mut self, operand: &Operand, ty: Type, fit: Fit) -> Result<Reg> {
        match operand {
            Operand::Name(name) if matches!(self.rows.get(name), Some((_, None))) => {
                Err(format!("`{name}` is not a register"))
            }
            Operand::Name(name) => self.register(name, ty, fit),
            Operand::Sink => Ok(self.row("_")),
            other => Err(format!("`{other}` is not a register")),
        }
    }

    fn dests(&mut self, operands: &[Operand], ty: Type) -> Result<Box<[Reg]>> {
        operands
            .iter()
            .map(|operand| self.dest(operand, ty))
            .collect()
    }

    /// An address: of 32 bits in shared memory, else of 64.
    fn address(&mut self, operand: &Operand) -> Result<Address> {
        match operand {
            Operand::Address { base, offset } => Ok(Address {
                base: self.address_base(base)?,
                offset: *offset,
            }),
            other => Err(format!("`{other}` is not an address")),
        }
    }

    fn address_base(&mut self, base: &Operand) -> Result<Reg> {
        match self.width(base) {
            32 => self.source(base, Type::B32),
            _ => self.source(base, Type::B64),
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
            static_shared: self.statics.bytes,
            param_offsets: self.param_offsets,
            param_bytes: self.param_bytes,
        })
    }
}

/// What is declared has no declaration before.
fn once<T>(name: &str, before: Option<T>) -> Result<()> {
    match before {
        None => Ok(()),
        Some(_) => Err(format!("`{name}` is declared twice")),
    }
}

/// How wide the register of an operand may be.
#[derive(Clone, Copy)]
pub(crate) enum Fit {
    /// As wide as the operand's type.
    Same,
    /// That, or wider.
    Wider,
}

impl Fit {
    fn holds(self, register: Type, operand: Type) -> bool {
        match self {
            Fit::Same => register.bits() == operand.bits(),
            Fit::Wider => register.bits() >= operand.bits(),
        }
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
