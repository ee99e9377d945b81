//! Element types of tensors.

/// The type of a tensor's elements.
pub use cute_chip::ElementType as Element;
