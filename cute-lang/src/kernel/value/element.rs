//! Element types of tensors.

/// The type of a tensor's elements.
pub use cute_hopper::ElementType as Element;

/// The element type with a name in Rust, if tensors can hold its elements.
pub fn element_type(name: &str) -> Option<Element> {
    Element::from_name(name).filter(|element| element.rust().is_some())
}
