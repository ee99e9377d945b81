//! Tensor maps: descriptions of tensors in global memory for TMA.

use super::tma::{
    MAX_EXTENT, STRIDE_END, TmaError, TmaErrorKind, TmaPlan, UNIT, has_width, largest_divisor,
    rounded_up, tma_plan,
};
use crate::coalesce::coalesce;
use crate::composed::ComposedLayout;
use crate::composition::composition;
use crate::layout::Layout;
use crate::tuple::{Shape, Tuple};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use cute_chip::tma::MAX_RANK;

/// A tensor map of a tensor and its tiles, and the instructions that copy a tile with it. Dimensions are in
/// ascending order of strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapPlan {
    /// For each dimension, its mode of the tensor. A mode with several strides gives several dimensions.
    pub order: Vec<usize>,
    /// Extents of the tensor, in elements.
    pub extents: Vec<i64>,
    /// Strides in bytes, of all dimensions but the first.
    pub strides: Vec<i64>,
    /// Extents of the box, in elements.
    pub box_extents: Vec<i64>,
    /// The box, the swizzle and the instructions, for the modes of the tensor. A mode with several strides counts
    /// as several modes, in the order of its layout.
    pub plan: TmaPlan,
    /// For each of the plan's modes, the index of its dimension.
    pub dimensions: Vec<usize>,
}

/// The tensor map with which TMA copies between `tile` in shared memory and `tensor` in global memory. Each mode of
/// the tensor is tiled by the same mode of the tile, as in [`tma_plan`].
///
/// A mode with several strides, such as the rows of several images, becomes several dimensions. A tile must lie
/// within the elements that follow one stride, or consist of whole rows of them. A mode of stride 0 repeats its elements, and
/// the stride of a mode of extent 1 does not matter.
/// ```
/// use cute_algebra::{Layout, Major, SwizzleMode, smem_tile_to_shape, tensor_map};
/// // Tiles of 128 rows of 64 of a row-major matrix of bf16.
/// let tile = smem_tile_to_shape(Major::K, SwizzleMode::B128, 16, &[128, 64].into(), None)?;
/// let map = tensor_map(16, &tile, &Layout::new([4096, 1000], [1000, 1])?).unwrap();
/// assert_eq!((map.extents, map.strides), (vec![1000, 4096], vec![2000]));
/// assert_eq!((map.box_extents, map.plan.swizzle), (vec![64, 128], SwizzleMode::B128));
/// // The same tiles, two rows of 64 pixels each, of images whose rows are padded.
/// let images: Layout = "((64,100),1000):((1000,66000),1)".parse().unwrap();
/// let map = tensor_map(16, &tile, &images).unwrap();
/// assert_eq!((map.order, map.extents), (vec![1, 0, 0], vec![1000, 64, 100]));
/// assert_eq!(map.box_extents, [64, 64, 2]);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn tensor_map(
    element_bits: u32,
    tile: &ComposedLayout,
    tensor: &Layout,
) -> Result<TensorMapPlan, TmaError> {
    let refuse = |kind| TmaError {
        tile: Box::new(tile.clone()),
        element_bits,
        kind,
    };
    if !has_width(element_bits) {
        return Err(refuse(TmaErrorKind::Element));
    }
    if tensor.rank() != tile.layout().rank() {
        return Err(refuse(TmaErrorKind::Rank {
            tile: tile.layout().rank(),
            tensor: tensor.rank(),
        }));
    }
    let mut parts = Vec::new();
    let mut tiles = Vec::new();
    let modes = tensor.modes().into_iter().zip(tile.layout().modes());
    for (mode, (layout, tile)) in modes.enumerate() {
        let (of_mode, tile) = parts_of(mode, &layout, &tile).map_err(refuse)?;
        parts.extend(of_mode);
        tiles.extend(tile);
    }
    if parts.len() > MAX_RANK {
        return Err(refuse(TmaErrorKind::Rank {
            tile: parts.len(),
            tensor: parts.len(),
        }));
    }

    let mut order: Vec<usize> = (0..parts.len()).collect();
    // The first dimension is contiguous, so those that repeat the same elements come behind those with steps. A dimension of
    // extent 1 has no steps, so it comes last, with the first legal stride after the end of the others.
    order.sort_by_key(|&part| {
        let Part { extent, stride, .. } = parts[part];
        (extent == 1, stride == 0, stride)
    });
    let width = i64::from(element_bits / 8);
    let (mut strides, mut end) = (Vec::new(), width);
    for (position, &part) in order.iter().enumerate() {
        let Part {
            mode,
            extent,
            stride,
        } = parts[part];
        let bytes = match (extent, position) {
            (1, 0) => width,
            (1, _) => rounded_up(end),
            _ => stride.saturating_mul(width),
        };
        let legal = match position {
            0 => bytes == width,
            _ => bytes >= 0 && bytes % UNIT == 0 && bytes < STRIDE_END,
        };
        if !legal {
            let first = position == 0;
            return Err(refuse(TmaErrorKind::TensorStride { mode, bytes, first }));
        }
        if position > 0 {
            strides.push(bytes);
        }
        end = end.max(bytes.saturating_mul(extent));
    }
    let by_parts = Layout::concat(tiles)
        .and_then(|layout| ComposedLayout::new(tile.swizzle(), tile.offset(), layout))
        .map_err(|error| refuse(TmaErrorKind::Layout(error)))?;
    let plan = tma_plan(element_bits, &by_parts, &order).map_err(|error| {
        refuse(match error.kind {
            TmaErrorKind::Row { mode, row, swizzle } => TmaErrorKind::Row {
                mode: parts[mode].mode,
                row,
                swizzle,
            },
            kind => kind,
        })
    })?;
    let mut dimensions = vec![0; parts.len()];
    for (dimension, &part) in order.iter().enumerate() {
        dimensions[part] = dimension;
    }
    Ok(TensorMapPlan {
        extents: order.iter().map(|&part| parts[part].extent).collect(),
        box_extents: order.iter().map(|&part| plan.box_shape[part]).collect(),
        order: order.into_iter().map(|part| parts[part].mode).collect(),
        strides,
        plan,
        dimensions,
    })
}

/// A dimension: elements of a mode that follow one stride.
struct Part {
    /// The mode of the tensor that it is part of.
    mode: usize,
    extent: i64,
    stride: i64,
}

/// The dimensions of a mode of the tensor, and the part of the tile's mode along each.
fn parts_of(
    mode: usize,
    layout: &Layout,
    tile: &Layout,
) -> Result<(Vec<Part>, Vec<Layout>), TmaErrorKind> {
    let strides = coalesce(layout).flat_modes();
    let (mut parts, mut reaches) = (Vec::new(), Vec::new());
    let (mut before, mut rest) = (1, tile.size());
    for (position, (extent, stride)) in strides.iter().enumerate() {
        let (extent, last) = (*extent, position + 1 == strides.len());
        let stride = stride
            .as_integer()
            .ok_or(TmaErrorKind::TensorMode { mode })?;
        if extent > MAX_EXTENT {
            return Err(TmaErrorKind::TensorExtent { mode, extent });
        }
        // The last dimension may end inside a tile: TMA knows its extent.
        if !last && extent % rest != 0 && rest % extent != 0 {
            return Err(TmaErrorKind::TensorTurn {
                mode,
                extent: before * extent,
                tile: tile.size(),
                nearest: nearest(extent, rest).map(|reach| before * reach),
            });
        }
        let reach = if last { rest } else { rest.min(extent) };
        before *= extent;
        rest /= reach;
        parts.push(Part {
            mode,
            extent,
            stride,
        });
        reaches.push(reach);
    }
    if parts.len() == 1 {
        return Ok((parts, vec![tile.clone()]));
    }
    let shape: Shape = reaches.into_iter().map(Tuple::Leaf).collect();
    let shares = Layout::left(shape).and_then(|shape| composition(tile, &shape));
    Ok((parts, shares.map_err(TmaErrorKind::Layout)?.modes()))
}

/// The nearest extents below and above `tile` that divide `extent` or are multiples of it.
fn nearest(extent: i64, tile: i64) -> [i64; 2] {
    match tile > extent {
        true => [tile / extent * extent, (tile / extent + 1) * extent],
        // Tiles lie in shared memory, so their extents are small.
        false => {
            let above = (tile..=extent.min(2 * tile)).find(|reach| extent % reach == 0);
            [largest_divisor(extent, tile), above.unwrap_or(extent)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies the first tile as TMA does, by the strides of the tensor map, and compares each element's source and
    /// target with the two layouts.
    fn check(tile: &str, tensor: &str, order: &[usize], box_extents: &[i64]) {
        let (tile, tensor): (ComposedLayout, Layout) = (
            format!("Sw<0,4,3> o 0 o {tile}").parse().unwrap(),
            tensor.parse().unwrap(),
        );
        let map = tensor_map(32, &tile, &tensor).unwrap();
        assert_eq!(
            (&map.order[..], &map.box_extents[..]),
            (order, box_extents),
            "{tensor}"
        );
        let strides: Vec<i64> = [4].into_iter().chain(map.strides.iter().copied()).collect();
        let mut moved = Vec::new();
        for piece in &map.plan.pieces {
            for element in 0..map.box_extents.iter().product() {
                let (mut rest, mut from) = (element, 0);
                for (dimension, (extent, stride)) in
                    map.box_extents.iter().zip(&strides).enumerate()
                {
                    let mode = map
                        .dimensions
                        .iter()
                        .position(|&other| other == dimension)
                        .unwrap();
                    from += (piece.coordinate[mode] + rest % extent) * stride / 4;
                    rest /= extent;
                }
                moved.push((piece.offset + element, from));
            }
        }
        // Each mode of the tile goes along the same mode of the tensor.
        let mut expected = vec![(0, 0)];
        for (of_tile, of_tensor) in tile.layout().modes().iter().zip(tensor.modes()) {
            let values = of_tile.values().zip(of_tensor.values());
            let steps: Vec<(i64, i64)> = values.collect();
            let along = |(target, source)| {
                steps
                    .iter()
                    .map(move |step| (target + step.0, source + step.1))
            };
            expected = expected.into_iter().flat_map(along).collect();
        }
        moved.sort_unstable();
        expected.sort_unstable();
        assert_eq!(moved, expected, "{tensor}");
    }

    #[test]
    fn modes_of_several_strides_are_several_dimensions() {
        // A tile within one stride; one of several whole rows; one that takes a part of several rows; decreasing
        // strides.
        check(
            "(16,32):(32,1)",
            "((64,10),100):((100,6500),1)",
            &[1, 0, 0],
            &[32, 16, 1],
        );
        check(
            "(64,32):(32,1)",
            "((16,10),100):((100,1700),1)",
            &[1, 0, 0],
            &[32, 16, 4],
        );
        check(
            "(64,32):(32,1)",
            "((4,4,10),100):((100,500,2100),1)",
            &[1, 0, 0, 0],
            &[32, 4, 4, 4],
        );
        check(
            "(8,64):(64,1)",
            "(10,(32,20)):(32,(1,400))",
            &[1, 0, 1],
            &[32, 1, 2],
        );
        check(
            "(32,16):(16,1)",
            "((8,8),40):((400,40),1)",
            &[1, 0, 0],
            &[16, 1, 8],
        );
        // Two parts with one stride in common are one dimension.
        check(
            "(16,32):(32,1)",
            "((8,8),100):((100,800),1)",
            &[1, 0],
            &[32, 16],
        );
    }

    #[test]
    fn strides_of_0_repeat_elements() {
        check(
            "(1,8,64):(512,64,1)",
            "(3,8,64):(0,64,1)",
            &[2, 1, 0],
            &[64, 8, 1],
        );
        check(
            "(3,8,64):(512,64,1)",
            "(3,8,64):(0,64,1)",
            &[2, 1, 0],
            &[64, 8, 3],
        );
        check(
            "(8,2,64):(64,512,1)",
            "(8,2,64):(64,0,1)",
            &[2, 0, 1],
            &[64, 8, 2],
        );
        // Modes of extent 1, whatever their strides are.
        check(
            "(1,8,64):(512,64,1)",
            "(1,8,64):(0,64,1)",
            &[2, 1, 0],
            &[64, 8, 1],
        );
        check(
            "(1,8,64):(0,64,1)",
            "(3,8,64):(512,64,1)",
            &[2, 1, 0],
            &[64, 8, 1],
        );
        check(
            "(1,8,64):(7,64,1)",
            "(1,8,64):(5,64,1)",
            &[2, 1, 0],
            &[64, 8, 1],
        );
    }

    #[test]
    fn refusals_name_the_rule() {
        for (tile, tensor, message) in [
            (
                "(8,32):(32,1)",
                "(8,32):(0,0)",
                "no mode of the tensor is contiguous: the smallest stride is 0 bytes, of mode 0",
            ),
            (
                "(1,8,32):(256,32,1)",
                "(3,8,32):(0,64,2)",
                "no mode of the tensor is contiguous: the smallest stride is 8 bytes, of mode 2",
            ),
            (
                "(24,32):(32,1)",
                "((16,10),100):((100,1700),1)",
                "mode 0 of the tensor changes its stride every 16 elements, within tiles of 24; nearest: 16 and 32",
            ),
            (
                "(12,32):(32,1)",
                "((30,10),100):((100,3100),1)",
                "every 30 elements, within tiles of 12; nearest: 10 and 15",
            ),
            (
                "(8,32):(32,1)",
                "(8,32):(1@0,1@1)",
                "the strides of mode 0 of the tensor are not integers",
            ),
            (
                "(8,32):(32,1)",
                "((2,2,2,2,2),32):((32,96,288,864,2592),1)",
                "a tensor has 1 to 5 modes, not 6",
            ),
            (
                "(8,32):(32,1)",
                "(2147483649,32):(32,1)",
                "mode 0 of the tensor has 2147483649 elements, the limit is 2147483648",
            ),
            (
                "(8,32):(32,1)",
                "((4,8),32):((33,264),1)",
                "a stride of 132 bytes, which is not a multiple of 16 from 0 to below 1099511627776; nearest: 144",
            ),
        ] {
            let tile: ComposedLayout = format!("Sw<0,4,3> o 0 o {tile}").parse().unwrap();
            let error = tensor_map(32, &tile, &tensor.parse().unwrap())
                .unwrap_err()
                .to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
