//! Tables of known numbers in global memory.

use crate::kernel::emit::builder::Builder;
use cute_ptx::ast::{Operand, Type, Variable};

impl Builder {
    /// The name of a table of these numbers. Tables of the same numbers are one.
    pub fn table(&mut self, ty: Type, numbers: Vec<Operand>) -> String {
        let mut tables = self.tables.iter();
        if let Some(table) = tables.find(|table| table.ty == ty && table.init == numbers) {
            return table.name.clone();
        }
        // No name of Rust has a `$`.
        let name = format!("table${}", self.tables.len());
        self.tables.push(Variable {
            external: false,
            space: "global".into(),
            align: (ty.bits() / 8).max(1),
            ty,
            name: name.clone(),
            len: Some(numbers.len() as u64),
            init: numbers,
        });
        name
    }
}
