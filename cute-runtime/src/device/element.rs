//! The Rust types that tensors hold.

pub use cute_chip::ElementType;

pub use crate::device::float8::{e4m3, e5m2};
pub use half::{bf16, f16};

/// A type that tensors hold: `u8` … `u64`, `i8` … `i64`, [`struct@e4m3`], [`struct@e5m2`], [`struct@f16`], [`bf16`], `f32`,
/// `f64`. Kernels read tensors of `f32` as `tf32`, too.
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
    ($($ty:ident => $variant:ident;)*) => { $(
        impl sealed::Plain for $ty {}
        impl Element for $ty {
            const TYPE: ElementType = ElementType::$variant;
        }
        const _: () = assert!(8 * size_of::<$ty>() == ElementType::$variant.bits() as usize);
    )* };
}

elements! {
    u8 => U8;
    i8 => I8;
    u16 => U16;
    i16 => I16;
    u32 => U32;
    i32 => I32;
    u64 => U64;
    i64 => I64;
    e4m3 => E4M3;
    e5m2 => E5M2;
    f16 => F16;
    bf16 => BF16;
    f32 => F32;
    f64 => F64;
}
