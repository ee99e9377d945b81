//! Tensor maps: what TMA is told about a tensor, made from a view and the kernel's recipe.
//!
//! Every constraint of `cuTensorMapEncodeTiled` is checked here, so that both backends refuse the same arguments with the
//! same words. The order of modes turns round on the way: views and recipes have the contiguous mode last, TMA first.

use cute_chip::tma::{self, MAX_BOX, MAX_RANK, MAX_REACHED_EXTENT, STRIDE_END, TensorMap};

use crate::{ArgumentRule, ElementType, OobFill, SwizzleMode, TmaRecipe};

/// The alignment of addresses, strides and rows of a box, in bytes.
const ALIGN: u64 = tma::GLOBAL_ALIGN as u64;

/// A view without its types: the data of a tensor that a launch needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawView<'a> {
    pub(crate) element: ElementType,
    /// Address of the first element.
    pub(crate) address: u64,
    pub(crate) shape: &'a [usize],
    /// In elements.
    pub(crate) strides: &'a [usize],
}

/// The tensor map of a view, or the first rule that view or recipe breaks.
pub(crate) fn tensor_map(
    recipe: &TmaRecipe,
    view: &RawView<'_>,
) -> Result<TensorMap, ArgumentRule> {
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
        .position(|&extent| extent as u64 > MAX_REACHED_EXTENT)
    {
        return Err(ArgumentRule::ExtentTooLarge {
            mode,
            extent: view.shape[mode] as u64,
            limit: MAX_REACHED_EXTENT,
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
        element_strides: vec![1; recipe.box_shape.len()],
        swizzle: recipe.swizzle,
        l2: recipe.l2,
        fill: recipe.fill,
    })
}

/// The additional rule of a store: rows of whole 16-byte units.
///
/// A tile store clips the innermost mode at the next multiple of [`tma::STORE_UNIT`], not at its extent, and would overwrite bytes
/// outside of the tensor.
pub(crate) fn check_stored(view: &RawView<'_>) -> Result<(), ArgumentRule> {
    let Some((mode, &extent)) = view.shape.iter().enumerate().next_back() else {
        return Ok(());
    };
    let bytes = extent as u64 * element_bytes(view.element)?;
    let unit = u64::from(tma::STORE_UNIT);
    if !bytes.is_multiple_of(unit) {
        return Err(ArgumentRule::RowLength { mode, bytes, unit });
    }
    Ok(())
}

/// The rules for every tensor argument: type, rank, no empty mode, and a contiguous last mode.
pub(crate) fn check_view(
    element: ElementType,
    rank: usize,
    view: &RawView<'_>,
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
        // The stride of a mode of one element is never used.
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
    // The extents of a box are small.
    let bytes = row * element_bytes(element)? as u32;
    if !bytes.is_multiple_of(ALIGN as u32) {
        return Err(ArgumentRule::BoxRow {
            bytes,
            align: ALIGN as u32,
        });
    }
    if swizzle != SwizzleMode::None && i64::from(bytes) > swizzle.span() {
        return Err(ArgumentRule::BoxSpan {
            bytes,
            span: swizzle.span(),
        });
    }
    if fill == OobFill::Nan && !element.is_float() {
        return Err(ArgumentRule::Fill { element });
    }
    Ok(())
}

/// Bytes of an element.
fn element_bytes(element: ElementType) -> Result<u64, ArgumentRule> {
    let bytes = element.bytes().map(u64::from);
    bytes.map_err(|_| ArgumentRule::ElementBits {
        element,
        bits: element.bits(),
    })
}

fn byte_stride(view: &RawView<'_>, mode: usize) -> Result<u64, ArgumentRule> {
    // The stride of a mode of one element is never used: any legal stride gives the same map.
    if view.shape[mode] == 1 {
        return Ok(ALIGN);
    }
    let size = element_bytes(view.element)?;
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
    if bytes >= STRIDE_END {
        return Err(ArgumentRule::StrideTooLarge {
            mode,
            bytes,
            limit: STRIDE_END,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType::{BF16, F32, U4, U32};
    use crate::L2Promotion;

    const RECIPE: TmaRecipe = TmaRecipe {
        name: "a",
        element: BF16,
        box_shape: &[128, 64],
        swizzle: SwizzleMode::B128,
        l2: L2Promotion::B256,
        fill: OobFill::Zero,
    };

    fn view<'a>(shape: &'a [usize], strides: &'a [usize]) -> RawView<'a> {
        RawView {
            element: BF16,
            address: 0x1000,
            shape,
            strides,
        }
    }

    #[test]
    fn a_map_names_the_contiguous_mode_first() {
        let map = tensor_map(&RECIPE, &view(&[1000, 72], &[80, 1])).unwrap();
        assert_eq!(map.extents, [72, 1000]);
        assert_eq!(map.strides, [160]);
        assert_eq!(map.box_extents, [64, 128]);
    }

    #[test]
    fn strides_of_single_elements_do_not_matter() {
        let one_row = tensor_map(&RECIPE, &view(&[1, 72], &[77, 1])).unwrap();
        assert_eq!(one_row.strides, [16]);
        let one_column = tensor_map(&RECIPE, &view(&[5, 1], &[8, 3])).unwrap();
        assert_eq!(
            (one_column.extents, one_column.strides),
            (vec![1, 5], vec![16])
        );
    }

    #[track_caller]
    fn check(recipe: TmaRecipe, view: RawView<'_>, expected: ArgumentRule) {
        assert_eq!(tensor_map(&recipe, &view), Err(expected));
    }

    #[test]
    fn views_that_break_a_rule() {
        let unaligned = RawView {
            address: 0x1002,
            ..view(&[8, 64], &[64, 1])
        };
        check(
            RECIPE,
            unaligned,
            ArgumentRule::Address {
                excess: 2,
                align: 16,
            },
        );
        let floats = RawView {
            element: F32,
            ..view(&[8, 64], &[64, 1])
        };
        check(
            RECIPE,
            floats,
            ArgumentRule::Element {
                expected: BF16,
                found: F32,
            },
        );
        check(
            RECIPE,
            view(&[64], &[1]),
            ArgumentRule::Rank {
                expected: 2,
                found: 1,
            },
        );
        check(
            RECIPE,
            view(&[0, 64], &[64, 1]),
            ArgumentRule::ZeroExtent { mode: 0 },
        );
        check(
            RECIPE,
            view(&[8, 0], &[64, 1]),
            ArgumentRule::ZeroExtent { mode: 1 },
        );
        check(
            RECIPE,
            view(&[64, 8], &[1, 64]),
            ArgumentRule::NotContiguous {
                mode: 1,
                stride: 64,
            },
        );
        let odd = ArgumentRule::Stride {
            mode: 0,
            bytes: 202,
            align: 16,
            nearest: 104,
        };
        check(RECIPE, view(&[8, 101], &[101, 1]), odd);
        let far = ArgumentRule::StrideTooLarge {
            mode: 0,
            bytes: 1 << 40,
            limit: 1 << 40,
        };
        check(RECIPE, view(&[2, 64], &[1 << 39, 1]), far);
        let long = ArgumentRule::ExtentTooLarge {
            mode: 1,
            extent: (1 << 31) + 1,
            limit: 1 << 31,
        };
        check(RECIPE, view(&[1, (1 << 31) + 1], &[0, 1]), long);
    }

    #[test]
    fn recipes_that_break_a_rule() {
        let view = || view(&[8, 64], &[64, 1]);
        let boxed = |box_shape| TmaRecipe {
            box_shape,
            ..RECIPE
        };
        check(
            boxed(&[]),
            view(),
            ArgumentRule::BoxRank { rank: 0, limit: 5 },
        );
        check(
            boxed(&[1, 1, 1, 1, 1, 8]),
            view(),
            ArgumentRule::BoxRank { rank: 6, limit: 5 },
        );
        check(
            boxed(&[0, 64]),
            view(),
            ArgumentRule::BoxExtent {
                mode: 0,
                extent: 0,
                limit: 256,
            },
        );
        check(
            boxed(&[257, 64]),
            view(),
            ArgumentRule::BoxExtent {
                mode: 0,
                extent: 257,
                limit: 256,
            },
        );
        check(
            boxed(&[128, 60]),
            view(),
            ArgumentRule::BoxRow {
                bytes: 120,
                align: 16,
            },
        );
        check(
            boxed(&[128, 72]),
            view(),
            ArgumentRule::BoxSpan {
                bytes: 144,
                span: 128,
            },
        );
        let nan = TmaRecipe {
            element: U32,
            box_shape: &[8, 8],
            fill: OobFill::Nan,
            ..RECIPE
        };
        check(nan, view(), ArgumentRule::Fill { element: U32 });
        let nibbles = TmaRecipe {
            element: U4,
            ..RECIPE
        };
        let rule = ArgumentRule::ElementBits {
            element: U4,
            bits: 4,
        };
        assert_eq!(
            rule.to_string(),
            "the kernel's tensor map has elements of `u4`, which have 4 bits: TMA copies whole bytes"
        );
        check(nibbles, view(), rule);
    }

    #[test]
    fn unswizzled_rows_may_be_wide() {
        let recipe = TmaRecipe {
            box_shape: &[8, 256],
            swizzle: SwizzleMode::None,
            ..RECIPE
        };
        assert!(tensor_map(&recipe, &view(&[8, 64], &[64, 1])).is_ok());
    }
}
