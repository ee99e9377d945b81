//! The arithmetic of the tensor cores, and rounding to the small floating-point formats.
//!
//! For each element of D, one instruction computes a single fused sum of C and all products along K. Every term is shifted
//! to the largest exponent among them and truncated to a fixed number of fraction bits. The sum of these terms is exact. The
//! conversion to f32 truncates again; the conversion to f16 rounds to nearest even. This model is bit-exact for Hopper
//! according to arXiv 2511.10909.

use std::ops::RangeInclusive;
use wide::{f32x8, i16x8, i32x8};

/// The most products along K that one instruction sums: 32 bytes of one-byte elements.
pub(crate) const MAX_K: usize = 32;
/// The least exponent of C, and of an element.
const LEAST_EXPONENT: i32 = -126;
/// The exponent of a zero C among the terms of a sum. No product has a lower exponent, so this is never the only largest one.
const EXPONENT_OF_NO_C: i16 = 2 * LEAST_EXPONENT as i16;
/// The exponent of zero elements: low enough that it is never the largest of a sum.
const ZERO_EXPONENT: i16 = -8_000;
/// The exponent of infinities and NaNs: high enough that it is the largest of a sum, even in a product with zero.
const SPECIAL_EXPONENT: i16 = 16_000;
/// The largest exponents of sums that are computed in f32. In this range no product overflows, scaled or not; an inexact product is
/// truncated to 0; and no result is subnormal.
const EXPONENTS_OF_F32: RangeInclusive<i16> = -90..=120;
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

    /// The value of an element.
    pub(crate) fn value(self, bits: u32) -> f64 {
        f64::from(self.decode(bits).0)
    }

    /// The value of an element, which is exact in f32, and its exponent.
    #[inline]
    fn decode(self, bits: u32) -> (f32, i16) {
        let Fields {
            fraction,
            exponent,
            ignored,
            infinity,
        } = self.fields();
        let bits = bits >> ignored;
        let magnitude = bits & ((1 << (fraction + exponent)) - 1);
        let negative = bits >> (fraction + exponent) & 1;
        let (biased, stored) = (magnitude >> fraction, magnitude & ((1 << fraction) - 1));
        let bias = (1 << (exponent - 1)) - 1;
        let all_ones = biased == (1 << exponent) - 1;
        let sign = |value: f32| f32::from_bits(value.to_bits() | negative << 31);
        if all_ones && (infinity || stored == (1 << fraction) - 1) {
            let value = match infinity && stored == 0 {
                true => sign(f32::INFINITY),
                false => f32::NAN,
            };
            return (value, SPECIAL_EXPONENT);
        }
        // The fields of an f32. The exponent has a different bias.
        let value = f32::from_bits(magnitude << (23 - fraction)) * power_of_f32(127 - bias);
        let exponent = match magnitude {
            0 => ZERO_EXPONENT,
            _ => biased.max(1) as i16 - bias as i16,
        };
        (sign(value), exponent)
    }
}

/// The elements of a row of A along K.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    value: [f32; MAX_K],
    exponent: [i16; MAX_K],
}

impl Row {
    /// Decodes the elements in `bytes`, at most [`MAX_K`].
    pub(crate) fn new(format: Format, bytes: &[u8], negate: bool) -> Row {
        let mut row = Row {
            value: [0.0; MAX_K],
            exponent: [ZERO_EXPONENT; MAX_K],
        };
        for (k, bytes) in bytes.chunks_exact(format.bytes()).enumerate() {
            let (value, exponent) = format.decode(little_endian(bytes));
            row.value[k] = if negate { -value } else { value };
            row.exponent[k] = exponent;
        }
        row
    }
}

/// The columns of B whose sums are computed together.
pub(crate) const WIDTH: usize = 8;

/// The elements of some columns of B: [`WIDTH`] for each index along K.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    value: [f32x8; MAX_K],
    exponent: [i16x8; MAX_K],
}

impl Columns {
    /// The transpose of the rows.
    pub(crate) fn new(rows: &[Row; WIDTH]) -> Columns {
        Columns {
            value: std::array::from_fn(|k| rows.each_ref().map(|row| row.value[k]).into()),
            exponent: std::array::from_fn(|k| rows.each_ref().map(|row| row.exponent[k]).into()),
        }
    }
}

/// How a tensor-core instruction computes an element of D.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedSum {
    pub(crate) a: Format,
    /// Elements along K.
    pub(crate) k: usize,
}

/// Sums before the conversion to the type of D. Each is an integer times 2^(`largest` − [`Format::sum_bits`]), an infinity, or a NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    significand: [f64; WIDTH],
    largest: [i16; WIDTH],
}

impl FusedSum {
    /// The fused sums of C and the `k` products of a row of A and columns of B.
    #[inline]
    pub(crate) fn sums(&self, a: &Row, b: &Columns, c: &[f32; WIDTH]) -> Sums {
        match self.k {
            8 => self.sums_of::<8>(a, b, c),
            16 => self.sums_of::<16>(a, b, c),
            _ => self.sums_of::<MAX_K>(a, b, c),
        }
    }

    /// [`sums`](FusedSum::sums) of `K` elements along K, a constant for the compiler. Elements after the last are 0.
    #[inline]
    fn sums_of<const K: usize>(&self, a: &Row, b: &Columns, c: &[f32; WIDTH]) -> Sums {
        let mut largest = i16x8::from(c.map(exponent_of));
        for (a, b) in a.exponent[..K].iter().zip(&b.exponent[..K]) {
            largest = largest.max(i16x8::splat(*a) + *b);
        }
        let largest = largest.to_array();
        if !in_f32(&largest) {
            let significand = std::array::from_fn(|n| self.exact(a, b, n, c[n], largest[n]));
            return Sums {
                significand,
                largest,
            };
        }
        // The sum of the products fits in 31 bits: 16 products of 25 fraction bits, each below 4, are below 2^31.
        let bits = self.a.sum_bits() as i32;
        let scale = largest.map(|largest| power_of_f32(bits - i32::from(largest)));
        let scale = f32x8::from(scale);
        let mut sum = i32x8::ZERO;
        for (a, b) in a.value[..K].iter().zip(&b.value[..K]) {
            sum += (f32x8::splat(*a) * *b * scale).fast_trunc_int();
        }
        let c = (f32x8::from(*c) * scale).fast_trunc_int().to_array();
        let sum = sum.to_array();
        Sums {
            significand: std::array::from_fn(|n| f64::from(sum[n]) + f64::from(c[n])),
            largest,
        }
    }

    /// The significand of a sum, for any exponent.
    fn exact(&self, a: &Row, b: &Columns, n: usize, c: f32, largest: i16) -> f64 {
        let products = (a.value.iter().zip(&b.value).take(self.k))
            .map(|(a, b)| f64::from(*a) * f64::from(b.as_array()[n]));
        let c = f64::from(c);
        if largest >= SPECIAL_EXPONENT / 4 || !c.is_finite() {
            return products.fold(c, |sum, product| sum + product);
        }
        let scale = power(self.a.sum_bits() as i32 - i32::from(largest));
        // The sum of a positive and a negative zero is positive, as the integer 0 is.
        products.fold(0.0 + (c * scale).trunc(), |sum, product| {
            sum + (product * scale).trunc()
        })
    }

    /// The conversion to f32 truncates to 23 fraction bits. For fp8 inputs it keeps the sum's fewer bits.
    #[inline]
    pub(crate) fn to_f32(self, sums: &Sums) -> [f32; WIDTH] {
        let bits = self.a.sum_bits() as i32;
        let kept = bits.min(23);
        if !in_f32(&sums.largest) {
            return std::array::from_fn(|n| {
                truncated(sums.significand[n], i32::from(sums.largest[n]) - bits, kept)
            });
        }
        std::array::from_fn(|n| {
            // Keeps the upper `kept` of the significand's 52 fraction bits.
            let significand =
                f64::from_bits(sums.significand[n].to_bits() & u64::MAX << (52 - kept));
            (significand * power(i32::from(sums.largest[n]) - bits)) as f32
        })
    }

    /// The conversion to f16: rounded to nearest even.
    pub(crate) fn to_f16(self, sums: &Sums) -> [u16; WIDTH] {
        let bits = self.a.sum_bits() as i32;
        std::array::from_fn(|n| match sums.significand[n] {
            value if !value.is_finite() => f16_bits(value),
            value => f16_bits(value * power(i32::from(sums.largest[n]) - bits)),
        })
    }
}

/// Whether sums with these largest exponents are computed in f32.
#[inline]
fn in_f32(largest: &[i16; WIDTH]) -> bool {
    let outside = |largest: &i16| u16::from(!EXPONENTS_OF_F32.contains(largest));
    largest.iter().map(outside).sum::<u16>() == 0
}

/// A sum as f32, truncated to this many fraction bits.
fn truncated(significand: f64, exponent: i32, kept: i32) -> f32 {
    match significand {
        value if value.is_nan() => f32::from_bits(NAN),
        0.0 => 0.0,
        value if value.is_infinite() => value as f32,
        value => {
            let leading = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023 + exponent;
            let quantum = leading.max(LEAST_EXPONENT) - kept;
            // A result truncated to zero is positive.
            (((value * power(exponent - quantum)).trunc() + 0.0) * power(quantum)) as f32
        }
    }
}

/// The exponent of C. For infinities and NaNs it is above all others.
#[inline]
fn exponent_of(value: f32) -> i16 {
    let biased = (value.to_bits() >> 23 & 0xff) as i16;
    match value == 0.0 {
        true => EXPONENT_OF_NO_C,
        false => biased.max(1) - 127,
    }
}

/// 2^exponent, for an exponent from -126 to 127.
#[inline]
fn power_of_f32(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// 2^exponent, for an exponent from -1022 to 1023.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The little-endian integer of up to four bytes.
#[inline]
pub(crate) fn little_endian(bytes: &[u8]) -> u32 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        _ => (bytes.iter().rev()).fold(0, |number, byte| number << 8 | u32::from(*byte)),
    }
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

/// Rounds to a value of a format with this many fraction bits and this least exponent of normal numbers.
pub(crate) fn quantised(
    value: f64,
    fraction_bits: i32,
    least_exponent: i32,
    round: fn(f64) -> f64,
) -> f64 {
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

/// The bits of the nearest e4m3 or e5m2 value, ties to even, as in `cvt.rn.satfinite`. A value beyond the largest finite one becomes
/// that one, and a NaN becomes 0x7f.
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
    // A significand without its leading bit is subnormal: the exponent field is zero.
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
            k: a.len(),
        };
        let columns = Columns::new(&std::array::from_fn(|_| row(b)));
        fused.to_f32(&fused.sums(&row(a), &columns, &[c; WIDTH]))[0]
    }

    /// The bits of the f32 and of the f16 of a fused sum, in integers; `None` if an element or C is an infinity or NaN.
    fn in_integers(format: Format, a: &[u32], b: &[u32], c: f32) -> Option<(u32, u16)> {
        // A finite number as an integer times 2^(exponent - 23).
        let split = |value: f32| {
            let biased = (value.to_bits() >> 23 & 0xff) as i32;
            let stored = (value.to_bits() & 0x7f_ffff) as i64;
            let magnitude = if biased == 0 {
                stored
            } else {
                stored | 1 << 23
            };
            let signed = if value.is_sign_negative() {
                -magnitude
            } else {
                magnitude
            };
            (signed, biased.max(1) - 127)
        };
        let mut terms = match c == 0.0 {
            true => vec![(0, i32::from(EXPONENT_OF_NO_C))],
            false => vec![(split(c).0 << 23, split(c).1)],
        };
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (format.decode(*a), format.decode(*b));
            if !a.0.is_finite() || !b.0.is_finite() {
                return None;
            }
            // The significand has all of the format's fraction bits, even if the element is subnormal.
            let integer = |(value, exponent): (f32, i16)| match value == 0.0 {
                true => 0,
                false => (f64::from(value) * power(23 - i32::from(exponent))) as i64,
            };
            terms.push((integer(a) * integer(b), i32::from(a.1) + i32::from(b.1)));
        }
        if !c.is_finite() {
            return None;
        }
        let bits = format.sum_bits() as i32;
        let largest = terms.iter().map(|term| term.1).max()?;
        let shifted = |value: i64, right: i32| {
            let magnitude = value.unsigned_abs().checked_shr(right as u32).unwrap_or(0) as i64;
            if value < 0 { -magnitude } else { magnitude }
        };
        let sum: i64 = (terms.iter())
            .map(|(value, exponent)| shifted(*value, 46 - bits + largest - exponent))
            .sum();
        if sum == 0 {
            return Some((0, 0));
        }
        let leading = 63 - sum.unsigned_abs().leading_zeros() as i32 + largest - bits;
        let quantum = leading.max(LEAST_EXPONENT) - bits.min(23);
        let kept = match quantum - (largest - bits) {
            right @ 0.. => shifted(sum, right),
            right => sum << -right,
        };
        let wide = (kept as f64 * power(quantum)) as f32;
        Some((wide.to_bits(), f16_bits(sum as f64 * power(largest - bits))))
    }

    /// Random elements: with all bits random, or with close exponents, so that terms cancel and are truncated.
    #[test]
    fn sums_agree_with_sums_in_integers() {
        let mut random = crate::exec::Random(1);
        let mut finite = [0, 0];
        for round in 0..20_000 {
            let format = [
                Format::F16,
                Format::Bf16,
                Format::Tf32,
                Format::E4m3,
                Format::E5m2,
            ][round % 5];
            let Fields {
                fraction,
                exponent,
                ignored,
                ..
            } = format.fields();
            let width = fraction + exponent + ignored;
            let spread = [1, 4, 12, 40, 1 << exponent][random.below(5)].min(1 << exponent);
            let least = random.below((1 << exponent) - spread + 1);
            let few = random.one_in(4);
            let mut element = || -> u32 {
                let bits = random.next() as u32 & ((1 << width) - 1);
                let biased = (least + random.below(spread)) as u32;
                let biased = if random.one_in(16) { 0 } else { biased };
                let sign = (random.next() as u32 & 1) << width;
                let bits = bits & ((1 << (fraction + ignored)) - 1);
                let bits = if few {
                    bits & (3 << (fraction + ignored - 2))
                } else {
                    bits
                };
                sign | biased << (fraction + ignored) | bits
            };
            let k = 32 / format.bytes();
            let a: Vec<u32> = (0..k).map(|_| element()).collect();
            let columns: [Vec<u32>; WIDTH] =
                std::array::from_fn(|_| (0..k).map(|_| element()).collect());
            let row = |elements: &[u32]| {
                let bytes = elements
                    .iter()
                    .flat_map(|bits| bits.to_le_bytes()[..format.bytes()].to_vec());
                Row::new(format, &bytes.collect::<Vec<u8>>(), false)
            };
            let c: [f32; WIDTH] = std::array::from_fn(|n| match random.below(5) {
                0 => 0.0,
                1 => f32::from_bits(random.next() as u32),
                2 => -sum(format, &a, &columns[n], 0.0),
                _ => {
                    let near = sum(format, &a, &columns[n], 0.0).to_bits() & 0xff80_0000;
                    f32::from_bits(near ^ random.next() as u32 & 0x81ff_ffff)
                }
            });
            let fused = FusedSum { a: format, k };
            let b = Columns::new(&std::array::from_fn(|n| row(&columns[n])));
            let sums = fused.sums(&row(&a), &b, &c);
            let found = (fused.to_f32(&sums), fused.to_f16(&sums));
            for n in 0..WIDTH {
                let found = (found.0[n].to_bits(), found.1[n]);
                let value = |bits: &u32| format.value(*bits);
                match in_integers(format, &a, &columns[n], c[n]) {
                    Some(expected) => assert_eq!(
                        found, expected,
                        "{format:?} {a:x?} {:x?} {}",
                        columns[n], c[n]
                    ),
                    None => {
                        let products = a.iter().zip(&columns[n]).map(|(a, b)| value(a) * value(b));
                        let sum = products.fold(f64::from(c[n]), |sum, product| sum + product);
                        let wide = if sum.is_nan() {
                            NAN
                        } else {
                            (sum as f32).to_bits()
                        };
                        assert_eq!(found, (wide, f16_bits(sum)));
                    }
                }
            }
            finite[usize::from(in_f32(&sums.largest))] += 1;
        }
        // Both the f32 path and the exact path have been compared.
        assert!(finite.iter().all(|count| *count > 1_500), "{finite:?}");
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
        // Next to 1, 2^-25 is kept and 2^-26 is not. The sum is truncated, not rounded.
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

    /// With C zero, products below the normal range of f32 keep as many bits as others.
    #[test]
    fn a_c_of_zero_truncates_nothing() {
        // Two products of 2^-151 + 2^-152 and one of 2^-151 are 2^-149. Next to the least C, each is truncated to 2^-151.
        let bits = |exponent: i32, fraction: u32| ((exponent + 127) as u32) << 7 | fraction;
        let small = bits(-100, 0);
        let products = [bits(-51, 0x40), bits(-51, 0x40), bits(-51, 0), 0];
        let sum = |c| sum(Format::Bf16, &products, &[small; 4], c).to_bits();
        assert_eq!((sum(0.0), sum(-0.0)), (1, 1));
        assert_eq!(sum(f32::from_bits(1)), 1);
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
