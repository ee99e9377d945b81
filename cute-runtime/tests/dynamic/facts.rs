//! Facts and run-time integers together, as a program uses them: layouts of layouts, slices, and the tiles of a tensor.

use cute_runtime::{DynamicCoordinateLayout, DynamicTiling, HostTensor, layout, tile};

layout! {
    where m % 4 == 0, m >= 4;
    pub COLUMNS = (m,n):(1,m);
    pub VECTORS = logical_divide(COLUMNS, <4,_>);
    pub ELEMENTS = size(COLUMNS);
}
tile! { mut BLOCKS = ragged COLUMNS / <4,2>; }

#[test]
fn facts_hold_in_layouts_of_layouts() {
    let vectors = VECTORS::try_new(8, 3).unwrap();
    assert_eq!(vectors.to_string(), "((4,2),3):((1,4),8)");
    assert_eq!(
        VECTORS::try_new(6, 3).unwrap_err().to_string(),
        "`m % 4 == 0` does not hold for m = 6, n = 3"
    );
    assert_eq!(ELEMENTS(8, 3), Ok(24));
    // The expression takes the integers of `COLUMNS` from the variables of these names.
    let (m, n) = (8, 3);
    assert_eq!(layout!(COLUMNS o 4:1).unwrap().to_string(), "4:1");
}

#[test]
fn slices_and_coordinates() {
    let (m, n, k) = (3, 4, 2);
    let (row, offset) = layout!(slice_and_offset((m,n):(n,1), (k,_))).unwrap();
    assert_eq!((row.to_string().as_str(), offset), ("(4):(1)", 8));
    let turned = layout!((m,n):(1@1,1@0)).unwrap();
    assert_eq!(turned.at(4), [1, 1]);
}

/// Of the two columns of the last block, one lies past the edge.
#[test]
fn tiles_have_the_elements_inside() {
    let (m, n) = (8, 3);
    let data: Vec<i64> = (0..24).collect();
    let tensor = HostTensor::new(&data, COLUMNS::try_new(m, n).unwrap()).unwrap();
    let blocks = BLOCKS::try_new(m, n).unwrap();
    let last = blocks
        .elements(3)
        .map(|(coordinate, value)| (coordinate, tensor[coordinate] == value));
    assert_eq!(
        last.collect::<Vec<_>>(),
        [
            ([4, 2], true),
            ([5, 2], true),
            ([6, 2], true),
            ([7, 2], true)
        ]
    );
}
