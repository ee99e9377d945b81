//! What to do past the end of a layout.

/// What to do with coordinates past the end of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overhang {
    /// They are an error.
    Strict,
    /// The last mode goes on, as in CuTe; sizes are rounded up.
    Ragged,
}

/// The multiples of `unit` on either side of `value`, the lower one at least `unit`: what to use instead of a value that
/// is none.
pub(crate) fn nearest_multiples(value: i64, unit: i64) -> [i64; 2] {
    let below = (value / unit).max(1) * unit;
    [below, below.saturating_add(unit)]
}
