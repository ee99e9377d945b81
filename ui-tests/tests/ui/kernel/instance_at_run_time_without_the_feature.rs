use cute_runtime::{Device, Tensor};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = BLOCK)]
    #[instance(doubled: BLOCK = _)]
    pub fn double<const BLOCK: u32>(x: Global<f32, 1>) {
        if thread() < extent(x, 0) {
            x[thread()] = x[thread()] * 2.0;
        }
    }
}

fn main() {
    let device = Device::emulator();
    let mut x = Tensor::<f32, 1>::zeros(&device, [64]).unwrap();
    let doubled = kernels::doubled { BLOCK: 64 };
    doubled.launch(&device, 1, &mut x.view_mut()).unwrap();
}
