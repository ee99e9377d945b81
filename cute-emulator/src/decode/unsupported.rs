//! The error for PTX that the emulator does not model.

/// The line of the text (from 1, or 0 if unknown), the instruction or declaration, and the feature that is not modelled.
pub(crate) struct Unsupported {
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) message: String,
}
