//! The kinds of accesses to global memory.

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A plain read of a warp.
    Read,
    /// A read through the read-only cache.
    ReadOnly,
    /// A plain write of a warp.
    Write,
    /// A strong read of a warp.
    StrongRead,
    /// A strong write of a warp, or an atomic.
    StrongWrite,
    /// A read of a bulk copy.
    BulkRead,
    /// A read of a tensor map by a copy.
    MapRead,
    /// A write of a bulk store.
    BulkWrite,
    /// A write of a bulk reduction.
    BulkReduce,
}

impl Kind {
    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            Kind::Write | Kind::StrongWrite | Kind::BulkWrite | Kind::BulkReduce
        )
    }

    /// Whether the access is strong or a reduction. Two strong accesses do not race.
    pub(crate) fn is_strong(self) -> bool {
        matches!(
            self,
            Kind::StrongRead | Kind::StrongWrite | Kind::BulkReduce
        )
    }

    pub(crate) fn is_generic(self) -> bool {
        !matches!(
            self,
            Kind::BulkRead | Kind::MapRead | Kind::BulkWrite | Kind::BulkReduce
        )
    }

    /// Whether this kind races with every access that `other` races with.
    pub(crate) fn covers(self, other: Kind) -> bool {
        (self.writes() || !other.writes()) && (!self.is_strong() || other.is_strong())
    }
}
