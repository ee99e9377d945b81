//! What happens to the sums of a tile before and when they are stored.

pub mod activation;
pub mod scale;
pub mod store;
