//! Structs: their paths and their types.
//!
//! Structs keep what is known in generic parameters. `let mut` puts all numbers of a struct into registers, since it is not yet known
//! which of them its functions change. A generic parameter, as in `Ring<const STAGES: u32>`, stays known.

mod literal;
mod method;

use super::generics::{Bindings, Parameters};
use crate::kernel::builtins::call::Argument;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::module::Implementation;
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::{Struct, StructType, Value};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Error, ItemStruct, Member, Path, Result, Type};

/// A struct as a path names it.
enum Named<'s> {
    /// The declaration, and the arguments between `<` and `>`.
    Declared(ModuleId, &'s ItemStruct, Vec<Argument>),
    /// `Self`, or a parameter that is a struct.
    Known(Rc<StructType>),
}

impl<'s> Interpreter<'s> {
    /// The struct type of a path with all its arguments, or `None` if it names no struct.
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
                    fields: fields(item).into_iter().map(|(name, _)| name).collect(),
                }))
            }
        })
    }

    /// The type of the enum with this path.
    pub(super) fn enum_type(&mut self, path: &Path) -> Result<Option<Rc<StructType>>> {
        let named = self.named_struct(path)?;
        let (module, name) = match &named {
            Some(Named::Known(ty)) => (ty.module, &ty.name),
            Some(Named::Declared(module, item, _)) => (*module, &item.ident),
            None => return Ok(None),
        };
        match (self.source.enumeration(module, &name.to_string()), named) {
            (Some(_), Some(Named::Known(ty))) => Ok(Some(ty)),
            (Some(_), Some(Named::Declared(module, item, _))) => Ok(Some(Rc::new(StructType {
                module,
                name: item.ident.clone(),
                generics: Vec::new(),
                fields: fields(item).into_iter().map(|(name, _)| name).collect(),
            }))),
            _ => Ok(None),
        }
    }

    /// The struct as one of the type of the path, or `None` if it has another type. Arguments omitted in the path are not checked, and
    /// arguments that the struct leaves open come from the path.
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
        // Fields that are structs may have the same open parameters.
        let (module, item) = self.declaration(&ty, path.span())?;
        let place = |_: &str| path.span();
        let values = value.fields.clone();
        let fields = self.ascribe_fields(module, &ty.generics, &fields(item), values, &place)?;
        Ok(Some(Struct {
            ty: Rc::new(ty),
            fields,
        }))
    }

    /// The parameters of a struct, from the parameters of an `impl` of it.
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
        let arguments = self.in_module(module, scope.collect(), |this| {
            this.type_arguments(&last.arguments)
        })?;
        let names = Parameters::of(&item.generics).names();
        let values = arguments.into_iter().map(|argument| argument.value);
        Ok(names.into_iter().zip(values).collect())
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
        let scope = scope.map(|(name, value)| (name, Some(value))).collect();
        self.in_module(module, scope, |this| {
            let pairs = fields.iter().zip(values);
            let checked = pairs.map(|((name, ty), value)| {
                let checked = this.ascribe(value, ty);
                checked.map_err(|error| Error::new(place(name), error))
            });
            checked.collect()
        })
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
            let found = self.through_alias(path, |this, ty| match ty {
                Type::Path(ty) if ty.qself.is_none() => this.named_struct(&ty.path),
                _ => Ok(None),
            });
            return found.map(Option::flatten);
        };
        let given = self.type_arguments(&last.arguments)?;
        Ok(Some(Named::Declared(module, item, given)))
    }

    fn declaration(&self, ty: &StructType, span: Span) -> Result<(ModuleId, &'s ItemStruct)> {
        let found = self.source.structure(ty.module, &ty.name.to_string());
        found.ok_or_else(|| Error::new(span, format!("cannot find the struct `{}`", ty.name)))
    }
}

/// The names and types of the fields. The fields of a tuple struct are numbered.
fn fields(item: &ItemStruct) -> Vec<(String, &Type)> {
    let fields = item.fields.iter().enumerate();
    fields
        .map(|(index, field)| match &field.ident {
            Some(name) => (name.to_string(), &field.ty),
            None => (index.to_string(), &field.ty),
        })
        .collect()
}

/// The name of a field, or its number.
pub(super) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The values of generic parameters without the types of integers, so that equal numbers make one type.
fn untyped(generics: Bindings) -> Bindings {
    let generics = generics.into_iter();
    generics
        .map(|(name, value)| (name, value.untyped()))
        .collect()
}
