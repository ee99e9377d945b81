//! A random kernel that accesses a random part of a tensor.

use super::part::{Arg, Modes, Number, Op, Part, Parts, joined, number, text};
use crate::random::Random;
use cute_algebra::Layout;

/// An element type: its name, its bytes, and a number of it as a kernel writes it and as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) width: usize,
    fill: &'static str,
    pub(super) fill_bits: u64,
}

const ELEMENTS: [Element; 8] = {
    const fn of(name: &'static str, width: usize, fill: &'static str, fill_bits: u64) -> Element {
        Element {
            name,
            width,
            fill,
            fill_bits,
        }
    }
    [
        of("u8", 1, "7", 7),
        of("i16", 2, "-2", 0xfffe),
        of("bf16", 2, "1.5", 0x3fc0),
        of("f16", 2, "-1.5", 0xbe00),
        of("f32", 4, "1.5", 0x3fc0_0000),
        of("u32", 4, "7", 7),
        of("f64", 8, "0.5", 0x3fe0_0000_0000_0000),
        of("u64", 8, "7", 7),
    ]
};

/// What is known of an extent of the tensor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    Free,
    Multiple(i128),
    Fixed(i128),
    /// It is this argument.
    Arg(usize),
    /// The mode has stride 0, and the extent is near the greatest.
    Large,
}

/// How a kernel accesses the part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Access {
    CopyOr,
    CopyInside,
    CopyAsync,
    FillOutside,
    /// `copy`, whose elements are all inside, or the kernel ends.
    CopyFrom,
    CopyTo,
    /// An element at a coordinate that is inside, or the kernel ends: it is read, written, or added to.
    Read,
    Write,
    Add,
    /// All elements of whole modes, in loops.
    Loops,
}

/// How threads hold a tile.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Each thread has a part of its own.
    Each,
    /// For each mode, how many threads lie along it, and whether a thread's values are next to one another.
    Together(Vec<(i64, bool)>),
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) element: Element,
    pub(super) extents: Vec<Extent>,
    pub(super) is_aligned: bool,
    pub(super) ops: Vec<Op>,
    pub(super) access: Access,
    /// The coordinate of a single element.
    pub(super) place: Vec<Number>,
    pub(super) held: Held,
    pub(super) threads: i64,
    pub(super) args: Vec<Arg>,
    /// The sizes of the tile's modes, or of the tensor that takes what loops read.
    pub(super) sizes: Vec<i64>,
    is_checked: bool,
}

/// Of what a loop reads, so many coordinates along each mode are kept.
const LOOPED: i64 = 6;

impl Case {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut access = random.pick(&[
            Access::CopyOr,
            Access::CopyOr,
            Access::CopyOr,
            Access::CopyInside,
            Access::CopyInside,
            Access::CopyInside,
            Access::CopyAsync,
            Access::FillOutside,
            Access::CopyFrom,
            Access::CopyTo,
            Access::Read,
            Access::Write,
            Access::Add,
            Access::Loops,
        ]);
        let element = match access {
            Access::Read | Access::Write => random.pick(&ELEMENTS),
            Access::Add => random.pick(&[ELEMENTS[5], ELEMENTS[7]]),
            Access::CopyAsync => random.pick(&ELEMENTS[4..]),
            _ => random.pick(&ELEMENTS),
        };
        let is_single = matches!(
            access,
            Access::Read | Access::Write | Access::Add | Access::Loops
        );
        let rank = 1 + random.below(4);
        let mut parts = Parts {
            random,
            args: Vec::new(),
            threads: 1,
        };
        if !is_single && !parts.random.once_in(3) {
            parts.threads = parts.random.pick(&[2, 4, 8, 32]);
        }
        let is_aligned = parts.random.once_in(2);
        let is_read = !matches!(
            access,
            Access::CopyInside | Access::CopyTo | Access::Write | Access::Add | Access::Loops
        );
        let mut extents: Vec<Extent> = Vec::new();
        for mode in 0..rank {
            let size = 1 + parts.random.below(24) as i128;
            extents.push(match parts.random.below(8) {
                0 => Extent::Fixed(size),
                1 | 2 => Extent::Multiple(parts.random.pick(&[2, 4, 8, 16])),
                3 => {
                    parts.args.push(Arg {
                        ty: "u32",
                        near: Vec::new(),
                    });
                    Extent::Arg(parts.args.len() - 1)
                }
                4 if is_read && mode + 1 < rank => Extent::Large,
                _ => Extent::Free,
            });
        }
        let likely: Vec<i128> = extents
            .iter()
            .map(|extent| match extent {
                Extent::Fixed(size) => *size,
                Extent::Large => 1 << 31,
                _ => 12,
            })
            .collect();
        let (mut ops, likely) = parts.slices(&likely);
        // What the ops give, without values: the modes do not depend on these.
        let whole = Part::whole(&vec![1; rank]);
        let zero = |_: &Number| 0;
        let after = |ops: &[Op]| {
            ops.iter()
                .try_fold(whole.clone(), |part, op| part.apply(op, &zero))
        };
        let is_tile = !matches!(access, Access::Loops) && (!is_single || parts.random.once_in(2));
        let mut held = Held::Each;
        if is_tile {
            let most = if parts.threads > 4 { 256 } else { 32 };
            ops.push(parts.tile(&likely, most));
            for _ in 0..parts.random.below(4) {
                let part = after(&ops).expect("a tile");
                let layout = part.tile().expect("a tile");
                let op = parts.on_tile(layout);
                if let Op::Partition(shape) = &op
                    && (shape.iter().product::<i64>() != parts.threads || is_partitioned(&ops))
                {
                    continue;
                }
                ops.push(op);
                if after(&ops).is_none_or(|part| {
                    let rank = part.tile().map_or(0, Layout::rank);
                    !(1..=4).contains(&rank)
                }) {
                    ops.pop();
                }
            }
        }
        let part = after(&ops).expect("a part");
        let sizes: Vec<i64> = match &part.modes {
            Modes::Tile(layout) => layout.modes().iter().map(Layout::size).collect(),
            Modes::Whole(modes) => vec![LOOPED; modes.len()],
        };
        if is_tile && !is_single && !is_partitioned(&ops) {
            held = together(&mut parts, &sizes);
        }
        if matches!(held, Held::Each) {
            match is_partitioned(&ops) {
                // Threads would copy to the same shared memory.
                true if access == Access::CopyAsync => access = Access::CopyOr,
                true => {}
                // Threads would write the same elements.
                false => parts.threads = 1,
            }
        }
        let place = match &part.modes {
            _ if !is_single => Vec::new(),
            Modes::Tile(_) => {
                let mut place = Vec::new();
                for &size in &sizes {
                    let arg = parts.random.below(size as usize) as i128;
                    place.push(Number::Known(arg));
                }
                place
            }
            Modes::Whole(_) => {
                let types = ["u32", "u32", "u64", "i32", "i64"];
                let pairs = likely.iter();
                pairs
                    .map(|extent| parts.coordinate(&types, *extent))
                    .collect()
            }
        };
        let is_checked = match access {
            Access::Loops => parts.random.once_in(2),
            Access::CopyFrom | Access::CopyTo | Access::Read | Access::Write | Access::Add => true,
            _ => parts.random.once_in(4),
        };
        Self {
            element,
            is_aligned,
            ops,
            access,
            place,
            held,
            threads: parts.threads,
            args: parts.args,
            extents,
            sizes,
            is_checked,
        }
    }

    /// The extents of what takes or gives the elements of the part.
    pub(super) fn other(&self) -> Vec<i64> {
        match (&self.access, &self.held) {
            (Access::Loops, _) => self.sizes.clone(),
            (Access::Read | Access::Write | Access::Add, _) => vec![1],
            (_, Held::Each) => vec![self.threads, self.sizes.iter().product()],
            (_, Held::Together(_)) => self.sizes.clone(),
        }
    }

    /// The kernel.
    pub(super) fn source(&self) -> String {
        let Element { name, fill, .. } = self.element;
        let mut facts = Vec::new();
        if self.is_aligned {
            facts.push("aligned(x, 16)".into());
        }
        for (mode, extent) in self.extents.iter().enumerate() {
            match extent {
                Extent::Multiple(by) => facts.push(format!("extent(x, {mode}) % {by} == 0")),
                Extent::Fixed(size) => facts.push(format!("extent(x, {mode}) == {size}")),
                Extent::Arg(index) => facts.push(format!("extent(x, {mode}) == n{index}")),
                Extent::Free | Extent::Large => {}
            }
        }
        let other = self.other();
        let exact = other.iter().enumerate();
        let exact: Vec<String> = exact
            .map(|(mode, extent)| format!("extent(z, {mode}) == {extent}"))
            .collect();
        let args = self.args.iter().enumerate();
        let args: String = args.map(|(i, arg)| format!(", n{i}: {}", arg.ty)).collect();
        let mut part = String::from("x");
        for op in &self.ops {
            part = text(op, &part);
        }
        let total: i64 = self.sizes.iter().product();
        let zeros: String = other.iter().map(|_| "0, ").collect();
        let (fragment, z, held) = match &self.held {
            Held::Each => (
                format!("fragment::<{name}>({total})"),
                format!("local_tile(z[(thread(), _)], ({total},), (0,))"),
                None,
            ),
            Held::Together(modes) => {
                let held = self.layout(modes);
                let shape = joined(&other);
                (
                    format!("fragment::<{name}>(layout!({held}))"),
                    format!("local_tile(z, ({shape},), ({zeros}))"),
                    Some(held),
                )
            }
        };
        let place: String = self.place.iter().map(|at| number(at) + ", ").collect();
        let place = match &self.place[..] {
            [at] => number(at),
            _ => format!("({place})"),
        };
        let body = match self.access {
            Access::CopyOr => {
                format!("let f = {fragment}; copy_or({part}, f, {fill}); copy(f, {z});")
            }
            Access::CopyFrom => format!("let f = {fragment}; copy({part}, f); copy(f, {z});"),
            Access::CopyInside => {
                format!("let f = {fragment}; copy({z}, f); copy_inside(f, {part});")
            }
            Access::CopyTo => format!("let f = {fragment}; copy({z}, f); copy(f, {part});"),
            Access::FillOutside => format!(
                "let f = {fragment}; copy({z}, f); sync_threads(); fill_outside(f, {part}, {fill}); copy(f, {z});"
            ),
            Access::CopyAsync => {
                let by = held.map_or(String::new(), |held| format!(", layout!({held})"));
                let shape = match &self.held {
                    Held::Each => joined(&self.sizes),
                    Held::Together(_) => joined(&other),
                };
                format!(
                    "let t = smem::<{name}>(layout!(({shape}))); copy_async({part}, t{by}); cp_async_commit(); cp_async_wait(0);
                    sync_threads(); let f = {fragment}; copy(t, f); copy(f, {z});"
                )
            }
            Access::Read => format!("z[0] = {part}[{place}];"),
            Access::Write => format!("{part}[{place}] = z[0];"),
            Access::Add => format!("atomic_add({part}, {place}, z[0]);"),
            Access::Loops => {
                let names: Vec<String> = (0..self.sizes.len()).map(|i| format!("i{i}")).collect();
                let loops = names.iter().enumerate();
                // What z does not take is left out early, so that few iterations run.
                let loops: String = loops
                    .map(|(mode, name)| {
                        format!("for {name} in 0..extent(part, {mode}) {{ if {name} < extent(z, {mode}) {{ ")
                    })
                    .collect();
                let at = match &names[..] {
                    [name] => name.clone(),
                    _ => format!("({})", names.join(", ")),
                };
                format!(
                    "let part = {part}; {loops} z[{at}] = part[{at}]; {}",
                    "}".repeat(2 * names.len())
                )
            }
        };
        let checked = if self.is_checked { ", checked" } else { "" };
        format!(
            "#[kernel(threads = {}{checked})] fn k(#[facts({})] x: Global<{name}, {}>, #[facts({})] z: Global<{name}, {}>{args}) {{ {body} }}",
            self.threads,
            facts.join(", "),
            self.extents.len(),
            exact.join(", "),
            other.len(),
        )
        .replace("#[facts()]", "")
    }

    /// How threads hold the tile: the layout from (thread, value) to coordinates.
    fn layout(&self, modes: &[(i64, bool)]) -> String {
        let mut texts = [(); 4].map(|()| Vec::new());
        for (mode, (size, (threads, is_next))) in self.sizes.iter().zip(modes).enumerate() {
            let values = size / threads;
            let (thread, value) = match is_next {
                true => (values, 1),
                false => (1, *threads),
            };
            texts[0].push(threads.to_string());
            texts[1].push(values.to_string());
            texts[2].push(format!("{thread}@{mode}"));
            texts[3].push(format!("{value}@{mode}"));
        }
        let [threads, values, thread, value] = texts.map(|text| text.join(","));
        format!("(({threads}),({values})):(({thread}),({value}))")
    }
}

fn is_partitioned(ops: &[Op]) -> bool {
    ops.iter().any(|op| matches!(op, Op::Partition(_)))
}

/// Threads that hold a tile together, if their number divides it.
fn together(parts: &mut Parts<'_>, sizes: &[i64]) -> Held {
    let mut left = parts.threads;
    let mut modes = Vec::new();
    for size in sizes.iter().rev() {
        let own = 1 << size.trailing_zeros().min(left.trailing_zeros());
        left /= own;
        modes.push((own, parts.random.once_in(2)));
    }
    modes.reverse();
    match left {
        1 if parts.threads > 1 || parts.random.once_in(2) => Held::Together(modes),
        _ => Held::Each,
    }
}
