//! Copy operations, and which thread reads and writes which bit.

use super::{Mode, Tv, not_one_of, split_name, tv};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::recast::recast;
use core::str::FromStr;
use cute_chip::{ElementType, threads};

/// A copy operation of the hardware.
///
/// The name is CuTe's: `SM75_U32x4_LDSM_N` is `ldmatrix.x4`, `SM90_U16x8_STSM_T` is `stmatrix.x4.trans`, and
/// `UniversalCopy<uint128_t>` is a copy of 16 bytes by one thread. Types can be C++'s or Rust's.
/// ```
/// use cute_algebra::{CopyAtom, CopySide};
/// let atom: CopyAtom = "SM75_U32x4_LDSM_N".parse()?;
/// assert_eq!(atom.layout(CopySide::Dst).to_string(), "(32,(32,4)):(32,(1,1024))");
/// assert_eq!(atom.in_elements(16)?.layout(CopySide::Dst).to_string(), "(32,(2,4)):(2,(1,64))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyAtom {
    thr_id: Layout,
    layouts: [Layout; 3],
}

/// A side of a copy, or the order in which the values of both sides are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySide {
    /// The source.
    Src,
    /// The destination.
    Dst,
    /// The side in registers. A tiled copy numbers its values in this order.
    Ref,
}

impl CopyAtom {
    /// The layout from the threads of the operation to lanes of a warp.
    pub fn thr_id(&self) -> &Layout {
        &self.thr_id
    }

    /// The layout from (thread, value) to bits; to elements after [`in_elements`](Self::in_elements).
    pub fn layout(&self, side: CopySide) -> &Layout {
        &self.layouts[side as usize]
    }

    /// The same operation with its layouts in elements of `bits` bits, instead of bits.
    pub fn in_elements(&self, bits: i64) -> Result<Self, LayoutError> {
        let threads = self.thr_id.size();
        let mut layouts = self.layouts.clone();
        for layout in &mut layouts {
            *layout = recast(layout, 1, bits).map_err(|error| error.blame(1))?;
            let found = layout.mode(0).map_or(1, |mode| mode.size());
            if found != threads {
                let kind = ErrorKind::AtomShare {
                    what: "threads",
                    tiled: found,
                    atom: threads,
                };
                return Err(kind.at(Place::operand(1)));
            }
        }
        Ok(Self {
            layouts,
            ..self.clone()
        })
    }
}

/// An operation of a warp between registers and shared memory, or between the registers of two threads.
struct WarpCopy {
    name: &'static str,
    src: Tv,
    dst: Tv,
    /// The side in registers.
    reference: CopySide,
}

/// The registers of `ldmatrix`, without and with `.trans`, and the rows that they are loaded from. All are layouts
/// to bits.
const X1: Tv = (&[(32, 32)], &[(32, 1)]);
const X2: Tv = (&[(32, 32)], &[(32, 1), (2, 1024)]);
const X4: Tv = (&[(32, 32)], &[(32, 1), (4, 1024)]);
const X1_TRANS: Tv = (&[(4, 256), (8, 16)], &[(16, 1), (2, 128)]);
const X2_TRANS: Tv = (&[(4, 256), (8, 16)], &[(16, 1), (2, 128), (2, 1024)]);
const X4_TRANS: Tv = (&[(4, 256), (8, 16)], &[(16, 1), (2, 128), (4, 1024)]);
const ROWS_8: Tv = (&[(8, 128), (4, 0)], &[(128, 1)]);
const ROWS_16: Tv = (&[(16, 128), (2, 0)], &[(128, 1)]);
const ROWS_32: Tv = (&[(32, 128)], &[(128, 1)]);
const PAIRS: Tv = (&[(32, 64)], &[(64, 1)]);

/// PTX ISA 9.0, "ldmatrix", "stmatrix", "movmatrix" and "shfl.sync", in bits.
#[rustfmt::skip] // A table is read by its rows.
static OF_A_WARP: &[WarpCopy] = &[
    WarpCopy { name: "SM75_U32x1_LDSM_N", src: ROWS_8, dst: X1, reference: CopySide::Dst },
    WarpCopy { name: "SM75_U32x2_LDSM_N", src: ROWS_16, dst: X2, reference: CopySide::Dst },
    WarpCopy { name: "SM75_U32x4_LDSM_N", src: ROWS_32, dst: X4, reference: CopySide::Dst },
    WarpCopy { name: "SM75_U16x2_LDSM_T", src: ROWS_8, dst: X1_TRANS, reference: CopySide::Dst },
    WarpCopy { name: "SM75_U16x4_LDSM_T", src: ROWS_16, dst: X2_TRANS, reference: CopySide::Dst },
    WarpCopy { name: "SM75_U16x8_LDSM_T", src: ROWS_32, dst: X4_TRANS, reference: CopySide::Dst },
    WarpCopy { name: "SM90_U32x1_STSM_N", src: X1, dst: ROWS_8, reference: CopySide::Src },
    WarpCopy { name: "SM90_U32x2_STSM_N", src: X2, dst: ROWS_16, reference: CopySide::Src },
    WarpCopy { name: "SM90_U32x4_STSM_N", src: X4, dst: ROWS_32, reference: CopySide::Src },
    WarpCopy { name: "SM90_U16x2_STSM_T", src: X1_TRANS, dst: ROWS_8, reference: CopySide::Src },
    WarpCopy { name: "SM90_U16x4_STSM_T", src: X2_TRANS, dst: ROWS_16, reference: CopySide::Src },
    WarpCopy { name: "SM90_U16x8_STSM_T", src: X4_TRANS, dst: ROWS_32, reference: CopySide::Src },
    WarpCopy { name: "SM75_U32x1_MOVM_T", src: X1, dst: X1, reference: CopySide::Dst },
    WarpCopy { name: "SM50_Shuffle_U32_2x2Trans_XOR1", src: PAIRS, reference: CopySide::Src,
        dst: (&[(2, 32), (16, 128)], &[(32, 1), (2, 64)]) },
    WarpCopy { name: "SM50_Shuffle_U32_2x2Trans_XOR4", src: PAIRS, reference: CopySide::Src,
        dst: (&[(4, 64), (2, 32), (4, 512)], &[(32, 1), (2, 256)]) },
];

/// Operations of one thread, and how many bits they can copy.
#[rustfmt::skip] // A table is read by its rows.
static OF_ONE_THREAD: &[(&str, &[i64])] = &[
    ("UniversalCopy", &[4, 8, 16, 32, 64, 128]),
    ("SM80_CP_ASYNC_CACHEALWAYS", &[32, 64, 128]),
    ("SM80_CP_ASYNC_CACHEALWAYS_ZFILL", &[32, 64, 128]),
    ("SM80_CP_ASYNC_CACHEGLOBAL", &[128]),
    ("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL", &[128]),
];

/// Types that can be copied but are not element types of tensors, and their widths in bits.
#[rustfmt::skip] // A table is read by its rows.
static NO_ELEMENTS: &[(i64, &[&str])] = &[
    (128, &["int128_t", "uint128_t", "i128", "u128"]),
];

/// All types, by the names of CuTe and of Rust, and their widths in bits.
fn types() -> impl Iterator<Item = (i64, &'static str)> {
    let elements = ElementType::ALL.iter().flat_map(|element| {
        let names = element.cute().iter().copied().chain([element.name()]);
        names.map(|name| (i64::from(element.bits()), name))
    });
    let others = NO_ELEMENTS
        .iter()
        .flat_map(|(bits, names)| names.iter().map(|name| (*bits, *name)));
    elements.chain(others)
}

/// The names of all operations, with each type that they take.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    let of_a_warp = OF_A_WARP.iter().map(|row| row.name.to_owned());
    let of_one_thread = OF_ONE_THREAD.iter().flat_map(|(name, sizes)| {
        let legal = types().filter(|(bits, _)| sizes.contains(bits));
        legal.map(move |(_, ty)| format!("{name}<{ty}>"))
    });
    of_a_warp.chain(of_one_thread).collect()
}

impl FromStr for CopyAtom {
    type Err = LayoutError;

    fn from_str(name: &str) -> Result<Self, LayoutError> {
        let (base, parameters) = split_name(name);
        if let Some(row) = OF_A_WARP.iter().find(|row| row.name == name) {
            let (src, dst) = (tv(row.src.0, row.src.1)?, tv(row.dst.0, row.dst.1)?);
            let reference = match row.reference {
                CopySide::Src => src.clone(),
                CopySide::Dst | CopySide::Ref => dst.clone(),
            };
            return Ok(Self {
                thr_id: Layout::new(i64::from(threads::WARP), 1)?,
                layouts: [src, dst, reference],
            });
        }
        let Some((_, sizes)) = OF_ONE_THREAD.iter().find(|(known, _)| *known == base) else {
            let names = OF_A_WARP.iter().map(|row| row.name);
            let names = names.chain(OF_ONE_THREAD.iter().map(|(name, _)| *name));
            return Err(not_one_of("copy operation", name, names));
        };
        let legal = || types().filter(|(bits, _)| sizes.contains(bits));
        let wanted = parameters.join(",");
        let Some((bits, _)) = legal().find(|(_, name)| *name == wanted) else {
            return Err(not_one_of(
                "type to copy",
                &wanted,
                legal().map(|(_, name)| name),
            ));
        };
        let all: &[Mode] = &[(bits, 1)];
        let layout = tv(&[], all)?;
        Ok(Self {
            thr_id: Layout::unit(),
            layouts: [layout.clone(), layout.clone(), layout],
        })
    }
}
