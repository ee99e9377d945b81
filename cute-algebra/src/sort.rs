//! The modes of a layout in the order of their strides.

use crate::ascending::order;
use crate::domain::{Domain, Numbers};
use crate::error::{During, LayoutError};
use crate::layout::Layout;

/// The leaves as top-level modes, in ascending order of strides; of equal strides, the left one comes first. The
/// values are the same, in another order.
///
/// Refused for a layout into a coordinate space.
/// ```
/// use cute_algebra::{Layout, sort};
/// let a: Layout = "(4,(2,3)):(6,(1,2))".parse()?;
/// assert_eq!(sort(&a)?.to_string(), "(2,3,4):(1,2,6)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sort(a: &Layout) -> Result<Layout, LayoutError> {
    sort_in(&mut Numbers, a).during("sort", [a])
}

/// [`sort`] for any domain, where facts may have to decide the order.
pub(crate) fn sort_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let modes = a.flat_modes();
    let sorted = order(d, a)?.into_iter().map(|i| modes[i].clone());
    Ok(Layout::from_flat(sorted.collect()))
}
