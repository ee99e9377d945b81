//! Lists of parameters: one launch for several tensors, each with an address, extents and strides of its own.
//!
//! Every test of results runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::{Device, Error, Kernel, Tensor, TensorView, TensorViewMut, bf16, kernels};

#[kernels]
mod lists {
    /// y[i] = x[i] * by[i], for matrices of any extents.
    #[kernel(threads = 128)]
    #[instance(scaled: MOST = 5)]
    #[instance(scaled_many: MOST = 200)]
    pub fn scaled_by<const MOST: u32>(
        x: [Global<f32, 2>; MOST],
        #[facts(y.len() == x.len())] y: [Global<f32, 2>; MOST],
        #[facts(by.len() == x.len())] by: [f32; MOST],
    ) {
        for i in 0..x.len() {
            scale(x[i], y[i], by[i]);
        }
    }

    fn scale(x: Global<f32, 2>, y: Global<f32, 2>, by: f32) {
        let held = fragment::<f32>(layout!(((32,4),(8)):((1@1,1@0),(4@0))));
        let mut row = 0;
        while row < extent(x, 0) {
            let mut column = 0;
            while column < extent(x, 1) {
                let at = (row / 32, column / 32);
                copy_or(local_tile(x, (32, 32), at), held, 0.0);
                copy_inside(held * by, local_tile(y, (32, 32), at));
                column += 32;
            }
            row += 32;
        }
    }

    /// Which of some lists of pairs a thread takes.
    struct Pairs<const MOST: u32> {
        x: [TmaLoad<bf16, 2>; MOST],
        y: [TmaStore<bf16, 2>; MOST],
        next: u32,
    }

    impl<const MOST: u32> Iterator for Pairs<MOST> {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            let next = self.next;
            if next < self.x.len() {
                self.next += grid_dim().0;
                Some(next)
            } else {
                None
            }
        }
    }

    /// y[i] = x[i], a tile of each, by TMA.
    #[kernel(threads = 32)]
    pub fn copied(
        #[facts(x.len() >= 1)] x: [TmaLoad<bf16, 2>; 4],
        #[facts(y.len() == x.len())] y: [TmaStore<bf16, 2>; 4],
    ) {
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (16, 64)));
        let ready = mbarriers(1, 1);
        let mut phase = 0;
        let pairs = Pairs {
            x,
            y,
            next: block_idx().0,
        };
        if thread() == 0 {
            tma_prefetch_map(x[0]);
            for i in pairs {
                // What comes out of an iterator is not known to be below the length.
                let i = min(i, x.len() - 1);
                expect_tx(ready[0], bytes(tile));
                tma_load(x[i], (0, 0), tile, ready[0]);
                wait(ready[0], phase);
                phase ^= 1;
                tma_store(tile, y[i], (0, 0));
                tma_commit();
                tma_wait(0);
            }
        }
    }

    /// Reads x at an index that only the launch knows.
    #[kernel(threads = 1, checked)]
    pub fn nth(x: [u32; 4], i: u32, y: Global<u32, 1>) {
        y[0] = x[i];
    }

    /// Elements at conditions and facts, and a list without a use.
    #[kernel(threads = 64)]
    pub fn last(
        #[facts(extent(x, 0) % 4 == 0, x.len() == 2)] x: [Global<f32, 1>; 3],
        y: Global<f32, 1>,
        _unused: [TmaStore<f32, 1>; 2],
    ) {
        let (first, second) = (x[0], x[1]);
        if thread() < extent(first, 0) && thread() < extent(second, 0) && thread() < extent(y, 0) {
            y[thread()] = first[thread()] + second[thread()];
        }
    }
}

fn views<T: cute_runtime::Element, const R: usize>(
    tensors: &[Tensor<T, R>],
) -> Vec<TensorView<'_, T, R>> {
    tensors.iter().map(Tensor::view).collect()
}

fn views_mut<T: cute_runtime::Element, const R: usize>(
    tensors: &mut [Tensor<T, R>],
) -> Vec<TensorViewMut<'_, T, R>> {
    tensors.iter_mut().map(Tensor::view_mut).collect()
}

/// A matrix of numbers from 0 on, with rows so many elements apart.
fn counted(device: &Device, shape: [usize; 2], stride: usize) -> Result<Tensor<f32, 2>, Error> {
    let numbers: Vec<f32> = (0..shape[0] * stride).map(|i| i as f32).collect();
    let buffer = device.upload(&numbers)?;
    Tensor::new(buffer, shape, [stride, 1])
}

const SHAPES: [([usize; 2], usize); 5] = [
    ([1, 1], 1),
    ([33, 7], 9),
    ([40, 70], 70),
    ([2, 100], 101),
    ([31, 32], 32),
];

#[test]
fn each_item_has_its_own_address_extents_and_strides() -> Result<(), Error> {
    for device in devices(2) {
        for count in 0..=SHAPES.len() {
            let shapes = &SHAPES[..count];
            let x: Result<Vec<_>, _> = (shapes.iter())
                .map(|(shape, stride)| counted(&device, *shape, *stride))
                .collect();
            let x = x?;
            let y: Result<Vec<_>, _> = shapes
                .iter()
                .map(|(shape, _)| Tensor::zeros(&device, *shape))
                .collect();
            let mut y = y?;
            let by: Vec<f32> = (0..count).map(|i| i as f32 + 0.5).collect();
            lists::scaled::launch(&device, 1, &views(&x), &mut views_mut(&mut y), &by)?;
            for (i, ([rows, columns], stride)) in shapes.iter().enumerate() {
                let expected = (0..rows * columns)
                    .map(|j| (j / columns * stride + j % columns) as f32 * by[i]);
                assert!(y[i].download()?.into_iter().eq(expected), "{i} of {count}");
            }
        }
    }
    Ok(())
}

/// PTX 8.1 has them. The assembler, where there is one, takes what is picked from the parameters without a copy of its own.
#[test]
fn parameters_may_have_more_than_4096_bytes() -> Result<(), Error> {
    assert!(lists::scaled::PTX.starts_with(".version 8.0"));
    assert!(lists::scaled_many::PTX.starts_with(".version 8.1"));
    let device = Device::emulator();
    for compiled in [
        device.compile::<lists::scaled_many>()?,
        device.compile::<lists::copied>()?,
    ] {
        let (local, spilled) = (compiled.local_bytes, compiled.spilled_bytes);
        assert!(local.unwrap_or(0) + spilled.unwrap_or(0) == 0, "{compiled}");
    }
    Ok(())
}

#[test]
fn items_are_read_and_written_by_tma() -> Result<(), Error> {
    for device in devices(2) {
        let shapes = [[3, 64], [16, 8], [100, 72]];
        let x: Result<Vec<Tensor<bf16, 2>>, Error> = shapes
            .iter()
            .enumerate()
            .map(|(i, shape)| {
                let number = bf16::from_f32(i as f32 + 1.0);
                Tensor::from_slice(&device, &vec![number; shape[0] * shape[1]], *shape)
            })
            .collect();
        let x = x?;
        let y: Result<Vec<_>, _> = shapes
            .iter()
            .map(|shape| Tensor::zeros(&device, *shape))
            .collect();
        let mut y = y?;
        lists::copied::launch(&device, 2, &views(&x), &mut views_mut(&mut y))?;
        for (i, [rows, columns]) in shapes.into_iter().enumerate() {
            let expected = (0..rows * columns).map(|j| {
                let inside = j / columns < 16 && j % columns < 64;
                if inside { i as f32 + 1.0 } else { 0.0 }
            });
            let found = y[i].download()?.into_iter().map(bf16::to_f32);
            assert!(found.eq(expected), "{i}");
        }
    }
    Ok(())
}

#[test]
fn facts_and_conditions_prove_elements_of_items() -> Result<(), Error> {
    for device in devices(2) {
        let x = [[1.0; 8], [2.0; 8]].map(|x| Tensor::from_slice(&device, &x, [8]));
        let [first, second] = x;
        let mut y = Tensor::<f32, 1>::zeros(&device, [9])?;
        let x = [first?, second?];
        lists::last::launch(&device, 1, &views(&x), &mut y.view_mut(), &mut [])?;
        assert_eq!(y.download()?, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 0.0]);
    }
    Ok(())
}

#[test]
fn a_launch_that_breaks_a_rule_names_the_item() -> Result<(), Error> {
    let device = Device::emulator();
    let x: Result<Vec<Tensor<f32, 2>>, _> =
        (0..6).map(|_| Tensor::zeros(&device, [4, 4])).collect();
    let x = x?;
    let mut y: Vec<Tensor<f32, 2>> = (0..6)
        .map(|_| Tensor::zeros(&device, [4, 4]))
        .collect::<Result<_, _>>()?;
    let launch = |x: usize, y: &mut [Tensor<f32, 2>], by: &[f32], all: &[Tensor<f32, 2>]| {
        lists::scaled::launch(&device, 1, &views(&all[..x]), &mut views_mut(y), by)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        launch(6, &mut y, &[1.0; 6], &x),
        "kernel scaled, argument x: the list has 6 items, and the kernel takes at most 5"
    );
    assert_eq!(
        launch(2, &mut y[..3], &[1.0; 2], &x),
        "kernel scaled: `y.len() == x.len()` does not hold: y.len() = 3, x.len() = 2"
    );
    // An extent of 0.
    let mut some = vec![
        Tensor::zeros(&device, [4, 4])?,
        Tensor::zeros(&device, [0, 4])?,
    ];
    assert_eq!(
        launch(2, &mut some, &[1.0; 2], &x),
        "kernel scaled, argument y: item 1: the extent of mode 0 is 0, but must be at least 1"
    );
    // A fact about the second.
    let pair = [Tensor::zeros(&device, [8])?, Tensor::zeros(&device, [6])?];
    let mut z = Tensor::zeros(&device, [8])?;
    let error = lists::last::launch(&device, 1, &views(&pair), &mut z.view_mut(), &mut []);
    assert_eq!(
        error.unwrap_err().to_string(),
        "kernel last: `extent(x, 0) % 4 == 0` does not hold: extent(x[1], 0) = 6"
    );
    Ok(())
}

#[test]
fn a_checked_kernel_ends_at_an_index_that_is_not_below_the_length() -> Result<(), Error> {
    let device = Device::emulator();
    let mut y = Tensor::<u32, 1>::zeros(&device, [1])?;
    lists::nth::launch(&device, 1, &[5, 6, 7], 2, &mut y.view_mut())?;
    assert_eq!(y.download()?, [7]);
    let error = lists::nth::launch(&device, 1, &[5, 6, 7], 3, &mut y.view_mut());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("x[3] is outside of x of shape 3"), "{error}");
    Ok(())
}

#[test]
fn a_captured_launch_keeps_its_list() -> Result<(), Error> {
    for device in devices(2) {
        let mut y = vec![Tensor::<f32, 2>::zeros(&device, [4, 4])?];
        let graph = {
            let x = vec![counted(&device, [4, 4], 4)?];
            device.capture(|| {
                lists::scaled::launch(&device, 1, &views(&x), &mut views_mut(&mut y), &[2.0])
            })?
        };
        graph.launch()?;
        assert_eq!(y[0].download()?[15], 30.0);
    }
    Ok(())
}
