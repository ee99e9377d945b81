//! The PTX of each construct of the language.

use crate::judge;
use cute_lang::kernel::lower::lower;
use expect_test::{Expect, expect};

#[test]
fn known_integers_leave_nothing() {
    check_statements(
        "
            let a = (3 + 4) * 2;
            let b = if a > 10 { a } else { 0 };
            out[0] = b;
        ",
        expect![[r#"
            {
                mov.u32 %smem_base, smem;
                // out[0] = b
                mov.u32 %r0, 14;
                st.shared.u32 [%smem_base], %r0;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn arithmetic_simplifies() {
    check_statements(
        "
            let x = (m * 8 + 0) / 4 % 32;
            let y = 3 - m * 1;
            out[0] = x + y;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // let x = (m * 8 + 0) / 4 % 32
                shl.b32 %r0, %m, 3;
                shr.u32 %r1, %r0, 2;
                and.b32 %r2, %r1, 31;
                // let y = 3 - m * 1
                sub.u32 %r3, 3, %m;
                // out[0] = x + y
                add.u32 %r4, %r2, %r3;
                st.shared.u32 [%smem_base], %r4;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn a_variable_is_a_register() {
    check_statements(
        "
            let mut x = 5;
            let before = x;
            x += m;
            x = x * 3;
            out[0] = x + before;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // let mut x = 5
                mov.u32 %x, 5;
                // let before = x
                mov.u32 %r0, %x;
                // x += m
                add.u32 %x, %x, %m;
                // x = x * 3
                mul.lo.u32 %x, %x, 3;
                // out[0] = x + before
                add.u32 %r3, %x, %r0;
                st.shared.u32 [%smem_base], %r3;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn tuples_swap() {
    check_statements(
        "
            let (mut a, mut b) = (m, n);
            (a, b) = (b, a);
            out[0] = a - b;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let (mut a, mut b) = (m, n)
                mov.u32 %a, %m;
                mov.u32 %b, %n;
                // (a, b) = (b, a)
                mov.u32 %r0, %b;
                mov.u32 %r1, %a;
                mov.u32 %a, %r0;
                mov.u32 %b, %r1;
                // out[0] = a - b
                sub.u32 %r2, %a, %b;
                st.shared.u32 [%smem_base], %r2;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn run_time_if_is_a_branch() {
    check_statements(
        "
            let mut x = 1;
            if m < n { x = m * n; sync_threads(); } else if m == n { x = 2; }
            out[0] = x;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let mut x = 1
                mov.u32 %x, 1;
                // if m < n
                setp.lt.u32 %p0, %m, %n;
                @!%p0 bra $else;                                        // if %m >= %n
                // where %m < %n
                // x = m * n
                mul.lo.u32 %x, %m, %n;
                // sync_threads()
                bar.sync 0;
                bra $endif;
            $else:
                setp.eq.u32 %p1, %m, %n;
                // x = 2
                @%p1 mov.u32 %x, 2;                                     // if %m == %n
            $endif:
                // out[0] = x
                st.shared.u32 [%smem_base], %x;                         // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn small_branches_are_predicated() {
    check_statements(
        "
            let mut x = m;
            if x == 4 { x = 0; }
            out[0] = x;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // let mut x = m
                mov.u32 %x, %m;
                // if x == 4
                setp.eq.u32 %p0, %x, 4;
                // x = 0
                @%p0 mov.u32 %x, 0;                                     // if %x == 4
                // out[0] = x
                st.shared.u32 [%smem_base], %x;                         // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

/// A register that is written under a guard would be live from the start of the loops around it. A variable keeps its value in other
/// threads, so what changes it has a guard, and so has what is computed of it.
#[test]
fn what_only_computes_has_no_guard() {
    check_statements(
        "
            let mut x = n;
            if m < 60 { out[m + 3] = n * 5; }
            if m < 64 { x = m; out[x] = 1; }
            out[0] = x;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let mut x = n
                mov.u32 %x, %n;
                // if m < 60
                setp.lt.u32 %p0, %m, 60;
                // out[m + 3] = n * 5
                add.u32 %r0, %m, 3;
                mul.lo.u32 %r1, %n, 5;
                shl.b32 %r2, %r0, 2;
                add.u32 %r3, %smem_base, %r2;
                @%p0 st.shared.u32 [%r3], %r1;                          // out[%r0 < 64] at %r2 in 0..256; if %m < 60
                // if m < 64
                setp.lt.u32 %p1, %m, 64;
                // x = m
                @%p1 mov.u32 %x, %m;                                    // if %m < 64
                // out[x] = 1
                @%p1 mov.u32 %r4, %x;                                   // if %m < 64
                mov.u32 %r5, 1;
                @%p1 shl.b32 %r6, %r4, 2;                               // if %m < 64
                @%p1 add.u32 %r7, %smem_base, %r6;                      // if %m < 64
                @%p1 st.shared.u32 [%r7], %r5;                          // out[%r4 < 64] at %r6 in 0..256; if %m < 64
                // out[0] = x
                st.shared.u32 [%smem_base], %x;                         // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn if_as_a_value_selects() {
    check_statements(
        "
            let x = if m < n { m } else { 7 };
            let (p, q) = if m == 3 { (1, n) } else { (m, n) };
            out[p] = x + q;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let x = if m < n { m } else { 7 }
                setp.lt.u32 %p0, %m, %n;
                selp.u32 %r0, %m, 7, %p0;
                // let (p, q) = if m == 3 { (1, n) } else { (m, n) }
                setp.eq.u32 %p1, %m, 3;
                selp.u32 %r1, 1, %m, %p1;
                // out[p] = x + q
                add.u32 %r2, %r0, %n;
                shl.b32 %r3, %r1, 2;
                add.u32 %r4, %smem_base, %r3;
                st.shared.u32 [%r4], %r2;                               // out[%r1 < 64] at %r3 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn if_as_a_value_computes() {
    check_statements(
        "
            let x = if m < n { out[m] } else { m / n };
            out[0] = x;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let x = if m < n { out[m] } else { m / n }
                setp.lt.u32 %p0, %m, %n;
                @!%p0 bra $else;                                        // if %m >= %n
                // where %m < %n
                // out[m]
                shl.b32 %r0, %m, 2;
                add.u32 %r1, %smem_base, %r0;
                ld.shared.u32 %r2, [%r1];                               // out[%m < 64] at %r0 in 0..256
                mov.u32 %r4, %r2;
                bra $endif;
            $else:
                // m / n
                div.u32 %r3, %m, %n;
                mov.u32 %r4, %r3;
            $endif:
                // out[0] = x
                st.shared.u32 [%smem_base], %r4;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn known_bounds_unroll() {
    check_statements(
        "for i in 0..3 { if i != 1 { out[i] = m; } }",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // for i in 0..3
                // i = 0
                // if i != 1
                // out[i] = m
                st.shared.u32 [%smem_base], %m;                         // out[0 < 64] at 0 in 0..256
                // i = 2
                // if i != 1
                // out[i] = m
                st.shared.u32 [%smem_base+8], %m;                       // out[2 < 64] at 8 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn unrolled_loops_break_and_continue() {
    check_statements(
        "for i in 0..4 { if i == 2 { break; } if m == i { continue; } out[i] = m; }",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // for i in 0..4
                // i = 0
                // if m == i
                setp.eq.u32 %p0, %m, 0;
                // continue
                @%p0 bra $for_continue;                                 // if %m == 0
                // where %m != 0
                // out[i] = m
                st.shared.u32 [%smem_base], %m;                         // out[0 < 64] at 0 in 0..256
            $for_continue:
                // i = 1
                // if m == i
                setp.eq.u32 %p1, %m, 1;
                // continue
                @%p1 bra $for_continue_2;                               // if %m == 1
                // where %m != 1
                // out[i] = m
                st.shared.u32 [%smem_base+4], %m;                       // out[1 < 64] at 4 in 0..256
            $for_continue_2:
                // i = 2
                // if i == 2
                // break
            $for_break:
                ret;
            }
        "#]],
    );
}

#[test]
fn run_time_bounds_count() {
    check_statements(
        "for i in m..n { out[i] = i; }",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // for i in m..n
                setp.lt.u32 %p0, %m, %n;
                @!%p0 bra $for_end;                                     // if %m >= %n
                // where %m < %n
                mov.u32 %i, %m;
            $for:
                // out[i] = i
                shl.b32 %r0, %i, 2;
                add.u32 %r1, %smem_base, %r0;
                st.shared.u32 [%r1], %i;                                // out[%i < 64] at %r0 in 0..256
                add.u32 %i, %i, 1;
                setp.lt.u32 %p1, %i, %n;
                @%p1 bra $for;                                          // if %i < %n
                // where %i >= %n
            $for_end:
                ret;
            }
        "#]],
    );
}

#[test]
fn loops_break_and_continue() {
    check_statements(
        "
            'outer: for i in 0..n {
                let mut j = i;
                loop {
                    j += 1;
                    if j > m {
                        continue 'outer;
                    }
                    if out[j] == 0 {
                        break 'outer;
                    }
                }
            }
            out[0] = 1;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // for i in 0..n
                setp.gt.u32 %p0, %n, 0;
                @!%p0 bra $for_end;                                     // if %n <= 0
                // where %n > 0
                mov.u32 %i, 0;
            $for:
                // let mut j = i
                mov.u32 %j, %i;
                // loop
            $loop:
                // j += 1
                add.u32 %j, %j, 1;
                // if j > m
                setp.gt.u32 %p1, %j, %m;
                // continue 'outer
                @%p1 bra $for_next;                                     // if %j > %m
                // where %j <= %m
                // if out[j] == 0
                shl.b32 %r1, %j, 2;
                add.u32 %r2, %smem_base, %r1;
                ld.shared.u32 %r3, [%r2];                               // out[%j < 64] at %r1 in 0..256
                setp.eq.u32 %p2, %r3, 0;
                // break 'outer
                @%p2 bra $for_end;                                      // if %r3 == 0
                // where %r3 != 0
                bra $loop;
            $for_next:
                add.u32 %i, %i, 1;
                setp.lt.u32 %p3, %i, %n;
                @%p3 bra $for;                                          // if %i < %n
                // where %i >= %n
            $for_end:
                // out[0] = 1
                mov.u32 %r4, 1;
                st.shared.u32 [%smem_base], %r4;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn while_tests_at_its_head() {
    check_statements(
        "
            let mut x = m;
            while x > 0 && x != n { x -= 1; }
            out[0] = x;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let mut x = m
                mov.u32 %x, %m;
                // while x > 0 && x != n
            $while:
                setp.gt.u32 %p0, %x, 0;
                setp.ne.u32 %p1, %x, %n;
                and.pred %p2, %p0, %p1;
                @!%p2 bra $while_end;                                   // if %x <= 0 || %x == %n
                // where %x > 0 && %x != %n
                // x -= 1
                sub.u32 %x, %x, 1;
                bra $while;
            $while_end:
                // out[0] = x
                st.shared.u32 [%smem_base], %x;                         // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn the_right_side_is_guarded() {
    check_statements(
        "if m < 64 && out[m] > 3 { out[0] = 1; }",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // if m < 64 && out[m] > 3
                setp.lt.u32 %p0, %m, 64;
                mov.pred %p2, %p0;
                @!%p0 bra $decided;                                     // if %m >= 64
                // where %m < 64
                shl.b32 %r0, %m, 2;
                add.u32 %r1, %smem_base, %r0;
                ld.shared.u32 %r2, [%r1];                               // out[%m < 64] at %r0 in 0..256
                setp.gt.u32 %p1, %r2, 3;
                mov.pred %p2, %p1;
            $decided:
                // out[0] = 1
                mov.u32 %r3, 1;
                @%p2 st.shared.u32 [%smem_base], %r3;                   // out[0 < 64] at 0 in 0..256; if %m < 64 && %r2 > 3
                ret;
            }
        "#]],
    );
}

#[test]
fn predicates_are_values() {
    check_statements(
        "
            let mut p = m < n;
            p = p || !(m == 7);
            let q = true;
            out[0] = (p && q) as u32;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let mut p = m < n
                setp.lt.u32 %p, %m, %n;
                // p = p || !(m == 7)
                mov.pred %p1, %p;
                setp.eq.u32 %p2, %m, 7;
                not.pred %p3, %p2;
                or.pred %p, %p1, %p3;
                // out[0] = (p && q) as u32
                mov.pred %p5, %p;
                selp.u32 %r0, 1, 0, %p5;
                st.shared.u32 [%smem_base], %r0;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn casts() {
    check_statements(
        "
            let a = m as u64 * 5000000000;
            let b = a as f32 * 0.5;
            let c = -(m as i32) / 4;
            out[0] = b as u32 + c as u32;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // let a = m as u64 * 5000000000
                cvt.u64.u32 %rd0, %m;
                mul.lo.u64 %rd1, %rd0, 5000000000;
                // let b = a as f32 * 0.5
                cvt.rn.f32.u64 %f0, %rd1;
                mul.rn.f32 %f1, %f0, 0f3F000000;
                // let c = -(m as i32) / 4
                neg.s32 %r0, %m;
                div.s32 %r1, %r0, 4;
                // out[0] = b as u32 + c as u32
                cvt.rzi.u32.f32 %r2, %f1;
                add.u32 %r3, %r2, %r1;
                st.shared.u32 [%smem_base], %r3;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn what_nobody_reads_is_not_computed() {
    check_statements(
        "
            let a = m * n;
            let b = a + thread();
            let (x, y) = (block_idx().0, b);
        ",
        expect![[r#"
            {
                // let a = m * n
                // let b = a + thread()
                ret;
            }
        "#]],
    );
}

#[test]
fn return_ends_the_kernel() {
    check_statements(
        "
            if m == 0 { return; }
            out[0] = m;
            return;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // if m == 0
                setp.eq.u32 %p0, %m, 0;
                // return
                @%p0 bra $exit;                                         // if %m == 0
                // where %m != 0
                // out[0] = m
                st.shared.u32 [%smem_base], %m;                         // out[0 < 64] at 0 in 0..256
                // return
            $exit:
                ret;
            }
        "#]],
    );
}

#[test]
fn uniform_ids() {
    check_statements(
        "out[warp()] = warpgroup() + lane() + warpgroup_thread();",
        expect![[r#"
            {
                mov.u32 %thread, %tid.x;
                shr.u32 %r0, %thread, 5;
                shfl.sync.idx.b32 %warp, %r0, 0, 31, 4294967295;
                and.b32 %lane, %thread, 31;
                mov.u32 %smem_base, smem;
                // out[warp()] = warpgroup() + lane() + warpgroup_thread()
                add.u32 %r1, %lane, %thread;
                shl.b32 %r2, %warp, 2;
                add.u32 %r3, %smem_base, %r2;
                st.shared.u32 [%r3], %r1;                               // out[%warp < 64] at %r2 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn any_instruction_may_be_written() {
    check_statements(
        "
            let high = ptx!(u32: \"mul.hi.u32\", m, n);
            let power = ptx!(f32: \"ex2.approx.f32\", m as f32);
            ptx!(\"membar.gl\");
            out[0] = high + ptx!(u32: \"popc.b32\", n) + power as u32;
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                ld.param.u32 %n, [n];
                mov.u32 %smem_base, smem;
                // let high = ptx!(u32: "mul.hi.u32", m, n)
                mul.hi.u32 %r0, %m, %n;
                // let power = ptx!(f32: "ex2.approx.f32", m as f32)
                cvt.rn.f32.u32 %f0, %m;
                ex2.approx.f32 %f1, %f0;
                // ptx!("membar.gl")
                membar.gl;
                // out[0] = high + ptx!(u32: "popc.b32", n) + power as u32
                popc.b32 %r1, %n;
                add.u32 %r2, %r0, %r1;
                cvt.rzi.u32.f32 %r3, %f1;
                add.u32 %r4, %r2, %r3;
                st.shared.u32 [%smem_base], %r4;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn helpers_are_inlined() {
    check(
        "
            fn twice<const N: u32>(x: u32) -> u32 { x * N }
            #[kernel(threads = 32)] fn k(m: u32) {
                let out = smem::<u32>(layout!(64:1));
                out[0] = twice::<2>(m) + twice::<3>(7);
            }
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // out[0] = twice::<2>(m) + twice::<3>(7)
                // x * N
                shl.b32 %r0, %m, 1;
                add.u32 %r1, %r0, 21;
                st.shared.u32 [%smem_base], %r1;                        // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn mutable_references_alias() {
    check(
        "
            fn advance(stage: &mut u32, phase: &mut u32) {
                *stage += 1;
                if *stage == 4 {
                    *stage = 0;
                    *phase ^= 1;
                }
            }
            #[kernel(threads = 32)] fn k() {
                let out = smem::<u32>(layout!(64:1));
                let mut s = 0;
                let mut p = 0;
                advance(&mut s, &mut p);
                out[s] = p;
            }
        ",
        expect![[r#"
            {
                mov.u32 %smem_base, smem;
                // let mut s = 0
                mov.u32 %s, 0;
                // let mut p = 0
                mov.u32 %p, 0;
                // advance(&mut s, &mut p)
                // *stage += 1
                add.u32 %s, %s, 1;
                // if *stage == 4
                setp.eq.u32 %p0, %s, 4;
                // *stage = 0
                @%p0 mov.u32 %s, 0;                                     // if %s == 4
                // *phase ^= 1
                @%p0 xor.b32 %p, %p, 1;
                // out[s] = p
                mov.u32 %r2, %s;
                shl.b32 %r3, %r2, 2;
                add.u32 %r4, %smem_base, %r3;
                st.shared.u32 [%r4], %p;                                // out[%r2 < 64] at %r3 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn arguments_are_copies() {
    check(
        "
            fn f(mut x: u32) -> u32 { x += 1; x }
            #[kernel(threads = 32)] fn k(m: u32) {
                let out = smem::<u32>(layout!(64:1));
                let mut a = m;
                let b = f(a);
                a += b;
                out[0] = a;
            }
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // let mut a = m
                mov.u32 %a, %m;
                // let b = f(a)
                mov.u32 %x, %a;
                // x += 1
                add.u32 %x, %x, 1;
                mov.u32 %r1, %x;
                // a += b
                add.u32 %a, %a, %r1;
                // out[0] = a
                st.shared.u32 [%smem_base], %a;                         // out[0 < 64] at 0 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn helpers_return_early() {
    check(
        "
            fn store(t: Tensor, i: u32) { if i > 63 { return; } t[i] = 1; }
            #[kernel(threads = 32)] fn k(m: u32) {
                let out = smem::<u32>(layout!(64:1));
                store(out, m);
                store(out, 3);
            }
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // store(out, m)
                // if i > 63
                setp.gt.u32 %p0, %m, 63;
                // return
                @%p0 bra $store_end;                                    // if %m > 63
                // where %m <= 63
                // t[i] = 1
                mov.u32 %r0, 1;
                shl.b32 %r1, %m, 2;
                add.u32 %r2, %smem_base, %r1;
                st.shared.u32 [%r2], %r0;                               // out[%m < 64] at %r1 in 0..256
            $store_end:
                // store(out, 3)
                // t[i] = 1
                mov.u32 %r3, 1;
                st.shared.u32 [%smem_base+12], %r3;                     // out[3 < 64] at 12 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn constants_of_the_module() {
    check(
        "
            const SIZE: u32 = 4 * 16;
            const TILE: u32 = SIZE / 2;
            const HELD: Layout = layout!((TILE,2):(1,SIZE/2));
            #[kernel(threads = TILE)] fn k(m: u32) {
                let out = smem::<u32>(layout!(coalesce(HELD)));
                out[m % TILE] = TILE;
            }
        ",
        expect![[r#"
            {
                ld.param.u32 %m, [m];
                mov.u32 %smem_base, smem;
                // out[m % TILE] = TILE
                and.b32 %r0, %m, 31;
                mov.u32 %r1, 32;
                shl.b32 %r2, %r0, 2;
                add.u32 %r3, %smem_base, %r2;
                st.shared.u32 [%r3], %r1;                               // out[%r0 < 64] at %r2 in 0..256
                ret;
            }
        "#]],
    );
}

fn check(source: &str, expected: Expect) {
    expected.assert_eq(&body(source));
}

#[test]
fn questions_about_a_tensor_are_answered_at_expansion() {
    check_statements(
        "
            let tile = smem::<f32>(layout!((32,32):(32,1)));
            let swizzled = smem::<f32>(best_swizzle(layout!((32,32):(32,1)), 32, layout!(32:32), layout!(32:1)));
            let column = conflict_free(swizzled, layout!(32:1));
            out[0] = bank_conflicts(tile, layout!(32:1)) + bank_conflicts(column, layout!(32:1), layout!(32:32));
            let ring = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64, 4)));
            let stage = ring[(_, _, m % 4)];
            if is_injective(stage) {
                out[1] = bank_conflicts(stage, layout!((8,4):(1,512)));
            }
        ",
        expect![[r#"
            {
                mov.u32 %smem_base, smem;
                // out[0] = bank_conflicts(tile, layout!(32:1)) + bank_conflicts(column, layout!(32:1), layout!(32:32))
                mov.u32 %r0, 33;
                st.shared.u32 [%smem_base], %r0;                        // out[0 < 64] at 0 in 0..256
                // let stage = ring[(_, _, m % 4)]
                // if is_injective(stage)
                // out[1] = bank_conflicts(stage, layout!((8,4):(1,512)))
                mov.u32 %r3, 1;
                st.shared.u32 [%smem_base+4], %r3;                      // out[1 < 64] at 4 in 0..256
                ret;
            }
        "#]],
    );
}

#[test]
fn assertions_are_decided_at_expansion() {
    for (statement, expected) in [
        ("assert!(alignment(tile) == 1 && is_dense(tile));", ""),
        (
            "assert!(1 + 1 == 3);",
            "error: assertion failed: 1 + 1 == 3\n",
        ),
        ("assert!(false, \"no\");", "error: assertion failed: no\n"),
        (
            "assert!(m + 3);",
            "error: the condition of `assert!` is a truth value, not a run-time `u32`\n",
        ),
        (
            "assert!(2 > 3, \"{} is not {{{m}}}\", 2 * 1);",
            "error: assertion failed: 2 is not {_}\n",
        ),
        (
            "assert!();",
            "error: `assert!` takes a condition and, if wanted, a message\n",
        ),
    ] {
        let source =
            format!("let tile = smem::<f32>(layout!((8,32):(32,1))); {statement} out[0] = 1;");
        let found = body(&format!(
            "#[kernel(threads = 64)] fn k(m: u32) {{ let out = smem::<u32>(layout!(64:1)); {source} }}"
        ));
        match expected {
            "" => assert!(!found.contains("error"), "{found}"),
            expected => assert!(found.ends_with(expected), "{found}"),
        }
    }
}

#[test]
fn a_bank_conflict_is_refused_at_the_pattern() {
    check_statements(
        "
            let tile = smem::<f32>(layout!((8,32):(32,1)));
            let column = conflict_free(tile, layout!(8:1));
        ",
        expect![[r#"
            error: conflict_free((8,32):(32,1), 32, 8:1): 8 words of bank 0 are needed at once, by lanes 0, 1, 2, 3, 4, 5, 6, 7 of warp 0 in access 0, of 1 element each; Sw<3,2,3> has no conflict
        "#]],
    );
    check_statements(
        "
            let tile = smem::<f32>(layout!((8,32):(32,1)));
            let row = tile[(m % 8, _)];
            out[0] = bank_conflicts(row, layout!(32:1));
            out[0] = bank_conflicts(tile[(_, m % 32)], layout!(8:1));
        ",
        expect![[r#"
            error: the banks of this part of the tensor depend on where it begins, which is known only when the kernel runs
        "#]],
    );
}

/// The body of a kernel with the parameters m and n, and out, a shared tensor to which results are written so that they
/// are not removed.
fn check_statements(statements: &str, expected: Expect) {
    check(
        &format!(
            "#[kernel(threads = 64)] fn k(m: u32, n: u32) {{ let out = smem::<u32>(layout!(64:1)); {statements} }}"
        ),
        expected,
    );
}

/// The body of the only kernel of a module without declarations, or the errors of the module.
fn body(source: &str) -> String {
    let module = format!("mod kernels {{ {source} }}");
    match lower(module.parse().expect("tokens")) {
        Ok(instances) => {
            judge(&instances);
            let text = instances[0].module.to_string();
            // The braces are kept for the indentation of the lines between them.
            let body = &text[text.find("\n{\n").expect("a body") + 1..];
            let lines = body
                .lines()
                .filter(|line| !line.trim_start().starts_with(".reg") && !line.is_empty());
            lines.map(|line| format!("{line}\n")).collect()
        }
        Err(error) => {
            let errors: Vec<String> = error
                .into_iter()
                .map(|error| format!("error: {error}\n"))
                .collect();
            errors.concat()
        }
    }
}
