//! The instances that are shipped, and what their names say.

use cute_kernels::gemm::kernels as gemm;
use cute_kernels::gemm::{fused, gated, grouped, linear, list, scaled, streamed, sums};
use cute_kernels::transpose::kernels as transpose;
use cute_kernels::{attention, elementwise, histogram, norm, pack, quantise, softmax, sum};

/// Name and PTX of each instance.
pub(crate) fn instances() -> Vec<(&'static str, &'static str)> {
    [
        attention::kernels::KERNELS,
        gemm::KERNELS,
        linear::kernels::KERNELS,
        fused::kernels::KERNELS,
        gated::kernels::KERNELS,
        scaled::kernels::KERNELS,
        grouped::kernels::KERNELS,
        list::kernels::KERNELS,
        streamed::kernels::KERNELS,
        sums::kernels::KERNELS,
        norm::kernels::KERNELS,
        pack::kernels::KERNELS,
        quantise::kernels::KERNELS,
        softmax::kernels::KERNELS,
        sum::kernels::KERNELS,
        histogram::kernels::KERNELS,
        elementwise::kernels::KERNELS,
        transpose::KERNELS,
    ]
    .concat()
}

/// The kernel of an instance with that name, its types and its constants.
pub(crate) fn parts(name: &str) -> (&str, &str, &str) {
    let is_type = |word: &str| {
        let rest = word.trim_start_matches(char::is_alphabetic);
        rest.starts_with(|it: char| it.is_ascii_digit()) && word.starts_with(char::is_lowercase)
    };
    let is_number = |word: &str| word.starts_with(|it: char| it.is_ascii_digit());
    let starts = std::iter::once(0).chain(name.match_indices('_').map(|(at, _)| at + 1));
    let words: Vec<(usize, &str)> = starts
        .map(|at| (at, name[at..].split('_').next().unwrap_or_default()))
        .collect();
    let constant = |word: &str| is_number(word) || word.starts_with(char::is_uppercase);
    let place = |wanted: &dyn Fn(&str) -> bool| {
        words
            .iter()
            .find(|(_, word)| wanted(word))
            .map_or(name.len(), |(at, _)| *at)
    };
    let types = place(&|word| is_type(word) || constant(word) || word == "true" || word == "false");
    let constants = place(&|word| constant(word) || word == "true" || word == "false");
    let constants = constants.max(types);
    (&name[..types], &name[types..constants], &name[constants..])
}
