//! An error in a named operand points at the name.

use cute_runtime::layout;

layout! {
    L = (m,4):(4,1);
    MODE = get(L, 2);
    FAR = complement((n,2):(1,-1), 8) o L;
}

fn main() {}
