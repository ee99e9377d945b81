//! Where data lies, as instructions: addresses in shared memory.

pub mod address;
#[cfg(test)]
pub(crate) mod simulate;
