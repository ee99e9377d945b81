//! Kernels with several `#[instances]`.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::{Tensor, kernels};

#[kernels]
mod several {
    #[kernel(threads = 32)]
    #[instances(T in [u32, i32], N in [1])]
    #[instances(T in [u32], N in [2, 3])]
    pub fn fill<T: Element, const N: u32>(#[facts(extent(y, 0) >= 32)] y: Global<T, 1>) {
        y[thread()] = N;
    }
}

#[test]
fn a_kernel_has_the_instances_of_all_its_attributes() {
    use several::{fill, fill_N, fill_types};
    assert_eq!(fill_N::ALL.map(fill_N::value), [1, 2, 3]);
    let (all, one) = (&fill_N::ALL[..], &fill_N::ALL[..1]);
    assert_eq!(
        (
            <u32 as fill_types>::INSTANCES,
            <i32 as fill_types>::INSTANCES
        ),
        (all, one)
    );
    for device in devices(2) {
        let mut y = Tensor::<u32, 1>::zeros(&device, [32]).unwrap();
        for (n, i) in fill_N::ALL.into_iter().zip(1..) {
            fill::launch(n, &device, 1, &mut y.view_mut()).unwrap();
            assert_eq!(y.download().unwrap(), [i; 32]);
        }
        let mut z = Tensor::<i32, 1>::zeros(&device, [32]).unwrap();
        fill::launch(fill_N::_1, &device, 1, &mut z.view_mut()).unwrap();
        let error = fill::launch(fill_N::_2, &device, 1, &mut z.view_mut()).unwrap_err();
        let text = "kernel fill: the kernel has no instance with T = i32, N = 2";
        assert_eq!(error.to_string(), text);
        assert_eq!(z.download().unwrap(), [1; 32]);
    }
}
