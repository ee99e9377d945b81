//! The division of global memory for records: pages, and units of a page. The bytes of a unit share a record.

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
    /// The bytes of the part, as bits of the unit.
    pub(crate) bytes: u16,
}

impl Part {
    /// The index of the unit in its page.
    pub(crate) fn index(&self) -> usize {
        (self.base % PAGE / UNIT) as usize
    }
}

/// The pages of a range of bytes: each page's number, and the part of the range in it.
pub(crate) fn pages(range: &Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    split(range, PAGE).map(|(first, range)| (first / PAGE, range))
}

/// The parts of a range of bytes, one for each unit.
pub(crate) fn parts(range: &Range<u64>) -> impl Iterator<Item = Part> {
    split(range, UNIT).map(|(base, range)| {
        let (from, to) = (range.start - base, range.end - base);
        let bytes = ((1_u32 << to) - (1 << from)) as u16;
        Part { base, bytes }
    })
}

/// Splits a range at the multiples of `size`. Each piece has the multiple at or before it.
fn split(range: &Range<u64>, size: u64) -> impl Iterator<Item = (u64, Range<u64>)> {
    let Range { start: mut at, end } = *range;
    std::iter::from_fn(move || {
        let (from, base) = (at, at / size * size);
        at = end.min(base.saturating_add(size));
        (from < end).then_some((base, from..at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_in_one_part() {
        for range in [0..0, 5..5, 3..4, 0..16, 15..17, 4090..4130, 7..40] {
            let parts = pages(&range).flat_map(|(number, range)| {
                let parts: Vec<Part> = parts(&range).collect();
                parts.into_iter().map(move |part| (number, part))
            });
            let bytes = parts.flat_map(|(number, part)| {
                let bytes = (0..UNIT).filter(move |byte| part.bytes >> byte & 1 == 1);
                bytes.map(move |byte| number * PAGE + part.index() as u64 * UNIT + byte)
            });
            assert!(bytes.eq(range.clone()), "{range:?}");
        }
    }
}
