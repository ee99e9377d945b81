//! Interprets a kernel, once for each instance.
//!
//! Computes all values known at expansion, and emits the rest through the [`Builder`]. Control flow on run-time values becomes branches.
//! Unreachable code is not emitted. The files call one another, since statements contain expressions and expressions contain statements.

mod advice;
mod alias;
mod assign;
mod branch;
mod call;
mod chosen;
mod closure;
pub(super) mod elsewhere;
mod enumeration;
mod exhaustive;
mod expr;
mod form;
mod function;
pub mod generics;
mod iterator;
mod join;
mod jump;
mod layout;
mod left_out;
mod library;
mod loops;
mod macros;
mod map;
mod matching;
mod message;
mod name;
mod names;
mod near;
pub(crate) mod operator;
mod path;
mod pattern;
mod ptx;
pub mod resolve;
mod select;
mod statement;
mod steps;
mod structure;
mod suffix;
mod types;
mod unroll;
mod variable;
mod word;

use crate::kernel::emit::builder::Builder;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::source::{HERE, ModuleId, Source};
use crate::kernel::value::Value;
use enumeration::Discriminants;
use jump::{JumpTarget, Loop};
use proc_macro2::Span;
use std::collections::HashMap;
use syn::{Error, Expr, Result};

/// The most steps for one instance. A step is the evaluation of an expression. This many steps take about a second at the optimisation
/// level that cargo gives macros, and the kernels of `cute-kernels` take a tenth of them.
const MAX_STEPS: u64 = 50_000;

/// The number of steps of one operation of the algebra.
const OPERATION_STEPS: usize = 25;

/// The number of values copied in one step.
const VALUES_A_STEP: usize = 16;

/// The most errors reported for a kernel.
const MAX_ERRORS: usize = 8;

/// The names of a block. A name whose definition has an error has no value.
type Scope = HashMap<String, Option<Value>>;

/// Interprets one instance.
pub struct Interpreter<'s> {
    source: &'s Source,
    /// The kernel that is emitted.
    pub b: Builder,
    /// The module with the items in scope.
    module: ModuleId,
    /// The call that entered a library, while one of its functions is interpreted.
    entry: Option<Span>,
    /// Names in scope by block, the innermost last.
    scopes: Vec<Scope>,
    /// Whether there is a closure: then a call may change variables that it does not name.
    has_closures: bool,
    loops: Vec<Loop>,
    /// The discriminants of the enums used so far, by module and name.
    discriminants: HashMap<(ModuleId, String), Discriminants>,
    /// Where `return` goes.
    exit: JumpTarget,
    /// Whether no thread reaches this point.
    dead: bool,
    depth: usize,
    calls: usize,
    steps: u64,
    errors: Errors,
    /// Whether the returned error follows from a recorded one.
    follows: bool,
    /// Whether the returned error must end the interpretation.
    hopeless: bool,
}

impl<'s> Interpreter<'s> {
    /// An interpreter that has emitted nothing yet.
    pub fn new(source: &'s Source, b: Builder) -> Self {
        let exit = JumpTarget::to("$exit".into());
        let scopes = vec![HashMap::new()];
        Self {
            source,
            b,
            module: HERE,
            entry: None,
            scopes,
            has_closures: false,
            loops: Vec::new(),
            discriminants: HashMap::new(),
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

    /// Whether there are more steps or lines than the limits.
    fn is_beyond_limit(&self) -> bool {
        self.steps > MAX_STEPS || self.b.check_length().is_err()
    }

    /// The number of lines so far. Too many lines end the interpretation.
    fn length(&mut self) -> Result<usize> {
        let length = self.b.check_length();
        self.hopeless |= length.is_err();
        length
    }

    /// The value of an expression outside of a kernel's body, or all errors in it.
    pub fn value_of(&mut self, expr: &Expr) -> Result<Value> {
        let value = match self.eval(expr) {
            Ok(value) => value,
            Err(error) => {
                self.record(error);
                Value::Unit
            }
        };
        std::mem::take(&mut self.errors).finish(value)
    }

    // ---- errors

    /// Records an error, unless it follows from a recorded one.
    fn record(&mut self, error: Error) {
        if !std::mem::take(&mut self.follows) && self.errors.len() < MAX_ERRORS {
            self.errors.push(self.at_entry(error));
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
