//! Layouts and tilings that are types.

use super::{Layout, Tiling};
use core::marker::PhantomData;

/// A layout as a type: the numbers are associated constants, and `index` is straight-line code with these numbers.
///
/// `layout! { pub A = …; }` declares a type that implements this trait.
/// ```
/// use cute_runtime::{StaticLayout, layout};
/// layout! { pub A = (4,2):(2,1); }
/// fn sum<L: StaticLayout>(data: &[i32]) -> i32 {
///     (0..L::SIZE).map(|i| data[L::index(i) as usize]).sum()
/// }
/// assert_eq!(sum::<A>(&[1, 2, 3, 4, 5, 6, 7, 8]), 36);
/// ```
pub trait StaticLayout {
    /// The layout as a value.
    const LAYOUT: Layout;

    /// Number of coordinates.
    const SIZE: i64 = Self::LAYOUT.size();

    /// The number of contiguous elements that hold index 0 and all values: see [`Layout::cosize`].
    const COSIZE: i64 = Self::LAYOUT.cosize();

    /// Number of top-level modes.
    const RANK: usize = Self::LAYOUT.rank();

    /// Depth of the nesting: 0 if the shape is an integer.
    const DEPTH: usize = Self::LAYOUT.depth();

    /// The values in the order of 1-D coordinates; empty if there are more than 64.
    const OFFSETS: &'static [i64] = Self::LAYOUT.offsets();

    /// Entry `v` is the 1-D coordinate with value `v`, or -1 if there is none.
    ///
    /// Empty if a value is negative or repeats, if there are more than 64 values, or if the largest value is not below twice
    /// their number.
    const INVERSE: &'static [i64] = Inverse::<Self>::TABLE.split_at(Inverse::<Self>::LEN).0;

    /// The value at 1-D coordinate `coord`, which must not be negative. As in CuTe, it may exceed the size: the last mode then
    /// continues.
    fn index(coord: i64) -> i64;

    /// The first 1-D coordinate with value `index`; `None` if there is none. Looks in `INVERSE`, or if `INVERSE` is empty, at all
    /// coordinates in order.
    fn coordinate(index: i64) -> Option<i64> {
        if Self::INVERSE.is_empty() {
            return (0..Self::SIZE).find(|&coord| Self::index(coord) == index);
        }
        let coord = *Self::INVERSE.get(usize::try_from(index).ok()?)?;
        (coord >= 0).then_some(coord)
    }
}

/// The table for `StaticLayout::INVERSE`. It is a constant of a type of its own, so that rustc computes it only for layouts
/// whose inverse is used.
struct Inverse<L: ?Sized>(PhantomData<L>);

/// Most entries of the table: twice the 64 values that `OFFSETS` holds at most.
const INDICES: usize = 128;

impl<L: StaticLayout + ?Sized> Inverse<L> {
    /// One more than the largest value; 0 if there is no table.
    const LEN: usize = {
        let offsets = L::OFFSETS;
        let (mut i, mut len, mut negative) = (0, 0, false);
        while i < offsets.len() {
            if offsets[i] >= len {
                len = offsets[i] + 1;
            }
            negative |= offsets[i] < 0;
            i += 1;
        }
        let few = len <= INDICES as i64 && len <= 2 * offsets.len() as i64;
        match few && !negative && matches!(L::LAYOUT.is_injective(), Some(true)) {
            true => len as usize,
            false => 0,
        }
    };

    const TABLE: [i64; INDICES] = {
        let offsets = L::OFFSETS;
        let mut table = [-1; INDICES];
        let mut i = 0;
        while i < offsets.len() && Self::LEN > 0 {
            table[offsets[i] as usize] = i as i64;
            i += 1;
        }
        table
    };
}

/// A tiling as a type. `tile! { pub T = …; }` declares a type that implements this trait.
pub trait StaticTiling: StaticLayout {
    /// The tiling as a value.
    const TILING: Tiling;
}

/// A tiling with a proof that no two coordinates share an element, except past the edge.
///
/// `tile!` implements this trait for a type if the proof succeeds. With `mut` before the name, an item of `tile!` demands the
/// proof; if it fails, the error names two coordinates that share an element, if it finds such. Code that relies on the proof
/// checks [`Tiling::is_disjoint`] again at compile time, so a wrong implementation by hand is an error:
/// ```compile_fail,E0080
/// use cute_runtime::{DisjointTiling, HostTensorMut, layout, tile};
/// layout! { WINDOWS = (4,8):(1,1); }
/// tile! { COLUMNS = WINDOWS / <4>; }
/// impl DisjointTiling for COLUMNS {}
/// let mut data = [0; 11];
/// let mut windows = HostTensorMut::new(&mut data, WINDOWS).unwrap();
/// assert!(windows.tiles_mut::<COLUMNS>().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "it is not proved that no two tiles of `{Self}` share an element",
    label = "not proved to be disjoint",
    note = "write `mut` before its name in `tile!`: the error then says why"
)]
pub trait DisjointTiling: StaticTiling {}
