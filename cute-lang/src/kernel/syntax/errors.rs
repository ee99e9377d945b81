//! Several errors, reported together.

use syn::{Error, Result};

/// Independent errors, reported together, each once.
#[derive(Default)]
pub struct Errors {
    combined: Option<Error>,
    seen: Vec<String>,
}

impl Errors {
    /// Adds one, or several that were combined.
    pub fn push(&mut self, error: Error) {
        for error in error {
            // Spans can be compared by what they print.
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

    /// The value, or nothing and one more error.
    pub fn record<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The value if there was no error.
    pub fn finish<T>(self, value: T) -> Result<T> {
        match self.combined {
            Some(errors) => Err(errors),
            None => Ok(value),
        }
    }
}
