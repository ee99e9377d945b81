//! PTX while it is emitted: registers, lines, integer arithmetic, parameters.

pub mod arithmetic;
pub mod bits;
mod bounds;
pub mod builder;
mod changing;
pub mod claim;
pub mod conditions;
pub mod divergence;
pub mod facts;
pub mod finish;
pub mod inference;
pub mod item;
pub mod module;
pub mod note;
pub mod operation;
pub mod param;
pub mod quantity;
pub mod registers;
pub mod renamed;
pub mod report;
pub mod setmaxnreg;
pub mod shared;
mod table;
pub mod unread;
pub mod unwritten;
pub mod way;
mod zeroed;
