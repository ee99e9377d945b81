//! What can be said about a layout, and what the hardware makes of it.

pub(crate) mod access;
pub(crate) mod banks;
pub(crate) mod gmma;
pub(crate) mod index_form;
pub(crate) mod injective;
pub(crate) mod matrix;
pub(crate) mod property;
pub(crate) mod swizzles;
pub(crate) mod tensor_map;
pub(crate) mod tma;
