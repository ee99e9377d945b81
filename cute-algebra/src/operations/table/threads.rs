//! Threads and their values.

use crate::hopper::atoms::{CopySide, MmaOperand};
use crate::operations::hopper::{SIDES, shifted};
use crate::operations::operation::Run::Numbers;
use crate::operations::operation::{Operation, ragged_row, row};
use crate::tuple::IntTuple;

const OPERANDS: [MmaOperand; 3] = [MmaOperand::A, MmaOperand::B, MmaOperand::C];
const TABLE: &str = "the layouts of a hardware operation are tables of numbers";

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("mma_atom", "operation, Shape_MNK | ThrID | ALayout | BLayout | CLayout", 2..=2,
        "the shape of an MMA operation, its threads, or the layout that maps (thread, value) to elements of an operand",
        "mma_atom(SM80_16x8x8_F32F16F16F32_TN, CLayout)",
        Numbers(|args, _| {
            let atom = args.mma_atom(0)?;
            Ok(match args.field(1, &["Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout"])? {
                0 => IntTuple::from(atom.shape_mnk()).into(),
                1 => atom.thr_id().into(),
                operand => atom.layout(OPERANDS[operand - 2]).into(),
            })
        }, TABLE))
        .refuses("there is no such operation",
            "mma_atom(SM80_16x8x9_F32F16F16F32_TN, CLayout)"),
    row("copy_atom", "operation, ThrID | SrcLayout | DstLayout | RefLayout", 2..=2,
        "the threads of a copy operation, or the layout that maps (thread, value) to bits",
        "copy_atom(SM75_U32x1_LDSM_N, SrcLayout)",
        Numbers(|args, _| {
            let atom = args.copy_atom(0)?;
            Ok(match args.field(1, &["ThrID", "SrcLayout", "DstLayout", "RefLayout"])? {
                0 => atom.thr_id().into(),
                side => atom.layout(SIDES[side - 1]).into(),
            })
        }, TABLE))
        .refuses("there is no such operation",
            "copy_atom(SM75_U32x3_LDSM_N, SrcLayout)"),
    row("copy_atom_val", "operation, element bits, ValLayoutSrc | ValLayoutDst | ValLayoutRef", 3..=3,
        "the layout of a copy operation that maps (thread, value) to elements",
        "copy_atom_val(SM75_U32x1_LDSM_N, 16, ValLayoutSrc)",
        Numbers(|args, _| {
            let atom = args.copy_atom(0)?.in_elements(args.number(1)?)?;
            let side = args.field(2, &["ValLayoutSrc", "ValLayoutDst", "ValLayoutRef"])?;
            Ok(atom.layout(SIDES[side]).into())
        }, TABLE))
        .refuses("the bits of a thread are no whole number of elements",
            "copy_atom_val(SM75_U32x1_LDSM_N, 64, ValLayoutSrc)"),
    row("tiled_mma", "operation, atom layout, permutation, ThrLayoutVMNK | layoutA_TV | layoutB_TV | layoutC_TV", 4..=4,
        "the threads of an MMA operation repeated over an atom layout, or the layout that maps (thread, value) to elements of the whole operand",
        "tiled_mma(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutC_TV)",
        Numbers(|args, _| {
            let mma = args.tiled_mma(0)?;
            Ok(match args.field(3, &["ThrLayoutVMNK", "layoutA_TV", "layoutB_TV", "layoutC_TV"])? {
                0 => mma.thr_layout_vmnk().into(),
                operand => mma.layout_tv(OPERANDS[operand - 1])?.into(),
            })
        }, TABLE))
        .refuses("the permutation does not fit the repeated operation",
            "tiled_mma(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), <24,_,_>, layoutC_TV)"),
    ragged_row("partition_A", "operation, atom layout, permutation, M x K layout, thread", 5..=5,
        "what a thread holds of A, and the value where it begins",
        "partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::A, overhang), TABLE))
        .refuses("the tile of the operation does not divide the layout, or there is no such thread",
            "partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_B", "operation, atom layout, permutation, N x K layout, thread", 5..=5,
        "what a thread holds of B, and the value where it begins",
        "partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::B, overhang), TABLE))
        .refuses("the tile of the operation does not divide the layout, or there is no such thread",
            "partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_C", "operation, atom layout, permutation, M x N layout, thread", 5..=5,
        "what a thread holds of C, and the value where it begins",
        "partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::C, overhang), TABLE))
        .refuses("the tile of the operation does not divide the layout, or there is no such thread",
            "partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 200)")
        .gives(&["layout", "offset"]),
    row("partition_shape_A", "operation, atom layout, permutation, shape", 4..=4,
        "the shape of what a thread holds of A",
        "partition_shape_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::A, &args.shape(3)?)?.into()), TABLE))
        .refuses("the tile of the operation does not divide the shape",
            "partition_shape_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32))"),
    row("partition_shape_B", "operation, atom layout, permutation, shape", 4..=4,
        "the shape of what a thread holds of B",
        "partition_shape_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::B, &args.shape(3)?)?.into()), TABLE))
        .refuses("the tile of the operation does not divide the shape",
            "partition_shape_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32))"),
    row("partition_shape_C", "operation, atom layout, permutation, shape", 4..=4,
        "the shape of what a thread holds of C",
        "partition_shape_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::C, &args.shape(3)?)?.into()), TABLE))
        .refuses("the tile of the operation does not divide the shape",
            "partition_shape_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64))"),
    row("tiled_copy", "operation, element bits, threads, values, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 5..=5,
        "the copy that a layout of threads does with these values each: its tile, or the layout that maps (thread, value) to elements",
        "tiled_copy(UniversalCopy<u128>, 16, (4,8):row, (1,8), TiledLayout_TV)",
        Numbers(|args, _| { let copy = args.tiled_copy(0)?; args.tiled_copy_field(&copy, 4) }, TABLE))
        .refuses("the values of a thread are no whole number of copies",
            "tiled_copy(UniversalCopy<u128>, 16, (4,8):row, (1,4), TiledLayout_TV)"),
    ragged_row("partition_S", "operation, element bits, threads, values, layout, thread", 6..=6,
        "what a thread reads, and the value where it begins",
        "partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, 9)",
        Numbers(|args, overhang| { let copy = args.tiled_copy(0)?; args.copy_partition(&copy, CopySide::Src, 4, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (6,64):row, 9)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_D", "operation, element bits, threads, values, layout, thread", 6..=6,
        "what a thread writes, and the value where it begins",
        "partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), Sw<3,3,3> o (8,64):row, 9)",
        Numbers(|args, overhang| { let copy = args.tiled_copy(0)?; args.copy_partition(&copy, CopySide::Dst, 4, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, 32)")
        .gives(&["layout", "offset"]),
    row("tiled_copy_A", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy that the threads of an MMA operation do with what they hold of A: its tile, or the layout that maps (thread, value) to elements",
        "tiled_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::A)?; args.tiled_copy_field(&copy, 5) }, TABLE))
        .refuses("the values of a thread are no whole number of copies",
            "tiled_copy_A(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)"),
    row("tiled_copy_B", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy that the threads of an MMA operation do with what they hold of B: its tile, or the layout that maps (thread, value) to elements",
        "tiled_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::B)?; args.tiled_copy_field(&copy, 5) }, TABLE))
        .refuses("the values of a thread are no whole number of copies",
            "tiled_copy_B(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)"),
    row("tiled_copy_C", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy that the threads of an MMA operation do with what they hold of C: its tile, or the layout that maps (thread, value) to elements",
        "tiled_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, Tiler_MN)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::C)?; args.tiled_copy_field(&copy, 5) }, TABLE))
        .refuses("the values of a thread are no whole number of copies",
            "tiled_copy_C(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)"),
    ragged_row("partition_S_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in the copy of A, and the value where it begins",
        "partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::A)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_S_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in the copy of B, and the value where it begins",
        "partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::B)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_S_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in the copy of C, and the value where it begins",
        "partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::C)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in the copy of A, and the value where it begins",
        "partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::A)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in the copy of B, and the value where it begins",
        "partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::B)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)")
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in the copy of C, and the value where it begins",
        "partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::C)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .refuses("the tile of the copy does not divide the layout, or there is no such thread",
            "partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64):row, 1)")
        .gives(&["layout", "offset"]),
    row("retile_of_copy_A", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "a thread's registers of A in the order in which the copy of A takes them",
        "retile_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::A)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE))
        .refuses("the registers are no whole number of copies",
            "retile_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((3,2),2,4))"),
    row("retile_of_copy_B", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "a thread's registers of B in the order in which the copy of B takes them",
        "retile_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (2,4,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::B)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE))
        .refuses("the registers are no whole number of copies",
            "retile_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (3,4,4))"),
    row("retile_of_copy_C", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "a thread's registers of C in the order in which the copy of C takes them",
        "retile_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::C)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE))
        .refuses("the registers are no whole number of copies",
            "retile_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((3,2),2,4))"),
];
