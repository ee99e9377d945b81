//! A run-time integer becomes a parameter of `try_new`, a field and a function.

use cute_runtime::layout;

layout! { L = (r#type,4); }
layout! { K = (offset,4); }

fn main() {}
