//! What can be said about a layout.

pub(crate) mod index_form;
pub(crate) mod injective;
pub(crate) mod property;
