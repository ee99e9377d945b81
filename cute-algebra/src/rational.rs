//! Modes whose stride is a fraction, written as modes with integer strides.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::tuple::Tuple;
use alloc::string::ToString;

/// The layout whose value at `c < extent` is `⌊c · numerator / denominator⌋` along `path`, outermost index first.
///
/// Write `p/q = k + ρ/q` with `0 <= ρ < q`. The values grow by `k` at each step, and by one more at a jump; the first
/// jump is at `t = ⌈q/ρ⌉`. A layout has these values if there is no jump before the extent, or if the jumps are
/// exactly the multiples of `t` and `t` divides the extent.
/// ```
/// use cute_algebra::rational_mode;
/// assert_eq!(rational_mode(8, 1, 2, &[0])?.to_string(), "(2,4):(0,1@0)");
/// assert_eq!(rational_mode(12, 7, 3, &[1])?.to_string(), "(3,4):(2@1,7@1)");
/// assert_eq!(rational_mode(12, 6, 3, &[])?.to_string(), "12:2");
/// // 0 0 1 1 2 3: the third jump is at 5, which is not a multiple of 2.
/// assert!(rational_mode(6, 3, 5, &[0]).is_err());
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// # Errors
///
/// The denominator is 0, the extent is below 1, a stride does not fit 64 bits, or no layout has these values. In the
/// last case the error has the first wrong value.
pub fn rational_mode(
    extent: i64,
    numerator: i64,
    denominator: i64,
    path: &[usize],
) -> Result<Layout, LayoutError> {
    let whole = Place::operand(0);
    if denominator == 0 {
        return Err(ErrorKind::Denominator.at(whole));
    }
    if extent < 1 {
        let extent = extent.to_string();
        return Err(ErrorKind::Extent { extent }.at(whole));
    }
    // Nothing below overflows 128 bits, since every product is of two 64-bit numbers.
    let sign = i128::from(denominator.signum());
    let (s, p, q) = (
        i128::from(extent),
        i128::from(numerator) * sign,
        i128::from(denominator) * sign,
    );
    let (k, rest) = (p.div_euclid(q), p.rem_euclid(q));
    let mode = |stride: i128| -> Result<ScaledBasis, LayoutError> {
        let stride = i64::try_from(stride)
            .map_err(|_| ErrorKind::Overflow { quantity: "stride" }.at(whole.clone()))?;
        ScaledBasis::new(stride, path)
    };
    let first_jump = if rest == 0 { s } else { (q + rest - 1) / rest };
    if first_jump >= s {
        return Layout::new(extent, Tuple::Leaf(mode(k)?));
    }
    // Jump j is at ⌈j·q/ρ⌉, which is j·t as long as j·early < ρ, where early = t·ρ − q. The first j with j·early >= ρ is
    // a jump before j·t.
    let early = first_jump * rest - q;
    let missed = (early > 0).then(|| {
        let jump = (rest + early - 1) / early;
        (jump * q + rest - 1) / rest
    });
    let differs = match missed.filter(|&position| position < s) {
        Some(position) => Some((position, k * position + position / first_jump)),
        None => (s % first_jump != 0).then_some((first_jump, k * first_jump)),
    };
    if let Some((position, expected)) = differs {
        let narrow = |value: i128| {
            i64::try_from(value)
                .map_err(|_| ErrorKind::Overflow { quantity: "value" }.at(whole.clone()))
        };
        let (position, expected) = (narrow(position)?, narrow(expected)?);
        let found = narrow((i128::from(position) * p).div_euclid(q))?;
        return Err(ErrorKind::NotALayout {
            position,
            found,
            expected,
        }
        .at(whole));
    }
    let extents = [first_jump, s / first_jump].map(|extent| Tuple::Leaf(extent as i64));
    let strides = [mode(k)?, mode(k * first_jump + 1)?].map(Tuple::Leaf);
    Layout::new(Tuple::Node(extents.into()), Tuple::Node(strides.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_table::from_table;

    /// A fraction is accepted exactly if some layout has its values, and then the result has these values.
    #[test]
    fn every_small_fraction_against_its_table() {
        for extent in 1..=24 {
            for numerator in -13..=13 {
                for denominator in (-9..=9).filter(|&q| q != 0) {
                    let value = |c: i64| {
                        let (p, q) = if denominator < 0 {
                            (-numerator, -denominator)
                        } else {
                            (numerator, denominator)
                        };
                        (c * p).div_euclid(q)
                    };
                    let table: Vec<i64> = (0..extent).map(value).collect();
                    let found = rational_mode(extent, numerator, denominator, &[]);
                    match (found, from_table(&table)) {
                        (Ok(layout), Ok(_)) => {
                            assert_eq!(layout.values().collect::<Vec<_>>(), table)
                        }
                        (Err(error), Err(_)) => match *error.kind() {
                            ErrorKind::NotALayout {
                                position,
                                found,
                                expected,
                            } => {
                                assert_eq!(found, table[position as usize]);
                                assert_ne!(found, expected);
                            }
                            ref other => panic!("{other}"),
                        },
                        (found, table) => {
                            panic!("{extent}:{numerator}/{denominator}: {found:?}, {table:?}")
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn extremes_are_errors_or_exact() {
        for (extent, p, q) in [
            (i64::MAX, i64::MAX, i64::MIN),
            (i64::MAX, i64::MIN, -1),
            (i64::MAX, i64::MAX, i64::MAX - 1),
            (i64::MAX, 1, i64::MAX),
            (2, i64::MIN, i64::MAX),
        ] {
            let _ = rational_mode(extent, p, q, &[0]);
        }
        assert!(matches!(
            rational_mode(4, 1, 0, &[0]).unwrap_err().kind(),
            ErrorKind::Denominator
        ));
        assert!(matches!(
            rational_mode(0, 1, 2, &[0]).unwrap_err().kind(),
            ErrorKind::Extent { .. }
        ));
    }
}
