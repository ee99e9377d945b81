//! The extension of a layout past its end.

use crate::domain::{Domain, Numbers, Question, overflow, product, quotient};
use crate::error::{During, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::shape_div::indivisible;

/// The layout of `size` coordinates whose last mode is lengthened or shortened: `crd2idx(i, extension(a, size))` is
/// `ragged crd2idx(i, a)` for every `i < size`, also past the end of A.
///
/// The product of the extents before the last one must divide the size.
/// ```
/// use cute_algebra::{Layout, extension};
/// let a: Layout = "(2,5):(1,4)".parse()?;
/// assert_eq!(extension(&a, 14)?.to_string(), "(2,7):(1,4)");
/// assert!(extension(&a, 13).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extension(a: &Layout, size: i64) -> Result<Layout, LayoutError> {
    extension_in(&mut Numbers, a, &size).during("extension", [a, &size])
}

/// [`extension`] for any domain.
pub(crate) fn extension_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    size: &D::Int,
) -> Result<Layout<D::Int>, LayoutError> {
    d.require_extent(size, &Place::operand(1))?;
    let last = a.shape().leaf_count().saturating_sub(1);
    let before = a.shape().leaves().take(last);
    let before = before
        .cloned()
        .try_fold(D::Int::ONE, |size, extent| product(&size, &extent))?;
    let refusal = || Some(indivisible(size, &before));
    d.require(
        Question::Divides(&before, size),
        &Place::operand(1),
        &refusal,
    )?;
    let extent = quotient(size, &before)?;
    let mut leaf = 0;
    let shape = a.shape().map(|old| {
        leaf += 1;
        if leaf > last {
            extent.clone()
        } else {
            old.clone()
        }
    });
    // `()` has no mode that could be lengthened, so only size 1 is legal.
    let reached = shape.product().ok_or_else(overflow)?;
    d.require(Question::Equal(&reached, size), &Place::operand(1), &|| {
        None
    })?;
    Layout::make(d, shape, a.stride().clone())
}
