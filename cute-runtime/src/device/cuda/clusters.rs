//! The kernel about which the driver is asked how many clusters run at the same time.

use cute_chip::{Chip, threads};

use crate::device::cache::Id;
use crate::device::image::Image;

/// The type by which the cache of functions knows the kernel.
struct Idle;

/// A kernel that does nothing and is never launched, in clusters of `ctas` CTAs along x. Each CTA takes all shared memory that a
/// CTA can have, so that no two are on one multiprocessor. Its code is the same for all sizes of clusters.
pub(super) fn idle(ctas: u32) -> Image {
    Image {
        id: Id::of::<Idle>(),
        name: "idle",
        ptx: "\
.version 8.0
.target sm_90a
.address_size 64

.visible .entry idle()
{
    ret;
}
",
        threads: 3 * threads::WARPGROUP,
        cluster: [ctas, 1, 1],
        smem_bytes: Chip::DEFAULT.cta_shared_bytes,
        params: &[],
        facts: &[],
        reports: &[],
        is_safe: true,
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    #[test]
    fn the_ptx_is_valid() {
        let idle = super::idle(1);
        let program = cute_emulator::Program::load(idle.ptx).expect("valid PTX");
        let names: Vec<&str> = program.entries().map(|entry| &*entry.name).collect();
        assert_eq!(names, [idle.name]);
    }
}
