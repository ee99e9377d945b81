//! Interprets a kernel, once for each instance.
//!
//! What is known at expansion is computed; the rest is emitted through the [`Builder`]. Control flow that depends on
//! run-time values becomes branches, and code that no thread reaches is not emitted (`dead`).

mod control;
mod expr;
pub mod function;
mod place;
mod ptx;

use super::builder::Builder;
use super::parse::{Errors, Source};
use super::value::{Num, Scalar, Value, element_type};
use super::{builtins, near, text};
use cute_ptx::ast::{Line, Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use proc_macro2::{Ident, Span};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, Local, Pat, Result, Stmt};

/// Most steps for one instance: evaluations of an expression, and what takes as long as some of them. They take about a second
/// where cargo does not optimise macros, and the kernels of `cute-kernels` are at a tenth of them.
const MAX_STEPS: u64 = 50_000;

/// Steps that an operation of the algebra counts for.
const OPERATION_STEPS: usize = 25;

/// Values of which copying counts as a step.
const VALUES_A_STEP: usize = 16;

/// Most values in a tuple, with those in the tuples in it.
const MAX_TUPLE: usize = 4096;

/// Deepest nesting of tuples.
const MAX_TUPLE_DEPTH: usize = 64;

/// Most errors that are shown of a kernel.
const MAX_ERRORS: usize = 8;

/// Deepest nesting of expressions, through the functions they call. The interpreter recurses.
const MAX_DEPTH: usize = 256;

/// Interprets one instance.
pub struct Interpreter<'s> {
    source: &'s Source,
    /// What has been emitted.
    pub b: Builder,
    /// Names in scope, the innermost block last. A name whose definition has an error has no value.
    scopes: Vec<HashMap<String, Option<Value>>>,
    loops: Vec<Loop>,
    /// Where `return` goes.
    exit: Target,
    /// Whether no thread reaches this point.
    dead: bool,
    depth: usize,
    calls: usize,
    steps: u64,
    errors: Errors,
    /// Whether the error under way follows from one that has been recorded.
    follows: bool,
    /// Whether there is no use in going on after the error under way.
    hopeless: bool,
}

/// A loop under way.
struct Loop {
    name: Option<String>,
    on_break: Target,
    on_continue: Target,
}

/// A label that is placed only if something jumps to it.
struct Target {
    label: String,
    used: bool,
}

impl<'s> Interpreter<'s> {
    /// An interpreter that has emitted nothing yet.
    pub fn new(source: &'s Source, b: Builder) -> Self {
        let exit = Target {
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

    /// Counts work, and ends it where there is too much.
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

    /// Runs the body of a kernel.
    pub fn kernel(&mut self, name: &Ident, body: &Block) -> Result<()> {
        match self.block(body) {
            Err(error) => self.record(error),
            Ok(value) if !matches!(value, Value::Unit) && !self.dead => {
                let kind = value.kind();
                let message = format!("a kernel returns nothing; this body gives {kind}");
                self.errors.push(Error::new(name.span(), message));
            }
            Ok(_) => {}
        }
        std::mem::take(&mut self.errors).finish(())?;
        if self.exit.used {
            self.b.place_label(&self.exit.label.clone());
        }
        Ok(())
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
            // A constant sees constants only.
            let scopes = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
            let value = self.eval(&item.expr);
            self.scopes = scopes;
            return value;
        }
        if let Some(element) = element_type(&text) {
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

    // ---- blocks and statements

    /// A block in a scope of its own.
    fn block(&mut self, block: &Block) -> Result<Value> {
        self.scopes.push(HashMap::new());
        let value = self.statements(&block.stmts);
        self.scopes.pop();
        value
    }

    /// Statements and the value of the last. After an error in one of them, the others are looked at all the same.
    fn statements(&mut self, stmts: &[Stmt]) -> Result<Value> {
        let mut last = Value::Unit;
        let loops = self.loops.len();
        for (i, stmt) in stmts.iter().enumerate() {
            if self.dead {
                break;
            }
            match self.commented(stmt) {
                Ok(value) => last = value,
                // What the block gives is missing: an error for those around it.
                Err(error) if self.hopeless || (i + 1 == stmts.len() && gives_value(stmt)) => {
                    return Err(error);
                }
                Err(error) => {
                    self.record(error);
                    self.dead = false;
                    self.loops.truncate(loops);
                    if let Stmt::Local(local) = stmt {
                        self.define_as_wrong(&local.pat);
                    }
                }
            }
        }
        Ok(last)
    }

    /// A statement, below a comment if it emits something.
    fn commented(&mut self, stmt: &Stmt) -> Result<Value> {
        let start = self.length()?;
        let comment = text::statement(stmt);
        if !comment.is_empty() {
            self.b.comment(comment);
        }
        let first = self.length()?;
        let value = self.statement(stmt)?;
        if self.length()? == first {
            self.b.split_off(start);
        }
        Ok(value)
    }

    /// Number of lines so far. Too many are the end.
    fn length(&mut self) -> Result<usize> {
        let length = self.b.check_length();
        self.hopeless |= length.is_err();
        length
    }

    // ---- errors

    /// Keeps an error, unless it follows from one that was kept.
    fn record(&mut self, error: Error) {
        if !std::mem::take(&mut self.follows) && self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
            self.hopeless |= self.errors.len() == MAX_ERRORS;
        }
    }

    /// An error that follows from one that was kept, and is not shown.
    fn follow(&mut self, span: Span) -> Error {
        self.follows = true;
        Error::new(span, "follows from another error")
    }

    /// An error after which there is no use in going on.
    fn end(&mut self, span: Span, message: String) -> Error {
        self.hopeless = true;
        Error::new(span, message)
    }

    /// Defines the names of a pattern whose value has an error.
    fn define_as_wrong(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(pat) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(pat.ident.to_string(), None);
                }
            }
            Pat::Type(pat) => self.define_as_wrong(&pat.pat),
            Pat::Paren(pat) => self.define_as_wrong(&pat.pat),
            Pat::Tuple(pat) => pat.elems.iter().for_each(|pat| self.define_as_wrong(pat)),
            _ => {}
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<Value> {
        match stmt {
            Stmt::Local(local) => self.local(local)?,
            Stmt::Expr(expr, semi) => {
                let value = self.eval(expr)?;
                if semi.is_none() {
                    return Ok(value);
                }
            }
            Stmt::Macro(stmt) => {
                let value = self.macro_call(&stmt.mac)?;
                if stmt.semi_token.is_none() {
                    return Ok(value);
                }
            }
            Stmt::Item(item) => {
                return Err(Error::new_spanned(
                    item,
                    "items stand in the kernel module, not in a function",
                ));
            }
        }
        Ok(Value::Unit)
    }

    fn local(&mut self, local: &Local) -> Result<()> {
        let Some(init) = &local.init else {
            return Err(Error::new_spanned(
                local,
                "a variable needs its first value here: `let x = …;`",
            ));
        };
        if let Some((token, _)) = &init.diverge {
            return Err(Error::new(
                token.span,
                "the kernel language has no `let … else`",
            ));
        }
        let hint = self.type_hint(&init.expr);
        let start = self.length()?;
        let value = self.eval(&init.expr)?;
        if self.dead {
            return Ok(());
        }
        self.bind(&local.pat, value, hint, start)
    }

    /// Binds a pattern. `hint` is the type that the initialiser names; what it emitted starts at line `start`.
    fn bind(&mut self, pat: &Pat, value: Value, hint: Option<Type>, start: usize) -> Result<()> {
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Paren(pat) => self.bind(&pat.pat, value, hint, start),
            Pat::Type(pat) => {
                let value = self.ascribe(value, &pat.ty)?;
                let hint = self.scalar_type(&pat.ty).or(hint);
                self.bind(&pat.pat, value, hint, start)
            }
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                let name = pat.ident.to_string();
                self.b.set_place(pat.ident.span());
                let value = match pat.mutability {
                    Some(_) => self.variable(&name, value, hint, start)?,
                    None => self.keep(value),
                };
                self.define(&name, value);
                Ok(())
            }
            Pat::Tuple(pat) => match value {
                Value::Tuple(values) if values.len() == pat.elems.len() => {
                    // Several results: none of them can be renamed in place.
                    let start = self.length()?;
                    pat.elems
                        .iter()
                        .zip(values)
                        .try_for_each(|(pat, value)| self.bind(pat, value, None, start))
                }
                value => Err(Error::new_spanned(
                    pat,
                    format!("a pattern of {} for {}", pat.elems.len(), value.kind()),
                )),
            },
            pat => Err(Error::new_spanned(
                pat,
                "expected a name, `_` or a tuple of them",
            )),
        }
    }

    /// A `let mut` variable: registers of its own.
    fn variable(
        &mut self,
        name: &str,
        value: Value,
        hint: Option<Type>,
        start: usize,
    ) -> Result<Value> {
        if let Value::Tuple(values) = value {
            let start = self.length()?;
            let variables = values
                .into_iter()
                .enumerate()
                .map(|(i, value)| self.variable(&format!("{name}_{i}"), value, None, start));
            return Ok(Value::Tuple(variables.collect::<Result<_>>()?));
        }
        let ty = match &value {
            Value::Int(_, ty) => ty.or(hint).unwrap_or(Type::U32),
            Value::Float(_) => hint.unwrap_or(Type::F32),
            Value::Bool(_) => Type::Pred,
            Value::Scalar(scalar) => scalar.ty,
            // Registers already, or an alias on purpose.
            Value::Fragment(_) | Value::Reference(_) => return Ok(value),
            other => {
                return Err(self.b.error(format!(
                    "`{name}` is {}, which cannot change at run time: write `let`, not `let mut`",
                    other.kind()
                )));
            }
        };
        let mut variable = self.b.named_register(ty, name);
        self.store(&variable, &value, start)?;
        variable.variable = true;
        Ok(Value::Scalar(variable))
    }

    /// The value with a copy of every variable in it, so that later assignments do not change it.
    fn keep(&mut self, mut value: Value) -> Value {
        let b = &mut self.b;
        value.for_each_scalar_mut(&mut |scalar| *scalar = b.snapshot(scalar));
        value
    }

    /// Writes a value into a register of its type. If the value was computed by the last line, and that stands at
    /// `start` or later, the line itself is made to write the register.
    fn store(&mut self, to: &Scalar, value: &Value, start: usize) -> Result<()> {
        match value {
            Value::Scalar(from) if from.ty == to.ty => {
                if !self.b.retarget(from, to, start) {
                    self.b.assign(to, from.operand());
                }
                Ok(())
            }
            Value::Int(value, ty)
                if super::value::is_integer(to.ty) && ty.is_none_or(|ty| ty == to.ty) =>
            {
                self.b.check_fits(*value, to.ty)?;
                self.b.assign(to, Operand::Int(*value));
                Ok(())
            }
            Value::Bool(value) => {
                // No instruction moves an immediate into a predicate.
                let cmp = if *value { Modifier::Eq } else { Modifier::Ne };
                let modifiers = (cmp, Type::U32);
                self.b.emit(
                    Opcode::Setp,
                    modifiers,
                    [to.operand(), Operand::Int(0), Operand::Int(0)],
                );
                Ok(())
            }
            Value::Float(value) => {
                let constant = self.float_operand(*value, to.ty)?;
                self.b.assign(to, constant);
                Ok(())
            }
            value => {
                let ty = super::value::rust_name(to.ty);
                Err(self
                    .b
                    .error(format!("expected a `{ty}`, found {}", value.kind())))
            }
        }
    }

    /// A floating-point constant of that type.
    fn float_operand(&self, value: f64, ty: Type) -> Result<Operand> {
        match ty {
            // The type of the literal is the type of the register.
            Type::F32 => Ok(Operand::F32((value as f32).to_bits())),
            Type::F64 => Ok(Operand::F64(value.to_bits())),
            ty => Err(self.b.error(format!(
                "expected a `{}`, found the number {value}",
                super::value::rust_name(ty)
            ))),
        }
    }
}

/// The number an expression of a variable starts with has a type if it is written: `0u64`, `0 as u64`.
impl Interpreter<'_> {
    fn type_hint(&mut self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Float(lit) => super::value::register_type(lit.suffix()),
                _ => None,
            },
            Expr::Cast(cast) => self.scalar_type(&cast.ty),
            Expr::Paren(expr) => self.type_hint(&expr.expr),
            Expr::Unary(expr) => self.type_hint(&expr.expr),
            _ => None,
        }
    }

    /// The register type that a Rust type names.
    fn scalar_type(&mut self, ty: &syn::Type) -> Option<Type> {
        let syn::Type::Path(path) = ty else {
            return None;
        };
        let ident = path.path.get_ident()?;
        match self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(&ident.to_string()))
        {
            Some(Some(Value::Element(element))) => Some(Type::of(*element)),
            Some(_) => None,
            None => super::value::register_type(&ident.to_string()),
        }
    }

    /// Checks a value against a declared type.
    fn ascribe(&mut self, value: Value, ty: &syn::Type) -> Result<Value> {
        let mismatch = |value: &Value| {
            let declared = text::shorten(quote::ToTokens::to_token_stream(ty));
            Error::new(
                ty.span(),
                format!("expected `{declared}`, found {}", value.kind()),
            )
        };
        if let Some(wanted) = self.scalar_type(ty) {
            self.b.set_place(ty.span());
            return match &value {
                Value::Int(int, ty)
                    if super::value::is_integer(wanted) && ty.is_none_or(|ty| ty == wanted) =>
                {
                    self.b.check_fits(*int, wanted)?;
                    Ok(Value::Int(*int, Some(wanted)))
                }
                Value::Float(_) if super::value::is_float(wanted) => Ok(value),
                Value::Bool(_) if wanted == Type::Pred => Ok(value),
                Value::Scalar(scalar) if scalar.ty == wanted => Ok(value),
                value => Err(mismatch(value)),
            };
        }
        match (ty, value) {
            (syn::Type::Tuple(ty), Value::Tuple(values)) if ty.elems.len() == values.len() => {
                let pairs = ty.elems.iter().zip(values);
                Ok(Value::Tuple(
                    pairs
                        .map(|(ty, value)| self.ascribe(value, ty))
                        .collect::<Result<_>>()?,
                ))
            }
            (syn::Type::Tuple(ty), Value::Unit) if ty.elems.is_empty() => Ok(Value::Unit),
            (syn::Type::Reference(ty), Value::Reference(value)) if ty.mutability.is_some() => {
                Ok(Value::Reference(Box::new(self.ascribe(*value, &ty.elem)?)))
            }
            (syn::Type::Reference(ty), value) if ty.mutability.is_none() => {
                self.ascribe(value, &ty.elem)
            }
            (syn::Type::Infer(_), value) => Ok(value),
            (syn::Type::Path(path), value) => {
                let name = path
                    .path
                    .segments
                    .last()
                    .map(|segment| segment.ident.to_string())
                    .unwrap_or_default();
                let kinds: &[&str] = match &value {
                    Value::Tensor(_) => &["Tensor"],
                    Value::Global(_) => &["Global"],
                    Value::Fragment(_) => &["Fragment"],
                    Value::Barriers(_) => &["Barriers"],
                    Value::Barrier(_) => &["Barrier"],
                    Value::TmaTensor(_) => &["TmaLoad", "TmaStore"],
                    Value::Algebra(_) => &["Layout", "ComposedLayout", "Swizzle", "Tiler"],
                    Value::Int(..) => &["usize", "Layout"],
                    Value::Tuple(_) => &["Shape", "Coord", "Tiler"],
                    _ => &[],
                };
                if kinds.contains(&name.as_str()) {
                    Ok(value)
                } else {
                    Err(mismatch(&value))
                }
            }
            (_, value) => Err(mismatch(&value)),
        }
    }

    /// `if` as a value, in the branch: the registers that the merged value has are written.
    fn store_all(&mut self, to: &Value, from: &Value) -> Result<()> {
        match (to, from) {
            (Value::Scalar(to), from) => self.store(to, from, usize::MAX),
            (Value::Tuple(to), Value::Tuple(from)) => to
                .iter()
                .zip(from)
                .try_for_each(|(to, from)| self.store_all(to, from)),
            // Known at expansion, and the same in both branches.
            _ => Ok(()),
        }
    }

    /// Lines emitted by `f`, taken out, and whether no thread reaches their end.
    fn capture<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Line>, bool)> {
        let start = self.length()?;
        let value = f(self)?;
        let lines = self.b.split_off(start);
        Ok((value, lines, std::mem::take(&mut self.dead)))
    }
}

/// The number as the builder takes it.
fn num(value: &Value) -> Option<Num> {
    value.as_num()
}

/// Whether a statement at the end of a block gives the block its value.
fn gives_value(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(_, semi) => semi.is_none(),
        Stmt::Macro(stmt) => stmt.semi_token.is_none(),
        _ => false,
    }
}
