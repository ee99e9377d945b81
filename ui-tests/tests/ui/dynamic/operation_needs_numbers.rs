//! Some operations do not take run-time integers.

use cute_runtime::layout;

layout! { FORM = index_form((m,n):(n,1)); }

fn main() {}
