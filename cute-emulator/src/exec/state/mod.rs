//! The state of a running cluster. Nothing here executes an instruction.

pub(crate) mod agreed;
pub(crate) mod barriers;
pub(crate) mod cluster;
pub(crate) mod copies;
pub(crate) mod endpoint;
pub(crate) mod global;
pub(crate) mod knowledge;
pub(crate) mod lanes;
pub(crate) mod origin;
pub(crate) mod queue;
pub(crate) mod readers;
pub(crate) mod releases;
pub(crate) mod repetition;
pub(crate) mod row;
pub(crate) mod shared;
pub(crate) mod tag;
pub(crate) mod tags;
pub(crate) mod undefined;
pub(crate) mod warp;
pub(crate) mod wgmma;
