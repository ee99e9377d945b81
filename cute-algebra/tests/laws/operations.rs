//! The text of results and refusals, and operands that have no meaning.

use crate::operands::{layout, swizzle};
use cute_algebra::notation::{Definition, explain};
use cute_algebra::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn operations_answer_and_refuse() {
    for (text, answer) in [
        (
            "local_tile((128,64):row, <32,16>, (1,2))",
            "[(32,16):(64,1),2080]",
        ),
        (
            "local_tile((128,64):row, <32,16>, (1))",
            "[(32,16,4):(64,1,16),2048]",
        ),
        ("local_tile((128,64):row, 32, 3)", "[(32,64):(64,1),6144]"),
        (
            "local_tile(Sw<3,3,3> o (8,128):(128,1), <8,64>, (0,1))",
            "[Sw<3,3,3> o 64 o (8,64):(128,1),0]",
        ),
        (
            "local_partition((16,32):row, (4,8):row, 9)",
            "[(4,4):(128,8),33]",
        ),
        ("local_partition(64, 32:1, 5)", "[(2):(32),5]"),
        (
            "local_partition((16,32), ((2,2),8):((1,2),4), 7)",
            "[(4,4):(4,128),19]",
        ),
        ("get((2,(3,4)), 1)", "(3,4)"),
        ("get((2,(3,4)), 1, 0)", "3"),
        ("get(7, 0)", "7"),
        ("get((2,_), 1)", "_"),
        ("get((2,(3,4)):(1,(2,6)), 1)", "(3,4):(2,6)"),
        ("ragged from_table(0,1,10,11,20)", "(2,3):(1,10)"),
        ("shape_div((3,6,2,8), 9)", "(1,2,2,8)"),
        ("shape_mod((3,6,2,8), 9)", "(3,3,1,1)"),
        ("shape_div((10,(4,8)), (4,(2,3)), CEIL)", "(3,(2,3))"),
        ("shape_div((10,(4,8)), 4, FLOOR)", "(2,(1,2))"),
        ("sort((4,(2,3)):(6,(1,2)))", "(2,3,4):(1,2,6)"),
        ("extension((2,5):(1,4), 14)", "(2,7):(1,4)"),
        ("equal((2,(3,4)):(1,(2,6)), 24:1)", "true"),
        ("equal((2,3), (2,4))", "false"),
        (
            "equal(Sw<3,3,3> o (8,64):(64,1), Sw<2,3,3> o (8,64):(64,1))",
            "false",
        ),
        ("equal(Sw<3,4,3> o (8,8), 64:1)", "true"),
        ("equal(Sw<0,0,0>, Sw<0,3,3>)", "true"),
        ("equal(Sw<1,0,1>, Sw<1,0,2>)", "false"),
        (
            "equal(xor_map((1,3,6)), xor_map((1,3,6)) o (2,4):(1,2))",
            "true",
        ),
        (
            "equal(Sw<1,0,2> o Sw<3,0,3>, Sw<1,0,2> o Sw<3,0,3>)",
            "true",
        ),
        (
            "equal(Sw<1,0,2> o Sw<3,0,3>, Sw<3,0,3> o Sw<1,0,2>)",
            "false",
        ),
        ("is_integral(3)", "true"),
        ("is_integral((3,4):(1@0,1@1))", "false"),
        ("8:1/-2@0", "(2,4):(-1@0,-1@0)"),
        ("is_injective((4,3):(1,2))", "false"),
        ("is_bijective(Sw<3,3,3> o 0 o (8,64):(64,1))", "true"),
        ("is_dense((4,3):(1,2))", "true"),
        ("injective((3,2):(2,3))", "(3,2):(2,3)"),
        ("vector_width(Sw<3,3,3> o 0 o (64,8):(1,64))", "8"),
        ("alignment((4,8):(12,16))", "4"),
        ("index_form((4,(2,3)):(6,(1,2)))", "(x & 3) * 6 + x / 4"),
        ("bank_conflicts((32,32):(32,1), 32, 32:1)", "32"),
        ("bank_conflicts((32,32):(33,1), 32, 32:1, 32:32)", "1"),
        (
            "best_swizzle((32,32):(32,1), 32, 32:32, 32:1)",
            "Sw<5,0,5> o 0 o (32,32):(32,1)",
        ),
        (
            "best_swizzle((64,64):(64,1), 16, (8,8):(1,64), (32,8):(1,64))",
            "Sw<3,3,3> o 0 o (64,64):(64,1)",
        ),
        (
            "conflict_free_map((32,32):(32,1), 32, 32:32, 32:1)",
            "[Sw<5,0,5>,(1,1),(1,32)]",
        ),
        (
            "conflict_free_map((64,64):(64,1), 64, 32:64, 32:1, (8,4):(65,1), (4,8):(128,1))",
            "[xor_map((1,2,4,8,16,32,66,132,264,519,1024,2048)),(1,1,1,1),(1,16,1,1)]",
        ),
        ("xor_map((1,2,4,9))", "Sw<1,0,3>"),
        ("xor_map((4,1,2))", "(2,4):(4,1)"),
        ("left_inverse(xor_map((3,1,4,11)))", "xor_map((2,3,4,9))"),
        (
            "xor_map((3,2,5,11)) o (2,(2,2)):(1,(4,2))",
            "xor_map((3,5,2)) o (2,(2,2)):(1,(2,4))",
        ),
        (
            "xor_map((3,2,5,11), 6) o (3,3):(4,1)",
            "xor_map((5,11,3,2),6) o (3,3):(1,4)",
        ),
        (
            "xor_map((3,2,4)) o (2,(2,2)):(1,(2,4))",
            "Sw<1,0,-1> o 0 o (2,(2,2)):(1,(2,4))",
        ),
        ("crd2idx(13, xor_map((3,2,5,11)))", "13"),
        (
            "bank_conflicts(xor_map((1,2,4,8,16,33,66,132,264,512)) o (32,32):(32,1), 32, 32:32, 32:1)",
            "2",
        ),
        (
            "wgmma_operand(smem_atom(K, SW128, 16), 16)",
            "[K,SW128,16,16,(0,16,32,48)]",
        ),
        (
            "matrix_operand(smem_atom(MN, SW64, 16), 16)",
            "[true,4,Sw<2,3,3> o 0 o (8,1,4):(32,0,8),1]",
        ),
        (
            "tensor_map(smem_tile_to_shape(K, SW128, 16, (128,64)), (4096,1000):(1000,1), 16)",
            "[(1,0),(1000,4096),(2000),(64,128),SW128,1]",
        ),
        (
            "tensor_map(smem_tile_to_shape(K, SW128, 16, (128,64)), ((64,100),1000):((1000,66000),1), 16)",
            "[(1,0,0),(1000,64,100),(2000,132000),(64,64,2),SW128,1]",
        ),
    ] {
        let value = notation::eval_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value.to_string(), answer, "{text}");
    }
    for (text, message) in [
        (
            "injective((4,3):(1,2))",
            "not injective: 2 and 4 both go to 2",
        ),
        ("bijective((4,3):(1,5))", "not bijective: nothing goes to 4"),
        ("bijective((4,3):(-1,4))", "not bijective: 1 goes to -1"),
        ("dense((4,3):(1@0,2@1))", "not dense: nothing goes to (0,1)"),
        (
            "conflict_free((8,32):(32,1), 32, 8:1)",
            "8 words of bank 0 are needed at once, by lanes 0, 1, 2, 3, 4, 5, 6, 7 of warp 0 in access 0, of 1 element each; Sw<3,2,3> has no conflict",
        ),
        (
            "bank_conflicts(64:1, 32, 32:4)",
            "coordinate 64 is outside a tile of 64 elements",
        ),
        ("xor_map((1,-1))", "at most 62 columns"),
        (
            "right_inverse(xor_map((3,3)))",
            "the inverse of a map that is not a bijection is not linear over bits",
        ),
        (
            "xor_map((3,2,5,11)) o 17:1",
            "a map applied to values outside its domain",
        ),
        (
            "xor_map((3,2,5,11)) o (3,3):(1,3)",
            "a layout whose sums carry",
        ),
        (
            "matrix_operand((8,8):(9,1), 16)",
            "1 elements are side by side and aligned",
        ),
        (
            "tensor_map((64,64):(64,1), (100,99):(99,1), 16)",
            "mode 0 of the tensor has a stride of 198 bytes",
        ),
        (
            "wgmma_operand((64,64):(65,1), 16)",
            "wgmma cannot read (64,64):(65,1)",
        ),
    ] {
        let error = notation::eval_str(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// The example of each operation ends with that operation, has a value on one line, and is the example of no other one.
#[test]
fn every_operation_has_an_example() {
    let mut examples = BTreeSet::new();
    for row in operations::all() {
        let example = row.example;
        let text: Definition = example
            .parse()
            .unwrap_or_else(|error| panic!("{example}: {error}"));
        let (steps, value) = explain(&text.facts, &text.expr, &|_| None);
        let value = value.unwrap_or_else(|error| panic!("{example}: {error}"));
        let value = value.value.to_string();
        assert!(value.len() <= 100 && !value.contains('\n'), "{example}");
        assert_eq!(steps.last().map(|step| step.operation), Some(row.name));
        assert!(examples.insert(example), "{example}");
    }
}

/// The call that shows when an operation is an error ends with that operation, and with an error.
#[test]
fn every_refusal_is_one() {
    for row in operations::all() {
        let Some(refusal) = &row.refusal else {
            continue;
        };
        let call = refusal.example;
        let text: Definition = call
            .parse()
            .unwrap_or_else(|error| panic!("{call}: {error}"));
        let (steps, value) = explain(&text.facts, &text.expr, &|_| None);
        assert!(value.is_err(), "{call}");
        assert_eq!(steps.last().map(|step| step.operation), Some(row.name));
        let operands = steps.last().map_or(0, |step| step.operands.len());
        assert!(row.counts.contains(&operands), "{call}");
    }
}

#[test]
fn groups_have_names_and_no_operation_is_in_two() {
    let mut names = BTreeSet::new();
    assert!((6..=12).contains(&operations::GROUPS.len()));
    for group in operations::GROUPS {
        assert!(group.operations.len() > 1, "{}", group.name);
        for name in group.operations.iter().map(|row| row.name) {
            assert!(names.insert(name), "{name}");
        }
    }
    let groups: BTreeSet<&str> = operations::GROUPS.iter().map(|group| group.name).collect();
    assert_eq!(groups.len(), operations::GROUPS.len());
}

fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![6 => -3..40i64, 1 => any::<i64>(), 1 => (0..63u32).prop_map(|bits| 1 << bits)]
}

fn any_tuple() -> impl Strategy<Value = IntTuple> {
    any_integer()
        .prop_map(Tuple::Leaf)
        .prop_recursive(3, 12, 4, |inner| {
            prop::collection::vec(inner, 0..4).prop_map(Tuple::Node)
        })
}

fn any_value() -> impl Strategy<Value = Value> {
    let huge =
        (any_tuple(), any_integer(), any_integer()).prop_filter_map("a layout", |(shape, a, b)| {
            let mut next = a;
            let stride: IntTuple = shape.map(|_| (next, next = b).0);
            Layout::new(shape, &stride).ok()
        });
    let any_layout = prop_oneof![3 => layout(), 1 => huge];
    let composed = (swizzle(), any_integer(), any_layout.clone())
        .prop_filter_map("a swizzled layout", |(sw, offset, a)| {
            ComposedLayout::new(sw, offset, a).ok()
        });
    prop_oneof![
        2 => any_integer().prop_map(Value::Int),
        2 => any_tuple().prop_map(Value::from),
        3 => any_layout.clone().prop_map(Value::from),
        1 => composed.prop_map(Value::from),
        1 => swizzle().prop_map(Value::from),
        1 => any_tuple().prop_map(|tuple| Value::from(tuple.map(|&index| (index % 3 != 0).then_some(index)))),
        1 => prop::collection::vec(any_layout, 0..3).prop_map(|modes| {
            Value::from(Tiler::Modes(modes.into_iter().map(Tiler::from).chain([Tiler::Keep]).collect()))
        }),
        1 => prop_oneof!["K", "MN", "INTER", "SW128"].prop_map(Value::Word),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_operand_makes_an_operation_panic(operands in prop::collection::vec(any_value(), 1..4), ragged in any::<bool>()) {
        for operation in operations::all() {
            if let Err(error) = operations::apply(operation, &operands, ragged && operation.ragged) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Names that operations take, and one that no operation takes.
const WORDS: [&str; 13] = [
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM90_64x64x16_F32F16F16_SS",
    "UniversalFMA<float>",
    "SM75_U32x4_LDSM_N",
    "UniversalCopy<u128>",
    "ALayout",
    "CLayout",
    "SrcLayout",
    "ValLayoutDst",
    "layoutA_TV",
    "layoutC_TV",
    "layoutS_TV",
    "none",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_operand_makes_an_atom_panic(
        operands in prop::collection::vec(any_value(), 7),
        small in prop::collection::vec(1..5i64, 9),
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 7),
        ragged in any::<bool>(),
    ) {
        let takes_words = |operation: &&operations::Operation| (0..7).any(|i| operation.takes_word(i));
        for operation in operations::all().filter(takes_words) {
            let count = (*operation.counts.end()).min(7);
            let operand = |i: usize| match &operands[i] {
                _ if operation.takes_word(i) => Value::Word(words[i].into()),
                // Most operands are meaningless. These are small enough to be the shape of a tile.
                Value::Int(value) if value % 2 == 0 => Value::Int(8 * small[i]),
                Value::Tuple(_) => IntTuple::from([small[i], small[i + 1], small[i + 2]]).into(),
                operand => operand.clone(),
            };
            let operands: Vec<Value> = (0..count).map(operand).collect();
            if let Err(error) = operations::apply(operation, &operands, ragged && operation.ragged) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn limits_are_errors() {
    let deep =
        |levels: usize| (0..levels).fold(IntTuple::Leaf(1), |inner, _| Tuple::Node(vec![inner]));
    assert!(Layout::left(deep(MAX_DEPTH)).is_ok());
    for levels in [MAX_DEPTH + 1, 1000] {
        let error = Layout::left(deep(levels)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooDeep { .. }), "{error}");
        assert!(Layout::new(deep(levels), &deep(levels)).is_err());
        assert!(idx2crd(&deep(levels), &4.into()).is_err());
        assert!(Tiler::from_shape(&deep(levels)).is_err());
        assert!(slice(&Layout::unit(), &deep(levels).to_coord()).is_err());
    }
    // The limit holds for results of operations as well.
    let mut layout: Layout = Layout::unit();
    let error = loop {
        match Layout::concat([layout]) {
            Ok(nested) => layout = nested,
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::TooDeep { .. }), "{error}");

    let wide = |leaves: usize| (0..leaves).map(|_| Tuple::Leaf(1)).collect::<IntTuple>();
    assert!(Layout::left(wide(MAX_LEAVES)).is_ok());
    let error = Layout::left(wide(MAX_LEAVES + 1)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooManyLeaves { .. }),
        "{error}"
    );

    for (shape, stride) in [(i64::MAX, 2), (2, i64::MAX), (3, i64::MIN), (1, i64::MIN)] {
        let error = Layout::new(shape, stride).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Overflow { .. }),
            "{error}"
        );
    }
    assert!(matches!(
        Layout::left([i64::MAX, 2]).unwrap_err().kind(),
        ErrorKind::Overflow { quantity: "size" }
    ));
    assert!(matches!(
        Layout::new(0, 1).unwrap_err().kind(),
        ErrorKind::Extent { extent } if extent == "0"
    ));
}

/// The error of an operation without a ragged form does not suggest `ragged`, and with one, `ragged` can be written.
#[test]
fn ragged_is_suggested_where_it_can_be_written() {
    let (mut advised, mut silent) = (0, 0);
    for operation in operations::all() {
        let Some(refusal) = &operation.refusal else {
            continue;
        };
        let error = notation::eval_str(refusal.example).unwrap_err();
        let ragged = notation::eval_str(&format!("ragged {}", refusal.example));
        let is_possible = !ragged.is_err_and(|error| error.message.contains("no `ragged` form"));
        match error.message.contains("`ragged`") {
            true => {
                assert!(is_possible, "{}: {}", refusal.example, error.message);
                advised += 1;
            }
            false => silent += usize::from(error.message.contains("do not fill")),
        }
    }
    assert!(advised > 10 && silent > 5, "{advised}, {silent}");
}

/// A function of kernels is named as one, whether a function of layouts has a similar name or not.
#[test]
fn functions_of_kernels_are_no_operations() {
    for (call, signature) in [
        ("domain_offset(8:1, 4)", "domain_offset("),
        ("wait(8:1)", "wait("),
        ("max(4, 8)", "max("),
        ("smem::<f32>((4,8))", "smem::<"),
        ("(4,8).copy(8:1)", "copy("),
    ] {
        let error = notation::eval_str(call).unwrap_err();
        assert!(
            error.message.starts_with("unknown operation"),
            "{call}: {error}"
        );
        let note = error.note.unwrap_or_default();
        assert!(
            note.contains(&format!("`{signature}")) && note.contains("is a function of kernels"),
            "{call}: {note}"
        );
    }
    // A mistyped operation is still corrected.
    let error = notation::eval_str("coalesc(8:1)").unwrap_err();
    assert_eq!(error.note, None);
}
