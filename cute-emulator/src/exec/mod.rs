//! Runs decoded entries. The modules are layers, from below: the state of a running cluster ([`state`]), the context of an
//! instruction ([`step`]), the operations ([`instructions`]), the lanes of a warp ([`run`], [`together`]), and the choice of the next
//! warp ([`machine`], by an [`order`] and [`random`] numbers). [`watch`] counts and traces all of this, and
//! [`passes`] explains races in loops.

mod instructions;
mod machine;
mod order;
mod passes;
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
