//! Permutations of modes: coordinates change, and elements stay in place.

use super::algebra::operate;
use super::fragment::mode_number;
use crate::kernel::builtins::call::{Argument, Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Distributed, Fragment, Held, NumberType, Value};
use cute_algebra::{Layout, Tuple, operations};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "transpose(x)",
    apply: transpose,
}];

/// `select(x, 1, 0)` of two modes.
fn transpose(b: &mut Builder, call: &Call) -> Result<Value> {
    let x = &call.args[0];
    let rank = match &x.value {
        Value::Fragment(x) => Some(x.shape.rank()),
        Value::Tensor(x) => Some(x.layout.layout().rank()),
        Value::Global(x) => x.tile().map(Layout::rank),
        other => match other.to_algebra() {
            Some(cute_algebra::Value::Layout(layout)) => Some(layout.rank()),
            Some(cute_algebra::Value::Composed(layout)) => Some(layout.layout().rank()),
            _ => return Err(call.mismatch(0, "a fragment, a tensor or a layout")),
        },
    };
    if let Some(rank) = rank.filter(|rank| *rank != 2) {
        let message = format!(
            "`transpose` exchanges two modes, and this has {rank}: `select(x, …)` takes the modes in their new order"
        );
        return Err(call.error_at(0, message));
    }
    let mode = |mode| Argument {
        value: Value::Int(mode, NumberType::Any),
        span: x.span,
    };
    let Some(operation) = operations::find("select") else {
        return Err(b.error("there is no `select` (a defect)"));
    };
    let call = Call {
        name: operation.name,
        span: call.span,
        types: Vec::new(),
        args: vec![x.clone(), mode(1), mode(0)],
    };
    operate(b, operation, &call)
}

/// The fragment with its modes in the order of the other arguments, in the same registers.
pub(super) fn select(call: &Call, x: &Fragment) -> Result<Value> {
    let rank = x.shape.rank();
    let mut modes = Vec::new();
    for index in 1..call.args.len() {
        modes.push(mode_number(call, index, x)?);
    }
    if modes.len() != rank || (0..rank).any(|mode| !modes.contains(&mode)) {
        let message = format!(
            "a fragment of {} keeps all its {rank} modes, each once, in another order",
            x.shape
        );
        return Err(call.error_at(0, message));
    }
    let shape: Tuple<i64> = modes
        .iter()
        .filter_map(|mode| x.shape.modes().get(*mode).cloned())
        .collect();
    let values = match &x.tile {
        Some(_) => x
            .values
            .iter()
            .map(|held| Held {
                coordinate: modes.iter().map(|mode| held.coordinate[*mode]).collect(),
                ..held.clone()
            })
            .collect(),
        // The index of a value counts in the order of the modes.
        None => {
            let order: Vec<i64> = modes.iter().map(|mode| *mode as i64).collect();
            let places = Layout::left(x.shape.clone())
                .and_then(|layout| cute_algebra::select(&layout, &order));
            let places = places.map_err(|error| call.error_at(0, error))?;
            let values = places
                .values()
                .filter_map(|at| x.values.get(usize::try_from(at).ok()?));
            values.cloned().collect()
        }
    };
    let tile = x.tile.as_ref().map(|tile| Distributed {
        threads: modes
            .iter()
            .map(|mode| tile.threads[*mode].clone())
            .collect(),
        origin: modes
            .iter()
            .map(|mode| tile.origin[*mode].clone())
            .collect(),
    });
    Ok(Value::Fragment(Fragment {
        values,
        tile,
        shape,
        ..x.clone()
    }))
}
