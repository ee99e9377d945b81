//! Special registers (PTX ISA 9.0, §10).

use crate::types::Type;
use cute_chip::Target;

/// A special register. A vector, such as `%tid`, has three components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the names are PTX's own")]
pub enum Register {
    Tid, Ntid, Ctaid, Nctaid, Clusterid, Nclusterid, ClusterCtaid, ClusterNctaid, ClusterCtarank,
    ClusterNctarank, IsExplicitCluster, Laneid, Warpid, Nwarpid, Smid, Nsmid, Gridid, LanemaskEq, LanemaskLe,
    LanemaskLt, LanemaskGe, LanemaskGt, Clock, ClockHi, Clock64, Globaltimer, GlobaltimerLo, GlobaltimerHi,
    TotalSmemSize, DynamicSmemSize, AggrSmemSize,
}

/// The name, type and availability of a special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    /// The register.
    pub register: Register,
    /// The name with its `%`. For a vector, it has no component.
    pub name: &'static str,
    /// Whether it is a vector; instructions read a single component of it.
    pub vector: bool,
    /// The type of the register or of a component.
    pub ty: Type,
    /// The PTX version that introduced it.
    pub version: (u32, u32),
    /// The lowest target that has it: 90 means `sm_90`.
    pub sm: u32,
}

impl Special {
    /// The lowest target that has it.
    pub fn target(&self) -> Target {
        Target {
            sm: self.sm,
            specific: false,
        }
    }

    /// The name in an instruction. For a vector it includes component `axis`, 0 to 2 for `.x` to `.z`; for other registers `axis`
    /// is ignored.
    ///
    /// ```
    /// use cute_ptx::special::{Register, Special};
    /// assert_eq!(Special::of(Register::Ctaid).component(2), "%ctaid.z");
    /// assert_eq!(Special::of(Register::Laneid).component(0), "%laneid");
    /// ```
    pub fn component(&self, axis: usize) -> String {
        match (self.vector, AXES.get(axis)) {
            (true, Some(axis)) => format!("{}.{axis}", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// The name, type and availability of a register.
    pub fn of(register: Register) -> &'static Special {
        // The rows are in the order of the enum's variants; a test checks this.
        &SPECIAL[register as usize]
    }
}

/// The special register of a name such as `%tid.x` or `%laneid`, and its component, 0 to 2 for `.x` to `.z`. The
/// component is 0 for registers that are not vectors.
///
/// ```
/// use cute_ptx::special::{Register, lookup};
/// assert_eq!(lookup("%tid.y").map(|(it, axis)| (it.register, axis)), Some((Register::Tid, 1)));
/// assert_eq!(lookup("%cluster_ctarank").map(|(it, axis)| (it.sm, axis)), Some((90, 0)));
/// assert_eq!(lookup("%tid.w"), None);
/// assert_eq!(lookup("%tid"), None);
/// ```
pub fn lookup(name: &str) -> Option<(&'static Special, usize)> {
    let (base, axis) = match name.split_once('.') {
        Some((base, axis)) => (base, Some(AXES.iter().position(|it| *it == axis)?)),
        None => (name, None),
    };
    let found = SPECIAL.iter().find(|special| special.name == base)?;
    (found.vector == axis.is_some()).then_some((found, axis.unwrap_or(0)))
}

const AXES: [&str; 3] = ["x", "y", "z"];

const fn scalar(
    register: Register,
    name: &'static str,
    ty: Type,
    version: (u32, u32),
    sm: u32,
) -> Special {
    Special {
        register,
        name,
        vector: false,
        ty,
        version,
        sm,
    }
}

const fn vector(register: Register, name: &'static str, version: (u32, u32), sm: u32) -> Special {
    Special {
        register,
        name,
        vector: true,
        ty: Type::U32,
        version,
        sm,
    }
}

/// Every special register, in the order of [`Register`].
#[rustfmt::skip]
pub const SPECIAL: &[Special] = &[
    vector(Register::Tid, "%tid", (1, 0), 10),
    vector(Register::Ntid, "%ntid", (1, 0), 10),
    vector(Register::Ctaid, "%ctaid", (1, 0), 10),
    vector(Register::Nctaid, "%nctaid", (1, 0), 10),
    vector(Register::Clusterid, "%clusterid", (7, 8), 90),
    vector(Register::Nclusterid, "%nclusterid", (7, 8), 90),
    vector(Register::ClusterCtaid, "%cluster_ctaid", (7, 8), 90),
    vector(Register::ClusterNctaid, "%cluster_nctaid", (7, 8), 90),
    scalar(Register::ClusterCtarank, "%cluster_ctarank", Type::U32, (7, 8), 90),
    scalar(Register::ClusterNctarank, "%cluster_nctarank", Type::U32, (7, 8), 90),
    scalar(Register::IsExplicitCluster, "%is_explicit_cluster", Type::Pred, (7, 8), 90),
    scalar(Register::Laneid, "%laneid", Type::U32, (1, 3), 10),
    scalar(Register::Warpid, "%warpid", Type::U32, (1, 3), 10),
    scalar(Register::Nwarpid, "%nwarpid", Type::U32, (2, 0), 20),
    scalar(Register::Smid, "%smid", Type::U32, (1, 3), 10),
    scalar(Register::Nsmid, "%nsmid", Type::U32, (2, 0), 20),
    scalar(Register::Gridid, "%gridid", Type::U64, (3, 0), 30),
    scalar(Register::LanemaskEq, "%lanemask_eq", Type::U32, (2, 0), 20),
    scalar(Register::LanemaskLe, "%lanemask_le", Type::U32, (2, 0), 20),
    scalar(Register::LanemaskLt, "%lanemask_lt", Type::U32, (2, 0), 20),
    scalar(Register::LanemaskGe, "%lanemask_ge", Type::U32, (2, 0), 20),
    scalar(Register::LanemaskGt, "%lanemask_gt", Type::U32, (2, 0), 20),
    scalar(Register::Clock, "%clock", Type::U32, (1, 0), 10),
    scalar(Register::ClockHi, "%clock_hi", Type::U32, (5, 0), 20),
    scalar(Register::Clock64, "%clock64", Type::U64, (2, 0), 20),
    scalar(Register::Globaltimer, "%globaltimer", Type::U64, (3, 1), 30),
    scalar(Register::GlobaltimerLo, "%globaltimer_lo", Type::U32, (3, 1), 30),
    scalar(Register::GlobaltimerHi, "%globaltimer_hi", Type::U32, (3, 1), 30),
    scalar(Register::TotalSmemSize, "%total_smem_size", Type::U32, (4, 1), 20),
    scalar(Register::DynamicSmemSize, "%dynamic_smem_size", Type::U32, (4, 1), 20),
    scalar(Register::AggrSmemSize, "%aggr_smem_size", Type::U32, (8, 1), 90),
];
