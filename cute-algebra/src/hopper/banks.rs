//! Bank conflicts of shared memory.

use alloc::vec::Vec;
use cute_chip::shared::{self, WIDEST_ACCESS};
use cute_chip::threads;

pub(super) const WARP: usize = threads::WARP as usize;
pub(crate) const BANKS: i64 = shared::BANKS as i64;
const WORD: i64 = shared::BANK_BYTES as i64;
pub(super) const WORD_BITS: i64 = 8 * WORD;

/// How many different words the busiest bank must deliver when each lane of a warp accesses `bytes` at its byte
/// offset. 1 means that there is no conflict.
///
/// `bytes` is at most 16. A warp is served in phases of 128 bytes: all 32 lanes with up to 4 bytes each, 16 lanes
/// with 8, or 8 lanes with 16. Lanes that access the same word share it.
///
/// ```
/// use cute_algebra::{Swizzle, bank_conflicts};
/// // 16 bytes from each of 8 rows, 128 bytes apart: all in the same four banks, unless swizzled.
/// let rows = |lane: i64| 128 * (lane % 8) + 16 * (lane / 8);
/// assert_eq!(bank_conflicts(16, rows), 8);
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!(bank_conflicts(16, |lane| swizzle.apply(rows(lane))), 1);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn bank_conflicts(bytes: u32, offset: impl Fn(i64) -> i64) -> usize {
    let offsets: Vec<i64> = (0..WARP as i64).map(offset).collect();
    busiest_bank(bytes, &offsets).degree
}

/// A bank conflict: in one phase, several lanes need different words of one bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Number of different words of the bank that are needed.
    pub degree: usize,
    /// Index of the bank, 0 to 31.
    pub bank: i64,
    /// For each of the words, one lane that needs it.
    pub lanes: Vec<usize>,
}

impl Conflict {
    /// No lane accesses anything.
    pub(super) const NONE: Self = Self {
        degree: 0,
        bank: 0,
        lanes: Vec::new(),
    };
}

/// The bank with the most words to deliver in one phase when lanes access `bytes` each at these byte offsets.
pub(super) fn busiest_bank(bytes: u32, offsets: &[i64]) -> Conflict {
    let words = words_of(bytes);
    let phase = lanes_of_a_phase(bytes);
    let mut worst = Conflict::NONE;
    for (position, lanes) in offsets.chunks(phase).enumerate() {
        let first = position * phase;
        let mut touched: Vec<(i64, usize)> = (first..)
            .zip(lanes)
            .flat_map(|(lane, offset)| {
                (0..words).map(move |word| (offset.div_euclid(WORD) + word, lane))
            })
            .collect();
        touched.sort_unstable();
        touched.dedup_by_key(|(word, _)| *word);
        let mut needed = [const { Vec::new() }; BANKS as usize];
        for (word, lane) in touched {
            needed[word.rem_euclid(BANKS) as usize].push(lane);
        }
        for (bank, lanes) in (0..).zip(needed) {
            if lanes.len() > worst.degree {
                worst = Conflict {
                    degree: lanes.len(),
                    bank,
                    lanes,
                };
            }
        }
    }
    worst
}

/// Number of 4-byte words that a lane accesses at once.
pub(super) fn words_of(bytes: u32) -> i64 {
    i64::from(bytes.clamp(1, WIDEST_ACCESS).div_ceil(shared::BANK_BYTES))
}

/// Number of lanes that one phase serves.
pub(super) fn lanes_of_a_phase(bytes: u32) -> usize {
    (WARP / words_of(bytes) as usize).max(1)
}
