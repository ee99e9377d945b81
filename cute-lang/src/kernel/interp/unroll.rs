//! `#[unroll]`, `#[unroll(N)]` and `#[unroll(1)]` of a loop.

use crate::kernel::builtins::call::outside;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitInt, Meta, Result};

/// The most copies of a body by `#[unroll(N)]`.
const MAX_COPIES: u32 = 64;

/// The attributes of a loop.
pub(super) enum Unroll {
    /// Nothing: a loop over known bounds is unrolled, and another is not.
    Default,
    /// `#[unroll]`: the body is emitted once for each value.
    Whole(Span),
    /// `#[unroll(N)]`: the body is emitted N times.
    By(u32, Span),
}

impl Unroll {
    pub(super) fn of(attrs: &[Attribute]) -> Result<Self> {
        let mut unroll = Self::Default;
        for attr in attrs {
            if !attr.path().is_ident("unroll") {
                let message = "a loop takes the attributes `#[unroll]` and `#[unroll(N)]` only";
                return Err(Error::new_spanned(attr, message));
            }
            if !matches!(unroll, Self::Default) {
                return Err(Error::new_spanned(attr, "`#[unroll]` is given twice"));
            }
            unroll = match &attr.meta {
                Meta::Path(_) => Self::Whole(attr.span()),
                _ => {
                    let copies: LitInt = attr.parse_args()?;
                    match copies.base10_parse() {
                        Ok(number) if (1..=MAX_COPIES).contains(&number) => {
                            Self::By(number, attr.span())
                        }
                        _ => {
                            let message = outside(
                                "the number of copies by `#[unroll]`",
                                &copies,
                                &(1..=MAX_COPIES),
                            );
                            return Err(Error::new(copies.span(), message));
                        }
                    }
                }
            };
        }
        Ok(unroll)
    }
}
