//! Properties of a layout: injective, bijective, dense, and the arithmetic of its index.

pub(crate) mod index_form;
pub(crate) mod injective;
pub(crate) mod property;
