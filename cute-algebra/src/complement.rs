//! Complement: the ordered rest of a target.

use crate::coalesce::{from_flat, merge};
use crate::composition::{Overhang, nearest_multiples};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::Layout;

/// The ordered layout that fills what A leaves out: `(A, complement(A, target))` takes each value in
/// `0..target` once, and the complement increases.
///
/// It exists exactly if each stride of A, in ascending order, is a multiple of the stride before times its extent,
/// and the last such product divides the target.
/// ```
/// use cute_algebra::{Layout, complement};
/// let a = Layout::new([2, 2], [1, 6])?;
/// assert_eq!(complement(&a, 24)?.to_string(), "(3,2):(2,12)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn complement(a: &Layout, target: i64) -> Result<Layout, LayoutError> {
    complement_in(a, target, Overhang::Strict).during("complement", [a, &target])
}

/// The complement in the smallest target that has one: the holes of A below its cosize.
///
/// Refused where a stride of A, in ascending order, is not a multiple of the stride before times its extent.
/// ```
/// use cute_algebra::{Layout, complement_within};
/// let a: Layout = "(4,2):(2,16)".parse()?;
/// assert_eq!(complement_within(&a)?.to_string(), "(2,2):(1,8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complement_within(a: &Layout) -> Result<Layout, LayoutError> {
    let rest = Chain::of(a).and_then(|chain| chain.rest(1));
    rest.during("complement", [a])
}

/// The complement for a target of any size: only so many of its values are asked for.
pub(crate) fn complement_endless(a: &Layout, count: i64) -> Result<Layout, LayoutError> {
    Chain::of(a)?.rest(count)
}

pub(crate) fn complement_in(
    a: &Layout,
    target: i64,
    overhang: Overhang,
) -> Result<Layout, LayoutError> {
    if target < 1 {
        return Err(ErrorKind::Extent { extent: target }.at(Place::operand(1)));
    }
    let chain = Chain::of(a)?;
    let rounded = (target - 1) / chain.block + 1;
    if target % chain.block != 0 && overhang == Overhang::Strict {
        let nearest = nearest_multiples(target, chain.block);
        return Err(ErrorKind::Target {
            block: chain.block,
            target,
            nearest,
        }
        .at(Place::operand(1)));
    }
    chain.rest(rounded)
}

/// The modes of a layout in the order of their strides, each stride a multiple of the `block` before it.
struct Chain {
    /// The gaps: quotients of a stride by the block before it, and those blocks.
    gaps: Vec<(i64, i64)>,
    /// The last stride times its extent.
    block: i64,
}

impl Chain {
    fn of(a: &Layout) -> Result<Self, LayoutError> {
        let modes = a.integral_modes(0)?.into_iter().zip(a.shape().leaf_paths());
        let mut modes: Vec<_> = modes
            .filter(|((extent, stride), _)| *extent != 1 && *stride != 0)
            .collect();
        modes.sort_by_key(|&((extent, stride), _)| (stride, extent));
        let (mut gaps, mut block, mut previous) = (Vec::new(), 1i64, (1, 1));
        for ((extent, stride), path) in modes {
            let place = Place::operand(0).mode(path).stride();
            if stride < 0 {
                return Err(ErrorKind::NegativeStride { stride }.at(place));
            }
            if stride % block != 0 {
                let nearest = nearest_multiples(stride, block);
                return Err(ErrorKind::Gap {
                    previous,
                    stride,
                    nearest,
                }
                .at(place));
            }
            gaps.push((stride / block, block));
            let next = stride.checked_mul(extent);
            block = next.ok_or_else(|| {
                ErrorKind::Overflow {
                    quantity: "complement",
                }
                .at(place)
            })?;
            previous = (extent, stride);
        }
        Ok(Self { gaps, block })
    }

    /// The gaps, and `count` repetitions of the whole.
    fn rest(mut self, count: i64) -> Result<Layout, LayoutError> {
        self.gaps.push((count, self.block));
        self.gaps.retain(|&(extent, _)| extent != 1);
        from_flat(merge(
            self.gaps
                .into_iter()
                .map(|(extent, stride)| (extent, stride.into())),
        ))
        .validated()
    }
}
