//! Two layouts compared value by value.

use crate::composed::ComposedLayout;
use crate::equal::equal;

/// Most coordinates that are compared one by one.
pub const COMPARISON_LIMIT: i64 = 1 << 24;

/// The result of [`compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// How many coordinates each layout has.
    pub sizes: [i64; 2],
    /// The first 1-D coordinate with different values, and both values. Only coordinates of both layouts count.
    pub difference: Option<(i64, [i64; 2])>,
    /// Whether they are the same function of the 1-D coordinate; `None` if unknown, because more than
    /// [`COMPARISON_LIMIT`] coordinates agree.
    pub is_equal: Option<bool>,
}

/// Compares two layouts of integers as functions of the 1-D coordinate.
/// ```
/// use cute_algebra::{Layout, compare};
/// let (a, b): (Layout, Layout) = ("(4,6):(1,4)".parse()?, "(4,6):(6,1)".parse()?);
/// let found = compare(&a.clone().try_into()?, &b.try_into()?);
/// assert_eq!((found.is_equal, found.difference), (Some(false), Some((1, [1, 6]))));
/// assert_eq!(compare(&a.try_into()?, &"Sw<0,0,0> o 0 o 24:1".parse()?).is_equal, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(a: &ComposedLayout, b: &ComposedLayout) -> Comparison {
    let sizes = [a.size(), b.size()];
    let pairs = (0..COMPARISON_LIMIT).zip(a.values().zip(b.values()));
    let mut differing = pairs.filter(|(_, (left, right))| left != right);
    let difference = differing
        .next()
        .map(|(index, (left, right))| (index, [left, right]));
    let is_equal = match (a.as_layout(), b.as_layout()) {
        _ if difference.is_some() || sizes[0] != sizes[1] => Some(false),
        _ if sizes[0] <= COMPARISON_LIMIT => Some(true),
        (Some(a), Some(b)) => Some(equal(a, b)),
        _ => None,
    };
    Comparison {
        sizes,
        difference,
        is_equal,
    }
}
