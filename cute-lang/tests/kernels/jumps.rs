//! `return` and `break` with a value, labelled blocks and `let … else`, against what rustc makes of the same text, and what is
//! refused of them.

use cute_lang::kernel::lower::lower;

same! { returns,
    fn small(x: u32) -> u32 { if x < 3 { return x * 100; } if x < 10 { return x + 7; } x % 13 }
    fn both(x: u32) -> u32 { if x % 2 == 0 { return x + 1 } else { return x * 3 } }
    fn last(x: u32) -> u32 { let y = x + 1; return y * 2; }
    fn f(x: u32, y: u32) -> u32 { small(x) * 10000 + small(y) + both(x) * 7 + both(y) * 3 + last(x) }
}

same! { returns_in_loops_and_branches,
    fn find(x: u32, limit: u32) -> u32 {
        for i in 0..limit {
            let mut j = 0;
            while j < 4 {
                if i * j == x { return i * 10 + j; }
                if j == 3 { if i > 5 { return 500 + j; } else if i == 4 { break; } }
                j += 1;
            }
            loop { if j > 6 { break; } if j * i == 30 { return 900; } j += 1; }
        }
        match limit { 0 => return 1, 5 => { if x > 3 { return 77; } } _ => {} }
        x + 1000
    }
    fn f(x: u32, y: u32) -> u32 { find(x, y) + find(y, x) * 3 + find(12, y) }
}

same! { returned_values_of_all_kinds,
    #[derive(Clone, Copy)]
    struct Pair { a: u32, b: bool, c: (i32, f32) }
    fn pair(x: u32) -> Pair {
        if x == 0 { return Pair { a: 5, b: true, c: (1, 0.5) }; }
        let kept = Pair { a: x, b: x % 2 == 0, c: (-(x as i32), 2.5) };
        if x > 6 { return Pair { a: 9, ..kept }; }
        kept
    }
    fn tuple(x: u32) -> (u32, bool) { if x > 4 { return (x, true); } (7, x == 2) }
    fn option(x: u32) -> Option<u32> { if x == 3 { return None; } if x > 5 { return Some(x * 2); } Some(1) }
    fn never(x: u32) -> Option<(u32, u32)> { if x > 90 { return Some((x, x)); } None }
    fn truth(x: u32) -> bool { if x == 1 { return true; } if x == 5 { return x > 7; } false }
    fn nothing(x: u32, y: &mut u32) { if x == 3 { return; } *y += 1; if x == 5 { return (); } *y += 10; }
    fn single(x: u32) -> f32 { if x > 3 { return 1.5; } x as f32 }
    fn array(x: u32) -> [u32; 3] { if x > 3 { return [x, 1, 2]; } [3, x, 2] }
    fn f(x: u32, y: u32) -> u32 {
        let p = pair(x);
        let t = tuple(y);
        let mut n = 0;
        nothing(x, &mut n);
        let a = array(y);
        p.a + p.b as u32 * 2 + p.c.0 as u32 % 100 + (p.c.1 * 4.0) as u32 + t.0 * 3 + t.1 as u32 * 5
            + match option(x) { Some(v) => v, None => 99 } + match never(y) { Some((v, _)) => v, None => 4 }
            + truth(x) as u32 * 1000 + n + (single(y) * 2.0) as u32 + a[0] * 3 + a[1] * 5 + a[2]
    }
}

same! { returned_literals_have_the_type_of_the_result,
    fn wide(x: u32) -> u64 { if x == 3 { return 5000000000; } if x == 5 { return 1; } 2 }
    fn negative(x: u32) -> i8 { if x < 4 { return -3; } 100 }
    fn f(x: u32, y: u32) -> u32 {
        let g = |n: u32| { if n == 12 { return 16777217.0f64; } 1.0 };
        let h = |n: u32| { if n == 12 { return 16777217.0; } 1.0f64 };
        let k = |n: u32| -> u8 { if n > 3 { return 200; } 7 };
        let open = |n: u32| { if n > 3 { return 3; } 7 };
        (wide(x) >> 3) as u32 + negative(y) as u32 % 1000 + g(x) as u32 + h(y) as u32 + (k(x) << 1) as u32 + (open(y) - 5i8) as u8 as u32
    }
}

same! { returns_of_variables_keep_what_they_were,
    fn g(x: u32, y: &mut u32) -> u32 {
        let mut a = x;
        if x > 3 { a += *y; return a; }
        *y += 5;
        a += 1;
        if *y % 2 == 0 { return *y; }
        *y += 1;
        a
    }
    fn swap(mut a: u32, mut b: u32) -> (u32, u32) {
        for i in 0..4 { (a, b) = (b, a); if a == 3 + i { return (b, a); } }
        (a, b)
    }
    fn f(x: u32, y: u32) -> u32 { let mut n = y; let r = g(x, &mut n); let s = swap(x, y); r * 100 + n + s.0 * 7 + s.1 * 11 }
}

same! { methods_and_closures_return,
    struct Steps { at: u32, end: u32 }
    impl Iterator for Steps {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            if self.at >= self.end { return None; }
            let at = self.at;
            self.at += 2;
            if at % 3 == 0 { return Some(at + 100); }
            Some(at)
        }
    }
    impl Steps { fn first(&self) -> u32 { if self.at > 3 { return 0; } self.at } }
    fn apply(g: impl Fn(u32) -> u32, x: u32) -> u32 { g(x) + g(1) }
    fn f(x: u32, y: u32) -> u32 {
        let mut sum = Steps { at: x % 6, end: 4 }.first();
        for i in (Steps { at: x % 5, end: y + 6 }) { sum += i; if sum > 400 { break; } }
        sum + apply(|v| { if v > 3 { return v * 2; } for i in 0..v { if i == 1 { return 50; } } v }, x)
    }
}

same! { breaks_give_values,
    fn f(x: u32, y: u32) -> u32 {
        let mut i = 0;
        let found = loop { if i * i > x { break i; } i += 1; if i == 5 { break 100 + y; } };
        let mut n = y;
        let (steps, odd) = loop { if n < 2 { break (found, false); } n -= 2; if n == 3 { break (n, true); } };
        let one = loop { break x + 1; };
        let option = loop { if n == 0 { break None; } if n == 1 { break Some(x); } n -= 1; };
        let wide = loop { if x > 3 { break 1; } break 5000000000u64; };
        let mut old = 0;
        let kept = loop { old += 3; if old > x { break old; } };
        old += 1000;
        found + steps * 3 + odd as u32 * 7 + one + match option { Some(v) => v, None => 9 } + (wide >> 4) as u32 + kept + old
    }
}

same! { breaks_with_labels_give_values,
    fn f(x: u32, y: u32) -> u32 {
        let mut count = 0;
        let v = 'outer: loop {
            let mut j = 0;
            let inner = loop {
                count += 1;
                if count > 30 { break 'outer 7; }
                if j == y { break j * 2; }
                j += 1;
                for k in 0..3 { if k * j == x { break 'outer k + 100; } }
                while j > 4 { if count == 9 { break 'outer x; } break; }
            };
            if inner > x { break inner; }
            if count > 20 { continue 'outer; }
            count += x;
        };
        v * 10 + count
    }
}

same! { labelled_blocks,
    fn f(x: u32, y: u32) -> u32 {
        let a = 'a: { if x > 3 { break 'a x; } if y == 1 { break 'a 9; } x * y };
        let b = 'b: { for i in 0..5 { if i == x { break 'b i + 50; } if i > y { continue; } } 3 };
        let mut c = 0;
        'c: { c += 1; if x == y { break 'c; } c += 10; 'd: { if x > y { break 'c; } if y == 4 { break 'd; } c += 100; } c += 1000; }
        let d = 'o: { let v = 'i: { if x == 5 { break 'o 1; } if x == 3 { break 'i 2; } 4 }; v * 8 };
        a + b * 3 + c + d
    }
}

same! { jumps_in_operands,
    fn both(x: u32, y: u32) -> u32 { let n = if x > 3 { x } else { return 5; } + y; x > 9 || return n; y == 6 && return 77; n * 2 }
    fn arm(x: u32) -> u32 { let v = match x { 0 | 3 => return 8, n => n * 2 }; v + 1 }
    fn question(x: Option<u32>) -> Option<u32> { let v = match x { Some(v) => v, None => return None }; if v > 3 { return Some(1); } Some(v + 1) }
    fn f(x: u32, y: u32) -> u32 {
        let some = if x > 3 { Some(y) } else { None };
        both(x, y) + arm(x) * 5 + match question(some) { Some(v) => v, None => 1000 }
    }
}

same! { known_jumps,
    const N: usize = 4;
    fn known<const M: u32>(x: u32) -> u32 { if M > 4 { return x; } for i in 0..M { if i == 2 { return i + x; } } x * 2 }
    fn f(x: u32, y: u32) -> u32 {
        let fixed = loop { if N > 3 { break N * 2; } };
        let a = [1; 8];
        let mut sum = 0;
        for i in 0..fixed { sum += a[i]; }
        known::<9>(x) + known::<1>(y) * 3 + known::<4>(x) * 7 + sum
    }
}

same! { let_else,
    #[derive(Clone, Copy)]
    struct P { a: u32, b: Option<u32> }
    fn half(x: u32) -> Option<u32> { if x % 2 == 0 { Some(x / 2) } else { None } }
    fn g(x: u32) -> u32 { let Some(h) = half(x) else { return 100; }; let Some(q) = half(h) else { return h + 1; }; q * 3 }
    fn pattern(x: u32, y: u32) -> u32 {
        let (0..=3, n) = (x, y) else { return 1; };
        let P { a: 1 | 3, b: Some(b) } = (P { a: n, b: half(y + 1) }) else { return n + 2 };
        b + 10
    }
    fn f(x: u32, y: u32) -> u32 {
        let mut sum = 0;
        for i in 0..x {
            let Some(h) = half(i) else { continue; };
            if h > 4 { break; }
            sum += h;
            let Some(_) = half(y + h) else { sum += 50; break; };
        }
        let last = loop { let Some(h) = half(sum) else { break sum; }; sum = h + 3; if h > 3 { continue; } break 5; };
        let Some(k) = Some(x) else { return 0; };
        let Some::<u32>(_) = None else { return g(x) + g(y) * 7 + sum * 11 + last + k + pattern(x, y) * 3; };
        0
    }
}

/// The first error of a module.
fn error(items: &str) -> String {
    let source = format!("mod kernels {{ {items} }}");
    match lower(source.parse().expect("tokens")) {
        Ok(_) => panic!("{items} is accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn jumps_that_rust_refuses_are_refused() {
    let in_kernel = |body: &str| format!("#[kernel(threads = 32)] fn k(n: u32) {{ {body} }}");
    for (body, message) in [
        (
            "if n > 3 { return 5; }",
            "a kernel returns nothing: write `return;`",
        ),
        (
            "for i in 0..n { if i > 3 { break i; } }",
            "`for` and `while` have no value",
        ),
        (
            "let mut i = n; while i > 0 { i -= 1; break i; }",
            "`for` and `while` have no value",
        ),
        (
            "let x = loop { if n > 3 { break; } break 5; };",
            "the ways out of this give `()` and the integer 5",
        ),
        (
            "let x = loop { if n > 3 { break 5.0; } break n; };",
            "expected a `u32`, found a floating-point number",
        ),
        (
            "'a: { if n > 3 { break; } }",
            "in a labelled block need a label",
        ),
        (
            "'a: { if n > 3 { continue 'a; } }",
            "a labelled block has no next iteration",
        ),
        (
            "loop { break 'b 5; }",
            "no loop or block around this has the label `'b`",
        ),
    ] {
        let items = in_kernel(body);
        let error = error(&items);
        assert!(error.contains(message), "{body}: {error}");
    }
    for (function, message) in [
        (
            "fn f(x: u32) -> u32 { if x > 3 { return; } x }",
            "expected `u32`, found `()`",
        ),
        (
            "fn f(x: u32) -> u32 { if x > 3 { return 1.0; } x }",
            "expected `u32`, found the number 1.0",
        ),
        (
            "fn f(x: u32) { if x > 3 { return 1; } return 2; }",
            "but declares no type of its value",
        ),
        (
            "fn f(x: u32) -> f32 { if x > 3 { return x; } x }",
            "expected `f32`, found a run-time `u32`",
        ),
        (
            "fn f(x: u32) -> u32 { if x > 3 { return 5; } }",
            "expected `u32`, found `()`",
        ),
        (
            "fn f(x: u32) -> u32 { let 0..4 = x else { x + 1; }; x }",
            "the block of a `let … else` does not end",
        ),
    ] {
        let items = format!("{function} {}", in_kernel("let y = f(n);"));
        let error = error(&items);
        assert!(error.contains(message), "{function}: {error}");
    }
}
