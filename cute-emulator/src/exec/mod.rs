//! Runs decoded entries. The modules are layers, from below: the state of a running cluster ([`state`]), what an instruction
//! has access to ([`step`]), what each operation does ([`instructions`]), how the lanes of a warp run ([`run`], [`together`]), and
//! which warp runs next ([`machine`], by an [`order`] and [`random`] numbers). [`watch`] counts and traces what they do.

mod instructions;
mod machine;
mod order;
mod random;
mod run;
mod state;
mod step;
mod together;
mod views;
mod watch;

pub(crate) use machine::run;
#[cfg(test)]
pub(crate) use random::Random;
pub(crate) use state::cluster::{max_dynamic_shared, state_bytes};
pub(crate) use state::grids::Grids;
