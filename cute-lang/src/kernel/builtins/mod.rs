//! The functions of the kernel language: one row for each name, in the file of its family.
//!
//! `x.f(y)` is `f(x, y)`, `x[c]` is `index(x, c)` and `x[c] = y` is `index_assign(x, c, y)`. A name without a row is
//! looked up among the operations of the algebra.

mod algebra;
pub mod call;
mod convert;
mod copy;
mod fragment;
mod index;
mod integer;
mod local_tile;
mod mbarrier;
mod mma;
mod questions;
mod reduce;
mod registers;
mod sync;
mod tensor;
mod thread;
mod tma;
mod wgmma;

pub use algebra::operate;
use call::Builtin;
use cute_algebra::operations;

/// The rows of each family.
const TABLE: &[&[Builtin]] = &[
    convert::ROWS,
    copy::ROWS,
    fragment::ROWS,
    index::ROWS,
    integer::ROWS,
    local_tile::ROWS,
    mbarrier::ROWS,
    mma::ROWS,
    reduce::ROWS,
    registers::ROWS,
    sync::ROWS,
    tensor::ROWS,
    thread::ROWS,
    tma::ROWS,
    wgmma::ROWS,
];

/// Names that select one of several forms. They stand for nothing else.
pub const WORDS: &[&str] = &[
    "K", "MN", "INTER", "SW32", "SW64", "SW128", "add", "max", "min",
];

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    TABLE
        .iter()
        .copied()
        .flatten()
        .find(|row| row.name() == name)
}

/// How the functions of all rows are called.
pub fn signatures() -> impl Iterator<Item = &'static str> {
    TABLE.iter().copied().flatten().map(|row| row.signature)
}

/// The names of all rows and of all operations of the algebra.
pub fn names() -> impl Iterator<Item = &'static str> {
    let operations = operations::OPERATIONS
        .iter()
        .map(|operation| operation.name);
    TABLE
        .iter()
        .copied()
        .flatten()
        .map(Builtin::name)
        .chain(operations)
}
