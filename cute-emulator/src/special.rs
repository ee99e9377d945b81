//! The values of special registers.

use cute_chip::threads;
use cute_ptx::special::Register;

/// The inputs for the special registers of a warp and for the addresses of the module's variables.
pub(crate) struct Position {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    /// `%ctaid`.
    pub(crate) cta: [u32; 3],
    /// The warp's number in its CTA.
    pub(crate) warp: u32,
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: u32,
    /// Bytes of static and dynamic shared memory.
    pub(crate) total_shared: u32,
    /// The address of the module's variables.
    pub(crate) variables: u64,
}

/// Whether the emulator models a register.
pub(crate) fn is_modelled(register: Register) -> bool {
    let anywhere = Position {
        grid: [1; 3],
        block: [1; 3],
        cluster: [1; 3],
        cta: [0; 3],
        warp: 0,
        dynamic_shared: 0,
        total_shared: 0,
        variables: 0,
    };
    counts_time(register) || anywhere.value(register, 0, 0).is_some()
}

/// Whether a register counts time. Such a register is not a constant row: `mov` reads it when it executes.
pub(crate) fn counts_time(register: Register) -> bool {
    matches!(
        register,
        Register::Clock | Register::Clock64 | Register::Globaltimer | Register::GlobaltimerLo
    )
}

impl Position {
    /// The value of a special register in a lane, or of its component `axis` (0 to 2 for x to z). `None` if the register is
    /// not modelled or changes while the warp runs.
    pub(crate) fn value(&self, register: Register, axis: usize, lane: u32) -> Option<u64> {
        let zip = |f: fn(u32, u32) -> u32, a: [u32; 3], b: [u32; 3]| {
            std::array::from_fn(|i| f(a[i], b[i]))
        };
        let component = |values: [u32; 3]| values.get(axis).copied().map(u64::from);
        let bit = 1_u64 << lane;
        Some(match register {
            Register::Tid => return component(self.thread(lane)),
            Register::Ntid => return component(self.block),
            Register::Ctaid => return component(self.cta),
            Register::Nctaid => return component(self.grid),
            Register::Clusterid => return component(zip(|a, b| a / b, self.cta, self.cluster)),
            Register::Nclusterid => return component(zip(|a, b| a / b, self.grid, self.cluster)),
            Register::ClusterCtaid => return component(zip(|a, b| a % b, self.cta, self.cluster)),
            Register::ClusterNctaid => return component(self.cluster),
            Register::Laneid => u64::from(lane),
            Register::Warpid => u64::from(self.warp),
            Register::Nwarpid => u64::from(self.block.iter().product::<u32>().div_ceil(32)),
            Register::ClusterCtarank => {
                let [x, y, z]: [u32; 3] = zip(|a, b| a % b, self.cta, self.cluster);
                u64::from(x + self.cluster[0] * (y + self.cluster[1] * z))
            }
            Register::ClusterNctarank => u64::from(self.cluster.iter().product::<u32>()),
            Register::IsExplicitCluster => u64::from(self.cluster != [1; 3]),
            Register::LanemaskEq => bit,
            Register::LanemaskLt => bit - 1,
            Register::LanemaskLe => bit | (bit - 1),
            Register::LanemaskGt => u64::from(u32::MAX) & !(bit | (bit - 1)),
            Register::LanemaskGe => u64::from(u32::MAX) & !(bit - 1),
            // The emulated device has one multiprocessor and runs one grid.
            Register::Smid | Register::Gridid => 0,
            Register::Nsmid => 1,
            Register::DynamicSmemSize => u64::from(self.dynamic_shared),
            Register::TotalSmemSize => u64::from(self.total_shared),
            // The high half is always 0, since a launch ends before a clock exceeds 32 bits. Not modelled, since no kernel needs it.
            Register::ClockHi | Register::GlobaltimerHi => return None,
            Register::Clock
            | Register::Clock64
            | Register::Globaltimer
            | Register::GlobaltimerLo => return None,
            // It includes shared memory that the driver adds to the CTA; the emulator does not know its size.
            Register::AggrSmemSize => return None,
        })
    }

    /// `%tid` of a lane.
    fn thread(&self, lane: u32) -> [u32; 3] {
        let linear = self.warp * threads::WARP + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / x / y]
    }
}
