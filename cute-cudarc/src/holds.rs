//! Element types: what the elements of a slice are to kernels.

use cute_runtime::{Element, bf16, e4m3, e5m2, f16};

/// The elements of a slice of this type can be read and written as `E`: they have as many bytes, and any bytes are a value of both.
///
/// Each [`Element`] holds itself; `f16` and `bf16` are those of the crate half 2, as cudarc's are. `u8` also holds
/// [`e4m3`](struct@e4m3) and [`e5m2`](struct@e5m2), `u16` also holds [`f16`](struct@f16) and [`bf16`], `usize` is `u64`, and `isize` is
/// `i64`. cudarc's slices of other types become slices of these by `CudaView::transmute`. Sealed.
pub trait Holds<E: Element>: sealed::Holds<E> + 'static {}

mod sealed {
    pub trait Holds<E> {}
}

macro_rules! holds {
    ($($held:ty => $($element:ty),*;)*) => { $($(
        impl sealed::Holds<$element> for $held {}
        impl Holds<$element> for $held {}
        const _: () = assert!(size_of::<$held>() == size_of::<$element>());
    )*)* };
}

holds! {
    u8 => u8, e4m3, e5m2;
    i8 => i8;
    u16 => u16, f16, bf16;
    i16 => i16;
    u32 => u32;
    i32 => i32;
    u64 => u64;
    i64 => i64;
    usize => u64;
    isize => i64;
    f16 => f16;
    bf16 => bf16;
    f32 => f32;
    f64 => f64;
    e4m3 => e4m3;
    e5m2 => e5m2;
}
