//! Kernels to PTX: tests of the PTX, and of its results on the emulator.

#[macro_use]
mod same;

mod accesses;
mod arrays;
mod bits;
mod bulk;
mod chips;
mod claims;
mod cluster;
mod constructs;
mod declared;
mod dictionary;
mod divergence;
mod documentation;
mod expansion;
mod facts;
mod forms;
mod fragments;
mod globals;
mod growth;
mod instances;
mod instructions;
mod jumps;
mod library;
mod lists;
mod literals;
mod math;
mod meaning;
mod mistakes;
mod narrow;
mod numbers;
mod outside;
mod parted;
mod programs;
mod random;
mod ranges;
mod refusals;
mod renamed;
mod robustness;
mod rows;
mod select;
mod shared;
mod shipped;
mod stores;
mod structs;
mod threads;
mod types;

use cute_lang::kernel::lower::Lowered;
use cute_ptxas::Ptxas;

/// Checks the PTX by the parser of `cute-ptx` and, if it is there, by ptxas.
fn judge(instances: &[Lowered]) {
    let ptxas = Ptxas::find();
    for instance in instances {
        let text = instance.module.to_string();
        assert_eq!(
            cute_ptx::parse(&text).as_ref(),
            Ok(&instance.module),
            "{text}"
        );
        if let Some(ptxas) = &ptxas {
            let report = ptxas
                .assemble(&text, &instance.module.target)
                .expect("a run of ptxas");
            assert_eq!(report.complaints(), Vec::<String>::new(), "{text}");
        }
    }
}
