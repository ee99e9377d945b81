//! The module under `#[kernels]` as syntax, before anything in it has a meaning.

pub mod errors;
mod height;
pub mod parse;
pub(crate) mod text;
