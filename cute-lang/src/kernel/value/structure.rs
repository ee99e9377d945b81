//! Structs.

use super::Value;
use crate::kernel::syntax::source::ModuleId;
use proc_macro2::Ident;
use std::rc::Rc;

/// A struct type: its declaration, and the values of its generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// The module that declares it.
    pub module: ModuleId,
    /// Its name.
    pub name: Ident,
    /// The names and values of its generic parameters.
    pub generics: Vec<(String, Value)>,
    /// The names of its fields.
    pub fields: Vec<String>,
}

/// A value of a struct type.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its type.
    pub ty: Rc<StructType>,
    /// The values of its fields, in the order of the declaration.
    pub fields: Vec<Value>,
}

impl Struct {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let index = self.ty.fields.iter().position(|field| field == name)?;
        self.fields.get(index)
    }
}
