//! What is wrong with a named operand is said at the name.

use cute_runtime::layout;

layout! {
    L = (m,4):(4,1);
    MODE = get(L, 2);
    FAR = complement((n,2):(1,-1), 8) o L;
}

fn main() {}
