//! Layouts and tilings as types.

use super::{Layout, Tiling};
use std::marker::PhantomData;

/// A layout that is a type: every number about it is an associated constant, and its index is straight-line code.
///
/// `layout! { pub A = …; }` declares a type that implements it.
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

    /// How many elements in one piece hold index 0 and all values.
    const COSIZE: i64 = Self::LAYOUT.cosize();

    /// Number of top-level modes.
    const RANK: usize = Self::LAYOUT.rank();

    /// Nesting.
    const DEPTH: usize = Self::LAYOUT.depth();

    /// The values in order; empty where they are more than 64.
    const OFFSETS: &'static [i64] = Self::LAYOUT.offsets();

    /// The coordinate of each index from 0 on, -1 for an index that is no value.
    /// Empty where values are negative or repeat, where there are more than 64, and where most indices are no value.
    const INVERSE: &'static [i64] = Inverse::<Self>::TABLE.split_at(Inverse::<Self>::LEN).0;

    /// The value at 1-D coordinate `coord`, which is not negative, since a layout has no values below 0; like CuTe's, it does not
    /// ask whether that is below the size.
    fn index(coord: i64) -> i64;

    /// The coordinate whose value is `index`, by the table where there is one, else by search.
    fn coordinate(index: i64) -> Option<i64> {
        if Self::INVERSE.is_empty() {
            return (0..Self::SIZE).find(|&coord| Self::index(coord) == index);
        }
        let coord = *Self::INVERSE.get(usize::try_from(index).ok()?)?;
        (coord >= 0).then_some(coord)
    }
}

/// A name for the numbers of a type, which no type related to it by subtyping may take the place of: `W<for<'a> fn(&'a ())>` is a
/// subtype of `W<fn(&'static ())>`, and each can have numbers of its own.
pub(crate) type Invariant<T> = PhantomData<fn(T) -> T>;

/// The table of coordinates, which rustc makes where it is used, and not with each layout.
struct Inverse<L: ?Sized>(PhantomData<L>);

/// Most indices of such a table: twice as many as there are values in a table of offsets.
const INDICES: usize = 128;

impl<L: StaticLayout + ?Sized> Inverse<L> {
    /// One more than the last index that is a value; 0 where there is no such table.
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

/// A tiling that is a type. `tile! { pub T = …; }` declares one.
pub trait StaticTiling: StaticLayout {
    /// The tiling as a value.
    const TILING: Tiling;
}

/// A tiling of which it was proved at expansion that no two of its coordinates share an element.
///
/// `tile!` implements it where the proof succeeds. With `mut` before the name, an item of `tile!` demands the proof, and the
/// error says which coordinates share an element. What relies on it checks [`Tiling::is_disjoint`] once more, at compile time,
/// so that an implementation by hand cannot break it:
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
    note = "write `mut` before its name in `tile!` to see which coordinates share one"
)]
pub trait DisjointTiling: StaticTiling {}
