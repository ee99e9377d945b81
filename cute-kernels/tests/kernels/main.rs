//! Every kernel is compared with a reference on the emulator; with `CUTE_GPU=1` on the GPU, and then a missing GPU is a failure.
//! The PTX of every instance is checked for the instructions it should have, and by NVIDIA's assembler.

mod attention;
mod awkward;
mod copy;
mod covering;
mod empty;
mod epilogue;
mod exchange;
mod fused;
mod gemm;
mod grouped;
mod linear;
mod list;
mod mma;
mod number;
mod ptx;
mod quantise;
mod refusals;
mod rows;
mod scaled;
#[path = "../support/shipped.rs"]
mod shipped;
mod transpose;
mod types;
#[path = "../support/whole.rs"]
mod whole;

use std::collections::BTreeSet;

use cute_runtime::Device;

use covering::{aspects, launched};
use shipped::instances;

/// The first GPU if `CUTE_GPU=1`, else the emulator.
fn device() -> Device {
    if std::env::var_os("CUTE_GPU").is_some_and(|value| value == "1") {
        Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU")
    } else {
        covering::emulator()
    }
}

/// On the emulator, each kernel of the library is launched and compared with a reference: with each of its types, and with each of its
/// constants, which are the tiles of products; with `CUTE_NIGHTLY=1`, each instance. The tests that do so run once, whether the harness
/// asks for them first or this does.
/// The front page says how many kernels a build with all features has.
#[test]
fn the_front_page_counts_the_kernels() {
    let page = include_str!("../../src/lib.rs");
    let all = shipped::instances().len();
    assert!(
        page.contains(&format!("| `all` | {all} | all of them |")),
        "{all}"
    );
}

#[test]
fn what_is_launched_covers_all_kernels() {
    if !device().is_emulator() {
        return;
    }
    attention::attention_of_64_agrees_with_float64();
    attention::attention_of_128_agrees_with_float64();
    fused::what_follows_a_product_agrees_with_float64();
    fused::each_tile_stores_what_follows();
    gemm::gemm_agrees_with_float64();
    gemm::gemm_multiplies_every_type();
    gemm::gemm_multiplies_each_8_bit_float_by_each();
    gemm::gemm_multiplies_each_8_bit_integer_by_each();
    gemm::gemm_takes_every_major();
    gemm::gemm_adds_up_parts_of_k();
    gemm::gemm_takes_any_alignment();
    gemm::streamed::each_type_is_streamed();
    grouped::every_group_agrees_with_float64();
    grouped::groups_of_f16_are_multiplied();
    linear::products_are_scaled_and_added();
    list::every_product_agrees_with_float64();
    list::products_of_other_types_agree_with_float64();
    quantise::rows_are_quantised();
    rows::arrays_agree_with_float64();
    rows::rows_of_bf16_agree_with_float64();
    rows::rows_of_f16_agree_with_float64();
    rows::rows_of_f32_agree_with_float64();
    scaled::each_type_is_scaled_by_blocks();
    scaled::each_type_is_scaled_with_each();
    transpose::transpose_agrees_with_its_definition();

    let all = instances();
    let launched = launched();
    let (mut existing, mut covered, mut count) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (name, _) in &all {
        existing.extend(aspects(name));
        if launched.contains(*name) {
            covered.extend(aspects(name));
            count += 1;
        } else if whole::whole() {
            println!("not launched: {name}");
        }
    }
    println!(
        "{count} of {} instances are launched: {} of {} pairs of a kernel and its types or constants",
        all.len(),
        covered.len(),
        existing.len()
    );
    let missing: Vec<_> = existing.difference(&covered).collect();
    assert!(missing.is_empty(), "not launched: {missing:#?}");
    assert!(!whole::whole() || count == all.len(), "some never run");
}
