//! Matrix multiplications, and which thread holds which element of an operand.

use super::{Mode, Tv, not_one_of, split_name, tv};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::str::FromStr;
use cute_chip::{ElementType, threads, wgmma};

/// A multiply-accumulate operation of the hardware: `C[m,n] += A[m,k] * B[n,k]`.
///
/// The name is CuTe's: `SM80_16x8x16_F32F16F16F32_TN` is `mma.sync.m16n8k16` with f32 accumulators, and
/// `SM90_64x128x16_F32F16F16_SS<K,MN>` is `wgmma.m64n128k16` with both operands in shared memory, A contiguous along
/// K and B along N. The layouts do not depend on the majors, which can be left out.
/// ```
/// use cute_algebra::{MmaAtom, MmaOperand};
/// let atom: MmaAtom = "SM80_16x8x16_F32F16F16F32_TN".parse()?;
/// assert_eq!(atom.shape_mnk(), [16, 8, 16]);
/// assert_eq!(atom.layout(MmaOperand::A).to_string(), "((4,8),(2,2,2)):((32,1),(16,8,128))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MmaAtom {
    shape_mnk: [i64; 3],
    thr_id: Layout,
    layouts: [Layout; 3],
}

/// An operand of a matrix multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MmaOperand {
    /// The operand of M × K elements.
    A,
    /// The operand of N × K elements.
    B,
    /// The accumulator, of M × N elements.
    C,
}

impl MmaOperand {
    /// The positions in (M, N, K) of the two modes of this operand.
    pub fn modes(self) -> [usize; 2] {
        match self {
            Self::A => [0, 2],
            Self::B => [1, 2],
            Self::C => [0, 1],
        }
    }
}

impl MmaAtom {
    /// The operations of a warp with these types of D, A and B, where C has the type of D, and A and B are contiguous along
    /// K. The largest K comes first.
    /// ```
    /// use cute_algebra::MmaAtom;
    /// use cute_chip::ElementType::{BF16, F32};
    /// let shapes: Vec<_> = MmaAtom::of_warp([F32, BF16, BF16]).iter().map(MmaAtom::shape_mnk).collect();
    /// assert_eq!(shapes, [[16, 8, 16], [16, 8, 8]]);
    /// ```
    pub fn of_warp([d, a, b]: [ElementType; 3]) -> Vec<Self> {
        let types = [d, a, b, d].map(|ty| ty.ptx().to_uppercase()).concat();
        let families = FAMILIES.iter().filter(|family| {
            let warp = matches!(family.threads, Threads::Warp { .. });
            warp && family.types.contains(&types.as_str()) && family.forms.contains(&"TN")
        });
        let shapes = families.flat_map(|family| family.shapes.iter().map(move |s| (family, s)));
        let atoms = shapes.filter_map(|(family, &shape)| family.threads.atom(shape, "TN").ok());
        let mut atoms: Vec<Self> = atoms.collect();
        atoms.sort_by_key(|atom| Reverse(atom.shape_mnk[2]));
        atoms.dedup();
        atoms
    }

    /// The extents M, N and K of one operation.
    pub fn shape_mnk(&self) -> [i64; 3] {
        self.shape_mnk
    }

    /// The layout from the threads of the operation to lanes of a warp, or to threads of a warpgroup.
    pub fn thr_id(&self) -> &Layout {
        &self.thr_id
    }

    /// The layout from (thread, value) to the elements of an operand, the first mode fastest.
    pub fn layout(&self, operand: MmaOperand) -> &Layout {
        &self.layouts[operand as usize]
    }
}

/// Operations of one architecture that differ only in their types and shapes.
struct Family {
    arch: &'static str,
    /// The types of D, A, B and C; for wgmma without C.
    types: &'static [&'static str],
    /// M, N and K. `ANY_N` stands for every N of wgmma.
    shapes: &'static [[i64; 3]],
    /// The suffixes of the names: how the operands are stored, and variants of the instruction.
    forms: &'static [&'static str],
    threads: Threads,
}

/// Which threads execute the operation together.
#[derive(Clone, Copy)]
enum Threads {
    /// A warp. A register of 32 bits holds `packed` elements of A or B.
    Warp { packed: i64 },
    /// A warpgroup. A register of 32 bits holds `packed` elements of A.
    Warpgroup { packed: i64 },
    /// Eight threads of a Volta warp; `c` is the layout of the accumulator.
    QuadPair { c: Tv },
}

const ANY_N: i64 = 0;

const TRANSPOSED: &[&str] = &["TN", "NT", "NN", "TT"];
const TN: &[&str] = &["TN"];
const SATURATE: &[&str] = &["TN", "TN_SATURATE"];
const POPC: &[&str] = &["TN_XORPOPC", "TN_ANDPOPC"];
const STORED: &[&str] = &["SS", "RS"];
const STORED_TN: &[&str] = &["SS_TN", "RS_TN"];
const STORED_SATURATE: &[&str] = &["SS_TN", "RS_TN", "SS_TN_SATURATE", "RS_TN_SATURATE"];

/// PTX ISA 9.0, "Matrix fragments for mma" and "wgmma.mma_async". Fragments are packed by the size of the elements.
#[rustfmt::skip] // A table is read by its rows.
static FAMILIES: &[Family] = &[
    Family { arch: "SM70", types: &["F16F16F16F16"],
        shapes: &[[8, 8, 4]], forms: TRANSPOSED, threads: Threads::QuadPair { c: (&[(8, 1)], &[(8, 8)]) } },
    Family { arch: "SM70", types: &["F32F16F16F32"],
        shapes: &[[8, 8, 4]], forms: TRANSPOSED, threads: Threads::QuadPair {
            c: (&[(2, 1), (2, 16), (2, 4)], &[(2, 8), (2, 2), (2, 32)]) } },
    Family { arch: "SM75", types: &["F32F16F16F32", "F16F16F16F16"],
        shapes: &[[16, 8, 8]], forms: TN, threads: Threads::Warp { packed: 2 } },
    Family { arch: "SM75", types: &["S32S8S8S32"],
        shapes: &[[8, 8, 16]], forms: TN, threads: Threads::Warp { packed: 4 } },
    Family { arch: "SM80", types: &["F16F16F16F16", "F32F16F16F32", "F32BF16BF16F32"],
        shapes: &[[16, 8, 8], [16, 8, 16]], forms: TN, threads: Threads::Warp { packed: 2 } },
    Family { arch: "SM80", types: &["F32TF32TF32F32"],
        shapes: &[[16, 8, 4], [16, 8, 8]], forms: TN, threads: Threads::Warp { packed: 1 } },
    Family { arch: "SM80", types: &["F64F64F64F64", "C64C64C64C64", "GC64C64C64GC64"],
        shapes: &[[8, 8, 4]], forms: TN, threads: Threads::Warp { packed: 1 } },
    Family { arch: "SM80", types: &["S32S8S8S32", "S32S8U8S32", "S32U8S8S32", "S32U8U8S32"],
        shapes: &[[8, 8, 16], [16, 8, 16], [16, 8, 32]], forms: SATURATE, threads: Threads::Warp { packed: 4 } },
    Family { arch: "SM80", types: &["S32S4S4S32", "S32S4U4S32", "S32U4S4S32", "S32U4U4S32"],
        shapes: &[[8, 8, 32], [16, 8, 32], [16, 8, 64]], forms: SATURATE, threads: Threads::Warp { packed: 8 } },
    Family { arch: "SM80", types: &["S32U1U1S32"],
        shapes: &[[8, 8, 128], [16, 8, 128], [16, 8, 256]], forms: POPC, threads: Threads::Warp { packed: 32 } },
    Family { arch: "SM89", types: &["F32E4M3E4M3F32", "F32E4M3E5M2F32", "F32E5M2E4M3F32", "F32E5M2E5M2F32",
                                    "F16E4M3E4M3F16", "F16E4M3E5M2F16", "F16E5M2E4M3F16", "F16E5M2E5M2F16"],
        shapes: &[[16, 8, 32]], forms: TN, threads: Threads::Warp { packed: 4 } },
    Family { arch: "SM90", types: &["F64F64F64F64", "C64C64C64C64"],
        shapes: &[[16, 8, 4], [16, 8, 8], [16, 8, 16]], forms: TN, threads: Threads::Warp { packed: 1 } },
    Family { arch: "SM90", types: &["F16F16F16", "F32F16F16", "F32BF16BF16"],
        shapes: &[[64, ANY_N, 16]], forms: STORED, threads: Threads::Warpgroup { packed: 2 } },
    Family { arch: "SM90", types: &["F32TF32TF32"],
        shapes: &[[64, ANY_N, 8]], forms: STORED_TN, threads: Threads::Warpgroup { packed: 1 } },
    Family { arch: "SM90", types: &["F32E4M3E4M3", "F32E4M3E5M2", "F32E5M2E4M3", "F32E5M2E5M2",
                                    "F16E4M3E4M3", "F16E4M3E5M2", "F16E5M2E4M3", "F16E5M2E5M2"],
        shapes: &[[64, ANY_N, 32]], forms: STORED_TN, threads: Threads::Warpgroup { packed: 4 } },
    Family { arch: "SM90", types: &["S32S8S8", "S32S8U8", "S32U8S8", "S32U8U8"],
        shapes: &[[64, ANY_N, 32]], forms: STORED_SATURATE, threads: Threads::Warpgroup { packed: 4 } },
];

/// Operations of one thread, and their K. M and N are 1.
static OF_ONE_THREAD: &[(&str, i64)] = &[("UniversalFMA", 1), ("SM61_DP4A", 4), ("SM61_DP2A", 2)];

impl FromStr for MmaAtom {
    type Err = LayoutError;

    fn from_str(name: &str) -> Result<Self, LayoutError> {
        let (base, parameters) = split_name(name);
        if let Some(&(_, k)) = OF_ONE_THREAD.iter().find(|(known, _)| *known == base) {
            let operand = |columns: i64| Layout::left([1, columns]);
            return Ok(Self {
                shape_mnk: [1, 1, k],
                thr_id: Layout::unit(),
                layouts: [operand(k)?, operand(k)?, operand(1)?],
            });
        }
        let mut parts = base.splitn(4, '_');
        let mut part = || parts.next().unwrap_or_default();
        let (arch, size, types, form) = (part(), part(), part(), part());
        let (family, shape) = find(arch, size, types, form)?;
        check_majors(form, &parameters)?;
        family.threads.atom(shape, form)
    }
}

/// The family of the operation with these parts of a name, and its shape. For an unknown part, the error lists the
/// known ones.
fn find(
    arch: &str,
    size: &str,
    types: &str,
    form: &str,
) -> Result<(&'static Family, [i64; 3]), LayoutError> {
    let of_arch = || FAMILIES.iter().filter(|family| family.arch == arch);
    let of_types = || of_arch().filter(|family| family.types.contains(&types));
    let of_form = || of_types().filter(|family| family.forms.contains(&form));
    if of_arch().next().is_none() {
        let names = FAMILIES.iter().map(|family| family.arch);
        let names = names.chain(OF_ONE_THREAD.iter().map(|(name, _)| *name));
        return Err(not_one_of("MMA operation of", arch, names));
    }
    if of_types().next().is_none() {
        let names = of_arch().flat_map(|family| family.types.iter().copied());
        return Err(not_one_of("MMA operation with types", types, names));
    }
    if of_form().next().is_none() {
        let names = of_types().flat_map(|family| family.forms.iter().copied());
        return Err(not_one_of("MMA operation of form", form, names));
    }
    let shapes =
        || of_form().flat_map(|family| family.shapes.iter().map(move |shape| (family, shape)));
    let wanted = parse_shape(size);
    for (family, &[m, n, k]) in shapes() {
        let Some([wanted_m, wanted_n, wanted_k]) = wanted else {
            break;
        };
        if (wanted_m, wanted_k) == (m, k) {
            match n {
                ANY_N => {
                    return family
                        .check_width(wanted_n)
                        .map(|()| (family, [m, wanted_n, k]));
                }
                _ if n == wanted_n => return Ok((family, [m, n, k])),
                _ => {}
            }
        }
    }
    let names: Vec<String> = shapes().map(|(_, shape)| shape_name(shape)).collect();
    Err(not_one_of(
        "MMA operation of shape",
        size,
        names.iter().map(String::as_str),
    ))
}

impl Family {
    /// Refuses an N that wgmma does not have, and names the nearest ones.
    fn check_width(&self, n: i64) -> Result<(), LayoutError> {
        let is_integer = self.forms == STORED_SATURATE;
        let widths = wgmma::N.filter(|&n| wgmma::has_n(n, is_integer));
        let mut widths = widths.map(i64::from);
        let below = widths.clone().take_while(|&width| width <= n).last();
        let above = widths.find(|&width| width >= n);
        let nearest = [below.or(above), above.or(below)].map(|width| width.unwrap_or(8));
        match nearest == [n, n] {
            true => Ok(()),
            false => Err(ErrorKind::WgmmaN { n, nearest }.at(Place::operand(0))),
        }
    }
}

/// The names of all operations; of wgmma only with three values of N.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = OF_ONE_THREAD
        .iter()
        .map(|(name, _)| (*name).into())
        .collect();
    for family in FAMILIES {
        for &[m, n, k] in family.shapes {
            let widths = if n == ANY_N {
                vec![8, 96, 256]
            } else {
                vec![n]
            };
            for (n, types) in widths
                .iter()
                .flat_map(|n| family.types.iter().map(move |t| (n, t)))
            {
                let arch = family.arch;
                let name = |form| format!("{arch}_{m}x{n}x{k}_{types}_{form}");
                names.extend(family.forms.iter().map(name));
            }
        }
    }
    names
}

fn parse_shape(text: &str) -> Option<[i64; 3]> {
    let extents: Option<Vec<i64>> = text.split('x').map(|extent| extent.parse().ok()).collect();
    extents?.try_into().ok()
}

fn shape_name([m, n, k]: &[i64; 3]) -> String {
    match *n {
        ANY_N => format!("{m}xNx{k}"),
        n => format!("{m}x{n}x{k}"),
    }
}

/// Checks the majors. `SS` has one for A and one for B, and `RS` only K for A, since A is in registers.
fn check_majors(form: &str, parameters: &[&str]) -> Result<(), LayoutError> {
    let allowed: &[&[&str]] = match (form, parameters.len()) {
        (_, 0) => &[],
        ("SS", 2) => &[&["K", "MN"], &["K", "MN"]],
        ("RS", 2) => &[&["K"], &["K", "MN"]],
        ("SS" | "RS", _) => {
            return Err(not_one_of(
                "pair of majors",
                &parameters.join(","),
                ["K,K", "K,MN", "MN,K", "MN,MN"],
            ));
        }
        _ => return Err(not_one_of("parameter", &parameters.join(","), ["none"])),
    };
    match parameters
        .iter()
        .zip(allowed)
        .find(|(found, allowed)| !allowed.contains(found))
    {
        Some((found, allowed)) => Err(not_one_of("major", found, allowed.iter().copied())),
        None => Ok(()),
    }
}

impl Threads {
    fn atom(self, shape_mnk: [i64; 3], form: &str) -> Result<MmaAtom, LayoutError> {
        let [m, n, k] = shape_mnk;
        let (thr_id, layouts) = match self {
            Self::Warp { packed } => (
                Layout::new(32, 1)?,
                [
                    fragment(m, k, packed, None)?,
                    fragment(n, k, packed, None)?,
                    fragment(m, n, ACCUMULATORS, None)?,
                ],
            ),
            Self::Warpgroup { packed } => {
                let a = match form.starts_with("RS") {
                    true => fragment(m, k, packed, Some(WARPS))?,
                    false => shared(m, k)?,
                };
                let c = fragment(m, n, ACCUMULATORS, Some(WARPS))?;
                (Layout::new(WARPGROUP, 1)?, [a, shared(n, k)?, c])
            }
            Self::QuadPair {
                c: (threads, values),
            } => {
                // Named as in BLAS for column-major matrices: a transposed A is contiguous along K, and so is B if
                // it is not transposed.
                let along_k = tv(&[(8, 1)], &[(4, 8)])?;
                let across = tv(&[(4, 8), (2, 4)], &[(4, 1)])?;
                let operand = |is_along: bool| {
                    if is_along {
                        along_k.clone()
                    } else {
                        across.clone()
                    }
                };
                (
                    Layout::new([4, 2], [1, 16])?,
                    [
                        operand(form.starts_with('T')),
                        operand(form.ends_with('N')),
                        tv(threads, values)?,
                    ],
                )
            }
        };
        Ok(MmaAtom {
            shape_mnk,
            thr_id,
            layouts,
        })
    }
}

const WARPGROUP: i64 = threads::WARPGROUP as i64;
const WARPS: i64 = threads::WARPGROUP_WARPS as i64;

/// A thread holds accumulators as pairs of neighbours, whatever their type.
const ACCUMULATORS: i64 = 2;

/// The layout of a matrix in registers that hold `packed` neighbours of a row. In a block of 8 rows and four times
/// `packed` columns, lane `l` of a warp holds the elements of row `l / 4` from column `l % 4 * packed` on. The
/// blocks repeat along the columns, and each warp of a warpgroup holds 16 rows.
fn fragment(
    rows: i64,
    columns: i64,
    packed: i64,
    warps: Option<i64>,
) -> Result<Layout, LayoutError> {
    let mut threads = vec![(4, packed * rows), (8, 1)];
    threads.extend(warps.map(|warps| (warps, 16)));
    let rows_of_warp = rows / warps.unwrap_or(1);
    let repeats = columns / (4 * packed);
    let values = [
        (packed > 1, (packed, rows)),
        (rows_of_warp > 8, (rows_of_warp / 8, 8)),
        // For wgmma CuTe writes this mode even where its extent is 1.
        (repeats > 1 || warps.is_some(), (repeats, 4 * packed * rows)),
    ];
    let values: Vec<Mode> = values
        .into_iter()
        .filter_map(|(is_present, mode)| is_present.then_some(mode))
        .collect();
    tv(&threads, &values)
}

/// An operand in shared memory: every thread can access all of it.
fn shared(rows: i64, columns: i64) -> Result<Layout, LayoutError> {
    tv(&[(WARPGROUP, 0)], &[(rows, 1), (columns, rows)])
}
