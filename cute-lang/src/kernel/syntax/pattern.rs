//! The parts of patterns.

use proc_macro2::Ident;
use syn::Pat;

/// The patterns that a pattern consists of.
pub(crate) fn parts(pat: &Pat) -> Vec<&Pat> {
    match pat {
        Pat::Ident(pat) => pat.subpat.iter().map(|(_, inner)| &**inner).collect(),
        Pat::Type(pat) => vec![&pat.pat],
        Pat::Paren(pat) => vec![&pat.pat],
        Pat::Reference(pat) => vec![&pat.pat],
        Pat::Guard(pat) => vec![&pat.pat],
        Pat::Tuple(pat) => pat.elems.iter().collect(),
        Pat::TupleStruct(pat) => pat.elems.iter().collect(),
        Pat::Slice(pat) => pat.elems.iter().collect(),
        Pat::Struct(pat) => pat.fields.iter().map(|field| &*field.pat).collect(),
        Pat::Or(pat) => pat.cases.iter().collect(),
        _ => Vec::new(),
    }
}

/// The pattern without what does not matter to whether it matches: parentheses, a type, `&`.
pub(crate) fn bare(pat: &Pat) -> &Pat {
    match pat {
        Pat::Paren(pat) => bare(&pat.pat),
        Pat::Type(pat) => bare(&pat.pat),
        Pat::Reference(pat) => bare(&pat.pat),
        pat => pat,
    }
}

/// The names in a pattern, of variables or of constants.
pub(crate) fn names(pat: &Pat) -> Vec<&Ident> {
    let own = match pat {
        Pat::Ident(pat) => Some(&pat.ident),
        _ => None,
    };
    let inner = parts(pat).into_iter().flat_map(names);
    own.into_iter().chain(inner).collect()
}
