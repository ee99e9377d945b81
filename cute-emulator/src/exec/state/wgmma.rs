//! wgmma instructions that are not complete, and matrix descriptors.

use super::origin::Origin;
use super::readers::AsyncRead;
use crate::error::FaultKind;
use cute_chip::{SwizzleMode, wgmma};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::rc::Rc;

pub(crate) const CORE_BYTES: u64 = wgmma::CORE_BYTES as u64;
const CORE_ROWS: u64 = wgmma::CORE_ROWS as u64;

/// A wgmma that its warp has not waited for.
pub(crate) struct Pending {
    pub(crate) origin: Origin,
    /// The descriptor of A; `None` if A is in registers.
    pub(crate) a: Option<Descriptor>,
    pub(crate) b: Descriptor,
    /// Whether D is added.
    pub(crate) accumulate: bool,
    /// The reads of shared memory, shared by the warps of the warpgroup.
    pub(crate) read: Rc<AsyncRead>,
    /// The number of its group, if committed.
    pub(crate) group: Option<u64>,
    /// How many wgmma instructions the warp had issued before.
    pub(crate) number: u64,
}

/// The fields of a matrix descriptor, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// The shared address of the matrix.
    pub(crate) start: u64,
    /// The leading dimension byte offset.
    pub(crate) leading: u64,
    /// The stride dimension byte offset.
    pub(crate) stride: u64,
    pub(crate) swizzle: SwizzleMode,
}

impl Descriptor {
    pub(crate) fn new(bits: u64) -> std::result::Result<Descriptor, FaultKind> {
        let wgmma::Descriptor {
            address: start,
            leading,
            stride,
            base_offset,
            swizzle,
        } = wgmma::Descriptor::decode(bits);
        if base_offset != 0 {
            let message = format!(
                "matrix descriptor {bits:#018x} has base offset {base_offset}; only 0 is modelled"
            );
            return Err(FaultKind::Operand(message));
        }
        Ok(Descriptor {
            start,
            leading,
            stride,
            swizzle,
        })
    }

    /// Calls a function for each 16 contiguous bytes of the matrix in a range of rows (for B, columns) of `bytes` bytes along K. K-major:
    /// the function gets the address, the row and the byte along K. MN-major: the address, the first row and the index along K. An
    /// element has `size` bytes.
    pub(crate) fn cores(
        &self,
        mn_major: bool,
        rows: Range<usize>,
        bytes: usize,
        size: usize,
        mut f: impl FnMut(u64, usize, usize) -> std::result::Result<(), FaultKind>,
    ) -> std::result::Result<(), FaultKind> {
        let core = CORE_BYTES as usize;
        if mn_major {
            for row in rows.step_by(core / size) {
                for k in 0..bytes / size {
                    f(self.mn_major((row * size) as u64, k as u64), row, k)?;
                }
            }
        } else if self.swizzle == SwizzleMode::None {
            // The rows of a core matrix are contiguous.
            for byte in (0..bytes).step_by(core) {
                for row in rows.clone() {
                    f(self.k_major(row as u64, byte as u64), row, byte)?;
                }
            }
        } else {
            for row in rows {
                for byte in (0..bytes).step_by(core) {
                    f(self.k_major(row as u64, byte as u64), row, byte)?;
                }
            }
        }
        Ok(())
    }

    /// Bytes of a row of the swizzle mode's pattern.
    pub(crate) fn span(&self) -> u64 {
        self.swizzle.span() as u64
    }

    /// The address of 16 contiguous bytes along K in a K-major matrix: this row, from byte `k_byte` of K.
    fn k_major(&self, row: u64, k_byte: u64) -> u64 {
        let along_k = match self.swizzle {
            SwizzleMode::None => k_byte / CORE_BYTES * self.leading,
            _ => k_byte,
        };
        let within = row / CORE_ROWS * self.stride + row % CORE_ROWS * self.span();
        self.swizzle.apply(self.start + within + along_k)
    }

    /// The address of 16 contiguous bytes along M or N in an MN-major matrix: from byte `byte` of M or N, at index `k` of K.
    fn mn_major(&self, byte: u64, k: u64) -> u64 {
        let within = k % CORE_ROWS * self.span() + byte % self.span();
        let panel = byte / self.span();
        // Without a swizzle the two byte offsets exchange their roles.
        let (panel_stride, k_stride) = match self.swizzle {
            SwizzleMode::None => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        self.swizzle
            .apply(self.start + panel * panel_stride + k / CORE_ROWS * k_stride + within)
    }
}

impl Display for Descriptor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {:#x} (leading byte offset {}, stride byte offset {}, swizzle {:?})",
            self.start, self.leading, self.stride, self.swizzle
        )
    }
}
