//! What a module says of its source: the source location of each instruction, and the tensors in shared memory.

use cute_chip::barriers::MBARRIER_BYTES;
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
    pub(crate) name: String,
    /// For readers: its elements and its layout.
    pub(crate) description: String,
    /// The bytes of the tensor, from the beginning of dynamic shared memory.
    pub(crate) bytes: Range<u64>,
}

impl Tensor {
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
