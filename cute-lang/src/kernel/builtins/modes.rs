//! Fragments with their modes in another order: coordinates change, and the values stay in their registers.

use super::fragment::mode_number;
use crate::kernel::builtins::call::Call;
use crate::kernel::value::{Distributed, Fragment, Held, Value};
use cute_algebra::{Layout, Tuple};
use syn::Result;

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
