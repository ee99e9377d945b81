//! The type suffixes of number literals.

use crate::kernel::value::types::{is_float, is_integer, register_type};
use proc_macro2::Span;
use syn::{Error, Lit, LitFloat, LitInt, Result};

/// The suffixes of C, with their replacements.
const OF_C: &[(&str, &str)] = &[
    ("f", "f32"),
    ("F", "f32"),
    ("h", "f16"),
    ("u", "u32"),
    ("U", "u32"),
    ("l", "i64"),
    ("L", "i64"),
    ("ll", "i64"),
    ("LL", "i64"),
    ("ul", "u64"),
    ("UL", "u64"),
    ("ull", "u64"),
    ("ULL", "u64"),
];

/// Refuses a suffix that is not a type of the literal's kind.
pub(super) fn check(lit: &Lit) -> Result<()> {
    match lit {
        Lit::Int(lit) => of_integer(lit),
        Lit::Float(lit) => of_float(lit),
        _ => Ok(()),
    }
}

/// Refuses a suffix that is not a number type.
pub(super) fn of_integer(lit: &LitInt) -> Result<()> {
    known(lit.base10_digits(), lit.suffix(), true, lit.span())
}

/// Refuses a suffix that is not a floating-point type.
pub(super) fn of_float(lit: &LitFloat) -> Result<()> {
    known(lit.base10_digits(), lit.suffix(), false, lit.span())
}

fn known(digits: &str, suffix: &str, is_whole: bool, span: Span) -> Result<()> {
    let fits = match register_type(suffix) {
        Some(ty) => is_float(ty) || is_whole && is_integer(ty),
        None => suffix.is_empty() || is_whole && matches!(suffix, "usize" | "isize"),
    };
    if fits {
        return Ok(());
    }
    let of_c = OF_C.iter().find(|(of_c, _)| *of_c == suffix);
    let advice = match of_c {
        // In Rust, a floating-point number needs a point or a type.
        Some((_, rust)) if is_whole && rust.starts_with('f') => {
            format!("write `{digits}.0{rust}`, or `{digits}.0` where its uses tell the type")
        }
        Some((_, rust)) => {
            format!("write `{digits}{rust}`, or `{digits}` where its uses tell the type")
        }
        None if is_whole => {
            "a number ends with a type such as `u32`, `i64` or `f32`, or with its digits".into()
        }
        None => "such a number ends with `f16`, `bf16`, `f32` or `f64`, or with its digits".into(),
    };
    let found = match of_c {
        Some(_) => format!("`{suffix}` is a suffix of C"),
        None => format!("`{suffix}` is no type of this number"),
    };
    Err(Error::new(span, format!("{found}: {advice}")))
}
