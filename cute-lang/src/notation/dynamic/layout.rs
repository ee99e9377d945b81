//! Layouts with run-time integers: a type with a constructor.

use super::super::expand::{literal, profile_text, swizzle_tokens};
use super::super::input::{Context, Item};
use super::recipe::{Kept, checks};
use super::{Dynamic, attributes};
use cute_algebra::symbolic::{Answer, Check, Scope, Sum, Term};
use cute_algebra::{ComposedLayout, Layout, ScaledBasis, SymbolicAxis, Tuple, coalesce};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// A layout with run-time integers, or a tiling of one.
pub(super) struct Shaped {
    pub(super) composed: ComposedLayout<Term>,
    pub(super) tiles: Option<Tiles>,
}

/// What a tiling knows beside its layout.
pub(super) struct Tiles {
    pub(super) axes: Vec<SymbolicAxis>,
    /// Whether tiles may not share an element.
    pub(super) is_disjoint: bool,
}

/// The functions of the type, whose names no run-time integer can have.
pub(super) const METHODS: [&str; 25] = [
    "try_new",
    "offset",
    "is_inside",
    "numbers",
    "size",
    "cosize",
    "cosize_bound",
    "index",
    "at",
    "leaf",
    "base",
    "to_layout",
    "to_composed",
    "tile_size",
    "rest_size",
    "tile",
    "rest",
    "get",
    "contains",
    "coordinate",
    "is_ragged",
    "elements",
    "profile",
    "linear",
    "text",
];

/// A `Result` of a value of a type of its own.
pub(super) fn expression(
    context: &Context,
    scope: &Scope,
    layout: &Shaped,
    values: &[TokenStream],
) -> TokenStream {
    let declared = Declared::here();
    let declarations = declarations(context, &declared, scope, layout);
    let value = built(&recipe_path(context), values);
    quote!(#declarations #value)
}

/// Trait and constant, of a type that comes before it.
fn recipe_path(context: &Context) -> TokenStream {
    let facade = &context.facade;
    quote!(as #facade::DynamicLayout>::RECIPE)
}

/// A value of the type of an expression, by its recipe.
pub(super) fn built(recipe: &TokenStream, values: &[TokenStream]) -> TokenStream {
    quote! {
        ::core::result::Result::map(
            <Dynamic #recipe.build([#(#values),*]),
            |numbers| Dynamic { numbers },
        )
    }
}

/// The declarations of an item: a type with a constructor.
pub(super) fn item(
    context: &Context,
    item: &Item,
    dynamic: &Dynamic,
    layout: &Shaped,
    parameters: &[Ident],
) -> TokenStream {
    let (docs, others) = attributes(item, &dynamic.shown);
    let declared = Declared::of(item, docs, &others, parameters);
    let declarations = declarations(context, &declared, &dynamic.scope, layout);
    let checks = checks(&dynamic.scope);
    let constructor = constructor(context, &declared, &recipe_path(context), &checks);
    quote!(#declarations #constructor)
}

/// What stands for an expression whose error has been reported.
pub(super) fn fallback_expression(
    context: &Context,
    count: usize,
    values: &[TokenStream],
) -> TokenStream {
    let declared = Declared::here();
    let declarations = fallback(context, &declared, count);
    let value = built(&recipe_path(context), values);
    quote!(#declarations #value)
}

/// What stands for an item whose error has been reported. Its constructor takes the integers.
pub(super) fn fallback_item(context: &Context, item: &Item, integers: &[Ident]) -> TokenStream {
    let (docs, others) = attributes(item, "");
    let declared = Declared::of(item, docs, &others, integers);
    let declarations = fallback(context, &declared, integers.len());
    let constructor = constructor(context, &declared, &recipe_path(context), "");
    quote!(#declarations #constructor)
}

/// A type whose functions take all coordinates.
fn fallback(context: &Context, declared: &Declared<'_>, count: usize) -> TokenStream {
    let Declared {
        name,
        visibility,
        others,
        ..
    } = declared;
    let names = vec![quote!(""); count];
    let atoms = vec![quote!(AtomOrigin::Captured); count];
    let recipe = quote! {
        LayoutRecipe {
            recipe: Recipe { names: &[#(#names),*], atoms: &[#(#atoms),*], checks: &[], numbers: &[] },
            profile: profile("_"),
            shape: &[Number::Known(1)],
            stride: &[Number::Known(0)],
            divisors: &[],
            offset: Number::Known(0),
            swizzle: swizzle(0, 0, 0),
            tiles: ::core::option::Option::Some(TilingRecipe { tile_leaves: 0, axes: &[], is_disjoint: false }),
        }
    };
    let index = quote!({
        let _ = coord;
        0
    });
    let body = type_and_traits(context, declared, &recipe, [0, 0], &index);
    let facade = &context.facade;
    quote! {
        #body
        #(#others)*
        impl #facade::DynamicTiling for #name {}
        #(#others)*
        #[allow(dead_code)]
        impl #name {
            #visibility fn offset(&self, _: impl ::core::marker::Sized) -> ::core::primitive::i64 {
                0
            }
            #visibility fn is_inside(&self, _: impl ::core::marker::Sized) -> ::core::primitive::bool {
                true
            }
        }
    }
}

/// What a type is declared with.
pub(super) struct Declared<'a> {
    pub(super) name: Ident,
    pub(super) visibility: TokenStream,
    docs: TokenStream,
    /// Attributes of the type and its implementations.
    pub(super) others: &'a [syn::Attribute],
    /// The run-time integers that it keeps by name.
    parameters: &'a [Ident],
}

impl<'a> Declared<'a> {
    /// In the block of an expression.
    pub(super) fn here() -> Self {
        Self {
            name: Ident::new("Dynamic", Span::call_site()),
            visibility: quote!(),
            docs: quote!(),
            others: &[],
            parameters: &[],
        }
    }

    pub(super) fn of(
        item: &'a Item,
        docs: TokenStream,
        others: &'a [syn::Attribute],
        parameters: &'a [Ident],
    ) -> Self {
        let visibility = &item.visibility;
        Self {
            name: item.name.clone(),
            visibility: quote!(#visibility),
            docs,
            others,
            parameters,
        }
    }
}

pub(super) fn constructor(
    context: &Context,
    declared: &Declared<'_>,
    recipe: &TokenStream,
    checks: &str,
) -> TokenStream {
    let facade = &context.facade;
    let Declared {
        name,
        visibility,
        others,
        parameters,
        ..
    } = declared;
    let summary = format!(" For these integers{checks}.");
    quote! {
        #(#others)*
        #[allow(dead_code)]
        impl #name {
            #[doc = #summary]
            #visibility fn try_new(#(#parameters: ::core::primitive::i64),*) -> ::core::result::Result<Self, #facade::LayoutCheck> {
                ::core::result::Result::map(
                    <Self #recipe.build([#(::core::option::Option::Some(#parameters)),*]),
                    |numbers| Self { #(#parameters,)* numbers },
                )
            }
            #(
                /// A run-time integer that the layout was built with.
                #visibility const fn #parameters(&self) -> ::core::primitive::i64 {
                    self.#parameters
                }
            )*
        }
    }
}

/// The type and what it does.
fn declarations(
    context: &Context,
    declared: &Declared<'_>,
    scope: &Scope,
    shaped: &Shaped,
) -> TokenStream {
    let Shaped { composed, tiles } = shaped;
    let layout = composed.layout();
    let facade = &context.facade;
    let Declared {
        name,
        visibility,
        others,
        ..
    } = declared;
    let mut kept = Kept::default();
    let facade_private = quote!(#facade::__private);
    let index = swizzled(
        composed,
        index(layout, &mut kept),
        &facade_private,
        &mut kept,
    );
    let shape = numbers(layout.shape().leaves().cloned(), &mut kept);
    let stride = numbers(layout.stride().leaves().map(ScaledBasis::value), &mut kept);
    let offset = swizzled(
        composed,
        offset(layout, &mut kept),
        &facade_private,
        &mut kept,
    );
    let base = kept.number(composed.offset());
    let swizzle = swizzle_tokens(composed.swizzle());
    let axes = tiles
        .as_ref()
        .map(|tiles| tiles_tokens(tiles, layout, &mut kept));
    let axes = match axes {
        Some(axes) => quote!(::core::option::Option::Some(#axes)),
        None => quote!(::core::option::Option::None),
    };
    let mark = tiles.as_ref().map(|_| {
        quote! {
            #(#others)*
            impl #facade::DynamicTiling for #name {}
        }
    });
    let is_inside = is_inside(scope, layout, visibility, &mut kept);
    let profile = profile_text(layout.shape());
    let (recipe, divisors) = (kept.recipe(scope), kept.divisors());
    let recipe = quote! {
        LayoutRecipe {
            recipe: #recipe,
            profile: profile(#profile),
            shape: &[#(#shape),*],
            stride: &[#(#stride),*],
            divisors: &[#(#divisors),*],
            offset: #base,
            swizzle: #swizzle,
            tiles: #axes,
        }
    };
    let body = type_and_traits(context, declared, &recipe, kept.counts(), &index);
    let value = quote!(::core::primitive::i64);
    // A swizzled layout only has a bound: the cosize of run-time integers would have to be searched.
    let cosize = composed.as_layout().map(|_| {
        quote! {
            /// How many elements in one piece hold index 0 and all values.
            #[inline]
            #visibility fn cosize(&self) -> #value {
                self.numbers.cosize_bound
            }
        }
    });
    let further = quote!(#is_inside #cosize);
    let methods = methods(declared, layout, &value, &offset, &further);
    quote! {
        #body
        #mark

        #methods
    }
}

/// What is called with an integer for each leaf, and further functions of the type.
pub(super) fn methods(
    declared: &Declared<'_>,
    layout: &Layout<Term>,
    value: &TokenStream,
    offset: &TokenStream,
    further: &TokenStream,
) -> TokenStream {
    let Declared {
        name,
        visibility,
        others,
        ..
    } = declared;
    let coordinate = coordinate_type(layout.shape());
    quote! {
        #(#others)*
        #[allow(dead_code)]
        impl #name {
            /// The value at a coordinate, an integer for each leaf.
            #[inline]
            #visibility fn offset(&self, coord: #coordinate) -> #value {
                #offset
            }
            #further
        }
    }
}

/// The type, with what is the same for all but the numbers.
fn type_and_traits(
    context: &Context,
    declared: &Declared<'_>,
    recipe: &TokenStream,
    counts: [usize; 2],
    index: &TokenStream,
) -> TokenStream {
    let facade = &context.facade;
    let Declared { name, others, .. } = declared;
    let structure = structure(context, declared, counts, &quote!(write_dynamic));
    quote! {
        #structure

        #(#others)*
        impl #facade::DynamicLayout for #name {
            const RECIPE: &'static #facade::__private::LayoutRecipe = {
                use #facade::__private::*;
                &#recipe
            };
            #[inline]
            fn numbers(&self) -> &[::core::primitive::i64] {
                &self.numbers.kept
            }
            #[inline]
            fn size(&self) -> ::core::primitive::i64 {
                self.numbers.size
            }
            #[inline]
            fn cosize_bound(&self) -> ::core::primitive::i64 {
                self.numbers.cosize_bound
            }
            #[inline]
            fn index(&self, coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                #index
            }
        }
    }
}

/// The type, and as text what `write` makes of it.
pub(super) fn structure(
    context: &Context,
    declared: &Declared<'_>,
    counts: [usize; 2],
    write: &TokenStream,
) -> TokenStream {
    let facade = &context.facade;
    let [kept, divisors] = counts.map(Literal::usize_unsuffixed);
    let Declared {
        name,
        visibility,
        docs,
        others,
        parameters,
    } = declared;
    quote! {
        #docs
        #(#others)*
        #[allow(dead_code, non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        #visibility struct #name {
            #(#parameters: ::core::primitive::i64,)*
            numbers: #facade::__private::Numbers<#kept, #divisors>,
        }

        #(#others)*
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::#write(self, f)
            }
        }

        #(#others)*
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::#write(self, f)
            }
        }
    }
}

/// The value at a 1-D or at a nested coordinate, from that of the layout before its offset and its swizzle.
fn swizzled(
    composed: &ComposedLayout<Term>,
    value: TokenStream,
    private: &TokenStream,
    kept: &mut Kept,
) -> TokenStream {
    let value = match composed.offset() == Sum::default() {
        true => value,
        false => {
            let offset = kept.value(composed.offset());
            quote!(let value = { #value }; #offset + value)
        }
    };
    if composed.swizzle().is_identity() {
        return value;
    }
    let swizzle = swizzle_tokens(composed.swizzle());
    quote!(#private::#swizzle.apply({ #value }))
}

/// The tiles of a layout, in its recipe.
fn tiles_tokens(tiles: &Tiles, layout: &Layout<Term>, kept: &mut Kept) -> TokenStream {
    let leaves = layout
        .modes()
        .first()
        .map_or(0, |tile| tile.shape().leaf_count());
    let leaves = Literal::usize_unsuffixed(leaves);
    let axes: Vec<_> = tiles
        .axes
        .iter()
        .map(|axis| {
            let extent = kept.number(&axis.extent);
            let strides: Vec<_> = axis
                .strides
                .iter()
                .map(|stride| kept.number(stride))
                .collect();
            quote!(AxisRecipe { extent: #extent, strides: &[#(#strides),*] })
        })
        .collect();
    let is_disjoint = tiles.is_disjoint;
    quote!(TilingRecipe { tile_leaves: #leaves, axes: &[#(#axes),*], is_disjoint: #is_disjoint })
}

pub(super) fn numbers(terms: impl Iterator<Item = Term>, kept: &mut Kept) -> Vec<TokenStream> {
    terms.map(|term| kept.number(&term)).collect()
}

/// Straight-line code from the 1-D `coord` to the value. Coalesced, so that there is no term too many.
fn index(layout: &Layout<Term>, kept: &mut Kept) -> TokenStream {
    let modes = coalesce(&layout.without_sources()).flat_modes();
    let (digits, terms) = digits(&modes, kept);
    let terms: Vec<_> = terms.into_iter().map(|(_, term)| term).collect();
    match terms.is_empty() {
        true => quote!({
            let _ = coord;
            0
        }),
        false => quote!(#(#digits)* #(#terms)+*),
    }
}

/// What takes the digits off the 1-D `coord`, and each of them times its stride.
pub(super) fn digits<'a>(
    modes: &'a [(Term, ScaledBasis<Term>)],
    kept: &mut Kept,
) -> (Vec<TokenStream>, Vec<(&'a ScaledBasis<Term>, TokenStream)>) {
    let mut digits = Vec::new();
    let mut terms = Vec::new();
    for (i, (extent, stride)) in modes.iter().enumerate() {
        // The last mode goes on past its end, and so needs no remainder.
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

/// Takes the digit of an extent off `coord`: by a shift and a mask, or by a quotient that is a multiplication.
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

fn offset(layout: &Layout<Term>, kept: &mut Kept) -> TokenStream {
    let steps = layout.stride().leaves().map(|stride| Some(stride.value()));
    inner_product(layout, steps, kept)
}

/// For a ragged division: whether a coordinate is in the layout that was divided.
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
        // A ragged tiling has two bounds for one edge.
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

/// Whether even the last coordinate is below the bound, whatever the run-time integers are.
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

/// The sum of the leaves of `coord`, each times its step.
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

fn scaled(digit: TokenStream, stride: &Term, kept: &mut Kept) -> TokenStream {
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
