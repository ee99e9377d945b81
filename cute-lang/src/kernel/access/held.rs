//! Whether a fragment holds a tile as a layout from (thread, value) to coordinates says, and in which registers.

use crate::kernel::access::crd2idx::along;
use crate::kernel::value::{Fragment, Scalar, packing};
use cute_algebra::Layout;
use std::ops::Range;

impl Fragment {
    /// Checks that every thread holds the values that the layout gives it, in order. The error says where they differ
    /// first.
    pub fn check_held(&self, layout: &Layout) -> Result<(), String> {
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
        let at = |layouts: &[Layout], index: i64| -> Vec<i64> {
            let coordinates = layouts.iter().map(|layout| layout.at(index));
            coordinates.map(Option::unwrap_or_default).collect()
        };
        // A coordinate is the sum of the thread's part and the value's, so that one value of each thread and all values of
        // one thread settle the rest.
        let thread_places = (0..sizes(&threads)).map(|thread| (thread, 0));
        for (thread, value) in thread_places.chain((0..found).map(|value| (0, value))) {
            let own = &self.values[value as usize].coordinate;
            let found = sum(&at(&tile.threads, thread), own);
            let expected = sum(&at(&threads, thread), &at(&values, value));
            if found != expected {
                return Err(format!(
                    "value {value} of thread {thread} is at {}, not at {}",
                    shown(&found),
                    shown(&expected)
                ));
            }
        }
        Ok(())
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

fn sum(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A coordinate as in "(1,0)".
pub(crate) fn shown(coordinate: &[i64]) -> String {
    let coordinates: Vec<String> = coordinate.iter().map(i64::to_string).collect();
    format!("({})", coordinates.join(","))
}
