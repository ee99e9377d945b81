//! Structs: their types, values, fields and functions.

use super::Scope;
use super::function::Invocation;
use super::generics::{Bindings, Parameters};
use super::near;
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::module::Implementation;
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::{Struct, StructType, Value};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ExprMethodCall, ExprStruct, FnArg, GenericArgument, Generics, ItemStruct, Member,
    Path, PathArguments, PathSegment, Receiver, ReceiverKind, Result, Type, TypePath,
};

/// A struct as a path names it.
enum Named<'s> {
    /// Its declaration, and the arguments between `<` and `>`.
    Declared(ModuleId, &'s ItemStruct, Vec<Argument>),
    /// `Self`, or a parameter that stands for a struct.
    Known(Rc<StructType>),
}

impl<'s> Interpreter<'s> {
    /// `Name { field: value, … }`.
    pub(super) fn struct_literal(&mut self, expr: &ExprStruct) -> Result<Value> {
        let Some(named) = self.named_struct(&expr.path)? else {
            let name = expr.path.to_token_stream();
            let message = format!("cannot find the struct `{name}`");
            return Err(Error::new_spanned(&expr.path, message));
        };
        let (module, item) = match &named {
            Named::Declared(module, item, _) => (*module, *item),
            Named::Known(ty) => self.declaration(ty, expr.path.span())?,
        };
        let fields = fields(item)?;
        let mut values: Vec<Option<Value>> = vec![None; fields.len()];
        for field in &expr.fields {
            let Some(index) = field_index(&fields, &field.member) else {
                return Err(no_field(item, &field.member));
            };
            if values[index].is_some() {
                let message = format!("`{}` is given twice", fields[index].0);
                return Err(Error::new_spanned(&field.member, message));
            }
            let value = self.eval(&field.expr)?;
            values[index] = Some(self.keep(value));
        }
        if let Some(rest) = &expr.rest {
            let Value::Struct(rest) = self.eval(rest)? else {
                let message = format!("expected a `{}` after `..`", item.ident);
                return Err(Error::new_spanned(rest, message));
            };
            for (slot, value) in values.iter_mut().zip(rest.fields) {
                slot.get_or_insert(value);
            }
        }
        let mut complete = Vec::new();
        for ((name, _), value) in fields.iter().zip(values) {
            let Some(value) = value else {
                let message = format!("`{}` has no value for the field `{name}`", item.ident);
                return Err(Error::new(expr.path.span(), message));
            };
            complete.push(value);
        }
        let generics = match named {
            Named::Known(ty) => ty.generics.clone(),
            Named::Declared(_, _, given) => {
                let inputs = fields.iter().map(|(_, ty)| *ty).zip(&complete);
                let parameters = Parameters::of(&item.generics);
                let name = item.ident.to_string();
                let span = expr.path.span();
                let known = self.known_generics(&name, &parameters, span, given, inputs)?;
                // What the fields do not tell, the type of the variable or of the function's value tells.
                let known = known.into_iter();
                known
                    .map(|(name, value)| (name, value.unwrap_or(Value::Wild)))
                    .collect()
            }
        };
        let place = |name: &str| {
            let given = expr
                .fields
                .iter()
                .find(|field| is_named(&field.member, name));
            given.map_or(expr.span(), |field| field.expr.span())
        };
        let complete = self.ascribe_fields(module, &generics, &fields, complete, &place)?;
        Ok(Value::Struct(Struct {
            ty: Rc::new(StructType {
                module,
                name: item.ident.clone(),
                generics: untyped(generics),
                fields: fields.iter().map(|(name, _)| name.clone()).collect(),
            }),
            fields: complete,
        }))
    }

    /// The values of the fields, checked against their types in the module that declares the struct.
    fn ascribe_fields(
        &mut self,
        module: ModuleId,
        generics: &Bindings,
        fields: &[(String, &Type)],
        values: Vec<Value>,
        place: &dyn Fn(&str) -> Span,
    ) -> Result<Vec<Value>> {
        let scope = generics.iter().cloned();
        let scope: Scope = scope.map(|(name, value)| (name, Some(value))).collect();
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let outer = std::mem::replace(&mut self.module, module);
        let pairs = fields.iter().zip(values);
        let checked = pairs.map(|((name, ty), value)| {
            let checked = self.ascribe(value, ty);
            checked.map_err(|error| Error::new(place(name), error))
        });
        let checked = checked.collect();
        self.scopes = scopes;
        self.module = outer;
        checked
    }

    /// The value of a field.
    pub(super) fn field(&mut self, base: Value, member: &Member) -> Result<Value> {
        match (base, member) {
            (Value::Reference(value), member) => self.field(*value, member),
            (Value::Struct(value), Member::Named(name)) => {
                if let Some(field) = value.field(&name.to_string()) {
                    return Ok(field.clone());
                }
                let hint = near::hint(
                    &name.to_string(),
                    value.ty.fields.iter().map(String::as_str),
                );
                let message = format!("`{}` has no field `{name}`{hint}", value.ty.name);
                Err(Error::new(name.span(), message))
            }
            (Value::Tuple(mut elements), Member::Unnamed(index)) => {
                let i = index.index as usize;
                if i < elements.len() {
                    return Ok(elements.swap_remove(i));
                }
                Err(Error::new(
                    index.span,
                    format!("there is no field {i} in a tuple of {}", elements.len()),
                ))
            }
            (base, member) => Err(Error::new_spanned(
                member,
                format!(
                    "{} has no field `{}`",
                    base.kind(),
                    member.to_token_stream()
                ),
            )),
        }
    }

    /// `receiver.f(…)` for a function of the receiver's struct.
    pub(super) fn struct_method(
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

    /// The receiver as the function takes it: `&mut self` is a variable, `self` a value of its own.
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
                    false => self.variable("it", value, None, usize::MAX)?,
                };
                self.require_variable(&value, expr)?;
                Value::Reference(Box::new(value))
            }
            ReceiverKind::Reference(_, _, None) => value,
            _ if declared.mutability.is_some() => self.variable("self", value, None, usize::MAX)?,
            _ => self.keep(value),
        };
        Ok(Argument { value, span })
    }

    /// Calls a function of a struct type.
    pub(super) fn call_method(
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
    pub(super) fn associated(
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
                // Without arguments of its own, the struct has those of the `impl`, whose parameters the inputs tell.
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
                    fields: fields(item)?.into_iter().map(|(name, _)| name).collect(),
                })
            }
        };
        self.call_method(&ty, &name.ident, types, args).map(Some)
    }

    /// The parameters of a struct, from those of an `impl` of it.
    fn struct_generics(
        &mut self,
        module: ModuleId,
        item: &ItemStruct,
        implementation: &Implementation,
        bound: Bindings,
    ) -> Result<Bindings> {
        let Some(last) = implementation.ty.path.segments.last() else {
            return Ok(Vec::new());
        };
        let scope = bound.into_iter().map(|(name, value)| (name, Some(value)));
        let scopes = std::mem::replace(&mut self.scopes, vec![scope.collect()]);
        let outer = std::mem::replace(&mut self.module, module);
        let arguments = self.type_arguments(&last.arguments);
        self.scopes = scopes;
        self.module = outer;
        let names = Parameters::of(&item.generics).names();
        let values = arguments?.into_iter().map(|argument| argument.value);
        Ok(names.into_iter().zip(values).collect())
    }

    /// The struct type that a path names with all its arguments, or `None` if it names no struct.
    pub(super) fn struct_type(&mut self, path: &Path) -> Result<Option<Rc<StructType>>> {
        Ok(match self.named_struct(path)? {
            None => None,
            Some(Named::Known(ty)) => Some(ty),
            Some(Named::Declared(module, item, given)) => {
                let parameters = Parameters::of(&item.generics);
                let name = item.ident.to_string();
                let none = std::iter::empty();
                let generics = self.bind_generics(&name, &parameters, path.span(), given, none)?;
                Some(Rc::new(StructType {
                    module,
                    name: item.ident.clone(),
                    generics: untyped(generics),
                    fields: fields(item)?.into_iter().map(|(name, _)| name).collect(),
                }))
            }
        })
    }

    /// The struct as one of the type that a path names, or `None` if it has another type. Arguments that the path
    /// leaves out are not checked, and those that the struct leaves open are taken from the path.
    pub(super) fn as_struct(&mut self, value: &Struct, path: &Path) -> Result<Option<Struct>> {
        let given: Vec<Value> = match self.named_struct(path)? {
            Some(Named::Known(ty)) if ty.module == value.ty.module && ty.name == value.ty.name => {
                ty.generics.iter().map(|(_, value)| value.clone()).collect()
            }
            Some(Named::Declared(module, item, given))
                if module == value.ty.module && item.ident == value.ty.name =>
            {
                given
                    .into_iter()
                    .map(|argument| argument.value.untyped())
                    .collect()
            }
            _ => return Ok(None),
        };
        let mut ty = StructType::clone(&value.ty);
        let mut is_complete = true;
        for ((_, known), given) in ty.generics.iter_mut().zip(given) {
            if *known == Value::Wild {
                *known = given;
                is_complete = false;
            } else if given != Value::Wild && given != *known {
                return Ok(None);
            }
        }
        if is_complete {
            return Ok(Some(value.clone()));
        }
        // Fields that are structs may leave the same parameters open.
        let (module, item) = self.declaration(&ty, path.span())?;
        let place = |_: &str| path.span();
        let values = value.fields.clone();
        let fields = self.ascribe_fields(module, &ty.generics, &fields(item)?, values, &place)?;
        Ok(Some(Struct {
            ty: Rc::new(ty),
            fields,
        }))
    }

    fn named_struct(&mut self, path: &Path) -> Result<Option<Named<'s>>> {
        let segments: Vec<_> = path.segments.iter().collect();
        let (module, last) = match &segments[..] {
            [last] => {
                if let Some(Some(Value::Type(ty))) = self.find(&last.ident.to_string()) {
                    return Ok(Some(Named::Known(ty.clone())));
                }
                (self.module, last)
            }
            [module, last] => match self.source.imported(self.module, &module.ident.to_string()) {
                Some(module) => (module, last),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let source = self.source;
        let Some((module, item)) = source.structure(module, &last.ident.to_string()) else {
            return Ok(None);
        };
        let given = self.type_arguments(&last.arguments)?;
        Ok(Some(Named::Declared(module, item, given)))
    }

    fn declaration(&self, ty: &StructType, span: Span) -> Result<(ModuleId, &'s ItemStruct)> {
        let found = self.source.structure(ty.module, &ty.name.to_string());
        found.ok_or_else(|| Error::new(span, format!("cannot find the struct `{}`", ty.name)))
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

/// The names and types of the fields.
fn fields(item: &ItemStruct) -> Result<Vec<(String, &Type)>> {
    let field = |field: &'_ syn::Field| -> Result<String> {
        match &field.ident {
            Some(name) => Ok(name.to_string()),
            None => Err(Error::new(
                field.ty.span(),
                "the fields of a struct have names in the kernel language",
            )),
        }
    };
    let fields = item.fields.iter();
    fields.map(|each| Ok((field(each)?, &each.ty))).collect()
}

fn is_named(member: &Member, name: &str) -> bool {
    matches!(member, Member::Named(member) if member == name)
}

fn field_index(fields: &[(String, &Type)], member: &Member) -> Option<usize> {
    fields.iter().position(|(name, _)| is_named(member, name))
}

fn no_field(item: &ItemStruct, member: &Member) -> Error {
    let name = member.to_token_stream().to_string();
    let fields: Vec<String> = item
        .fields
        .iter()
        .filter_map(|field| field.ident.as_ref())
        .map(ToString::to_string)
        .collect();
    let hint = near::hint(&name, fields.iter().map(String::as_str));
    Error::new_spanned(
        member,
        format!("`{}` has no field `{name}`{hint}", item.ident),
    )
}

/// What the parameters of an `impl` stand for, from the arguments of its struct.
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

/// The values of generic parameters without the types of integers, so that equal numbers make one type.
fn untyped(generics: Bindings) -> Bindings {
    let generics = generics.into_iter();
    generics
        .map(|(name, value)| (name, value.untyped()))
        .collect()
}

/// Whether the expression names a place, which a `&mut` can borrow.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(expr) => is_place(&expr.expr),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) | Expr::Reference(_) => {
            true
        }
        _ => false,
    }
}
