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

/// Instances of arrays, of which one is imported, and of expressions.
#[kernels]
pub mod listed {
    use crate::arrays::{IMPORTED, Tile};

    const fn power(n: u32) -> u32 {
        1 << n
    }

    const LENGTH: u32 = 2;
    const BASE: Tile = IMPORTED[0];

    /// Numbers that are also constants of host code.
    pub const NUMBERS: [u32; LENGTH + 1] = [power(4), 7, power(4)];
    const HIDDEN: [u32; LENGTH] = [7, 8];

    #[kernel(threads = 32)]
    #[instances(T in [u32], TILE in IMPORTED, N in NUMBERS)]
    #[instances(T in [i32], TILE in [Tile { bm: 5, ..BASE }, ..IMPORTED], N in [..HIDDEN, 3])]
    pub fn listed<T: Element, const TILE: Tile, const N: u32>(
        #[facts(extent(y, 0) >= 32)] y: Global<T, 1>,
    ) {
        y[thread()] = (TILE.bm * 100 + TILE.bn * 10 + N) as T;
    }
}

/// An array for another module.
#[kernels]
pub mod arrays {
    /// A struct of numbers.
    pub struct Tile {
        /// Rows.
        pub bm: u32,
        /// Columns.
        pub bn: u32,
    }

    /// All that there are.
    pub const IMPORTED: [Tile; 2] = [Tile { bm: 1, bn: 2 }, Tile { bm: 3, bn: 4 }];
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

/// A host function takes each element of the array, and finds its instance by value.
#[test]
fn elements_of_arrays_and_expressions_are_instances() {
    use arrays::IMPORTED;
    use listed::{listed as kernel, listed_N, listed_TILE, listed_types};
    assert_eq!(listed::NUMBERS, [16, 7, 16]);
    assert_eq!(listed_N::ALL.map(listed_N::value), [16, 7, 8, 3]);
    assert_eq!(listed_N::NUMBERS_2, listed_N::NUMBERS_0);
    assert_eq!(listed_N::HIDDEN_0, listed_N::NUMBERS_1);
    let five = arrays::Tile { bm: 5, bn: 2 };
    let values = [IMPORTED[0], IMPORTED[1], five];
    assert_eq!(listed_TILE::ALL.map(listed_TILE::value), values);
    let instances = <u32 as listed_types>::INSTANCES;
    assert_eq!(instances.len(), 2 * 2);
    assert_eq!(<i32 as listed_types>::INSTANCES.len(), 3 * 3);
    for device in devices(2) {
        let mut y = Tensor::<u32, 1>::zeros(&device, [32]).unwrap();
        for tile in IMPORTED {
            for n in listed::NUMBERS {
                let wanted =
                    |it: &&(listed_TILE, listed_N)| (it.0.value(), it.1.value()) == (tile, n);
                let (tile_name, n_name) = *instances.iter().find(wanted).unwrap();
                kernel::launch(tile_name, n_name, &device, 1, &mut y.view_mut()).unwrap();
                let expected = tile.bm * 100 + tile.bn * 10 + n;
                assert_eq!(y.download().unwrap(), [expected; 32]);
            }
        }
        let mut z = Tensor::<i32, 1>::zeros(&device, [32]).unwrap();
        let (tile, n) = (listed_TILE::TILE_0, listed_N::HIDDEN_1);
        kernel::launch(tile, n, &device, 1, &mut z.view_mut()).unwrap();
        assert_eq!(z.download().unwrap(), [528; 32]);
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
