//! Kernels in CUDA C++ as nvcc compiles them: each is loaded, launched and compared with what it is to compute. The sources and the
//! PTX are in `tests/cuda`.

use super::Run;
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{EmulatorError, FaultKind, Launch, Program, Schedule, encode_tensor_map};
use half::{bf16, f16};

/// A compiled module and the memory on which its kernels run.
struct Module {
    program: Program,
    run: Run<'static>,
}

/// What went wrong, for the message of the test.
type Outcome = Result<(), String>;

impl Module {
    fn launch(
        &mut self,
        entry: &str,
        grid: u32,
        block: [u32; 3],
        args: &[Vec<u8>],
    ) -> Result<(), EmulatorError> {
        self.launch_2d(entry, [grid, 1, 1], block, args)
    }

    fn launch_2d(
        &mut self,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Vec<u8>],
    ) -> Result<(), EmulatorError> {
        let mut launch = Launch {
            grid,
            block,
            args,
            schedule: self.run.launch.schedule,
            checks: self.run.launch.checks,
            ..Launch::default()
        };
        launch.limits.steps = 1 << 24;
        let launched = self.program.launch(&mut self.run.memory, entry, &launch);
        launched.map(drop)
    }

    fn put<T: Copy, const N: usize>(&mut self, values: &[T], bytes: fn(T) -> [u8; N]) -> u64 {
        self.run.array(values, bytes)
    }

    fn floats(&mut self, values: &[f32]) -> u64 {
        self.put(values, f32::to_le_bytes)
    }

    fn ints(&mut self, values: &[i32]) -> u64 {
        self.put(values, i32::to_le_bytes)
    }

    fn zeros(&mut self, words: usize) -> u64 {
        self.ints(&vec![0; words])
    }

    fn get<T, const N: usize>(&self, address: u64, len: usize, value: fn([u8; N]) -> T) -> Vec<T> {
        let bytes = self.run.memory.bytes(address, N * len).unwrap();
        bytes.as_chunks().0.iter().map(|it| value(*it)).collect()
    }

    fn read_floats(&self, address: u64, len: usize) -> Vec<f32> {
        self.get(address, len, f32::from_le_bytes)
    }

    fn read_ints(&self, address: u64, len: usize) -> Vec<i32> {
        self.get(address, len, i32::from_le_bytes)
    }
}

/// The bytes of an argument.
fn arg<const N: usize>(bytes: [u8; N]) -> Vec<u8> {
    bytes.to_vec()
}

fn pointers(addresses: &[u64]) -> Vec<Vec<u8>> {
    addresses.iter().map(|it| arg(it.to_le_bytes())).collect()
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Numbers that look random.
fn noise(seed: u64, len: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    (0..len).map(next).collect()
}

/// Numbers from -4 to 4, multiples of 1/64.
fn small(seed: u64, len: usize) -> Vec<f32> {
    let numbers = noise(seed, len).into_iter();
    numbers
        .map(|bits| (bits % 513) as f32 / 64.0 - 4.0)
        .collect()
}

fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) -> Outcome {
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None if found.len() == expected.len() => Ok(()),
        None => Err(format!("{} values, not {}", found.len(), expected.len())),
        Some(at) => Err(format!(
            "value {at} is {:?}, not {:?}",
            found[at], expected[at]
        )),
    }
}

/// Numbers that differ by at most this part of the expected one, or this much if that is below 1.
fn close(found: &[f64], expected: &[f64], part: f64) -> Outcome {
    let far = |(a, b): (&f64, &f64)| {
        !(a == b || (a - b).abs() <= part * b.abs().max(1.0) || a.is_nan() && b.is_nan())
    };
    match found.iter().zip(expected).position(far) {
        None if found.len() == expected.len() => Ok(()),
        None => Err(format!("{} values, not {}", found.len(), expected.len())),
        Some(at) => Err(format!("value {at} is {}, not {}", found[at], expected[at])),
    }
}

fn close_floats(found: &[f32], expected: &[f64], part: f64) -> Outcome {
    let found: Vec<f64> = found.iter().map(|it| f64::from(*it)).collect();
    close(&found, expected, part)
}

macro_rules! kernels {
    ($($name:ident: $check:expr;)*) => {
        /// The name, the PTX and the check of each module.
        const KERNELS: &[(&str, &str, fn(&mut Module) -> Outcome)] = &[
            $((stringify!($name), include_str!(concat!("../cuda/", stringify!($name), ".ptx")), $check),)*
        ];
    };
}

kernels! {
    assertion: assertion;
    atomics: atomics;
    barrier_reduce: barrier_reduce;
    bf16_math: bf16_math;
    bitonic: bitonic;
    block_scan: block_scan;
    bulk_copy: bulk_copy;
    cg_reduce: cg_reduce;
    classes: classes;
    cluster: cluster;
    compact: compact;
    cp_async_pipeline: cp_async_pipeline;
    dispatch: dispatch;
    dot_bytes: dot_bytes;
    double_math: double_math;
    float_math: float_math;
    fp8: fp8;
    gemm_tiled: gemm_tiled;
    gemm_wmma: gemm_wmma;
    half_math: half_math;
    histogram: histogram;
    integers: integers;
    layer_norm: layer_norm;
    local_array: local_array;
    mma_sync: mma_sync;
    print: print;
    recursion: recursion;
    reduce_shuffle: reduce_shuffle;
    rounding: rounding;
    saxpy: saxpy;
    softmax: softmax;
    spin_lock: spin_lock;
    stencil: stencil;
    tensor_copy: tensor_copy;
    tensor_map_replace: tensor_map_replace;
    transpose: transpose;
    vector_add: vector_add;
    vector_loads: vector_loads;
    warp_specialised: warp_specialised;
}

#[test]
fn kernels_of_nvcc_run() {
    let mut failures = Vec::new();
    for (name, ptx, check) in KERNELS {
        for seed in 0..3 {
            let mut run = Run::threads(1);
            run.launch.schedule = Schedule::from_seed(seed);
            // Its loop around `atomicCAS` begins with a plain load, as many do, which races by PTX's memory model.
            run.launch.checks.global = *name != "atomics";
            let outcome = Program::load(ptx)
                .map_err(message)
                .and_then(|program| check(&mut Module { program, run }));
            if let Err(message) = outcome {
                failures.push(format!("{name}, seed {seed}: {message}"));
                break;
            }
        }
    }
    let (failed, all) = (failures.len(), KERNELS.len());
    assert!(
        failures.is_empty(),
        "{failed} of {all}:\n{}",
        failures.join("\n")
    );
}

fn vector_add(module: &mut Module) -> Outcome {
    let (a, b) = (small(1, 100), small(2, 100));
    let addresses = [module.floats(&a), module.floats(&b), module.zeros(100)];
    let mut args = pointers(&addresses);
    args.push(arg(100_i32.to_le_bytes()));
    module
        .launch("vector_add", 2, [64, 1, 1], &args)
        .map_err(message)?;
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    same(&module.read_floats(addresses[2], 100), &expected)
}

fn saxpy(module: &mut Module) -> Outcome {
    let (x, y) = (small(3, 300), small(4, 300));
    let addresses = [module.floats(&x), module.floats(&y)];
    let mut args = vec![arg(300_i32.to_le_bytes()), arg(1.5_f32.to_le_bytes())];
    args.extend(pointers(&addresses));
    module
        .launch("saxpy", 2, [64, 1, 1], &args)
        .map_err(message)?;
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(1.5, *y)).collect();
    same(&module.read_floats(addresses[1], 300), &expected)
}

fn reduce_shuffle(module: &mut Module) -> Outcome {
    let values = small(5, 1000);
    let addresses = [module.floats(&values), module.zeros(1)];
    let mut args = pointers(&addresses);
    args.push(arg(1000_i32.to_le_bytes()));
    module
        .launch("reduce_shuffle", 3, [128, 1, 1], &args)
        .map_err(message)?;
    // Sums of multiples of 1/64 are exact.
    same(
        &module.read_floats(addresses[1], 1),
        &[values.iter().sum::<f32>()],
    )
}

fn block_scan(module: &mut Module) -> Outcome {
    let values: Vec<i32> = noise(6, 512).iter().map(|it| *it as i32 >> 12).collect();
    let addresses = [module.ints(&values), module.zeros(512)];
    module
        .launch("block_scan", 2, [256, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let mut expected = values;
    for block in expected.chunks_exact_mut(256) {
        (1..256).for_each(|i| block[i] += block[i - 1]);
    }
    same(&module.read_ints(addresses[1], 512), &expected)
}

fn histogram(module: &mut Module) -> Outcome {
    let bytes: Vec<u8> = noise(7, 3000).iter().map(|it| (it % 97) as u8).collect();
    let addresses = [module.put(&bytes, u8::to_le_bytes), module.zeros(256)];
    let mut args = pointers(&addresses);
    args.push(arg(3000_i32.to_le_bytes()));
    module
        .launch("histogram", 3, [128, 1, 1], &args)
        .map_err(message)?;
    let mut expected = vec![0; 256];
    bytes.iter().for_each(|it| expected[usize::from(*it)] += 1);
    same(&module.read_ints(addresses[1], 256), &expected)
}

fn transpose(module: &mut Module) -> Outcome {
    let (width, height) = (40, 70);
    let values = small(8, width * height);
    let addresses = [module.floats(&values), module.zeros(width * height)];
    let mut args = pointers(&addresses);
    args.extend([
        arg((width as i32).to_le_bytes()),
        arg((height as i32).to_le_bytes()),
    ]);
    module
        .launch_2d("transpose", [2, 3, 1], [32, 8, 1], &args)
        .map_err(message)?;
    let expected: Vec<f32> = (0..width * height)
        .map(|i| values[i % height * width + i / height])
        .collect();
    same(&module.read_floats(addresses[1], width * height), &expected)
}

fn softmax(module: &mut Module) -> Outcome {
    let (rows, columns) = (3, 75);
    let values = small(9, rows * columns);
    let addresses = [module.floats(&values), module.zeros(rows * columns)];
    let mut args = pointers(&addresses);
    args.push(arg((columns as i32).to_le_bytes()));
    module
        .launch("softmax", rows as u32, [32, 1, 1], &args)
        .map_err(message)?;
    let expected: Vec<f64> = values
        .chunks_exact(columns)
        .flat_map(|row| {
            let powers: Vec<f64> = row.iter().map(|it| f64::from(*it).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |it| it / sum)
        })
        .collect();
    close_floats(
        &module.read_floats(addresses[1], rows * columns),
        &expected,
        1e-6,
    )
}

fn layer_norm(module: &mut Module) -> Outcome {
    let (rows, columns) = (2, 150);
    let (values, gamma, beta) = (
        small(10, rows * columns),
        small(11, columns),
        small(12, columns),
    );
    let addresses = [
        module.floats(&values),
        module.floats(&gamma),
        module.floats(&beta),
        module.zeros(rows * columns),
    ];
    let mut args = pointers(&addresses);
    args.extend([
        arg((columns as i32).to_le_bytes()),
        arg(1e-5_f32.to_le_bytes()),
    ]);
    module
        .launch("layer_norm", rows as u32, [64, 1, 1], &args)
        .map_err(message)?;
    let expected: Vec<f64> = values
        .chunks_exact(columns)
        .flat_map(|row| {
            let row: Vec<f64> = row.iter().map(|it| f64::from(*it)).collect();
            let mean = row.iter().sum::<f64>() / columns as f64;
            let squares = row.iter().map(|it| (it - mean) * (it - mean));
            let scale = 1.0 / (squares.sum::<f64>() / columns as f64 + 1e-5).sqrt();
            let normal = row.into_iter().map(move |it| (it - mean) * scale);
            let shifted = normal.zip(&gamma).zip(&beta);
            let values: Vec<f64> = shifted
                .map(|((it, gamma), beta)| it * f64::from(*gamma) + f64::from(*beta))
                .collect();
            values
        })
        .collect();
    close_floats(
        &module.read_floats(addresses[3], rows * columns),
        &expected,
        2e-6,
    )
}

fn gemm_tiled(module: &mut Module) -> Outcome {
    let n = 48;
    let (a, b) = (small(13, n * n), small(14, n * n));
    let addresses = [module.floats(&a), module.floats(&b), module.zeros(n * n)];
    let mut args = pointers(&addresses);
    args.push(arg((n as i32).to_le_bytes()));
    module
        .launch_2d("gemm_tiled", [3, 3, 1], [16, 16, 1], &args)
        .map_err(message)?;
    let element = |i: usize| {
        let products = (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]);
        products.sum::<f32>()
    };
    // Products of multiples of 1/64 are exact, and so are their sums.
    let expected: Vec<f32> = (0..n * n).map(element).collect();
    same(&module.read_floats(addresses[2], n * n), &expected)
}

fn gemm_wmma(module: &mut Module) -> Outcome {
    let n = 80;
    let half = |values: Vec<f32>| -> Vec<f16> {
        values.iter().map(|it| f16::from_f32(it.trunc())).collect()
    };
    let (a, b) = (half(small(15, n * n)), half(small(16, n * n)));
    let addresses = [
        module.put(&a, f16::to_le_bytes),
        module.put(&b, f16::to_le_bytes),
        module.zeros(n * n),
    ];
    let mut args = pointers(&addresses);
    args.push(arg((n as i32).to_le_bytes()));
    module
        .launch_2d("gemm_wmma", [5, 5, 1], [32, 1, 1], &args)
        .map_err(message)?;
    let element = |i: usize| {
        let products = (0..n).map(|k| a[i / n * n + k].to_f32() * b[i % n * n + k].to_f32());
        2.0 * products.sum::<f32>()
    };
    let expected: Vec<f32> = (0..n * n).map(element).collect();
    same(&module.read_floats(addresses[2], n * n), &expected)?;

    let bytes = |seed| -> Vec<i8> { noise(seed, 256).iter().map(|it| *it as i8).collect() };
    let (a, b) = (bytes(17), bytes(18));
    let c: Vec<i32> = noise(19, 256).iter().map(|it| *it as i32 >> 8).collect();
    let addresses = [
        module.put(&a, i8::to_le_bytes),
        module.put(&b, i8::to_le_bytes),
        module.ints(&c),
    ];
    module
        .launch("gemm_wmma_shared", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    // A and C are column-major, B is row-major.
    let element = |i: usize| {
        let (row, column) = (i % 16, i / 16);
        let products = (0..16).map(|k| i32::from(a[k * 16 + row]) * i32::from(b[k * 16 + column]));
        c[i] + products.sum::<i32>()
    };
    let expected: Vec<i32> = (0..256).map(element).collect();
    same(&module.read_ints(addresses[2], 256), &expected)
}

fn mma_sync(module: &mut Module) -> Outcome {
    let brain = |values: Vec<f32>| -> Vec<bf16> {
        values.iter().map(|it| bf16::from_f32(it.trunc())).collect()
    };
    let (a, b) = (brain(small(20, 256)), brain(small(21, 128)));
    let addresses = [
        module.put(&a, bf16::to_le_bytes),
        module.put(&b, bf16::to_le_bytes),
        module.zeros(128),
    ];
    module
        .launch("mma_sync", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let element = |i: usize| {
        let products = (0..16).map(|k| a[i / 8 * 16 + k].to_f32() * b[i % 8 * 16 + k].to_f32());
        products.sum::<f32>()
    };
    let expected: Vec<f32> = (0..128).map(element).collect();
    same(&module.read_floats(addresses[2], 128), &expected)
}

fn cp_async_pipeline(module: &mut Module) -> Outcome {
    let tiles = 5;
    let values = small(22, tiles * 512);
    let addresses = [module.floats(&values), module.zeros(128)];
    let mut args = pointers(&addresses);
    args.push(arg((tiles as i32).to_le_bytes()));
    module
        .launch("cp_async_pipeline", 1, [128, 1, 1], &args)
        .map_err(message)?;
    let sum = |thread: usize| -> f32 {
        (0..tiles)
            .map(|tile| {
                let at = tile * 512 + (127 - thread) * 4;
                let it = &values[at..at + 4];
                it[0] + 2.0 * it[1] + 3.0 * it[2] + 4.0 * it[3]
            })
            .sum()
    };
    let expected: Vec<f32> = (0..128).map(sum).collect();
    same(&module.read_floats(addresses[1], 128), &expected)
}

fn cg_reduce(module: &mut Module) -> Outcome {
    let values: Vec<i32> = noise(23, 64).iter().map(|it| *it as i32 >> 16).collect();
    let addresses = [
        module.ints(&values),
        module.zeros(1),
        module.zeros(64),
        module.zeros(64),
    ];
    module
        .launch("cg_reduce", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    same(
        &module.read_ints(addresses[1], 1),
        &[values.iter().sum::<i32>()],
    )?;
    let largest = |i: usize| values[i / 4 * 4..i / 4 * 4 + 4].iter().copied().max();
    let expected: Vec<f32> = (0..64).map(|i| largest(i).unwrap_or(0) as f32).collect();
    same(&module.read_floats(addresses[2], 64), &expected)?;
    let scan = |i: usize| values[i / 32 * 32..=i].iter().sum::<i32>();
    let expected: Vec<i32> = (0..64).map(scan).collect();
    same(&module.read_ints(addresses[3], 64), &expected)
}

fn bitonic(module: &mut Module) -> Outcome {
    let values = noise(24, 1024);
    let address = module.put(&values, u32::to_le_bytes);
    module
        .launch("bitonic", 2, [256, 1, 1], &pointers(&[address]))
        .map_err(message)?;
    let mut expected = values;
    expected
        .chunks_exact_mut(512)
        .for_each(<[u32]>::sort_unstable);
    same(&module.get(address, 1024, u32::from_le_bytes), &expected)
}

fn compact(module: &mut Module) -> Outcome {
    let n = 100;
    let mut values: Vec<i32> = noise(25, n)
        .iter()
        .map(|it| (it % 50) as i32 + 10)
        .collect();
    values[70] = 7;
    values[32..64].fill(12);
    let addresses = [
        module.ints(&values),
        module.zeros(n),
        module.zeros(1),
        module.zeros(n),
    ];
    let mut args = pointers(&addresses);
    args.push(arg((n as i32).to_le_bytes()));
    module
        .launch("compact", 2, [64, 1, 1], &args)
        .map_err(message)?;
    let mut expected: Vec<i32> = values.iter().copied().filter(|it| it % 2 == 1).collect();
    same(&module.read_ints(addresses[2], 1), &[expected.len() as i32])?;
    let mut found = module.read_ints(addresses[1], expected.len());
    // Warps append in any order.
    expected.sort_unstable();
    found.sort_unstable();
    same(&found, &expected)?;
    let padded: Vec<i32> = values
        .iter()
        .copied()
        .chain(std::iter::repeat(0))
        .take(128)
        .collect();
    let equal = |i: usize| {
        let warp = &padded[i / 32 * 32..i / 32 * 32 + 32];
        let same = warp.iter().filter(|it| **it % 5 == padded[i] % 5).count() as i32;
        let all = warp.iter().all(|it| *it == warp[0]);
        same + 100 * i32::from(all) + 1000 * i32::from(warp.contains(&7))
    };
    let expected: Vec<i32> = (0..n).map(equal).collect();
    same(&module.read_ints(addresses[3], n), &expected)
}

fn stencil(module: &mut Module) -> Outcome {
    let n = 90;
    let values = small(26, n);
    let addresses = [module.floats(&values), module.zeros(n)];
    // What the host copies to a variable in constant memory.
    let Module { program, run } = module;
    let variable = program
        .variable(&mut run.memory, "offset")
        .map_err(message)?;
    let (offset, bytes) = variable.ok_or("there is no variable `offset`")?;
    let values_of_offset: Vec<u8> = [10_i32, -20]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    assert_eq!(bytes, 8);
    run.memory
        .write(offset, &values_of_offset)
        .map_err(message)?;
    let mut args = pointers(&addresses);
    args.push(arg((n as i32).to_le_bytes()));
    for _ in 0..2 {
        module
            .launch("stencil", 2, [64, 1, 1], &args)
            .map_err(message)?;
    }
    let weights = [0.0625, 0.25, 0.375, 0.25, 0.0625];
    let sum = |i: usize| -> f32 {
        let near = |k: usize| values[(i + k).saturating_sub(2).min(n - 1)];
        let sum: f32 = (0..5).map(|k| weights[k] * near(k)).sum();
        sum * 2.0 + [10.0, -20.0][i % 2]
    };
    let expected: Vec<f32> = (0..n).map(sum).collect();
    same(&module.read_floats(addresses[1], n), &expected)?;
    // Variables keep their values from one launch to the next.
    let Module { program, run } = module;
    let variable = program
        .variable(&mut run.memory, "visits")
        .map_err(message)?;
    let (visits, _) = variable.ok_or("there is no variable `visits`")?;
    same(&module.read_ints(visits, 1), &[2 * 128])
}

fn dispatch(module: &mut Module) -> Outcome {
    let values: Vec<i32> = noise(27, 64).iter().map(|it| *it as i32 >> 14).collect();
    let addresses = [module.ints(&values), module.zeros(64), module.zeros(65)];
    module
        .launch("dispatch", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let call = |i: usize| match i % 3 {
        0 => values[i] + i as i32,
        1 => values[i].wrapping_mul(i as i32),
        _ => values[i] << (i & 7),
    };
    let expected: Vec<i32> = (0..64).map(call).collect();
    same(&module.read_ints(addresses[1], 64), &expected)?;
    let case = |it: &i32| match it & 7 {
        0 => it * 3,
        1 => it ^ 0x55,
        2 => it / 7,
        3 => it % 11 + it.count_ones() as i32,
        4 => -it,
        5 => it.reverse_bits(),
        6 => (it.leading_zeros() as i32).wrapping_mul(*it),
        _ => it.wrapping_mul(*it),
    };
    let mut expected: Vec<i32> = values.iter().map(case).collect();
    expected.push(values.iter().filter(|it| **it & 7 == 1).count() as i32);
    same(&module.read_ints(addresses[2], 65), &expected)
}

fn recursion(module: &mut Module) -> Outcome {
    let out = module.zeros(48);
    module
        .launch("recursion", 1, [48, 1, 1], &pointers(&[out]))
        .map_err(message)?;
    let fibonacci = |n: i32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let expected: Vec<i32> = (0..48).map(|i| fibonacci(i % 12) * 1000 + 10 + i).collect();
    same(&module.read_ints(out, 48), &expected)
}

fn local_array(module: &mut Module) -> Outcome {
    let n = 60;
    let values: Vec<i32> = noise(28, 64 * n)
        .iter()
        .map(|it| (it % 100) as i32 - 45)
        .collect();
    let addresses = [module.ints(&values), module.zeros(64)];
    let mut args = pointers(&addresses);
    args.push(arg((n as i32).to_le_bytes()));
    module
        .launch("local_array", 1, [64, 1, 1], &args)
        .map_err(message)?;
    let run = |values: &[i32]| {
        let mut stack: Vec<i32> = Vec::new();
        for &value in values {
            match (value < 0 && stack.len() > 1, stack.pop()) {
                (true, Some(top)) => {
                    let last = stack.len() - 1;
                    stack[last] = stack[last].wrapping_mul(2).wrapping_add(top);
                }
                (_, top) => {
                    stack.extend(top);
                    if stack.len() < 32 {
                        stack.push(value);
                    }
                }
            }
        }
        stack
            .iter()
            .fold(0_i32, |sum, it| sum.wrapping_mul(31).wrapping_add(*it))
    };
    let expected: Vec<i32> = values.chunks_exact(n).map(run).collect();
    same(&module.read_ints(addresses[1], 64), &expected)
}

fn print(module: &mut Module) -> Outcome {
    module
        .launch("print", 1, [64, 1, 1], &[arg(5_i32.to_le_bytes())])
        .map_err(message)?;
    let line = |i: usize| {
        let (half, parity) = (i as f64 * 0.5, ["even", "odd"][i % 2]);
        let letter = char::from(b'a' + i as u8);
        format!("thread {i} of 64: {half:5.2} {parity} {letter} 123456789abc %\n")
    };
    let expected: String = (0..5).map(line).collect();
    same(&[module.run.memory.take_output()], &[expected])?;
    same(&[module.run.memory.take_output()], &[String::new()])
}

fn assertion(module: &mut Module) -> Outcome {
    let mut values: Vec<i32> = (0..32).collect();
    let addresses = [module.ints(&values), module.zeros(32)];
    module
        .launch("assertion", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let expected: Vec<i32> = (1..33).collect();
    same(&module.read_ints(addresses[1], 32), &expected)?;
    values[5] = -1;
    let addresses = [module.ints(&values), addresses[1]];
    match module.launch("assertion", 1, [32, 1, 1], &pointers(&addresses)) {
        Err(EmulatorError::Fault(fault)) => {
            let text = fault.kind.to_string();
            let expected = "assertion `in[threadIdx.x] >= 0 && \"the number is negative\"` failed in \
                            void assertion(const int *, int *), assertion.cu:3";
            same(
                &[text, format!("{:?}", fault.site.lane)],
                &[expected.to_owned(), "Some(5)".to_owned()],
            )
        }
        other => Err(format!("no fault: {other:?}")),
    }
}

fn dot_bytes(module: &mut Module) -> Outcome {
    let (a, b) = (noise(29, 64), noise(30, 64));
    let addresses = [
        module.put(&a, u32::to_le_bytes),
        module.put(&b, u32::to_le_bytes),
        module.zeros(256),
    ];
    module
        .launch("dot_bytes", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let mut expected = Vec::new();
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        let signed = |x: u8, y: u8| i32::from(x as i8) * i32::from(y as i8);
        let four: i32 = (0..4).map(|k| signed(x[k], y[k])).sum();
        let unsigned: u32 = (0..4).map(|k| u32::from(x[k]) * u32::from(y[k])).sum();
        let half = |k: u32| i32::from((a >> (16 * k)) as i16);
        let two = half(0) * i32::from(y[0] as i8) + half(1) * i32::from(y[1] as i8);
        let high = (a & 0xffff) * u32::from(y[2]) + (a >> 16) * u32::from(y[3]);
        let i = i as i32;
        expected.extend([four + i, unsigned as i32 + i, two + i, high as i32 + i]);
    }
    same(&module.read_ints(addresses[2], 256), &expected)
}

fn half_math(module: &mut Module) -> Outcome {
    let (a, b) = (small(31, 64), small(32, 64));
    let half =
        |values: &[f32]| -> Vec<f16> { values.iter().map(|it| f16::from_f32(*it)).collect() };
    let (x, y) = (half(&a), half(&b));
    let addresses = [
        module.put(&x, f16::to_le_bytes),
        module.put(&y, f16::to_le_bytes),
        module.zeros(8 * 32),
    ];
    module
        .launch("half_math", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let found = module.get(addresses[2], 16 * 32, f16::from_le_bytes);
    let found: Vec<f64> = found.iter().map(|it| it.to_f64()).collect();
    let mut expected = Vec::new();
    for (x, y) in x.chunks_exact(2).zip(y.chunks_exact(2)) {
        let both = |f: &dyn Fn(f64, f64) -> f64| [0, 1].map(|i| f(x[i].to_f64(), y[i].to_f64()));
        let round = |value: f64| f16::from_f64(value).to_f64();
        expected.extend(both(&|x, y| round(x.mul_add(y, round(x + y)))));
        expected.extend(both(&|x, y| round(x * y).clamp(0.0, 1.0)));
        expected.extend(both(&|x, y| f64::from(u8::from(x > y))));
        expected.extend(both(&|x, _| round(x.exp())));
        expected.extend(both(&|x, y| round(x / y)));
        expected.extend(both(&|x, y| x.max(-y)));
        let all = (0..2).all(|i| x[i] >= y[i]);
        expected.extend([round(x[0].to_f64().abs().sqrt()), f64::from(u8::from(all))]);
        expected.extend([x[0].to_f64().trunc(), y[1].to_f64().floor()]);
    }
    close(&found, &expected, 1.0 / 1024.0)
}

fn bf16_math(module: &mut Module) -> Outcome {
    let (a, b) = (small(33, 64), small(34, 64));
    let brain =
        |values: &[f32]| -> Vec<bf16> { values.iter().map(|it| bf16::from_f32(*it)).collect() };
    let (x, y) = (brain(&a), brain(&b));
    let addresses = [
        module.put(&x, bf16::to_le_bytes),
        module.put(&y, bf16::to_le_bytes),
        module.zeros(6 * 32),
    ];
    module
        .launch("bf16_math", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let found = module.get(addresses[2], 12 * 32, bf16::from_le_bytes);
    let found: Vec<f64> = found.iter().map(|it| it.to_f64()).collect();
    let mut expected = Vec::new();
    for (x, y) in x.chunks_exact(2).zip(y.chunks_exact(2)) {
        let both = |f: &dyn Fn(f64, f64) -> f64| [0, 1].map(|i| f(x[i].to_f64(), y[i].to_f64()));
        let round = |value: f64| bf16::from_f64(value).to_f64();
        expected.extend(both(&|x, y| round(x.mul_add(y, round(x - y)))));
        expected.extend(both(&|x, y| round(x * y)));
        expected.extend(both(&|x, y| f64::from(u8::from(x < y))));
        expected.extend(both(&|x, _| round(x.exp2())));
        expected.extend(both(&|x, y| x.min(y.abs())));
        expected.extend([round(1.0 / x[0].to_f64()), round(y[1].to_f64().trunc())]);
    }
    close(&found, &expected, 1.0 / 256.0)
}

fn fp8(module: &mut Module) -> Outcome {
    let values: Vec<f32> = small(35, 64).iter().map(|it| it * it * it * 9.0).collect();
    let addresses = [module.floats(&values), module.zeros(32), module.zeros(128)];
    module
        .launch("fp8", 1, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let back = module.read_floats(addresses[2], 128);
    // 3 and 2 bits of fraction, of numbers below the least normal ones the same unit as of those.
    let nearest = |value: f32, fraction: i32, least: i32, largest: f64| {
        let value = f64::from(value);
        let exponent = (value.abs().log2().floor()).max(f64::from(least));
        let unit = (exponent - f64::from(fraction)).exp2();
        ((value / unit).round_ties_even() * unit).clamp(-largest, largest)
    };
    let mut expected = Vec::new();
    for pair in values.chunks_exact(2) {
        expected.extend(pair.iter().map(|it| nearest(*it, 3, -6, 448.0)));
        expected.extend(pair.iter().map(|it| nearest(*it, 2, -14, 57344.0)));
    }
    close_floats(&back, &expected, 0.0)
}

fn double_math(module: &mut Module) -> Outcome {
    let values: Vec<f64> = small(36, 64)
        .iter()
        .map(|it| f64::from(*it) * 1.37)
        .collect();
    let addresses = [module.put(&values, f64::to_le_bytes), module.zeros(16 * 64)];
    module
        .launch("double_math", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let mut expected = Vec::new();
    for &x in &values {
        expected.extend([
            x.exp(),
            (x.abs() + 1e-3).ln(),
            (x * 1000.0).sin(),
            (x * 1e12).cos(),
            x.abs().powf(1.7),
            x / 3.1 + x.abs().sqrt(),
            x.atan2(2.0) + x.tanh(),
            (x * 1e6) % 7.3 + x.cbrt() + 1.0 / (x.abs() + 1.0).sqrt(),
        ]);
    }
    close(
        &module.get(addresses[1], 8 * 64, f64::from_le_bytes),
        &expected,
        1e-14,
    )
}

fn float_math(module: &mut Module) -> Outcome {
    let values = small(37, 64);
    let addresses = [module.floats(&values), module.zeros(10 * 64)];
    module
        .launch("float_math", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let mut expected = Vec::new();
    for &single in &values {
        let x = f64::from(single);
        let wide = |value: f32| f64::from(value);
        expected.extend([
            wide(single * 1e6).sin(),
            wide(single * 1e9).cos(),
            x.tan(),
            (x.abs() + 0.5).ln() + x.abs().ln_1p(),
            wide(single.abs() + 0.1).powf(wide(2.3)),
            erf(x) + x.tanh(),
            x.exp2() + wide(single * 0.01).exp_m1() + 10_f64.powf(wide(single * 0.1)),
            x.atan2(1.5) + wide(single * 0.01).asin(),
            x.abs().sqrt() / (x + 0.125) + x.cbrt(),
            wide(single * 1000.0) % wide(3.7)
                + x.round()
                + (x * 0.5).round_ties_even()
                + x * 8.0
                + x.hypot(2.0),
        ]);
    }
    close_floats(&module.read_floats(addresses[1], 10 * 64), &expected, 2e-6)
}

/// The error function, by its Taylor series.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn integers(module: &mut Module) -> Outcome {
    let wide = |seed| -> Vec<i64> {
        let (high, low) = (noise(seed, 64), noise(seed + 1, 64));
        let pairs = high.iter().zip(&low).enumerate();
        // Numbers of all sizes.
        pairs
            .map(|(i, (high, low))| (i64::from(*high) << 32 | i64::from(*low)) >> (i % 60))
            .collect()
    };
    let (a, b) = (wide(38), wide(40));
    let addresses = [
        module.put(&a, i64::to_le_bytes),
        module.put(&b, i64::to_le_bytes),
        module.zeros(20 * 64),
    ];
    module
        .launch("integers", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let mut expected = Vec::new();
    for (&x, y) in a.iter().zip(b.iter().map(|it| it | 1)) {
        let (ux, uy, low_x, low_y) = (x as u64, y as u64, x as u32, y as u32);
        let product = u128::from(ux) * u128::from(uy) + u128::from(ux);
        let product = product.wrapping_sub(u128::from(uy) << 17);
        let bytes: Vec<u8> = [low_x.to_le_bytes(), low_y.to_le_bytes()].concat();
        let permuted = u32::from_le_bytes([5, 1, 7, 3].map(|i| bytes[i]));
        let funnel = ((u64::from(low_y) << 32 | u64::from(low_x)) << (low_x & 31) >> 32) as u32;
        let bits = permuted
            .wrapping_add(funnel)
            .wrapping_add(low_x.reverse_bits())
            .wrapping_add(y.trailing_zeros() + 1)
            .wrapping_add(x.leading_zeros());
        let second = (low_x & 31..32)
            .filter(|i| low_x >> i & 1 == 1)
            .nth(1)
            .unwrap_or(u32::MAX);
        let sad = (low_x as i32).abs_diff(low_y as i32).wrapping_add(3);
        let differences: Vec<u8> = bytes[..4]
            .iter()
            .zip(&bytes[4..])
            .map(|(a, b)| a.abs_diff(*b))
            .collect();
        let differences = u32::from_le_bytes([
            differences[0],
            differences[1],
            differences[2],
            differences[3],
        ]);
        let halves =
            (low_x >> 16).wrapping_add(low_y >> 16) << 16 | low_x.wrapping_add(low_y) & 0xffff;
        let sums = second
            .wrapping_add(sad)
            .wrapping_add(differences)
            .wrapping_add(halves);
        let mean = ((i64::from(low_x as i32) + i64::from(low_y as i32)) >> 1) as i32;
        let high = ((i64::from(low_x as i32) * i64::from(low_y as i32)) >> 32) as i32;
        let last = high
            .wrapping_add(mean)
            .wrapping_add(low_x as i32 >> (low_y & 31))
            .wrapping_add(x.count_ones() as i32);
        expected.extend([
            x.wrapping_div(y) as u64,
            x.wrapping_rem(y) as u64,
            ux / uy,
            ((u128::from(ux) * u128::from(uy)) >> 64) as u64,
            product as u64,
            (product >> 64) as u64,
            bits.into(),
            sums.into(),
            (product / u128::from(uy)) as u64,
            last as i64 as u64,
        ]);
    }
    same(
        &module.get(addresses[2], 10 * 64, u64::from_le_bytes),
        &expected,
    )
}

fn rounding(module: &mut Module) -> Outcome {
    let values: Vec<f32> = noise(42, 128)
        .iter()
        .map(|bits| f32::from_bits(bits & 0x81ff_ffff | 0x3e00_0000))
        .collect();
    let addresses = [
        module.floats(&values),
        module.zeros(8 * 64),
        module.zeros(8 * 64),
        module.zeros(4 * 64),
    ];
    module
        .launch("rounding", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    // The operands have exponents near 0: products and sums in f64 are exact, or their errors are.
    let down = |exact: f64| {
        if f64::from(exact as f32) > exact {
            (exact as f32).next_down()
        } else {
            exact as f32
        }
    };
    let up = |exact: f64| -down(-exact);
    let zero = |exact: f64| if exact > 0.0 { down(exact) } else { up(exact) };
    let mut expected = Vec::new();
    let mut whole = Vec::new();
    for pair in values.chunks_exact(2) {
        let (x, y) = (f64::from(pair[0]), f64::from(pair[1]));
        let (bits_x, bits_y) = (pair[0].to_bits() as i32, pair[1].to_bits() as i32);
        expected.extend([
            down(x + y),
            up(x * y),
            zero(x * y + x),
            up(x / y),
            down(x.abs().sqrt()),
            zero(1.0 / y),
            down(x * y),
            up(f64::from(bits_x)) + zero((i64::from(bits_y) << 20) as f64),
        ]);
        let nearest = (x * y).round_ties_even() as i32;
        whole.extend([
            x.floor() as i32,
            y.ceil() as i32,
            (x.round_ties_even().max(0.0)) as i32,
            nearest + x.floor() as i32 + y.ceil() as i32,
        ]);
    }
    same(&module.read_floats(addresses[1], 8 * 64), &expected)?;
    same(&module.read_ints(addresses[3], 4 * 64), &whole)?;
    // Of f64: the result is on the right side of the nearest one, at most a unit away.
    let found = module.get(addresses[2], 4 * 64, f64::from_le_bytes);
    for (found, pair) in found.chunks_exact(4).zip(values.chunks_exact(2)) {
        let (x, y) = (f64::from(pair[0]), f64::from(pair[1]));
        let sum = if y > 0.0 { x.next_up() } else { x };
        let quotient = x / y;
        let below = if (-quotient).mul_add(y, x) * y < 0.0 {
            quotient.next_down()
        } else {
            quotient
        };
        let root = y.abs().sqrt();
        let toward = if (-root).mul_add(root, y.abs()) < 0.0 {
            root.next_down()
        } else {
            root
        };
        let integer = i64::from(pair[0].to_bits() as i32) << 31 | 1;
        let floor = if integer as f64 as i128 > i128::from(integer) {
            (integer as f64).next_down()
        } else {
            integer as f64
        };
        let above = (x * y).next_up() + floor;
        same(found, &[sum, below, toward, above])?;
    }
    Ok(())
}

fn vector_loads(module: &mut Module) -> Outcome {
    let words = noise(43, 256);
    let pairs: Vec<f64> = small(44, 128).iter().map(|it| f64::from(*it)).collect();
    let addresses = [
        module.put(&words, u32::to_le_bytes),
        module.zeros(256),
        module.put(&pairs, f64::to_le_bytes),
        module.zeros(128),
    ];
    module
        .launch("vector_loads", 2, [32, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let expected: Vec<u32> = words
        .chunks_exact(4)
        .flat_map(|it| [it[3], it[2], it[1].wrapping_add(1), it[0]])
        .collect();
    same(
        &module.get(addresses[1], 256, u32::from_le_bytes),
        &expected,
    )?;
    let expected: Vec<f64> = pairs.chunks_exact(2).map(|it| it[0] + it[1]).collect();
    same(&module.get(addresses[3], 64, f64::from_le_bytes), &expected)
}

fn atomics(module: &mut Module) -> Outcome {
    let values: Vec<f64> = small(45, 128).iter().map(|it| f64::from(*it)).collect();
    let addresses = [
        module.put(&values, f64::to_le_bytes),
        module.put(&[-100.0], f64::to_le_bytes),
        module.zeros(2),
        module.ints(&[1000, -1000, 0, 0, 0, 0, 0]),
        module.zeros(1),
    ];
    module
        .launch("atomics", 2, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let largest = values.iter().copied().fold(-100.0, f64::max);
    same(&module.get(addresses[1], 1, f64::from_le_bytes), &[largest])?;
    same(
        &module.get(addresses[2], 1, f64::from_le_bytes),
        &[values.iter().sum()],
    )?;
    let xor = (0..128).fold(0, |all, i| all ^ i);
    same(
        &module.read_ints(addresses[3], 7),
        &[5, 124, -1, xor, 128 % 10, 77, 77],
    )?;
    same(&module.read_ints(addresses[4], 1), &[256])
}

fn cluster(module: &mut Module) -> Outcome {
    let values: Vec<i32> = noise(46, 256).iter().map(|it| *it as i32 >> 8).collect();
    let addresses = [module.ints(&values), module.zeros(256)];
    module
        .launch("cluster", 4, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let expected: Vec<i32> = (0..256)
        .map(|i| {
            let first = if i % 64 == 0 { values[i] + 64 } else { 0 };
            values[((i / 64) ^ 1) * 64 + 63 - i % 64] * 2 + 2 + first
        })
        .collect();
    same(&module.read_ints(addresses[1], 256), &expected)
}

fn bulk_copy(module: &mut Module) -> Outcome {
    let values: Vec<i32> = noise(47, 512).iter().map(|it| *it as i32 >> 4).collect();
    let address = module.ints(&values);
    module
        .launch("bulk_copy", 2, [64, 1, 1], &pointers(&[address]))
        .map_err(message)?;
    let expected: Vec<i32> = values.iter().map(|it| it.wrapping_mul(3) + 1).collect();
    same(&module.read_ints(address, 512), &expected)
}

/// A tensor map of a matrix of integers, with boxes of 8 rows of 32.
fn map_of(address: u64, width: u64, height: u64) -> Vec<u8> {
    let map = TensorMap {
        element: ElementType::I32,
        address,
        extents: vec![width, height],
        strides: vec![4 * width],
        box_extents: vec![32, 8],
        element_strides: vec![1, 1],
        swizzle: SwizzleMode::None,
        l2: L2Promotion::None,
        fill: OobFill::Zero,
    };
    encode_tensor_map(&map).unwrap().to_vec()
}

fn tensor_copy(module: &mut Module) -> Outcome {
    let (width, height, x, y) = (64, 16, 32, 4);
    let values: Vec<i32> = noise(48, width * height)
        .iter()
        .map(|it| *it as i32 >> 4)
        .collect();
    let address = module.ints(&values);
    let args = [
        map_of(address, width as u64, height as u64),
        arg((x as i32).to_le_bytes()),
        arg((y as i32).to_le_bytes()),
    ];
    module
        .launch("tensor_copy", 1, [64, 1, 1], &args)
        .map_err(message)?;
    let mut expected = values;
    for i in 0..256 {
        expected[(y + i / 32) * width + x + i % 32] += i as i32;
    }
    same(&module.read_ints(address, width * height), &expected)
}

fn tensor_map_replace(module: &mut Module) -> Outcome {
    let (wide, narrow) = (64, 40);
    let other: Vec<i32> = noise(49, narrow * 16).iter().map(|it| *it as i32).collect();
    let (source, target) = (module.zeros(wide * 16), module.ints(&other));
    let (map, out) = (module.zeros(32), module.zeros(256));
    let mut args = vec![map_of(source, wide as u64, 16)];
    args.extend(pointers(&[map, target]));
    args.push(arg((narrow as i32).to_le_bytes()));
    args.extend(pointers(&[out]));
    module
        .launch("tensor_map_replace", 1, [32, 1, 1], &args)
        .map_err(message)?;
    let expected: Vec<i32> = (0..256).map(|i| other[i / 32 * narrow + i % 32]).collect();
    same(&module.read_ints(out, 256), &expected)
}

fn warp_specialised(module: &mut Module) -> Outcome {
    let tiles = 6;
    let values: Vec<i32> = noise(50, tiles * 128)
        .iter()
        .map(|it| *it as i32 >> 12)
        .collect();
    let addresses = [module.ints(&values), module.zeros(96)];
    let mut args = pointers(&addresses);
    args.push(arg((tiles as i32).to_le_bytes()));
    module
        .launch("warp_specialised", 1, [128, 1, 1], &args)
        .map_err(message)?;
    let sum = |i: usize| -> i32 {
        (0..tiles)
            .map(|tile| values[tile * 128 + i] * (tile as i32 + 1))
            .sum()
    };
    let expected: Vec<i32> = (0..96).map(sum).collect();
    same(&module.read_ints(addresses[1], 96), &expected)
}

fn spin_lock(module: &mut Module) -> Outcome {
    let addresses = [module.zeros(1), module.zeros(1), module.zeros(128)];
    module
        .launch("spin_lock", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    same(&module.read_ints(addresses[1], 1), &[64])?;
    same(&module.get(addresses[2], 64, u64::from_le_bytes), &[1; 64])
}

fn barrier_reduce(module: &mut Module) -> Outcome {
    for (values, any, all) in [(5..69, 0, 1), (-3..61, 0, 0), (50..114, 1, 1)] {
        let values: Vec<i32> = values.collect();
        let addresses = [module.ints(&values), module.zeros(64)];
        module
            .launch("barrier_reduce", 1, [64, 1, 1], &pointers(&addresses))
            .map_err(message)?;
        let count = values.iter().filter(|it| **it > 10).count() as i32;
        let expected = vec![count + 1000 * any + 2000 * all; 64];
        same(&module.read_ints(addresses[1], 64), &expected)?;
    }
    Ok(())
}

fn classes(module: &mut Module) -> Outcome {
    let values = small(51, 64);
    let addresses = [module.floats(&values), module.zeros(64)];
    module
        .launch("classes", 1, [64, 1, 1], &pointers(&addresses))
        .map_err(message)?;
    let total = |(i, it): (usize, &f32)| {
        let (circle, square) = (3.0 * it * it, (it + 1.0) * (it + 1.0));
        if i % 2 == 1 { square + circle } else { circle }
    };
    let expected: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|it| f64::from(total(it)))
        .collect();
    close_floats(&module.read_floats(addresses[1], 64), &expected, 1e-6)
}

/// Calls that are nested too deeply, and other mistakes around calls, are errors.
#[test]
fn wrong_calls_are_faults() {
    let entry = |declarations: &str, body: &str| {
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n{declarations}\n.visible .entry k()\n{{\n.reg .b64 %d<4>;\n\
             .param .b32 passed;\nprototype: .callprototype _ (.param .b32 _);\n{body}\nret;\n}}\n"
        )
    };
    let forever = ".func f(.param .b32 x);\n.func f(.param .b32 x)\n{\n.reg .b32 %r<2>;\n.param .b32 y;\n\
                   ld.param.b32 %r0, [x];\nst.param.b32 [y], %r0;\ncall f, (y);\nret;\n}";
    let endless = ".func f();\n.func f()\n{\ncall f;\nret;\n}";
    let cases = [
        (
            entry(endless, "call f;"),
            "calls are nested so deep that the thread needs",
        ),
        (
            entry(forever, "st.param.b32 [passed], 1; call f, (passed);"),
            "calls are nested so deep that the thread needs",
        ),
        (
            entry("", "mov.u64 %d0, 77; call %d0, (passed), prototype;"),
            "0x4d is not the address of a function",
        ),
        (
            entry(
                ".func g(.param .b64 x) { ret; }",
                "mov.u64 %d0, g; call %d0, (passed), prototype;",
            ),
            "the function `g` has parameters or results of other sizes",
        ),
    ];
    for (ptx, expected) in cases {
        let mut run = Run::threads(32);
        match run.go(&ptx, &[]) {
            Err(EmulatorError::Fault(fault)) => match &fault.kind {
                FaultKind::Operand(text) => assert!(text.contains(expected), "{text}"),
                other => panic!("{other}"),
            },
            other => panic!("{expected}: {other:?}"),
        }
    }
}
