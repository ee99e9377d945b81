//! Interprets a kernel, once for each instance.
//!
//! What is known at expansion is computed, and the rest is emitted through the [`Builder`]. Control flow that depends
//! on run-time values becomes branches. Code that no thread reaches is not emitted. The files call one another, since
//! statements hold expressions and expressions hold statements.

mod assign;
mod branch;
mod call;
mod expr;
pub mod function;
mod layout;
mod loops;
mod macros;
mod near;
mod operator;
mod ptx;
mod statement;
mod types;
mod variable;

use crate::kernel::builtins;
use crate::kernel::emit::builder::Builder;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::parse::Source;
use crate::kernel::value::{Element, Value};
use proc_macro2::{Ident, Span};
use std::collections::HashMap;
use syn::{Error, Result};

/// The most steps for one instance. A step is the evaluation of an expression. This many steps take about a second at
/// the optimisation level that cargo gives macros, and the kernels of `cute-kernels` take a tenth of them.
const MAX_STEPS: u64 = 50_000;

/// The number of steps that an operation of the algebra counts as.
const OPERATION_STEPS: usize = 25;

/// The number of values whose copy counts as a step.
const VALUES_A_STEP: usize = 16;

/// The most errors that are reported for a kernel.
const MAX_ERRORS: usize = 8;

/// Interprets one instance.
pub struct Interpreter<'s> {
    source: &'s Source,
    /// The kernel that is emitted.
    pub b: Builder,
    /// Names in scope by block, the innermost last. A name whose definition has an error has no value.
    scopes: Vec<HashMap<String, Option<Value>>>,
    loops: Vec<Loop>,
    /// Where `return` goes.
    exit: JumpTarget,
    /// Whether no thread reaches this point.
    dead: bool,
    depth: usize,
    calls: usize,
    steps: u64,
    errors: Errors,
    /// Whether the error that is being returned follows from a recorded one.
    follows: bool,
    /// Whether interpretation must end with the error that is being returned.
    hopeless: bool,
}

/// A loop around the current statement.
struct Loop {
    name: Option<String>,
    on_break: JumpTarget,
    on_continue: JumpTarget,
}

/// A label that is placed only if something jumps to it.
struct JumpTarget {
    label: String,
    used: bool,
}

impl<'s> Interpreter<'s> {
    /// An interpreter that has emitted nothing yet.
    pub fn new(source: &'s Source, b: Builder) -> Self {
        let exit = JumpTarget {
            label: "$exit".into(),
            used: false,
        };
        let scopes = vec![HashMap::new()];
        Self {
            source,
            b,
            scopes,
            loops: Vec::new(),
            exit,
            dead: false,
            depth: 0,
            calls: 0,
            steps: 0,
            errors: Errors::default(),
            follows: false,
            hopeless: false,
        }
    }

    /// Counts steps. More than [`MAX_STEPS`] are an error.
    fn work(&mut self, steps: usize, span: Span) -> Result<()> {
        self.steps += steps as u64;
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        let message = format!("the kernel takes more than {MAX_STEPS} steps to expand");
        Err(self.end(span, message))
    }

    /// Puts a name into the innermost scope.
    pub fn define(&mut self, name: &str, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), Some(value));
        }
    }

    /// The value of a name.
    fn lookup(&mut self, name: &Ident) -> Result<Value> {
        let text = name.to_string();
        if let Some(value) = self.scopes.iter().rev().find_map(|scope| scope.get(&text)) {
            let value = value.clone().ok_or_else(|| self.follow(name.span()))?;
            if let Value::Tuple(_) = &value {
                self.work(value.extent().0 / VALUES_A_STEP, name.span())?;
            }
            return Ok(value);
        }
        if let Some(item) = self.source.consts.iter().find(|item| item.ident == *name) {
            // The expression of a constant can name only constants.
            let scopes = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
            let value = self.eval(&item.expr);
            self.scopes = scopes;
            return value;
        }
        if let Some(element) = Element::from_name(&text) {
            return Ok(Value::Element(element));
        }
        if let Some(word) = builtins::WORDS.iter().find(|word| **word == text) {
            return Ok(Value::Word(word));
        }
        let names = self
            .scopes
            .iter()
            .flat_map(HashMap::keys)
            .map(String::as_str)
            .chain(builtins::WORDS.iter().copied());
        let hint = near::hint(&text, names);
        Err(Error::new(
            name.span(),
            format!("cannot find `{text}` in this scope{hint}"),
        ))
    }

    /// The number of lines so far. Too many lines end the interpretation.
    fn length(&mut self) -> Result<usize> {
        let length = self.b.check_length();
        self.hopeless |= length.is_err();
        length
    }

    // ---- errors

    /// Records an error, unless it follows from a recorded one.
    fn record(&mut self, error: Error) {
        if !std::mem::take(&mut self.follows) && self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
            self.hopeless |= self.errors.len() == MAX_ERRORS;
        }
    }

    /// An error that follows from a recorded one. It is not reported.
    fn follow(&mut self, span: Span) -> Error {
        self.follows = true;
        Error::new(span, "follows from another error")
    }

    /// An error that ends the interpretation.
    fn end(&mut self, span: Span, message: String) -> Error {
        self.hopeless = true;
        Error::new(span, message)
    }
}
