//! Copies to several CTAs of a cluster, and barriers across them.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program, Schedule, encode_tensor_map};
use cute_hopper::tma::{L2Promotion, OobFill, TensorMap};
use cute_hopper::{ElementType, SwizzleMode};
use cute_lang::kernel::lower::lower;

/// Each CTA of a pair loads half of a tile into both, twice, through one stage; then each writes all of it.
const HALVES: &str = "mod kernels {
    #[kernel(threads = 32, cluster = (2, 1, 1))]
    unsafe fn halves(a: TmaLoad<u32, 2>, d: Global<u32, 3>) {
        let tile = smem::<u32>(tile_to_shape(smem_atom::<u32>(K, SW128), (16, 32)));
        let full = mbarriers(1, 1);
        let empty = mbarriers(1, 2);
        let rank = cluster_ctarank();
        for round in 0..2 {
            if thread() == 0 {
                wait(empty[0], 1 - round);
                expect_tx(full[0], bytes(tile));
                tma_load(a, (round * 16 + rank * 8, 0), local_tile(tile, (8, 32), (rank, 0)), full[0], 0b11);
            }
            wait(full[0], round);
            for row in 0..16 {
                d[(rank, round * 16 + row, thread())] = tile[(row, thread())];
            }
            sync_threads();
            if thread() == 0 {
                arrive_at(empty[0], 0);
                arrive_at(empty[0], 1);
            }
        }
        sync_cluster();
    }
}";

#[test]
fn halves_of_a_tile_reach_both_ctas() {
    let instances =
        lower(HALVES.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
    judge(&instances);
    let instance = &instances[0];
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    for seed in 0..8 {
        let mut memory = GlobalMemory::new();
        let source: Vec<u8> = (0..32 * 32u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let a = memory.alloc(source.len(), 128).unwrap();
        memory.write(a, &source).expect("room");
        let d = memory.alloc(2 * source.len(), 128).unwrap();
        let map = TensorMap {
            element: ElementType::U32,
            address: a,
            extents: vec![32, 32],
            strides: vec![128],
            box_extents: vec![32, 8],
            element_strides: vec![1, 1],
            swizzle: SwizzleMode::B128,
            fill: OobFill::Zero,
            l2: L2Promotion::default(),
        };
        let args = [
            encode_tensor_map(&map).expect("a legal map").to_vec(),
            d.to_le_bytes().to_vec(),
            1024u64.to_le_bytes().to_vec(),
            32u64.to_le_bytes().to_vec(),
        ];
        let launch = Launch {
            grid: [2, 1, 1],
            block: [32, 1, 1],
            cluster: [2, 1, 1],
            dynamic_shared_bytes: instance.smem_bytes,
            args: &args,
            schedule: Schedule::from_seed(seed),
            ..Launch::default()
        };
        program
            .launch(&mut memory, "halves", &launch)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut found = vec![0; 2 * source.len()];
        memory.read(d, &mut found).expect("written");
        assert!(found == source.repeat(2), "seed {seed}");
    }
}

/// What all threads of a warp run together is branched around, not guarded.
#[test]
fn the_barrier_of_a_cluster_has_no_guard() {
    let source = "mod kernels {
        #[kernel(threads = 64, cluster = (2, 1, 1))]
        fn some_warps() { if thread() < 32 { sync_cluster(); } }
    }";
    let instances =
        lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
    judge(&instances);
    let text = instances[0].module.to_string();
    assert!(
        text.contains("    barrier.cluster.arrive.aligned;\n"),
        "{text}"
    );
}
