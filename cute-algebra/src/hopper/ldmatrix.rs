//! Shared-memory operands of `ldmatrix` and `stmatrix`: 8 × 8 matrices of 16-bit elements, whose rows are 16 bytes each.
//!
//! Each row is contiguous and begins at a multiple of 16 bytes (PTX ISA 9.0, "Warp-level matrix load instruction");
//! rows can lie anywhere. Elements of other widths are moved in the same rows, but only elements of 16 bits can be
//! transposed.

use super::banks::busiest_bank;
use super::shared::{ADDRESS_END, fits_shared_memory, shown};
use crate::composed::ComposedLayout;
use crate::composition::composition;
use crate::error::LayoutError;
use crate::layout::Layout;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use cute_chip::shared;

const ROWS: i64 = shared::MATRIX_ROWS as i64;

/// Bytes of a matrix's row.
const ROW: i64 = shared::MATRIX_ROW_BYTES as i64;

/// How `ldmatrix` reads a tile, and how `stmatrix` writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixOperand {
    /// Whether the rows of the matrices run along mode 0. They then need `.trans`.
    pub transposed: bool,
    /// Number of matrices of one instruction: 1, 2 or 4.
    pub count: i64,
    /// The layout from (row of a matrix, matrices across the rows, matrices along the rows) to the index where that
    /// row begins.
    pub rows: ComposedLayout,
    /// How many words the busiest bank must deliver for one matrix; 1 means no conflict.
    pub conflicts: usize,
}

/// How `ldmatrix` and `stmatrix` move `tile`. Its two modes are M (or N) and K, and it starts at a multiple of 16
/// bytes.
/// ```
/// use cute_algebra::{Major, SwizzleMode, matrix_operand, smem_atom};
/// let tile = smem_atom(Major::K, SwizzleMode::B128, 16)?;
/// let operand = matrix_operand(16, &tile).unwrap();
/// assert_eq!((operand.transposed, operand.count, operand.conflicts), (false, 4, 1));
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn matrix_operand(
    element_bits: u32,
    tile: &ComposedLayout,
) -> Result<MatrixOperand, MatrixError> {
    let refuse = |kind| MatrixError {
        tile: Box::new(tile.clone()),
        element_bits,
        kind,
    };
    if !matches!(element_bits, 8 | 16 | 32 | 64) {
        return Err(refuse(MatrixErrorKind::Element));
    }
    if !fits_shared_memory(element_bits, tile) {
        return Err(refuse(MatrixErrorKind::Span));
    }
    let modes = tile.layout().modes();
    let [across, along] = &modes[..] else {
        return Err(refuse(MatrixErrorKind::Rank { rank: modes.len() }));
    };
    let plain = Rows::new(element_bits, tile, across, along);
    let turned = Rows::new(element_bits, tile, along, across);
    let (rows, transposed) = match (plain, turned) {
        (Ok(rows), _) => (rows, false),
        (_, Ok(rows)) if element_bits == 16 => (rows, true),
        (_, Ok(_)) => return Err(refuse(MatrixErrorKind::Transposed)),
        (Err(along_k), Err(along_mn)) => {
            return Err(refuse(MatrixErrorKind::Rows { along_k, along_mn }));
        }
    };
    let layout = rows
        .starts()
        .map_err(|error| refuse(MatrixErrorKind::Layout(error)))?;
    let matrices = layout.size() / ROWS;
    let offsets: Vec<i64> = layout
        .values()
        .map(|index| index * i64::from(element_bits) / 8)
        .collect();
    let conflicts = offsets
        .chunks(ROWS as usize)
        .map(|rows| busiest_bank(ROW as u32, rows).degree);
    Ok(MatrixOperand {
        transposed,
        count: [4, 2, 1]
            .into_iter()
            .find(|count| matrices % count == 0)
            .unwrap_or(1),
        conflicts: conflicts.max().unwrap_or(0),
        rows: layout,
    })
}

/// A tile that consists of rows of 16 bytes along one of its modes.
struct Rows<'a> {
    tile: &'a ComposedLayout,
    across: &'a Layout,
    along: &'a Layout,
    elements: i64,
}

impl<'a> Rows<'a> {
    fn new(
        element_bits: u32,
        tile: &'a ComposedLayout,
        across: &'a Layout,
        along: &'a Layout,
    ) -> Result<Self, RowMismatch> {
        let elements = ROW * 8 / i64::from(element_bits);
        if across.size() % ROWS != 0 || along.size() % elements != 0 {
            return Err(RowMismatch::Extents {
                found: [across.size(), along.size()],
                wanted: [ROWS, elements],
            });
        }
        let modes = Layout::join([along.clone(), across.clone()]);
        let whole = tile.map(|_| Ok(modes));
        let vector = whole.map_or(1, |whole| whole.vector_width());
        // The width is 0 where every index is 0: then no two elements are distinct.
        if vector == 0 || vector % elements != 0 {
            return Err(RowMismatch::Broken { vector, elements });
        }
        Ok(Self {
            tile,
            across,
            along,
            elements,
        })
    }

    fn starts(&self) -> Result<ComposedLayout, LayoutError> {
        let rows = Layout::left([ROWS, self.across.size() / ROWS])?;
        let chunks = Layout::new(self.along.size() / self.elements, self.elements)?;
        let across = composition(self.across, &rows)?;
        let along = composition(self.along, &chunks)?;
        self.tile
            .map(|_| Layout::concat(across.modes().into_iter().chain([along])))
    }
}

/// A tile that `ldmatrix` and `stmatrix` cannot move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixError {
    /// The refused tile.
    pub tile: Box<ComposedLayout>,
    /// Width of its elements, in bits.
    pub element_bits: u32,
    /// The reason.
    pub kind: MatrixErrorKind,
}

/// Why `ldmatrix` and `stmatrix` cannot move a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixErrorKind {
    /// The elements are not 8, 16, 32 or 64 bits wide.
    Element,
    /// The tile is larger than shared memory.
    Span,
    /// The layout does not have the two modes MN and K.
    Rank {
        /// Number of its modes.
        rank: usize,
    },
    /// The rows run along mode 0, and the elements are not 16 bits wide, so they cannot be transposed.
    Transposed,
    /// The tile has no rows of 16 bytes along either mode.
    Rows {
        /// The mismatch along mode 1.
        along_k: RowMismatch,
        /// The mismatch along mode 0.
        along_mn: RowMismatch,
    },
    /// An operation on the tile's layout was refused.
    Layout(LayoutError),
}

/// Why a tile does not consist of rows of 16 bytes along a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowMismatch {
    /// The extents of the tile are not multiples of the extents of a matrix.
    Extents {
        /// Extents of the tile across the rows and along them.
        found: [i64; 2],
        /// Extents of a matrix across the rows and along them.
        wanted: [i64; 2],
    },
    /// Too few elements are contiguous and aligned.
    Broken {
        /// Number of contiguous, aligned elements.
        vector: i64,
        /// Number of elements of a row.
        elements: i64,
    },
}

impl core::error::Error for MatrixError {}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ldmatrix and stmatrix cannot move {} of {}-bit elements: ",
            shown(&self.tile),
            self.element_bits
        )?;
        match &self.kind {
            MatrixErrorKind::Element => f.write_str("elements have 8, 16, 32 or 64 bits"),
            MatrixErrorKind::Span => {
                write!(
                    f,
                    "it does not lie within {ADDRESS_END} bytes of shared memory"
                )
            }
            MatrixErrorKind::Rank { rank } => {
                write!(f, "the tile has {rank} modes, not the two of MN and K")
            }
            MatrixErrorKind::Transposed => f.write_str(
                "its rows run along mode 0, and only elements of 16 bits can be transposed",
            ),
            MatrixErrorKind::Rows { along_k, along_mn } => {
                write!(f, "along mode 1 {along_k}; along mode 0 {along_mn}")
            }
            MatrixErrorKind::Layout(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for RowMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extents {
                found: [across, along],
                wanted: [rows, elements],
            } => write!(
                f,
                "{across} x {along} elements are no multiple of {rows} x {elements}"
            ),
            Self::Broken { vector, elements } => write!(
                f,
                "{vector} elements are side by side and aligned, and a row of {ROW} bytes has {elements}"
            ),
        }
    }
}
