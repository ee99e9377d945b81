#[cute_runtime::kernels]
mod kernels {
    fn half(x: u32) -> u32 {
        let y = x / 0;
        y
    }

    #[kernel(threads = 128)]
    #[instance(first: N = 4)]
    #[instance(second: N = 8)]
    pub fn k<const N: u32>(m: u32) {
        let tile = smem::<f32>(layout!((N,4):(4)));
        let ready = mbarriers(1, 0);
        let part = tile[(_, 0)];
        for i in 0..N {
            wait(ready[i], half(i));
        }
        let x = half(m) + m.rows;
        sync_thread();
    }
}

fn main() {}
