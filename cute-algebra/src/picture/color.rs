//! The colours of a picture and their meaning.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// The meaning of a cell's colour. There are 32 colours: indices that differ by a multiple of 32 have the same.
///
/// As text: `value`, `thread`, `bank`, `bank:16`, `tile` or `rest`. The number after `bank:` is the element size in bits,
/// by default 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorBy {
    /// The value of the layout: larger values are darker. In a picture of threads, the index of the thread's value.
    Value,
    /// The thread that holds the element.
    Thread,
    /// The bank of shared memory in which the element begins. Four neighbouring banks (16 bytes) have the same hue.
    Bank {
        /// The element size in bits, from 1 to 128.
        bits: u32,
    },
    /// The tile of the element. For a layout without tiles, the column.
    Tile,
    /// The position of the element inside its tile. For a layout without tiles, the row.
    Rest,
}

/// The largest element size in bits.
const MAX_BITS: u32 = 128;

/// The error for a text that is not a [`ColorBy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseColorError {
    found: String,
}

impl FromStr for ColorBy {
    type Err = ParseColorError;

    fn from_str(text: &str) -> Result<Self, ParseColorError> {
        let refused = || ParseColorError {
            found: text.to_owned(),
        };
        Ok(match text.split_once(':') {
            None => match text {
                "value" => Self::Value,
                "thread" => Self::Thread,
                "bank" => Self::Bank { bits: 32 },
                "tile" => Self::Tile,
                "rest" => Self::Rest,
                _ => return Err(refused()),
            },
            Some(("bank", bits)) => {
                let bits = bits.parse().map_err(|_| refused())?;
                match bits {
                    1..=MAX_BITS => Self::Bank { bits },
                    _ => return Err(refused()),
                }
            }
            Some(_) => return Err(refused()),
        })
    }
}

impl fmt::Display for ColorBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value => f.write_str("value"),
            Self::Thread => f.write_str("thread"),
            Self::Bank { bits } => write!(f, "bank:{bits}"),
            Self::Tile => f.write_str("tile"),
            Self::Rest => f.write_str("rest"),
        }
    }
}

impl fmt::Display for ParseColorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a picture cannot be coloured by `{}`: expected value, thread, bank, bank:BITS with 1 to {MAX_BITS} bits, tile or rest",
            self.found
        )
    }
}

impl core::error::Error for ParseColorError {}

impl ColorBy {
    pub(super) const ALL: [Self; 5] = [
        Self::Value,
        Self::Thread,
        Self::Bank { bits: 32 },
        Self::Tile,
        Self::Rest,
    ];
}

/// A colour: red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

const WHITE: Rgb = Rgb(255, 255, 255);

/// Backgrounds for black text. In the views of the test `colors_are_told_apart`, no two are alike. The order keeps similar
/// colours away from each other, also four steps apart: these are neighbours where a row has four threads.
const HUES: [Rgb; 8] = [
    Rgb(0x5e, 0x9b, 0xef),
    Rgb(0xc5, 0x77, 0x14),
    Rgb(0xd5, 0xaf, 0xf5),
    Rgb(0x14, 0x9c, 0x6d),
    Rgb(0xa1, 0xb1, 0x3d),
    Rgb(0x61, 0xc3, 0xbb),
    Rgb(0xb6, 0x73, 0xb4),
    Rgb(0xf5, 0xc0, 0x78),
];

/// The percentages of white mixed into a hue. They give four tints of each hue.
const TINTS: [i64; 4] = [0, 26, 46, 63];

/// The number of colours before they repeat.
pub(super) const CYCLE: i64 = (HUES.len() * TINTS.len()) as i64;

/// The colour of the largest value, and the percentage of white in that of the smallest.
const DARKEST: Rgb = Rgb(0x4a, 0x86, 0xd8);
const LIGHTEST: i64 = 84;

/// The colour of index `key`: the hues in turn, then the hues in lighter tints. Repeats after [`CYCLE`].
pub(super) fn cycled(key: i64) -> Rgb {
    let (hues, tints) = (HUES.len() as i64, TINTS.len() as i64);
    tinted(key.rem_euclid(hues), key.div_euclid(hues).rem_euclid(tints))
}

/// The colour of a bank: the four tints of a hue in turn, then those of the next hue. Repeats after [`CYCLE`].
pub(super) fn of_bank(bank: i64) -> Rgb {
    let (hues, tints) = (HUES.len() as i64, TINTS.len() as i64);
    tinted(
        bank.div_euclid(tints).rem_euclid(hues),
        bank.rem_euclid(tints),
    )
}

/// The colour of the value with index `rank` of `ranks` sorted values, the larger the darker.
pub(super) fn ranked(rank: usize, ranks: usize) -> Rgb {
    let steps = ranks.saturating_sub(1).max(1) as i64;
    mixed(DARKEST, LIGHTEST - LIGHTEST * rank as i64 / steps)
}

fn tinted(hue: i64, tint: i64) -> Rgb {
    mixed(HUES[hue as usize], TINTS[tint as usize])
}

fn mixed(color: Rgb, white: i64) -> Rgb {
    let part = |color: u8, light: u8| {
        ((i64::from(color) * (100 - white) + i64::from(light) * white) / 100) as u8
    };
    Rgb(
        part(color.0, WHITE.0),
        part(color.1, WHITE.1),
        part(color.2, WHITE.2),
    )
}
