//! Values as Rust.

use super::Form;
use super::carrier::carrier;
use super::input::{Bound, Context, Item};
use super::tiling;
use cute_algebra::{ComposedLayout, IntTuple, Layout, Swizzle, Tuple, Value, is_injective};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

/// Most entries of a table of offsets that is written out.
/// A number in a table costs rustc about two microseconds.
const TABLE_LIMIT: i64 = 64;

/// A value in the place of an expression; the error says what is not a value of a layout macro.
pub(super) fn expression(context: &Context, value: &Value) -> Result<TokenStream, String> {
    constant(context, value).map(Constant::inline)
}

/// The declarations of an item: a type, a constant and a carrier of its name.
pub(super) fn item(context: &Context, item: &Item, value: &Value) -> Result<TokenStream, String> {
    let carrier = carrier(context, item, &Bound::of(value));
    // A tiler has no value at run time; its name is good for other layouts.
    if let Value::Tiler(_) = value {
        return Ok(carrier);
    }
    let constant = constant(context, value)?;
    let (text, layout) = (value.to_string(), static_layout(value));
    let declarations = declarations(
        context,
        item,
        &constant,
        Some(&text),
        layout.as_ref(),
        Form::Layout,
    );
    Ok(quote!(#declarations #carrier))
}

/// What stands for an expression whose error has been reported.
pub(super) fn fallback_expression(context: &Context, form: Form) -> TokenStream {
    fallback(context, form).inline()
}

/// What stands for an item whose error has been reported.
pub(super) fn fallback_item(context: &Context, item: &Item, form: Form) -> TokenStream {
    let layout = StaticLayout {
        inner: Layout::unit(),
        swizzle: Swizzle::IDENTITY,
        offset: 0,
    };
    let constant = fallback(context, form);
    let declarations = declarations(context, item, &constant, None, Some(&layout), form);
    let disjoint = (form != Form::Layout).then(|| tiling::disjoint(context, item));
    let carrier = carrier(context, item, &Bound::Error(Vec::new()));
    quote!(#declarations #disjoint #carrier)
}

/// A constant expression and its type.
pub(super) struct Constant {
    pub(super) value: TokenStream,
    pub(super) kind: TokenStream,
}

impl Constant {
    /// As an expression that is constant wherever it stands.
    pub(super) fn inline(self) -> TokenStream {
        let value = self.value;
        quote!(const #value)
    }
}

fn fallback(context: &Context, form: Form) -> Constant {
    let facade = &context.facade;
    let (value, kind) = match form {
        Form::Layout => (
            quote!(injective("_", &[1], &[0], &[0])),
            quote!(#facade::Layout),
        ),
        Form::Tile | Form::DisjointTile => (
            quote!(tiling(
                injective("(_,_)", &[1, 1], &[0, 0], &[0]),
                injective("_", &[1], &[0], &[]),
                &[]
            )),
            quote!(#facade::Tiling),
        ),
    };
    Constant {
        value: quote!({ use #facade::__private::*; #value }),
        kind,
    }
}

fn constant(context: &Context, value: &Value) -> Result<Constant, String> {
    let facade = &context.facade;
    let block = |value| quote!({ use #facade::__private::*; #value });
    let (value, kind) = match value {
        Value::Layout(layout) if !layout.is_integral() => (
            block(coordinate_tokens(layout)),
            quote!(#facade::CoordinateLayout),
        ),
        Value::Layout(layout) => {
            // The one name of the crate in it, so no glob to resolve.
            let layout = layout_tokens(layout);
            let value = quote!({ #facade::__private::#layout });
            (value, quote!(#facade::Layout))
        }
        Value::Composed(layout) => (block(composed_tokens(layout)), quote!(#facade::Layout)),
        Value::Swizzle(swizzle) => (block(swizzle_tokens(*swizzle)), quote!(#facade::Swizzle)),
        // Only the bits of a coordinate have columns: digits do not where their extents are no powers of two.
        Value::XorMap(map) if map.constant() == 0 && map.bit_columns().is_some() => {
            let columns = map
                .columns()
                .iter()
                .map(|&column| Literal::u64_unsuffixed(column));
            let count = Literal::usize_unsuffixed(map.columns().len());
            (
                quote!({ [#(#columns),*] }),
                quote!([::core::primitive::u64; #count]),
            )
        }
        Value::Int(value) => (
            block(Literal::i64_suffixed(*value).into_token_stream()),
            quote!(::core::primitive::i64),
        ),
        // What is said of a layout, and names of the hardware's forms.
        Value::Word(word) => (quote!({ #word }), quote!(&'static ::core::primitive::str)),
        Value::Bool(value) => (block(quote!(#value)), quote!(::core::primitive::bool)),
        Value::Tuple(tuple) => (block(tuple_value(tuple)), tuple_type(tuple)),
        Value::List(values) => {
            let parts = values.iter().map(|value| constant(context, value));
            let (values, kinds): (Vec<_>, Vec<_>) = parts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .map(|Constant { value, kind }| (value, kind))
                .unzip();
            (quote!({ (#(#values,)*) }), quote!((#(#kinds,)*)))
        }
        _ => {
            return Err(format!(
                "expected a layout, found {}: {value}",
                value.kind()
            ));
        }
    };
    Ok(Constant { value, kind })
}

pub(super) fn declarations(
    context: &Context,
    item: &Item,
    constant: &Constant,
    text: Option<&str>,
    layout: Option<&StaticLayout>,
    form: Form,
) -> TokenStream {
    let Item {
        visibility,
        name,
        attributes,
        ..
    } = item;
    let Context { facade, .. } = context;
    let Constant { value, kind } = constant;
    let (docs, others): (Vec<_>, Vec<_>) = attributes
        .iter()
        .partition(|attribute| attribute.path().is_ident("doc"));
    let summary = text.map(|text| {
        let text = format!(" `{text}`");
        let separator = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
        quote!(#separator #[doc = #text])
    });
    let Some(layout) = layout else {
        return quote! {
            #(#docs)* #summary #(#others)*
            #[allow(dead_code, non_upper_case_globals)]
            #visibility const #name: #kind = #value;
        };
    };
    let (whole, tiling) = match form {
        Form::Layout => (quote!(#name), None),
        Form::Tile | Form::DisjointTile => (
            quote!(#name.layout()),
            Some(quote! {
                #(#others)*
                impl #facade::StaticTiling for #name {
                    const TILING: #facade::Tiling = #name;
                }
            }),
        ),
    };
    let index = layout.index();
    quote! {
        #(#docs)* #summary #(#others)*
        #[allow(dead_code, non_camel_case_types)]
        #visibility enum #name {}

        #(#docs)* #summary #(#others)*
        #[allow(dead_code, non_upper_case_globals)]
        #visibility const #name: #kind = #value;

        #(#others)*
        impl #facade::StaticLayout for #name {
            const LAYOUT: #facade::Layout = #whole;
            #[inline]
            fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                #index
            }
        }

        #tiling
    }
}

/// A layout of integers under a swizzle, which may be the identity.
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

    /// All values, if a table of them is wanted.
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

pub(super) fn swizzle_tokens(swizzle: Swizzle) -> TokenStream {
    let bits = Literal::u32_unsuffixed(swizzle.bits());
    let base = Literal::u32_unsuffixed(swizzle.base());
    let shift = literal(i64::from(swizzle.shift()));
    quote!(swizzle(#bits, #base, #shift))
}

/// One integer layout along each path of a coordinate space.
fn coordinate_tokens(layout: &Layout) -> TokenStream {
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

/// The tuple with `_` for each leaf.
pub(super) fn profile_text<T>(tuple: &Tuple<T>) -> String {
    match tuple {
        Tuple::Leaf(_) => "_".to_owned(),
        Tuple::Node(modes) => {
            let modes: Vec<_> = modes.iter().map(profile_text).collect();
            format!("({})", modes.join(","))
        }
    }
}

fn tuple_value(tuple: &IntTuple) -> TokenStream {
    match tuple {
        Tuple::Leaf(value) => Literal::i64_suffixed(*value).into_token_stream(),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(tuple_value);
            quote!((#(#modes,)*))
        }
    }
}

fn tuple_type(tuple: &IntTuple) -> TokenStream {
    match tuple {
        Tuple::Leaf(_) => quote!(::core::primitive::i64),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(tuple_type);
            quote!((#(#modes,)*))
        }
    }
}

/// `&[…]`. As text to the compiler's lexer, which takes a tenth of the time that a token each would.
pub(super) fn table(values: impl IntoIterator<Item = i64>) -> TokenStream {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("&[{}]", values.join(", "))
        .parse()
        .unwrap_or_default()
}

pub(super) fn literal(value: i64) -> Literal {
    Literal::i64_unsuffixed(value)
}
