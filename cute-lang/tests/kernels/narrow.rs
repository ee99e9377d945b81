//! Elements of fewer than 8 bits: what only needs their width takes them, and what needs bytes says why not.

use crate::rows;
use cute_algebra::operations;
use cute_chip::ElementType;
use cute_lang::kernel::builtins;
use cute_lang::kernel::expand;
use cute_lang::kernel::lower::lower;
use std::collections::{BTreeMap, BTreeSet};

/// The errors of a module.
fn found(module: &str) -> String {
    let found = match lower(module.parse().expect("tokens")) {
        Ok(_) => return "accepted".into(),
        Err(errors) => errors,
    };
    let errors = found.into_iter().map(|error| error.to_string());
    errors.collect::<Vec<_>>().join("\n")
}

/// A kernel with tensors of `u4` in shared memory.
fn kernel(statements: &str) -> String {
    found(&format!(
        "mod kernels {{
            type Narrow = u4;
            struct S {{ x: u4 }}
            fn generic<T>(x: Tensor<T>) -> Tensor<T> {{ x }}
            fn registers<T>(x: Tensor<T>) {{ let f = fragment::<T>(8); copy(x, f); }}
            #[kernel(threads = 128)]
            unsafe fn k(a: TmaLoad<u8, 2>, d: TmaStore<u8, 2>, g: Global<u8, 1>, m: u32) {{
                let x = smem::<u4>(layout!((64,128):(128,1)));
                let ready = mbarriers(2, 1);
                let bytes = fragment::<u8>(8);
                {statements}
            }}
        }}"
    ))
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    rows::check(rows, kernel);
}

#[test]
fn widths_and_whole_bytes_are_enough() {
    let accepted = [
        "assert!(bits::<u4>() == 4 && bits::<i4>() == 4 && bits::<e2m1>() == 4);",
        "assert!(size(x) == 8192 && bytes(x) == 4096);",
        "assert!(bytes(smem::<e2m1>(2)) == 1);",
        "assert!(size(smem::<i4>(3)) == 3);",
        "assert!(recast::<u8>(x).shape() == (64, 64) && bytes(recast::<u8>(x)) == 4096);",
        "assert!(recast::<u4>(smem::<f32>(layout!((8,4):(4,1)))).shape() == (8, 32));",
        "assert!(recast::<u16>(x[(_, _)]).shape() == (64, 32));",
        "assert!(recast::<e2m1>(x).shape() == (64, 128));",
        "let row = recast::<u8>(x[(3, _)]); assert!(bytes(row) == 64);",
        "copy(recast::<u8>(x).local_tile((1, 8), (m % 64, m % 8)), bytes);",
        "let y = generic(x); let z = generic::<u4>(x); assert!(size(y) == size(z));",
        "let y = local_tile(x, (8, 16), (1, 2)); assert!(bytes(y) == 64); copy(local_tile(recast::<u8>(y), (1, 8), (0, 0)), bytes);",
        "let y = overlay::<u4>(smem::<u8>(64), 128); assert!(bytes(y) == 64);",
        "let y = overlay::<u8>(x, (64, 64)); copy(local_tile(y, (1, 8), (0, 0)), bytes);",
        "let y = smem::<u4>(tile_to_shape(smem_atom::<u4>(K, SW128), (64, 256))); assert!(bytes(y) == 8192); assert!(recast::<u8>(y).size() == 8192);",
        "assert!(is_injective(x) && is_dense(x));",
        "assert!(bank_conflicts(x, layout!((32,8):(64,1))) == 1);",
    ];
    let rows = accepted.map(|statements| (statements, "accepted"));
    check(&rows);
}

/// The bytes of a tensor of 4-bit elements are at the addresses that the tensor of its bytes has.
#[test]
fn a_tensor_of_narrow_elements_is_the_same_memory_as_bytes() {
    let ptx = |tensor: &str| {
        let module = format!(
            "mod kernels {{ #[kernel(threads = 32)] unsafe fn k(g: Global<u8, 1>) {{
                let before = smem::<u8>(16);
                let x = {tensor};
                let held = fragment::<u8>(16);
                copy(local_tile(x, (1, 16), (3, 1)), held);
                copy(held, local_tile(g, 16, 0));
            }} }}"
        );
        let lowered = lower(module.parse().expect("tokens"));
        let ptx = lowered.expect("a kernel")[0].module.to_string();
        // Comments have the types of tensors.
        let lines = ptx
            .lines()
            .map(|line| line.split("//").next().unwrap_or(line).trim());
        lines
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let bytes = ptx("smem::<u8>(layout!((8,64):(64,1)))");
    assert!(bytes.contains("ld.shared"), "{bytes}");
    for narrow in ["u4", "i4", "e2m1"] {
        let tensor = format!("recast::<u8>(smem::<{narrow}>(layout!((8,128):(128,1))))");
        assert_eq!(ptx(&tensor), bytes);
    }
    let swizzled = |element: &str, columns: u32| {
        format!("smem::<{element}>(tile_to_shape(smem_atom::<{element}>(K, SW32), (8, {columns})))")
    };
    let narrow = format!("recast::<u8>({})", swizzled("e2m1", 128));
    assert_eq!(ptx(&narrow), ptx(&swizzled("u8", 64)));
}

#[test]
fn a_refusal_names_the_type_and_its_width() {
    let needs = |name: &str, element: &str| {
        format!("`{name}` needs elements of whole bytes, and elements of `{element}` have 4 bits")
    };
    let of_tensor =
        |name: &str| needs(name, "u4") + ": `recast::<u8>(x)` is the same memory as bytes";
    for (statements, name) in [
        ("copy(x, bytes);", "copy"),
        ("copy(bytes, x);", "copy"),
        ("copy(x, x);", "copy"),
        ("copy(x, smem::<i4>((64, 128)));", "copy"),
        ("copy_async(g, x);", "copy_async"),
        ("copy_async(x, g);", "copy_async"),
        ("copy_async_at(x, x, ready[0], 0);", "copy_async_at"),
        ("reduce_async(x, g, add);", "reduce_async"),
        ("tma_load(a, x, (0, 0), ready[0]);", "tma_load"),
        ("tma_store(x, d, (0, 0));", "tma_store"),
        ("tma_reduce(x, d, (0, 0), add);", "tma_reduce"),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "wgmma",
        ),
        ("atomic_add(x, (0, 0), 1);", "atomic_add"),
        ("let y = reduce(x, 0, add);", "reduce"),
        ("x.fill(0);", "fill"),
    ] {
        check(&[(statements, &of_tensor(name))]);
    }
    for (statements, name, element) in [
        ("let y = fragment::<u4>(8);", "fragment", "u4"),
        (
            "let y = fragment::<i4>(layout!((128,8):(1@0,1@1)));",
            "fragment",
            "i4",
        ),
        ("let y = fragment::<i4>(bytes);", "fragment", "i4"),
        ("registers(x);", "fragment", "u4"),
        (
            "let y = convert::<e2m1>(fragment::<f32>(8));",
            "convert",
            "e2m1",
        ),
        ("let y = convert::<e2m1>(m);", "convert", "e2m1"),
        ("let y = from_bits::<e2m1>(1);", "from_bits", "e2m1"),
        ("let y = e2m1::from_bits(1);", "from_bits", "e2m1"),
        ("let y = wgmma_a::<u4>(64);", "wgmma_a", "u4"),
    ] {
        check(&[(statements, &needs(name, element))]);
    }
    let element = "an access moves whole bytes, and elements of `u4` have 4 bits: `recast::<u8>(x)` is the same memory as bytes";
    let run_time = "an offset that is known only when the kernel runs is in whole bytes, and elements of `u4` have 4 bits: `recast::<u8>(x)` is the same memory as bytes";
    let number = "a number has whole bytes, and elements of `u4` have 4 bits";
    check(&[
        ("let y = x[(0, 0)];", element),
        ("let y = x[(m, 0)];", element),
        ("x[(0, 0)] = 1;", element),
        ("print!(\"{}\", x[(0, 0)]);", element),
        ("let y = x[(m, _)];", run_time),
        ("let y = local_tile(x, (8, 16), (m, 0));", run_time),
        (
            "let y = local_partition(x, layout!(64:1), thread() % 64);",
            run_time,
        ),
        ("let y: u4 = 1;", number),
        ("let y: Narrow = 1;", number),
        ("let y = 1 as u4;", number),
        ("let y = m as u4;", number),
        ("let y = m as Narrow;", number),
        ("let y = S { x: 1 };", number),
        ("let y = u4::MAX;", number),
        (
            "let y = 1u4;",
            "`u4` is no type of this number: a number ends with a type such as `u32`, `i64` or `f32`, or with its digits",
        ),
        ("let y = u4::Accumulator;", "wgmma does not multiply `u4`"),
        (
            "let y = recast::<u4>(g);",
            "elements of a tensor in global memory become others of 8 bits, as `u8` has, not `u4`, which has 4",
        ),
        (
            "let y = bytes(smem::<u4>(3));",
            "3 elements of `u4` have 12 bits, which are no whole bytes",
        ),
        (
            "let y = recast::<u8>(smem::<u4>(7));",
            "`7:1` does not fill whole groups of 2; nearest: `6:1`, `8:1`; `ragged` rounds up",
        ),
        (
            "let y = overlay::<u8>(local_tile(x, (1, 1), (0, 1)), 1);",
            "the tensor begins inside of a byte: elements of `u4` have 4 bits, which are no whole bytes",
        ),
        (
            "let y = matrix_operand(x);",
            "matrix_operand((64,128):(128,1), 4): ldmatrix and stmatrix cannot move (64,128):(128,1) of 4-bit elements: elements have 8, 16, 32 or 64 bits",
        ),
        (
            "let y = wgmma_operand(x);",
            "wgmma_operand((64,128):(128,1), 4): wgmma cannot read (64,128):(128,1) of 4-bit elements: operands have 8, 16 or 32 bits",
        ),
        (
            "let y = smem::<u4>(1 << 62);",
            "u4 at 4611686018427387904:1 does not fit shared memory, 232448 bytes",
        ),
    ]);
}

#[test]
fn parameters_of_kernels_have_whole_bytes() {
    let refused = "a parameter of a kernel has elements of whole bytes, and elements of `u4` have 4 bits: a tensor of `u8` has the same memory";
    for ty in [
        "Global<u4, 1>",
        "TmaLoad<u4, 2>",
        "TmaStore<u4, 2>",
        "Store<u4, 2, true>",
        "Store<u4, 2, false>",
        "[Global<u4, 1>; 3]",
    ] {
        let module = format!("mod kernels {{ #[kernel(threads = 32)] unsafe fn k(x: {ty}) {{}} }}");
        assert_eq!(found(&module), refused, "{ty}");
    }
    let generic = "mod kernels { #[kernel(threads = 32)] #[instances(T in [u8, u4])] unsafe fn k<T>(x: Global<T, 1>) {} }";
    assert_eq!(
        found(generic),
        format!("{refused} (in the instance `k_u4`)")
    );
    let fact = "mod kernels { #[kernel(threads = 32)] fn k(n: i4) {} }";
    assert_eq!(
        found(fact),
        "a number parameter has 32 or 64 bits, and elements of `i4` have 4 bits"
    );
    let number =
        "mod kernels { const X: e2m1 = 1.0; #[kernel(threads = 32)] fn k() { let x = X; } }";
    assert_eq!(
        found(number),
        "a number has whole bytes, and elements of `e2m1` have 4 bits"
    );
}

/// Every function and operation takes tensors of parts of bytes and their types, or refuses them.
#[test]
fn every_function_takes_narrow_elements_or_says_why_not() {
    let mut takes = BTreeSet::new();
    let narrow = ElementType::ALL.iter().filter(|it| it.bits() < 8);
    for element in narrow {
        let mut run = |name: &'static str, call: String| {
            let answer = in_kernel(*element, &call);
            if answer == "accepted" {
                takes.insert(name);
            }
        };
        for signature in builtins::signatures() {
            let (name, ty, count) = parts(signature, *element);
            for (at, filler) in (0..count).flat_map(|at| FILLERS.map(|filler| (at, filler))) {
                let args = (0..count).map(|index| if index == at { "x" } else { filler });
                let args = args.collect::<Vec<_>>().join(", ");
                run(name, format!("{name}{ty}({args})"));
            }
        }
        for operation in operations::all() {
            for more in ["", ", layout!((32,8):(64,1))", ", 2", ", 4, 8", ", (8, 8)"] {
                run(operation.name, format!("{}(x{more})", operation.name));
            }
        }
    }
    let takes: Vec<&str> = takes.into_iter().collect();
    let expected = "alignment bank_conflicts bijective bytes coalesce composition conflict_free dense depth flat_divide flatten \
                    injective is_bijective is_dense is_injective logical_divide peer rank recast shape size tiled_divide \
                    transpose unflatten vector_width with_shape zipped_divide";
    assert_eq!(takes.join(" "), expected);
}

/// Every function with a type between `::<` and `>` takes every type, or refuses it.
#[test]
fn every_function_of_a_type_takes_every_type_or_says_why_not() {
    let mut takes: BTreeMap<&str, Vec<ElementType>> = BTreeMap::new();
    for element in ElementType::ALL {
        for signature in builtins::signatures().filter(|it| it.contains("::<")) {
            let (name, ty, _) = parts(signature, *element);
            let calls = [
                "", "f", "m", "0.5", "64", "(8, 8)", "x", "x, 64", "y, 64", "K, SW64",
            ];
            let mut answers = calls
                .map(|args| in_kernel(*element, &format!("{name}{ty}({args})")))
                .into_iter();
            if answers.any(|answer| answer == "accepted") {
                takes.entry(name).or_default().push(*element);
            }
        }
    }
    let narrow = takes
        .into_iter()
        .filter(|(_, types)| types.len() == ElementType::ALL.len());
    let narrow: Vec<&str> = narrow.map(|(name, _)| name).collect();
    assert_eq!(narrow.join(" "), "bits overlay recast smem smem_atom");
}

/// Arguments of any function.
const FILLERS: [&str; 7] = ["x", "y", "f", "g", "0", "ready[0]", "(0, 0)"];

/// The name of a function, the type in a call for these elements, and the number of arguments.
fn parts(signature: &'static str, element: ElementType) -> (&'static str, String, usize) {
    let name = signature.split([':', '(']).next().unwrap_or_default();
    let ty = match signature.contains("::<") {
        true => format!("::<{element}>"),
        false => String::new(),
    };
    let arguments = signature.rsplit('(').next().unwrap_or_default();
    (name, ty, arguments.split(',').count())
}

/// The errors of a kernel with a call, and with a tensor of these elements.
fn in_kernel(element: ElementType, call: &str) -> String {
    found(&format!(
        "mod kernels {{
            #[kernel(threads = 128)]
            unsafe fn k(a: TmaLoad<u8, 2>, g: Global<u8, 1>, m: u32) {{
                let x = smem::<{element}>(layout!((64,128):(128,1)));
                let y = smem::<u8>(64);
                let f = fragment::<f32>(8);
                f.fill(1.0);
                let ready = mbarriers(2, 1);
                let z = {call};
            }}
        }}"
    ))
}

/// Host code chooses instances by Rust types. An instance of a type without one has only its own type.
#[test]
fn an_instance_of_narrow_elements_has_its_own_type() {
    let module = "mod kernels {
        #[kernel(threads = 32)]
        #[instances(T in [u4, u8])]
        pub fn k<T: Element>(n: u32) { let x = smem::<T>(64); }
    }";
    let reader = cute_lang::notation::Reader::Compiler;
    let text = expand::kernels(Default::default(), module.parse().expect("tokens"), reader);
    let text = text.to_string();
    assert!(text.contains("struct k_u4") && text.contains("struct k_u8"));
    assert!(text.contains("for :: core :: primitive :: u8") && !text.contains(":: u4"));
}
