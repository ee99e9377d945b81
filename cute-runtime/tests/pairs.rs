//! Arithmetic on fragments of 16-bit numbers, two at a time, against the same value by value.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::{Element, Error, Kernel, Tensor, bf16, f16, kernels};

#[kernels]
mod pairs {
    /// z is a function of x and y computed on fragments, and w the same computed value by value.
    #[kernel(threads = 32)]
    #[instances(T in [bf16, f16])]
    pub fn combined<T: Element>(
        #[facts(aligned(x, 16), extent(x, 0) % 256 == 0)] x: Global<T, 1>,
        #[facts(aligned(y, 16), extent(y, 0) == extent(x, 0))] y: Global<T, 1>,
        #[facts(aligned(z, 16), extent(z, 0) == extent(x, 0))] z: Global<T, 1>,
        #[facts(aligned(w, 16), extent(w, 0) == extent(x, 0))] w: Global<T, 1>,
        scale: f32,
    ) {
        let i = block_idx().0;
        if 256 * i >= extent(x, 0) {
            return;
        }
        let held = layout!((32,8):(8@0,1@0));
        let (a, b, each) = (
            fragment::<T>(held),
            fragment::<T>(held),
            fragment::<T>(held),
        );
        copy(local_tile(x, 256, i), a);
        copy(local_tile(y, 256, i), b);
        let scale = convert::<T>(scale);
        copy(all(a, b, scale), local_tile(z, 256, i));
        for v in 0..size(a) {
            each[v] = all(a[v], b[v], scale);
        }
        copy(each, local_tile(w, 256, i));
    }

    fn all(a: _, b: _, scale: _) -> _ {
        let x = fma(a, b, a) - b * 0.3;
        let y = max(min(-a, abs(b)), tanh_fast(a) + scale);
        exp2_fast(x * scale) * y - x
    }
}

#[test]
fn pairs_are_what_their_numbers_are() -> Result<(), Error> {
    fn check<T: Element + pairs::combined_types>(
        number: impl Fn(u16) -> T,
        bits: impl Fn(T) -> u16,
    ) -> Result<(), Error> {
        for device in devices(1) {
            // All 65,536 numbers with others, infinities, NaNs and subnormal numbers among them.
            let all = 0..=u16::MAX;
            let x: Vec<T> = all.clone().map(&number).collect();
            let other = |at: u16| at.wrapping_mul(40_503).rotate_left(5);
            let y: Vec<T> = all.map(other).map(&number).collect();
            let x = Tensor::from_slice(&device, &x, [1 << 16])?;
            let y = Tensor::from_slice(&device, &y, [1 << 16])?;
            let mut z = Tensor::<T, 1>::zeros(&device, [1 << 16])?;
            let mut w = Tensor::<T, 1>::zeros(&device, [1 << 16])?;
            pairs::combined::launch::<T>(
                &device,
                256,
                &x.view(),
                &y.view(),
                &mut z.view_mut(),
                &mut w.view_mut(),
                0.7,
            )?;
            for (at, (z, w)) in z.download()?.into_iter().zip(w.download()?).enumerate() {
                assert_eq!(bits(z), bits(w), "{at:#x}");
            }
        }
        Ok(())
    }
    check(bf16::from_bits, bf16::to_bits)?;
    check(f16::from_bits, f16::to_bits)
}

#[test]
fn an_instruction_computes_two_numbers() {
    for (ptx, ty) in [
        (pairs::combined_bf16::PTX, "bf16"),
        (pairs::combined_f16::PTX, "f16"),
    ] {
        for instruction in [
            "fma.rn", "sub.rn", "mul.rn", "add.rn", "max", "min", "neg", "abs",
        ] {
            let of = |ty: &str| ptx.matches(&format!("{instruction}.{ty} ")).count();
            let (pairs, singles) = (of(&format!("{ty}x2")), of(ty));
            assert!(
                pairs > 0 && 2 * pairs == singles,
                "{instruction}.{ty}: {pairs} {singles}"
            );
        }
    }
}
