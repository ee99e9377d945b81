//! A layout into coordinates can be an operand, but has no type.

use cute_runtime::layout;

layout! { IDENTITY = (m,n):(1@0,1@1); }

fn main() {}
