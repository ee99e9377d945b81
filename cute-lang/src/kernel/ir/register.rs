//! Registers, and what is known about them.

use cute_ptx::ast::Type;

/// A virtual register: its number among all registers of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

/// The registers of a kernel.
#[derive(Default)]
pub struct Registers(Vec<Row>);

/// What is known about a register.
struct Row {
    ty: Type,
    /// The variable that it is named after.
    name: Option<String>,
    is_written_once: bool,
}

impl Register {
    /// The index of the register in lists of all registers.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The register with this index.
    pub fn at(index: usize) -> Self {
        // No kernel has 2³² registers: it has at most as many lines as `Builder::check_length` allows, with a few registers each.
        Self(index as u32)
    }
}

impl Registers {
    /// A new register that one instruction writes.
    pub fn value(&mut self, ty: Type) -> Register {
        self.add(ty, None, true)
    }

    /// A new register that any number of instructions write.
    pub fn cell(&mut self, ty: Type) -> Register {
        self.add(ty, None, false)
    }

    /// A new register that is named after a variable. Any number of instructions write it.
    pub fn named(&mut self, ty: Type, name: &str) -> Register {
        self.add(ty, Some(name.to_owned()), false)
    }

    fn add(&mut self, ty: Type, name: Option<String>, is_written_once: bool) -> Register {
        self.0.push(Row {
            ty,
            name,
            is_written_once,
        });
        Register::at(self.0.len() - 1)
    }

    /// Lets any number of instructions write a register.
    pub fn becomes_cell(&mut self, register: Register) {
        self.0[register.index()].is_written_once = false;
    }

    /// Whether only one instruction writes the register.
    pub fn is_written_once(&self, register: Register) -> bool {
        self.0[register.index()].is_written_once
    }

    /// The registers after the first `start`, in the order in which they were made: their types, and the variables they are named after.
    pub fn since(&self, start: usize) -> impl Iterator<Item = (Type, Option<&str>)> {
        let rows = self.0.iter().skip(start);
        rows.map(|row| (row.ty, row.name.as_deref()))
    }
}
