//! The kernels of `cute-kernels`: their main loop is short. A test of that crate asks ptxas about them.

use super::shipped::{lowered, module};
use cute_lang::kernel::lower::Lowered;

/// The instances of the module in a file of `cute-kernels`.
fn library(file: &str) -> Vec<Lowered> {
    lowered(module(file)).unwrap_or_else(|error| {
        let errors: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        panic!("{file}: {}", errors.join("\n"))
    })
}

/// The main loop of the GEMM has few instructions besides its four wgmmas: those of the ring, the descriptors and the
/// loop itself.
#[test]
fn the_main_loop_of_gemm_is_short() {
    let gemm = &library("gemm/product.rs")[0];
    let text = gemm.module.to_string();
    let (before, after) = text.split_once("wgmma.commit_group").expect("a batch");
    let head = before.rsplit_once("$for").expect("a loop").1;
    let tail = after.split_once("bra $for").expect("the end of the loop").0;
    let instructions: Vec<&str> = head
        .lines()
        .chain(tail.lines())
        .map(|line| line.split("//").next().unwrap_or(line).trim())
        .filter(|line| line.ends_with(';'))
        .collect();
    for slow in ["div", "rem"] {
        assert!(
            !instructions.iter().any(|line| line.starts_with(slow)),
            "{instructions:#?}"
        );
    }
    assert_eq!(
        instructions
            .iter()
            .filter(|line| line.starts_with("wgmma.mma_async") || **line == "0, 0;")
            .count(),
        4
    );
    assert!(
        instructions.len() < 60,
        "{} instructions: {instructions:#?}",
        instructions.len()
    );
}
