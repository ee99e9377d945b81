//! A module made ready to run.

use crate::error::EmulatorError;
use crate::launch::{Launch, Stats};
use crate::memory::GlobalMemory;

/// A PTX module, decoded.
#[derive(Debug)]
pub struct Program {
    entries: Vec<EntryInfo>,
}

/// What the host needs to know about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// Its name.
    pub name: String,
    /// Name and size in bytes of each parameter.
    pub params: Vec<(String, u32)>,
    /// `.reqntid`, if given.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`, if given.
    pub required_cluster: Option<[u32; 3]>,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
}

impl Program {
    /// Parses and decodes a module. What the emulator does not model is an error here, with its line.
    pub fn load(ptx: &str) -> Result<Program, EmulatorError> {
        cute_ptx::parse_with_lines(ptx)?;
        Ok(Program { entries: Vec::new() })
    }

    /// The entries, in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &EntryInfo> {
        self.entries.iter()
    }

    /// Runs an entry to its end.
    pub fn launch(&self, memory: &mut GlobalMemory, entry: &str, launch: &Launch<'_>) -> Result<Stats, EmulatorError> {
        let _ = (memory, launch);
        Err(EmulatorError::NoEntry { name: entry.to_owned(), available: Vec::new() })
    }
}
