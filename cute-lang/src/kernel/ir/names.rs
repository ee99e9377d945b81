//! The names of registers, and lines as PTX.

use super::{Inst, Line, Operand, Register, Registers};
use cute_ptx::ast::{self, Type};
use cute_ptx::special::SPECIAL;
use std::collections::HashMap;

/// The names of a kernel's registers.
///
/// A register that is named after a variable has its name, and a number behind it if the name is taken. The others have the prefix of
/// their class and a number, in the order in which they were made.
#[derive(Default)]
pub struct Names {
    rows: Vec<Row>,
    /// How many registers have a number, by class.
    counts: [u32; CLASSES.len()],
    /// The names of variables that are taken, and the highest number appended to each.
    taken: HashMap<String, u32>,
}

/// A register.
struct Row {
    class: usize,
    name: String,
    /// The number after the prefix of its class, if it has no name of its own.
    number: Option<u32>,
}

/// The classes of registers: the prefix of their names and their declared type.
const CLASSES: [(&str, Type); 6] = [
    ("p", Type::Pred),
    ("h", Type::B16),
    ("r", Type::B32),
    ("rd", Type::B64),
    ("f", Type::F32),
    ("fd", Type::F64),
];

impl Names {
    /// Names the registers that have no names yet.
    pub fn add(&mut self, registers: &Registers) {
        for (ty, variable) in registers.since(self.rows.len()) {
            let class = class(ty);
            let number = variable.is_none().then_some(self.counts[class]);
            let name = match variable {
                Some(variable) => unique(variable, &mut self.taken),
                None => format!("{}{}", CLASSES[class].0, self.counts[class]),
            };
            self.counts[class] += u32::from(variable.is_none());
            self.rows.push(Row {
                class,
                name: format!("%{name}"),
                number,
            });
        }
    }

    /// The name of a register, with `%`.
    pub fn of(&self, register: Register) -> &str {
        &self.rows[register.index()].name
    }

    /// The declarations of the registers that these lines name.
    pub fn declarations(&self, code: &[Line]) -> Vec<ast::Line> {
        let mut used = vec![false; self.rows.len()];
        for line in code {
            let Line::Inst(inst) = line else { continue };
            inst.for_each_read(&mut |register| used[register.index()] = true);
            inst.for_each_written(&mut |register| used[register.index()] = true);
        }
        let used = self.rows.iter().zip(used);
        let used: Vec<&Row> = used.filter(|(_, used)| *used).map(|(row, _)| row).collect();
        let families = CLASSES
            .iter()
            .enumerate()
            .filter_map(|(class, (prefix, ty))| {
                // Numbers up to the largest used one.
                let of_class = used.iter().filter(|row| row.class == class);
                let last = of_class.filter_map(|row| row.number).max()?;
                Some(ast::Line::Registers {
                    ty: *ty,
                    prefix: format!("%{prefix}"),
                    count: last + 1,
                })
            });
        let named = used.iter().filter(|row| row.number.is_none());
        let named = named.map(|row| ast::Line::Register {
            ty: CLASSES[row.class].1,
            name: row.name.clone(),
        });
        families.chain(named).collect()
    }

    /// A line of PTX.
    pub fn line(&self, line: Line) -> ast::Line {
        match line {
            Line::Blank => ast::Line::Blank,
            Line::Comment(text) => ast::Line::Comment(text),
            Line::Statement(statement) => {
                ast::Line::Comment(statement.map(&mut |it| self.of(*it)).to_string())
            }
            Line::Label(label) => ast::Line::Label(label),
            Line::Inst(inst) => ast::Line::Inst(self.inst(&inst)),
        }
    }

    /// An instruction of PTX.
    pub fn inst(&self, inst: &Inst) -> ast::Inst {
        let guard = inst.guard.as_ref().map(|guard| ast::Guard {
            negated: guard.negated,
            predicate: self.of(guard.predicate).to_owned(),
        });
        let claims = inst.claims.as_ref();
        ast::Inst {
            guard,
            mnemonic: inst.mnemonic,
            operands: inst.operands.iter().map(|it| self.operand(it)).collect(),
            place: inst.place,
            comment: claims.map(|claims| claims.map(&mut |it| self.of(*it)).to_string()),
        }
    }

    /// An operand of PTX.
    pub fn operand(&self, operand: &Operand) -> ast::Operand {
        let boxed = |operand: &Operand| Box::new(self.operand(operand));
        let all = |operands: &[Operand]| operands.iter().map(|it| self.operand(it)).collect();
        match operand {
            Operand::Register(register) | Operand::Renamed(register, _) => {
                ast::Operand::Name(self.of(*register).to_owned())
            }
            Operand::Symbol(name) => ast::Operand::Name(name.clone()),
            Operand::Int(value) => ast::Operand::Int(*value),
            Operand::F32(bits) => ast::Operand::F32(*bits),
            Operand::F64(bits) => ast::Operand::F64(*bits),
            Operand::Vector(parts) => ast::Operand::Vector(all(parts)),
            Operand::Address { base, offset } => ast::Operand::Address {
                base: boxed(base),
                offset: *offset,
            },
            Operand::Tensor { map, coords } => ast::Operand::Tensor {
                map: boxed(map),
                coords: all(coords),
            },
            Operand::Pair(first, second) => ast::Operand::Pair(boxed(first), boxed(second)),
            Operand::Sink => ast::Operand::Sink,
        }
    }
}

/// A Rust name as a name in PTX: non-ASCII characters become `_`, and the `r#` of a raw identifier is dropped.
pub fn ascii(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    name.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '_'), "_")
}

/// The index of a type's class.
fn class(ty: Type) -> usize {
    match ty {
        Type::Pred => 0,
        Type::F32 => 4,
        Type::F64 => 5,
        ty if ty.bits() <= 16 => 1,
        ty if ty.bits() <= 32 => 2,
        _ => 3,
    }
}

/// A name that is not taken, after a variable. For each taken name there is the highest number appended to it.
fn unique(variable: &str, taken: &mut HashMap<String, u32>) -> String {
    let name = ascii(variable);
    // All numbers up to this one are taken.
    let mut number = taken.get(&name).copied().unwrap_or(0);
    let unique = loop {
        number += 1;
        let unique = match number {
            1 => name.clone(),
            number => format!("{name}_{number}"),
        };
        if !is_reserved(&unique) && !taken.contains_key(&unique) {
            break unique;
        }
    };
    taken.insert(name, number);
    taken.entry(unique.clone()).or_insert(1);
    unique
}

/// Whether a name without `%` belongs to PTX or to a family of numbered registers.
fn is_reserved(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut special = SPECIAL.iter().map(|special| &special.name[1..]);
    special.any(|special| special == name)
        || ["pm", "envreg"]
            .into_iter()
            .chain(CLASSES.iter().map(|(prefix, _)| *prefix))
            .any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_variables_and_no_two_are_the_same() {
        let mut registers = Registers::default();
        let mut names = Names::default();
        let mut found = Vec::new();
        for variable in ["i", "i", "i_2", "tid", "r0", "größe", "gr__e", "r#type"] {
            let register = registers.named(Type::U32, variable);
            names.add(&registers);
            found.push(names.of(register).to_owned());
        }
        let expected = [
            "%i", "%i_2", "%i_2_2", "%tid_2", "%r0_2", "%gr__e", "%gr__e_2", "%type",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn others_are_numbered_by_their_class() {
        let mut registers = Registers::default();
        let types = [
            Type::U32,
            Type::F32,
            Type::S16,
            Type::B32,
            Type::Pred,
            Type::U64,
            Type::U32,
        ];
        let all = types.map(|ty| registers.value(ty));
        let mut names = Names::default();
        names.add(&registers);
        assert_eq!(
            all.map(|register| names.of(register).to_owned()),
            ["%r0", "%f0", "%h0", "%r1", "%p0", "%rd0", "%r2"]
        );
        let operands = [Operand::Register(all[3]), Operand::Register(all[0])];
        let used = Inst::of("mov.u32", operands);
        let declared = names.declarations(&[Line::Inst(used)]);
        let family = ast::Line::Registers {
            ty: Type::B32,
            prefix: "%r".into(),
            count: 2,
        };
        assert_eq!(declared, [family]);
    }
}
