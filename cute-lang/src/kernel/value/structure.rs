//! Structs.

use super::Value;
use crate::kernel::syntax::source::ModuleId;
use proc_macro2::Ident;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

/// A struct type: its declaration, and the values of its generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// The module that declares it.
    pub module: ModuleId,
    /// The struct's name.
    pub name: Ident,
    /// The names and values of the generic parameters.
    pub generics: Vec<(String, Value)>,
    /// The names of the fields.
    pub fields: Vec<String>,
}

impl Display for StructType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        let arguments: Vec<String> = self
            .generics
            .iter()
            .map(|(_, value)| argument(value))
            .collect();
        match arguments.is_empty() {
            true => Ok(()),
            false => write!(f, "<{}>", arguments.join(", ")),
        }
    }
}

/// A generic argument as text.
fn argument(value: &Value) -> String {
    match value {
        Value::Int(value, _) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Element(element) => element.to_string(),
        Value::Type(ty) => ty.to_string(),
        _ => "_".into(),
    }
}

/// A value of a struct type.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The struct type.
    pub ty: Rc<StructType>,
    /// The values of the fields, in the order of the declaration.
    pub fields: Vec<Value>,
}

impl Struct {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let index = self.ty.fields.iter().position(|field| field == name)?;
        self.fields.get(index)
    }
}
