//! Reports from a running kernel to the host: messages with values, and failed checks.
//!
//! `record.rs` has the instructions for them.

use crate::kernel::syntax::location::Location;
use crate::kernel::value::{Element, Scalar};

/// The name of the PTX parameter.
pub const PARAMETER: &str = "reports";

/// A statement that reports.
pub struct Report {
    /// The place of the statement. Only the compiler knows it.
    pub place: Option<Location>,
    /// Whether it reports a failed check. The kernel ends after it.
    pub fails: bool,
    /// The parts of the message.
    pub pieces: Vec<Piece>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// A truth value of the record: one word.
    Bool,
    /// A number of the record: two words if it has 64 bits, else one.
    Number(Element),
}

/// A message, and the values for its record.
#[derive(Default)]
pub struct Message {
    pub(super) pieces: Vec<Piece>,
    pub(super) values: Vec<Scalar>,
}

impl Message {
    /// Appends text.
    pub fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Text(text.into())),
        }
    }

    /// Appends a number of this type.
    pub fn number(&mut self, element: Element, value: Scalar) {
        self.pieces.push(Piece::Number(element));
        self.values.push(value);
    }

    /// Appends a truth value.
    pub fn truth(&mut self, predicate: Scalar) {
        self.pieces.push(Piece::Bool);
        self.values.push(predicate);
    }

    /// The number of values.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// The message without its values.
    pub fn known_text(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Bool | Piece::Number(_) => "_",
        });
        pieces.collect()
    }
}
