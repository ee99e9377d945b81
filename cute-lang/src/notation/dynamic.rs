//! Layouts with run-time integers as Rust.

use super::carrier::carrier_of_run_time;
use super::expand::{literal, profile_text};
use super::input::{Context, Item};
use super::tokens::Spanned;
use cute_algebra::Tuple;
use cute_algebra::notation::{Captured, Expr, Fact, Names, eval_symbolic};
use cute_algebra::symbolic::{
    Check, Mode, Origin, Scope, Sum, Symbolic, SymbolicLayout, SymbolicValue, Term,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// A layout with run-time integers, and the Rust expressions that those are.
pub(super) struct Dynamic {
    scope: Scope,
    layout: SymbolicLayout,
    captured: Vec<TokenStream>,
}

/// Folds an expression with run-time integers.
pub(super) fn fold(
    spanned: &Spanned,
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> syn::Result<Dynamic> {
    let at_expr = |message: String| {
        spanned.error(&cute_algebra::notation::NotationError::new(
            &expr.at, message,
        ))
    };
    let (Symbolic { scope, value }, captured) =
        eval_symbolic(facts, expr, names).map_err(|error| spanned.error(&error))?;
    let layout = match value {
        SymbolicValue::Layout(layout) => layout,
        SymbolicValue::Known(value) => {
            return Err(at_expr(format!(
                "this is {}, whatever the run-time integers are",
                value.kind()
            )));
        }
        other => {
            return Err(at_expr(format!(
                "expected a layout, found {}: {}",
                other.kind(),
                other.show(&scope)
            )));
        }
    };
    // In the order of the atoms, which is that of the names in the recipe.
    let captures = scope.origins().enumerate().filter_map(|(atom, origin)| {
        let is_captured = matches!(origin, Origin::Captured(_));
        let at = captured
            .iter()
            .find(|(known, _): &&Captured| *known == atom);
        at.filter(|_| is_captured).map(|(_, at)| spanned.leaf(at))
    });
    let captured = captures.collect();
    Ok(Dynamic {
        scope,
        layout,
        captured,
    })
}

/// The expression: a `Result` of a value of a type of its own.
pub(super) fn expression(context: &Context, dynamic: &Dynamic) -> TokenStream {
    let facade = &context.facade;
    let name = Ident::new("Dynamic", Span::call_site());
    let parameters: Vec<_> = (0..dynamic.captured.len())
        .map(|i| format_ident!("value{i}"))
        .collect();
    let declarations = declarations(context, dynamic, &name, &quote!(), &quote!(), &[]);
    let captured = &dynamic.captured;
    // The user's expressions stand outside the block, so that they see none of its names.
    quote! {
        match (#(#facade::__private::capture(#captured),)*) {
            (#(#parameters,)*) => {
                #declarations
                <Dynamic as #facade::DynamicLayout>::RECIPE
                    .build([#(#parameters),*])
                    .map(|numbers| Dynamic { numbers })
            }
        }
    }
}

/// The declarations of an item: a type with a constructor.
pub(super) fn item(context: &Context, item: &Item, dynamic: &Dynamic) -> syn::Result<TokenStream> {
    let facade = &context.facade;
    let name = &item.name;
    let visibility = &item.visibility;
    let mut parameters = Vec::new();
    for captured in &dynamic.captured {
        let parameter = syn::parse2::<Ident>(captured.clone()).map_err(|_| {
            syn::Error::new_spanned(
                captured,
                "a run-time integer of an item is a name, which becomes a parameter of `try_new`",
            )
        })?;
        if ["try_new", "offset", "is_inside", "numbers"]
            .iter()
            .any(|taken| parameter == taken)
        {
            return Err(syn::Error::new_spanned(
                captured,
                "this is the name of a function of the layout",
            ));
        }
        parameters.push(parameter);
    }
    let (docs, others): (Vec<_>, Vec<_>) = item
        .attributes
        .iter()
        .partition(|attribute| attribute.path().is_ident("doc"));
    let separator = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    let text = format!(" `{}`", dynamic.layout.show(&dynamic.scope));
    let attributes = quote!(#(#docs)* #separator #[doc = #text] #(#others)*);
    let declarations = declarations(
        context,
        dynamic,
        name,
        &quote!(#visibility),
        &attributes,
        &parameters,
    );
    let checks = dynamic.scope.checks().iter();
    let checks: Vec<_> = checks
        .map(|check| format!("`{}`", dynamic.scope.show_check(check)))
        .collect();
    let summary = format!(
        " The layout for these integers; checks {}.",
        checks.join(", ")
    );
    let carrier = carrier_of_run_time(item);
    Ok(quote! {
        #declarations
        #(#others)*
        #[allow(dead_code)]
        impl #name {
            #[doc = #summary]
            #visibility fn try_new(#(#parameters: ::core::primitive::i64),*) -> ::core::result::Result<Self, #facade::LayoutCheck> {
                let numbers = <Self as #facade::DynamicLayout>::RECIPE
                    .build([#(::core::option::Option::Some(#parameters)),*])?;
                ::core::result::Result::Ok(Self { #(#parameters,)* numbers })
            }
            #(
                /// A run-time integer that the layout was built with.
                #visibility const fn #parameters(&self) -> ::core::primitive::i64 {
                    self.#parameters
                }
            )*
        }
        #carrier
    })
}

/// The type and what it does.
fn declarations(
    context: &Context,
    dynamic: &Dynamic,
    name: &Ident,
    visibility: &TokenStream,
    attributes: &TokenStream,
    parameters: &[Ident],
) -> TokenStream {
    let facade = &context.facade;
    let Dynamic { scope, layout, .. } = dynamic;
    let mut kept = Kept::default();
    let index = index(layout, &mut kept);
    let shape = number_tree(layout, &mut kept, |mode| &mode.extent);
    let stride = number_tree(layout, &mut kept, |mode| &mode.stride);
    let coordinate = coordinate_type(layout.tree());
    let offset = offset(layout, &mut kept);
    let is_inside = is_inside(scope, layout, visibility, &mut kept);
    let profile = profile_text(layout.tree());
    let captured_names = scope.origins().filter_map(|origin| match origin {
        Origin::Captured(name) => Some(name),
        Origin::Ceiling(..) => None,
    });
    let atoms = scope.origins().map(|origin| match origin {
        Origin::Captured(_) => quote!(AtomOrigin::Captured),
        Origin::Ceiling(dividend, divisor) => {
            let (dividend, divisor) = (term_tokens(dividend), term_tokens(divisor));
            quote!(AtomOrigin::Ceiling(#dividend, #divisor))
        }
    });
    let checks = scope.checks().iter().map(|check| {
        let text = scope.show_check(check);
        match check {
            Check::Divides { divisor, dividend } => {
                let (divisor, dividend) = (term_tokens(divisor), term_tokens(dividend));
                quote!(Condition::Divides(#text, #divisor, #dividend))
            }
            Check::AtMost { left, right } => {
                let (left, right) = (sum_tokens(left), sum_tokens(right));
                quote!(Condition::AtMost(#text, #left, #right))
            }
        }
    });
    let numbers = kept.terms.iter().map(term_tokens);
    let count = Literal::usize_unsuffixed(kept.terms.len());
    quote! {
        #attributes
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        #visibility struct #name {
            #(#parameters: ::core::primitive::i64,)*
            numbers: #facade::__private::Numbers<#count>,
        }

        impl #facade::DynamicLayout for #name {
            const RECIPE: &'static #facade::__private::Recipe = {
                use #facade::__private::*;
                &Recipe {
                    names: &[#(#captured_names),*],
                    atoms: &[#(#atoms),*],
                    checks: &[#(#checks),*],
                    numbers: &[#(#numbers),*],
                    profile: profile(#profile),
                    shape: &[#(#shape),*],
                    stride: &[#(#stride),*],
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
            fn cosize(&self) -> ::core::primitive::i64 {
                self.numbers.cosize
            }
            #[inline]
            fn index(&self, coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                #index
            }
        }

        #[allow(dead_code)]
        impl #name {
            /// The value at a coordinate, an integer for each leaf.
            #[inline]
            #visibility fn offset(&self, coord: #coordinate) -> ::core::primitive::i64 {
                #offset
            }
            #is_inside
        }

        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::write_dynamic(self, f)
            }
        }

        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::write_dynamic(self, f)
            }
        }
    }
}

/// The terms that a layout keeps the values of.
#[derive(Default)]
struct Kept {
    terms: Vec<Term>,
}

impl Kept {
    fn place(&mut self, term: &Term) -> Literal {
        let known = self.terms.iter().position(|kept| kept == term);
        let index = known.unwrap_or_else(|| {
            self.terms.push(term.clone());
            self.terms.len() - 1
        });
        Literal::usize_unsuffixed(index)
    }

    /// The value in a method of the layout.
    fn value(&mut self, term: &Term) -> TokenStream {
        match term.as_constant() {
            Some(value) => {
                let value = literal(value);
                quote!(#value)
            }
            None => {
                let index = self.place(term);
                quote!(self.numbers.kept[#index])
            }
        }
    }

    /// The value in the recipe.
    fn number(&mut self, term: &Term) -> TokenStream {
        match term.as_constant() {
            Some(value) => {
                let value = literal(value);
                quote!(Number::Known(#value))
            }
            None => {
                let index = self.place(term);
                quote!(Number::Kept(#index))
            }
        }
    }
}

fn number_tree(
    layout: &SymbolicLayout,
    kept: &mut Kept,
    side: fn(&Mode) -> &Term,
) -> Vec<TokenStream> {
    layout
        .leaves()
        .map(|mode| kept.number(side(mode)))
        .collect()
}

/// Straight-line code from the 1-D `coord` to the value. Coalesced, so that there is no term too many.
fn index(layout: &SymbolicLayout, kept: &mut Kept) -> TokenStream {
    let modes = layout.coalesced();
    let mut digits = Vec::new();
    let mut terms = Vec::new();
    for (i, mode) in modes.iter().enumerate() {
        // The last mode goes on past its end, and so needs no remainder.
        let digit = if i + 1 < modes.len() {
            let extent = kept.value(&mode.extent);
            let digit = format_ident!("digit{i}");
            digits.push(quote!(let (#digit, coord) = (coord % #extent, coord / #extent);));
            quote!(#digit)
        } else {
            quote!(coord)
        };
        if !mode.stride.is_zero() {
            terms.push(scaled(digit, &mode.stride, kept));
        }
    }
    match terms.is_empty() {
        true => quote!({
            let _ = coord;
            0
        }),
        false => quote!(#(#digits)* #(#terms)+*),
    }
}

fn offset(layout: &SymbolicLayout, kept: &mut Kept) -> TokenStream {
    let steps = layout.leaves().map(|mode| Some(&mode.stride));
    inner_product(layout, steps, kept)
}

/// For a ragged division: whether a coordinate is in the layout that was divided.
fn is_inside(
    scope: &Scope,
    layout: &SymbolicLayout,
    visibility: &TokenStream,
    kept: &mut Kept,
) -> TokenStream {
    if scope.bounds().is_empty() {
        return quote!();
    }
    let coordinate = coordinate_type(layout.tree());
    let conditions = scope.bounds().iter().enumerate().map(|(i, bound)| {
        let sources = layout.leaves().map(|mode| {
            let source = mode.source.as_ref().filter(|source| source.bound == i);
            source.map(|source| &source.stride)
        });
        let position = inner_product(layout, sources, kept);
        let bound = kept.value(bound);
        quote!((#position) < #bound)
    });
    let conditions: Vec<_> = conditions.collect();
    quote! {
        /// Whether a coordinate is inside the layout that was divided, and not past its end.
        #[inline]
        #visibility fn is_inside(&self, coord: #coordinate) -> ::core::primitive::bool {
            #(#conditions)&&*
        }
    }
}

/// The sum of the leaves of `coord`, each times its step.
fn inner_product<'a>(
    layout: &SymbolicLayout,
    steps: impl Iterator<Item = Option<&'a Term>>,
    kept: &mut Kept,
) -> TokenStream {
    let mut places = Vec::new();
    leaf_places(layout.tree(), quote!(coord), &mut places);
    let terms = places.into_iter().zip(steps).filter_map(|(place, step)| {
        let step = step.filter(|step| !step.is_zero())?;
        Some(scaled(place, step, kept))
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

fn leaf_places(tree: &Tuple<Mode>, place: TokenStream, places: &mut Vec<TokenStream>) {
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

fn coordinate_type(tree: &Tuple<Mode>) -> TokenStream {
    match tree {
        Tuple::Leaf(_) => quote!(::core::primitive::i64),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(coordinate_type);
            quote!((#(#modes,)*))
        }
    }
}

fn term_tokens(term: &Term) -> TokenStream {
    let (above, below) = (literal(term.numerator()), literal(term.denominator()));
    let powers = term.powers().iter().map(|&(atom, power)| {
        let (atom, power) = (Literal::usize_unsuffixed(atom), literal(power.into()));
        quote!((#atom, #power))
    });
    quote!(Term { above: #above, below: #below, powers: &[#(#powers),*] })
}

fn sum_tokens(sum: &Sum) -> TokenStream {
    let terms: Vec<_> = sum.terms().collect();
    let terms = terms.iter().map(term_tokens);
    quote!(&[#(#terms),*])
}
