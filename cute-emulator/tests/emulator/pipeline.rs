//! A pipelined matrix multiplication gives the right result under every schedule. With any one of its synchronising
//! instructions removed it does not.

use super::{Run, module};
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{EmulatorError, encode_tensor_map};

/// D[64, 64] = Σₖ A[64, k]·B[64, k]: warp 4 loads blocks of 64 columns into a ring of two stages, warpgroup 0 multiplies
/// them and stores D as bf16 through shared memory. A stage of A lies at 8192·stage, of B at 16384 + 8192·stage, D at
/// 32768, the mbarriers behind it: full at 40960 and 40968, empty at 40976 and 40984.
const KERNEL: &str = "
    ld.param.u32 %r60, [blocks];
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    mov.u32 %r1, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2+40960], 1;
    mbarrier.init.shared::cta.b64 [%r2+40968], 1;
    mbarrier.init.shared::cta.b64 [%r2+40976], 1;
    mbarrier.init.shared::cta.b64 [%r2+40984], 1;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    mov.u32 %r3, 0;
    mov.b64 %d30, a;
    mov.b64 %d31, b;
    setp.lt.u32 %p1, %r0, 128;
    @%p1 bra CONSUME;
    setp.ne.u32 %p2, %r0, 128;
    @%p2 bra END;
PRODUCE:
    and.b32 %r4, %r3, 1;
    shr.u32 %r5, %r3, 1;
    and.b32 %r5, %r5, 1;
    xor.b32 %r5, %r5, 1;
    shl.b32 %r6, %r4, 3;
    add.u32 %r6, %r2, %r6;
    shl.b32 %r7, %r4, 13;
    add.u32 %r7, %r2, %r7;
    shl.b32 %r8, %r3, 6;
WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6+40976], %r5;
    @!%p3 bra WAIT_EMPTY;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6+40960], 16384;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r7], [%d30, {%r8, %r1}], [%r6+40960];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r7+16384], [%d31, {%r8, %r1}], [%r6+40960];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p4, %r3, %r60;
    @%p4 bra PRODUCE;
    bra END;
CONSUME:
    and.b32 %r4, %r3, 1;
    shr.u32 %r5, %r3, 1;
    and.b32 %r5, %r5, 1;
    shl.b32 %r6, %r4, 3;
    add.u32 %r6, %r2, %r6;
    shl.b32 %r7, %r4, 13;
    add.u32 %r7, %r2, %r7;
    shr.u32 %r7, %r7, 4;
    cvt.u64.u32 %d0, %r7;
    or.b64 %d0, %d0, DESCRIPTOR;
    add.u64 %d1, %d0, 1024;
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6+40960], %r5;
    @!%p3 bra WAIT_FULL;
    wgmma.fence.sync.aligned;
MULTIPLY
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    setp.eq.u32 %p5, %r0, 0;
    @%p5 mbarrier.arrive.shared::cta.b64 _, [%r6+40976];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p4, %r3, %r60;
    @%p4 bra CONSUME;
    and.b32 %r10, %r0, 31;
    shr.u32 %r11, %r0, 5;
    shr.u32 %r12, %r10, 2;
    mad.lo.u32 %r12, %r11, 16, %r12;
    and.b32 %r13, %r10, 3;
    shl.b32 %r13, %r13, 2;
    mad.lo.u32 %r14, %r12, 128, %r13;
    add.u32 %r14, %r2, %r14;
STORE
    fence.proxy.async.shared::cta;
    bar.sync 1, 128;
    add.u32 %r15, %r2, 32768;
    mov.b64 %d29, d;
    @%p5 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d29, {%r1, %r1}], [%r15];
    @%p5 cp.async.bulk.commit_group;
    @%p5 cp.async.bulk.wait_group.read 0;
END:";

/// The instructions that only synchronise, and how often each occurs.
const SYNCHRONISING: [(&str, usize); 17] = [
    ("mbarrier.init", 4),
    ("fence.mbarrier_init", 1),
    ("bar.sync 0", 1),
    ("mbarrier.try_wait", 2),
    ("bra WAIT_EMPTY", 1),
    ("bra WAIT_FULL", 1),
    ("mbarrier.arrive.expect_tx", 1),
    ("mbarrier::complete_tx", 2),
    ("wgmma.fence", 1),
    ("wgmma.commit_group", 1),
    ("wgmma.wait_group", 1),
    ("mbarrier.arrive.shared::cta.b64 _, [%r6+40976]", 1),
    ("fence.proxy.async", 1),
    ("bar.sync 1", 1),
    ("global.shared::cta.tile.bulk_group", 1),
    ("bulk.commit_group", 1),
    ("bulk.wait_group.read", 1),
];

const EDGE: usize = 64;
/// Five blocks fill a ring of two stages two and a half times.
const BLOCKS: usize = 5;

pub(crate) fn kernel() -> String {
    let d = (0..32)
        .map(|i| format!("%f{i}"))
        .collect::<Vec<_>>()
        .join(", ");
    // Sixteen columns are 32 bytes of a row, which are 2 in the descriptor's address field of 16-byte units.
    let multiply: String = (0..4)
        .map(|step| {
            let first = if step == 0 { "setp.ne.u32 %p6, %r3, 0;" } else { "setp.eq.u32 %p6, 0, 0;" };
            format!(
                "{first}\nadd.u64 %d2, %d0, {0};\nadd.u64 %d3, %d1, {0};\n\
                 wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{d}}}, %d2, %d3, %p6, 1, 1, 0, 0;\n",
                2 * step
            )
        })
        .collect();
    let store: String = (0..16)
        .map(|pair| {
            let (row, column) = (8 * (pair & 1), 8 * (pair >> 1));
            let offset = 32768 + 128 * row + 2 * column;
            format!(
                "cvt.rn.bf16x2.f32 %r20, %f{}, %f{};\nst.shared.b32 [%r14+{offset}], %r20;\n",
                2 * pair + 1,
                2 * pair
            )
        })
        .collect();
    let descriptor: u64 = 1 << 16 | (1024 >> 4) << 32 | 1 << 62;
    let body = KERNEL
        .replace("MULTIPLY", multiply.trim_end())
        .replace("STORE", store.trim_end())
        .replace("DESCRIPTOR", &descriptor.to_string());
    let map = ".param .align 64 .b8";
    module(
        &format!("{map} a[128], {map} b[128], {map} d[128], .param .u32 blocks"),
        &body,
    )
}

fn element(row: usize, k: usize, salt: usize) -> f64 {
    ((row * salt + k * 3 + row * k) % 9) as f64 - 4.0
}

/// Runs a kernel to its end.
pub(crate) fn launch(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    product(ptx, seed).map(drop)
}

/// Whether a kernel ends without an error and computes the right D.
fn right(ptx: &str, seed: u64) -> bool {
    product(ptx, seed).unwrap_or(false)
}

/// Whether D is right.
fn product(ptx: &str, seed: u64) -> Result<bool, EmulatorError> {
    let mut run = Run::threads(160).seed(seed);
    // The kernel takes some thousand instructions. Without one of its waits it may loop forever, so the limit is low.
    run.launch.limits.steps = 1 << 16;
    let k = EDGE * BLOCKS;
    let mut matrix = |salt| {
        let values: Vec<u16> = (0..EDGE * k)
            .map(|i| half::bf16::from_f64(element(i / k, i % k, salt)).to_bits())
            .collect();
        run.array(&values, u16::to_le_bytes)
    };
    let (a, b) = (matrix(5), matrix(7));
    let d = run.memory.alloc(2 * EDGE * EDGE, 128).unwrap();
    let map = |address, cols: usize, swizzle| {
        let map = TensorMap {
            element: ElementType::BF16,
            address,
            extents: vec![cols as u64, EDGE as u64],
            strides: vec![2 * cols as u64],
            box_extents: vec![EDGE as u32; 2],
            element_strides: vec![1; 2],
            swizzle,
            fill: OobFill::Zero,
            l2: L2Promotion::default(),
        };
        encode_tensor_map(&map).unwrap().to_vec()
    };
    let (rows, plain) = (SwizzleMode::B128, SwizzleMode::None);
    let args = [
        map(a, k, rows),
        map(b, k, rows),
        map(d, EDGE, plain),
        (BLOCKS as u32).to_le_bytes().to_vec(),
    ];
    run.go(ptx, &args)?;
    let bytes = run.memory.bytes(d, 2 * EDGE * EDGE).unwrap();
    let right = bytes.chunks_exact(2).enumerate().all(|(i, bytes)| {
        let exact: f64 = (0..k)
            .map(|k| element(i / EDGE, k, 5) * element(i % EDGE, k, 7))
            .sum();
        half::bf16::from_le_bytes([bytes[0], bytes[1]]) == half::bf16::from_f64(exact)
    });
    Ok(right)
}

#[test]
fn every_synchronising_instruction_is_needed() {
    let ptx = kernel();
    for seed in 0..20 {
        assert!(right(&ptx, seed), "seed {seed}");
    }
    let lines: Vec<&str> = ptx.lines().collect();
    for (instruction, count) in SYNCHRONISING {
        let found: Vec<usize> = (0..lines.len())
            .filter(|i| lines[*i].contains(instruction))
            .collect();
        assert_eq!(found.len(), count, "{instruction}");
        for line in found {
            let without: Vec<&str> = (0..lines.len())
                .map(|i| if i == line { "" } else { lines[i] })
                .collect();
            let without = without.join("\n");
            assert!(
                (0..20).any(|seed| !right(&without, seed)),
                "nobody misses `{}`",
                lines[line].trim()
            );
        }
    }
}

/// The numbers that replace others.
const NUMBERS: [&str; 8] = [
    "0",
    "1",
    "7",
    "-1",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "65536",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Kernels with swapped or deleted lines and replaced numbers end with a result or an error, without a panic.
    #[test]
    fn no_kernel_makes_the_emulator_panic(
        edits in proptest::collection::vec((0..3_u8, proptest::prelude::any::<(u16, u16)>()), 1..4),
        seed in 0..4_u64,
    ) {
        let mut lines: Vec<String> = kernel().lines().map(str::to_owned).collect();
        for (kind, (at, value)) in edits {
            let (len, value) = (lines.len(), usize::from(value));
            let at = usize::from(at) % len;
            match kind {
                0 => lines.swap(at, value % len),
                1 => lines[at] = String::new(),
                _ => {
                    let digits: Vec<(usize, &str)> = lines[at]
                        .match_indices(|c: char| c.is_ascii_digit())
                        .filter(|(i, _)| !lines[at][..*i].ends_with(|c: char| c.is_alphanumeric() || c == '%'))
                        .collect();
                    if let Some((i, _)) = digits.get(value % digits.len().max(1)) {
                        let rest = lines[at][*i..].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
                        lines[at] = format!("{}{}{rest}", &lines[at][..*i], NUMBERS[value / 7 % NUMBERS.len()]);
                    }
                }
            }
        }
        right(&lines.join("\n"), seed);
    }
}
