//! Compares the tile of a fragment with a layout from (thread, value) to coordinates, and finds the registers of values.
//!
//! Rows of wgmma may have any order that A in registers and the accumulators share (`row_order`). In the order of `TiledMma::from_registers`, a warp's loads of A along M have no bank
//! conflicts. Epilogues use coordinates, so the order does not matter to them; only `gated` refuses it.

use crate::kernel::access::crd2idx::along;
use crate::kernel::value::{Fragment, Scalar, packing};
use cute_algebra::Layout;
use std::ops::Range;

/// Where a thread holds a value, and where a layout has it: coordinates.
struct Place {
    thread: i64,
    value: i64,
    found: Vec<i64>,
    expected: Vec<i64>,
}

impl Fragment {
    /// Checks that every thread holds the values of the layout in order, except that the `rows` rows may be permuted. Gives the
    /// permutation: for row 0, 1, … of the layout, the row that is held there. The error names the first difference.
    pub fn row_order(&self, layout: &Layout, rows: i64) -> Result<Vec<i64>, String> {
        let places = self.places(layout)?;
        if let Some(order) = order(&places, rows) {
            return Ok(order);
        }
        // A different row may be due to the permutation of rows, so a different column says more.
        let other_column = |it: &&Place| it.found[1..] != it.expected[1..];
        let other = |it: &&Place| it.found != it.expected;
        let first = places.iter().find(other_column);
        let first = first.or_else(|| places.iter().find(other));
        Err(first.map_or_else(
            || format!("it has other rows than {rows}"),
            |it| {
                let (found, expected) = (shown(&it.found), shown(&it.expected));
                let Place { thread, value, .. } = it;
                format!("value {value} of thread {thread} is at {found}, not at {expected}")
            },
        ))
    }

    /// The coordinates of values in the fragment and in the layout. A coordinate is the sum of the thread's part and the value's, so one
    /// value of each thread and all values of one thread determine the rest.
    fn places(&self, layout: &Layout) -> Result<Vec<Place>, String> {
        let Some(tile) = &self.tile else {
            return Err("one thread holds all of it".into());
        };
        let modes = 0..tile.threads.len();
        let side = |side: usize| -> Vec<Layout> {
            let side = layout.mode(side).unwrap_or_else(Layout::unit);
            modes.clone().map(|mode| along(&side, &[mode])).collect()
        };
        let (threads, values) = (side(0), side(1));
        let sizes = |layouts: &[Layout]| layouts.first().map_or(1, Layout::size);
        let (expected, found) = (sizes(&threads), sizes(&tile.threads));
        if expected != found {
            return Err(format!("{found} threads hold it, not {expected}"));
        }
        let (expected, found) = (sizes(&values), self.values.len() as i64);
        if expected != found {
            return Err(format!("a thread holds {found} values, not {expected}"));
        }
        let at = |layouts: &[Layout], index: i64| -> Result<Vec<i64>, String> {
            let coordinates = layouts.iter().map(|layout| {
                let coordinate = layout.at(index);
                coordinate.ok_or_else(|| format!("{layout} has no value at {index} (a defect)"))
            });
            coordinates.collect()
        };
        let place = |(thread, value): (i64, i64)| {
            Ok(Place {
                thread,
                value,
                found: sum(
                    &at(&tile.threads, thread)?,
                    &self.values[value as usize].coordinate,
                ),
                expected: sum(&at(&threads, thread)?, &at(&values, value)?),
            })
        };
        let of_threads = (0..sizes(&threads)).map(|thread| (thread, 0));
        let all = of_threads.chain((0..found).map(|value| (0, value)));
        all.map(place).collect()
    }

    /// The register that holds exactly these values, in order.
    pub fn whole_register(&self, values: &[usize]) -> Option<Scalar> {
        let (register, _) = self.part(values[0]);
        let whole = values.len() == packing(self.element)
            && values
                .iter()
                .enumerate()
                .all(|(place, &value)| self.part(value) == (register.clone(), place));
        whole.then_some(register)
    }

    /// The registers that hold exactly these values, in order.
    pub fn whole_registers(&self, values: Range<usize>) -> Option<Vec<Scalar>> {
        let values: Vec<usize> = values.collect();
        let registers = values.chunks(packing(self.element));
        registers
            .map(|values| self.whole_register(values))
            .collect()
    }
}

/// The permutation of rows between these places and a layout, if there is no other difference.
fn order(places: &[Place], rows: i64) -> Option<Vec<i64>> {
    if places.iter().any(|it| it.found[1..] != it.expected[1..]) {
        return None;
    }
    let (threads, values): (Vec<&Place>, Vec<&Place>) = places.iter().partition(|it| it.value == 0);
    let first = threads.first()?;
    // The distance in rows of each value of a thread from its first one, here and in the layout.
    let mut steps = vec![(0, 0)];
    for it in values {
        let found = it.found[0] - first.found[0];
        let step = (found, it.expected[0] - first.expected[0]);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    let mut order = vec![None; usize::try_from(rows).ok()?];
    for it in threads {
        for (found, expected) in &steps {
            let place = usize::try_from(it.expected[0] + expected).ok()?;
            let row = it.found[0] + found;
            if *order.get_mut(place)?.get_or_insert(row) != row {
                return None;
            }
        }
    }
    let order: Vec<i64> = order.into_iter().collect::<Option<_>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rows).then_some(order)
}

fn sum(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A coordinate as in "(1,0)".
pub(crate) fn shown(coordinate: &[i64]) -> String {
    let coordinates: Vec<String> = coordinate.iter().map(i64::to_string).collect();
    format!("({})", coordinates.join(","))
}
