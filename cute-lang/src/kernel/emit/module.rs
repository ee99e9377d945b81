//! A module of PTX.

use cute_ptx::ast::{Item, Module};

/// The version of PTX that kernels are written in unless they use more: almost everything for sm_90a is in it.
const PTX_VERSION: (u32, u32) = (8, 0);

/// The target.
const PTX_TARGET: &str = "sm_90a";

/// A module of the least version in which everything it uses exists.
pub fn module(items: Vec<Item>) -> Module {
    let module = Module {
        version: PTX_VERSION,
        target: PTX_TARGET.into(),
        items,
    };
    Module {
        version: module.required_version().max(PTX_VERSION),
        ..module
    }
}
