//! Layouts into integers, with run-time integers, and their tilings.

use crate::notation::dynamic::declared::{
    Declared, attributes, built, constructor, methods, structure,
};
use crate::notation::dynamic::index::is_inside;
use crate::notation::dynamic::index::{digits, inner_product};
use crate::notation::dynamic::recipe::{Kept, checks};
use crate::notation::input::{Context, Item};
use crate::notation::literal::{profile_text, swizzle_tokens};
use cute_algebra::symbolic::{Scope, Sum, Term};
use cute_algebra::{ComposedLayout, Layout, ScaledBasis, SymbolicAxis, coalesce};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// A layout with run-time integers, or a tiling of one.
pub(super) struct Shaped {
    pub(super) composed: ComposedLayout<Term>,
    pub(super) tiles: Option<Tiles>,
}

/// The part of a tiling besides its layout.
pub(super) struct Tiles {
    pub(super) axes: Vec<SymbolicAxis>,
    /// Whether two tiles must never share an element.
    pub(super) is_disjoint: bool,
}

/// The names of the functions of the type. No run-time integer can have one of them.
pub(super) const METHODS: [&str; 26] = [
    "new",
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

/// An expression of type `Result`, with a new type for the value.
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

/// The trait and the constant of the recipe, without the type in front.
fn recipe_path(context: &Context) -> TokenStream {
    let facade = &context.facade;
    quote!(as #facade::DynamicLayout>::RECIPE)
}

/// The declarations of an item: a type with a constructor.
pub(super) fn item(
    context: &Context,
    item: &Item,
    scope: &Scope,
    shown: &str,
    layout: &Shaped,
    parameters: &[Ident],
) -> TokenStream {
    let (docs, others) = attributes(item, shown);
    let declared = Declared::of(item, docs, &others, parameters);
    let declarations = declarations(context, &declared, scope, layout);
    let checks = checks(scope);
    // A proof that tiles are disjoint allocates memory.
    let with_new = !layout.tiles.as_ref().is_some_and(|tiles| tiles.is_disjoint);
    let constructor = constructor(context, &declared, &recipe_path(context), &checks, with_new);
    quote!(#declarations #constructor)
}

/// The expression that replaces one with a reported error.
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

/// The declarations of an item with a reported error. The constructor takes the integers.
pub(super) fn fallback_item(context: &Context, item: &Item, integers: &[Ident]) -> TokenStream {
    let (docs, others) = attributes(item, "");
    let declared = Declared::of(item, docs, &others, integers);
    let declarations = fallback(context, &declared, integers.len());
    let constructor = constructor(context, &declared, &recipe_path(context), "", true);
    quote!(#declarations #constructor)
}

/// A type with functions that accept every coordinate.
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

/// The type, its traits and its functions.
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
    let shape = kept.numbers(layout.shape().leaves().cloned());
    let stride = kept.numbers(layout.stride().leaves().map(ScaledBasis::value));
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
    // A swizzled layout only has a bound: its cosize for run-time integers would take a search.
    let cosize = composed.as_layout().map(|_| {
        quote! {
            /// How many elements in one piece hold index 0 and all values.
            #[inline]
            #visibility const fn cosize(&self) -> #value {
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

/// The type and its traits.
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

/// Adds the offset of a composed layout to a value of its inner layout, and applies the swizzle.
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

/// The tiles in the recipe of a layout.
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

/// The value at the 1-D `coord`. The layout is coalesced, so that the sum has the fewest terms.
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

fn offset(layout: &Layout<Term>, kept: &mut Kept) -> TokenStream {
    let steps = layout.stride().leaves().map(|stride| Some(stride.value()));
    inner_product(layout, steps, kept)
}
