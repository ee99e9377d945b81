//! The error for what the emulator does not model.

/// The line of the text (from 1, or 0 if it is not known), the instruction or declaration, and what is not modelled.
pub(crate) struct Unsupported {
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) message: String,
}
