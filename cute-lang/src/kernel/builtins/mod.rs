//! The functions of the kernel language: one row for each name, in the file of its family.
//!
//! `x.f(y)` is `f(x, y)`, `x[c]` is `index(x, c)` and `x[c] = y` is `index_assign(x, c, y)`. A name without a row is
//! looked up among the operations of the algebra.

mod algebra;
pub(crate) mod array;
mod atomic;
mod bits;
pub mod call;
mod convert;
mod copy;
mod exchange;
pub mod fragment;
mod global;
mod index;
mod integer;
mod local_partition;
mod local_tile;
mod math;
mod mbarrier;
mod mma;
mod modes;
mod questions;
mod random;
mod redistribute;
mod reduce;
mod registers;
mod sync;
mod tensor;
mod thread;
mod time;
mod tma;
mod transpose;
mod warp;
mod wgmma;

pub use algebra::operate;
use call::Builtin;
use cute_algebra::operations;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The rows of each family.
const TABLE: &[&[Builtin]] = &[
    atomic::ROWS,
    bits::ROWS,
    convert::ROWS,
    copy::ROWS,
    fragment::ROWS,
    global::ROWS,
    index::ROWS,
    integer::ROWS,
    local_partition::ROWS,
    local_tile::ROWS,
    math::ROWS,
    math::classify::ROWS,
    math::pow::ROWS,
    mbarrier::ROWS,
    random::ROWS,
    redistribute::ROWS,
    mma::ROWS,
    reduce::ROWS,
    registers::ROWS,
    sync::ROWS,
    tensor::ROWS,
    thread::ROWS,
    time::ROWS,
    tma::ROWS,
    transpose::ROWS,
    warp::ROWS,
    wgmma::ROWS,
];

/// Names that select one of several forms. They stand for nothing else.
pub const WORDS: &[&str] = &[
    "K",
    "MN",
    "INTER",
    "SW32",
    "SW64",
    "SW128",
    "add",
    "and",
    "or",
    "xor",
    "inc",
    "dec",
    "RELAXED",
    "ACQUIRE",
    "RELEASE",
    "ACQ_REL",
    "WARPGROUP",
    "CTA",
    "CLUSTER",
    "GPU",
    "SYS",
    "STREAMING",
    "EVICT_FIRST",
    "EVICT_LAST",
    "NO_ALLOCATE",
    "L2_64B",
    "L2_128B",
    "L2_256B",
];

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    static BY_NAME: LazyLock<HashMap<&str, &Builtin>> =
        LazyLock::new(|| rows().map(|row| (row.name(), row)).collect());
    BY_NAME.get(name).copied()
}

fn rows() -> impl Iterator<Item = &'static Builtin> {
    TABLE.iter().copied().flatten()
}

/// The operations that a function of the language takes as argument `index`, as a list in words.
pub fn operations_of(name: &str, index: usize) -> Option<&'static str> {
    let is_taken = find(name)?.argument(index) == Some("operation");
    is_taken.then_some(match name {
        "tma_reduce" | "reduce_async" => copy::reduction::NAMES,
        _ => reduce::NAMES,
    })
}

/// How `map` is called, which has no row: it calls a function of the kernel.
pub const MAP: &str = "map(x, function)";

/// The syntax of `select` with a condition. On a layout, it is the operation of the algebra.
pub const SELECT: &str = "select(condition, x, y)";

/// The syntax of `recast` on a tensor. On a layout, it is the operation of the algebra.
pub const RECAST: &str = "recast::<T>(tensor)";

/// How the functions of the language are called.
pub fn signatures() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.signature).chain([MAP, RECAST, SELECT])
}

/// The names of all functions of the language and of all operations of the algebra.
pub fn names() -> impl Iterator<Item = &'static str> {
    let operations = operations::all().map(|operation| operation.name);
    rows().map(Builtin::name).chain(["map"]).chain(operations)
}
