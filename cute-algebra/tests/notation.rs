//! The notation: values, printing and reading back, positions of errors, and limits.

use cute_algebra::notation::{MAX_NESTING, MAX_TOKENS, eval_str};
use cute_algebra::{ComposedLayout, Coord, IntTuple, Layout, Stride, Swizzle, Tiler, Value};
use proptest::prelude::*;

/// The expected value of each text.
#[test]
fn values() {
    for (text, value) in [
        ("24", "24"),
        ("(24)", "(24)"),
        ("()", "()"),
        ("_24", "24"),
        ("0x18:1_0", "24:10"),
        ("-3", "-3"),
        ("( 2 , ( 3 , 4 ) )", "(2,(3,4))"),
        ("(2,)", "(2)"),
        ("24:1", "24:1"),
        ("(4,8):row", "(4,8):(8,1)"),
        ("(4,8):col", "(4,8):(1,4)"),
        ("(2,3):(-1,2)", "(2,3):(-1,2)"),
        ("(1,(_,2))", "(1,(_,2))"),
        ("_", "_"),
        ("<3:4,8,_,(2,2)>", "<3:4,8:1,_,<2:1,2:1>>"),
        ("1@0", "1@0"),
        ("{2*3}@1", "6@1"),
        ("(10.div_ceil(4),{7/2})", "(3,3)"),
        ("{7/2}:{9/3}", "3:3"),
        ("(1 + 2*{7 - 4}) % 4", "3"),
        ("crd2idx(5, Sw<2,0,2>)", "4"),
        ("(2@1@0,0@5)", "(2@1@0,0)"),
        ("(4,5):(1@1,1@0)", "(4,5):(1@1,1@0)"),
        ("Sw<3,4,-3>", "Sw<3,4,-3>"),
        ("Sw<3,4,3> o (8,8):(8,1)", "Sw<3,4,3> o 0 o (8,8):(8,1)"),
        ("Sw<3,4,3> o -8 o (8,8)", "Sw<3,4,3> o -8 o (8,8):(1,8)"),
        ("Sw<0,4,3> o (8,8):(8,1)", "(8,8):(8,1)"),
        (
            "Sw<2,0,3> o 0 o Sw<2,0,3> o 0 o (8,8):(8,1)",
            "Sw<0,0,0> o 0 o (8,8):(8,1)",
        ),
        ("Sw<2,0,3> o Sw<2,0,3> o (8,8):(8,1)", "(8,8):(8,1)"),
        (
            "Sw<3,3,3> o (8,64):(64,1) o (4,8):(16,1)",
            "Sw<3,3,3> o 0 o (4,8):(2,64)",
        ),
        ("(3:1, 4:3)", "(3,4):(1,3)"),
        ("(3:1)", "3:1"),
        ("(size((4,8)), 2)", "(32,2)"),
        ("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("(4,3):(3,1) then (6,2):(8,2)", "((2,2),3):((24,2),8)"),
        ("(8:2 o 4:2) o 2:1", "2:4"),
        ("8:2 o 4:2 o 2:1", "2:4"),
        ("8:1 / 2:1", "(2,4):(1,2)"),
        ("2+3", "5"),
        ("8+24/2*4-1", "55"),
        ("(8+24)/2", "16"),
        ("24/(2+4)", "4"),
        ("-7/2", "-3"),
        ("7 % 4 * 2", "6"),
        ("2*(3+4)", "14"),
        ("size((4,8))/2", "16"),
        ("24:1 / 4", "(4,6):(1,4)"),
        ("(4,8)/<2,4>", "((2,4),(2,2)):((1,4),(2,16))"),
        ("(4*2,16/2):(16/2,3-2)", "(8,8):(8,1)"),
        ("4+4:2*3", "8:6"),
        ("(size(8:1),4):row", "(8,4):(4,1)"),
        ("-(2+3)", "-5"),
        ("<8/2, 4>", "<4:1,4:1>"),
        (
            "Sw<1+2,4,3> o (8,64):(64,1)",
            "Sw<3,4,3> o 0 o (8,64):(64,1)",
        ),
        ("(4,5):(1/2@0,1@1)", "((2,2),5):((0,1@0),1@1)"),
        (
            "(8,(2,2)):(6/4@0,(1@1,-7/3@2))",
            "((2,4),(2,2)):((1@0,3@0),(1@1,-3@2))",
        ),
        ("ragged logical_divide(10:1, 4:1)", "(4,3):(1,4)"),
        ("ragged (10:1 / 4:1)", "(4,3):(1,4)"),
        ("ragged 10:1 / 4:1", "(4,3):(1,4)"),
        ("(ragged logical_divide(10:1, 4:1)) o 2:1", "2:1"),
        ("compatible(24, (4,6))", "true"),
        ("smem_atom(K, SW128, 16)", "Sw<3,3,3> o 0 o (8,64):(64,1)"),
        (
            "mma_atom(SM90_64x32x16_F32BF16BF16_SS< K, MN >, CLayout)",
            "((4,8,4),(2,2,4)):((128,1,16),(64,8,512))",
        ),
        (
            "mma_atom(SM90_64x32x16_F32BF16BF16_SS, Shape_MNK)",
            "(64,32,16)",
        ),
        (
            "make_identity_layout((16,8)) o mma_atom(SM80_16x8x8_F32F16F16F32_TN, CLayout)",
            "((4,8),(2,2)):((2@1,1@0),(1@1,8@0))",
        ),
        (
            "copy_atom_val(UniversalCopy<uint128_t>, 16, ValLayoutSrc)",
            "(1,8):(0,1)",
        ),
        (
            "tiled_copy(UniversalCopy<u128>, 16, (16,8):row, (1,8):row, layoutS_TV)",
            "((8,16),(8,1)):((128,1),(16,0))",
        ),
        (
            "partition_C(SM80_16x8x16_F32F16F16F32_TN, (2,2,1), <32,32,16>, Sw<3,3,3> o (64,64):row, 37)",
            "[Sw<3,3,3> o 1090 o ((2,2),2,4):((1,512),2048,16),0]",
        ),
    ] {
        match eval_str(text) {
            Ok(found) => assert_eq!(found.to_string(), value, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

/// The text of a value evaluates to the same value.
#[test]
fn round_trips() {
    fn check<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Display>(texts: &[&str]) {
        for text in texts {
            let value: T = text.parse().unwrap();
            assert_eq!(value.to_string(), *text);
        }
    }
    check::<IntTuple>(&["24", "(24)", "()", "(2,(3,(4)))", "(-1,0)"]);
    check::<Coord>(&["_", "3", "(_,3)", "(1,(_,2))"]);
    check::<Stride>(&["24", "(1,0)", "(2@1@0,(3@1,0))"]);
    check::<Layout>(&[
        "24:1",
        "((2,2),3):((24,2),8)",
        "(4,5):(1@1@0,-2@0@0)",
        "():()",
    ]);
    check::<Swizzle>(&["Sw<3,4,3>", "Sw<0,0,0>"]);
    check::<ComposedLayout>(&["Sw<2,0,-3> o 5 o (8,8):(8,1)"]);
    check::<Tiler>(&[
        "<3:3,(2,4):(1,8)>",
        "<_,<2:1,_>>",
        "4:1",
        "_",
        "<>",
        "<<>,8:1>",
    ]);
    check::<Value>(&["24", "(2,_)", "1@0", "(1@0,2)", "4:1"]);
    assert_eq!("<(),8>".parse::<Value>().unwrap().to_string(), "<<>,8:1>");
    // A text that can be of two kinds gives the same value, whichever way it was obtained.
    assert_eq!("_".parse::<Value>().unwrap(), Coord::Leaf(None).into());
    assert_eq!("0@2".parse::<Value>().unwrap(), Value::Int(0));
    assert_eq!(eval_str("stride((4,8):(8,1))"), "(8,1)".parse());
    assert_eq!(
        "(4,8)".parse::<Layout>().unwrap().to_string(),
        "(4,8):(1,4)"
    );
    assert_eq!("(4,8)".parse::<Tiler>().unwrap().to_string(), "<4:1,8:1>");
}

/// Each error points at these bytes of the text, and its message contains this part.
#[test]
fn errors_point_at_the_token() {
    for (text, token, message) in [
        ("(4,8):(1,(2))", "(2)", "8 in the shape meets (2)"),
        (
            "(1/2@0,4@1)",
            "1/2@0",
            "a stride that is a fraction needs an extent",
        ),
        ("shape_div((6,2), 4)", "6", "6 is not a multiple of 4"),
        (
            "shape_div((6,2), 4, HALF)",
            "HALF",
            "expected CEIL, FLOOR or EXACT",
        ),
        (
            "extension((2,5):(1,4), 13)",
            "13",
            "13 is not a multiple of 2",
        ),
        ("(4,(2,8)):(1,4)", "4", "(2,8) in the shape meets 4"),
        ("(4,0):(1,2)", "0", "at least 1"),
        ("(5,3):(1,10) o 6:2", "2", "carry over the boundary 5"),
        ("composition((5,3):(1,10), (2,6):(1,2))", "2", "carry over"),
        ("(4,8):(1,4) 7", "7", "found `7`"),
        ("(4;8)", ";", "expected `,` or `)`"),
        ("foo(4:1)", "foo", "unknown operation"),
        ("Sw<3,4,2>", "Sw<3,4,2>", "overlap"),
        ("Sw<-3,4,3>", "-3", "bits"),
        ("A o 4:1", "A", "unknown name `A`"),
        ("K o 4:1", "K", "unknown name `K`"),
        ("A<B> o 4:1", "A<B>", "unknown name `A<B>`"),
        ("A <4,8>", "<", "`<`"),
        (
            "mma_atom(SM90_64x12x16_F32F16F16_SS<K,K>, CLayout)",
            "SM90_64x12x16_F32F16F16_SS<K,K>",
            "nearest: 8 and 16",
        ),
        (
            "mma_atom(SM80_8x8x4_F64F64F64F64_TN, DLayout)",
            "DLayout",
            "there are Shape_MNK",
        ),
        (
            "partition_C(SM80_8x8x4_F64F64F64F64_TN, (2,2,1), <_,20,_>, (64,64):row, 0)",
            "20",
            "blocks of 16 do not fill 20",
        ),
        (
            "partition_C(SM80_8x8x4_F64F64F64F64_TN, (2,2,1), <_,_,_>, (64,60):(60,1), 0)",
            "60",
            "blocks of 16 do not fill 60: use blocks of 15 or 20, an extent of 48 or 64, or `ragged`",
        ),
        (
            "partition_S(UniversalCopy<u128>, 32, (8,4), (1,4), (32,32), 32)",
            "32",
            "thread 32 is out of range: it must be at least 0 and below 32",
        ),
        (
            "tiled_copy(SM75_U32x4_LDSM_N, 16, (8,3), (1,8), layoutS_TV)",
            "(8,3)",
            "the tiled copy has 24 threads, which is not a multiple of the 32",
        ),
        ("(m,4)", "m", "run-time"),
        ("3∘4", "∘", "`∘`"),
        (
            "complement(coalesce((2,2):(1,3)), 12)",
            "coalesce((2,2):(1,3))",
            "not a multiple of 2",
        ),
        (
            "99999999999999999999:1",
            "99999999999999999999",
            "does not fit",
        ),
        (
            "-9223372036854775809",
            "9223372036854775809",
            "does not fit",
        ),
        (
            "logical_divide(4:1)",
            "logical_divide",
            "takes 2 operands, not 1",
        ),
        ("(4:1, 4)", "4", "no stride"),
        ("(4,5):(1/0@0,1@1)", "1/0@0", "fraction over 0"),
        ("(5,5):(1/2@0,1@1)", "1/2@0", "no layout has these values"),
        ("((2,2),5):(1/2@0,1@1)", "1/2@0", "not congruent"),
        ("(1/2@0,1@1)", "1/2@0", "needs an extent"),
    ] {
        let error = eval_str(text).unwrap_err();
        assert_eq!(&text[error.at.clone()], token, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

#[test]
fn look_alikes_get_advice() {
    for (text, help) in [
        ("24:(1)", "write `1` or `(24)`"),
        ("(24):1", "write `24` or `(1)`"),
        (
            "zipped_divide((4,9):(1,4), (2,3):(1,1))",
            "`<2:1,3:1>` applies mode by mode",
        ),
        (
            "(2,3):(3,1) o (3,2):(1,3)",
            "no layout with the shape (3,2) has these values, but `A o coalesce(B)` does: `(2,3):(3,1)`",
        ),
        ("compositon(4:1, 4:1)", "`composition`"),
        ("4:1 * 4:1", "composition is written `o`"),
        ("(4 8)", "separated by `,`"),
    ] {
        let error = eval_str(text).unwrap_err();
        assert!(error.to_string().contains(help), "{text}: {error}");
    }
}

/// Input that exceeds a limit is an error at once, whatever its size.
#[test]
fn limits() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(eval_str(&nested(30)).is_ok());
    for text in [
        nested(MAX_NESTING + 1),
        nested(1_000_000),
        "(".repeat(100_000),
        "4:1 o ".repeat(MAX_NESTING) + "4:1",
        "Sw<0,0,0> o ".repeat(10_000) + "4:1",
        "size(".repeat(10_000),
        "<".repeat(10_000),
        format!("({})", "1,".repeat(MAX_TOKENS)),
        format!("({})", "1,".repeat(2000)) + ":row",
        "-".repeat(10_000),
        "1@".repeat(10_000) + "1",
        "1".repeat(10_000),
        "ragged ".repeat(10_000),
        "{".repeat(10_000),
    ] {
        assert!(eval_str(&text).is_err(), "{}", &text[..20]);
    }
}

/// What is written elsewhere in another way has an error at its token that says what is written here.
#[test]
fn spellings_of_cute_are_named() {
    for (text, token, help) in [
        ("Int<8>{}", "Int", "is written `8` here"),
        (
            "(_8{}, 4):(4, 1)",
            "_8{}",
            "integers are written as digits: `8`",
        ),
        ("(4,C<8>):(8,1)", "C", "is written `8` here"),
        ("Shape<_4,_8>", "Shape", "is written `(4,8)` here"),
        (
            "Layout<Shape<_4,_8>,Stride<_8,_1>>",
            "Layout",
            "is written `(4,8):(8,1)` here",
        ),
        (
            "(16,16):(16,1) / Tile<4,4>",
            "Tile",
            "is written `<4,8>` here",
        ),
        (
            "Swizzle<3,4,3>{} o (8,64):(64,1)",
            "Swizzle",
            "`Sw<3,4,3>` here",
        ),
        ("(4,8):(E<0>{},E<1>{})", "E", "is written `1@0` here"),
        ("get<0>((4,8):(8,1))", "get", "`get(L, 0)`"),
        ("size<0>((4,8):(8,1))", "size", "`size(get(L, 0))`"),
        (
            "group_modes<0,2>((4,8):(8,1))",
            "group_modes",
            "`group(L, 0, 2)`",
        ),
        ("(4,8):LayoutRight{}", "LayoutRight{}", "`(4,8):row`"),
        (
            "make_layout((4,8), LayoutLeft{})",
            "LayoutLeft{}",
            "`(4,8):col`",
        ),
        ("(4,8):RowMajor", "RowMajor", "`(4,8):row`"),
        ("((4,8):(8,1)).size()", ".size", "`size(layout)`"),
        (
            "A.with_shape(8, 4)",
            ".with_shape",
            "`with_shape(layout, shape)`",
        ),
        ("A.T", ".T", "`select(L, 1, 0)`"),
        (
            "slice((4,6):(1,4), (None,2))",
            "None",
            "kept whole is written `_`",
        ),
        ("slice((4,6):(1,4), (...,2))", "..", "as in `(_,_,0)`"),
        ("take((2,3,5), 0..2)", "..", "`take(L, 1, 3)`"),
        (
            "zipped_divide((8,8), make_tile(_4{}, _8{}))",
            "make_tile",
            "`<4,8>`",
        ),
        (
            "(4,8):(8,1) where m % 4 == 0",
            "where",
            "facts stand in front",
        ),
        ("A O B", "O", "`o`, which composes"),
        ("(4,8),(8,1)", ",", "as in `(4,8):(8,1)`"),
        ("(4,8):row, <4,2>", ",", "`/` divides by a tiler"),
        ("(4,8):rwo", "rwo", "did you mean `row`?"),
        ("(4,8):cols", "cols", "did you mean `col`?"),
        ("complement(24, 4:2)", "4:2", "`complement(4:2, 24)`"),
        (
            "crd2idx((4,8):row, (1,2))",
            "(4,8):row",
            "`crd2idx((1,2), (4,8):row)`",
        ),
        ("size((4,8):row, 1)", "1", "`size(get((4,8):row, 1))`"),
        ("[4,8]:(8,1)", "[", "tuples are written in parentheses"),
        ("{4,8}:row", "{4,8}", "tuples are written in parentheses"),
        ("4u32:1", "4u32", "write `4` for `4u32`"),
        (
            "make_layout((4,8),(8,1))",
            "make_layout",
            "is written `(4,8):(8,1)` here",
        ),
        ("make_shape(4,8)", "make_shape", "is written `(4,8)` here"),
        ("make_tile(4,8)", "make_tile", "is written `<4,8>` here"),
        ("make_tiled_copy(1,2,3)", "make_tiled_copy", "`tiled_copy("),
        ("transpose((4,8):(8,1))", "transpose", "`select(L, 1, 0)`"),
        ("A(2,3)", "A", "`crd2idx((1,2), A)`"),
        (
            "Composition(4:1,4:1)",
            "Composition",
            "did you mean `composition`?",
        ),
        ("(4:1).foo()", ".foo", "as in `size(L)`"),
        ("layout<0>((4,8))", "layout", "`get(L, 0)`"),
        ("S<3,4,3> o (8,64)", "S", "`Sw<3,4,3>` here"),
        ("Sw(3,4,3) o (8,64)", "Sw", "`Sw<3,4,3>` here"),
        ("recast<half_t>((4,8))", "recast", "`recast(L, 16, 32)`"),
        (
            "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64))",
            "GMMA::Layout_K_SW128_Atom",
            "`smem_atom(K, SW128, 16)`",
        ),
        (
            "tiled_mma(SM80_16x8x8_F32F16F16F32_TN{}, (1,1,1), 1)",
            "SM80_16x8x8_F32F16F16F32_TN{}",
            "no braces",
        ),
        (
            "make_layout((4,8), stride=(8,1))",
            "stride=",
            "`(4,8):(8,1)`",
        ),
        (
            "make_layout((4,8), order=(1,0))",
            "order=",
            "`make_ordered_layout((4,8), (1,0))`",
        ),
        ("size((4,8), mode=[0])", "mode=", "`size(get(L, 0))`"),
        ("composition(A=4, B=2)", "A=", "by their order"),
        ("cute::size((4,8))", "cute::size", "no path: `size`"),
        ("cute.make_layout((4,8))", ".make_layout", "`(4,8):(8,1)`"),
        ("(4,8):(8,1)[0]", "[", "`get(L, 0)`"),
        ("slice_((0,_), (4,8))", "slice_", "`slice(L, (0,_))`"),
        ("slice((0,_), (4,8))", "(0,_)", "`slice(L, (0,_))`"),
        ("tl.arange(0,128)", ".arange", "`128:1`"),
        ("cdiv(10, 4)", "cdiv", "`shape_div(a, b, CEIL)`"),
        ("max(4, 8)", "max", "arithmetic of integers"),
        ("ScaledBasis(1, 0)", "ScaledBasis", "`1@0`"),
        ("(?,8)", "?", "`where m % 16 == 0; (m,8):(8,1)`"),
        ("rank((4,8)) == 2", "==", "`equal(A, B)`"),
        ("2 ** 4", "**", "`16` for `2 ** 4`"),
        ("1 << 4", "<<", "`16` for `1 << 4`"),
        ("10 // 4", "//", "the quotient"),
        ("(4,8) + 1", "+", "`Sw<0,0,0> o 1 o L`"),
        ("(4;8)", ";", "separated by `,`"),
        ("(4,8)@(8,1)", "@", "behind `:`"),
        ("(4,8)(0,_)", "(", "`crd2idx((1,2), L)`"),
        ("let a = (4,8)", "let", "`A = (4,8):(8,1)`"),
        ("\"(4,8)\"", "\"", "without quotes"),
    ] {
        let error = eval_str(text).expect_err(text);
        assert_eq!(&text[error.at.clone()], token, "{text}: {error}");
        assert!(error.to_string().contains(help), "{text}: {error}");
    }
}

proptest! {
    /// Any text gives a value or an error, and never a panic. The text of the value evaluates to the same value.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        if let Err(error) = eval_str(&text) {
            prop_assert!(error.render(&text).contains('^'));
        }
    }

    #[test]
    fn any_tokens_are_read_or_refused(
        tokens in prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..24)
    ) {
        let text = tokens.concat();
        if let Ok(value) = eval_str(&text) {
            let printed = value.to_string();
            prop_assert_eq!(eval_str(&printed).map(|value| value.to_string()), Ok(printed));
        }
    }
}

const TOKENS: [&str; 26] = [
    "1",
    "2",
    "4",
    "(",
    "(",
    ")",
    ")",
    ",",
    ",",
    ":",
    ":",
    "<",
    ">",
    "@",
    "/",
    "-",
    "_",
    " o ",
    " then ",
    "Sw",
    "row",
    "composition",
    "coalesce",
    "ragged ",
    "(2,4)",
    "8:1",
];
