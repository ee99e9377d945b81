//! The variables of a module in global and constant memory.

use std::collections::HashMap;

/// The initial contents of a module's variables in global and constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) align: u64,
    /// The offsets in the image of addresses of its own variables. The image's address is added to them.
    pub(crate) relocations: Vec<u64>,
    /// The offset and the size of each variable.
    pub(crate) variables: HashMap<String, (u64, u64)>,
}

impl Image {
    /// The bytes of the image at this address.
    pub(crate) fn at(&self, address: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for at in &self.relocations {
            let at = *at as usize;
            if let Some(place) = bytes
                .get_mut(at..at + 8)
                .and_then(|it| it.first_chunk_mut())
            {
                *place = u64::from_le_bytes(*place)
                    .wrapping_add(address)
                    .to_le_bytes();
            }
        }
        bytes
    }
}
