//! The Rust of an instance.

use cute_lang::kernel::expand::{kernels, resume};
use cute_lang::notation::Reader;
use expect_test::expect;
use proc_macro2::{TokenStream, TokenTree};

/// The expansion of a module, formatted.
fn expansion(attribute: &str, source: &str) -> String {
    let module = format!("pub mod kernels {{ {source} }}");
    let tokens = kernels(
        attribute.parse().expect("tokens"),
        module.parse().expect("tokens"),
        Reader::Compiler,
    );
    prettyplease::unparse(&syn::parse2(tokens).expect("items"))
}

/// Two kernels: one whose instances of f16 need a feature, and one that has none without another.
const WITH_FEATURES: &str = r#"
    pub const ONE: u32 = 1;
    pub const TWO: u32 = 2;

    #[kernel(threads = 32)]
    #[instances(T in [bf16, #[cfg(feature = "half")] f16], N in [ONE])]
    #[instances(cfg(all(feature = "two", feature = "half")), T in [f16], N in [TWO])]
    pub unsafe fn fill<T: Element, const N: u32>(y: Global<T, 1>) {
        y[thread()] = 1.0;
    }

    #[kernel(threads = 32)]
    #[instances(cfg(feature = "two"), N in [ONE, TWO])]
    pub unsafe fn rare<const N: u32>(x: Global<u32, 1>, y: Global<u32, 1>) {
        y[thread()] = x[thread()] + N;
    }
"#;

/// The expansion of that module once it is known which features are on.
fn with_features(half: &str, two: &str) -> String {
    let known = format!(r#"[::cute_runtime, "half" = {half}, "two" = {two}]"#);
    let input = format!("{known} pub mod kernels {{ {WITH_FEATURES} }}");
    let tokens = resume(input.parse().expect("tokens"), Reader::Compiler);
    prettyplease::unparse(&syn::parse2(tokens).expect("items"))
}

/// Each is asked for once, and the module is expanded when all are known.
#[test]
fn features_of_instances_are_asked_for() {
    let module = format!("pub mod kernels {{ {WITH_FEATURES} }}");
    let module: TokenStream = module.parse().expect("tokens");
    let asked = kernels(TokenStream::new(), module.clone(), Reader::Compiler).to_string();
    let expected: TokenStream = format!(
        r#"::cute_runtime::__private::feature! {{
            "half" {{ ::cute_runtime::__private::kernels }} [::cute_runtime, "half"]
            ({{ ::cute_runtime::__private::feature }} {{ "two" }} ["two"]) {module}
        }}"#
    )
    .parse()
    .expect("tokens");
    assert_eq!(asked, expected.to_string());
}

#[test]
fn instances_are_built_where_their_features_are_on() {
    let types = [
        "fill_bf16_ONE",
        "fill_f16_ONE",
        "fill_f16_TWO",
        "rare_ONE",
        "rare_TWO",
    ];
    for (half, two, built) in [
        ("on", "on", [true, true, true, true, true]),
        ("on", "off", [true, true, false, false, false]),
        ("off", "on", [true, false, false, true, true]),
        ("off", "off", [true, false, false, false, false]),
    ] {
        let expansion = with_features(half, two);
        for (name, built) in types.iter().zip(built) {
            let declared = expansion.contains(&format!("pub struct {name};"));
            assert_eq!(declared, built, "{name}, half {half}, two {two}");
        }
    }
}

/// Host code has the same types, traits and constants whatever features are on, and learns at run time which are missing.
#[test]
fn what_is_not_built_is_known() {
    let expansion = with_features("off", "off");
    for part in [
        "pub enum fill_N {\n        /// `ONE`.\n        ONE,\n        /// `TWO`.\n        TWO,\n    }",
        "Self::TWO => 2u32",
        "impl fill_types for ::cute_runtime::f16 {",
        "const INSTANCES: &'static [fill_N] = &[];",
        "= &[\"half\", \"two\"];",
        "pub const MISSING: &'static [&'static ::core::primitive::str] = &[\"two\"];",
        // The tensor that `rare` writes is mutable, though none of its instances is built.
        "x: &::cute_runtime::TensorView<'_, ::core::primitive::u32, 1usize>",
        "y: &mut ::cute_runtime::TensorViewMut<'_, ::core::primitive::u32, 1usize>",
    ] {
        assert!(expansion.contains(part), "no {part} in {expansion}");
    }
}

#[test]
fn an_instance_becomes_a_type() {
    let source = "
        /// Adds one.
        #[kernel(threads = 32)]
        #[instance(add_one_f32: T = f32)]
        pub unsafe fn add_one<T: Element>(src: TmaLoad<T, 2>, dst: Global<T, 2>, n: u32) {
            let tile = smem::<T>(layout!((8,32):(32,1)));
            let ready = mbarriers(1, 1);
            if thread() == 0 {
                expect_tx(ready[0], bytes(tile));
                tma_load(src, (0, 0), tile, ready[0]);
            }
            wait(ready[0], 0);
            for i in 0..n {
                dst[(i, thread())] = tile[(i, thread())] + 1.0;
            }
        }
    ";
    let expected = expect![[r##"
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
        #[macro_export]
        macro_rules! __kernels_kernels_here {
            ($($use:tt)*) => {
                ::cute_runtime::__private::carry! { [kernels { "cute-lang:__kernels_kernels_here"
                "cute-lang:__kernels_kernels_here"[] { pub mod kernels { #[doc = " Adds one."]
                #[kernel(threads = 32)] #[instance(add_one_f32 : T = f32)] pub unsafe fn add_one
                < T : Element > (src : TmaLoad < T, 2 >, dst : Global < T, 2 >, n : u32) { let
                tile = smem::< T > (layout!((8, 32) : (32, 1))); let ready = mbarriers(1, 1); if
                thread() == 0 { expect_tx(ready[0], bytes(tile)); tma_load(src, (0, 0), tile,
                ready[0]); } wait(ready[0], 0); for i in 0..n { dst[(i, thread())] = tile[(i,
                thread())] + 1.0; } } } } }] $($use)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        pub use __kernels_kernels_here as kernels;
        pub mod kernels {
            /// Adds one.
            ///
            /// Its PTX is `<add_one_f32 as Kernel>::PTX`, and `cargo expand` shows it.
            ///
            /// ```text
            /// shared memory 0..1024, tile: f32 at (8,32):(32,1)
            /// shared memory 1024..1032, ready: 1 mbarriers, 1 arrivals a phase
            /// tensor map src: f32, boxes of [8, 32], INTER
            /// tensor dst: f32 at dst_ptr, strides (dst_stride0, 1)
            /// ```
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            pub struct add_one_f32;
            unsafe impl ::cute_runtime::Kernel for add_one_f32 {
                const NAME: &'static ::core::primitive::str = "add_one_f32";
                const PTX: &'static ::core::primitive::str = match () {
                    () => {
                        r".version 8.0
        .target sm_90a
        .address_size 64
        // shared memory 0..1024, tile: f32 at (8,32):(32,1)
        // shared memory 1024..1032, ready: 1 mbarriers, 1 arrivals a phase
        // tensor map src: f32, boxes of [8, 32], INTER
        // tensor dst: f32 at dst_ptr, strides (dst_stride0, 1)
        .extern .shared .align 1024 .b8 smem[];

        .visible .entry add_one_f32(
            .param .align 64 .b8 src[128],
            .param .u64 dst_ptr,
            .param .u64 dst_stride0,
            .param .u32 n
        )
        .reqntid 32, 1, 1
        {
            .reg .pred %p<5>;
            .reg .b32 %r<4>;
            .reg .b64 %rd<6>;
            .reg .f32 %f<2>;
            .reg .b32 %n;
            .reg .b32 %smem_base;
            .reg .b32 %thread;
            .reg .b64 %src_map;
            .reg .b32 %i;
            .reg .b64 %dst_stride0;
            .reg .b64 %dst_ptr;

            ld.param.u32 %n, [n];
            mov.u32 %smem_base, smem;
            mov.u32 %thread, %tid.x;
            mov.b64 %src_map, src;
            cvta.param.u64 %src_map, %src_map;
            ld.param.u64 %dst_stride0, [dst_stride0];
            ld.param.u64 %dst_ptr, [dst_ptr];
            cvta.to.global.u64 %dst_ptr, %dst_ptr;
            // thread 0 initialises the barriers; everyone waits until that is visible
            setp.ne.u32 %p4, %thread, 0;
            @%p4 bra $initialised;                                  // if %thread != 0
            // where %thread == 0
            mbarrier.init.shared::cta.b64 [%smem_base+1024], 1;     // at 1024 in 1024..1032
            fence.mbarrier_init.release.cluster;
        $initialised:
            bar.sync 0;
            // if thread() == 0
            setp.eq.u32 %p0, %thread, 0;
            // expect_tx(ready[0], bytes(tile))
            @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%smem_base+1024], 1024;  // ready at 1024 in 1024..1032; if %thread == 0
            // tma_load(src, (0, 0), tile, ready[0])
            @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%smem_base],
                [%src_map, {0, 0}], [%smem_base+1024];              // tile at 0 in 0..1024; src[0, 0]; ready at 1024 in 1024..1032; if %thread == 0
            // wait(ready[0], 0)
        $wait:
            mbarrier.try_wait.parity.shared::cta.b64 %p1, [%smem_base+1024], 0;  // ready at 1024 in 1024..1032
            @!%p1 bra $wait;
            // for i in 0..n
            setp.gt.u32 %p2, %n, 0;
            @!%p2 bra $for_end;                                     // if %n <= 0
            // where %n > 0
            mov.u32 %i, 0;
        $for:
            // dst[(i, thread())] = tile[(i, thread())] + 1.0
            shl.b32 %r0, %i, 7;
            shl.b32 %r1, %thread, 2;
            add.u32 %r2, %r0, %r1;
            add.u32 %r3, %smem_base, %r2;
            ld.shared.f32 %f0, [%r3];                               // tile[%i < 8, %thread < 32] at %r2 in 0..1024
            add.rn.f32 %f1, %f0, 0f3F800000;
            cvt.u64.u32 %rd0, %i;
            mul.lo.u64 %rd1, %rd0, %dst_stride0;
            cvt.u64.u32 %rd2, %thread;
            add.u64 %rd3, %rd1, %rd2;
            shl.b64 %rd4, %rd3, 2;
            add.u64 %rd5, %dst_ptr, %rd4;
            st.global.f32 [%rd5], %f1;                              // dst[%i, %thread]
            add.u32 %i, %i, 1;
            setp.lt.u32 %p3, %i, %n;
            @%p3 bra $for;                                          // if %i < %n
            // where %i >= %n
        $for_end:
            ret;
        }
        "
                    }
                };
                const THREADS: ::core::primitive::u32 = 32u32;
                const CLUSTER: [::core::primitive::u32; 3] = [1u32, 1u32, 1u32];
                const SMEM_BYTES: ::core::primitive::u32 = 1032u32;
                const PARAMS: &'static [::cute_runtime::Param] = &[
                    ::cute_runtime::Param::TmaLoad(::cute_runtime::TmaRecipe {
                        name: "src",
                        element: ::cute_runtime::ElementType::F32,
                        box_shape: &[8u32, 32u32],
                        swizzle: ::cute_runtime::SwizzleMode::None,
                        l2: ::cute_runtime::L2Promotion::B128,
                        fill: ::cute_runtime::OobFill::Zero,
                    }),
                    ::cute_runtime::Param::Global {
                        name: "dst",
                        element: ::cute_runtime::ElementType::F32,
                        rank: 2usize,
                        written: true,
                        extents: false,
                    },
                    ::cute_runtime::Param::Scalar {
                        name: "n",
                        ty: ::cute_runtime::ElementType::U32,
                    },
                ];
                const IS_SAFE: ::core::primitive::bool = false;
                const TYPES: [(
                    ::cute_runtime::Param,
                    ::cute_runtime::TmaRecipe,
                    ::cute_runtime::ElementType,
                    ::cute_runtime::SwizzleMode,
                    ::cute_runtime::L2Promotion,
                    ::cute_runtime::OobFill,
                    ::cute_runtime::Fact,
                    ::cute_runtime::Comparison,
                    ::cute_runtime::Term,
                    ::cute_runtime::Report,
                    ::cute_runtime::Piece,
                ); 0] = [];
            }
            impl add_one_f32 {
                /// Launches `add_one_f32` with 32 threads a CTA on `grid` CTAs.
                ///
                /// # Errors
                ///
                /// Arguments that the kernel cannot take, named with the rule they break; nothing has been launched then.
                ///
                /// # Safety
                ///
                /// With this grid and these numbers, every coordinate at which the kernel reads or writes `dst` is inside of the tensor.
                #[allow(clippy::too_many_arguments)]
                pub unsafe fn launch(
                    device: &::cute_runtime::Device,
                    grid: impl ::core::convert::Into<::cute_runtime::Grid>,
                    src: &::cute_runtime::TensorView<'_, ::core::primitive::f32, 2usize>,
                    dst: &mut ::cute_runtime::TensorViewMut<'_, ::core::primitive::f32, 2usize>,
                    n: ::core::primitive::u32,
                ) -> ::core::result::Result<(), ::cute_runtime::Error> {
                    let grid = ::core::convert::Into::into(grid);
                    let arguments = [
                        <::cute_runtime::__private::Argument<
                            '_,
                        > as ::core::convert::From<_>>::from(src),
                        <::cute_runtime::__private::Argument<
                            '_,
                        > as ::core::convert::From<_>>::from(dst),
                        <::cute_runtime::__private::Argument<
                            '_,
                        > as ::core::convert::From<_>>::from(n),
                    ];
                    unsafe {
                        ::cute_runtime::__private::launch::<Self>(device, grid, &arguments)
                    }
                }
            }
            /// Name and PTX of each instance of the kernels of this module.
            #[allow(dead_code)]
            pub const KERNELS: &'static [(
                &'static ::core::primitive::str,
                &'static ::core::primitive::str,
            )] = &[
                (
                    <add_one_f32 as ::cute_runtime::Kernel>::NAME,
                    <add_one_f32 as ::cute_runtime::Kernel>::PTX,
                ),
            ];
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __kernels_kernels_here as add_one;
        }
    "##]];
    expected.assert_eq(&expansion("", source));
}

#[test]
fn the_facade_may_have_another_name() {
    let text = expansion(
        "crate = crate::cute",
        "#[kernel(threads = 32)] pub fn nothing() {}",
    );
    assert!(
        text.contains("unsafe impl crate::cute::Kernel for nothing"),
        "{text}"
    );
    assert!(!text.contains("::cute_runtime"), "{text}");
}

#[test]
fn a_module_with_errors_keeps_its_names() {
    let expected = expect![[r##"
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
        #[macro_export]
        macro_rules! __kernels_kernels_here {
            ($($use:tt)*) => {
                ::cute_runtime::__private::carry! { [broken] $($use)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        pub use __kernels_kernels_here as kernels;
        #[allow(missing_docs, non_camel_case_types, clippy::missing_safety_doc)]
        pub mod kernels {
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            pub struct broken;
            unsafe impl ::cute_runtime::Kernel for broken {
                const NAME: &'static ::core::primitive::str = "";
                const PTX: &'static ::core::primitive::str = "";
                const THREADS: ::core::primitive::u32 = 0;
                const CLUSTER: [::core::primitive::u32; 3] = [0; 3];
                const SMEM_BYTES: ::core::primitive::u32 = 0;
                const PARAMS: &'static [::cute_runtime::Param] = &[];
            }
            impl broken {
                #[allow(clippy::too_many_arguments)]
                pub fn launch<'a>(
                    _: &::cute_runtime::Device,
                    _: impl ::core::convert::Into<::cute_runtime::Grid>,
                ) -> ::core::result::Result<(), ::cute_runtime::Error> {
                    ::core::unreachable!()
                }
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __kernels_kernels_here as broken;
        }
        ::core::compile_error! {
            "cannot find function `unknown`"
        }
    "##]];
    expected.assert_eq(&expansion(
        "",
        "#[kernel(threads = 32)] pub fn broken() { unknown(); }",
    ));
}

/// Constants and structs of numbers are Rust items, too, with the values that kernels use.
#[test]
fn host_code_has_the_constants() {
    let expansion = expansion(
        "",
        "
            /// Sizes.
            pub struct Config { pub bm: u32, pub scale: f32, pub paired: bool }
            pub const SMALL: Config = Config { bm: 8 * 8, scale: 0.5, paired: false };
            pub const LARGE: Config = Config { bm: SMALL.bm * 2, paired: true, ..SMALL };
            pub const LEAST: i32 = -5;
            pub const LAYOUT: Layout = layout!((2,3):(3,1));
            const PRIVATE: u32 = 1;
        ",
    );
    for declared in [
        "pub struct Config",
        "pub const LARGE: Config = Config {",
        "bm: 128u32",
        "scale: f32::from_bits(1056964608u32)",
        "paired: true",
        "pub const LEAST: i32 = -5i32;",
    ] {
        assert!(expansion.contains(declared), "{declared}: {expansion}");
    }
    for other in ["const LAYOUT", "const PRIVATE"] {
        let (_, module) = expansion
            .rsplit_once("pub mod kernels {")
            .expect("the module");
        assert!(!module.contains(other), "{other}: {expansion}");
    }
}

/// So are tuple structs of numbers and enums. What the module derives is derived once.
#[test]
fn host_code_has_tuple_structs_and_enums() {
    let expansion = expansion(
        "",
        "
            #[derive(Clone)]
            pub struct Pair(pub u32, pub f32);
            pub const ONE: Pair = Pair(1, 0.5);
            #[derive(Copy, PartialEq)]
            pub enum Mode { Fast = -1, Safe }
            enum Private { A }
            const BASE: i32 = 3;
            pub enum Named { A = BASE }
            type Number = u32;
            pub const COUNT: Number = 5;
        ",
    );
    for declared in [
        "pub struct Pair(pub u32, pub f32);",
        "pub const ONE: Pair = Pair {",
        "0: 1u32",
        "pub enum Mode {",
        "Fast = -1",
        "pub const COUNT: u32 = 5u32;",
    ] {
        assert!(expansion.contains(declared), "{declared}: {expansion}");
    }
    let (_, module) = expansion
        .rsplit_once("pub mod kernels {")
        .expect("the module");
    for other in ["enum Private", "enum Named"] {
        assert!(!module.contains(other), "{other}: {expansion}");
    }
    for derived in ["Clone", "Copy", "PartialEq"] {
        assert_eq!(module.matches(derived).count(), 2, "{module}");
    }
}

/// Also of one that no kernel uses.
#[test]
fn an_enum_is_checked_where_it_is_declared() {
    let expansion = expansion("", "enum E { A = 1, B = 1 }");
    assert!(
        expansion.contains("`B` has the discriminant 1 of `A`"),
        "{expansion}"
    );
}

/// Attributes stand beside each other, so their number is not limited like the depth of expressions.
#[test]
fn many_lines_of_documentation() {
    let lines = "/// A line.\n".repeat(1000);
    let source = format!("{lines} #[kernel(threads = 32)] pub fn k() {{}}");
    let expansion = expansion("", &source);
    assert!(expansion.contains("pub struct k"), "{expansion}");
}

#[test]
fn an_instance_at_run_time_becomes_a_type_with_fields() {
    let source = "
        pub struct Sizes { pub each: u32, pub wide: bool }

        /// Sets elements.
        #[kernel(threads = BLOCK)]
        #[instance(filled: T = _, BLOCK = _, SIZES = _)]
        pub fn fill<T: Element, const BLOCK: u32, const SIZES: Sizes>(x: Global<T, 1>, by: f32) {}
    ";
    let expected = expect![[r#"

            ///
            /// The values of this instance are given when the program runs.
            #[allow(non_camel_case_types, non_snake_case)]
            #[derive(
                ::core::clone::Clone,
                ::core::marker::Copy,
                ::core::fmt::Debug,
                ::core::cmp::PartialEq
            )]
            pub struct filled {
                /// The value of `T`.
                pub T: ::cute_runtime::ElementType,
                /// The value of `BLOCK`.
                pub BLOCK: ::core::primitive::u32,
                /// The value of `SIZES`.
                pub SIZES: Sizes,
            }
            ::cute_runtime::__private::instantiable! {
                [impl filled { #[allow(missing_docs, clippy::missing_safety_doc,
                clippy::too_many_arguments)] pub fn launch < 'a > (& self, _ : &
                ::cute_runtime::Device, _ : impl ::core::convert::Into < ::cute_runtime::Grid >,
                _ : impl ::core::convert::Into < ::cute_runtime::__private::Argument < 'a >>, _ :
                ::core::primitive::f32) -> ::core::result::Result < (), ::cute_runtime::Error > {
                ::core::unreachable!() } }] [impl ::cute_runtime::Instantiate for filled { const
                NAME : & 'static ::core::primitive::str = "filled"; const MODULE :
                ::cute_runtime::__private::Text = __MODULE; fn values(& self) ->
                ::cute_runtime::__private::Values { ::cute_runtime::__private::Values::of(&
                [("T", & self.T), ("BLOCK", & self.BLOCK), ("SIZES", &
                ::cute_runtime::__private::Struct("Sizes", & [("each", & self.SIZES.each),
                ("wide", & self.SIZES.wide)]))]) } } impl filled { #[doc =
                " Launches the instance of `filled` for these values on `grid` CTAs."] #[doc =
                r" At the first launch with these values, the instance is made."] #[doc = r""]
                #[doc = r" # Errors"] #[doc = r""] #[doc =
                r" Values for which there is no instance, and arguments that it cannot take, named with the rule they break;"]
                #[doc = r" nothing has been launched then."] #[allow(clippy::too_many_arguments)]
                pub fn launch < 'a > (& self, device : & ::cute_runtime::Device, grid : impl
                ::core::convert::Into < ::cute_runtime::Grid >, x : impl ::core::convert::Into <
                ::cute_runtime::__private::Argument < 'a >>, by : ::core::primitive::f32) ->
                ::core::result::Result < (), ::cute_runtime::Error > { let grid =
                ::core::convert::Into::into(grid); let arguments : &
                [::cute_runtime::__private::Argument < '_ >] = & [::core::convert::Into::into(x),
                ::core::convert::Into::into(by)];
                ::cute_runtime::__private::launch_safe_instance(self, device, grid, arguments) }
                }]
            }
            ::cute_runtime::__private::instantiable! {
                [] [const __MODULE : ::cute_runtime::__private::Text =
                ::cute_runtime::__private::Text { text :
                " \"cute-lang:__kernels_kernels_here\" \"cute-lang:__kernels_kernels_here\" [ ] { pub mod kernels { pub struct Sizes { pub each : u32 , pub wide : bool } # [ doc = \" Sets elements.\" ] # [ kernel ( threads = BLOCK ) ] # [ instance ( filled : T = _ , BLOCK = _ , SIZES = _ ) ] pub fn fill < T : Element , const BLOCK : u32 , const SIZES : Sizes > ( x : Global < T , 1 >, by : f32 ) { } } }",
                places : & [], };]
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __kernels_kernels_here as Sizes;
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __kernels_kernels_here as fill;
            const _: fn() = || {
                let x = ();
                let by = ();
            };
        }
    "#]];
    let text = expansion("", source);
    let (_, types) = text.split_once("/// Sets elements.").expect("the type");
    expected.assert_eq(types);
}

/// The arguments for constants are named after them, but for names that are taken.
#[test]
fn constants_that_are_chosen_have_names_of_their_own() {
    let source = "#[kernel(threads = 32)] #[instances(N in [1, 2], R in [1, 2], GRID in [3], LOOP in [true, false])]
        pub fn k<const N: u32, const R: u32, const GRID: u32, const LOOP: bool>(r: u32) {}";
    let text = expansion("", source);
    let start = text
        .find("impl k {")
        .expect("a type with the kernel's name");
    let launch = &text[text[start..].find("pub fn launch").expect("launch") + start..];
    let names = [
        "n: k_N",
        "r_: k_R",
        "grid_: k_GRID",
        "loop_: k_LOOP",
        "r: ::core::primitive::u32",
    ];
    let places = names.map(|name| {
        launch
            .find(name)
            .unwrap_or_else(|| panic!("{name}\n{launch}"))
    });
    assert!(places.is_sorted(), "{launch}");
}

#[test]
fn unused_variables_are_left_to_rustc() {
    let text = expansion(
        "",
        "
            #[kernel(threads = 32)]
            pub fn k(n: u32, _m: u32, #[facts(extent(x, 0) == l)] x: Global<f32, 1>, l: u32) {
                let used = n;
                let unused = 1;
                let (a, b) = (2, 3);
                let shape = b;
                let tile = smem::<f32>(layout!((shape,4):(4,1)));
                for i in 0..4 { tile[(0, 0)] = used as f32; }
            }
        ",
    );
    assert!(
        text.contains("const _: fn() = || {\n        let i = ();\n        let unused = ();\n        let a = ();\n    };"),
        "{text}"
    );
}

/// The expansion for an editor, without spaces.
fn in_editor(module: &str) -> String {
    let tokens = kernels(
        TokenStream::new(),
        module.parse().expect("tokens"),
        Reader::Editor,
    );
    tokens.to_string().replace(char::is_whitespace, "")
}

#[test]
fn an_editor_gets_the_items_as_rust() {
    let text = in_editor(
        "mod m {
            const N: u32 = 4;
            struct Pair { a: u32 }
            impl Pair { fn fill(self, x: u32) -> u32 { x } }
            #[kernel(threads = 32)]
            pub unsafe fn k(#[facts(n > 0)] x: Global<f32, 1>, n: u32) {
                let tile = smem::<f32>(layout!((8,N):(N,1)));
                copy(tile, x.max(0.0));
                pair.fill(1);
            }
        }",
    );
    for part in [
        "use::cute_runtime::kernel_language::*;constN:u32=4;structPair{a:u32}",
        "pubunsafefnk(x:Global<f32,1>,n:u32){lettile=smem::<f32>(().call((N,N,),()));",
        "().call(copy,(tile,x.call(max,(0.0))));",
        "pair.fill(1);",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_half_typed_kernel_leaves_instances_and_neighbours() {
    for body in [
        "let x = ",
        "foo(",
        "x.",
        "if a { let",
        "let y = 3 let z = 4;",
    ] {
        // Tokens have balanced brackets, so what is open is closed at the end.
        let open = body.matches('(').count();
        let close = ")".repeat(open) + &"}".repeat(body.matches('{').count());
        let text = in_editor(&format!(
            "pub mod m {{
                pub const WIDTH: u32 = 32;
                #[kernel(threads = 32)]
                #[instance(k_f32: T = f32)]
                pub fn k<T: Element>(x: Global<T, 1>) {{ {body} {close} }}
                #[kernel(threads = 32)]
                pub fn other(n: u32) {{}}
            }}"
        ));
        for part in [
            "compile_error!",
            "pubstructk_f32;",
            "pubstructother;",
            "pubconstWIDTH:u32=0u32;",
            "pubfnother(n:u32){}",
        ] {
            assert!(text.contains(part), "{body}: {part}: {text}");
        }
    }
}

#[test]
fn a_missing_brace_hides_no_kernel() {
    let text = in_editor(
        "pub mod m {
            #[kernel(threads = 32)]
            pub fn first(n: u32) {
                let x = n
                #[kernel(threads = 32)]
                pub fn second(n: u32) {}
            }
        }",
    );
    for part in ["pubstructfirst;", "pubstructsecond;"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The path of the facade may lead to anything, so no macro of it gets the keyword `unsafe`, and no call is in an `unsafe` block, unless
/// the program has written the keyword itself.
#[test]
fn the_keyword_unsafe_stands_before_impl_alone() {
    let source = "
        #[kernel(threads = 32)]
        #[instance(of_f32: T = f32, EACH = 1)]
        #[instance(of_any: T = _, EACH = _)]
        #[instances(T in [f32, bf16], EACH in [1, 2])]
        pub fn fill<T: Element, const EACH: u32>(x: [Global<T, 1>; 4], by: f32) {
            print!(\"{}\", by);
        }
    ";
    let tokens = expansion("", source).parse().expect("tokens");
    let mut found = Vec::new();
    after_unsafe(tokens, &mut found);
    assert_eq!(found, ["impl"; 5], "{found:?}");
}

/// What follows each `unsafe`.
fn after_unsafe(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "unsafe" => {
                found.push(
                    tokens
                        .get(at + 1)
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                );
            }
            TokenTree::Group(group) => after_unsafe(group.stream(), found),
            _ => {}
        }
    }
}
