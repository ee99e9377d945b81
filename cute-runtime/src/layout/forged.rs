//! Random tilings, also ones that no macro makes: if `is_disjoint` is true, no two coordinates share a value, and walks and runs
//! visit exactly the values of `get`.
//!
//! The unsafe code of `HostTileMut` relies on both. `__private::tiling` is a safe function, so its arguments may be any numbers.
//! Where arithmetic wraps in a release build, a build with overflow checks panics, and the test fails.

use super::private::{injective, swizzled};
use super::private::{swizzle, tiling};
use super::walk::{Leaves, Runs, Walk, contiguous, nearest};
use super::{Swizzle, Tiling};
use cute_algebra::Axis;
use std::collections::HashSet;

/// The number of random tilings, and the least number of disjoint ones among them, so that the test covers enough of these.
const CASES: u32 = 200_000;
const DISJOINT: u32 = 10_000;

/// The most coordinates of a tiling that are all checked. Of a larger tiling, a random sample is checked.
const LOOKED_AT: i64 = 4096;

#[test]
fn what_is_called_disjoint_is() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut disjoint, mut ragged, mut walked) = (0, 0, 0);
    for _ in 0..CASES {
        let tiling = forge(&mut random);
        if !tiling.is_disjoint() {
            continue;
        }
        disjoint += 1;
        ragged += u32::from(tiling.is_ragged());
        check_values(&tiling, &mut random);
        walked += u32::from(check_walks(&tiling));
    }
    assert!(disjoint > DISJOINT, "{disjoint} of {CASES}");
    assert!(ragged > disjoint / 20, "{ragged} of {disjoint}");
    assert!(walked > disjoint / 2, "{walked} of {disjoint}");
}

/// A tiling with an axis whose extent is not positive is not called disjoint: in the walk, `extent - coordinate` could wrap.
#[test]
fn an_axis_has_an_extent() {
    for extent in [i64::MIN, i64::MIN + 1, -1, 0] {
        let layout = injective("((_),(_))", &[3, 1], &[0, 1], &[]);
        let axes = leak(vec![Axis {
            extent,
            strides: &[1, 0],
        }]);
        assert!(!tiling(layout, layout, axes).is_disjoint(), "{extent}");
    }
}

/// No two coordinates have the same value, except past the edge. Of a large tiling, a sample is checked.
fn check_values(tiling: &Tiling, random: &mut Random) {
    let (tile, rest) = (tiling.tile_size(), tiling.rest_size());
    let few = tile.checked_mul(rest).filter(|&size| size <= LOOKED_AT);
    let mut coordinates = HashSet::new();
    match few {
        Some(size) => coordinates.extend((0..size).map(|i| (i % tile, i / tile))),
        None => {
            let mut draw = |size: i64| random.index(size);
            coordinates.extend((0..LOOKED_AT / 4).map(|_| (draw(tile), draw(rest))));
        }
    }
    let mut seen = HashSet::new();
    for (within, number) in coordinates {
        if let Some(value) = tiling.get(within, number) {
            assert!(seen.insert(value), "{tiling:?} repeats {value}");
        }
    }
}

/// Walks and runs visit the value of each coordinate once. Returns whether the tiling was small enough to be checked.
fn check_walks(tiling: &Tiling) -> bool {
    let (tile, rest) = (tiling.tile_size(), tiling.rest_size());
    if tile.saturating_mul(rest) > LOOKED_AT {
        return false;
    }
    match tiling.axes().len() {
        0 => check_walks_of::<0>(tiling),
        1 => check_walks_of::<1>(tiling),
        2 => check_walks_of::<2>(tiling),
        _ => check_walks_of::<3>(tiling),
    }
    true
}

fn check_walks_of<const N: usize>(tiling: &Tiling) {
    let (shape, stride) = tiling.tile_leaves();
    let swizzle = tiling.layout().swizzle();
    for number in 0..tiling.rest_size() {
        let mut expected: Vec<i64> = (0..tiling.tile_size())
            .filter_map(|within| tiling.get(within, number))
            .collect();
        expected.sort_unstable();
        let first = tiling.coordinate::<N>(0, number);
        let runs = |along| Runs::new(Forged(tiling), along, first, tiling.first(number));

        let along = contiguous(shape, stride, swizzle);
        let mut values: Vec<i64> = runs(along).flat_map(|run| run.values(swizzle)).collect();
        values.sort_unstable();
        assert_eq!(values, expected, "runs of tile {number} of {tiling:?}");

        let walk = Walk::new(runs(nearest(shape, stride)));
        let mut values: Vec<i64> = walk.map(|(_, linear)| swizzle.apply(linear)).collect();
        values.sort_unstable();
        assert_eq!(values, expected, "walk of tile {number} of {tiling:?}");
    }
}

/// The same as `Tile<T>`, for a tiling that is a value and not a type.
struct Forged<'a>(&'a Tiling);

impl<const N: usize> Leaves<N> for Forged<'_> {
    type Digits = Vec<i64>;

    fn digits(&self) -> Vec<i64> {
        vec![0; self.0.tile_leaves().0.len()]
    }

    fn shape(&self) -> &[i64] {
        self.0.tile_leaves().0
    }

    fn stride(&self) -> &[i64] {
        self.0.tile_leaves().1
    }

    fn step(&self, leaf: usize) -> [i64; N] {
        std::array::from_fn(|axis| self.0.axes()[axis].strides[leaf])
    }

    fn edge(&self) -> Option<[i64; N]> {
        let extents = || std::array::from_fn(|axis| self.0.axes()[axis].extent);
        self.0.is_ragged().then(extents)
    }
}

/// A tiling of up to six leaves and three axes: one like those of the macros, with up to three numbers changed at random.
fn forge(random: &mut Random) -> Tiling {
    let (in_tile, in_rest) = (1 + random.below(3), 1 + random.below(3));
    let leaves = (in_tile + in_rest) as usize;
    let mut shape: Vec<i64> = (0..leaves).map(|_| 1 + random.below(5)).collect();
    let mut stride = vec![0; leaves];
    let count = random.below(4) as usize;
    let mut axes: Vec<(i64, Vec<i64>)> = vec![(1, vec![0; leaves]); count];

    // Take the leaves in a random order, and give each a stride past the ones before. Each leaf also runs along one random
    // axis, where its step is built up in the same way.
    let mut order: Vec<usize> = (0..leaves).collect();
    for i in (1..leaves).rev() {
        order.swap(i, random.below(i as i64 + 1) as usize);
    }
    let mut span = 1;
    for leaf in order {
        stride[leaf] = span * if random.below(4) == 0 { -1 } else { 1 };
        if count > 0 {
            let (extent, steps) = &mut axes[random.below(count as i64) as usize];
            steps[leaf] = *extent;
            *extent *= shape[leaf];
        }
        // Sometimes leave a gap, or let two leaves overlap, which is legal only if the edge cuts the overlap off.
        span = span * shape[leaf] + random.below(8) / 6 - random.below(8) / 6;
        span = span.max(1);
    }
    for (extent, _) in &mut axes {
        *extent -= random.below(3) * random.below(2);
    }

    for _ in 0..random.below(4) {
        let value = random.number();
        let leaf = random.below(leaves as i64) as usize;
        match random.below(4) {
            0 => shape[leaf] = value,
            1 => stride[leaf] = value,
            axis => {
                let axis = random.below(axis + 1) as usize;
                if let Some((extent, strides)) = axes.get_mut(axis) {
                    match random.below(2) {
                        0 => *extent = value,
                        _ => strides[leaf] = value,
                    }
                }
            }
        }
    }

    let places = |count: i64| vec!["_"; count as usize].join(",");
    let nesting = format!("(({}),({}))", places(in_tile), places(in_rest));
    let inner = injective(leak_text(nesting), leak(shape), leak(stride), &[]);
    let layout = match random.below(3) {
        0 => swizzled(forge_swizzle(random), random.number(), inner, &[]),
        _ => inner,
    };
    let axes = axes.into_iter().map(|(extent, strides)| Axis {
        extent,
        strides: leak(strides),
    });
    tiling(layout, layout, leak(axes.collect()))
}

fn forge_swizzle(random: &mut Random) -> Swizzle {
    let shift = random.below(9) as i32 - 4;
    let bits = match random.below(16) {
        0 => 60,
        _ => random.below(5) as u32,
    };
    swizzle(bits, random.below(4) as u32, shift)
}

fn leak<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

fn leak_text(text: String) -> &'static str {
    String::leak(text)
}

/// A linear congruential generator, so that every run tests the same tilings.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    /// A number in `0..bound`, for a bound below 2^32.
    fn below(&mut self, bound: i64) -> i64 {
        (self.next() % bound as u64) as i64
    }

    /// A number in `0..size`, for any size.
    fn index(&mut self, size: i64) -> i64 {
        let wide = (u128::from(self.next()) << 44) | u128::from(self.next());
        (wide % size as u128) as i64
    }

    /// An `i64`: small, near a power of two, or near the smallest or the largest.
    fn number(&mut self) -> i64 {
        let near = self.below(5) - 2;
        match self.below(6) {
            0..=2 => self.below(40) - 8,
            3 => (1i64 << self.below(63)).wrapping_add(near),
            4 => i64::MIN.wrapping_add(near),
            _ => i64::MAX.wrapping_add(near),
        }
    }
}
