//! The measured products.

use std::fmt;
use std::str::FromStr;

use cute_runtime::ElementType::{self, BF16, E4M3, F16, F32, I8, I32};

/// The types of A and B, and of D.
pub(crate) type Types = (ElementType, ElementType);

/// All compared types. cuBLASLt reads `f32` as tf32, too.
pub(crate) const TYPES: [Types; 8] = [
    (BF16, BF16),
    (F16, F16),
    (BF16, F32),
    (F16, F32),
    (F32, F32),
    (E4M3, BF16),
    (E4M3, F32),
    (I8, I32),
];

/// A batch of products D = A · Bᵀ, or a grouped product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Matrices, or groups.
    pub(crate) batches: usize,
    /// Rows of each matrix A, or of all groups together.
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    /// Whether A is contiguous along M, and B along N, not K.
    pub(crate) mn: [bool; 2],
    /// Elements between the rows of A, of B and of D, or their columns.
    pub(crate) pad: usize,
    /// How many rows the groups of a grouped product have; none of a batch.
    pub(crate) groups: Option<Groups>,
}

/// How the rows of a grouped product are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// By the same number for each group.
    Even,
    /// By numbers that are spread from almost 0 to three times their mean.
    Uneven,
    /// In the same way, and the host knows them: by `gemm_list`.
    List,
}

impl Shape {
    /// The usual letters for the majors of A and B: T for one along K, and N for A; B has them the other way round. Of a grouped
    /// product, how its rows are divided.
    pub(crate) fn majors(&self) -> &'static str {
        match (self.groups, self.mn) {
            (Some(Groups::Even), _) => "even",
            (Some(Groups::Uneven), _) => "uneven",
            (Some(Groups::List), _) => "list",
            (None, [false, false]) => "TN",
            (None, [true, false]) => "NN",
            (None, [true, true]) => "NT",
            (None, [false, true]) => "TT",
        }
    }

    /// Where the groups end.
    pub(crate) fn ends(&self) -> Vec<i32> {
        let golden = |e: usize| ((e + 1) as f64 * 0.618_033_988_749_894_9).fract();
        let weight = |e: usize| match self.groups {
            Some(Groups::Uneven | Groups::List) => golden(e).powi(2),
            _ => 1.0,
        };
        let sums = (0..self.batches).scan(0.0, |sum, e| {
            *sum += weight(e);
            Some(*sum)
        });
        let sums: Vec<f64> = sums.collect();
        let all = sums.last().copied().unwrap_or(1.0);
        let ends = sums.iter().map(|sum| (self.m as f64 * (sum / all)) as i32);
        ends.collect()
    }

    /// Whether there is a product of these types.
    pub(crate) fn is_of(&self, (input, output): Types) -> bool {
        self.groups.is_none() || input == output && matches!(input, BF16 | F16)
    }

    /// Where a matrix with so many rows and columns lies, along its rows if `mn`.
    pub(crate) fn placed(&self, rows: usize, columns: usize, mn: bool) -> Placed {
        let (inner, outer) = if mn { (rows, columns) } else { (columns, rows) };
        Placed {
            inner,
            outer,
            ld: inner + self.pad,
        }
    }

    /// Floating-point operations.
    pub(crate) fn operations(&self) -> f64 {
        let products = if self.groups.is_some() {
            1
        } else {
            self.batches
        };
        2.0 * [products, self.m, self.n, self.k]
            .map(|x| x as f64)
            .iter()
            .product::<f64>()
    }
}

/// Where a matrix lies.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    /// The extent of the contiguous mode.
    pub(crate) inner: usize,
    /// The extent of the other mode.
    pub(crate) outer: usize,
    /// The stride of the other mode, in elements.
    pub(crate) ld: usize,
}

impl Placed {
    /// Elements from one matrix of a batch to the next.
    pub(crate) fn len(&self) -> usize {
        self.outer * self.ld
    }

    /// The strides of a batch of such matrices: (batch, row, column).
    pub(crate) fn strides(&self, mn: bool) -> [usize; 3] {
        match mn {
            true => [self.len(), 1, self.ld],
            false => [self.len(), self.ld, 1],
        }
    }
}

impl fmt::Display for Shape {
    /// As `FromStr` reads it, without parts that have their default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape {
            batches,
            m,
            n,
            k,
            pad,
            ..
        } = *self;
        if batches > 1 {
            write!(f, "{batches}x")?;
        }
        write!(f, "{m}x{n}x{k}")?;
        match pad {
            0 => Ok(()),
            _ => write!(f, "+{pad}"),
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    /// `MxNxK`, or `BATCHESxMxNxK`, then `+PAD`, then a space and the majors, such as `8192x3000x5000+1 NT`. `GROUPSxMxNxK even`, or
    /// `uneven`, is a grouped product, and `GROUPSxMxNxK list` a list of products.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no shape, such as `64x512x512x128`, `8192x3000x5000+1` or `4096x4096x4096 NT`"
            )
        };
        let (sizes, majors) = match text.split_once(' ') {
            Some((sizes, majors)) => (sizes, majors.trim()),
            None => (text, "TN"),
        };
        let (sizes, pad) = sizes.split_once('+').unwrap_or((sizes, "0"));
        let mut numbers = Vec::new();
        for number in sizes.split('x') {
            numbers.push(
                number
                    .parse()
                    .ok()
                    .filter(|&x: &usize| x > 0)
                    .ok_or_else(wrong)?,
            );
        }
        if numbers.len() == 3 {
            numbers.insert(0, 1);
        }
        let [batches, m, n, k] = numbers.try_into().map_err(|_| wrong())?;
        let (groups, mn) = match majors {
            "TN" => (None, [false, false]),
            "NN" => (None, [true, false]),
            "NT" => (None, [true, true]),
            "TT" => (None, [false, true]),
            "even" => (Some(Groups::Even), [false, false]),
            "uneven" => (Some(Groups::Uneven), [false, false]),
            "list" => (Some(Groups::List), [false, false]),
            _ => return Err(wrong()),
        };
        let pad = pad.parse().map_err(|_| wrong())?;
        if groups.is_some() && pad > 0 {
            return Err(wrong());
        }
        Ok(Self {
            batches,
            m,
            n,
            k,
            mn,
            pad,
            groups,
        })
    }
}

/// A class of shapes, for which a geometric mean is taken.
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) shapes: Vec<Shape>,
}

/// Name and shapes of each class.
const CLASSES: [(&str, &[&str]); 7] = [
    (
        "large",
        &[
            "2048x2048x2048",
            "4096x4096x4096",
            "8192x8192x8192",
            "16384x16384x16384",
            "4096x24576x1536",
            "8192x28672x4096",
            "8192x4096x28672",
            "2048x32000x4096",
        ],
    ),
    (
        "middle",
        &[
            "1000x1000x1000",
            "1024x1024x1024",
            "1536x1536x1536",
            "3072x3072x3072",
            "3000x5000x700",
        ],
    ),
    (
        "majors",
        &[
            "4096x4096x4096 NN",
            "4096x4096x4096 NT",
            "4096x4096x4096 TT",
            "8192x8192x8192 NT",
            "1024x1024x1024 TT",
            "8192x3000x5000 NN",
        ],
    ),
    (
        "odd",
        &[
            "8192x3000x5000",
            "4099x4101x4096",
            "4096x4096x4096+1",
            "4096x4096x4096+1 NT",
        ],
    ),
    (
        "batched",
        &["64x512x512x128", "128x1024x64x1024", "16x1024x1024x1024"],
    ),
    (
        "grouped",
        &[
            "8x4096x4096x7168 even",
            "8x4096x7168x2048 even",
            "8x4096x4096x7168 uneven",
            "64x8192x4096x2048 even",
            "64x8192x4096x2048 uneven",
            "64x16384x2048x7168 uneven",
            "64x256x4096x7168 uneven",
        ],
    ),
    (
        "lists",
        &["8x4096x4096x7168 list", "64x8192x4096x2048 list"],
    ),
];

/// Rows of A of the products with few of them, and their N and K.
const FEW: ([usize; 6], [[usize; 2]; 5]) = (
    [1, 8, 16, 64, 128, 256],
    [
        [4096, 7168],
        [7168, 2048],
        [8192, 8192],
        [12_288, 4096],
        [28_672, 8192],
    ],
);

/// The measured classes if no file gives others.
pub(crate) fn classes() -> Result<Vec<Class>, String> {
    let mut classes = Vec::new();
    for (name, shapes) in CLASSES {
        classes.push(class(name, shapes.iter().copied())?);
    }
    let few = FEW
        .0
        .map(|m| FEW.1.map(|[n, k]| format!("{m}x{n}x{k}")))
        .concat();
    classes.push(class("few rows", few.iter().map(String::as_str))?);
    Ok(classes)
}

/// The shapes of a file, one on each line. A `#` starts a comment.
pub(crate) fn listed(text: &str) -> Result<Class, String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    class("listed", lines.filter(|line| !line.is_empty()))
}

/// How many products are drawn.
const DRAWN: usize = 64;

/// The classes of drawn products: a name, and the most rows of A.
const BY_ROWS: [(&str, usize); 3] = [
    ("rows up to 16", 16),
    ("rows up to 512", 512),
    ("more rows", usize::MAX),
];

/// Random products, the same for each seed: M is log-uniform from 1 to 16,384, and N and K are from 256 to 28,672, multiples of 64, as those
/// of models mostly are, or, one in ten, of 8.
pub(crate) fn drawn(seed: u64) -> Vec<Class> {
    let mut numbers = Numbers(seed);
    let shapes: Vec<Shape> = (0..DRAWN)
        .map(|_| {
            let m = (numbers.next() * 16384f64.ln()).exp().round();
            let [n, k] = [numbers.side(), numbers.side()];
            Shape {
                batches: 1,
                m: (m as usize).max(1),
                n,
                k,
                mn: [false; 2],
                pad: 0,
                groups: None,
            }
        })
        .collect();
    let mut least = 0;
    let classes = BY_ROWS.map(|(name, most)| {
        let of_class = |shape: &&Shape| (least + 1..=most).contains(&shape.m);
        let shapes = shapes.iter().filter(of_class).copied().collect();
        least = most;
        Class {
            name: name.to_owned(),
            shapes,
        }
    });
    classes.into()
}

/// The numbers of the generator `SplitMix64` (Steele, Lea and Flood, 2014).
struct Numbers(u64);

impl Numbers {
    /// The next number, from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// N or K.
    fn side(&mut self) -> usize {
        let unit = if self.next() < 0.1 { 8 } else { 64 };
        let side = 256.0 * (self.next() * 112f64.ln()).exp();
        (side / unit as f64).round() as usize * unit
    }
}

fn class<'s>(name: &str, shapes: impl Iterator<Item = &'s str>) -> Result<Class, String> {
    Ok(Class {
        name: name.to_owned(),
        shapes: shapes.map(str::parse).collect::<Result<_, _>>()?,
    })
}
