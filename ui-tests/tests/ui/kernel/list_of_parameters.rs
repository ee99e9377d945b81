#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn not_proven(x: [Global<f32, 1>; 8], i: u32) {
        let y = x[i];
    }

    #[kernel(threads = 32)]
    pub fn outside(x: [u32; 8]) {
        let y = x[8];
    }

    #[kernel(threads = 32)]
    pub fn too_many(x: [TmaLoad<f32, 2>; 200], y: [TmaLoad<f32, 2>; 100]) {}

    #[kernel(threads = 32)]
    pub fn of_nothing(x: [bool; 8]) {}

    #[kernel(threads = 32)]
    pub fn length(x: [u32; "8"]) {}

    #[kernel(threads = 32)]
    pub fn of_which(#[facts(extent(x, 0) == extent(y, 0))] x: [Global<f32, 1>; 8], y: Global<f32, 1>) {}
}

fn main() {}
