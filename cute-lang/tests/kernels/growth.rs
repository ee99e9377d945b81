//! Sources that grow: the time to expand them grows as their length, or a limit refuses them and says which. Neither their length nor
//! their depth takes more stack than rustc has for macros.

use cute_lang::kernel::expand::kernels;
use cute_lang::kernel::lower::lower;
use cute_lang::notation::Reader;
use proc_macro2::TokenStream;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A source.
type Deep = fn() -> String;

/// A kind of source, by its length.
type Source = fn(usize) -> String;

/// The stack that a compiler has for macros is 8 MiB. Without optimisation, as cargo builds macros, an expansion takes up to four times
/// as much of it as here.
const STACK: usize = (8 << 20) / 4;

/// The length of the shortest source.
const LENGTH: usize = 200;

/// A kernel with this body. The barrier makes it matter where threads part.
fn kernel(body: &str) -> String {
    format!(
        "#[kernel(threads = 32, checked)] pub fn k(x: Global<u32, 1>, n: u32) {{ sync_threads(); {body} }}"
    )
}

/// One text for each number.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// Sources that nothing but the number of steps and of lines limits.
const LONG: &[(&str, Source)] = &[
    ("checked stores", |n| {
        kernel(&each(n, |i| format!("x[n + {i}] = {i}; ")))
    }),
    ("checked stores of threads", |n| {
        kernel(&each(n, |i| format!("x[thread() + {i}] = {i}; ")))
    }),
    ("checked stores backwards", |n| {
        kernel(&each(n, |i| format!("x[n + {}] = {i}; ", n - i)))
    }),
    ("checked loads of loaded places", |n| {
        kernel(&format!(
            "let a0 = n; {} x[0] = a0;",
            each(n, |i| format!("let a{} = x[a{i}]; ", i + 1))
        ))
    }),
    ("methods", |n| {
        format!(
            "struct S {{ a: u32 }} impl S {{ fn f(&mut self, b: u32) -> u32 {{ self.a += b; self.a }} }} {}",
            kernel(&format!(
                "let mut s = S {{ a: n }}; {}",
                each(n, |i| format!("x[n] = s.f({i}); "))
            ))
        )
    }),
    ("numbers below extents", |n| {
        format!(
            "#[kernel(threads = 32)] pub fn k(x: Global<u32, 1> {}) {{ {} }}",
            each(n, |i| format!(", n{i}: u32")),
            each(n, |i| format!(
                "if n{i} < extent(x, 0) {{ x[n{i}] = {i}; }} "
            ))
        )
    }),
    ("checked tiles", |n| {
        kernel(&format!(
            "let f = fragment::<u32>(4); fill(f, 1); {}",
            each(n, |i| format!("copy(f, local_tile(x, 4, n + {i})); "))
        ))
    }),
    ("proven stores", |n| {
        kernel(&format!(
            "if n < extent(x, 0) {{ {} }}",
            each(n, |i| format!("x[n] = {i}; "))
        ))
    }),
    ("early returns", |n| {
        kernel(&each(n, |i| format!("if n == {i} {{ return; }} ")))
    }),
    ("returns after stores", |n| {
        kernel(&each(n, |i| {
            format!("if n == {i} {{ x[n] = 1; return; }} ")
        }))
    }),
    ("arms of known matches", |n| {
        kernel(&format!(
            "let v = match 5 {{ {} _ => 0 }}; x[0] = v;",
            each(n, |i| format!("{} => {}, ", i + 6, i * 7))
        ))
    }),
    ("matches", |n| {
        kernel(&each(n, |i| {
            format!("x[n] = match n {{ 1 => {i}, 2 => 4, _ => 0 }}; ")
        }))
    }),
    ("lets", |n| {
        kernel(&format!(
            "{} x[0] = a0;",
            each(n, |i| format!("let a{i} = n + {i}; "))
        ))
    }),
    ("lets of one name", |n| {
        kernel(&format!(
            "let a = n; {} x[0] = a;",
            each(n, |i| format!("let a = a * n + {i}; "))
        ))
    }),
    ("variables", |n| {
        kernel(&each(n, |i| {
            format!("let mut a{i} = n + {i}; a{i} += 1; x[n] = a{i}; ")
        }))
    }),
    ("assignments", |n| {
        kernel(&format!(
            "let mut a = n; {} x[0] = a;",
            each(n, |i| format!("a += n * {i}; "))
        ))
    }),
    ("assignments under ifs", |n| {
        kernel(&format!(
            "let mut a = n; {} x[0] = a;",
            each(n, |i| format!("if n > {i} {{ a += {i}; }} "))
        ))
    }),
    ("values of ifs", |n| {
        kernel(&format!(
            "let a = n; {} x[0] = a;",
            each(n, |i| format!(
                "let a = if a > {i} {{ a * 3 }} else {{ n }}; "
            ))
        ))
    }),
    ("stores under ifs", |n| {
        kernel(&each(n, |i| {
            format!("if n + {i} < extent(x, 0) {{ x[n + {i}] = 1; }} ")
        }))
    }),
    ("shared tensors in blocks", |n| {
        kernel(&"{ let t = smem::<u32>(64); t[thread()] = 1; }".repeat(n))
    }),
    ("barriers", |n| {
        kernel(&each(n, |i| {
            format!("let b{i} = mbarriers(1, 1); arrive(b{i}[0]); ")
        }))
    }),
    ("fragments", |n| {
        kernel(&each(n, |i| {
            format!("let held{i} = fragment::<f32>(4); fill(held{i}, 1.0); ")
        }))
    }),
    ("copies", |n| {
        kernel(&format!(
            "let f = fragment::<u32>(4); {}",
            "copy_or(local_tile(x, 4, n), f, 0); copy_inside(f, local_tile(x, 4, n)); ".repeat(n)
        ))
    }),
    ("loops", |n| {
        kernel(&each(n, |i| format!("for i in 0..n {{ x[i] = {i}; }} ")))
    }),
    ("returns of lanes", |n| {
        kernel(&each(n, |i| {
            format!("if lane() + {i} == n {{ x[n] = 1; return; }} ")
        }))
    }),
    ("loops of lanes", |n| {
        kernel(&each(n, |i| {
            format!("for i in lane()..n {{ if x[i] == {i} {{ break; }} x[i] = {i}; }} ")
        }))
    }),
    ("variables that a loop carries on", |n| {
        kernel(&format!(
            "{} for i in 0..n {{ {} a0 = lane(); }} if a{n} == 3 {{ x[0] = 1; return; }} x[1] = n;",
            each(n + 1, |i| format!("let mut a{i} = n; ")),
            each(n, |i| format!("a{} = a{}; ", n - i, n - i - 1)),
        ))
    }),
    ("while loops", |n| {
        kernel(&format!(
            "let mut a = n; {}",
            "while a > 3 { a -= 1; x[a] = a; } ".repeat(n)
        ))
    }),
    ("labelled loops", |n| {
        kernel(&each(n, |i| {
            format!("'a{i}: loop {{ if n == {i} {{ break 'a{i}; }} x[n] = 1; }} ")
        }))
    }),
    ("returns with values", |n| {
        let returns = each(n, |i| format!("if x == {i} {{ return x + {i}; }} "));
        let function = format!("fn f(x: u32) -> u32 {{ {returns} x }}");
        format!("{function} {}", kernel("x[0] = f(n);"))
    }),
    ("breaks with values", |n| {
        let breaks = each(n, |i| format!("if n == {i} {{ break n + {i}; }} "));
        kernel(&format!("x[0] = loop {{ {breaks} break 3; }};"))
    }),
    ("variants", |n| {
        let variants = each(n, |i| format!("V{i}, "));
        let choice = each(n, |i| format!("if n == {i} {{ e = E::V{i}; }} "));
        let body = format!("let mut e = E::V0; {choice} x[0] = e as u32;");
        format!("enum E {{ {variants} }} {}", kernel(&body))
    }),
    ("names of fragments", |n| {
        let names = each(n, |i| format!("let f{} = f{i}; x[{i}] = f{i}[0]; ", i + 1));
        kernel(&format!(
            "let f0 = fragment::<u32>(4); fill(f0, 1); {names} f0 += 1; x[0] = f0[0];"
        ))
    }),
    ("unrolled loops", |n| {
        kernel(&format!("for i in 0..{n} {{ x[n + i] = i; }}"))
    }),
    ("unrolled loops of breaks", |n| {
        kernel(&format!(
            "for i in 0..{n} {{ if x[n] == i {{ break; }} x[n + i] = i; }}"
        ))
    }),
    ("assertions", |n| {
        kernel(&each(n, |i| format!("assert!(n > {i}); ")))
    }),
    ("prints", |n| {
        kernel(&each(n, |i| format!("print!(\"{i} {{}}\", n); ")))
    }),
    ("facts", |n| {
        format!(
            "#[kernel(threads = 32)] pub fn k(#[facts({})] x: Global<u32, 1>, n: u32) {{ if n < extent(x, 0) {{ x[n] = 1; }} }}",
            each(n, |i| format!("extent(x, 0) != {}, ", i + 1))
        )
    }),
    ("structs", |n| {
        format!(
            "{} {}",
            each(n, |i| format!("struct S{i} {{ a: u32 }} ")),
            kernel(&each(n, |i| format!("let s{i} = S{i} {{ a: n }}; ")))
        )
    }),
    ("fields", |n| {
        format!(
            "struct S {{ {} }} {}",
            each(n, |i| format!("a{i}: u32, ")),
            kernel(&format!(
                "let mut s = S {{ {} }}; s.a0 += 1; x[0] = s.a0;",
                each(n, |i| format!("a{i}: n, "))
            ))
        )
    }),
    ("tuples", |n| {
        kernel(&format!(
            "let t = ({}); x[0] = t.0;",
            each(n, |i| format!("n + {i}, "))
        ))
    }),
    ("arrays", |n| {
        kernel(&format!(
            "let mut t = [{}]; t[0] = 1; x[0] = t[0];",
            each(n, |i| format!("n + {i}, "))
        ))
    }),
    ("arrays of one value", |n| {
        kernel(&format!("let mut t = [n; {n}]; t[0] = 1; x[0] = t[0];"))
    }),
    ("functions", |n| {
        format!(
            "{} {}",
            each(n, |i| format!("fn f{i}(a: u32) -> u32 {{ a * {i} }} ")),
            kernel(&each(n, |i| format!("x[n] = f{i}(n); ")))
        )
    }),
    ("calls that return early", |n| {
        format!(
            "fn f(a: &mut u32) {{ if *a > 7 {{ return; }} *a *= 2; }} {}",
            kernel(&format!(
                "let mut a = n; {} x[0] = a;",
                "f(&mut a); ".repeat(n)
            ))
        )
    }),
    ("closures", |n| {
        kernel(&each(n, |i| {
            format!("let f{i} = |a| a + {i}; x[n] = f{i}(n); ")
        }))
    }),
    ("constants", |n| {
        format!(
            "{} {}",
            each(n, |i| format!("const C{i}: u32 = {i}; ")),
            kernel(&each(n, |i| format!("x[n] = C{i}; ")))
        )
    }),
    ("kernels", |n| {
        each(n, |i| {
            format!("#[kernel(threads = 32)] pub fn k{i}(x: Global<u32, 1>) {{ x[0] = {i}; }} ")
        })
    }),
    ("instances", |n| {
        format!(
            "#[kernel(threads = 32)] {} pub fn k<const N: u32>(x: Global<u32, 1>) {{ x[0] = N; }}",
            each(n, |i| format!("#[instance(k{i}: N = {i})] "))
        )
    }),
    ("comments", |n| {
        format!("{} {}", each(n, |i| format!("/// Line {i}.\n")), kernel(""))
    }),
    ("instructions", |n| {
        kernel(&each(n, |i| {
            format!("let a{i} = ptx!(u32: \"add.u32\", n, {i}); ")
        }))
    }),
    ("parameters", |n| {
        format!(
            "#[kernel(threads = 32)] pub fn k(x: Global<u32, 1> {}) {{ x[0] = n0; }}",
            each(n, |i| format!(", n{i}: u32"))
        )
    }),
    ("facts of equality", |n| {
        format!(
            "#[kernel(threads = 32)] pub fn k(x: Global<u32, 1> {}) {{ x[0] = 1; }}",
            each(n, |i| format!(
                ", #[facts(extent(x{i}, 0) == extent(x, 0))] x{i}: Global<u32, 1>"
            ))
        )
    }),
];

/// Sources that a limit refuses, with what the error says.
const LIMITED: &[(&str, Source, &str)] = &[
    (
        "arms of a match",
        |n| {
            kernel(&format!(
                "let v = match n {{ {} _ => 0 }}; x[0] = v;",
                each(n, |i| format!("{i} => {}, ", i * 7))
            ))
        },
        "the arms of a `match` on a run-time value are tried in turn",
    ),
    (
        "arms of a match that store",
        |n| {
            kernel(&format!(
                "match n {{ {} _ => {{}} }}",
                each(n, |i| format!("{i} => {{ x[{i}] = n; }} "))
            ))
        },
        "the arms of a `match` on a run-time value are tried in turn",
    ),
    (
        "nested matches",
        |n| {
            kernel(&format!(
                "let v = {} n {}; x[0] = v;",
                each(n / 20, |_| format!(
                    "match n {{ {} _ => ",
                    each(19, |i| format!("{i} => {i}, "))
                )),
                "}".repeat(n / 20)
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "nested matches in first arms",
        |n| {
            kernel(&format!(
                "let v = {} n {}; x[0] = v;",
                "match n { 0 => ".repeat(n / 20),
                format!(
                    ", {} _ => 9 }}",
                    each(18, |i| format!("{} => {i}, ", i + 1))
                )
                .repeat(n / 20)
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "alternatives of a pattern",
        |n| {
            kernel(&format!(
                "let v = match n {{ {} => 1, _ => 0 }}; x[0] = v;",
                (0..n + 1)
                    .map(|i| i.to_string())
                    .collect::<Vec<_>>()
                    .join(" | ")
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "else if",
        |n| {
            kernel(&format!(
                "{} {{ x[0] = 1; }}",
                each(n, |i| format!("if n == {i} {{ x[n] = 2; }} else "))
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "nested ifs",
        |n| {
            kernel(&format!(
                "{} {}",
                each(n, |i| format!("if n > {i} {{ ")),
                "}".repeat(n)
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "nested blocks",
        |n| kernel(&format!("{} {}", "{".repeat(n), "}".repeat(n))),
        "operators and brackets nest more than 256 deep",
    ),
    (
        "and",
        |n| {
            kernel(&format!(
                "if n > 1 {} {{ x[0] = 1; }}",
                each(n, |i| format!("&& n < {i} "))
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "or of stores",
        |n| {
            kernel(&format!(
                "if n > 1 {} {{ x[0] = 1; }}",
                each(n, |i| format!("|| x[n] < {i} "))
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "sums",
        |n| kernel(&format!("x[0] = n {};", each(n, |i| format!("+ n * {i} ")))),
        "operators and brackets nest more than 256 deep",
    ),
    (
        "nested loops",
        |n| {
            kernel(&format!(
                "{} x[0] = 1; {}",
                each(n, |i| format!("for i{i} in 0..n {{ ")),
                "}".repeat(n)
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "nested calls",
        |n| {
            kernel(&format!(
                "x[0] = {} n {};",
                "min(n, ".repeat(n),
                ")".repeat(n)
            ))
        },
        "operators and brackets nest more than 256 deep",
    ),
    (
        "chains of functions",
        |n| {
            format!(
                "fn f0(a: u32) -> u32 {{ a }} {} {}",
                each(n, |i| format!(
                    "fn f{}(a: u32) -> u32 {{ f{i}(a) }} ",
                    i + 1
                )),
                kernel(&format!("x[0] = f{n}(n);"))
            )
        },
        "calls nest more than 32 deep",
    ),
    (
        "closures of closures",
        |n| {
            kernel(&format!(
                "let f0 = |a: u32| a; {} x[0] = f{n}(n);",
                each(n, |i| format!("let f{} = |a: u32| f{i}(a) + 1; ", i + 1))
            ))
        },
        "calls nest more than 32 deep",
    ),
    (
        "constants of constants",
        |n| {
            format!(
                "const C0: u32 = 1; {} {}",
                each(n, |i| format!("const C{}: u32 = C{i} + 1; ", i + 1)),
                kernel(&format!("x[0] = C{n};"))
            )
        },
        "expressions and calls nest more than 256 deep",
    ),
    (
        "shared tensors",
        |n| {
            kernel(&each(n, |i| {
                format!("let t{i} = smem::<u8>(16); t{i}[0] = 1; ")
            }))
        },
        "do not fit shared memory",
    ),
    (
        "errors",
        |n| kernel(&each(n, |i| format!("let a{i} = b{i}; "))),
        "cannot find `b0` in this scope",
    ),
    (
        "layouts",
        |n| {
            kernel(&each(n, |i| {
                format!("let l{i} = layout!((8,{}):(1,8)); ", i + 1)
            }))
        },
        "the kernel takes more than 50000 steps to expand",
    ),
    (
        "layout of many modes",
        |n| kernel(&format!("let l = layout!(({}1)); ", "1,".repeat(n))),
        "the limit is 1024",
    ),
    (
        "nested matches of 20 arms",
        |_| {
            kernel(&format!(
                "let v = {} n {}; x[0] = v;",
                each(60, |_| format!(
                    "match n {{ {} _ => ",
                    each(19, |i| format!("{i} => {i}, "))
                )),
                "}".repeat(60)
            ))
        },
        "the arms of a `match` on a run-time value are tried in turn",
    ),
];

/// Sources just below the limits of depth.
const DEEP: &[(&str, Deep)] = &[
    ("match arms", || {
        kernel(&format!(
            "let v = match n {{ {} _ => 0 }}; x[0] = v;",
            each(180, |i| format!("{i} => {}, ", i * 7))
        ))
    }),
    ("match arms stores", || {
        kernel(&format!(
            "match n {{ {} _ => {{}} }}",
            each(180, |i| format!("{i} => {{ x[{i}] = n; }} "))
        ))
    }),
    ("nested matches", || {
        kernel(&format!(
            "let v = {} n {}; x[0] = v;",
            each(8, |_| format!(
                "match n {{ {} _ => ",
                each(19, |i| format!("{i} => {i}, "))
            )),
            "}".repeat(8)
        ))
    }),
    ("nested matches of 2", || {
        kernel(&format!(
            "let v = {} n {}; x[0] = v;",
            each(60, |_| "match n { 1 => 2, _ => ".into()),
            "}".repeat(60)
        ))
    }),
    ("parens", || {
        kernel(&format!(
            "let v = {}n{}; x[0] = v;",
            "(".repeat(240),
            ")".repeat(240)
        ))
    }),
    ("nots", || {
        kernel(&format!("let v = {}n; x[0] = v;", "!".repeat(240)))
    }),
    ("sums", || {
        kernel(&format!("let v = n{}; x[0] = v;", " + n".repeat(240)))
    }),
    ("blocks", || {
        kernel(&format!(
            "let v = {}n{}; x[0] = v;",
            "{".repeat(110),
            "}".repeat(110)
        ))
    }),
    ("ifs", || {
        kernel(&format!(
            "{}x[0] = n;{}",
            "if n > 1 { ".repeat(60),
            "}".repeat(60)
        ))
    }),
    ("else ifs", || {
        kernel(&format!(
            "let v = {} {{ n }}; x[0] = v;",
            "if n == 0 { n } else ".repeat(55)
        ))
    }),
    ("loops", || {
        kernel(&format!(
            "{}x[0] = n;{}",
            "for i in 0..n { ".repeat(60),
            "}".repeat(60)
        ))
    }),
    ("unrolled loops", || {
        kernel(&format!(
            "{}x[0] = n;{}",
            "for i in 0..1 { ".repeat(60),
            "}".repeat(60)
        ))
    }),
    ("while", || {
        kernel(&format!(
            "{}x[0] = n;{}",
            "while n > 0 { ".repeat(60),
            "}".repeat(60)
        ))
    }),
    ("calls", || {
        kernel(&format!(
            "x[0] = {}n{};",
            "min(n, ".repeat(120),
            ")".repeat(120)
        ))
    }),
    ("functions", || {
        format!(
            "fn f0(a: u32) -> u32 {{ a }} {} {}",
            each(31, |i| format!(
                "fn f{}(a: u32) -> u32 {{ if a > 0 {{ {{ f{i}(a) }} }} else {{ 1 }} }} ",
                i + 1
            )),
            kernel("x[0] = f31(n);")
        )
    }),
    ("closures", || {
        kernel(&format!(
            "let f0 = |a: u32| a; {} x[0] = f31(n);",
            each(31, |i| format!(
                "let f{} = |a: u32| {{ if a > 0 {{ f{i}(a) }} else {{ 1 }} }}; ",
                i + 1
            ))
        ))
    }),
    ("tuples", || {
        kernel(&format!(
            "let v = {}n{}; x[0] = n;",
            "(".repeat(60),
            ",)".repeat(60)
        ))
    }),
    ("and", || {
        kernel(&format!(
            "if n > 0 {} {{ x[0] = 1; }}",
            "&& n < 9 ".repeat(60)
        ))
    }),
    ("or stores", || {
        kernel(&format!(
            "if n > 0 {} {{ x[0] = 1; }}",
            "|| x[n] < 9 ".repeat(60)
        ))
    }),
    ("methods", || {
        kernel(&format!("x[0] = n{};", ".min(n)".repeat(60)))
    }),
    ("casts", || {
        kernel(&format!("x[0] = n{};", " as u32".repeat(80)))
    }),
    ("layouts", || {
        kernel(&format!(
            "let l = layout!({}8:1{}); ",
            "(".repeat(60),
            ")".repeat(60)
        ))
    }),
    ("alternatives", || {
        kernel(&format!(
            "x[0] = match n {{ {} => 1, _ => 0 }};",
            (0..100)
                .map(|i| i.to_string())
                .collect::<Vec<_>>()
                .join(" | ")
        ))
    }),
];

/// What the expansion of a source takes, and its first error.
fn expand(source: String) -> (Duration, String) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let expanded = thread.spawn(move || {
        let module = format!("pub mod kernels {{ {source} }}");
        let module: TokenStream = module.parse().expect("tokens");
        let start = time();
        let tokens = kernels(TokenStream::new(), module, Reader::Compiler);
        let taken = time() - start;
        let text = tokens.to_string();
        let error = text.split("compile_error ! {").nth(1).unwrap_or_default();
        (taken, error.chars().take(400).collect())
    });
    expanded.expect("a thread").join().expect("an expansion")
}

/// The time that this thread has run, which another process does not change; where nothing tells it, that on the clock.
fn time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let of_thread = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    };
    of_thread().unwrap_or_else(|| START.elapsed())
}

/// Four times the length takes about four times as long. Sixteen times would be the square.
#[test]
fn long_sources_take_time_as_their_length() {
    let length = if crate::random::is_nightly() {
        4 * LENGTH
    } else {
        LENGTH
    };
    let mut wrong = Vec::new();
    for (name, source) in LONG {
        let mut taken = [length, 4 * length].map(|length| {
            let (taken, error) = expand(source(length));
            assert_eq!(error, "", "{name}");
            taken
        });
        let is_slow = |taken: &[Duration; 2]| taken[1] > taken[0].max(Duration::from_millis(8)) * 9;
        if is_slow(&taken) {
            // Once more, since caches are not those of this thread alone.
            taken = [length, 4 * length].map(|length| expand(source(length)).0);
        }
        println!("{name:32} {:8.1?} {:8.1?}", taken[0], taken[1]);
        if is_slow(&taken) {
            wrong.push(format!("{name}: {taken:?}"));
        }
    }
    assert!(wrong.is_empty(), "not linear: {wrong:#?}");
}

#[test]
fn what_a_limit_refuses_is_named_soon() {
    for (name, source, expected) in LIMITED {
        let (taken, error) = expand(source(3000));
        println!("{name:32} {taken:8.1?} {error}");
        assert!(error.contains(expected), "{name}: {error}");
        assert!(taken < Duration::from_secs(20), "{name}: {taken:?}");
    }
}

#[test]
fn what_no_limit_refuses_fits_the_stack() {
    for (name, source) in DEEP {
        assert_eq!(expand(source()).1, "", "{name}");
    }
}

#[test]
fn a_loop_that_is_unrolled_too_often_is_named() {
    for body in ["let y = i * j;", "x[n + i * j] = i;"] {
        let source = format!("for i in 0..4000 {{ for j in 0..4000 {{ {body} }} }}");
        let module = format!("mod kernels {{ {} }}", kernel(&source));
        let errors: Vec<String> = match lower(module.parse().expect("tokens")) {
            Ok(_) => Vec::new(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
        };
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(
            errors[1],
            "this loop is unrolled, and has 4000 steps: `#[unroll(1)]` before it keeps it a loop"
        );
        let kept = source.replace("for", "#[unroll(1)] for");
        assert_eq!(expand(kernel(&kept)).1, "");
    }
}
