//! `for` loops over structs with `impl Iterator`.

use super::jump::{JumpTarget, Kind};
use crate::kernel::emit::builder::unless;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Truth, Value};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Error, ExprForLoop, Result};

impl Interpreter<'_> {
    /// A loop over the values of `next`, until it gives `None`.
    pub(super) fn iterated(&mut self, expr: &ExprForLoop, over: Value) -> Result<()> {
        let span = expr.expr.span();
        let fork = self.b.sites.fork("for", span);
        // `for x in &mut iterator` moves on the variable itself.
        let iterator = match over {
            Value::Reference(value) => *value,
            value => self.variable("iterator", value, usize::MAX)?,
        };
        let Value::Struct(structure) = &iterator else {
            let message = format!("a `for` loop cannot run over {}", iterator.kind());
            return Err(Error::new(span, message));
        };
        let ty = structure.ty.clone();
        let found = self.source.method(ty.module, &ty.name, "next");
        if !found.is_some_and(|(implementation, _)| implementation.iterator) {
            let message = format!("`{}` is no iterator: it has no `impl Iterator`", ty.name);
            return Err(Error::new(span, message));
        }
        let head = self.b.label("for");
        let mut on_break = self.target("for_end");
        self.b.place_label(&head);
        let receiver = crate::kernel::builtins::call::Argument {
            value: Value::Reference(Box::new(iterator)),
            span,
        };
        let next = Ident::new("next", span);
        let item = self.call_method(&ty, &next, Vec::new(), vec![receiver])?;
        let Value::Option(item) = item else {
            let message = format!("`{}::next` gives {}, not an `Option`", ty.name, item.kind());
            return Err(Error::new(span, message));
        };
        if let Truth::Predicate(is_some) = &item.is_some {
            on_break.used = true;
            self.b.branch_if(unless(is_some), &on_break.label);
        }
        let Some(value) = item.value.filter(|_| item.is_some != Truth::Known(false)) else {
            return Ok(());
        };
        self.enter(Kind::Bounded, expr.label.as_ref(), on_break);
        self.current().on_continue = JumpTarget::to(head.clone());
        self.iteration(&expr.pat, *value, &expr.body)?;
        if !self.dead {
            self.b.branch(&head);
        }
        self.dead = true;
        self.leave(Value::Unit)?;
        if let Truth::Predicate(is_some) = &item.is_some {
            self.b.sites.join(&fork, is_some);
        }
        Ok(())
    }
}
