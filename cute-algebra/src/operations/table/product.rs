//! Products.

use crate::divide::Form;
use crate::operations::operation::{Operation, ragged_row, row};
use crate::product::{Order, Product, product_by, ranked_product};
use crate::tile_to_shape::tile;

/// The code of a product.
macro_rules! product {
    ($product:expr) => {
        both!(|args, _| {
            if let Some(product) = args.product_of_bits($product)? {
                return Ok(product);
            }
            match $product {
                Product::By(form) => {
                    let tiler = args.tiler(1)?;
                    args.map(|d, a| product_by(d, a, &tiler, form))
                }
                Product::Ranked(order) => {
                    let b = args.layout(1)?;
                    args.map(|d, a| ranked_product(d, a, &b, order))
                }
            }
        })
    };
}

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("logical_product", "layout, tiler", 2..=2,
        "((layout, copies), …): each mode, and the copies of it",
        "logical_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Logical)))
        .refuses("copies would overlap, or no layout has their places",
            "logical_product((12,2):(59,5), (2,3):(3,1))"),
    row("zipped_product", "layout, tiler", 2..=2,
        "((layout, …), (copies, …)): the layout in mode 0, and all copies in mode 1",
        "zipped_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Zipped)))
        .refuses("copies would overlap, or no layout has their places",
            "zipped_product((12,2):(59,5), (2,3):(3,1))"),
    row("tiled_product", "layout, tiler", 2..=2,
        "((layout, …), copies, …): the layout in mode 0, and then the copies of each mode",
        "tiled_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Tiled)))
        .refuses("copies would overlap, or no layout has their places",
            "tiled_product((12,2):(59,5), (2,3):(3,1))"),
    row("flat_product", "layout, tiler", 2..=2,
        "(layout, …, copies, …): the modes of the layout, and then the copies of each mode",
        "flat_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Flat)))
        .refuses("copies would overlap, or no layout has their places",
            "flat_product((12,2):(59,5), (2,3):(3,1))"),
    row("blocked_product", "layout, layout", 2..=2,
        "((A0, B0), …): B numbers copies of A, which stay together as blocks",
        "blocked_product((2,5):(5,1), (3,4):(1,3))",
        product!(Product::Ranked(Order::Blocked)))
        .refuses("copies would overlap, or no layout has their places",
            "blocked_product((12,2):(59,5), (2,3):(3,1))"),
    row("raked_product", "layout, layout", 2..=2,
        "((B0, A0), …): B numbers copies of A, whose elements alternate",
        "raked_product((2,5):(5,1), (3,4):(1,3))",
        product!(Product::Ranked(Order::Raked)))
        .refuses("copies would overlap, or no layout has their places",
            "raked_product((12,2):(59,5), (2,3):(3,1))"),
    ragged_row("tile_to_shape", "layout, shape[, order]", 2..=3,
        "the block repeated over a shape, along its modes from left to right or in the given order",
        "tile_to_shape((2,2):(2,1), (4,6))",
        both!(|args, overhang| {
            let (shape, order) = (args.shape(1)?, args.order(2)?);
            args.map(|d, a| tile(d, a, &shape, order.as_ref(), overhang))
        }))
        .refuses("a mode of the block does not divide that of the shape",
            "tile_to_shape((2,2):(2,1), (4,5))"),
];
