//! The comments before the entry: the contents of shared memory, and the needed tensor maps. The emulator reads the names of tensors from
//! them.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::param::{List, ParamKind};
use crate::kernel::value::Value;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// A comment before the entry.
pub enum Note {
    /// Any text.
    Text(String),
    /// A tensor or barriers in shared memory.
    Shared {
        /// Their bytes in the kernel's shared memory.
        bytes: Range<u32>,
        /// Whether other tensors are there at other times.
        in_turn: bool,
        /// The variable with these bytes; `None` while there is none.
        name: Option<String>,
        /// The contents, such as `f32 at (8,32):(32,1)`.
        description: String,
    },
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Note::Text(text) => f.write_str(text),
            Note::Shared {
                bytes: Range { start, end },
                in_turn,
                name,
                description,
            } => {
                write!(f, "shared memory {start}..{end}")?;
                if *in_turn {
                    write!(f, ", in turn with others")?;
                }
                if let Some(name) = name {
                    write!(f, ", {name}")?;
                }
                write!(f, ": {description}")
            }
        }
    }
}

impl Builder {
    /// Adds a comment to the header, unless it has the same already.
    pub fn header(&mut self, text: impl Into<String>) {
        let text = text.into();
        let known = |note: &Note| matches!(note, Note::Text(known) if *known == text);
        if !self.notes.iter().any(known) {
            self.notes.push(Note::Text(text));
        }
    }

    /// Adds comments about the tensor parameters in global memory: `tensor x: f32 at x_ptr, strides (x_stride0, 1)`. They tell the emulator
    /// which PTX parameters give the address of an element. For a list, they give its items and its length: `list x: x_len of up to 64,
    /// each with 8 bytes of x_ptr, 4 bytes of x_extent0`.
    pub(super) fn describe_parameters(&mut self) {
        for param in &self.params {
            if let Some(List { most, .. }) = param.list {
                let parts = param.ptx().into_iter();
                let parts = parts.map(|it| format!("{} bytes of {}", it.ty.layout().1, it.name));
                self.notes.push(Note::Text(format!(
                    "list {}: {} of up to {most}, each with {}",
                    param.name,
                    param.length_symbol(),
                    parts.collect::<Vec<_>>().join(", ")
                )));
            }
            let ParamKind::Global { element, rank, .. } = param.kind else {
                continue;
            };
            let strides = (1..rank).map(|mode| param.stride_symbol(mode - 1));
            let strides: Vec<String> = strides.chain(["1".into()]).collect();
            self.notes.push(Note::Text(format!(
                "tensor {}: {element} at {}, strides ({})",
                param.name,
                param.pointer_symbol(),
                strides.join(", ")
            )));
        }
    }

    /// Adds a comment about bytes of shared memory. If there is the same comment already, it becomes the last one again.
    pub fn describe_shared(&mut self, bytes: Range<u32>, description: String) {
        let in_turn = self.shared.is_shared(&bytes);
        let known = self.notes.iter().position(|note| match note {
            Note::Shared {
                bytes: place,
                in_turn: turn,
                description: known,
                ..
            } => (place, *turn, known) == (&bytes, in_turn, &description),
            Note::Text(_) => false,
        });
        let note = match known {
            Some(known) => self.notes.remove(known),
            None => Note::Shared {
                bytes,
                in_turn,
                name: None,
                description,
            },
        };
        self.notes.push(note);
    }

    /// The name of the variable with this byte of shared memory.
    pub fn shared_name(&self, base: u32) -> Option<&str> {
        self.notes.iter().rev().find_map(|note| match note {
            Note::Shared { bytes, name, .. } if bytes.start == base => name.as_deref(),
            _ => None,
        })
    }

    /// Names the shared memory of a variable, unless an earlier variable has named it.
    pub fn name_shared(&mut self, variable: &str, value: &Value) {
        let base = match value {
            Value::Tensor(tensor) => tensor.base,
            Value::Barriers(barriers) => barriers.base,
            Value::Struct(value) => {
                for (field, value) in value.ty.fields.iter().zip(&value.fields) {
                    self.name_shared(&format!("{variable}.{field}"), value);
                }
                return;
            }
            _ => return,
        };
        let described = self.notes.iter_mut().rev().find_map(|note| match note {
            Note::Shared { bytes, name, .. } if bytes.start == base => Some(name),
            _ => None,
        });
        if let Some(name) = described {
            name.get_or_insert_with(|| variable.into());
        }
    }
}
