//! The names that this project shares with CuTe, as the dictionary lists them: each has CuTe's meaning, or says that it has another.

use cute_algebra::notation::eval_str;
use cute_algebra::operations;
use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::builtins;
use cute_lang::kernel::lower::lower;
use std::collections::BTreeSet;

/// A row of the dictionary: names, verdict, examples with their values.
struct Row {
    names: Vec<String>,
    verdict: String,
    examples: Vec<(String, String)>,
    note: String,
    of_kernels: bool,
}

/// The names of operations and functions that CuTe does not have.
#[rustfmt::skip]
const OWN: &[&str] = &[
    "arrive_at", "at", "atomic_dec", "atomic_inc", "bank_conflicts", "bar_sync", "best_swizzle", "bijective",
    "bits", "bytes", "concat", "conflict_free", "conflict_free_map", "coordinate", "copy_async", "copy_async_at",
    "copy_atom", "copy_atom_val", "copy_inside", "copy_or", "cos_fast", "cosize_bound", "count_ones",
    "cp_async_commit", "dense", "div_fast", "elect", "exp2_fast", "exp_fast", "expect_tx", "extension", "extent",
    "fence_proxy_async", "from_bits", "is_finite", "is_infinite", "is_nan", "mul_add", "peer", "pow", "pow_fast", "powf", "powi", "fill_outside", "fragment", "from_table", "index", "index_assign", "index_form",
    "injective", "is_bijective", "is_dense", "is_injective", "is_integral", "lane", "leading_zeros", "len",
    "log2_fast", "log_fast", "make_layout_left", "make_layout_right", "map", "match_any", "matrix_operand",
    "mbarriers", "misalignment", "mma", "mma_atom", "named_barriers", "overlay", "partition_D_of_copy_A", "partition_D_of_copy_B",
    "partition_D_of_copy_C", "partition_S_of_copy_A", "partition_S_of_copy_B", "partition_S_of_copy_C", "philox",
    "rcp", "rcp_fast", "redistribute", "reduce_async", "redux_add", "redux_and", "redux_max", "redux_min",
    "redux_or", "redux_xor", "retile_of_copy_A", "retile_of_copy_B", "retile_of_copy_C", "reverse_bits", "round",
    "round_ties_even", "rsqrt_fast", "scan", "scan_exclusive", "setmaxnreg_dec", "setmaxnreg_inc", "shape_mod",
    "shfl_bfly", "shfl_down", "shfl_idx", "shfl_up", "sin_fast", "smem", "smem_atom", "smem_tile_to_shape", "sort",
    "sqrt_fast", "sum", "sync_cluster", "tanh_fast", "tensor_map", "thread", "tiled_copy", "tiled_copy_A", "tiled_copy_B",
    "tiled_copy_C", "tiled_mma", "tma_commit", "tma_prefetch", "tma_prefetch_map", "tma_reduce", "tma_wait",
    "tma_wait_read", "to_bits", "trailing_zeros", "transpose", "trunc", "uniform", "unzip", "vector_width", "vote_all", "vote_any",
    "vote_ballot", "warp", "warpgroup", "warpgroup_thread", "wgmma", "wgmma_a", "wgmma_c", "wgmma_commit",
    "wgmma_fence", "wgmma_operand", "wgmma_wait", "xor_map",
];

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/dictionary.md");
    let text = std::fs::read_to_string(path).expect("the dictionary");
    let (_, text) = text
        .split_once("## Names that CuTe has as well")
        .expect("the section");
    let (text, _) = text.split_once("\n## ").expect("its end");
    let (operations, functions) = text
        .split_once("| function of kernels |")
        .expect("two tables");
    let of = |table: &str, of_kernels: bool| -> Vec<Row> {
        let lines = table.lines().filter(|line| line.starts_with("| `"));
        lines.map(|line| row(line, of_kernels)).collect()
    };
    of(operations, false)
        .into_iter()
        .chain(of(functions, true))
        .collect()
}

fn row(line: &str, of_kernels: bool) -> Row {
    let cells: Vec<&str> = line
        .split(" | ")
        .map(|cell| cell.trim_matches(['|', ' ']))
        .collect();
    let [names, verdict, examples, note] = cells[..] else {
        panic!("{line}: {} cells", cells.len());
    };
    let quoted = |text: &str| text.trim_matches('`').to_owned();
    let example = |text: &str| {
        let (call, value) = text.trim_matches('`').rsplit_once(" = ").expect("a value");
        (call.to_owned(), value.to_owned())
    };
    Row {
        names: names.split(", ").map(quoted).collect(),
        verdict: verdict.to_owned(),
        examples: examples
            .split("<br>")
            .filter(|it| !it.is_empty())
            .map(example)
            .collect(),
        note: note.to_owned(),
        of_kernels,
    }
}

#[test]
fn every_name_is_cutes_or_our_own() {
    let listed: BTreeSet<String> = rows().into_iter().flat_map(|row| row.names).collect();
    let own: BTreeSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
    let known: BTreeSet<String> = builtins::names().map(str::to_owned).collect();
    assert!(listed.is_disjoint(&own), "{:?}", listed.intersection(&own));
    let all: BTreeSet<String> = listed.union(&own).cloned().collect();
    let missing: Vec<_> = known.difference(&all).collect();
    let unknown: Vec<_> = all.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "not classified: {missing:?}; not there: {unknown:?}"
    );
}

#[test]
fn every_row_says_what_it_is() {
    for row in rows() {
        let Row {
            names,
            verdict,
            examples,
            note,
            of_kernels,
        } = row;
        match &*verdict {
            "the same" | "stricter" => assert!(!examples.is_empty(), "{names:?}"),
            "another" => {}
            other => panic!("{names:?}: {other}"),
        }
        assert!(verdict == "the same" || !note.is_empty(), "{names:?}");
        // Operations have an example each; functions that are one instruction share some.
        for name in names.iter().filter(|_| !of_kernels && verdict != "another") {
            let has = examples
                .iter()
                .any(|(call, _)| call.starts_with(&format!("{name}(")));
            assert!(has, "{name}");
        }
    }
}

#[test]
fn values_of_operations_are_cutes() {
    for (call, value) in rows()
        .into_iter()
        .filter(|row| !row.of_kernels)
        .flat_map(|row| row.examples)
    {
        let found = eval_str(&call).unwrap_or_else(|error| panic!("{call}: {error}"));
        assert_eq!(found.to_string(), value, "{call}");
    }
    assert!(operations::all().count() > 100);
}

#[test]
fn values_of_functions_are_cutes() {
    for (call, value) in rows()
        .into_iter()
        .filter(|row| row.of_kernels)
        .flat_map(|row| row.examples)
    {
        let module = format!(
            "mod kernels {{ #[kernel(threads = 1)] unsafe fn k(#[facts(aligned(d, 16))] d: Global<u32, 1>) {{ let value = {call}; d[0] = value as u32; }} }}"
        );
        let kernels = lower(module.parse().expect("tokens"));
        let kernel = kernels
            .unwrap_or_else(|error| panic!("{call}: {error}"))
            .remove(0);
        let mut memory = GlobalMemory::new();
        let d = memory.alloc(64 * 4, 128).expect("room");
        let numbers: Vec<u8> = (0..64u32).flat_map(u32::to_le_bytes).collect();
        memory.write(d, &numbers).expect("room");
        let text = kernel.module.to_string();
        let parameters = text
            .split_once(".entry k(")
            .and_then(|(_, rest)| rest.split_once(')'));
        let parameters = parameters.expect("an entry").0.split(',');
        let arguments: Vec<Vec<u8>> = parameters
            .map(|parameter| match parameter.trim().ends_with("_ptr") {
                true => d.to_le_bytes().to_vec(),
                false => 64u32.to_le_bytes().to_vec(),
            })
            .collect();
        let launch = Launch {
            block: [1, 1, 1],
            args: &arguments,
            dynamic_shared_bytes: kernel.smem_bytes,
            ..Launch::default()
        };
        let program = Program::load(&text).expect("PTX");
        if let Err(error) = program.launch(&mut memory, "k", &launch) {
            panic!("{call}: {error}");
        }
        let mut found = [0; 4];
        memory.read(d, &mut found).expect("room");
        assert_eq!(u32::from_le_bytes(found).to_string(), value, "{call}");
    }
}
