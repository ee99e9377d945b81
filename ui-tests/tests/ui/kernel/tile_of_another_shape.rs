//! Tiles of global memory have a mode for each of the tensor, fragments have the shape of the tile, and a fill has the type of
//! its elements.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn copies(x: Global<f32, 2>) {
        let v = fragment::<f32>((8, 4));
        let rank = local_tile(x, (8,), (0,));
        let coordinate = local_tile(x, (8, 4), 0);
        let tile = local_tile(x, (8, 8), (0, 0));
        copy_or(tile, v, 0.0);
        let held = fragment::<f32>(layout!(((8,4),2):((1@0,1@1),4@1)));
        copy_or(local_tile(x, (4, 8), (0, 0)), held, 0.0);
        copy_or(local_tile(x, (8, 4), (0, 0)), v, true);
        copy_or(local_tile(x, (8, 4), (0, 0)), v, 1u32);
        copy_inside(fragment::<u32>((8, 4)), local_tile(x, (8, 4), (0, 0)));
        copy_or(x[(0, _)], v, 0.0);
    }
}

fn main() {}
