//! The module under `#[kernels]` as syntax.

pub mod parse;
pub(crate) mod text;
