//! What a program is told of products: the plan, and the matrices that are copied first.

use cute_kernels::gemm::gemm;
use cute_runtime::{Device, Tensor, bf16};
use std::env;
use std::process::Command;

/// Set in the child process.
const CHILD: &str = "CUTE_TELLING_CHILD";

/// In a process of its own, D (32 × 64) = A (32 × 20) · Bᵀ (64 × 20): rows of 40 bytes, which TMA cannot load.
#[test]
fn plans_and_copies_are_told() {
    if env::var_os(CHILD).is_some() {
        return multiply();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "plans_and_copies_are_told", "--nocapture"])
        .env(CHILD, "")
        .env("CUTE_LOG", "debug")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let mut lines = text.lines();
    let plan = lines.next().unwrap();
    assert!(plan.starts_with("cute: gemm: "), "{text}");
    assert!(plan.contains(": tiles of "), "{text}");
    for shape in ["[1, 32, 20]", "[1, 64, 20]"] {
        let copy = format!("cute: a matrix of bf16 is copied to rows that TMA can load: {shape}");
        assert_eq!(
            lines.clone().filter(|line| *line == copy).count(),
            1,
            "{text}"
        );
    }
}

fn multiply() {
    let device = Device::emulator();
    let ones = |rows| Tensor::from_slice(&device, &vec![bf16::ONE; rows * 20], [rows, 20]).unwrap();
    let (a, b) = (ones(32), ones(64));
    let mut d = Tensor::<bf16, 2>::zeros(&device, [32, 64]).unwrap();
    gemm(&device, &a.view(), &b.view(), &mut d.view_mut()).unwrap();
    assert!(d.download().unwrap().iter().all(|it| it.to_f32() == 20.0));
}
