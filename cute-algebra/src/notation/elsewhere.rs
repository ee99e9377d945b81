//! Spellings of CuTe C++, the CuTe DSL and pycute that this notation does not have, and what is written here instead.

use super::error::NotationError;
use super::token::{Token, TokenKind};
use crate::operations;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

/// Words with parameters in `<…>`, and the help of their error.
#[rustfmt::skip]
const TEMPLATES: &[(&[&str], &str)] = &[
    (&["Int", "C", "constant", "integral_constant"], "`Int<8>{}` is written `8` here"),
    (&["Shape", "Stride", "Coord", "tuple"], "`Shape<_4,_8>` is written `(4,8)` here"),
    (&["Layout"], "`Layout<Shape<_4,_8>, Stride<_8,_1>>` is written `(4,8):(8,1)` here"),
    (&["Tile"], "`Tile<_4,_8>` is written `<4,8>` here"),
    (&["Swizzle"], "`Swizzle<3,4,3>` is written `Sw<3,4,3>` here"),
    (&["E", "ScaledBasis"], "`E<0>{}` is written `1@0` here, and `E<1,0>{}` is `1@0@1`"),
    (&["Step"], "`Step<_1,_0>` is the order of the modes, which is a tuple here: `make_ordered_layout((4,8),(1,0))`"),
    (&["group_modes"], "`group_modes<0,2>(L)` is written `group(L, 0, 2)` here"),
    (&["Copy_Atom", "TiledCopy"], "`tiled_copy(operation, element bits, threads, values, TiledLayout_TV)` is the layout of a tiled copy here"),
    (&["MMA_Atom", "TiledMMA"], "`tiled_mma(operation, atom layout, permutation, layoutA_TV)` is a layout of a tiled MMA here"),
];

/// Words that stand for an order of the modes, where a stride stands here.
const ORDERS: &[(&str, &str)] = &[
    ("LayoutLeft", "col"),
    ("GenColMajor", "col"),
    ("ColMajor", "col"),
    ("ColumnMajor", "col"),
    ("LayoutRight", "row"),
    ("GenRowMajor", "row"),
    ("RowMajor", "row"),
];

/// Functions of other names, and the help of their error.
#[rustfmt::skip]
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["make_layout", "Layout"], "`make_layout((4,8), (8,1))` is written `(4,8):(8,1)` here, and layouts are put side by side by `(A, B)`"),
    (&["make_shape", "make_stride", "make_coord", "make_tuple", "Shape", "Stride", "Coord"], "`make_shape(4, 8)` is written `(4,8)` here"),
    (&["make_tile", "make_tiler", "Tile"], "`make_tile(4, 8)` is written `<4,8>` here"),
    (&["make_swizzle", "Swizzle"], "`Swizzle(3, 4, 3)` is written `Sw<3,4,3>` here"),
    (&["Int", "C"], "`Int(8)` is written `8` here"),
    (&["make_composed_layout", "ComposedLayout"], "a swizzled layout is written `Sw<3,4,3> o 0 o (8,64):(64,1)` here"),
    (&["make_tiled_copy", "make_tiled_copy_tv"], "`tiled_copy(operation, element bits, threads, values, TiledLayout_TV)` is the layout of a tiled copy here"),
    (&["make_tiled_mma"], "`tiled_mma(operation, atom layout, permutation, layoutA_TV)` is a layout of a tiled MMA here"),
    (&["transpose", "permute"], "`select(L, 1, 0)` exchanges the modes of L"),
    (&["group_modes"], "modes 0 and 1 are grouped by `group(L, 0, 2)`"),
    (&["compose"], "composition is written `A o B`, or `composition(A, B)`"),
    (&["inverse", "invert"], "there are two inverses, `left_inverse(L)` and `right_inverse(L)`"),
    (&["divide"], "`logical_divide(L, 4:1)` divides by a layout, and `L / <4,8>` by a tiler"),
    (&["product", "tile_product"], "`logical_product(A, B)` repeats A as B says; the product of a tuple is its `size`"),
    (&["ceil_div", "ceildiv"], "`shape_div(a, b, CEIL)` rounds up"),
    (&["print", "print_layout", "print_latex"], "a value prints itself: `println!(\"{}\", layout!(…))`"),
];

/// The error of the first spelling from elsewhere among the tokens of an expression, all of which are wrong here.
pub(super) fn spelled_elsewhere(tokens: &[Token]) -> Option<NotationError> {
    (0..tokens.len()).find_map(|i| at(&tokens[i..]))
}

/// The help for a function that has another name here.
pub(super) fn function(name: &str) -> Option<&'static str> {
    let (_, help) = (FUNCTIONS.iter()).find(|(names, _)| names.contains(&name))?;
    Some(help)
}

/// The help for a name in capitals that is called like a function: probably a layout.
pub(super) fn called(name: &str) -> Option<String> {
    let is_layout = name.starts_with(char::is_uppercase);
    is_layout.then(|| format!("a layout is applied to a coordinate by `crd2idx((1,2), {name})`"))
}

/// The error of a word in the place of a stride that stands for an order of the modes.
pub(super) fn order(word: &str, at: &Range<usize>) -> Option<NotationError> {
    let (_, order) = ORDERS.iter().find(|(name, _)| *name == word)?;
    let error = NotationError::new(at, format!("unknown spelling `{word}`"));
    Some(error.help(format!(
        "the order is written `{order}` here, as in `(4,8):{order}`"
    )))
}

/// The error of a list in braces, which hold one Rust expression here.
pub(super) fn list(braced: &str, at: &Range<usize>) -> Option<NotationError> {
    // Names and numbers alone: other commas are those of a Rust expression, as in `{f::<A, B>()}`.
    let is_part = |sign: char| sign.is_alphanumeric() || "{}_-, ".contains(sign);
    let is_list = braced.contains(',') && braced.chars().all(is_part);
    is_list.then(|| {
        NotationError::new(
            at,
            "a run-time integer in braces is one expression, and this is a list",
        )
        .help("tuples are written in parentheses: `(4,8)`")
    })
}

/// The error if these tokens begin with a spelling from elsewhere.
fn at(tokens: &[Token]) -> Option<NotationError> {
    let [first, second, rest @ ..] = tokens else {
        return None;
    };
    let both = first.at.start..second.at.end;
    let is_first = |sign: &str| first.kind == TokenKind::Other(sign.to_owned());
    match (&first.kind, &second.kind) {
        (TokenKind::Word(word), TokenKind::Punct('<')) => template(word, first, rest),
        (TokenKind::Word(word), TokenKind::Braced(braced)) if is_empty(braced) => {
            let (_, order) = ORDERS.iter().find(|(name, _)| name == word)?;
            let error = NotationError::new(&both, format!("unknown spelling `{word}{{}}`"));
            Some(error.help(format!(
                "an order is written behind the shape here: `(4,8):{order}`"
            )))
        }
        (TokenKind::Int(value), TokenKind::Braced(braced)) if is_empty(braced) => {
            let error = NotationError::new(&both, format!("unknown spelling `_{value}{{}}`"));
            Some(error.help(format!("integers are written as digits: `{value}`")))
        }
        (_, TokenKind::Word(method)) if is_first(".") => {
            let error = NotationError::new(&both, format!("unknown spelling `.{method}`"));
            Some(error.help(match operations::find(method) {
                Some(operation) => {
                    format!("operations are functions here: `{}(L)`", operation.name)
                }
                None => "operations are functions here, as in `size(L)`".to_owned(),
            }))
        }
        _ if is_first("[") => {
            let error = NotationError::new(&first.at, "unknown spelling `[…]`");
            Some(error.help("tuples are written in parentheses: `(4,8)`"))
        }
        _ => None,
    }
}

/// The error of `word<…`.
fn template(word: &str, first: &Token, rest: &[Token]) -> Option<NotationError> {
    let unknown = |help: String| {
        let message = format!("unknown spelling `{word}<…>`");
        Some(NotationError::new(&first.at, message).help(help))
    };
    if let Some((_, help)) = TEMPLATES.iter().find(|(words, _)| words.contains(&word)) {
        return unknown((*help).to_owned());
    }
    // `get<0>(L)`: the parameters are operands here, and follow the others.
    operations::find(word)?;
    let mut parameters = Vec::new();
    for token in rest {
        match token.kind {
            TokenKind::Int(value) => parameters.push(value.to_string()),
            TokenKind::Punct(',') => {}
            TokenKind::Punct('>') => break,
            _ => return None,
        }
    }
    unknown(format!(
        "the numbers are operands here: `{word}(L, {})`",
        parameters.join(", ")
    ))
}

fn is_empty(braced: &str) -> bool {
    braced.trim_matches(['{', '}', ' ']).is_empty()
}
