//! The printer, the parser, validation and the instruction table, checked against each other and against NVIDIA's assembler.

mod round_trip;
mod rows;
mod validation;
