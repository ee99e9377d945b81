//! The expansions of `layout!` and `tile!`.

use cute_lang::notation::{self, Reader};
use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

fn check(expand: fn(TokenStream, Reader) -> TokenStream, input: &str, expected: &Expect) {
    let tokens = format!("[::facade] {input}").parse().unwrap();
    let expansion = expand(tokens, Reader::Compiler);
    let text = match syn::parse2::<syn::File>(expansion.clone()) {
        Ok(items) => prettyplease::unparse(&items),
        Err(_) => {
            let item: syn::Item = syn::parse_quote!(const VALUE: T = #expansion;);
            prettyplease::unparse(&syn::parse_quote!(#item))
        }
    };
    expected.assert_eq(&text);
}

fn layout(input: &str, expected: &Expect) {
    check(notation::layout, input, expected);
}

fn tile(input: &str, expected: &Expect) {
    check(notation::tile, input, expected);
}

#[test]
fn value() {
    layout(
        "(6,2):(8,2) o (4,3):(3,1)",
        &expect![[r#"
            const VALUE: T = const {
                ::facade::__private::injective(
                    "((_,_),_)",
                    &[2, 2, 3],
                    &[24, 2, 8],
                    &[0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42],
                )
            };
        "#]],
    );
}

#[test]
fn item() {
    layout(
        "#[doc = \" Folded.\"] pub R = (6,2):(8,2) o (4,3):(3,1);",
        &expect![[r#"
            /// Folded.
            ///
            /** `((2,2),3):((24,2),8)`
            ```text
            ((2,2),3):((24,2),8)
                   0    1    2
                +----+----+----+
             0  |  0 |  8 | 16 |
                +----+----+----+
             1  | 24 | 32 | 40 |
                +----+----+----+
             2  |  2 | 10 | 18 |
                +----+----+----+
             3  | 26 | 34 | 42 |
                +----+----+----+
            ```*/
            #[allow(dead_code, non_camel_case_types)]
            pub enum R {}
            /// Folded.
            ///
            /** `((2,2),3):((24,2),8)`
            ```text
            ((2,2),3):((24,2),8)
                   0    1    2
                +----+----+----+
             0  |  0 |  8 | 16 |
                +----+----+----+
             1  | 24 | 32 | 40 |
                +----+----+----+
             2  |  2 | 10 | 18 |
                +----+----+----+
             3  | 26 | 34 | 42 |
                +----+----+----+
            ```*/
            #[allow(dead_code, non_upper_case_globals)]
            pub const R: ::facade::Layout = {
                ::facade::__private::injective(
                    "((_,_),_)",
                    &[2, 2, 3],
                    &[24, 2, 8],
                    &[0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42],
                )
            };
            impl ::facade::StaticLayout for R {
                const LAYOUT: ::facade::Layout = R;
                #[inline]
                fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                    (coord & 1) * 24 + (coord & 2) + (coord >> 2) * 8
                }
            }
            #[doc(hidden)]
            #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
            #[macro_export]
            macro_rules! __layout_R_here {
                ($($use:tt)*) => {
                    ::facade::__private::carry! { ["((2,2),3):((24,2),8)"] $($use)* }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __layout_R_here as R;
        "#]],
    );
}

#[test]
fn private_item_over_the_table_limit() {
    layout(
        "BIG = (30,10):(16,1);",
        &expect![[r#"
            /// `(30,10):(16,1)`
            #[allow(dead_code, non_camel_case_types)]
            enum BIG {}
            /// `(30,10):(16,1)`
            #[allow(dead_code, non_upper_case_globals)]
            const BIG: ::facade::Layout = {
                ::facade::__private::injective("(_,_)", &[30, 10], &[16, 1], &[])
            };
            impl ::facade::StaticLayout for BIG {
                const LAYOUT: ::facade::Layout = BIG;
                #[inline]
                fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                    coord * 16 - (coord / 30) * 479
                }
            }
            #[doc(hidden)]
            #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
            macro_rules! __layout_BIG_here {
                ($($use:tt)*) => {
                    ::facade::__private::carry! { ["(30,10):(16,1)"] $($use)* }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            use __layout_BIG_here as BIG;
        "#]],
    );
}

#[test]
fn swizzled() {
    layout(
        "S = Sw<1,0,2> o 8 o (4,2):(2,1);",
        &expect![[r#"
            /** `Sw<1,0,2> o 8 o (4,2):(2,1)`
            ```text
            Sw<1,0,2> o 8 o (4,2):(2,1)
                   0    1
                +----+----+
             0  |  8 |  9 |
                +----+----+
             1  | 10 | 11 |
                +----+----+
             2  | 13 | 12 |
                +----+----+
             3  | 15 | 14 |
                +----+----+
            ```*/
            #[allow(dead_code, non_camel_case_types)]
            enum S {}
            /** `Sw<1,0,2> o 8 o (4,2):(2,1)`
            ```text
            Sw<1,0,2> o 8 o (4,2):(2,1)
                   0    1
                +----+----+
             0  |  8 |  9 |
                +----+----+
             1  | 10 | 11 |
                +----+----+
             2  | 13 | 12 |
                +----+----+
             3  | 15 | 14 |
                +----+----+
            ```*/
            #[allow(dead_code, non_upper_case_globals)]
            const S: ::facade::Layout = {
                use ::facade::__private::*;
                swizzled(
                    swizzle(1, 0, 2),
                    8,
                    injective("(_,_)", &[4, 2], &[2, 1], &[]),
                    &[8, 10, 13, 15, 9, 11, 12, 14],
                )
            };
            impl ::facade::StaticLayout for S {
                const LAYOUT: ::facade::Layout = S;
                #[inline]
                fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                    let offset = 8 + (coord & 3) * 2 + (coord >> 2);
                    offset ^ ((offset & 4) >> 2)
                }
            }
            #[doc(hidden)]
            #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
            macro_rules! __layout_S_here {
                ($($use:tt)*) => {
                    ::facade::__private::carry! { ["Sw<1,0,2> o 8 o (4,2):(2,1)"] $($use)* }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            use __layout_S_here as S;
        "#]],
    );
}

#[test]
fn coordinates() {
    layout(
        "(2,3):(1@1,2@0)",
        &expect![[r#"
            const VALUE: T = const {
                use ::facade::__private::*;
                coordinate_layout(
                    "(2,3):(1@1,2@0)",
                    const {
                        &[
                            (&[0], unproved("(_,_)", &[2, 3], &[0, 2], &[])),
                            (&[1], unproved("(_,_)", &[2, 3], &[1, 0], &[])),
                        ]
                    },
                )
            };
        "#]],
    );
}

#[test]
fn numbers() {
    layout(
        "size((2,3))",
        &expect![[r#"
        const VALUE: T = const {
            use ::facade::__private::*;
            6i64
        };
    "#]],
    );
    layout(
        "shape((2,(3,4)))",
        &expect![[r#"
        const VALUE: T = const {
            use ::facade::__private::*;
            (2i64, (3i64, 4i64))
        };
    "#]],
    );
}

#[test]
fn tiling() {
    tile(
        "pub T = 8:1 / 2:1;",
        &expect![[r#"
            /** `(2,4):(1,2)`
            ```text
            (2,4):(1,2)
                  0   1   2   3
                +---+---+---+---+
             0  | 0 | 2 | 4 | 6 |
                +---+---+---+---+
             1  | 1 | 3 | 5 | 7 |
                +---+---+---+---+
            ```*/
            #[allow(dead_code, non_camel_case_types)]
            pub enum T {}
            /** `(2,4):(1,2)`
            ```text
            (2,4):(1,2)
                  0   1   2   3
                +---+---+---+---+
             0  | 0 | 2 | 4 | 6 |
                +---+---+---+---+
             1  | 1 | 3 | 5 | 7 |
                +---+---+---+---+
            ```*/
            #[allow(dead_code, non_upper_case_globals)]
            pub const T: ::facade::Tiling = {
                use ::facade::__private::*;
                tiling(
                    injective("(_,_)", &[2, 4], &[1, 2], &[0, 1, 2, 3, 4, 5, 6, 7]),
                    injective("_", &[8], &[1], &[]),
                    &[
                        Axis {
                            extent: 8,
                            strides: &[1, 2],
                        },
                    ],
                )
            };
            impl ::facade::StaticLayout for T {
                const LAYOUT: ::facade::Layout = T.layout();
                #[inline]
                fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                    coord
                }
            }
            impl ::facade::StaticTiling for T {
                const TILING: ::facade::Tiling = T;
            }
            impl ::facade::DisjointTiling for T {}
            #[doc(hidden)]
            #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
            #[macro_export]
            macro_rules! __layout_T_here {
                ($($use:tt)*) => {
                    ::facade::__private::carry! { ["(2,4):(1,2)"] $($use)* }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub use __layout_T_here as T;
        "#]],
    );
}

#[test]
fn unknown_name_asks_its_carrier() {
    layout(
        "pub R = shapes::A o B;",
        &expect![[r#"
            shapes::A! {
                { ::facade::__private::layout } [::facade, shapes::A] () pub R = shapes::A o B
            }
        "#]],
    );
}

#[test]
fn known_names_ask_the_next_carrier() {
    let input = "[::facade, shapes::A = \"8:1\"] pub R = shapes::A o B;";
    let expansion = notation::layout(input.parse().unwrap(), Reader::Compiler);
    expect![[r#"B ! { { :: facade :: __private :: layout } [:: facade , shapes :: A = "8:1" , B] () pub R = shapes :: A o B }"#]].assert_eq(&expansion.to_string());
}

#[test]
fn error_leaves_the_names_behind() {
    layout(
        "A = (4,8):(1,4,2);",
        &expect![[r#"
            ::core::compile_error! {
                "shape and stride are not congruent: (4,8) in the shape meets (1,4,2) in the stride"
            }
            #[allow(dead_code, non_camel_case_types)]
            enum A {}
            #[allow(dead_code, non_upper_case_globals)]
            const A: ::facade::Layout = {
                use ::facade::__private::*;
                injective("_", &[1], &[0], &[0])
            };
            impl ::facade::StaticLayout for A {
                const LAYOUT: ::facade::Layout = A;
                #[inline]
                fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                    {
                        let _ = coord;
                        0
                    }
                }
            }
            #[doc(hidden)]
            #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
            macro_rules! __layout_A_here {
                ($($use:tt)*) => {
                    ::facade::__private::carry! { [error] $($use)* }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports)]
            use __layout_A_here as A;
        "#]],
    );
}

#[test]
fn error_in_an_expression_is_in_braces() {
    layout(
        "(4,8):(1,4,2)",
        &expect![[r#"
        const VALUE: T = {
            ::core::compile_error! {
                "shape and stride are not congruent: (4,8) in the shape meets (1,4,2) in the stride"
            }
        };
    "#]],
    );
}

/// A macro cannot have the name of a keyword, so an expansion that calls one would not be Rust.
#[test]
fn keywords_are_no_names() {
    for text in [
        "size(16, where)",
        "self o 4:1",
        "a::fn o 4:1",
        "(4,true):(1,4)",
    ] {
        let tokens = format!("[::facade] {text}").parse().unwrap();
        let expansion = notation::layout(tokens, Reader::Compiler);
        assert!(
            syn::parse2::<syn::Expr>(expansion.clone()).is_ok(),
            "{expansion}"
        );
        assert!(
            expansion.to_string().contains("compile_error"),
            "{expansion}"
        );
    }
}

/// An editor finds names in expressions that are wrong as well, as they are while they are typed.
#[test]
fn an_editor_gets_the_names() {
    let shown = |input: &str| {
        let tokens = format!("[::facade] {input}").parse().unwrap();
        let text = notation::layout(tokens, Reader::Editor).to_string();
        let shown = text.split("operations :: * ;").nth(1).unwrap_or_default();
        let shown = shown.split('}').next().unwrap_or_default();
        let names = shown.split("let _ = ").skip(1);
        let names = names.map(|rest| rest.split(';').next().unwrap_or_default());
        names
            .map(|name| name.trim().replace(' ', ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown("zipped_divide(shapes::A, <4,B>)"),
        ["zipped_divide", "shapes::A", "B"]
    );
    assert_eq!(
        shown("R = composition(A, (m,2):(1,m));"),
        ["composition", "A"]
    );
    assert_eq!(shown("R = composition(A,, 4:1);"), ["composition", "A"]);
    assert_eq!(shown("(_8,4):row"), [] as [&str; 0]);
}
