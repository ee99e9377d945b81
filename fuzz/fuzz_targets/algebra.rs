//! Programs of operations: each result keeps what its operation promises, value by value, and text says the same.
#![no_main]

#[path = "../../cute-algebra/tests/support/mod.rs"]
mod support;

use cute_algebra::notation::eval_str;
use cute_algebra::operations::{all, apply};
use cute_algebra::{Layout, Value};
use cute_fuzz::Numbers::{Any, Small};
use cute_fuzz::{Numbers, value};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use support::{keeps_promise, keeps_ragged_promise};

/// Values of which every coordinate is looked at.
const MOST_POINTS: i64 = 1 << 10;
/// Operations of a program.
const STEPS: usize = 8;
/// Operands that an operation is given at most.
const MOST_OPERANDS: usize = 4;

fn is_small(value: &Value) -> bool {
    let small = |layout: &Layout| layout.size() <= MOST_POINTS && layout.cosize() <= 1 << 20;
    match value {
        Value::Layout(layout) => small(layout),
        Value::Composed(composed) => small(composed.layout()),
        Value::Int(value) => *value <= MOST_POINTS,
        Value::Tuple(tuple) => tuple.product().is_some_and(|size| size <= MOST_POINTS),
        _ => true,
    }
}

fn program(u: &mut Unstructured<'_>) -> Result<()> {
    let numbers: Numbers = if u.ratio(3, 4)? { Small } else { Any };
    let mut values = Vec::new();
    for _ in 0..3 {
        values.extend(value(u, numbers)?);
    }
    let operations: Vec<_> = all().collect();
    for _ in 0..STEPS {
        if values.is_empty() {
            break;
        }
        let operation = *u.choose(&operations)?;
        let (least, most) = (*operation.counts.start(), *operation.counts.end());
        let count = u.int_in_range(least..=most.min(MOST_OPERANDS).max(least))?;
        let mut operands = Vec::new();
        for _ in 0..count {
            match u.ratio(1, 4)? {
                true => operands.extend(value(u, numbers)?),
                false => operands.push(u.choose(&values)?.clone()),
            }
        }
        let ragged = operation.ragged && u.ratio(1, 4)?;
        let shown = || {
            let operands: Vec<String> = operands.iter().map(Value::to_string).collect();
            let ragged = if ragged { "ragged " } else { "" };
            format!("{ragged}{}({})", operation.name, operands.join(", "))
        };
        let result = match apply(operation, &operands, ragged) {
            Ok(result) => result,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        if operands.iter().chain([&result]).all(is_small) {
            let promise = match operation.name {
                name if !ragged => keeps_promise(name, &operands, &result),
                name if name == "composition" || name.ends_with("_divide") => {
                    keeps_ragged_promise(name, &operands, &result)
                }
                // The rest rounds its target up, whatever that gives.
                _ => None,
            };
            assert_ne!(promise, Some(false), "{} = {result}", shown());
        }
        if let Ok(read) = eval_str(&shown()) {
            assert_eq!(read, result, "{}", shown());
        }
        values.push(result);
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes end a program early.
    let _ = program(&mut Unstructured::new(bytes));
});
