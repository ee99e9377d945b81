//! Counts the memory traffic of threads.

use super::address::Location;
use super::product::ROWS;
use crate::exec::state::row::{LANES, lanes};
use crate::exec::step::Step;
use crate::op::{Address, Space};
use cute_chip::shared::{BANK_BYTES, BANKS};

/// The number of rows and of columns of a matrix of `ldmatrix`.
pub(super) const EDGE: usize = 8;

/// The bytes of a sector of global memory.
const SECTOR_BYTES: u64 = 32;
/// The most bytes of lanes that are served in one pass.
const PASS_BYTES: usize = BANKS as usize * BANK_BYTES as usize;

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    Read,
    Write,
    /// An atomic.
    Both,
}

impl Step<'_> {
    /// Counts a product of a warp: its rows of A by this many columns of B, which have `k` elements each.
    pub(super) fn count_product(&mut self, columns: usize, k: usize) {
        self.watch.counts.matrix_flops += 2 * (ROWS * columns * k) as u64;
    }

    /// Counts an access of the active lanes, of `len` bytes each. The first lane's address decides the memory.
    pub(crate) fn count_access(
        &mut self,
        active: u32,
        space: Space,
        address: Address,
        len: usize,
        moves: Moves,
    ) {
        let bases = &self.warp.rows[address.base as usize];
        let addresses = || bases.map(|base| base.wrapping_add_signed(address.offset));
        let base = bases[active.trailing_zeros() as usize % LANES];
        let first = base.wrapping_add_signed(address.offset);
        let bytes = u64::from(active.count_ones()) * len as u64;
        let read = if moves == Moves::Write { 0 } else { bytes };
        let written = if moves == Moves::Read { 0 } else { bytes };
        // Lanes with contiguous bytes need no search.
        let contiguous = active == u32::MAX
            && (bases.iter().enumerate()).fold(true, |all, (lane, other)| {
                all & (*other == base.wrapping_add((lane * len) as u64))
            });
        match self.locate(space, first) {
            Ok(Location::Global(_)) => {
                let last = first.wrapping_add(bytes.saturating_sub(1));
                let sectors = match contiguous {
                    true => (last / SECTOR_BYTES).wrapping_sub(first / SECTOR_BYTES) + 1,
                    false => {
                        let addresses = addresses();
                        sectors(lanes(active).map(|lane| addresses[lane]), len)
                    }
                };
                let traffic = &mut self.watch.counts.global;
                traffic.read += read;
                traffic.written += written;
                traffic.requests += 1;
                traffic.sectors += sectors;
            }
            Ok(Location::Shared(..)) => {
                let conflicts = match contiguous {
                    true => 0,
                    false => conflicts(&addresses(), active, len),
                };
                let traffic = &mut self.watch.counts.shared;
                traffic.read += read;
                traffic.written += written;
                traffic.requests += 1;
                traffic.bank_conflicts += conflicts;
            }
            _ => {}
        }
    }

    /// Counts the accesses of `ldmatrix` or `stmatrix`. Each matrix is a request of eight lanes, each with the address of a row.
    pub(super) fn count_matrices(&mut self, matrices: usize, address: Address, moves: Moves) {
        for matrix in 0..matrices {
            let lanes_of = 0xff << (EDGE * matrix);
            self.count_access(lanes_of, Space::Shared, address, 2 * EDGE, moves);
        }
    }
}

/// How many different sectors lanes of `len` bytes touch.
fn sectors(addresses: impl Iterator<Item = u64>, len: usize) -> u64 {
    // A lane touches at most two sectors, since its address is a multiple of its length.
    let mut sectors = [u64::MAX; 2 * LANES];
    for (i, address) in addresses.enumerate() {
        sectors[2 * i] = address / SECTOR_BYTES;
        sectors[2 * i + 1] = address.wrapping_add(len as u64 - 1) / SECTOR_BYTES;
    }
    sectors.sort_unstable();
    let changes = sectors.windows(2).filter(|pair| pair[0] != pair[1]);
    changes.count() as u64 + u64::from(sectors[2 * LANES - 1] != u64::MAX)
}

/// How many passes through the banks the lanes need, beyond one for each group of lanes that are served together. Each lane accesses
/// `len` bytes. Lanes that access the same word share it.
pub(super) fn conflicts(addresses: &[u64; LANES], active: u32, len: usize) -> u64 {
    let group = (PASS_BYTES / len.next_power_of_two()).clamp(1, LANES);
    let words = len.div_ceil(BANK_BYTES as usize) as u64;
    let mut passes = 0;
    for first in (0..LANES).step_by(group) {
        let served = (first..first + group).filter(|lane| active >> lane & 1 == 1);
        let accessed = served.flat_map(|lane| {
            let word = addresses[lane] / u64::from(BANK_BYTES);
            word..word + words
        });
        // Mostly no two words share a bank; then no search is needed.
        let mut owners = [u64::MAX; BANKS as usize];
        let is_shared = accessed.clone().fold(false, |is_shared, word| {
            let owner = &mut owners[(word % u64::from(BANKS)) as usize];
            let other = std::mem::replace(owner, word);
            is_shared | (other != u64::MAX && other != word)
        });
        if !is_shared {
            continue;
        }
        // The words of each bank, one after another.
        let mut touched = [u64::MAX; LANES];
        let mut count = 0;
        for word in accessed {
            let bank = word % u64::from(BANKS);
            touched[count % LANES] = bank << 32 | word & 0xffff_ffff;
            count += 1;
        }
        let touched = &mut touched[..count.min(LANES)];
        touched.sort_unstable();
        let (mut longest, mut run, mut previous) = (1, 0, None);
        for word in touched {
            run = match previous {
                Some(same) if same == *word => continue,
                Some(other) if other >> 32 == *word >> 32 => run + 1,
                _ => 1,
            };
            previous = Some(*word);
            longest = longest.max(run);
        }
        passes += longest - 1;
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_and_conflicts() {
        let strided = |stride: u64| std::array::from_fn(|lane| 4096 + lane as u64 * stride);
        // The stride of lanes, their bytes, the sectors, and the extra passes.
        for (stride, len, touched, excess) in [
            (4, 4, 4, 0),
            (0, 4, 1, 0),
            (8, 4, 8, 1),
            (128, 4, 32, 31),
            (132, 4, 32, 0),
            (16, 16, 16, 0),
            (8, 8, 8, 0),
            (128, 16, 32, 4 * 7),
            (2, 2, 2, 0),
            (2048, 1, 32, 31),
        ] {
            let addresses: [u64; LANES] = strided(stride);
            let case = format!("stride {stride}, {len} bytes");
            assert_eq!(sectors(addresses.into_iter(), len), touched, "{case}");
            assert_eq!(conflicts(&addresses, u32::MAX, len), excess, "{case}");
        }
        let far: [u64; LANES] = strided(128);
        assert_eq!(sectors(far.into_iter().take(3), 4), 3);
        assert_eq!(conflicts(&far, 0b1001, 4), 1);
    }
}
