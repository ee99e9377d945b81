//! Element types of tensors.

/// The type of a tensor's elements.
pub use cute_chip::ElementType as Element;

/// What to do with a tensor in shared memory whose elements are parts of bytes, for messages.
pub const AS_BYTES: &str = "`recast::<u8>(x)` is the same memory as bytes";

/// The width of elements, for messages.
pub fn width(element: Element) -> String {
    format!("elements of `{element}` have {} bits", element.bits())
}
