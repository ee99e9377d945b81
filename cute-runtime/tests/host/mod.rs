//! Host tensors and their tiles.

use cute_runtime::{
    DisjointTiling, HostError, HostLayout, HostTensor, HostTensorMut, HostTile, HostTileMut,
    Layout, Static, StaticTiling, Tiling, layout, tile,
};
use rayon::iter::ParallelIterator;
use static_assertions::{assert_impl_all, assert_not_impl_any};
use std::cell::Cell;

layout! {
    ROWS = (12,10):(10,1);
    COLUMNS = (12,10):(1,12);
    NESTED = (8,(2,3)):(6,(3,1));
    SWIZZLED = Sw<2,0,3> o 8 o (8,8):(8,1);
    BACKWARDS = (6,4):(-4,1);
    REPEATED = (4,4):(1,3);
    LOPSIDED = (3,2):(2,3);
}

tile! {
    mut BY_MODE = ROWS / <4,5>;
    mut BY_ROWS = ROWS / <1,_>;
    mut WHOLE = ROWS / _;
    mut ONE_DIMENSIONAL = COLUMNS / 8;
    mut STRIDED = COLUMNS / <3:4>;
    mut INSIDE = NESTED / <4,<_,3>>;
    mut RAGGED = ragged ROWS / <5,3>;
    mut RAGGED_COLUMNS = ragged COLUMNS / <5,4>;
    mut RAGGED_FLAT = ragged COLUMNS / 32;
    mut MIXED = ragged SWIZZLED / <3,8>;
    mut SKEWED = LOPSIDED / <3>;
    OVERLAPPING = REPEATED / <2,2>;
    mut ALONE = (7):(3) / <7>;
}

assert_impl_all!(BY_MODE: StaticTiling, DisjointTiling);
assert_impl_all!(OVERLAPPING: StaticTiling);
assert_not_impl_any!(OVERLAPPING: DisjointTiling);
assert_impl_all!(HostTileMut<'static, i32, BY_MODE>: Send, Sync);
assert_impl_all!(HostTileMut<'static, Cell<i32>, BY_MODE>: Send);
assert_not_impl_any!(HostTileMut<'static, Cell<i32>, BY_MODE>: Sync);
assert_not_impl_any!(HostTileMut<'static, *mut i32, BY_MODE>: Send, Sync);
assert_not_impl_any!(HostTileMut<'static, i32, BY_MODE>: Clone);

/// Each element of the tensor is in exactly one tile, at the coordinate that the tile gives, and no other element of the slice is
/// written.
fn check<T: DisjointTiling, const N: usize>(extents: [i64; N]) {
    let whole = T::TILING.whole();
    let len = (0..whole.size())
        .map(|coord| whole.at(coord))
        .max()
        .unwrap() as usize
        + 2;
    let expected = {
        let mut data = vec![-1; len];
        (0..whole.size()).for_each(|coord| data[whole.at(coord) as usize] = coord);
        data
    };
    let linear = |coord: [i64; N]| {
        let pairs = coord.iter().zip(extents).rev();
        pairs.fold(0, |linear, (c, extent)| linear * extent + c)
    };
    let write = |mut tile: HostTileMut<'_, i64, T>| {
        for (coord, element) in tile.iter_mut() {
            assert_eq!(*element, -1, "an element of two tiles");
            *element = linear(coord);
        }
        for within in 0..tile.size() {
            let inside = T::TILING.contains(within, tile.number());
            assert_eq!(tile.get(within).is_some(), inside);
            if inside {
                assert_eq!(tile[within], linear(tile.coordinate(within)));
                assert_eq!(
                    &raw const tile[within],
                    &raw const *tile.get_mut(within).unwrap()
                );
            }
        }
        assert!(tile.get(tile.size()).is_none() && tile.get(-1).is_none());
    };

    let mut data = vec![-1; len];
    let mut tensor = HostTensorMut::new(&mut data, whole).unwrap();
    let tiles = tensor.tiles_mut::<T>().unwrap();
    assert_eq!(tiles.len(), T::TILING.rest().size() as usize);
    // Taken from both ends, and all alive at the same time.
    let tiles: Vec<_> = tiles.rev().collect();
    tiles.into_iter().for_each(write);
    assert_eq!(data, expected);

    let mut data = vec![-1; len];
    let mut tensor = HostTensorMut::new(&mut data, whole).unwrap();
    tensor.par_tiles_mut::<T>().unwrap().for_each(write);
    let mut lent = vec![0; len];
    let mut counts = HostTensorMut::new(&mut lent, whole).unwrap();
    for mut tile in counts.tiles_mut::<T>().unwrap() {
        let number = tile.number();
        let inside: Vec<_> = (0..tile.size())
            .filter(|&within| T::TILING.contains(within, number))
            .map(|within| (tile.coordinate::<N>(within), &raw const tile[within]))
            .collect();
        for (coord, run) in tile.runs_mut::<N>() {
            let first = inside.iter().find(|(inside, _)| *inside == coord);
            assert_eq!(first.unwrap().1, run.as_ptr());
            for count in run {
                assert!(
                    inside
                        .iter()
                        .any(|&(_, element)| element == &raw const *count)
                );
                *count += 1;
            }
        }
    }
    let once: Vec<i64> = expected.iter().map(|&coord| (coord >= 0).into()).collect();
    assert_eq!(lent, once);
    let tensor = tensor.as_tensor();
    for tile in tensor.tiles::<T>().unwrap() {
        let elements: Vec<i64> = tile.iter().copied().collect();
        let number = tile.number();
        let coords =
            (0..T::TILING.tile().size()).filter(|&within| T::TILING.contains(within, number));
        let coords: Vec<i64> = coords
            .map(|within| linear(tile.coordinate(within)))
            .collect();
        assert_eq!(elements, coords);
        check_walks::<_, N>(tile, |coord, &element| element == linear(coord));
    }
    assert_eq!(data, expected);
}

/// Walks and runs visit each element of the tensor once, with a coordinate that belongs to it.
fn check_walks<L: HostLayout, const N: usize>(
    tensor: HostTensor<'_, i64, L>,
    belongs: impl Fn([i64; N], &i64) -> bool,
) {
    let sorted = |elements: &mut Vec<*const i64>| {
        elements.sort();
        elements.clone()
    };
    let mut all: Vec<_> = (0..tensor.size())
        .filter_map(|coord| tensor.get(coord).map(std::ptr::from_ref))
        .collect();
    assert!(
        tensor
            .iter()
            .map(std::ptr::from_ref)
            .eq(all.iter().copied())
    );
    let mut walked = Vec::new();
    for (coord, element) in tensor.elements::<N>() {
        assert!(belongs(coord, element), "{coord:?} of {tensor}");
        walked.push(std::ptr::from_ref(element));
    }
    let mut run = Vec::new();
    for (coord, elements) in tensor.runs::<N>() {
        assert!(belongs(coord, &elements[0]), "{coord:?} of {tensor}");
        run.extend(elements.iter().map(std::ptr::from_ref));
    }
    assert_eq!(sorted(&mut walked), sorted(&mut all));
    assert_eq!(sorted(&mut run), all);
}

#[test]
fn tiles_partition_the_tensor() {
    check::<BY_MODE, 2>([12, 10]);
    check::<BY_ROWS, 2>([12, 10]);
    check::<WHOLE, 1>([120]);
    check::<ONE_DIMENSIONAL, 1>([120]);
    check::<STRIDED, 2>([12, 10]);
    check::<INSIDE, 3>([8, 2, 3]);
    check::<RAGGED, 2>([12, 10]);
    check::<RAGGED_COLUMNS, 2>([12, 10]);
    check::<RAGGED_FLAT, 1>([120]);
    check::<MIXED, 2>([8, 8]);
    check::<SKEWED, 2>([3, 2]);
    check::<ALONE, 1>([7]);
}

#[test]
fn coordinates_of_tiles() {
    const T: Tiling = tile!(ragged (10,7):(7,1) / <4,3>);
    assert_eq!((T.tile().size(), T.rest().size()), (12, 9));
    assert_eq!(T.whole().to_string(), "(10,7):(7,1)");
    assert!(T.is_ragged() && T.is_disjoint());
    assert!(!tile!((10,7):(7,1) / <5,7>).is_ragged());
    // Tile (2, 2) has only rows 8 and 9 of its four, and only column 6 of its three.
    assert_eq!(T.coordinate(1, 8), [9, 6]);
    assert_eq!(T.get(1, 8), Some(9 * 7 + 6));
    assert_eq!(T.coordinate(2, 8), [10, 6]);
    assert_eq!(
        (T.get(2, 8), T.get(4, 8), T.get(12, 8), T.get(0, 9)),
        (None, None, None, None)
    );
    assert_eq!(T.slice(8).at(1), 9 * 7 + 6);
    assert_eq!(T.tiles().map(|tile| tile.at(0)).max(), Some(8 * 7 + 6));
}

#[test]
fn any_layout_goes() {
    let data: Vec<i32> = (0..200).collect();
    let rows = HostTensor::new(&data, Static::<ROWS>::new()).unwrap();
    assert_eq!((rows[[3, 4]], rows[3 + 12 * 4]), (34, 34));
    assert_eq!(rows.get([12, 0]), None);
    assert_eq!(rows.get([0, 0, 0]), None);
    assert_eq!(rows.get(120), None);
    let value: Layout = ROWS;
    assert_eq!(
        rows.iter().collect::<Vec<_>>(),
        HostTensor::new(&data, value)
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    );
    let swizzled = HostTensor::new(&data, SWIZZLED).unwrap();
    assert_eq!(swizzled[[1, 2]], SWIZZLED.at(1 + 8 * 2) as i32);
    let tile: HostTile<'_, i32, BY_MODE> = rows.tiles::<BY_MODE>().unwrap().nth(4).unwrap();
    assert_eq!(
        (tile.layout().number(), tile[[1, 2]]),
        (4, 10 * (4 + 1) + 5 + 2)
    );
    assert_eq!(tile.layout().layout().at(0), 45);
}

/// A slice has the values that the algebra gives, and no element where the whole tensor has none.
fn check_slice<L: HostLayout, const N: usize, const M: usize>(
    whole: HostTensor<'_, i64, L>,
    coord: [Option<i64>; N],
) {
    let slice = whole.slice(coord).unwrap();
    let composed = slice.layout().composed().unwrap();
    assert_eq!(slice.size(), composed.size());
    for index in 0..slice.size() {
        if let Some(&element) = slice.get(index) {
            assert_eq!(Some(element), composed.at(index), "{index} of {slice}");
        }
    }
    let inside = |kept: [i64; M]| {
        let mut kept = kept.into_iter();
        whole.get(coord.map(|fixed| fixed.or_else(|| kept.next()).unwrap()))
    };
    check_walks::<_, M>(slice, |kept, element| {
        inside(kept) == Some(element) && slice[kept] == *element
    });
    let elements = slice.iter().count();
    let all = whole.layout().is_complete();
    assert!(!all || elements as i64 == slice.size());
    assert_eq!(slice.get([0; 7]), None);
}

#[test]
fn slices() {
    layout! { CUBE = (3,(2,4),5):(40,(4,1),8); }
    let data: Vec<i64> = (0..200).collect();
    let rows = HostTensor::new(&data, Static::<ROWS>::new()).unwrap();
    check_slice::<_, 2, 1>(rows, [Some(3), None]);
    check_slice::<_, 2, 1>(rows, [None, Some(9)]);
    check_slice::<_, 2, 2>(rows, [None, None]);
    check_slice::<_, 2, 0>(rows, [Some(11), Some(9)]);
    let swizzled = HostTensor::new(&data, SWIZZLED).unwrap();
    check_slice::<_, 2, 1>(swizzled, [Some(5), None]);
    check_slice::<_, 2, 1>(swizzled, [None, Some(5)]);
    let cube = HostTensor::new(&data, CUBE).unwrap();
    check_slice::<_, 3, 2>(cube, [None, Some(5), None]);
    check_slice::<_, 3, 1>(cube, [Some(2), None, Some(4)]);
    let face = cube.slice([None, None, Some(3)]).unwrap();
    check_slice::<_, 2, 1>(face, [Some(1), None]);
    check_slice::<_, 2, 1>(face, [None, Some(6)]);
    // A coordinate of the slice has no number for a mode that is fixed.
    assert_eq!(
        (face.get([1, 6, 0]), face.get([1, 6])),
        (None, cube.get([1, 6, 3]))
    );
    assert_eq!(face.get(face.size()), None);
    for tile in rows.tiles::<RAGGED>().unwrap() {
        check_slice::<_, 2, 1>(tile, [Some(2), None]);
        check_slice::<_, 2, 1>(tile, [None, Some(1)]);
    }

    let mut copy = vec![0; 200];
    let mut matrix = HostTensorMut::new(&mut copy, ROWS).unwrap();
    let column = rows.slice([None, Some(4)]).unwrap();
    matrix
        .slice_mut([None, Some(7)])
        .unwrap()
        .copy_from(&column)
        .unwrap();
    assert_eq!((matrix[[11, 7]], matrix[[11, 4]]), (114, 0));

    assert_eq!(
        face.slice([None, Some(8)]).unwrap_err().to_string(),
        "coordinate 8 along mode 1 of Sw<0,0,0> o 24 o (3,(2,4)):(40,(4,1)) must be at least 0 and below 8"
    );
    let error = rows.slice([Some(-1), None]).unwrap_err();
    assert!(matches!(error, HostError::NoCoordinate { mode: 0, .. }));
    for error in [
        rows.slice([None]).unwrap_err(),
        rows.slice([]).unwrap_err(),
        face.slice([None, None, Some(3)]).unwrap_err(),
        HostTensor::new(&data, layout!(7))
            .unwrap()
            .slice([None])
            .unwrap_err(),
    ] {
        assert!(matches!(error, HostError::Layout(_)), "{error}");
    }
}

#[test]
fn other_layouts_are_walked() {
    let data: Vec<i64> = (0..200).collect();
    fn check<const N: usize>(data: &[i64], layout: Layout) {
        let tensor = HostTensor::new(data, layout).unwrap();
        check_walks::<_, N>(tensor, |coord, element| tensor[coord] == *element);
    }
    check::<2>(&data, ROWS);
    check::<2>(&data, COLUMNS);
    check::<2>(&data, NESTED);
    check::<2>(&data, SWIZZLED);
    check::<2>(&data, REPEATED);
    check::<1>(&data, layout!((7):(3)));
    check::<1>(&data, layout!(7));
    check::<0>(&data, layout!(()));
    let runs = HostTensor::new(&data, COLUMNS).unwrap();
    assert!(runs.runs::<2>().all(|(_, run)| run.len() == 12));
    // Tiles that overlap can be read.
    let overlapping = HostTensor::new(&data, REPEATED).unwrap();
    for tile in overlapping.tiles::<OVERLAPPING>().unwrap() {
        check_walks::<_, 2>(tile, |coord, element| overlapping[coord] == *element);
    }
}

#[test]
fn tensors_are_shown() {
    let data: Vec<i64> = (0..400).collect();
    let shown = |layout| HostTensor::new(&data, layout).unwrap().to_string();
    assert_eq!(shown(layout!(3:5)), "3:5 [0, 5, 10]");
    assert_eq!(shown(layout!(())), "():() [0]");
    assert!(shown(layout!(65)).ends_with(" 62, 63, …]"));
    let wide = shown(layout!((2,17):(17,1)));
    assert!(
        wide.ends_with(" 30 31 32 …") && wide.lines().count() == 3,
        "{wide}"
    );
    let high = shown(layout!((17,2):(2,1)));
    assert!(high.ends_with("\n 30 31\n …"), "{high}");
    let rows = HostTensor::new(&data, ROWS).unwrap();
    let last = rows.tiles::<RAGGED>().unwrap().last().unwrap();
    assert!(
        last.to_string()
            .ends_with("\n 119   -   -\n   -   -   -\n   -   -   -\n   -   -   -")
    );
    let texts = HostTensor::new(&["a", "b"], layout!((1, 2))).unwrap();
    assert_eq!(format!("{texts:?}"), "(1,2):(0,1)\n \"a\" \"b\"");
}

#[test]
fn slices_that_are_too_small() {
    let data = [0u8; 119];
    let error = HostTensor::new(&data, ROWS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "(12,10):(10,1) has the value 119 at coordinate 119, but the slice has 119 elements"
    );
    assert!(HostTensor::new(&[0u8; 120], ROWS).is_ok());
    let error = HostTensor::new(&data, BACKWARDS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "(6,4):(-4,1) has the value -20 at coordinate 5, but the slice has 119 elements"
    );
    // The largest value before the swizzle does not give the largest one after it, and the bound from the swizzle's bits is
    // larger than any value. So the values are checked one by one.
    let swizzled = layout!(Sw<2,0,2> o (5,4):(4,1));
    let largest = (0..20).map(|coord| swizzled.at(coord)).max().unwrap();
    assert!(HostTensor::new(&data[..=largest as usize], swizzled).is_ok());
    assert!(HostTensor::new(&data[..largest as usize], swizzled).is_err());
    let huge = layout!(Sw<2,0,2> o (1_000_000_000_000):(0));
    assert!(matches!(
        HostTensor::new(&data[..1], huge),
        Err(HostError::NotShown { ceiling: 3, .. })
    ));
    assert!(HostTensor::new(&data[..4], huge).is_ok());
}

#[test]
fn tilings_of_other_layouts() {
    let mut data = [0u8; 120];
    let mut tensor = HostTensorMut::new(&mut data, COLUMNS).unwrap();
    let error = tensor.tiles_mut::<BY_MODE>().err().unwrap();
    assert_eq!(
        error.to_string(),
        "the tiling divides (12,10):(10,1), but the tensor's layout is (12,10):(1,12)"
    );
    assert!(tensor.par_tiles_mut::<BY_MODE>().is_err());
    assert!(tensor.as_tensor().tiles::<BY_MODE>().is_err());
}

#[test]
#[should_panic(expected = "no element at coordinate [4, 0] of Sw<0,0,0> o 45 o (4,5):(10,1)")]
fn a_coordinate_of_no_element() {
    let mut data = [0u8; 120];
    let mut tensor = HostTensorMut::new(&mut data, ROWS).unwrap();
    let mut tile = tensor.tiles_mut::<BY_MODE>().unwrap().nth(4).unwrap();
    tile[[4, 0]] = 1;
}
