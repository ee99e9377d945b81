//! Facts compare numbers of the launch with numbers that are known, and each has its error at its own token.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn wrong(
        #[facts(
            contiguous(x),
            extent(x, 2) == 8,
            extent(z, 0) == 8,
            extent(x) == 8,
            extent(x, 0) % 0 == 0,
            stride(x, 0) + 8,
            a == 8,
            4 == 8,
            thread() < extent(x, 0),
            aligned(x, n)
        )]
        x: Global<f32, 2>,
        n: u32,
        a: f32,
    ) {
    }

    #[kernel(threads = 32)]
    pub fn other(#[assume(n > 0)] n: u32) {}
}

fn main() {}
