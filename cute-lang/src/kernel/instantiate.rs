//! Instances made while a program runs, from the text that the expansion of their module keeps.

use crate::kernel::lower::{Lowered, Numbered, lower_instance};
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::instance::{Instance, is_open};
use crate::kernel::syntax::library::Passed;
use crate::kernel::syntax::location::Location;
use crate::kernel::syntax::source::{HERE, Source};
use proc_macro2::{LexError, Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Result, bracketed};

/// A module of kernels with all of its imports, as text.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The tokens.
    pub text: &'static str,
    /// Lines of the text, each with its file and its line there. Other lines continue the file of the line before.
    pub places: &'static [(u32, &'static str, u32)],
}

/// Why there is no instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The place of the mistake, unless it is in the given values.
    pub place: Option<Location>,
    /// The message.
    pub message: String,
}

/// Lowers an instance of a kernel. Its values with `_` are given as expressions of the kernel language.
///
/// Earlier spans of the thread are not affected. The spans made here stay in the memory of the thread.
///
/// # Errors
/// All mistakes.
pub fn instantiate(
    module: Text,
    name: &str,
    values: &[(&'static str, String)],
) -> std::result::Result<Lowered, Vec<Mistake>> {
    let text = format!("{}\n{}", request(name, values), module.text);
    let lowered = match text.parse() {
        Ok(tokens) => lowered(module, tokens),
        Err(error) => Err(unreadable(&error)),
    };
    lowered.map_err(|errors| {
        let mistakes = errors.into_iter().map(|error| Mistake {
            place: location(module, error.span()),
            message: error.to_string(),
        });
        mistakes.collect()
    })
}

/// The first line: `[name: Parameter = value, …]`.
fn request(name: &str, values: &[(&'static str, String)]) -> String {
    let values = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let values: Vec<String> = values.collect();
    format!("[{name}: {}]", values.join(", "))
}

fn unreadable(error: &LexError) -> Error {
    let message = format!("the text of the kernel cannot be read: {error}");
    Error::new(error.span(), message)
}

/// The requested instance and its module.
struct Request {
    instance: Instance,
    passed: Passed,
}

impl Parse for Request {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let content;
        bracketed!(content in input);
        Ok(Self {
            instance: content.parse()?,
            passed: input.parse()?,
        })
    }
}

fn lowered(module: Text, tokens: TokenStream) -> Result<Lowered> {
    let Request { instance, passed } = syn::parse2(tokens)?;
    let locate = move |span| location(module, span);
    let source = Source::from_passed(passed, Box::new(locate))?;
    let kernels = &source.module(HERE).kernels;
    let mut all = kernels
        .iter()
        .flat_map(|kernel| kernel.open.iter().map(move |open| (kernel, open)));
    let Some((kernel, open)) = all.find(|(_, open)| open.name == instance.name) else {
        let name = &instance.name;
        let message =
            format!("there is no instance `{name}` with values that are given at run time");
        return Err(Error::new(name.span(), message));
    };
    let instance = complete(open, instance)?;
    lower_instance(&source, kernel, &instance, &Numbered::default())
}

/// The instance with the values that are given.
fn complete(open: &Instance, given: Instance) -> Result<Instance> {
    let mut errors = Errors::default();
    let mut values = open.values.clone();
    for (name, value) in given.values {
        let mut slots = values.iter_mut();
        match slots.find(|(known, slot)| *known == name && is_open(slot)) {
            Some((_, slot)) => *slot = value,
            None => {
                let open = &open.name;
                let message = format!("`{open}` takes no value for `{name}`");
                errors.push(Error::new(name.span(), message));
            }
        }
    }
    for (name, value) in &values {
        if is_open(value) {
            let message = format!("no value is given for `{name}`");
            errors.push(Error::new(name.span(), message));
        }
    }
    errors.finish(Instance {
        values,
        ..open.clone()
    })
}

/// Where a span of the text stands in the source.
fn location(module: Text, span: Span) -> Option<Location> {
    let start = span.start();
    // The first line is the line of the request.
    let line = u32::try_from(start.line).ok()?.checked_sub(1)?;
    let places = module.places.iter();
    let &(first, file, line_of_file) = places.rev().find(|(first, ..)| *first <= line)?;
    Some(Location {
        file: file.to_owned(),
        line: line_of_file + (line - first),
        column: u32::try_from(start.column + 1).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\"m\" \"m\" [] { mod m {
        #[kernel(threads = BLOCK)]
        #[instance(given: T = f32, BLOCK = _)] #[instances(T in [f32], BLOCK in SIZES)]
        fn k<T, const BLOCK: u32>(x: Global<T, 1>) {
            assert!(BLOCK % 32 == 0, \"not of whole warps\");
        }
        const SIZES: [u32; 2] = [32, 64];
    } }";

    const PLACES: &[(u32, &str, u32)] = &[(1, "src/m.rs", 10), (4, "src/n.rs", 70)];

    /// Checks the place and the message of a mistake in the values.
    #[track_caller]
    fn check(text: &'static str, name: &str, values: &[(&'static str, &str)], expected: &[&str]) {
        let module = Text {
            text,
            places: PLACES,
        };
        let values = values
            .iter()
            .map(|(name, value)| (*name, value.to_string()));
        let values: Vec<_> = values.collect();
        let mistakes = instantiate(module, name, &values).err().unwrap_or_default();
        let mistakes = mistakes.iter().map(|mistake| match &mistake.place {
            Some(place) => format!("{}:{}: {}", place.file, place.line, mistake.message),
            None => mistake.message.clone(),
        });
        assert_eq!(mistakes.collect::<Vec<String>>(), expected);
    }

    #[test]
    fn values_are_checked() {
        let given = |values: &[(&'static str, &str)], expected| {
            check(MODULE, "given", values, expected);
        };
        given(&[("BLOCK", "64")], &[]);
        given(
            &[("BLOCK", "40")],
            &["src/n.rs:71: assertion failed: not of whole warps"],
        );
        given(
            &[("BLOCK", "0")],
            &["src/m.rs:11: `threads` is 0; it can be 1 to 1024"],
        );
        given(&[], &["src/m.rs:12: no value is given for `BLOCK`"]);
        given(
            &[("BLOCK", "64"), ("SIZE", "1"), ("T", "f64")],
            &[
                "`given` takes no value for `SIZE`",
                "`given` takes no value for `T`",
            ],
        );
        given(
            &[("BLOCK", "f32")],
            &["`BLOCK` is a value known at expansion, not the type `f32`"],
        );
        given(&[("BLOCK", "NaN")], &["cannot find `NaN` in this scope"]);
    }

    #[test]
    fn text_that_is_no_module_is_an_error() {
        check(
            MODULE,
            "other",
            &[],
            &["there is no instance `other` with values that are given at run time"],
        );
        for (text, expected) in [
            (
                "(",
                "src/m.rs:10: the text of the kernel cannot be read: cannot parse string into token stream",
            ),
            ("\"m\"", "there is no module of kernels"),
            (
                "\"m\" \"m\" [] { fn f() {} }",
                "src/m.rs:10: expected `mod`",
            ),
        ] {
            check(text, "given", &[], &[expected]);
        }
    }
}
