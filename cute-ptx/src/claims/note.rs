//! Comments before the entry: what is in shared memory, and which parameters are tensors.
//!
//! Tensors of shared memory have their names in comments of the PTX, which the emulator reads. The runtime knows layouts, and computes
//! the coordinate of a byte.

use super::{Malformed, is_name};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// A comment before the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `shared memory 0..1024, tile: f32 at (8,32):(32,1)`: a tensor or barriers in the kernel's shared memory.
    Shared {
        /// Their bytes.
        bytes: Range<u32>,
        /// `, in turn with others`: other tensors are there at other times.
        in_turn: bool,
        /// The variable with these bytes.
        name: Option<String>,
        /// The contents, for readers: `f32 at (8,32):(32,1)`.
        description: String,
    },
    /// `tensor x: f32 at x_ptr, strides (x_stride0, 1)`: a tensor in global memory.
    Tensor {
        /// Its name.
        name: String,
        /// The type of its elements.
        element: String,
        /// The parameter with the address of its first element.
        pointer: String,
        /// The parameters with the strides in elements, or numbers.
        strides: Vec<String>,
    },
    /// `list k: k_len of up to 64, each with 4 bytes of k`: a list of parameters.
    List {
        /// Its name.
        name: String,
        /// The parameter with the number of items.
        length: String,
        /// The most items.
        most: u64,
        /// What each item has.
        parts: Vec<Part>,
    },
}

/// What each item of a list has of a parameter: `8 bytes of x_ptr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bytes of an item.
    pub bytes: u64,
    /// The parameter.
    pub parameter: String,
}

impl Note {
    /// The note of a comment; `None` if it does not begin like one: with `shared memory` and a number, or `tensor` or `list`, a name and a
    /// colon.
    ///
    /// # Errors
    ///
    /// If it begins like a note, and is none.
    pub fn read(comment: &str) -> Result<Option<Self>, Malformed> {
        let named = comment
            .strip_prefix("tensor ")
            .or(comment.strip_prefix("list "));
        let named = named.and_then(|rest| rest.split_once(": "));
        let shared = comment.strip_prefix("shared memory ");
        let begins = named.is_some_and(|(name, _)| is_name(name))
            || shared.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        match begins {
            true => comment.parse().map(Some),
            false => Ok(None),
        }
    }
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared {
                bytes,
                in_turn,
                name,
                description,
            } => {
                write!(f, "shared memory {}..{}", bytes.start, bytes.end)?;
                if *in_turn {
                    write!(f, ", in turn with others")?;
                }
                if let Some(name) = name {
                    write!(f, ", {name}")?;
                }
                write!(f, ": {description}")
            }
            Self::Tensor {
                name,
                element,
                pointer,
                strides,
            } => {
                let strides = strides.join(", ");
                write!(
                    f,
                    "tensor {name}: {element} at {pointer}, strides ({strides})"
                )
            }
            Self::List {
                name,
                length,
                most,
                parts,
            } => {
                write!(f, "list {name}: {length} of up to {most}, each with ")?;
                let mut separator = "";
                for Part { bytes, parameter } in parts {
                    write!(f, "{separator}{bytes} bytes of {parameter}")?;
                    separator = ", ";
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Note {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let note = match (
            text.strip_prefix("shared memory "),
            text.strip_prefix("tensor "),
        ) {
            (Some(rest), _) => read_shared(rest),
            (None, Some(rest)) => read_tensor(rest),
            (None, None) => text.strip_prefix("list ").and_then(read_list),
        };
        note.ok_or_else(|| Malformed {
            text: text.to_owned(),
            like: "a note of the kernel, such as `tensor x: f32 at x_ptr, strides (x_stride0, 1)`",
        })
    }
}

/// `0..1024, in turn with others, tile: f32 at (8,32):(32,1)`.
fn read_shared(text: &str) -> Option<Note> {
    let (place, description) = text.split_once(": ")?;
    let mut parts = place.split(", ");
    let (start, end) = parts.next()?.split_once("..")?;
    let mut name = parts.next();
    let in_turn = name == Some("in turn with others");
    if in_turn {
        name = parts.next();
    }
    (name.is_none_or(is_name) && parts.next().is_none()).then_some(())?;
    Some(Note::Shared {
        bytes: start.parse().ok()?..end.parse().ok()?,
        in_turn,
        name: name.map(str::to_owned),
        description: description.to_owned(),
    })
}

/// `x: f32 at x_ptr, strides (x_stride0, 1)`.
fn read_tensor(text: &str) -> Option<Note> {
    let (name, description) = text.split_once(": ")?;
    let (element, place) = description.split_once(" at ")?;
    let (pointer, strides) = place.split_once(", strides (")?;
    let strides = strides.strip_suffix(')')?.split(", ");
    Some(Note::Tensor {
        name: name.to_owned(),
        element: element.to_owned(),
        pointer: pointer.to_owned(),
        strides: strides.map(str::to_owned).collect(),
    })
}

/// `k: k_len of up to 64, each with 4 bytes of k`.
fn read_list(text: &str) -> Option<Note> {
    let (name, description) = text.split_once(": ")?;
    let (length, rest) = description.split_once(" of up to ")?;
    let (most, parts) = rest.split_once(", each with ")?;
    let part = |part: &str| {
        let (bytes, parameter) = part.split_once(" bytes of ")?;
        Some(Part {
            bytes: bytes.parse().ok()?,
            parameter: parameter.to_owned(),
        })
    };
    Some(Note::List {
        name: name.to_owned(),
        length: length.to_owned(),
        most: most.parse().ok()?,
        parts: parts.split(", ").map(part).collect::<Option<_>>()?,
    })
}
