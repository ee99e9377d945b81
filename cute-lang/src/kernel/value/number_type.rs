//! The type of a number that is known at expansion.

use super::types::rust_name;
use cute_ptx::ast::Type;

/// The type of a number that is known at expansion.
#[derive(Clone, Copy, Debug)]
pub enum NumberType {
    /// The one that the source names, or that its use has told.
    Is(Type),
    /// That of a class of numbers, which its uses tell. A literal without a suffix begins a class of its own.
    Inferred(Class),
    /// None. The extent of a layout, say, is no number of Rust, and goes with integers of any type.
    Any,
}

/// Numbers that have one type, as Rust infers types: those that meet as operands, in assignments or in branches. What is
/// known of it is in `emit/inference.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(pub usize);

/// Numbers are equal whichever class they belong to, since a class says what is not known yet.
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
