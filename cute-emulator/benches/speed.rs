//! How fast the emulator runs what most kernels consist of. It prints a line for each, with the least of several times. On Linux,
//! these are the time of the main thread on a processor and that of the busiest other thread, for which the main thread waits:
//! how long it takes if no other program runs.

use cute_emulator::{Extents, GlobalMemory, Launch, Program};
use std::collections::HashMap;
use std::time::{Duration, Instant};

const REPEATS: u32 = 5;
/// The instructions `m64n256k16` of a product of 512 by 512 by 512: 8 along M, 2 along N, 32 along K.
const PRODUCTS: u32 = 8 * 2 * 32;
const LOOPS: u32 = 10_000;
/// The copies of an instruction in a loop.
const UNROLLED: u32 = 16;
const CTAS: u32 = 500;
/// The shared memory of a CTA that has all of an SM's.
const SHARED: u32 = 227 << 10;

/// Instructions, their operands, the bytes of a thread, of which those of lane i follow those of the lane before, and what the PTX
/// says of the address or of the threads, if it does.
const INSTRUCTIONS: [(&str, &str, u32, &str); 13] = [
    ("add.u32", "%r8, %r8, 1", 4, ""),
    ("@%p1 add.u32", "%r8, %r8, 1", 4, ""),
    ("@%p1 add.u32", "%r8, %r8, 1", 4, IN_THREADS),
    ("ld.shared.b32", "%r4, [%r3]", 4, ""),
    ("ld.shared.b32", "%r4, [%r3]", 4, IN_TILE),
    ("st.shared.b32", "[%r3], %r4", 4, ""),
    ("st.shared.b32", "[%r3], %r4", 4, IN_TILE),
    ("ld.shared.v4.b32", "{%r4, %r5, %r6, %r7}, [%r3]", 16, ""),
    ("ld.global.b32", "%r4, [%d1]", 4, ""),
    ("ld.global.b32", "%r4, [%d1]", 4, IN_TENSOR),
    ("st.global.b32", "[%d1], %r4", 4, ""),
    ("st.global.b32", "[%d1], %r4", 4, IN_TENSOR),
    ("ld.global.v4.b32", "{%r4, %r5, %r6, %r7}, [%d1]", 16, ""),
];
const IN_THREADS: &str = "// if %r0 < 128";
const IN_TILE: &str = "// tile[%r0 < 128] at %r10 in 0..512";
const IN_TENSOR: &str = "// x[%r0]";

fn main() {
    for ty in ["bf16", "f16"] {
        let time = least_time(&product(ty), 1, 128, 1 << 16);
        println!("{PRODUCTS} wgmma m64n256k16 of {ty}: {time:.3?}");
    }
    for (name, operands, bytes, claim) in INSTRUCTIONS {
        let body = format!("{name} {operands}; {claim}\n").repeat(UNROLLED as usize);
        let time = least_time(&looped(&body, bytes), 1, 128, 1 << 16);
        let rate = f64::from(128 * LOOPS * UNROLLED) / time.as_secs_f64() / 1e6;
        println!("{name} {claim}: {rate:.0} million a second");
    }
    let store = "shl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r2, %r3;\nst.shared.b32 [%r3], %r0;\n";
    let time = least_time(&module(store), CTAS, 32, SHARED);
    println!("a CTA of {SHARED} bytes: {:.3?}", time / CTAS);
}

/// The least time of a launch.
fn least_time(ptx: &str, ctas: u32, threads: u32, shared: u32) -> Duration {
    let program = Program::load(ptx).expect("the module loads");
    let mut memory = GlobalMemory::new();
    let address = memory.alloc(1 << 16, 128).expect("64 KiB are left");
    let zeros = vec![0; 1 << 16];
    memory.write(address, &zeros).expect("64 KiB are there");
    let launch = Launch {
        grid: [ctas, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared_bytes: shared,
        args: &[address.to_le_bytes().to_vec()],
        extents: &[Extents {
            tensor: "x".to_owned(),
            extents: vec![128],
        }],
        ..Launch::default()
    };
    let times = (0..REPEATS).map(|_| {
        let (start, before) = (Instant::now(), on_processor());
        (program.launch(&mut memory, "k", &launch)).expect("the kernel has no fault");
        let elapsed = start.elapsed();
        let after = on_processor();
        let main = std::process::id();
        let spent = |thread: &u32| {
            let before = before.get(thread).copied().unwrap_or_default();
            after.get(thread).map(|after| *after - before)
        };
        let others = after.keys().filter(|thread| **thread != main);
        let busiest = others.filter_map(spent).max().unwrap_or_default();
        spent(&main).map_or(elapsed, |own| own + busiest)
    });
    times.min().unwrap_or_default()
}

/// For how long each thread of this process has been on a processor, if the system tells.
fn on_processor() -> HashMap<u32, Duration> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return HashMap::new();
    };
    let time = |entry: std::fs::DirEntry| {
        let statistics = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
        let thread = entry.file_name().to_str()?.parse().ok()?;
        Some((thread, Duration::from_nanos(nanoseconds)))
    };
    threads.flatten().filter_map(time).collect()
}

fn module(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n// tensor x: u32 at global, strides (1)\n.extern .shared .align 1024 .b8 smem[];\n\
         .visible .entry k(.param .u64 global) .maxntid 128\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<128>;\n.reg .b64 %d<8>;\n\
         mov.u32 %r0, %tid.x;\nmov.u32 %r2, smem;\nld.param.u64 %d0, [global];\n{body}ret;\n}}\n"
    )
}

/// A loop over `body`, in which the thread has `bytes` bytes at `%r3` and at `%d1`.
fn looped(body: &str, bytes: u32) -> String {
    let zero = match bytes {
        4 => "st.shared.b32 [%r3], %r4;",
        _ => "st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};",
    };
    module(&format!(
        "mad.lo.u32 %r3, %r0, {bytes}, %r2;\nmad.wide.u32 %d1, %r0, {bytes}, %d0;\n\
         mul.lo.u32 %r10, %r0, {bytes};\n\
         mov.u32 %r4, 0;\nmov.u32 %r8, 0;\nsetp.lt.u32 %p1, %r0, 128;\n{zero}\nmov.u32 %r9, 0;\n\
         LOOP:\n{body}add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, {LOOPS};\n@%p0 bra LOOP;\n"
    ))
}

/// Products of numbers between 2^-4 and 2, of both signs: A has 2 KiB at the beginning of shared memory, B 8 KiB after it.
fn product(ty: &str) -> String {
    let d: Vec<String> = (0..128).map(|i| format!("%f{i}")).collect();
    let mask = if ty == "bf16" {
        0x81ff_81ff_u32
    } else {
        0x8fff_8fff
    };
    let least = if ty == "bf16" {
        0x3e00_3e00
    } else {
        0x3000_3000
    };
    module(&format!(
        "mov.u32 %r9, %r0;\n\
         FILL:\n\
         shl.b32 %r3, %r9, 2;\nadd.u32 %r3, %r2, %r3;\nmul.lo.u32 %r4, %r9, 0x9e3779b1;\nshr.u32 %r5, %r4, 13;\n\
         xor.b32 %r4, %r4, %r5;\nand.b32 %r4, %r4, {mask};\nadd.u32 %r4, %r4, {least};\nst.shared.b32 [%r3], %r4;\n\
         add.u32 %r9, %r9, 128;\nsetp.lt.u32 %p0, %r9, 2560;\n@%p0 bra FILL;\n\
         fence.proxy.async.shared::cta;\nbar.sync 0;\n\
         shr.u32 %r4, %r2, 4;\ncvt.u64.u32 %d1, %r4;\nor.b64 %d2, %d1, {a};\nadd.u64 %d3, %d1, 128;\nor.b64 %d3, %d3, {b};\n\
         setp.eq.u32 %p1, 0, 1;\nmov.u32 %r9, 0;\nwgmma.fence.sync.aligned;\n\
         LOOP:\n\
         wgmma.mma_async.sync.aligned.m64n256k16.f32.{ty}.{ty} {{{d}}}, %d2, %d3, %p1, 1, 1, 0, 0;\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
         setp.eq.u32 %p1, 0, 0;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, {PRODUCTS};\n@%p0 bra LOOP;\n",
        a = (1024_u64 >> 4) << 16 | (128_u64 >> 4) << 32,
        b = (4096_u64 >> 4) << 16 | (128_u64 >> 4) << 32,
        d = d.join(", "),
    ))
}
