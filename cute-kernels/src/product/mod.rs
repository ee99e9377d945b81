//! What all products share on the host: the tiles that are compiled ahead, how matrices lie, and the time that a tile is expected to take.

pub mod chip;
pub mod model;
pub(crate) mod operands;
pub mod space;
pub mod table;
