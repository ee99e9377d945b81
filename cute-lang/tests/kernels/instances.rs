//! `#[instances(…)]` with values from constant arrays, and with expressions.

use cute_lang::kernel::expand::{kernels, resume};
use cute_lang::kernel::lower::{Lowered, lower, lower_with};
use cute_lang::notation::Reader;
use proc_macro2::TokenStream;
use std::time::{Duration, Instant};

/// Items that the tests share: a struct, constants of it and arrays.
const ITEMS: &str = "
    pub struct Config { pub bm: u32, pub wide: bool }
    pub const SMALL: Config = Config { bm: 64, wide: false };
    pub const LARGE: Config = tile(256);
    const AGAIN: Config = SMALL;
    const TILES_0: Config = LARGE;
    pub const COUNT: u32 = 2 + 1;
    pub const TILES: [Config; COUNT] = [Config { bm: 128, ..SMALL }, LARGE, tile(96)];
    pub const SIZES: [u32; 3] = [32, 64, 1 << 7];
    pub const EMPTY: [Config; 0] = [];
    fn tile(bm: u32) -> Config { Config { bm, wide: bm > 64 } }
";

/// A kernel with these attributes that stores the fields of its parameter.
fn module(attributes: &str) -> String {
    let body = "y[thread()] = CFG.bm + if CFG.wide { 1000 } else { 0 };";
    let kernel =
        "pub unsafe fn k<T: Element, const CFG: Config>(x: Global<T, 1>, y: Global<u32, 1>)";
    format!("mod kernels {{ {ITEMS} #[kernel(threads = 32)] {attributes} {kernel} {{ {body} }} }}")
}

fn tokens(module: &str) -> TokenStream {
    module.parse().expect("tokens")
}

/// The name of each instance with the number that it stores.
fn stored(lowered: &[Lowered]) -> Vec<(String, u32)> {
    crate::judge(lowered);
    let number = |text: &str| {
        let (_, rest) = text.split_once("mov.u32 %r0, ")?;
        rest.split(';').next()?.parse().ok()
    };
    let lowered = lowered.iter();
    let pairs = lowered.map(|it| {
        let text = it.module.to_string();
        let found = number(&text).unwrap_or_else(|| panic!("{text}"));
        (it.name.to_string(), found)
    });
    pairs.collect()
}

#[track_caller]
fn check(attributes: &str, expected: &[(&str, u32)]) {
    let lowered = lower(tokens(&module(attributes)));
    let lowered = lowered.unwrap_or_else(|error| panic!("{attributes}: {error}"));
    let found = stored(&lowered);
    let found: Vec<(&str, u32)> = found.iter().map(|(name, it)| (&name[..], *it)).collect();
    assert_eq!(found, expected, "{attributes}");
}

/// In the order of the array, combined with the other choices as single values are.
#[test]
fn each_element_of_an_array_is_a_value() {
    check(
        "#[instances(T in [f32, bf16], CFG in TILES)]",
        &[
            ("k_f32_TILES_0", 128),
            ("k_f32_TILES_1", 1256),
            ("k_f32_TILES_2", 1096),
            ("k_bf16_TILES_0", 128),
            ("k_bf16_TILES_1", 1256),
            ("k_bf16_TILES_2", 1096),
        ],
    );
    check(
        "#[instances(CFG in TILES, T in [f32, bf16])]",
        &[
            ("k_TILES_0_f32", 128),
            ("k_TILES_0_bf16", 128),
            ("k_TILES_1_f32", 1256),
            ("k_TILES_1_bf16", 1256),
            ("k_TILES_2_f32", 1096),
            ("k_TILES_2_bf16", 1096),
        ],
    );
    check(
        "#[instances(T in [f32], CFG in [SMALL, ..TILES])] #[instance(other: T = f32, CFG = LARGE)]",
        &[
            ("k_f32_SMALL", 64),
            ("k_f32_TILES_0", 128),
            ("k_f32_TILES_1", 1256),
            ("k_f32_TILES_2", 1096),
            ("other", 1256),
        ],
    );
}

/// Expressions are counted over all attributes of the kernel.
#[test]
fn an_expression_is_a_value() {
    check(
        "#[instances(T in [f32], CFG in [tile(32), SMALL, Config { bm: 2 * 16 + 1, ..SMALL }])]
         #[instances(T in [f16], CFG in [tile(16), TILES[2]])]",
        &[
            ("k_f32_CFG_0", 32),
            ("k_f32_SMALL", 64),
            ("k_f32_CFG_1", 33),
            ("k_f16_CFG_2", 16),
            ("k_f16_CFG_3", 1096),
        ],
    );
}

/// Written names are preferred, then the first.
#[test]
fn equal_values_are_one_instance() {
    check(
        "#[instances(T in [f32], CFG in TILES)]
         #[instances(T in [f32, f16], CFG in [LARGE, ..TILES, tile(96), Config { bm: 1, wide: false }])]",
        &[
            ("k_f32_TILES_0", 128),
            ("k_f32_LARGE", 1256),
            ("k_f32_TILES_2", 1096),
            ("k_f32_CFG_1", 1),
            ("k_f16_LARGE", 1256),
            ("k_f16_TILES_0", 128),
            ("k_f16_TILES_2", 1096),
            ("k_f16_CFG_1", 1),
        ],
    );
    let source = "mod kernels {
        use crate::sizes;
        const TRUTHS: [bool; 2] = [false, true];
        #[kernel(threads = 32)]
        #[instances(N in [sizes::ONE, 2, ..sizes::SIZES], C in [true, ..TRUTHS])]
        pub fn k<const N: u32, const C: bool>() {}
    }";
    let library = "mod sizes { pub const ONE: u32 = 1; pub const SIZES: [u32; 3] = [1, 2, 3]; }";
    let lowered = lower_with(tokens(source), &[("crate::sizes", tokens(library))]);
    let lowered = lowered.unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = lowered.iter().map(|it| it.name.to_string()).collect();
    let expected = [
        "ONE_true",
        "ONE_TRUTHS_0",
        "2_true",
        "2_TRUTHS_0",
        "SIZES_2_true",
        "SIZES_2_TRUTHS_0",
    ];
    assert_eq!(names, expected.map(|name| format!("k_{name}")));
    // Names that are written are kept, since host code uses them.
    check(
        "#[instances(T in [f32], CFG in [SMALL, AGAIN, tile(64)])]",
        &[("k_f32_SMALL", 64), ("k_f32_AGAIN", 64)],
    );
}

/// Floating-point numbers are compared bit by bit, and values of two types are different values of two parameters.
#[test]
fn different_values_are_different_instances() {
    let source = "mod kernels {
        pub struct Scale { by: f32 }
        const SCALES: [Scale; 4] = [Scale { by: 0.0 }, Scale { by: -0.0 }, Scale { by: f32::NAN }, Scale { by: f32::NAN }];
        const SIZES: [usize; 2] = [1, 2];
        #[kernel(threads = 32)]
        #[instances(S in SCALES, N in SIZES, PAIR in [(1, true), (1, false)], LIST in [[1, 2], [3, 4]], M in [-1])]
        pub fn k<const S: Scale, const N: usize, const PAIR: (u32, bool), const LIST: [u32; 2], const M: i32>() {}
    }";
    let lowered = lower(tokens(source)).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = lowered.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names.len(), 3 * 2 * 2 * 2);
    assert_eq!(names[0], "k_SCALES_0_SIZES_0_PAIR_0_LIST_0_M_0");
    assert_eq!(names[23], "k_SCALES_2_SIZES_1_PAIR_1_LIST_1_M_0");
}

#[test]
fn arrays_may_be_imported() {
    let library = format!("pub mod tiles {{ {ITEMS} }}");
    let source = |uses: &str, attribute: &str| {
        format!(
            "mod kernels {{
                {uses}
                use crate::tiles::Config;
                #[kernel(threads = 32)]
                #[instances({attribute})]
                pub unsafe fn k<const CFG: Config>(y: Global<u32, 1>) {{ y[0] = CFG.bm; }}
            }}"
        )
    };
    for (uses, attribute, name) in [
        ("use crate::tiles::TILES;", "CFG in TILES", "TILES"),
        ("use crate::tiles::TILES as ALL;", "CFG in ALL", "ALL"),
        ("use crate::tiles;", "CFG in [..tiles::TILES]", "TILES"),
    ] {
        let libraries = [
            ("crate::tiles", tokens(&library)),
            ("crate::tiles::TILES", tokens(&library)),
        ];
        let lowered = lower_with(tokens(&source(uses, attribute)), &libraries);
        let lowered = lowered.unwrap_or_else(|error| panic!("{attribute}: {error}"));
        let expected = [128, 256, 96].into_iter().enumerate();
        let expected = expected.map(|(i, bm)| (format!("k_{name}_{i}"), bm));
        assert_eq!(stored(&lowered), expected.collect::<Vec<_>>());
    }
}

/// The errors of a kernel with these attributes, each with the tokens to which it points, if spans know their text.
fn refusal(attributes: &str) -> Vec<(String, Option<String>)> {
    let text = module(attributes);
    match lower(tokens(&text)) {
        Ok(_) => panic!("accepted: {attributes}"),
        Err(errors) => errors
            .into_iter()
            .map(|error| (error.to_string(), place(&error)))
            .collect(),
    }
}

/// The tokens of an error, if the feature `instantiate` is on: then spans know their text.
fn place(error: &syn::Error) -> Option<String> {
    error.span().source_text().filter(|text| !text.is_empty())
}

#[test]
fn mistakes_in_values_without_names() {
    for (attributes, place, expected) in [
        (
            "#[instances(T in [f32], CFG in SMALL)]",
            "SMALL",
            "expected a constant array, found a `Config`: a list of values is `CFG in [SMALL]`",
        ),
        (
            "#[instances(T in [f32], CFG in [..tile])]",
            "tile",
            "expected a constant array, found the function `tile`: a list of values is `CFG in [tile]`",
        ),
        (
            "#[instances(T in [f32], CFG in EMPTY)]",
            "EMPTY",
            "the array is empty: no value is given for `CFG`",
        ),
        (
            "#[instances(T in [f32], CFG in SIZES)]",
            "SIZES",
            "the elements of the array are no values of `CFG`: expected `Config`, found the integer 32u32",
        ),
        (
            "#[instances(T in [f32], CFG in [SMALL, 3 + 4])]",
            "3 + 4",
            "expected `Config`, found the integer 7",
        ),
        (
            "#[instances(T in [f32], CFG in TILE)]",
            "TILE",
            "cannot find `TILE` in this scope",
        ),
        (
            "#[instances(T in [f32], CFG in [Config { bm: thread(), ..SMALL }])]",
            "Config { bm: thread(), ..SMALL }",
            "`CFG` is a value known at expansion, not a `Config`",
        ),
        (
            "#[instances(T in [f32], CFG in [{ let a = unknown; tile(a) }])]",
            "unknown",
            "cannot find `unknown` in this scope",
        ),
        (
            "#[instances(T in SIZES, CFG in TILES)]",
            "SIZES",
            "only the values of a const parameter are elements of an array: `T in [bf16, f16]`",
        ),
        (
            "#[instances(T in [f32], CFG in tile(3))]",
            "tile",
            "the values are a list in brackets, `CFG in [bf16, f16]`, or for a const parameter a constant array, `CFG in TILES`",
        ),
        (
            "#[instances(T in [f32], CFG in [SMALL, ..[LARGE]])]",
            "[LARGE]",
            "expected the name of a constant array",
        ),
        (
            "#[instances(T in [f32], OTHER in TILES)]",
            "OTHER",
            "the kernel has no parameter `OTHER`; it has `T`, `CFG`",
        ),
        (
            "#[instances(T in [f32], CFG in [TILES_0, ..TILES])]",
            "TILES",
            "two values of `CFG` are named `TILES_0`: give a constant another name",
        ),
        (
            "#[instances(T in [f32], CFG in [SMALL, ..TILES, SMALL])]",
            "SMALL",
            "two instances are named `k_f32_SMALL`",
        ),
    ] {
        let found = refusal(attributes);
        let messages: Vec<&str> = found.iter().map(|(message, _)| &message[..]).collect();
        assert_eq!(messages, [expected], "{attributes}");
        let known = found[0].1.as_deref().unwrap_or(place);
        assert_eq!(known, place, "{attributes}");
    }
}

/// An array of layouts is known once the carrier of a layout outside of the module has answered.
#[test]
fn layouts_of_an_array_are_asked_for() {
    let module = "mod kernels {
        const TILES: [Layout; 2] = [layout!(crate::OUTSIDE), layout!((8, 4))];
        #[kernel(threads = 32)] #[instances(L in TILES)] pub fn k<const L: Layout>() { assert!(size(L) == 32); }
    }";
    let asked = expansion(module, Reader::Compiler);
    assert!(asked.starts_with("crate::OUTSIDE!{"), "{asked}");
    let known = format!("[::cute_runtime, crate::OUTSIDE = \"(4,8):(8,1)\"] {module}");
    let text = resume(tokens(&known), Reader::Compiler).to_string();
    assert!(text.contains("struct k_TILES_1"), "{text}");
}

/// A mistake in the array itself is at the mistake, and told once.
#[test]
fn mistakes_in_an_array_are_at_the_array() {
    let source = "mod kernels {
        const SIZES: [u32; 3] = [1, 2];
        #[kernel(threads = 32)] #[instances(N in SIZES)] pub fn a<const N: u32>() {}
        #[kernel(threads = 32)] #[instances(N in SIZES)] pub fn b<const N: u32>() {}
    }";
    let error = lower(tokens(source)).err().expect("an error");
    let found: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
    assert_eq!(found, ["expected `[u32; 3]`, found an array of 2"]);
}

#[test]
fn a_mistake_in_one_element_names_its_instance() {
    let source = "mod kernels {
        const SIZES: [u32; 3] = [32, 48, 64];
        #[kernel(threads = N)]
        #[instances(N in SIZES)]
        pub fn k<const N: u32>() { assert!(N % 32 == 0, \"no whole warps\"); }
    }";
    let error = lower(tokens(source)).err().expect("an error").to_string();
    assert_eq!(
        error,
        "assertion failed: no whole warps (in the instance `k_SIZES_1`)"
    );
}

/// Also where the mistake is in a statement.
#[test]
fn mistakes_in_constants_are_told() {
    let source = |value: &str, attribute: &str| {
        format!(
            "mod kernels {{
                pub const X: u32 = {{ let a = {value}; a }};
                #[kernel(threads = 32)] {attribute} fn k<const N: u32>() {{}}
            }}"
        )
    };
    for (value, attribute) in [
        ("unknown", "#[instance(k: N = X)]"),
        ("1", "#[instance(k: N = { let a = unknown; a })]"),
        ("unknown", "#[instances(N in [X])]"),
        ("unknown", "#[instances(N in [X, 3 + 4])]"),
    ] {
        let error = lower(tokens(&source(value, attribute))).err();
        let error = error.unwrap_or_else(|| panic!("accepted: {attribute}"));
        let found: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        assert_eq!(
            found,
            ["cannot find `unknown` in this scope"],
            "{attribute}"
        );
    }
}

/// As many instances as the limit, and one more.
#[test]
fn the_number_of_instances_has_a_limit() {
    let source = |n: u32| {
        let each: String = (0..n).map(|i| format!("{i},")).collect();
        format!(
            "mod kernels {{
                const SIZES: [u32; {n}] = [{each}];
                #[kernel(threads = 32)] #[instances(N in SIZES, C in [true, false])] fn k<const N: u32, const C: bool>() {{}}
            }}"
        )
    };
    let lowered = lower(tokens(&source(2048))).map(|all| all.len());
    assert_eq!(lowered.map_err(|error| error.to_string()), Ok(4096));
    let error = lower(tokens(&source(2049))).err().expect("an error");
    assert_eq!(error.to_string(), "more than 4096 instances");
    assert_eq!(place(&error).unwrap_or("C".into()), "C");
    // Stubs of a module with a mistake do not take long either.
    let long = format!(
        "mod kernels {{
            pub const SIZES: [u32; {0}] = [0; {0}];
            #[kernel(threads = 32)] #[instances(N in SIZES)] fn k<const N: u32>() {{}}
        }}",
        u32::MAX
    );
    let error = lower(tokens(&long)).err().expect("an error");
    let expected = "the length of an array is an integer known at expansion, at most 4096";
    assert_eq!(error.to_string(), expected);
    has(&expansion(&long, Reader::Compiler), &["compile_error!"]);
}

/// An array of 400 structs of 14 numbers each, and one whose elements are all equal.
#[test]
fn arrays_may_be_long() {
    let fields: String = (0..14).map(|i| format!("pub f{i}: u32, ")).collect();
    let zeros: String = (0..14).map(|i| format!("f{i}: 0, ")).collect();
    let each: String = (0..400)
        .map(|i| format!("Config {{ f3: {i}, ..BASE }}, "))
        .collect();
    let source = format!(
        "pub mod kernels {{
            pub struct Config {{ {fields} }}
            pub const BASE: Config = Config {{ {zeros} }};
            pub const ALL: [Config; 400] = [{each}];
            pub const ZEROS: [u32; 4096] = [0; 4096];
            #[kernel(threads = 32)] #[instances(CFG in ALL)] fn k<const CFG: Config>() {{}}
        }}"
    );
    let lowered = lower(tokens(&source)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lowered.len(), 400);
    let zeros = "pub const ZEROS: [u32; 4096usize] = [0u32; 4096usize];";
    has(
        &expansion(&source, Reader::Compiler),
        &["pub const ALL: [Config; 400usize] = [", zeros],
    );
}

/// The time in which the kernels of a module are lowered, the shortest of three.
fn time(source: &str) -> Duration {
    let times = [(); 3].map(|()| {
        let start = Instant::now();
        let lowered = lower(tokens(source));
        lowered.unwrap_or_else(|error| panic!("{error}"));
        start.elapsed()
    });
    times.into_iter().min().unwrap_or_default()
}

/// Each element takes about 100 steps, so 300 evaluations of the array would take much longer than one.
#[test]
fn an_array_is_evaluated_once() {
    let source = |attribute: &str| {
        let each: String = (0..300).map(|i| format!("f({i}), ")).collect();
        let sum = " + 1".repeat(50);
        format!(
            "mod kernels {{
                const SIZES: [u32; 300] = [{each}];
                const fn f(n: u32) -> u32 {{ n {sum} }}
                #[kernel(threads = 32)] {attribute} fn k<const N: u32>() {{}}
            }}"
        )
    };
    let one = time(&source("#[instances(N in [SIZES[0]])]"));
    let all = time(&source("#[instances(N in SIZES)]"));
    assert!(all < 20 * one, "{one:?} for one, {all:?} for 300");
}

/// The features of attributes and of values are asked for. A value for which one attribute needs no feature is built without.
#[test]
fn features_of_arrays() {
    let module = module(
        "#[instances(cfg(feature = \"all\"), T in [f32], CFG in [..TILES, #[cfg(feature = \"huge\")] tile(512)])]
         #[instances(T in [f32], CFG in [LARGE])]",
    );
    let asked = kernels(TokenStream::new(), tokens(&module), Reader::Compiler).to_string();
    has(
        &asked.replace(char::is_whitespace, ""),
        &[
            "::cute_runtime::__private::feature! { \"all\" {",
            "({ ::cute_runtime::__private::feature } { \"huge\" }",
        ],
    );
    for (all, built) in [
        ("on", [true, true, true, false]),
        ("off", [false, true, false, false]),
    ] {
        let known = format!("[::cute_runtime, \"all\" = {all}, \"huge\" = off] {module}");
        let text = resume(tokens(&known), Reader::Compiler);
        let text = text.to_string().replace(char::is_whitespace, "");
        for (name, built) in ["TILES_0", "LARGE", "TILES_2", "CFG_0"].iter().zip(built) {
            let declared = text.contains(&format!("pubstructk_f32_{name};"));
            assert_eq!(declared, built, "{name} with all {all}: {text}");
        }
        has(
            &text,
            &["pub enum k_CFG {
                #[doc = \" `TILES_0`.\"] TILES_0,
                #[doc = \" `LARGE`.\"] LARGE,
                #[doc = \" `TILES_2`.\"] TILES_2,
                #[doc = \" `CFG_0`.\"] CFG_0
            }"],
        );
    }
}

/// The expansion of a module, without spaces.
fn expansion(module: &str, reader: Reader) -> String {
    let expanded = kernels(TokenStream::new(), tokens(module), reader);
    expanded.to_string().replace(char::is_whitespace, "")
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        let part = part.replace(char::is_whitespace, "");
        assert!(text.contains(&part), "no {part} in {text}");
    }
}

#[test]
fn host_code_has_the_arrays_and_finds_instances_by_value() {
    let text = expansion(
        &module(
            "#[instances(T in [f32], CFG in [LARGE, ..TILES, tile(8)])] #[instances(T in [f16], CFG in TILES)]",
        ),
        Reader::Compiler,
    );
    has(
        &text,
        &[
            "pub const TILES: [Config; 3usize] = [Config { bm: 128u32, wide: false }, Config {",
            "pub const SIZES: [u32; 3usize] = [32u32, 64u32, 128u32];",
            "pub const EMPTY: [Config; 0usize] = [];",
            "pub struct k_f32_TILES_0;",
            "pub struct k_f16_LARGE;",
            "pub const ALL: [Self; 4usize] = [Self::LARGE, Self::TILES_0, Self::TILES_2, Self::CFG_0];",
            "#[doc = \" The same value as `LARGE`.\"] pub const TILES_1: Self = Self::LARGE;",
            "Self::TILES_0 => Config { bm: 128u32, wide: false }",
            "const INSTANCES: &'static [k_CFG] = &[k_CFG::LARGE, k_CFG::TILES_0, k_CFG::TILES_2, k_CFG::CFG_0];",
            "const INSTANCES: &'static [k_CFG] = &[k_CFG::TILES_0, k_CFG::LARGE, k_CFG::TILES_2];",
        ],
    );
}

#[test]
fn a_value_of_an_enum_is_its_variant() {
    let text = expansion(
        "pub mod kernels {
            pub enum Mode { Fast, Safe = 4 }
            pub const MODES: [Mode; 2] = [Mode::Safe, Mode::Fast];
            const BEST: Mode = Mode::Safe;
            #[kernel(threads = 32)] #[instances(M in [BEST, ..MODES])] pub fn k<const M: Mode>() {}
        }",
        Reader::Compiler,
    );
    has(
        &text,
        &["Self::BEST => Mode::Safe, Self::MODES_1 => Mode::Fast"],
    );
}

/// A module with mistakes, and a module in an editor, have the types of instances, and the arrays with zeros.
#[test]
fn names_remain_where_there_are_mistakes() {
    let attributes = "#[instances(T in [f32], CFG in [SMALL, ..TILES, tile(2)])]";
    for reader in [Reader::Compiler, Reader::Editor] {
        let broken = module(attributes).replace("[thread()]", "[unknown]");
        let text = expansion(&broken, reader);
        has(
            &text,
            &[
                "compile_error!",
                "pub struct k_f32_SMALL;",
                "pub struct k_f32_TILES_2;",
                "pub struct k_f32_CFG_0;",
                "pub const TILES: [Config; 3usize] = [Config {",
            ],
        );
    }
}
