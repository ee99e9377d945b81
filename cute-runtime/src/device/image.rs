//! An instance of a kernel as a value.

use cute_chip::{Chip, Target};

use crate::device::cache::Id;
use crate::device::parameters::Parameters;
use crate::{Error, Fact, Kernel, LaunchRule, Param, Report};

/// An instance of a kernel as a value: the constants of [`Kernel`] as fields.
#[derive(Clone, Debug)]
pub struct Image {
    pub(crate) id: Id,
    /// Name of the entry in the PTX.
    pub name: &'static str,
    /// The PTX module as text.
    pub ptx: &'static str,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a CTA in bytes.
    pub smem_bytes: u32,
    /// The parameters, in the order of the arguments.
    pub params: &'static [Param],
    /// The facts that the arguments of a launch must satisfy.
    pub facts: &'static [Fact],
    /// The statements that report to the host.
    pub reports: &'static [Report],
    /// Whether safe code may launch it: the kernel is no `unsafe fn`.
    pub is_safe: bool,
}

impl Image {
    pub(crate) fn of<K: Kernel>() -> Self {
        Image {
            id: Id::of::<K>(),
            name: K::NAME,
            ptx: K::PTX,
            threads: K::THREADS,
            cluster: K::CLUSTER,
            smem_bytes: K::SMEM_BYTES,
            params: K::PARAMS,
            facts: K::FACTS,
            reports: K::REPORTS,
            is_safe: K::IS_SAFE,
        }
    }

    /// The target that the PTX names; `None` if it names none, so that every compiler refuses it.
    pub(crate) fn target(&self) -> Option<Target> {
        Target::of_ptx(self.ptx)
    }

    /// The chip whose limits hold for a launch.
    pub(crate) fn chip(&self) -> &'static Chip {
        Chip::or_default(self.target())
    }

    /// Whether a launch may begin while earlier launches run: its threads wait for them.
    pub(crate) fn overlaps(&self) -> bool {
        self.ptx.contains("griddepcontrol.wait")
    }

    /// Compares the lengths of the parameters with the sizes that the PTX entry declares. The driver reads as many bytes as
    /// the PTX declares, and an `unsafe impl Kernel` may describe its PTX wrongly.
    pub(crate) fn check_parameters(
        &self,
        sizes: &[usize],
        parameters: &Parameters,
    ) -> Result<(), Error> {
        if parameters.sizes().iter().eq(sizes) {
            return Ok(());
        }
        let rule = LaunchRule::Parameters {
            expected: sizes.to_vec(),
            found: parameters.sizes().to_vec(),
        };
        Err(Error::Launch {
            kernel: self.name,
            rule,
        })
    }
}
