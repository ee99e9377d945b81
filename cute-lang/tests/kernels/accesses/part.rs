//! A random part of a tensor: how a kernel writes it, and which elements it has.

use crate::random::Random;
use cute_algebra::{Layout, Tiler, Tuple, composition, zipped_divide};

/// A number of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Known(i128),
    /// An argument, by its index.
    Arg(usize),
    /// An argument modulo a known number.
    Rem(usize, i128),
    /// The number of the thread.
    Thread,
}

/// A number argument: its type, and values near which something changes.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) ty: &'static str,
    pub(super) near: Vec<i128>,
}

#[derive(Clone, Debug)]
pub(super) enum Index {
    All,
    At(Number),
    Range(Number, Number),
}

/// An operation on a part. The first tile makes whole modes a tile.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Slice(Vec<Index>),
    Tile(Vec<i64>, Vec<Number>),
    SliceTile(Vec<Option<Number>>),
    Partition(Vec<i64>),
    Compose(Layout),
    Select(Vec<usize>),
    Divide(Vec<i64>),
    Offset(Vec<Number>),
}

/// What an argument may be.
pub(super) type Values<'a> = &'a dyn Fn(&Number) -> i128;

/// The modes of a part.
#[derive(Clone, Debug)]
pub(super) enum Modes {
    Whole(Vec<usize>),
    Tile(Layout),
}

/// A part by brute force, in integers that do not wrap.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// For each mode of the tensor, the coordinate at which the part begins.
    origin: Vec<i128>,
    /// For each mode of the tensor, the coordinates that belong to the part.
    inside: Vec<std::ops::Range<i128>>,
    pub(super) modes: Modes,
}

impl Part {
    pub(super) fn whole(extents: &[i128]) -> Self {
        Self {
            origin: vec![0; extents.len()],
            inside: extents.iter().map(|extent| 0..*extent).collect(),
            modes: Modes::Whole((0..extents.len()).collect()),
        }
    }

    /// The layout of a tile.
    pub(super) fn tile(&self) -> Option<&Layout> {
        match &self.modes {
            Modes::Tile(layout) => Some(layout),
            Modes::Whole(_) => None,
        }
    }

    /// The extent of a whole mode.
    pub(super) fn extent(&self, mode: usize) -> i128 {
        let Modes::Whole(modes) = &self.modes else {
            panic!("a tile");
        };
        let mode = modes[mode];
        (self.inside[mode].end - self.origin[mode]).max(0)
    }

    /// The coordinate in the tensor of the element at a coordinate of whole modes; none if there is no such element.
    pub(super) fn at(&self, coordinate: &[i128]) -> Option<Vec<i128>> {
        let Modes::Whole(modes) = &self.modes else {
            panic!("a tile");
        };
        let mut place = self.origin.clone();
        for (mode, coordinate) in modes.iter().zip(coordinate) {
            place[*mode] += *coordinate;
        }
        self.element(place)
    }

    /// The coordinate in the tensor of an element of a tile by its 1-D coordinate; none if there is no such element.
    pub(super) fn of_tile(&self, index: i64) -> Option<Vec<i128>> {
        let layout = self.tile().expect("a tile");
        let values = offsets(layout, index, self.origin.len());
        self.element(sum(&self.origin, &values))
    }

    fn element(&self, place: Vec<i128>) -> Option<Vec<i128>> {
        let mut modes = self.inside.iter().zip(&place);
        modes
            .all(|(inside, place)| inside.contains(place))
            .then_some(place)
    }

    /// What an operation gives; none if the algebra refuses it.
    pub(super) fn apply(&self, op: &Op, value: Values<'_>) -> Option<Part> {
        let mut part = self.clone();
        let rank = self.origin.len();
        part.modes = match (op, &self.modes) {
            (Op::Slice(indices), Modes::Whole(modes)) => {
                let mut kept = Vec::new();
                for (&mode, index) in modes.iter().zip(indices) {
                    let origin = &mut part.origin[mode];
                    match index {
                        Index::All => kept.push(mode),
                        Index::At(number) => *origin += value(number),
                        Index::Range(first, end) => {
                            let inside = &mut part.inside[mode];
                            inside.end = inside.end.min(*origin + value(end));
                            *origin += value(first);
                            inside.start = *origin;
                            kept.push(mode);
                        }
                    }
                }
                Modes::Whole(kept)
            }
            (Op::Tile(shape, numbers), Modes::Whole(modes)) => {
                let mut strides = Vec::new();
                for ((&mode, extent), number) in modes.iter().zip(shape).zip(numbers) {
                    let first = value(number) * i128::from(*extent);
                    part.origin[mode] += first;
                    strides.push(format!("1@{mode}"));
                }
                let text = format!("({}):({})", joined(shape), strides.join(","));
                Modes::Tile(text.parse().ok()?)
            }
            (Op::Tile(shape, numbers), Modes::Tile(layout)) => {
                let divided = divided(layout, shape)?;
                let (tile, rest) = (divided.mode(0)?, divided.mode(1)?);
                for (rest, number) in rest.modes().iter().zip(numbers) {
                    let offset = offsets(rest, value(number) as i64, rank);
                    part.origin = sum(&part.origin, &offset);
                }
                Modes::Tile(tile)
            }
            (Op::SliceTile(numbers), Modes::Tile(layout)) => {
                let mut kept = Vec::new();
                for (mode, number) in layout.modes().iter().zip(numbers) {
                    match number {
                        None => kept.push(mode.clone()),
                        Some(number) => {
                            let offset = offsets(mode, value(number) as i64, rank);
                            part.origin = sum(&part.origin, &offset);
                        }
                    }
                }
                Modes::Tile(Layout::concat(kept).ok()?)
            }
            (Op::Partition(shape), Modes::Tile(layout)) => {
                let divided = divided(layout, shape)?;
                let own = offsets(&divided.mode(0)?, value(&Number::Thread) as i64, rank);
                part.origin = sum(&part.origin, &own);
                Modes::Tile(divided.mode(1)?)
            }
            (Op::Compose(with), Modes::Tile(layout)) => {
                Modes::Tile(composition(layout, with).ok()?)
            }
            (Op::Select(order), Modes::Tile(layout)) => {
                let modes = layout.modes();
                let modes: Vec<Layout> = order.iter().map(|mode| modes[*mode].clone()).collect();
                Modes::Tile(Layout::concat(modes).ok()?)
            }
            (Op::Divide(shape), Modes::Tile(layout)) => Modes::Tile(divided(layout, shape)?),
            (Op::Offset(numbers), Modes::Tile(layout)) => {
                for (mode, number) in layout.modes().iter().zip(numbers) {
                    let Tuple::Leaf(stride) = mode.stride() else {
                        return None;
                    };
                    if let [mode] = stride.path()[..] {
                        part.origin[mode] += value(number) * i128::from(stride.value());
                    }
                }
                self.modes.clone()
            }
            _ => return None,
        };
        Some(part)
    }
}

fn divided(layout: &Layout, shape: &[i64]) -> Option<Layout> {
    let shape: cute_algebra::Shape = shape.iter().copied().map(Tuple::Leaf).collect();
    zipped_divide(layout, &Tiler::from_shape(&shape).ok()?).ok()
}

/// The coordinate in the tensor, relative to the origin, of an element of a layout by its 1-D coordinate.
fn offsets(layout: &Layout, index: i64, rank: usize) -> Vec<i128> {
    let mut offsets = vec![0; rank];
    let mut rest = i128::from(index);
    for (extent, stride) in layout.flat_modes() {
        let digit = rest % i128::from(extent);
        rest /= i128::from(extent);
        if let [mode] = stride.path()[..] {
            offsets[mode] += digit * i128::from(stride.value());
        }
    }
    offsets
}

fn sum(a: &[i128], b: &[i128]) -> Vec<i128> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

pub(super) fn joined(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    numbers.join(",")
}

/// A number as a kernel writes it.
pub(super) fn number(number: &Number) -> String {
    match number {
        Number::Known(known) => known.to_string(),
        Number::Arg(index) => format!("n{index}"),
        Number::Rem(index, by) => format!("n{index} % {by}"),
        Number::Thread => "thread()".into(),
    }
}

/// A coordinate as a kernel writes it.
fn coordinate(parts: impl Iterator<Item = String>) -> String {
    let parts: String = parts.map(|part| part + ", ").collect();
    format!("({parts})")
}

/// An operation on a part as a kernel writes it.
pub(super) fn text(op: &Op, part: &str) -> String {
    match op {
        Op::Slice(indices) => {
            let index = |index: &Index| match index {
                Index::All => "_".into(),
                Index::At(at) => number(at),
                Index::Range(first, end) => format!("{}..{}", number(first), number(end)),
            };
            let indices: Vec<String> = indices.iter().map(index).collect();
            match &indices[..] {
                [index] => format!("{part}[{index}]"),
                _ => format!("{part}[{}]", coordinate(indices.into_iter())),
            }
        }
        Op::Tile(shape, numbers) => format!(
            "local_tile({part}, {}, {})",
            coordinate(shape.iter().map(i64::to_string)),
            coordinate(numbers.iter().map(number))
        ),
        Op::SliceTile(numbers) => {
            let index = |index: &Option<Number>| index.as_ref().map_or("_".into(), number);
            format!("{part}[{}]", coordinate(numbers.iter().map(index)))
        }
        Op::Partition(shape) => {
            let shape = joined(shape);
            format!("local_partition({part}, layout!(({shape})), thread())")
        }
        Op::Compose(layout) => format!("composition({part}, layout!({layout}))"),
        Op::Select(order) => {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            format!("select({part}, {})", order.join(", "))
        }
        Op::Divide(shape) => {
            let shape = coordinate(shape.iter().map(i64::to_string));
            format!("zipped_divide({part}, {shape})")
        }
        Op::Offset(numbers) => {
            format!(
                "domain_offset({}, {part})",
                coordinate(numbers.iter().map(number))
            )
        }
    }
}

/// Random parts, and the arguments that they take.
pub(super) struct Parts<'r> {
    pub(super) random: &'r mut Random,
    pub(super) args: Vec<Arg>,
    pub(super) threads: i64,
}

impl Parts<'_> {
    /// A new argument.
    fn argument(&mut self, types: &[&'static str], near: &[i128]) -> usize {
        self.args.push(Arg {
            ty: self.random.pick(types),
            near: near.to_vec(),
        });
        self.args.len() - 1
    }

    /// A coordinate, of which `count` are inside.
    pub(super) fn coordinate(&mut self, types: &[&'static str], count: i128) -> Number {
        match self.random.below(4) {
            0 => Number::Known(self.random.below(count.clamp(1, 40) as usize + 1) as i128),
            _ => Number::Arg(self.argument(types, &[0, count, count / 2])),
        }
    }

    /// The number of a tile.
    fn number_of_tile(&mut self, extent: i128, tile: i64) -> Number {
        let tile = i128::from(tile);
        match self.random.below(4) {
            0 => Number::Known(self.random.below((extent.min(80) / tile) as usize + 2) as i128),
            _ => {
                let near = [
                    0,
                    extent / tile,
                    (1 << 31) / tile,
                    (1 << 32) / tile,
                    (1i128 << 64) / tile,
                ];
                Number::Arg(self.argument(&["u32", "u32", "u64", "i32"], &near))
            }
        }
    }

    /// A number below a known one.
    fn inner(&mut self, count: i64) -> Number {
        match self.random.below(3) {
            0 => Number::Known(self.random.below(count as usize) as i128),
            1 if count.count_ones() == 1 && count <= self.threads => {
                Number::Rem(self.argument(&["u32"], &[0, 1 << 31]), count.into())
            }
            _ => Number::Rem(self.argument(&["u32", "u64"], &[0, 1 << 31]), count.into()),
        }
    }

    /// Slices of whole modes.
    pub(super) fn slices(&mut self, extents: &[i128]) -> (Vec<Op>, Vec<i128>) {
        let (mut ops, mut extents) = (Vec::new(), extents.to_vec());
        while !self.random.once_in(3) && ops.len() < 3 {
            let (mut indices, mut kept) = (Vec::new(), Vec::new());
            for (at, &extent) in extents.iter().enumerate() {
                let is_last = at + 1 == extents.len() && kept.is_empty();
                match self.random.below(if is_last { 4 } else { 5 }) {
                    0 | 1 => {
                        indices.push(Index::All);
                        kept.push(extent);
                    }
                    2 | 3 => {
                        // Both bounds of a range have one type.
                        let ty = [self.random.pick(&["u32", "u32", "u64"])];
                        let [first, end] = [(); 2].map(|()| self.coordinate(&ty, extent));
                        indices.push(Index::Range(first, end));
                        kept.push(extent);
                    }
                    _ => {
                        let types = ["u32", "u32", "u64", "i32", "i64"];
                        indices.push(Index::At(self.coordinate(&types, extent)));
                    }
                }
            }
            let several = |index: &Index| !matches!(index, Index::At(_));
            if indices.iter().any(several) {
                ops.push(Op::Slice(indices));
                extents = kept;
            }
        }
        (ops, extents)
    }

    /// A tile of whole modes, of at most `most` elements.
    pub(super) fn tile(&mut self, extents: &[i128], most: i64) -> Op {
        let (mut shape, mut left) = (Vec::new(), most);
        for (at, _) in extents.iter().enumerate() {
            let odd = [1, 2, 3, 4, 5, 6, 8, 12];
            let last = [1, 2, 4, 8, 8, 16, 16, 32, 3, 12, 24];
            let extent = match at + 1 == extents.len() {
                true => self.random.pick(&last),
                false => self.random.pick(&odd),
            };
            let extent = extent.min(left);
            left /= extent;
            shape.push(extent);
        }
        let pairs = extents.iter().zip(shape.clone());
        let numbers = pairs.map(|(extent, tile)| self.number_of_tile(*extent, tile));
        let numbers = numbers.collect();
        Op::Tile(shape, numbers)
    }

    /// An operation on a tile.
    pub(super) fn on_tile(&mut self, layout: &Layout) -> Op {
        let sizes: Vec<i64> = layout.modes().iter().map(Layout::size).collect();
        match self.random.below(9) {
            0 | 1 => {
                let steps = sizes.iter().map(|_| {
                    let far = [0, 1 << 31, -(1 << 31), 40, -40, 1 << 32];
                    match self.random.below(3) {
                        0 => Number::Known(self.random.below(41) as i128 - 20),
                        1 => Number::Known(0),
                        _ => Number::Arg(self.argument(&["i32", "i32", "i64", "u32", "u64"], &far)),
                    }
                });
                Op::Offset(steps.collect())
            }
            2 | 3 => {
                let shape = self.divisors(&sizes);
                let counts = sizes.iter().zip(shape.clone());
                let numbers = counts.map(|(size, tile)| self.inner(size / tile));
                let numbers = numbers.collect();
                Op::Tile(shape, numbers)
            }
            4 => {
                let kept = self.random.below(sizes.len());
                let numbers = sizes.iter().enumerate().map(|(mode, size)| {
                    (mode != kept && self.random.once_in(2)).then(|| self.inner(*size))
                });
                Op::SliceTile(numbers.collect())
            }
            5 => Op::Divide(self.divisors(&sizes)),
            6 => {
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                let by = self.random.below(sizes.len());
                order.rotate_left(by);
                Op::Select(order)
            }
            7 => {
                let total: i64 = sizes.iter().product();
                let inner = self.divisors(&[total])[0];
                let text = match self.random.below(3) {
                    0 => format!("({inner},{}):(1,{inner})", total / inner),
                    1 => format!("({inner},{}):({},1)", total / inner, total / inner),
                    _ => format!("{inner}:{}", total / inner),
                };
                Op::Compose(text.parse().expect("a layout"))
            }
            _ => {
                let mut left = self.threads;
                let shape = sizes.iter().map(|size| {
                    let own = gcd(left, *size);
                    left /= own;
                    own
                });
                Op::Partition(shape.collect())
            }
        }
    }

    /// A divisor of each.
    fn divisors(&mut self, sizes: &[i64]) -> Vec<i64> {
        let divisor = |size: &i64| {
            let all: Vec<i64> = (1..=*size).filter(|divisor| size % divisor == 0).collect();
            self.random.pick(&all)
        };
        sizes.iter().map(divisor).collect()
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}
