//! Two layouts compared value by value.

use crate::composed::ComposedLayout;
use crate::equal::equal;
use crate::layout::Layout;
use crate::tuple::{IntTuple, Tuple};

/// Most coordinates that are compared one by one.
pub const COMPARISON_LIMIT: i64 = 1 << 24;

/// The result of [`compare`], or of [`compare_coordinates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison<V = i64> {
    /// How many coordinates each layout has.
    pub sizes: [i64; 2],
    /// The first 1-D coordinate with different values, and both values. Only coordinates of both layouts count.
    pub difference: Option<(i64, [V; 2])>,
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

/// Compares two layouts whose values are coordinates as functions of the 1-D coordinate.
/// ```
/// use cute_algebra::{Layout, compare_coordinates};
/// let (a, b): (Layout, Layout) = ("(8,4):(4@1,1@1)".parse()?, "32:1@1".parse()?);
/// let (index, [left, right]) = compare_coordinates(&a, &b).difference.expect("they differ");
/// assert_eq!((index, left.to_string(), right.to_string()), (1, "(0,4)".into(), "(0,1)".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare_coordinates(a: &Layout, b: &Layout) -> Comparison<IntTuple> {
    let sizes = [a.size(), b.size()];
    if equal(a, b) {
        return Comparison {
            sizes,
            difference: None,
            is_equal: Some(true),
        };
    }
    let value = |layout: &Layout, index: i64| layout.crd2idx(&Tuple::Leaf(Some(index))).ok();
    let values = |index: i64| Some((index, [value(a, index)?, value(b, index)?]));
    let mut pairs = (0..sizes[0].min(sizes[1]).min(COMPARISON_LIMIT)).filter_map(values);
    let difference = pairs.find(|(_, [left, right])| left != right);
    let is_equal = match difference {
        None if sizes[0] == sizes[1] => (sizes[0] <= COMPARISON_LIMIT).then_some(true),
        _ => Some(false),
    };
    Comparison {
        sizes,
        difference,
        is_equal,
    }
}
