//! Swizzles: one field of bits is exclusive-ored into another.

use crate::composition::ENUMERATION_LIMIT;
use crate::error::{ErrorKind, LayoutError, Place};
use alloc::vec::Vec;
use core::fmt;

/// CuTe's `Swizzle<B,M,S>`: the `bits` bits from bit `base + max(shift,0)` on are exclusive-ored into those from
/// bit `base - min(shift,0)` on.
///
/// `|shift| >= bits` keeps the two fields apart, so a swizzle is its own inverse.
/// ```
/// use cute_algebra::Swizzle;
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!(swizzle.apply(0x80), 0x90);
/// assert_eq!(swizzle.apply(swizzle.apply(12345)), 12345);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// The swizzle of 8 rows of 8 units of 16 bytes, coloured by banks of shared memory: every row and every column has
/// each colour once.
///
#[doc = include_str!("../docs/swizzle.svg")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// `Sw<bits,base,shift>`. Refused unless `|shift| >= bits` and the sum of bits, base and |shift| is at most 63.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Self, LayoutError> {
        let reach = u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs());
        if shift.unsigned_abs() < bits || reach > 63 {
            return Err(ErrorKind::Swizzle { bits, base, shift }.at(Place::default()));
        }
        Ok(Self { bits, base, shift })
    }

    /// The swizzle of 0 bits, which changes nothing.
    pub const IDENTITY: Self = Self {
        bits: 0,
        base: 0,
        shift: 0,
    };

    /// B: number of read bits, and of changed bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// M: number of low bits that neither field contains.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// S: distance from the changed bits up to the read bits; negative if the read bits are lower.
    pub fn shift(&self) -> i32 {
        self.shift
    }

    /// The mask of the read bits.
    pub fn source_mask(&self) -> i64 {
        self.field() << self.shift.max(0)
    }

    /// The mask of the changed bits.
    pub fn target_mask(&self) -> i64 {
        self.field() << (-self.shift).max(0)
    }

    fn field(&self) -> i64 {
        ((1 << self.bits) - 1) << self.base
    }

    /// The index with its bits exclusive-ored. It undoes itself: `apply(apply(x))` is x.
    pub fn apply(&self, index: i64) -> i64 {
        let source = index & self.source_mask();
        index
            ^ if self.shift >= 0 {
                source >> self.shift
            } else {
                source << -self.shift
            }
    }

    /// `self(first(x))`, if that is one swizzle; otherwise refused.
    /// ```
    /// use cute_algebra::Swizzle;
    /// // The bit that both move is moved there and back.
    /// let product = Swizzle::new(1, 2, 2)?.after(Swizzle::new(2, 2, 2)?)?;
    /// assert_eq!(product, Swizzle::new(1, 3, 2)?);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn after(self, first: Self) -> Result<Self, LayoutError> {
        self.after_on(first, u64::MAX)
    }

    /// The same for numbers without bits outside of `bits`.
    pub(crate) fn after_on(self, first: Self, bits: u64) -> Result<Self, LayoutError> {
        let outer = columns_of(self);
        let on = |bits: u64| {
            let columns = (0u32..).zip(columns_of(first));
            let product = columns.map(|(bit, column)| match bits >> bit & 1 {
                1 => combine(&outer, column),
                _ => 1 << bit,
            });
            swizzle_of(&product.collect::<Vec<u64>>())
        };
        // The other bits do not matter: they stay, or they are moved as well.
        on(bits).or_else(|| on(u64::MAX)).ok_or_else(|| {
            ErrorKind::NotASwizzle {
                what: "the composition",
            }
            .at(Place::operand(1))
        })
    }

    /// The swizzle in units of `factor` elements, a power of two. Bits below a unit are dropped; refused if the
    /// swizzle reads such bits to change higher ones.
    pub fn upcast(self, factor: i64) -> Result<Self, LayoutError> {
        let log2 = log2(factor)?;
        let gone = log2.saturating_sub(self.base).min(self.bits);
        if gone > 0 && self.shift < 0 {
            // The dropped bits are read, so elements of one unit go to different units.
            return Err(ErrorKind::NotASwizzle {
                what: "the swizzle of larger units",
            }
            .at(Place::operand(0)));
        }
        Self::new(
            self.bits - gone,
            (self.base + gone).saturating_sub(log2),
            self.shift,
        )
    }

    /// The swizzle in units of a `factor`-th of an element, a power of two.
    pub fn downcast(self, factor: i64) -> Result<Self, LayoutError> {
        Self::new(
            self.bits,
            self.base.saturating_add(log2(factor)?),
            self.shift,
        )
    }

    /// Each read bit, with the bit into which it is exclusive-ored.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (u32, u32)> {
        let (source, target) = (
            self.base + self.shift.max(0) as u32,
            self.base + (-self.shift).max(0) as u32,
        );
        (0..self.bits).map(move |bit| (source + bit, target + bit))
    }

    /// Whether it maps each number below `reach` to one below `size`.
    pub(crate) fn keeps(self, reach: i64, size: i64) -> bool {
        // A pair changes numbers only within a block of 2^`zeros`, a divisor of the size, or it reads a bit that is 0 in all numbers
        // below `reach`.
        let zeros = size.trailing_zeros();
        let within = |(source, target)| target < zeros || reach <= 1i64 << source;
        self.pairs().all(within)
            || reach <= ENUMERATION_LIMIT && (0..reach).all(|index| self.apply(index) < size)
    }

    /// The swizzle that combines exactly these pairs of bits; `None` unless they are neighbours with the same
    /// distance.
    pub(crate) fn from_pairs(mut pairs: Vec<(u32, u32)>) -> Option<Self> {
        pairs.sort_unstable();
        let Some(&(source, target)) = pairs.first() else {
            return Some(Self::IDENTITY);
        };
        let expected = (0u32..).map(|bit| (source + bit, target + bit));
        if !expected
            .zip(&pairs)
            .all(|(expected, &pair)| expected == pair)
        {
            return None;
        }
        Self::new(
            pairs.len() as u32,
            source.min(target),
            source as i32 - target as i32,
        )
        .ok()
    }

    /// Whether it changes no index.
    pub fn is_identity(&self) -> bool {
        self.bits == 0
    }
}

fn log2(factor: i64) -> Result<u32, LayoutError> {
    if factor > 0 && factor & (factor - 1) == 0 {
        Ok(factor.trailing_zeros())
    } else {
        Err(ErrorKind::NotAPowerOfTwo { factor }.at(Place::operand(1)))
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

/// The swizzle that maps each single bit to its column, if there is one.
pub(crate) fn swizzle_of(columns: &[u64]) -> Option<Swizzle> {
    let mut pairs = Vec::new();
    for (bit, &column) in (0u32..).zip(columns) {
        let mut others = column ^ 1 << bit;
        while others != 0 {
            pairs.push((bit, others.trailing_zeros()));
            others &= others - 1;
        }
    }
    Swizzle::from_pairs(pairs)
}

/// The images of the single bits 0 to 62 under a swizzle.
fn columns_of(swizzle: Swizzle) -> Vec<u64> {
    (0..63).map(|bit| swizzle.apply(1 << bit) as u64).collect()
}

/// The exclusive or of the columns of all bits that are set in `bits`.
pub(crate) fn combine(columns: &[u64], bits: u64) -> u64 {
    let set = columns
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1);
    set.fold(0, |sum, (_, column)| sum ^ column)
}
