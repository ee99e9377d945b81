//! Layouts as constant tables.

use crate::notation::literal::{literal, profile_text, swizzle_tokens, table};
use cute_algebra::{ComposedLayout, Layout, Swizzle, Value, is_injective};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The most entries of a table of all values. Each entry takes rustc about two microseconds.
const TABLE_LIMIT: i64 = 64;

/// A layout into integers, with its offset and its swizzle.
pub(super) struct StaticLayout {
    pub(super) inner: Layout,
    pub(super) swizzle: Swizzle,
    pub(super) offset: i64,
}

pub(super) fn static_layout(value: &Value) -> Option<StaticLayout> {
    match value {
        Value::Layout(layout) if layout.is_integral() => Some(StaticLayout {
            inner: layout.clone(),
            swizzle: Swizzle::IDENTITY,
            offset: 0,
        }),
        Value::Composed(composed) => Some(StaticLayout {
            inner: composed.layout().clone(),
            swizzle: composed.swizzle(),
            offset: composed.offset(),
        }),
        _ => None,
    }
}

impl StaticLayout {
    fn value(&self, inner: i64) -> Option<i64> {
        Some(self.swizzle.apply(self.offset.checked_add(inner)?))
    }

    /// All values, if there are at most [`TABLE_LIMIT`].
    fn offsets(&self) -> Option<Vec<i64>> {
        let wanted = self.inner.size() <= TABLE_LIMIT;
        wanted
            .then(|| self.inner.values().map(|inner| self.value(inner)).collect())
            .flatten()
    }
}

pub(super) fn layout_tokens(layout: &Layout) -> TokenStream {
    let table = StaticLayout {
        inner: layout.clone(),
        swizzle: Swizzle::IDENTITY,
        offset: 0,
    };
    layout_with(layout, &table.offsets().unwrap_or_default())
}

pub(super) fn composed_tokens(composed: &ComposedLayout) -> TokenStream {
    let whole = StaticLayout {
        inner: composed.layout().clone(),
        swizzle: composed.swizzle(),
        offset: composed.offset(),
    };
    let swizzle = swizzle_tokens(composed.swizzle());
    let offset = literal(composed.offset());
    let inner = layout_with(composed.layout(), &[]);
    let offsets = table(whole.offsets().unwrap_or_default());
    quote!(swizzled(#swizzle, #offset, #inner, #offsets))
}

pub(super) fn layout_with(layout: &Layout, offsets: &[i64]) -> TokenStream {
    let shape = table(layout.shape().leaves().copied());
    let stride = table(layout.stride().leaves().map(|stride| stride.value()));
    let profile = profile_text(layout.shape());
    let proved = match is_injective(layout) {
        Some(true) => quote!(injective),
        Some(false) => quote!(not_injective),
        None => quote!(unproved),
    };
    let offsets = table(offsets.iter().copied());
    quote!(#proved(#profile, #shape, #stride, #offsets))
}

/// A layout into coordinates: one layout of integers for each path in its strides.
pub(super) fn coordinate_tokens(layout: &Layout) -> TokenStream {
    let mut paths: Vec<_> = layout
        .stride()
        .leaves()
        .map(|stride| stride.path().to_vec())
        .collect();
    paths.retain(|path| !path.is_empty());
    paths.sort();
    paths.dedup();
    let components = paths.iter().map(|path| {
        let strides = layout.stride().map(|stride| {
            if stride.path() == path {
                stride.value()
            } else {
                0
            }
        });
        let shape = table(layout.shape().leaves().copied());
        let stride = table(strides.leaves().copied());
        let profile = profile_text(layout.shape());
        let path = path.iter().map(|&index| Literal::usize_unsuffixed(index));
        quote!((&[#(#path),*], unproved(#profile, #shape, #stride, &[])))
    });
    let text = layout.to_string();
    quote!(coordinate_layout(#text, const { &[#(#components),*] }))
}
