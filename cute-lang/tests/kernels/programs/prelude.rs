// What random programs use that rustc does not have: floating-point numbers of 16 bits, conversions to and from them, and functions of
// the kernel language.

/// The nearest number with that many digits, ties to even; `least` is the least exponent, and `greatest` the greatest number.
fn rounded(value: f64, digits: i32, least: i32, greatest: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let unit = 2f64.powi(exponent - digits + 1);
    let nearest = (value / unit).round_ties_even() * unit;
    if nearest.abs() > greatest { f64::INFINITY.copysign(value) } else { nearest }
}

macro_rules! half {
    ($name:ident: $digits:literal, $least:literal, $greatest:expr) => {
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(f64);
        impl $name {
            pub fn of(value: f64) -> Self {
                Self(rounded(value, $digits, $least, $greatest))
            }
        }
        impl core::ops::Add for $name { type Output = Self; fn add(self, b: Self) -> Self { Self::of(self.0 + b.0) } }
        impl core::ops::Sub for $name { type Output = Self; fn sub(self, b: Self) -> Self { Self::of(self.0 - b.0) } }
        impl core::ops::Mul for $name { type Output = Self; fn mul(self, b: Self) -> Self { Self::of(self.0 * b.0) } }
        impl core::ops::Neg for $name { type Output = Self; fn neg(self) -> Self { Self(-self.0) } }
        impl core::ops::AddAssign for $name { fn add_assign(&mut self, b: Self) { *self = *self + b } }
        impl core::ops::SubAssign for $name { fn sub_assign(&mut self, b: Self) { *self = *self - b } }
        impl core::ops::MulAssign for $name { fn mul_assign(&mut self, b: Self) { *self = *self * b } }
    };
}
half!(f16: 11, -14, 65504.0);
half!(bf16: 8, -126, f32::from_bits(0x7f7f_0000) as f64);

/// `self as T`, where a type of 16 bits is concerned.
pub trait Cast<T> {
    fn cast(self) -> T;
}
macro_rules! casts {
    ($($ty:ident)*) => { $(
        impl Cast<f16> for $ty { fn cast(self) -> f16 { f16::of(self as f64) } }
        impl Cast<bf16> for $ty { fn cast(self) -> bf16 { bf16::of(self as f64) } }
        impl Cast<$ty> for f16 { fn cast(self) -> $ty { self.0 as $ty } }
        impl Cast<$ty> for bf16 { fn cast(self) -> $ty { self.0 as $ty } }
    )* };
}
casts!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
impl Cast<f16> for bf16 { fn cast(self) -> f16 { f16::of(self.0) } }
impl Cast<bf16> for f16 { fn cast(self) -> bf16 { bf16::of(self.0) } }
impl Cast<f16> for f16 { fn cast(self) -> f16 { self } }
impl Cast<bf16> for bf16 { fn cast(self) -> bf16 { self } }

/// The bits of a result, those of a floating-point number as f64.
pub trait Bits {
    fn result(self) -> u64;
}
macro_rules! bits {
    ($($ty:ident)*) => { $(impl Bits for $ty { fn result(self) -> u64 { self as u64 } })* };
}
bits!(u8 i8 u16 i16 u32 i32 u64 i64);
impl Bits for f32 { fn result(self) -> u64 { f64::from(self).to_bits() } }
impl Bits for f64 { fn result(self) -> u64 { self.to_bits() } }
impl Bits for f16 { fn result(self) -> u64 { self.0.to_bits() } }
impl Bits for bf16 { fn result(self) -> u64 { self.0.to_bits() } }

fn min<T: PartialOrd>(a: T, b: T) -> T { if b < a { b } else { a } }
fn max<T: PartialOrd>(a: T, b: T) -> T { if b < a { a } else { b } }
