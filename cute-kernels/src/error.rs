//! The errors of the host functions.

use std::fmt;

use cute_runtime::ElementType;
use thiserror::Error;

use crate::Tile;

/// Why a host function refused its arguments or failed. After any variant but [`Runtime`](Error::Runtime), nothing has been
/// launched.
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// The shapes of the arguments of a function do not fit together.
    #[error("{function} needs {needs}: found {}", shapes(found))]
    Shapes {
        /// The function that was called, or what it computes.
        function: &'static str,
        /// The shapes that fit.
        needs: &'static str,
        /// The arguments with their shapes.
        found: Vec<(&'static str, Vec<usize>)>,
    },
    /// The matrices of a product have other shapes than its plan.
    #[error(
        "a plan of (batches, M, N, K) = {extents:?} needs a of shape (M, K), b of (N, K) and d of (M, N), all lying as those that it was made for: found a {a:?}, b {b:?} and d {d:?}"
    )]
    GemmPlan {
        /// Batches, M, N and K of the plan.
        extents: [u32; 4],
        /// Shape of A.
        a: Vec<usize>,
        /// Shape of B.
        b: Vec<usize>,
        /// Shape of D.
        d: Vec<usize>,
    },
    /// A matrix of a product is contiguous neither along its rows nor along its columns.
    #[error(
        "{argument} has strides {strides:?} along rows and columns: one of them must be 1, unless its extent is 1"
    )]
    GemmStrides {
        /// The argument.
        argument: &'static str,
        /// Elements between neighbours of a column, and of a row.
        strides: [usize; 2],
    },
    /// A matrix is not contiguous along the mode that a function requires.
    #[error(
        "{function} needs {argument} contiguous along {along}: found strides {strides:?} along rows and columns"
    )]
    GemmMajor {
        /// The function that was called.
        function: &'static str,
        /// The argument.
        argument: &'static str,
        /// The mode: `M`, `N` or `K`.
        along: &'static str,
        /// Elements between neighbours of a column, and of a row.
        strides: [usize; 2],
    },
    /// A product of more tiles than a kernel can count.
    #[error("the product has {tiles} tiles of all batches: at most {limit} are possible")]
    GemmTiles {
        /// The number of tiles of the product.
        tiles: u64,
        /// The most possible tiles.
        limit: u64,
    },
    /// A tensor of scales does not fit the matrices of a product.
    #[error(
        "{function} needs {argument} of shape {}: found {found:?}",
        alternatives(possible)
    )]
    GemmScale {
        /// The function that was called.
        function: &'static str,
        /// The argument.
        argument: &'static str,
        /// The possible shapes of the tensor of scales.
        possible: Vec<Vec<usize>>,
        /// The shape of the tensor of scales.
        found: Vec<usize>,
    },
    /// The scales of neighbouring rows do not lie side by side.
    #[error(
        "{argument} has a stride of {stride} between the scales of neighbouring rows: it must be 1"
    )]
    GemmScaleStride {
        /// The argument.
        argument: &'static str,
        /// Elements from the scale of a row to that of the next.
        stride: usize,
    },
    /// There is no instance of the product with a tile for these types and this alignment of D.
    #[error(
        "no instance of gemm for these matrices has tiles of {tile}: there are {}",
        list(possible)
    )]
    GemmTile {
        /// The tile.
        tile: Tile,
        /// The tiles for which there are instances.
        possible: Vec<Tile>,
    },
    /// A stored choice of a tile is for another product or another kind of device.
    #[error(
        "the plan is one of {} on {}: the choice of a tile is one for {} on {}",
        expected.0, expected.1, found.0, found.1
    )]
    GemmChoice {
        /// The product of the plan, and its device.
        expected: (String, String),
        /// The product and the device of the choice.
        found: (String, String),
    },
    /// There are not as many matrices of each kind.
    #[error("gemm_list needs as many of a, b and d: found {a} a, {b} b and {d} d")]
    ListLengths {
        /// How many A there are.
        a: usize,
        /// How many B there are.
        b: usize,
        /// How many D there are.
        d: usize,
    },
    /// A product of a list breaks a rule.
    #[error("product {problem}: {error}")]
    ListProblem {
        /// The index of the product.
        problem: usize,
        /// The rule.
        error: Box<Error>,
    },
    /// A group of rows that ends before it begins, or beyond the matrix.
    #[error(
        "ends[{group}] is {end}: the end of a group is at least that of the group before, {before}, and at most the number of rows, {rows}"
    )]
    GroupEnd {
        /// The group.
        group: usize,
        /// The end of the group.
        end: i32,
        /// The end of the group before; 0 for the first.
        before: i32,
        /// The number of rows.
        rows: usize,
    },
    /// The scale of an attention is not a positive, finite number.
    #[error("the scale of attention is a positive, finite number, not {scale}")]
    AttentionScale {
        /// The scale.
        scale: f32,
    },
    /// An attention that takes more CTAs than a grid has.
    #[error("attention takes {ctas} CTAs: at most {limit} are possible")]
    AttentionGrid {
        /// The CTAs that it takes.
        ctas: u64,
        /// The most CTAs of a grid.
        limit: u32,
    },
    /// An extent that is larger than 2³¹ − 1, which the kernels' 32-bit coordinates cannot count.
    #[error("an extent is {extent}: at most {limit} is possible")]
    Extent {
        /// The extent.
        extent: usize,
        /// The largest legal extent.
        limit: u32,
    },
    /// The kernels of a function are built for these types only with features of this crate that are off.
    #[error(
        "{function} has no kernel for {types:?} in this build: the features {missing:?} of cute-kernels add some"
    )]
    Features {
        /// The function that was called.
        function: &'static str,
        /// The element types of its arguments.
        types: Vec<ElementType>,
        /// The features that are off and give kernels for these types.
        missing: &'static [&'static str],
    },
    /// The launch was refused, or the device failed.
    #[error(transparent)]
    Runtime(#[from] cute_runtime::Error),
}

/// The sentence of the error, which `unwrap` and a `main` that returns it print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The error of arguments with these shapes.
    pub(crate) fn shapes(
        function: &'static str,
        needs: &'static str,
        found: &[(&'static str, &[usize])],
    ) -> Self {
        let found = found.iter().map(|(name, shape)| (*name, shape.to_vec()));
        Self::Shapes {
            function,
            needs,
            found: found.collect(),
        }
    }
}

/// Such as `x [4, 8], y [4, 8] and scales [4]`.
fn shapes(found: &[(&str, Vec<usize>)]) -> String {
    let each: Vec<String> = found
        .iter()
        .map(|(name, shape)| format!("{name} {shape:?}"))
        .collect();
    match each.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => each.concat(),
    }
}

fn alternatives(shapes: &[Vec<usize>]) -> String {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    shapes.join(" or ")
}

fn list(tiles: &[Tile]) -> String {
    let names: Vec<String> = tiles.iter().map(Tile::to_string).collect();
    names.join("; ")
}
