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
mod transpose {
    #[kernel(threads = 64)]
    #[instance(transpose_f32: T = f32, TILE = 32)]
    #[instance(transpose_bf16: T = bf16, TILE = 64)]
    pub fn transpose<T: Element, const TILE: u32>(src: TmaLoad<T, 2>, dst: TmaStore<T, 2>) {
        // Two tiles in shared memory, in the layout of CuTe's 128-byte swizzle atom.
        let v = 128 / bits::<T>();
        let input = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let output = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let ready = mbarriers(1, 1);
        let (m, n) = (block_idx().1 * TILE, block_idx().0 * TILE);
        if thread() == 0 {
            expect_tx(ready[0], bytes(input));
            tma_load(src, (m, n), input, ready[0]);
        }
        // Thread c + 8k moves block (c ^ k, c), so that the eight threads of a phase never share a bank.
        let block = layout!(Sw<3,0,3> o (8,8):(8,1)).at(thread());
        let x = fragment::<T>((v, v));
        wait(ready[0], 0);
        copy(zipped_divide(input, (v, v))[(_, block)], x);
        copy(x, zipped_divide(select(output, 1, 0), (v, v))[(_, block)]);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(output, dst, (n, m));
            tma_commit();
            tma_wait_read(0);
        }
    }
}
// end

use cute_runtime::{bf16, kernels};

/// The kernel of the README is the one above, has no bank conflicts, and finds the same in both of its instances.
#[test]
fn the_kernel_transposes_without_bank_conflicts() {
    let (_, kernel) = include_str!("readme.rs").split_once("// begin\n").unwrap();
    let (kernel, _) = kernel.split_once("// end\n").unwrap();
    assert!(include_str!("../../README.md").contains(kernel));

    let device = Device::emulator();
    let (m, n) = (64, 192);
    let numbers: Vec<f32> = (0..m * n).map(|i| (i % 251) as f32).collect();
    let expected: Vec<f32> = (0..m * n).map(|i| numbers[i % m * n + i / m]).collect();

    let src = Tensor::from_slice(&device, &numbers, [m, n]).unwrap();
    let mut dst = Tensor::<f32, 2>::zeros(&device, [n, m]).unwrap();
    let (src, mut to) = (src.view(), dst.view_mut());
    transpose::transpose_f32::launch(&device, (6, 2), &src, &mut to).unwrap();
    assert!(dst.download().unwrap() == expected);

    let halves: Vec<bf16> = numbers.iter().map(|&x| bf16::from_f32(x)).collect();
    let src = Tensor::from_slice(&device, &halves, [m, n]).unwrap();
    let mut dst = Tensor::<bf16, 2>::zeros(&device, [n, m]).unwrap();
    let (src, mut to) = (src.view(), dst.view_mut());
    transpose::transpose_bf16::launch(&device, (3, 1), &src, &mut to).unwrap();
    let found = dst.download().unwrap();
    assert!(found.iter().map(|x| x.to_f32()).eq(expected));

    let shared = device.take_counts().unwrap().shared;
    assert!(shared.read > 0 && shared.written > 0);
    assert_eq!(shared.bank_conflicts, 0);
}

/// The type of an instance has what the table of the macros lists.
#[test]
fn an_instance_has_what_the_readme_lists() {
    use transpose::transpose_f32;
    assert_eq!(transpose_f32::NAME, "transpose_f32");
    assert!(transpose_f32::PTX.contains(".visible .entry transpose_f32("));
    assert!(transpose_f32::PTX.contains(".target sm_90a"));
    assert_eq!(transpose_f32::THREADS, 64);
    // Two tiles of 32 × 32 numbers and an mbarrier.
    const { assert!(transpose_f32::SMEM_BYTES >= 2 * 4096 + 8) };
}
