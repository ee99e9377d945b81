//! What is refused of tuple structs, type aliases, enums and patterns, and what kernels take of them.

use cute_lang::kernel::lower::lower;

/// The first error of a module with these items and a kernel with this body.
fn error(items: &str, body: &str) -> String {
    let source =
        format!("mod kernels {{ {items} #[kernel(threads = 32)] fn k(n: u32) {{ {body} }} }}");
    match lower(source.parse().expect("tokens")) {
        Ok(_) => panic!("{items} {body} is accepted"),
        Err(error) => error.to_string(),
    }
}

fn refused(cases: &[(&str, &str, &str)]) {
    for (items, body, message) in cases {
        let error = error(items, body);
        assert!(error.contains(message), "{items} {body}: {error}");
    }
}

#[test]
fn wrong_tuple_structs() {
    let pair = "struct Pair(u32, f32); struct Named { a: u32 } struct Unit;";
    refused(&[
        (pair, "let p = Pair(n);", "`Pair` takes 2 arguments, not 1"),
        (
            pair,
            "let p = Pair(n, n);",
            "expected `f32`, found a run-time `u32`",
        ),
        (
            pair,
            "let p = Pair(n, 1.0); let x = p.2;",
            "`Pair` has no field `2`",
        ),
        (
            pair,
            "let p = Pair { 0: n };",
            "`Pair` has no value for the field `1`",
        ),
        (
            pair,
            "let p = Named(n);",
            "the fields of `Named` have names",
        ),
        (
            pair,
            "let Pair(a, b, c) = Pair(n, 1.0);",
            "a pattern of 3 names does not match a `Pair`",
        ),
        (
            pair,
            "let Named(a) = Named { a: n };",
            "this pattern does not match a `Named`",
        ),
        (
            pair,
            "let Pair(a, ..) = Named { a: n };",
            "this pattern does not match a `Named`",
        ),
        (
            pair,
            "let u = Unit; let x = u.0;",
            "`Unit` has no field `0`",
        ),
        (
            pair,
            "let x = Pair;  x + 1;",
            "cannot apply `+` to the function `Pair`",
        ),
    ]);
}

#[test]
fn wrong_aliases() {
    let chain: String = (0..40)
        .map(|i| format!("type A{i} = A{};", i + 1))
        .collect();
    refused(&[
        (
            "type A = B; type B = (A, u32);",
            "",
            "the type `A` stands for itself",
        ),
        ("type A = Missing;", "", "cannot find the type `Missing`"),
        ("type A = &f32;", "", "a field holds the value itself"),
        (
            "type A = f32; fn f(x: A) -> u32 { 1 }",
            "f(n);",
            "expected `A`, found a run-time `u32`",
        ),
        (
            "type Two<T> = (T, T); fn f(x: Two<f32>) -> u32 { 1 }",
            "f((n, n));",
            "expected `Two<f32>`, found a tuple of 2",
        ),
        (
            "type Two<T> = (T, T); fn f(x: Two<f32, u32>) -> u32 { 1 }",
            "f((1.0, 2.0));",
            "`Two` has 2 generic arguments here",
        ),
        (
            "type A = (u32, u32);",
            "let x = A::MAX;",
            "cannot find `A::MAX`",
        ),
        (
            &format!("{chain} type A40 = f32;"),
            "",
            "names of types nest more than 32 deep",
        ),
    ]);
}

#[test]
fn wrong_enums() {
    let mode = "#[derive(PartialEq)] enum Mode { Fast, Safe, Slow } enum Other { Fast, Slow }
        fn of(x: u32) -> Mode { if x > 3 { return Mode::Fast; } if x > 2 { Mode::Safe } else { Mode::Slow } }";
    refused(&[
        (
            "enum E { A(u32), B }",
            "",
            "an enum has no data in the kernel language: a struct holds it beside a variant",
        ),
        ("enum E { A { x: u32 } }", "", "an enum has no data"),
        ("enum E<T> { A }", "", "an enum has no parameters"),
        (
            "enum E { A = 1, B = 1 }",
            "let m = E::A;",
            "`B` has the discriminant 1 of `A`",
        ),
        (
            "#[repr(u8)] enum E { A = 255, B }",
            "let m = E::A;",
            "the discriminant 256 does not fit `u8`",
        ),
        ("#[repr(f32)] enum E { A }", "", "of known width"),
        (
            "enum E { A = 1.5 }",
            "let m = E::A;",
            "a discriminant is a known integer, not the number 1.5",
        ),
        (
            mode,
            "let m = Mode::Fest;",
            "`Mode` has no variant `Fest`: did you mean `Fast`?",
        ),
        (
            mode,
            "let m = Mode { r#enum: 1 };",
            "`Mode` is an enum: name a variant",
        ),
        (
            mode,
            "let m = of(n); let x = m.r#enum;",
            "`Mode` has no field `r#enum`",
        ),
        (
            mode,
            "let Mode { r#enum: x } = of(n);",
            "this pattern does not match a `Mode`",
        ),
        (mode, "let x = of(n) + 1;", "cannot apply `+` to a `Mode`"),
        (
            mode,
            "let x = of(n) as f32;",
            "no conversion from a `Mode` to `f32`",
        ),
        (
            mode,
            "if of(n) == 1 { }",
            "cannot compare a `Mode` with the integer 1",
        ),
        (
            mode,
            "if of(n) == Other::Fast { }",
            "cannot compare a `Mode` with a `Other`",
        ),
        (
            mode,
            "if of(n) < Mode::Safe { }",
            "write `#[derive(PartialOrd)]` before it",
        ),
        (
            mode,
            "if Other::Fast == Other::Slow { }",
            "write `#[derive(PartialEq)]` before it",
        ),
        (
            mode,
            "let mut m = of(n); m = 1;",
            "cannot assign the integer 1 to a `Mode`",
        ),
        (
            mode,
            "let m = if n > 3 { Mode::Fast } else { Other::Fast };",
            "give a `Mode` and a `Other`",
        ),
        (mode, "print!(\"{}\", of(n));", "a `Mode` has no text"),
    ]);
}

#[test]
fn a_match_that_leaves_values_out() {
    let items = "#[derive(Clone, Copy)] enum Mode { Fast, Safe, Slow } struct P { m: Mode, b: bool } struct T(Mode, u32);
        fn of(x: u32) -> Mode { if x > 3 { Mode::Fast } else { Mode::Safe } }
        fn option(x: u32) -> Option<Mode> { if x > 3 { Some(Mode::Fast) } else { None } }";
    let match_ = |value: &str, arms: &str| format!("match {value} {{ {arms} }};");
    for (value, arms, missing) in [
        ("of(n)", "Mode::Fast => 1, Mode::Safe => 2", "Mode::Slow"),
        // What is known is checked as well.
        (
            "Mode::Fast",
            "Mode::Fast => 1, Mode::Safe => 2",
            "Mode::Slow",
        ),
        (
            "of(n)",
            "Mode::Fast => 1, Mode::Safe | Mode::Slow if 1 > 2 => 2, Mode::Slow => 3",
            "Mode::Safe",
        ),
        (
            "(of(n), n > 3)",
            "(Mode::Fast, _) => 1, (Mode::Safe, true) => 2, (_, false) => 3",
            "(Mode::Slow, true)",
        ),
        (
            "option(n)",
            "Some(Mode::Fast) => 1, None => 2, Some(Mode::Slow) => 3",
            "Some(Mode::Safe)",
        ),
        ("option(n)", "Some(_) => 1", "None"),
        (
            "(P { m: of(n), b: n > 3 })",
            "P { m: Mode::Fast, .. } => 1, P { b: true, m: Mode::Safe } => 2, P { b: false, .. } => 3",
            "P { m: Mode::Slow, b: true }",
        ),
        (
            "T(of(n), n)",
            "T(Mode::Fast, _) => 1, T(.., 5) => 2",
            "T(Mode::Safe, _)",
        ),
        (
            "[of(n), of(n)]",
            "[Mode::Fast, _] => 1, [_, Mode::Safe] => 2, [Mode::Safe, _] => 3",
            "[Mode::Slow, Mode::Fast]",
        ),
        (
            "(n > 3, n)",
            "(true, _) => 1, (false, 3) => 2",
            "(false, _)",
        ),
        ("n > 3", "true => 1", "false"),
    ] {
        let error = error(items, &match_(value, arms));
        let expected = format!("no arm of the `match` matches `{missing}`: add one");
        assert!(error.contains(&expected), "{value} {arms}: {error}");
    }
    // A search that would take long ends.
    for (columns, expected) in [
        (8, "no arm of the `match` matches"),
        (24, "steps to expand"),
    ] {
        let row = |at: usize| {
            let cells = (0..columns).map(|i| if i == at { "true" } else { "_" });
            format!("({}) => {at},", cells.collect::<Vec<_>>().join(", "))
        };
        let rows: String = (0..columns).map(row).collect();
        let value = format!("({})", vec!["n > 3"; columns].join(", "));
        let error = error(items, &match_(&value, &rows));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn kernels_take_aliases_and_enums() {
    let source = "mod kernels {
        type Matrix = Global<f32, 2>;
        type Acc = f32;
        type Scale = Acc;
        type Count = u32;
        #[derive(Clone, Copy, PartialEq)]
        pub enum Mode { Plain = 4, Doubled }
        pub const LIMIT: Count = 32;
        #[kernel(threads = LIMIT)]
        #[instances(MODE in [Mode::Plain, Mode::Doubled])]
        pub unsafe fn k<const MODE: Mode>(x: Matrix, by: Scale, n: Count, list: [Global<Acc, 1>; 2]) {
            let f = fragment::<Acc>((4));
            fill(f, convert::<Acc>(by));
            let factor: Acc = if MODE == Mode::Doubled { 2.0 } else { 1.0 };
            x[(0, n)] = by * factor * f[0];
            x[(1, n)] = match MODE { Mode::Plain => 1.0, Mode::Doubled => 2.0 };
        }
    }";
    let lowered = lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = lowered.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["k_Plain", "k_Doubled"]);
    let products = |at: usize| lowered[at].module.to_string().matches("mul.rn.f32").count();
    assert!(products(0) <= products(1) && products(1) > 0);
    crate::judge(&lowered);
}
