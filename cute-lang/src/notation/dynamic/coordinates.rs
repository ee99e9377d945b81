//! Layouts into coordinates, with run-time integers.

use crate::notation::dynamic::declared::{
    Declared, attributes, built, constructor, methods, structure,
};
use crate::notation::dynamic::index::{digits, inner_product, is_inside};
use crate::notation::dynamic::recipe::{Kept, checks};
use crate::notation::input::{Context, Item};
use crate::notation::literal::profile_text;
use cute_algebra::symbolic::{Scope, Term};
use cute_algebra::{Layout, ScaledBasis, coalesce};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// A layout into coordinates of integers.
pub(super) struct Coordinates {
    layout: Layout<Term>,
    /// The number of integers of a value.
    count: usize,
}

impl Coordinates {
    pub(super) fn new(layout: Layout<Term>, shown: &str) -> Result<Self, String> {
        // The algebra limits the number of integers.
        let mut count = 0;
        for stride in layout.stride().leaves() {
            count = count.max(match stride.path()[..] {
                [] => 0,
                [axis] => axis + 1,
                _ => {
                    return Err(format!(
                        "a layout with run-time integers has values that are integers or flat coordinates, and these nest: {shown}"
                    ));
                }
            });
        }
        Ok(Self { layout, count })
    }
}

/// An expression of type `Result`, with a new type for the value.
pub(super) fn expression(
    context: &Context,
    scope: &Scope,
    coordinates: &Coordinates,
    values: &[TokenStream],
) -> TokenStream {
    let declared = Declared::here();
    let declarations = declarations(context, &declared, scope, coordinates);
    let value = built(&recipe_path(context, coordinates), values);
    quote!(#declarations #value)
}

/// The declarations of an item: a type with a constructor.
pub(super) fn item(
    context: &Context,
    item: &Item,
    scope: &Scope,
    shown: &str,
    coordinates: &Coordinates,
    parameters: &[Ident],
) -> TokenStream {
    let (docs, others) = attributes(item, shown);
    let declared = Declared::of(item, docs, &others, parameters);
    let declarations = declarations(context, &declared, scope, coordinates);
    let recipe = recipe_path(context, coordinates);
    let constructor = constructor(context, &declared, &recipe, &checks(scope), true);
    quote!(#declarations #constructor)
}

/// The trait and the constant of the recipe, without the type in front.
fn recipe_path(context: &Context, coordinates: &Coordinates) -> TokenStream {
    let (facade, count) = (
        &context.facade,
        Literal::usize_unsuffixed(coordinates.count),
    );
    quote!(as #facade::DynamicCoordinateLayout<#count>>::RECIPE.layout)
}

fn declarations(
    context: &Context,
    declared: &Declared<'_>,
    scope: &Scope,
    Coordinates { layout, count }: &Coordinates,
) -> TokenStream {
    let facade = &context.facade;
    let Declared {
        name,
        visibility,
        others,
        ..
    } = declared;
    let mut kept = Kept::default();
    let index = index(layout, *count, &mut kept);
    let shape = kept.numbers(layout.shape().leaves().cloned());
    let strides = || layout.stride().leaves();
    let stride = kept.numbers(strides().map(ScaledBasis::value));
    let axes = strides()
        .map(|stride| Literal::usize_unsuffixed(stride.path().first().copied().unwrap_or(0)));
    let sums = (0..*count).map(|axis| {
        let steps = strides().map(|stride| is_along(stride, axis).then(|| stride.value()));
        inner_product(layout, steps, &mut kept)
    });
    let sums: Vec<_> = sums.collect();
    let is_inside = is_inside(scope, layout, visibility, &mut kept);
    let profile = profile_text(layout.shape());
    let (recipe, divisors) = (kept.recipe(scope), kept.divisors());
    let structure = structure(context, declared, kept.counts(), &quote!(write_coordinates));
    let count = Literal::usize_unsuffixed(*count);
    let value = quote!([::core::primitive::i64; #count]);
    let methods = methods(declared, layout, &value, &quote!([#(#sums),*]), &is_inside);
    quote! {
        #structure

        #(#others)*
        impl #facade::DynamicCoordinateLayout<#count> for #name {
            const RECIPE: &'static #facade::__private::CoordinateRecipe = {
                use #facade::__private::*;
                &CoordinateRecipe {
                    layout: LayoutRecipe {
                        recipe: #recipe,
                        profile: profile(#profile),
                        shape: &[#(#shape),*],
                        stride: &[#(#stride),*],
                        divisors: &[#(#divisors),*],
                        offset: Number::Known(0),
                        swizzle: swizzle(0, 0, 0),
                        tiles: ::core::option::Option::None,
                    },
                    axes: &[#(#axes),*],
                }
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
            fn index(&self, coord: ::core::primitive::i64) -> [::core::primitive::i64; #count] {
                #index
            }
        }

        #methods
    }
}

/// Straight-line code from the 1-D `coord` to the integers of the value.
fn index(layout: &Layout<Term>, count: usize, kept: &mut Kept) -> TokenStream {
    let modes = coalesce(&layout.without_sources()).flat_modes();
    let (statements, terms) = digits(&modes, kept);
    let sums = (0..count).map(|axis| {
        let along = terms.iter().filter(|(stride, _)| is_along(stride, axis));
        let terms: Vec<_> = along.map(|(_, term)| term).collect();
        match terms.is_empty() {
            true => quote!(0),
            false => quote!(#(#terms)+*),
        }
    });
    quote! {
        let _ = coord;
        #(#statements)*
        [#(#sums),*]
    }
}

fn is_along(stride: &ScaledBasis<Term>, axis: usize) -> bool {
    stride.path() == [axis]
}
