//! Copies of tiles by threads.
//!
//! The thread must be known to be one of the copy's threads, by the number of threads of the CTA or by a condition:
//! ```
//! #[cute_runtime::kernels]
//! mod kernels {
//!     use cute_kernels::lib::TiledCopy;
//!
//!     #[kernel(threads = 128)]
//!     fn copied(#[facts(extent(x, 0) == 32, extent(x, 1) == 8)] x: Global<f32, 2>) {
//!         let copies = TiledCopy::<f32>::new(UniversalCopy::<u32>, layout!((4,8)), layout!((1,1)));
//!         let tile = smem::<f32>((32, 8));
//!         if thread() < 32 {
//!             copies.copy(local_tile(x, (32, 8), (0, 0)), tile);
//!         }
//!     }
//! }
//! ```
//! ```compile_fail
//! #[cute_runtime::kernels]
//! mod kernels {
//!     use cute_kernels::lib::TiledCopy;
//!
//!     #[kernel(threads = 128)]
//!     fn copied(#[facts(extent(x, 0) == 32, extent(x, 1) == 8)] x: Global<f32, 2>) {
//!         let copies = TiledCopy::<f32>::new(UniversalCopy::<u32>, layout!((4,8)), layout!((1,1)));
//!         let tile = smem::<f32>((32, 8));
//!         copies.copy(local_tile(x, (32, 8), (0, 0)), tile);
//!     }
//! }
//! ```

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// A copy of tiles of elements of type T by threads with several values each: CuTe's `TiledCopy`. Larger tensors are copied
    /// tile by tile.
    pub struct TiledCopy<T: Element> {
        /// The extents of a tile.
        tile: Shape,
        /// From (thread, value) to the elements of a tile that the threads read.
        source: Layout,
        /// From (thread, value) to the elements of a tile that the threads write.
        destination: Layout,
    }

    impl<T: Element> TiledCopy<T> {
        /// CuTe's `make_tiled_copy`: an operation such as `UniversalCopy::<u128>`, repeated over a layout of threads and a layout of
        /// each thread's values, both over coordinates of the tile.
        pub fn new(operation: _, threads: Layout, values: Layout) -> Self {
            let bits = bits::<T>();
            Self {
                tile: tiled_copy(operation, bits, threads, values, Tiler_MN),
                source: tiled_copy(operation, bits, threads, values, layoutS_TV),
                destination: tiled_copy(operation, bits, threads, values, layoutD_TV),
            }
        }

        /// The part of x, in shared memory or a tile of global memory, that a thread reads: its values of a tile, and the tiles.
        /// It is an error if the thread may be none of the copy's. A condition such as `if thread() < 32` leaves the others out.
        pub fn partition_s(&self, x: _, thread: u32) -> _ {
            part(x, self.tile, self.source, thread)
        }

        /// The part that a thread writes.
        pub fn partition_d(&self, x: _, thread: u32) -> _ {
            part(x, self.tile, self.destination, thread)
        }

        /// Registers for one tile, held as the operation leaves them.
        pub fn fragment(&self) -> Fragment {
            fragment::<T>(composition(
                make_identity_layout(self.tile),
                self.destination,
            ))
        }

        /// Copies between shared memory and tiles of global memory by way of registers. Global memory is all inside of its tensor.
        pub fn copy(&self, source: _, destination: _) {
            copy(
                self.partition_s(source, thread()),
                self.partition_d(destination, thread()),
            );
        }

        /// Starts to copy a tile of global memory to shared memory by `cp.async`. Elements outside of the tensor become 0.
        pub fn copy_async(&self, source: Global, destination: Tensor) {
            copy_async(
                self.partition_s(source, thread()),
                self.partition_d(destination, thread()),
            );
        }
    }

    /// The elements of (thread, value) in all tiles of x, as (value, tiles). The thread must be known to be one of the copy's.
    fn part(x: _, tile: Shape, held: Layout, thread: u32) -> _ {
        let tiles = zipped_divide(x, tile);
        let rest = make_layout_left(shape(get(tiles, 1)));
        let threads = make_layout_left(size(get(held, 0)));
        composition(tiles, (held, rest))[((threads.at(thread), _), _)]
    }
}
