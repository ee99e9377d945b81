//! The names that a module and an entry declare.

use crate::ast::Type;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Declared {
    Entry,
    Label,
    Register(Type),
    /// A family: the name is its prefix.
    Registers(Type, u32),
    /// A variable or parameter, by its space.
    Variable(String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    single: HashMap<String, Declared>,
    families: HashMap<String, (Type, u32)>,
}

impl Names {
    /// Adds a name; false if it, or one of the family, is taken.
    pub(super) fn declare(&mut self, name: &str, declared: Declared) -> bool {
        match declared {
            Declared::Registers(ty, count) => {
                let taken = self.single.keys().any(|single| member(single, name, count))
                    || self
                        .families
                        .iter()
                        .any(|(other, (_, size))| overlap(name, count, other, *size));
                self.families.insert(name.to_owned(), (ty, count)).is_none() && !taken
            }
            declared => {
                let taken = self.family(name).is_some();
                self.single.insert(name.to_owned(), declared).is_none() && !taken
            }
        }
    }

    /// The type of a register.
    pub(super) fn register(&self, name: &str) -> Option<Type> {
        match self.single.get(name) {
            Some(Declared::Register(ty)) => Some(*ty),
            Some(_) => None,
            None => self.family(name),
        }
    }

    /// The space of a variable or parameter.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        match self.single.get(name) {
            Some(Declared::Variable(space)) => Some(space),
            _ => None,
        }
    }

    /// Whether there is such a label.
    pub(super) fn label(&self, name: &str) -> bool {
        matches!(self.single.get(name), Some(Declared::Label))
    }

    fn family(&self, name: &str) -> Option<Type> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // An index has at most ten digits.
        (1..=digits.min(10)).find_map(|len| {
            let prefix = &name[..name.len() - len];
            let (ty, count) = self.families.get(prefix)?;
            member(name, prefix, *count).then_some(*ty)
        })
    }
}

/// Whether PTX allows the name. Opcodes are no reserved words.
pub(super) fn is_name(name: &str) -> bool {
    if name == "WARP_SZ" {
        return false;
    }
    let mut chars = name.chars();
    let rest_is_good = |chars: std::str::Chars<'_>| {
        chars
            .into_iter()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
    };
    match chars.next() {
        Some(c) if c.is_ascii_alphabetic() => rest_is_good(chars),
        Some('_' | '$' | '%') => !chars.as_str().is_empty() && rest_is_good(chars),
        _ => false,
    }
}

/// Whether `name` is `prefix` and an index below `count`, without leading zeros.
fn member(name: &str, prefix: &str, count: u32) -> bool {
    let Some(index) = name.strip_prefix(prefix) else {
        return false;
    };
    let canonical = index == "0" || index.starts_with(|c: char| matches!(c, '1'..='9'));
    canonical
        && index.bytes().all(|c| c.is_ascii_digit())
        && index.parse().is_ok_and(|index: u32| index < count)
}

/// Whether two families share a name: `%r<20>` and `%r1<5>` share `%r10`.
fn overlap(a: &str, a_count: u32, b: &str, b_count: u32) -> bool {
    let (long, long_count, short, short_count) = match a.len() >= b.len() {
        true => (a, a_count, b, b_count),
        false => (b, b_count, a, a_count),
    };
    // The least shared name, if any, is that of the longer prefix with index 0.
    long != short && long_count > 0 && member(&format!("{long}0"), short, short_count)
}
