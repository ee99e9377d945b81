//! The types of the kernel language that Rust does not have, for documentation and editors.

use crate::operations::Value;
use core::marker::PhantomData;

pub use crate::{bf16, e4m3, e5m2, f16};

/// The type of elements of 32 bits of which the lowest 13 are not read: those of `f32`, for `wgmma` and `mma`.
#[allow(
    non_camel_case_types,
    reason = "it is named as other types of numbers are"
)]
pub struct tf32;

macro_rules! narrow {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[allow(
            non_camel_case_types,
            reason = "it is named as other types of numbers are"
        )]
        pub struct $name;
    )* };
}

narrow! {
    /// The type of elements of 4 bits that are unsigned integers. Only tensors in shared memory have them.
    u4;
    /// The type of elements of 4 bits that are signed integers. Only tensors in shared memory have them.
    i4;
    /// The type of elements of 4 bits with a sign, two bits of an exponent and one of a fraction. Only tensors in shared memory have
    /// them.
    e2m1;
}

/// The bound of a type parameter of a kernel: a type of elements, such as `f32`.
pub trait Element {
    /// The type into which wgmma sums up products of this type: `f32`, or `i32` for integers.
    type Accumulator: Element;
}

impl<T> Element for T {
    type Accumulator = Value;
}

/// A parameter of a kernel: a tensor of rank `R` that `tma_load` reads.
pub struct TmaLoad<T, const R: u32>(PhantomData<T>);

/// A parameter of a kernel: a tensor of rank `R` that `tma_store` and `tma_reduce` write.
pub struct TmaStore<T, const R: u32>(PhantomData<T>);

/// A parameter of a kernel that it writes: a [`TmaStore`] if `TMA` is true, else a [`Global`]. So instances of one kernel store by TMA where
/// they can, and by threads elsewhere: `if CFG.tma { tma_store(…) } else { copy(…) }`.
pub struct Store<T, const R: u32, const TMA: bool>(PhantomData<T>);

/// A parameter of a kernel: a tensor of rank `R` in global memory.
pub struct Global<T, const R: u32>(PhantomData<T>);

/// `x.f(y)` is `f(x, y)` for all functions of the kernel language.
#[doc(hidden)]
pub trait Call: Sized {
    /// The result of a function of this value and further arguments.
    fn call(&self, _function: impl Sized, _arguments: impl Sized) -> Value {
        loop {}
    }
}

impl<T> Call for T {}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => { $($(#[$doc])* pub type $name = Value;)* };
}

handles! {
    /// A tensor in shared memory, or a part of one.
    Tensor;
    /// Registers of this thread, or of several threads that hold a tile together.
    Fragment;
    /// Barriers in shared memory.
    Barriers;
    /// A barrier in shared memory.
    Barrier;
    /// A layout.
    Layout;
    /// A layout with a swizzle.
    ComposedLayout;
    /// A swizzle.
    Swizzle;
    /// A tiler.
    Tiler;
    /// A shape: an integer, or a tuple of shapes.
    Shape;
    /// A coordinate: an integer, or a tuple of coordinates.
    Coord;
    /// A coordinate: an integer, or a tuple of coordinates.
    Coordinate;
    /// `a..b`, the integers from a on that are less than b.
    Range;
}
