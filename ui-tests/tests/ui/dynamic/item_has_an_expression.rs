//! The run-time integers of an item are parameters, so each must have a name.

use cute_runtime::layout;

layout! { L = (m,{count(n)}):(1,m); }

fn main() {}
