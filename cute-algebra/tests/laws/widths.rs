//! Operations that take the width of elements, for every width of an element type and for others.

use cute_algebra::notation::eval_str;
use cute_algebra::*;
use cute_chip::ElementType;

fn shown(text: &str) -> String {
    match eval_str(text) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn elements_of_4_bits() {
    for (text, expected) in [
        ("recast((8,128):(128,1), 4, 8)", "(8,64):(64,1)"),
        ("recast((8,64):(64,1), 8, 4)", "(8,128):(128,1)"),
        ("recast((8,8):(8,1), 32, 4)", "(8,64):(64,1)"),
        (
            "recast(Sw<3,5,3> o (8,256):(256,1), 4, 8)",
            "Sw<3,4,3> o 0 o (8,128):(128,1)",
        ),
        ("smem_atom(K, SW128, 4)", "Sw<3,5,3> o 0 o (8,256):(256,1)"),
        ("smem_atom(MN, SW32, 4)", "Sw<1,5,3> o 0 o (64,8):(1,64)"),
        ("bank_conflicts((64,128):(128,1), 4, (32,8):(64,1))", "1"),
        (
            "copy_atom_val(UniversalCopy<u4>, 4, ValLayoutSrc)",
            "(1,1):(0,1)",
        ),
        (
            "copy_atom_val(UniversalCopy<float_e2m1_t>, 1, ValLayoutSrc)",
            "(1,4):(0,1)",
        ),
        (
            "copy_atom_val(UniversalCopy<uint128_t>, 4, ValLayoutSrc)",
            "(1,32):(0,1)",
        ),
        (
            "tensor_map((8,64):(64,1), (8,64):(64,1), 4)",
            "TMA cannot copy (8,64):(64,1) of 4-bit elements: elements have 8, 16, 32 or 64 bits",
        ),
        (
            "matrix_operand((8,64):(64,1), 4)",
            "ldmatrix and stmatrix cannot move (8,64):(64,1) of 4-bit elements: elements have 8, 16, 32 or 64 bits",
        ),
        (
            "wgmma_operand((64,64):(64,1), 4)",
            "wgmma cannot read (64,64):(64,1) of 4-bit elements: operands have 8, 16 or 32 bits",
        ),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

/// An operation takes the number of bits, and the name of a type has the help that says so.
#[test]
fn names_of_types_are_no_widths() {
    for element in ElementType::ALL {
        let names = element.cute().iter().filter(|name| name.ends_with("_t"));
        for name in names.chain([&element.name()]) {
            let error = shown(&format!("recast(64:1, {name}, 64)"));
            let bits = element.bits();
            let help = format!("help: the width of an element is given in bits: `{bits}`");
            assert!(error.ends_with(&help), "{name}: {error}");
        }
    }
    // A value may have these names.
    for name in ["u4", "i4", "e2m1"] {
        let error = shown(&format!("({name},2):(2,1)"));
        assert!(error.contains("is a run-time integer"), "{error}");
    }
}

/// A mode of the hardware swizzles bytes, whatever the elements are.
#[test]
fn a_mode_is_one_swizzle_of_bytes() {
    for mode in SwizzleMode::ALL {
        for element in ElementType::ALL {
            let bits = element.bits();
            let swizzle = Swizzle::from_mode(mode, bits).expect("a swizzle");
            assert_eq!(swizzle.mode(bits), Some(mode), "{element}");
            let row = 8 * mode.span() / i64::from(bits);
            let tile = Layout::new([8, row], [row, 1]).unwrap();
            let tile = ComposedLayout::new(swizzle, 0, tile).unwrap();
            let bytes = tile.recast(bits.into(), 8).unwrap();
            assert_eq!(bytes.swizzle().mode(8), Some(mode), "{element}");
        }
    }
}

/// Each operation has a value or an error for every width.
#[test]
fn no_width_is_beyond_an_operation() {
    let widths = [0, 1, 2, 3, 5, 12, 128, 1 << 32, i64::MAX, -4];
    let widths = widths
        .into_iter()
        .chain(ElementType::ALL.iter().map(|it| it.bits().into()));
    let mut values = 0;
    for bits in widths {
        for text in [
            "recast((64,128):(128,1), BITS, 8)",
            "recast((64,128):(128,1), 8, BITS)",
            "recast((64,128):(128,1), BITS, BITS)",
            "smem_atom(K, SW128, BITS)",
            "smem_tile_to_shape(MN, SW64, BITS, (128,256))",
            "tensor_map((64,128):(128,1), (64,1024):(1024,1), BITS)",
            "matrix_operand((64,128):(128,1), BITS)",
            "wgmma_operand((64,128):(128,1), BITS)",
            "bank_conflicts((64,128):(128,1), BITS, (32,8):(64,1))",
            "conflict_free((64,128):(128,1), BITS, (32,8):(64,1))",
            "best_swizzle((64,128):(128,1), BITS, (32,8):(64,1))",
            "conflict_free_map((64,128):(128,1), BITS, (32,8):(64,1))",
            "global_access((64,128):(128,1), BITS, (32,8):(64,1))",
            "copy_atom_val(UniversalCopy<u128>, BITS, ValLayoutSrc)",
            "copy_atom_val(SM75_U32x4_LDSM_N, BITS, ValLayoutDst)",
            "tiled_copy(UniversalCopy<u128>, BITS, 32:1, 32:1, TiledLayout_TV)",
        ] {
            let text = text.replace("BITS", &bits.to_string());
            values += usize::from(eval_str(&text).is_ok());
        }
    }
    assert!(values > 100, "{values}");
}
