//! The version and the target of the PTX.

use cute_ptx::ast::{Item, Module};

/// The lowest PTX version that modules declare. Almost all instructions for sm_90a exist in it.
const PTX_VERSION: (u32, u32) = (8, 0);

/// The target architecture of the PTX.
const PTX_TARGET: &str = "sm_90a";

/// A module that declares the lowest version in which all its instructions exist.
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
