//! The values of a register that the module claims to be equal in all warps of a group.

use std::collections::{BTreeMap, VecDeque};

/// The most visits that one warp of a group can be ahead of another. Beyond that, values are not compared.
const MOST_TURNS: usize = 4096;

/// The values at one line. The n-th visit of a warp is compared with the n-th visit of the other warps.
#[derive(Default)]
pub(crate) struct Agreed {
    /// The number of turns that are dropped: all warps have come, or there were more than [`MOST_TURNS`].
    ended: u64,
    turns: VecDeque<Turn>,
    /// By warp, how often it has come.
    come: BTreeMap<u32, u64>,
}

struct Turn {
    /// The first warp that came, and its number.
    first: (u32, u64),
    /// How many warps have come.
    come: u32,
}

impl Agreed {
    /// Records the value `number` of a warp in a group of `warps` warps. Returns the turn, and the turn's first warp with its value.
    pub(crate) fn come(&mut self, warp: u32, number: u64, warps: u32) -> (u64, (u32, u64)) {
        let own = self.come.entry(warp).or_default();
        *own += 1;
        let turn = *own;
        let Some(behind) = (turn - 1).checked_sub(self.ended) else {
            return (turn, (warp, number));
        };
        // A warp comes to turns in order, so at most one turn is missing.
        if behind as usize == self.turns.len() {
            self.turns.push_back(Turn {
                first: (warp, number),
                come: 0,
            });
        }
        let at = &mut self.turns[behind as usize];
        at.come += 1;
        let first = at.first;
        let ends = |turn: &Turn| turn.come >= warps;
        while self.turns.front().is_some_and(ends) || self.turns.len() > MOST_TURNS {
            self.turns.pop_front();
            self.ended += 1;
        }
        (turn, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_compared_with_each_other() {
        let mut agreed = Agreed::default();
        assert_eq!(agreed.come(0, 7, 2), (1, (0, 7)));
        assert_eq!(agreed.come(0, 8, 2), (2, (0, 8)));
        assert_eq!(agreed.come(1, 7, 2), (1, (0, 7)));
        assert_eq!(agreed.come(1, 9, 2), (2, (0, 8)));
        assert!(agreed.turns.is_empty());
        for turn in 3..3 * MOST_TURNS as u64 {
            assert_eq!(agreed.come(1, turn, 2), (turn, (1, turn)));
        }
        assert_eq!(agreed.turns.len(), MOST_TURNS);
        // A value is not compared with a dropped turn.
        assert_eq!(agreed.come(0, 1, 2), (3, (0, 1)));
    }
}
