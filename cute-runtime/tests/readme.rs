//! What the README says of its layout and of its kernel.

use cute_runtime::{Device, Kernel, Layout, Tensor, layout};

/// "Six by two; a step down is eight, a step to the right is two", and what follows of it.
#[test]
fn a_layout_is_read_aloud() {
    const A: Layout = layout!((6,2):(8,2));
    assert_eq!((A.mode(0).size(), A.mode(1).size()), (6, 2));
    for (i, j) in (0..6).flat_map(|i| [(i, 0), (i, 1)]) {
        assert_eq!(A.crd2idx(&[i, j]), 8 * i + 2 * j);
        // A single number counts down the first column and then the second.
        assert_eq!(A.at(i + 6 * j), A.crd2idx(&[i, j]));
    }
    assert_eq!((A.at(7), A.crd2idx(&[1, 1])), (10, 10));
}

// The README has the lines between these marks.
// begin
#[kernels]
mod vectors {
    /// y = a · x + y.
    #[kernel(threads = 256)]
    pub fn axpy(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        a: f32,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            y[i] = a * x[i] + y[i];
        }
    }
}
// end

use cute_runtime::kernels;

/// The kernel of the README is the one above, and its fact is checked at each launch.
#[test]
fn the_kernel_is_right_for_every_length_and_refuses_another() {
    let (_, kernel) = include_str!("readme.rs").split_once("// begin\n").unwrap();
    let (kernel, _) = kernel.split_once("// end\n").unwrap();
    assert!(include_str!("../../README.md").contains(kernel));

    let device = Device::emulator();
    for n in [1, 255, 256, 257, 1000] {
        let numbers: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let x = Tensor::from_slice(&device, &numbers, [n]).unwrap();
        let mut y = Tensor::from_slice(&device, &vec![0.5f32; n], [n]).unwrap();
        let grid = n.div_ceil(256) as u32;
        vectors::axpy::launch(&device, grid, &x.view(), &mut y.view_mut(), 2.0).unwrap();
        let expected: Vec<f32> = numbers.iter().map(|x| 2.0 * x + 0.5).collect();
        assert_eq!(y.download().unwrap(), expected);

        let mut longer = Tensor::<f32, 1>::zeros(&device, [n + 1]).unwrap();
        let refused = vectors::axpy::launch(&device, grid, &x.view(), &mut longer.view_mut(), 2.0);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("does not hold"), "{refused}");
    }
}

/// The type of an instance has what the table of the macros lists.
#[test]
fn an_instance_has_what_the_readme_lists() {
    use vectors::axpy;
    assert_eq!(axpy::NAME, "axpy");
    assert!(axpy::PTX.contains(".visible .entry axpy("));
    assert!(axpy::PTX.contains(".target sm_90a"));
    assert_eq!((axpy::THREADS, axpy::SMEM_BYTES), (256, 0));
}
