//! Special registers.

/// What the special registers of a warp are made of.
pub(crate) struct Position {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    /// `%ctaid`.
    pub(crate) cta: [u32; 3],
    /// The warp in its CTA.
    pub(crate) warp: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) total_shared: u32,
}

/// Names of dimensions, as suffixes of a register.
const DIMENSIONS: [&str; 3] = ["x", "y", "z"];

/// Whether there is such a register.
pub(crate) fn exists(name: &str) -> bool {
    let anywhere = Position {
        grid: [1; 3],
        block: [1; 3],
        cluster: [1; 3],
        cta: [0; 3],
        warp: 0,
        dynamic_shared: 0,
        total_shared: 0,
    };
    anywhere.value(name, 0).is_some()
}

impl Position {
    /// The value of a special register in a lane.
    pub(crate) fn value(&self, name: &str, lane: u32) -> Option<u64> {
        let name = name.strip_prefix('%')?;
        let vector = |values: [u32; 3], suffix: &str| {
            DIMENSIONS
                .iter()
                .position(|dimension| *dimension == suffix)
                .map(|i| u64::from(values[i]))
        };
        let zip = |f: fn(u32, u32) -> u32, a: [u32; 3], b: [u32; 3]| {
            std::array::from_fn(|i| f(a[i], b[i]))
        };
        if let Some((register, suffix)) = name.split_once('.') {
            return match register {
                "tid" => vector(self.thread(lane), suffix),
                "ntid" => vector(self.block, suffix),
                "ctaid" => vector(self.cta, suffix),
                "nctaid" => vector(self.grid, suffix),
                "clusterid" => vector(zip(|a, b| a / b, self.cta, self.cluster), suffix),
                "nclusterid" => vector(zip(|a, b| a / b, self.grid, self.cluster), suffix),
                "cluster_ctaid" => vector(zip(|a, b| a % b, self.cta, self.cluster), suffix),
                "cluster_nctaid" => vector(self.cluster, suffix),
                _ => None,
            };
        }
        let bit = 1_u64 << lane;
        Some(match name {
            "laneid" => u64::from(lane),
            "warpid" => u64::from(self.warp),
            "nwarpid" => u64::from(self.block.iter().product::<u32>().div_ceil(32)),
            "cluster_ctarank" => {
                let [x, y, z]: [u32; 3] = zip(|a, b| a % b, self.cta, self.cluster);
                u64::from(x + self.cluster[0] * (y + self.cluster[1] * z))
            }
            "cluster_nctarank" => u64::from(self.cluster.iter().product::<u32>()),
            "is_explicit_cluster" => u64::from(self.cluster != [1; 3]),
            "lanemask_eq" => bit,
            "lanemask_lt" => bit - 1,
            "lanemask_le" => bit | (bit - 1),
            "lanemask_gt" => u64::from(u32::MAX) & !(bit | (bit - 1)),
            "lanemask_ge" => u64::from(u32::MAX) & !(bit - 1),
            "smid" | "gridid" => 0,
            "nsmid" => 1,
            "dynamic_smem_size" => u64::from(self.dynamic_shared),
            "total_smem_size" => u64::from(self.total_shared),
            _ => return None,
        })
    }

    /// `%tid` of a lane.
    fn thread(&self, lane: u32) -> [u32; 3] {
        let linear = self.warp * 32 + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / x / y]
    }
}
