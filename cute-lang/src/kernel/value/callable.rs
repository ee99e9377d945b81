//! Functions as values.

use super::Value;
use crate::kernel::syntax::source::ModuleId;
use std::collections::HashMap;
use std::rc::Rc;
use syn::ExprClosure;

/// A callable value.
#[derive(Clone, Debug)]
pub enum Callable {
    /// A closure.
    Closure(Rc<Closure>),
    /// A function of a module, of the language or of the algebra, by its name in this module.
    Function(ModuleId, String),
}

/// A closure, with the values of the names that it uses.
#[derive(Debug)]
pub struct Closure {
    /// The module that contains it.
    pub module: ModuleId,
    /// The parameters and the body.
    pub syntax: ExprClosure,
    /// The names around it. A name whose definition has an error has no value.
    pub scope: HashMap<String, Option<Value>>,
}

impl PartialEq for Callable {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Closure(a), Self::Closure(b)) => Rc::ptr_eq(a, b),
            (Self::Function(a, f), Self::Function(b, g)) => a == b && f == g,
            _ => false,
        }
    }
}
