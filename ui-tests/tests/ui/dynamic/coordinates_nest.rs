//! A layout into coordinates has a type where these are integers side by side, and not too many.

use cute_runtime::layout;

layout! {
    NESTED = (m,n):(1@0@1,1@0);
    LONG = (m,n):(1@0,1@1000000000);
}

fn main() {}
