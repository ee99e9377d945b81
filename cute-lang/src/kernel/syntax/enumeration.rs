//! Enums without data.

use crate::kernel::syntax::errors::Errors;
use proc_macro2::Ident;
use syn::{Attribute, Error, Fields, ItemEnum, ItemStruct, Result};

/// An enum.
pub struct Enumeration {
    /// The declaration.
    pub item: ItemEnum,
    /// The struct that represents it in registers: one number, the discriminant.
    pub held: ItemStruct,
    /// The type of the discriminant, of `#[repr(u8)]`.
    pub repr: Option<Ident>,
}

impl Enumeration {
    pub(super) fn new(item: ItemEnum) -> Result<Self> {
        let mut errors = Errors::default();
        for variant in &item.variants {
            if !matches!(variant.fields, Fields::Unit) {
                let message = "an enum has no data in the kernel language: a struct holds it beside a variant, `struct Case { kind: Kind, value: u32 }`";
                errors.push(Error::new_spanned(&variant.fields, message));
            }
        }
        if !item.generics.params.is_empty() {
            let message = "an enum has no parameters, since its variants have no data";
            errors.push(Error::new_spanned(&item.generics, message));
        }
        let repr = errors.record(representation(&item.attrs)).flatten();
        let (vis, name) = (&item.vis, &item.ident);
        // No other code can name this field: `enum` is a keyword.
        let held = syn::parse_quote!(#vis struct #name { r#enum: isize });
        errors.finish(Self { held, repr, item })
    }

    /// The index of the variant with this name.
    pub fn variant(&self, name: &Ident) -> Option<usize> {
        self.item.variants.iter().position(|it| it.ident == *name)
    }

    /// Whether a `derive` implements this trait for it.
    pub fn derives(&self, name: &str) -> bool {
        derives_trait(&self.item.attrs, name)
    }
}

/// Whether a `derive` among the attributes implements this trait.
pub(crate) fn derives_trait(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| {
        let mut found = false;
        if attr.path().is_ident("derive") {
            // rustc refuses anything but a list of paths.
            _ = attr.parse_nested_meta(|meta| {
                found |= meta
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == name);
                Ok(())
            });
        }
        found
    })
}

/// The integer type of `#[repr(u8)]`.
fn representation(attrs: &[Attribute]) -> Result<Option<Ident>> {
    const TYPES: [&str; 8] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];
    let mut found = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        attr.parse_nested_meta(|meta| {
            let is_type = |name: &&Ident| TYPES.iter().any(|ty| *name == ty);
            match meta.path.get_ident().filter(is_type) {
                Some(name) => found = Some(name.clone()),
                None => {
                    let message =
                        "the discriminant of an enum has a type of known width: `#[repr(u8)]`";
                    return Err(meta.error(message));
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
