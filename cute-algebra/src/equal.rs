//! Whether two layouts are equal as functions.

use crate::coalesce::coalesce;
use crate::domain::{Answer, Domain, Numbers, Question, overflow};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use alloc::format;

/// Whether two layouts have the same size and the same value at each 1-D coordinate. They do exactly if they
/// coalesce to the same layout.
/// ```
/// use cute_algebra::{Layout, equal};
/// let (a, b): (Layout, Layout) = ("(2,(3,4)):(1,(2,6))".parse()?, "24:1".parse()?);
/// assert!(equal(&a, &b));
/// assert!(!equal(&a, &"(4,6):(6,1)".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equal(a: &Layout, b: &Layout) -> bool {
    // The comparison of numbers never fails.
    equal_in(&Numbers, a, b).unwrap_or(false)
}

/// [`equal`] for any domain; an error where the facts do not decide.
pub(crate) fn equal_in<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
) -> Result<bool, LayoutError> {
    let (first, second) = (coalesce(a), coalesce(b));
    if first == second {
        return Ok(true);
    }
    let sizes = first.shape().product().zip(second.shape().product());
    let (left, right) = sizes.ok_or_else(overflow)?;
    let differs = d.answer(Question::Equal(&left, &right)) == Answer::Never;
    match differs || is_of_numbers(&first) && is_of_numbers(&second) {
        true => Ok(false),
        false => {
            let condition = format!("{a} == {b}");
            Err(ErrorKind::Open { condition }.at(Place::default()))
        }
    }
}

fn is_of_numbers<I: Integer>(a: &Layout<I>) -> bool {
    a.leaves().all(|(extent, stride)| {
        extent.as_constant().is_some() && stride.value().as_constant().is_some()
    })
}
