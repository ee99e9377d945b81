//! Products of every type of operand, compared with float64: tensors of the host's types, wgmma with A in shared memory and
//! in registers, operations of a warp, and a reduction of what they give.

use crate::device;
use cute_kernels::reference::{self, Matrix, normal};
use cute_runtime::{Device, Element, TensorView, TensorViewMut, bf16, e4m3, e5m2, f16};

/// Rows of A and D, and rows of B, which are columns of D.
const M: usize = 64;
const N: usize = 64;

#[cute_runtime::kernels]
mod kernels {
    /// d = a · bᵀ, of 64 × 64 elements. A row of a and of b has 128 bytes.
    ///
    /// # Safety
    ///
    /// The extents are these.
    #[kernel(threads = 128)]
    #[instance(bf16_f32: A = bf16, B = bf16, D = f32, REGISTERS = 0)]
    #[instance(f16_f16: A = f16, B = f16, D = f16, REGISTERS = 0)]
    #[instance(tf32_f32: A = tf32, B = tf32, D = f32, REGISTERS = 0)]
    #[instance(e4m3_f32: A = e4m3, B = e4m3, D = f32, REGISTERS = 0)]
    #[instance(e5m2_e4m3_f16: A = e5m2, B = e4m3, D = f16, REGISTERS = 0)]
    #[instance(i8_i32: A = i8, B = i8, D = i32, REGISTERS = 0)]
    #[instance(u8_i8_i32: A = u8, B = i8, D = i32, REGISTERS = 0)]
    #[instance(bf16_f32_registers: A = bf16, B = bf16, D = f32, REGISTERS = 1)]
    #[instance(tf32_f32_registers: A = tf32, B = tf32, D = f32, REGISTERS = 1)]
    #[instance(e4m3_f32_registers: A = e4m3, B = e4m3, D = f32, REGISTERS = 1)]
    #[instance(i8_u8_i32_registers: A = i8, B = u8, D = i32, REGISTERS = 1)]
    pub unsafe fn product<A: Element, B: Element, D: Element, const REGISTERS: u32>(
        a: TmaLoad<A, 2>,
        b: TmaLoad<B, 2>,
        d: Global<D, 2>,
    ) {
        let k = 1024 / bits::<A>();
        let sa = smem::<A>(tile_to_shape(smem_atom::<A>(K, SW128), (64, k)));
        let sb = smem::<B>(tile_to_shape(smem_atom::<B>(K, SW128), (64, k)));
        load(a, b, sa, sb);
        let acc = fragment::<D>(wgmma_c(64));
        if REGISTERS == 1 {
            let x = fragment::<A>(wgmma_a::<A>(k));
            copy(sa, x);
            wgmma_fence();
            wgmma(acc, x, sb, false);
        } else {
            wgmma_fence();
            wgmma(acc, sa, sb, false);
        }
        wgmma_commit();
        wgmma_wait(0);
        for v in 0..size(acc) {
            d[acc.coordinate(v)] = acc[v];
        }
    }

    /// The same of a matrix A that is contiguous along M, which wgmma takes from registers alone, with rows in an order in which the
    /// threads of a warp read 32 banks of shared memory.
    #[kernel(threads = 128)]
    pub fn tf32_along_m(
        a: TmaLoad<tf32, 2>,
        b: TmaLoad<tf32, 2>,
        #[facts(extent(d, 0) == 64, extent(d, 1) == 64)] d: Global<f32, 2>,
    ) {
        let sa = smem::<tf32>(tile_to_shape(
            smem_atom::<tf32>(MN, SW128),
            (64, 32),
            (1, 0),
        ));
        let sb = smem::<tf32>(tile_to_shape(smem_atom::<tf32>(K, SW128), (64, 32)));
        load(a, b, select(sa, 1, 0), sb);
        let rows = layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0));
        let acc = fragment::<f32>(composition(
            append(group(rows, 0, 5), layout!((64):(1@1))),
            wgmma_c(64),
        ));
        let x = fragment::<tf32>(composition(
            append(group(rows, 0, 5), layout!((32):(1@1))),
            wgmma_a::<tf32>(32),
        ));
        copy(sa, x);
        wgmma_fence();
        wgmma(acc, x, sb, false);
        wgmma_commit();
        wgmma_wait(0);
        for v in 0..size(acc) {
            d[acc.coordinate(v)] = acc[v];
        }
    }

    /// The same by operations of a warp on bf16.
    ///
    /// # Safety
    ///
    /// The extents are those of `product`.
    #[kernel(threads = 128)]
    pub unsafe fn bf16_of_warps(a: TmaLoad<bf16, 2>, b: TmaLoad<bf16, 2>, d: Global<f32, 2>) {
        let identity = make_identity_layout((64, 64));
        let held_a = tiled_mma(
            SM80_16x8x16_F32BF16BF16F32_TN,
            (2, 2, 1),
            (64, 64, 64),
            layoutA_TV,
        );
        let held_b = tiled_mma(
            SM80_16x8x16_F32BF16BF16F32_TN,
            (2, 2, 1),
            (64, 64, 64),
            layoutB_TV,
        );
        let held_c = tiled_mma(
            SM80_16x8x16_F32BF16BF16F32_TN,
            (2, 2, 1),
            (64, 64, 64),
            layoutC_TV,
        );
        let sa = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        let sb = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        load(a, b, sa, sb);
        let x = fragment::<bf16>(composition(identity, held_a));
        let y = fragment::<bf16>(composition(identity, held_b));
        let acc = fragment::<f32>(composition(identity, held_c));
        multiply(sa, sb, x, y, acc);
        for v in 0..size(acc) {
            d[acc.coordinate(v)] = acc[v];
        }
    }

    /// The same by operations of a warp on e4m3.
    ///
    /// # Safety
    ///
    /// The extents are those of `product`.
    #[kernel(threads = 128)]
    pub unsafe fn e4m3_of_warps(a: TmaLoad<e4m3, 2>, b: TmaLoad<e4m3, 2>, d: Global<f32, 2>) {
        let held_a = tiled_mma(
            SM89_16x8x32_F32E4M3E4M3F32_TN,
            (2, 2, 1),
            (64, 64, 128),
            layoutA_TV,
        );
        let held_b = tiled_mma(
            SM89_16x8x32_F32E4M3E4M3F32_TN,
            (2, 2, 1),
            (64, 64, 128),
            layoutB_TV,
        );
        let held_c = tiled_mma(
            SM89_16x8x32_F32E4M3E4M3F32_TN,
            (2, 2, 1),
            (64, 64, 128),
            layoutC_TV,
        );
        let sa = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(K, SW128), (64, 128)));
        let sb = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(K, SW128), (64, 128)));
        load(a, b, sa, sb);
        let x = fragment::<e4m3>(composition(make_identity_layout((64, 128)), held_a));
        let y = fragment::<e4m3>(composition(make_identity_layout((64, 128)), held_b));
        let acc = fragment::<f32>(composition(make_identity_layout((64, 64)), held_c));
        multiply(sa, sb, x, y, acc);
        for v in 0..size(acc) {
            d[acc.coordinate(v)] = acc[v];
        }
    }

    /// d = a · bᵀ, where each row of the product is divided by the sum of its squares.
    ///
    /// # Safety
    ///
    /// The extents are those of `product`.
    #[kernel(threads = 128)]
    pub unsafe fn scaled_rows(a: TmaLoad<bf16, 2>, b: TmaLoad<bf16, 2>, d: Global<f32, 2>) {
        let sa = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        let sb = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        load(a, b, sa, sb);
        let acc = fragment::<f32>(wgmma_c(64));
        wgmma_fence();
        wgmma(acc, sa, sb, false);
        wgmma_commit();
        wgmma_wait(0);
        acc /= reduce(acc * acc, 1, add);
        for v in 0..size(acc) {
            d[acc.coordinate(v)] = acc[v];
        }
    }

    fn load(a: _, b: _, sa: Tensor, sb: Tensor) {
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(sa) + bytes(sb));
            tma_load(a, (0, 0), sa, ready[0]);
            tma_load(b, (0, 0), sb, ready[0]);
        }
        wait(ready[0], 0);
    }

    fn multiply(sa: Tensor, sb: Tensor, x: Fragment, y: Fragment, acc: Fragment) {
        copy(sa, x);
        copy(sb, y);
        for v in 0..size(acc) {
            acc[v] = 0.0;
        }
        mma(acc, x, y);
    }
}

/// The product of random matrices by a launch.
fn run<A: Element, B: Element, D: Element + Default>(
    a: &[A],
    b: &[B],
    launch: impl FnOnce(
        &Device,
        &TensorView<'_, A, 2>,
        &TensorView<'_, B, 2>,
        &mut TensorViewMut<'_, D, 2>,
    ) -> Result<(), cute_runtime::Error>,
) -> Vec<D> {
    let device = device();
    let (a_buffer, b_buffer) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut d_buffer = device.upload(&[D::default(); M * N]).unwrap();
    let k = a.len() / M;
    launch(
        &device,
        &a_buffer.view(0, [M, k], [k, 1]).unwrap(),
        &b_buffer.view(0, [N, k], [k, 1]).unwrap(),
        &mut d_buffer.view_mut(0, [M, N], [N, 1]).unwrap(),
    )
    .unwrap();
    d_buffer.download().unwrap()
}

/// Runs an instance on random matrices and compares with float64. `$unit` is the relative error of the result.
macro_rules! check {
    ($instance:ident, $a:expr, $b:expr, $d:ty, $unit:expr) => {{
        let (a, b) = ($a, $b);
        // SAFETY: `run` gives the extents that the kernel has.
        let d: Vec<$d> = run(&a, &b, |device, a, b, d| unsafe {
            kernels::$instance::launch(device, 1, a, b, d)
        });
        let k = a.len() / M;
        let (a, b): (Vec<f64>, Vec<f64>) = (wide(&a), wide(&b));
        let found = reference::gemm(
            Matrix::packed(&a, M, k),
            Matrix::packed(&b, N, k),
            Matrix::packed(&d, M, N),
        );
        let name = stringify!($instance);
        assert!(found.is_rounding($unit, 4), "{name}: {found:?}");
    }};
}

fn wide<T: Copy + Into<f64>>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|&element| element.into()).collect()
}

/// Normally distributed numbers as elements. A row has 128 bytes.
fn random<T: Element>(seed: u64, from: fn(f32) -> T) -> Vec<T> {
    let numbers = normal(seed, M * 128 / size_of::<T>());
    numbers.into_iter().map(|x| from(x.to_f32())).collect()
}

/// Integers of all values.
fn integers<T: Element>(seed: u64, from: fn(f32) -> T) -> Vec<T> {
    let numbers = normal(seed, M * 128).into_iter();
    numbers.map(|x| from(x.to_f32() * 50.0)).collect()
}

const F32: f64 = f32::EPSILON as f64;
const F16: f64 = 1.0 / 1024.0;
/// Sums of 8-bit floating-point numbers keep 13 bits of fraction in each of four instructions.
const OF_E4M3: f64 = 4.0 / 8192.0;

#[test]
fn wgmma_multiplies_every_type() {
    // The bits that tf32 has.
    let short = |x: f32| f32::from_bits((x * 1.1).to_bits() & !0x1fff);
    check!(
        bf16_f32,
        random(1, bf16::from_f32),
        random(2, bf16::from_f32),
        f32,
        F32
    );
    check!(
        f16_f16,
        random(1, f16::from_f32),
        random(2, f16::from_f32),
        f16,
        4.0 * F16
    );
    check!(tf32_f32, random(1, short), random(2, short), f32, F32);
    // A matrix along M, as its transpose has it.
    let (along_m, b) = (random(1, short), random(2, short));
    let a: Vec<f32> = (0..M * 32).map(|i| along_m[i % 32 * M + i / 32]).collect();
    let device = device();
    let (a_buffer, b_buffer) = (device.upload(&along_m).unwrap(), device.upload(&b).unwrap());
    let mut d_buffer = device.zeros::<f32>(M * N).unwrap();
    kernels::tf32_along_m::launch(
        &device,
        1,
        &a_buffer.view(0, [32, M], [M, 1]).unwrap(),
        &b_buffer.view(0, [N, 32], [32, 1]).unwrap(),
        &mut d_buffer.view_mut(0, [M, N], [N, 1]).unwrap(),
    )
    .unwrap();
    let (a, b, d) = (wide(&a), wide(&b), d_buffer.download().unwrap());
    let found = reference::gemm(
        Matrix::packed(&a, M, 32),
        Matrix::packed(&b, N, 32),
        Matrix::packed(&d, M, N),
    );
    assert!(found.is_rounding(F32, 4), "{found:?}");
    check!(
        e4m3_f32,
        random(1, e4m3::from_f32),
        random(2, e4m3::from_f32),
        f32,
        OF_E4M3
    );
    check!(
        e5m2_e4m3_f16,
        random(1, e5m2::from_f32),
        random(2, e4m3::from_f32),
        f16,
        OF_E4M3 + 4.0 * F16
    );
    check!(
        i8_i32,
        integers(1, |x| x as i8),
        integers(2, |x| x as i8),
        i32,
        0.0
    );
    check!(
        u8_i8_i32,
        integers(1, |x| (x + 128.0) as u8),
        integers(2, |x| x as i8),
        i32,
        0.0
    );
}

#[test]
fn wgmma_takes_a_from_registers() {
    let short = |x: f32| f32::from_bits((x * 1.1).to_bits() & !0x1fff);
    check!(
        bf16_f32_registers,
        random(3, bf16::from_f32),
        random(4, bf16::from_f32),
        f32,
        F32
    );
    check!(
        tf32_f32_registers,
        random(3, short),
        random(4, short),
        f32,
        F32
    );
    check!(
        e4m3_f32_registers,
        random(3, e4m3::from_f32),
        random(4, e4m3::from_f32),
        f32,
        OF_E4M3
    );
    check!(
        i8_u8_i32_registers,
        integers(3, |x| x as i8),
        integers(4, |x| (x + 128.0) as u8),
        i32,
        0.0
    );
}

#[test]
fn warps_multiply_in_registers() {
    check!(
        bf16_of_warps,
        random(5, bf16::from_f32),
        random(6, bf16::from_f32),
        f32,
        F32
    );
    check!(
        e4m3_of_warps,
        random(5, e4m3::from_f32),
        random(6, e4m3::from_f32),
        f32,
        F32
    );
}

#[test]
fn rows_are_scaled_by_a_reduction() {
    let (a, b) = (random(7, bf16::from_f32), random(8, bf16::from_f32));
    // SAFETY: `run` gives the extents that the kernel has.
    let d: Vec<f32> = run(&a, &b, |device, a, b, d| unsafe {
        kernels::scaled_rows::launch(device, 1, a, b, d)
    });
    for i in 0..M {
        let element = |j: usize| -> f64 {
            let products = (0..64).map(|k| f64::from(a[i * 64 + k]) * f64::from(b[j * 64 + k]));
            products.sum()
        };
        let row: Vec<f64> = (0..N).map(element).collect();
        let squares: f64 = row.iter().map(|x| x * x).sum();
        for (j, x) in row.iter().enumerate() {
            let difference = (f64::from(d[i * N + j]) - x / squares).abs();
            assert!(difference < 1e-7, "({i},{j}): {difference}");
        }
    }
}
