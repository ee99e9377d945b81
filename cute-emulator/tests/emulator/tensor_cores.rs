//! wgmma against sums in f64.
