//! Facts about launches: what is printed of them can be stated.

use crate::random::{Random, seeds};
use cute_lang::kernel::emit::facts::Term;
use cute_lang::kernel::lower::{Lowered, lower};

/// The only kernel of a module, or its errors.
fn kernel(source: &str) -> Result<Lowered, String> {
    let module = format!("mod kernels {{ const ROWS: u32 = 8; {source} }}");
    let mut lowered =
        lower(module.parse().expect("tokens")).map_err(|errors| errors.to_string())?;
    Ok(lowered.remove(0))
}

/// A kernel with this fact.
fn with_fact(fact: &str) -> Result<Lowered, String> {
    kernel(&format!(
        "#[kernel(threads = 1)]
        fn k(#[facts({fact})] x: Global<f32, 2>, y: [Global<f32, 2>; 3], n: u32, d: i32) {{}}"
    ))
}

/// A random number of a launch, in arithmetic of this depth.
fn number(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.once_in(4) {
        return random
            .pick(&[
                "extent(x, 0)",
                "extent(x, 1)",
                "stride(x, 0)",
                "y.len()",
                "n",
                "ROWS",
                "3",
                "64",
            ])
            .into();
    }
    let (a, b) = (number(random, depth - 1), number(random, depth - 1));
    match random.below(8) {
        0 => format!("{a} + {b}"),
        1 => format!("({a} - {b})"),
        2 => format!("{a}*{b}"),
        3 => format!("{a} * ({b})"),
        4 => format!("({a})/({b})"),
        5 => format!("({a}) % 7"),
        6 => format!("({a} % (1 + {b}))"),
        _ => format!("ceil_div({a}, {b})"),
    }
}

/// The text of a fact states the same fact.
#[test]
fn facts_read_back() {
    let mut read = 0;
    for seed in seeds(200, 5000) {
        let mut random = Random::new(seed);
        let (left, right) = (number(&mut random, 3), number(&mut random, 2));
        let sign = random.pick(&["==", "<", "<=", ">", ">=", "!="]);
        let stated = format!("{left} {sign} {right}");
        // Both sides may be known, and a divisor may be 0.
        let Ok(Lowered { facts, .. }) = with_fact(&stated) else {
            continue;
        };
        let printed = with_fact(&facts[0].text).map(|lowered| lowered.facts);
        assert_eq!(printed.as_ref(), Ok(&facts), "{stated}");
        read += 1;
    }
    assert!(read > 20, "{read} facts were read");
}

/// A quotient that may be one by 0 is refused where that is known.
#[test]
fn divisors_are_positive() {
    for (fact, expected) in [
        ("n / 0 >= 1", "division by zero"),
        (
            "ceil_div(n, ROWS - 8) >= 1",
            "`ceil_div` divides by a number of at least 1",
        ),
        ("n & 3 == 0", "a number in a fact is"),
    ] {
        let error = with_fact(fact).map(|lowered| lowered.facts).unwrap_err();
        assert!(error.contains(expected), "{fact}: {error}");
    }
}

/// A number in a fact is any expression that is known at expansion, of whatever form.
#[test]
fn known_numbers_are_computed() {
    for (number, expected) in [
        ("[4, 8][1]", 8),
        ("if ROWS > 4 { 16 } else { n }", 16),
        ("(match ROWS { 8 => 3, _ => 0 })", 3),
    ] {
        let lowered = with_fact(&format!("extent(x, 0) == {number}"));
        let right = lowered.map(|lowered| lowered.facts[0].right.clone());
        assert_eq!(right, Ok(Term::Known(expected)), "{number}");
    }
}

/// Errors that name a fact are gone once it is stated.
#[test]
fn advice_can_be_stated() {
    for (params, body) in [
        ("x: Global<f32, 1>", "x[5] = 1.0;"),
        ("x: Global<f32, 2>", "x[(3, 4)] = 1.0;"),
        ("x: [Global<f32, 1>; 4]", "x[2][7] = 1.0;"),
        (
            "x: Global<f32, 2>",
            "let s = smem::<f32>(layout!((8,64):row)); let ready = mbarriers(1, 1);
             copy_async(local_tile(x, (8, 64), (0, 0)), s, ready[0]);",
        ),
    ] {
        let mut stated: Vec<String> = Vec::new();
        let lowered = loop {
            let facts = match stated.is_empty() {
                true => String::new(),
                false => format!("#[facts({})]", stated.join(", ")),
            };
            let source = format!("#[kernel(threads = 32)] fn k({facts} {params}) {{ {body} }}");
            match kernel(&source) {
                Ok(lowered) => break lowered,
                Err(error) => {
                    let advice = error.split_once("the fact `").map(|(_, advice)| advice);
                    let advice = advice.and_then(|advice| advice.split('`').next());
                    let advice = advice.unwrap_or_else(|| panic!("{source}: {error}"));
                    assert!(
                        !stated.iter().any(|known| known == advice),
                        "{source}: {error}"
                    );
                    stated.push(advice.to_owned());
                }
            }
        };
        assert!(!stated.is_empty(), "{body}");
        let texts: Vec<_> = lowered.facts.iter().map(|fact| fact.text.clone()).collect();
        let is_printed = |fact: &String| texts.contains(fact);
        assert!(stated.iter().all(is_printed), "{stated:?} as {texts:?}");
    }
}
