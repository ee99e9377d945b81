#![doc = include_str!("../../docs/kernel-language.md")]

// The functions have pages of their own, which search finds, and editors show them. rustc compiles no kernel and needs none of them.
#[cfg(any(doc, rust_analyzer))]
mod functions;
#[cfg(any(doc, rust_analyzer))]
mod types;

#[cfg(any(doc, rust_analyzer))]
pub use {functions::*, types::*};

#[cfg(any(doc, rust_analyzer))]
#[doc(no_inline)]
pub use crate::operations::*;
