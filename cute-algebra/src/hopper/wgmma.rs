//! Shared-memory operands of `wgmma`: whether a tile has a form that the hardware supports, and the fields of its
//! matrix descriptor.
//!
//! The hardware finds the elements of one instruction's operand, MN × 32 bytes of K, by two byte offsets and a
//! swizzle. Let E be the number of elements in 16 bytes, and W the number in the span of the swizzle. These are the
//! forms, before the swizzle:
//!
//! | major | swizzle | MN | K of one instruction |
//! |---|---|---|---|
//! | K | none | `(8,n):(E,SBO)` | `(E,2):(1,LBO)` |
//! | K | 32, 64, 128 bytes | `(8,n):(W,SBO)` | `2E:1` |
//! | MN | none | `(E,n):(1,SBO)` | `(8,2):(E,LBO)` |
//! | MN | 32, 64, 128 bytes | `(W,n):(1,LBO)` | `(8,2):(W,SBO)` |
//!
//! The forms are those of PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Shared Memory Layout". To find the two
//! offsets, a tile is divided by the extents of the form, and its strides are read off.

use super::shared::{ADDRESS_END, fits_shared_memory, shown};
use crate::coalesce::coalesce;
use crate::composed::ComposedLayout;
use crate::composition::composition;
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tuple::{Shape, Tuple};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use cute_chip::SwizzleMode;
use cute_chip::wgmma::{self, Descriptor};

const K_BITS: i64 = 8 * wgmma::K_BYTES as i64;
const CHUNK_BITS: i64 = 8 * wgmma::CORE_BYTES as i64;
const ROWS: i64 = wgmma::CORE_ROWS as i64;
const UNIT: i64 = wgmma::DESCRIPTOR_UNIT as i64;
const MAX_OFFSET: i64 = wgmma::MAX_OFFSET as i64;

/// The contiguous dimension of an operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// K is contiguous: each row of A and each column of B.
    K,
    /// M or N is contiguous.
    MN,
}

/// How wgmma reads a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgmmaOperand {
    /// The contiguous dimension of the tile.
    pub major: Major,
    /// The swizzle of the tile.
    pub swizzle: SwizzleMode,
    /// Leading dimension byte offset, in bytes; 16 where the hardware does not use it.
    pub leading: i64,
    /// Stride dimension byte offset, in bytes; 16 where the hardware does not use it.
    pub stride: i64,
    /// For each instruction along K, where its operand starts, in elements from the start of the tile.
    pub steps: Vec<i64>,
}

impl WgmmaOperand {
    /// The matrix descriptor of a tile at address 0. For another address, add the address shifted right by 4.
    pub fn descriptor(&self) -> u64 {
        let descriptor = Descriptor {
            address: 0,
            leading: self.leading as u64,
            stride: self.stride as u64,
            base_offset: 0,
            swizzle: self.swizzle,
        };
        descriptor.encode()
    }
}

/// How wgmma reads `tile`. Its two modes are MN and K, and its values are element indices from an address that is a
/// multiple of [`SwizzleMode::atom`] bytes.
///
/// ```
/// use cute_algebra::{ComposedLayout, Layout, Major, Swizzle, Tuple, wgmma_operand};
/// // A 64 × 64 tile of bf16 in 128-byte rows.
/// let rows = Layout::new([64, 64], [64, 1])?;
/// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, rows)?;
/// let operand = wgmma_operand(16, &tile).unwrap();
/// assert_eq!((operand.major, operand.stride), (Major::K, 1024));
/// assert_eq!(operand.steps, [0, 16, 32, 48]);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn wgmma_operand(element_bits: u32, tile: &ComposedLayout) -> Result<WgmmaOperand, WgmmaError> {
    let refuse = |kind| WgmmaError {
        tile: Box::new(tile.clone()),
        element_bits,
        kind,
    };
    if !wgmma::has_width(element_bits) {
        return Err(refuse(WgmmaErrorKind::Element));
    }
    if !fits_shared_memory(element_bits, tile) {
        return Err(refuse(WgmmaErrorKind::Span));
    }
    let swizzle = tile
        .swizzle()
        .mode(element_bits)
        .ok_or_else(|| refuse(WgmmaErrorKind::Swizzle))?;
    let (Some(mn), Some(k), 2) = (
        tile.layout().mode(0),
        tile.layout().mode(1),
        tile.layout().rank(),
    ) else {
        return Err(refuse(WgmmaErrorKind::Rank {
            rank: tile.layout().rank(),
        }));
    };
    let width = i64::from(element_bits);
    let k_step = K_BITS / width;
    if k.size() % k_step != 0 {
        return Err(refuse(WgmmaErrorKind::Depth {
            k: k.size(),
            step: k_step,
        }));
    }
    let k_major = Form::new(Major::K, swizzle, width).solve(&mn, &k);
    let mn_major = Form::new(Major::MN, swizzle, width).solve(&mn, &k);
    let (major, (leading, stride)) = match (k_major, mn_major) {
        (Ok(offsets), _) => (Major::K, offsets),
        (_, Ok(offsets)) if wgmma::may_be_mn_major(element_bits) => (Major::MN, offsets),
        (_, Ok(_)) => return Err(refuse(WgmmaErrorKind::Transposed)),
        (Err(k_major), Err(mn_major)) => {
            return Err(refuse(WgmmaErrorKind::Form {
                swizzle,
                k_major: k_major.into(),
                mn_major: mn_major.into(),
            }));
        }
    };
    let bytes = |elements: i64| elements * width / 8;
    for (field, offset) in [("leading", leading), ("stride", stride)] {
        let offset = bytes(offset);
        if offset % UNIT != 0 || !(0..=MAX_OFFSET).contains(&offset) {
            return Err(refuse(WgmmaErrorKind::Offset { field, offset }));
        }
    }
    let steps: Vec<i64> = (0..k.size() / k_step)
        .filter_map(|step| k.at(step * k_step))
        .collect();
    for &step in &steps {
        let start = bytes(tile.offset() + step);
        // The hardware counts the eight rows of an atom from the operand's start, but the swizzle counts them from
        // address 0.
        let inside =
            swizzle != SwizzleMode::None && start.rem_euclid(swizzle.atom()) >= swizzle.span();
        if start % UNIT != 0 || inside {
            return Err(refuse(WgmmaErrorKind::Start { start, swizzle }));
        }
    }
    let field = |offset: i64| if offset == 0 { UNIT } else { bytes(offset) };
    Ok(WgmmaOperand {
        major,
        swizzle,
        leading: field(leading),
        stride: field(stride),
        steps,
    })
}

/// A row of the table above, for one element width.
struct Form {
    major: Major,
    swizzled: bool,
    /// Extent and stride of the inner part of MN. The stride of the outer part can be any.
    mn: (i64, i64),
    /// Extent and stride of the inner part of K.
    k: (i64, i64),
    /// Extent of the outer part of K within one instruction. Its stride can be any.
    k_outer: i64,
}

impl Form {
    fn new(major: Major, swizzle: SwizzleMode, width: i64) -> Self {
        let chunk = CHUNK_BITS / width;
        let span = swizzle.span() * 8 / width;
        let swizzled = swizzle != SwizzleMode::None;
        match (major, swizzled) {
            (Major::K, true) => Self {
                major,
                swizzled,
                mn: (ROWS, span),
                k: (2 * chunk, 1),
                k_outer: 1,
            },
            (Major::K, false) => Self {
                major,
                swizzled,
                mn: (ROWS, chunk),
                k: (chunk, 1),
                k_outer: 2,
            },
            (Major::MN, _) => Self {
                major,
                swizzled,
                mn: (span, 1),
                k: (ROWS, span),
                k_outer: chunk / 4,
            },
        }
    }

    /// The leading and the stride offset, in elements; 0 for an outer part of extent 1.
    fn solve(&self, mn: &Layout, k: &Layout) -> Result<(i64, i64), Mismatch> {
        let along_mn = digits(mn, &[self.mn.0.min(mn.size())]);
        expect("MN", self.mn, along_mn[0])?;
        let outer_mn = along_mn[1].ok_or(Mismatch {
            dimension: "MN",
            step: self.mn.0,
            expected: None,
            found: None,
        })?;
        let along_k = digits(k, &[self.k.0, self.k_outer]);
        expect("K", self.k, along_k[0])?;
        let outer_k = along_k[1].ok_or(Mismatch {
            dimension: "K",
            step: self.k.0,
            expected: None,
            found: None,
        })?;
        // Only the swizzled MN-major form uses the leading offset for MN.
        Ok(match (self.major, self.swizzled) {
            (Major::MN, true) => (outer_mn, outer_k),
            _ => (outer_k, outer_mn),
        })
    }
}

fn expect(
    dimension: &'static str,
    (extent, stride): (i64, i64),
    found: Option<i64>,
) -> Result<(), Mismatch> {
    match found {
        Some(found) if found == stride || extent == 1 => Ok(()),
        found => Err(Mismatch {
            dimension,
            step: 1,
            expected: Some(stride),
            found,
        }),
    }
}

/// The strides of a mode that is divided into `extents` and a rest. `None` for a part that does not have a single
/// stride.
fn digits(mode: &Layout, extents: &[i64]) -> Vec<Option<i64>> {
    let none = vec![None; extents.len() + 1];
    let inner: i64 = extents.iter().product();
    if mode.size() % inner != 0 {
        return none;
    }
    let shape: Shape = extents
        .iter()
        .copied()
        .chain([mode.size() / inner])
        .map(Tuple::Leaf)
        .collect();
    match Layout::left(shape).and_then(|digits| composition(mode, &digits)) {
        Ok(divided) => divided.modes().iter().map(single_stride).collect(),
        Err(_) => none,
    }
}

/// The stride of a mode that coalesces to a single one; 0 for a mode of size 1.
fn single_stride(mode: &Layout) -> Option<i64> {
    match coalesce(mode).flat_modes().as_slice() {
        [(1, _)] => Some(0),
        [(_, stride)] => stride.as_integer(),
        _ => None,
    }
}

/// A tile that wgmma cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgmmaError {
    /// The refused tile.
    pub tile: Box<ComposedLayout>,
    /// Width of its elements, in bits.
    pub element_bits: u32,
    /// The reason.
    pub kind: WgmmaErrorKind,
}

/// Why wgmma cannot read a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WgmmaErrorKind {
    /// The elements are not 8, 16 or 32 bits wide.
    Element,
    /// The tile is larger than shared memory.
    Span,
    /// The swizzle is not a mode of the hardware.
    Swizzle,
    /// The layout does not have the two modes MN and K.
    Rank {
        /// Number of its modes.
        rank: usize,
    },
    /// K is not a multiple of the K of one instruction.
    Depth {
        /// K of the tile.
        k: i64,
        /// Number of elements in 32 bytes, the K of one instruction.
        step: i64,
    },
    /// The tile is MN-major, and its elements are not 16 bits wide.
    Transposed,
    /// The tile has none of the forms.
    Form {
        /// The swizzle of the tile.
        swizzle: SwizzleMode,
        /// The first difference from the K-major form.
        k_major: Box<Mismatch>,
        /// The first difference from the MN-major form.
        mn_major: Box<Mismatch>,
    },
    /// A descriptor cannot hold an offset.
    Offset {
        /// The offset: `leading` or `stride`.
        field: &'static str,
        /// The offset in bytes.
        offset: i64,
    },
    /// An operand starts at an address that is not a multiple of 16 bytes, or inside an atom of the swizzle.
    Start {
        /// The start of the operand in bytes, from the start of the tile.
        start: i64,
        /// The swizzle of the tile.
        swizzle: SwizzleMode,
    },
}

/// A stride that differs from that of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `MN` or `K`.
    pub dimension: &'static str,
    /// The stride is the distance of this many elements along the dimension.
    pub step: i64,
    /// The stride of the form, in elements; `None` where any single stride is legal.
    pub expected: Option<i64>,
    /// The stride of the tile, in elements, if it has a single one.
    pub found: Option<i64>,
}

impl core::error::Error for WgmmaError {}

impl fmt::Display for WgmmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "wgmma cannot read {} of {}-bit elements: ",
            shown(&self.tile),
            self.element_bits
        )?;
        match &self.kind {
            WgmmaErrorKind::Element => f.write_str("operands have 8, 16 or 32 bits"),
            WgmmaErrorKind::Span => {
                write!(f, "it does not lie within {ADDRESS_END} bytes of shared memory")
            }
            WgmmaErrorKind::Swizzle => {
                write!(f, "its swizzle {} is none of the hardware's:", self.tile.swizzle())?;
                let modes = SwizzleMode::ALL.into_iter().filter(|mode| *mode != SwizzleMode::None);
                modes.filter_map(|mode| Some((mode, Swizzle::from_mode(mode, self.element_bits)?))).try_for_each(|(mode, swizzle)| {
                    let end = if mode == SwizzleMode::B128 { ", or no swizzle" } else { "," };
                    write!(f, " {swizzle} ({}){end}", mode.name())
                })
            }
            WgmmaErrorKind::Rank { rank } => write!(f, "an operand has two modes, MN and K, not {rank}"),
            WgmmaErrorKind::Depth { k, step } => {
                write!(f, "an instruction takes {step} elements along K, of which {k} is not a multiple; nearest: {}", (k / step + 1) * step)
            }
            WgmmaErrorKind::Transposed => {
                f.write_str("it is contiguous along MN, which is legal only for elements of 16 bits; it must be contiguous along K")
            }
            WgmmaErrorKind::Form { swizzle, k_major, mn_major } => {
                let name = swizzle.name();
                write!(f, "K-major {name} wants {k_major}; MN-major {name} wants {mn_major}")?;
                // Rows of 32 bytes would be the form of another swizzle. The atom of this swizzle always fits.
                let elements = swizzle.span() * 8 / i64::from(self.element_bits);
                write!(f, "; nearest: tiles of smem_atom(K, {name}), 8 rows of {elements} elements")
            }
            WgmmaErrorKind::Offset { field, offset } => write!(
                f,
                "the {field} offset of {offset} bytes is not a multiple of {UNIT} from 0 to {MAX_OFFSET}"
            ),
            WgmmaErrorKind::Start { start, swizzle } => write!(
                f,
                "an instruction would start at byte {start}, inside an atom of {}; it can start in the first {} bytes of every {}",
                swizzle.name(),
                swizzle.span(),
                swizzle.atom()
            ),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            dimension,
            step,
            expected,
            found,
        } = self;
        match expected {
            Some(expected) => write!(f, "stride {expected} along {dimension}")?,
            None => write!(f, "one stride for steps of {step} along {dimension}")?,
        }
        match found {
            Some(found) => write!(f, ", here {found}"),
            None => f.write_str(", here it has no single stride"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The byte address at which the hardware looks for an element of one instruction's operand.
    fn hardware(operand: &WgmmaOperand, width: i64, start: i64, mn: i64, k: i64) -> i64 {
        let (chunk, span) = (16 / width, operand.swizzle.span() / width);
        let (leading, stride) = (operand.leading, operand.stride);
        let linear = match (operand.major, operand.swizzle) {
            (Major::K, SwizzleMode::None) => {
                mn % 8 * 16 + mn / 8 * stride + k % chunk * width + k / chunk * leading
            }
            (Major::K, _) => mn % 8 * span * width + mn / 8 * stride + k * width,
            (Major::MN, SwizzleMode::None) => {
                mn % chunk * width + mn / chunk * stride + k % 8 * 16 + k / 8 * leading
            }
            (Major::MN, _) => {
                mn % span * width + mn / span * leading + k % 8 * span * width + k / 8 * stride
            }
        };
        let address = start + linear;
        address ^ (address >> 3 & ((1 << operand.swizzle.bits()) - 1) << 4)
    }

    fn tile(
        element_bits: u32,
        swizzle: SwizzleMode,
        offset: i64,
        layout: Layout,
    ) -> ComposedLayout {
        ComposedLayout::new(
            Swizzle::from_mode(swizzle, element_bits).unwrap(),
            offset,
            layout,
        )
        .unwrap()
    }

    /// The atom of a form, repeated to `mn` × `k` with the given dimension of atoms first.
    fn canonical(
        major: Major,
        swizzle: SwizzleMode,
        bits: u32,
        mn: i64,
        k: i64,
        mn_first: bool,
    ) -> Layout {
        let span = swizzle.span() * 8 / i64::from(bits);
        let (inner_mn, inner_k) = if major == Major::K {
            (8, span)
        } else {
            (span, 8)
        };
        let (outer_mn, outer_k) = (mn / inner_mn, k / inner_k);
        let (stride_mn, stride_k) = if major == Major::K {
            (span, 1)
        } else {
            (1, span)
        };
        let atom = 8 * span;
        let (over_mn, over_k) = if mn_first {
            (atom, atom * outer_mn)
        } else {
            (atom * outer_k, atom)
        };
        Layout::concat([
            Layout::new([inner_mn, outer_mn], [stride_mn, over_mn]).unwrap(),
            Layout::new([inner_k, outer_k], [stride_k, over_k]).unwrap(),
        ])
        .unwrap()
    }

    #[test]
    fn every_form_is_read_as_the_hardware_reads_it() {
        let mut checked = 0;
        for bits in [8, 16, 32] {
            for swizzle in SwizzleMode::ALL {
                for major in [Major::K, Major::MN] {
                    if major == Major::MN && bits != 16 {
                        continue;
                    }
                    for (mn_first, mn) in [(true, 64), (false, 64), (true, 192), (false, 256)] {
                        let width = i64::from(bits / 8);
                        let (span, k) = (swizzle.span() / width, 256 / width);
                        let layout = canonical(major, swizzle, bits, mn, k, mn_first);
                        let tile = tile(bits, swizzle, 4 * 8 * span, layout);
                        let operand = wgmma_operand(bits, &tile).unwrap();
                        assert_eq!((operand.major, operand.swizzle), (major, swizzle), "{tile}");
                        let step = 32 / width;
                        assert_eq!(operand.steps.len() as i64, k / step);
                        for (index, offset) in operand.steps.iter().enumerate() {
                            let start = (tile.offset() + offset) * width;
                            for (m, kk) in (0..mn).flat_map(|m| (0..step).map(move |kk| (m, kk))) {
                                let coordinate = [Some(m), Some(kk + index as i64 * step)].into();
                                let expected = tile.crd2idx(&coordinate).unwrap() * width;
                                assert_eq!(
                                    hardware(&operand, width, start, m, kk),
                                    expected,
                                    "{tile} at ({m},{kk})"
                                );
                                checked += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(checked > 100_000);
    }

    #[test]
    fn descriptor_fields() {
        let operand = wgmma_operand(
            16,
            &tile(
                16,
                SwizzleMode::B128,
                0,
                Layout::new([64, 64], [64, 1]).unwrap(),
            ),
        )
        .unwrap();
        assert_eq!(operand.descriptor(), 1 << 62 | 64 << 32 | 1 << 16);
        // MN-major from a box of 64 × 64: 8 k are 1024 bytes, panels of 64 MN are 64 · 128 bytes apart.
        let panels = canonical(Major::MN, SwizzleMode::B128, 16, 128, 64, false);
        let operand = wgmma_operand(16, &tile(16, SwizzleMode::B128, 0, panels)).unwrap();
        assert_eq!((operand.leading, operand.stride), (64 * 128, 1024));
        assert_eq!(operand.steps, [0, 1024, 2048, 3072]);
    }

    fn refusal(bits: u32, swizzle: SwizzleMode, offset: i64, layout: Layout) -> String {
        wgmma_operand(bits, &tile(bits, swizzle, offset, layout))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn refusals_name_the_stride_that_differs() {
        let padded = Layout::new([64, 64], [72, 1]).unwrap();
        assert_eq!(
            refusal(16, SwizzleMode::B128, 0, padded),
            "wgmma cannot read Sw<3,3,3> o 0 o (64,64):(72,1) of 16-bit elements: K-major SW128 wants stride 64 along MN, \
             here 72; MN-major SW128 wants stride 1 along MN, here 72; nearest: tiles of smem_atom(K, SW128), 8 rows of 64 elements"
        );
        let transposed = Layout::new([64, 32], [1, 64]).unwrap();
        assert!(
            refusal(8, SwizzleMode::B64, 0, transposed).contains("only for elements of 16 bits")
        );
        let rows = Layout::new([64, 64], [64, 1]).unwrap();
        assert!(
            refusal(16, SwizzleMode::B128, 256, rows.clone())
                .contains("byte 512, inside an atom of SW128")
        );
        assert!(
            refusal(16, SwizzleMode::B64, 0, rows)
                .contains("K-major SW64 wants stride 32 along MN, here 64")
        );
        let thin = Layout::new([64, 24], [64, 1]).unwrap();
        assert!(
            refusal(16, SwizzleMode::B128, 0, thin).contains("24 is not a multiple; nearest: 32")
        );
        let broadcast = Layout::new([64, 1 << 40], [64, 0]).unwrap();
        assert!(refusal(16, SwizzleMode::B128, 0, broadcast).contains("within 262144 bytes"));
        let far = Layout::new([64, 64], [1 << 50, 1]).unwrap();
        assert!(refusal(16, SwizzleMode::B128, 1 << 60, far).contains("within 262144 bytes"));
        let foreign = ComposedLayout::new(
            Swizzle::new(3, 4, 3).unwrap(),
            0,
            Layout::new([64, 64], [64, 1]).unwrap(),
        )
        .unwrap();
        let message = wgmma_operand(16, &foreign).unwrap_err().to_string();
        assert!(
            message
                .contains("Sw<1,3,3> (SW32), Sw<2,3,3> (SW64), Sw<3,3,3> (SW128), or no swizzle"),
            "{message}"
        );
    }
}
