//! Element types: the Rust types that tensors hold, and their names at run time.

use std::fmt;

pub use half::{bf16, f16};

/// A type that tensors hold: `u8` … `u64`, `i8` … `i64`, [`struct@f16`], [`bf16`], `f32`, `f64`.
///
/// Sealed: every element is plain data, readable from and writable to any bytes.
pub trait Element: sealed::Plain {
    /// The type as a value.
    const TYPE: ElementType;
}

mod sealed {
    /// Plain data: no padding, no invalid bit pattern.
    pub trait Plain:
        Copy
        + Send
        + Sync
        + 'static
        + zerocopy::FromBytes
        + zerocopy::IntoBytes
        + zerocopy::Immutable
    {
    }
}

macro_rules! elements {
    ($($ty:ident => $variant:ident, $bytes:literal, $name:literal;)*) => {
        /// The type of a tensor's elements, as a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`, ", $bytes, " bytes.")] $variant,)*
        }

        impl ElementType {
            /// Size of one element in bytes.
            pub const fn bytes(self) -> usize {
                match self {
                    $(ElementType::$variant => $bytes,)*
                }
            }

            /// The name used in Rust and in the kernel language.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ElementType::$variant => $name,)*
                }
            }
        }

        $(
            impl sealed::Plain for $ty {}
            impl Element for $ty {
                const TYPE: ElementType = ElementType::$variant;
            }
            const _: () = assert!(size_of::<$ty>() == $bytes);
        )*
    };
}

elements! {
    u8 => U8, 1, "u8";
    i8 => I8, 1, "i8";
    u16 => U16, 2, "u16";
    i16 => I16, 2, "i16";
    u32 => U32, 4, "u32";
    i32 => I32, 4, "i32";
    u64 => U64, 8, "u64";
    i64 => I64, 8, "i64";
    f16 => F16, 2, "f16";
    bf16 => BF16, 2, "bf16";
    f32 => F32, 4, "f32";
    f64 => F64, 8, "f64";
}

impl ElementType {
    /// Whether the type is a floating-point format.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            ElementType::F16 | ElementType::BF16 | ElementType::F32 | ElementType::F64
        )
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
