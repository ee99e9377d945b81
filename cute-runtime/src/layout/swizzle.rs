//! Swizzles as constants.

use core::fmt;
use cute_algebra::SwizzledLeaves;

/// CuTe's `Swizzle<B,M,S>`: takes the `bits` bits of an index from bit `base + max(shift,0)` on, and xors them into the bits from
/// bit `base - min(shift,0)` on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// B: how many bits are read, and how many may change.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// M: how many low bits are neither read nor changed. So `2^M` consecutive indices stay together.
    pub const fn base(self) -> u32 {
        self.base
    }

    /// S: the distance of the read bits above the changed bits; negative if they are below.
    pub const fn shift(self) -> i32 {
        self.shift
    }

    /// Whether it changes no index.
    pub const fn is_identity(self) -> bool {
        self.bits == 0
    }

    /// Whether different indices are swizzled to different indices. This holds for every swizzle that the algebra accepts, but
    /// `__private::swizzle` takes any numbers.
    pub(super) const fn is_bijective(self) -> bool {
        let reach = self
            .bits
            .saturating_add(self.base)
            .saturating_add(self.shift.unsigned_abs());
        // With a shift other than 0, a bit that changes depends on the bit that is `shift` above (or below) it. So the change
        // can be undone bit by bit, starting from the highest (or lowest) bit, even where the two fields overlap.
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

    /// The number of elements from 0 on that hold the swizzled values of all numbers below `reach`, and with `has_negative` of
    /// all numbers above `-reach`, too; `None` if it does not fit.
    pub(super) const fn end_of_blocks(self, reach: i64, has_negative: bool) -> Option<i64> {
        let (source, target) = match self.shift < 0 {
            true => (self.base, self.base + self.shift.unsigned_abs()),
            false => (self.base + self.shift.unsigned_abs(), self.base),
        };
        // One more than the highest bit of the field that is read and not zero. Of a negative number all bits are read.
        let mut bits = self.bits;
        while bits > 0 && !has_negative && reach <= 1 << (source + bits - 1) {
            bits -= 1;
        }
        if bits == 0 {
            return Some(reach);
        }
        let above = if source > target { source } else { target };
        let block = match 1i64.checked_shl(above + bits) {
            Some(block) if block > 0 => block,
            _ => return None,
        };
        ((reach - 1) / block + 1 + has_negative as i64).checked_mul(block)
    }

    /// The number of the lowest bit above all bits that may change.
    #[cfg(feature = "host")]
    pub(crate) const fn top(self) -> u32 {
        match self.shift < 0 {
            true => self.base + self.bits + self.shift.unsigned_abs(),
            false => self.base + self.bits,
        }
    }

    /// The index that `index` is swizzled to.
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
