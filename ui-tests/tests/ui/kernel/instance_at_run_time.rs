use cute_runtime::{Device, Tensor};

#[cute_runtime::kernels]
mod kernels {
    pub struct Point<const N: u32> {
        pub x: u32,
    }

    // Values that host code cannot have.
    #[kernel(threads = 32)]
    #[instance(shapes: SHAPE = _, POINT = _)]
    pub fn shape<const SHAPE: (u32, u32), const POINT: Point<2>>(device: u32) {}

    // Names are checked without the values.
    #[kernel(threads = BLOCK)]
    #[instance(doubled: BLOCK = _)]
    pub fn double<const BLOCK: u32>(x: Global<f32, 1>) {
        x[threads()] = 1.0;
    }
}

fn main() {
    let device = Device::emulator();
    let mut x = Tensor::<f32, 1>::zeros(&device, [64]).unwrap();
    let doubled = kernels::doubled { BLOCK: 64 };
    doubled.launch(&device, 1, &mut x.view_mut()).unwrap();
}
