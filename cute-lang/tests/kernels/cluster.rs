//! Copies to several CTAs of a cluster, and barriers across them.

use crate::judge;
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{GlobalMemory, Launch, Program, Schedule, encode_tensor_map};
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

/// Each CTA of a cluster of two or four writes a tile, and reads, adds to and writes that of the next one.
fn exchange(ctas: u32, statements: &str) -> String {
    format!(
        "mod kernels {{
            #[kernel(threads = 64, cluster = ({ctas}, 1, 1))]
            unsafe fn exchange(d: Global<f32, 2>) {{
                let tile = smem::<f32>(tile_to_shape(smem_atom::<f32>(K, SW128), (8, 64)));
                let counts = smem::<u32>(4);
                let rank = cluster_ctarank();
                let next = (rank + 1) % {ctas};
                for row in 0..8 {{ tile[(row, thread())] = (rank * 1000 + row * 64 + thread()) as f32; }}
                if thread() < 4 {{ counts[thread()] = 0; }}
                {statements}
            }}
        }}"
    )
}

/// What the kernel writes to a tensor of 8 · CTAs rows of 64.
fn exchanged(ctas: u32, statements: &str, seed: u64) -> Result<Vec<f32>, String> {
    let source = exchange(ctas, statements);
    let instances = lower(source.parse().expect("tokens")).map_err(|error| error.to_string())?;
    if seed == 0 {
        judge(&instances);
    }
    let instance = &instances[0];
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    let mut memory = GlobalMemory::new();
    let bytes = 8 * 64 * 4 * ctas as usize;
    let d = memory.alloc(bytes, 128).unwrap();
    memory.write(d, &vec![0; bytes]).expect("room");
    let args = [d, 64].map(|number: u64| number.to_le_bytes().to_vec());
    let launch = Launch {
        grid: [ctas, 1, 1],
        block: [64, 1, 1],
        cluster: [ctas, 1, 1],
        dynamic_shared_bytes: instance.smem_bytes,
        args: &args,
        schedule: Schedule::from_seed(seed),
        ..Launch::default()
    };
    program
        .launch(&mut memory, "exchange", &launch)
        .map_err(|error| error.to_string())?;
    let mut found = vec![0; bytes];
    memory.read(d, &mut found).expect("written");
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    Ok(found.chunks(4).map(number).collect())
}

/// By element, by vectors to a fragment and to memory, through parts, and by stores.
const READS: &[(&str, &str)] = &[
    (
        "elements",
        "sync_cluster();
         for row in 0..8 { d[(rank * 8 + row, thread())] = peer(tile, next)[(row, thread())]; }
         sync_cluster();",
    ),
    (
        "fragments",
        "sync_cluster();
         let held = fragment::<f32>(layout!(((16,4),(4,2)):((4@1,2@0),(1@1,1@0))));
         copy(peer(tile, next), held);
         copy(held, local_tile(d, (8, 64), (rank, 0)));
         sync_cluster();",
    ),
    (
        "parts",
        "sync_cluster();
         let part = local_partition(peer(tile, next), layout!((1,64)), thread());
         copy(part, local_partition(local_tile(d, (8, 64), (rank, 0)), layout!((1,64)), thread()));
         sync_cluster();",
    ),
    (
        "tiles and transposition",
        "sync_cluster();
         let there = transpose(local_tile(peer(tile, next), (4, 64), (1, 0)));
         for row in 0..4 {
            d[(rank * 8 + 4 + row, thread())] = there[(thread(), row)];
            d[(rank * 8 + row, thread())] = peer(tile[(row, _)], next)[thread()];
         }
         sync_cluster();",
    ),
    (
        "stores",
        "let held = fragment::<f32>(layout!(((16,4),(4,2)):((4@1,2@0),(1@1,1@0))));
         sync_threads();
         copy(tile, held);
         sync_cluster();
         copy(held, peer(tile, (rank + {ctas} - 1) % {ctas}));
         sync_cluster();
         for row in 0..8 { d[(rank * 8 + row, thread())] = tile[(row, thread())]; }",
    ),
    (
        "atomic operations",
        "sync_cluster();
         atomic_add(peer(counts, next), 1, 1, RELAXED, CLUSTER);
         sync_cluster();
         for row in 0..8 { d[(rank * 8 + row, thread())] = peer(tile, next)[(row, thread())] + (counts[1] - 64) as f32; }
         sync_cluster();",
    ),
];

#[test]
fn tiles_of_other_ctas_are_read_and_written() {
    for ctas in [2, 4] {
        for (name, statements) in READS {
            let statements = statements.replace("{ctas}", &ctas.to_string());
            for seed in 0..4 {
                let found = exchanged(ctas, &statements, seed)
                    .unwrap_or_else(|error| panic!("{name}, {ctas} CTAs, seed {seed}: {error}"));
                for (at, found) in found.iter().enumerate() {
                    let (cta, at) = (at as u32 / 512, at as u32 % 512);
                    let expected = (cta + 1) % ctas * 1000 + at;
                    assert_eq!(*found, expected as f32, "{name}, {ctas} CTAs, {cta}, {at}");
                }
            }
        }
    }
}

/// A fragment is loaded by vectors, and no address is mapped twice.
#[test]
fn tiles_of_other_ctas_are_read_by_vectors() {
    let source = exchange(2, READS[1].1);
    let instance = &lower(source.parse().expect("tokens")).expect("a kernel")[0];
    let text = instance.module.to_string();
    assert_eq!(
        text.matches("ld.shared::cluster.v4.f32").count(),
        2,
        "{text}"
    );
    assert_eq!(
        text.matches("mapa.shared::cluster.u32").count(),
        1,
        "{text}"
    );
}

/// Writes and reads are ordered by barriers of the cluster, and a CTA stays until others have read its memory. The emulator
/// reports what is missing, whatever the schedule.
#[test]
fn other_ctas_are_waited_for() {
    let read =
        "for row in 0..8 { d[(rank * 8 + row, thread())] = peer(tile, next)[(row, thread())]; }";
    for (name, statements, message) in [
        (
            "before the first",
            format!("{read} sync_cluster();"),
            "may not have begun to run",
        ),
        (
            "of the CTA alone",
            format!("sync_threads(); {read} sync_cluster();"),
            "may not have begun to run",
        ),
        (
            "after a write",
            format!("sync_cluster(); tile[(0, thread())] = 1.0; {read} sync_cluster();"),
            "races",
        ),
        (
            "after",
            format!("sync_cluster(); {read}"),
            "may still be using its shared memory",
        ),
        (
            "of no CTA",
            "sync_cluster(); d[(rank, 0)] = peer(tile, rank + 2)[0]; sync_cluster();".into(),
            "mapa",
        ),
        (
            "before it is written again",
            format!("sync_cluster(); {read} tile[(0, thread())] = 1.0; sync_cluster();"),
            "races",
        ),
    ] {
        for seed in 0..4 {
            let error = exchanged(2, &statements, seed).expect_err(name);
            assert!(error.contains(message), "{name}, seed {seed}: {error}");
        }
    }
}

#[test]
fn wrong_tiles_of_other_ctas() {
    for (statements, message) in [
        (
            "let there = peer(tile, 2);",
            "a cluster has the CTAs 0..2, not 2",
        ),
        (
            "let there = peer(d, 1);",
            "`peer` takes a tensor in shared memory here, not a tensor in global memory",
        ),
        (
            "let there = peer(peer(tile, 1), 0);",
            "`peer` takes a tensor in shared memory of its own CTA: `x[c]` and `copy` reach those of others, here, not a tensor in the shared memory of another CTA",
        ),
        (
            "copy_async(local_tile(d, (8, 64), (0, 0)), peer(tile, 1));",
            "`copy_async` takes a tensor in shared memory of its own CTA: `x[c]` and `copy` reach those of others, here, not a tensor in the shared memory of another CTA",
        ),
        (
            "let x = map_shared_rank(tile, 1);",
            "cannot find function `map_shared_rank`: `peer(x, cta)` is the tensor x of another CTA of the cluster",
        ),
    ] {
        let error = lower(exchange(2, statements).parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{statements}");
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
