//! The type of a number that is known at expansion.

use super::types::rust_name;
use cute_ptx::ast::Type;

/// The type of a number that is known at expansion.
#[derive(Clone, Copy, Debug)]
pub enum NumberType {
    /// A type named in the source, or determined by a use.
    Is(Type),
    /// The type of a class of numbers, determined by their uses. A literal without a suffix begins a new class.
    Inferred(Class),
    /// No type. The extent of a layout, for example, is not a Rust number and fits integers of any type.
    Any,
}

/// Numbers that have one type by Rust's type inference: operands of one operation, of assignments or of branches. `emit/inference.rs` has
/// the state of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(pub usize);

/// Numbers are equal regardless of their classes, since a class only stands for an unknown type.
impl PartialEq for NumberType {
    fn eq(&self, other: &Self) -> bool {
        self.known() == other.known()
    }
}

impl NumberType {
    /// The type, if it is known.
    pub fn known(self) -> Option<Type> {
        match self {
            Self::Is(ty) => Some(ty),
            Self::Inferred(_) | Self::Any => None,
        }
    }

    /// The name of the type, or nothing.
    pub fn suffix(self) -> &'static str {
        self.known().map_or("", rust_name)
    }
}
