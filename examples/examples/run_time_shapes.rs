//! Layouts of shapes that are known only when the program runs: facts are stated once, and checked when a layout is built.
//!
//! ```text
//! cargo run --release --example run_time_shapes
//! ```

use cute_runtime::{DynamicLayout, DynamicTiling, HostTensor, layout, tile};

layout! {
    // Facts for every m and n of this program. The algebra relies on them, and `try_new` checks them.
    where m % 4 == 0, m >= 4;
    /// A column-major matrix, m × n.
    pub MATRIX = (m,n):(1,m);
    /// The same in vectors of four elements of a column.
    pub VECTORS = logical_divide(MATRIX, <4,_>);
}

tile! {
    /// Tiles of 8 × 3. The last ones may hang over the edge.
    pub TILES = ragged MATRIX / <8,3>;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A type with one function for all sizes. The integers are those of the expression, in the order in which they appear.
    let matrix = MATRIX::try_new(12, 7)?;
    println!("matrix    {matrix}: 12 × 7, {} elements", matrix.size());
    println!(
        "vectors   {}: the same, four of a column together",
        VECTORS::try_new(12, 7)?
    );

    // A fact that does not hold is an error with the numbers.
    let refused = VECTORS::try_new(10, 7).unwrap_err();
    println!("refused   10 × 7: {refused}");
    assert_eq!(
        refused.to_string(),
        "`m % 4 == 0` does not hold for m = 10, n = 7"
    );

    // Tiles of a slice of the host. Together they cover each element once.
    let data: Vec<u32> = (0..12 * 7).collect();
    let tensor = HostTensor::new(&data, matrix)?;
    let tiles = TILES::try_new(12, 7)?;
    let mut seen = 0;
    for tile in 0..tiles.rest_size() {
        let sum: u32 = tiles
            .elements::<2>(tile)
            .map(|(coordinate, _)| tensor[coordinate])
            .sum();
        println!(
            "tile {tile}    {} of 24 elements are inside of the matrix, and their sum is {sum}",
            tiles.elements::<2>(tile).count()
        );
        seen += sum;
    }
    let all: u32 = data.iter().sum();
    println!("sum       {seen} of all tiles, {all} without tiles");
    assert_eq!(seen, all);

    // An expression takes integers from the variables around it.
    let (rows, columns) = (64, 48);
    let tiled = layout!(zipped_divide((rows,columns):row, <16,16>))?;
    println!("tiled     {tiled}: {rows} × {columns} in tiles of 16 × 16");
    Ok(())
}
