//! Swizzles as constants.

use cute_algebra::SwizzledLeaves;
use std::fmt;

/// CuTe's `Swizzle<B,M,S>`: the `bits` bits at `base + max(shift,0)` are xor-ed into those at `base - min(shift,0)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

/// For expansions: a swizzle that the algebra has accepted.
pub const fn swizzle(bits: u32, base: u32, shift: i32) -> Swizzle {
    Swizzle { bits, base, shift }
}

impl Swizzle {
    /// The swizzle that changes nothing.
    pub const IDENTITY: Self = swizzle(0, 0, 0);

    /// B: how many bits are read.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// M: how many low bits stay.
    pub const fn base(self) -> u32 {
        self.base
    }

    /// S: distance from the bits that are changed to the bits that are read; negative if they are read below.
    pub const fn shift(self) -> i32 {
        self.shift
    }

    /// Whether it changes nothing.
    pub const fn is_identity(self) -> bool {
        self.bits == 0
    }

    /// Whether different indices are swizzled to different indices, as those of every swizzle that the algebra accepts.
    pub(super) const fn is_bijective(self) -> bool {
        let reach = self
            .bits
            .saturating_add(self.base)
            .saturating_add(self.shift.unsigned_abs());
        // A field that is read is not the field that changes, so the change can be taken back, from one end to the other.
        reach < u64::BITS && (self.bits == 0 || self.shift != 0)
    }

    /// The swizzle after a layout and an offset, as the algebra takes it.
    pub(super) const fn after_leaves<'a>(
        self,
        shape: &'a [i64],
        stride: &'a [i64],
        offset: i64,
    ) -> SwizzledLeaves<'a> {
        let field = ((1 << self.bits) - 1) << self.base;
        SwizzledLeaves {
            shape,
            stride,
            offset,
            source_mask: match self.shift > 0 {
                true => field << self.shift,
                false => field,
            },
            shift: self.shift,
        }
    }

    /// How many elements hold all swizzled values of so many numbers from 0 on, or around 0; `None` where they do not fit.
    pub(super) fn end_of_blocks(self, reach: i64, has_negative: bool) -> Option<i64> {
        let (source, target) = match self.shift < 0 {
            true => (self.base, self.base + self.shift.unsigned_abs()),
            false => (self.base + self.shift.unsigned_abs(), self.base),
        };
        // The highest bit that is read; of a negative number all are.
        let read = (0..self.bits)
            .rev()
            .find(|bit| has_negative || reach > 1 << (source + bit));
        let Some(bit) = read else {
            return Some(reach);
        };
        let block = 1i64
            .checked_shl(source.max(target) + bit + 1)
            .filter(|&block| block > 0)?;
        let blocks = (reach - 1) / block + 1 + i64::from(has_negative);
        blocks.checked_mul(block)
    }

    /// The bit above all those that may change.
    pub(crate) const fn top(self) -> u32 {
        match self.shift < 0 {
            true => self.base + self.bits + self.shift.unsigned_abs(),
            false => self.base + self.bits,
        }
    }

    /// The swizzled index.
    #[inline]
    pub const fn apply(self, index: i64) -> i64 {
        let field = ((1 << self.bits) - 1) << self.base;
        if self.shift >= 0 {
            index ^ ((index & (field << self.shift)) >> self.shift)
        } else {
            index ^ ((index & field) << -self.shift)
        }
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

impl fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
