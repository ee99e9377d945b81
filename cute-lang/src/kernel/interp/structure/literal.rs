//! Values of structs, and their fields.

use super::{Named, fields, member_name, untyped};
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::elsewhere::elsewhere;
use crate::kernel::interp::function::check_count;
use crate::kernel::interp::generics::Parameters;
use crate::kernel::interp::{Interpreter, near};
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::{Struct, StructType, Value};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Error, ExprStruct, Fields, ItemStruct, Member, Path, Result, Type};

impl<'s> Interpreter<'s> {
    /// `Name { field: value, … }`.
    pub(in crate::kernel::interp) fn struct_literal(&mut self, expr: &ExprStruct) -> Result<Value> {
        let Some(named) = self.named_struct(&expr.path)? else {
            let name = expr.path.to_token_stream();
            let message = format!("cannot find the struct `{name}`");
            return Err(Error::new_spanned(&expr.path, message));
        };
        let span = expr.path.span();
        let (module, item) = self.declared(&named, span)?;
        if self
            .source
            .enumeration(module, &item.ident.to_string())
            .is_some()
        {
            let message = format!("`{}` is an enum: name a variant, `{0}::…`", item.ident);
            return Err(Error::new(span, message));
        }
        let fields = fields(item);
        let mut values: Vec<Option<Argument>> = vec![None; fields.len()];
        for field in &expr.fields {
            let Some(index) = field_index(&fields, &field.member) else {
                return Err(no_field(item, &field.member));
            };
            if values[index].is_some() {
                let message = format!("`{}` is given twice", fields[index].0);
                return Err(Error::new_spanned(&field.member, message));
            }
            let value = self.eval(&field.expr)?;
            values[index] = Some(Argument {
                value: self.keep(value),
                span: field.expr.span(),
            });
        }
        if let Some(rest) = &expr.rest {
            let value = self.eval(rest)?;
            let base = match self.keep(value) {
                Value::Struct(base) if base.ty.module == module && base.ty.name == item.ident => {
                    base
                }
                other => {
                    let (name, kind) = (&item.ident, other.kind());
                    let message = format!("expected a `{name}` after `..`, found {kind}");
                    return Err(Error::new_spanned(rest, message));
                }
            };
            for (slot, value) in values.iter_mut().zip(base.fields) {
                let span = expr.span();
                slot.get_or_insert(Argument { value, span });
            }
        }
        let mut complete = Vec::new();
        for ((name, _), value) in fields.iter().zip(values) {
            let Some(value) = value else {
                let message = format!("`{}` has no value for the field `{name}`", item.ident);
                return Err(Error::new(span, message));
            };
            complete.push(value);
        }
        self.structure(named, complete, span)
    }

    /// `Name(value, …)`, or `None` if the path names no struct with numbered fields.
    pub(in crate::kernel::interp) fn tuple_struct(
        &mut self,
        path: &Path,
        args: &mut dyn FnMut(&mut Self) -> Result<Vec<Argument>>,
    ) -> Result<Option<Value>> {
        let Some(named) = self.named_struct(path)? else {
            return Ok(None);
        };
        let span = path.span();
        let (_, item) = self.declared(&named, span)?;
        let Fields::Unnamed(fields) = &item.fields else {
            let message = format!("the fields of `{}` have names: `{0} {{ … }}`", item.ident);
            return Err(Error::new(span, message));
        };
        let mut args = args(self)?;
        check_count(
            &item.ident.to_string(),
            fields.unnamed.len(),
            args.len(),
            span,
        )?;
        for argument in &mut args {
            argument.value = self.keep(std::mem::replace(&mut argument.value, Value::Unit));
        }
        self.structure(named, args, span).map(Some)
    }

    /// The value of a struct without fields.
    pub(in crate::kernel::interp) fn unit_struct(&mut self, path: &Path) -> Result<Option<Value>> {
        let Some(named) = self.named_struct(path)? else {
            return Ok(None);
        };
        let (_, item) = self.declared(&named, path.span())?;
        match &item.fields {
            Fields::Unit => self.structure(named, Vec::new(), path.span()).map(Some),
            _ => Ok(None),
        }
    }

    /// A value of a struct, of the values of all fields in their order.
    fn structure(&mut self, named: Named<'s>, values: Vec<Argument>, span: Span) -> Result<Value> {
        let (module, item) = self.declared(&named, span)?;
        let fields = fields(item);
        let (values, spans): (Vec<Value>, Vec<Span>) =
            values.into_iter().map(|it| (it.value, it.span)).unzip();
        let generics = match named {
            Named::Known(ty) => ty.generics.clone(),
            Named::Declared(_, _, given) => {
                let inputs = fields.iter().map(|(_, ty)| *ty).zip(&values);
                let parameters = Parameters::of(&item.generics);
                let name = item.ident.to_string();
                let known = self.known_generics(&name, &parameters, span, given, inputs)?;
                // Parameters that the fields do not determine come from the type of the variable or of the function's value.
                let known = known.into_iter();
                known
                    .map(|(name, value)| (name, value.unwrap_or(Value::Wild)))
                    .collect()
            }
        };
        let place = |name: &str| {
            let index = fields.iter().position(|(field, _)| field == name);
            index.map_or(span, |index| spans[index])
        };
        let values = self.ascribe_fields(module, &generics, &fields, values, &place)?;
        Ok(Value::Struct(Struct {
            ty: Rc::new(StructType {
                module,
                name: item.ident.clone(),
                generics: untyped(generics),
                fields: fields.iter().map(|(name, _)| name.clone()).collect(),
            }),
            fields: values,
        }))
    }

    fn declared(&self, named: &Named<'s>, span: Span) -> Result<(ModuleId, &'s ItemStruct)> {
        match named {
            Named::Declared(module, item, _) => Ok((*module, *item)),
            Named::Known(ty) => self.declaration(ty, span),
        }
    }

    /// The value of a field.
    pub(in crate::kernel::interp) fn field(
        &mut self,
        base: Value,
        member: &Member,
    ) -> Result<Value> {
        match (base, member) {
            (Value::Reference(value), member) => self.field(*value, member),
            (Value::Struct(value), member) => {
                let name = member_name(member);
                let is_enum = || {
                    let found = Value::Struct(value.clone());
                    self.enumeration_of(&found).is_some()
                };
                if let Some(field) = value.field(&name).filter(|_| !is_enum()) {
                    return Ok(field.clone());
                }
                let hint = match is_enum() {
                    true => String::new(),
                    false => near::hint(&name, value.ty.fields.iter().map(String::as_str)),
                };
                let message = format!("`{}` has no field `{name}`{hint}", value.ty.name);
                Err(Error::new(member.span(), message))
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
            (base, member) => {
                // CUDA's indices have fields.
                let axis = ["x", "y", "z"]
                    .iter()
                    .position(|axis| is_named(member, axis));
                let hint = match (&base, axis) {
                    (Value::Tuple(_), Some(axis)) => format!(": write `.{axis}`"),
                    (Value::Int(..) | Value::Scalar(_), Some(_)) => ": it is one number".to_owned(),
                    (Value::Global(_) | Value::Tensor(_), _) if is_named(member, "shape") => {
                        ": `extent(x, 0)` is that of a mode of a parameter, and `size(get(x, 0))` that of a tile".to_owned()
                    }
                    (_, None) => elsewhere(&member.to_token_stream().to_string()).unwrap_or_default(),
                    _ => String::new(),
                };
                let (kind, field) = (base.kind(), member.to_token_stream());
                let message = format!("{kind} has no field `{field}`{hint}");
                Err(Error::new_spanned(member, message))
            }
        }
    }
}

fn is_named(member: &Member, name: &str) -> bool {
    matches!(member, Member::Named(member) if member == name)
}

fn field_index(fields: &[(String, &Type)], member: &Member) -> Option<usize> {
    let given = member_name(member);
    fields.iter().position(|(name, _)| *name == given)
}

fn no_field(item: &ItemStruct, member: &Member) -> Error {
    let name = member.to_token_stream().to_string();
    let fields = fields(item);
    let hint = near::hint(&name, fields.iter().map(|(name, _)| name.as_str()));
    Error::new_spanned(
        member,
        format!("`{}` has no field `{name}`{hint}", item.ident),
    )
}
