//! Element types of tensors.

/// The type of a tensor's elements.
pub use cute_hopper::ElementType as Element;
