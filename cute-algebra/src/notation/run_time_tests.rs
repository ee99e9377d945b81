//! Results, errors and checks for run-time integers are compared with the operations on numbers.

use super::{Symbolic, eval_symbolic_str as eval_str, eval_symbolic_value, lex, parse_where};
use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::operations::{self, Run};
use crate::symbolic::{MAX_STEPS, Origin, Scope, Sum, Term};
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;
use crate::{coalesce, notation};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["m", "n", "k"];

/// The value of an expression with numbers in place of m, n and k.
pub(super) fn concrete(text: &str, values: [i64; 3]) -> Result<Value, notation::NotationError> {
    let (_, expr) = parse_where(&lex(text)?, text.len()..text.len())?;
    notation::eval_layout(&expr, &names(values))
}

/// The same as it is: a tuple of integers stays one.
fn concrete_value(text: &str, values: [i64; 3]) -> Result<Value, notation::NotationError> {
    let (_, expr) = parse_where(&lex(text)?, text.len()..text.len())?;
    notation::eval(&expr, &names(values))
}

fn names(values: [i64; 3]) -> impl Fn(&str) -> Option<Value> {
    move |name| {
        let index = NAMES.iter().position(|known| *known == name)?;
        Some(Value::Int(values[index]))
    }
}

/// A run-time value with numbers for m, n and k; an error is the text of the failed check.
pub(super) fn instance(symbolic: &Symbolic, values: [i64; 3]) -> Result<Value, String> {
    let atoms = atoms(&symbolic.scope, values)?;
    evaluated(&symbolic.value, &atoms)
}

fn atoms(scope: &Scope, values: [i64; 3]) -> Result<Vec<i64>, String> {
    let captured: Vec<_> = scope
        .origins()
        .filter_map(|origin| match origin {
            Origin::Captured(name) => {
                let index = NAMES.iter().position(|known| known == name)?;
                Some(values[index])
            }
            _ => None,
        })
        .collect();
    scope
        .instantiate(&captured)
        .map_err(|check| check.map_or_else(|| "overflow".to_owned(), ToString::to_string))
}

fn evaluated(value: &Value<Term>, atoms: &[i64]) -> Result<Value, String> {
    let number = |sum: &Sum| {
        let value = sum.evaluate(atoms).expect("checked sums are integers");
        i64::try_from(value).expect("small numbers")
    };
    let layout = |layout: &Layout<Term>| {
        let evaluated = layout.evaluate(atoms).expect("checked leaves are integers");
        evaluated.map_err(|error| error.to_string())
    };
    Ok(match value {
        Value::Int(sum) => number(sum).into(),
        Value::Tuple(tuple) => tuple.map(number).into(),
        Value::Coord(coord) => Value::of_coord(coord.map(|leaf| leaf.as_ref().map(number))),
        Value::Layout(terms) => layout(terms)?.into(),
        Value::Composed(composed) => {
            let inner = layout(composed.layout())?;
            ComposedLayout::new(composed.swizzle(), number(&composed.offset()), inner)
                .map_err(|error| error.to_string())?
                .into()
        }
        Value::List(values) => {
            let values = values.iter().map(|value| evaluated(value, atoms));
            values.collect::<Result<Vec<_>, _>>()?.into()
        }
        value => value
            .to_numbers()
            .expect("nothing else holds run-time integers"),
    })
}

/// Asserts that the coordinates of a ragged division are in range exactly as often as the divided modes have coordinates.
fn check_sources(symbolic: &Symbolic, values: [i64; 3]) {
    let (Value::Layout(layout), Ok(atoms)) = (&symbolic.value, atoms(&symbolic.scope, values))
    else {
        return;
    };
    let (bounds, atoms) = (symbolic.scope.bounds(), &atoms[..]);
    let Ok(value) = layout.evaluate(atoms).expect("integers") else {
        return;
    };
    for (i, bound) in bounds.iter().enumerate() {
        let mut modes = Vec::new();
        for ((_, stride), (extent, _)) in layout.leaves().zip(value.flat_modes()) {
            for source in stride.sources().iter().filter(|source| source.bound == i) {
                let stride = source.stride.evaluate(atoms).expect("an integer");
                modes.push((extent, stride as i64));
            }
        }
        let (shape, stride): (Vec<i64>, Vec<i64>) = modes.into_iter().unzip();
        let shape: IntTuple = shape.into_iter().map(Tuple::Leaf).collect();
        let stride: IntTuple = stride.into_iter().map(Tuple::Leaf).collect();
        let coordinates = Layout::new(shape, &stride).expect("a layout");
        let bound = bound.evaluate(atoms).expect("an integer") as i64;
        let mut inside: Vec<_> = coordinates.values().filter(|&at| at < bound).collect();
        inside.sort();
        assert_eq!(inside, (0..bound).collect::<Vec<_>>());
    }
}

/// Whether two values are the same function, and for a division or a product have the same tiles.
pub(super) fn same(text: &str, a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Layout(a), Value::Layout(b)) => {
            let expression = text.split(';').next_back().unwrap_or(text);
            let operation = expression.split('(').next().unwrap_or(expression);
            if !operation.contains("divide") && !operation.contains("product") {
                return coalesce(a) == coalesce(b);
            }
            let coalesced = |layout: &Layout| {
                let modes = layout.modes();
                modes.iter().map(coalesce).collect::<Vec<_>>()
            };
            coalesced(a) == coalesced(b)
        }
        (Value::Composed(a), Value::Composed(b)) => a.values().eq(b.values()),
        // For numbers the swizzle may have become part of the strides, or may have nothing left to swizzle.
        (Value::Composed(a), Value::Layout(b)) => a.values().eq(b.values()),
        (Value::List(a), Value::List(b)) => {
            let (left, right) = (a, b);
            // If the slice of a swizzled layout is plain, its offset is the second result, not part of the layout.
            if let ([Value::Composed(a), _], [Value::Layout(b), Value::Int(offset)]) =
                (&left[..], &right[..])
            {
                return a.values().eq(b.values().map(|value| value + offset));
            }
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| same(text, a, b))
        }
        (a, b) => a == b,
    }
}

/// Operations whose result for numbers ignores the strides of modes of extent 1.
const FORGETS: [&str; 8] = [
    "extension",
    "complement",
    "ragged",
    "inverse",
    "vector_width",
    "alignment",
    "common",
    "domain_distribute",
];

/// Compares an expression with the operations on numbers, for m, n and k up to `most`. Returns the number of
/// instances with a result, and the number with a result on numbers but a failed check.
fn compare(text: &str, most: i64) -> Option<(usize, usize)> {
    let facts = facts_of(text);
    let allowed = |values| facts.iter().all(|fact| instance(fact, values).is_ok());
    let symbolic = match eval_str(text) {
        Ok(symbolic) => symbolic,
        Err(error) => {
            // The expression is an error for all values. So no instance within the facts may have a result, unless
            // the error asks for a fact.
            let asks = error.help.is_some()
                || error.message.contains("known at expansion")
                || error.message.contains("which is not known");
            return asks.then_some((0, 0)).or_else(|| {
                // For numbers the stride of a mode of extent 1 does not matter, so such instances are left out.
                for values in instances(most).filter(|values| !values.contains(&1)) {
                    if allowed(values)
                        && let Ok(found) = concrete(text, values)
                    {
                        panic!("{text} is refused ({error}), but is {found} for {values:?}");
                    }
                }
                None
            });
        }
    };
    let (mut accepted, mut strict) = (0, 0);
    for values in instances(most) {
        let wanted = concrete(text, values);
        // A composition need not reach all coordinates of the divided mode.
        if !text.contains("composition(") {
            check_sources(&symbolic, values);
        }
        match (instance(&symbolic, values), wanted) {
            (Ok(found), Ok(wanted)) => {
                // Operations on numbers ignore the strides of modes with extent 1. So they may round up to less, leave
                // out digits equal to 0, and find larger common divisors.
                let forgets = values.contains(&1) && FORGETS.iter().any(|name| text.contains(name));
                assert!(
                    forgets || same(text, &found, &wanted),
                    "{text} for {values:?}: {found} instead of {wanted}"
                );
                accepted += 1;
            }
            (Ok(found), Err(error)) => {
                panic!("{text} for {values:?}: {found}, but numbers are refused: {error}")
            }
            (Err(_), Ok(_)) => strict += usize::from(allowed(values)),
            (Err(_), Err(_)) => {}
        }
    }
    Some((accepted, strict))
}

/// For each fact of an expression: the layout (m,n,k) under that fact alone.
fn facts_of(text: &str) -> Vec<Symbolic> {
    let Some((facts, _)) = text
        .strip_prefix("where ")
        .and_then(|rest| rest.split_once(';'))
    else {
        return Vec::new();
    };
    let facts = facts.split(',');
    facts
        .map(|fact| eval_str(&format!("where {fact}; (m,n,k):(1,1,1)")).expect("a fact"))
        .collect()
}

fn instances(most: i64) -> impl Iterator<Item = [i64; 3]> {
    (1..=most).flat_map(move |m| (1..=most).flat_map(move |n| (1..=3).map(move |k| [m, n, k])))
}

/// Expressions that simplify, with the expected result and the remaining checks.
#[test]
fn folds() {
    for (text, result, checks) in [
        ("coalesce((m,n):(1,m))", "m*n:1", "m >= 1, n >= 1"),
        (
            "coalesce((m,(4,k)):(1,(m,4*m)))",
            "4*k*m:1",
            "m >= 1, k >= 1",
        ),
        ("coalesce((m,n):(n,1))", "(m,n):(n,1)", "m >= 1, n >= 1"),
        ("coalesce((4,8):(d,4*d))", "32:d", ""),
        ("(m,n):row", "(m,n):(n,1)", "m >= 1, n >= 1"),
        ("(m,n)", "(m,n):(1,m)", "m >= 1, n >= 1"),
        (
            "where m >= 64; (m,n):(n,1) o 64:1",
            "64:n",
            "m >= 64, n >= 1",
        ),
        (
            "where m % 64 == 0; logical_divide((m,n):(1,m), <64,_>)",
            "((64,m/64),n):((1,64),m)",
            "m % 64 == 0, m >= 1, n >= 1",
        ),
        (
            "zipped_divide((m,n):(n,1), <64,32>)",
            "((64,32),(m/64,n/32)):((n,1),(64*n,32))",
            "m >= 1, n >= 1, m % 64 == 0, n % 32 == 0",
        ),
        (
            "where m % 64 == 0; logical_divide((m,n):(n,1), 64:1)",
            "(64,(m/64,n)):(n,(64*n,1))",
            "m % 64 == 0, m >= 1, n >= 1",
        ),
        (
            "complement((m,4):(1,2*m), {t})",
            "(2,t/(8*m)):(m,8*m)",
            "m >= 1, t >= 1, t % (8*m) == 0",
        ),
        (
            "logical_product((m,4):(1,m), 8:1)",
            "((m,4),8):((1,m),4*m)",
            "m >= 1",
        ),
        ("get((m,(4,k)):(1,(m,4*m)), 1, 0)", "4:m", "m >= 1, k >= 1"),
        (
            "group((m,n,k):(1,m,m*n), 0, 2)",
            "((m,n),k):((1,m),m*n)",
            "m >= 1, n >= 1, k >= 1",
        ),
        (
            "slice((m,n):(1,m), (3,_))",
            "(n):(m)",
            "m >= 1, n >= 1, m >= 4",
        ),
        (
            "ragged zipped_divide((m,n):(1,m), <64,32>)",
            "((64,32),(m.div_ceil(64),n.div_ceil(32))):((1,m),(64,32*m))",
            "m >= 1, n >= 1",
        ),
    ] {
        let Symbolic { scope, value } =
            eval_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown: Vec<_> = scope.checks().iter().map(ToString::to_string).collect();
        assert_eq!(
            (&*value.to_string(), &*shown.join(", ")),
            (result, checks),
            "{text}"
        );
    }
}

/// The operations that need numbers.
const NUMBERS_ONLY: [&str; 37] = [
    "from_table",
    "index_form",
    "bank_conflicts",
    "conflict_free",
    "best_swizzle",
    "conflict_free_map",
    "xor_map",
    "wgmma_operand",
    "matrix_operand",
    "tensor_map",
    "smem_atom",
    "smem_tile_to_shape",
    "mma_atom",
    "copy_atom",
    "copy_atom_val",
    "tiled_mma",
    "partition_A",
    "partition_B",
    "partition_C",
    "partition_shape_A",
    "partition_shape_B",
    "partition_shape_C",
    "tiled_copy",
    "partition_S",
    "partition_D",
    "tiled_copy_A",
    "tiled_copy_B",
    "tiled_copy_C",
    "partition_S_of_copy_A",
    "partition_S_of_copy_B",
    "partition_S_of_copy_C",
    "partition_D_of_copy_A",
    "partition_D_of_copy_B",
    "partition_D_of_copy_C",
    "retile_of_copy_A",
    "retile_of_copy_B",
    "retile_of_copy_C",
];

/// An expression for each operation that works on run-time integers, with its value as text.
#[rustfmt::skip] // Rows on one line are easier to compare.
const EXAMPLES: [(&str, &str); 80] = [
    ("make_layout_left((m,4))", "(m,4):(1,m)"),
    ("make_layout_right((m,4))", "(m,4):(4,1)"),
    ("make_ordered_layout((m,4,n), (1,2,0))", "(m,4,n):(n,m*n,1)"),
    ("make_identity_layout((m,(4,n)))", "(m,(4,n)):(1@0,(1@0@1,1@1@1))"),
    ("make_layout_like((m,n):(2*n,2))", "(m,n):(n,1)"),
    ("make_fragment_like((m,4,n):(8*n,1,4))", "(m,4,n):(1,m,4*m)"),
    ("concat((m):(1), (n):(m))", "((m),(n)):((1),(m))"),
    ("shape((m,(4,n)):(1,(m,4*m)))", "(m,(4,n))"),
    ("stride((m,(4,n)):(1,(m,4*m)))", "(1,(m,4*m))"),
    ("size((m,n):(n,1))", "m*n"),
    ("cosize((m,n):(2*n,1))", "2*m*n - n"),
    ("cosize_bound((m,n):(2*n,1))", "2*m*n - n"),
    ("coshape((m,n):(1@0,2@1))", "(m,2*n - 1)"),
    ("rank((m,(4,n)):(1,(m,4*m)))", "2"),
    ("depth((m,(4,n)):(1,(m,4*m)))", "2"),
    ("crd2idx((3,k), (m,n):(n,1))", "k + 3*n"),
    ("idx2crd(7, (4,m))", "(3,1)"),
    ("idx2crd(9, (4,m), (1,4))", "(1,2)"),
    ("crd2crd((3,k), (4,m), 4*{m})", "4*k + 3"),
    ("congruent((m,4), (n,k))", "true"),
    ("weakly_congruent((m,4), (n,(k,2)))", "true"),
    ("compatible((m,4), ((m,1),(2,2)))", "true"),
    ("evenly_divides((4*m,8), <{m},4>)", "true"),
    ("equal((m,n):(1,m), m*{n}:1)", "true"),
    ("is_integral((m,n):(1,m))", "true"),
    ("shape_div((4*m,n), {m})", "(4,n)"),
    ("shape_mod((4,m), 4)", "(4,1)"),
    ("sort((m,n):(n,1))", "(n,m):(1,n)"),
    ("extension((4,m), 4*{n})", "(4,n):(1,4)"),
    ("get((m,(4,k)):(1,(m,4*m)), 1)", "(4,k):(m,4*m)"),
    ("select((m,n,k):(1,m,m*n), 2, 0)", "(k,m):(m*n,1)"),
    ("take((m,n,k):(1,m,m*n), 0, 2)", "(m,n):(1,m)"),
    ("group((m,n,k):(1,m,m*n), 0, 2)", "((m,n),k):((1,m),m*n)"),
    ("flatten((m,(4,k)):(1,(m,4*m)))", "(m,4,k):(1,m,4*m)"),
    ("unflatten((m,4,k):(1,m,4*m), (1,(1,1)))", "(m,(4,k)):(1,(m,4*m))"),
    ("append((m,n):(1,m), 2:1)", "(m,n,2):(1,m,1)"),
    ("prepend((m,n):(1,m), 2:1)", "(2,m,n):(1,1,m)"),
    ("replace((m,n):(1,m), 1, 2:m)", "(m,2):(1,m)"),
    ("zip((m,n):(1,m), (2,4):(1,2))", "((m,2),(n,4)):((1,1),(m,2))"),
    ("unzip(((m,2),(n,4)):((1,1),(m,2)))", "((m,n),(2,4)):((1,m),(1,2))"),
    ("slice((m,n):(n,1), (k,_))", "(n):(1)"),
    ("slice_and_offset((m,n):(n,1), (k,_))", "[(n):(1),k*n]"),
    ("dice((m,n):(n,1), (3,_))", "(m):(n)"),
    ("coalesce((m,(4,k)):(1,(m,4*m)), (1,1))", "(m,4*k):(1,m)"),
    ("filter((m,(4,k)):(1,(0,m)))", "k*m:1"),
    ("filter_zeros((m,(4,k)):(1,(0,m)))", "(m,(1,k)):(1,(0,m))"),
    ("composition((m,n):(1,m), (m,n):(1,m))", "(m,n):(1,m)"),
    ("with_shape((4*m,n):(n,1), (4,m,n))", "(4,m,n):(n,4*n,1)"),
    ("complement((m,4):(1,2*m))", "2:m"),
    ("right_inverse((m,n):(n,1))", "(n,m):(m,1)"),
    ("left_inverse((m,n):(2*n,1))", "(2*n,m):(m,1)"),
    ("nullspace((m,4,n):(0,1,0))", "(m,n):(1,4*m)"),
    ("max_common_layout((m,n):(1,m), (m,n):(1,m))", "m*n:1"),
    ("max_common_vector((m,n):(1,m), (m,n):(1,m))", "m*n"),
    ("max_alignment((m,n):(1,m))", "m*n"),
    ("domain_distribute((4*m,n), {m})", "m:1"),
    ("logical_divide((4*m,n):(n,1), <4,{n}>)", "((4,m),(n,1)):((n,4*n),(1,0))"),
    ("zipped_divide((4*m,n):(n,1), <4,{n}>)", "((4,n),(m,1)):((n,1),(4*n,0))"),
    ("tiled_divide((4*m,n):(n,1), <4,{n}>)", "((4,n),m,1):((n,1),4*n,0)"),
    ("flat_divide((4*m,n):(n,1), <4,{n}>)", "(4,n,m,1):(n,1,4*n,0)"),
    ("logical_product((m,4):(1,m), 2:1)", "((m,4),2):((1,m),4*m)"),
    ("local_tile((128*m,64):(64,1), <64,16>, (1,2))", "[(64,16):(64,1),4128]"),
    ("local_partition((4*m,32):(32,1), (4,8):(8,1), 9)", "[(m,4):(128,8),33]"),
    ("zipped_product((m,4):(1,m), 8:1)", "((m,4),8):((1,m),4*m)"),
    ("tiled_product((m,4):(1,m), (2,n):(1,2))", "((m,4),2,n):((1,m),4*m,8*m)"),
    ("flat_product((m,4):(1,m), (2,n):(1,2))", "(m,4,2,n):(1,m,4*m,8*m)"),
    ("blocked_product((m,4):(1,m), (2,n):(1,2))", "((m,2),(4,n)):((1,4*m),(m,8*m))"),
    ("raked_product((m,4):(1,m), (2,n):(1,2))", "((2,m),(n,4)):((4*m,1),(8*m,m))"),
    ("tile_to_shape((4,m):(m,1), (4*n,2*m))", "((4,n),(m,2)):((m,4*m),(1,4*m*n))"),
    ("upcast((4*m,n):(1,4*m), 4)", "(m,n):(1,m)"),
    ("downcast((m,n):(1,2*m), 2)", "(2*m,n):(1,4*m)"),
    ("recast((4*m,n):(1,4*m), 8, 32)", "(m,n):(1,m)"),
    ("is_injective((m,n):(1,2*m))", "true"),
    ("is_bijective((m,n):(n,1))", "true"),
    ("is_dense((m,n):(n,1))", "true"),
    ("injective((m,n):(1,2*m))", "(m,n):(1,2*m)"),
    ("bijective((m,n):(n,1))", "(m,n):(n,1)"),
    ("dense((m,n):(n,1))", "(m,n):(n,1)"),
    ("vector_width((4,m):(1,8))", "4"),
    ("alignment((m,n):(2,4))", "2"),
];

/// Every operation works on run-time integers, or is in `NUMBERS_ONLY`.
#[test]
fn every_operation_is_done_at_run_time_or_says_why_not() {
    let mut failures = Vec::new();
    for operation in operations::all() {
        let examples = EXAMPLES.iter().filter(|(text, _)| {
            let rest = text.strip_prefix(operation.name);
            rest.is_some_and(|rest| rest.starts_with('('))
        });
        let examples: Vec<_> = examples.collect();
        match operation.run {
            Run::Numbers(_, why) => {
                assert!(examples.is_empty() && !why.is_empty(), "{}", operation.name);
                assert!(NUMBERS_ONLY.contains(&operation.name), "{}", operation.name);
            }
            _ => assert!(!examples.is_empty(), "{}", operation.name),
        }
        for (text, wanted) in examples {
            match eval_str(text) {
                Ok(Symbolic { value, .. }) if value.to_string() == *wanted => {
                    let counts = compare(text, 6);
                    if counts.is_none_or(|(accepted, _)| accepted == 0) {
                        failures.push(format!("{text}: no instance"));
                    }
                }
                Ok(Symbolic { value, .. }) => {
                    failures.push(format!("{text}: {} instead of {wanted}", value));
                }
                Err(error) => failures.push(format!("{text}: {error}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The message of each expression, and the text at its position.
#[test]
fn refusals() {
    for (text, at, message) in [
        (
            "(m,n):(n,1) o 64:1",
            "64",
            "the modes of the result depend on whether `m >= 64`",
        ),
        (
            "where m >= 2; (m,4611686018427387904):(1,1)",
            "(m,4611686018427387904):(1,1)",
            "the size does not fit 64 bits",
        ),
        (
            "where m >= 4611686018427387904; (3,m):(m,1)",
            "(3,m):(m,1)",
            "the size does not fit 64 bits",
        ),
        (
            "where m >= 10, m < 5; (m,4)",
            "m < 5",
            "`m <= 4` contradicts `m >= 10`",
        ),
        (
            "where m % 4 == 0, m == 6; (m,n)",
            "m == 6",
            "`m == 6` contradicts `m % 4 == 0`",
        ),
        (
            "where m - 2 <= 1, 2 <= 1; (m,n)",
            "2 <= 1",
            "`1 >= 2` never holds",
        ),
        (
            "where n >= 2, m == 6, m % 4 == 0; (m,n)",
            "m % 4 == 0",
            "`m % 4 == 0` contradicts `m == 6`",
        ),
        (
            "where m % 4 == 0, n >= 2, m <= 3; (n,m)",
            "m <= 3",
            "`m >= 1` contradicts `m % 4 == 0` and `m <= 3`",
        ),
        (
            "where m % 4 == 0, n >= 2, m <= 3; zipped_divide((n,m), <2,2>)",
            "m <= 3",
            "`m >= 1` contradicts `m % 4 == 0` and `m <= 3`",
        ),
        (
            "where m % 4 == 0, m <= 10, m >= 5, m % 6 == 0; (m,n)",
            "m % 6 == 0",
            "`m % 6 == 0` contradicts `m % 4 == 0` and `m <= 10` and `m >= 5`",
        ),
        (
            "where m*n <= k, k <= 7, m*n >= 8; (m,n,k)",
            "m*n >= 8",
            "`m*n >= 8` contradicts `m*n <= k` and `k <= 7`",
        ),
        (
            "where m == 6; zipped_divide((m,n), <4,_>)",
            "m",
            "`m % 4 == 0` contradicts `m == 6`",
        ),
        (
            "where m == 6; (m,n):(n,1) o <4:2,_>",
            "4:2",
            "`m >= 7` contradicts `m == 6`",
        ),
        ("(m,0)", "0", "an extent must be at least 1, not 0"),
        (
            "blocked_product((m,4), (n,2):(1@0,1@1))",
            "(1@0,1@1)",
            "the strides must be integers, not 1@0",
        ),
        (
            "concat((1):(1@0), (m,m))",
            "(1@0)",
            "strides 1 and 1@0 cannot be added: where 1 gives an integer, 1@0 gives a tuple",
        ),
        (
            "(m,n):(1@0,2)",
            "(1@0,2)",
            "strides 2 and 1@0 cannot be added: where 2 gives an integer, 1@0 gives a tuple",
        ),
        (
            "where m % 64 == 32; (m,4)",
            "32",
            "expected `0`, found `32`",
        ),
        (
            "where m > 4; zipped_divide((4,8):(8,1), <{m},8>)",
            "4",
            "`4 % m == 0` contradicts `m >= 5`",
        ),
        (
            "zipped_divide((m,n):(n,1), {t}:1)",
            "{t}",
            "the modes of the result depend on whether `t <= m`",
        ),
        (
            "right_inverse((m,n):(n,d))",
            "n",
            "the modes of the result depend on whether `n == 1`",
        ),
        (
            "where m % 64 == 0; complement(48:1, 100)",
            "100",
            "blocks of 48 do not fill 100: use blocks of 25 or 50, an extent of 96 or 144, or `ragged`",
        ),
        // The last value of B is the first one beyond the boundary at 5.
        (
            "where m >= 2; (5,m):(1,100) o 3:3",
            "3",
            "a stride that neither divides the boundaries of the modes it runs along nor is a multiple of them needs numbers \
             that are known at expansion",
        ),
        // For m = 4 there is a composition, 2:3.
        (
            "where m >= 4; composition((3,2):(2,1), 2:m)",
            "m",
            "a stride that neither divides the boundaries of the modes it runs along nor is a multiple of them needs numbers \
             that are known at expansion",
        ),
        (
            "where m >= 4; m:7 o 2:-1",
            "-1",
            "the stride -1 must not be negative here",
        ),
    ] {
        let error = eval_str(text).expect_err(text);
        assert_eq!(
            (&text[error.at.clone()], &*error.message),
            (at, message),
            "{text}"
        );
    }
}

/// Expressions that take many steps. The first have a result, the others exceed the limit on steps and are errors.
#[test]
fn work_is_bounded() {
    let list = |count: usize, item: &dyn Fn(usize) -> String| {
        let items: Vec<_> = (0..count).map(item).collect();
        items.join(",")
    };
    let names = |count| list(count, &|i| format!("m{i}"));
    let fours = list(30, &|_| "4".to_owned());
    let quarters = list(30, &|i| format!("m{i} % 4 == 0"));
    let pairs = list(30, &|i| format!("m{i}*m{} % 4 == 0", (i + 1) % 30));
    let nested = |times: usize, outer: &str, inner: &str| {
        (0..times).fold(inner.to_owned(), |inner, _| outer.replace("A", &inner))
    };
    let answered = [
        format!("({})", names(64)),
        format!("right_inverse(({}))", names(64)),
        format!("left_inverse(({}))", names(64)),
        format!("complement(({}))", names(64)),
        format!(
            "where {quarters}; logical_divide(({}), <{fours}>)",
            names(30)
        ),
        format!("where {pairs}; zipped_divide(({}), <{fours}>)", names(30)),
        format!("where {quarters}; ({}) o ({fours})", names(30)),
        format!("ragged zipped_divide(({}), <{fours}>)", names(30)),
        format!("idx2crd({{i}}, ({}))", names(30)),
        nested(30, "blocked_product(A, (m,n,k))", "(m,n,k)"),
    ];
    for text in answered {
        let symbolic = eval_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(symbolic.scope.steps() < MAX_STEPS, "{text}");
    }
    let products = list(240, &|i| {
        let [a, b, c, d] = [i, i / 16, i * 7, i * 5 + 1].map(|i| i % 16);
        format!("m{a}*m{b} <= m{c}*d{d}")
    });
    let strides = list(16, &|i| format!("d{i}"));
    let refused = [
        format!(
            "where {products}; is_injective(({}):({strides}))",
            names(16)
        ),
        format!("where {products}; coalesce(({}):({strides}))", names(16)),
        format!("({})", list(5000, &|_| "size((m,n))".to_owned())),
    ];
    for text in refused {
        let error = eval_str(&text).expect_err(&text);
        let limit =
            format!("more than {MAX_STEPS} steps are needed to decide what follows from the facts");
        assert_eq!(error.message, limit, "{text}");
    }
}

/// Expressions, and the largest m, n and k, for which every instance with a result on numbers passes the checks.
#[test]
fn checks_refuse_what_numbers_refuse() {
    for (text, most) in [
        ("coalesce((m,n,k):(1,m,m*n))", 6),
        ("where m % 4 == 0, m >= 4; (m,n):(n,1) o 4:1", 12),
        ("where m % 4 == 0; (m,n):(n,1) o (4,2):(1,2)", 12),
        ("logical_divide((m,n):(1,m), <4,2>)", 12),
        ("zipped_divide((m,n):(n,1), <4,2>)", 12),
        ("where m % 4 == 0; zipped_divide((m,n):(n,1), 4:1)", 12),
        ("logical_divide((m,n):(1,m), 4:1)", 8),
        ("complement((4,m):(1,4), 24)", 12),
        ("logical_product((m,n):(1,m), (2,3):(3,1))", 6),
        ("logical_product((m,n):(n,1), k:1)", 6),
        ("ragged zipped_divide((m,n):(n,1), <4,3>)", 12),
        ("ragged logical_divide((m,n):(1,m), <(2,2):(1,2),_>)", 12),
    ] {
        let (accepted, strict) = compare(text, most).expect("a result");
        assert!(
            accepted > 0 && strict == 0,
            "{text}: {accepted} accepted, {strict} refused"
        );
    }
}

/// Operations on the result of a ragged division of all of A. The sources still tell the coordinate in A.
#[test]
fn sources_follow() {
    const A: &str = "(4,m):(m,1)";
    for program in [
        "ragged logical_divide(A, 8:1)",
        "coalesce(ragged logical_divide(A, 8:1))",
        "flatten(ragged zipped_divide(A, (2,2):(1,8)))",
        "composition(ragged logical_divide(A, 8:1), <4:2,_>)",
        "composition(ragged logical_divide(A, 8:1), (2,2):(2,1))",
        "logical_divide(ragged logical_divide(A, 8:1), <2,_>)",
        "ragged zipped_divide(ragged logical_divide(A, 8:1), <4,2>)",
        "composition(get(ragged zipped_divide(A, 8:1), 0), (2,4):(4,1))",
        "slice(ragged zipped_divide(A, 8:1), (_,0))",
        "slice(ragged zipped_divide(A, 8:1), (3,_))",
        "composition(4:1, get(ragged logical_divide(3:1, {k}:1), 0))",
    ] {
        let text = format!("where k >= 2; {}", program.replace('A', A));
        let symbolic = eval_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for values in instances(8) {
            let Ok(atoms) = atoms(&symbolic.scope, values) else {
                continue;
            };
            let Value::Layout(terms) = &symbolic.value else {
                panic!("{text} is a layout");
            };
            let layout = terms.evaluate(&atoms).expect("integers").expect("a layout");
            let whole = match program.contains('A') {
                true => Layout::new([4, values[0]], [values[0], 1]),
                false => Layout::new(3, 1),
            };
            let whole = whole.expect("a layout");
            // The first source refers to the first division. A slice has replaced its bound by the last one.
            let sources = terms.stride().leaves().map(|stride| {
                let source = stride.sources().first().expect("each leaf has a source");
                source.stride.evaluate(&atoms).expect("an integer") as i64
            });
            let stride: Tuple<i64> = sources.map(Tuple::Leaf).collect();
            let shape: Tuple<i64> = layout.shape().leaves().copied().map(Tuple::Leaf).collect();
            let positions = Layout::new(shape, &stride).expect("a layout");
            let value = |at: i64| match whole.extended(at) {
                Some(Tuple::Leaf(value)) => value,
                _ => panic!("an integer"),
            };
            let start = match program.contains("(3,_)") {
                true => 3,
                false => 0,
            };
            let first = value(start);
            let expected = positions.values().map(|at| value(start + at) - first);
            assert!(layout.values().eq(expected), "{text} for {values:?}");
            if start > 0 {
                let bound = symbolic.scope.bounds().last().expect("a bound");
                let size = 4 * values[0];
                assert_eq!(bound.evaluate(&atoms), Some((size - start).into()));
            }
        }
    }
}

const EXTENTS: &[&str] = &["1", "2", "3", "4", "6", "m", "n", "2*m", "k"];

/// Extents that are computed from run-time integers.
const COMPUTED: &[&str] = &[
    "2",
    "4",
    "m",
    "n",
    "k",
    "{m + 1}",
    "n.div_ceil(2)",
    "{n/2}",
    "3*{k - m/5 + n}",
    "{(m + n.div_ceil(4))/3}",
    "(2*m).div_ceil(n)",
];

/// A layout that is compact in some order of its modes, or has random strides.
fn layout(extents: &'static [&'static str]) -> impl Strategy<Value = String> {
    let extents = prop::collection::vec(prop::sample::select(extents), 1..4);
    let gaps = prop::collection::vec(prop::sample::select(vec!["1", "1", "1", "2", "n"]), 4);
    (extents, gaps, 0..6usize).prop_map(|(extents, gaps, order)| {
        let mut modes: Vec<usize> = (0..extents.len()).collect();
        if order % 2 == 1 {
            modes.reverse();
        }
        if order >= 4 && modes.len() > 2 {
            modes.swap(0, 1);
        }
        let mut strides = vec![String::new(); extents.len()];
        let mut next = "1".to_owned();
        for (&mode, gap) in modes.iter().zip(gaps) {
            let stride = format!("{next}*{gap}");
            next = format!("{stride}*{}", extents[mode]);
            strides[mode] = stride;
        }
        format!("({}):({})", extents.join(","), strides.join(","))
    })
}

fn tile() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "2:1",
        "4:1",
        "3:2",
        "(2,2):(1,4)",
        "(2,3):(3,1)",
        "m:1",
        "2:m",
        "(2,m):(1,2)",
        "k:2",
    ])
    .prop_map(str::to_owned)
}

fn facts() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "where m % 4 == 0; ",
        "where m % 2 == 0, n >= 4; ",
        "where m % 6 == 0, n % 2 == 0; ",
        "where m >= 4, n <= 3; ",
        "where n % m == 0; ",
    ])
    .prop_map(str::to_owned)
}

/// Operations on a layout A and a tile B. Some have several steps: results become operands. Coordinates are taken only in
/// layouts as written, not in results. Past the end of a result, the value would depend on its split into modes.
const PROGRAMS: &[&str] = &[
    "composition(A, B)",
    "composition(A, <B>)",
    "logical_divide(A, B)",
    "zipped_divide(A, <B>)",
    "flat_divide(A, <B>)",
    "complement(B, 24*{m})",
    "complement(B)",
    "complement(A)",
    "logical_product(A, B)",
    "blocked_product(A, B)",
    "raked_product(B, A)",
    "tile_to_shape(A, (24,4*m,n,2), (1,0,3,2))",
    "tile_to_shape(B, 4*{m})",
    "coalesce(A)",
    "concat(A, 4, B, (2,3))",
    "append(A, (2,3))",
    "prepend(A, 5, 2)",
    "replace(A, 0, 6)",
    "coalesce(logical_divide(A, <B>), ((1,1),1))",
    "filter(append(A, 3:0))",
    "nullspace(append(prepend(A, 2:0), 3:0))",
    "right_inverse(A)",
    "left_inverse(A)",
    "right_inverse(B)",
    "left_inverse(B)",
    "max_common_layout(A, B)",
    "max_common_layout(A, A)",
    "max_common_vector(A, B)",
    "max_alignment(A)",
    "vector_width(A)",
    "alignment(A)",
    "is_injective(A)",
    "is_bijective(A)",
    "is_dense(A)",
    "bijective(A)",
    "dense(A)",
    "size(A)",
    "cosize(A)",
    "cosize(logical_divide(A, <B>))",
    "make_layout_like(A)",
    "make_fragment_like(A)",
    "make_fragment_like(zipped_divide(A, <2>))",
    "upcast(A, 2)",
    "upcast(A, 4)",
    "upcast(A, {k})",
    "downcast(A, 2)",
    "downcast(A, {n})",
    "recast(A, 32, 8)",
    "recast(B, 8, 16)",
    "crd2idx(5, A)",
    "crd2idx({k}, A)",
    "crd2idx(3*{m}, A)",
    "crd2idx(({k},5), concat(A,B))",
    "idx2crd(7, A)",
    "idx2crd({n}, A)",
    "crd2crd(5, A, B)",
    "crd2crd(idx2crd({n}, A), A, B)",
    "idx2crd(5, shape(A), stride(A))",
    "slice_and_offset(concat(A, B), (_,{k}))",
    "slice_and_offset(concat(A, logical_divide(A, B)), ({n},_))",
    "compatible(A, B)",
    "evenly_divides(A, B)",
    "domain_distribute(A, {k})",
    "composition(make_identity_layout(A), B)",
    "coshape(make_identity_layout(A))",
    "crd2idx({k}, make_identity_layout(A))",
    "composition(A, make_identity_layout(A))",
    "composition(composition(Sw<1,1,2>, A), B)",
    "crd2idx({k}, composition(Sw<2,1,2>, A))",
    "cosize_bound(composition(Sw<2,1,2>, A))",
    "slice_and_offset(composition(Sw<1,1,2>, concat(A, B)), (_,{k}))",
    "vector_width(composition(Sw<1,1,2>, A))",
    "upcast(composition(Sw<1,2,2>, A), 2)",
    "downcast(composition(Sw<1,2,2>, A), 2)",
    "ragged logical_divide(A, <B>)",
    "ragged tile_to_shape(B, 6*{n})",
    "ragged upcast(A, 2)",
    "coalesce(ragged logical_divide(A, <B>))",
    "composition(ragged logical_divide(A, <B>), <2>)",
    "composition(get(ragged zipped_divide(A, <2>), 0), B)",
];

/// Arithmetic of run-time integers and numbers.
fn arithmetic() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["m", "n", "k", "2", "3", "7"]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 2, |inner| {
        let signs = vec![
            "(A + B)",
            "{A - B}",
            "A*B",
            "(A*B)",
            "(A/B)",
            "(A)/{B}",
            "(A % B)",
            "(A).div_ceil(B)",
        ];
        (prop::sample::select(signs), inner.clone(), inner)
            .prop_map(|(form, a, b)| form.replace('A', &a).replace('B', &b))
    })
}

fn program() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PROGRAMS.to_vec())
}

/// The value of an expression as it is: a tuple of integers stays one.
fn plain_value(text: &str) -> Result<Symbolic, notation::NotationError> {
    let definition: notation::Definition = text.parse()?;
    eval_symbolic_value(&definition.facts, &definition.expr, &|_| None)
}

/// The printed form of an expression: its value, if it can be written, and its conditions.
#[derive(Debug, PartialEq)]
struct Printed {
    value: Option<String>,
    conditions: Vec<String>,
}

impl Printed {
    fn of(text: &str) -> Result<Self, notation::NotationError> {
        let Symbolic { scope, value } = plain_value(text)?;
        let is_written = !matches!(value, Value::Bool(_) | Value::List(_));
        Ok(Self {
            value: is_written.then(|| value.to_string()),
            conditions: scope.checks().iter().map(ToString::to_string).collect(),
        })
    }

    /// Reads an expression with the conditions as facts; no other conditions remain. `None` if reading finds that the conditions never
    /// hold.
    fn read(&self, expression: &str) -> Option<Self> {
        let facts = match self.conditions.is_empty() {
            true => String::new(),
            false => format!("where {}; ", self.conditions.join(", ")),
        };
        let text = format!("{facts}{expression}");
        let read = match Self::of(&text) {
            Ok(read) => read,
            Err(error) => {
                let never = ["never holds", "contradicts"];
                let never = never.iter().any(|never| error.message.contains(never));
                assert!(never, "{text}: {error}");
                return None;
            }
        };
        if read.conditions.len() > self.conditions.len() {
            assert_an_extent_is_one(&text);
            return None;
        }
        assert_eq!(read.conditions.len(), self.conditions.len(), "{text}");
        Some(read)
    }
}

/// Where an extent happens to be 1, conditions can be stricter than needed: no other values are possible.
fn assert_an_extent_is_one(text: &str) {
    let symbolic = plain_value(text).expect("it has been read");
    let mut possible = instances(6).filter(|values| !values.contains(&1));
    let possible = possible.find(|values| atoms(&symbolic.scope, *values).is_ok());
    assert_eq!(possible, None, "{text}");
}

/// The printed forms of an expression, and of its value read back under the conditions. `None` without a value.
fn read_back(text: &str) -> Option<(Printed, Printed)> {
    let first = Printed::of(text).ok()?;
    let again = first.read(text.split(';').next_back().unwrap_or(text));
    if again.is_none() {
        assert_an_extent_is_one(text);
    }
    let second = first.read(first.value.as_ref()?)?;
    Some((first, second))
}

/// A known name has its value, whatever its letters. For other names, the first letter decides where a layout may stand.
#[test]
fn names_are_what_they_are_known_to_be() {
    let names = |name: &str| match name {
        "tile" => Some(notation::eval_str("4:2").expect("a layout")),
        "N" => Some(Value::Int(4)),
        _ => None,
    };
    let value = |text: &str| {
        let expr = notation::parse(&lex(text)?, text.len()..text.len())?;
        let value = eval_symbolic_value(&[], &expr, &names)?.value;
        Ok::<_, notation::NotationError>(value.to_string())
    };
    for (text, expected) in [
        ("8:1 o tile", "4:2"),
        ("Sw<1,0,2> o tile o 2:1", "Sw<1,0,2> o 0 o 2:2"),
        ("Sw<1,0,2> o k o (m,8):(8,1)", "Sw<1,0,2> o k o (m,8):(8,1)"),
        ("logical_product(4:1, k)", "(4,k):(1,4)"),
        ("(m,8):(8,1) / <{M},N>", "((M,4),(m/M,2)):((8,1),(8*M,4))"),
        (
            "(m,8):(8,1) / <N,_n>",
            "((4,_n),(m/4,8/_n)):((8,1),(32,_n))",
        ),
        ("size((m,M))", "{M*m}"),
        ("(m,M,N)", "(m,M,4)"),
        ("({ {m} },{{ {k}.f() }})", "(m,{{k}.f()})"),
    ] {
        match value(text) {
            Ok(found) => assert_eq!(found, expected, "{text}"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
    let error = value("(m,8):(8,1) / <M,N>").expect_err("a name in capitals");
    assert_eq!(
        error.help.as_deref(),
        Some("if it is a run-time integer, it is written `{M}` here")
    );
}

/// Printed values and conditions can be read.
#[test]
fn values_and_conditions_read_back() {
    for text in [
        "(m + 1,n):(n,1)",
        "(2*(m + n),4)",
        "m + n:1",
        "{m/64}:{n/4}",
        "{(m + n)/64}:64*n",
        "(m - n/2,{2*m/n}):(k - 1,-m)",
        "ragged zipped_divide((2*m,m*n):(1,m), <64,{k}>)",
        "ragged zipped_divide((m + 1,n):(n,1), <64,8>)",
        "get(logical_divide((m,n):(1,m), <64,_>), 0, 1)",
        "crd2idx({k}/3, (m,n):(n,1))",
        "idx2crd({k}, (m,n))",
        "idx2crd({k}/2, idx2crd({m}, (4,n)))",
        "crd2idx({k}, Sw<2,1,2> o (m,n):(n,1))",
        "crd2idx(crd2idx({k} + 1, Sw<1,1,2> o (m,n):(n,1)), Sw<2,1,2> o 64:1)",
        "Sw<2,1,2> o {k}/2 o (m,n):(n,1)",
        "Sw<2,1,2> o k o (m,n):(n,1)",
        "Sw<2,1,2> o {K} o (m,n):(n,1)",
        "size((M,n):(n,1))",
        "size(M:1)",
        "composition(make_identity_layout((m,n)), <{k},{2*k}>)",
        "zipped_divide(make_identity_layout((m,4*n)), <{k},2>)",
        "where k >= 1; composition(make_identity_layout((8*k,n)), <4:{k}*2,_>)",
        "where m < n, m + n >= 4*k - 1, m % (2*n*k) == 0, (m + n) % 4 == 0; (m,n,k)",
        "where 1024 % (2*n*m) == 0, m/2*n <= {(m + 1)/2}, m.div_ceil(4) <= 3; (m,n)",
        "where (2*m).div_ceil(3*n).div_ceil(2) == {m}; (m,n)",
        "where crd2idx(m, Sw<1,1,2>) <= n; (m,n)",
        "where M >= 2, (M + 1).div_ceil(2) <= n; (M,n,{M.div_ceil(4)})",
    ] {
        let printed = read_back(text).unwrap_or_else(|| panic!("{text}: {:?}", Printed::of(text)));
        assert_eq!(printed.0, printed.1, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn no_fold_is_wrong(facts in facts(), a in layout(EXTENTS), b in tile(), program in program()) {
        let expression = program.replace('A', &a).replace('B', &b);
        compare(&format!("{facts}{expression}"), 6);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn results_read_back(facts in facts(), a in layout(EXTENTS), b in tile(), program in program()) {
        let expression = program.replace('A', &a).replace('B', &b);
        if let Some((first, second)) = read_back(&format!("{facts}{expression}")) {
            assert_eq!(first, second);
        }
    }

    #[test]
    fn results_with_computed_integers_read_back(facts in facts(), a in layout(COMPUTED), b in tile(), program in program()) {
        let expression = program.replace('A', &a).replace('B', &b);
        // On reading, a condition found later may simplify a quotient.
        if let Some((_, second)) = read_back(&format!("{facts}{expression}")) {
            let value = second.value.as_ref().expect("a value");
            assert_eq!(second.read(value).as_ref(), Some(&second));
        }
    }

    /// Arithmetic has the same value for run-time integers and for numbers.
    #[test]
    fn arithmetic_is_the_same_at_run_time(a in arithmetic(), b in arithmetic(), c in arithmetic()) {
        let text = format!("({a} + {b},{{{a} - {c}}}*{b},{c})");
        for values in instances(5) {
            let wanted = concrete_value(&text, values);
            let found = plain_value(&text).map(|symbolic| instance(&symbolic, values));
            match (found, wanted) {
                (Ok(Ok(found)), Ok(wanted)) => assert_eq!(found, wanted, "{text} for {values:?}"),
                (Ok(Ok(found)), Err(error)) => {
                    // 0 divided by an integer that may be 0 is 0.
                    let is_zero = error.message == "`0` is divided by 0";
                    assert!(is_zero, "{text} is {found} for {values:?}: {error}");
                }
                (Ok(Err(check)), Ok(wanted)) => panic!("{text} is {wanted} for {values:?}: {check}"),
                _ => {}
            }
        }
    }
}
