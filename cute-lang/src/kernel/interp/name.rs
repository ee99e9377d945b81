//! The meaning of names.

use super::elsewhere::{elsewhere, type_hint};
use super::{Interpreter, Scope, VALUES_A_STEP, near, word};
use crate::kernel::builtins;
use crate::kernel::syntax::source::ModuleId;
use crate::kernel::value::{Callable, Element, Optional, Truth, Value};
use cute_algebra::operations;
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::{Error, Fields, ItemConst, ItemStruct, Result};

impl Interpreter<'_> {
    /// Puts a name into the innermost scope.
    pub fn define(&mut self, name: &str, value: Value) {
        self.b.notes.name_shared(name, &value);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), Some(value));
        }
    }

    /// The value of a name.
    pub(super) fn lookup(&mut self, name: &Ident) -> Result<Value> {
        let text = name.to_string();
        if let Some(value) = self.find(&text) {
            let value = value.clone().ok_or_else(|| self.follow(name.span()))?;
            if value.parts().is_some() {
                self.work(value.extent().0 / VALUES_A_STEP, name.span())?;
            }
            return Ok(value);
        }
        let source = self.source;
        if let Some((module, item)) = source.constant(self.module, &text) {
            return self.constant(module, item);
        }
        if text == "None" {
            return Ok(Value::Option(Optional {
                is_some: Truth::Known(false),
                value: None,
            }));
        }
        if let Some(element) = Element::from_name(&text) {
            return Ok(Value::Element(element));
        }
        if let Some(word) = builtins::WORDS.iter().find(|word| **word == text) {
            return Ok(Value::Word(word));
        }
        if source.function(self.module, &text).is_some()
            || builtins::find(&text).is_some()
            || operations::find(&text).is_some()
        {
            return Ok(Value::Callable(Callable::Function(self.module, text)));
        }
        if let Some(operation) = word::operation(&name.clone().into()) {
            return Ok(operation);
        }
        let path = name.clone().into();
        if let Some(value) = self.through_alias(&path, |this, ty| this.type_value(ty))? {
            return Ok(value);
        }
        if let Some(value) = self.unit_struct(&path)? {
            return Ok(value);
        }
        if source
            .structure(self.module, &text)
            .is_some_and(|(_, item)| is_tuple(item))
        {
            return Ok(Value::Callable(Callable::Function(self.module, text)));
        }
        let names = self.scopes.iter().flat_map(HashMap::keys);
        Err(unknown_name(name, names.map(String::as_str)))
    }

    /// The value of a name in scope.
    pub(super) fn find(&self, name: &str) -> Option<&Option<Value>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Runs `f` with only the names of `scope` and the items of a module in scope.
    pub(super) fn in_module<T>(
        &mut self,
        module: ModuleId,
        scope: Scope,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let outer = std::mem::replace(&mut self.module, module);
        let result = f(self);
        self.scopes = scopes;
        self.module = outer;
        result
    }

    /// The value of a constant. Its expression can name only constants.
    pub(super) fn constant(&mut self, module: ModuleId, item: &ItemConst) -> Result<Value> {
        let start = self.length()?;
        let value = self.in_module(module, Scope::new(), |this| {
            let value = this.eval(&item.expr)?;
            this.ascribe(value, &item.ty)
        })?;
        let emitted = self.length()? > start;
        if emitted || !value.is_known() {
            let message = format!(
                "the value of the constant `{}` is known only when the kernel runs",
                item.ident
            );
            return Err(Error::new_spanned(&item.expr, message));
        }
        Ok(value)
    }
}

/// Whether the fields of a struct are numbered, so that its name is a function.
fn is_tuple(item: &ItemStruct) -> bool {
    matches!(item.fields, Fields::Unnamed(_))
}

/// The error of a name that does not exist, given the names of variables.
pub(super) fn unknown_name<'n>(name: &Ident, names: impl Iterator<Item = &'n str>) -> Error {
    let text = name.to_string();
    let near = || near::hint(&text, names.chain(builtins::WORDS.iter().copied()));
    let hint = type_hint(&text)
        .or_else(|| elsewhere(&text))
        .unwrap_or_else(near);
    Error::new(
        name.span(),
        format!("cannot find `{text}` in this scope{hint}"),
    )
}
