//! Assigns rows of the register file to the names and constants in operands.

use super::operands::{Arg, Result};
use super::scope::{Addresses, Named};
use crate::arithmetic::{constant, low_bits};
use crate::op::{Address, Compute, Flush, Function, Op, Reg, Variable};
use crate::special;
use cute_ptx::ast::{Operand, Type, families};
use cute_ptx::special::Register;
use cute_ptx::table::Kind;
use std::collections::HashMap;
use std::sync::Arc;

/// The register file of an entry, while the entry is decoded.
pub(super) struct Registers<'a, 's> {
    /// Registers declared with a count, such as `.reg .b32 %r<4>`: count and type by prefix.
    families: HashMap<&'a str, (u32, Type)>,
    /// Registers declared with a name of their own, such as `.reg .pred p`.
    singles: HashMap<&'a str, Type>,
    pub(super) addresses: Addresses<'a, 's>,
    /// The row of each name used so far, and its type if it is a register; `None` for special registers.
    rows: HashMap<String, (Reg, Option<Type>)>,
    /// The name of each row.
    pub(super) names: Vec<String>,
    pub(super) constants: HashMap<u64, Reg>,
    pub(super) specials: Vec<(Reg, Register, usize)>,
    /// The rows of addresses in the module's image, by offset.
    pub(super) globals: HashMap<u64, Reg>,
    /// The rows of addresses of variables in shared memory.
    pub(super) variables: Vec<(Reg, Arc<Variable>)>,
    /// The row of the address of the frame.
    pub(super) frame: Option<Reg>,
    /// The row of the carry flag.
    carry: Option<Reg>,
    /// The row for values written to `_`.
    sink: Option<Reg>,
    /// Operations before the instruction being decoded: negations of predicates, and first halves of conversions.
    pub(super) preceding: Vec<Op>,
}

impl<'a, 's> Registers<'a, 's> {
    pub(super) fn new(addresses: Addresses<'a, 's>) -> Registers<'a, 's> {
        Registers {
            families: HashMap::new(),
            singles: HashMap::new(),
            addresses,
            rows: HashMap::new(),
            names: Vec::new(),
            constants: HashMap::new(),
            specials: Vec::new(),
            globals: HashMap::new(),
            variables: Vec::new(),
            frame: None,
            carry: None,
            sink: None,
            preceding: Vec::new(),
        }
    }

    /// Forgets the registers of the previous routine: equal names in different routines are different registers.
    pub(super) fn forget(&mut self) {
        self.families.clear();
        self.singles.clear();
        self.rows.clear();
    }

    pub(super) fn declare_family(&mut self, prefix: &'a str, count: u32, ty: Type) {
        self.families.insert(prefix, (count, ty));
    }

    pub(super) fn declare(&mut self, name: &'a str, ty: Type) {
        self.singles.insert(name, ty);
    }

    /// Decodes an operand of the kind that the instruction table gives.
    pub(super) fn arg(&mut self, operand: &Operand, kind: &Kind) -> Result<Arg> {
        Ok(match (kind, operand) {
            (Kind::Def { .. }, Operand::Pair(first, second)) => {
                Arg::Pair([self.dest(first)?, self.dest(second)?])
            }
            (Kind::Def { .. }, operand) => Arg::Row(self.dest(operand)?),
            (Kind::Use { ty, .. } | Kind::Register(ty) | Kind::Value(ty), operand) => {
                Arg::Row(self.source(operand, *ty)?)
            }
            (Kind::Predicate | Kind::Scale, operand) => Arg::Row(self.source(operand, Type::Pred)?),
            (Kind::Vector { def: true, .. }, Operand::Vector(parts))
            | (Kind::Pack { def: true, .. }, Operand::Vector(parts)) => {
                let rows = parts.iter().map(|part| self.dest(part));
                Arg::Rows(rows.collect::<Result<_>>()?)
            }
            (Kind::Vector { ty, .. }, Operand::Vector(parts)) => self.sources(parts, *ty)?,
            (Kind::Pack { bits, .. }, Operand::Vector(parts)) => {
                let part = match bits / (parts.len() as u32).max(1) {
                    8 => Type::B8,
                    16 => Type::B16,
                    _ => Type::B32,
                };
                self.sources(parts, part)?
            }
            (Kind::Address(_), Operand::Address { base, offset }) => {
                Arg::Address(self.address(base, *offset)?)
            }
            (Kind::Tensor { .. }, Operand::Tensor { map, coords }) => {
                let map = self.address(map, 0)?;
                let coords = coords.iter().map(|coord| self.source(coord, Type::S32));
                Arg::Tile(map, coords.collect::<Result<_>>()?)
            }
            (Kind::Int(_), Operand::Int(value)) => Arg::Int(*value),
            (Kind::Label | Kind::Targets | Kind::Function | Kind::Prototype, Operand::Name(_))
            | (Kind::Parameters, Operand::List(_))
            | (Kind::Sink, Operand::Sink) => Arg::Nothing,
            (kind, operand) => return Err(format!("expected {kind}, found `{operand}`")),
        })
    }

    /// Takes the operations before the last decoded instruction.
    pub(super) fn take_preceding(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.preceding)
    }

    /// The width in bits of a register operand; 64 for every other operand.
    pub(super) fn width(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Name(name) => self.declared(name).map_or(64, Type::bits),
            _ => 64,
        }
    }

    /// Appends the rows of all names in an operand.
    pub(super) fn rows_of(&self, operand: &Operand, rows: &mut Vec<Reg>) {
        operand.for_each_name(&mut |name| rows.extend(self.rows.get(name).map(|(row, _)| *row)));
    }

    /// The rows of the names that are registers.
    pub(super) fn declared_rows<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Reg> {
        let found = names.filter_map(|name| match self.rows.get(name) {
            Some((row, Some(_))) => Some(*row),
            _ => None,
        });
        found.collect()
    }

    pub(super) fn constant(&mut self, value: u64) -> Reg {
        if let Some(row) = self.constants.get(&value) {
            return *row;
        }
        let row = self.row(&format!("{value:#x}"));
        self.constants.insert(value, row);
        row
    }

    /// The row of the address of the routine's frame.
    pub(super) fn frame(&mut self) -> Reg {
        if let Some(row) = self.frame {
            return row;
        }
        let row = self.row("%frame");
        self.frame = Some(row);
        row
    }

    /// The row of the carry flag.
    pub(super) fn carry(&mut self) -> Reg {
        if let Some(row) = self.carry {
            return row;
        }
        let row = self.row("CC.CF");
        self.carry = Some(row);
        row
    }

    /// A new row.
    pub(super) fn row(&mut self, name: &str) -> Reg {
        self.names.push(name.to_owned());
        (self.names.len() - 1) as Reg
    }

    /// The row of a register; an error if it is not declared.
    pub(super) fn register(&mut self, name: &str) -> Result<Reg> {
        let row = self.find_register(name)?;
        row.ok_or_else(|| format!("register `{name}` is not declared"))
    }

    fn declared(&self, name: &str) -> Option<Type> {
        self.singles.get(name).copied().or_else(|| {
            families(name).find_map(|(prefix, index)| {
                let (count, ty) = self.families.get(prefix)?;
                (index < *count).then_some(*ty)
            })
        })
    }

    fn find_register(&mut self, name: &str) -> Result<Option<Reg>> {
        if let Some((row, _)) = self.rows.get(name) {
            return Ok(Some(*row));
        }
        let Some(found) = self.declared(name) else {
            return Ok(None);
        };
        if found == Type::B128 {
            return Err("registers of .b128 are not modelled".to_owned());
        }
        let row = self.row(name);
        self.rows.insert(name.to_owned(), (row, Some(found)));
        Ok(Some(row))
    }

    fn dest(&mut self, operand: &Operand) -> Result<Reg> {
        match operand {
            Operand::Name(name) => self.register(name),
            Operand::Sink => {
                let row = match self.sink {
                    Some(row) => row,
                    None => self.row("_"),
                };
                self.sink = Some(row);
                Ok(row)
            }
            other => Err(format!("`{other}` is not a register")),
        }
    }

    /// The row of a source operand of this type. Constants are converted to the bits of a type only here.
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Reg> {
        match operand {
            Operand::Name(name) => {
                if let Some(row) = self.find_register(name)? {
                    return Ok(row);
                }
                match self.addresses.find(name)? {
                    Some(Named::Address(address)) => {
                        return Ok(self.constant(address & low_bits(ty.bits())));
                    }
                    Some(Named::Shared(address, bytes)) => {
                        return Ok(self.variable(name, address, bytes));
                    }
                    Some(Named::Global(offset)) => return Ok(self.global(offset)),
                    Some(Named::Frame(offset)) => return Ok(self.in_frame(offset, ty)),
                    None => {}
                }
                let Some((special, axis)) = cute_ptx::special::lookup(name) else {
                    return Err(format!("`{name}` is not declared"));
                };
                if !special::is_modelled(special.register) {
                    return Err(format!("the special register `{name}` is not modelled"));
                }
                let row = self.row(name);
                self.specials.push((row, special.register, axis));
                self.rows.insert(name.clone(), (row, None));
                Ok(row)
            }
            Operand::Not(name) => {
                let predicate = self.register(name)?;
                let row = self.row(&format!("!{name}"));
                self.preceding.push(Op::Compute(Compute {
                    function: Function::F1(|a| a ^ 1),
                    dst: row,
                    src: [predicate, 0, 0, 0],
                    flush: Flush::default(),
                    saturate: None,
                    divides: None,
                }));
                Ok(row)
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let bits = constant(operand, ty).ok_or_else(|| {
                    format!("`{operand}` is not a constant of type .{}", ty.name())
                })?;
                Ok(self.constant(bits))
            }
            other => Err(format!(
                "`{other}` is not a register, a constant or an address"
            )),
        }
    }

    fn sources(&mut self, operands: &[Operand], ty: Type) -> Result<Arg> {
        let rows = operands.iter().map(|operand| self.source(operand, ty));
        Ok(Arg::Rows(rows.collect::<Result<_>>()?))
    }

    /// The row of the address of a variable in shared memory.
    fn variable(&mut self, name: &str, address: u64, bytes: Option<u64>) -> Reg {
        let end = bytes.map_or(u64::MAX, |bytes| address + bytes);
        let (name, range) = (name.to_owned(), address..end);
        let variable = Variable { name, range };
        if let Some((row, _)) = self.variables.iter().find(|(_, it)| **it == variable) {
            return *row;
        }
        let row = self.row(&variable.name);
        self.variables.push((row, Arc::new(variable)));
        row
    }

    /// The row of an address in the module's image.
    fn global(&mut self, offset: u64) -> Reg {
        if let Some(row) = self.globals.get(&offset) {
            return *row;
        }
        let row = self.row(&format!("the module's variable at offset {offset}"));
        self.globals.insert(offset, row);
        row
    }

    /// A row for the address of a variable in the routine's frame.
    fn in_frame(&mut self, offset: u32, ty: Type) -> Reg {
        let (frame, offset) = (self.frame(), self.constant(u64::from(offset)));
        let row = self.row(&format!("%frame+{offset}"));
        let function: Function = match ty.bits() {
            32 => Function::F2(|frame, offset| u64::from((frame + offset) as u32)),
            _ => Function::F2(|frame, offset| frame + offset),
        };
        self.preceding.push(Op::Compute(Compute {
            function,
            dst: row,
            src: [frame, offset, 0, 0],
            flush: Flush::default(),
            saturate: None,
            divides: None,
        }));
        row
    }

    /// An address operand. A 32-bit register, as used for shared memory, keeps its width; every other base has 64 bits.
    fn address(&mut self, base: &Operand, offset: i64) -> Result<Address> {
        if let Operand::Name(name) = base
            && self.find_register(name)?.is_none()
            && let Some(Named::Frame(start)) = self.addresses.find(name)?
        {
            let base = self.frame();
            let offset = offset.saturating_add(i64::from(start));
            return Ok(Address {
                base,
                offset,
                narrow: false,
            });
        }
        let ty = match self.width(base) {
            32 => Type::B32,
            _ => Type::B64,
        };
        let base = self.source(base, ty)?;
        Ok(Address {
            base,
            offset,
            narrow: ty == Type::B32,
        })
    }
}
