//! Programs on layouts with run-time integers: whatever numbers pass the checks, the result is that of the numbers.
#![no_main]

use cute_algebra::notation::{
    NotationError, Symbolic, eval_layout, eval_symbolic_str, lex, parse_where,
};
use cute_algebra::operations;
use cute_algebra::symbolic::Origin;
use cute_algebra::{Layout, Value, coalesce};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// Deepest nesting of operations.
const DEPTH: usize = 3;
const NAMES: [&str; 3] = ["m", "n", "k"];
const EXTENTS: [&str; 10] = ["1", "2", "3", "4", "8", "m", "n", "k", "2*m", "4*n"];
const STRIDES: [&str; 12] = [
    "0", "1", "1", "2", "4", "m", "n", "m*n", "2*m", "4*n", "-1", "1@0",
];
const FACTS: [&str; 5] = [
    "",
    "where m % 4 == 0; ",
    "where n % 2 == 0, m >= 4; ",
    "where n % m == 0, k >= 2; ",
    "where m > n, n >= 2; ",
];

/// Operations that no mode which happens to have extent 1 changes. Numbers may join modes that names do not, and how the
/// modes nest decides what some operations do: so these are compared on what is written, and on its concatenations.
const EXACT: [&str; 9] = [
    "composition",
    "logical_divide",
    "zipped_divide",
    "flat_divide",
    "logical_product",
    "blocked_product",
    "raked_product",
    "coalesce",
    "concat",
];

fn tuple(u: &mut Unstructured<'_>, words: &[&str], rank: usize) -> Result<String> {
    let leaves = (0..rank).map(|_| Ok(*u.choose(words)?));
    Ok(format!(
        "({})",
        leaves.collect::<Result<Vec<_>>>()?.join(",")
    ))
}

fn layout(u: &mut Unstructured<'_>) -> Result<String> {
    let rank = u.int_in_range(1..=3)?;
    let shape = tuple(u, &EXTENTS, rank)?;
    Ok(match u.int_in_range(0..=3)? {
        0 => format!("{shape}:row"),
        1 => format!("{shape}:col"),
        _ => format!("{shape}:{}", tuple(u, &STRIDES, rank)?),
    })
}

fn expression(u: &mut Unstructured<'_>, depth: usize, exact: &mut bool) -> Result<String> {
    if depth == 0 || u.ratio(1, 3)? {
        return match u.int_in_range(0..=9)? {
            0 => Ok((*u.choose(&["{m}", "{k}", "2", "5"])?).to_owned()),
            1 => tuple(u, &["m", "_", "1", "k"], 2),
            2 => Ok(format!("<{},_>", u.choose(&["4", "2", "{n}", "2:2"])?)),
            _ => layout(u),
        };
    }
    let name = match u.ratio(1, 2)? {
        true => *u.choose(&EXACT)?,
        false => u.choose(&operations::all().collect::<Vec<_>>())?.name,
    };
    *exact &= match depth {
        DEPTH => EXACT.contains(&name),
        _ => name == "concat",
    };
    let ragged = match u.ratio(1, 6)? {
        true => "ragged ",
        false => "",
    };
    *exact &= ragged.is_empty();
    let arguments = (0..u.int_in_range(1..=3)?).map(|_| expression(u, depth - 1, exact));
    let arguments = arguments.collect::<Result<Vec<_>>>()?.join(", ");
    Ok(format!("{ragged}{name}({arguments})"))
}

/// The layout of an instance, where its checks hold.
fn instance(symbolic: &Symbolic, values: [i64; 3]) -> Option<Layout> {
    let captured = symbolic.scope.origins().filter_map(|origin| match origin {
        Origin::Captured(name) => {
            let index = NAMES.iter().position(|known| known == name)?;
            Some(values[index])
        }
        _ => None,
    });
    let captured: Vec<_> = captured.collect();
    let atoms = symbolic.scope.instantiate(&captured).ok()?;
    match &symbolic.value {
        Value::Layout(layout) => layout.evaluate(&atoms)?.ok(),
        _ => None,
    }
}

/// The value of numbers.
fn concrete(text: &str, values: [i64; 3]) -> std::result::Result<Value, NotationError> {
    let (_, expr) = parse_where(&lex(text)?, 0..0)?;
    let names = |name: &str| {
        let index = NAMES.iter().position(|known| *known == name)?;
        Some(Value::Int(values[index]))
    };
    eval_layout(&expr, &names)
}

fn program(u: &mut Unstructured<'_>) -> Result<()> {
    let mut exact = true;
    let facts = u.choose(&FACTS)?;
    let text = format!("{facts}{}", expression(u, DEPTH, &mut exact)?);
    let Ok(symbolic) = eval_symbolic_str(&text) else {
        return Ok(());
    };
    assert!(!symbolic.value.to_string().is_empty());
    for values in [[4, 2, 3], [8, 4, 2], [2, 2, 2], [6, 12, 5], [12, 3, 4]] {
        let Some(found) = instance(&symbolic, values) else {
            continue;
        };
        match concrete(&text, values) {
            _ if !exact => {}
            Ok(Value::Layout(wanted)) => {
                assert_eq!(coalesce(&found), coalesce(&wanted), "{text} for {values:?}");
            }
            Ok(other) => panic!("{text} for {values:?} is {other}, not {found}"),
            // An operand may be too large of which nothing is left in the result.
            Err(error) if error.to_string().contains("64 bits") => {}
            Err(error) => panic!("{text} for {values:?} is refused, not {found}: {error}"),
        }
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes end a program early.
    let _ = program(&mut Unstructured::new(bytes));
});
