//! What the emulator does not model, with its place.

/// An error in an entry: the line of the text, the instruction, and what is wrong with it.
pub(crate) struct Unsupported {
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) message: String,
}
