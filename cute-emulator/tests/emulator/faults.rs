//! What is reported, and at which line.
