//! TMA, bulk copies and cp.async.
