//! Tuple structs, type aliases and enums of modules of kernels, in other modules and in host code.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use cute_runtime::{Constant, Tensor, kernels};
use devices::devices;

/// Items for other modules.
#[kernels]
pub mod items {
    /// An enum, whose discriminants are literals.
    #[derive(PartialEq, PartialOrd)]
    #[repr(u8)]
    pub enum Mode {
        /// As it is.
        Plain = 3,
        /// Twice.
        Doubled,
    }

    /// A struct whose fields have numbers.
    #[derive(Clone, Copy)]
    pub struct Pair(pub u32, pub f32);

    /// Numbers that are summed up.
    pub type Acc = f32;
    /// Two numbers.
    pub type Two<T> = (T, T);

    /// A constant of the struct.
    pub const ONE: Pair = Pair(1, 0.5);
    /// A constant of an alias.
    pub const HALF: Acc = 0.5;

    /// Applies a mode.
    pub fn apply(mode: Mode, x: Acc) -> Acc {
        match mode {
            Mode::Plain => x,
            Mode::Doubled => 2.0 * x,
        }
    }

    #[kernel(threads = 32)]
    #[instances(MODE in [Mode::Plain, Mode::Doubled])]
    pub fn own<const MODE: Mode>(#[facts(extent(y, 0) >= 32)] y: Global<f32, 1>) {
        y[thread()] = apply(MODE, ONE.1) + MODE as u32 as f32;
    }
}

#[kernels]
mod importing {
    use crate::items;
    use crate::items::{Acc, HALF, Mode, Pair, Two, apply};

    type Sum = Two<Acc>;

    #[kernel(threads = 32)]
    pub fn mixed(#[facts(extent(y, 0) >= 32)] y: Global<f32, 1>, n: u32) {
        let mode = if thread() < n {
            Mode::Doubled
        } else {
            items::Mode::Plain
        };
        let Pair(a, b) = Pair(thread(), HALF);
        let sum: Sum = (apply(mode, b), a as Acc);
        let wide: items::Acc = if mode > Mode::Plain { 100.0 } else { 0.0 };
        y[thread()] = sum.0 + sum.1 + wide;
    }

    #[kernel(threads = 32)]
    #[instances(MODE in [Mode::Doubled, Mode::Plain])]
    pub fn chosen<const MODE: Mode>(#[facts(extent(y, 0) >= 32)] y: Global<f32, 1>) {
        y[thread()] = apply(MODE, HALF);
    }
}

#[test]
fn other_modules_have_them() {
    for device in devices(2) {
        let mut y = Tensor::<f32, 1>::zeros(&device, [32]).unwrap();
        importing::mixed::launch(&device, 1, &mut y.view_mut(), 2).unwrap();
        let values = y.download().unwrap();
        assert_eq!(values[..4], [101.0, 102.0, 2.5, 3.5]);
    }
}

#[test]
fn host_code_has_them() {
    use items::{Mode, Pair, own, own_MODE};
    assert!(own_MODE::ALL.map(own_MODE::value) == [Mode::Plain, Mode::Doubled]);
    assert_eq!(Mode::Doubled as u8, 4);
    assert_eq!(items::ONE, Pair(1, 0.5));
    assert_eq!(items::HALF, 0.5);
    for device in devices(2) {
        let mut y = Tensor::<f32, 1>::zeros(&device, [32]).unwrap();
        own::launch(own_MODE::Doubled, &device, 1, &mut y.view_mut()).unwrap();
        assert_eq!(y.download().unwrap()[0], 5.0);
    }
}

/// The instance with a value, as generic host code finds it.
fn of<C: Constant<Value = items::Mode>>(mode: items::Mode) -> Option<C> {
    let mut all = C::ALL.iter().copied();
    all.find(|it| it.value() == mode)
}

#[test]
fn instances_are_found_by_the_values_of_an_imported_enum() {
    use items::Mode;
    for device in devices(2) {
        let mut y = Tensor::<f32, 1>::zeros(&device, [32]).unwrap();
        for (mode, number) in [(Mode::Plain, 0.5), (Mode::Doubled, 1.0)] {
            let instance = of(mode).expect("each mode has an instance");
            importing::chosen::launch(instance, &device, 1, &mut y.view_mut()).unwrap();
            assert_eq!(y.download().unwrap()[0], number);
        }
    }
}
