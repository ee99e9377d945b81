//! Treatment of coordinates past the end of a layout.

/// How an operation treats coordinates past the end of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overhang {
    /// It refuses them.
    Strict,
    /// It lets the last mode continue, as CuTe does, and rounds sizes up.
    Ragged,
}

/// The multiples of `unit` below and above `value`, the lower one at least `unit`. Errors suggest them instead of
/// `value`.
pub(crate) fn nearest_multiples(value: i64, unit: i64) -> [i64; 2] {
    let below = (value / unit).max(1) * unit;
    [below, below.saturating_add(unit)]
}
