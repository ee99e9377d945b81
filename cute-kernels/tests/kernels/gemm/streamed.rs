//! Products of few rows that go from memory to registers.

use super::*;

/// A product by `Tile::Streamed`. K is a multiple of 16 bytes or not, as the caller says by K and `is_aligned`.
fn streamed(shape: [usize; 3]) -> Case {
    Case::new(shape, 3).tile(Tile::Streamed)
}

/// The same for rows that begin anywhere.
fn anywhere(shape: [usize; 3]) -> Case {
    Case {
        is_aligned: false,
        ..streamed(shape)
    }
}

/// Each number of rows; columns that the CTAs' 16 or 32 do not divide; parts of K for all warps, for some and for none again.
#[test]
fn each_number_of_rows_is_streamed() {
    let device = device();
    for m in 1..=16 {
        streamed([m, 40 + m, 1096 + 8 * m]).check::<bf16, f32>(&device, F32);
        anywhere([m, 40 + m, 1090 + m]).check::<bf16, f32>(&device, F32);
    }
    for shape in [
        [1, 1, 1],
        [1, 1, 8],
        [2, 16, 24],
        [7, 17, 3],
        [16, 31, 2056],
    ] {
        streamed(shape).check::<bf16, bf16>(&device, BF16);
        anywhere(shape).check::<bf16, bf16>(&device, BF16);
    }
    // Rows that begin at multiples of 16 bytes, but end anywhere.
    streamed([5, 33, 1027]).check::<f16, f16>(&device, F16);
    if !device.is_emulator() {
        for shape in [[1, 4096, 7168], [8, 7168, 2048], [16, 12_288, 4096]] {
            streamed(shape).check::<bf16, bf16>(&device, BF16);
            anywhere(shape).check::<bf16, bf16>(&device, BF16);
        }
    }
}

/// By each instance of each pair of types.
#[test]
pub(crate) fn each_type_is_streamed() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fn check<A, B, D>(device: &Device, epsilon: f64)
        where
            A: Input + GemmInput<D, B>,
            B: Input + GemmInput<D, A>,
            D: Output,
        {
            for m in [3, 11] {
                streamed([m, 43, 592]).check_mix::<A, B, D>(device, epsilon);
                anywhere([m, 43, 587]).check_mix::<A, B, D>(device, epsilon);
            }
        }
        let device = device();
        check::<bf16, bf16, bf16>(&device, BF16);
        check::<bf16, bf16, f32>(&device, F32);
        check::<f16, f16, f16>(&device, F16);
        check::<f16, f16, f32>(&device, F32);
        check::<f32, f32, f32>(&device, F32);
        check::<i8, i8, i32>(&device, 0.0);
        check::<i8, u8, i32>(&device, 0.0);
        check::<u8, i8, i32>(&device, 0.0);
        check::<u8, u8, i32>(&device, 0.0);
        check::<e4m3, e4m3, bf16>(&device, BF16);
        check::<e4m3, e4m3, f32>(&device, F32);
        check::<e4m3, e5m2, bf16>(&device, BF16);
        check::<e4m3, e5m2, f32>(&device, F32);
        check::<e5m2, e4m3, bf16>(&device, BF16);
        check::<e5m2, e4m3, f32>(&device, F32);
        check::<e5m2, e5m2, bf16>(&device, BF16);
        check::<e5m2, e5m2, f32>(&device, F32);
    });
}

/// D along M, few columns in place of few rows, and both. The matrix that has few is the kernel's A.
#[test]
fn few_columns_are_streamed() {
    let device = device();
    for [m, n] in [[5, 70], [70, 5], [90, 1], [1, 90], [13, 16]] {
        for d_mn in [false, true] {
            let case = Case {
                mn: [false, false, d_mn],
                ..streamed([m, n, 264])
            };
            case.check::<bf16, bf16>(&device, BF16);
            case.check_mix::<e4m3, e5m2, f32>(&device, F32);
        }
    }
}

/// Each matrix of a batch has CTAs of its own. Elements of 8 bits along M or N are copied first.
#[test]
fn batches_are_streamed() {
    let device = device();
    for batches in [1, 3] {
        let case = Case {
            batches,
            ..streamed([6, 50, 200])
        };
        case.check::<f16, f32>(&device, F32);
        let case = Case {
            batches,
            ..anywhere([12, 50, 77])
        };
        case.check::<f32, f32>(&device, F32);
        let case = Case {
            batches,
            mn: [true, true, false],
            ..anywhere([9, 37, 85])
        };
        case.check::<i8, i32>(&device, 0.0);
    }
}

/// Whatever the schedule, the sums of warps are added in one order.
#[test]
fn streams_do_not_notice_the_schedule() {
    let [m, n, k] = [9, 70, 2088];
    let (a, b) = (normal(3, m * k), normal(4, n * k));
    let bits = |device: &Device| -> Vec<u32> {
        let a = Tensor::from_slice(device, &a, [m, k]).unwrap();
        let b = Tensor::from_slice(device, &b, [n, k]).unwrap();
        let mut d = Tensor::<f32, 2>::zeros(device, [m, n]).unwrap();
        let plan = Plan::new(device, &a.view(), &b.view(), &d.view_mut()).unwrap();
        let plan = plan.with_tile(Tile::Streamed).unwrap();
        plan.launch(device, &a.view(), &b.view(), &mut d.view_mut())
            .unwrap();
        let found = d.download().unwrap().into_iter();
        found.map(f32::to_bits).collect()
    };
    let expected = bits(&device());
    for seed in 1..6 {
        assert_eq!(bits(&Device::emulator_with_seed(seed)), expected);
    }
}

/// Each instruction truncates the sum so far, and a warp has an eighth of them: the error is less than a third of that where a CTA has
/// all of K.
#[test]
fn streams_round_less() {
    let device = Device::emulator();
    let [m, n, k] = [1, 128, 7168];
    let (a, b) = (normal(1, m * k), normal(2, n * k));
    let at = Tensor::from_slice(&device, &a, [m, k]).unwrap();
    let bt = Tensor::from_slice(&device, &b, [n, k]).unwrap();
    let mut d = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let plan = Plan::new(&device, &at.view(), &bt.view(), &d.view_mut()).unwrap();
    let whole = |(tile, _): &(Tile, f64)| matches!(tile, Tile::Shared(config) if config.split == 1);
    let (whole, _) = *plan.candidates().iter().find(|it| whole(it)).unwrap();
    let [few, streamed] = [whole, Tile::Streamed].map(|tile| {
        let plan = plan.clone().with_tile(tile).unwrap();
        plan.launch(&device, &at.view(), &bt.view(), &mut d.view_mut())
            .unwrap();
        let found = reference::gemm(
            Matrix::packed(&a, m, k),
            Matrix::packed(&b, n, k),
            Matrix::packed(&d.download().unwrap(), m, n),
        );
        found.worst
    });
    assert!(streamed < few / 3.0, "{streamed:e}, and {few:e} by tiles");
}

/// The first row of a matrix with rows of odd length has a stride that no vector divides, though no second row lies there.
#[test]
fn the_stride_of_one_row_may_be_odd() {
    let device = device();
    let (k, n) = (64, 40);
    let (a, b) = (normal(5, 3 * 65), normal(6, n * k));
    let at = Tensor::from_slice(&device, &a, [3, 65]).unwrap();
    let row = at.view().slice(0, 0..1).unwrap().slice(1, 0..k).unwrap();
    let bt = Tensor::from_slice(&device, &b, [n, k]).unwrap();
    let mut d = Tensor::<bf16, 2>::zeros(&device, [1, n]).unwrap();
    let plan = Plan::new(&device, &row, &bt.view(), &d.view_mut()).unwrap();
    let plan = plan.with_tile(Tile::Streamed).unwrap();
    plan.launch(&device, &row, &bt.view(), &mut d.view_mut())
        .unwrap();
    let found = reference::gemm(
        Matrix::packed(&a, 1, k),
        Matrix::packed(&b, n, k),
        Matrix::packed(&d.download().unwrap(), 1, n),
    );
    assert!(found.is_rounding(BF16, 4), "{found:?}");
}

/// How rows lie is found out at each launch: a plan of matrices whose rows begin at multiples of 16 bytes takes others, and the other way
/// round.
#[test]
fn a_plan_of_streams_takes_rows_that_begin_anywhere() {
    let device = device();
    let [m, n, k] = [9, 40, 64];
    let (a, b) = (normal(7, m * 65), normal(8, n * 65));
    let (a_buffer, b_buffer) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    for lds in [[64, 65], [65, 64]] {
        let views = lds.map(|ld| {
            let a = a_buffer.view(0, [m, k], [ld, 1]).unwrap();
            (a, b_buffer.view(0, [n, k], [ld, 1]).unwrap())
        });
        let mut d = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
        let plan = Plan::new(&device, &views[0].0, &views[0].1, &d.view_mut()).unwrap();
        let plan = plan.with_tile(Tile::Streamed).unwrap();
        for ((at, bt), ld) in views.iter().zip(lds) {
            plan.launch(&device, at, bt, &mut d.view_mut()).unwrap();
            let packed = |x: &[bf16], rows: usize| -> Vec<bf16> {
                let rows = x.chunks(ld).take(rows);
                rows.flat_map(|row| row[..k].to_vec()).collect()
            };
            let found = reference::gemm(
                Matrix::packed(&packed(&a, m), m, k),
                Matrix::packed(&packed(&b, n), n, k),
                Matrix::packed(&d.download().unwrap(), m, n),
            );
            assert!(found.is_rounding(F32, 4), "{found:?} of rows of {ld}");
        }
    }
}

/// Streams are offered for few rows or columns, and for no others. They take no copies of what TMA cannot load.
#[test]
fn a_plan_offers_streams() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let offered = |m, n, k, mn: bool| {
        let (a, b, mut d) = (matrix(m, k), matrix(k, n), matrix(m, n));
        let along_k = matrix(n, k);
        let b = match mn {
            true => b.view().select([1, 0]).unwrap(),
            false => along_k.view(),
        };
        let plan = Plan::new(&device, &a.view(), &b, &d.view_mut()).unwrap();
        // Rows of 19 elements would be copied.
        assert_eq!(plan.tile() == Tile::Streamed, k == 19, "{plan}");
        plan.with_tile(Tile::Streamed)
    };
    for (m, n, k) in [(16, 24, 16), (17, 16, 16), (1, 40, 19), (16, 16, 16)] {
        let plan = offered(m, n, k, false).unwrap();
        let text = plan.to_string();
        assert!(text.contains("few rows") && text.contains("stored by elements"));
        assert!(!text.contains("copied"), "{text}");
    }
    let error = offered(17, 24, 16, false).unwrap_err();
    assert!(matches!(error, Error::GemmTile { .. }), "{error}");
    // Wgmma reads this B along N.
    let error = offered(16, 24, 16, true).unwrap_err();
    assert!(matches!(error, Error::GemmTile { .. }), "{error}");
}

/// Rows of 16,386 bytes take a copy, which takes longer than the product, unless they go to registers.
#[test]
fn rows_that_would_be_copied_go_to_registers() {
    let device = Device::emulator();
    let (a, b) = (
        device.zeros::<bf16>(16 * 8193).unwrap(),
        device.zeros::<bf16>(256 * 8193).unwrap(),
    );
    let mut d = Tensor::<bf16, 2>::zeros(&device, [16, 256]).unwrap();
    let a = a.view(0, [16, 8192], [8193, 1]).unwrap();
    let b = b.view(0, [256, 8192], [8193, 1]).unwrap();
    let plan = Plan::new(&device, &a, &b, &d.view_mut()).unwrap();
    assert_eq!(plan.tile(), Tile::Streamed, "{plan}");
}
