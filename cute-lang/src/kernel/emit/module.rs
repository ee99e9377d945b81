//! The version and the target of the PTX.

use cute_chip::Chip;
use cute_ptx::ast::{Item, Module};

/// A module for a chip. It declares the lowest version in which the target and all instructions exist.
pub fn module(chip: &Chip, items: Vec<Item>) -> Module {
    let module = Module {
        version: chip.target.version(),
        target: chip.to_string(),
        items,
    };
    Module {
        version: module.required_version(),
        ..module
    }
}
