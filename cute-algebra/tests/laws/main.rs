//! Every operation is compared with its definition, by brute force over small random operands. A result must have the
//! values that the operation promises; and where the operation is an error, no layout may have these values.

#[path = "../support/acceptance.rs"]
mod acceptance;
#[path = "../support/mod.rs"]
mod support;

mod analysis;
mod coalesce;
mod complement;
mod composition;
mod divide;
mod from_table;
mod hopper;
mod inverse;
mod layout;
mod operands;
mod operations;
mod product;
mod recast;
mod regroup;
mod shape_div;
mod swizzle;
mod widths;
mod xor_map;
