//! Spellings of CuTe C++, the CuTe DSL, pycute, Triton and Python that this notation does not have, and their replacements.

use super::error::NotationError;
use super::kernel_functions::SIGNATURES;
use super::token::{Token, TokenKind};
use crate::operations;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;
use cute_chip::{ElementType, RustType};

/// Words with parameters in `<…>`, and the help of their error.
#[rustfmt::skip]
const TEMPLATES: &[(&[&str], &str)] = &[
    (&["Int", "C", "constant", "integral_constant"], "`Int<8>{}` is written `8` here"),
    (&["Shape", "Stride", "Coord", "tuple"], "`Shape<_4,_8>` is written `(4,8)` here"),
    (&["Layout"], "`Layout<Shape<_4,_8>, Stride<_8,_1>>` is written `(4,8):(8,1)` here"),
    (&["Tile"], "`Tile<_4,_8>` is written `<4,8>` here"),
    (&["Swizzle", "S"], "`Swizzle<3,4,3>` is written `Sw<3,4,3>` here"),
    (&["layout"], "`layout<0>(L)` is written `get(L, 0)` here"),
    (&["recast"], "`recast(L, 16, 32)` takes the bits of the old and the new elements"),
    (&["recast_layout"], "`recast_layout(16, 32, L)` is written `recast(L, 32, 16)` here: the bits of the old elements come first"),
    (&["E", "ScaledBasis"], "`E<0>{}` is written `1@0` here, and `E<1,0>{}` is `1@0@1`"),
    (&["Step"], "an order of modes `Step<_1,_0>` is a tuple here, `make_ordered_layout((4,8),(1,0))`; for `Step<_1,X,_1>` the mode of the `X` is left out of tiler and coordinate, `local_tile(A, <128,64>, (1,2))`"),
    (&["MMA_Traits", "Copy_Traits"], "a layout of an operation is `mma_atom(SM80_16x8x16_F32F16F16F32_TN, CLayout)` here, and `copy_atom(UniversalCopy<u128>, 16, SrcLayout)`"),
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
    (&["make_swizzle", "Swizzle", "Sw"], "`Swizzle(3, 4, 3)` is written `Sw<3,4,3>` here"),
    (&["Int", "C"], "`Int(8)` is written `8` here"),
    (&["E", "ScaledBasis"], "`ScaledBasis(1, 0)` is written `1@0` here"),
    (&["slice_"], "`slice_((0,_), L)` is written `slice(L, (0,_))` here"),
    (&["recast_layout"], "`recast_layout(16, 32, L)` is written `recast(L, 32, 16)` here: the bits of the old elements come first"),
    (&["arange"], "`arange(0, 128)` is the layout `128:1` here"),
    (&["make_composed_layout", "ComposedLayout"], "a swizzled layout is written `Sw<3,4,3> o 0 o (8,64):(64,1)` here"),
    (&["make_tiled_copy", "make_tiled_copy_tv"], "`tiled_copy(operation, element bits, threads, values, TiledLayout_TV)` is the layout of a tiled copy here"),
    (&["make_tiled_mma"], "`tiled_mma(operation, atom layout, permutation, layoutA_TV)` is a layout of a tiled MMA here"),
    (&["transpose", "permute", "T", "mT"], "`select(L, 1, 0)` exchanges the modes of L"),
    (&["reshape", "view"], "`with_shape(L, (8,4))` has the same values in another shape"),
    (&["flatten_to_tuple"], "`flatten(L)` removes the brackets of modes"),
    (&["group_modes"], "modes 0 and 1 are grouped by `group(L, 0, 2)`"),
    (&["compose"], "composition is written `A o B`, or `composition(A, B)`"),
    (&["inverse", "invert"], "there are two inverses, `left_inverse(L)` and `right_inverse(L)`"),
    (&["divide"], "`logical_divide(L, 4:1)` divides by a layout, and `L / <4,8>` by a tiler"),
    (&["product", "tile_product"], "`logical_product(A, B)` repeats A as B says; the product of a tuple is its `size`"),
    (&["ceil_div", "ceildiv", "cdiv", "div_ceil", "round_up"], "`m.div_ceil(64)` rounds up, and `shape_div(a, b, CEIL)` does for shapes"),
    (&["max", "min", "pow", "abs"], "the arithmetic of integers is `+`, `-`, `*`, `/` and `%`"),
    (&["print", "print_layout", "print_latex"], "a value prints itself: `println!(\"{}\", layout!(…))`"),
];

/// Operands with names, and the help of their error.
const OPERANDS: &[(&str, &str)] = &[
    (
        "stride",
        "a stride is written behind its shape: `(4,8):(8,1)`",
    ),
    ("shape", "a shape and its stride are written `(4,8):(8,1)`"),
    (
        "order",
        "an order is the second operand of `make_ordered_layout((4,8), (1,0))`",
    ),
    ("mode", "a mode is an operand: `size(get(L, 0))`"),
];

/// Names of values, and the help of their error.
#[rustfmt::skip]
const VALUES: &[(&str, &str)] = &[
    ("None", "a mode that is kept whole is written `_`"),
    ("Ellipsis", "each mode that is kept whole is written `_`, as in `(_,_,0)`"),
    ("True", "an operand that is a truth value has a word of its own here"),
    ("False", "an operand that is a truth value has a word of its own here"),
];

/// Words in front of a definition.
const DEFINING: &[&str] = &[
    "auto",
    "const",
    "constexpr",
    "let",
    "static",
    "using",
    "var",
];

/// The error of the first spelling from elsewhere among the tokens of an expression, all of which are wrong here.
pub(super) fn spelled_elsewhere(tokens: &[Token]) -> Option<NotationError> {
    (0..tokens.len()).find_map(|i| at(tokens[..i].last(), &tokens[i..]))
}

/// The help for a function that has another name here, or a path in front of its name.
pub(super) fn function(name: &str) -> Option<String> {
    let last = name.rsplit("::").next().unwrap_or(name);
    if let Some((_, help)) = (FUNCTIONS.iter()).find(|(names, _)| names.contains(&last)) {
        return Some((*help).to_owned());
    }
    let operation = operations::find(last).filter(|_| last != name)?;
    Some(format!("operations have no path: `{}`", operation.name))
}

/// How a function of the kernel language is called that the notation does not have.
pub(super) fn of_kernels(name: &str) -> Option<&'static str> {
    let is_named = |signature: &str| signature.split(['(', ':']).next() == Some(name);
    SIGNATURES
        .iter()
        .copied()
        .find(|signature| is_named(signature))
}

/// The help for a name in capitals that is called like a function: probably a layout.
pub(super) fn called(name: &str) -> Option<String> {
    let is_layout = name.starts_with(char::is_uppercase);
    is_layout.then(|| format!("a layout is applied to a coordinate by `crd2idx((1,2), {name})`"))
}

/// The error of a name that stands for a value elsewhere.
pub(super) fn value(name: &str, at: &Range<usize>) -> Option<NotationError> {
    let known = VALUES.iter().find(|(other, _)| *other == name);
    let help = match known {
        Some((_, help)) => (*help).to_owned(),
        None => of_elements(name)?,
    };
    let error = NotationError::new(at, format!("unknown spelling `{name}`"));
    Some(error.help(help))
}

/// As [`width`], for a name that is hardly that of a value: one of a type of Rust, or with a `_t`.
fn of_elements(name: &str) -> Option<String> {
    let is_rust =
        |element: ElementType| element.rust() != RustType::Absent && element.name() == name;
    let (element, help) = width(name)?;
    (name.ends_with("_t") || is_rust(element)).then_some(help)
}

/// The element type with this name, here or in CuTe, and the help for a number in its place.
pub(super) fn width(name: &str) -> Option<(ElementType, String)> {
    let is_named =
        |element: &&ElementType| element.name() == name || element.cute().contains(&name);
    let element = ElementType::ALL.iter().find(is_named)?;
    let bits = element.bits();
    let help = format!("the width of an element is given in bits: `{bits}`");
    Some((*element, help))
}

/// The order of the modes that a word may misspell: one letter is missing, added or wrong, or two are exchanged.
pub(super) fn misspelled_order(word: &str) -> Option<&'static str> {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    ["row", "col"].into_iter().find(|order| {
        let (of_word, of_order) = (sorted(word), sorted(order));
        let common = of_order
            .iter()
            .filter(|letter| of_word.contains(letter))
            .count();
        of_word == of_order
            || of_word.len().abs_diff(3) <= 1
                && common >= 2
                && of_word.len() + 2 <= common + 4
                && word.starts_with(order.chars().next().unwrap_or_default())
    })
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
    // Names and numbers alone: other commas belong to a Rust expression, as in `{f::<A, B>()}`.
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

/// The error if these tokens begin with a spelling from elsewhere. `before` is the token in front of them.
fn at(before: Option<&Token>, tokens: &[Token]) -> Option<NotationError> {
    let [first, rest @ ..] = tokens else {
        return None;
    };
    let unknown = |what: String, at: Range<usize>, help: &str| {
        let error = NotationError::new(&at, format!("unknown spelling `{what}`"));
        Some(error.help(help))
    };
    let follows_value = before.is_some_and(|token| match &token.kind {
        TokenKind::Punct(sign) => *sign == ')',
        TokenKind::Int(_) | TokenKind::Word(_) => true,
        _ => false,
    });
    let is_operand = before.is_some_and(|token| matches!(token.kind, TokenKind::Punct('(' | ',')));
    let next = rest.first();
    let both = first.at.start..next.unwrap_or(first).at.end;
    match (&first.kind, next.map(|token| &token.kind)) {
        (TokenKind::Word(word), Some(TokenKind::Punct('<'))) if word != "ragged" => {
            template(word, first, &rest[1..])
        }
        (TokenKind::Word(word), Some(TokenKind::Braced(braced))) if is_empty(braced) => {
            let order = ORDERS.iter().find(|(name, _)| name == word);
            let help = match order {
                Some((_, order)) => {
                    format!("an order is written behind the shape here: `(4,8):{order}`")
                }
                None => format!("no braces follow a name here: `{word}`"),
            };
            unknown(format!("{word}{{}}"), both, &help)
        }
        (TokenKind::Int(value), Some(TokenKind::Braced(braced))) if is_empty(braced) => {
            let help = format!("integers are written as digits: `{value}`");
            unknown(format!("_{value}{{}}"), both, &help)
        }
        (TokenKind::Word(word), Some(TokenKind::Other(sign)))
            if is_operand && sign == "=" && !is_sign(rest.get(1), "=") =>
        {
            let named = OPERANDS.iter().find(|(name, _)| name == word);
            let help = named.map_or(
                "operands are told apart by their order here, not by names",
                |(_, help)| help,
            );
            unknown(format!("{word}="), both, help)
        }
        (TokenKind::Word(word) | TokenKind::Other(word), Some(TokenKind::Word(_)))
            if before.is_none() && DEFINING.contains(&word.as_str()) =>
        {
            let help = "a name is defined by `A = (4,8):(8,1)`";
            unknown(word.clone(), first.at.clone(), help)
        }
        (TokenKind::Other(sign), Some(TokenKind::Word(method)))
            if sign == "." && of_kernels(method).is_some() && function(method).is_none() =>
        {
            Some(unknown_operation(method, &rest[0].at))
        }
        (TokenKind::Other(sign), Some(TokenKind::Word(method)))
            if sign == "." && method != "div_ceil" =>
        {
            let help = function(method).unwrap_or_else(|| match operations::find(method) {
                Some(operation) => {
                    format!(
                        "operations are functions here: `{}({})`",
                        operation.name, operation.signature
                    )
                }
                None => "operations are functions here, as in `size(L)`".to_owned(),
            });
            unknown(format!(".{method}"), both, &help)
        }
        (TokenKind::Other(sign), Some(TokenKind::Int(mode))) if sign == "." && follows_value => {
            let help = format!("mode {mode} of L is `get(L, {mode})`");
            unknown(format!(".{mode}"), both, &help)
        }
        (TokenKind::Word(word), Some(next)) if word == "Sw" && *next != TokenKind::Punct('<') => {
            unknown(
                "Sw".into(),
                both,
                "the numbers of a swizzle follow its name: `Sw<3,4,3>`",
            )
        }
        (TokenKind::Word(word) | TokenKind::Other(word), _) if word == "as" => unknown(
            "as".into(),
            first.at.clone(),
            "a value is converted behind the macro: `layout!(…) as usize`",
        ),
        (TokenKind::Punct(':'), Some(TokenKind::Punct(',' | ')'))) if is_operand => unknown(
            ":".into(),
            first.at.clone(),
            "a mode that is kept whole is written `_`",
        ),
        (TokenKind::Other(sign), Some(_)) if sign == "." && is_sign(next, ".") => {
            match is_sign(rest.get(1), ".") {
                true => unknown(
                    "...".into(),
                    both,
                    "each mode that is kept whole is written `_`, as in `(_,_,0)`",
                ),
                false => unknown(
                    "..".into(),
                    both,
                    "the first mode and the one behind the last are two operands: `take(L, 1, 3)`",
                ),
            }
        }
        // `smem::<f32>(…)`, and `tensor.copy(…)` below.
        (TokenKind::Word(word), Some(TokenKind::Punct(':')))
            if is_colon(rest.get(1)) && of_kernels(word).is_some() =>
        {
            Some(unknown_operation(word, &first.at))
        }
        // The operands of `make_layout` tell more.
        (TokenKind::Word(word), Some(TokenKind::Punct('(')))
            if word != "make_layout" && function(word).is_some() =>
        {
            Some(unknown_operation(word, &first.at))
        }
        (TokenKind::Word(word) | TokenKind::Other(word), _)
            if word == "where" && before.is_some() =>
        {
            unknown(
                "… where".into(),
                first.at.clone(),
                "facts stand in front: `where m % 4 == 0; (m,n):(1,m)`",
            )
        }
        (TokenKind::Other(sign), _)
            if sign == "["
                && matches!(
                    before,
                    Some(Token {
                        kind: TokenKind::Punct('@'),
                        ..
                    })
                ) =>
        {
            unknown(
                "@[…]".into(),
                first.at.clone(),
                "the modes of a basis follow one another, the innermost first: `1@0@1`",
            )
        }
        (TokenKind::Other(sign), _)
            if sign == "["
                && matches!(before, Some(Token { kind: TokenKind::Word(word), .. }) if word.ends_with("ptr")) =>
        {
            unknown(
                "ptr[…]".into(),
                first.at.clone(),
                "a layout has no pointer: `Sw<3,4,3> o (8,64):(64,1)`",
            )
        }
        (TokenKind::Word(word) | TokenKind::Other(word), _) if word == "if" => unknown(
            "if".into(),
            first.at.clone(),
            "an expression has no branches: declare two layouts, between which the Rust code chooses",
        ),
        (TokenKind::Word(word) | TokenKind::Other(word), _) if word == "for" => unknown(
            "for".into(),
            first.at.clone(),
            "values are written one by one: `from_table(0,8,16,24)`",
        ),
        (TokenKind::Word(word), Some(TokenKind::Punct('<'))) if word == "ragged" => unknown(
            "ragged <…>".into(),
            first.at.clone(),
            "`ragged` stands in front of the whole division: `ragged A / <3,4>`",
        ),
        (TokenKind::Other(sign), _) if sign == "[" => match follows_value {
            true => unknown(
                "L[…]".into(),
                first.at.clone(),
                "mode 0 of L is `get(L, 0)`, and its value at a coordinate `crd2idx((1,2), L)`",
            ),
            false => unknown(
                "[…]".into(),
                first.at.clone(),
                "tuples are written in parentheses, `(4,8)`, and several modes as operands, `select(L, 1, 0)`",
            ),
        },
        (TokenKind::Other(sign), _) if sign == "?" => unknown(
            "?".into(),
            first.at.clone(),
            "an extent that is known at run time has a name, about which facts are stated: `where m % 16 == 0; (m,8):(8,1)`",
        ),
        (TokenKind::Other(sign), Some(_)) if sign == "=" && is_sign(next, "=") => unknown(
            "==".into(),
            both,
            "`equal(A, B)` tells whether two layouts are the same function",
        ),
        (TokenKind::Other(sign), Some(_)) if sign == "*" && is_sign(next, "*") => unknown(
            "**".into(),
            both,
            "a power is written as its value: `16` for `2 ** 4`",
        ),
        (TokenKind::Punct('<'), Some(TokenKind::Punct('<'))) if follows_value => unknown(
            "<<".into(),
            both,
            "a power is written as its value: `16` for `1 << 4`",
        ),
        (TokenKind::Punct('/'), Some(TokenKind::Punct('/')))
            if matches!(
                rest.get(1),
                Some(Token {
                    kind: TokenKind::Int(_),
                    ..
                })
            ) =>
        {
            unknown(
                "//".into(),
                both,
                "`/` between integers is the quotient: `10 / 4` is 2",
            )
        }
        (TokenKind::Other(text), _) if text.starts_with('"') => unknown(
            "\"…\"".into(),
            first.at.clone(),
            "an expression is written without quotes: `(4,8):(8,1)`",
        ),
        _ => None,
    }
}

/// The error of `word<…`.
fn template(word: &str, first: &Token, rest: &[Token]) -> Option<NotationError> {
    let unknown = |help: String| {
        let message = format!("unknown spelling `{word}<…>`");
        Some(NotationError::new(&first.at, message).help(help))
    };
    let last = word.rsplit("::").next().unwrap_or(word);
    if let Some((_, help)) = TEMPLATES.iter().find(|(words, _)| words.contains(&last)) {
        return unknown((*help).to_owned());
    }
    // CuTe's names of the tiles that wgmma reads, such as `GMMA::Layout_K_SW128_Atom<half_t>`.
    let atom = last
        .strip_prefix("Layout_")
        .and_then(|name| name.strip_suffix("_Atom"));
    if let Some((major, swizzle)) = atom.and_then(|name| name.split_once('_')) {
        return unknown(format!(
            "this tile is `smem_atom({major}, {swizzle}, 16)` for elements of 16 bits"
        ));
    }
    // `cosize_v<L>`: a value of a type.
    if let Some(operation) = last.strip_suffix("_v").and_then(operations::find) {
        return unknown(format!(
            "a value is an operation here: `{}(L)`",
            operation.name
        ));
    }
    // `get<0>(L)`: the parameters are operands here, and follow the others.
    let operation = operations::find(last)?;
    let mut parameters = Vec::new();
    for token in rest {
        match token.kind {
            TokenKind::Int(value) => parameters.push(value.to_string()),
            TokenKind::Punct(',') => {}
            TokenKind::Punct('>') => break,
            _ => return None,
        }
    }
    let (name, numbers) = (operation.name, parameters.join(", "));
    unknown(match operation.counts.contains(&(1 + parameters.len())) {
        true => format!("the numbers are operands here: `{name}(L, {numbers})`"),
        false => format!("a mode is an operand here: `{name}(get(L, {numbers}))`"),
    })
}

fn is_colon(token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.kind == TokenKind::Punct(':'))
}

/// Whether a token is this sign.
fn is_sign(token: Option<&Token>, sign: &str) -> bool {
    token.is_some_and(|token| matches!(&token.kind, TokenKind::Other(text) if text == sign))
}

fn is_empty(braced: &str) -> bool {
    braced.trim_matches(['{', '}', ' ']).is_empty()
}

/// The error of a name that is no operation, with what is meant by it.
pub(super) fn unknown_operation(name: &str, at: &Range<usize>) -> NotationError {
    let mut error = NotationError::new(at, format!("unknown operation `{name}`"));
    let signature = of_kernels(name);
    error.note = signature
        .map(|signature| format!("`{signature}` is a function of kernels, not of the notation"));
    if let Some(help) = function(name) {
        return error.help(help);
    }
    if signature.is_some() {
        return error;
    }
    let nearest = operations::all()
        .map(|operation| {
            (
                operations::edit_distance(name, operation.name),
                operation.name,
            )
        })
        .min();
    match nearest {
        Some((distance, nearest)) if distance <= 1 + name.len() / 4 => {
            error.help(format!("did you mean `{nearest}`?"))
        }
        _ => match called(name) {
            Some(help) => error.help(help),
            None => error,
        },
    }
}
