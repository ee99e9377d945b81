//! TMA, bulk copies and cp.async.

use super::events::{check_fine, check_flagged, with};
use super::{Run, SEEDS, fault, module, pointer};
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{EmulatorError, FaultKind, decode_tensor_map, encode_tensor_map};

/// A kernel that loads a box and then copies the words of shared memory to `out`.
const LOAD: &str = "
    ld.param.u64 %d0, [out];
    ld.param.s32 %r20, [c0];
    ld.param.s32 %r21, [c1];
    ld.param.u32 %r22, [bytes];
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    add.u32 %r3, %r2, 32768;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], %r22;
    mov.b64 %d31, map;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d31, {%r20, %r21}], [%r3];
READY:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;
    @!%p1 bra WAIT;
    mul.lo.u32 %r4, %r0, 4;
COPY:
    add.u32 %r5, %r2, %r4;
    ld.shared.b32 %r6, [%r5];
    cvt.u64.u32 %d1, %r4;
    add.u64 %d2, %d0, %d1;
    st.global.b32 [%d2], %r6;
    add.u32 %r4, %r4, 256;
    setp.lt.u32 %p2, %r4, %r22;
    @%p2 bra COPY;
";

const LOAD_PARAMS: &str = ".param .align 64 .b8 map[128], .param .u64 out, .param .s32 c0, .param .s32 c1, .param .u32 bytes";

/// A module of this kind, for other tests.
pub(crate) fn sample() -> String {
    module(LOAD_PARAMS, LOAD)
}

#[test]
fn a_prefetch_is_of_a_tensor_map() {
    let prefetch = |instruction: &str| {
        let mut run = Run::threads(1);
        let map = matrix(&mut run, 4, 8, [8, 4], SwizzleMode::None);
        let map = encode_tensor_map(&map).unwrap();
        let copy = run.array(&map, |byte| [byte]);
        let args = [
            map.to_vec(),
            pointer(copy),
            vec![0; 4],
            vec![0; 4],
            vec![0; 4],
        ];
        let start = "mov.b64 %d1, map; ld.param.u64 %d0, [out]; mov.u64 %d2, smem; cvta.shared.u64 %d2, %d2;";
        run.go(
            &module(LOAD_PARAMS, &format!("{start} {instruction};")),
            &args,
        )
    };
    for map in ["[%d1]", "[%d0]"] {
        prefetch(&format!("prefetch.tensormap {map}")).unwrap();
    }
    prefetch("prefetch.param.tensormap [map]").unwrap();
    let no_map = "the operand is not the address of a tensor map";
    for (operand, message) in [
        ("[%d1+16]", no_map),
        ("[%d1+136]", no_map),
        ("[%d0+-16]", "are not inside one allocation"),
        ("[%d2]", "a tensor map cannot be in shared or local memory"),
    ] {
        let (kind, _) = fault(prefetch(&format!("prefetch.tensormap {operand}")));
        assert!(kind.to_string().contains(message), "{operand}: {kind}");
    }
}

/// A matrix of 16-bit numbers, where the element in row r and column c is 100·r + c, and its tensor map.
fn matrix(
    run: &mut Run<'_>,
    rows: u64,
    cols: u64,
    box_extents: [u32; 2],
    swizzle: SwizzleMode,
) -> TensorMap {
    let pitch = cols.next_multiple_of(8);
    let values: Vec<u16> = (0..rows * pitch)
        .map(|i| (100 * (i / pitch) + i % pitch) as u16)
        .collect();
    TensorMap {
        element: ElementType::U16,
        address: run.array(&values, u16::to_le_bytes),
        extents: vec![cols, rows],
        strides: vec![2 * pitch],
        box_extents: box_extents.to_vec(),
        element_strides: vec![1, 1],
        swizzle,
        fill: OobFill::Zero,
        l2: L2Promotion::default(),
    }
}

fn load(run: &mut Run<'_>, map: &TensorMap, coords: [i32; 2]) -> Result<Vec<u16>, EmulatorError> {
    load_by(&module(LOAD_PARAMS, LOAD), run, map, coords)
}

fn load_by(
    ptx: &str,
    run: &mut Run<'_>,
    map: &TensorMap,
    coords: [i32; 2],
) -> Result<Vec<u16>, EmulatorError> {
    let bytes = map.box_extents.iter().product::<u32>() * map.element.bytes().unwrap();
    let out = run.words(&vec![0; bytes as usize / 4]);
    let args = [
        encode_tensor_map(map).unwrap().to_vec(),
        pointer(out),
        coords[0].to_le_bytes().to_vec(),
        coords[1].to_le_bytes().to_vec(),
        bytes.to_le_bytes().to_vec(),
    ];
    run.go(ptx, &args)?;
    let words = run.read_words(out, bytes as usize / 4).into_iter();
    Ok(words
        .flat_map(|word| [word as u16, (word >> 16) as u16])
        .collect())
}

#[test]
fn every_swizzle_permutes_the_box() {
    // The columns of the box, and the mask of the swizzle: bits 4 to 6 of an offset are XORed with bits 7 to 9 & mask.
    let modes = [
        (SwizzleMode::None, 16, 0),
        (SwizzleMode::B32, 16, 1),
        (SwizzleMode::B64, 32, 3),
        (SwizzleMode::B128, 64, 7),
    ];
    for (swizzle, cols, mask) in modes {
        for seed in SEEDS {
            let mut run = Run::threads(64).seed(seed);
            let map = matrix(&mut run, 40, 72, [cols, 24], swizzle);
            let loaded = load(&mut run, &map, [8, 3]).unwrap();
            for row in 0..24 {
                for col in 0..cols as usize {
                    let byte = 2 * (row * cols as usize + col);
                    let place = byte ^ (((byte >> 7) & mask) << 4);
                    let expected = 100 * (row + 3) + col + 8;
                    assert_eq!(
                        usize::from(loaded[place / 2]),
                        expected,
                        "{swizzle:?} row {row} column {col}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_box_is_the_one_that_the_ptx_names() {
    let copy = "[%d31, {%r20, %r21}], [%r3];";
    for seed in 0..20 {
        for (named, fine) in [("%r21, %r20", true), ("%r20, %r21", false)] {
            let named = format!("{copy} // tile at 0 in 0..768; x[{named}]");
            let ptx = module(LOAD_PARAMS, &LOAD.replace(copy, &named));
            let mut run = Run::threads(64).seed(seed);
            let map = matrix(&mut run, 40, 72, [16, 24], SwizzleMode::None);
            let loaded = load_by(&ptx, &mut run, &map, [8, 3]);
            if fine {
                assert_eq!(loaded.unwrap()[0], 308);
                continue;
            }
            let (kind, _) = fault(loaded);
            assert_eq!(
                kind.to_string(),
                "copies the box of x that begins at (3, 8), but the PTX names the one at (8, 3)"
            );
        }
    }
}

#[test]
fn outside_of_the_tensor_is_the_fill() {
    for fill in [OobFill::Zero, OobFill::Nan] {
        let mut run = Run::threads(64);
        let element = ElementType::F16;
        let map = TensorMap {
            fill,
            l2: L2Promotion::default(),
            element,
            ..matrix(&mut run, 10, 20, [16, 8], SwizzleMode::None)
        };
        let missing = if fill == OobFill::Nan { 0x7fff } else { 0 };
        for coords in [[-8, -2], [8, 5], [0, 0], [16, 9], [40, 0], [0, -8]] {
            let loaded = load(&mut run, &map, coords).unwrap();
            for (i, value) in loaded.iter().enumerate() {
                let (row, col) = (coords[1] + i as i32 / 16, coords[0] + i as i32 % 16);
                let inside = (0..10).contains(&row) && (0..20).contains(&col);
                let expected = if inside {
                    (100 * row + col) as u16
                } else {
                    missing
                };
                assert_eq!(*value, expected, "{coords:?} row {row} column {col}");
            }
        }
    }
}

/// A kernel that fills shared memory with the numbers of the threads, 16 bits each, and stores it as a box.
fn store_kernel(instruction: &str) -> String {
    let body = format!(
        "
        mov.u32 %r0, %tid.x;
        ld.param.s32 %r20, [c0];
        ld.param.s32 %r21, [c1];
        mov.u32 %r2, smem;
        shl.b32 %r3, %r0, 2;
        add.u32 %r4, %r2, %r3;
        shl.b32 %r5, %r0, 1;
        mad.lo.u32 %r5, %r5, 0x10001, 0x10000;
        st.shared.b32 [%r4], %r5;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra END;
        mov.b64 %d31, map;
        {instruction} [%d31, {{%r20, %r21}}], [%r2];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
    END:"
    );
    module(
        ".param .align 64 .b8 map[128], .param .s32 c0, .param .s32 c1",
        &body,
    )
}

#[test]
fn stores_are_clipped() {
    let ptx = store_kernel("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group");
    for seed in SEEDS {
        for coords in [[0, 0], [8, 3], [16, 8], [32, 0], [24, 9]] {
            let mut run = Run::threads(64).seed(seed);
            // 128 elements: 8 rows of 16. In the tensor's rows of 21 elements, 24 are written, as on an H100: a store
            // ends at the next multiple of 16 bytes.
            let map = matrix(&mut run, 10, 21, [16, 8], SwizzleMode::None);
            let before = run.memory.bytes(map.address, 480).unwrap().to_vec();
            let args = [
                encode_tensor_map(&map).unwrap().to_vec(),
                i32::to_le_bytes(coords[0]).to_vec(),
                i32::to_le_bytes(coords[1]).to_vec(),
            ];
            run.go(&ptx, &args).unwrap();
            let after = run.memory.bytes(map.address, 480).unwrap();
            for i in 0..240 {
                let (row, col) = (i as i32 / 24 - coords[1], i as i32 % 24 - coords[0]);
                let number = |bytes: &[u8]| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
                let stored = (0..8).contains(&row) && (0..16).contains(&col);
                let expected = if stored {
                    (16 * row + col) as u16
                } else {
                    number(&before)
                };
                assert_eq!(number(after), expected, "{coords:?} element {i}");
            }
        }
    }
}

/// The rules are the H200's, where other starts end with an illegal instruction.
#[test]
fn boxes_start_at_multiples_of_16_bytes() {
    let reduction = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
    for (instruction, coords, problem) in [
        (None, [4, 0], Some("at element 4 of the innermost mode")),
        (None, [-1, 3], Some("at element -1 of the innermost mode")),
        (None, [-8, -1], None),
        (
            Some(store),
            [12, 0],
            Some("must start at a multiple of 16 bytes"),
        ),
        (Some(store), [8, 1], None),
        (Some(store), [-8, 0], Some("starts at -8, below 0")),
        (Some(store), [0, -1], Some("starts at -1, below 0")),
        (Some(reduction), [0, -4], Some("starts at -4, below 0")),
        (
            Some(reduction),
            [1, 0],
            Some("at element 1 of the innermost mode"),
        ),
    ] {
        let mut run = Run::threads(64);
        let map = matrix(&mut run, 10, 24, [16, 8], SwizzleMode::None);
        let result = match instruction {
            None => load(&mut run, &map, coords).map(drop),
            Some(instruction) => {
                let args = [
                    encode_tensor_map(&map).unwrap().to_vec(),
                    i32::to_le_bytes(coords[0]).to_vec(),
                    i32::to_le_bytes(coords[1]).to_vec(),
                ];
                run.go(&store_kernel(instruction), &args).map(drop)
            }
        };
        match problem {
            None => result.unwrap(),
            Some(problem) => {
                let (kind, _) = fault(result);
                assert!(matches!(kind, FaultKind::Operand(_)), "{kind}");
                assert!(kind.to_string().contains(problem), "{kind}");
            }
        }
    }
}

#[test]
fn reductions_add() {
    let ptx = store_kernel("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group");
    let mut run = Run::threads(64).seed(1);
    let map = matrix(&mut run, 8, 16, [16, 8], SwizzleMode::None);
    let args = [
        encode_tensor_map(&map).unwrap().to_vec(),
        vec![0; 4],
        vec![0; 4],
    ];
    run.go(&ptx, &args).unwrap();
    run.go(&ptx, &args).unwrap();
    let after = run.memory.bytes(map.address, 256).unwrap();
    for i in 0..128_u16 {
        let at = 2 * usize::from(i);
        assert_eq!(
            u16::from_le_bytes([after[at], after[at + 1]]),
            100 * (i / 16) + i % 16 + 2 * i
        );
    }
}

#[test]
fn multicast_reaches_every_cta() {
    // Rank 0 multicasts to itself and to rank 2; each of the two waits at its own mbarrier.
    let body = "
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %cluster_ctarank;
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 1024;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        fence.mbarrier_init.release.cluster;
        setp.eq.u32 %p1, %r0, 1;
        @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra WAIT;
        mov.b16 %h0, 5;
        mov.u32 %r20, 0;
        mov.b64 %d31, map;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
            [%r2], [%d31, {%r20, %r20}], [%r3], %h0;
    WAIT:
        @%p1 bra END;
    SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
        @!%p2 bra SPIN;
        ld.shared.b32 %r4, [smem+252];
        mad.wide.u32 %d0, %r0, 4, %d0;
        st.global.b32 [%d0], %r4;
    END:
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;";
    for seed in SEEDS {
        let mut run = Run::threads(1).seed(seed).cluster(3);
        let map = matrix(&mut run, 8, 16, [16, 8], SwizzleMode::None);
        let out = run.words(&[1; 3]);
        let ptx = module(".param .align 64 .b8 map[128], .param .u64 out", body);
        run.go(
            &ptx,
            &[encode_tensor_map(&map).unwrap().to_vec(), pointer(out)],
        )
        .unwrap();
        let last = 714 | 715 << 16;
        assert_eq!(run.read_words(out, 3), [last, 1, last]);
    }
}

#[test]
fn shared_memory_goes_to_another_cta() {
    // Each CTA sends 16 bytes with a bulk copy and 4 bytes with st.async to the next CTA, and waits for those of the
    // previous one.
    let body = "
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %cluster_ctarank;
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 1024;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 20;
        add.u32 %r4, %r0, 100;
        st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4};
        fence.proxy.async.shared::cta;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        add.u32 %r5, %r0, 1;
        rem.u32 %r5, %r5, 3;
        mapa.shared::cluster.u32 %r6, %r2, %r5;
        mapa.shared::cluster.u32 %r7, %r3, %r5;
        getctarank.shared::cluster.u32 %r9, %r6;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6+64], [%r2], 16, [%r7];
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6+80], %r9, [%r7];
    SPIN:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r3], 0;
        @!%p2 bra SPIN;
        ld.shared.b32 %r8, [%r2+76];
        ld.shared.b32 %r10, [%r2+80];
        mad.wide.u32 %d0, %r0, 8, %d0;
        st.global.v2.b32 [%d0], {%r8, %r10};
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;";
    for seed in SEEDS {
        let mut run = Run::threads(1).seed(seed).cluster(3);
        let out = run.words(&[0; 6]);
        run.go(&module(".param .u64 out", body), &[pointer(out)])
            .unwrap();
        assert_eq!(run.read_words(out, 6), [102, 0, 100, 1, 101, 2]);
    }
}

#[test]
fn bulk_copies_of_bytes() {
    let body = "
        ld.param.u64 %d0, [from];
        ld.param.u64 %d1, [to];
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 1024;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 80;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 80, [%r3];
    SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
        @!%p2 bra SPIN;
        cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], 80;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;";
    for seed in SEEDS {
        let mut run = Run::threads(1).seed(seed);
        let values: Vec<u32> = (0..20).collect();
        let (from, to) = (run.words(&values), run.words(&[0; 20]));
        run.go(
            &module(".param .u64 from, .param .u64 to", body),
            &[pointer(from), pointer(to)],
        )
        .unwrap();
        assert_eq!(run.read_words(to, 20), values);
    }
}

#[test]
fn cp_async_in_groups_and_by_mbarrier() {
    let groups = "
        ld.param.u64 %d0, [from];
        ld.param.u64 %d1, [to];
        mov.u32 %r0, %tid.x;
        shl.b32 %r1, %r0, 4;
        cvt.u64.u32 %d3, %r1;
        add.u64 %d0, %d0, %d3;
        add.u64 %d1, %d1, %d3;
        mov.u32 %r2, smem;
        add.u32 %r2, %r2, %r1;
        cp.async.cg.shared.global [%r2], [%d0], 16;
        cp.async.commit_group;
        cp.async.wait_group 0;
        ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];
        st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};";
    let barrier = "
        ld.param.u64 %d0, [from];
        ld.param.u64 %d1, [to];
        mov.u32 %r0, %tid.x;
        shl.b32 %r1, %r0, 4;
        cvt.u64.u32 %d3, %r1;
        add.u64 %d0, %d0, %d3;
        add.u64 %d1, %d1, %d3;
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 1024;
        add.u32 %r2, %r2, %r1;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r3], 8;
    READY:
        bar.warp.sync 0xff;
        cp.async.ca.shared.global [%r2], [%d0], 16, 8;
        cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];
    SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
        @!%p2 bra SPIN;
        ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];
        st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};";
    let values: Vec<u32> = (1..=32).collect();
    let halves: Vec<u32> = values
        .iter()
        .map(|value| if (value - 1) % 4 < 2 { *value } else { 0 })
        .collect();
    let zeros = vec![0; 32];
    let nothing = barrier.replace("[%d0], 16, 8", "[%d0+65536], 16, 0");
    for seed in SEEDS {
        for (body, expected) in [(groups, &values), (barrier, &halves), (&nothing, &zeros)] {
            let mut run = Run::threads(8).seed(seed);
            let (from, to) = (run.words(&values), run.words(&[0; 32]));
            run.go(
                &module(".param .u64 from, .param .u64 to", body),
                &[pointer(from), pointer(to)],
            )
            .unwrap();
            assert_eq!(run.read_words(to, 32), *expected);
        }
    }
}

#[test]
fn tensor_maps_round_trip_and_name_the_broken_rule() {
    let good = TensorMap {
        element: ElementType::BF16,
        address: 0x7f00_0000_0100,
        extents: vec![1 << 32, 3, 5],
        strides: vec![(1 << 40) - 16, 48],
        box_extents: vec![64, 256, 1],
        element_strides: vec![1, 2, 8],
        swizzle: SwizzleMode::B128,
        fill: OobFill::Nan,
        l2: L2Promotion::default(),
    };
    assert_eq!(
        decode_tensor_map(&encode_tensor_map(&good).unwrap()).unwrap(),
        good
    );
    let mut garbage = encode_tensor_map(&good).unwrap();
    garbage[4] = 200;
    assert_eq!(decode_tensor_map(&garbage), None);
    let broken = [
        (
            TensorMap {
                address: 8,
                ..good.clone()
            },
            "0x8",
        ),
        (
            TensorMap {
                extents: vec![1, 0, 1],
                ..good.clone()
            },
            "size 0",
        ),
        (
            TensorMap {
                strides: vec![24, 48],
                ..good.clone()
            },
            "24 bytes",
        ),
        (
            TensorMap {
                box_extents: vec![72, 1, 1],
                ..good.clone()
            },
            "144 bytes",
        ),
        (
            TensorMap {
                box_extents: vec![12, 1, 1],
                ..good.clone()
            },
            "24 bytes",
        ),
        (
            TensorMap {
                box_extents: vec![64, 257, 1],
                ..good.clone()
            },
            "257",
        ),
        (
            TensorMap {
                element_strides: vec![1, 9, 1],
                ..good.clone()
            },
            "stride 9",
        ),
        (
            TensorMap {
                extents: Vec::new(),
                ..good.clone()
            },
            "rank 0",
        ),
        (
            TensorMap {
                strides: Vec::new(),
                ..good.clone()
            },
            "0 strides",
        ),
        (
            TensorMap {
                element: ElementType::E2M1,
                ..good
            },
            "tensor maps have no elements of `e2m1`, which have 4 bits",
        ),
    ];
    for (map, part) in broken {
        let problem = encode_tensor_map(&map).unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }
}

/// Threads of both CTAs of a cluster add to a word of CTA 0, and CTA 0 stores it once all have arrived.
const REDUCE_ASYNC: &str = "
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%r2+128], 1;
    @%p0 st.shared.b32 [%r2], 7;
    @%p0 fence.mbarrier_init.release.cluster;
    add.u32 %r6, %r0, %r1;
    setp.eq.u32 %p3, %r6, 0;
    @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+128], 256;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    add.u32 %r4, %r0, 1;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.OP [%r3], %r4, [%r3+128];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2+128], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r5, [%r2];
    @%p0 st.global.b32 [%d0], %r5;
DONE:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;";

#[test]
fn asynchronous_reductions_of_many_threads_overlap() {
    let run = |body: &str, seed: u64| {
        let mut run = Run::threads(32).cluster(2).seed(seed);
        let out = run.words(&[0]);
        let result = run.go(&module(".param .u64 out", body), &[pointer(out)]);
        result.map(|_| run.read_words(out, 1)[0])
    };
    for seed in 0..20 {
        for (op, expected) in [
            ("add.u32", 7 + 2 * 528),
            ("max.s32", 32),
            ("xor.b32", 7),
            ("min.u32", 1),
        ] {
            let body = REDUCE_ASYNC.replace("OP", op);
            assert_eq!(run(&body, seed), Ok(expected), "{op}");
        }
        let body = REDUCE_ASYNC.replace("OP", "add.u32");
        // A value that nobody has written, and a read before the wait.
        let unwritten = body.replace("@%p0 st.shared.b32 [%r2], 7;", "");
        let (kind, _) = fault(run(&unwritten, seed));
        assert!(matches!(kind, FaultKind::Uninitialised { .. }), "{kind}");
        let early = body.replace("WAIT:", "ld.shared.b32 %r6, [%r2];\nWAIT:");
        let (kind, _) = fault(run(&early, seed));
        assert!(matches!(kind, FaultKind::CopyInFlight { .. }), "{kind}");
    }
}

/// A tensor map of a matrix, and where it is in global memory.
fn map_in_memory(run: &mut Run<'_>) -> (TensorMap, u64) {
    let map = matrix(run, 8, 16, [16, 8], SwizzleMode::None);
    let bytes = encode_tensor_map(&map).unwrap();
    let address = run.array(&bytes, |byte| [byte]);
    (map, address)
}

/// A thread writes a tensor map in global memory, and copies by it.
#[test]
fn a_map_is_acquired_before_a_copy_reads_it() {
    let body = "
        ld.param.u64 %d0, [out];
        ld.param.u64 %d1, [x];
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        setp.eq.u32 %p0, %r0, 0;
        setp.eq.u32 %p1, %r0, 32;
        @%p0 mbarrier.init.shared::cta.b64 [%r2+1024], 1;
        @%p0 fence.mbarrier_init.release.cluster;
        @%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d1;
        @%p0 fence.proxy.tensormap::generic.release.gpu;
        bar.sync 0;
        @!%p1 bra END;
        fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;
        mov.u32 %r20, 0;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 256;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d0, {%r20, %r20}], [%r2+1024];
        SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;
        @!%p2 bra SPIN;
        END:
        add.u32 %r3, %r0, 1;";
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(64).seed(seed);
        let (map, out) = map_in_memory(&mut run);
        run.go(ptx, &[pointer(out), pointer(map.address)]).map(drop)
    };
    let ptx = module(".param .u64 out, .param .u64 x", body);
    check_fine(&ptx, launch);
    let acquire = "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;";
    let is_map = |kind: &FaultKind| matches!(kind, FaultKind::MapProxyFence { .. });
    check_flagged(&with(&ptx, acquire, ""), launch, is_map);
    check_flagged(&with(&ptx, acquire, "fence.proxy.async;"), launch, is_map);
    // A fence before the change, and one of another map.
    let early = with(&ptx, acquire, "");
    let early = with(
        &early,
        "bar.sync 0;",
        "@%p1 fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;\nbar.sync 0;",
    );
    check_flagged(&early, launch, is_map);
    check_flagged(
        &with(&ptx, "acquire.gpu [%d0]", "acquire.gpu [%d1]"),
        launch,
        is_map,
    );
    // Nobody changes it.
    let unchanged = with(
        &ptx,
        "@%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d1;",
        "",
    );
    check_fine(&with(&unchanged, acquire, ""), launch);
}

/// A tensor map in global memory that one grid changes and the next one copies by, or the other way round.
#[test]
fn a_map_is_read_and_changed_after_the_grid_before() {
    let module = |body: &str| {
        let body =
            format!("ld.param.u64 %d0, [out];\nld.param.u64 %d1, [x];\nmov.u32 %r2, smem;\n{body}");
        module(".param .u64 out, .param .u64 x", &body)
    };
    let wait = "griddepcontrol.wait;\n";
    let change = "tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d1;\n";
    let copy = "
        mov.u32 %r20, 0;
        mbarrier.init.shared::cta.b64 [%r2+1024], 1;
        fence.mbarrier_init.release.cluster;
        fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 256;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d0, {%r20, %r20}], [%r2+1024];
        SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;
        @!%p2 bra SPIN;\n";
    let launch = |bodies: [&str; 2], seed| {
        let mut run = Run::threads(1).seed(seed);
        let (map, out) = map_in_memory(&mut run);
        run.memory.synchronize();
        run.launch.overlaps = true;
        let args = [pointer(out), pointer(map.address)];
        let mut launches = bodies
            .map(module)
            .into_iter()
            .map(|ptx| run.go(&ptx, &args).map(drop));
        launches.try_for_each(|launch| launch)
    };
    for (first, second) in [(change, copy), (copy, change)] {
        let waits = format!("{wait}{second}");
        for seed in SEEDS {
            launch([first, &waits], seed).unwrap();
            let (kind, text) = fault(launch([first, second], seed));
            assert!(matches!(kind, FaultKind::GridRace(_)), "{kind}\n{text}");
        }
    }
    // Two grids that read it.
    launch([copy, copy], 0).unwrap();
}
