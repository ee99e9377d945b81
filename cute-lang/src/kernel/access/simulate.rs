//! Runs straight-line code of one thread: enough to compare addresses and copies with the algebra.

use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Scalar;
use cute_ptx::ast::{Inst, Line, Operand, Type};
use cute_ptx::table::Opcode;
use std::collections::BTreeMap;

/// The address at which the tests let the kernel's shared memory start.
pub(crate) const SHARED: u64 = 3 * 1024;

/// Takes the lines from `start` on out of the builder, as PTX.
pub(crate) fn take(b: &mut Builder, start: usize) -> Vec<Line> {
    let lines = b.split_off(start);
    let names = b.names();
    lines.into_iter().map(|line| names.line(line)).collect()
}

/// The name of a register.
pub(crate) fn name(b: &mut Builder, scalar: &Scalar) -> String {
    b.names().of(scalar.register).to_owned()
}

/// A thread.
pub(crate) struct Thread {
    pub(crate) registers: BTreeMap<String, u64>,
    /// Shared memory, from address 0.
    pub(crate) memory: Vec<u8>,
    /// Address and bytes of each access so far.
    pub(crate) accesses: Vec<(u64, u32)>,
}

impl Thread {
    pub(crate) fn new(registers: impl IntoIterator<Item = (String, u64)>) -> Self {
        let base = ("%smem_base".to_string(), SHARED);
        let registers = registers.into_iter().chain([base]).collect();
        Self {
            registers,
            memory: vec![0; 256 * 1024],
            accesses: Vec::new(),
        }
    }

    pub(crate) fn run(&mut self, lines: &[Line]) {
        for line in lines {
            match line {
                Line::Inst(inst) => self.step(inst),
                Line::Comment(_) | Line::Blank => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) fn address(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Address { base, offset } => self.value(base).wrapping_add_signed(*offset),
            other => panic!("{other:?}"),
        }
    }

    fn value(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Int(value) => *value as u64,
            Operand::Name(name) => self.registers[name],
            other => panic!("{other:?}"),
        }
    }

    fn set(&mut self, operand: &Operand, value: u64, bits: u32) {
        match operand {
            Operand::Name(name) => {
                self.registers
                    .insert(name.clone(), value & (u64::MAX >> (64 - bits)));
            }
            Operand::Sink => {}
            other => panic!("{other:?}"),
        }
    }

    fn step(&mut self, inst: &Inst) {
        let mnemonic = inst.mnemonic;
        let types = || mnemonic.modifiers().iter().filter_map(|it| it.ty());
        // For a conversion, the source type.
        let ty = types().next_back().unwrap_or(Type::B32);
        match (mnemonic.opcode(), &inst.operands[..]) {
            (Opcode::Ld, [to, from]) => {
                let address = self.address(from);
                let bytes = ty.bits() / 8;
                self.accesses
                    .push((address, bytes * elements(to).len() as u32));
                for (i, to) in elements(to).into_iter().enumerate() {
                    let start = address as usize + i * bytes as usize;
                    let value = self.memory[start..][..bytes as usize]
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u64::from(*byte));
                    self.set(to, value, ty.bits());
                }
            }
            (Opcode::St, [to, from]) => {
                let address = self.address(to);
                let bytes = ty.bits() / 8;
                self.accesses
                    .push((address, bytes * elements(from).len() as u32));
                for (i, from) in elements(from).into_iter().enumerate() {
                    let value = self.value(from).to_le_bytes();
                    let start = address as usize + i * bytes as usize;
                    self.memory[start..][..bytes as usize]
                        .copy_from_slice(&value[..bytes as usize]);
                }
            }
            // This thread's row of a matrix; its contents come from other threads.
            (Opcode::Stmatrix, [to, _]) => {
                let address = self.address(to);
                self.accesses.push((address, 16));
            }
            (Opcode::Mov, [Operand::Vector(to), from]) => {
                let bits = ty.bits() / to.len() as u32;
                let value = self.value(from);
                for (i, to) in to.iter().enumerate() {
                    self.set(to, value >> (i as u32 * bits), bits);
                }
            }
            (Opcode::Mov, [to, Operand::Vector(from)]) => {
                let bits = ty.bits() / from.len() as u32;
                let value = from
                    .iter()
                    .rev()
                    .fold(0, |value, part| value << bits | self.value(part));
                self.set(to, value, ty.bits());
            }
            (Opcode::Mov | Opcode::Cvt, [to, from]) => {
                let value = self.value(from);
                self.set(to, value, types().next().map_or(64, Type::bits));
            }
            (Opcode::Prmt, [to, low, high, selector]) => {
                let bytes = self.value(high) << 32 | self.value(low);
                let selector = self.value(selector);
                let byte = |place: u32| bytes >> (8 * (selector >> (4 * place) & 7)) & 0xff;
                let value = (0..4).map(|place| byte(place) << (8 * place)).sum();
                self.set(to, value, 32);
            }
            (operation, [to, a, b]) => {
                let (a, b) = (self.value(a), self.value(b));
                let value = match operation {
                    Opcode::Add => a.wrapping_add(b),
                    Opcode::Sub => a.wrapping_sub(b),
                    Opcode::Mul => a.wrapping_mul(b),
                    Opcode::Div => a / b,
                    Opcode::Rem => a % b,
                    Opcode::And => a & b,
                    Opcode::Or => a | b,
                    Opcode::Xor => a ^ b,
                    Opcode::Shl => a << b,
                    Opcode::Shr => a >> b,
                    _ => panic!("{inst:?}"),
                };
                self.set(to, value, ty.bits());
            }
            _ => panic!("{inst:?}"),
        }
    }
}

fn elements(operand: &Operand) -> Vec<&Operand> {
    match operand {
        Operand::Vector(elements) => elements.iter().collect(),
        single => vec![single],
    }
}
