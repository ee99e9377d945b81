//! A module's comments about its source: the source location of each instruction, the tensors in shared memory, and the parameters
//! that are tensors in global memory.
//!
//! A comment such as `shared memory 0..1024, tile: f32 at (8,32):(32,1)` gives the bytes of a tensor in dynamic shared memory. The text
//! after the colon is for readers, and is not parsed. A comment such as `tensor x: f32 at x_ptr, strides (x_stride0, 1)` names the
//! parameters with the address of a tensor's first element and with its strides in elements. A comment such as
//! `list k: k_len of up to 64, each with 4 bytes of k` says that the parameter `k` holds the numbers of `k_len` items, one after
//! another. For the comments of single instructions see `claim.rs`.

use cute_hopper::ElementType;
use cute_hopper::barriers::MBARRIER_BYTES;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// A place in the source: `src/gemm.rs:120`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path of the file, as the module's `.file` gives it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The tensor element of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The name of the tensor.
    pub tensor: String,
    /// The description of the tensor, such as `f32 at (8,32):(32,1)`.
    pub description: String,
    /// The distance in bytes from the tensor's first byte; negative before it.
    pub byte: i64,
    /// The coordinate of the element, such as `(3, 4)`. For an mbarrier it is the index. The emulator knows no layouts, so for other
    /// tensors its caller sets the coordinate.
    pub coordinate: Option<String>,
}

/// `tile[(3, 4)]`, or `byte 400 of tile` without a coordinate.
impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.coordinate {
            Some(coordinate) => write!(f, "{}[{coordinate}]", self.tensor),
            None => write!(f, "byte {} of {}", self.byte, self.tensor),
        }
    }
}

/// A tensor of a CTA's shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    name: String,
    description: String,
    /// The bytes of the tensor, from the beginning of dynamic shared memory.
    bytes: Range<u64>,
}

impl Tensor {
    /// The tensor that a comment of the module describes.
    pub(crate) fn parse(comment: &str) -> Option<Tensor> {
        let (place, description) = comment.strip_prefix("shared memory ")?.split_once(": ")?;
        let (bytes, name) = place.rsplit_once(", ")?;
        // A tensor without a name cannot be told from others in the same place.
        let name = Some(name).filter(|name| !name.contains(' '))?;
        let bytes = bytes.split(", ").next()?;
        let (start, end) = bytes.split_once("..")?;
        Some(Tensor {
            name: name.to_owned(),
            description: description.to_owned(),
            bytes: start.parse().ok()?..end.parse().ok()?,
        })
    }

    /// Whether its elements are mbarriers.
    fn is_mbarriers(&self) -> bool {
        self.description.contains(" mbarriers, ")
    }

    /// The element at a byte of dynamic shared memory; `None` if it is outside of the tensor.
    pub(crate) fn element(&self, byte: u64) -> Option<Element> {
        self.bytes.contains(&byte).then(|| Element {
            tensor: self.name.clone(),
            description: self.description.clone(),
            byte: (byte - self.bytes.start) as i64,
            coordinate: self
                .is_mbarriers()
                .then(|| ((byte - self.bytes.start) / u64::from(MBARRIER_BYTES)).to_string()),
        })
    }
}

/// A tensor in global memory, by the names of the parameters that describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) name: String,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// The parameter that holds the address of the first element.
    pub(crate) pointer: String,
    /// The parameters that hold the strides, in elements, or numbers.
    pub(crate) strides: Vec<String>,
}

impl Described {
    /// The tensor that a comment of the module describes.
    pub(crate) fn parse(comment: &str) -> Option<Described> {
        let (name, description) = comment.strip_prefix("tensor ")?.split_once(": ")?;
        let (element, place) = description.split_once(" at ")?;
        let (pointer, strides) = place.split_once(", strides (")?;
        let strides = strides.strip_suffix(')')?.split(", ");
        Some(Described {
            name: name.to_owned(),
            bytes: ElementType::from_name(element)?.bytes().into(),
            pointer: pointer.to_owned(),
            strides: strides.map(str::to_owned).collect(),
        })
    }
}

/// A list of parameters, by the names of the parameters that hold its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// The parameter that holds the number of items.
    pub(crate) length: String,
    /// The part of each item in a parameter: its size in bytes, and the parameter's name.
    pub(crate) parts: Vec<(u64, String)>,
}

impl Listed {
    /// The list that a comment of the module describes.
    pub(crate) fn parse(comment: &str) -> Option<Listed> {
        let (name, description) = comment.strip_prefix("list ")?.split_once(": ")?;
        let (length, parts) = description.split_once(" of up to ")?;
        let (_, parts) = parts.split_once(", each with ")?;
        let part = |part: &str| {
            let (bytes, parameter) = part.split_once(" bytes of ")?;
            Some((bytes.parse().ok()?, parameter.to_owned()))
        };
        Some(Listed {
            name: name.to_owned(),
            length: length.to_owned(),
            parts: parts.split(", ").map(part).collect::<Option<_>>()?,
        })
    }
}
