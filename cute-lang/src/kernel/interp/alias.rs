//! Type aliases: resolves each in the module that declares it.

use super::generics::Parameters;
use crate::kernel::interp::{Interpreter, Scope};
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::Value;
use syn::spanned::Spanned;
use syn::{Error, ItemType, Path, Result, Type};

impl<'s> Interpreter<'s> {
    /// Runs `f` with the type of an alias, with the names of the alias in scope, or returns `None` if the path names no alias. Omitted
    /// arguments are open.
    pub(super) fn through_alias<T>(
        &mut self,
        path: &Path,
        f: impl FnOnce(&mut Self, &'s Type) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some((module, item)) = self.alias(path) else {
            return Ok(None);
        };
        let Some(last) = path.segments.last() else {
            return Ok(None);
        };
        let given = self.type_arguments(&last.arguments)?;
        let parameters = Parameters::of(&item.generics);
        let none = std::iter::empty();
        let name = item.ident.to_string();
        let known = self.known_generics(&name, &parameters, path.span(), given, none)?;
        let scope = known.into_iter();
        let scope: Scope = scope
            .map(|(name, value)| (name, Some(value.unwrap_or(Value::Wild))))
            .collect();
        // An error in the type is reported where the alias is used.
        let result = self.in_module(module, scope, |this| f(this, &item.ty));
        result
            .map(Some)
            .map_err(|error| Error::new(path.span(), error))
    }

    /// The alias with this path.
    pub(super) fn alias(&self, path: &Path) -> Option<(ModuleId, &'s ItemType)> {
        let source = self.source;
        let (module, last) = match path.segments.len() {
            1 => (self.module, path.segments.first()?),
            2 => {
                let first = path.segments.first()?.ident.to_string();
                (source.imported(self.module, &first)?, path.segments.last()?)
            }
            _ => return None,
        };
        let name = last.ident.to_string();
        if path.segments.len() == 1 && self.find(&name).is_some() {
            return None;
        }
        source.alias(module, &name)
    }

    /// The value of a type as a generic argument: an element type, a struct or an enum.
    pub(super) fn type_value(&mut self, ty: &Type) -> Result<Value> {
        match ty {
            Type::Path(path) if path.qself.is_none() => self.generic_argument(&path.path),
            Type::Paren(ty) => self.type_value(&ty.elem),
            Type::Group(ty) => self.type_value(&ty.elem),
            ty => {
                let message = "expected an element type, a struct or an enum";
                Err(Error::new_spanned(ty, message))
            }
        }
    }
}
