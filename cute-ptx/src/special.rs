//! Special registers (PTX ISA 9.0, §10).

use crate::ast::Type;

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    /// Its name with the `%`; where it is a vector, without `.x`, `.y`, `.z`.
    pub name: &'static str,
    /// Whether it is a vector, of which instructions name a component.
    pub vector: bool,
    /// Its type, or that of a component.
    pub ty: Type,
    /// The PTX version that introduced it.
    pub version: (u32, u32),
    /// The least target that has it.
    pub sm: u32,
}

/// Looks up `%tid.x`, `%laneid`, ….
///
/// ```
/// use cute_ptx::ast::Type;
/// assert_eq!(cute_ptx::special::lookup("%cluster_ctarank").map(|it| (it.ty, it.sm)), Some((Type::U32, 90)));
/// assert_eq!(cute_ptx::special::lookup("%tid.w"), None);
/// ```
pub fn lookup(name: &str) -> Option<&'static Special> {
    let (base, component) = match name.split_once('.') {
        Some((base, component)) => (base, Some(component)),
        None => (name, None),
    };
    let vector = match component {
        None => false,
        Some("x" | "y" | "z") => true,
        Some(_) => return None,
    };
    SPECIAL
        .iter()
        .find(|special| special.name == base && special.vector == vector)
}

const fn scalar(name: &'static str, ty: Type, version: (u32, u32), sm: u32) -> Special {
    Special {
        name,
        vector: false,
        ty,
        version,
        sm,
    }
}

const fn vector(name: &'static str, version: (u32, u32), sm: u32) -> Special {
    Special {
        name,
        vector: true,
        ty: Type::U32,
        version,
        sm,
    }
}

/// Every special register that the table knows.
pub const SPECIAL: &[Special] = &[
    vector("%tid", (1, 0), 10),
    vector("%ntid", (1, 0), 10),
    vector("%ctaid", (1, 0), 10),
    vector("%nctaid", (1, 0), 10),
    vector("%clusterid", (7, 8), 90),
    vector("%nclusterid", (7, 8), 90),
    vector("%cluster_ctaid", (7, 8), 90),
    vector("%cluster_nctaid", (7, 8), 90),
    scalar("%cluster_ctarank", Type::U32, (7, 8), 90),
    scalar("%cluster_nctarank", Type::U32, (7, 8), 90),
    scalar("%is_explicit_cluster", Type::Pred, (7, 8), 90),
    scalar("%laneid", Type::U32, (1, 3), 10),
    scalar("%warpid", Type::U32, (1, 3), 10),
    scalar("%nwarpid", Type::U32, (2, 0), 20),
    scalar("%smid", Type::U32, (1, 3), 10),
    scalar("%nsmid", Type::U32, (2, 0), 20),
    scalar("%gridid", Type::U64, (3, 0), 30),
    scalar("%lanemask_eq", Type::U32, (2, 0), 20),
    scalar("%lanemask_le", Type::U32, (2, 0), 20),
    scalar("%lanemask_lt", Type::U32, (2, 0), 20),
    scalar("%lanemask_ge", Type::U32, (2, 0), 20),
    scalar("%lanemask_gt", Type::U32, (2, 0), 20),
    scalar("%clock", Type::U32, (1, 0), 10),
    scalar("%clock_hi", Type::U32, (5, 0), 20),
    scalar("%clock64", Type::U64, (2, 0), 20),
    scalar("%globaltimer", Type::U64, (3, 1), 30),
    scalar("%globaltimer_lo", Type::U32, (3, 1), 30),
    scalar("%globaltimer_hi", Type::U32, (3, 1), 30),
    scalar("%total_smem_size", Type::U32, (4, 1), 20),
    scalar("%dynamic_smem_size", Type::U32, (4, 1), 20),
    scalar("%aggr_smem_size", Type::U32, (8, 1), 90),
];
