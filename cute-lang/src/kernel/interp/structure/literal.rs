//! Values of structs, and their fields.

use super::{Named, fields, untyped};
use crate::kernel::interp::elsewhere::elsewhere;
use crate::kernel::interp::generics::Parameters;
use crate::kernel::interp::{Interpreter, near};
use crate::kernel::value::{Struct, StructType, Value};
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Error, ExprStruct, ItemStruct, Member, Result, Type};

impl Interpreter<'_> {
    /// `Name { field: value, … }`.
    pub(in crate::kernel::interp) fn struct_literal(&mut self, expr: &ExprStruct) -> Result<Value> {
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

    /// The value of a field.
    pub(in crate::kernel::interp) fn field(
        &mut self,
        base: Value,
        member: &Member,
    ) -> Result<Value> {
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
