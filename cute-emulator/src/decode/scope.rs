//! The addresses of names: variables and functions of a module, and variables and parameters of entries and functions.

use super::operands::Result;
use super::unsupported::Unsupported;
use crate::arithmetic::constant;
use crate::claim::{Arguments, List, Part, Stride, View};
use crate::op::Slot;
use crate::source::{Place, Tensor};
use crate::variables::Image;
use crate::windows::{CODE_WINDOW, FUNCTION_BYTES, PARAM_WINDOW, SHARED_BASE};
use cute_chip::{Chip, ElementType, Target};
use cute_ptx::ast;
use cute_ptx::ast::{Entry, Function, Item, Line, Operand, Variable};
use cute_ptx::claims::{self, Note};
use cute_ptx::parse::Source;
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes that the parameters of a kernel can have (PTX ISA 9.0, §5.1.6).
const MAX_PARAM_BYTES: u32 = cute_chip::threads::MAX_PARAMETER_BYTES_8_1;
/// The most bytes of local memory that a thread can have (CUDA C++ Programming Guide, "Compute Capabilities").
pub(crate) const MAX_LOCAL_BYTES: u64 = 512 << 10;
/// The most bytes of a module's variables in global and constant memory.
const MAX_IMAGE_BYTES: u64 = 256 << 20;

/// The variables and functions of a module, shared by all of its entries.
pub(crate) struct Scope<'a> {
    /// The chip of the module's target.
    pub(super) chip: &'static Chip,
    statics: Layout<'a>,
    /// The `.extern .shared` arrays. In one entry, all have the same address up to alignment: dynamic shared memory begins after the
    /// entry's static variables.
    dynamic: HashMap<&'a str, &'a Variable>,
    /// The offsets of variables in global and constant memory.
    globals: HashMap<&'a str, u64>,
    /// The initial values of these variables.
    pub(crate) image: Image,
    /// The functions, each once: with its body, if it has one, and the body's lines in the text.
    pub(super) functions: Vec<(&'a Function, &'a [u32])>,
    function_numbers: HashMap<&'a str, usize>,
    /// The files of the source by their numbers.
    files: HashMap<u32, Arc<str>>,
    /// The tensors in dynamic shared memory that comments name.
    pub(super) tensors: Vec<Tensor>,
    /// The tensors in global memory, and the lists of parameters, that comments describe.
    notes: Vec<Note>,
}

/// The addresses of static shared variables, and their size with padding.
#[derive(Default)]
struct Layout<'a> {
    addresses: HashMap<&'a str, (u64, u64)>,
    bytes: u32,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// An address that is known before the launch.
    Address(u64),
    /// A variable in shared memory: its address, and its size unless it is dynamic.
    Shared(u64, Option<u64>),
    /// A variable or parameter in the frame of the routine: its offset there.
    Frame(u32),
    /// A variable of the module in global or constant memory: its offset in the module's image.
    Global(u64),
}

/// The names of an entry or a function: its parameters and its variables.
#[derive(Default)]
pub(super) struct Names<'a> {
    found: HashMap<&'a str, Named>,
    /// The size of the parameters and variables in local memory.
    pub(super) frame_bytes: u32,
    /// The slots of a function's parameters and results.
    pub(super) params: Box<[Slot]>,
    pub(super) returns: Box<[Slot]>,
}

/// The addresses of names in an entry and in the functions that it calls.
pub(super) struct Addresses<'a, 's> {
    scope: &'s Scope<'a>,
    /// The names of the entry, and then of the functions in the order of their addition.
    routines: Vec<Names<'a>>,
    /// The routine whose code is decoded.
    current: usize,
    /// Bytes of static shared memory in all variables so far.
    statics: u32,
    /// The offset of each parameter in bytes, in order.
    pub(super) param_offsets: Vec<u32>,
    /// The size of all parameters together.
    pub(super) param_bytes: u32,
}

/// Assigns addresses to the variables and functions of a module.
pub(crate) fn module_scope(source: &Source) -> std::result::Result<Scope<'_>, Unsupported> {
    let mut scope = Scope {
        chip: Chip::or_default(Target::from_name(&source.module.target)),
        statics: Layout::default(),
        dynamic: HashMap::new(),
        globals: HashMap::new(),
        image: Image::default(),
        functions: Vec::new(),
        function_numbers: HashMap::new(),
        files: HashMap::new(),
        tensors: Vec::new(),
        notes: Vec::new(),
    };
    let mut lines = source.function_lines.iter();
    let mut comment_lines = source.comment_lines.iter();
    let mut variables = Vec::new();
    for item in &source.module.items {
        match item {
            Item::Variable(variable) => variables.push(variable),
            Item::Function(function) => {
                let lines = match &function.body {
                    Some(_) => lines.next().map_or(&[][..], Vec::as_slice),
                    None => &[],
                };
                scope.function(function, lines);
            }
            Item::File { number, path } => _ = scope.files.insert(*number, path.as_str().into()),
            Item::Comment(text) => {
                let line = comment_lines.next().copied().unwrap_or_default();
                scope.note(text).map_err(|message| Unsupported {
                    line,
                    text: format!("// {text}"),
                    message,
                })?;
            }
            Item::Blank | Item::Entry(_) => {}
        }
    }
    let in_module = |variable: &Variable, message| Unsupported {
        line: 0,
        text: variable.to_string(),
        message,
    };
    for variable in &variables {
        let placed = scope.place(variable);
        placed.map_err(|message| in_module(variable, message))?;
    }
    // Initial values can name variables that follow.
    for variable in variables {
        let filled = scope.fill(variable);
        filled.map_err(|message| in_module(variable, message))?;
    }
    Ok(scope)
}

impl<'a> Scope<'a> {
    /// Adds a function, or adds the body to a declared one.
    fn function(&mut self, function: &'a Function, lines: &'a [u32]) {
        let next = self.functions.len();
        let number = *self.function_numbers.entry(&function.name).or_insert(next);
        if number == next {
            self.functions.push((function, lines));
        } else if function.body.is_some() {
            self.functions[number] = (function, lines);
        }
    }

    /// Notes what a comment says of the module.
    fn note(&mut self, comment: &str) -> Result<()> {
        match Note::read(comment).map_err(|error| error.to_string())? {
            // A tensor without a name cannot be told from others in the same place.
            Some(Note::Shared {
                bytes,
                name: Some(name),
                description,
                ..
            }) => self.tensors.push(Tensor {
                name,
                description,
                bytes: bytes.start.into()..bytes.end.into(),
            }),
            Some(note @ (Note::Tensor { .. } | Note::List { .. })) => self.notes.push(note),
            Some(Note::Shared { name: None, .. }) | None => {}
        }
        Ok(())
    }

    fn place(&mut self, variable: &'a Variable) -> Result<()> {
        match variable.space.as_str() {
            "shared" if variable.external => {
                shared_range(self.chip, variable, 0)?;
                self.dynamic.insert(&variable.name, variable);
                Ok(())
            }
            "shared" => {
                let (address, end) = shared_range(self.chip, variable, self.statics.bytes)?;
                self.statics.bytes = end;
                let placed = (address, byte_len(variable));
                self.statics.addresses.insert(&variable.name, placed);
                Ok(())
            }
            _ => {
                let start = self.image.bytes.len() as u64;
                let (offset, end) = range(variable, start, MAX_IMAGE_BYTES, "module variables")?;
                self.image.bytes.resize(end as usize, 0);
                self.image.align = self.image.align.max(u64::from(variable.align));
                self.globals.insert(&variable.name, offset);
                Ok(())
            }
        }
    }

    /// Puts the initial values of a variable into the image.
    fn fill(&mut self, variable: &'a Variable) -> Result<()> {
        let Some(&start) = self.globals.get(variable.name.as_str()) else {
            return Ok(());
        };
        self.image
            .variables
            .insert(variable.name.clone(), (start, byte_len(variable)));
        let size = variable.ty.bits().div_ceil(8) as usize;
        if size > size_of::<u64>() && !variable.init.is_empty() {
            return Err(format!(
                "initial values of {} are not modelled",
                variable.ty
            ));
        }
        for (i, value) in variable.init.iter().enumerate() {
            let at = start as usize + i * size;
            let bits = match value {
                Operand::Name(name) => self.initial_address(name, 0, at as u64)?,
                Operand::Address { base, offset } => match base.as_ref() {
                    Operand::Name(name) => self.initial_address(name, *offset, at as u64)?,
                    other => return Err(format!("`{other}` is not the name of a variable")),
                },
                value => constant(value, variable.ty)
                    .or_else(|| float_of_int(value, variable.ty))
                    .ok_or_else(|| format!("`{value}` is not of type {}", variable.ty))?,
            };
            self.image.bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// The address of a function or variable as an initial value at offset `at` of the image.
    fn initial_address(&mut self, name: &str, offset: i64, at: u64) -> Result<u64> {
        if let Some(global) = self.globals.get(name) {
            // The launch adds the image's address.
            self.image.relocations.push(at);
            return Ok(global.wrapping_add_signed(offset));
        }
        match self.function_numbers.get(name) {
            Some(number) => Ok(function_address(*number).wrapping_add_signed(offset)),
            None => Err(format!(
                "`{name}` is not a function or variable of the module that can be an initial value"
            )),
        }
    }

    /// The number of a function.
    pub(super) fn function_number(&self, name: &str) -> Option<usize> {
        self.function_numbers.get(name).copied()
    }

    /// The source location of an instruction.
    pub(super) fn source(&self, place: Option<ast::Place>) -> Option<Arc<Place>> {
        let place = place?;
        let file = self.files.get(&place.file)?.clone();
        let line = place.line;
        Some(Arc::new(Place { file, line }))
    }
}

impl<'a, 's> Addresses<'a, 's> {
    /// Assigns offsets to the parameters of an entry, and addresses to its variables.
    pub(super) fn new(entry: &'a Entry, scope: &'s Scope<'a>) -> Result<Addresses<'a, 's>> {
        let mut addresses = Addresses {
            scope,
            routines: Vec::new(),
            current: 0,
            statics: scope.statics.bytes,
            param_offsets: Vec::new(),
            param_bytes: 0,
        };
        let mut names = Names::default();
        for param in &entry.params {
            let (align, bytes) = param.ty.layout();
            let offset = u64::from(addresses.param_bytes).next_multiple_of(u64::from(align));
            let end = offset.saturating_add(u64::from(bytes));
            if end > u64::from(MAX_PARAM_BYTES) {
                return Err(format!(
                    "{end} bytes of parameters are over the limit of {MAX_PARAM_BYTES}"
                ));
            }
            addresses.param_offsets.push(offset as u32);
            addresses.param_bytes = end as u32;
            let address = Named::Address(PARAM_WINDOW + offset);
            names.found.insert(&param.name, address);
        }
        addresses.routines.push(names);
        Ok(addresses)
    }

    /// The comments' descriptions of the entry's parameters.
    pub(super) fn arguments(&self) -> Arguments {
        let notes = &self.scope.notes;
        let lists: Vec<List> = notes.iter().filter_map(|note| self.list(note)).collect();
        let views = notes.iter().filter_map(|note| self.view(note, &lists));
        Arguments {
            views: views.collect(),
            lists,
        }
    }

    /// The list of a note, if the entry has its parameters.
    fn list(&self, note: &Note) -> Option<List> {
        let Note::List {
            name,
            length,
            parts,
            ..
        } = note
        else {
            return None;
        };
        let part = |part: &claims::Part| {
            Some(Part {
                name: part.parameter.clone(),
                start: self.parameter(&part.parameter)?,
                bytes: part.bytes,
            })
        };
        Some(List {
            name: name.clone(),
            length: self.parameter(length)?,
            parts: parts.iter().map(part).collect::<Option<_>>()?,
        })
    }

    /// The offset of a parameter of the entry.
    fn parameter(&self, name: &str) -> Option<u32> {
        match self.routines.first()?.found.get(name) {
            Some(Named::Address(address)) => u32::try_from(address.checked_sub(PARAM_WINDOW)?).ok(),
            _ => None,
        }
    }

    /// The tensor of a note, if the entry has its parameters.
    fn view(&self, note: &Note, lists: &[List]) -> Option<View> {
        let Note::Tensor {
            name,
            element,
            pointer,
            strides,
        } = note
        else {
            return None;
        };
        let strides = strides.iter().map(|stride| match stride.parse() {
            Ok(known) => Some(Stride::Known(known)),
            Err(_) => self.parameter(stride).map(Stride::Parameter),
        });
        let bytes = ElementType::from_name(element)?.bytes().ok()?;
        Some(View {
            name: name.clone(),
            bytes: bytes.into(),
            pointer: self.parameter(pointer)?,
            strides: strides.collect::<Option<_>>()?,
            list: lists.iter().position(|list| list.name == *name),
        })
    }

    /// Adds a function, which becomes the current routine.
    pub(super) fn add_function(&mut self, function: &'a Function) -> Result<()> {
        let mut names = Names::default();
        names.returns = names.slots(&function.returns)?;
        names.params = names.slots(&function.params)?;
        self.routines.push(names);
        self.current = self.routines.len() - 1;
        Ok(())
    }

    /// Makes a routine the current one: 0 is the entry, then come the functions in the order of their addition.
    pub(super) fn enter(&mut self, routine: usize) {
        self.current = routine;
    }

    /// The names of the current routine.
    pub(super) fn names(&self) -> &Names<'a> {
        &self.routines[self.current]
    }

    /// Assigns addresses to the declarations in a line of the current routine. This comes before [`find`](Addresses::find), since
    /// dynamic shared memory begins after the variables of all routines.
    pub(super) fn place(&mut self, line: &'a Line) -> Result<()> {
        let names = &mut self.routines[self.current];
        match line {
            Line::Variable(variable) if variable.space == "shared" => {
                let (address, end) = shared_range(self.scope.chip, variable, self.statics)?;
                self.statics = end;
                let found = Named::Shared(address, Some(byte_len(variable)));
                names.found.insert(&variable.name, found);
            }
            Line::Variable(variable) if variable.space == "local" => {
                names.frame(&variable.name, variable.align, byte_len(variable))?;
            }
            Line::Variable(variable) => {
                return Err(format!(
                    "variables in .{} are modelled only outside of entries and functions",
                    variable.space
                ));
            }
            Line::Param(param) => {
                let (align, bytes) = param.ty.layout();
                names.frame(&param.name, align, u64::from(bytes))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of static shared memory, of the module's and all routines' variables.
    pub(super) fn static_shared(&self) -> u32 {
        self.statics
    }

    /// The address at which dynamic shared memory begins.
    pub(super) fn dynamic_shared(&self) -> u64 {
        let variables = self.scope.dynamic.values();
        let addresses = variables
            .filter_map(|variable| shared_range(self.scope.chip, variable, self.statics).ok());
        let start = u64::from(SHARED_BASE + self.statics);
        addresses.map(|(address, _)| address).max().unwrap_or(start)
    }

    /// The meaning of a name in the current routine or in the module; `None` if it is not declared.
    pub(super) fn find(&self, name: &str) -> Result<Option<Named>> {
        if let Some(found) = self.names().found.get(name) {
            return Ok(Some(*found));
        }
        let scope = self.scope;
        if let Some((address, bytes)) = scope.statics.addresses.get(name) {
            return Ok(Some(Named::Shared(*address, Some(*bytes))));
        }
        if let Some(variable) = scope.dynamic.get(name) {
            let (address, _) = shared_range(self.scope.chip, variable, self.statics)?;
            return Ok(Some(Named::Shared(address, None)));
        }
        if let Some(offset) = scope.globals.get(name) {
            return Ok(Some(Named::Global(*offset)));
        }
        let number = scope.function_number(name);
        Ok(number.map(|number| Named::Address(function_address(number))))
    }

    /// The slot of a call's argument or result in the frame.
    pub(super) fn slot(&self, name: &str, bytes: u32) -> Result<Slot> {
        match self.names().found.get(name) {
            Some(Named::Frame(offset)) => Ok(Slot {
                offset: *offset,
                bytes,
            }),
            _ => Err(format!("`{name}` is not a parameter of the routine")),
        }
    }
}

impl<'a> Names<'a> {
    /// Assigns a place in the frame.
    fn frame(&mut self, name: &'a str, align: u32, bytes: u64) -> Result<u32> {
        let offset = u64::from(self.frame_bytes).next_multiple_of(u64::from(align.max(1)));
        let end = offset.saturating_add(bytes);
        if end > MAX_LOCAL_BYTES {
            return Err(format!(
                "{end} bytes of local memory are over the limit of {MAX_LOCAL_BYTES}"
            ));
        }
        self.frame_bytes = end as u32;
        self.found.insert(name, Named::Frame(offset as u32));
        Ok(offset as u32)
    }

    fn slots(&mut self, params: &'a [ast::Param]) -> Result<Box<[Slot]>> {
        let slot = |param: &'a ast::Param| {
            let (align, bytes) = param.ty.layout();
            let offset = self.frame(&param.name, align, u64::from(bytes))?;
            Ok(Slot { offset, bytes })
        };
        params.iter().map(slot).collect()
    }
}

/// The address by which a function is called.
fn function_address(number: usize) -> u64 {
    CODE_WINDOW + number as u64 * FUNCTION_BYTES
}

/// A floating-point initial value, written as an integer.
fn float_of_int(value: &Operand, ty: ast::Type) -> Option<u64> {
    match (value, ty) {
        (Operand::Int(value), ast::Type::F32) => Some(u64::from((*value as f32).to_bits())),
        (Operand::Int(value), ast::Type::F64) => Some((*value as f64).to_bits()),
        _ => None,
    }
}

fn byte_len(variable: &Variable) -> u64 {
    let len = variable.len.unwrap_or(u64::from(!variable.external));
    len.saturating_mul(u64::from(variable.ty.bits().div_ceil(8)))
}

/// The offset of a variable after `before` bytes, and the size up to its end.
fn range(variable: &Variable, before: u64, limit: u64, what: &str) -> Result<(u64, u64)> {
    let start = before.next_multiple_of(u64::from(variable.align.max(1)));
    match start.saturating_add(byte_len(variable)) {
        end if end <= limit => Ok((start, end)),
        end => Err(format!(
            "{end} bytes of {what} are over the limit of {limit}"
        )),
    }
}

/// The address of a variable after `before` bytes of shared memory, and the size up to its end.
fn shared_range(chip: &Chip, variable: &Variable, before: u32) -> Result<(u64, u32)> {
    let base = u64::from(SHARED_BASE);
    let (most, what) = (chip.cta_shared_bytes, "static shared memory");
    match range(
        variable,
        base + u64::from(before),
        base + u64::from(most),
        what,
    ) {
        Ok((start, end)) => Ok((start, (end - base) as u32)),
        Err(_) => Err(format!(
            "{} bytes of {what} are over the limit of {most}",
            u64::from(before).saturating_add(byte_len(variable))
        )),
    }
}
