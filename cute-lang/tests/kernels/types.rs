//! Every type of operands and accumulators of wgmma, with A in shared memory and in registers, and of `mma`: small integers
//! in, exact sums out.

use crate::forms::{Form, K, M, integer, map};
use crate::judge;
use cute_chip::ElementType::{self, BF16, E4M3, E5M2, F16, F32, I8, I32, TF32, U8};
use cute_chip::{NumberKind, SwizzleMode, wgmma};
use cute_emulator::{EmulatorError, GlobalMemory, Launch, Program, Schedule};
use cute_lang::kernel::lower::{Lowered, lower};

/// A product of elements of `a` and `b` that is added to elements of `d`.
#[derive(Clone, Copy, Debug)]
struct Product {
    a: ElementType,
    b: ElementType,
    d: ElementType,
    n: usize,
    form_a: Form,
    form_b: Form,
    /// Whether A is in registers.
    from_registers: bool,
}

impl Product {
    /// Multiplies A and B twice.
    fn wgmma(self) -> String {
        let Product { a, d, n, .. } = self;
        let (first, load) = match self.from_registers {
            true => (
                "x",
                format!("let x = fragment::<{a}>(wgmma_a::<{a}>({K})); copy(sa, x);"),
            ),
            false => ("sa", String::new()),
        };
        format!(
            "{load}
            let acc = fragment::<{d}>(wgmma_c({n}));
            wgmma_fence();
            wgmma(acc, {first}, sb, false);
            wgmma(acc, {first}, sb, true);
            wgmma_commit();
            wgmma_wait(0);"
        )
    }

    /// The same with operations of a warp: four warps in two rows and two columns.
    fn mma(self, operation: &str) -> String {
        let Product { a, b, d, n, .. } = self;
        let held = |rows: usize, columns: usize, field: &str| {
            format!(
                "composition(make_identity_layout(({rows}, {columns})),
                    tiled_mma({operation}, (2, 2, 1), ({M}, {n}, {K}), {field}))"
            )
        };
        format!(
            "let x = fragment::<{a}>({});
            let y = fragment::<{b}>({});
            let zeros = fragment::<f32>({});
            for v in 0..size(zeros) {{ zeros[v] = 0.0; }}
            let acc = convert::<{d}>(zeros);
            copy(sa, x);
            copy(sb, y);
            mma(acc, x, y);
            mma(acc, x, y);",
            held(M, K, "layoutA_TV"),
            held(n, K, "layoutB_TV"),
            held(M, n, "layoutC_TV"),
        )
    }
}

impl Product {
    /// A kernel with these statements, with D as f32, or as i32 if it is of integers.
    fn kernel(self, multiply: &str) -> Lowered {
        let Product { a, b, d, n, .. } = self;
        let (stored, out) = match d {
            F16 => ("f32", "convert::<f32>(acc)"),
            I32 => ("i32", "acc"),
            _ => ("f32", "acc"),
        };
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 128)]
                unsafe fn product(a: TmaLoad<{a}, 2>, b: TmaLoad<{b}, 2>, d: Global<{stored}, 2>) {{
                    let sa = smem::<{a}>({});
                    let sb = smem::<{b}>({});
                    let ready = mbarriers(1, 1);
                    if thread() == 0 {{
                        expect_tx(ready[0], bytes(sa) + bytes(sb));
                        tma_load(a, (0, 0), {}, ready[0]);
                        tma_load(b, (0, 0), {}, ready[0]);
                    }}
                    wait(ready[0], 0);
                    {multiply}
                    let out = {out};
                    for v in 0..size(out) {{ d[out.coordinate(v)] = out[v]; }}
                }}
            }}",
            self.form_a.layout(a.name(), M),
            self.form_b.layout(b.name(), n),
            self.form_a.as_tensor("sa"),
            self.form_b.as_tensor("sb"),
        );
        lower(source.parse().expect("tokens"))
            .unwrap_or_else(|error| panic!("{self:?}: {error}"))
            .remove(0)
    }

    /// Runs the kernel, which computes the product twice, and compares the sums.
    fn check(self, multiply: &str) -> Lowered {
        let instance = self.kernel(multiply);
        let program = Program::load(&instance.module.to_string()).expect("PTX");
        let mut memory = GlobalMemory::new();
        let mut operand = |element: ElementType, form: Form, mn: usize, seed: usize| {
            let size = element.bytes().unwrap() as usize;
            let mut bytes = vec![0; mn * K * size];
            for (row, k) in (0..mn).flat_map(|row| (0..K).map(move |k| (row, k))) {
                let encoded = encode(element, number(element, seed, row * K + k));
                bytes[size * form.index(row, k, mn)..][..size].copy_from_slice(&encoded[..size]);
            }
            let address = memory.alloc(bytes.len(), 128).unwrap();
            memory.write(address, &bytes).expect("room");
            address
        };
        let (address_a, address_b) = (
            operand(self.a, self.form_a, M, 1),
            operand(self.b, self.form_b, self.n, 2),
        );
        let d = memory.alloc(M * self.n * 4, 128).unwrap();
        let args = [
            map(&instance, 0, address_a, self.form_a.extents(M)),
            map(&instance, 1, address_b, self.form_b.extents(self.n)),
            d.to_le_bytes().to_vec(),
            (self.n as u64).to_le_bytes().to_vec(),
        ];
        let launch = Launch {
            block: [128, 1, 1],
            dynamic_shared_bytes: instance.smem_bytes,
            args: &args,
            schedule: Schedule::from_seed(self.n as u64),
            ..Launch::default()
        };
        program
            .launch(&mut memory, "product", &launch)
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let mut bytes = vec![0; M * self.n * 4];
        memory.read(d, &mut bytes).expect("written");
        for (i, j) in (0..M).flat_map(|i| (0..self.n).map(move |j| (i, j))) {
            let products = (0..K).map(|k| {
                let (a, b) = (number(self.a, 1, i * K + k), number(self.b, 2, j * K + k));
                2 * a * b
            });
            let expected: i32 = products.sum();
            let start = (i * self.n + j) * 4;
            let found = bytes[start..start + 4].try_into().expect("four bytes");
            let found = match self.d {
                I32 => i32::from_le_bytes(found) as f32,
                _ => f32::from_le_bytes(found),
            };
            assert_eq!(found, expected as f32, "{self:?}, element ({i},{j})");
        }
        instance
    }
}

/// A small integer for each place, at least 0 if the type has no sign.
fn number(element: ElementType, seed: usize, i: usize) -> i32 {
    match element.kind() {
        NumberKind::Unsigned => integer(seed, i) + 4,
        _ => integer(seed, i),
    }
}

/// The bytes of a small integer as an element, the first ones.
fn encode(element: ElementType, value: i32) -> [u8; 4] {
    // Bits of the exponent and of the fraction.
    let (exponent, fraction) = match element {
        E4M3 => (4, 3),
        E5M2 => (5, 2),
        F16 => (5, 10),
        BF16 => (8, 7),
        TF32 => (8, 23),
        _ => return value.to_le_bytes(),
    };
    let bits = (value as f32).to_bits();
    let short = match value {
        0 => 0,
        _ => {
            let biased = (bits >> 23 & 0xff) + (1 << (exponent - 1)) - 128;
            bits >> 31 << (exponent + fraction)
                | biased << fraction
                | (bits & 0x7f_ffff) >> (23 - fraction)
        }
    };
    short.to_le_bytes()
}

const K_MAJOR: Form = Form {
    major: "K",
    swizzle: SwizzleMode::B64,
};

/// The products of all types that wgmma multiplies, with different N and swizzles.
fn products() -> Vec<Product> {
    let all = ElementType::ALL;
    let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b)));
    let mut products = Vec::new();
    for (a, b) in pairs {
        for &d in a.wgmma_by(b).map_or(&[][..], |input| input.accumulators) {
            for from_registers in [false, true] {
                let i = products.len();
                let n = [8, 24, 40, 64, 80, 136][i % 6];
                let rows = (K as u32 * a.bytes().unwrap()).into();
                let fit = SwizzleMode::ALL.into_iter();
                let fit: Vec<_> = fit.filter(|mode| mode.span() <= rows).collect();
                let form = |i: usize| Form {
                    major: "K",
                    swizzle: fit[i % fit.len()],
                };
                products.push(Product {
                    a,
                    b,
                    d,
                    n: match wgmma::has_n(n, !a.is_float()) {
                        true => n as usize,
                        false => n as usize + 8,
                    },
                    form_a: form(i),
                    form_b: form(i / 2),
                    from_registers,
                });
            }
        }
    }
    products
}

#[test]
fn every_type_of_a_product() {
    let products = products();
    assert_eq!(products.len(), 32);
    let products = products.into_iter();
    let instances: Vec<Lowered> = products.map(|it| it.check(&it.wgmma())).collect();
    judge(&instances);
}

/// Of floating-point numbers, and of integers, which have fewer; with A in registers where N is a multiple of 16.
#[test]
fn every_width_of_a_product() {
    for (a, d) in [(F16, F16), (I8, I32)] {
        let widths = wgmma::N.filter(|&n| wgmma::has_n(n, !a.is_float()));
        let widths: Vec<u32> = widths.collect();
        assert_eq!(widths.len(), if a.is_float() { 32 } else { 18 });
        let mut last = None;
        for n in widths {
            let product = Product {
                a,
                b: a,
                d,
                n: n as usize,
                form_a: K_MAJOR,
                form_b: K_MAJOR,
                from_registers: n.is_multiple_of(16),
            };
            last = Some(product.check(&product.wgmma()));
        }
        judge(&Vec::from_iter(last));
    }
}

/// With the most accumulators that a CTA of that many threads may have, and A in registers, ptxas finds enough registers.
#[test]
fn operands_in_registers_leave_room_for_accumulators() {
    for (threads, n) in [(512, 192), (384, 256)] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = {threads})]
                fn k() {{
                    let b = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW32), ({n}, 16)));
                    let a = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW32), (64, 16)));
                    let x = fragment::<bf16>(wgmma_a::<bf16>(16));
                    copy(a, x);
                    let acc = fragment::<f32>(wgmma_c({n}));
                    wgmma_fence();
                    wgmma(acc, x, b, false);
                    wgmma_commit();
                    wgmma_wait(0);
                    copy(acc, smem::<f32>(layout!((64,{n}):({n},1))));
                }}
            }}"
        );
        judge(&lower(source.parse().expect("tokens")).expect("a kernel"));
    }
}

/// The operations of a warp, and how many instructions two products of 64 × 16 × 64 take in a warp, which has a quarter of
/// each.
#[rustfmt::skip] // A table is read by its rows.
const OF_A_WARP: &[(&str, [ElementType; 3], usize)] = &[
    ("SM80_16x8x16_F32BF16BF16F32_TN", [BF16, BF16, F32], 16),
    ("SM80_16x8x16_F32F16F16F32_TN", [F16, F16, F32], 16),
    ("SM80_16x8x16_F16F16F16F16_TN", [F16, F16, F16], 16),
    ("SM80_16x8x8_F32BF16BF16F32_TN", [BF16, BF16, F32], 32),
    ("SM75_16x8x8_F32F16F16F32_TN", [F16, F16, F32], 32),
    ("SM80_16x8x8_F32TF32TF32F32_TN", [TF32, TF32, F32], 32),
    ("SM80_16x8x4_F32TF32TF32F32_TN", [TF32, TF32, F32], 64),
    ("SM89_16x8x32_F32E4M3E4M3F32_TN", [E4M3, E4M3, F32], 8),
    ("SM89_16x8x32_F32E4M3E5M2F32_TN", [E4M3, E5M2, F32], 8),
    ("SM89_16x8x32_F32E5M2E4M3F32_TN", [E5M2, E4M3, F32], 8),
    ("SM80_16x8x32_S32S8S8S32_TN", [I8, I8, I32], 8),
    ("SM80_16x8x32_S32U8S8S32_TN", [U8, I8, I32], 8),
    ("SM80_16x8x16_S32S8U8S32_TN", [I8, U8, I32], 16),
];

#[test]
fn every_operation_of_a_warp() {
    let mut instances = Vec::new();
    for &(operation, [a, b, d], count) in OF_A_WARP {
        let form = |swizzle| Form {
            major: "K",
            swizzle,
        };
        let product = Product {
            a,
            b,
            d,
            n: 16,
            form_a: form(SwizzleMode::B64),
            form_b: form(SwizzleMode::B32),
            from_registers: true,
        };
        let instance = product.check(&product.mma(operation));
        let text = instance.module.to_string();
        assert_eq!(text.matches("mma.sync").count(), count, "{operation}");
        instances.push(instance);
    }
    judge(&instances);
}

/// The inner step of attention: the accumulator of one product, converted, is the operand A of the next, whose B is contiguous
/// along N.
#[test]
fn an_accumulator_becomes_an_operand() {
    let (queries, keys, depth) = (64, 48, 16);
    let small = |seed: usize, i: usize| integer(seed, i) % 2;
    for element in [BF16, F16] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 128)]
                unsafe fn attention(q: TmaLoad<{element}, 2>, k: TmaLoad<{element}, 2>, v: TmaLoad<{element}, 2>, o: Global<f32, 2>) {{
                    let sq = smem::<{element}>(tile_to_shape(smem_atom::<{element}>(K, SW32), ({queries}, {depth})));
                    let sk = smem::<{element}>(tile_to_shape(smem_atom::<{element}>(K, SW32), ({keys}, {depth})));
                    let sv = smem::<{element}>(tile_to_shape(smem_atom::<{element}>(MN, SW32), ({depth}, {keys})));
                    let ready = mbarriers(1, 1);
                    if thread() == 0 {{
                        expect_tx(ready[0], bytes(sq) + bytes(sk) + bytes(sv));
                        tma_load(q, (0, 0), sq, ready[0]);
                        tma_load(k, (0, 0), sk, ready[0]);
                        tma_load(v, (0, 0), select(sv, 1, 0), ready[0]);
                    }}
                    wait(ready[0], 0);
                    let s = fragment::<f32>(wgmma_c({keys}));
                    wgmma_fence();
                    wgmma(s, sq, sk, false);
                    wgmma_commit();
                    wgmma_wait(0);
                    let p = convert::<{element}>(s);
                    let sum = fragment::<f32>(wgmma_c({depth}));
                    wgmma_fence();
                    // In two parts along K.
                    wgmma(sum, local_tile(p, ({queries}, 16), (0, 0)), local_tile(sv, ({depth}, 16), (0, 0)), false);
                    wgmma(sum, local_tile(p, ({queries}, 16), (0, 1)), local_tile(sv, ({depth}, 16), (0, 1)), true);
                    wgmma(sum, local_tile(p, ({queries}, 16), (0, 2)), local_tile(sv, ({depth}, 16), (0, 2)), true);
                    wgmma_commit();
                    wgmma_wait(0);
                    for i in 0..size(sum) {{ o[sum.coordinate(i)] = sum[i]; }}
                }}
            }}"
        );
        let instance = lower(source.parse().expect("tokens"))
            .unwrap_or_else(|error| panic!("{element}: {error}"))
            .remove(0);
        let mut memory = GlobalMemory::new();
        let mut upload = |seed: usize, rows: usize| {
            let values = (0..rows * depth).flat_map(|i| {
                let bytes = encode(element, small(seed, i));
                [bytes[0], bytes[1]]
            });
            let address = memory.alloc(rows * depth * 2, 128).unwrap();
            memory
                .write(address, &values.collect::<Vec<u8>>())
                .expect("room");
            address
        };
        let (q, k, v) = (upload(1, queries), upload(2, keys), upload(3, keys));
        let o = memory.alloc(queries * depth * 4, 128).unwrap();
        let args = [
            map(&instance, 0, q, [queries, depth]),
            map(&instance, 1, k, [keys, depth]),
            map(&instance, 2, v, [keys, depth]),
            o.to_le_bytes().to_vec(),
            (depth as u64).to_le_bytes().to_vec(),
        ];
        let launch = Launch {
            block: [128, 1, 1],
            dynamic_shared_bytes: instance.smem_bytes,
            args: &args,
            ..Launch::default()
        };
        let program = Program::load(&instance.module.to_string()).expect("PTX");
        program
            .launch(&mut memory, "attention", &launch)
            .unwrap_or_else(|error| panic!("{element}: {error}"));
        let mut bytes = vec![0; queries * depth * 4];
        memory.read(o, &mut bytes).expect("written");
        for (index, found) in bytes.chunks(4).enumerate() {
            let (i, column) = (index / depth, index % depth);
            let score = |j: usize| -> i32 {
                let products =
                    (0..depth).map(|d| small(1, i * depth + d) * small(2, j * depth + d));
                products.sum()
            };
            let expected: i32 = (0..keys)
                .map(|j| score(j) * small(3, j * depth + column))
                .sum();
            let found = f32::from_le_bytes(found.try_into().expect("four bytes"));
            assert_eq!(found, expected as f32, "{element}, element {index}");
        }
        judge(&[instance]);
    }
}

/// Small integers by way of every type and back, in fragments whose values do not fill their last register.
#[test]
fn fragments_convert_between_all_types() {
    let numbers = ElementType::ALL
        .iter()
        .filter(|element| (8..64).contains(&element.bits()));
    let mut instances = Vec::new();
    for &from in numbers.clone() {
        let casts: Vec<String> = numbers
            .clone()
            .enumerate()
            .map(|(i, to)| {
                format!("let back = convert::<f32>(convert::<{to}>(y)); for v in 0..6 {{ d[({i}, thread() * 6 + v)] = back[v]; }}")
            })
            .collect();
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 32)]
                unsafe fn round(d: Global<f32, 2>) {{
                    let x = fragment::<f32>(6);
                    for v in 0..6 {{ x[v] = (thread() % 4 * 6 + v) as f32; }}
                    let y = convert::<{from}>(x);
                    {}
                }}
            }}",
            casts.join("\n")
        );
        let instance = lower(source.parse().expect("tokens"))
            .unwrap_or_else(|error| panic!("{from}: {error}"))
            .remove(0);
        let (rows, columns) = (casts.len(), 32 * 6);
        let mut memory = GlobalMemory::new();
        let d = memory.alloc(rows * columns * 4, 128).unwrap();
        let launch = Launch {
            block: [32, 1, 1],
            args: &[
                d.to_le_bytes().to_vec(),
                (columns as u64).to_le_bytes().to_vec(),
            ],
            ..Launch::default()
        };
        let program = Program::load(&instance.module.to_string()).expect("PTX");
        program
            .launch(&mut memory, "round", &launch)
            .unwrap_or_else(|error| panic!("{from}: {error}"));
        let mut bytes = vec![0; rows * columns * 4];
        memory.read(d, &mut bytes).expect("written");
        // Integers up to 23 take 5 bits, and e4m3 and e5m2 have 4 and 3.
        let rounded = |value: f32, element: ElementType| match element {
            E4M3 => round(value, 4),
            E5M2 => round(value, 3),
            _ => value,
        };
        for (index, found) in bytes.chunks(4).enumerate() {
            let (row, column) = (index / columns, index % columns);
            let to = *numbers.clone().nth(row).expect("a row for each type");
            let value = (column / 6 % 4 * 6 + column % 6) as f32;
            let expected = rounded(rounded(value, from), to);
            let found = f32::from_le_bytes(found.try_into().expect("four bytes"));
            assert_eq!(found, expected, "{value} as {from} as {to}");
        }
        instances.push(instance);
    }
    judge(&instances);
}

/// The nearest number with this many significant bits; of two, the one with an even last digit.
fn round(value: f32, digits: i32) -> f32 {
    match value == 0.0 {
        true => 0.0,
        false => {
            let unit = 2f32.powi(value.log2().floor() as i32 + 1 - digits);
            (value / unit).round_ties_even() * unit
        }
    }
}

/// The emulator's fault, for a kernel of one warpgroup that multiplies a fragment by zeros.
fn fault(statements: &str) -> Option<String> {
    let source = format!(
        "mod kernels {{
            #[kernel(threads = 128)]
            fn product() {{
                let b = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
                let zeros = fragment::<bf16>(64 * 64 / 128);
                for v in 0..size(zeros) {{ zeros[v] = convert::<bf16>(0.0f32 * (thread() as f32)); }}
                copy(zeros, local_tile(b, (1, 32), (thread() / 2, thread() % 2)));
                fence_proxy_async();
                sync_threads();
                let x = fragment::<bf16>(wgmma_a::<bf16>(64));
                for v in 0..size(x) {{ x[v] = zeros[0]; }}
                let acc = fragment::<f32>(wgmma_c(64));
                wgmma_fence();
                {statements}
            }}
        }}"
    );
    let instance = lower(source.parse().expect("tokens"))
        .unwrap_or_else(|error| panic!("{statements}: {error}"))
        .remove(0);
    let launch = Launch {
        block: [128, 1, 1],
        dynamic_shared_bytes: instance.smem_bytes,
        ..Launch::default()
    };
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    match program.launch(&mut GlobalMemory::new(), "product", &launch) {
        Ok(_) => None,
        Err(error @ EmulatorError::Fault { .. }) => Some(error.to_string()),
        Err(error) => panic!("{statements}: {error}"),
    }
}

#[test]
fn registers_of_a_are_wgmmas_until_the_wait() {
    let multiply = "wgmma(acc, x, b, false); wgmma_commit();";
    let after = fault(&format!("{multiply} wgmma_wait(0); x[0] = zeros[1];"));
    assert_eq!(after, None);
    let before = fault(&format!("{multiply} x[0] = zeros[1]; wgmma_wait(0);"));
    let before = before.expect("a fault");
    assert!(before.contains("wgmma"), "{before}");
    let unfenced = fault(&format!("x[0] = zeros[1]; {multiply} wgmma_wait(0);"));
    assert!(unfenced.expect("a fault").contains("wgmma.fence"));
}
