//! Where data lies, as instructions: addresses of tensors and of their parts, values of fragments.

pub(super) mod address;
pub(super) mod crd2idx;
pub(super) mod fragment;
pub(super) mod global;
#[cfg(test)]
pub(super) mod simulate;
pub(super) mod slice;
