//! The value at a 1-D coordinate, as Rust.

use super::expand::{StaticLayout, literal};
use cute_algebra::coalesce;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

impl StaticLayout {
    /// Straight-line code from `coord` to the value. Coalesced, so that there is no term too many.
    pub(super) fn index(&self) -> TokenStream {
        let modes = coalesce(&self.inner).flat_modes();
        let mut weight = 1;
        let mut terms = Vec::new();
        for (i, (extent, stride)) in modes.iter().enumerate() {
            // The last mode goes on past its end, and so needs no remainder.
            let bound = (i + 1 < modes.len()).then_some(*extent);
            if !stride.is_zero() {
                let digit = digit(weight, bound);
                let stride = stride.value();
                let factor = literal(stride);
                terms.push(if stride == 1 {
                    digit
                } else {
                    quote!(#digit * #factor)
                });
            }
            weight *= extent;
        }
        let sum = match (terms.is_empty(), self.offset) {
            (true, offset) => {
                let offset = literal(offset);
                quote!({ let _ = coord; #offset })
            }
            (false, 0) => quote!(#(#terms)+*),
            (false, offset) => {
                let offset = literal(offset);
                quote!(#offset + #(#terms)+*)
            }
        };
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

/// `coord / weight % bound`, by shifts and masks where they are powers of two.
fn digit(weight: i64, bound: Option<i64>) -> TokenStream {
    let power = |value: i64| u64::try_from(value).is_ok_and(u64::is_power_of_two);
    let rest = match weight {
        1 => quote!(coord),
        _ if power(weight) => {
            let shift = Literal::u32_unsuffixed(weight.trailing_zeros());
            quote!((coord >> #shift))
        }
        _ => {
            let weight = literal(weight);
            quote!((coord / #weight))
        }
    };
    match bound {
        None => rest,
        Some(bound) if power(bound) => {
            let mask = literal(bound - 1);
            quote!((#rest & #mask))
        }
        Some(bound) => {
            let bound = literal(bound);
            quote!((#rest % #bound))
        }
    }
}
