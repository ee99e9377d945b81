//! Runs decoded entries. From below: what a running cluster is made of ([`state`]), what an instruction may touch ([`step`]),
//! what each operation does ([`instructions`]), how the lanes of a warp go on ([`run`]), and who runs next ([`machine`]).

mod instructions;
mod machine;
mod random;
mod run;
mod state;
mod step;

pub(crate) use machine::run;
pub(crate) use state::cluster::{max_dynamic_shared, state_bytes};
