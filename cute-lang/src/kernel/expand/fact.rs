//! Facts about the arguments of a launch, as Rust.

use crate::kernel::emit::facts::{Fact, Quantity, Term};
use crate::kernel::emit::operation::Op;
use crate::kernel::value::TensorId;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// The constant `FACTS` of a kernel; nothing if it has none.
pub(super) fn facts_of(facade: &TokenStream, facts: &[Fact]) -> Option<TokenStream> {
    let values = facts.iter().map(|fact| {
        let Fact { text, cmp, .. } = fact;
        let comparison = format_ident!("{}", format!("{cmp:?}"));
        let (left, right) = (term(facade, &fact.left), term(facade, &fact.right));
        quote! {
            #facade::Fact {
                text: #text,
                left: #left,
                comparison: #facade::Comparison::#comparison,
                right: #right,
            }
        }
    });
    let constant = quote!(const FACTS: &'static [#facade::Fact] = &[#(#values),*];);
    (!facts.is_empty()).then_some(constant)
}

fn term(facade: &TokenStream, of: &Term) -> TokenStream {
    let value = match of {
        Term::Known(number) => {
            let number = Literal::i128_unsuffixed(*number);
            quote!(Number(#number))
        }
        Term::Of(Quantity::Scalar(param)) => quote!(Scalar(#param)),
        Term::Of(Quantity::Extent(TensorId { param, .. }, mode)) => quote!(Extent(#param, #mode)),
        Term::Of(Quantity::Stride(TensorId { param, .. }, mode)) => quote!(Stride(#param, #mode)),
        Term::Of(Quantity::Address(TensorId { param, .. })) => quote!(Address(#param)),
        Term::Of(Quantity::Length(param)) => quote!(Length(#param)),
        Term::Ceiling(a, b) => {
            let (a, b) = (term(facade, a), term(facade, b));
            quote!(Ceiling(&#a, &#b))
        }
        Term::Op(op, a, b) => {
            let name = match op {
                Op::Add => "Sum",
                Op::Sub => "Difference",
                Op::Mul => "Product",
                Op::Div => "Quotient",
                Op::Rem => "Remainder",
                // A wrong term would be a wrong check of the launch.
                other => {
                    unreachable!("a fact has no {other:?}: `lower` takes `+`, `-`, `*`, `/`, `%`")
                }
            };
            let (name, a, b) = (format_ident!("{name}"), term(facade, a), term(facade, b));
            quote!(#name(&#a, &#b))
        }
    };
    quote!(#facade::Term::#value)
}
