//! Errors inside of functions of other modules.

use super::Interpreter;
use crate::kernel::syntax::errors::Errors;
use proc_macro2::Span;
use std::path::Path;
use syn::Error;

extern crate proc_macro;

impl Interpreter<'_> {
    /// The error at the call by which the library was entered, with the place in the library as text.
    pub(super) fn at_entry(&self, error: Error) -> Error {
        let Some(entry) = self.entry else {
            return error;
        };
        let module = &self.source.module(self.module).ident;
        let mut errors = Errors::default();
        for error in error {
            let place = match line(error.span()) {
                Some(line) => format!("{line}, in the module `{module}`"),
                None => format!("in the module `{module}`"),
            };
            errors.push(Error::new(entry, format!("{error} ({place})")));
        }
        errors
            .finish(())
            .err()
            .unwrap_or_else(|| Error::new(entry, "an error in a library"))
    }
}

/// File and line of a place in the source, within the compiler.
fn line(span: Span) -> Option<String> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = span.unwrap();
    let file = span.file();
    let name = Path::new(&file).file_name()?.to_str()?;
    Some(format!("{name}:{}", span.line()))
}
