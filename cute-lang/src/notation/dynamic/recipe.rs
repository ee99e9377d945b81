//! How numbers come from run-time integers, as Rust.

use crate::notation::literal::{literal, swizzle_tokens};
use cute_algebra::symbolic::{Check, Origin, Scope, Sum, Term};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The numbers that are kept, each a sum.
#[derive(Default)]
pub(super) struct Kept {
    sums: Vec<Sum>,
    /// Those among them that coordinates are divided by.
    divisors: Vec<usize>,
}

impl Kept {
    /// How many numbers there are, and how many divisors.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.sums.len(), self.divisors.len()]
    }

    /// The places of the divisors among the numbers.
    pub(super) fn divisors(&self) -> impl Iterator<Item = Literal> {
        self.divisors.iter().copied().map(Literal::usize_unsuffixed)
    }

    /// The place of a number.
    pub(super) fn place(&mut self, sum: Sum) -> Literal {
        Literal::usize_unsuffixed(position(&mut self.sums, sum))
    }

    /// The place of a number among the divisors.
    pub(super) fn divisor(&mut self, term: &Term) -> Literal {
        let place = position(&mut self.sums, term.into());
        Literal::usize_unsuffixed(position(&mut self.divisors, place))
    }

    /// The value in a method of the layout.
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

    /// The value in the recipe of a layout.
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

    /// The values in the recipe of a layout.
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

/// Where a value is in a list, at whose end it is put if need be.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    let known = list.iter().position(|kept| *kept == value);
    known.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// The checks that are made, as the end of a sentence.
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
