//! The parameters of a launch, as the bytes of each PTX parameter.

use cute_chip::tma::MAP_BYTES;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The bytes of the PTX parameters, in order. Each begins at a multiple of 16 bytes, as memory of its own would.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    lines: Vec<Line>,
    sizes: Vec<usize>,
}

#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C, align(16))]
struct Line([u8; 16]);

impl Parameters {
    /// No parameters yet, and room for those of as many arguments without another allocation, if these are tensor maps and numbers.
    pub(crate) fn with_room_for(arguments: usize) -> Self {
        Parameters {
            lines: Vec::with_capacity(MAP_BYTES / size_of::<Line>() * arguments),
            sizes: Vec::with_capacity(arguments),
        }
    }

    /// Removes all of them, and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.sizes.clear();
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.sizes.push(bytes.len());
        for part in bytes.chunks(size_of::<Line>()) {
            let mut line = [0; size_of::<Line>()];
            line[..part.len()].copy_from_slice(part);
            self.lines.push(Line(line));
        }
    }

    /// How many bytes each has.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The bytes of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.lines[..];
        self.sizes.iter().map(move |&size| {
            let (lines, others) = rest.split_at(size.div_ceil(size_of::<Line>()));
            rest = others;
            &lines.as_bytes()[..size]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_begins_at_a_line() {
        let given: [&[u8]; 4] = [&[1; 128], &[2; 4], &[], &[3; 65]];
        let mut parameters = Parameters::with_room_for(1);
        given.iter().for_each(|bytes| parameters.push(bytes));
        assert_eq!(parameters.sizes(), [128, 4, 0, 65]);
        assert!(parameters.iter().eq(given));
        for bytes in parameters.iter() {
            assert!(bytes.as_ptr().addr().is_multiple_of(16));
        }
        parameters.clear();
        parameters.push(&[4; 3]);
        assert!(parameters.iter().eq([&[4; 3]]));
    }
}
