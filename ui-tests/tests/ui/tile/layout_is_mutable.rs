//! `mut` is for tilings only.

use cute_runtime::layout;

layout! {
    mut A = (4,8):(8,1);
}

fn main() {}
