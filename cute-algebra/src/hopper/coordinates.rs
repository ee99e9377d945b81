//! Accesses that give coordinates of the memory.

use crate::composition::composition;
use crate::error::{ErrorKind, LayoutError, ModePath, Place};
use crate::layout::Layout;
use crate::tuple::Shape;
use alloc::collections::BTreeMap;
use alloc::string::ToString;

/// An access with 1-D coordinates of a memory of this shape as its values. A fragment's layout has coordinates as strides, which are
/// composed with the shape; another is returned as it is.
/// ```
/// use cute_algebra::{Layout, Shape, access_of_memory};
/// let fragment: Layout = "(8,4):(4@1,1@1)".parse()?;
/// let access = access_of_memory(&Shape::from([2, 32]), &fragment)?;
/// assert_eq!(access.to_string(), "(8,4):(8,2)");
/// let error = access_of_memory(&Shape::from([32, 2]), &fragment).unwrap_err();
/// assert_eq!(
///     error.kind().to_string(),
///     "this reaches coordinate 31 of mode 1, where the memory of shape (32,2) has 2"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A coordinate is outside of the memory, or the memory does not have its modes.
pub fn access_of_memory(shape: &Shape, tv: &Layout) -> Result<Layout, LayoutError> {
    if tv.is_integral() {
        return Ok(tv.clone());
    }
    match composition(&Layout::left(shape.clone())?, tv) {
        Err(error) if error.kind().is_overhang() => Err(outside(shape, tv).unwrap_or(error)),
        result => result,
    }
}

/// The error of the first mode of the memory that an access leaves.
fn outside(shape: &Shape, tv: &Layout) -> Option<LayoutError> {
    let mut reaches: BTreeMap<&[usize], (i64, i64)> = BTreeMap::new();
    for (extent, stride) in tv.leaves() {
        let reach = (extent - 1) * stride.value();
        let (least, most) = reaches.entry(stride.path()).or_default();
        (*least, *most) = (*least + reach.min(0), *most + reach.max(0));
    }
    let kind = reaches.into_iter().find_map(|(path, (least, most))| {
        let size = shape.get(path)?.product()?;
        let reach = if least < 0 { least } else { most };
        (!(0..size).contains(&reach)).then(|| ErrorKind::OutsideMode {
            reach,
            mode: ModePath(path.to_vec()),
            size,
            shape: shape.to_string(),
        })
    })?;
    Some(kind.at(Place::operand(1)))
}
