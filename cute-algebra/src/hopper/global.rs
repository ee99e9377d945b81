//! How many sectors of global memory the accesses of warps touch.

use super::access::Pattern;
use crate::composed::ComposedLayout;
use crate::error::LayoutError;
use crate::layout::Layout;
use alloc::collections::BTreeSet;

/// The bytes of a sector, the least that global memory transfers.
const SECTOR: i64 = 32;

/// The bytes of a line of the cache. One transaction reads or writes sectors of one line.
const LINE: i64 = 128;

/// How the warps of a block access the elements of a tensor in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalAccess {
    /// Elements per access of a thread; a power of two.
    pub vector: i64,
    /// Number of accesses of each thread.
    pub accesses: i64,
    /// Number of warps.
    pub warps: i64,
    /// The bytes that all threads access, each byte counted once per access of a warp.
    pub bytes: i64,
    /// The transferred sectors of 32 bytes, counted for each access of a warp.
    pub sectors: i64,
    /// The fewest sectors that hold so many bytes.
    pub least_sectors: i64,
    /// The transactions: the touched lines of 128 bytes, counted for each access of a warp.
    pub transactions: i64,
    /// The access of a warp that touches the most sectors for its bytes.
    pub worst: WarpAccess,
}

/// One access of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpAccess {
    /// Index of the warp.
    pub warp: i64,
    /// Index of the access among those of its threads.
    pub access: i64,
    /// The different bytes that it accesses.
    pub bytes: i64,
    /// The sectors that it touches.
    pub sectors: i64,
    /// The lines that it touches.
    pub transactions: i64,
}

/// How threads access `tensor`, where thread t of `tv` has the elements `tv(t, 0)`, `tv(t, 1)`, …. These are 1-D
/// coordinates of the tensor, which starts at a multiple of 128 bytes. A `tv` of a single mode gives each thread one
/// element.
///
/// Elements that are neighbours for every thread are accessed together, up to 16 bytes at once.
/// ```
/// use cute_algebra::{Layout, global_access};
/// let tensor = Layout::new([1024, 1024], [1024, 1])?.try_into()?;
/// // A warp reads 32 numbers of f32 of a row, or of a column.
/// let row = global_access(&tensor, 32, &Layout::new(32, 1024)?)?;
/// assert_eq!((row.sectors, row.transactions), (4, 1));
/// let column = global_access(&tensor, 32, &Layout::new(32, 1)?)?;
/// assert_eq!((column.sectors, column.transactions), (32, 32));
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn global_access(
    tensor: &ComposedLayout,
    element_bits: i64,
    tv: &Layout,
) -> Result<GlobalAccess, LayoutError> {
    let pattern = Pattern::new(&|index| tensor.at(index), tensor.size(), element_bits, tv)?;
    let size = i64::from(pattern.bytes());
    let (accesses, threads) = (pattern.accesses(), pattern.threads());
    let mut found = GlobalAccess {
        vector: pattern.vector as i64,
        accesses,
        warps: (threads - 1) / super::banks::WARP as i64 + 1,
        bytes: 0,
        sectors: 0,
        least_sectors: 0,
        transactions: 0,
        worst: WarpAccess::default(),
    };
    for (warp, access, offsets) in pattern.instructions() {
        let touched = |unit: i64| {
            let units = offsets.iter().flat_map(|&offset| {
                offset.div_euclid(unit)..=(offset.saturating_add(size - 1)).div_euclid(unit)
            });
            units.collect::<BTreeSet<_>>().len() as i64
        };
        let one = WarpAccess {
            warp: warp as i64,
            access: access as i64,
            bytes: touched(1),
            sectors: touched(SECTOR),
            transactions: touched(LINE),
        };
        found.bytes += one.bytes;
        found.sectors += one.sectors;
        found.least_sectors += (one.bytes - 1) / SECTOR + 1;
        found.transactions += one.transactions;
        if one.sectors * found.worst.bytes.max(1) > found.worst.sectors * one.bytes {
            found.worst = one;
        }
    }
    Ok(found)
}
