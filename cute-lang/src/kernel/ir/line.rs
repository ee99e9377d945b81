//! Lines of a kernel.

use super::Inst;
use super::claims::Statement;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An empty line.
    Blank,
    /// A comment for readers.
    Comment(String),
    /// A claim about the threads that get here.
    Statement(Statement),
    /// A label.
    Label(String),
    /// An instruction.
    Inst(Inst),
}
