//! Layouts whose values are coordinates, as constants.

use super::Layout;
use alloc::vec::Vec;
use core::fmt;
use cute_algebra::{LayoutError, ScaledBasis};

/// A layout whose strides are scaled basis elements, such as `(4,5):(1@1,1@0)`: its values are coordinates.
///
/// An integer layout, the component `[i]`, gives number `i` of the value. In a nested coordinate space, a path of indices names a
/// component, the outermost index first.
/// ```
/// use cute_runtime::{CoordinateLayout, layout};
/// const C: CoordinateLayout = layout!((4,5):(1@1,1@0));
/// assert_eq!(C.at::<2>(6), [1, 2]);
/// assert_eq!(C.component(&[0]).map(|layout| layout.to_string()), Some("(4,5):(0,1)".to_owned()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoordinateLayout {
    text: &'static str,
    components: &'static [(&'static [usize], Layout)],
}

/// For expansions: the layout as text, and the component of each path.
pub const fn coordinate_layout(
    text: &'static str,
    components: &'static [(&'static [usize], Layout)],
) -> CoordinateLayout {
    CoordinateLayout { text, components }
}

impl CoordinateLayout {
    /// Number of 1-D coordinates that the layout takes.
    pub const fn size(&self) -> i64 {
        match self.components {
            [] => 1,
            [(_, layout), ..] => layout.size(),
        }
    }

    /// The components with their paths. A path lists indices into the nested value, the outermost first.
    pub const fn components(&self) -> &'static [(&'static [usize], Layout)] {
        self.components
    }

    /// The component of one path; `None` if no stride runs along it.
    pub fn component(&self, path: &[usize]) -> Option<Layout> {
        self.components
            .iter()
            .find(|(known, _)| *known == path)
            .map(|(_, layout)| *layout)
    }

    /// The value at 1-D coordinate `index`, as `N` integers. A number is 0 if no stride runs along it.
    ///
    /// # Panics
    /// If `index` is negative or not below the size, or if values are nested or have more than `N` integers.
    pub const fn at<const N: usize>(&self, index: i64) -> [i64; N] {
        let mut value = [0; N];
        let mut i = 0;
        while i < self.components.len() {
            let (path, layout) = self.components[i];
            assert!(
                path.len() == 1 && path[0] < N,
                "the values of this layout are not coordinates of N integers"
            );
            value[path[0]] = layout.at(index);
            i += 1;
        }
        value
    }

    /// This layout as a value of `cute-algebra`.
    ///
    /// # Errors
    /// None for a layout that a macro made.
    /// ```
    /// use cute_runtime::{CoordinateLayout, layout};
    /// const C: CoordinateLayout = layout!((4,(5,2)):(2@1,(1@0,4@1)));
    /// assert_eq!(C.to_layout()?.to_string(), C.to_string());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let Some((_, first)) = self.components.first() else {
            return Ok(cute_algebra::Layout::unit());
        };
        // Each leaf has a stride other than 0 in at most one component.
        let stride = |leaf: usize| {
            let along = |(path, layout): &(&[usize], Layout)| {
                let stride = *layout.flat_stride().get(leaf)?;
                (stride != 0).then(|| ScaledBasis::new(stride, *path))
            };
            self.components.iter().find_map(along)
        };
        let strides = (0..first.flat_shape().len())
            .map(|leaf| stride(leaf).unwrap_or_else(|| Ok(0.into())))
            .collect::<Result<Vec<_>, _>>()?;
        let shape = first.to_layout()?.shape().clone();
        let mut strides = strides.into_iter();
        let stride = shape.map(|_| strides.next().unwrap_or_else(|| 0.into()));
        cute_algebra::Layout::new(shape, stride)
    }
}

impl fmt::Display for CoordinateLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl fmt::Debug for CoordinateLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
