//! Functions of structs.

use super::{Named, fields, untyped};
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::function::Invocation;
use crate::kernel::interp::generics::{Bindings, Parameters};
use crate::kernel::interp::{Interpreter, Scope, near};
use crate::kernel::syntax::bare::bare;
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::{StructType, Value};
use proc_macro2::Ident;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ExprMethodCall, FnArg, GenericArgument, Generics, Path, PathArguments,
    PathSegment, Receiver, ReceiverKind, Result, Type, TypePath,
};

impl Interpreter<'_> {
    /// `receiver.f(…)` for a function of the receiver's struct.
    pub(in crate::kernel::interp) fn struct_method(
        &mut self,
        ty: &StructType,
        receiver: Argument,
        expr: &ExprMethodCall,
    ) -> Result<Value> {
        let name = expr.method.to_string();
        let Some((_, function)) = self.source.method(ty.module, &ty.name, &name) else {
            return Err(self.no_function(ty.module, &ty.name, &expr.method));
        };
        let Some(FnArg::Receiver(declared)) = function.sig.inputs.first() else {
            let message = format!(
                "`{name}` takes no `self`: call it as `{}::{name}(…)`",
                ty.name
            );
            return Err(Error::new(expr.method.span(), message));
        };
        let receiver = self.receiver(declared, receiver, &expr.receiver)?;
        let types = match &expr.turbofish {
            Some(generics) => {
                self.type_arguments(&PathArguments::AngleBracketed(generics.clone()))?
            }
            None => Vec::new(),
        };
        let args = self.arguments(&expr.method, Some(receiver), expr.args.iter())?;
        self.call_method(ty, &expr.method, types, args)
    }

    /// The receiver for the function: `&mut self` is a variable, `self` a new value.
    fn receiver(
        &mut self,
        declared: &Receiver,
        receiver: Argument,
        expr: &Expr,
    ) -> Result<Argument> {
        let Argument { value, span } = receiver;
        let value = match value {
            Value::Reference(value) => *value,
            value => value,
        };
        let value = match &declared.kind {
            ReceiverKind::Reference(_, _, Some(_)) => {
                let value = match is_place(expr) {
                    true => value,
                    false => self.variable("it", value, usize::MAX)?,
                };
                self.require_variable(&value, expr)?;
                Value::Reference(Box::new(value))
            }
            ReceiverKind::Reference(_, _, None) => value,
            _ if declared.mutability.is_some() => self.variable("self", value, usize::MAX)?,
            _ => self.keep(value),
        };
        Ok(Argument { value, span })
    }

    /// Calls a function of a struct type.
    pub(in crate::kernel::interp) fn call_method(
        &mut self,
        ty: &StructType,
        name: &Ident,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let found = self.source.method(ty.module, &ty.name, &name.to_string());
        let Some((implementation, function)) = found else {
            return Err(self.no_function(ty.module, &ty.name, name));
        };
        let mut scope = Scope::new();
        for (name, value) in impl_generics(&implementation.ty, &implementation.generics, ty) {
            scope.insert(name, Some(value));
        }
        scope.insert("Self".into(), Some(Value::Type(Rc::new(ty.clone()))));
        self.invoke(Invocation {
            module: ty.module,
            function,
            scope,
            span: name.span(),
            types,
            args,
        })
    }

    /// `Name::f(…)` for a function of a struct, or `None` if the path before `f` names no struct.
    pub(in crate::kernel::interp) fn associated(
        &mut self,
        path: &Path,
        name: &PathSegment,
        args: &mut dyn FnMut(&mut Self) -> Result<Vec<Argument>>,
    ) -> Result<Option<Value>> {
        let Some(named) = self.named_struct(path)? else {
            return Ok(None);
        };
        let types = self.type_arguments(&name.arguments)?;
        let args = args(self)?;
        let ty = match named {
            Named::Known(ty) => ty,
            Named::Declared(module, item, given) => {
                let found = self
                    .source
                    .method(module, &item.ident, &name.ident.to_string());
                let Some((implementation, function)) = found else {
                    return Err(self.no_function(module, &item.ident, &name.ident));
                };
                let inputs = function.sig.inputs.iter().zip(&args);
                let mut inputs: Vec<(&Type, &Value)> = inputs
                    .filter_map(|(input, argument)| match input {
                        FnArg::Typed(input) => Some((&*input.ty, &argument.value)),
                        FnArg::Receiver(_) => None,
                    })
                    .collect();
                // `Name::f(receiver, …)` is a call of a method.
                let ty = Type::Path(implementation.ty.clone());
                if let (Some(FnArg::Receiver(_)), Some(receiver)) =
                    (function.sig.inputs.first(), args.first())
                {
                    inputs.push((&ty, &receiver.value));
                }
                // Without arguments, the struct has the arguments of the `impl`, whose parameters come from the inputs.
                let parameters = match given.is_empty() {
                    true => Parameters::of(&implementation.generics),
                    false => Parameters::of(&item.generics),
                };
                let explicit = !given.is_empty();
                let text = item.ident.to_string();
                let inputs = inputs.into_iter();
                let bound = self.bind_generics(&text, &parameters, path.span(), given, inputs)?;
                let generics = match explicit {
                    true => bound,
                    false => self.struct_generics(module, item, implementation, bound)?,
                };
                Rc::new(StructType {
                    module,
                    name: item.ident.clone(),
                    generics: untyped(generics),
                    fields: fields(item).into_iter().map(|(name, _)| name).collect(),
                })
            }
        };
        self.call_method(&ty, &name.ident, types, args).map(Some)
    }

    fn no_function(&self, module: ModuleId, structure: &Ident, name: &Ident) -> Error {
        let impls = &self.source.module(module).impls;
        let functions = impls
            .iter()
            .filter(|item| item.is_of(structure))
            .flat_map(|item| &item.functions);
        let names: Vec<String> = functions
            .map(|function| function.sig.ident.to_string())
            .collect();
        let hint = near::hint(&name.to_string(), names.iter().map(String::as_str));
        let message = format!("`{structure}` has no function `{name}`{hint}");
        Error::new(name.span(), message)
    }
}

/// The values of the parameters of an `impl`, from the arguments of its struct.
fn impl_generics(ty: &TypePath, generics: &Generics, known: &StructType) -> Bindings {
    let Some(PathArguments::AngleBracketed(arguments)) =
        ty.path.segments.last().map(|last| &last.arguments)
    else {
        return Vec::new();
    };
    let names = arguments.args.iter().map(|argument| match argument {
        GenericArgument::Type(Type::Path(path)) => path.path.get_ident(),
        GenericArgument::Const(Expr::Path(path)) => path.path.get_ident(),
        _ => None,
    });
    let declared = |name: &Ident| {
        let mut params = generics.params.iter();
        params.any(|param| match param {
            syn::GenericParam::Type(param) => param.ident == *name,
            syn::GenericParam::Const(param) => param.ident == *name,
            syn::GenericParam::Lifetime(_) => false,
        })
    };
    let pairs = names.zip(&known.generics);
    pairs
        .filter_map(|(name, (_, value))| Some((name?, value)))
        .filter(|(name, _)| declared(name))
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect()
}

/// Whether the expression names a place that a `&mut` can borrow.
fn is_place(expr: &Expr) -> bool {
    matches!(
        bare(expr),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) | Expr::Reference(_)
    )
}
