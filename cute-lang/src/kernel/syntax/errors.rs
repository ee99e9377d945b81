//! Several errors reported together.

use syn::{Error, Result};

/// A list of errors. An error at the same place with the same text is kept once.
#[derive(Default)]
pub struct Errors {
    combined: Option<Error>,
    seen: Vec<String>,
}

impl Errors {
    /// Adds an error, or each of several combined errors.
    pub fn push(&mut self, error: Error) {
        for error in error {
            // Spans have no equality, but their text can be compared.
            let key = format!("{:?} {error}", error.span());
            if self.seen.contains(&key) {
                continue;
            }
            self.seen.push(key);
            match &mut self.combined {
                Some(errors) => errors.combine(error),
                None => self.combined = Some(error),
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The value, or `None` for an error, which is added.
    pub fn record<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The value, or all errors if there are some.
    pub fn finish<T>(self, value: T) -> Result<T> {
        match self.combined {
            Some(errors) => Err(errors),
            None => Ok(value),
        }
    }
}
