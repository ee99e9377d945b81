//! Swizzles: exclusive-or of one field of bits into another.

use crate::error::{ErrorKind, LayoutError, Place};
use std::fmt;

/// CuTe's `Swizzle<B,M,S>`: the `bits` bits at `base + max(shift,0)` are xor-ed into those at `base - min(shift,0)`.
///
/// `|shift| >= bits` keeps the two fields apart, so that a swizzle is its own inverse.
/// ```
/// use cute_algebra::Swizzle;
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!(swizzle.apply(0x80), 0x90);
/// assert_eq!(swizzle.apply(swizzle.apply(12345)), 12345);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// `Sw<bits,base,shift>`, where all bits it touches fit a non-negative `i64`.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Self, LayoutError> {
        let reach = u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs());
        if shift.unsigned_abs() < bits || reach > 63 {
            return Err(ErrorKind::Swizzle { bits, base, shift }.at(Place::default()));
        }
        Ok(Self { bits, base, shift })
    }

    /// The swizzle that changes nothing.
    pub const IDENTITY: Self = Self {
        bits: 0,
        base: 0,
        shift: 0,
    };

    /// B: how many bits are read.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// M: how many low bits stay.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// S: distance from the bits that are changed to the bits that are read; negative if they are read below.
    pub fn shift(&self) -> i32 {
        self.shift
    }

    /// The bits that are read.
    pub fn source_mask(&self) -> i64 {
        self.field() << self.shift.max(0)
    }

    /// The bits that are changed.
    pub fn target_mask(&self) -> i64 {
        self.field() << (-self.shift).max(0)
    }

    fn field(&self) -> i64 {
        ((1 << self.bits) - 1) << self.base
    }

    /// The swizzled index.
    pub fn apply(&self, index: i64) -> i64 {
        let source = index & self.source_mask();
        index
            ^ if self.shift >= 0 {
                source >> self.shift
            } else {
                source << -self.shift
            }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.bits == 0
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}
