//! Closures and functions as values.

use super::Scope;
use super::function::Invocation;
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Callable, Closure, Value};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::{Error, ExprClosure, Path, Result};

impl Interpreter<'_> {
    pub(super) fn closure(&mut self, expr: &ExprClosure) -> Result<Value> {
        if let Some(token) = &expr.asyncness {
            return Err(Error::new_spanned(
                token,
                "the kernel language has no `async`: use barriers",
            ));
        }
        let mut scope = HashMap::new();
        self.capture_names(expr.to_token_stream(), &mut scope);
        if expr.capture.is_some() {
            for value in scope.values_mut().flatten() {
                *value = self.own(std::mem::replace(value, Value::Unit))?;
            }
        }
        self.has_closures = true;
        Ok(Value::Callable(Callable::Closure(Rc::new(Closure {
            module: self.module,
            syntax: expr.clone(),
            scope,
        }))))
    }

    /// The values of the names among the tokens that are in scope. A variable keeps its register, so it sees later changes.
    fn capture_names(&self, tokens: TokenStream, scope: &mut Scope) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.capture_names(group.stream(), scope),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    if let Some(value) = self.find(&name) {
                        scope.insert(name, value.clone());
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Calls a value.
    pub(super) fn call_value(
        &mut self,
        callee: &Value,
        span: Span,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        match callee {
            Value::Reference(value) => self.call_value(value, span, types, args),
            Value::Callable(Callable::Closure(closure)) => self.call_closure(closure, span, args),
            Value::Callable(Callable::Function(module, name)) => {
                if let Some((module, function)) = self.source.function(*module, name) {
                    return self.invoke(Invocation {
                        module,
                        function,
                        scope: HashMap::new(),
                        span,
                        types,
                        args,
                    });
                }
                let name = Ident::new(name, span);
                let path = Path::from(name.clone());
                let mut given = |_: &mut Self| Ok(args.clone());
                let built = self.in_module(*module, HashMap::new(), |this| {
                    this.tuple_struct(&path, &mut given)
                })?;
                match built {
                    Some(value) => Ok(value),
                    None => self.call_named(&name, types, args),
                }
            }
            other => Err(Error::new(
                span,
                format!("{} cannot be called", other.kind()),
            )),
        }
    }
}
