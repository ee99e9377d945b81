//! The results of single instructions.

use super::{Run, module, pointer, words_of};

/// Instructions that compute `%r1`, and its expected value.
fn check(rows: &[(&str, u32)]) {
    for (body, expected) in rows {
        match words_of(1, body) {
            Ok(words) => assert_eq!(
                words[0], *expected,
                "{body}: {:#x} is not {expected:#x}",
                words[0]
            ),
            Err(error) => panic!("{body}: {error}"),
        }
    }
}

#[test]
fn integers() {
    check(&[
        ("add.u32 %r1, 0xffffffff, 2;", 1),
        ("sub.s32 %r1, 1, 2;", u32::MAX),
        ("mul.lo.u32 %r1, 0x10001, 0x10001;", 0x20001),
        ("mul.hi.u32 %r1, 0xffffffff, 0xffffffff;", 0xffff_fffe),
        ("mul.hi.s32 %r1, -1, 1;", u32::MAX),
        ("mad.lo.s32 %r1, -3, 4, 5;", -7_i32 as u32),
        (
            "mul.wide.s32 %d1, -2, 3; cvt.u32.u64 %r1, %d1;",
            -6_i32 as u32,
        ),
        ("div.s32 %r1, -7, 2;", -3_i32 as u32),
        ("rem.u32 %r1, 17, 5;", 2),
        ("min.s32 %r1, -1, 1;", u32::MAX),
        ("max.u32 %r1, 0xffffffff, 1;", u32::MAX),
        ("shl.b32 %r1, 1, 31;", 1 << 31),
        ("shl.b32 %r1, 1, 32;", 0),
        ("shr.s32 %r1, -8, 40;", u32::MAX),
        ("shr.u32 %r1, 0x80000000, 31;", 1),
        ("bfe.u32 %r1, 0xabcd, 4, 8;", 0xbc),
        ("bfe.s32 %r1, 0xf0, 4, 4;", u32::MAX),
        ("bfi.b32 %r1, 0xff, 0, 8, 4;", 0xf00),
        ("prmt.b32 %r1, 0x44332211, 0x88776655, 0x5410;", 0x6655_2211),
        ("prmt.b32 %r1, 0x80, 0, 0x8888;", u32::MAX),
        ("lop3.b32 %r1, 0xf0, 0xcc, 0xaa, 0x96;", 0xf0 ^ 0xcc ^ 0xaa),
        ("shf.l.wrap.b32 %r1, 0x80000000, 1, 1;", 3),
        ("shf.r.wrap.b32 %r1, 2, 1, 1;", 0x8000_0001),
        ("popc.b32 %r1, 0xff;", 8),
        ("clz.b32 %r1, 1;", 31),
        ("brev.b32 %r1, 1;", 1 << 31),
        ("bfind.u32 %r1, 0x100;", 8),
        ("not.b32 %r1, 0;", u32::MAX),
        ("setp.lt.s32 %p0, -1, 1; selp.b32 %r1, 5, 6, %p0;", 5),
        ("setp.lt.u32 %p0, -1, 1; selp.b32 %r1, 5, 6, %p0;", 6),
        (
            "setp.eq.u32 %p1, 1, 2; setp.ne.or.u32 %p0, 1, 1, !%p1; selp.b32 %r1, 5, 6, %p0;",
            5,
        ),
        (
            "setp.gt.s32 %p0|%p1, 2, 1; not.pred %p1, %p1; and.pred %p0, %p0, %p1; selp.b32 %r1, 5, 6, %p0;",
            5,
        ),
        (
            "mov.b32 %r2, 0x00020001; mov.b32 {%h0, %h1}, %r2; mov.b32 %r1, {%h1, %h0};",
            0x0001_0002,
        ),
        ("mov.b64 %d1, {1, 2}; mov.b64 {_, %r1}, %d1;", 2),
        ("cvt.s32.s8 %r1, 0xff;", u32::MAX),
        (
            "cvt.u64.s32 %d1, -1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;",
            u32::MAX,
        ),
    ]);
}

#[test]
fn floats() {
    let bits = |value: f32| value.to_bits();
    check(&[
        (
            "add.f32 %f0, 0f3F800000, 0f40000000; mov.b32 %r1, %f0;",
            bits(3.0),
        ),
        (
            "fma.rn.f32 %f0, 0f40000000, 0f40400000, 0f3F800000; mov.b32 %r1, %f0;",
            bits(7.0),
        ),
        (
            "div.rn.f32 %f0, 0f3F800000, 0f40400000; mov.b32 %r1, %f0;",
            bits(1.0 / 3.0),
        ),
        (
            "ex2.approx.ftz.f32 %f0, 0f40400000; mov.b32 %r1, %f0;",
            bits(8.0),
        ),
        (
            "lg2.approx.f32 %f0, 0f41000000; mov.b32 %r1, %f0;",
            bits(3.0),
        ),
        (
            "rcp.approx.f32 %f0, 0f40800000; mov.b32 %r1, %f0;",
            bits(0.25),
        ),
        (
            "add.ftz.f32 %f0, 0f00000001, 0f00000001; mov.b32 %r1, %f0;",
            0,
        ),
        (
            "mov.f32 %f0, 0f00000001; cvt.ftz.f64.f32 %d5, %f0; mov.b64 {%r2, %r1}, %d5;",
            0,
        ),
        ("mov.f32 %f0, 0f00000001; cvt.rpi.ftz.s32.f32 %r1, %f0;", 0),
        (
            "mov.b64 %d5, 0x36A0000000000000; cvt.rn.ftz.f32.f64 %f0, %d5; mov.b32 %r1, %f0;",
            0,
        ),
        (
            "add.sat.f32 %f0, 0f40000000, 0f40000000; mov.b32 %r1, %f0;",
            bits(1.0),
        ),
        (
            "max.f32 %f0, 0f7FC00000, 0f40000000; mov.b32 %r1, %f0;",
            bits(2.0),
        ),
        (
            "setp.neu.f32 %p0, 0f7FC00000, 0f40000000; selp.b32 %r1, 5, 6, %p0;",
            5,
        ),
        (
            "setp.ltu.f32 %p0, 0f7FC00000, 0f40000000; selp.b32 %r1, 5, 6, %p0;",
            5,
        ),
        (
            "setp.geu.f32 %p0, 0f3F800000, 0f40000000; selp.b32 %r1, 5, 6, %p0;",
            6,
        ),
        (
            "max.NaN.f32 %f0, 0f7FC00000, 0f40000000; mov.b32 %r1, %f0;",
            0x7fff_ffff,
        ),
        (
            "mov.b32 %r2, 0x3f807fff; mov.b32 %r3, 0x40003f80; min.NaN.bf16x2 %r1, %r2, %r3;",
            0x3f80_7fff,
        ),
        (
            "copysign.f32 %f0, 0f80000000, 0f3F800000; mov.b32 %r1, %f0;",
            bits(-1.0),
        ),
        ("cvt.rni.sat.s8.f32 %r1, 0f43800000;", 127),
        ("cvt.sat.u8.s32 %r1, -5;", 0),
        ("cvt.sat.s8.s32 %r1, -500;", -128_i32 as u32),
        ("add.sat.s32 %r1, 0x7fffffff, 1;", 0x7fff_ffff),
        ("sad.u32 %r1, 3, 10, 1;", 8),
        (
            "mov.u64 %d1, smem; cvta.shared.u64 %d1, %d1; isspacep.shared %p0, %d1; isspacep.global %p1, %d0; \
          and.pred %p0, %p0, %p1; selp.b32 %r1, 1, 0, %p0;",
            1,
        ),
        (
            "cvt.rz.bf16x2.f32 %r1, 0fBF80FFFF, 0f3F80FFFF;",
            0xbf80_3f80,
        ),
        (
            "cvt.rn.relu.bf16x2.f32 %r1, 0fBF800000, 0f3F800000;",
            0x3f80,
        ),
        (
            "mov.b32 %r1, 0; mbarrier.init.b64 [smem], 3; mbarrier.arrive_drop.b64 %d1, [smem]; mbarrier.pending_count.b64 %r1, %d1;",
            3,
        ),
        (
            "cvt.rn.bf16x2.f32 %r1, 0f40000000, 0f3F800000;",
            0x4000_3f80,
        ),
        ("cvt.rn.f16x2.f32 %r1, 0f40000000, 0f3F800000;", 0x4000_3c00),
        (
            "cvt.rn.bf16.f32 %h0, 0f3F808000; cvt.u32.u16 %r1, %h0;",
            0x3f80,
        ),
        (
            "cvt.rn.bf16.f32 %h0, 0f3F818000; cvt.u32.u16 %r1, %h0;",
            0x3f82,
        ),
        (
            "cvt.rn.satfinite.e4m3x2.f32 %h0, 0f44000000, 0f3F800000; cvt.u32.u16 %r1, %h0;",
            0x7e38,
        ),
        (
            "mov.b16 %h0, 0x3838; cvt.rn.f16x2.e4m3x2 %r1, %h0;",
            0x3c00_3c00,
        ),
        ("cvt.rna.tf32.f32 %r1, 0f3F801000;", 0x3f80_2000),
        ("cvt.rzi.s32.f32 %r1, 0fC0200000;", -2_i32 as u32),
        ("cvt.rni.s32.f32 %r1, 0f40200000;", 2),
        ("cvt.rzi.u32.f32 %r1, 0fBF800000;", 0),
        (
            "cvt.rn.f32.u32 %f0, 0xffffffff; mov.b32 %r1, %f0;",
            bits(4_294_967_296.0),
        ),
        (
            "mov.b32 %r2, 0x3c003c00; mov.b32 %r3, 0x40003c00; add.f16x2 %r1, %r2, %r3;",
            0x4200_4000,
        ),
        (
            "mov.b32 %r2, 0x3f803f80; mov.b32 %r3, 0x3f804000; fma.rn.bf16x2 %r1, %r2, %r3, %r2;",
            0x4000_4040,
        ),
        (
            "mul.f64 %d1, 0d4000000000000000, 0d4008000000000000; cvt.rn.f32.f64 %f0, %d1; mov.b32 %r1, %f0;",
            bits(6.0),
        ),
    ]);
}

#[test]
fn memory_and_atomics() {
    check(&[
        (
            "st.shared.v2.b32 [smem+8], {1, 2}; ld.shared.v2.b32 {%r2, %r1}, [smem+8];",
            2,
        ),
        (
            "mov.u32 %r2, smem; st.shared.b8 [%r2], 0x80; ld.shared.s8 %r1, [%r2];",
            0xffff_ff80,
        ),
        (
            "mov.u64 %d1, smem; cvta.shared.u64 %d1, %d1; st.b32 [%d1], 9; ld.shared.b32 %r1, [smem];",
            9,
        ),
        (
            "st.shared.b32 [smem], 5; atom.shared.add.u32 %r2, [smem], 2; ld.shared.b32 %r3, [smem]; add.u32 %r1, %r2, %r3;",
            12,
        ),
        (
            "st.shared.b32 [smem], 5; atom.shared.cas.b32 %r2, [smem], 5, 8; ld.shared.b32 %r1, [smem];",
            8,
        ),
        (
            "st.shared.b32 [smem], -5; red.shared.max.s32 [smem], 3; ld.shared.b32 %r1, [smem];",
            3,
        ),
        (
            "st.shared.b32 [smem], 0f3F800000; red.shared.add.f32 [smem], 0f3F800000; ld.shared.b32 %r1, [smem];",
            0x4000_0000,
        ),
        (
            "st.global.b32 [%d0], 4; red.relaxed.gpu.global.add.u32 [%d0], 3; ld.global.b32 %r1, [%d0];",
            7,
        ),
    ]);
}

#[test]
fn parameters() {
    let ptx = module(
        ".param .u16 a, .param .u64 out, .param .align 4 .b8 c[8]",
        "ld.param.u16 %h0, [a];\nld.param.u64 %d0, [out];\nld.param.b32 %r0, [c+4];\ncvt.u32.u16 %r1, %h0;\n\
         st.global.v2.b32 [%d0], {%r0, %r1};",
    );
    let mut run = Run::threads(1);
    let out = run.words(&[0; 2]);
    run.go(
        &ptx,
        &[vec![7, 0], pointer(out), vec![0, 0, 0, 0, 9, 0, 0, 0]],
    )
    .unwrap();
    assert_eq!(run.read_words(out, 2), [9, 7]);
}

/// `match` compares lanes: every third lane holds the same value in 32 bits, and every sixteenth in 64.
#[test]
fn lanes_that_hold_the_same_value() {
    let third = 0x4924_9249;
    for (body, expected) in [
        (
            "mov.u32 %r2, %laneid; rem.u32 %r2, %r2, 3; match.any.sync.b32 %r1, %r2, -1;",
            [third, third << 1, third << 2 & !1],
        ),
        (
            "mov.u32 %r2, %laneid; cvt.u64.u32 %d1, %r2; shl.b64 %d1, %d1, 60; match.any.sync.b64 %r1, %d1, -1;",
            [0x1_0001, 0x2_0002, 0x4_0004],
        ),
        (
            "match.all.sync.b32 %r1|%p0, 7, -1; selp.b32 %r1, %r1, 0, %p0;",
            [u32::MAX; 3],
        ),
        (
            "mov.u32 %r2, %laneid; match.all.sync.b32 %r1|%p0, %r2, -1; selp.b32 %r1, 1, %r1, %p0;",
            [0; 3],
        ),
    ] {
        let words = words_of(32, body).unwrap_or_else(|error| panic!("{body}: {error}"));
        assert_eq!(words[..3], expected, "{body}: {words:x?}");
    }
}

/// `.ftz` on numbers of 16 bits, minima of zeros, and a quotient whose divisor has no approximation.
#[test]
fn corners_of_floating_point() {
    check(&[
        (
            "mov.b16 %h0, 0x3f80; ex2.approx.ftz.bf16 %h1, %h0; cvt.u32.u16 %r1, %h1;",
            0x4000,
        ),
        (
            "mov.b16 %h0, 1; add.ftz.f16 %h1, %h0, %h0; cvt.u32.u16 %r1, %h1;",
            0,
        ),
        (
            "mov.b32 %r2, 0x00013c00; add.ftz.f16x2 %r1, %r2, %r2;",
            0x4000,
        ),
        (
            "min.f32 %f0, 0f00000000, 0f80000000; mov.b32 %r1, %f0;",
            1 << 31,
        ),
        ("max.f32 %f0, 0f80000000, 0f00000000; mov.b32 %r1, %f0;", 0),
        (
            "div.approx.f32 %f0, 0f7f000000, 0f7f000000; mov.b32 %r1, %f0;",
            0,
        ),
        (
            "cvt.rmi.f64.f64 %d1, 0dbfe0000000000000; cvt.rn.f32.f64 %f0, %d1; mov.b32 %r1, %f0;",
            (-1f32).to_bits(),
        ),
    ]);
}
