//! Calls of macros, and `assert!`.

use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::text;
use crate::kernel::value::Value;
use quote::ToTokens;
use syn::{Error, Expr, Result};

impl Interpreter<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Result<Value> {
        if mac.path.is_ident("layout") {
            return self.notation(mac);
        }
        if mac.path.is_ident("ptx") {
            return self.ptx(mac);
        }
        if mac.path.is_ident("assert") {
            return self.assertion(mac);
        }
        let name = text::shorten(mac.path.to_token_stream());
        Err(Error::new_spanned(
            &mac.path,
            format!("no macro `{name}!` in kernels, only `layout!`, `ptx!` and `assert!`"),
        ))
    }

    /// `assert!(condition)` or `assert!(condition, "message")`, decided at expansion.
    fn assertion(&mut self, mac: &syn::Macro) -> Result<Value> {
        let arguments = mac.parse_body_with(
            syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated,
        )?;
        let mut arguments = arguments.iter();
        let (Some(condition), message, None) =
            (arguments.next(), arguments.next(), arguments.next())
        else {
            let wanted = "`assert!` takes a condition and, if wanted, a message";
            return Err(Error::new_spanned(&mac.path, wanted));
        };
        let message = match message.map(|message| self.eval(message)).transpose()? {
            Some(Value::Str(message)) => message,
            None => text::shorten(condition.to_token_stream()),
            Some(_) => {
                return Err(Error::new_spanned(
                    &mac.path,
                    "the message of `assert!` is a string",
                ));
            }
        };
        match self.eval(condition)? {
            Value::Bool(true) => Ok(Value::Unit),
            Value::Bool(false) => {
                let message = format!("assertion failed: {message}");
                Err(Error::new_spanned(condition, message))
            }
            other => {
                let message = format!(
                    "the condition of `assert!` is a truth value known at expansion, not {}",
                    other.kind()
                );
                Err(Error::new_spanned(condition, message))
            }
        }
    }
}
