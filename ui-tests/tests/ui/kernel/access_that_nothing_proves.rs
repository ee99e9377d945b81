//! A safe kernel's accesses are inside of the tensor by facts, by `copy_or` and `copy_inside`, or are checked when it runs.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn proven(
        #[facts(extent(x, 0) >= 4, extent(x, 1) == 32)] x: Global<f32, 2>,
        y: Global<f32, 1>,
    ) {
        let v = fragment::<f32>((1, 4));
        copy(local_tile(x, (1, 4), (3, thread() % 8)), v);
        y[0] = x[(3, thread() % 32)];
        copy_inside(v, local_tile(x, (1, 4), (block_idx().0, 0)));
    }

    #[kernel(threads = 32)]
    pub fn unproven(#[facts(extent(x, 0) >= 4, extent(x, 1) == 32)] x: Global<f32, 2>, y: Global<f32, 1>) {
        let v = fragment::<f32>((1, 4));
        copy(local_tile(x, (1, 4), (4, 0)), v);
        y[1] = 0.0;
    }

    #[kernel(threads = 32, checked)]
    pub fn checked(x: Global<f32, 2>, y: Global<f32, 1>) {
        y[1] = x[(4, thread())];
    }
}

fn main() {}
