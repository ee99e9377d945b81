//! There is one error for each item, although other code uses its constructor, functions and name.

use cute_runtime::{LayoutCheck, layout, tile};

layout! {
    where m > 4;
    A = (m n):(n,1);
    B = coalesce((m,(2,p)):(1,(m,2*m))) o;
    C = zipped_divide(A, <{q},8>) then;
}
tile! { T = (m,n):row / / <4,4>; }

fn main() -> Result<(), LayoutCheck> {
    let _ = (A::try_new(8, 5)?.n(), T::try_new(8, 4)?.offset(((1, 1), (0, 0))));
    let _ = (B::try_new(8, 5)?.p(), C::try_new(2)?.q());
    let (n, m, p) = (5, 8, 3);
    let _ = layout!(concat(A, (p,2):(2,1)));
    Ok(())
}
