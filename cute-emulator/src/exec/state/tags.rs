//! A record for each byte of a CTA's shared memory.

use super::tag::Tag;
use crate::limits::{OutOfHostMemory, filled};
use std::ops::Range;

/// The bytes of a block: a row of lanes with 4 bytes each. A block stores one record while all its bytes have the same.
const BLOCK: usize = 128;
/// The number of records compared at a time.
const COMPARED: usize = 16;

/// A record for each byte.
pub(crate) struct Tags {
    blocks: Vec<Block>,
    bytes: usize,
}

/// The records of a block of bytes.
#[derive(Clone)]
enum Block {
    /// All bytes have this record.
    One(Tag),
    Each(Box<[Tag; BLOCK]>),
}

impl Tags {
    /// [`Tag::NOBODY`] for each byte.
    pub(crate) fn new(bytes: usize) -> Result<Tags, OutOfHostMemory> {
        let blocks = filled(bytes.div_ceil(BLOCK), Block::One(Tag::NOBODY))?;
        Ok(Tags { blocks, bytes })
    }

    /// The record of the first byte of a range, and the number of bytes from there with the same record.
    pub(crate) fn run(&self, range: &Range<usize>) -> (Tag, usize) {
        let tag = match &self.blocks[range.start / BLOCK] {
            Block::One(tag) => *tag,
            Block::Each(tags) => tags[range.start % BLOCK],
        };
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / BLOCK + 1) * BLOCK);
            let equal = match &self.blocks[at / BLOCK] {
                Block::One(one) if *one == tag => end - at,
                Block::One(_) => 0,
                Block::Each(tags) => equal(&tags[at % BLOCK..][..end - at], tag),
            };
            at += equal;
            if at < end {
                break;
            }
        }
        (tag, at - range.start)
    }

    /// The records of a range in order, each with its bytes.
    pub(crate) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Tag)> {
        let mut rest = range;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (tag, len) = self.run(&rest);
            let start = rest.start;
            rest.start += len;
            Some((start..rest.start, tag))
        })
    }

    /// Gives the bytes of a range one record.
    pub(crate) fn fill(&mut self, range: Range<usize>, tag: Tag) {
        let mut at = range.start;
        while at < range.end {
            let first = at / BLOCK * BLOCK;
            let end = range.end.min(first + BLOCK);
            let is_whole = at == first && end == self.bytes.min(first + BLOCK);
            let (block, part) = (&mut self.blocks[at / BLOCK], at - first..end - first);
            match block {
                Block::One(old) if *old == tag => {}
                _ if is_whole => *block = Block::One(tag),
                Block::One(old) => {
                    let mut tags = Box::new([*old; BLOCK]);
                    tags[part].fill(tag);
                    *block = Block::Each(tags);
                }
                Block::Each(tags) => tags[part].fill(tag),
            }
            at = end;
        }
    }

    /// All records. Bytes with a common record may give it once.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Tag> {
        self.blocks.iter_mut().flat_map(|block| match block {
            Block::One(tag) => std::slice::from_mut(tag),
            Block::Each(tags) => &mut tags[..],
        })
    }
}

/// How many records at the beginning equal `tag`.
fn equal(tags: &[Tag], tag: Tag) -> usize {
    // Mostly many are equal. Without a branch for each, the compiler compares several at a time.
    let equal = |tags: &&[Tag]| {
        let differences = tags.iter().map(|other| other.bits() ^ tag.bits());
        differences.fold(0, |some, one| some | one) == 0
    };
    let blocks = tags.chunks_exact(COMPARED).take_while(equal).count() * COMPARED;
    let rest = tags[blocks..].iter().take(COMPARED);
    blocks + rest.take_while(|other| **other == tag).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::random::Random;

    /// Random fills of a memory whose size is no multiple of a block, compared with one record for each byte.
    #[test]
    fn runs_are_those_of_the_bytes() {
        const BYTES: usize = 3 * BLOCK + 40;
        let mut random = Random(7);
        let mut tags = Tags::new(BYTES).unwrap();
        let mut expected = [Tag::NOBODY; BYTES];
        for round in 0..2_000 {
            let start = random.below(BYTES + 1);
            let whole = random.one_in(3);
            let start = if whole { start / BLOCK * BLOCK } else { start };
            let end = match whole {
                true => BYTES.min(start + BLOCK * (1 + random.below(3))),
                false => start + random.below(BYTES - start + 1),
            };
            let tag = Tag::generic(random.below(3), 0, round / 500);
            tags.fill(start..end, tag);
            expected[start..end].fill(tag);
            let mut found = Vec::new();
            for (range, tag) in tags.runs(0..BYTES) {
                assert_eq!(range.start, found.len());
                assert_ne!(found.last(), Some(&tag), "two runs of the same record");
                found.resize(range.end, tag);
            }
            assert_eq!(found, expected);
        }
    }
}
