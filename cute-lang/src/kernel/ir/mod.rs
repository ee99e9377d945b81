//! A kernel between the interpreter and the text of its PTX.
//!
//! A register is a number ([`Register`]). What is known about it is in the kernel's [`Registers`]: its type, the variable that it is
//! named after, and whether it is written once. Instructions hold registers, immediates and claims as values; passes read and change them.
//! Registers get names when the kernel is printed ([`Names`]).

mod inst;
mod line;
mod names;
mod operand;
mod register;

pub use inst::{Guard, Inst};
pub use line::Line;
pub use names::{Names, ascii};
pub use operand::Operand;
pub use register::{Register, Registers};

/// Claims about registers, which have no names yet.
pub mod claims {
    use super::Register;
    use cute_ptx::claims;

    /// The claims of an instruction.
    pub type Claims = claims::Claims<Register>;
    /// What is at an address.
    pub type Place = claims::Place<Register>;
    /// What holds in the threads that get to a line.
    pub type Statement = claims::Statement<Register>;
    /// Several comparisons.
    pub type Condition = claims::Condition<Register>;
    /// Which threads execute an instruction.
    pub type Way = claims::Way<Register>;
    /// A register and a number that is added to it.
    pub type Sum = claims::Sum<Register>;
}
