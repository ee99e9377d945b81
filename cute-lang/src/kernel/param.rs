//! The parameters of a kernel.

use super::value::Element;
use cute_algebra::SwizzleMode;
use cute_ptx::ast::Type;
use proc_macro2::Span;

/// A parameter of the kernel.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its kind.
    pub kind: ParamKind,
}

impl Param {
    /// The name of its PTX parameter, where the names of opcodes are not free.
    pub fn symbol(&self) -> String {
        let opcode = |pattern: &str| {
            pattern.split(|c: char| !c.is_alphanumeric()).next() == Some(self.name.as_str())
        };
        let taken =
            self.name == "smem" || cute_ptx::table::rows().any(|(_, row)| opcode(row.pattern));
        if taken {
            format!("{}_", self.name)
        } else {
            self.name.clone()
        }
    }
}

/// What a parameter is.
#[derive(Clone, Debug)]
pub enum ParamKind {
    /// `TmaLoad<T, R>`.
    TmaLoad(TmaParam),
    /// `TmaStore<T, R>`.
    TmaStore(TmaParam),
    /// `Global<T, R>`: a pointer and R−1 strides, in elements; the last mode is contiguous.
    Global {
        /// T.
        element: Element,
        /// R.
        rank: usize,
        /// Whether the kernel writes it.
        written: bool,
        /// The first place where the kernel reads or writes it.
        accessed: Option<Span>,
    },
    /// A number.
    Scalar(Type),
}

/// A tensor parameter accessed by TMA.
#[derive(Clone, Debug)]
pub struct TmaParam {
    /// Type of its elements.
    pub element: Element,
    /// Number of its modes.
    pub rank: usize,
    /// The tensor map it needs; set by its first use.
    pub recipe: Option<TmaRecipe>,
}

/// How a tensor map is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaRecipe {
    /// Extents of the box in the tensor's own order of modes.
    pub box_shape: Vec<u32>,
    /// Swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
}
