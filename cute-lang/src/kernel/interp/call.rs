//! Calls of functions and methods.

use super::Scope;
use super::advice::of_argument;
use super::elsewhere::elsewhere;
use super::function::Invocation;
use super::near;
use super::select::is_condition;
use super::steps;
use crate::kernel::builtins;
use crate::kernel::builtins::call::{Argument, Call};
use crate::kernel::interp::{Interpreter, OPERATION_STEPS};
use crate::kernel::syntax::source::{ModuleId, Source};
use crate::kernel::value::{Optional, Truth, Value};
use cute_algebra::operations::Operation;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ExprCall, ExprMethodCall, ExprPath, GenericArgument, Path, PathArguments, Result,
};

impl Interpreter<'_> {
    pub(super) fn call(&mut self, expr: &ExprCall) -> Result<Value> {
        let Expr::Path(path) = &*expr.func else {
            let span = expr.func.span();
            let callee = self.eval(&expr.func)?;
            let args = self.arguments(&Ident::new("f", span), None, expr.args.iter())?;
            return self.call_value(&callee, span, Vec::new(), args);
        };
        if path.path.segments.len() > 1 {
            return self.call_path(&path.path, &expr.args);
        }
        let Some(segment) = path.path.segments.first() else {
            return Err(Error::new_spanned(path, "expected the name of a function"));
        };
        let name = &segment.ident;
        let local = self.find(&name.to_string()).cloned();
        if !matches!(local, Some(None | Some(Value::Callable(_)))) {
            self.check_exists(name)?;
        }
        let types = self.type_arguments(&segment.arguments)?;
        let args = self.arguments(name, None, expr.args.iter())?;
        match local {
            Some(Some(callee @ Value::Callable(_))) => {
                return self.call_value(&callee, name.span(), types, args);
            }
            Some(None) => return Err(self.follow(name.span())),
            // Functions are found beside variables of their names.
            _ => {}
        }
        if name == "Some" {
            return some(name, args);
        }
        let source = self.source;
        let text = name.to_string();
        if let Some((module, function)) = source.function(self.module, &text) {
            let places: Vec<Span> = args.iter().map(|it| it.span).chain([name.span()]).collect();
            let invoked = self.invoke(Invocation {
                module,
                function,
                scope: Scope::new(),
                span: name.span(),
                types,
                args,
            });
            let hides = builtins::find(&text).is_some();
            return invoked.map_err(|error| match hides {
                true => hidden(error, &places, &format!("`{text}` is the function of this module here, which hides that of the language")),
                false => error,
            });
        }
        if source.structure(self.module, &name.to_string()).is_some()
            || self.alias(&path.path).is_some()
            || matches!(self.find(&name.to_string()), Some(Some(Value::Type(_))))
        {
            let mut given = |_: &mut Self| Ok(args.clone());
            if let Some(value) = self.tuple_struct(&path.path, &mut given)? {
                return Ok(value);
            }
        }
        let called = self.call_named(name, types, args);
        called.map_err(|error| self.with_hidden_words(at_whole(error, expr.args.iter()), expr))
    }

    /// The error of a call. It also names the words of the language among the arguments that another item of the same name hides.
    fn with_hidden_words(&self, error: Error, call: &ExprCall) -> Error {
        call.args.iter().fold(error, |error, argument| {
            let name = match argument {
                Expr::Path(path) => path.path.get_ident(),
                _ => None,
            };
            let name = name.filter(|name| builtins::WORDS.iter().any(|word| name == word));
            let Some(name) = name.map(Ident::to_string) else {
                return error;
            };
            let is_variable = self.find(&name).is_some();
            let hides = match self.source.constant(self.module, &name) {
                _ if is_variable => format!("`{name}` is a parameter or a variable here"),
                Some(_) => format!("`{name}` is a constant of this module here"),
                None => return error,
            };
            hidden(
                error,
                &[argument.span()],
                &format!("{hides}, which hides the word of the language"),
            )
        })
    }

    /// `receiver.f(…)`: a function of the receiver's struct, or `f(receiver, …)`.
    pub(super) fn method_call(&mut self, expr: &ExprMethodCall) -> Result<Value> {
        let receiver = self.receiver_of(expr)?;
        let structure = match &receiver.value {
            Value::Reference(value) => &**value,
            value => value,
        };
        if let Value::Struct(value) = structure {
            let ty = value.ty.clone();
            return self.struct_method(&ty, receiver, expr);
        }
        let types = match &expr.turbofish {
            Some(generics) => {
                self.type_arguments(&PathArguments::AngleBracketed(generics.clone()))?
            }
            None => Vec::new(),
        };
        self.check_exists(&expr.method)
            .map_err(|error| steps::explained(error, expr))?;
        let receiver = Argument {
            value: dereferenced_array(receiver.value),
            ..receiver
        };
        let args = self.arguments(&expr.method, Some(receiver), expr.args.iter())?;
        let called = self.call_named(&expr.method, types, args);
        called.map_err(|error| at_whole(error, expr.args.iter().chain([&*expr.receiver])))
    }

    fn receiver_of(&mut self, expr: &ExprMethodCall) -> Result<Argument> {
        let operation = self.operation(&expr.method);
        self.argument(operation, 0, &expr.receiver)
    }

    pub(super) fn call_named(
        &mut self,
        name: &Ident,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let text = name.to_string();
        if text == "map" {
            return self.map(name.span(), args);
        }
        if text == "select" && args.first().is_some_and(|it| is_condition(&it.value)) {
            return self.select_values(name.span(), args);
        }
        if let Some(row) = builtins::find(&text) {
            return self.call_builtin(row.name(), name.span(), types, args);
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
        Err(unknown_function(self.source, self.module, name))
    }

    /// Refuses the name of a function that does not exist before looking at the arguments: their errors may follow from it.
    fn check_exists(&self, name: &Ident) -> Result<()> {
        let text = name.to_string();
        let exists = matches!(&text[..], "map" | "Some")
            || self.source.function(self.module, &text).is_some()
            || self.source.structure(self.module, &text).is_some()
            || self.source.alias(self.module, &text).is_some()
            || matches!(self.find(&text), Some(Some(Value::Type(_))))
            || builtins::find(&text).is_some()
            || cute_algebra::operations::find(&text).is_some();
        if exists {
            return Ok(());
        }
        let Some(Some(value)) = self.find(&text) else {
            return Err(unknown_function(self.source, self.module, name));
        };
        let element = match value {
            Value::Tensor(_) | Value::Global(_) | Value::Fragment(_) => {
                format!(": an element is `{text}[(i, j)]`")
            }
            _ => String::new(),
        };
        let message = format!("`{text}` is {}, not a function{element}", value.kind());
        Err(Error::new(name.span(), message))
    }

    /// The arguments of a call, with the receiver first if there is one.
    pub(super) fn arguments<'e>(
        &mut self,
        function: &Ident,
        receiver: Option<Argument>,
        args: impl Iterator<Item = &'e Expr>,
    ) -> Result<Vec<Argument>> {
        let operation = self.operation(function);
        let mut values: Vec<Argument> = receiver.into_iter().collect();
        for expr in args {
            if self.may_assign(expr) {
                for argument in &mut values {
                    argument.value = self.keep(std::mem::replace(&mut argument.value, Value::Unit));
                }
            }
            let index = values.len();
            let argument = self.argument(operation, index, expr);
            let argument =
                argument.map_err(|error| self.with_operations(error, function, index, expr));
            values.push(argument?);
        }
        Ok(values)
    }

    /// The error of an argument. If it is a name that does not exist in place of an operation, it names the operations.
    fn with_operations(&self, error: Error, function: &Ident, index: usize, expr: &Expr) -> Error {
        let text = function.to_string();
        let taken = builtins::operations_of(&text, index)
            .filter(|_| self.source.function(self.module, &text).is_none());
        let (Some(taken), Expr::Path(path)) = (taken, expr) else {
            return error;
        };
        let Some(name) = path.path.get_ident().map(Ident::to_string) else {
            return error;
        };
        let unknown = format!("cannot find `{name}` in this scope");
        if !error.to_string().starts_with(&unknown) {
            return error;
        }
        let here = elsewhere(&name).unwrap_or_default();
        let here = here.replacen(": ", "; ", 1);
        let message = format!("{unknown}: `{text}` takes {taken}{here}");
        Error::new(error.span(), message)
    }

    /// The operation of the algebra with this name, unless the language has a function with this name.
    fn operation(&self, function: &Ident) -> Option<&'static Operation> {
        let name = function.to_string();
        match builtins::find(&name) {
            None => cute_algebra::operations::find(&name),
            Some(_) => None,
        }
    }

    fn argument(
        &mut self,
        operation: Option<&'static Operation>,
        index: usize,
        expr: &Expr,
    ) -> Result<Argument> {
        if let Expr::Assign(assign) = expr {
            let message = "arguments have no names here: they are told by their order";
            return Err(Error::new_spanned(&assign.left, message));
        }
        let takes_word = operation.is_some_and(|operation| operation.takes_word(index));
        let word = match expr {
            Expr::Path(path) if takes_word => self.word(path),
            _ => None,
        };
        let value = match word {
            Some(word) => Value::Algebra(cute_algebra::Value::Word(word)),
            None => self.eval(expr)?,
        };
        Ok(Argument {
            span: expr.span(),
            value,
        })
    }

    pub(super) fn type_arguments(&mut self, arguments: &PathArguments) -> Result<Vec<Argument>> {
        let PathArguments::AngleBracketed(generics) = arguments else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        for argument in &generics.args {
            let value = match argument {
                GenericArgument::Type(syn::Type::Infer(_)) => Value::Wild,
                GenericArgument::Type(syn::Type::Path(path)) => {
                    self.generic_argument(&path.path)?
                }
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

    /// A generic argument that is a path: a struct, or another meaning of the name.
    pub(super) fn generic_argument(&mut self, path: &Path) -> Result<Value> {
        if let Some(ty) = self.struct_type(path)? {
            return Ok(Value::Type(ty));
        }
        self.path(&ExprPath {
            attrs: Vec::new(),
            qself: None,
            path: path.clone(),
        })
    }

    /// Calls the function of the language with this name.
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
        let call = Call {
            name: row.name(),
            span,
            types,
            args,
        };
        row.call(&mut self.b, &call).map_err(|error| {
            let values = call.args.iter().map(|argument| &argument.value);
            values.fold(error, of_argument)
        })
    }
}

/// The error of a call. At an argument, it covers the whole argument: the span of an expression may be that of its first token alone.
fn at_whole<'e>(error: Error, args: impl Iterator<Item = &'e Expr> + Clone) -> Error {
    let widened = error.into_iter().map(|error| {
        // Spans have no equality, but their text can be compared.
        let place = format!("{:?}", error.span());
        let mut args = args.clone();
        match args.find(|argument| format!("{:?}", argument.span()) == place) {
            Some(argument) => Error::new_spanned(argument, error),
            None => error,
        }
    });
    combined(widened)
}

/// The messages of one error or several ones as one error.
fn combined(errors: impl Iterator<Item = Error>) -> Error {
    let combined = errors.reduce(|mut all, error| {
        all.combine(error);
        all
    });
    combined.expect("an error consists of at least one message")
}

/// Extends an error at one of these places: a name that hides another may be the cause.
fn hidden(error: Error, places: &[Span], which: &str) -> Error {
    // Spans have no equality, but their text can be compared.
    let places: Vec<String> = places.iter().map(|place| format!("{place:?}")).collect();
    let explained =
        error.into_iter().map(
            |error| match places.contains(&format!("{:?}", error.span())) {
                true => Error::new(error.span(), format!("{error}: {which}")),
                false => error,
            },
        );
    combined(explained)
}

/// An array itself, where the value is a reference to one.
pub(super) fn dereferenced_array(value: Value) -> Value {
    match value {
        Value::Reference(array) if matches!(*array, Value::Array(_)) => *array,
        value => value,
    }
}

/// The error of a call of a function that does not exist.
pub(super) fn unknown_function(source: &Source, module: ModuleId, name: &Ident) -> Error {
    let text = name.to_string();
    let functions = source.module(module).functions.iter();
    let functions = functions.map(|function| function.sig.ident.to_string());
    let names: Vec<String> = functions
        .chain(builtins::names().map(str::to_string))
        .collect();
    let hint = near::function_hint(&text, names.iter().map(String::as_str));
    Error::new(name.span(), format!("cannot find function `{text}`{hint}"))
}

/// `Some(value)`.
fn some(name: &Ident, args: Vec<Argument>) -> Result<Value> {
    let Ok([argument]) = <[Argument; 1]>::try_from(args) else {
        return Err(Error::new(name.span(), "`Some` takes 1 argument"));
    };
    Ok(Value::Option(Optional {
        is_some: Truth::Known(true),
        value: Some(Box::new(argument.value)),
    }))
}
