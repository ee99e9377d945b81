//! What is logged of products: how they are computed, and which matrices are copied first.

use cute_kernels::gemm::gemm;
use cute_runtime::{Device, Tensor, bf16};
use std::env;
use std::process::Command;

/// Set in the child process.
const CHILD: &str = "CUTE_LOGGING_CHILD";

/// In a process of its own, D (32 × 64) = A (32 × 20) · Bᵀ (64 × 20): rows of 40 bytes, which TMA cannot load.
#[test]
fn products_are_logged() {
    if env::var_os(CHILD).is_some() {
        return multiply();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "products_are_logged", "--nocapture"])
        .env_remove("CUTE_DUMP_PTX")
        .env(CHILD, "")
        .env("CUTE_LOG", "debug")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let products = text.lines().filter(|line| line.contains(": tiles of "));
    let products: Vec<&str> = products.collect();
    // One line for each launch, by the tile that computes it.
    assert_eq!(products.len(), 2, "{text}");
    for product in products {
        assert!(product.starts_with("cute: "), "{text}");
        assert!(
            product.ends_with("; A is copied first; B is copied first"),
            "{text}"
        );
    }
}

fn multiply() {
    let device = Device::emulator();
    let ones = |rows| Tensor::from_slice(&device, &vec![bf16::ONE; rows * 20], [rows, 20]).unwrap();
    let (a, b) = (ones(32), ones(64));
    let mut d = Tensor::<bf16, 2>::zeros(&device, [32, 64]).unwrap();
    for _ in 0..2 {
        gemm(&device, &a.view(), &b.view(), &mut d.view_mut()).unwrap();
    }
    assert!(d.download().unwrap().iter().all(|it| it.to_f32() == 20.0));
}
