//! A facade with other tensor maps than the kernel relies on, by a macro that writes the whole module.

use cute_runtime::kernels;

mod facade {
    pub use cute_runtime::*;

    pub struct SwizzleMode;

    #[allow(non_upper_case_globals)]
    impl SwizzleMode {
        pub const None: cute_runtime::SwizzleMode = cute_runtime::SwizzleMode::B128;
    }
}

macro_rules! module {
    ($facade:path) => {
        #[kernels(crate = $facade)]
        mod copying {
            #[kernel(threads = 32)]
            pub fn copy(x: TmaLoad<f32, 2>, y: TmaStore<f32, 2>) {
                let tile = smem::<f32>(layout!((8,32):(32,1)));
                let ready = mbarriers(1, 1);
                if thread() == 0 {
                    expect_tx(ready[0], bytes(tile));
                    tma_load(x, (0, 0), tile, ready[0]);
                }
                wait(ready[0], 0);
                if thread() == 0 {
                    tma_store(tile, y, (0, 0));
                    tma_commit();
                    tma_wait(0);
                }
            }
        }
    };
}

module!(crate::facade);

fn main() {}
