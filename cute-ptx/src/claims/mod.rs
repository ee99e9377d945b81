//! What PTX says of itself in comments: claims, which the emulator checks, and notes, from which it knows tensors.
//!
//! The kernel language writes these types as comments (`Display`), and the emulator reads them (`FromStr`). A comment that begins like one
//! and cannot be read is [`Malformed`]; any other comment is for readers alone.
//!
//! A register in them is its name, or whatever else the writer of PTX has for a register before it has a name.
//!
//! The comment at the end of an instruction is [`Claims`]: what is at each of its addresses, and which threads execute it. A comment on a
//! line of its own is a [`Statement`] about the threads that get there. A comment before the entry is a [`Note`].

mod condition;
mod note;
mod place;
mod statement;

pub use condition::{Comparison, Condition, Order, Sum};
pub use note::{Note, Part};
pub use place::{Place, Swizzle};
pub use statement::{Group, Statement};

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The claims of an instruction: `x[%i, %thread + 4]; if %i < %n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims<R = String> {
    /// For each address and each box of the instruction, in order, what is there; `None`, written `_`, claims nothing.
    pub places: Vec<Option<Place<R>>>,
    /// Which threads execute the instruction.
    pub way: Option<Way<R>>,
}

/// Which threads execute an instruction, or for which of them it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way<R = String> {
    /// `if %i < %n`: of the threads that get there, it is executed by those in which this holds, and by no others.
    Executed(Condition<R>),
    /// `adds if %i > 0`: this holds where a wgmma adds to D, and where it replaces D it does not.
    Adds(Condition<R>),
}

/// A comment that begins like a claim or a note, and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The comment, or the part of it that cannot be read.
    pub text: String,
    /// What it begins like, with an example.
    pub like: &'static str,
}

impl Error for Malformed {}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { text, like } = self;
        write!(f, "the comment `{text}` begins like {like}, and is none")
    }
}

impl Claims {
    /// The claims of a comment at the end of an instruction; `None` if it does not begin like one.
    ///
    /// # Errors
    ///
    /// If it begins like a claim, and is none.
    pub fn read(comment: &str) -> Result<Option<Self>, Malformed> {
        let mut parts = comment.split("; ").skip_while(|part| *part == "_");
        let begins = |part: &str| Place::begins(part) || Way::begins(part);
        match parts.next().is_some_and(begins) {
            true => comment.parse().map(Some),
            false => Ok(None),
        }
    }
}

impl<R> Claims<R> {
    /// The same claims, with other names of their registers.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Claims<S> {
        let places = self.places.iter();
        let places = places.map(|place| place.as_ref().map(|place| place.map(name)));
        Claims {
            places: places.collect(),
            way: self.way.as_ref().map(|way| way.map(name)),
        }
    }
}

impl<R: Display> Display for Claims<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for place in &self.places {
            f.write_str(separator)?;
            match place {
                Some(place) => place.fmt(f)?,
                None => f.write_str("_")?,
            }
            separator = "; ";
        }
        match &self.way {
            Some(way) => write!(f, "{separator}{way}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Claims {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let (places, way) = match text.rsplit_once("; ") {
            Some((places, way)) if Way::begins(way) => (Some(places), Some(way)),
            None if Way::begins(text) => (None, Some(text)),
            _ => (Some(text), None),
        };
        let place = |text: &str| match text {
            "_" => Ok(None),
            text => text.parse().map(Some),
        };
        let places = places.into_iter().flat_map(|places| places.split("; "));
        Ok(Self {
            places: places.map(place).collect::<Result<_, _>>()?,
            way: way.map(str::parse).transpose()?,
        })
    }
}

impl Way {
    /// Whether a text begins like one: with `if` or `adds if`, and a register or a number.
    fn begins(text: &str) -> bool {
        let condition = text.strip_prefix("adds if ").or(text.strip_prefix("if "));
        condition.is_some_and(Condition::begins)
    }
}

impl<R> Way<R> {
    /// The same claim, with other names of its registers.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Way<S> {
        match self {
            Self::Executed(condition) => Way::Executed(condition.map(name)),
            Self::Adds(condition) => Way::Adds(condition.map(name)),
        }
    }
}

impl<R: Display> Display for Way<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executed(condition) => write!(f, "if {condition}"),
            Self::Adds(condition) => write!(f, "adds if {condition}"),
        }
    }
}

impl FromStr for Way {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let malformed = || Malformed {
            text: text.to_owned(),
            like: "a claim about threads, such as `if %i < %n`",
        };
        match text.strip_prefix("adds if ") {
            Some(condition) => condition.parse().map(Self::Adds),
            None => {
                let condition = text.strip_prefix("if ").ok_or_else(malformed)?;
                condition.parse().map(Self::Executed)
            }
        }
    }
}

/// Whether a text is a name of PTX, or of a variable of the kernel language with its fields: `pipe.full`, `r#type`, and any letters of
/// other scripts.
fn is_name(text: &str) -> bool {
    let foreign = |c: char| !c.is_ascii() && !c.is_whitespace() && !c.is_control();
    let mut characters = text.chars();
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$') || foreign(c);
    characters.next().is_some_and(first)
        && characters.all(|c| c.is_ascii_alphanumeric() || "_$.#".contains(c) || foreign(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "x[%i, %thread + 4]",
            "x[s32 %i + -1, 7]",
            "d[%i][%r0, %r1 + 8]; if %i < %n",
            "item %r3 of d_ptr",
            "item 0 of d_ptr; if %d_len > 0",
            "tile[%i < 8, %thread < 32] at %r2 in 0..1024",
            "tile at 1024 + Sw<3,4,3>(%r2 + 8) in 1024..2048",
            "at 16 in 0..64",
            "pipe.full at 8 in 0..16",
            "r#type[%r0]",
            "स्तर[%r0]",
            "_; x[0]; adds if %step > 0 || %i >= 4",
            "if s32 %i < -1 && %n != 0",
        ] {
            let claims = Claims::read(text).unwrap().expect(text);
            assert_eq!(claims.to_string(), text);
        }
        for text in ["where %i >= %n + 1", "uniform %r5 in warpgroup"] {
            assert_eq!(
                Statement::read(text).unwrap().expect(text).to_string(),
                text
            );
        }
        for text in [
            "shared memory 0..1024, in turn with others, tile: f32 at (8,32):(32,1)",
            "shared memory 8..16: scratch: of `max`",
            "tensor x: f32 at x_ptr, strides (x_stride0, 1)",
            "list k: k_len of up to 64, each with 8 bytes of k_ptr, 4 bytes of k_extent0",
        ] {
            assert_eq!(Note::read(text).unwrap().expect(text).to_string(), text);
        }
    }

    #[test]
    fn other_comments_are_for_readers() {
        for text in [
            "",
            "_",
            "if x",
            "x",
            "%bb.0:",
            "a (b[c])",
            "look at this in 2 steps",
        ] {
            assert_eq!(Claims::read(text), Ok(None), "{text}");
            assert_eq!(Statement::read(text), Ok(None), "{text}");
            assert_eq!(Note::read(text), Ok(None), "{text}");
        }
        for text in [
            "where it is",
            "uniform in all",
            "uniform % in_all",
            "uniform %n",
            "tensor map x: 8 bytes",
            "shared memory: none",
        ] {
            assert_eq!(Statement::read(text), Ok(None), "{text}");
            assert_eq!(Note::read(text), Ok(None), "{text}");
        }
    }
}
