//! Every form of a wgmma operand, from TMA to the accumulator: small integers in, exact sums out.

use crate::judge;
use cute_chip::SwizzleMode;
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_emulator::{GlobalMemory, Launch, Program, Schedule, encode_tensor_map};
use cute_lang::kernel::emit::param::{ParamKind, TmaRecipe};
use cute_lang::kernel::lower::{Lowered, lower};

/// Rows of A, and K: several steps, and several atoms of every swizzle but the widest.
pub(crate) const M: usize = 64;
pub(crate) const K: usize = 64;

/// An operand: its major mode and its swizzle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) major: &'static str,
    pub(crate) swizzle: SwizzleMode,
}

impl Form {
    fn all() -> impl Iterator<Item = Form> {
        ["K", "MN"].into_iter().flat_map(|major| {
            SwizzleMode::ALL
                .into_iter()
                .map(move |swizzle| Form { major, swizzle })
        })
    }

    /// The tile's layout. Atoms follow one another along the mode that is not contiguous, which makes for few boxes.
    pub(crate) fn layout(self, element: &str, mn: usize) -> String {
        let order = if self.major == "K" {
            "(0, 1)"
        } else {
            "(1, 0)"
        };
        let (major, swizzle) = (self.major, self.swizzle.name());
        format!("tile_to_shape(smem_atom::<{element}>({major}, {swizzle}), ({mn}, {K}), {order})")
    }

    /// The tile as TMA fills it: its last mode is the contiguous one.
    pub(crate) fn as_tensor(self, tile: &str) -> String {
        if self.major == "K" {
            tile.into()
        } else {
            format!("select({tile}, 1, 0)")
        }
    }

    /// The tensor's two extents.
    pub(crate) fn extents(self, mn: usize) -> [usize; 2] {
        if self.major == "K" { [mn, K] } else { [K, mn] }
    }

    /// Where element (mn, k) lies in the tensor.
    pub(crate) fn index(self, mn: usize, k: usize, extent: usize) -> usize {
        if self.major == "K" {
            mn * K + k
        } else {
            k * extent + mn
        }
    }
}

fn kernel(element: &str, a: Form, b: Form, n: usize, epilogue: &str) -> Lowered {
    let source = format!(
        "mod kernels {{
            #[kernel(threads = 128)]
            unsafe fn product(a: TmaLoad<{element}, 2>, b: TmaLoad<{element}, 2>, d: Global<f32, 2>) {{
                let sa = smem::<{element}>({});
                let sb = smem::<{element}>({});
                let ready = mbarriers(1, 1);
                if thread() == 0 {{
                    expect_tx(ready[0], bytes(sa) + bytes(sb));
                    tma_load(a, (0, 0), {}, ready[0]);
                    tma_load(b, (0, 0), {}, ready[0]);
                }}
                wait(ready[0], 0);
                let acc = fragment::<f32>(wgmma_c({n}));
                wgmma_fence();
                wgmma(acc, sa, sb, false);
                wgmma_commit();
                wgmma_wait(0);
                {epilogue}
            }}
        }}",
        a.layout(element, M),
        b.layout(element, n),
        a.as_tensor("sa"),
        b.as_tensor("sb"),
    );
    let mut instances = lower(source.parse().expect("tokens"))
        .unwrap_or_else(|error| panic!("{a:?} {b:?} {n}: {error}"));
    instances.remove(0)
}

/// Stores the accumulator element by element.
const DIRECT: &str = "for v in 0..size(acc) { d[acc.coordinate(v)] = acc[v]; }";

/// Stores it by way of shared memory, rounded to `element`.
fn staged(element: &str, out: Form, n: usize) -> String {
    format!(
        "let out = smem::<{element}>(tile_to_shape(smem_atom::<{element}>({}, {}), ({M}, {n})));
        copy(convert::<{element}>(acc), out);
        sync_threads();
        for round in 0..{M} * {n} / 128 {{
            let (i, j) = ((thread() + 128 * round) / {n}, (thread() + 128 * round) % {n});
            d[(i, j)] = convert::<f32>(out[(i, j)]);
        }}",
        out.major,
        out.swizzle.name(),
    )
}

/// The same, and loads it from there as the accumulator is held.
fn reloaded(element: &str, out: Form, n: usize) -> String {
    format!(
        "let out = smem::<{element}>(tile_to_shape(smem_atom::<{element}>({}, {}), ({M}, {n})));
        copy(convert::<{element}>(acc), out);
        sync_threads();
        let back = fragment::<{element}>(wgmma_c({n}));
        copy(out, back);
        for v in 0..size(back) {{ d[back.coordinate(v)] = convert::<f32>(back[v]); }}",
        out.major,
        out.swizzle.name(),
    )
}

/// A small integer for each place, without pattern along any power of two.
pub(crate) fn integer(seed: usize, i: usize) -> i32 {
    (((i + 1) * (2 * seed + 2_654_435)) >> 7) as i32 % 9 - 4
}

/// A small integer as bf16 or f16.
fn encode(element: &str, value: i32) -> [u8; 2] {
    let bits = (value as f32).to_bits();
    let short = match element {
        "bf16" => (bits >> 16) as u16,
        _ if value == 0 => 0,
        // The exponent's bias is 15 instead of 127.
        _ => {
            ((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff))
                as u16
        }
    };
    short.to_le_bytes()
}

/// The tensor map of a parameter for a packed tensor at an address.
pub(crate) fn map(instance: &Lowered, param: usize, address: u64, extents: [usize; 2]) -> Vec<u8> {
    let ParamKind::TmaLoad(tma) = &instance.params[param].kind else {
        panic!("a TmaLoad")
    };
    let TmaRecipe { box_shape, swizzle } = tma.recipe.as_ref().expect("a use");
    let map = TensorMap {
        element: tma.element,
        address,
        extents: extents.iter().rev().map(|&extent| extent as u64).collect(),
        strides: vec![extents[1] as u64 * u64::from(tma.element.bytes().unwrap())],
        box_extents: box_shape.iter().rev().copied().collect(),
        element_strides: vec![1, 1],
        swizzle: *swizzle,
        fill: OobFill::Zero,
        l2: L2Promotion::default(),
    };
    encode_tensor_map(&map).expect("a legal map").to_vec()
}

fn check(element: &str, a: Form, b: Form, n: usize, epilogue: &str) -> Lowered {
    let instance = kernel(element, a, b, n, epilogue);
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    let mut memory = GlobalMemory::new();
    let mut operand = |form: Form, mn: usize, seed: usize| {
        let mut bytes = vec![0; mn * K * 2];
        for (row, k) in (0..mn).flat_map(|row| (0..K).map(move |k| (row, k))) {
            bytes[2 * form.index(row, k, mn)..][..2]
                .copy_from_slice(&encode(element, integer(seed, row * K + k)));
        }
        let address = memory.alloc(bytes.len(), 128).unwrap();
        memory.write(address, &bytes).expect("room");
        address
    };
    let (address_a, address_b) = (operand(a, M, 1), operand(b, n, 2));
    let d = memory.alloc(M * n * 4, 128).unwrap();
    let args = [
        map(&instance, 0, address_a, a.extents(M)),
        map(&instance, 1, address_b, b.extents(n)),
        d.to_le_bytes().to_vec(),
        (n as u64).to_le_bytes().to_vec(),
    ];
    let launch = Launch {
        block: [128, 1, 1],
        dynamic_shared_bytes: instance.smem_bytes,
        args: &args,
        schedule: Schedule::from_seed(n as u64),
        ..Launch::default()
    };
    program
        .launch(&mut memory, "product", &launch)
        .unwrap_or_else(|error| panic!("{a:?} {b:?} {n}: {error}"));
    let mut bytes = vec![0; M * n * 4];
    memory.read(d, &mut bytes).expect("written");
    for (i, j) in (0..M).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let expected: i32 = (0..K)
            .map(|k| integer(1, i * K + k) * integer(2, j * K + k))
            .sum();
        let start = (i * n + j) * 4;
        let found = f32::from_le_bytes(bytes[start..start + 4].try_into().expect("four bytes"));
        assert_eq!(
            found, expected as f32,
            "{element} {a:?} {b:?}, element ({i},{j}) of {M} × {n}"
        );
    }
    instance
}

#[test]
fn every_form_of_an_operand() {
    let mut instances = Vec::new();
    for (i, form) in Form::all().enumerate() {
        let plain = Form {
            major: "K",
            swizzle: SwizzleMode::B128,
        };
        instances.push(check("bf16", form, plain, 64, DIRECT));
        instances.push(check("f16", plain, form, 64 << (i % 3), DIRECT));
    }
    judge(&instances);
}

#[test]
fn every_width_of_a_product() {
    let k_major = Form {
        major: "K",
        swizzle: SwizzleMode::B128,
    };
    let mn_major = Form {
        major: "MN",
        swizzle: SwizzleMode::B32,
    };
    let narrow: Vec<Lowered> = [8, 24, 104, 200]
        .into_iter()
        .map(|n| check("bf16", mn_major, k_major, n, DIRECT))
        .collect();
    let wide: Vec<Lowered> = [16, 48, 240]
        .into_iter()
        .map(|n| check("f16", k_major, mn_major, n, DIRECT))
        .collect();
    judge(&narrow);
    judge(&wide);
}

#[test]
fn an_accumulator_by_way_of_every_tile() {
    let plain = Form {
        major: "K",
        swizzle: SwizzleMode::B128,
    };
    // Sums of up to 1024 are exact in f16.
    for (epilogue, operation) in [
        (staged as fn(&str, Form, usize) -> String, "stmatrix"),
        (reloaded, "ldmatrix"),
    ] {
        let instances: Vec<Lowered> = Form::all()
            .map(|out| check("f16", plain, plain, 64, &epilogue("f16", out, 64)))
            .collect();
        for (instance, out) in instances.iter().zip(Form::all()) {
            let form = if out.major == "K" {
                "x4.shared"
            } else {
                "x4.trans.shared"
            };
            let by_matrices = format!("{operation}.sync.aligned.m8n8.{form}");
            let text = instance.module.to_string();
            assert_eq!(text.matches(&by_matrices).count(), 4, "{out:?}");
            assert_eq!(text.matches(operation).count(), 4, "{out:?}");
        }
        judge(&instances);
    }
}

/// Tiles of one warp, held by the table's layouts of operands: what is stored by matrices and loaded so is what was there.
#[test]
fn matrices_of_every_width_and_count() {
    for (element, held, rows, columns, form) in [
        (
            "u16",
            "mma_atom(SM80_16x8x8_F32BF16BF16F32_TN, CLayout)",
            16,
            8,
            "m8n8.x2.shared",
        ),
        (
            "u16",
            "mma_atom(SM80_16x8x16_F32BF16BF16F32_TN, BLayout)",
            8,
            16,
            "m8n8.x2.shared",
        ),
        (
            "u8",
            "mma_atom(SM80_16x8x32_S32S8S8S32_TN, ALayout)",
            16,
            32,
            "m8n8.x4.shared",
        ),
        (
            "u8",
            "mma_atom(SM80_16x8x16_S32S8S8S32_TN, BLayout)",
            8,
            16,
            "m8n8.x1.shared",
        ),
    ] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 32)]
                unsafe fn round(d: Global<u32, 1>) {{
                    let tile = smem::<{element}>(layout!(({rows},{columns}):({columns},1)));
                    let other = smem::<{element}>(layout!(({rows},{columns}):({columns},1)));
                    for i in 0..{rows} * {columns} / 32 {{
                        let at = 32 * i + thread();
                        tile[(at / {columns}, at % {columns})] = (at + 1) as {element};
                    }}
                    sync_threads();
                    let x = fragment::<{element}>(composition(make_identity_layout(({rows}, {columns})), {held}));
                    copy(tile, x);
                    copy(x, other);
                    sync_threads();
                    for i in 0..{rows} * {columns} / 32 {{
                        let at = 32 * i + thread();
                        d[at] = other[(at / {columns}, at % {columns})] as u32;
                    }}
                }}
            }}"
        );
        let instance = lower(source.parse().expect("tokens"))
            .unwrap_or_else(|error| panic!("{held}: {error}"))
            .remove(0);
        let text = instance.module.to_string();
        for operation in ["ldmatrix", "stmatrix"] {
            let one = format!("{operation}.sync.aligned.{form}");
            assert_eq!(
                (text.matches(operation).count(), text.matches(&one).count()),
                (1, 1),
                "{held}: {text}"
            );
        }
        let size = rows * columns;
        let mut memory = GlobalMemory::new();
        let d = memory.alloc(size * 4, 128).unwrap();
        let launch = Launch {
            block: [32, 1, 1],
            dynamic_shared_bytes: instance.smem_bytes,
            args: &[d.to_le_bytes().to_vec()],
            ..Launch::default()
        };
        let program = Program::load(&text).expect("PTX");
        program
            .launch(&mut memory, "round", &launch)
            .unwrap_or_else(|error| panic!("{held}: {error}"));
        let mut bytes = vec![0; size * 4];
        memory.read(d, &mut bytes).expect("written");
        for (i, found) in bytes.chunks(4).enumerate() {
            let expected = if element == "u8" {
                (i + 1) as u8 as u32
            } else {
                (i + 1) as u32
            };
            assert_eq!(found, expected.to_le_bytes(), "{held}: element {i}");
        }
        judge(&[instance]);
    }
}
