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

/// Constants for other modules.
#[kernels]
pub mod sizes {
    /// A struct of numbers.
    pub struct Size {
        /// An integer.
        pub number: u32,
        /// A truth value.
        pub truth: bool,
        /// A floating-point number.
        pub scale: f32,
    }

    /// One of them.
    pub const SMALL: Size = Size {
        number: 1,
        truth: true,
        scale: 0.5,
    };
}

#[kernels]
mod imported {
    use crate::sizes::SMALL as AGAIN;
    use crate::sizes::{SMALL, Size};

    const BELOW: i32 = -2;
    const LARGE: Size = Size {
        number: 1 << 31,
        ..SMALL
    };

    #[kernel(threads = 32)]
    #[instances(CFG in [SMALL, LARGE, AGAIN], N in [BELOW, 3])]
    pub fn sized<const CFG: Size, const N: i32>(#[facts(extent(y, 0) >= 32)] y: Global<u32, 1>) {
        y[thread()] = CFG.number + (N + 2) as u32;
    }
}

mod nested {
    #[cute_runtime::kernels]
    pub mod further_in {
        use super::super::sizes::SMALL;

        #[kernel(threads = 32)]
        pub fn one(#[facts(extent(y, 0) >= 32)] y: Global<u32, 1>) {
            y[thread()] = SMALL.number;
        }
    }
}

/// Also of constants that a module imports, or that are its own and not public.
#[test]
fn constants_of_instances_have_their_values_on_the_host() {
    use imported::{sized_CFG, sized_N};
    let large = sizes::Size {
        number: 1 << 31,
        ..sizes::SMALL
    };
    assert_eq!(
        sized_CFG::ALL.map(sized_CFG::value),
        [sizes::SMALL, large, sizes::SMALL]
    );
    assert_eq!(sized_N::ALL.map(sized_N::value), [-2, 3]);
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
