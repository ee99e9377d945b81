//! Fragments with two names: what reads one after a change by the other is refused, and a copy is what Rust would give.

use crate::judge;
use cute_lang::kernel::lower::{Lowered, lower};

fn kernel(body: &str) -> Result<Vec<Lowered>, String> {
    let source = format!(
        "mod kernels {{
            struct Held {{ acc: Fragment, n: u32 }}
            fn bump(x: Fragment) {{ x += 1.0; }}
            fn same(x: Fragment) -> Fragment {{ x }}
            fn total(x: Fragment) -> f32 {{ x[0] + x[1] }}
            #[kernel(threads = 32)]
            pub unsafe fn k(d: Global<f32, 1>, n: u32) {{
                let acc = fragment::<f32>((2));
                fill(acc, 1.0);
                {body}
            }}
        }}"
    );
    let lowered = lower(source.parse().expect("tokens"));
    lowered.map_err(|error| {
        let errors = error.into_iter().map(|error| error.to_string());
        errors.collect::<Vec<_>>().join("; ")
    })
}

#[test]
fn what_has_changed_by_another_name_is_not_read() {
    for (body, old, new) in [
        ("let old = acc; acc += 1.0; d[0] = old[0];", "old", "acc"),
        ("let old = acc; old += 1.0; d[0] = acc[0];", "acc", "old"),
        ("let old = acc; acc[0] = 2.0; d[0] = old[0];", "old", "acc"),
        ("let old = acc; bump(acc); d[0] = total(old);", "old", "acc"),
        (
            "let old = acc; fill(acc, 2.0); d[0] = old[1];",
            "old",
            "acc",
        ),
        ("let old = acc; acc *= old; acc += old;", "old", "acc"),
        (
            "let old = (acc); let older = old; old += 1.0; d[0] = older[0];",
            "older",
            "old",
        ),
        (
            "let (old, n) = (acc, 3); acc += 1.0; d[0] = old[0];",
            "old",
            "acc",
        ),
        (
            "let held = Held { acc: acc, n: n }; let old = held.acc; fill(held.acc, 2.0); d[0] = old[0];",
            "old",
            "held.acc",
        ),
        (
            "let old = acc; if n > 3 { acc += 1.0; } d[0] = old[0];",
            "old",
            "acc",
        ),
        (
            "let old = acc; for i in 0..n { d[i] = old[0]; acc += 1.0; }",
            "old",
            "acc",
        ),
        (
            "let old = acc; let mut i = 0; while i < n { d[i] = old[0]; i += 1; if i > 3 { bump(acc); } }",
            "old",
            "acc",
        ),
        (
            "let old = acc; ptx!(\"nanosleep.u32\", n); let x = acc + 1.0; copy(x, acc); d[0] = old[0];",
            "old",
            "acc",
        ),
    ] {
        let error = kernel(body)
            .err()
            .unwrap_or_else(|| panic!("{body} is accepted"));
        let expected =
            format!("`{old}` names the same registers as `{new}`, which has changed since `let");
        assert!(error.contains(&expected), "{body}: {error}");
        assert!(
            error.contains(&format!("`{new}` changes here")),
            "{body}: {error}"
        );
        assert!(error.contains("which copies them"), "{body}: {error}");
        assert_eq!(error.matches("changes here").count(), 1, "{body}: {error}");
    }
}

#[test]
fn other_uses_of_two_names_are_taken() {
    for body in [
        "let mut old = acc; acc += 1.0; d[0] = old[0];",
        "let old = acc; d[0] = old[0] + acc[0];",
        "acc += 1.0; let old = acc; d[0] = old[0];",
        "let new = acc; new += 1.0; bump(new); d[0] = total(new);",
        "let new = acc; new += 1.0; let x = same(new); x += 2.0; d[0] = new[0] + x[0];",
        "let acc = acc; acc += 1.0; d[0] = acc[0];",
        "let x = acc[0]; acc += 1.0; d[0] = x;",
        "let old = acc; if n > 3 { acc += 1.0; d[1] = acc[0]; } else { d[0] = old[0]; }",
        "let old = acc; if n > 3 { acc += 1.0; d[1] = acc[0]; return; } d[0] = old[0];",
        "for i in 0..n { let old = acc; d[i] = old[0]; acc += 1.0; }",
        "for i in 0..3 { let old = acc; d[i] = old[0]; acc += 1.0; }",
        "let old = acc; fill(acc, 2.0); fill(old, 3.0); d[0] = old[0];",
        "let view = same(acc); acc += 1.0; d[0] = view[0];",
        "let other = fragment::<f32>((2)); fill(other, 2.0); let old = acc; other += 1.0; d[0] = old[0] + other[0];",
        "let mut m = acc; let old = m; m += 1.0; m = m + old; d[0] = old[0] + m[0];",
        "let g = |x: Fragment| x[0] + acc[0]; acc += 1.0; d[0] = g(acc);",
    ] {
        let lowered = kernel(body).unwrap_or_else(|error| panic!("{body}: {error}"));
        let text = lowered[0].module.to_string();
        assert!(!text.contains('\''), "{text}");
        judge(&lowered);
    }
}
