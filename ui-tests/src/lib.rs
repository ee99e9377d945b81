//! What does not compile, and what it says.
