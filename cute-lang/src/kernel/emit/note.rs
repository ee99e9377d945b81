//! The comments before the entry: the contents of shared memory, and the needed tensor maps. The emulator reads the names of tensors from
//! those that are notes.

use crate::kernel::emit::param::{List, Param, ParamKind};
use crate::kernel::value::Value;
use cute_ptx::claims::{self, Part};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// The comments before the entry, in order.
#[derive(Default)]
pub struct Notes(Vec<Note>);

/// A comment before the entry.
enum Note {
    /// Any text.
    Text(String),
    /// What the emulator reads.
    Said(claims::Note),
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Note::Text(text) => f.write_str(text),
            Note::Said(note) => note.fmt(f),
        }
    }
}

impl Notes {
    /// Adds a comment, unless there is the same already.
    pub fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        let known = |note: &Note| matches!(note, Note::Text(known) if *known == text);
        if !self.0.iter().any(known) {
            self.0.push(Note::Text(text));
        }
    }

    /// Adds notes about the tensor parameters in global memory, and about lists of parameters. They tell the emulator which PTX parameters
    /// give the address of an element, or the items of a list and its length.
    pub(super) fn describe_parameters(&mut self, params: &[Param]) {
        for param in params {
            if let Some(List { most, .. }) = param.list {
                let parts = param.ptx().into_iter().map(|it| Part {
                    bytes: it.ty.layout().1 as u64,
                    parameter: it.name,
                });
                self.0.push(Note::Said(claims::Note::List {
                    name: param.name.clone(),
                    length: param.length_symbol(),
                    most: most as u64,
                    parts: parts.collect(),
                }));
            }
            let ParamKind::Global { element, rank, .. } = param.kind else {
                continue;
            };
            let strides = (1..rank).map(|mode| param.stride_symbol(mode - 1));
            self.0.push(Note::Said(claims::Note::Tensor {
                name: param.name.clone(),
                element: element.to_string(),
                pointer: param.pointer_symbol(),
                strides: strides.chain(["1".into()]).collect(),
            }));
        }
    }

    /// Adds a comment about bytes of shared memory, which others may use in turn. If there is the same comment already, it becomes the last
    /// one again.
    pub fn describe_shared(&mut self, bytes: Range<u32>, in_turn: bool, description: String) {
        let known = self.0.iter().position(|note| match note {
            Note::Said(claims::Note::Shared {
                bytes: place,
                in_turn: turn,
                description: known,
                ..
            }) => (place, *turn, known) == (&bytes, in_turn, &description),
            _ => false,
        });
        let note = match known {
            Some(known) => self.0.remove(known),
            None => Note::Said(claims::Note::Shared {
                bytes,
                in_turn,
                name: None,
                description,
            }),
        };
        self.0.push(note);
    }

    /// The comments as text.
    pub(super) fn texts(&self) -> Vec<String> {
        self.0.iter().map(Note::to_string).collect()
    }

    /// The name of the variable with this byte of shared memory.
    pub fn shared_name(&self, base: u32) -> Option<&str> {
        self.0.iter().rev().find_map(|note| match note {
            Note::Said(claims::Note::Shared { bytes, name, .. }) if bytes.start == base => {
                name.as_deref()
            }
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
        let described = self.0.iter_mut().rev().find_map(|note| match note {
            Note::Said(claims::Note::Shared { bytes, name, .. }) if bytes.start == base => {
                Some(name)
            }
            _ => None,
        });
        if let Some(name) = described {
            name.get_or_insert_with(|| variable.into());
        }
    }
}
