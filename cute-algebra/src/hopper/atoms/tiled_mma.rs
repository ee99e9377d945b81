//! An MMA operation repeated over threads and over a tile.

use super::{MmaAtom, MmaOperand, Partition};
use crate::complement::complement_within;
use crate::composition::compose;
use crate::coordinate::{crd2crd, idx2crd_stride};
use crate::divide::{Form, divide_by_derived};
use crate::domain::{Domain, Numbers};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::inverse::right_inverse;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::tiled_product;
use crate::tiler::Tiler;
use crate::tuple::{Shape, Tuple};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

/// An MMA operation, repeated over threads by a layout of M × N × K atoms, and over a tile whose modes can be
/// permuted before they are partitioned: CuTe's `TiledMMA`.
///
/// Everything else is derived by division and composition: the data is divided by the tile, and the tile by the
/// atom; the atom is composed with its TV layout; the rest is divided among the threads.
/// ```
/// use cute_algebra::{Layout, MmaOperand, TiledMma, Tiler};
/// let mma = TiledMma::new("SM90_64x128x16_F32BF16BF16_SS".parse()?, &Layout::left([2, 1, 1])?, &Tiler::Keep)?;
/// assert_eq!(mma.tile_shape(), [128, 128, 16]);
/// let rows = Layout::right([256, 128])?;
/// let mine = mma.partition(MmaOperand::C, &rows, 37)?;
/// assert_eq!(mine.layout.to_string(), "((2,2,16),2,1):((1,1024,8),16384,0)");
/// assert_eq!(mine.offset.to_string(), "2178");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// Which thread holds which element, of one operation:
///
#[doc = include_str!("../../../docs/tiled_mma.svg")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledMma {
    atom: MmaAtom,
    /// The layout from (thread of the atom, atom along M, N, K) to threads.
    thr_layout_vmnk: Layout,
    /// The tilers of the data along M, N and K.
    tile: [Tiler; 3],
    tile_shape: [i64; 3],
}

/// Partitioned data, `((ThrV, (ThrX, ThrY)), (FrgV, (RestX, RestY, …)))`.
struct Handed {
    /// The threads of an atom.
    atom_threads: Layout,
    /// The threads along the two modes of the operand.
    threads: [Layout; 2],
    /// The values of one atom in a thread.
    atom_values: Layout,
    /// The repetitions, with one mode for each mode of the data.
    rest: Layout,
}

impl TiledMma {
    /// A tiled MMA. `atom_layout` maps (M, N, K) to the group of threads that executes an atom. `permutation` has a
    /// layout or an extent for each of M, N and K, or `_` for the extent of the atoms.
    pub fn new(
        atom: MmaAtom,
        atom_layout: &Layout,
        permutation: &Tiler,
    ) -> Result<Self, LayoutError> {
        let atoms = match atom_layout.rank() {
            3 => atom_layout.clone(),
            rank if rank < 3 => crate::regroup::append_to_rank(atom_layout, 3, &Layout::unit())?,
            rank => {
                return Err(ErrorKind::Rank {
                    rank: 3,
                    found: rank,
                }
                .at(Place::operand(1)));
            }
        };
        let thr_layout_vmnk =
            tiled_product(atom.thr_id(), &atoms.into()).map_err(|error| error.blame(1))?;
        let permutations = match permutation {
            Tiler::Keep => &[][..],
            Tiler::Modes(tilers) if tilers.len() <= 3 => &tilers[..],
            _ => {
                let kind = ErrorKind::Argument {
                    expected: "a tiler for M, N and K",
                    found: "another",
                };
                return Err(kind.at(Place::operand(2)));
            }
        };
        let mut tile = [const { Tiler::Keep }; 3];
        let mut tile_shape = [0; 3];
        for i in 0..3 {
            let extent = atom.shape_mnk()[i].saturating_mul(extent(&thr_layout_vmnk, i + 1));
            let given = match permutations.get(i) {
                None | Some(Tiler::Keep) => Layout::new(extent, 1)?,
                Some(Tiler::Layout(layout)) => layout.clone(),
                Some(Tiler::Modes(_)) => {
                    let kind = ErrorKind::Argument {
                        expected: "a layout, an extent or `_`",
                        found: "a tiler by mode",
                    };
                    return Err(kind.at(Place::operand(2).mode([i])));
                }
            };
            if given.size() % extent != 0 {
                let nearest = crate::overhang::nearest_multiples(given.size(), extent);
                let kind = ErrorKind::Target {
                    block: extent,
                    target: given.size(),
                    nearest,
                };
                return Err(kind.at(Place::operand(2).mode([i]).shape()));
            }
            tile_shape[i] = given.size();
            tile[i] = Tiler::Layout(given);
        }
        Ok(Self {
            atom,
            thr_layout_vmnk,
            tile,
            tile_shape,
        })
    }

    /// The repeated operation.
    pub fn atom(&self) -> &MmaAtom {
        &self.atom
    }

    /// The layout from (thread of the atom, atom along M, N, K) to threads.
    pub fn thr_layout_vmnk(&self) -> &Layout {
        &self.thr_layout_vmnk
    }

    /// The extents of M, N and K that all threads cover in one round.
    pub fn tile_shape(&self) -> [i64; 3] {
        self.tile_shape
    }

    /// The layout from (thread, value) to the elements of an operand's tile, the first mode fastest. An operand lacks
    /// one of the dimensions M, N and K: threads that differ only along it hold the same elements.
    pub fn layout_tv(&self, operand: MmaOperand) -> Result<Layout, LayoutError> {
        let [x, y] = operand.modes();
        let tile = Layout::left([self.tile_shape[x], self.tile_shape[y]])?;
        let handed = self.hand_out(operand, &tile, Overhang::Strict)?;
        let mut threads = vec![handed.atom_threads];
        let mut own = handed.threads.into_iter();
        for i in 0..3 {
            threads.extend(match [x, y].contains(&i) {
                true => own.next(),
                false => Some(Layout::new(extent(&self.thr_layout_vmnk, i + 1), 0)?),
            });
        }
        let threads = compose(
            &mut Numbers,
            &Layout::concat(threads)?,
            &self.thread_to_vmnk()?,
            Overhang::Strict,
        )?;
        let values = Layout::concat([handed.atom_values, handed.rest])?;
        Layout::concat([threads, values])
    }

    /// The part of an operand in one thread. `data` is the layout of the operand and has at least two modes. An index without
    /// a thread is refused.
    pub fn partition(
        &self,
        operand: MmaOperand,
        data: &Layout,
        thread: i64,
    ) -> Result<Partition, LayoutError> {
        self.partition_with(operand, data, thread, Overhang::Strict)
    }

    pub(crate) fn partition_with(
        &self,
        operand: MmaOperand,
        data: &Layout,
        thread: i64,
        overhang: Overhang,
    ) -> Result<Partition, LayoutError> {
        let (threads, place) = (&self.thr_layout_vmnk, Place::operand(1));
        Numbers.require_index("thread", &thread, &threads.cosize(), &place)?;
        let handed = self.hand_out(operand, data, overhang)?;
        let [x, y] = operand.modes();
        let vmnk = self.thr_layout_vmnk.shape();
        let sizes: Shape = (0..4)
            .map(|i| Tuple::Leaf(extent(&self.thr_layout_vmnk, i)))
            .collect();
        let natural = idx2crd_stride(thread, threads)?;
        if threads.crd2idx(&natural.to_coord())? != Tuple::Leaf(thread) {
            let threads = threads.to_string();
            return Err(ErrorKind::NoThread { thread, threads }.at(place));
        }
        let coord = crd2crd(&natural, vmnk, &sizes)?;
        let own = |i: usize| coord.modes().get(i).cloned().unwrap_or(Tuple::Leaf(0));
        let coord = Tuple::Node(vec![own(0), own(x + 1), own(y + 1)]);
        let [along_x, along_y] = handed.threads;
        let offset =
            Layout::concat([handed.atom_threads, along_x, along_y])?.crd2idx(&coord.to_coord())?;
        Ok(Partition {
            layout: Layout::concat([vec![handed.atom_values], handed.rest.modes()].concat())?,
            offset,
        })
    }

    /// The shape of each thread's part of an operand with shape `shape`.
    pub fn partition_shape(
        &self,
        operand: MmaOperand,
        shape: &Shape,
    ) -> Result<Shape, LayoutError> {
        let partition = self.partition(operand, &Layout::left(shape.clone())?, 0)?;
        Ok(partition.layout.shape().clone())
    }

    fn hand_out(
        &self,
        operand: MmaOperand,
        data: &Layout,
        overhang: Overhang,
    ) -> Result<Handed, LayoutError> {
        let [x, y] = operand.modes();
        if data.rank() < 2 {
            let expected = format!("a layout of at least 2 modes, of {operand:?}");
            let found = data.to_string();
            return Err(ErrorKind::Profile { expected, found }.at(Place::operand(0)));
        }
        let by = |tiles: [Layout; 2]| Tiler::Modes(tiles.map(Tiler::Layout).into());
        let permuted = Tiler::Modes(vec![self.tile[x].clone(), self.tile[y].clone()]);
        let tiled = divide_by_derived(&mut Numbers, data, &permuted, Form::Logical, overhang)?;
        let shape = self.atom.shape_mnk();
        let atom = by([Layout::new(shape[x], 1)?, Layout::new(shape[y], 1)?]);
        let [atom, rest] = halves(&divide_by_derived(
            &mut Numbers,
            &tiled,
            &atom,
            Form::Zipped,
            overhang,
        )?);
        let [atom_threads, atom_values] = halves(&compose(
            &mut Numbers,
            &atom,
            self.atom.layout(operand),
            Overhang::Strict,
        )?);
        let thread = |mode: usize| Layout::new(extent(&self.thr_layout_vmnk, mode + 1), 1);
        let [threads, rest] = halves(&divide_by_derived(
            &mut Numbers,
            &rest,
            &by([thread(x)?, thread(y)?]),
            Form::Zipped,
            overhang,
        )?);
        Ok(Handed {
            atom_threads,
            threads: halves(&threads),
            atom_values,
            rest,
        })
    }

    /// The layout from threads to their 1-D coordinates in V × M × N × K. Threads without an atom of their own get
    /// the coordinates of others.
    fn thread_to_vmnk(&self) -> Result<Layout, LayoutError> {
        let others = complement_within(&self.thr_layout_vmnk)?;
        let (size, spare) = (self.thr_layout_vmnk.size(), others.size());
        let inverse = right_inverse(&Layout::concat([self.thr_layout_vmnk.clone(), others])?)?;
        compose(
            &mut Numbers,
            &Layout::new([size, spare], [1, 0])?,
            &inverse,
            Overhang::Strict,
        )
    }
}

/// The size of a mode; 1 where it does not exist.
fn extent(layout: &Layout, mode: usize) -> i64 {
    layout.mode(mode).map_or(1, |mode| mode.size())
}

/// The two modes of a layout of rank 2.
pub(super) fn halves(layout: &Layout) -> [Layout; 2] {
    [0, 1].map(|i| layout.mode(i).unwrap_or_else(Layout::unit))
}
