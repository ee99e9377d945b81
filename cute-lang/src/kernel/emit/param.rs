//! The parameters of a kernel.

use crate::kernel::emit::report::PARAMETER;
use crate::kernel::value::Element;
use cute_chip::SwizzleMode;
use cute_chip::tma::{self, L2Promotion, OobFill};
use cute_ptx::ast;
use cute_ptx::ast::{ParamType, Type};
use proc_macro2::Span;
use std::collections::HashSet;

/// A parameter of the kernel.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The prefix of the names of the PTX parameters.
    pub symbol: String,
    /// Where it is declared.
    pub span: Span,
    /// The list, if the parameter is one: `[Global<T, R>; 64]`.
    pub list: Option<List>,
    /// How the kernel accesses it.
    pub kind: ParamKind,
}

impl Param {
    /// The names of all PTX parameters that it may have.
    pub fn symbols(&self) -> Vec<String> {
        let length = self.list.iter().map(|_| self.length_symbol());
        let ParamKind::Global { rank, .. } = self.kind else {
            return [self.symbol.clone()].into_iter().chain(length).collect();
        };
        let strides = (0..rank - 1).map(|mode| self.stride_symbol(mode));
        let extents = (0..rank).map(|mode| self.extent_symbol(mode));
        let pointer = [self.pointer_symbol()].into_iter();
        let numbers = pointer.chain(strides).chain(extents);
        numbers.chain(length).collect()
    }

    /// The PTX parameters for the parameter, or for each item of a list.
    pub fn ptx(&self) -> Vec<ast::Param> {
        let scalar = |name, ty| ast::Param {
            name,
            ty: ParamType::Scalar(ty),
        };
        match self.kind {
            ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => vec![ast::Param {
                name: self.symbol.clone(),
                ty: ParamType::Bytes {
                    align: tma::MAP_ALIGN,
                    len: tma::MAP_BYTES as u32,
                },
            }],
            ParamKind::Global { rank, extents, .. } => {
                let mut params = vec![scalar(self.pointer_symbol(), Type::U64)];
                let strides = 0..rank - 1;
                params.extend(strides.map(|mode| scalar(self.stride_symbol(mode), Type::U64)));
                let modes = 0..if extents { rank } else { 0 };
                params.extend(modes.map(|mode| scalar(self.extent_symbol(mode), Type::U32)));
                params
            }
            ParamKind::Scalar(ty) => vec![scalar(self.symbol.clone(), ty)],
        }
    }

    /// The name of the PTX parameter with the pointer of a `Global`.
    pub fn pointer_symbol(&self) -> String {
        format!("{}_ptr", self.symbol)
    }

    /// The name of the PTX parameter with the stride of a mode of a `Global`.
    pub fn stride_symbol(&self, mode: usize) -> String {
        format!("{}_stride{mode}", self.symbol)
    }

    /// The name of the PTX parameter with the extent of a mode of a `Global`.
    pub fn extent_symbol(&self, mode: usize) -> String {
        format!("{}_extent{mode}", self.symbol)
    }

    /// The name of the PTX parameter with the length of a list.
    pub fn length_symbol(&self) -> String {
        format!("{}_len", self.symbol)
    }

    /// The first accesses without a proof that they are inside: of the list, and of the tensor.
    pub fn unproven(&self) -> impl Iterator<Item = &Unproven> {
        let of_list = self.list.as_ref().and_then(|list| list.unproven.as_ref());
        let of_tensor = match &self.kind {
            ParamKind::Global { unproven, .. } => unproven.as_ref(),
            _ => None,
        };
        of_list.into_iter().chain(of_tensor)
    }

    /// Lengthens the symbol until none of its names is an opcode or a taken name, and takes them.
    pub fn make_unique(&mut self, taken: &mut HashSet<String>) {
        while self
            .symbols()
            .iter()
            .any(|name| is_reserved(name) || taken.contains(name))
        {
            self.symbol.push('_');
        }
        taken.extend(self.symbols());
    }
}

/// Whether the name is an opcode, or the entry uses it for something else.
fn is_reserved(name: &str) -> bool {
    let opcode = |pattern: &str| pattern.split(|c: char| !c.is_alphanumeric()).next() == Some(name);
    name == "smem"
        || name == PARAMETER
        || name == "WARP_SZ"
        || cute_ptx::table::rows().any(|(_, row)| opcode(row.pattern))
}

/// A list of parameters of one kind.
#[derive(Clone, Debug)]
pub struct List {
    /// How many it has at most. A launch says how many there are.
    pub most: u32,
    /// The first index without a proof that it is below the length.
    pub unproven: Option<Unproven>,
}

/// The kind of a parameter, or of each item of a list.
#[derive(Clone, Debug)]
pub enum ParamKind {
    /// `TmaLoad<T, R>`.
    TmaLoad(TmaParam),
    /// `TmaStore<T, R>`.
    TmaStore(TmaParam),
    /// `Global<T, R>`: a pointer, R−1 strides, in elements, and, if the kernel reads one, R extents; the last mode is
    /// contiguous.
    Global {
        /// The type `T` of its elements.
        element: Element,
        /// The rank `R`.
        rank: usize,
        /// Whether the kernel writes it.
        written: bool,
        /// Whether the kernel reads an extent.
        extents: bool,
        /// The first access without a proof that it is inside of the tensor.
        unproven: Option<Unproven>,
    },
    /// A number of this type, by value.
    Scalar(Type),
}

/// An access without a proof that it is inside of its tensor, or of its list.
#[derive(Clone, Debug)]
pub struct Unproven {
    /// Where it stands.
    pub place: Span,
    /// A change that would prove it; `None` if nothing can.
    pub remedy: Option<String>,
}

/// A tensor parameter accessed by TMA.
#[derive(Clone, Debug)]
pub struct TmaParam {
    /// Type of its elements.
    pub element: Element,
    /// Number of its modes.
    pub rank: usize,
    /// The needed tensor map. The first use in the kernel sets it.
    pub recipe: Option<TmaRecipe>,
}

impl TmaParam {
    /// The L2 promotion of all recipes. Measured for the GEMM on an H100: promotion to 256 bytes costs a fifth of the bandwidth if rows do
    /// not start at multiples of 256 bytes, and gains nothing otherwise.
    pub const L2: L2Promotion = L2Promotion::B128;
    /// The value read outside of the tensor, in all recipes.
    pub const FILL: OobFill = OobFill::Zero;

    /// The recipe of the tensor map. A parameter without uses also needs one: it gets the smallest box that TMA accepts, 16 bytes along the
    /// contiguous mode.
    pub fn recipe(&self) -> TmaRecipe {
        self.recipe.clone().unwrap_or_else(|| {
            let mut box_shape = vec![1; self.rank - 1];
            box_shape.push(8 * tma::GLOBAL_ALIGN / self.element.bits());
            TmaRecipe {
                box_shape,
                swizzle: SwizzleMode::None,
            }
        })
    }
}

/// How a tensor map is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaRecipe {
    /// Extents of the box in the tensor's own order of modes.
    pub box_shape: Vec<u32>,
    /// Swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
}
