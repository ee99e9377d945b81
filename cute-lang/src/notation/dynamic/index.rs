//! Straight-line code from coordinates to values.

use crate::notation::dynamic::recipe::Kept;
use crate::notation::literal::literal;
use cute_algebra::symbolic::{Answer, Check, Scope, Sum, Term};
use cute_algebra::{Layout, ScaledBasis, Tuple};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// The statements that split the 1-D `coord` into digits, and the products of digits and strides.
pub(super) fn digits<'a>(
    modes: &'a [(Term, ScaledBasis<Term>)],
    kept: &mut Kept,
) -> (Vec<TokenStream>, Vec<(&'a ScaledBasis<Term>, TokenStream)>) {
    let mut digits = Vec::new();
    let mut terms = Vec::new();
    for (i, (extent, stride)) in modes.iter().enumerate() {
        // Coordinates past the end continue in the last mode, so it needs no remainder.
        let digit = if i + 1 < modes.len() {
            let digit = format_ident!("digit{i}");
            digits.push(split(&digit, extent, kept));
            quote!(#digit)
        } else {
            quote!(coord)
        };
        if !stride.is_zero() {
            terms.push((stride, scaled(digit, &stride.value(), kept)));
        }
    }
    (digits, terms)
}

/// Splits `coord` into the digit of an extent and the rest. A power of two takes a mask and a shift; a run-time extent takes a
/// multiplication by its precomputed inverse.
fn split(digit: &Ident, extent: &Term, kept: &mut Kept) -> TokenStream {
    let Some(known) = extent.as_constant() else {
        let (divisor, extent) = (kept.divisor(extent), kept.value(extent));
        return quote! {
            let rest = self.numbers.divisors[#divisor].quotient(coord);
            let (#digit, coord) = (coord - rest * #extent, rest);
        };
    };
    if known > 0 && known & (known - 1) == 0 {
        let (mask, shift) = (
            literal(known - 1),
            Literal::u32_unsuffixed(known.trailing_zeros()),
        );
        return quote!(let (#digit, coord) = (coord & #mask, coord >> #shift););
    }
    let known = literal(known);
    quote!(let (#digit, coord) = (coord % #known, coord / #known);)
}

/// The sum of the products of the leaves of `coord` and their steps.
pub(super) fn inner_product(
    layout: &Layout<Term>,
    steps: impl Iterator<Item = Option<Term>>,
    kept: &mut Kept,
) -> TokenStream {
    let mut places = Vec::new();
    leaf_places(layout.shape(), quote!(coord), &mut places);
    let terms = places.into_iter().zip(steps).filter_map(|(place, step)| {
        let step = step.filter(|step| !step.is_zero())?;
        Some(scaled(place, &step, kept))
    });
    let terms: Vec<_> = terms.collect();
    match terms.is_empty() {
        true => quote!({
            let _ = coord;
            0
        }),
        false => quote!(#(#terms)+*),
    }
}

pub(super) fn scaled(digit: TokenStream, stride: &Term, kept: &mut Kept) -> TokenStream {
    if stride.is_one() {
        return digit;
    }
    let stride = kept.value(stride);
    quote!(#digit * #stride)
}

fn leaf_places(tree: &Tuple<Term>, place: TokenStream, places: &mut Vec<TokenStream>) {
    match tree {
        Tuple::Leaf(_) => places.push(place),
        Tuple::Node(modes) => {
            for (i, mode) in modes.iter().enumerate() {
                let i = Literal::usize_unsuffixed(i);
                leaf_places(mode, quote!(#place.#i), places);
            }
        }
    }
}

pub(super) fn coordinate_type(tree: &Tuple<Term>) -> TokenStream {
    match tree {
        Tuple::Leaf(_) => quote!(::core::primitive::i64),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(coordinate_type);
            quote!((#(#modes,)*))
        }
    }
}

/// For a ragged division, the function that tests whether a coordinate is inside of the divided layout.
pub(super) fn is_inside(
    scope: &Scope,
    layout: &Layout<Term>,
    visibility: &TokenStream,
    kept: &mut Kept,
) -> TokenStream {
    if scope.bounds().is_empty() {
        return quote!();
    }
    let coordinate = coordinate_type(layout.shape());
    let mut conditions: Vec<TokenStream> = Vec::new();
    for (i, bound) in scope.bounds().iter().enumerate() {
        let strides = layout.stride().leaves();
        let sources: Vec<_> = strides
            .map(|stride| {
                let source = stride.sources().iter().find(|source| source.bound == i);
                source.map(|source| source.stride.clone())
            })
            .collect();
        if stays_inside(scope, layout, &sources, bound) {
            continue;
        }
        let position = inner_product(layout, sources.into_iter(), kept);
        let bound = kept.value(bound.clone());
        let condition = quote!((#position) < #bound);
        // A ragged tiling has the same bound twice.
        if conditions
            .iter()
            .all(|known| known.to_string() != condition.to_string())
        {
            conditions.push(condition);
        }
    }
    if conditions.is_empty() {
        conditions.push(quote!({
            let _ = coord;
            true
        }));
    }
    quote! {
        /// Whether a coordinate is inside the layout that was divided, and not past its end.
        #[inline]
        #visibility fn is_inside(&self, coord: #coordinate) -> ::core::primitive::bool {
            #(#conditions)&&*
        }
    }
}

/// Whether even the last coordinate is below the bound for all run-time integers.
fn stays_inside(scope: &Scope, layout: &Layout<Term>, steps: &[Option<Term>], bound: &Sum) -> bool {
    let mut leaves = layout.shape().leaves().zip(steps);
    let last = leaves.try_fold(Sum::from(1), |last, (extent, step)| match step {
        Some(step) => last.add(&extent.checked_mul(step)?, 1)?.add(step, -1),
        None => Some(last),
    });
    last.is_some_and(|left| {
        let right = bound.clone();
        scope.holds(&Check::AtMost { left, right }) == Answer::Always
    })
}
