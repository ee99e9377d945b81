//! The meaning of the colours, and the lines under a picture that tell it.

use super::color::{self, ColorBy, Rgb};
use super::{Cell, Picture, Subject, bank};
use crate::tuple::{IntTuple, Tuple};
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The most swatches of a legend. If there are more colours, it has the first few and the last.
const SWATCHES: usize = 16;
const FIRST_SWATCHES: usize = 6;

/// The lines under a picture.
pub(super) struct Legend {
    pub(super) heading: String,
    /// `None` where colours are left out.
    pub(super) swatches: Vec<Option<Swatch>>,
    /// What else a reader has to know.
    pub(super) notes: Vec<String>,
}

/// A colour, with the text that cells of this colour have in common.
#[derive(Clone)]
pub(super) struct Swatch {
    pub(super) fill: Rgb,
    pub(super) text: String,
}

/// The colours of a picture: cells with equal keys have the same.
pub(super) struct Colors<'a> {
    picture: &'a Picture,
    /// The keys of all cells in ascending order, each once.
    keys: Vec<IntTuple>,
}

impl Picture {
    pub(super) fn colors(&self) -> Colors<'_> {
        let cells = self.panels.iter().flat_map(|panel| &panel.cells);
        let mut keys: Vec<_> = cells.filter_map(|cell| self.key(cell)).collect();
        keys.sort_unstable();
        keys.dedup();
        Colors {
            picture: self,
            keys,
        }
    }

    /// What the colour of a cell shows; `None` for a cell that nothing holds.
    fn key(&self, cell: &Cell) -> Option<IntTuple> {
        let key = match (self.color_by, self.subject) {
            (ColorBy::Thread | ColorBy::Tile, _) => cell.holder?.outer,
            (ColorBy::Rest, _) | (ColorBy::Value, Subject::Threads) => cell.holder?.inner,
            (ColorBy::Value, _) => return Some(cell.value.clone()),
            (ColorBy::Bank { .. }, _) => self.bank(cell)?,
        };
        Some(Tuple::Leaf(key))
    }

    /// The bank in which the element of a cell begins, if the colours show banks.
    pub(super) fn bank(&self, cell: &Cell) -> Option<i64> {
        match (self.color_by, &cell.value) {
            (ColorBy::Bank { bits }, Tuple::Leaf(value)) => cell.holder.map(|_| bank(*value, bits)),
            _ => None,
        }
    }
}

impl Colors<'_> {
    /// The colour of a cell; `None` for a cell that nothing holds.
    pub(super) fn fill(&self, cell: &Cell) -> Option<Rgb> {
        self.picture.key(cell).map(|key| self.of(&key))
    }

    fn of(&self, key: &IntTuple) -> Rgb {
        match (self.picture.color_by, key) {
            (ColorBy::Bank { .. }, Tuple::Leaf(bank)) => color::of_bank(*bank),
            (ColorBy::Thread | ColorBy::Tile | ColorBy::Rest, Tuple::Leaf(key)) => {
                color::cycled(*key)
            }
            _ => {
                let rank = self.keys.partition_point(|other| other < key);
                color::ranked(rank, self.keys.len())
            }
        }
    }

    pub(super) fn legend(&self) -> Legend {
        let picture = self.picture;
        let keys = self.distinct();
        let repeats = match keys.len() < self.keys.len() {
            true => format!(" modulo {}", color::CYCLE),
            false => String::new(),
        };
        let swatch = |key: &IntTuple| {
            Some(Swatch {
                fill: self.of(key),
                text: self.text(key),
            })
        };
        let first = match (picture.color_by, picture.subject) {
            // Their cells say which value it is.
            (ColorBy::Value, Subject::Values | Subject::Tiles) if keys.len() > 2 => 1,
            _ if keys.len() > SWATCHES => FIRST_SWATCHES,
            _ => keys.len(),
        };
        let mut swatches: Vec<_> = keys[..first].iter().map(swatch).collect();
        if first < keys.len() {
            swatches.push(None);
            swatches.extend(keys.last().map(swatch));
        }
        let panels = picture.panels.iter();
        let notes = panels.filter_map(|panel| {
            let note = panel.sharing.note.clone()?;
            Some(match panel.caption {
                "" => note,
                caption => format!("{caption}: {note}"),
            })
        });
        Legend {
            heading: format!("colour: {}{repeats}", self.meaning()),
            swatches,
            notes: notes.collect(),
        }
    }

    /// The keys, or what remains of them where several have the same colour.
    fn distinct(&self) -> Vec<IntTuple> {
        let is_cycle = matches!(
            self.picture.color_by,
            ColorBy::Thread | ColorBy::Tile | ColorBy::Rest
        );
        let reduced = |key: &IntTuple| key.map(|key| key.rem_euclid(color::CYCLE));
        let mut reduced: Vec<_> = self.keys.iter().map(reduced).collect();
        reduced.sort_unstable();
        reduced.dedup();
        match is_cycle && reduced.len() < self.keys.len() {
            true => reduced,
            false => self.keys.clone(),
        }
    }

    fn meaning(&self) -> String {
        let picture = self.picture;
        let meaning = match (picture.color_by, picture.subject) {
            (ColorBy::Bank { bits: bits @ ..=32 }, _) => {
                return format!("bank b, elements of {bits} bits");
            }
            (ColorBy::Bank { bits }, _) => {
                return format!("first bank b, elements of {bits} bits");
            }
            (ColorBy::Value, Subject::Threads) => "value V of a thread",
            (ColorBy::Value, _) if picture.is_integral() => "value",
            (ColorBy::Value, _) => "coordinate",
            (ColorBy::Thread, _) => "thread T",
            (ColorBy::Tile, Subject::Values) => "column",
            (ColorBy::Tile, _) => "tile",
            (ColorBy::Rest, Subject::Values) => "row",
            (ColorBy::Rest, _) => "place in the tile",
        };
        meaning.to_string()
    }

    /// The text of a swatch: what the cells of this colour say as well.
    fn text(&self, key: &IntTuple) -> String {
        match (self.picture.color_by, self.picture.subject) {
            (ColorBy::Thread, _) => format!("T{key}"),
            (ColorBy::Value, Subject::Threads) => format!("V{key}"),
            (ColorBy::Bank { .. }, _) => format!("b{key}"),
            _ => key.to_string(),
        }
    }
}
