//! The names of registers, and their declarations.

use crate::kernel::emit::param::ascii;
use crate::kernel::value::Scalar;
use cute_ptx::ast::{Line, Type};
use cute_ptx::special::SPECIAL;
use std::collections::{BTreeMap, BTreeSet};

/// The registers of a kernel.
#[derive(Default)]
pub struct Registers {
    /// How many numbered registers there are, by prefix.
    counts: BTreeMap<&'static str, u32>,
    /// The registers named after variables, with their declared types.
    named: Vec<(Type, String)>,
    /// The used names, without `%`, and the highest number appended to each.
    names: BTreeMap<String, u32>,
}

impl Registers {
    /// A fresh register.
    pub fn fresh(&mut self, ty: Type) -> Scalar {
        let (prefix, _) = class(ty);
        let count = self.counts.entry(prefix).or_insert(0);
        let name = format!("%{prefix}{count}");
        *count += 1;
        Scalar {
            name,
            ty,
            class: None,
            variable: false,
            renamed: 0,
        }
    }

    /// A fresh register that carries the name of a Rust variable.
    pub fn named(&mut self, ty: Type, name: &str) -> Scalar {
        let name = ascii(name);
        // All numbers up to this one are taken.
        let mut number = self.names.get(&name).copied().unwrap_or(0);
        let unique = loop {
            number += 1;
            let unique = match number {
                1 => name.clone(),
                number => format!("{name}_{number}"),
            };
            if !is_taken(&unique) && !self.names.contains_key(&unique) {
                break unique;
            }
        };
        self.names.insert(name, number);
        self.names.entry(unique.clone()).or_insert(1);
        let unique = format!("%{unique}");
        self.named.push((class(ty).1, unique.clone()));
        Scalar {
            name: unique,
            ty,
            class: None,
            variable: false,
            renamed: 0,
        }
    }

    /// The declarations of the used registers.
    pub fn declarations(&self, code: &[Line]) -> Vec<Line> {
        let mut used = BTreeSet::new();
        for line in code {
            let Line::Inst(inst) = line else { continue };
            used.extend(inst.guard.iter().map(|guard| guard.predicate.as_str()));
            inst.operands
                .iter()
                .for_each(|operand| operand.for_each_name(&mut |name| _ = used.insert(name)));
        }
        let mut lines = Vec::new();
        for (prefix, ty) in CLASSES {
            let prefix = format!("%{prefix}");
            // Numbers up to the largest used one.
            let numbers = used
                .iter()
                .filter_map(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
            if let Some(last) = numbers.max() {
                lines.push(Line::Registers {
                    ty: *ty,
                    prefix,
                    count: last + 1,
                });
            }
        }
        for (ty, name) in &self.named {
            if used.contains(name.as_str()) {
                lines.push(Line::Register {
                    ty: *ty,
                    name: name.clone(),
                });
            }
        }
        lines
    }
}

/// Whether a register has a number and not the name of a variable.
pub fn is_numbered(register: &Scalar) -> bool {
    register.name[1..]
        .strip_prefix(class(register.ty).0)
        .is_some_and(|rest| rest.parse::<u32>().is_ok())
}

const CLASSES: &[(&str, Type)] = &[
    ("p", Type::Pred),
    ("h", Type::B16),
    ("r", Type::B32),
    ("rd", Type::B64),
    ("f", Type::F32),
    ("fd", Type::F64),
];

/// The register class of a type: its prefix and its declared type.
fn class(ty: Type) -> (&'static str, Type) {
    let index = match ty {
        Type::Pred => 0,
        Type::F32 => 4,
        Type::F64 => 5,
        ty if ty.bits() <= 16 => 1,
        ty if ty.bits() <= 32 => 2,
        _ => 3,
    };
    CLASSES[index]
}

/// Whether a name without `%` belongs to PTX or to a family of numbered registers.
fn is_taken(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut special = SPECIAL.iter().map(|special| &special.name[1..]);
    special.any(|special| special == name)
        || ["pm", "envreg"]
            .into_iter()
            .chain(CLASSES.iter().map(|(p, _)| *p))
            .any(numbered)
}
