//! CuTe layouts and their algebra, exact and checked.
//!
//! A [`Layout`] is a function from coordinates to indices, written as a shape and a stride. The operations on
//! layouts are CuTe's and have CuTe's names. Each gives either a layout with exactly the values of the operation's definition, or
//! a [`LayoutError`]. The error names the mode at fault, with the numbers, a counterexample coordinate, and the nearest legal
//! modes.
//!
//! ```
//! use cute_algebra::{Layout, composition, complement, zipped_divide};
//! let a: Layout = "(6,2):(8,2)".parse()?;
//! let b: Layout = "(4,3):(3,1)".parse()?;
//! assert_eq!(composition(&a, &b)?.to_string(), "((2,2),3):((24,2),8)");
//!
//! // A tile of a row-major matrix, and what is left.
//! let tiled = zipped_divide(&Layout::right([8, 12])?, &"<4,3>".parse()?)?;
//! assert_eq!(tiled.to_string(), "((4,3),(2,4)):((12,1),(48,3))");
//!
//! let refused = composition(&"(5,3):(1,10)".parse()?, &"6:2".parse()?).unwrap_err();
//! assert!(refused.to_string().contains("carry over the boundary 5"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`operations`] lists the operations by name, [`notation`] parses expressions, and [`ragged`] has the forms that round up. No
//! input causes a panic, a hang or a stack overflow: depth, number of leaves and searches have named limits, and numbers that do
//! not fit 64 bits are errors.
//!
//! The crate needs `alloc`, and not `std`. With the feature `serde`, types with a notation, such as [`Layout`], [`Tiler`] or
//! [`Tiling`], are serialised as text in this notation, and a [`Picture`] as its cells.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod alignment;
mod analysis;
mod ascending;
mod coalesce;
mod compare;
mod complement;
mod composed;
mod composition;
mod construct;
mod coordinate;
mod disjoint;
mod divide;
mod domain;
mod equal;
mod error;
mod explain;
mod extension;
mod from_table;
mod hopper;
mod integer;
mod inverse;
mod layout;
mod local;
pub mod notation;
pub mod operations;
mod overhang;
mod picture;
mod product;
pub mod ragged;
mod rational;
mod recast;
mod regroup;
mod rule;
#[cfg(feature = "serde")]
mod serde;
mod shape_div;
mod slice;
mod sort;
mod stride;
mod swizzle;
mod swizzled_cosize;
mod swizzled_product;
mod swizzled_tile;
pub mod symbolic;
mod tile_to_shape;
mod tiler;
mod tiling;
mod tuple;
mod value;
mod xor_map;

pub use alignment::{
    domain_distribute, max_alignment, max_alignment_swizzled, max_common_layout,
    max_common_layout_swizzled, max_common_vector, max_common_vector_swizzled,
};
pub use analysis::index_form::{IndexForm, IndexTerm};
pub use analysis::injective::{Counterexample, INJECTIVITY_LIMIT, Verdict, is_injective};
pub use coalesce::{coalesce, coalesce_by, filter, filter_by, filter_zeros};
pub use compare::{COMPARISON_LIMIT, Comparison, compare, compare_coordinates};
pub use complement::{complement, complement_within};
pub use composed::{ComposedLayout, Slice};
pub use composition::{ENUMERATION_LIMIT, composition, composition_by, with_shape};
pub use construct::{make_fragment_like, make_layout_like, make_ordered_layout};
pub use coordinate::{
    compatible, congruent, crd2crd, evenly_divides, idx2crd, idx2crd_stride, weakly_congruent,
};
pub use cute_chip::SwizzleMode;
pub use disjoint::{Axis, PROOF_LEAVES, proves_disjoint};
pub use divide::{flat_divide, logical_divide, tiled_divide, zipped_divide};
pub use equal::equal;
pub use error::{ErrorKind, Frame, LayoutError, ModePath, NoInverse, Place, Side, Witness};
pub use explain::{Explanation, Step};
pub use extension::extension;
pub use from_table::from_table;
pub use hopper::access::{SharedAccess, shared_access};
pub use hopper::atoms::{
    CopyAtom, CopySide, MmaAtom, MmaOperand, Partition, TiledCopy, TiledMma, smem_atom,
    smem_tile_to_shape,
};
pub use hopper::banks::{Conflict, bank_conflicts};
pub use hopper::coordinates::access_of_memory;
pub use hopper::elsewhere::{Narrower, Narrowing, vector_elsewhere};
pub use hopper::global::{GlobalAccess, WarpAccess, global_access};
pub use hopper::ldmatrix::{
    MatrixError, MatrixErrorKind, MatrixOperand, RowMismatch, matrix_operand,
};
pub use hopper::swizzles::{
    BANK_MAP_BITS, BestSwizzle, SWIZZLE_SEARCH_LIMIT, best_swizzle, conflict_free_map,
};
pub use hopper::tensor_map::{TensorMapPlan, tensor_map};
pub use hopper::tma::{MAX_TMA_PIECES, TmaError, TmaErrorKind, TmaPiece, TmaPlan, tma_plan};
pub use hopper::wgmma::{Major, Mismatch, WgmmaError, WgmmaErrorKind, WgmmaOperand, wgmma_operand};
pub use integer::{Integer, Source};
pub use inverse::{LEFT_INVERSE_VALUES, left_inverse, nullspace, right_inverse};
pub use layout::Layout;
pub use local::{local_partition, local_tile};
pub use picture::{
    ColorBy, HOLDER_LIMIT, PICTURE_LIMIT, ParseColorError, Picture, PictureError, print_layout,
    print_slice,
};
pub use product::{
    blocked_product, flat_product, logical_product, raked_product, tiled_product, zipped_product,
};
pub use rational::rational_mode;
pub use recast::{downcast, recast, upcast};
pub use regroup::{
    append, append_to_rank, flatten, get, group, prepend, prepend_to_rank, replace, select, take,
    transpose_modes, unflatten, zip,
};
pub use rule::Rule;
pub use shape_div::{Rounding, elementwise_div, shape_div, shape_mod};
pub use slice::{dice, slice, slice_and_offset};
pub use sort::sort;
pub use stride::{ScaledBasis, Stride};
pub use swizzle::Swizzle;
pub use swizzled_cosize::{COSIZE_STEPS, SwizzledLeaves, swizzled_cosize};
pub use tile_to_shape::tile_to_shape;
pub use tiler::Tiler;
pub use tiling::{Overlap, SymbolicAxis, SymbolicTiling, Tiling};
pub use tuple::{Coord, IntTuple, MAX_DEPTH, MAX_LEAVES, Shape, Tuple};
pub use value::Value;
pub use xor_map::{XOR_MAP_BITS, XorMap};

#[doc = include_str!("../docs/differences.md")]
pub mod differences {}
