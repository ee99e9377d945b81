//! The names declared by a module and by an entry.

use crate::ast::{Type, families};
use std::collections::BTreeMap;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Declared {
    Entry,
    Function,
    Label,
    Targets,
    Prototype,
    Register(Type),
    /// A family of registers with this type and count. The name is its prefix.
    Registers(Type, u32),
    /// A variable or parameter in this state space.
    Variable(String),
}

/// The names declared in a scope. They hide equal names of the enclosing scope.
#[derive(Debug, Default)]
pub(super) struct Names<'p> {
    around: Option<&'p Names<'p>>,
    single: BTreeMap<String, Declared>,
    families: BTreeMap<String, (Type, u32)>,
}

impl<'p> Names<'p> {
    /// A scope inside another.
    pub(super) fn inside(around: &'p Names<'p>) -> Names<'p> {
        Names {
            around: Some(around),
            ..Names::default()
        }
    }

    /// Declares a name. Returns false if the scope already has the name or, for a family, one of its registers.
    pub(super) fn declare(&mut self, name: &str, declared: Declared) -> bool {
        match declared {
            // A repeated family is refused before the search below. Otherwise many repetitions would take quadratic time.
            Declared::Registers(..) if self.families.contains_key(name) => false,
            Declared::Registers(ty, count) => {
                let longer = || format!("{name}0")..format!("{name}:");
                let taken = self
                    .single
                    .range(longer())
                    .any(|(single, _)| member(single, name, count))
                    || self.families.range(longer()).any(|(other, (_, size))| {
                        *size > 0 && member(&format!("{other}0"), name, count)
                    })
                    || (count > 0 && self.family(&format!("{name}0")).is_some());
                self.families.insert(name.to_owned(), (ty, count));
                !taken
            }
            declared => {
                let taken = self.family(name).is_some();
                self.single.insert(name.to_owned(), declared).is_none() && !taken
            }
        }
    }

    /// The type of a register; `None` if it is not declared.
    pub(super) fn register(&self, name: &str) -> Option<Type> {
        match self.single.get(name) {
            Some(Declared::Register(ty)) => Some(*ty),
            Some(_) => None,
            None => self.family(name),
        }
    }

    /// The state space of a variable or parameter; `None` if it is not declared.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        match self.single.get(name) {
            Some(Declared::Variable(space)) => Some(space),
            Some(_) => None,
            None => self.around?.variable(name),
        }
    }

    /// Whether the scope has a label of this name.
    pub(super) fn label(&self, name: &str) -> bool {
        matches!(self.single.get(name), Some(Declared::Label))
    }

    /// Whether the scope has a list of labels of this name.
    pub(super) fn targets(&self, name: &str) -> bool {
        matches!(self.single.get(name), Some(Declared::Targets))
    }

    /// Whether the scope has a prototype of this name.
    pub(super) fn prototype(&self, name: &str) -> bool {
        matches!(self.single.get(name), Some(Declared::Prototype))
    }

    /// Whether the module has a function of this name.
    pub(super) fn function(&self, name: &str) -> bool {
        match self.single.get(name) {
            Some(Declared::Function) => true,
            Some(_) => false,
            None => self.around.is_some_and(|around| around.function(name)),
        }
    }

    /// The type of the register family to which the name belongs.
    fn family(&self, name: &str) -> Option<Type> {
        families(name).find_map(|(prefix, index)| {
            let (ty, count) = self.families.get(prefix)?;
            (index < *count).then_some(*ty)
        })
    }
}

/// Whether the name is legal in a declaration. Opcodes are legal.
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

/// Whether `name` is `prefix` followed by an index below `count`.
fn member(name: &str, prefix: &str, count: u32) -> bool {
    families(name).any(|(found, index)| found == prefix && index < count)
}
