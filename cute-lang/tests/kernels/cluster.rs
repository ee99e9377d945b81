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
    let ptx = instance.module.to_string();
    // The start waits for no memory access, and `sync_cluster` does.
    let arrivals = |barrier: &str| ptx.matches(barrier).count();
    assert_eq!(arrivals("barrier.cluster.arrive.relaxed.aligned;"), 1);
    assert_eq!(arrivals("barrier.cluster.arrive.aligned;"), 1);
    let program = Program::load(&ptx).expect("PTX");
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

/// Each warp of a CTA has a row of which each CTA of the cluster has a part. All threads of all CTAs get the results of their rows.
#[test]
fn fragments_are_reduced_across_ctas() {
    for ctas in [2usize, 4, 8] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 64, cluster = ({ctas}, 1, 1))]
                unsafe fn rows(a: Global<i32, 2>, d: Global<i32, 3>) {{
                    let x = fragment::<i32>(layout!(((32,2,{ctas}),2):((2@1,1@0,64@1),1@1)));
                    for v in 0..size(x) {{ x[v] = a[x.coordinate(v)]; }}
                    let at = (cluster_idx().0, cluster_ctarank() * 64 + thread());
                    let sum = reduce(x, 1, add);
                    d[(at.0, at.1, 0)] = sum[0];
                    d[(at.0, at.1, 1)] = reduce(x, 1, max)[0];
                    d[(at.0, at.1, 2)] = reduce(reduce(x, 0, min), 1, min)[0];
                }}
            }}"
        );
        let instances =
            lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
        judge(&instances);
        let instance = &instances[0];
        let program = Program::load(&instance.module.to_string()).expect("PTX");
        let columns = 64 * ctas;
        let value = |i: usize| (i * 37 + 11) as i32 % 101 - 50;
        let rows: Vec<Vec<i32>> = (0..2)
            .map(|row| (0..columns).map(|j| value(row * columns + j)).collect())
            .collect();
        let sums = rows.iter().map(|row| row.iter().sum::<i32>());
        let largest = rows.iter().map(|row| *row.iter().max().unwrap());
        let least = *rows.iter().flatten().min().unwrap();
        let results: Vec<[i32; 3]> = sums.zip(largest).map(|(a, b)| [a, b, least]).collect();
        for seed in 0..4 {
            let mut memory = GlobalMemory::new();
            let bytes: Vec<u8> = rows
                .iter()
                .flatten()
                .flat_map(|x| x.to_le_bytes())
                .collect();
            let a = memory.alloc(bytes.len(), 128).unwrap();
            memory.write(a, &bytes).expect("room");
            let threads = 64 * ctas;
            let d = memory.alloc(threads * 12, 128).unwrap();
            let number = |number: u64| number.to_le_bytes().to_vec();
            let args = [a, columns as u64, d, 3 * threads as u64, 3].map(number);
            let launch = Launch {
                grid: [ctas as u32, 1, 1],
                block: [64, 1, 1],
                cluster: [ctas as u32, 1, 1],
                dynamic_shared_bytes: instance.smem_bytes,
                args: &args,
                schedule: Schedule::from_seed(seed),
                ..Launch::default()
            };
            program
                .launch(&mut memory, "rows", &launch)
                .unwrap_or_else(|error| panic!("{ctas} CTAs, seed {seed}: {error}"));
            let mut found = vec![0; threads * 12];
            memory.read(d, &mut found).expect("written");
            let found: Vec<i32> = found
                .chunks(4)
                .map(|word| i32::from_le_bytes(word.try_into().unwrap()))
                .collect();
            for (thread, found) in found.chunks(3).enumerate() {
                assert_eq!(
                    found,
                    results[thread / 32 % 2],
                    "{ctas} CTAs, thread {thread}"
                );
            }
        }
    }
}

#[test]
fn what_a_cluster_holds_is_not_scanned() {
    let source = "mod kernels {
        #[kernel(threads = 64, cluster = (2, 1, 1))]
        fn k() {
            let x = fragment::<i32>(layout!((128,2):(2@0,1@0)));
            fill(x, 1);
            scan(x, 0, add);
        }
    }";
    let error = lower(source.parse().expect("tokens"))
        .err()
        .expect("refused");
    let message = "`scan` combines values of the threads of one CTA, but several hold the fragment";
    assert!(error.to_string().contains(message), "{error}");
}

/// What all threads of a warp run together is branched around, not guarded.
#[test]
fn the_barrier_of_a_cluster_has_no_guard() {
    let source = "mod kernels {
        #[kernel(threads = 64, cluster = (2, 1, 1))]
        fn some_clusters() { if cluster_idx().0 < 32 { sync_cluster(); } }
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
