//! Types of PTX: their names and ranges in Rust, and the types by which instructions compute with them.

use super::element::element_type;
use cute_ptx::ast::Type;

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

/// The type by which instructions compute with registers of this type. PTX computes with at least 16 bits, so an
/// integer of 8 bits lies in a register of 16, extended by zeros or by its sign.
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

/// The register type of that Rust name.
pub fn register_type(name: &str) -> Option<Type> {
    match name {
        "bool" => Some(Type::Pred),
        name => element_type(name).map(Type::of),
    }
}
