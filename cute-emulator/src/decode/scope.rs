//! The addresses of the variables of a module, and of the variables and parameters of an entry.

use super::operands::Result;
use super::unsupported::Unsupported;
use crate::op::{MAX_SHARED_BYTES, PARAM_WINDOW, SHARED_BASE};
use crate::source::{Place, Tensor};
use cute_ptx::ast;
use cute_ptx::ast::{Entry, Item, Module, ParamType, Variable};
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes that the parameters of a kernel can have (PTX ISA 9.0, §5.1.6).
const MAX_PARAM_BYTES: u32 = cute_hopper::threads::MAX_PARAMETER_BYTES_8_1;

/// The variables of a module, which all of its entries share.
pub(crate) struct Scope<'a> {
    statics: Layout<'a>,
    /// The `.extern .shared` arrays. All have the same address up to alignment, which differs between entries: dynamic
    /// shared memory begins after the entry's static variables.
    dynamic: HashMap<&'a str, &'a Variable>,
    /// The files of the source by their numbers.
    files: HashMap<u32, Arc<str>>,
    /// The tensors in dynamic shared memory that comments name.
    pub(super) tensors: Vec<Tensor>,
}

/// The addresses of static shared variables, and the bytes that they take with padding.
#[derive(Default)]
struct Layout<'a> {
    addresses: HashMap<&'a str, u64>,
    bytes: u32,
}

/// The addresses that an entry's names stand for: its parameters, its variables, and those of the module.
pub(super) struct Addresses<'a, 's> {
    scope: &'s Scope<'s>,
    params: HashMap<&'a str, u64>,
    statics: Layout<'a>,
    /// The offset of each parameter in bytes, in order.
    pub(super) param_offsets: Vec<u32>,
    /// The size of all parameters together.
    pub(super) param_bytes: u32,
}

/// Assigns addresses to the variables of a module.
pub(crate) fn module_scope(module: &Module) -> std::result::Result<Scope<'_>, Unsupported> {
    let mut scope = Scope {
        statics: Layout::default(),
        dynamic: HashMap::new(),
        files: HashMap::new(),
        tensors: Vec::new(),
    };
    for item in &module.items {
        match item {
            Item::Variable(variable) => scope.place(variable).map_err(|message| Unsupported {
                line: 0,
                text: variable.to_string(),
                message,
            })?,
            Item::File { number, path } => _ = scope.files.insert(*number, path.as_str().into()),
            Item::Comment(text) => scope.tensors.extend(Tensor::parse(text)),
            Item::Blank | Item::Entry(_) => {}
        }
    }
    Ok(scope)
}

impl<'a> Scope<'a> {
    fn place(&mut self, variable: &'a Variable) -> Result<()> {
        if variable.external {
            shared_range(variable, 0)?;
            self.dynamic.insert(&variable.name, variable);
            return Ok(());
        }
        self.statics.place(variable)
    }

    /// The place in the source that an instruction comes from.
    pub(super) fn source(&self, place: Option<ast::Place>) -> Option<Arc<Place>> {
        let place = place?;
        let file = self.files.get(&place.file)?.clone();
        let line = place.line;
        Some(Arc::new(Place { file, line }))
    }
}

impl<'a> Layout<'a> {
    fn place(&mut self, variable: &'a Variable) -> Result<()> {
        let (address, end) = shared_range(variable, self.bytes)?;
        self.bytes = end;
        self.addresses.insert(&variable.name, address);
        Ok(())
    }
}

impl<'a, 's> Addresses<'a, 's> {
    /// Assigns offsets to the parameters of an entry.
    pub(super) fn new(entry: &'a Entry, scope: &'s Scope<'s>) -> Result<Addresses<'a, 's>> {
        let mut addresses = Addresses {
            scope,
            params: HashMap::new(),
            statics: Layout {
                addresses: HashMap::new(),
                bytes: scope.statics.bytes,
            },
            param_offsets: Vec::new(),
            param_bytes: 0,
        };
        for param in &entry.params {
            let (align, bytes) = param_layout(&param.ty);
            let offset = u64::from(addresses.param_bytes).next_multiple_of(u64::from(align));
            let end = offset.saturating_add(u64::from(bytes));
            if end > u64::from(MAX_PARAM_BYTES) {
                return Err(format!(
                    "{end} bytes of parameters are over the limit of {MAX_PARAM_BYTES}"
                ));
            }
            addresses.param_offsets.push(offset as u32);
            addresses.param_bytes = end as u32;
            addresses.params.insert(&param.name, PARAM_WINDOW + offset);
        }
        Ok(addresses)
    }

    /// Assigns an address to a variable of the entry. This is done for all variables before [`find`](Addresses::find) is
    /// called, since dynamic shared memory begins after them.
    pub(super) fn place(&mut self, variable: &'a Variable) -> Result<()> {
        self.statics.place(variable)
    }

    /// Bytes of static shared memory, of the module's and the entry's variables.
    pub(super) fn static_shared(&self) -> u32 {
        self.statics.bytes
    }

    /// The address at which dynamic shared memory begins.
    pub(super) fn dynamic_shared(&self) -> u64 {
        let variables = self.scope.dynamic.values();
        let addresses =
            variables.filter_map(|variable| shared_range(variable, self.statics.bytes).ok());
        let start = u64::from(SHARED_BASE + self.statics.bytes);
        addresses.map(|(address, _)| address).max().unwrap_or(start)
    }

    /// The address of a variable or parameter; `None` if there is none of this name.
    pub(super) fn find(&self, name: &str) -> Result<Option<u64>> {
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
}

/// The address of a variable that follows `before` bytes of shared memory, and the bytes up to its end.
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
            "{end} bytes of static shared memory are over the limit of {MAX_SHARED_BYTES}"
        )),
    }
}

/// The alignment and the size of a parameter, in bytes.
pub(crate) fn param_layout(ty: &ParamType) -> (u32, u32) {
    match ty {
        ParamType::Scalar(ty) => (ty.bits().div_ceil(8), ty.bits().div_ceil(8)),
        ParamType::Bytes { align, len } => ((*align).max(1), *len),
    }
}
