//! Operations of several threads are refused where some of the threads may be elsewhere, and are allowed where they are not.

use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::lower;

/// The errors of a kernel of 256 threads with these statements; none if it is right.
fn errors(statements: &str) -> Vec<String> {
    of_module(&format!(
        "mod kernels {{
            {FUNCTIONS}
            #[kernel(threads = 256)]
            unsafe fn k(x: Global<f32, 1>, u: Global<u32, 1>, n: u32, #[facts(m % 256 == 0)] m: u32) {{
                let tile = smem::<u32>((256,));
                let f = smem::<f32>((256,));
                let ready = mbarriers(2, 1);
                {statements}
            }}
        }}"
    ))
}

fn of_module(module: &str) -> Vec<String> {
    match lower(module.parse().expect("tokens")) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|it| it.to_string()).collect(),
    }
}

/// What the kernels call.
const FUNCTIONS: &str = "
    fn halves(x: f32) -> f32 { x + shfl_down(x, 16) }
    fn wait_if(b: bool) { if b { sync_threads(); } }
    fn ended(at: u32, n: u32, u: _) { if at >= n { return; } u[at] = 1; }
    fn summed(at: u32, n: u32, x: _) { if at >= n { return; } x[at] = halves(x[at]); }
    fn first(u: _, n: u32) -> u32 { let mut at = 0; while at < n { if u[at] == 7 { break; } at += 1; } at }
    struct Steps { at: u32, end: u32, step: u32 }
    impl Iterator for Steps {
        fn next(&mut self) -> Option<u32> {
            let at = self.at;
            self.at += self.step;
            if at < self.end { Some(at) } else { None }
        }
    }
";

/// What is tried, statements that are wrong, parts of the message, and statements that are right.
type Row<'a> = (&'a str, &'a str, &'a [&'a str], &'a str);

#[track_caller]
fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (name, faulty, parts, right) in rows {
        let found = errors(faulty).join("\n");
        if found.is_empty() || !parts.iter().all(|part| found.contains(part)) {
            wrong.push(format!("{name}: expected {parts:?}, found {found:?}"));
        }
        let found = errors(right);
        if !found.is_empty() {
            wrong.push(format!("{name}: the right one gives {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn conditions() {
    check(&[
        (
            "an `if` by the lane",
            "if lane() < 16 { let y = shfl_down(n, 1); tile[thread()] = y; }",
            &[
                "the lanes of a warp execute `shfl_down` together, but it is inside of an `if`, whose condition may differ between them, since it depends on `lane()`",
                "this may differ between the lanes of a warp",
            ],
            "let y = shfl_down(n, 1); if lane() < 16 { tile[thread()] = y; }",
        ),
        (
            "an `if` by the thread around a barrier",
            "if thread() % 2 == 0 { sync_threads(); }",
            &[
                "the threads of a CTA execute `sync_threads` together",
                "`thread()`",
            ],
            "if thread() % 2 == 0 { tile[thread()] = 1; } sync_threads();",
        ),
        (
            "the other way of an `if`",
            "if thread() == 5 { tile[0] = 1; } else { sync_threads(); }",
            &["`sync_threads`", "inside of an `if`"],
            "if n == 5 { tile[0] = 1; } else { sync_threads(); }",
        ),
        (
            "a barrier by the warp",
            "if warp() == 0 { sync_threads(); }",
            &["the threads of a CTA", "`warp()`", "`uniform(…, CTA)`"],
            "if warp() == 0 { let y = vote_any(n > 2); tile[warp()] = y as u32; }",
        ),
        (
            "a barrier of a warp",
            "if thread() < 40 { sync_warp(); }",
            &["`sync_warp`", "`thread()`"],
            "if thread() < 64 { sync_warp(); }",
        ),
        (
            "a vote below a number of threads",
            "if thread() < 40 { let y = vote_any(u[thread()] > 2); tile[thread()] = y as u32; }",
            &["`vote_any`", "`thread()`"],
            "if thread() < 64 { let y = vote_any(u[thread()] > 2); tile[thread()] = y as u32; }",
        ),
        (
            "from a thread on",
            "if thread() >= 100 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() >= 96 { tile[thread()] = redux_add(n); }",
        ),
        (
            "up to a thread",
            "if thread() <= 64 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() <= 63 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a quotient of the thread",
            "if thread() / 16 == 1 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() / 32 == 1 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a quotient by no power of two",
            "if thread() / 48 == 1 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() / 96 == 1 { tile[thread()] = redux_add(n); }",
        ),
        (
            "bits of the thread",
            "if thread() & 24 == 8 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() & 96 == 32 { tile[thread()] = redux_add(n); }",
        ),
        (
            "shifted",
            "if thread() >> 4 != 0 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() >> 5 != 0 { tile[thread()] = redux_add(n); }",
        ),
        (
            "counted from another thread on",
            "let i = thread() - 120; if i < 64 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let i = thread() - 128; if i < 64 { tile[thread()] = redux_add(n); }",
        ),
        (
            "counted from the last thread on",
            "if 256 - thread() < 32 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if 255 - thread() < 32 { tile[thread()] = redux_add(n); }",
        ),
        (
            "two bounds",
            "if thread() >= 32 && thread() < 70 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if thread() >= 32 && thread() < 96 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a signed bound",
            "if (thread() as i32) - 32 < 1 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if (thread() as i32) - 64 < 0 { tile[thread()] = redux_add(n); }",
        ),
        (
            "the index of an element",
            "let i = block_idx().0 * 256 + thread(); if i < n { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let i = block_idx().0 * 256 + thread(); if i < m { tile[thread()] = redux_add(n); }",
        ),
        (
            "a warp by a remainder",
            "if lane() % 2 == 0 { tile[thread()] = redux_add(n); }",
            &["`redux_add`", "`lane()`"],
            "if warp() % 2 == 0 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a barrier in a `match`",
            "match lane() { 0 => sync_threads(), _ => {} }",
            &["inside of a `match`, whose value"],
            "match n { 0 => sync_threads(), _ => {} }",
        ),
        (
            "a condition of two",
            "if n > 3 && lane() > 3 { sync_threads(); }",
            &["`lane()`"],
            "if n > 3 && m > 3 { sync_threads(); }",
        ),
        (
            "an operation on the right of `&&`",
            "if lane() > 3 && vote_any(n > 2) { tile[thread()] = 1; }",
            &["`vote_any`", "on the right of an `&&`"],
            "if vote_any(n > 2) && lane() > 3 { tile[thread()] = 1; }",
        ),
        (
            "an operation on the right of `||`",
            "if lane() > 3 || vote_any(n > 2) { tile[thread()] = 1; }",
            &["`vote_any`", "on the right of an `||`"],
            "if n > 3 || vote_any(m > 2) { tile[thread()] = 1; }",
        ),
        (
            "the elected lane",
            "if elect() { let y = redux_add(n); tile[0] = y; }",
            &["`elect()`"],
            "let y = redux_add(n); if elect() { tile[0] = y; }",
        ),
        (
            "an `if` that gives a value",
            "let y = if thread() == 0 { shfl_idx(n, 0) } else { 1 }; tile[thread()] = y;",
            &["`shfl_idx`"],
            "let y = shfl_idx(n, 0); let y = if thread() == 0 { y } else { 1 }; tile[thread()] = y;",
        ),
        (
            "an `if let`",
            "let y = if lane() > 2 { Some(n) } else { None }; if let Some(z) = y { tile[thread()] = redux_add(z); }",
            &["`redux_add`", "`lane()`"],
            "let y = if m > 2 { Some(n) } else { None }; if let Some(z) = y { tile[thread()] = redux_add(z); }",
        ),
    ]);
}

#[test]
fn data() {
    check(&[
        (
            "loaded by each thread",
            "if u[thread()] > 3 { sync_threads(); }",
            &["data that is loaded from different addresses"],
            "if u[block_idx().0] > 3 { sync_threads(); }",
        ),
        (
            "loaded from shared memory",
            "if tile[lane()] > 3 { tile[thread()] = redux_add(n); }",
            &["data that is loaded"],
            "if tile[warp()] > 3 { tile[thread()] = redux_add(n); }",
        ),
        (
            "the warp's element around a barrier",
            "if tile[warp()] > 3 { sync_threads(); }",
            &["the threads of a CTA"],
            "if tile[0] > 3 { sync_threads(); }",
        ),
        (
            "a shuffle",
            "let y = shfl_up(u[thread()], 1); if y > 3 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let y = shfl_idx(u[thread()], 0); if y > 3 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a shuffle of segments",
            "let y = shfl_idx(u[thread()], 0, 16); if y > 3 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let y = shfl_idx(u[thread()], n & 31); if y > 3 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a lane of its own to read from",
            "let y = shfl_idx(u[thread()], lane() ^ 1); if y > 3 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let y = shfl_idx(n, lane() ^ 1); if y > 3 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a vote",
            "if u[thread()] > 2 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "if vote_any(u[thread()] > 2) { tile[thread()] = redux_add(n); }",
        ),
        (
            "a vote of a warp around a barrier",
            "if vote_any(u[thread()] > 2) { sync_threads(); }",
            &["the threads of a CTA"],
            "if vote_any(u[0] > 2) { sync_threads(); }",
        ),
        (
            "a reduction of a warp",
            "if match_any(u[thread()]) == 1 { tile[thread()] = redux_add(n); }",
            &["`match_any`"],
            "if redux_max(u[thread()]) > 1 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a butterfly of floating-point numbers",
            "let mut y = x[thread()]; for i in 0..4 { y += shfl_bfly(y, 1 << i); } if y > 0.0 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let mut y = x[thread()]; for i in 0..5 { y += shfl_bfly(y, 1 << i); } if y > 0.0 { tile[thread()] = redux_add(n); }",
        ),
        (
            "a butterfly by extrema",
            "let y = x[thread()]; let y = max(y, shfl_down(y, 16)); if y > 0.0 { tile[thread()] = redux_add(n); }",
            &["`redux_add`"],
            "let mut y = x[thread()]; for i in 0..5 { y = max(shfl_bfly(y, 16 >> i), y); } if y > 0.0 { tile[0] = redux_add(n); }",
        ),
        (
            "the sum of a fragment",
            "let p = fragment::<f32>(layout!((256,2):(2@0,1@0))); fill(p, 1.0); p[0] = x[thread()]; if p[0] > 0.0 { sync_threads(); }",
            &["`sync_threads`"],
            "let p = fragment::<f32>(layout!((256,2):(2@0,1@0))); fill(p, 1.0); p[0] = x[thread()]; let s = reduce(p, 0, add); if s[0] > 0.0 { sync_threads(); }",
        ),
        (
            "an atomic operation",
            "let old = atomic_add(tile, 0, 1); if old == 0 { sync_threads(); }",
            &["the result of an atomic operation"],
            "if thread() == 0 { tile[0] = atomic_add(u, 0, 1); } sync_threads(); if tile[0] == 0 { sync_threads(); }",
        ),
        (
            "the clock",
            "if clock() > 5 { sync_threads(); }",
            &["the clock"],
            "if grid_dim().0 > 5 { sync_threads(); }",
        ),
        (
            "lanes that are there",
            "if activemask() == 5 { tile[thread()] = redux_add(n); }",
            &["`activemask()`"],
            "if vote_ballot(u[thread()] > 2) == 5 { tile[thread()] = redux_add(n); }",
        ),
        (
            "chosen values",
            "let y = if lane() > 2 { 1u32 } else { 2 }; if y == 1 { tile[thread()] = redux_add(n); }",
            &["`lane()`"],
            "let y = if lane() > 2 { 1u32 } else { 2 }; tile[thread()] = redux_add(y);",
        ),
        (
            "bits of chosen values",
            "let y = if lane() > 2 { 36u32 } else { 4 }; if y / 32 == 1 { tile[thread()] = redux_add(n); }",
            &["`lane()`"],
            "let y = if lane() > 2 { 36u32 } else { 32 }; if y / 32 == 1 { tile[thread()] = redux_add(n); }",
        ),
    ]);
}

#[test]
fn jumps() {
    check(&[
        (
            "a `return` before a shuffle",
            "let i = block_idx().0 * 256 + thread(); if i >= n { return; } x[i] = halves(x[i]);",
            &["some may have left by `return`, inside of an `if`, whose condition may differ"],
            "if block_idx().0 >= n { return; } let i = block_idx().0 * 256 + thread(); x[i] = halves(x[i]);",
        ),
        (
            "a `return` by a multiple",
            "let i = block_idx().0 * 256 + thread(); if i >= n { return; } sync_threads();",
            &["`sync_threads`", "`return`"],
            "let i = block_idx().0 * 256 + thread(); if i >= m { return; } x[i] = halves(x[i]);",
        ),
        (
            "a `return` in a block of its own",
            "if n > 2 { if lane() == 3 { tile[0] = 1; return; } } sync_threads();",
            &["`return`"],
            "if n > 2 { if m == 3 { tile[0] = 1; return; } } sync_threads();",
        ),
        (
            "a `return` of a function",
            "if thread() >= n { return; } u[thread()] = 1; sync_threads();",
            &["`return`"],
            "ended(thread(), n, u); sync_threads();",
        ),
        (
            "a `return` of a function before a shuffle",
            "summed(thread(), n, x);",
            &["`shfl_down`", "`return`"],
            "summed(block_idx().0, n, x);",
        ),
        (
            "a `return` of a closure",
            "let f = |at: u32| { if at >= n { return; } sync_threads(); }; f(lane());",
            &["`sync_threads`", "`return`"],
            "let f = |at: u32| { if at >= n { return; } u[at] = 1; }; f(lane()); sync_threads();",
        ),
        (
            "a `return` with a value",
            "let f = |at: u32| { if at >= n { return at + 1; } x[at] = halves(x[at]); at }; u[0] = f(lane());",
            &["`return`"],
            "let f = |at: u32| { if at >= n { return at + 1; } u[at] = 1; at }; let y = f(lane()); x[y] = halves(x[y]);",
        ),
        (
            "a value that a `return` gives to some",
            "let f = |at: u32| { if at >= n { return 1; } 2 }; if f(lane()) == 1 { sync_threads(); }",
            &[
                "inside of an `if`, whose condition may differ",
                "`sync_threads`",
            ],
            "let f = |at: u32| { if at >= n { return 1; } 2 }; if f(block_idx().0) == 1 { sync_threads(); }",
        ),
        (
            "a value that a `break` gives to some",
            "let y = loop { if lane() > n { break 1; } if n > 5 { break 2; } }; if y == 1 { sync_threads(); }",
            &["`sync_threads`"],
            "let y = loop { if m > n { break 1; } if n > 5 { break 2; } }; if y == 1 { sync_threads(); }",
        ),
        (
            "the `else` of a `let`",
            "let Some(y) = (if lane() > n { Some(1) } else { None }) else { return; }; sync_threads();",
            &["`sync_threads`", "`let … else`"],
            "let Some(y) = (if m > n { Some(1) } else { None }) else { return; }; sync_threads();",
        ),
        (
            "a `return` of an arm",
            "match u[thread()] { 0 => return, 1 => { tile[0] = 1; } _ => {} } sync_threads();",
            &["`sync_threads`", "`return`", "inside of a `match`"],
            "match u[0] { 0 => return, 1 => { tile[0] = 1; } _ => {} } sync_threads();",
        ),
        (
            "how far a search got",
            "if first(u, lane()) < 3 { sync_threads(); }",
            &["`sync_threads`"],
            "if first(u, n) < 3 { sync_threads(); }",
        ),
        (
            "an `exit`",
            "if lane() == 3 { ptx!(\"exit\"); } sync_threads();",
            &["some may have left by `exit`"],
            "if lane() == 3 { ptx!(\"trap\"); } sync_threads();",
        ),
        (
            "a loop that nothing ends",
            "if lane() == 0 { loop {} } sync_threads();",
            &["`sync_threads`"],
            "loop { sync_threads(); if lane() == 0 { tile[0] = 1; tile[1] = n / 3; tile[2] = n / 5; tile[3] = n / 7; } }",
        ),
        (
            "a `break` before a shuffle",
            "loop { if u[thread()] == 0 { break; } tile[thread()] = redux_add(n); }",
            &["some may have left by `break`"],
            "loop { if u[0] == 0 { break; } tile[thread()] = redux_add(n); }",
        ),
        (
            "a `break` behind a shuffle",
            "loop { tile[thread()] = redux_add(n); if u[thread()] == 0 { break; } }",
            &["`redux_add`", "`break`"],
            "loop { tile[thread()] = redux_add(n); if vote_all(u[thread()] == 0) { break; } }",
        ),
        (
            "a `continue`",
            "for i in 0..n { if u[thread()] == i { continue; } tile[thread()] = redux_add(n); }",
            &["`continue`"],
            "for i in 0..n { if u[i] == i { continue; } tile[thread()] = redux_add(n); }",
        ),
        (
            "a `continue` behind it, and the rest of the turn",
            "for i in 0..n { if u[thread()] == i { continue; } tile[0] = i; sync_threads(); }",
            &["`continue`"],
            "for i in 0..n { sync_threads(); if u[thread()] == i { continue; } tile[0] = i; }",
        ),
        (
            "a `break` of the loop around",
            "'a: for i in 0..n { for j in 0..m { if u[thread()] == j { break 'a; } } sync_threads(); }",
            &["`break`"],
            "'a: for i in 0..n { for j in 0..m { if u[thread()] == j { break; } } sync_threads(); }",
        ),
    ]);
}

#[test]
fn loops() {
    check(&[
        (
            "a range that ends by the thread",
            "for i in 0..thread() { tile[i] = redux_add(n); }",
            &["inside of a `for` loop, whose number of iterations"],
            "for i in 0..n { tile[i] = redux_add(n); }",
        ),
        (
            "a range that begins by the thread",
            "for i in lane()..n { tile[i] = redux_add(n); }",
            &["inside of a `for` loop"],
            "for i in warp()..n { tile[i] = redux_add(n); }",
        ),
        (
            "strides of the grid",
            "let mut i = block_idx().0 * 256 + thread(); while i < n { x[i] = halves(x[i]); i += 256 * grid_dim().0; }",
            &["inside of a `while` loop"],
            "let mut i = block_idx().0 * 256 + thread(); while i < m { x[i] = halves(x[i]); i += 256 * grid_dim().0; }",
        ),
        (
            "strides that are counted from a warp's first element on",
            "for i in (Steps { at: thread(), end: n, step: 256 }) { x[i] = halves(x[i]); }",
            &["inside of a `for` loop"],
            "for i in (Steps { at: warp(), end: n, step: 8 }) { tile[i] = redux_add(n); }",
        ),
        (
            "behind a loop, and in it",
            "let mut s = 0u32; let mut i = thread(); while i < n { s += redux_add(u[i]); i += 256; } tile[thread()] = s;",
            &["inside of a `while` loop"],
            "let mut s = 0u32; let mut i = thread(); while i < n { s += u[i]; i += 256; } tile[thread()] = redux_add(s);",
        ),
        (
            "how often a loop ran",
            "let mut s = 0u32; let mut i = thread(); while i < n { s += 1; i += 256; } if s > 2 { sync_threads(); }",
            &["what was assigned where they had parted"],
            "let mut s = 0u32; let mut i = 0u32; while i < n { s += 1; i += 256; } if s > 2 { sync_threads(); }",
        ),
        (
            "a variable that a loop carries",
            "let mut s = 0u32; for i in 0..n { if s > 2 { sync_threads(); } s = s + u[thread()]; }",
            &["data that is loaded"],
            "let mut s = 0u32; for i in 0..n { if s > 2 { sync_threads(); } s = s + u[i]; }",
        ),
        (
            "two variables that change places",
            "let mut s = 0u32; let mut t = lane(); for i in 0..n { if s > 2 { sync_threads(); } let old = s; s = t; t = old; }",
            &["`lane()`"],
            "let mut s = 0u32; let mut t = m; for i in 0..n { if s > 2 { sync_threads(); } let old = s; s = t; t = old; }",
        ),
        (
            "a loop that waits",
            "while u[thread()] == 0 { sync_threads(); }",
            &["inside of a `while` loop, whose condition"],
            "while u[thread()] == 0 {} sync_threads();",
        ),
        (
            "behind a wait for an mbarrier",
            "if lane() == 0 { wait(ready[0], 0); tile[0] = redux_add(n); }",
            &["inside of an `if`"],
            "if thread() == 0 { arrive(ready[0]); } wait(ready[0], 0); sync_threads();",
        ),
    ]);
}

#[test]
fn variables() {
    check(&[
        (
            "assigned in an `if`",
            "let mut s = 0u32; if lane() == 0 { s = 1; } if s == 1 { sync_threads(); }",
            &["`sync_threads`"],
            "let mut s = 0u32; if n == 0 { s = 1; } if s == 1 { sync_threads(); }",
        ),
        (
            "assigned in a long `if`",
            "let mut s = 0u32; if lane() == 0 { tile[0] = n; tile[1] = n / m; tile[2] = n % m; tile[3] = m; s = 1; } if s == 1 { sync_threads(); }",
            &["what was assigned where they had parted"],
            "let mut s = 0u32; if n == 0 { tile[0] = n; tile[1] = n / m; tile[2] = n % m; tile[3] = m; s = 1; } if s == 1 { sync_threads(); }",
        ),
        (
            "assigned anew",
            "let mut s = n; s = lane(); if s == 1 { sync_threads(); }",
            &["`lane()`"],
            "let mut s = lane(); s = n; if s == 1 { sync_threads(); }",
        ),
        (
            "read before it is assigned",
            "let mut s = lane(); if s == 1 { sync_threads(); } s = n; tile[0] = s;",
            &["`lane()`"],
            "let mut s = n; if s == 1 { sync_threads(); } s = lane(); tile[0] = s;",
        ),
        (
            "assigned by a broadcast",
            "let mut s = lane(); s = shfl_up(s, 1); if s == 1 { tile[0] = redux_add(n); }",
            &["`redux_add`"],
            "let mut s = lane(); s = shfl_idx(s, 0); if s == 1 { tile[0] = redux_add(n); }",
        ),
        (
            "assigned by both ways",
            "let mut s = 0u32; if n == 0 { s = lane(); } else { s = 2; } if s == 1 { tile[0] = redux_add(n); }",
            &["`lane()`"],
            "let mut s = 0u32; if n == 0 { s = warp(); } else { s = 2; } if s == 1 { tile[0] = redux_add(n); }",
        ),
        (
            "a truth value",
            "let mut done = false; if u[thread()] == 0 { done = true; } if done { sync_threads(); }",
            &["`sync_threads`"],
            "let mut done = false; if u[0] == 0 { done = true; } if done { sync_threads(); }",
        ),
    ]);
}

#[test]
fn groups() {
    check(&[
        (
            "a barrier of some threads by the lane",
            "if lane() < 16 { bar_sync(1, 128); }",
            &["the lanes of a warp execute `bar_sync` together"],
            "if warpgroup() == 1 { bar_sync(1, 128); }",
        ),
        (
            "a barrier of all threads by its number",
            "if warpgroup() == 1 { bar_sync(1, 256); }",
            &["the threads of a CTA execute `bar_sync` together"],
            "if n == 1 { bar_sync(1, 256); }",
        ),
        (
            "a wgmma by the warp",
            "if warp() == 1 { wgmma_fence(); }",
            &[
                "the threads of a warpgroup execute `wgmma_fence` together",
                "`uniform(…, WARPGROUP)`",
            ],
            "if warpgroup() == 1 { wgmma_fence(); }",
        ),
        (
            "a commit by threads of a half",
            "if thread() < 192 { wgmma_commit(); }",
            &["the threads of a warpgroup"],
            "if thread() < 128 { wgmma_commit(); }",
        ),
        (
            "a wait",
            "if thread() / 32 == 2 { wgmma_wait(0); }",
            &["the threads of a warpgroup"],
            "if thread() / 128 == 1 { wgmma_wait(0); }",
        ),
        (
            "registers",
            "if warp() < 2 { setmaxnreg_dec(40); }",
            &["the threads of a warpgroup"],
            "if warp() < 4 { setmaxnreg_dec(40); }",
        ),
        (
            "any instruction",
            "if lane() < 4 { ptx!(\"bar.warp.sync\", 0xffffffffu32); }",
            &["`bar.warp.sync`"],
            "if warp() < 4 { ptx!(\"bar.warp.sync\", 0xffffffffu32); }",
        ),
        (
            "a mask that does not name all lanes",
            "ptx!(\"bar.warp.sync\", 0xffff);",
            &[
                "all lanes of the warp execute `bar.warp.sync` here, but its mask, 0xffff, does not name all",
            ],
            "if lane() < 16 { ptx!(\"bar.warp.sync\", 0xffff); }",
        ),
        (
            "a barrier that is not aligned",
            "if lane() < 4 { ptx!(\"barrier.sync\", 0); }",
            &["the threads of a CTA execute `barrier.sync` together"],
            "if n < 4 { ptx!(\"barrier.sync\", 0); }",
        ),
        (
            "an arrival of a warp",
            "if lane() < 4 { ptx!(\"bar.arrive\", 1, 64); }",
            &["the lanes of a warp execute `bar.arrive` together"],
            "if warp() < 1 { ptx!(\"bar.arrive\", 1, 64); }",
        ),
        (
            "a reduction at a barrier",
            "let y = ptx!(bool: \"bar.red.and.pred\", 1, 64, n > thread()); if y { sync_threads(); }",
            &["the result of a barrier"],
            "let y = ptx!(bool: \"bar.red.and.pred\", 1, n > thread()); if y { sync_threads(); }",
        ),
        (
            "a vote of listed lanes",
            "let y = ptx!(bool: \"vote.sync.any.pred\", n > 2, 0xff); tile[0] = y as u32;",
            &["its mask, 0xff"],
            "let y = ptx!(bool: \"vote.sync.any.pred\", n > 2, 0xffffffffu32); tile[0] = y as u32;",
        ),
        (
            "matrices by the lane",
            "if lane() < 8 { let a = ptx!(u32: \"movmatrix.sync.aligned.m8n8.trans.b16\", n); tile[0] = a; }",
            &["`movmatrix.sync.aligned.m8n8.trans.b16`"],
            "if warp() < 8 { let a = ptx!(u32: \"movmatrix.sync.aligned.m8n8.trans.b16\", n); tile[0] = a; }",
        ),
    ]);
}

#[test]
fn functions_and_closures() {
    check(&[
        (
            "in a function",
            "if lane() < 3 { x[thread()] = halves(x[thread()]); }",
            &["`shfl_down`"],
            "if warp() < 3 { x[thread()] = halves(x[thread()]); }",
        ),
        (
            "a condition of an argument",
            "wait_if(lane() > 2);",
            &["`sync_threads`", "`lane()`"],
            "wait_if(n > 2);",
        ),
        (
            "in a closure",
            "let sum = |y: u32| redux_add(y); if lane() > 2 { tile[0] = sum(n); }",
            &["`redux_add`"],
            "let sum = |y: u32| redux_add(y); if n > 2 { tile[0] = sum(n); }",
        ),
        (
            "a condition in a closure",
            "let sync = |b: bool| { if b { sync_threads(); } }; sync(u[thread()] > 2);",
            &["`sync_threads`"],
            "let sync = |b: bool| { if b { sync_threads(); } }; sync(u[2] > 2);",
        ),
        (
            "a reduction of a fragment",
            "let p = fragment::<f32>(layout!((256,2):(2@0,1@0))); fill(p, 1.0); if warp() == 0 { let s = reduce(p, 0, add); x[thread()] = s[0]; }",
            &["the threads of a CTA execute `reduce` together"],
            "let p = fragment::<f32>(layout!((256,2):(2@0,1@0))); fill(p, 1.0); if n == 0 { let s = reduce(p, 0, add); x[thread()] = s[0]; }",
        ),
    ]);
}

#[test]
fn claims() {
    check(&[
        (
            "of a condition",
            "if u[thread()] > 2 { tile[0] = redux_add(n); }",
            &["or write `uniform(…)` around it, if it is the same in all of them"],
            "if uniform(u[thread()] > 2) { tile[0] = redux_add(n); }",
        ),
        (
            "of a number",
            "let y = u[thread()]; if y > 2 { tile[0] = redux_add(n); }",
            &["`redux_add`"],
            "let y = uniform(u[thread()]); if y > 2 { tile[0] = redux_add(n); }",
        ),
        (
            "of a warp, but a CTA waits",
            "if uniform(u[thread()] > 2) { sync_threads(); }",
            &["the threads of a CTA"],
            "if uniform(u[thread()] > 2, CTA) { sync_threads(); }",
        ),
        (
            "of a warp, but it is a warpgroup's",
            "if uniform(u[thread()] > 2) { wgmma_fence(); }",
            &["the threads of a warpgroup"],
            "if uniform(u[thread()] > 2, WARPGROUP) { wgmma_fence(); }",
        ),
        (
            "where lanes have parted",
            "let mut y = u[thread()]; if lane() < 4 { y = uniform(y); } if y > 2 { tile[0] = redux_add(n); }",
            &["`redux_add`"],
            "let mut y = u[thread()]; y = uniform(y); if y > 2 { tile[0] = redux_add(n); }",
        ),
        (
            "of what is assigned later",
            "let mut y = uniform(u[thread()]); y = u[lane()]; if y > 2 { tile[0] = redux_add(n); }",
            &["`redux_add`"],
            "let mut y = u[lane()]; y = uniform(u[thread()]); if y > 2 { tile[0] = redux_add(n); }",
        ),
        (
            "of nothing",
            "let y = uniform(tile);",
            &["`uniform` takes a number or a truth value here"],
            "let y = uniform(5); tile[y] = 1;",
        ),
        (
            "of another group",
            "let y = uniform(n, CLUSTER);",
            &["`uniform` takes `WARPGROUP` or `CTA` here"],
            "let y = uniform(n, CTA); tile[0] = y;",
        ),
    ]);
}

#[test]
fn clusters() {
    let errors = |cluster: &str, condition: &str| {
        of_module(&format!(
            "mod kernels {{
                #[kernel(threads = 64, cluster = {cluster})]
                fn k(n: u32) {{ if {condition} {{ sync_cluster(); }} }}
            }}"
        ))
    };
    for (cluster, condition, cause) in [
        (
            "(2, 1, 1)",
            "cluster_ctarank() == 0",
            Some("`cluster_ctarank()`"),
        ),
        ("(2, 1, 1)", "block_idx().0 == 0", Some("`block_idx()`")),
        ("(2, 1, 1)", "block_idx().0 / 2 == 0", None),
        ("(2, 1, 1)", "block_idx().1 == 0", None),
        ("(3, 1, 1)", "block_idx().0 / 4 == 0", Some("`block_idx()`")),
        ("(2, 1, 1)", "cluster_idx().0 == 0", None),
        ("(2, 1, 1)", "thread() < 32", Some("`thread()`")),
        ("(2, 1, 1)", "n > 4", None),
    ] {
        let found = errors(cluster, condition).join("\n");
        match cause {
            Some(cause) => {
                assert!(
                    found.contains("the threads of a cluster"),
                    "{condition}: {found}"
                );
                assert!(found.contains(cause), "{condition}: {found}");
            }
            None => assert_eq!(found, "", "{condition}"),
        }
    }
}

/// A CTA of one warp, or of a part of one, is its threads.
#[test]
fn small_ctas() {
    let errors = |threads: u32, body: &str| {
        of_module(&format!(
            "mod kernels {{
                #[kernel(threads = {threads})]
                unsafe fn k(u: Global<u32, 1>) {{ {body} }}
            }}"
        ))
    };
    let body = "if u[thread()] > 2 { sync_threads(); }";
    assert!(!errors(32, body).is_empty());
    let body = "if vote_any(u[thread()] > 2) { sync_threads(); }";
    assert!(errors(64, body)[0].contains("of a CTA"));
    // With a single warp, what is the same in the warp is so in the CTA.
    assert_eq!(errors(32, body), [""; 0]);
    assert_eq!(
        errors(128, "if warpgroup() == 0 { sync_threads(); }"),
        [""; 0]
    );
}

/// An error in a library stands at the call by which it was entered.
#[test]
fn libraries() {
    let library = "mod kernels { pub fn total(x: u32) -> u32 { redux_add(x) } }";
    let module = "mod kernels {
        use crate::library::total;
        #[kernel(threads = 32)]
        unsafe fn k(x: Global<u32, 1>) { if lane() < 3 { x[0] = total(1 + lane()); } }
    }";
    let libraries = [("crate::library", library.parse().expect("tokens"))];
    let lowered = cute_lang::kernel::lower::lower_with(module.parse().expect("tokens"), &libraries);
    let message = lowered.err().expect("an error").to_string();
    assert!(message.contains("`redux_add`"), "{message}");
    assert!(message.contains("in the module `kernels`"), "{message}");
}

/// A kernel of 256 threads that sums the numbers of those below s up, if this condition says so.
fn claimed(condition: &str, function: &str) -> String {
    let module = format!(
        "mod kernels {{
            #[kernel(threads = 256)]
            unsafe fn k(s: u32) {{
                let t = smem::<u32>((256,));
                if {condition} {{ t[thread()] = thread(); {function}; }}
            }}
        }}"
    );
    let lowered = lower(module.parse().expect("tokens"));
    let lowered = lowered.unwrap_or_else(|error| panic!("{condition}: {error}"));
    lowered[0].module.to_string()
}

/// What the emulator says of a launch.
fn launched(text: &str, s: u32) -> Result<(), String> {
    let program = Program::load(text).map_err(|error| error.to_string())?;
    let launch = Launch {
        block: [256, 1, 1],
        args: &[s.to_le_bytes().to_vec()],
        dynamic_shared_bytes: 1024,
        ..Launch::default()
    };
    let launched = program.launch(&mut GlobalMemory::new(), "k", &launch);
    launched.map(drop).map_err(|error| error.to_string())
}

#[test]
fn claims_are_held_against_the_threads() {
    for (condition, function, agreed, different, message) in [
        (
            "uniform(thread() / s == 0)",
            "redux_add(s)",
            96,
            80,
            "has 0 in %p0, which the PTX says is the same in the whole warp, but lane 0 has 1",
        ),
        (
            "uniform(thread() / s) == 0",
            "redux_add(s)",
            96,
            80,
            "which the PTX says is the same in the whole warp, but lane 0 has ",
        ),
        (
            "uniform(thread() / s == 0, WARPGROUP)",
            "wgmma_fence()",
            128,
            96,
            "in the whole warpgroup, but warp ",
        ),
        (
            "uniform(thread() / s == 0, CTA)",
            "sync_threads()",
            256,
            128,
            "in the whole CTA, but warp ",
        ),
    ] {
        let text = claimed(condition, function);
        assert_eq!(launched(&text, agreed), Ok(()), "{condition}");
        let error = launched(&text, different).expect_err(condition);
        assert!(error.contains(message), "{condition}: {error}");
    }
}

/// The instructions are those that the kernel has without the claim.
#[test]
fn claims_cost_no_instructions() {
    let instructions = |condition: &str| -> Vec<String> {
        let text = claimed(condition, "t[0] = s");
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.starts_with("//"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        instructions("s > 3 && s < 90 && warp() + s > 5"),
        instructions("uniform(s > 3 && s < 90 && warp() + s > 5)"),
    );
}

/// What kernels commonly do.
#[test]
fn idioms_are_right() {
    let right = [
        (
            "a reduction of a CTA by hand",
            "let mut s = if thread() < n { x[thread()] } else { 0.0 };
            for i in 0..5 { s += shfl_bfly(s, 16 >> i); }
            if lane() == 0 { f[warp()] = s; }
            sync_threads();
            if warp() == 0 {
                let mut t = if lane() < 8 { f[lane()] } else { 0.0 };
                for i in 0..3 { t += shfl_bfly(t, 4 >> i); }
                if lane() == 0 { f[0] = t; }
            }
            sync_threads();
            if f[0] > 1.0 { sync_threads(); }",
        ),
        (
            "rounds that all threads take",
            "for round in 0..(n + 255) / 256 {
                let i = round * 256 + thread();
                let y = if i < n { u[i] } else { 0 };
                tile[thread()] = redux_add(y);
                sync_threads();
            }",
        ),
        (
            "an end that is rounded up",
            "let end = (n + 255) / 256 * 256; let mut i = thread();
            while i < end { tile[thread()] = redux_add(i); sync_threads(); i += 256; }",
        ),
        (
            "a row for each warp",
            "let mut row = block_idx().0 * 8 + warp();
            while row < n { tile[warp()] = redux_add(u[row * 32 + lane()]); row += 8 * grid_dim().0; }",
        ),
        (
            "a producer and a consumer",
            "let mut parity = 0u32;
            if warpgroup() == 0 {
                setmaxnreg_dec(40);
                if warp() == 0 && elect() {
                    for i in 0..n { wait(ready[0], parity); parity ^= 1; tile[0] = i; arrive(ready[1]); }
                }
            } else {
                for i in 0..n {
                    wait(ready[1], parity); parity ^= 1;
                    if tile[0] == 7 { wgmma_fence(); }
                    bar_sync(1, 128);
                    if warpgroup_thread() == 0 { arrive(ready[0]); }
                }
            }
            sync_threads();",
        ),
        (
            "tiles that a counter gives out",
            "loop {
                if thread() == 0 { tile[0] = atomic_add(u, 0, 1); }
                sync_threads();
                let next = tile[0];
                sync_threads();
                if next >= n { break; }
            }
            sync_threads();",
        ),
        (
            "lanes that are done",
            "let mut y = u[thread()];
            loop { if vote_all(y == 0) { break; } if y > 0 { y -= 1; } tile[thread()] = redux_add(y); }",
        ),
        (
            "a search in each lane, and a vote behind it",
            "let mut at = 0; while at < n { if u[at] > lane() { break; } at += 1; }
            if vote_any(at == n) { tile[0] = redux_add(at); }",
        ),
        (
            "a quarter of the threads with four elements each",
            "if thread() * 4 < 128 { tile[thread()] = redux_add(n); }",
        ),
        (
            "at most so many warps",
            "if min(thread(), 64) >= 64 { tile[0] = redux_add(n); } if min(warp(), 3) == 3 { tile[1] = redux_add(n); }",
        ),
        (
            "assertions",
            "assert!(u[thread()] < n, \"{}\", u[thread()]); sync_threads(); tile[0] = redux_add(n);",
        ),
    ];
    for (name, statements) in right {
        assert_eq!(errors(statements), [""; 0], "{name}");
    }
}
