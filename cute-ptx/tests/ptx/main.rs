//! The printer and the parser against each other, and both against the instruction table and NVIDIA's assembler.

mod round_trip;
mod rows;
mod validation;
