//! PTX types: their names and ranges in Rust, and the types of their instructions.

use super::element::Element;
use cute_ptx::ast::Type;

/// The types of numbers in memory.
const NUMBERS: [Type; 12] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::Bf16,
    Type::F32,
    Type::F64,
];

/// Whether registers of this type hold integers.
pub fn is_integer(ty: Type) -> bool {
    is_signed(ty) || matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64)
}

/// Whether registers of this type hold signed integers.
pub fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// Whether registers of this type hold floating-point numbers.
pub fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
}

/// The type of two numbers of this type in one register, as operands of one instruction.
pub fn pair_type(ty: Type) -> Option<Type> {
    match ty {
        Type::F16 => Some(Type::F16x2),
        Type::Bf16 => Some(Type::Bf16x2),
        _ => None,
    }
}

/// The type of one number of a pair; any other type itself.
pub fn single_type(ty: Type) -> Type {
    match ty {
        Type::F16x2 => Type::F16,
        Type::Bf16x2 => Type::Bf16,
        ty => ty,
    }
}

/// The type of instructions on registers of this type. PTX computes with at least 16 bits, so an 8-bit integer is in a 16-bit register,
/// zero- or sign-extended.
pub fn instruction_type(ty: Type) -> Type {
    match ty {
        Type::U8 => Type::U16,
        Type::S8 => Type::S16,
        ty => ty,
    }
}

/// The least and the greatest integer of a type.
pub fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    match is_signed(ty) {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// `value as ty` for an integer type.
pub fn wrap(value: i128, ty: Type) -> i128 {
    let bits = ty.bits();
    let low = value & ((1 << bits) - 1);
    if is_signed(ty) && low >> (bits - 1) == 1 {
        low - (1 << bits)
    } else {
        low
    }
}

/// The nearest number of a floating-point type. Of two, the one with an even last digit.
pub fn rounded(value: f64, ty: Type) -> f64 {
    let (digits, least_exponent, greatest) = match ty {
        Type::F16 => (11, -14, 65_504.0),
        Type::Bf16 => (8, -126, f64::from(f32::from_bits(0x7f7f_0000))),
        Type::F32 => return (value as f32).into(),
        _ => return value,
    };
    if !value.is_finite() {
        return value;
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    // The distance between neighbours: a power of two, so that only `round_ties_even` rounds.
    let unit = 2f64.powi(exponent.max(least_exponent) - digits + 1);
    let rounded = (value / unit).round_ties_even() * unit;
    match rounded.abs() > greatest {
        true => f64::INFINITY.copysign(value),
        false => rounded,
    }
}

/// The bits of the nearest number of a floating-point type of 16 bits.
pub fn half_bits(value: f64, ty: Type) -> u16 {
    let nearest = rounded(value, ty);
    if ty == Type::Bf16 {
        return ((nearest as f32).to_bits() >> 16) as u16;
    }
    let sign = u16::from(nearest.is_sign_negative()) << 15;
    let magnitude = nearest.abs();
    let bits = match magnitude {
        _ if magnitude.is_nan() => 0x7e00,
        _ if magnitude.is_infinite() => 0x7c00,
        // A subnormal number counts in units of 2^-24.
        _ if magnitude < 2f64.powi(-14) => (magnitude * 2f64.powi(24)) as u16,
        _ => {
            let exponent = (magnitude.to_bits() >> 52) as i32 - 1023 + 15;
            (exponent as u16) << 10 | (magnitude.to_bits() >> 42 & 0x3ff) as u16
        }
    };
    sign | bits
}

/// The Rust name of a register's type.
pub fn rust_name(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "bool",
        Type::S8 => "i8",
        Type::S16 => "i16",
        Type::S32 => "i32",
        Type::S64 => "i64",
        ty => ty.name(),
    }
}

/// The element type of registers of this type.
pub fn element_of(ty: Type) -> Option<Element> {
    let mut elements = Element::ALL.iter().copied();
    elements.find(|&element| number_type(element) == Some(ty))
}

/// The memory types accepted by an operation: `u32, u64 or f32`.
pub fn alternatives(takes: impl Fn(Type) -> bool) -> String {
    let types = NUMBERS.into_iter().filter(|ty| takes(*ty));
    let mut names: Vec<&str> = types.map(rust_name).collect();
    match names.pop() {
        Some(last) if names.is_empty() => last.into(),
        Some(last) => format!("{} or {last}", names.join(", ")),
        None => String::new(),
    }
}

/// The register type with this Rust name.
pub fn register_type(name: &str) -> Option<Type> {
    match name {
        "bool" => Some(Type::Pred),
        name => number_type(Element::from_name(name)?),
    }
}

/// The type of instructions on one element. `None` for formats that instructions only multiply and convert, such as `e4m3`.
pub fn number_type(element: Element) -> Option<Type> {
    Type::from_name(element.ptx())
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    /// Against `half`, from f32, where it rounds once.
    #[test]
    fn known_numbers_are_rounded_to_the_nearest() {
        let mut bits = 1_u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = f32::from_bits(bits);
            if value.is_nan() {
                continue;
            }
            let (half, brain) = (f16::from_f32(value), bf16::from_f32(value));
            assert_eq!(rounded(value.into(), Type::F16), half.to_f64(), "{value:e}");
            assert_eq!(half_bits(value.into(), Type::F16), half.to_bits());
            assert_eq!(half_bits(value.into(), Type::Bf16), brain.to_bits());
            assert_eq!(
                rounded(value.into(), Type::Bf16),
                brain.to_f64(),
                "{value:e}"
            );
        }
        assert_eq!(rounded(1.1, Type::F32), f64::from(1.1_f32));
    }
}
