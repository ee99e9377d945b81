//! Calls of functions and methods.

use super::assign::may_assign;
use super::near;
use crate::kernel::builtins;
use crate::kernel::builtins::call::{Argument, Call};
use crate::kernel::interp::{Interpreter, OPERATION_STEPS};
use crate::kernel::value::Value;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ExprCall, ExprMethodCall, ExprPath, GenericArgument, PathArguments, Result,
};

impl Interpreter<'_> {
    pub(super) fn call(&mut self, expr: &ExprCall) -> Result<Value> {
        let Expr::Path(path) = &*expr.func else {
            return Err(Error::new_spanned(
                &expr.func,
                "expected the name of a function",
            ));
        };
        let [segment] = &path.path.segments.iter().collect::<Vec<_>>()[..] else {
            return Err(Error::new_spanned(
                path,
                "expected the name of a function, without a path",
            ));
        };
        let types = self.type_arguments(&segment.arguments)?;
        let args = self.arguments(&segment.ident, None, expr.args.iter())?;
        if let Some(function) = self
            .source
            .functions
            .iter()
            .find(|function| function.sig.ident == segment.ident)
        {
            return self.call_function(function, segment.ident.span(), types, args);
        }
        self.call_named(&segment.ident, types, args)
    }

    /// `receiver.f(…)` is `f(receiver, …)`.
    pub(super) fn method_call(&mut self, expr: &ExprMethodCall) -> Result<Value> {
        let types = match &expr.turbofish {
            Some(generics) => {
                self.type_arguments(&PathArguments::AngleBracketed(generics.clone()))?
            }
            None => Vec::new(),
        };
        let args = self.arguments(&expr.method, Some(&expr.receiver), expr.args.iter())?;
        self.call_named(&expr.method, types, args)
    }

    fn call_named(
        &mut self,
        name: &Ident,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let text = name.to_string();
        if let Some(row) = builtins::find(&text) {
            return row.call(
                &mut self.b,
                &Call {
                    name: row.name(),
                    span: name.span(),
                    types,
                    args,
                },
            );
        }
        if let Some(operation) = cute_algebra::operations::find(&text) {
            self.work(OPERATION_STEPS, name.span())?;
            let call = Call {
                name: operation.name,
                span: name.span(),
                types,
                args,
            };
            return builtins::operate(&mut self.b, operation, &call);
        }
        let functions = self
            .source
            .functions
            .iter()
            .map(|function| function.sig.ident.to_string());
        let names: Vec<String> = functions
            .chain(builtins::names().map(str::to_string))
            .collect();
        let hint = near::function_hint(&text, names.iter().map(String::as_str));
        Err(Error::new(
            name.span(),
            format!("cannot find function `{text}`{hint}"),
        ))
    }

    /// The arguments of a call, with the receiver first if there is one.
    fn arguments<'e>(
        &mut self,
        function: &Ident,
        receiver: Option<&'e Expr>,
        args: impl Iterator<Item = &'e Expr>,
    ) -> Result<Vec<Argument>> {
        let name = function.to_string();
        let operation = match builtins::find(&name) {
            None => cute_algebra::operations::find(&name),
            Some(_) => None,
        };
        let mut values: Vec<Argument> = Vec::new();
        for (i, expr) in receiver.into_iter().chain(args).enumerate() {
            let takes_word = operation.is_some_and(|operation| operation.takes_word(i));
            if takes_word && let Some(word) = self.word(expr) {
                values.push(Argument {
                    span: expr.span(),
                    value: Value::Algebra(cute_algebra::Value::Word(word)),
                });
                continue;
            }
            if may_assign(expr) {
                for argument in &mut values {
                    argument.value = self.keep(std::mem::replace(&mut argument.value, Value::Unit));
                }
            }
            values.push(Argument {
                span: expr.span(),
                value: self.eval(expr)?,
            });
        }
        Ok(values)
    }

    /// A name that is not in scope, with its parameters, such as `SM75_U32x4_LDSM_N` and `UniversalCopy::<u128>`.
    fn word(&self, expr: &Expr) -> Option<String> {
        let Expr::Path(path) = expr else {
            return None;
        };
        let [segment] = &path.path.segments.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let name = segment.ident.to_string();
        let is_known = builtins::WORDS.contains(&&name[..])
            || self.scopes.iter().any(|scope| scope.contains_key(&name))
            || self.source.consts.iter().any(|item| item.ident == name);
        match &segment.arguments {
            _ if is_known => None,
            PathArguments::None => Some(name),
            PathArguments::AngleBracketed(generics) => {
                let parameters = generics.args.iter().map(|argument| match argument {
                    syn::GenericArgument::Type(syn::Type::Path(path)) => {
                        path.path.get_ident().map(Ident::to_string)
                    }
                    _ => None,
                });
                let parameters: Option<Vec<_>> = parameters.collect();
                Some(format!("{name}<{}>", parameters?.join(",")))
            }
            PathArguments::Parenthesized(_) => None,
        }
    }

    fn type_arguments(&mut self, arguments: &PathArguments) -> Result<Vec<Argument>> {
        let PathArguments::AngleBracketed(generics) = arguments else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        for argument in &generics.args {
            let value = match argument {
                GenericArgument::Type(syn::Type::Path(path)) => self.path(&ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.path.clone(),
                })?,
                GenericArgument::Const(expr) => self.eval(expr)?,
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "expected an element type or an integer",
                    ));
                }
            };
            values.push(Argument {
                span: argument.span(),
                value,
            });
        }
        Ok(values)
    }

    /// Calls the function of the language of that name.
    pub(super) fn call_builtin(
        &mut self,
        name: &'static str,
        span: Span,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let Some(row) = builtins::find(name) else {
            return Err(Error::new(span, format!("`{name}` is not supported")));
        };
        row.call(
            &mut self.b,
            &Call {
                name: row.name(),
                span,
                types,
                args,
            },
        )
    }
}
