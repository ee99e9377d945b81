//! Enums without data: in registers, a struct of one number, the discriminant.

use crate::kernel::emit::operation::Cmp;
use crate::kernel::interp::{Interpreter, Scope, near};
use crate::kernel::syntax::enumeration::Enumeration;
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::types::{range, register_type, rust_name};
use crate::kernel::value::{NumberType, Struct, Value};
use cute_ptx::ast::Type;
use proc_macro2::Ident;
use std::collections::HashMap;
use std::rc::Rc;
use syn::{Error, Path, Result};

/// The discriminants of an enum in the order of its variants, and their type.
pub(crate) type Discriminants = (Rc<[i128]>, Type);

impl<'s> Interpreter<'s> {
    /// The variant named by a path, or `None` if the path without its last name is no enum.
    pub(super) fn variant(&mut self, path: &Path) -> Result<Option<Value>> {
        let mut before = path.clone();
        let Some(last) = before.segments.pop() else {
            return Ok(None);
        };
        before.segments.pop_punct();
        let Some(ty) = self.enum_type(&before)? else {
            return Ok(None);
        };
        let Some((module, declared)) = self.source.enumeration(ty.module, &ty.name.to_string())
        else {
            return Ok(None);
        };
        let name = &last.ident;
        let Some(index) = declared.variant(name) else {
            let variants = declared.item.variants.iter();
            let variants: Vec<String> = variants.map(|it| it.ident.to_string()).collect();
            let hint = near::hint(&name.to_string(), variants.iter().map(String::as_str));
            let message = format!("`{}` has no variant `{name}`{hint}", ty.name);
            return Err(Error::new(name.span(), message));
        };
        let (all, number) = self.discriminants(module, declared)?;
        Ok(Some(Value::Struct(Struct {
            ty,
            fields: vec![Value::Int(all[index], NumberType::Is(number))],
        })))
    }

    /// The discriminants of an enum, and their type.
    pub(crate) fn discriminants(
        &mut self,
        module: ModuleId,
        declared: &Enumeration,
    ) -> Result<Discriminants> {
        let key = (module, declared.item.ident.to_string());
        if let Some(known) = self.discriminants.get(&key) {
            return Ok(known.clone());
        }
        let found = self.computed_discriminants(module, declared)?;
        self.discriminants.insert(key, found.clone());
        Ok(found)
    }

    fn computed_discriminants(
        &mut self,
        module: ModuleId,
        declared: &Enumeration,
    ) -> Result<Discriminants> {
        let repr = declared.repr.as_ref();
        let repr = repr.and_then(|name| register_type(&name.to_string()));
        // In Rust the default is `isize`, with the same numbers as long as they fit.
        let (least, greatest) = range(repr.unwrap_or(Type::S64));
        let mut all = Vec::new();
        let mut names: HashMap<i128, &Ident> = HashMap::new();
        let mut next = 0;
        for variant in &declared.item.variants {
            let span = variant.ident.span();
            if let Some((_, expr)) = &variant.discriminant {
                let value = self.in_module(module, Scope::new(), |this| this.eval(expr))?;
                self.b.inference.tell(&value, repr.unwrap_or(Type::S64));
                let Value::Int(known, _) = value else {
                    let message =
                        format!("a discriminant is a known integer, not {}", value.kind());
                    return Err(Error::new_spanned(expr, message));
                };
                next = known;
            }
            if !(least..=greatest).contains(&next) {
                let ty = rust_name(repr.unwrap_or(Type::S64));
                let message = format!("the discriminant {next} does not fit `{ty}`");
                return Err(Error::new(span, message));
            }
            if let Some(other) = names.insert(next, &variant.ident) {
                let message = format!(
                    "`{}` has the discriminant {next} of `{other}`",
                    variant.ident
                );
                return Err(Error::new(span, message));
            }
            all.push(next);
            next += 1;
        }
        let (least, greatest) = range(Type::S32);
        let is_narrow = all.iter().all(|it| (least..=greatest).contains(it));
        let usual = if is_narrow { Type::S32 } else { Type::S64 };
        Ok((all.into(), repr.unwrap_or(usual)))
    }

    /// The declaration of the enum of a value.
    pub(super) fn enumeration_of(&self, value: &Value) -> Option<(ModuleId, &'s Enumeration)> {
        let Value::Struct(value) = value else {
            return None;
        };
        let source = self.source;
        source.enumeration(value.ty.module, &value.ty.name.to_string())
    }

    /// The discriminant of a value of an enum.
    pub(super) fn discriminant(&self, value: &Value) -> Option<Value> {
        self.enumeration_of(value)?;
        value.parts()?.first().cloned()
    }

    /// `a == b` and the like for values of an enum, or `None` for other values. With `derived`, the enum must derive the comparison.
    pub(super) fn compare_variants(
        &mut self,
        cmp: Cmp,
        a: &Value,
        b: &Value,
        derived: bool,
    ) -> Result<Option<Value>> {
        let (Some((_, declared)), Some(x), Some(y)) = (
            self.enumeration_of(a),
            self.discriminant(a),
            self.discriminant(b),
        ) else {
            return Ok(None);
        };
        if a.pairs(b).is_none() {
            let message = format!("cannot compare {} with {}", a.kind(), b.kind());
            return Err(self.b.error(message));
        }
        let needed = match cmp {
            Cmp::Eq | Cmp::Ne => "PartialEq",
            _ => "PartialOrd",
        };
        if derived && !declared.derives(needed) {
            let name = &declared.item.ident;
            let message = format!(
                "`{name}` has no `{}`: write `#[derive({needed})]` before it, or `match`",
                cmp.order().symbol()
            );
            return Err(self.b.error(message));
        }
        self.compare(cmp, &x, &y).map(Some)
    }
}
