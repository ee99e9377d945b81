//! The best swizzle of a tile for given access patterns.
//!
//! The map from addresses to banks is linear over bits. Lanes that are served together have no conflict if no two
//! of their words differ by a vector in the kernel of this map. A swizzle can choose the kernel only within the
//! form of a swizzle; a general map of bits can choose any kernel. For two patterns that are proper subspaces there
//! is always a vector outside both, because no space is the union of two proper subspaces.

use super::access::{Pattern, check_element_bits};
use super::banks::{BANKS, WORD_BITS, busiest_bank, words_of};
use crate::composed::ComposedLayout;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::xor_map::{Basis, XOR_MAP_BITS, XorMap};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Most evaluations of a phase under a swizzle; a search that needs more is refused.
pub const SWIZZLE_SEARCH_LIMIT: usize = 1 << 18;

/// Most bits of the index of a chunk for which a map of bits is searched.
pub const BANK_MAP_BITS: u32 = 16;

/// Most partial kernels that are tried; after that, no kernel is found.
const KERNEL_SEARCH_LIMIT: usize = 1 << 8;

/// A swizzle, and the bank conflicts of each pattern with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestSwizzle {
    /// The swizzle of element indices.
    pub swizzle: Swizzle,
    /// For each pattern, how many words the busiest bank must deliver with the swizzle.
    pub degrees: Vec<usize>,
    /// The same without the swizzle.
    pub plain: Vec<usize>,
    /// A lower bound of the same for every permutation of the vectors.
    pub least: Vec<usize>,
    /// Number of swizzles that were compared.
    pub tried: usize,
}

impl BestSwizzle {
    /// Whether no permutation of the vectors gives fewer conflicts for any pattern.
    pub fn is_optimal(&self) -> bool {
        self.degrees == self.least
    }
}

/// The swizzle with the fewest bank conflicts for one or several access patterns (see
/// [`shared_access`](crate::shared_access)). The pattern with the most conflicts counts first. Among equally good
/// swizzles it takes the fewest bits, then a mode of TMA and wgmma.
///
/// It compares all swizzles that keep vectors whole, read bits above the changed bits, and change bits that select a
/// bank. Other swizzles do not change the number of conflicts.
/// ```
/// use cute_algebra::{Layout, best_swizzle};
/// // A transpose: a warp writes rows of a 32 × 32 tile of f32, and reads columns.
/// let tile = Layout::new([32, 32], [32, 1])?;
/// let (row, column) = (Layout::new(32, 32)?, Layout::new(32, 1)?);
/// let best = best_swizzle(&tile, 32, &[row, column])?;
/// assert_eq!(best.swizzle.to_string(), "Sw<5,0,5>");
/// assert_eq!((best.plain.as_slice(), best.degrees.as_slice()), ([1, 32].as_slice(), [1, 1].as_slice()));
/// assert!(best.is_optimal());
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn best_swizzle(
    tile: &Layout,
    element_bits: i64,
    patterns: &[Layout],
) -> Result<BestSwizzle, LayoutError> {
    check_element_bits(element_bits)?;
    let plain = ComposedLayout::new(Swizzle::IDENTITY, 0, tile.clone())?;
    let mut accesses = Vec::new();
    for (position, tv) in patterns.iter().enumerate() {
        let access = Phases::new(&plain, element_bits, tv).map_err(|error| {
            error.relocate(|place| match place.operand {
                2 => Place {
                    operand: 2 + position,
                    ..place
                },
                _ => place,
            })
        })?;
        accesses.push(access);
    }
    let vector = accesses
        .iter()
        .map(|access| access.vector)
        .max()
        .unwrap_or(1);
    let candidates = candidates(tile, element_bits, vector);
    let looks = accesses
        .iter()
        .map(|access| access.phases.len())
        .sum::<usize>();
    if looks.saturating_mul(candidates.len()) > SWIZZLE_SEARCH_LIMIT {
        let property = "a best swizzle for patterns of so many different phases";
        return Err(ErrorKind::Unproved { property }.at(Place::operand(2)));
    }
    let degrees = |swizzle: Swizzle| -> Vec<usize> {
        accesses
            .iter()
            .map(|access| access.degree(|index| swizzle.apply(index)))
            .collect()
    };
    let tried = candidates.len();
    let best = candidates
        .into_iter()
        .map(|swizzle| {
            let degrees = degrees(swizzle);
            let worst = degrees.iter().copied().max();
            let known = u32::try_from(element_bits).is_ok_and(|bits| swizzle.mode(bits).is_some());
            let simple = (
                swizzle.bits(),
                Reverse(known),
                swizzle.shift(),
                swizzle.base(),
            );
            (
                (worst, degrees.iter().sum::<usize>(), simple),
                swizzle,
                degrees,
            )
        })
        .min_by_key(|(rank, _, _)| *rank);
    let (swizzle, found) = match best {
        Some((_, swizzle, degrees)) => (swizzle, degrees),
        None => (Swizzle::IDENTITY, degrees(Swizzle::IDENTITY)),
    };
    Ok(BestSwizzle {
        swizzle,
        degrees: found,
        plain: degrees(Swizzle::IDENTITY),
        least: accesses.iter().map(|access| access.least(vector)).collect(),
        tried,
    })
}

/// A map of bits under which no pattern has a bank conflict; `None` where none was found. For one or two patterns
/// that are linear over bits there is one, unless the vectors of one pattern, moved as a whole, force conflicts on
/// the other.
///
/// It leaves vectors whole and is a bijection on the tile's power-of-two span.
/// ```
/// use cute_algebra::{Layout, conflict_free_map};
/// // Rows, and a diagonal of blocks, of 8-byte elements.
/// let tile = Layout::new([64, 64], [64, 1])?;
/// let (row, column) = (Layout::new(32, 64)?, Layout::new(32, 1)?);
/// let map = conflict_free_map(&tile, 64, &[row, column])?.unwrap();
/// assert!(map.inverse().is_some());
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn conflict_free_map(
    tile: &Layout,
    element_bits: i64,
    patterns: &[Layout],
) -> Result<Option<XorMap>, LayoutError> {
    check_element_bits(element_bits)?;
    let plain = ComposedLayout::new(Swizzle::IDENTITY, 0, tile.clone())?;
    let accesses: Vec<Phases> = patterns
        .iter()
        .map(|tv| Phases::new(&plain, element_bits, tv))
        .collect::<Result<_, _>>()?;
    // Elements that stay together: a word, or the widest vector of any pattern.
    let widest = accesses
        .iter()
        .map(|access| access.vector)
        .max()
        .unwrap_or(1);
    let chunk = widest.max(WORD_BITS / element_bits).trailing_zeros();
    let bank_bits = (BANKS * WORD_BITS / element_bits).trailing_zeros() - chunk;
    let span = 64 - (tile.cosize() - 1).leading_zeros();
    let bits = span.saturating_sub(chunk).max(bank_bits);
    if bits > BANK_MAP_BITS || bits + chunk >= XOR_MAP_BITS {
        return Ok(None);
    }
    // Differences between chunks that must not be in the kernel.
    let mut avoided = vec![false; 1 << bits];
    for access in &accesses {
        for (a, b) in access.phases.iter().flat_map(|phase| pairs(phase)) {
            let difference = a ^ b;
            let same_place = (difference >> word_bits(element_bits))
                & ((1 << (chunk - word_bits(element_bits))) - 1)
                == 0;
            if same_place && difference >> chunk != 0 {
                match avoided.get_mut((difference >> chunk) as usize) {
                    Some(avoided) => *avoided = true,
                    None => return Ok(None),
                }
            }
        }
    }
    let mut with_banks = avoided.clone();
    (1..1usize << bank_bits).for_each(|bank| with_banks[bank] = true);
    // First a kernel that contains no difference of bank bits alone, because its map changes only bank bits; if
    // there is none, any kernel.
    let dimension = (bits - bank_bits) as usize;
    let kernel = kernel(with_banks, dimension).or_else(|| kernel(avoided, dimension));
    Ok(kernel.and_then(|kernel| map_with_kernel(&kernel, bits, chunk)))
}

/// The phases of a pattern, each exclusive-ored with its first index.
struct Phases {
    phases: BTreeSet<Vec<i64>>,
    vector: i64,
    bytes: u32,
    element_bits: i64,
}

impl Phases {
    fn new(tile: &ComposedLayout, element_bits: i64, tv: &Layout) -> Result<Self, LayoutError> {
        let pattern = Pattern::new(&|index| tile.at(index), tile.size(), element_bits, tv)?;
        Ok(Self {
            phases: pattern.phases(),
            vector: pattern.vector as i64,
            bytes: pattern.bytes(),
            element_bits,
        })
    }

    /// The most words that a bank must deliver in a phase, when `moved` maps the indices.
    fn degree(&self, moved: impl Fn(i64) -> i64) -> usize {
        let phases = self.phases.iter().map(|phase| {
            let offsets: Vec<i64> = phase
                .iter()
                .map(|&index| moved(index).saturating_mul(self.element_bits) / 8)
                .collect();
            busiest_bank(self.bytes, &offsets).degree
        });
        phases.max().unwrap_or(0)
    }

    /// A lower bound of [`degree`](Self::degree) for every map that moves vectors of `vector` elements as a whole:
    /// a vector of w words occupies w neighbouring banks, so words at the same place in different vectors share
    /// 32/w banks.
    fn least(&self, vector: i64) -> usize {
        let words = (vector * self.element_bits / WORD_BITS).max(1);
        let phases = self.phases.iter().map(|phase| {
            let own = words_of(self.bytes);
            let mut touched: Vec<i64> = phase
                .iter()
                .flat_map(|index| {
                    (0..own).map(move |word| {
                        index
                            .saturating_mul(self.element_bits)
                            .div_euclid(WORD_BITS)
                            + word
                    })
                })
                .collect();
            touched.sort_unstable();
            touched.dedup();
            let mut places = vec![0usize; words as usize];
            touched
                .iter()
                .for_each(|word| places[word.rem_euclid(words) as usize] += 1);
            let banks = (BANKS / words) as usize;
            places
                .iter()
                .map(|count| count.div_ceil(banks))
                .max()
                .unwrap_or(0)
        });
        phases.max().unwrap_or(0)
    }
}

/// The base-2 logarithm of the number of elements in a word.
fn word_bits(element_bits: i64) -> u32 {
    (WORD_BITS / element_bits).max(1).trailing_zeros()
}

/// The identity, and all swizzles that can change the bank of an element.
fn candidates(tile: &Layout, element_bits: i64, vector: i64) -> Vec<Swizzle> {
    let bits = 64 - (tile.cosize() - 1).leading_zeros();
    let first = vector.max(WORD_BITS / element_bits).trailing_zeros();
    let banks = (BANKS * WORD_BITS / element_bits).trailing_zeros();
    let mut found = vec![Swizzle::IDENTITY];
    for base in first..banks {
        for count in 1..=banks - base {
            for shift in count..=bits.saturating_sub(base + count) {
                found.extend(Swizzle::new(count, base, shift as i32));
            }
        }
    }
    found
}

fn pairs(phase: &[i64]) -> impl Iterator<Item = (i64, i64)> + '_ {
    phase
        .iter()
        .enumerate()
        .flat_map(|(i, a)| phase[..i].iter().map(move |b| (*a, *b)))
}

/// A subspace of this dimension that contains no avoided vector, as a basis.
fn kernel(avoided: Vec<bool>, dimension: usize) -> Option<Vec<u64>> {
    let mut begun = 0;
    let mut chosen = Vec::new();
    extend(&avoided, dimension, &mut chosen, &mut begun).then_some(chosen)
}

/// Extends `chosen` to a basis of the dimension. `avoided` marks every vector whose sum with some chosen vectors
/// must be avoided.
fn extend(avoided: &[bool], dimension: usize, chosen: &mut Vec<u64>, begun: &mut usize) -> bool {
    if chosen.len() == dimension {
        return true;
    }
    let inside = Basis::of(chosen);
    for vector in 1..avoided.len() {
        if avoided[vector] || inside.contains(vector as u64) {
            continue;
        }
        *begun += 1;
        if *begun > KERNEL_SEARCH_LIMIT {
            return false;
        }
        let next: Vec<bool> = (0..avoided.len())
            .map(|other| avoided[other] || avoided[other ^ vector])
            .collect();
        chosen.push(vector as u64);
        if extend(&next, dimension, chosen, begun) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// The bijection that maps the kernel to the bits above the bank bits.
fn map_with_kernel(kernel: &[u64], bits: u32, chunk: u32) -> Option<XorMap> {
    let mut basis = Basis::of(kernel);
    let mut beside = Vec::new();
    for bit in 0..bits {
        if basis.insert(1 << bit, 0) {
            beside.push(1u64 << bit);
        }
    }
    let back = XorMap::new([beside, reduced(kernel)].concat())?;
    let map = back.inverse()?;
    let whole = (0..chunk).map(|bit| 1u64 << bit);
    let moved = map.columns().iter().map(|column| column << chunk);
    XorMap::new(whole.chain(moved).collect::<Vec<_>>())
}

/// A basis of the same space, in ascending order, in which no vector has the highest bit of another one set.
fn reduced(vectors: &[u64]) -> Vec<u64> {
    let mut basis: Vec<u64> = Vec::new();
    for &vector in vectors {
        let vector = basis
            .iter()
            .fold(vector, |rest, other| rest.min(rest ^ other));
        if vector != 0 {
            for other in &mut basis {
                *other = (*other).min(*other ^ vector);
            }
            basis.push(vector);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    basis.reverse();
    basis
}
