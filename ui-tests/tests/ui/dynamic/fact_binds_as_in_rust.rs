//! The sign `%` of a fact binds as it does in Rust, and facts are about names.

use cute_runtime::layout;

fn main() {
    let (m, n) = (8, 4);
    let _ = layout!(where m % 2*n == 0; (m,n));
    let _ = layout!(where m + n % 2 == 0; (m,n));
    let _ = layout!(where {count()} >= 2; (m,{count()}));
    let _ = layout!(where m.div_ceil(0) >= 2; (m,n));
    let _ = layout!(where m / n >= size(A); (m,n));
}

fn count() -> i64 {
    4
}
