//! PTX under way: registers, lines, arithmetic, parameters.

pub mod arithmetic;
pub mod bits;
pub mod builder;
pub mod param;
mod unread;
pub(crate) use unread::is_pure;
