//! Calls of the functions of the module, which are always inlined.

use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::{Interpreter, JumpTarget};
use crate::kernel::syntax::parse::parameter_name;
use crate::kernel::value::Value;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Error, Expr, FnArg, GenericParam, ItemFn, Result, ReturnType, Stmt};

/// The deepest nesting of calls. A function that calls itself exceeds it.
const MAX_CALLS: usize = 32;

impl Interpreter<'_> {
    pub(super) fn call_function(
        &mut self,
        function: &ItemFn,
        span: Span,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let name = function.sig.ident.to_string();
        if self.calls == MAX_CALLS {
            let message = format!(
                "calls nest more than {MAX_CALLS} deep: functions are inlined, so `{name}` cannot recurse"
            );
            return Err(self.end(span, message));
        }
        let mut scope = HashMap::new();
        self.bind_generics(function, span, types, &mut scope)?;
        let exit = JumpTarget {
            label: self.b.label(&format!("{name}_end")),
            used: false,
        };
        // A function can name its own variables and the items of the module.
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let loops = std::mem::take(&mut self.loops);
        let exit = std::mem::replace(&mut self.exit, exit);
        self.calls += 1;
        let errors = self.errors.len();
        let value = self.inline(function, span, args);
        self.calls -= 1;
        self.scopes = scopes;
        self.loops = loops;
        self.exit = exit;
        if self.errors.len() > errors {
            // The value of a function with errors may be wrong.
            return Err(self.follow(span));
        }
        value
    }

    fn inline(&mut self, function: &ItemFn, span: Span, args: Vec<Argument>) -> Result<Value> {
        let name = &function.sig.ident;
        let inputs = &function.sig.inputs;
        if inputs.len() != args.len() {
            let s = if inputs.len() == 1 { "" } else { "s" };
            let message = format!(
                "`{name}` takes {} argument{s}, not {}",
                inputs.len(),
                args.len()
            );
            return Err(Error::new(span, message));
        }
        for (input, argument) in inputs.iter().zip(args) {
            let FnArg::Typed(input) = input else {
                return Err(Error::new_spanned(input, "a function takes no `self`"));
            };
            let value = self.ascribe(argument.value, &input.ty).map_err(|error| {
                // The error is reported at the argument, not at the declaration.
                Error::new(argument.span, error)
            })?;
            let start = self.length()?;
            let hint = self.scalar_type(&input.ty);
            self.bind(&input.pat, value, hint, start)?;
        }
        let (last, before) = match function.block.stmts.split_last() {
            // `return x;` as the last statement gives the value.
            Some((Stmt::Expr(Expr::Return(last), _), before)) if last.expr.is_some() => {
                (last.expr.as_deref(), before)
            }
            _ => (None, &function.block.stmts[..]),
        };
        let mut value = self.statements(before)?;
        if let Some(last) = last
            && !self.dead
        {
            value = self.eval(last)?;
        }
        let value = self.keep(value);
        if self.exit.used {
            self.b.place_label(&self.exit.label.clone());
            self.dead = false;
        }
        match &function.sig.output {
            _ if self.dead => Ok(value),
            ReturnType::Type(_, ty) => self.ascribe(value, ty),
            ReturnType::Default if matches!(value, Value::Unit) => Ok(value),
            ReturnType::Default => Err(Error::new(
                name.span(),
                format!(
                    "`{name}` gives {}, but declares no type of its value",
                    value.kind()
                ),
            )),
        }
    }

    fn bind_generics(
        &mut self,
        function: &ItemFn,
        span: Span,
        types: Vec<Argument>,
        scope: &mut HashMap<String, Option<Value>>,
    ) -> Result<()> {
        let params: Vec<&GenericParam> = function.sig.generics.params.iter().collect();
        if params.len() != types.len() {
            let names: Vec<String> = params
                .iter()
                .filter_map(|param| parameter_name(param))
                .map(ToString::to_string)
                .collect();
            let name = &function.sig.ident;
            let wanted = match names.len() {
                0 => "no generic arguments".to_string(),
                count => format!("{count}, `{name}::<{}>`", names.join(", ")),
            };
            return Err(Error::new(
                span,
                format!(
                    "`{name}` has {} generic arguments here, but takes {wanted}",
                    types.len()
                ),
            ));
        }
        for (param, argument) in params.into_iter().zip(types) {
            let (name, value) = check_generic(param, argument)?;
            scope.insert(name, Some(value));
        }
        Ok(())
    }
}

/// The name and the value of a type or const parameter, or an error if the argument has another kind.
pub fn check_generic(param: &GenericParam, argument: Argument) -> Result<(String, Value)> {
    match (param, argument.value) {
        (GenericParam::Type(param), value @ Value::Element(_)) => {
            Ok((param.ident.to_string(), value))
        }
        (GenericParam::Const(param), value @ (Value::Int(..) | Value::Bool(_))) => {
            Ok((param.ident.to_string(), value))
        }
        (GenericParam::Type(param), value) => Err(Error::new(
            argument.span,
            format!("`{}` is an element type, not {}", param.ident, value.kind()),
        )),
        (GenericParam::Const(param), value) => Err(Error::new(
            argument.span,
            format!(
                "`{}` is a number known at expansion, not {}",
                param.ident,
                value.kind()
            ),
        )),
        (param, _) => Err(Error::new(
            param.span(),
            "a function takes type and const parameters only",
        )),
    }
}
