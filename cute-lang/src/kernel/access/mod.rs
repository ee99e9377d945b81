//! Access to data: the instructions for addresses of tensors and of their parts, and for values of fragments.

pub(super) mod address;
pub(super) mod check;
pub(super) mod coordinate;
pub(super) mod crd2idx;
pub(super) mod element;
pub(super) mod elementwise;
pub(super) mod fragment;
pub(super) mod global;
pub(super) mod held;
pub(super) mod list;
#[cfg(test)]
pub(super) mod simulate;
pub(super) mod slice;
