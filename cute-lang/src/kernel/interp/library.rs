//! Errors inside of functions of other modules.

use super::Interpreter;
use crate::kernel::syntax::errors::Errors;
use syn::Error;

impl Interpreter<'_> {
    /// The error at the call that entered the library, with the place in the library as text.
    pub(super) fn at_entry(&self, error: Error) -> Error {
        let Some(entry) = self.entry else {
            return error;
        };
        let module = &self.source.module(self.module).ident;
        let mut errors = Errors::default();
        for error in error {
            let place = match self.source.location(error.span()) {
                Some(place) => format!(
                    "{}:{}, in the module `{module}`",
                    place.file_name(),
                    place.line
                ),
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
