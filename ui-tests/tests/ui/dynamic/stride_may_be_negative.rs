//! The sign of a stride decides the order of the modes.

use cute_runtime::layout;

layout! { REST = complement((m,n):(1,d), {t}); }

fn main() {}
