//! The table of a kernel's reports to the host.

use super::parameter::element_type;
use crate::kernel::emit::report::{Piece, Report};
use proc_macro2::TokenStream;
use quote::quote;

/// The constant `REPORTS`; nothing if the kernel reports nothing.
pub(super) fn table(facade: &TokenStream, reports: &[Report]) -> Option<TokenStream> {
    if reports.is_empty() {
        return None;
    }
    let rows = reports.iter().map(|report| {
        let (file, line) = match &report.place {
            Some(place) => (place.file.as_str(), place.line),
            None => ("", 0),
        };
        let fails = report.fails;
        let pieces = report.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => quote!(#facade::Piece::Text(#text)),
            Piece::Bool => quote!(#facade::Piece::Bool),
            Piece::Number(element) => {
                let element = element_type(facade, *element);
                quote!(#facade::Piece::Number(#element))
            }
        });
        quote! {
            #facade::Report { file: #file, line: #line, fails: #fails, pieces: &[#(#pieces),*] }
        }
    });
    Some(quote! {
        const REPORTS: &'static [#facade::Report] = &[#(#rows),*];
    })
}
