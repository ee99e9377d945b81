//! The promises of operations, checked value by value.

use cute_algebra::{
    Coord, IntTuple, Layout, Shape, Tiler, Tuple, Value, XOR_MAP_BITS, append_to_rank, compatible,
    composition_by, filter, ragged, transpose_modes,
};
use std::collections::HashMap;

/// The largest number of coordinates that are enumerated.
pub(crate) const MOST_POINTS: i64 = 1 << 20;

/// Whether a result keeps the promise of its operation; `None` where there is no promise to check.
pub(crate) fn keeps_promise(operation: &str, args: &[Value], result: &Value) -> Option<bool> {
    let layouts: Vec<Option<Layout>> = args.iter().map(as_layout).collect();
    let layout = |index: usize| layouts.get(index).cloned().flatten();
    let integer = |index: usize| match args.get(index) {
        Some(Value::Int(value)) => Some(*value),
        _ => None,
    };
    let known_size = args.first().and_then(size);
    match (operation, known_size) {
        ("right_inverse", Some(_)) => return Some(is_right_inverse(&args[0], result)),
        ("left_inverse", Some(size)) => {
            return Some(size <= MOST_POINTS && is_left_inverse(&args[0], result));
        }
        _ => {}
    }
    if let ("composition", [Value::Swizzle(a), Value::Swizzle(b)], Value::XorMap(both)) =
        (operation, args, result)
    {
        let mut numbers = (0..4096).chain((0..XOR_MAP_BITS - 1).map(|bit| 1 << bit));
        return Some(numbers.all(|x| both.at(x) == Some(a.apply(b.apply(x)))));
    }
    let Value::Layout(r) = result else {
        return None;
    };
    if r.size() > MOST_POINTS {
        return None;
    }
    match operation {
        "coalesce" => Some(same_function(&layout(0)?, r)),
        "composition" => Some(is_composition(&layout(0)?, &as_tiler(args.get(1)?)?, r)),
        "complement" => {
            let target = match args.get(1) {
                None => None,
                Some(target) => Some(as_shape(target)?.product()?),
            };
            Some(is_complement(&layout(0)?, target, r))
        }
        "nullspace" => {
            let a = layout(0)?;
            let value = |x| ragged::crd2idx(&a, &Coord::Leaf(Some(x))).ok();
            Some(
                r.values()
                    .all(|x| value(x).is_some_and(|value| canonical(&value) == Tuple::Leaf(0))),
            )
        }
        "logical_divide" => {
            let (a, tiler) = (layout(0)?, as_tiler(args.get(1)?)?);
            Some(is_permutation(&a, r) && first_modes_are_tiles(&a, &tiler, r))
        }
        "zipped_divide" | "tiled_divide" | "flat_divide" => Some(is_permutation(&layout(0)?, r)),
        "logical_product" | "zipped_product" | "tiled_product" | "flat_product" => {
            is_product(operation, &layout(0)?, &as_tiler(args.get(1)?)?, r)
        }
        "blocked_product" | "raked_product" => {
            is_product(operation, &layout(0)?, &layout(1)?.into(), r)
        }
        "tile_to_shape" => {
            let (block, target) = (layout(0)?, as_shape(args.get(1)?)?);
            let covers = target
                .modes()
                .iter()
                .zip(r.modes())
                .all(|(t, mode)| t.product() == Some(mode.size()));
            Some(covers && r.rank() == target.rank() && (!is_injective(&block) || is_injective(r)))
        }
        "upcast" => Some(is_upcast(&layout(0)?, integer(1)?, r)),
        "downcast" => Some(is_upcast(r, integer(1)?, &layout(0)?)),
        "recast" => {
            let (old, new) = (integer(1)?, integer(2)?);
            if new % old == 0 {
                Some(is_upcast(&layout(0)?, new / old, r))
            } else {
                Some(is_upcast(r, old / new, &layout(0)?))
            }
        }
        "make_ordered_layout" => {
            let mut values: Vec<_> = r.values().collect();
            values.sort_unstable();
            Some(r.shape() == &as_shape(args.first()?)? && values.into_iter().eq(0..r.size()))
        }
        _ => None,
    }
}

/// The same for the ragged form, whose results may have coordinates past the end of the first operand.
pub(crate) fn keeps_ragged_promise(
    operation: &str,
    args: &[Value],
    result: &Value,
) -> Option<bool> {
    let (a, Value::Layout(r)) = (as_layout(args.first()?)?, result) else {
        return None;
    };
    match operation {
        "composition" => Some(is_composition(&a, &as_tiler(args.get(1)?)?, r)),
        "logical_divide" => is_ragged_divide(&a, &as_tiler(args.get(1)?)?, r),
        "zipped_divide" | "tiled_divide" | "flat_divide" => match as_tiler(args.get(1)?)? {
            // The modes of tile and rest, in the same order.
            tiler @ Tiler::Layout(_) => is_ragged_divide(&a, &tiler, r),
            _ => None,
        },
        _ => keeps_promise(operation, args, result),
    }
}

fn is_ragged_divide(a: &Layout, tiler: &Tiler, r: &Layout) -> Option<bool> {
    match tiler {
        Tiler::Keep => Some(a == r),
        Tiler::Layout(tile) => {
            let rest = ragged::complement(tile, a.size()).ok()?;
            let both = Layout::concat([tile.clone(), rest]).ok()?;
            let value = |index| {
                ragged::crd2idx(a, &Coord::Leaf(Some(index)))
                    .ok()
                    .map(|value| canonical(&value))
            };
            let expected = both.values().map(value);
            Some(
                both.size() == r.size()
                    && expected.eq(table(r).iter().map(|value| Some(canonical(value)))),
            )
        }
        Tiler::Modes(tilers) => {
            let pairs = a.modes().into_iter().zip(r.modes()).enumerate();
            pairs
                .into_iter()
                .try_fold(true, |all, (i, (a, r))| match tilers.get(i) {
                    Some(tiler) => Some(all && is_ragged_divide(&a, tiler, &r)?),
                    None => Some(all && a == r),
                })
        }
    }
}

/// The values at all 1-D coordinates.
pub(crate) fn table(a: &Layout) -> Vec<IntTuple> {
    (0..a.size())
        .map(|i| {
            a.crd2idx(&Coord::Leaf(Some(i)))
                .expect("the coordinate is inside")
        })
        .collect()
}

pub(crate) fn same_function(a: &Layout, b: &Layout) -> bool {
    let values = |layout| table(layout).iter().map(canonical).collect::<Vec<_>>();
    a.size() == b.size() && values(a) == values(b)
}

/// Whether R(c) = A(B(c)) for all c, and the shape of R refines B's. For a tiler with modes this holds mode by mode.
pub(crate) fn is_composition(a: &Layout, tiler: &Tiler, r: &Layout) -> bool {
    match tiler {
        Tiler::Keep => a == r,
        Tiler::Modes(tilers) => {
            r.rank() == tilers.len()
                && a.modes()
                    .iter()
                    .zip(tilers)
                    .zip(r.modes())
                    .all(|((a, tiler), r)| is_composition(a, tiler, &r))
        }
        Tiler::Layout(b) => {
            let inner = table(b)
                .into_iter()
                .map(|coord| ragged::crd2idx(a, &widened(a.shape(), &coord)).ok());
            b.size() == r.size()
                && compatible(b.shape(), r.shape())
                && inner.zip(table(r)).all(|(expected, found)| {
                    expected.is_some_and(|e| canonical(&e) == canonical(&found))
                })
        }
    }
}

/// A coordinate in which the trailing modes that it lacks are 0.
fn widened(shape: &Shape, coord: &IntTuple) -> Coord {
    match (shape, coord) {
        (_, Tuple::Leaf(index)) => Tuple::Leaf(Some(*index)),
        (Tuple::Leaf(_), Tuple::Node(coords)) => match coords.first() {
            Some(only) => widened(shape, only),
            None => Tuple::Leaf(Some(0)),
        },
        (Tuple::Node(modes), Tuple::Node(coords)) => {
            let zero = Tuple::Leaf(0);
            modes
                .iter()
                .enumerate()
                .map(|(i, mode)| widened(mode, coords.get(i).unwrap_or(&zero)))
                .collect()
        }
    }
}

/// A coordinate without its trailing zeros, so that equal coordinates have equal forms.
pub(crate) fn canonical(value: &IntTuple) -> IntTuple {
    match value {
        Tuple::Leaf(_) => value.clone(),
        Tuple::Node(modes) => {
            let mut modes: Vec<_> = modes.iter().map(canonical).collect();
            while modes.last() == Some(&Tuple::Leaf(0)) {
                modes.pop();
            }
            if modes.is_empty() {
                Tuple::Leaf(0)
            } else {
                Tuple::Node(modes)
            }
        }
    }
}

/// Whether (A, C) has each value in 0..target once, and C is increasing.
pub(crate) fn is_complement(a: &Layout, target: Option<i64>, c: &Layout) -> bool {
    let a = filter(a);
    let target = target.unwrap_or_else(|| a.size().saturating_mul(c.size()));
    if a.size().saturating_mul(c.size()) != target || target > MOST_POINTS {
        return false;
    }
    let mut sums: Vec<i64> = a
        .values()
        .flat_map(|x| c.values().map(move |y| x + y))
        .collect();
    sums.sort_unstable();
    sums.into_iter().eq(0..target) && c.values().is_sorted()
}

/// Whether A(R(i)) = i for all i.
pub(crate) fn is_right_inverse(a: &Value, r: &Value) -> bool {
    let size = size(r).unwrap_or(0);
    size <= MOST_POINTS && (0..size).all(|i| at(r, i).and_then(|x| at(a, x)) == Some(i))
}

/// Whether L(A(i)) = i for all i, or A(L(A(i))) = A(i) where A is not injective.
pub(crate) fn is_left_inverse(a: &Value, l: &Value) -> bool {
    let count = size(a).unwrap_or(0);
    let values: Vec<_> = (0..count).map(|i| at(a, i)).collect();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let injective = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    values.iter().zip(0..).all(|(&value, i)| {
        let back = value.and_then(|value| at(l, value));
        back == Some(i)
            || !injective && back.is_some_and(|back| back < count && at(a, back) == value)
    })
}

fn size(a: &Value) -> Option<i64> {
    match a {
        Value::Layout(layout) => Some(layout.size()),
        Value::Composed(composed) => Some(composed.size()),
        Value::XorMap(map) => Some(map.size()),
        _ => None,
    }
}

/// The value at a 1-D coordinate, which may be past the end of a layout.
pub(crate) fn at(a: &Value, index: i64) -> Option<i64> {
    let coord = Coord::Leaf(Some(index));
    match a {
        Value::Layout(layout) => match ragged::crd2idx(layout, &coord) {
            Ok(Tuple::Leaf(value)) => Some(value),
            _ => None,
        },
        Value::Composed(composed) => match ragged::crd2idx(composed.layout(), &coord) {
            Ok(Tuple::Leaf(value)) => Some(composed.swizzle().apply(composed.offset() + value)),
            _ => None,
        },
        Value::XorMap(map) => map.at(index),
        _ => None,
    }
}

pub(crate) fn is_injective(a: &Layout) -> bool {
    let mut values = table(a);
    values.sort();
    values.windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether both have the same values, each the same number of times.
pub(crate) fn is_permutation(a: &Layout, b: &Layout) -> bool {
    let sorted = |a: &Layout| {
        let mut values: Vec<_> = table(a).iter().map(canonical).collect();
        values.sort();
        values
    };
    a.size() == b.size() && sorted(a) == sorted(b)
}

/// Whether the first part of each divided mode has the values that the tiler selects.
pub(crate) fn first_modes_are_tiles(a: &Layout, tiler: &Tiler, r: &Layout) -> bool {
    match tiler {
        Tiler::Keep => a == r,
        Tiler::Layout(_) => {
            let tile = composition_by(a, tiler).ok();
            tile.zip(r.mode(0))
                .is_some_and(|(tile, mode)| same_function(&tile, &mode))
        }
        Tiler::Modes(tilers) => a
            .modes()
            .iter()
            .zip(tilers)
            .zip(r.modes())
            .all(|((a, tiler), r)| first_modes_are_tiles(a, tiler, &r)),
    }
}

/// Whether R has the values `A(i) + C(B(j))`, where C enumerates the places at which copies of A fit.
fn is_product(operation: &str, a: &Layout, tiler: &Tiler, r: &Layout) -> Option<bool> {
    match (operation, tiler) {
        // The values of the tiler are indices of copies, so they must be integers.
        (_, Tiler::Layout(b)) if !b.is_integral() => None,
        ("blocked_product" | "raked_product", Tiler::Layout(b)) if a.rank().max(b.rank()) == 0 => {
            Some(r.rank() == 0)
        }
        ("blocked_product", Tiler::Layout(b)) => {
            let (a, b) = (padded(a, b.rank()), padded(b, a.rank()));
            is_product("zipped_product", &a, &b.into(), &transpose_modes(r).ok()?)
        }
        ("raked_product", Tiler::Layout(b)) => {
            let (a, b) = (padded(a, b.rank()), padded(b, a.rank()));
            let [tiles, block] = &transpose_modes(r).ok()?.modes()[..] else {
                return Some(false);
            };
            let swapped = Layout::concat([block.clone(), tiles.clone()]).ok()?;
            is_product("zipped_product", &a, &b.into(), &swapped)
        }
        ("logical_product", Tiler::Modes(tilers)) => {
            let modes = a.modes().into_iter().zip(r.modes()).enumerate();
            let kept = modes.map(|(i, (a, r))| match tilers.get(i) {
                Some(tiler) => is_product(operation, &a, tiler, &r),
                None => Some(a == r),
            });
            let kept: Option<Vec<bool>> = kept.collect();
            Some(kept?.into_iter().all(|kept| kept))
        }
        (_, Tiler::Keep) => Some(a == r),
        (_, Tiler::Layout(b)) => {
            let values: Vec<i64> = r.values().collect();
            let places: Vec<i64> = values.iter().step_by(a.size() as usize).copied().collect();
            let repeated = places
                .iter()
                .flat_map(|&place| a.values().map(move |value| value + place));
            let free = FreePlaces::of(a);
            let placed = free.at(b) == places
                || free.counted_up(b).at(b) == places && is_spread(a, b, &places);
            Some(r.size() == a.size() * b.size() && repeated.eq(values) && placed)
        }
        (_, Tiler::Modes(tilers)) => {
            // The order is: the modes of A that are tiled, the copies, the modes of A that are not tiled.
            let mut expected = vec![0];
            let (tiled, rest) = a
                .modes()
                .split_at_checked(tilers.len())
                .map(|(a, b)| (a.to_vec(), b.to_vec()))?;
            tiled
                .iter()
                .for_each(|mode| outer_sum(&mut expected, &mode.values().collect::<Vec<_>>()));
            for (mode, tiler) in tiled.iter().zip(tilers) {
                let Tiler::Layout(b) = tiler else { return None };
                outer_sum(&mut expected, &FreePlaces::of(mode).at(b));
            }
            rest.iter()
                .for_each(|mode| outer_sum(&mut expected, &mode.values().collect::<Vec<_>>()));
            Some(r.values().eq(expected))
        }
    }
}

/// The offsets at which copies of A can be placed.
pub(crate) struct FreePlaces {
    /// How many places there are below each stride of A, as many as fit, and the distance between them.
    pub(crate) gaps: Vec<(i64, i64)>,
    /// The distance between the places behind the last stride, of which there is no end.
    pub(crate) block: i64,
}

impl FreePlaces {
    pub(crate) fn of(a: &Layout) -> Self {
        let mut modes = filter(a).flat_modes();
        modes.retain(|(extent, _)| *extent > 1);
        modes.sort_by_key(|(_, stride)| stride.value());
        let (mut gaps, mut block) = (Vec::new(), 1);
        for (extent, stride) in modes {
            gaps.push((stride.value() / block, block));
            block = stride.value() * extent;
        }
        Self { gaps, block }
    }

    /// The places with each gap counted up to a multiple of the largest stride of B that ends inside it.
    pub(crate) fn counted_up(&self, b: &Layout) -> Self {
        let mut before = 1;
        let count_up = |&(room, distance): &(i64, i64)| {
            let strides = b.stride().leaves().map(|stride| stride.value());
            let inside = strides.filter(|stride| (before..before * room).contains(stride));
            let step = inside.max().unwrap_or(before) / before;
            let counted = (room..).find(|counted| counted % step == 0).unwrap_or(room);
            before *= counted;
            (counted, distance)
        };
        let gaps = self.gaps.iter().map(count_up).collect();
        Self { gaps, ..*self }
    }

    /// The offsets of the copies with the numbers that B gives.
    fn at(&self, b: &Layout) -> Vec<i64> {
        let place = |mut index: i64| {
            let mut sum = 0;
            for (room, distance) in &self.gaps {
                sum += index.rem_euclid(*room) * distance;
                index = index.div_euclid(*room);
            }
            sum + index * self.block
        };
        b.values().map(place).collect()
    }
}

/// Whether copies of A at these offsets have no element in common, and their order is that of B.
fn is_spread(a: &Layout, b: &Layout, places: &[i64]) -> bool {
    let mut order: Vec<(i64, i64)> = b.values().zip(places.iter().copied()).collect();
    order.sort_unstable();
    order.dedup();
    let inner = filter(a);
    let sums = order
        .iter()
        .flat_map(|(_, place)| inner.values().map(move |value| value + place));
    let mut sums: Vec<i64> = sums.collect();
    sums.sort_unstable();
    sums.windows(2).all(|pair| pair[0] < pair[1]) && order.is_sorted_by_key(|(_, place)| *place)
}

fn outer_sum(sums: &mut Vec<i64>, values: &[i64]) {
    *sums = values
        .iter()
        .flat_map(|value| sums.iter().map(move |sum| sum + value))
        .collect();
}

fn padded(a: &Layout, rank: usize) -> Layout {
    append_to_rank(a, rank.max(a.rank()) as i64, &Layout::unit())
        .expect("ranks of layouts are within the limits")
}

/// Whether the values of A, divided by `factor`, are the values of R, each `factor` times as often.
pub(crate) fn is_upcast(a: &Layout, factor: i64, r: &Layout) -> bool {
    let mut counts: HashMap<i64, i64> = HashMap::new();
    for value in a.values() {
        *counts.entry(value.div_euclid(factor)).or_default() += 1;
    }
    for value in r.values() {
        *counts.entry(value).or_default() -= factor;
    }
    counts.values().all(|&count| count == 0)
}

pub(crate) fn as_layout(value: &Value) -> Option<Layout> {
    match value {
        Value::Layout(layout) => Some(layout.clone()),
        Value::Int(extent) => Layout::left(*extent).ok(),
        Value::Tuple(shape) => Layout::left(shape.clone()).ok(),
        _ => None,
    }
}

pub(crate) fn as_tiler(value: &Value) -> Option<Tiler> {
    match value {
        Value::Tiler(tiler) => Some(tiler.clone()),
        Value::Layout(layout) => Some(layout.clone().into()),
        value => Tiler::from_shape(&as_shape(value)?).ok(),
    }
}

pub(crate) fn as_shape(value: &Value) -> Option<Shape> {
    match value {
        Value::Int(extent) => Some(Tuple::Leaf(*extent)),
        Value::Tuple(shape) => Some(shape.clone()),
        _ => None,
    }
}
