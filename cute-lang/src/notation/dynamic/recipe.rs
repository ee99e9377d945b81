//! Recipes: how the runtime computes numbers from run-time integers.

use crate::notation::literal::{literal, swizzle_tokens};
use cute_algebra::symbolic::{Check, Origin, Scope, Sum, Term};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The numbers kept by a value, each a sum of terms.
#[derive(Default)]
pub(super) struct Kept {
    sums: Vec<Sum>,
    /// The indices of the divisors of coordinates.
    divisors: Vec<usize>,
}

impl Kept {
    /// The number of sums and the number of divisors.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.sums.len(), self.divisors.len()]
    }

    /// The indices of the divisors among the numbers.
    pub(super) fn divisors(&self) -> impl Iterator<Item = Literal> {
        self.divisors.iter().copied().map(Literal::usize_unsuffixed)
    }

    /// The index of a number. Adds it if it is new.
    pub(super) fn place(&mut self, sum: Sum) -> Literal {
        Literal::usize_unsuffixed(position(&mut self.sums, sum))
    }

    /// The index of a number among the divisors. Adds it if it is new.
    pub(super) fn divisor(&mut self, term: &Term) -> Literal {
        let place = position(&mut self.sums, term.into());
        Literal::usize_unsuffixed(position(&mut self.divisors, place))
    }

    /// A number as an expression in a method of the layout.
    pub(super) fn value(&mut self, number: impl Into<Sum>) -> TokenStream {
        let sum = number.into();
        match sum.as_constant() {
            Some(value) => {
                let value = literal(value);
                quote!(#value)
            }
            None => {
                let index = self.place(sum);
                quote!(self.numbers.kept[#index])
            }
        }
    }

    /// A number as an entry in the recipe of a layout.
    pub(super) fn number(&mut self, number: impl Into<Sum>) -> TokenStream {
        let sum = number.into();
        match sum.as_constant() {
            Some(value) => {
                let value = literal(value);
                quote!(Number::Known(#value))
            }
            None => {
                let index = self.place(sum);
                quote!(Number::Kept(#index))
            }
        }
    }

    /// Numbers as entries in the recipe of a layout.
    pub(super) fn numbers(&mut self, terms: impl Iterator<Item = Term>) -> Vec<TokenStream> {
        terms.map(|term| self.number(&term)).collect()
    }

    /// The recipe: the integers, the checks and the numbers.
    pub(super) fn recipe(&self, scope: &Scope) -> TokenStream {
        let names = scope.origins().filter_map(|origin| match origin {
            Origin::Captured(name) => Some(name),
            _ => None,
        });
        let atoms = scope.origins().map(|origin| match origin {
            Origin::Captured(_) => quote!(AtomOrigin::Captured),
            Origin::Ceiling(dividend, divisor) => {
                let (dividend, divisor) = (term_tokens(dividend), term_tokens(divisor));
                quote!(AtomOrigin::Ceiling(#dividend, #divisor))
            }
            Origin::Quotient(dividend, divisor) => {
                let (dividend, divisor) = (sum_tokens(dividend), term_tokens(divisor));
                quote!(AtomOrigin::Quotient(#dividend, #divisor))
            }
            Origin::Swizzled(swizzle, index) => {
                let (swizzle, index) = (swizzle_tokens(*swizzle), sum_tokens(index));
                quote!(AtomOrigin::Swizzled(#swizzle, #index))
            }
        });
        let checks = scope.checks().iter().map(|check| {
            let text = check.to_string();
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
        let numbers = self.sums.iter().map(sum_tokens);
        quote! {
            Recipe {
                names: &[#(#names),*],
                atoms: &[#(#atoms),*],
                checks: &[#(#checks),*],
                numbers: &[#(#numbers),*],
            }
        }
    }
}

/// The index of a value in a list. Adds it if it is new.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    let known = list.iter().position(|kept| *kept == value);
    known.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// The checks of a constructor, as the end of a sentence of its documentation.
pub(super) fn checks(scope: &Scope) -> String {
    let checks = scope.checks().iter();
    let checks: Vec<_> = checks.map(|check| format!("`{}`", check)).collect();
    match checks.is_empty() {
        true => String::new(),
        false => format!("; checks {}", checks.join(", ")),
    }
}

fn term_tokens(term: &Term) -> TokenStream {
    let (above, below) = (literal(term.numerator()), literal(term.denominator()));
    let powers = term.powers().iter().map(|(atom, power)| {
        let atom = Literal::usize_unsuffixed(atom.index());
        let power = literal((*power).into());
        quote!((#atom, #power))
    });
    quote!(Term { above: #above, below: #below, powers: &[#(#powers),*] })
}

fn sum_tokens(sum: &Sum) -> TokenStream {
    let terms: Vec<_> = sum.terms().collect();
    let terms = terms.iter().map(term_tokens);
    quote!(&[#(#terms),*])
}
