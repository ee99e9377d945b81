//! The syntax of modules under `#[kernels]`, without its meaning.

mod alias;
pub(crate) mod bare;
pub mod enumeration;
pub mod errors;
pub mod generics;
mod height;
pub mod import;
pub mod instance;
pub mod kernel;
pub(crate) mod legible;
pub mod library;
pub(crate) mod listed;
pub mod location;
pub mod module;
pub(crate) mod pattern;
pub mod placed;
pub(crate) mod plain;
pub(crate) mod product;
pub mod source;
pub(crate) mod text;
mod types;
