//! Tensor copies by TMA: the box, the swizzle and the instructions that fill a shared-memory tile, derived from its
//! layout.
//!
//! TMA writes a box of the tensor to consecutive shared-memory addresses, the innermost dimension fastest, and
//! swizzles the addresses. So the right inverse of the tile's layout, read as coordinates of the tensor, gives the
//! extents of a box: as long as the coordinates follow the dimensions of the tensor in order, each with stride 1,
//! they belong to one box. After that, the tile needs further boxes.

use super::shared::{ADDRESS_END, fits_shared_memory, shown};
use crate::coalesce::coalesce;
use crate::composed::ComposedLayout;
use crate::composition::composition;
use crate::error::LayoutError;
use crate::inverse::right_inverse;
use crate::layout::Layout;
use crate::tuple::{Shape, Tuple};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use cute_chip::SwizzleMode;
use cute_chip::tma::{self, MAX_RANK};

/// Largest extent at which TMA reaches every element of a tensor. The driver also accepts larger ones.
pub(super) const MAX_EXTENT: i64 = tma::MAX_REACHED_EXTENT as i64;
pub(super) const STRIDE_END: i64 = tma::STRIDE_END as i64;
pub(super) const UNIT: i64 = tma::GLOBAL_ALIGN as i64;
const MAX_BOX: i64 = tma::MAX_BOX as i64;
const SHARED_ALIGN: i64 = tma::SHARED_ALIGN as i64;

/// Most instructions for one tile. A tile that needs more is laid out in another order than its tensor.
pub const MAX_TMA_PIECES: i64 = 64;

/// The box, the swizzle and the instructions with which TMA copies a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaPlan {
    /// Extents of the box in elements, in the order of the tensor's modes.
    pub box_shape: Vec<i64>,
    /// The swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
    /// One entry for each instruction.
    pub pieces: Vec<TmaPiece>,
}

/// One instruction: it copies one box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaPiece {
    /// The coordinate of the start of the box in the tile, in the order of the tensor's modes.
    pub coordinate: Vec<i64>,
    /// The index of the start of the box in shared memory, in elements from the start of the tile and before the
    /// swizzle.
    pub offset: i64,
}

/// How TMA copies between `tile` and a tensor with the same modes. Mode `order[0]` of the tensor is contiguous,
/// `order[1]` has the next larger stride, and so on. The tile starts at a multiple of [`SwizzleMode::atom`] bytes.
///
/// ```
/// use cute_algebra::{ComposedLayout, Layout, Swizzle, tma_plan};
/// // 64 rows of 128 bf16 in two panels of 128 bytes: two boxes of 64 × 64.
/// let panels = Layout::concat([Layout::new(64, 64)?, Layout::new([64, 2], [1, 4096])?])?;
/// let plan = tma_plan(16, &ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, panels)?, &[1, 0]).unwrap();
/// assert_eq!(plan.box_shape, [64, 64]);
/// assert_eq!((plan.pieces[1].coordinate.as_slice(), plan.pieces[1].offset), ([0, 64].as_slice(), 4096));
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn tma_plan(
    element_bits: u32,
    tile: &ComposedLayout,
    order: &[usize],
) -> Result<TmaPlan, TmaError> {
    let refuse = |kind| TmaError {
        tile: Box::new(tile.clone()),
        element_bits,
        kind,
    };
    let algebra = |error| refuse(TmaErrorKind::Layout(error));
    let rank = order.len();
    if tile.layout().rank() != rank || !(1..=MAX_RANK).contains(&rank) {
        return Err(refuse(TmaErrorKind::Rank {
            tile: tile.layout().rank(),
            tensor: rank,
        }));
    }
    if !has_width(element_bits) {
        return Err(refuse(TmaErrorKind::Element));
    }
    if !fits_shared_memory(element_bits, tile) {
        return Err(refuse(TmaErrorKind::Span));
    }
    let swizzle = tile
        .swizzle()
        .mode(element_bits)
        .ok_or_else(|| refuse(TmaErrorKind::Swizzle))?;
    let width = i64::from(element_bits / 8);
    let modes = tile.layout().modes();
    let extents: Vec<i64> = modes.iter().map(Layout::size).collect();

    // From shared-memory indices to coordinates of the tensor.
    let coordinates = Layout::identity(extents.iter().copied().map(Tuple::Leaf).collect::<Shape>())
        .map_err(algebra)?;
    let inverse = right_inverse(tile.layout()).map_err(algebra)?;
    let walk = coalesce(&composition(&coordinates, &inverse).map_err(algebra)?).flat_modes();

    // The leading part of the walk that is one box.
    let mut box_shape = vec![1; rank];
    let mut dimensions = order.iter();
    for (position, (extent, stride)) in walk.iter().enumerate() {
        let &[mode] = stride.path() else { break };
        let innermost = position == 0;
        let in_order = if innermost {
            dimensions.next() == Some(&mode)
        } else {
            dimensions.any(|&other| other == mode)
        };
        if stride.value() != 1 || !in_order {
            break;
        }
        let limit = if innermost && swizzle != SwizzleMode::None {
            swizzle.span() / width
        } else {
            MAX_BOX
        };
        let reach = largest_divisor(*extent, limit);
        box_shape[mode] = reach;
        if reach != *extent {
            break;
        }
    }

    let row = box_shape[order[0]] * width;
    let whole_row = swizzle == SwizzleMode::None || row == swizzle.span();
    if row % UNIT != 0 || !whole_row {
        return Err(refuse(TmaErrorKind::Row {
            mode: order[0],
            row,
            swizzle,
        }));
    }
    // If each mode can be divided by the box, then all boxes have the same layout.
    let divided: Vec<Layout> = modes
        .iter()
        .zip(&box_shape)
        .map(|(mode, &extent)| {
            let extents: Shape = [extent, mode.size() / extent].into();
            composition(mode, &Layout::left(extents)?)
        })
        .collect::<Result<_, _>>()
        .map_err(algebra)?;
    let counts: Vec<i64> = extents
        .iter()
        .zip(&box_shape)
        .map(|(extent, reach)| extent / reach)
        .collect();
    let count: i64 = counts.iter().product();
    if count > MAX_TMA_PIECES {
        return Err(refuse(TmaErrorKind::Pieces { count, box_shape }));
    }
    let mut pieces = Vec::new();
    for index in 0..count {
        let mut rest = index;
        let mut piece = TmaPiece {
            coordinate: Vec::new(),
            offset: 0,
        };
        for (mode, (&extent, &count)) in divided.iter().zip(box_shape.iter().zip(&counts)) {
            let start = rest % count * extent;
            rest /= count;
            piece.coordinate.push(start);
            piece.offset += mode.at(start).unwrap_or_default();
        }
        let start = (tile.offset() + piece.offset) * width;
        if start % SHARED_ALIGN != 0 {
            return Err(refuse(TmaErrorKind::Start {
                start,
                coordinate: piece.coordinate,
            }));
        }
        pieces.push(piece);
    }
    Ok(TmaPlan {
        box_shape,
        swizzle,
        pieces,
    })
}

/// The largest divisor of `extent` that is at most `limit`.
pub(super) fn largest_divisor(extent: i64, limit: i64) -> i64 {
    (1..=limit.min(extent))
        .rev()
        .find(|divisor| extent % divisor == 0)
        .unwrap_or(1)
}

/// Whether tensor maps have elements of this width.
pub(super) fn has_width(element_bits: u32) -> bool {
    matches!(element_bits, 8 | 16 | 32 | 64)
}

/// `bytes` rounded up to the next legal stride.
pub(super) fn rounded_up(bytes: i64) -> i64 {
    bytes.saturating_add(UNIT - 1) / UNIT * UNIT
}

/// A tile that TMA cannot copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaError {
    /// The refused tile.
    pub tile: Box<ComposedLayout>,
    /// Width of its elements, in bits.
    pub element_bits: u32,
    /// The reason.
    pub kind: TmaErrorKind,
}

/// Why TMA cannot copy a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TmaErrorKind {
    /// The elements are not 8, 16, 32 or 64 bits wide.
    Element,
    /// The tile and the tensor differ in rank, or have more than [`MAX_RANK`] modes.
    Rank {
        /// Number of modes of the tile.
        tile: usize,
        /// Number of modes of the tensor.
        tensor: usize,
    },
    /// The tile is larger than shared memory.
    Span,
    /// The swizzle is not a mode of the hardware.
    Swizzle,
    /// The rows of a box are not a multiple of 16 bytes, or they are not as long as the swizzle's span.
    Row {
        /// The tensor's contiguous mode.
        mode: usize,
        /// Bytes of the box along that mode.
        row: i64,
        /// The swizzle of the tile.
        swizzle: SwizzleMode,
    },
    /// The tile needs more than [`MAX_TMA_PIECES`] instructions.
    Pieces {
        /// Number of instructions that it needs.
        count: i64,
        /// Extents of the box of each instruction.
        box_shape: Vec<i64>,
    },
    /// A box starts at an address that is not a multiple of [`SHARED_ALIGN`](tma::SHARED_ALIGN) bytes.
    Start {
        /// The start of the box in bytes, from the start of the tile.
        start: i64,
        /// The coordinate in the tile at which it starts.
        coordinate: Vec<i64>,
    },
    /// A mode of the tensor has strides that are not integers.
    TensorMode {
        /// Index of the mode.
        mode: usize,
    },
    /// A mode of the tensor changes its stride inside a tile.
    TensorTurn {
        /// Index of the mode.
        mode: usize,
        /// Number of elements along the mode that follow one stride.
        extent: i64,
        /// Extent of the tile along the mode.
        tile: i64,
        /// The nearest legal extents of a tile.
        nearest: [i64; 2],
    },
    /// A mode of the tensor has a larger extent than TMA reaches.
    TensorExtent {
        /// Index of the mode.
        mode: usize,
        /// Extent of the mode.
        extent: i64,
    },
    /// A stride of the tensor that a tensor map cannot hold.
    TensorStride {
        /// Index of the mode.
        mode: usize,
        /// The stride in bytes.
        bytes: i64,
        /// Whether it is the smallest stride. The smallest stride must be one element.
        first: bool,
    },
    /// An operation on the tile's layout was refused.
    Layout(LayoutError),
}

impl core::error::Error for TmaError {}

impl fmt::Display for TmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "TMA cannot copy {} of {}-bit elements: ",
            shown(&self.tile),
            self.element_bits
        )?;
        match &self.kind {
            TmaErrorKind::Element => f.write_str("elements have 8, 16, 32 or 64 bits"),
            TmaErrorKind::Rank { tile, tensor } if tile != tensor => {
                write!(f, "the tile has {tile} modes, the tensor {tensor}")
            }
            TmaErrorKind::Rank { tensor, .. } => {
                write!(f, "a tensor has 1 to {MAX_RANK} modes, not {tensor}")
            }
            TmaErrorKind::Span => {
                write!(
                    f,
                    "it does not lie within {ADDRESS_END} bytes of shared memory"
                )
            }
            TmaErrorKind::Swizzle => write!(
                f,
                "its swizzle {} is none of the hardware's",
                self.tile.swizzle()
            ),
            TmaErrorKind::Row {
                mode,
                row,
                swizzle: SwizzleMode::None,
            } => write!(
                f,
                "{row} bytes are contiguous both in the tile and along mode {mode} of the tensor, and a row of a box must be a multiple of {UNIT} bytes"
            ),
            TmaErrorKind::Row { mode, row, swizzle } => write!(
                f,
                "{row} bytes are contiguous both in the tile and along mode {mode} of the tensor, and {} wants {}",
                swizzle.name(),
                swizzle.span()
            ),
            TmaErrorKind::Pieces { count, box_shape } => {
                write!(
                    f,
                    "it would take {count} boxes of {box_shape:?}, the limit is {MAX_TMA_PIECES}"
                )
            }
            TmaErrorKind::Start { start, coordinate } => {
                write!(
                    f,
                    "the box at {coordinate:?} starts at byte {start}, which is not a multiple of {SHARED_ALIGN}: TMA writes a box without gaps, so padded strides do not fit"
                )
            }
            TmaErrorKind::TensorMode { mode } => {
                write!(
                    f,
                    "the strides of mode {mode} of the tensor are not integers"
                )
            }
            TmaErrorKind::TensorTurn {
                mode,
                extent,
                tile,
                nearest: [below, above],
            } => {
                write!(
                    f,
                    "mode {mode} of the tensor changes its stride every {extent} elements, within tiles of {tile}; nearest: "
                )?;
                match below == above {
                    true => write!(f, "{below}"),
                    false => write!(f, "{below} and {above}"),
                }
            }
            TmaErrorKind::TensorExtent { mode, extent } => write!(
                f,
                "mode {mode} of the tensor has {extent} elements, the limit is {MAX_EXTENT}"
            ),
            TmaErrorKind::TensorStride {
                mode,
                bytes,
                first: true,
            } => write!(
                f,
                "no mode of the tensor is contiguous: the smallest stride is {bytes} bytes, of mode {mode}"
            ),
            TmaErrorKind::TensorStride { mode, bytes, .. } => write!(
                f,
                "mode {mode} of the tensor has a stride of {bytes} bytes, which is not a multiple of {UNIT} from 0 to below \
                 {STRIDE_END}; nearest: {}",
                rounded_up(*bytes).clamp(UNIT, STRIDE_END - UNIT)
            ),
            TmaErrorKind::Layout(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stride::Stride;
    use crate::swizzle::Swizzle;

    fn tile(bits: u32, swizzle: SwizzleMode, layout: Layout) -> ComposedLayout {
        ComposedLayout::new(Swizzle::from_mode(swizzle, bits).unwrap(), 0, layout).unwrap()
    }

    /// Copies box by box as TMA does, and compares the place of each element with its place in the layout.
    fn check(
        bits: u32,
        swizzle: SwizzleMode,
        layout: Layout,
        order: &[usize],
        box_shape: &[i64],
        pieces: usize,
    ) {
        let tile = tile(bits, swizzle, layout);
        let plan = tma_plan(bits, &tile, order).unwrap();
        assert_eq!(
            (plan.box_shape.as_slice(), plan.pieces.len()),
            (box_shape, pieces),
            "{tile}"
        );
        let elements: i64 = plan.box_shape.iter().product();
        let mut landed = std::collections::HashMap::new();
        for piece in &plan.pieces {
            for element in 0..elements {
                let mut coordinate = piece.coordinate.clone();
                let mut rest = element;
                for &mode in order {
                    coordinate[mode] += rest % plan.box_shape[mode];
                    rest /= plan.box_shape[mode];
                }
                let address = (piece.offset + element) * i64::from(bits / 8);
                let swizzled = address ^ (address >> 3 & ((1 << swizzle.bits()) - 1) << 4);
                assert_eq!(landed.insert(coordinate, swizzled), None);
            }
        }
        assert_eq!(landed.len() as i64, tile.layout().size());
        for (coordinate, address) in landed {
            let coordinate: crate::Coord = coordinate
                .into_iter()
                .map(|index| Tuple::Leaf(Some(index)))
                .collect();
            assert_eq!(
                tile.crd2idx(&coordinate).unwrap() * i64::from(bits / 8),
                address,
                "{tile} at {coordinate}"
            );
        }
    }

    fn layout(shape: impl Into<Shape>, stride: impl Into<Stride>) -> Layout {
        Layout::new(shape, stride).unwrap()
    }

    #[test]
    fn boxes_land_where_the_layout_has_them() {
        use SwizzleMode::{B32, B64, B128, None};
        check(32, B128, layout([32, 32], [32, 1]), &[1, 0], &[32, 32], 1);
        check(16, B128, layout([128, 64], [64, 1]), &[1, 0], &[128, 64], 1);
        check(16, B64, layout([64, 32], [32, 1]), &[1, 0], &[64, 32], 1);
        check(8, B32, layout([64, 32], [32, 1]), &[1, 0], &[64, 32], 1);
        check(32, None, layout([64, 48], [48, 1]), &[1, 0], &[64, 48], 1);
        // Panels of 128 bytes side by side; a layout contiguous along the other mode; three modes.
        let panels = Layout::concat([layout(64, 64), layout([64, 4], [1, 4096])]).unwrap();
        check(16, B128, panels, &[1, 0], &[64, 64], 4);
        check(16, B128, layout([64, 64], [1, 64]), &[0, 1], &[64, 64], 1);
        check(
            16,
            B128,
            layout([2, 32, 64], [2048, 64, 1]),
            &[2, 1, 0],
            &[2, 32, 64],
            1,
        );
        // Rows longer than the span; extents over the limit; an order other than the tensor's.
        check(16, B128, layout([2, 128], [128, 1]), &[1, 0], &[1, 64], 4);
        check(16, None, layout([2, 512], [512, 1]), &[1, 0], &[1, 256], 4);
        check(16, B128, layout([512, 64], [64, 1]), &[1, 0], &[256, 64], 2);
        check(
            16,
            B128,
            layout([2, 32, 64], [64, 128, 1]),
            &[2, 1, 0],
            &[2, 1, 64],
            32,
        );
    }

    fn refusal(bits: u32, swizzle: SwizzleMode, layout: Layout, order: &[usize]) -> String {
        tma_plan(bits, &tile(bits, swizzle, layout), order)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn refusals_name_the_rule() {
        use SwizzleMode::{B128, None};
        assert_eq!(
            refusal(16, B128, layout([64, 64], [1, 64]), &[1, 0]),
            "TMA cannot copy Sw<3,3,3> o 0 o (64,64):(1,64) of 16-bit elements: 2 bytes are contiguous both in the tile and \
             along mode 1 of the tensor, and SW128 wants 128"
        );
        assert!(
            refusal(16, None, layout([64, 4], [4, 1]), &[1, 0]).contains("8 bytes are contiguous")
        );
        assert!(refusal(16, None, Layout::concat([]).unwrap(), &[]).contains("1 to 5 modes"));
        assert!(
            refusal(16, None, layout([4, 64], [72, 1]), &[1, 0]).contains("starts at byte 144")
        );
        assert!(
            refusal(16, None, layout([4, 64], [64, 1]), &[2, 1, 0])
                .contains("2 modes, the tensor 3")
        );
        assert!(
            refusal(32, None, layout([128, 32], [64, 1]), &[1, 0])
                .contains("128 boxes of [1, 32], the limit is 64")
        );
    }
}
