//! The colours of a picture and their meaning.

use crate::hopper::banks::BANKS;
use alloc::borrow::ToOwned;
use alloc::format;
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

    /// The line under the picture that explains the colours.
    pub(super) fn legend(self) -> String {
        match self {
            Self::Value => "colour: value, the larger the darker".to_owned(),
            Self::Bank { bits } => {
                format!("colour: bank of {BANKS}, elements of {bits} bits")
            }
            Self::Thread | Self::Tile | Self::Rest => format!("colour: {self}, modulo {BANKS}"),
        }
    }
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

/// Paul Tol's light qualitative scheme: backgrounds for black text that colour-blind readers can tell apart. The order
/// keeps similar colours away from each other.
const HUES: [Rgb; 8] = [
    Rgb(0x77, 0xaa, 0xdd),
    Rgb(0xee, 0x88, 0x66),
    Rgb(0x44, 0xbb, 0x99),
    Rgb(0xff, 0xaa, 0xbb),
    Rgb(0xee, 0xdd, 0x88),
    Rgb(0x99, 0xdd, 0xff),
    Rgb(0xbb, 0xcc, 0x33),
    Rgb(0xcc, 0xcc, 0xcc),
];

/// The percentages of white mixed into a hue. They give four tints of each hue.
const TINTS: [i64; 4] = [0, 35, 58, 76];

/// The colour of the largest value. The contrast of black text on it is more than 7.
const DARKEST: Rgb = Rgb(0x77, 0xaa, 0xdd);

/// The colour of index `key`: the hues in turn, then the hues in lighter tints. Repeats after 32.
pub(super) fn cycled(key: i64) -> Rgb {
    let (hues, tints) = (HUES.len() as i64, TINTS.len() as i64);
    tinted(key.rem_euclid(hues), key.div_euclid(hues).rem_euclid(tints))
}

/// The colour of a bank: the four tints of a hue in turn, then those of the next hue. Repeats after 32.
pub(super) fn of_bank(bank: i64) -> Rgb {
    let (hues, tints) = (HUES.len() as i64, TINTS.len() as i64);
    tinted(
        bank.div_euclid(tints).rem_euclid(hues),
        bank.rem_euclid(tints),
    )
}

/// The colour of the value with index `rank` of `ranks` sorted values, from white to [`DARKEST`].
pub(super) fn ranked(rank: usize, ranks: usize) -> Rgb {
    let white = 100 - 100 * rank as i64 / ranks.saturating_sub(1).max(1) as i64;
    mixed(DARKEST, white)
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
