//! How records of global memory divide it: into pages, and pages into units whose bytes share a record.

use std::ops::Range;

/// Bytes of a unit.
pub(crate) const UNIT: u64 = 16;
pub(crate) const PAGE: u64 = 4096;
/// Units of a page.
pub(crate) const UNITS: usize = (PAGE / UNIT) as usize;

/// The part of a range of bytes that is in one unit.
pub(crate) struct Part {
    /// The address of the unit.
    pub(crate) base: u64,
    /// The bytes of the part, one bit for each of the unit.
    pub(crate) bytes: u16,
}

impl Part {
    /// The number of its page.
    pub(crate) fn page(&self) -> u64 {
        self.base / PAGE
    }

    /// The index of its unit in the page.
    pub(crate) fn index(&self) -> usize {
        (self.base % PAGE / UNIT) as usize
    }
}

/// The parts of a range of bytes, one for each unit.
pub(crate) fn parts(range: &Range<u64>) -> impl Iterator<Item = Part> {
    let Range { start, end } = *range;
    let first = start / UNIT * UNIT;
    (first..end).step_by(UNIT as usize).map(move |base| {
        let (from, to) = (start.max(base) - base, (end - base).min(UNIT));
        let bytes = ((1_u32 << to) - (1 << from)) as u16;
        Part { base, bytes }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_in_one_part() {
        for range in [0..0, 5..5, 3..4, 0..16, 15..17, 4090..4130, 7..40] {
            let bytes = parts(&range).flat_map(|part| {
                let bytes = (0..UNIT).filter(move |byte| part.bytes >> byte & 1 == 1);
                bytes.map(move |byte| part.page() * PAGE + part.index() as u64 * UNIT + byte)
            });
            assert!(bytes.eq(range.clone()), "{range:?}");
        }
    }
}
