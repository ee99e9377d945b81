//! The order of the lanes of a warp. The lanes share the warp's clock, so it cannot order them. Accesses of two lanes to one byte are
//! ordered once both lanes have synchronised.

use super::row::{LANES, lanes};
use std::ops::Range;

/// Which accesses of a warp's lanes are ordered before those of its other lanes.
#[derive(Default)]
pub(crate) struct LaneOrder {
    /// Before this time of the warp's clock, the accesses of every lane are ordered before the later ones of all lanes.
    all: u32,
    /// For each lane, the time before which each other lane's accesses are ordered before its own. `None` while only whole warps have
    /// synchronised.
    pairs: Option<Box<[[u32; LANES]; LANES]>>,
}

impl LaneOrder {
    /// Whether an access at this time is ordered before the accesses of all lanes.
    pub(crate) fn all_know(&self, clock: u32) -> bool {
        clock < self.all
    }

    /// Whether an access of the lane `earlier` at this time is ordered before the accesses of the lane `later`. `None` means several
    /// lanes.
    pub(crate) fn knows(&self, later: Option<usize>, earlier: Option<usize>, clock: u32) -> bool {
        self.all_know(clock)
            || match (later, earlier, &self.pairs) {
                (Some(later), Some(earlier), _) if later == earlier => true,
                (Some(later), Some(earlier), Some(pairs)) => clock < pairs[later][earlier],
                _ => false,
            }
    }

    /// Called when the lanes of a mask synchronise, and the clock has become `now`.
    pub(crate) fn synchronise(&mut self, mask: u32, alive: u32, now: u32) {
        if alive & !mask == 0 {
            (self.all, self.pairs) = (now, None);
            return;
        }
        let pairs = self.pairs.get_or_insert_default();
        let mut known = [0; LANES];
        for lane in lanes(mask) {
            for (known, own) in known.iter_mut().zip(pairs[lane]) {
                *known = own.max(*known);
            }
        }
        lanes(mask).for_each(|lane| known[lane] = now);
        lanes(mask).for_each(|lane| pairs[lane] = known);
    }

    /// Called when the lanes of a mask learn that all accesses of the warp before a time are ordered before their own.
    pub(crate) fn learn(&mut self, mask: u32, alive: u32, time: u32) {
        if alive & !mask == 0 {
            self.all = self.all.max(time);
        } else if time > self.all {
            let pairs = self.pairs.get_or_insert_default();
            for lane in lanes(mask) {
                for known in &mut pairs[lane] {
                    *known = time.max(*known);
                }
            }
        }
    }
}

/// Which lanes access which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// One lane accesses all of them.
    One(u8),
    /// Lanes from `first` on access 2^`shift` bytes each, from `start` on.
    Row { start: u64, first: u8, shift: u8 },
    /// Each byte is accessed by several lanes.
    Several,
}

/// The mark of a byte that several lanes have accessed.
pub(crate) const SEVERAL: u8 = 0xff;
/// The mark of a byte whose lanes are unknown.
pub(crate) const UNKNOWN: u8 = 0xfe;

/// The most bytes of an access of one lane: the size of a tensor map.
const WIDEST: usize = 1 << (ROWS - 1);
const ROWS: usize = 8;
/// For lanes with 1, 2, 4 and up to 128 bytes each, the lane of each byte.
static MARKS: [[u8; WIDEST * LANES]; ROWS] = marks();
static MARKS_OF_SEVERAL: [u8; WIDEST * LANES] = [SEVERAL; WIDEST * LANES];

impl Lanes {
    /// The lanes of a range, which access equal parts of `bytes` bytes from `start` on.
    pub(crate) fn new(range: &Range<usize>, start: u64, bytes: usize) -> Lanes {
        match range.len() {
            1 => Lanes::One(range.start as u8),
            count => Lanes::Row {
                start,
                first: range.start as u8,
                shift: (bytes / count).trailing_zeros() as u8,
            },
        }
    }

    /// The lane that accesses the byte at an address; `None` if several do.
    pub(crate) fn at(self, address: u64) -> Option<usize> {
        match self {
            Lanes::One(lane) => Some(lane.into()),
            Lanes::Row {
                start,
                first,
                shift,
            } => Some(usize::from(first) + (address.wrapping_sub(start) >> shift) as usize),
            Lanes::Several => None,
        }
    }

    /// Whether the bytes from an address on have these marks: for each byte the lane that accesses it.
    pub(crate) fn are_marked(self, address: u64, marks: &[u8]) -> bool {
        match self {
            Lanes::One(lane) => marks.iter().all(|mark| *mark == lane),
            Lanes::Row {
                start,
                first,
                shift,
            } => {
                let first = (usize::from(first) << shift) + address.saturating_sub(start) as usize;
                MARKS[usize::from(shift)].get(first..first + marks.len()) == Some(marks)
            }
            Lanes::Several => false,
        }
    }

    /// For each of at most `WIDEST` bytes of each lane, the lane that accesses it.
    pub(crate) fn marks(self, bytes: usize) -> &'static [u8] {
        let (row, first) = match self {
            Lanes::One(lane) => (ROWS - 1, lane),
            Lanes::Row { first, shift, .. } => (usize::from(shift), first),
            Lanes::Several => return &MARKS_OF_SEVERAL[..bytes],
        };
        let first = usize::from(first) << row;
        let marks = MARKS[row].get(first..first + bytes);
        marks.unwrap_or(&MARKS_OF_SEVERAL[..bytes])
    }
}

const fn marks() -> [[u8; WIDEST * LANES]; ROWS] {
    let mut marks = [[0; WIDEST * LANES]; ROWS];
    let mut row = 0;
    while row < ROWS {
        let mut byte = 0;
        while byte < WIDEST * LANES {
            marks[row][byte] = (byte >> row) as u8;
            byte += 1;
        }
        row += 1;
    }
    marks
}
