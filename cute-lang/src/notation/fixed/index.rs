//! Straight-line code for the value at a 1-D coordinate.

use crate::notation::fixed::layout::StaticLayout;
use crate::notation::literal::literal;
use cute_algebra::IndexTerm;
use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;
use quote::quote;

impl StaticLayout {
    /// The value at `coord` with the swizzle applied, by the form of the layout with the fewest operations.
    pub(super) fn index(&self) -> TokenStream {
        let terms = self
            .inner
            .index_form()
            .expect("a layout of integers has a form")
            .terms;
        let mut sum = TokenStream::new();
        if self.offset != 0 || terms.is_empty() {
            sum.extend(literal(self.offset).into_token_stream());
        }
        for term in &terms {
            let product = product(term);
            sum.extend(match (term.factor < 0, sum.is_empty()) {
                (true, _) => quote!(- #product),
                (false, true) => product,
                (false, false) => quote!(+ #product),
            });
        }
        if terms.is_empty() {
            sum = quote!({ let _ = coord; #sum });
        }
        if self.swizzle.is_identity() {
            return sum;
        }
        let (mask, shift) = (
            literal(self.swizzle.source_mask()),
            Literal::u32_unsuffixed(self.swizzle.shift().unsigned_abs()),
        );
        match self.swizzle.shift() >= 0 {
            true => quote!(let offset = #sum; offset ^ ((offset & #mask) >> #shift)),
            false => quote!(let offset = #sum; offset ^ ((offset & #mask) << #shift)),
        }
    }
}

/// A term without its sign. Powers of two become shifts and masks: `/` and `%` of an `i64` round towards zero, which takes more
/// instructions.
fn product(term: &IndexTerm) -> TokenStream {
    let power = |value: i64| u64::try_from(value).is_ok_and(u64::is_power_of_two);
    let mut value = quote!(coord);
    if let Some(mask) = term.mask {
        let mask = literal(mask);
        value = quote!((#value & #mask));
    }
    value = match term.divisor {
        1 => value,
        divisor if power(divisor) => {
            let shift = Literal::u32_unsuffixed(divisor.trailing_zeros());
            quote!((#value >> #shift))
        }
        divisor => {
            let divisor = literal(divisor);
            quote!((#value / #divisor))
        }
    };
    value = match term.modulus {
        None => value,
        Some(modulus) if power(modulus) => {
            let mask = literal(modulus - 1);
            quote!((#value & #mask))
        }
        Some(modulus) => {
            let modulus = literal(modulus);
            quote!((#value % #modulus))
        }
    };
    match term.factor.unsigned_abs() {
        1 => value,
        factor => {
            let factor = Literal::u64_unsuffixed(factor);
            quote!(#value * #factor)
        }
    }
}
