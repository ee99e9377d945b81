//! The arithmetic of the tensor cores, and rounding to the small floating-point formats.
//!
//! For each element of D, one instruction computes a single fused sum of C and all products along K. Every term is shifted
//! to the largest exponent among them and truncated to a fixed number of fraction bits. The sum of these terms is exact. Its
//! conversion to f32 truncates again; its conversion to f16 rounds to nearest even. This model is bit-exact for Hopper
//! according to arXiv 2511.10909.

/// The most products along K that one instruction sums: 32 bytes of one-byte elements.
pub(crate) const MAX_K: usize = 32;
/// The least exponent of C, and the exponent that a C of zero has among the terms of a sum.
const LEAST_EXPONENT: i32 = -126;
/// The exponent of elements that are zero: low enough that it is never the largest of a sum.
const ZERO_EXPONENT: i16 = -10_000;
/// The bits of every f32 NaN that the tensor cores produce.
const NAN: u32 = 0x7fff_ffff;

/// A floating-point element type of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
}

/// The widths of a format's fields, in bits.
struct Fields {
    /// The fraction without the implicit leading bit.
    fraction: u32,
    exponent: u32,
    /// The low bits of an element that the tensor cores ignore.
    ignored: u32,
    /// Whether the highest exponent encodes infinity and NaN, as in IEEE 754. If not, only all ones is a NaN.
    infinity: bool,
}

impl Format {
    const fn fields(self) -> Fields {
        let (fraction, exponent, ignored, infinity) = match self {
            Format::F16 => (10, 5, 0, true),
            Format::Bf16 => (7, 8, 0, true),
            Format::Tf32 => (10, 8, 13, true),
            Format::E4m3 => (3, 4, 0, false),
            Format::E5m2 => (2, 5, 0, true),
        };
        Fields {
            fraction,
            exponent,
            ignored,
            infinity,
        }
    }

    /// Bits of a significand after the binary point.
    pub(crate) const fn fraction_bits(self) -> u32 {
        self.fields().fraction
    }

    /// Bytes of an element in memory: tf32 elements have four, of which 19 bits are used.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Format::F16 | Format::Bf16 => 2,
            Format::Tf32 => 4,
            Format::E4m3 | Format::E5m2 => 1,
        }
    }

    /// The number of fraction bits to which each term of a sum is truncated.
    pub(crate) const fn sum_bits(self) -> u32 {
        match self {
            Format::E4m3 | Format::E5m2 => 13,
            _ => 25,
        }
    }

    /// Splits an element into significand and exponent.
    pub(crate) fn decode(self, bits: u32) -> Element {
        let Fields {
            fraction,
            exponent,
            ignored,
            infinity,
        } = self.fields();
        let bits = bits >> ignored;
        let stored = (bits & ((1 << fraction) - 1)) as i32;
        let biased = (bits >> fraction) & ((1 << exponent) - 1);
        let negative = bits >> (fraction + exponent) & 1 == 1;
        let bias = (1 << (exponent - 1)) - 1;
        let all_ones = biased == (1 << exponent) - 1;
        let special = if infinity {
            all_ones
        } else {
            all_ones && stored == (1 << fraction) - 1
        };
        let magnitude = if biased == 0 {
            stored
        } else {
            stored | 1 << fraction
        };
        Element {
            significand: if negative { -magnitude } else { magnitude },
            exponent: if magnitude == 0 {
                ZERO_EXPONENT
            } else {
                biased.max(1) as i16 - bias as i16
            },
            special: special.then_some(match (infinity && stored == 0, negative) {
                (true, false) => f64::INFINITY,
                (true, true) => f64::NEG_INFINITY,
                (false, _) => f64::NAN,
            }),
        }
    }

    /// The value of an element.
    pub(crate) fn value(self, bits: u32) -> f64 {
        let element = self.decode(bits);
        let Fields {
            fraction,
            exponent,
            ignored,
            ..
        } = self.fields();
        let negative = bits >> (fraction + exponent + ignored) & 1 == 1;
        match element.special {
            Some(value) => value,
            // A significand of 0 has no sign, so the sign comes from the bits.
            None => element.value(self).abs() * if negative { -1.0 } else { 1.0 },
        }
    }
}

/// A number: `significand · 2^(exponent − fraction bits)`, or an infinity or NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) significand: i32,
    pub(crate) exponent: i16,
    pub(crate) special: Option<f64>,
}

impl Element {
    fn value(self, format: Format) -> f64 {
        match self.significand {
            0 => 0.0,
            significand => {
                f64::from(significand)
                    * power(i32::from(self.exponent) - format.fraction_bits() as i32)
            }
        }
    }
}

/// The elements of a row of A or a column of B along K. Significands and exponents are separate arrays, which keeps
/// the loops over them simple.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    significand: [i32; MAX_K],
    exponent: [i16; MAX_K],
    /// The values of all elements, if one of them is an infinity or NaN.
    special: Option<Box<[f64; MAX_K]>>,
}

impl Row {
    /// Decodes the elements in `bytes`, at most [`MAX_K`].
    pub(crate) fn new(format: Format, bytes: &[u8], negate: bool) -> Row {
        let mut row = Row {
            significand: [0; MAX_K],
            exponent: [ZERO_EXPONENT; MAX_K],
            special: None,
        };
        let elements = bytes.chunks_exact(format.bytes()).map(little_endian);
        for (k, bits) in elements.clone().enumerate() {
            let element = format.decode(bits);
            row.significand[k] = if negate {
                -element.significand
            } else {
                element.significand
            };
            row.exponent[k] = element.exponent;
            if element.special.is_some() && row.special.is_none() {
                let mut values = Box::new([0.0; MAX_K]);
                for (value, bits) in values.iter_mut().zip(elements.clone()) {
                    *value = if negate {
                        -format.value(bits)
                    } else {
                        format.value(bits)
                    };
                }
                row.special = Some(values);
            }
        }
        row
    }

    /// The values of all elements.
    fn values(&self, fraction_bits: u32) -> [f64; MAX_K] {
        match &self.special {
            Some(values) => **values,
            None => std::array::from_fn(|k| {
                if self.significand[k] == 0 {
                    return 0.0;
                }
                f64::from(self.significand[k])
                    * power(i32::from(self.exponent[k]) - fraction_bits as i32)
            }),
        }
    }
}

/// How a tensor-core instruction computes an element of D.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedSum {
    pub(crate) a: Format,
    pub(crate) b: Format,
    /// Elements along K.
    pub(crate) k: usize,
}

/// A sum before its conversion to the type of D: `significand · 2^exponent`, or an infinity or NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sum {
    Finite { significand: i64, exponent: i32 },
    Special(f64),
}

impl FusedSum {
    /// The fused sum of C and the `k` products of a row of A and a column of B.
    #[inline]
    pub(crate) fn sum(&self, a: &Row, b: &Row, c: f32) -> Sum {
        if a.special.is_some() || b.special.is_some() || !c.is_finite() {
            let (x, y) = (
                a.values(self.a.fraction_bits()),
                b.values(self.b.fraction_bits()),
            );
            return Sum::Special((0..self.k).fold(f64::from(c), |sum, k| sum + x[k] * y[k]));
        }
        let (fraction, exponent) = split(c);
        let mut largest = if fraction == 0 {
            LEAST_EXPONENT
        } else {
            exponent
        };
        for k in 0..self.k {
            largest = largest.max(i32::from(a.exponent[k] + b.exponent[k]));
        }
        // The fraction bits of a product are those of its factors together. The sum fits in 31 bits: 16 products of 25
        // fraction bits, each below 4, are below 2^31.
        let bits = self.a.sum_bits();
        let left = bits - self.a.fraction_bits() - self.b.fraction_bits();
        let mut sum = 0_i32;
        for k in 0..self.k {
            let product = a.significand[k] * b.significand[k];
            let right = (largest - i32::from(a.exponent[k] + b.exponent[k])).min(31);
            let aligned = ((product.unsigned_abs() << left) >> right) as i32;
            sum += if product < 0 { -aligned } else { aligned };
        }
        let aligned = match bits as i32 - 23 - (largest - exponent) {
            shift @ 0.. => i64::from(fraction) << shift,
            shift => truncate(i64::from(fraction), shift.unsigned_abs()),
        };
        Sum::Finite {
            significand: i64::from(sum) + aligned,
            exponent: largest - bits as i32,
        }
    }

    /// The conversion to f32 truncates: to 23 fraction bits, or to the fewer bits of the sum for fp8 inputs.
    #[inline]
    pub(crate) fn to_f32(self, sum: Sum) -> f32 {
        match sum {
            Sum::Special(value) if value.is_nan() => f32::from_bits(NAN),
            Sum::Special(value) => value as f32,
            Sum::Finite { significand: 0, .. } => 0.0,
            Sum::Finite {
                significand,
                exponent,
            } => {
                let kept = self.a.sum_bits().min(23) as i32;
                let leading = 63 - significand.unsigned_abs().leading_zeros() as i32 + exponent;
                let quantum = leading.max(LEAST_EXPONENT) - kept;
                let significand = match quantum - exponent {
                    shift @ 0.. => truncate(significand, shift.unsigned_abs()),
                    shift => significand << shift.unsigned_abs(),
                };
                (significand as f64 * power(quantum)) as f32
            }
        }
    }

    /// The conversion to f16: rounded to nearest even.
    pub(crate) fn to_f16(self, sum: Sum) -> u16 {
        match sum {
            Sum::Special(value) => f16_bits(value),
            Sum::Finite {
                significand,
                exponent,
            } => f16_bits(significand as f64 * power(exponent)),
        }
    }
}

/// The significand of a finite f32, with 23 fraction bits, and its exponent.
fn split(value: f32) -> (i32, i32) {
    let bits = value.to_bits();
    let biased = (bits >> 23 & 0xff) as i32;
    let stored = (bits & 0x7f_ffff) as i32;
    let magnitude = if biased == 0 {
        stored
    } else {
        stored | 1 << 23
    };
    (
        if value.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        },
        biased.max(1) - 127,
    )
}

/// Shifts the magnitude to the right: a division by 2^shift that rounds towards zero.
fn truncate(value: i64, shift: u32) -> i64 {
    let magnitude = value.unsigned_abs().checked_shr(shift).unwrap_or(0) as i64;
    if value < 0 { -magnitude } else { magnitude }
}

/// 2^exponent, for an exponent from -1022 to 1023.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The little-endian integer of up to four bytes.
pub(crate) fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Rounds to the nearest value of a format with this many fraction bits and this least exponent of normal numbers; ties to
/// even. The format's largest exponent is not considered.
pub(crate) fn round(value: f64, fraction_bits: i32, least_exponent: i32) -> f64 {
    quantised(value, fraction_bits, least_exponent, f64::round_ties_even)
}

/// Like [`round`], but ties away from zero, as `cvt.rna` does.
pub(crate) fn round_away(value: f64, fraction_bits: i32, least_exponent: i32) -> f64 {
    quantised(value, fraction_bits, least_exponent, f64::round)
}

/// Like [`round`], but towards zero.
pub(crate) fn round_to_zero(value: f64, fraction_bits: i32, least_exponent: i32) -> f64 {
    quantised(value, fraction_bits, least_exponent, f64::trunc)
}

fn quantised(value: f64, fraction_bits: i32, least_exponent: i32, round: fn(f64) -> f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let quantum = power(exponent.max(least_exponent) - fraction_bits);
    round(value / quantum) * quantum
}

/// The bits of every NaN that a conversion to f16 or bf16 produces.
const NAN_16: u16 = 0x7fff;

/// The bits of the nearest f16, ties to even.
pub(crate) fn f16_bits(value: f64) -> u16 {
    if value.is_nan() {
        return NAN_16;
    }
    half::f16::from_f64(round(value, 10, -14)).to_bits()
}

/// The bits of the nearest bf16, ties to even.
pub(crate) fn bf16_bits(value: f64) -> u16 {
    if value.is_nan() {
        return NAN_16;
    }
    half::bf16::from_f64(round(value, 7, -126)).to_bits()
}

/// The bits of the nearest e4m3 or e5m2 value, ties to even, as `cvt.rn.satfinite` does: a value beyond the largest finite
/// one becomes that one, a NaN becomes 0x7f.
pub(crate) fn fp8_bits(format: Format, value: f64) -> u8 {
    let (fraction, least, largest) = match format {
        Format::E5m2 => (2, -14, 57344.0),
        _ => (3, -6, 448.0),
    };
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    if value.is_nan() {
        return 0x7f;
    }
    let magnitude = round(value.abs().min(largest), fraction, least).min(largest);
    let exponent = ((magnitude.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let significand = (magnitude / power(exponent - fraction)) as u8;
    // Without its leading bit the significand is subnormal, and its exponent field is zero.
    let normal = significand >> fraction;
    let field = if normal == 0 {
        0
    } else {
        (exponent - least + 1) as u8
    };
    sign | field << fraction | significand & ((1 << fraction) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(format: Format, a: &[u32], b: &[u32], c: f32) -> f32 {
        let row = |bits: &[u32]| {
            let bytes: Vec<u8> = bits
                .iter()
                .flat_map(|bits| bits.to_le_bytes()[..format.bytes()].to_vec())
                .collect();
            Row::new(format, &bytes, false)
        };
        let fused = FusedSum {
            a: format,
            b: format,
            k: a.len(),
        };
        fused.to_f32(fused.sum(&row(a), &row(b), c))
    }

    #[test]
    fn small_sums_are_exact() {
        let one = 0x3f80;
        assert_eq!(sum(Format::Bf16, &[one; 16], &[one; 16], 0.5), 16.5);
        assert_eq!(sum(Format::F16, &[0xbc00; 16], &[0x3c00; 16], 0.0), -16.0);
        assert_eq!(
            sum(Format::F16, &[0x0001; 16], &[0x3c00; 16], 0.0),
            2.0_f32.powi(-20)
        );
        assert_eq!(sum(Format::E4m3, &[0x38; 32], &[0x38; 32], 1.0), 33.0);
        assert_eq!(
            sum(Format::Tf32, &[0x3f80_1fff; 8], &[0x3f80_0000; 8], 0.0),
            8.0
        );
    }

    #[test]
    fn terms_are_truncated_to_25_bits() {
        // 2^-25 next to 1 survives, 2^-26 does not, and the sum is truncated, not rounded.
        let (one, tiny) = (0x3f80, 0x3980 - 0x80 * 13);
        assert_eq!(Format::Bf16.value(tiny), 2.0_f64.powi(-25));
        let small: Vec<u32> = (0..16).map(|k| if k < 4 { tiny } else { 0 }).collect();
        assert_eq!(
            sum(Format::Bf16, &small, &[one; 16], 1.0),
            1.0 + 2.0_f32.powi(-23)
        );
        let smaller: Vec<u32> = small.iter().map(|bits| bits.saturating_sub(0x80)).collect();
        assert_eq!(sum(Format::Bf16, &smaller, &[one; 16], 1.0), 1.0);
        let three: Vec<u32> = (0..16).map(|k| if k < 3 { tiny } else { 0 }).collect();
        assert_eq!(sum(Format::Bf16, &three, &[one; 16], 1.0), 1.0);
    }

    #[test]
    fn eight_bit_sums_keep_13_bits() {
        // 1 + 2^-13 is kept, 1 + 2^-14 is not.
        let e5m2 = |exponent: i32| ((exponent + 15) as u32) << 2;
        let pair = |exponent: i32| {
            let mut a = [0; 32];
            a[0] = e5m2(exponent);
            sum(Format::E5m2, &a, &[e5m2(0); 32], 1.0)
        };
        assert_eq!(pair(-13), 1.0 + 2.0_f32.powi(-13));
        assert_eq!(pair(-14), 1.0);
    }

    #[test]
    fn special_values() {
        let (infinity, one) = (0x7f80, 0x3f80);
        assert_eq!(
            sum(Format::Bf16, &[infinity; 16], &[one; 16], 0.0),
            f32::INFINITY
        );
        let nan = sum(Format::Bf16, &[infinity; 16], &[0; 16], 0.0);
        assert_eq!(nan.to_bits(), NAN);
        assert_eq!(
            sum(Format::Bf16, &[one; 16], &[one; 16], f32::NEG_INFINITY),
            f32::NEG_INFINITY
        );
        assert!(Format::E4m3.value(0x7f).is_nan());
        assert_eq!(Format::E4m3.value(0x7e), 448.0);
    }

    #[test]
    fn small_formats_round_trip() {
        for bits in 0..=0xff_u8 {
            for format in [Format::E4m3, Format::E5m2] {
                let value = format.value(u32::from(bits));
                if value.is_finite() {
                    assert_eq!(fp8_bits(format, value), bits, "{format:?} {value}");
                }
            }
        }
        for bits in 0..=0xffff_u16 {
            let (half, brain) = (
                half::f16::from_bits(bits).to_f64(),
                half::bf16::from_bits(bits).to_f64(),
            );
            assert!(half.is_nan() || f16_bits(half) == bits);
            assert!(brain.is_nan() || bf16_bits(brain) == bits);
            let value = Format::F16.value(u32::from(bits));
            assert!(value == half || value.is_nan() && half.is_nan());
            let value = Format::Bf16.value(u32::from(bits));
            assert!(value == brain || value.is_nan() && brain.is_nan());
        }
    }
}
