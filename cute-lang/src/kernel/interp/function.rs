//! Calls of functions and closures, which are always inlined.
//!
//! Functions are interpreted in their own module: names in the body of an imported function are resolved in the module of the function,
//! and names in a closure where the closure is written. Errors in an imported function point to the call in the expanded module.

use super::Scope;
use super::generics::{Parameters, is_function_parameter};
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::source::{HERE, ModuleId};
use crate::kernel::syntax::text;
use crate::kernel::value::{Closure, Value};
use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use std::rc::Rc;
use syn::{Error, Expr, FnArg, ItemFn, Pat, Result, ReturnType, Stmt, Type};

/// The deepest nesting of calls. A recursive function exceeds it.
const MAX_CALLS: usize = 32;

/// A call of a function of a module.
pub(super) struct Invocation<'f> {
    /// The module that declares the function.
    pub(super) module: ModuleId,
    pub(super) function: &'f ItemFn,
    /// The names that the `impl` of the function defines: `Self` and generic parameters.
    pub(super) scope: Scope,
    /// Where the call stands.
    pub(super) span: Span,
    /// The arguments between `::<` and `>`.
    pub(super) types: Vec<Argument>,
    /// The receiver, if there is one, and the arguments between parentheses.
    pub(super) args: Vec<Argument>,
}

impl Interpreter<'_> {
    pub(super) fn invoke(&mut self, call: Invocation<'_>) -> Result<Value> {
        let Invocation {
            module,
            function,
            mut scope,
            span,
            types,
            args,
        } = call;
        let name = function.sig.ident.to_string();
        check_count(&name, function.sig.inputs.len(), args.len(), span)?;
        let inputs = function.sig.inputs.iter().zip(&args);
        let inputs = inputs.filter_map(|(input, argument)| match input {
            FnArg::Typed(input) => Some((&*input.ty, &argument.value)),
            FnArg::Receiver(_) => None,
        });
        let inputs: Vec<_> = inputs.collect();
        // `F: Fn(…)` stands for the function passed.
        for (ty, value) in &inputs {
            if let (Type::Path(ty), Value::Callable(_)) = (ty, value)
                && let Some(name) = ty.path.get_ident()
                && is_function_parameter(name, &function.sig.generics)
            {
                scope.insert(name.to_string(), Some(Value::clone(value)));
            }
        }
        let parameters = Parameters::of(&function.sig.generics);
        let inputs = inputs.into_iter();
        let bound = self.bind_generics(&name, &parameters, span, types, inputs)?;
        scope.extend(bound.into_iter().map(|(name, value)| (name, Some(value))));
        let called = (&name[..], &function.sig.output, span);
        self.within(called, module, scope, |this| {
            for (input, argument) in function.sig.inputs.iter().zip(args) {
                match input {
                    FnArg::Typed(input) => this.parameter(&input.pat, Some(&input.ty), argument)?,
                    FnArg::Receiver(_) => this.define("self", argument.value),
                }
            }
            let value = this.body(&function.block.stmts)?;
            match &function.sig.output {
                ReturnType::Type(..) => Ok(value),
                ReturnType::Default if this.dead || matches!(value, Value::Unit) => Ok(value),
                ReturnType::Default => Err(Error::new(
                    function.sig.ident.span(),
                    format!(
                        "`{name}` gives {}, but declares no type of its value",
                        value.kind()
                    ),
                )),
            }
        })
    }

    pub(super) fn call_closure(
        &mut self,
        closure: &Rc<Closure>,
        span: Span,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let syntax = &closure.syntax;
        check_count("the closure", syntax.inputs.len(), args.len(), span)?;
        let scope = closure.scope.clone();
        let called = ("closure", &syntax.output, span);
        self.within(called, closure.module, scope, |this| {
            for (input, argument) in syntax.inputs.iter().zip(args) {
                match input {
                    Pat::Type(input) => this.parameter(&input.pat, Some(&input.ty), argument)?,
                    pat => this.parameter(pat, None, argument)?,
                }
            }
            match &*syntax.body {
                Expr::Block(body) if body.label.is_none() => this.body(&body.block.stmts),
                body => {
                    let value = this.eval(body)?;
                    this.result(value, Some(body))
                }
            }
        })
    }

    /// Runs the body of a function with the names of `scope` and the items of its module.
    fn within(
        &mut self,
        (name, output, span): (&str, &ReturnType, Span),
        module: ModuleId,
        scope: Scope,
        body: impl FnOnce(&mut Self) -> Result<Value>,
    ) -> Result<Value> {
        if self.calls == MAX_CALLS {
            let message = format!(
                "calls nest more than {MAX_CALLS} deep: functions are inlined, so `{name}` cannot recurse: write a loop"
            );
            return Err(self.end(span, message));
        }
        let mut exit = self.target(&format!("{name}_end"));
        if let ReturnType::Type(_, ty) = output {
            exit.ty = Some((**ty).clone());
        }
        // Errors in an imported module are reported at the call in the expanded module.
        let entry = match module {
            HERE => None,
            _ => self.entry.or(Some(span)),
        };
        let crosses = entry.is_some() != self.entry.is_some();
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let loops = std::mem::take(&mut self.loops);
        let exit = std::mem::replace(&mut self.exit, exit);
        let module = std::mem::replace(&mut self.module, module);
        let entry = std::mem::replace(&mut self.entry, entry);
        let import = self
            .entry
            .map(|entry| (entry, self.source.module(self.module).ident.to_string()));
        let import = std::mem::replace(&mut self.b.sites.import, import);
        self.calls += 1;
        let errors = self.errors.len();
        let mut value = self.lifetime(body);
        if crosses && let Err(error) = value {
            self.record(error);
            value = Err(self.follow(span));
        }
        self.calls -= 1;
        self.scopes = scopes;
        self.loops = loops;
        self.exit = exit;
        self.module = module;
        self.entry = entry;
        self.b.sites.import = import;
        if self.errors.len() > errors {
            // The value of a function with errors may be wrong.
            return Err(self.follow(span));
        }
        value
    }

    fn parameter(&mut self, pat: &Pat, ty: Option<&Type>, mut argument: Argument) -> Result<()> {
        // A parameter names the registers of the argument.
        let value = &mut argument.value;
        value.for_each_fragment_mut(&mut |fragment| fragment.is_variable = false);
        let value = match ty {
            // The error is reported at the argument, not at the declaration.
            Some(ty) => self
                .ascribe(argument.value, ty)
                .map_err(|error| Error::new(argument.span, error))?,
            None => argument.value,
        };
        let start = self.length()?;
        self.bind(pat, value, start)
    }

    /// The value of the statements of a function.
    fn body(&mut self, stmts: &[Stmt]) -> Result<Value> {
        let (last, before) = match stmts.split_last() {
            // `return x;` as the last statement gives the value.
            Some((Stmt::Expr(Expr::Return(last), _), before)) if last.expr.is_some() => {
                (last.expr.as_deref(), before)
            }
            _ => (None, stmts),
        };
        let mut value = self.statements(before)?;
        if let Some(last) = last
            && !self.dead
        {
            value = self.eval(last)?;
        }
        self.result(value, stmts.last())
    }

    /// The value of a function. `return` jumps to its end. `gives` is the code of the value at the end.
    fn result(&mut self, value: Value, gives: Option<&impl ToTokens>) -> Result<Value> {
        let mut value = self.keep(value);
        let exit = std::mem::take(&mut self.exit);
        if let Some(ty) = exit.ty.as_ref().filter(|_| !self.dead) {
            let end = gives.and_then(|it| it.to_token_stream().into_iter().last());
            let semicolon =
                end.filter(|end| matches!(end, TokenTree::Punct(sign) if sign.as_char() == ';'));
            if let (Value::Unit, Some(semicolon)) = (&value, semicolon)
                && !is_unit(ty)
            {
                let ty = text::shorten(ty.to_token_stream());
                let message = format!(
                    "this function gives `{ty}`, which its last expression does without the `;`"
                );
                return Err(Error::new(semicolon.span(), message));
            }
            value = self.ascribe(value, ty)?;
        }
        let span = gives
            .filter(|_| exit.used)
            .and_then(|it| it.to_token_stream().into_iter().next())
            .map(|token| token.span());
        let give = "the ways to the end of this function give";
        self.land(exit, value, give, span)
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(ty) if ty.elems.is_empty())
}

pub(super) fn check_count(name: &str, wanted: usize, given: usize, span: Span) -> Result<()> {
    if wanted == given {
        return Ok(());
    }
    let s = if wanted == 1 { "" } else { "s" };
    let quoted = match name.contains(' ') {
        true => name.to_owned(),
        false => format!("`{name}`"),
    };
    let message = format!("{quoted} takes {wanted} argument{s}, not {given}");
    Err(Error::new(span, message))
}
