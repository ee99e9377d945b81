//! Extreme and malicious modules and launches. Each ends soon, with the result that PTX defines or with an error that
//! says what is wrong. None panics, hangs, or takes more of the host than its limits allow.

use super::{Run, module, pointer, words_of};
use cute_emulator::{AllocError, GlobalMemory, Launch, Limits, Program};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Runs every row and reports all failures and panics together.
fn check<R>(rows: &[R], name: impl Fn(&R) -> &str, run: impl Fn(&R) -> Result<(), String>) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let result = catch_unwind(AssertUnwindSafe(|| run(row)));
            let problem = result.unwrap_or_else(|_| Err("panics".to_owned())).err()?;
            Some(format!("{}: {problem}", name(row)))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An error unless the result is an error whose message contains `part`.
fn says(result: Result<impl std::fmt::Debug, impl ToString>, part: &str) -> Result<(), String> {
    match result {
        Err(error) if error.to_string().contains(part) => Ok(()),
        Err(error) => Err(format!("`{}` does not say `{part}`", error.to_string())),
        Ok(value) => Err(format!("{value:?} where an error should say `{part}`")),
    }
}

/// Instructions that compute `%r1`, and its expected value.
const WORDS: &[(&str, u32)] = &[
    // A constant has the width of its operand.
    ("clz.b32 %r1, -1;", 0),
    ("clz.b32 %r1, 1;", 31),
    ("clz.b64 %r1, -1;", 0),
    ("clz.b64 %r1, 1;", 63),
    ("popc.b32 %r1, -1;", 32),
    ("popc.b32 %r1, -2147483648;", 1),
    ("popc.b64 %r1, -1;", 64),
    ("bfind.u32 %r1, -1;", 31),
    ("bfind.s32 %r1, -1;", u32::MAX),
    ("bfind.u64 %r1, -1;", 63),
    ("brev.b32 %r1, -2;", 0x7fff_ffff),
    ("mov.u32 %r1, -1; popc.b32 %r1, %r1;", 32),
    ("mov.b16 %h0, -1; cvt.u32.u16 %r1, %h0;", 0xffff),
    (
        "mov.b32 %r2, -1; cvt.u64.u32 %d1, %r2; clz.b64 %r1, %d1;",
        32,
    ),
    (
        "cvt.u64.u32 %d1, -1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0,
    ),
    (
        "cvt.s64.s32 %d1, -1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        u32::MAX,
    ),
    ("not.b32 %r1, -1;", 0),
    ("xor.b32 %r1, -1, 0xffffffff;", 0),
    ("selp.b32 %r2, -1, 0, 1; popc.b32 %r1, %r2;", 32),
    ("selp.b32 %r1, 5, 6, 0;", 6),
    ("min.u32 %r1, -1, 1;", 1),
    ("max.s32 %r1, 0x80000000, -5;", -5_i32 as u32),
    ("max.u16 %h0, -1, 1; cvt.u32.u16 %r1, %h0;", 0xffff),
    (
        "setp.eq.u32 %p0, -1, 0xffffffff; selp.b32 %r1, 5, 6, %p0;",
        5,
    ),
    ("setp.lt.s16 %p0, 0xffff, 0; selp.b32 %r1, 5, 6, %p0;", 5),
    (
        "mul.wide.u32 %d1, -1, -1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0xffff_fffe,
    ),
    ("mul.wide.u16 %r1, -1, -1;", 0xfffe_0001),
    ("mad.wide.u16 %r1, -1, -1, -1;", 0xfffe_0000),
    ("prmt.b32 %r1, -1, -1, -1;", u32::MAX),
    ("lop3.b32 %r1, -1, -1, -1, 0x80;", u32::MAX),
    ("shf.l.wrap.b32 %r1, -1, -1, -1;", u32::MAX),
    ("shf.r.clamp.b32 %r1, 1, 7, -1;", 7),
    (
        "mov.b64 %d1, {-1, -2}; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0xffff_fffe,
    ),
    ("mov.b32 %r1, {-1, 0};", 0xffff),
    (
        "st.shared.b64 [smem], 0; st.shared.b16 [smem], -1; ld.shared.b32 %r1, [smem];",
        0xffff,
    ),
    (
        "st.shared.b32 [smem], 7; atom.shared.inc.u32 %r1, [smem], -1; ld.shared.b32 %r1, [smem];",
        8,
    ),
    (
        "st.shared.b32 [smem], 7; atom.shared.cas.b32 %r1, [smem], 7, -1; ld.shared.b32 %r1, [smem];",
        u32::MAX,
    ),
    (
        "st.shared.b32 [smem], -1; atom.shared.add.u32 %r1, [smem], -1; ld.shared.b32 %r1, [smem];",
        0xffff_fffe,
    ),
    ("shfl.sync.idx.b32 %r1, -1, -1, -1, -1;", u32::MAX),
    ("vote.sync.ballot.b32 %r1, 1, -1;", 1),
    ("redux.sync.add.u32 %r1, -1, -1;", u32::MAX),
    ("mov.f32 %f0, 1.5; mov.b32 %r1, %f0;", 0x3fc0_0000),
    (
        "add.f32 %f0, 0d3FF8000000000000, 0f3F800000; mov.b32 %r1, %f0;",
        0x4020_0000,
    ),
    // Shifts by more than the width.
    ("shl.b32 %r1, 1, -1;", 0),
    ("shr.s32 %r1, -8, -1;", u32::MAX),
    ("shr.u32 %r1, -1, 31;", 1),
    ("shl.b64 %d1, -1, 64; cvt.u32.u64 %r1, %d1;", 0),
    ("shl.b16 %h0, -1, 15; cvt.u32.u16 %r1, %h0;", 0x8000),
    ("bfe.u32 %r1, -1, -1, -1;", 0),
    ("bfe.s64 %d1, -1, 255, 255; cvt.u32.u64 %r1, %d1;", u32::MAX),
    ("bfi.b32 %r1, -1, 9, -1, -1;", 9),
    ("bfi.b64 %d1, -1, 0, 64, 64; cvt.u32.u64 %r1, %d1;", 0),
    // Arithmetic wraps.
    ("div.u32 %r1, 0x80000000, -1;", 0),
    ("rem.s32 %r1, 0x80000001, -1;", 0),
    (
        "setp.eq.u32 %p0, 1, 0; mov.u32 %r1, 7; @%p0 div.u32 %r1, 1, 0;",
        7,
    ),
    ("abs.s32 %r1, 0x80000000;", 0x8000_0000),
    ("neg.s32 %r1, 0x80000000;", 0x8000_0000),
    ("sad.s32 %r1, 0x80000000, 0x7fffffff, 1;", 0),
    ("add.s32 %r1, 0x7fffffff, 1;", 0x8000_0000),
    ("add.sat.s32 %r1, 0x7fffffff, 1;", 0x7fff_ffff),
    (
        "mul.hi.s64 %d1, 0x8000000000000000, 0x8000000000000000; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0x4000_0000,
    ),
    (
        "mad.hi.u64 %d1, -1, -1, -1; cvt.u32.u64 %r1, %d1;",
        0xffff_fffd,
    ),
    // A conversion to an integer saturates. The result for a NaN depends on the widths of the types.
    ("cvt.rzi.s32.f32 %r1, 0f7FC00000;", 0),
    ("cvt.rzi.s32.f32 %r1, 0f7F800000;", 0x7fff_ffff),
    ("cvt.rzi.s32.f32 %r1, 0fFF800000;", 0x8000_0000),
    ("cvt.rzi.u32.f32 %r1, 0fBF800000;", 0),
    ("cvt.rzi.s32.f64 %r1, 0d7FF8000000000000;", 0x8000_0000),
    (
        "cvt.rzi.u64.f32 %d1, 0f7FC00000; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0x8000_0000,
    ),
    (
        "cvt.rni.s64.f64 %d1, 0d7FEFFFFFFFFFFFFF; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
        0x7fff_ffff,
    ),
    (
        "cvt.rn.f16.f32 %h0, 0f7F7FFFFF; cvt.u32.u16 %r1, %h0;",
        0x7c00,
    ),
    (
        "cvt.rn.satfinite.e4m3x2.f32 %h0, 0fFF800000, 0f7FC00000; cvt.u32.u16 %r1, %h0;",
        0xfe7f,
    ),
];

#[test]
fn what_is_computed_is_what_ptx_defines() {
    check(
        WORDS,
        |row| row.0,
        |(body, expected)| match words_of(1, body) {
            Ok(words) if words[0] == *expected => Ok(()),
            Ok(words) => Err(format!("{:#x} is not {expected:#x}", words[0])),
            Err(error) => Err(error.to_string()),
        },
    );
}

/// Instructions that are refused when the module is loaded, and a part of the error message.
const REFUSED: &[(&str, &str)] = &[
    (
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [smem], %d0, [smem];",
        "`.b128` cannot follow `st.async",
    ),
    (
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [smem], {%d0, %d1, %d2, %d3}, [smem];",
        "`.b64` cannot follow `st.async.shared::cluster.mbarrier::complete_tx::bytes.v4`",
    ),
    (
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [smem], %h0, [smem];",
        "`.b16` cannot follow `st.async",
    ),
    (
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.pred [smem], %p0, [smem];",
        "`.pred` cannot follow `st.async",
    ),
    (
        "ld.shared.b128 %d0, [smem];",
        "`.b128` cannot follow `ld.shared`",
    ),
    (
        "atom.shared.cas.b128 %d0, [smem], %d1, %d2;",
        "`.b128` cannot follow `atom.shared.cas`",
    ),
    (
        ".reg .b128 %q; mov.b128 %q, {%d0, %d1};",
        "`.b128` cannot follow `mov`",
    ),
    (
        ".reg .b128 %q; mov.b64 %d0, %q;",
        "`%q`, is a .b128 register; expected a .b64 register",
    ),
    ("mov.b64 %d0, {%r0, %r1, %r2};", "does not fit here"),
    (
        "mov.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, %r8;",
        "does not fit here",
    ),
    ("mov.b64 %d0, {};", "does not fit here"),
    (
        "ld.shared.v2.b32 {}, [smem];",
        "has 0 elements; expected a vector of 2 .b32 registers",
    ),
    (
        "ld.shared.v8.b64 {%d0, %d1}, [smem];",
        "`.v8` cannot follow `ld.shared`",
    ),
    (
        "clz.b32 %r1, %d0;",
        "`%d0`, is a .b64 register; expected a .b32 register",
    ),
    (
        "mov.u64 %r1, -1;",
        "`%r1`, is a .b32 register; expected a .u64 register",
    ),
    (
        "setp.eq.u32 %r1, 0, 0;",
        "`%r1`, is a .b32 register; expected a .pred register",
    ),
    ("@%r1 trap;", "the guard `%r1` is a .b32 register"),
    ("add.f32 %f0, %f0, 1;", "`1`, is not an allowed constant"),
    ("add.u32 %r0, %r0, 1.5;", "is not an allowed constant"),
    ("mov.u32 %r1, 0x1ffffffff;", "is not an allowed constant"),
    ("shl.b32 %r1, 1, 0x100000001;", "is not an allowed constant"),
    ("selp.b32 %r1, 5, 6, -2;", "expected a predicate register"),
    (
        "bar.sync 16;",
        "expected a .u32 register or a constant (0 to 15)",
    ),
    (
        "bar.sync 0, 33;",
        "a constant (a multiple of 32 from 32 to 1024)",
    ),
    (
        "mbarrier.init.shared::cta.b64 [smem], 0;",
        "a constant (1 to 1048575)",
    ),
    (
        "st.param.u32 [smem], 0;",
        "operand 1, `[smem]`, is in .shared; expected a param address",
    ),
    (
        "mov.u32 %r4294967295, 0;",
        "`%r4294967295`, is not declared",
    ),
    ("mov.u32 %r99999999999999999999, 0;", "is not declared"),
    ("mov.u32 %r01, 0;", "`%r01`, is not declared"),
    (
        "setmaxnreg.inc.sync.aligned.u32 18446744073709551615;",
        "a constant (a multiple of 8 from 24 to 256)",
    ),
    ("cp.async.wait_group -1;", "a constant (0 to 2147483647)"),
    (
        "cp.async.ca.shared.global [smem], [%d0], 18446744073709551615;",
        "a constant (4, 8 or 16)",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n0k16.f32.bf16.bf16 {}, %d0, %d1, %p0, 1, 1, 0, 0;",
        "`.m64n0k16` cannot follow `wgmma.mma_async.sync.aligned`",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n18446744073709551616k16.f32.bf16.bf16 {}, %d0, %d1, %p0, 1, 1, 0, 0;",
        "`.m64n18446744073709551616k16` cannot follow",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r0}, %d1, %p0, 1, 1, 0;",
        "has 1 element; expected a vector of 4 .b32 registers",
    ),
    (
        ".shared .b64 big[18446744073709551615];",
        "bytes of static shared memory are over the limit of 49152",
    ),
    (
        ".shared .align 4294967295 .b8 far[1];",
        "the alignment 4294967295 is not a power of two",
    ),
    (
        ".shared .align 2147483648 .b8 far[1];",
        "bytes of static shared memory are over the limit of 232448",
    ),
    (
        ".extern .shared .b8 mine[];",
        "`.extern` is only for dynamic shared memory",
    ),
    (
        ".local .b8 stack[600000];",
        "600000 bytes of local memory are over the limit of 524288",
    ),
    (".reg .b64 %r<64>;", "`%r` is declared twice"),
    (".reg .b32 a; .reg .b64 a;", "`a` is declared twice"),
    (
        ".shared .b8 a[1]; .shared .b8 a[1];",
        "`a` is declared twice",
    ),
    ("L: L:", "`L` is declared twice"),
    ("mov.u32 %tid.x, 0;", "`%tid.x`, does not fit here"),
    (
        "mov.u32 %r1, %tid.x; mov.u32 %tid.x, 0;",
        "expected a .u32 register to write",
    ),
    ("bra nowhere;", "the entry has no label `nowhere`"),
];

#[test]
fn what_has_no_meaning_is_refused_at_load() {
    check(
        REFUSED,
        |row| row.0,
        |(body, part)| says(Program::load(&module("", body)), part),
    );
}

/// Kernels whose launch fails, and a part of the error message. They run with 128 threads if they use wgmma, else with one.
const FAULTS: &[(&str, &str)] = &[
    ("div.u32 %r1, 1, 0;", "divides an integer by 0"),
    ("rem.s32 %r1, 1, 0;", "divides an integer by 0"),
    ("mov.u64 %d0, 0; div.s64 %d1, 1, %d0;", "divides an integer by 0"),
    ("mov.u16 %h0, 0; rem.u16 %h1, %h0, %h0;", "divides an integer by 0"),
    ("div.s32 %r1, 0x80000000, -1;", "divides -2147483648 by -1, and the type of the two does not have the quotient"),
    ("rem.s32 %r1, 0x80000000, -1;", "divides -2147483648 by -1"),
    ("div.s64 %d1, 0x8000000000000000, -1;", "divides -9223372036854775808 by -1"),
    ("div.s16 %h0, 0x8000, -1;", "divides -32768 by -1"),
    ("mov.u64 %d0, -1; ld.global.b8 %r1, [%d0];", "0xffffffffffffffff are not inside one allocation"),
    ("mov.u64 %d0, 1; st.global.b64 [%d0+9223372036854775806], 0;", "not a multiple of 8"),
    ("mov.u64 %d0, -8; st.global.b64 [%d0+9223372036854775807], 0;", "0xfffffffffffffff8+9223372036854775807 is no number of 64 bits"),
    ("mov.u64 %d0, 0; ld.global.v2.b64 {%d1, %d2}, [%d0];", "are not inside one allocation"),
    ("mov.u32 %r0, -1; ld.shared.b8 %r1, [%r0];", "CTA rank 254, but the cluster's ranks are 0 to 0"),
    ("mov.u32 %r0, 0xfffff0; st.shared.b64 [%r0], 0;", "8 bytes at shared address 0xfffff0"),
    ("ld.shared.b32 %r1, [smem+4294966272];", "4 bytes at shared address 0x0"),
    ("ld.param.u32 %r1, [out+4294967288];", "outside the entry's 16 bytes of parameters"),
    ("mov.u64 %d0, out; st.u32 [%d0], 0;", "parameters cannot be written"),
    ("mov.u32 %r0, smem; mapa.shared::cluster.u32 %r1, %r0, -1;", "CTA rank 4294967295 does not exist"),
    ("mov.u64 %d0, -1; getctarank.u64 %r1, %d0;", "is not an address in shared memory"),
    ("mov.u64 %d0, 0x1000000ffffffff; getctarank.u64 %r1, %d0;", "CTA rank 254"),
    ("mov.u32 %r1, 16; bar.sync %r1;", "barrier 16 does not exist"),
    ("mov.u32 %r1, -1; bar.sync %r1;", "barrier 4294967295 does not exist"),
    ("mov.u32 %r1, -32; bar.sync 0, %r1;", "barrier 0 is given 4294967264 threads"),
    ("mov.u32 %r1, 33; bar.sync 0, %r1;", "33 threads; the count must be a multiple of 32 from 32 to 1024"),
    ("bar.arrive 1, 64; bar.arrive 1, 96;", "barrier 1 is given 96 threads here, but 64 by the warps that have arrived"),
    ("mov.u32 %r1, 0; mbarrier.init.shared::cta.b64 [smem], %r1;", "count 0 is not in 1 to"),
    ("mov.u32 %r1, -1; mbarrier.init.shared::cta.b64 [smem], %r1;", "count 4294967295 is not in 1 to"),
    ("mbarrier.init.shared::cta.b64 [smem+4], 1;", "not a multiple of 8"),
    ("mbarrier.init.shared::cta.b64 [smem+65536], 1;", "8 bytes at shared address"),
    (
        "mov.u32 %r1, -1; mbarrier.init.shared::cta.b64 [smem], 1; mbarrier.arrive.shared::cta.b64 _, [smem], %r1;",
        "4294967295 threads arrive, but the pending count of phase 0 is 1",
    ),
    (
        "mov.u32 %r1, -1; mbarrier.init.shared::cta.b64 [smem], 1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [smem], %r1;",
        "the transaction count becomes 4294967295; its range is -1048575 to 1048575",
    ),
    (
        "mov.u32 %r1, -1; mbarrier.init.shared::cta.b64 [smem], 1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [smem], %r1;",
        "the transaction count becomes -4294967295",
    ),
    (
        "mbarrier.init.shared::cta.b64 [smem], 1048575; L: cp.async.mbarrier.arrive.shared::cta.b64 [smem]; bra L;",
        "the pending count is 1048575, its maximum, and cannot grow",
    ),
    (
        "mbarrier.init.shared::cta.b64 [smem], 1; L: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [smem]; bra L;",
        "bytes for asynchronous operations that are not complete are over the limit of 1048576",
    ),
    (
        "mov.u64 %d0, smem; mov.u32 %r2, smem; mbarrier.init.shared::cta.b64 [smem], 1; fence.mbarrier_init.release.cluster;
         L: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 0, [%r2]; bra L;",
        "bytes for asynchronous operations that are not complete",
    ),
    (
        "ld.param.u64 %d0, [out]; L: cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], 0; bra L;",
        "bytes for asynchronous operations that are not complete",
    ),
    (
        "mov.u32 %r1, -16; ld.param.u64 %d0, [out]; cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], %r1;",
        "4294967280 bytes at shared address",
    ),
    (
        "mov.u32 %r1, 8; ld.param.u64 %d0, [out]; cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], %r1;",
        "the size of a bulk copy is 8 bytes; it must be a multiple of 16",
    ),
    (
        "mbarrier.init.shared::cta.b64 [smem], 1; fence.mbarrier_init.release.cluster; mov.u64 %d0, -16; mov.u32 %r1, -16;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem+1024], [%d0], %r1, [smem];",
        "shared address",
    ),
    (
        "st.shared.b64 [smem], 0; fence.proxy.async.shared::cta; mov.u64 %d0, -16;
         cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "nobody has written",
    ),
    (
        "st.shared.v2.b64 [smem], {0, 0}; fence.proxy.async.shared::cta; mov.u64 %d0, -16;
         cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "16 bytes at global address 0xfffffffffffffff0 are not inside one allocation",
    ),
    (
        "mov.b64 %d0, out; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {0, 0}], [smem];",
        "the operand is not the address of a tensor map",
    ),
    (
        "mov.u64 %d0, smem; cvta.shared.u64 %d0, %d0; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {0, 0}], [smem];",
        "a tensor map cannot be in shared or local memory",
    ),
    ("mov.u64 %d0, -4; cp.async.ca.shared.global [smem], [%d0], 4; cp.async.wait_all;", "0xfffffffffffffffc"),
    (
        "mov.u32 %r0, 0; L: mbarrier.init.shared::cta.b64 [%r0+1024], 1; add.u32 %r0, %r0, 8; bra L;",
        "17 mbarriers of the CTA are over the limit of 16",
    ),
    ("ld.param.u64 %d1, [more]; not.b64 %d1, %d1; wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d1, 0, 1, 1, 0, 0;", "base offset 7"),
    (
        "mov.u32 %r2, %tid.x; mov.u32 %r3, smem; mad.lo.u32 %r2, %r2, 16, %r3; st.shared.v2.b64 [%r2], {0, 0};
         fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d1, %r3;
         wgmma.fence.sync.aligned; L: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d1, 0, 1, 1, 0, 0; bra L;",
        "bytes for asynchronous operations that are not complete",
    ),
    (
        "mov.u32 %r2, %tid.x; mov.u32 %r3, smem; mad.lo.u32 %r2, %r2, 16, %r3; st.shared.v2.b64 [%r2], {0, 0};
         fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d1, %r3;
         wgmma.fence.sync.aligned; L: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d1, 0, 1, 1, 0, 0;
         wgmma.commit_group.sync.aligned; bra L;",
        "bytes for asynchronous operations that are not complete",
    ),
    ("setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 32; setmaxnreg.dec.sync.aligned.u32 40;", "is not a decrease"),
    ("L: bra L;", "did not end within"),
    ("setp.eq.u32 %p0, 0, 1; L: @%p0 bra L; bra L;", "did not end within"),
    ("L: wgmma.fence.sync.aligned; bar.warp.sync -1; bra L;", "did not end within"),
    ("L: bar.sync 0; barrier.cluster.arrive; barrier.cluster.wait; bra L;", "did not end within"),
    ("barrier.cluster.wait;", "is deadlocked"),
    ("mbarrier.init.shared::cta.b64 [smem], 1; L: mbarrier.try_wait.shared::cta.b64 %p0, [smem], -1; @!%p0 bra L;", "k is deadlocked"),
    ("trap;", "trap"),
];

/// Limits so low that a kernel which loops forever reaches them at once.
const LITTLE: Limits = Limits {
    local_bytes: 1 << 12,
    output_bytes: 1 << 10,
    text_bytes: 1 << 20,
    entries: 16,
    instructions: 4096,
    registers: 4096,
    memory_bytes: 1 << 20,
    ctas: 1 << 10,
    state_bytes: 16 << 20,
    pending_bytes: 1 << 20,
    recorded_bytes: 1 << 20,
    mbarriers: 16,
    steps: 1 << 16,
    cluster_steps: 1 << 16,
    idle_steps: 1 << 16,
};

#[test]
fn what_goes_wrong_is_said() {
    check(
        FAULTS,
        |row| row.0,
        |(body, part)| {
            for seed in 0..3 {
                let threads = if body.contains("wgmma.mma") { 128 } else { 1 };
                let mut run = Run::threads(threads).seed(seed);
                run.launch.limits = LITTLE;
                let out = run.words(&[0; 64]);
                let ptx = module(".param .u64 out, .param .u64 more", body);
                let result = run.go(&ptx, &[pointer(out), vec![0; 8]]);
                // With random delays another limit may be reached first.
                says(result, if seed == 0 { part } else { "" })?;
            }
            Ok(())
        },
    );
}

#[test]
fn extreme_coordinates_are_outside() {
    use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
    use cute_chip::{ElementType, SwizzleMode};
    use cute_emulator::encode_tensor_map;
    let mut run = Run::threads(32);
    run.launch.limits = LITTLE;
    let out = run.words(&[7; 64]);
    let map = TensorMap {
        element: ElementType::U32,
        address: out,
        extents: vec![1 << 32; 5],
        strides: vec![(1 << 40) - 16; 4],
        box_extents: vec![8, 8, 1, 1, 1],
        element_strides: vec![1, 8, 8, 8, 8],
        swizzle: SwizzleMode::None,
        fill: OobFill::Zero,
        l2: L2Promotion::default(),
    };
    for corner in [i32::MIN, -4, i32::MAX - 3] {
        let body = "
            mov.u32 %r2, smem;
            mov.b64 %d31, map;
            mov.u32 %r0, %tid.x;
            ld.param.s32 %r3, [corner];
            setp.ne.u32 %p0, %r0, 0;
            @%p0 bra END;
            mbarrier.init.shared::cta.b64 [%r2+1024], 1;
            fence.mbarrier_init.release.cluster;
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 32;
            cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                [%r2], [%d31, {%r3, %r3, %r3, %r3, %r3}], [%r2+1024];
        WAIT:
            mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+1024], 0;
            @!%p1 bra WAIT;
        END:";
        let args = [
            encode_tensor_map(&map).unwrap().to_vec(),
            corner.to_le_bytes().to_vec(),
        ];
        let ptx = module(".param .align 64 .b8 map[128], .param .s32 corner", body);
        let result = run.go(&ptx, &args);
        if corner < 0 {
            // The whole box is outside the tensor and is filled with zeros.
            assert!(result.is_ok(), "{result:?}");
        } else {
            says(result, "are not inside one allocation").unwrap();
        }
    }
}

#[test]
fn modules_are_held_against_their_limits() {
    let head = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    let entries: String = (0..17)
        .map(|i| format!(".visible .entry k{i}() {{ ret; }}\n"))
        .collect();
    let constants: String = (0..4097).map(|i| format!("mov.u32 %r0, {i};\n")).collect();
    let params: Vec<String> = (0..5).map(|i| format!(".param .b8 p{i}[8192]")).collect();
    let rows = [
        (
            "text",
            "// ".repeat(1 << 19),
            "1572864 bytes of the module's text are over the limit of 1048576",
        ),
        (
            "entries",
            format!("{head}{entries}"),
            "17 entries of the module are over the limit of 16",
        ),
        (
            "instructions",
            module("", &"ret;\n".repeat(4097)),
            "4097 instructions of the entry are over the limit of 4096",
        ),
        (
            "registers",
            module("", &constants),
            "4097 registers, constants included, are over the limit of 4096",
        ),
        (
            "parameters",
            module(&params.join(", "), ""),
            "40960 bytes of parameters are over the limit of 32764",
        ),
        (
            "blocks",
            module("", &"{".repeat(100_000)),
            "blocks nest deeper than 64",
        ),
        (
            "comment",
            module("", "/* never"),
            "this comment has no closing `*/`",
        ),
        (
            "string",
            module("", ".pragma \"never"),
            "this string has no closing `\"`",
        ),
        (
            "offset",
            module("", "ld.shared.b32 %r1, [smem+9223372036854775808];"),
            "does not fit in 64 bits",
        ),
        (
            "number",
            module("", "mov.u32 %r1, 99999999999999999999;"),
            "an integer of at most 64 bits",
        ),
        (
            "module variable",
            format!("{head}.global .b8 x[300000000];\n.visible .entry k() {{ ret; }}"),
            "300000000 bytes of module variables are over the limit of 268435456",
        ),
        (
            "wide initial values",
            format!(
                "{}.global .b128 x = 1;\n.visible .entry k() {{ ret; }}",
                head.replace("8.0", "8.6")
            ),
            "initial values of .b128 are not modelled",
        ),
        (
            "dynamic shared memory",
            format!("{head}.extern .shared .b8 x[300000];\n.visible .entry k() {{ ret; }}"),
            "`.extern` is only for dynamic shared memory",
        ),
    ];
    check(
        &rows,
        |row| row.0,
        |(_, ptx, part)| says(Program::load_within(ptx, &LITTLE), part),
    );
}

#[test]
fn launches_are_held_against_their_limits() {
    type Change = fn(&mut Launch<'_>);
    let rows: [(&str, Change, &str); 10] = [
        (
            "grid",
            |launch| launch.grid = [u32::MAX; 3],
            "18446744073709551615 CTAs of the grid are over the limit of 1024",
        ),
        (
            "grid and limit",
            |launch| {
                launch.grid = [u32::MAX; 3];
                launch.limits.ctas = u64::MAX;
            },
            "did not end within 65536 warp instructions",
        ),
        (
            "many CTAs",
            |launch| {
                launch.grid = [1 << 31, 1, 1];
                launch.limits.ctas = u64::MAX;
            },
            "did not end within 65536 warp instructions",
        ),
        (
            "block",
            |launch| launch.block = [u32::MAX; 3],
            "18446744073709551615 threads per block are over the limit of 1024",
        ),
        (
            "cluster",
            |launch| launch.cluster = [u32::MAX; 3],
            "CTAs per cluster are over the limit of 16",
        ),
        (
            "shared memory",
            |launch| launch.dynamic_shared_bytes = u32::MAX,
            "4294967295 bytes of dynamic shared memory are over the limit of",
        ),
        (
            "state",
            |launch| {
                launch.block = [1024, 1, 1];
                launch.grid = [16, 1, 1];
                launch.cluster = [16, 1, 1];
                launch.dynamic_shared_bytes = 200 << 10;
            },
            "bytes on the host for the registers and shared memory of a cluster are over the limit of",
        ),
        (
            "residents",
            |launch| {
                launch.grid = [1000, 1, 1];
                launch.schedule.resident_clusters = usize::MAX;
                launch.dynamic_shared_bytes = 200 << 10;
            },
            "did not end within 65536 warp instructions",
        ),
        (
            "clock",
            |launch| {
                launch.limits.steps = u64::MAX;
                launch.grid = [0, 1, 1];
            },
            "has a dimension of 0",
        ),
        (
            "arguments",
            |launch| launch.args = &[],
            "the launch gives 0 arguments, but the entry has 1 parameter",
        ),
    ];
    let program = Program::load(&module(".param .u32 n", "mov.u32 %r0, %tid.x;")).unwrap();
    let args = [vec![0; 4]];
    check(
        &rows,
        |row| row.0,
        |(_, change, part)| {
            let mut launch = Launch {
                args: &args,
                limits: LITTLE,
                ..Launch::default()
            };
            change(&mut launch);
            says(program.launch(&mut GlobalMemory::new(), "k", &launch), part)
        },
    );
}

/// 120,000 registers are allowed for one warp, but for many warps they exceed `state_bytes`.
#[test]
fn registers_are_bounded_by_the_bytes_of_all_warps() {
    let names: String = (0..120_000)
        .map(|i| format!("mov.u32 %r{i}, 0;\n"))
        .collect();
    let ptx = module("", &names).replace("%r<64>", "%r<120000>");
    let program = Program::load(&ptx).unwrap();
    let launch = |threads| {
        let launch = Launch {
            block: [threads, 1, 1],
            ..Launch::default()
        };
        program.launch(&mut GlobalMemory::new(), "k", &launch)
    };
    launch(32).unwrap();
    says(launch(1024 + 1), "threads per block").unwrap();
    let wide = Launch {
        block: [1024, 1, 1],
        grid: [16, 1, 1],
        cluster: [16, 1, 1],
        ..Launch::default()
    };
    says(
        program.launch(&mut GlobalMemory::new(), "k", &wide),
        "are over the limit of 1073741824",
    )
    .unwrap();
}

#[test]
fn memory_is_bounded() {
    let full = |bytes, free, limit| AllocError::Full { bytes, free, limit };
    let mut memory = GlobalMemory::new();
    let limit = Limits::default().memory_bytes;
    assert_eq!(
        memory.alloc(usize::MAX, 16),
        Err(full(usize::MAX as u64, limit, limit))
    );
    assert_eq!(
        memory.alloc(16, u64::MAX),
        Err(AllocError::NoAddress {
            bytes: 16,
            align: u64::MAX
        })
    );
    assert_eq!(
        memory.alloc(16, 1 << 60),
        Err(AllocError::NoAddress {
            bytes: 16,
            align: 1 << 60
        })
    );
    // Without a limit, the host's memory is the limit.
    let mut endless = GlobalMemory::within(&Limits {
        memory_bytes: u64::MAX,
        ..LITTLE
    });
    says(endless.alloc(usize::MAX, 16), "no address is left").unwrap();
    says(
        endless.alloc(1 << 55, 16),
        "the host cannot allocate 36028797018963968 bytes",
    )
    .unwrap();

    // An allocation counts 256 bytes more than it has, for its record.
    let mut small = GlobalMemory::within(&LITTLE);
    let half = (1 << 19) - 256;
    let first = small.alloc(half, 16).unwrap();
    small.alloc(half, 16).unwrap();
    assert_eq!(small.alloc(1, 16), Err(full(1, 0, 1 << 20)));
    small.free(first).unwrap();
    assert_eq!(small.free_bytes(), 1 << 19);
    let count = (0..).take_while(|_| small.alloc(1, 16).is_ok()).count();
    assert_eq!(count, (1 << 19) / 257);
    let count = (0..).take_while(|_| small.alloc(0, 16).is_ok()).count();
    assert!(count < 2, "{count}");
    says(
        small.free(first),
        "cannot be freed: no allocation begins there",
    )
    .unwrap();
    says(small.free(first + 1), "cannot be freed").unwrap();
    assert!(small.read(u64::MAX, &mut [0; 16]).is_err());
    assert!(small.write(u64::MAX - 15, &[0; 16]).is_err());
    assert!(small.bytes(first, usize::MAX).is_err());
}

/// A module whose text or execution grows with a size.
struct Flood {
    name: &'static str,
    /// The smaller of the two sizes that are timed; the other is four times as large.
    size: usize,
    threads: u32,
    ptx: fn(usize) -> String,
}

/// A kernel that executes `body` `size` times.
fn repeated(size: usize, before: &str, body: &str, after: &str) -> String {
    module(
        ".param .u64 out",
        &format!(
            "ld.param.u64 %d0, [out];\nmov.u32 %r0, 0;\n{before}\nAGAIN:\n{body}\nadd.u32 %r0, %r0, 1;\n\
             setp.lt.u32 %p0, %r0, {size};\n@%p0 bra AGAIN;\n{after}"
        ),
    )
}

fn lines(size: usize, line: impl Fn(usize) -> String) -> String {
    (0..size).map(line).collect()
}

const MBARRIER: &str = "mov.u32 %r2, smem; mbarrier.init.shared::cta.b64 [smem], 1; fence.mbarrier_init.release.cluster;";

const FLOODS: &[Flood] = &[
    Flood {
        name: "families of registers",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            module(
                "",
                &lines(size, |i| {
                    format!(".reg .b32 %x{i}_<2>;\nmov.u32 %x{i}_1, 0;\n")
                }),
            )
        },
    },
    Flood {
        name: "families that begin alike",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            module(
                "",
                &lines(size, |i| {
                    format!(".reg .b32 %x{i}<1>;\nmov.u32 %x{i}0, 0;\n")
                }),
            )
        },
    },
    Flood {
        name: "entries",
        size: 12_500,
        threads: 1,
        ptx: |size| {
            module("", "") + &lines(size, |i| format!(".visible .entry e{i}() {{ ret; }}\n"))
        },
    },
    Flood {
        name: "entries and variables",
        size: 5_000,
        threads: 1,
        ptx: |size| {
            let entries = lines(size, |i| format!(".visible .entry e{i}() {{ ret; }}\n"));
            module("", "") + &lines(size, |i| format!(".shared .b8 v{i}[1];\n")) + &entries
        },
    },
    Flood {
        name: "labels and branches",
        size: 10_000,
        threads: 32,
        ptx: |size| module("", &lines(size, |i| format!("L{i}:\nbra M{i};\nM{i}:\n"))),
    },
    Flood {
        name: "constants",
        size: 10_000,
        threads: 1,
        ptx: |size| module("", &lines(size, |i| format!("mov.u32 %r0, {i};\n"))),
    },
    Flood {
        name: "blocks",
        size: 5_000,
        threads: 1,
        ptx: |size| {
            module(
                "",
                &lines(size, |_| "{ .reg .b32 x; mov.u32 x, 0; }\n".to_owned()),
            )
        },
    },
    Flood {
        name: "cp.async",
        size: 4_000,
        threads: 1,
        ptx: |size| {
            repeated(
                size,
                "mov.u32 %r2, smem;",
                "cp.async.ca.shared.global [%r2], [%d0], 4; cp.async.commit_group; add.u32 %r2, %r2, 4;",
                "cp.async.wait_group 0;",
            )
        },
    },
    Flood {
        name: "arrivals",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            repeated(
                size,
                "mbarrier.init.shared::cta.b64 [smem], 1048575;",
                "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [smem]; cp.async.commit_group; cp.async.wait_group 0;",
                "",
            )
        },
    },
    Flood {
        name: "bulk copies",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            repeated(
                size,
                MBARRIER,
                // The multicast mask is empty, so the copies need not be waited for.
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
                     [%r2+1024], [%d0], 0, [%r2], 0;
                 cp.async.wait_all;",
                "",
            )
        },
    },
    Flood {
        name: "bulk stores",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            repeated(
            size,
            "st.shared.v2.b64 [smem], {0, 0}; fence.proxy.async.shared::cta;",
            "cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], 16; cp.async.bulk.commit_group;
             add.u64 %d0, %d0, 16;
             st.shared.b32 [smem+32], 0;",
            "cp.async.bulk.wait_group 0;",
        )
        },
    },
    Flood {
        name: "bulk stores that have read",
        size: 10_000,
        threads: 1,
        ptx: |size| {
            repeated(
            size,
            "st.shared.v2.b64 [smem], {0, 0}; fence.proxy.async.shared::cta;",
            "cp.async.bulk.global.shared::cta.bulk_group [%d0], [smem], 16; cp.async.bulk.commit_group;
             add.u64 %d0, %d0, 16;
             cp.async.bulk.wait_group.read 0;",
            "",
        )
        },
    },
    Flood {
        name: "wgmma",
        size: 2_000,
        threads: 128,
        ptx: |size| {
            let zero = lines(64, |i| format!("st.shared.b64 [smem+{}], 0;\n", 8 * i));
            repeated(
                size,
                &format!(
                    "mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; {zero}\nfence.proxy.async.shared::cta;\n\
                     READY: bar.sync 0; mov.u32 %r3, smem; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d1, %r3; wgmma.fence.sync.aligned;"
                ),
                "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d1, 0, 1, 1, 0, 0;
                 wgmma.commit_group.sync.aligned;",
                "wgmma.wait_group.sync.aligned 0;",
            )
        },
    },
    Flood {
        name: "fences and registers",
        size: 5_000,
        threads: 32,
        ptx: |size| {
            let names = lines(size, |i| format!("mov.u32 %r0, {i};\n"));
            module("", &(names + &"wgmma.fence.sync.aligned;\n".repeat(size)))
        },
    },
    Flood {
        name: "mbarriers and fences",
        size: 1_000,
        threads: 1,
        ptx: |size| {
            repeated(
                size,
                "mov.u32 %r2, smem;",
                "mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; add.u32 %r2, %r2, 8;",
                "",
            )
        },
    },
];

/// The time to load a module and to run its entry `k`.
fn time(flood: &Flood, size: usize) -> Result<Duration, String> {
    let ptx = (flood.ptx)(size);
    let start = clock();
    let mut run = Run::threads(flood.threads);
    run.launch.limits.mbarriers = 1 << 20;
    let out = pointer(run.words(&vec![0; 1 << 18]));
    let args = if ptx.contains("k(.param") {
        vec![out]
    } else {
        vec![]
    };
    match run.go(&ptx, &args) {
        Ok(_) => Ok(clock() - start),
        Err(error) => Err(error.to_string()),
    }
}

/// The CPU time of this thread, where Linux reports it; else the time that has passed.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match statistics.split(' ').next().map(str::parse) {
        Some(Ok(nanoseconds)) => Duration::from_nanos(nanoseconds),
        _ => START.get_or_init(Instant::now).elapsed(),
    }
}

/// Linear work takes four times as long for four times the size, quadratic work sixteen times. Nine is the limit, since
/// the host may be busy.
#[test]
fn floods_take_linear_time() {
    const TRIES: usize = 4;
    check(
        FLOODS,
        |flood| flood.name,
        |flood| {
            let mut slow = String::new();
            for _ in 0..TRIES {
                let (small, large) = (time(flood, flood.size)?, time(flood, 4 * flood.size)?);
                if large <= 9 * small + Duration::from_millis(5) {
                    return Ok(());
                }
                slow = format!("{small:?}, then {large:?} for four times as much");
            }
            Err(slow)
        },
    );
}
