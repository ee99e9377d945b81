//! Bank conflicts of shared memory.

/// Lanes of a warp.
pub const WARP: usize = 32;

/// Banks of shared memory, each 4 bytes wide.
pub const BANKS: i64 = 32;

/// How often the busiest bank is needed when the lanes of a warp access `bytes` each at the given byte offsets: 1 means
/// that there is no conflict.
///
/// `bytes` is at most 16. A warp is served in phases of 128 bytes: 32 lanes of up to 4 bytes, 16 of 8, or 8 of 16. Lanes
/// that access the same word share it.
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
    let lanes: Vec<i64> = (0..WARP as i64).map(offset).collect();
    let words = i64::from(bytes.div_ceil(4)).clamp(1, 4);
    let phase = (WARP / words as usize).max(1);
    let mut degree = 1;
    for lanes in lanes.chunks(phase) {
        let mut touched: Vec<i64> = lanes
            .iter()
            .flat_map(|lane| (0..words).map(move |word| lane.div_euclid(4) + word))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let mut load = [0usize; BANKS as usize];
        for word in touched {
            load[word.rem_euclid(BANKS) as usize] += 1;
        }
        degree = load.into_iter().fold(degree, usize::max);
    }
    degree
}
