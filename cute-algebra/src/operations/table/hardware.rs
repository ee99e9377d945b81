//! Tiles as the hardware takes them.

use crate::hopper::atoms::{smem_atom, smem_tile_to_shape};
use crate::hopper::ldmatrix::matrix_operand;
use crate::hopper::tensor_map::tensor_map;
use crate::hopper::wgmma::{Major, wgmma_operand};
use crate::operations::hopper::refused;
use crate::operations::operation::Run::Numbers;
use crate::operations::operation::{Operation, row};
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;

const TABLE: &str = "the layouts of a hardware operation are tables of numbers";
const FORMAT: &str = "the fields of a descriptor are numbers";

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("smem_atom", "K | MN, INTER | SW32 | SW64 | SW128, element bits", 3..=3,
        "the smallest tile of shared memory with a swizzle mode, in its swizzled layout",
        "smem_atom(K, SW128, 16)",
        Numbers(|args, _| Ok(Value::simplest(smem_atom(args.major(0)?, args.swizzle_mode(1)?, args.number(2)?)?)), TABLE))
        .refuses("the hardware has no such tile of these elements",
            "smem_atom(K, SW128, 24)"),
    row("smem_tile_to_shape", "K | MN, INTER | SW32 | SW64 | SW128, element bits, shape[, order]", 4..=5,
        "the smallest tile of shared memory with a swizzle mode, repeated over a shape",
        "smem_tile_to_shape(K, SW128, 16, (128,64))",
        Numbers(|args, _| {
            let order = args.order(4)?;
            let (major, mode, bits) = (args.major(0)?, args.swizzle_mode(1)?, args.number(2)?);
            Ok(Value::simplest(smem_tile_to_shape(
                major,
                mode,
                bits,
                &args.shape(3)?,
                order.as_ref(),
            )?))
        }, TABLE))
        .refuses("the tile does not divide the shape",
            "smem_tile_to_shape(K, SW128, 16, (128,60))"),
    row("tensor_map", "tile, tensor, element bits", 3..=3,
        "what TMA needs to copy a tile: order of the modes, extents, byte strides, box, swizzle, and the number of boxes",
        "tensor_map(smem_atom(K, SW128, 16), (4096,1000):(1000,1), 16)",
        Numbers(|args, _| {
            let map = tensor_map(args.bits(2)?, &args.composed(0)?, &args.layout(1)?)
                .map_err(|error| refused(&error))?;
            let order: Vec<i64> = map.order.iter().map(|&mode| mode as i64).collect();
            Ok(vec![
                Value::integers(&order),
                Value::integers(&map.extents),
                Value::integers(&map.strides),
                Value::integers(&map.box_extents),
                Value::Word(map.plan.swizzle.name().into()),
                (map.plan.pieces.len() as i64).into(),
            ]
            .into())
        }, FORMAT))
        .refuses("TMA cannot copy such a tile, or cannot read such a tensor",
            "tensor_map((64,64):(64,1), (100,99):(99,1), 16)")
        .gives(&["order of the modes", "extents", "byte strides", "box", "swizzle", "boxes"]),
    row("matrix_operand", "tile, element bits", 2..=2,
        "what ldmatrix and stmatrix need to move a tile: whether transposed, how many matrices at once, where rows begin, and bank conflicts",
        "matrix_operand(smem_atom(MN, SW64, 16), 16)",
        Numbers(|args, _| {
            let operand = matrix_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| refused(&error))?;
            let conflicts = operand.conflicts as i64;
            Ok(vec![operand.transposed.into(), operand.count.into(), Value::simplest(operand.rows), conflicts.into()].into())
        }, FORMAT))
        .refuses("ldmatrix cannot read the tile",
            "matrix_operand((8,8):(9,1), 16)")
        .gives(&["transposed", "matrices at once", "rows", "bank conflicts"]),
    row("wgmma_operand", "tile, element bits", 2..=2,
        "the fields of a wgmma descriptor: K or MN, swizzle, leading and stride byte offset; and where each instruction starts",
        "wgmma_operand(smem_atom(K, SW128, 16), 16)",
        Numbers(|args, _| {
            let operand = wgmma_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| refused(&error))?;
            let major = match operand.major {
                Major::K => "K",
                Major::MN => "MN",
            };
            Ok(vec![
                Value::Word(major.into()),
                Value::Word(operand.swizzle.name().into()),
                operand.leading.into(),
                operand.stride.into(),
                Value::integers(&operand.steps),
            ]
            .into())
        }, FORMAT))
        .refuses("wgmma cannot read the tile",
            "wgmma_operand((64,64):(65,1), 16)")
        .gives(&["major", "swizzle", "leading byte offset", "stride byte offset", "starts of the instructions"]),
];
