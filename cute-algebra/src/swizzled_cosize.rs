//! The exact cosize of a swizzled layout.
//!
//! The largest value is found by bisection. The range of the coordinate along the leaf with the largest stride is
//! halved until one coordinate remains, and then that of the next leaf. For each half, an upper bound is computed:
//! the largest swizzled value of any integer between its lowest and its highest sum. A half whose bound does not
//! exceed the largest value so far is skipped. If the remaining leaves take every integer in between, the bound is
//! reached, and nothing more is halved. The smallest value is found in the same way.

/// Most leaves with an extent above 1: extents are at least 2, and their product is below 2⁶³.
const LEAVES: usize = 63;

/// Most halves that [`ComposedLayout::cosize`](crate::ComposedLayout::cosize) examines.
pub const COSIZE_STEPS: u64 = 1 << 18;

/// The leaves of a layout and a swizzle after it, in a form that a constant expression can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwizzledLeaves<'a> {
    /// The extents of the leaves. Their product fits 64 bits.
    pub shape: &'a [i64],
    /// The strides of the leaves.
    pub stride: &'a [i64],
    /// The offset, added before the swizzle. It and the span of the layout together fit 64 bits.
    pub offset: i64,
    /// The mask of the bits that the swizzle reads.
    pub source_mask: i64,
    /// Distance from the changed bits up to the read bits; negative if the read bits are lower.
    pub shift: i32,
}

/// The smallest number of consecutive elements that contains index 0 and all values, found by examining at most
/// `steps` halves. `None` where these are not enough, or where the number does not fit 64 bits.
/// ```
/// use cute_algebra::{SwizzledLeaves, swizzled_cosize};
/// // Sw<3,4,3> o 129:1. The last value is 144, for 128.
/// let leaves = SwizzledLeaves {
///     shape: &[129],
///     stride: &[1],
///     offset: 0,
///     source_mask: 0b111 << 7,
///     shift: 3,
/// };
/// assert_eq!(swizzled_cosize(&leaves, 100), Some(145));
/// ```
pub const fn swizzled_cosize(leaves: &SwizzledLeaves<'_>, steps: u64) -> Option<i64> {
    let sums = Sums::of(leaves);
    let mut search = Search {
        steps,
        best: 0,
        end: End::Highest,
    };
    if !search.visit_leaf(&sums, 0, sums.lowest) {
        return None;
    }
    let highest = search.best;
    let mut search = Search {
        best: 0,
        end: End::Lowest,
        ..search
    };
    // If the first sum is not negative, none is; and a swizzle keeps the sign.
    if sums.lowest < 0 && !search.visit_leaf(&sums, 0, sums.lowest) {
        return None;
    }
    match highest.checked_sub(search.best) {
        Some(reach) => reach.checked_add(1),
        None => None,
    }
}

/// The sums before the swizzle, divided by the largest power of two that divides all strides.
struct Sums {
    /// The leaves with an extent above 1, in descending order of strides. All strides are made positive.
    extents: [i64; LEAVES],
    strides: [i64; LEAVES],
    leaves: usize,
    /// `reach[i]` is the largest sum of the leaves from i on.
    reach: [i64; LEAVES + 1],
    /// Whether the leaves from i on take every integer from 0 to `reach[i]`.
    is_dense: [bool; LEAVES + 1],
    /// The smallest sum, from which the leaves count up.
    lowest: i64,
    /// The low bits dropped by the division, equal in all sums, and their number.
    low: i64,
    low_bits: u32,
    source_mask: i64,
    shift: i32,
}

impl Sums {
    const fn of(swizzled: &SwizzledLeaves<'_>) -> Self {
        let mut sums = Self {
            extents: [1; LEAVES],
            strides: [0; LEAVES],
            leaves: 0,
            reach: [0; LEAVES + 1],
            is_dense: [true; LEAVES + 1],
            lowest: swizzled.offset,
            low: 0,
            low_bits: 0,
            source_mask: swizzled.source_mask,
            shift: swizzled.shift,
        };
        let (mut i, mut bits) = (0, 0);
        while i < swizzled.shape.len() {
            let (extent, stride) = (swizzled.shape[i], swizzled.stride[i]);
            if extent > 1 && stride != 0 {
                sums.insert(extent, stride.abs());
                bits |= stride;
                if stride < 0 {
                    sums.lowest += (extent - 1) * stride;
                }
            }
            i += 1;
        }
        if bits != 0 {
            sums.low_bits = bits.trailing_zeros();
        }
        sums.low = sums.lowest & ((1 << sums.low_bits) - 1);
        sums.lowest >>= sums.low_bits;
        let mut i = sums.leaves;
        while i > 0 {
            i -= 1;
            sums.strides[i] >>= sums.low_bits;
            let below = sums.reach[i + 1];
            sums.reach[i] = below + (sums.extents[i] - 1) * sums.strides[i];
            sums.is_dense[i] = sums.is_dense[i + 1] && sums.strides[i] <= below + 1;
        }
        sums
    }

    /// Inserts a leaf in descending order of strides.
    const fn insert(&mut self, extent: i64, stride: i64) {
        let mut at = self.leaves;
        while at > 0 && self.strides[at - 1] < stride {
            self.extents[at] = self.extents[at - 1];
            self.strides[at] = self.strides[at - 1];
            at -= 1;
        }
        self.extents[at] = extent;
        self.strides[at] = stride;
        self.leaves += 1;
    }

    /// A bound on the swizzled values of all integers from `from` to `to`: the largest or the smallest.
    const fn bound(&self, mut from: i64, to: i64, end: End) -> i64 {
        let mut bound = None;
        loop {
            // The largest aligned power-of-two block that starts at `from` and ends within `to`.
            let mut block = 1;
            while block < 1 << 61 && from & (2 * block - 1) == 0 && 2 * block - 1 <= to - from {
                block *= 2;
            }
            let free = (block - 1) << self.low_bits;
            let extreme = self.extreme(from << self.low_bits | self.low, free, end);
            bound = match bound {
                Some(bound) if !end.is_beyond(extreme, bound) => Some(bound),
                _ => Some(extreme),
            };
            if to - from < block {
                break;
            }
            from += block;
        }
        match bound {
            Some(bound) => bound,
            None => 0,
        }
    }

    /// The largest or the smallest swizzled value of `sum` over all choices of the `free` bits. These bits are 0 in
    /// `sum`.
    ///
    /// A free bit that is changed can be chosen to become 0 or 1. A free bit that is read and also changes a higher
    /// bit is chosen for the higher bit.
    const fn extreme(&self, sum: i64, free: i64, end: End) -> i64 {
        let decided = match self.shift < 0 {
            true => sum >> -self.shift & self.source_mask & free,
            false => 0,
        };
        let open = free & !decided;
        match end {
            End::Highest => self.swizzle(sum | open) | open,
            End::Lowest => self.swizzle(sum | decided) & !open,
        }
    }

    const fn swizzle(&self, sum: i64) -> i64 {
        let read = sum & self.source_mask;
        sum ^ match self.shift < 0 {
            true => read << -self.shift,
            false => read >> self.shift,
        }
    }
}

#[derive(Clone, Copy)]
enum End {
    Highest,
    Lowest,
}

impl End {
    const fn is_beyond(self, value: i64, best: i64) -> bool {
        match self {
            End::Highest => value > best,
            End::Lowest => value < best,
        }
    }
}

struct Search {
    /// Number of halves that may still be examined.
    steps: u64,
    /// The best value so far: the largest or the smallest. It starts at 0.
    best: i64,
    end: End,
}

impl Search {
    /// Examines all sums of the leaves from `leaf` on, added to `sum`; `false` where the steps run out.
    const fn visit_leaf(&mut self, sums: &Sums, leaf: usize, sum: i64) -> bool {
        let is_leaf = leaf < sums.leaves;
        let last = if is_leaf { sums.extents[leaf] - 1 } else { 0 };
        self.visit(sums, leaf, sum, last)
    }

    /// The same where the coordinate along `leaf` is 0 to `last`.
    const fn visit(&mut self, sums: &Sums, leaf: usize, sum: i64, last: i64) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        let (stride, rest) = match leaf < sums.leaves {
            true => (sums.strides[leaf], leaf + 1),
            false => (0, leaf),
        };
        let bound = sums.bound(sum, sum + last * stride + sums.reach[rest], self.end);
        if !self.end.is_beyond(bound, self.best) {
            return true;
        }
        let is_every_integer = last == 0 || stride <= sums.reach[rest] + 1;
        if sums.is_dense[rest] && is_every_integer {
            self.best = bound;
            return true;
        }
        if last == 0 {
            return self.visit_leaf(sums, rest, sum);
        }
        let half = last / 2 + 1;
        self.visit(sums, leaf, sum + half * stride, last - half)
            && self.visit(sums, leaf, sum, half - 1)
    }
}
