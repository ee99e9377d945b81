//! How long operations of the algebra take: on layouts as kernels have them, and where they take longest.

use criterion::Criterion;
use cute_algebra::notation::eval_str;
use cute_algebra::{Value, from_table, is_injective, operations};
use std::hint::black_box;

/// Operations and their operands.
const CALLS: &[(&str, &[&str])] = &[
    ("coalesce", &["((2,4),(8,(2,4))):((1,2),(8,(64,128)))"]),
    ("composition", &["(6,2):(8,2)", "(4,3):(3,1)"]),
    (
        "composition",
        &["(128,64):(64,1)", "((8,16),(4,16)):((1,512),(8,32))"],
    ),
    ("complement", &["((2,4),8):((1,16),2)", "1024"]),
    (
        "right_inverse",
        &["((4,8,4),(2,2,32)):((256,1,64),(8,16,1024))"],
    ),
    (
        "left_inverse",
        &["((4,8,4),(2,2,32)):((256,1,64),(8,16,1024))"],
    ),
    (
        "logical_divide",
        &["(9,(4,8)):(59,(13,1))", "<3:3, (2,4):(1,8)>"],
    ),
    ("zipped_divide", &["(128,64,4):(64,1,8192)", "<32,16>"]),
    ("flat_divide", &["(128,64,4):(64,1,8192)", "<32,16>"]),
    ("logical_product", &["(2,2):(4,1)", "(4,2):(2,1)"]),
    ("blocked_product", &["(2,5):(5,1)", "(3,4):(1,3)"]),
    (
        "tile_to_shape",
        &["Sw<3,3,3> o (8,64):(64,1)", "(128,64,4)"],
    ),
    ("upcast", &["(64,8):(1,64)", "8"]),
    ("max_common_vector", &["(128,64):(64,1)", "(128,64):(64,1)"]),
];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    calls(&mut criterion);
    notation(&mut criterion);
    long(&mut criterion);
    criterion.final_summary();
}

fn calls(criterion: &mut Criterion) {
    for (name, operands) in CALLS {
        let operation = operations::find(name).expect(name);
        let values: Vec<Value> = operands
            .iter()
            .map(|text| eval_str(text).expect(text))
            .collect();
        let apply = || operations::apply(operation, black_box(&values), false);
        assert!(apply().is_ok());
        criterion.bench_function(&format!("{name}({})", operands.join(", ")), |b| {
            b.iter(apply)
        });
    }
}

fn notation(criterion: &mut Criterion) {
    let text = "zipped_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)";
    criterion.bench_function(&format!("parse and evaluate {text}"), |b| {
        b.iter(|| eval_str(black_box(text)));
    });
}

/// Linear in the size, and a search, where no rule decides.
fn long(criterion: &mut Criterion) {
    let values: Vec<i64> = (0..1 << 16).map(|x| x % 256 * 256 + x / 256).collect();
    criterion.bench_function("from_table of 65536 values", |b| {
        b.iter(|| from_table(black_box(&values)))
    });
    let layout = "(64,63,62):(61,67,71)".parse().expect("a layout");
    criterion.bench_function(&format!("is_injective({layout})"), |b| {
        b.iter(|| is_injective(black_box(&layout)));
    });
}
