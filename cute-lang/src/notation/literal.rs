//! Numbers, tables and swizzles as Rust.

use cute_algebra::{Swizzle, Tuple};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The integers as `&[…]`. They are parsed from text, which takes a tenth of the time of separate tokens.
pub(super) fn table(values: impl IntoIterator<Item = i64>) -> TokenStream {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("&[{}]", values.join(", "))
        .parse()
        .expect("integers between brackets and commas are tokens")
}

pub(super) fn literal(value: i64) -> Literal {
    Literal::i64_unsuffixed(value)
}

/// The tuple as text, with `_` for each leaf.
pub(super) fn profile_text<T>(tuple: &Tuple<T>) -> String {
    match tuple {
        Tuple::Leaf(_) => "_".to_owned(),
        Tuple::Node(modes) => {
            let modes: Vec<_> = modes.iter().map(profile_text).collect();
            format!("({})", modes.join(","))
        }
    }
}

pub(super) fn swizzle_tokens(swizzle: Swizzle) -> TokenStream {
    let bits = Literal::u32_unsuffixed(swizzle.bits());
    let base = Literal::u32_unsuffixed(swizzle.base());
    let shift = literal(i64::from(swizzle.shift()));
    quote!(swizzle(#bits, #base, #shift))
}
