//! wgmma, compared with sums in f64.

use super::{Run, SEEDS, fault, module, pointer};
use cute_emulator::FaultKind;

/// A matrix layout in shared memory: the byte offset, before the swizzle, of the element in row `mn` and column `k`, and the
/// descriptor's fields.
struct Case {
    name: &'static str,
    transposed: bool,
    swizzle: u64,
    leading: u64,
    stride: u64,
    place: fn(usize, usize) -> usize,
}

/// Layouts of a matrix of 64 rows and 16 columns of 16-bit elements.
const CASES: [Case; 8] = [
    // K-major core matrices: 8 rows of 16 bytes. The next core matrix along K is 1024 bytes later, the next 8 rows 128
    // bytes.
    Case {
        name: "K, none",
        transposed: false,
        swizzle: 0,
        leading: 1024,
        stride: 128,
        place: |mn, k| k / 8 * 1024 + mn / 8 * 128 + mn % 8 * 16 + k % 8 * 2,
    },
    Case {
        name: "K, 128",
        transposed: false,
        swizzle: 1,
        leading: 16,
        stride: 1024,
        place: |mn, k| mn * 128 + k * 2,
    },
    Case {
        name: "K, 64",
        transposed: false,
        swizzle: 2,
        leading: 16,
        stride: 512,
        place: |mn, k| mn * 64 + k * 2,
    },
    Case {
        name: "K, 32",
        transposed: false,
        swizzle: 3,
        leading: 16,
        stride: 256,
        place: |mn, k| mn * 32 + k * 2,
    },
    // MN-major core matrices: 8 columns of 8 rows. The next 8 columns are 128 bytes later, the next 8 rows 256 bytes.
    Case {
        name: "MN, none",
        transposed: true,
        swizzle: 0,
        leading: 128,
        stride: 256,
        place: |mn, k| k / 8 * 128 + mn / 8 * 256 + k % 8 * 16 + mn % 8 * 2,
    },
    Case {
        name: "MN, 128",
        transposed: true,
        swizzle: 1,
        leading: 2048,
        stride: 1024,
        place: |mn, k| k * 128 + mn * 2,
    },
    Case {
        name: "MN, 64",
        transposed: true,
        swizzle: 2,
        leading: 1024,
        stride: 512,
        place: |mn, k| mn / 32 * 1024 + k * 64 + mn % 32 * 2,
    },
    Case {
        name: "MN, 32",
        transposed: true,
        swizzle: 3,
        leading: 512,
        stride: 256,
        place: |mn, k| mn / 16 * 512 + k * 32 + mn % 16 * 2,
    },
];

impl Case {
    fn descriptor(&self) -> u64 {
        (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | self.swizzle << 62
    }

    /// The bytes of the matrix in shared memory, which begins at a multiple of 1024.
    fn image(&self, element: impl Fn(usize, usize) -> u16) -> Vec<u8> {
        let mut bytes = vec![0; 8192];
        let mask = [0, 7, 3, 1][self.swizzle as usize];
        for mn in 0..64 {
            for k in 0..16 {
                let place = (self.place)(mn, k);
                let place = place ^ ((place >> 7) & mask) << 4;
                bytes[place..place + 2].copy_from_slice(&element(mn, k).to_le_bytes());
            }
        }
        bytes
    }
}

/// A kernel that loads the bytes of A and B with bulk copies, multiplies twice with accumulation, and stores D's fragments.
fn kernel(ty: &str, a: &Case, b: &Case, d_type: &str) -> String {
    // A register holds two f16 elements.
    let d: Vec<String> = match d_type {
        "f16" => (32..48).map(|i| format!("%r{i}")).collect(),
        _ => (0..32).map(|i| format!("%f{i}")).collect(),
    };
    let stores: String = d
        .iter()
        .enumerate()
        .map(|(i, register)| format!("st.global.b32 [%d0+{}], {register};\n", 4 * i))
        .collect();
    let body = format!(
        "
        ld.param.u64 %d0, [out];
        ld.param.u64 %d1, [images];
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 32768;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16384;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 16384, [%r3];
    READY:
        bar.sync 0;
    WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;
        @!%p1 bra WAIT;
        shr.u32 %r4, %r2, 4;
        cvt.u64.u32 %d2, %r4;
        or.b64 %d3, %d2, {a_descriptor};
        add.u64 %d4, %d2, 512;
        or.b64 %d4, %d4, {b_descriptor};
        setp.eq.u32 %p2, 0, 1;
        setp.eq.u32 %p3, 0, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n64k16.{d_type}.{ty}.{ty} {{{d}}}, %d3, %d4, %p2, 1, 1, {ta}, {tb};
        wgmma.mma_async.sync.aligned.m64n64k16.{d_type}.{ty}.{ty} {{{d}}}, %d3, %d4, %p3, 1, -1, {ta}, {tb};
        wgmma.mma_async.sync.aligned.m64n64k16.{d_type}.{ty}.{ty} {{{d}}}, %d3, %d4, %p3, 1, 1, {ta}, {tb};
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        mad.wide.u32 %d0, %r0, {bytes}, %d0;
        {stores}",
        a_descriptor = a.descriptor() as i64,
        b_descriptor = b.descriptor() as i64,
        d = d.join(", "),
        ta = u32::from(a.transposed),
        tb = u32::from(b.transposed),
        bytes = 4 * d.len(),
    );
    module(".param .u64 out, .param .u64 images", &body)
}

/// A module of this kind, for other tests.
pub(crate) fn sample() -> String {
    kernel("bf16", &CASES[1], &CASES[5], "f32")
}

/// Small integers, so that every sum is exact.
fn element(mn: usize, k: usize, salt: usize) -> f64 {
    ((mn * 7 + k * 5 + mn * k * salt) % 13) as f64 - 6.0
}

fn run(seed: u64, ptx: &str, a: &[u8], b: &[u8], words: usize) -> Vec<u32> {
    let mut run = Run::threads(128).seed(seed);
    let images: Vec<u8> = a.iter().chain(b).copied().collect();
    let images = run.array(&images, |byte| [byte]);
    let out = run.words(&vec![0; 128 * words]);
    run.go(ptx, &[pointer(out), pointer(images)]).unwrap();
    run.read_words(out, 128 * words)
}

#[test]
fn every_descriptor_of_f16_and_bf16() {
    type Encode = fn(f64) -> u16;
    let types: [(&str, Encode); 2] = [
        ("bf16", |x| half::bf16::from_f64(x).to_bits()),
        ("f16", |x| half::f16::from_f64(x).to_bits()),
    ];
    for (ty, encode) in types {
        for (i, a) in CASES.iter().enumerate() {
            for b in [&CASES[i], &CASES[(i + 3) % CASES.len()]] {
                let a_image = a.image(|m, k| encode(element(m, k, 3)));
                let b_image = b.image(|n, k| encode(element(n, k, 11)));
                let words = run(
                    i as u64 % 3,
                    &kernel(ty, a, b, "f32"),
                    &a_image,
                    &b_image,
                    32,
                );
                for (index, word) in words.iter().enumerate() {
                    let (thread, register) = (index / 32, index % 32);
                    let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (register >> 1 & 1);
                    let column = 8 * (register >> 2) + 2 * (thread % 4) + (register & 1);
                    let expected: f64 = (0..16)
                        .map(|k| element(row, k, 3) * element(column, k, 11))
                        .sum();
                    assert_eq!(
                        f64::from(f32::from_bits(*word)),
                        expected,
                        "{ty} A {} B {} at {row}, {column}",
                        a.name,
                        b.name
                    );
                }
            }
        }
    }
}

#[test]
fn half_results_are_packed() {
    let encode = |x: f64| half::f16::from_f64(x).to_bits();
    let case = &CASES[1];
    let (a, b) = (
        case.image(|m, k| encode(element(m, k, 3))),
        case.image(|n, k| encode(element(n, k, 11))),
    );
    let words = run(0, &kernel("f16", case, case, "f16"), &a, &b, 16);
    for (index, word) in words.iter().enumerate() {
        let (thread, register) = (index / 16, index % 16);
        let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (register & 1);
        for half in 0..2 {
            let column = 8 * (register >> 1) + 2 * (thread % 4) + half;
            let expected: f64 = (0..16)
                .map(|k| element(row, k, 3) * element(column, k, 11))
                .sum();
            assert_eq!(
                half::f16::from_bits((word >> (16 * half)) as u16).to_f64(),
                expected
            );
        }
    }
}

/// A kernel whose warpgroup computes an m64n8 product. All elements of A, in registers, are equal, and all elements of B.
fn registers(types: &str, k: usize, d_type: &str, immediates: &str, middle: &str) -> String {
    let body = format!(
        "
        ld.param.u32 %r40, [a];
        ld.param.u32 %r41, [b];
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        shl.b32 %r3, %r0, 2;
        add.u32 %r3, %r2, %r3;
        st.shared.b32 [%r3], %r41;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        shr.u32 %r4, %r2, 4;
        cvt.u64.u32 %d2, %r4;
        or.b64 %d3, %d2, {descriptor};
        mov.b32 %r10, %r40;
        mov.b32 %r11, %r40;
        mov.b32 %r12, %r40;
        mov.b32 %r13, %r40;
        setp.eq.u32 %p2, 0, 1;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k{k}.{d_type}.{types} {{%r20, %r21, %r22, %r23}}, {{%r10, %r11, %r12, %r13}}, %d3, %p2{immediates};
        wgmma.commit_group.sync.aligned;
        {middle}
        wgmma.wait_group.sync.aligned 0;
        mad.wide.u32 %d0, %r0, 4, %d0;
        st.global.b32 [%d0], %r23;",
        descriptor = (128_u64 >> 4) << 16 | (256_u64 >> 4) << 32,
    );
    module(".param .u64 out, .param .u32 a, .param .u32 b", &body)
}

#[test]
fn every_type_from_registers() {
    let f32s = |value: f32| value.to_bits();
    // Types of A and B, K, type of D, last operands, a word of A, a word of B, the expected word of D.
    let rows = [
        (
            "bf16.bf16",
            16,
            "f32",
            ", 1, 1, 0",
            0x3f80_3f80,
            0x4000_4000,
            f32s(32.0),
        ),
        (
            "f16.f16",
            16,
            "f32",
            ", -1, 1, 0",
            0x3c00_3c00,
            0x4000_4000,
            f32s(-32.0),
        ),
        (
            "tf32.tf32",
            8,
            "f32",
            ", 1, 1",
            0x3f80_0000,
            0x4000_0000,
            f32s(16.0),
        ),
        (
            "e4m3.e4m3",
            32,
            "f32",
            ", 1, 1",
            0x3838_3838,
            0x4040_4040,
            f32s(64.0),
        ),
        (
            "e4m3.e5m2",
            32,
            "f32",
            ", 1, 1",
            0x3838_3838,
            0x3c3c_3c3c,
            f32s(32.0),
        ),
        (
            "s8.u8",
            32,
            "s32",
            "",
            0xffff_ffff,
            0x0202_0202,
            -64_i32 as u32,
        ),
    ];
    for (types, k, d_type, immediates, a, b, expected) in rows {
        for seed in SEEDS {
            let mut run = Run::threads(128).seed(seed);
            let out = run.words(&[0; 128]);
            let args = [
                pointer(out),
                u32::to_le_bytes(a).to_vec(),
                u32::to_le_bytes(b).to_vec(),
            ];
            run.go(&registers(types, k, d_type, immediates, ""), &args)
                .unwrap();
            assert_eq!(run.read_words(out, 128), vec![expected; 128], "{types}");
        }
    }
}

#[test]
fn registers_belong_to_the_instruction_until_the_wait() {
    let go = |ptx: &str| {
        let mut run = Run::threads(128);
        let out = run.words(&[0; 128]);
        run.go(ptx, &[pointer(out), vec![0; 4], vec![0; 4]])
    };
    let bf16 = |middle| registers("bf16.bf16", 16, "f32", ", 1, 1, 0", middle);
    // Before the wait: D is read, D is written, A is written.
    for (middle, name) in [
        ("mov.b32 %r1, %r22;", "%r22"),
        ("mov.b32 %r21, 0;", "%r21"),
        ("mov.b32 %r12, 0;", "%r12"),
    ] {
        let (kind, text) = fault(go(&bf16(middle)));
        assert!(
            matches!(&kind, FaultKind::RegisterInFlight { register, .. } if register == name),
            "{kind:?}"
        );
        assert_eq!(format!("{text};"), middle);
    }
    let unfenced = bf16("").replace("wgmma.fence.sync.aligned;", "");
    assert!(matches!(
        fault(go(&unfenced)).0,
        FaultKind::MissingWgmmaFence { .. }
    ));
    let late = bf16("").replace("mov.b32 %r13, %r40;", "").replace(
        "wgmma.fence.sync.aligned;",
        "wgmma.fence.sync.aligned; mov.b32 %r13, %r40;",
    );
    assert!(
        matches!(fault(go(&late)).0, FaultKind::MissingWgmmaFence { register } if register == "%r13")
    );
    // The threads write B through the generic proxy, so a proxy fence is needed, and it must precede the barrier.
    let unfenced = bf16("").replace("fence.proxy.async.shared::cta;", "");
    assert!(matches!(
        fault(go(&unfenced)).0,
        FaultKind::MissingProxyFence { .. }
    ));
    let swapped = bf16("").replace(
        "fence.proxy.async.shared::cta;\n        bar.sync 0;",
        "bar.sync 0;",
    );
    assert!(matches!(
        fault(go(&swapped)).0,
        FaultKind::MissingProxyFence { .. }
    ));
}

#[test]
fn a_warpgroup_issues_as_one() {
    let go = |ptx: &str, threads| {
        let mut run = Run::threads(threads);
        let out = run.words(&[0; 128]);
        run.go(ptx, &[pointer(out), vec![0; 4], vec![0; 4]])
    };
    let kernel = registers("bf16.bf16", 16, "f32", ", 1, 1, 0", "");
    // The warps have different descriptors; the CTA has only three warps; a warp does not execute the wgmma.
    let differ = kernel.replace(
        "or.b64 %d3, %d2,",
        "shr.u32 %r50, %r0, 6; cvt.u64.u32 %d9, %r50; add.u64 %d2, %d2, %d9; or.b64 %d3, %d2,",
    );
    assert_ne!(differ, kernel);
    let (kind, _) = fault(go(&differ, 128));
    assert!(
        matches!(&kind, FaultKind::Operand(message) if message.contains("B at 0x400 (")),
        "{kind}"
    );
    let (kind, _) = fault(go(&kernel, 96));
    assert!(
        matches!(&kind, FaultKind::Operand(message) if message.contains("3 of 4 warps")),
        "{kind}"
    );
    let leaves = kernel.replace(
        "wgmma.fence.sync.aligned;",
        "setp.gt.u32 %p9, %r0, 95; @%p9 bra OUT; wgmma.fence.sync.aligned;",
    );
    let leaves = leaves.replace("\nret;", "\nOUT: ret;");
    match go(&leaves, 128) {
        Err(cute_emulator::EmulatorError::Deadlock { threads, .. }) => {
            assert_eq!(threads.len(), 3);
            assert!(
                threads[0].waits_for.contains("to have issued 1 wgmma"),
                "{}",
                threads[0]
            );
        }
        other => panic!("{other:?}"),
    }
}
