//! The 8-bit floating-point numbers of tensors.

use std::fmt;

/// Defines a type of 8-bit floating-point numbers: number of fraction bits, exponent of the least normal number, greatest finite
/// number, and whether infinities and NaNs have all exponent bits set, as in IEEE 754. Otherwise only a NaN has all bits of
/// exponent and fraction set.
macro_rules! float8 {
    ($($(#[$doc:meta])* $name:ident: $fraction:literal, $least:literal, $max:literal, $infinity:literal;)*) => { $(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use cute_runtime::", stringify!($name), ";")]
        #[doc = concat!("let x = ", stringify!($name), "::from_f32(1.3);")]
        /// assert_eq!(x.to_f32(), 1.25);
        #[doc = concat!("assert_eq!(", stringify!($name), "::from_f32(1e6), ", stringify!($name), "::MAX);")]
        /// ```
        #[derive(Clone, Copy, Default, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
        #[repr(transparent)]
        #[expect(non_camel_case_types, reason = "named like f32, f16 and bf16")]
        pub struct $name(u8);

        impl $name {
            /// The greatest finite number.
            pub const MAX: Self = Self::from_f32($max);

            /// The number with these bits.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The bits of the number.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number; of two, the one with an even last digit. Numbers beyond the greatest finite number become this
            /// number, as in `cvt.rn.satfinite`, and a NaN becomes the NaN 0x7f.
            pub const fn from_f32(value: f32) -> Self {
                if value.is_nan() {
                    return Self(0x7f);
                }
                let magnitude = value.abs().min($max);
                let exponent = (magnitude.to_bits() >> 23) as i32 - 127;
                // The distance to the next number is 2^step. A product with a power of two is exact, so that only the sum rounds:
                // from 2^23 on there are no fractions. `round_ties_even` is a `const fn` from Rust 1.90 on only.
                let step = if exponent < $least { $least } else { exponent } - $fraction;
                let digits = (magnitude * power(-step) + power(23) - power(23)) as u32;
                // Digits of a normal number have a leading bit, which counts up the field of the exponent.
                let field = (step + $fraction - $least) as u32;
                let sign = (value.is_sign_negative() as u8) << 7;
                Self(sign | ((field << $fraction) + digits) as u8)
            }

            /// The same number as an f32.
            pub const fn to_f32(self) -> f32 {
                let fraction = (self.0 & ((1 << $fraction) - 1)) as u32;
                let field = ((self.0 & 0x7f) >> $fraction) as i32;
                let top = field == 0x7f >> $fraction;
                let magnitude = if top && $infinity {
                    if fraction == 0 { f32::INFINITY } else { f32::NAN }
                } else if !$infinity && self.0 & 0x7f == 0x7f {
                    f32::NAN
                } else if field == 0 {
                    fraction as f32 * power($least - $fraction)
                } else {
                    (fraction | 1 << $fraction) as f32 * power(field - 1 + $least - $fraction)
                };
                if self.0 >> 7 == 1 { -magnitude } else { magnitude }
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.to_f32().into()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    )* };
}

float8! {
    /// A floating-point number with 4 bits of exponent and 3 of fraction, up to 448, without infinities.
    e4m3: 3, -6, 448.0, false;
    /// A floating-point number with 5 bits of exponent and 2 of fraction, up to 57344.
    e5m2: 2, -14, 57344.0, true;
}

/// 2 to a power from -126 to 127.
const fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::{e4m3, e5m2};

    /// Every number, the middle between every two neighbours, and what lies just beside it.
    macro_rules! check {
        ($ty:ident, $last:literal) => {
            for bits in 0..$last {
                let [low, high] = [bits, bits + 1].map(|bits| $ty::from_bits(bits).to_f32());
                assert!(low < high, "{low} {high}");
                let middle = (low + high) / 2.0;
                for (value, expected) in [
                    (low, bits),
                    (middle.next_down(), bits),
                    (middle, bits + bits % 2),
                    (middle.next_up(), bits + 1),
                    (high, bits + 1),
                ] {
                    assert_eq!($ty::from_f32(value).to_bits(), expected, "{value}");
                    assert_eq!($ty::from_f32(-value).to_bits(), expected | 0x80, "-{value}");
                }
            }
            for value in [f32::INFINITY, 1e9, $ty::MAX.to_f32()] {
                assert_eq!($ty::from_f32(value).to_bits(), $last);
            }
            assert_eq!($ty::from_f32(f32::NAN).to_bits(), 0x7f);
            assert!($ty::from_bits(0x7f).to_f32().is_nan());
        };
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        check!(e4m3, 0x7e);
        check!(e5m2, 0x7b);
        assert_eq!(e5m2::from_bits(0xfc).to_f32(), f32::NEG_INFINITY);
        assert_eq!(e4m3::from_bits(0x78).to_f32(), 256.0);
    }
}
