//! Tokens to values.
