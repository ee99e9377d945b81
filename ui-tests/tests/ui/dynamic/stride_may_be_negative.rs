//! The order of the modes depends on the sign of a stride.

use cute_runtime::layout;

layout! { REST = complement((m,n):(1,d), {t}); }

fn main() {}
