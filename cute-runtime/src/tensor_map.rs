//! Tensor maps: what TMA is told about a tensor, made from a view and the kernel's recipe.
//!
//! Every constraint of `cuTensorMapEncodeTiled` is checked here, so that both backends refuse the same arguments with the
//! same words. The order of modes turns round on the way: views and recipes have the contiguous mode last, TMA first.

use crate::{ArgumentRule, ElementType, L2Promotion, OobFill, SwizzleMode, TmaRecipe};

/// Largest rank of a tensor map.
const MAX_RANK: usize = 5;
/// Alignment of the address, of strides and of a box's rows, in bytes.
const ALIGN: u64 = 16;
/// Strides are 40-bit numbers of bytes.
const MAX_STRIDE: u64 = 1 << 40;
/// TMA coordinates are signed 32-bit numbers.
const MAX_EXTENT: u64 = 1 << 31;
/// Largest extent of a box.
const MAX_BOX: u32 = 256;

/// A view without its types: what a launch needs to know of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct RawView {
    pub(crate) element: ElementType,
    /// Address of the first element.
    pub(crate) address: u64,
    pub(crate) shape: Vec<usize>,
    /// In elements.
    pub(crate) strides: Vec<usize>,
}

/// The arguments of `cuTensorMapEncodeTiled`, whoever encodes them. Innermost mode first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorMap {
    pub(crate) element: ElementType,
    pub(crate) address: u64,
    pub(crate) extents: Vec<u64>,
    /// In bytes, of all modes but the innermost.
    pub(crate) strides: Vec<u64>,
    pub(crate) box_extents: Vec<u32>,
    pub(crate) swizzle: SwizzleMode,
    pub(crate) l2: L2Promotion,
    pub(crate) fill: OobFill,
}

/// The tensor map of a view, or the first rule that view or recipe breaks.
pub(crate) fn tensor_map(recipe: &TmaRecipe, view: &RawView) -> Result<TensorMap, ArgumentRule> {
    check_recipe(recipe)?;
    check_view(recipe.element, recipe.box_shape.len(), view)?;
    let excess = view.address % ALIGN;
    if excess != 0 {
        return Err(ArgumentRule::Address {
            excess,
            align: ALIGN,
        });
    }
    if let Some(mode) = view
        .shape
        .iter()
        .position(|&extent| extent as u64 > MAX_EXTENT)
    {
        return Err(ArgumentRule::ExtentTooLarge {
            mode,
            extent: view.shape[mode] as u64,
            limit: MAX_EXTENT,
        });
    }
    let strides = (0..view.shape.len() - 1)
        .rev()
        .map(|mode| byte_stride(view, mode))
        .collect::<Result<_, _>>()?;
    Ok(TensorMap {
        element: view.element,
        address: view.address,
        extents: view
            .shape
            .iter()
            .rev()
            .map(|&extent| extent as u64)
            .collect(),
        strides,
        box_extents: recipe.box_shape.iter().rev().copied().collect(),
        swizzle: recipe.swizzle,
        l2: recipe.l2,
        fill: recipe.fill,
    })
}

/// What every tensor parameter asks of its argument: type, rank, no empty mode, and a contiguous last mode.
pub(crate) fn check_view(
    element: ElementType,
    rank: usize,
    view: &RawView,
) -> Result<(), ArgumentRule> {
    if view.element != element {
        return Err(ArgumentRule::Element {
            expected: element,
            found: view.element,
        });
    }
    if view.shape.len() != rank {
        return Err(ArgumentRule::Rank {
            expected: rank,
            found: view.shape.len(),
        });
    }
    if let Some(mode) = view.shape.iter().position(|&extent| extent == 0) {
        return Err(ArgumentRule::ZeroExtent { mode });
    }
    match (view.shape.last(), view.strides.last()) {
        // A mode of one element has no stride to speak of.
        (Some(&extent), Some(&stride)) if extent > 1 && stride != 1 => {
            Err(ArgumentRule::NotContiguous {
                mode: rank - 1,
                stride,
            })
        }
        _ => Ok(()),
    }
}

fn check_recipe(recipe: &TmaRecipe) -> Result<(), ArgumentRule> {
    let TmaRecipe {
        element,
        box_shape,
        swizzle,
        fill,
        ..
    } = *recipe;
    let rank = box_shape.len();
    let Some(&row) = box_shape.last().filter(|_| rank <= MAX_RANK) else {
        return Err(ArgumentRule::BoxRank {
            rank,
            limit: MAX_RANK,
        });
    };
    if let Some(mode) = box_shape
        .iter()
        .position(|extent| !(1..=MAX_BOX).contains(extent))
    {
        return Err(ArgumentRule::BoxExtent {
            mode,
            extent: box_shape[mode],
            limit: MAX_BOX,
        });
    }
    let bytes = row * element.bytes() as u32;
    if !bytes.is_multiple_of(ALIGN as u32) {
        return Err(ArgumentRule::BoxRow {
            bytes,
            align: ALIGN as u32,
        });
    }
    if let Some(span) = swizzle.span().filter(|&span| bytes > span) {
        return Err(ArgumentRule::BoxSpan { bytes, span });
    }
    if fill == OobFill::Nan && !element.is_float() {
        return Err(ArgumentRule::Fill { element });
    }
    Ok(())
}

fn byte_stride(view: &RawView, mode: usize) -> Result<u64, ArgumentRule> {
    // Nothing lies a stride away in a mode of one element: any legal stride says the same.
    if view.shape[mode] == 1 {
        return Ok(ALIGN);
    }
    let size = view.element.bytes() as u64;
    // The last element lies within the buffer, hence no overflow.
    let bytes = view.strides[mode] as u64 * size;
    if !bytes.is_multiple_of(ALIGN) {
        // Elements are at most 16 bytes and their sizes powers of two.
        let nearest = bytes.next_multiple_of(ALIGN) / size;
        return Err(ArgumentRule::Stride {
            mode,
            bytes,
            align: ALIGN,
            nearest,
        });
    }
    if bytes >= MAX_STRIDE {
        return Err(ArgumentRule::StrideTooLarge {
            mode,
            bytes,
            limit: MAX_STRIDE,
        });
    }
    Ok(bytes)
}
