//! Calls of macros, and `assert!`.

use crate::kernel::emit::report::Message;
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::message::Format;
use crate::kernel::syntax::text;
use crate::kernel::value::{Truth, Value};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Macro, Result, Token};

/// A macro of the language, by its name.
type Expand = fn(&mut Interpreter<'_>, &Macro) -> Result<Value>;

const MACROS: &[(&str, Expand)] = &[
    ("layout", |this, mac| this.notation(mac)),
    ("ptx", |this, mac| this.ptx(mac)),
    ("assert", |this, mac| this.assertion(mac)),
    ("print", |this, mac| this.print(mac, "print")),
    ("println", |this, mac| this.print(mac, "println")),
];

/// Rust macros, with their replacements in this language.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["vec"],
        "`[0.0; 4]` is an array of known length, and `fragment::<f32>(4)` are registers",
    ),
    (&["assert_eq", "debug_assert_eq"], "write `assert!(a == b)`"),
    (&["assert_ne", "debug_assert_ne"], "write `assert!(a != b)`"),
    (&["debug_assert"], "write `assert!(condition)`"),
    (
        &["panic", "todo", "unimplemented", "unreachable"],
        "`assert!(false, \"message\")` is refused where it is reached at expansion, and `assert!(condition, \"message\")` ends the kernel where a condition fails",
    ),
    (
        &["asm", "global_asm"],
        "`ptx!(u32: \"mov.u32\", \"%smid\")` is an instruction, with the type of its result",
    ),
    (
        &["eprintln", "eprint", "dbg", "format", "write", "writeln"],
        "`println!(\"{}\", x)` shows a value while the kernel runs",
    ),
    (&["matches"], "write `match x { … => true, _ => false }`"),
];

impl Interpreter<'_> {
    pub(super) fn macro_call(&mut self, mac: &Macro) -> Result<Value> {
        let (_, expand) = find(mac).ok_or_else(|| unknown(mac))?;
        expand(self, mac)
    }

    /// `assert!(condition)` or `assert!(condition, "message {}", x)`: decided at expansion if the condition is known then, else at run
    /// time.
    fn assertion(&mut self, mac: &Macro) -> Result<Value> {
        let arguments = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
        let mut arguments = arguments.into_iter();
        let Some(condition) = arguments.next() else {
            let wanted = "`assert!` takes a condition and, if wanted, a message";
            return Err(Error::new_spanned(&mac.path, wanted));
        };
        let format = Format::parse("assert", arguments)?;
        let value = self.eval(&condition)?;
        let holds = match Truth::of(&value) {
            Some(Truth::Known(true)) => return Ok(Value::Unit),
            Some(Truth::Known(false)) => None,
            Some(Truth::Predicate(holds)) => Some(self.b.snapshot(&holds)),
            None => {
                let message = format!(
                    "the condition of `assert!` is a truth value, not {}",
                    value.kind()
                );
                return Err(Error::new_spanned(condition, message));
            }
        };
        let (message, instructions, _) = self.capture(|this| match &format {
            Some(format) => this.message(format),
            None => {
                let mut message = Message::default();
                message.text(&text::shorten(condition.to_token_stream()));
                Ok(message)
            }
        })?;
        let Some(holds) = holds else {
            let message = format!("assertion failed: {}", message.known_text());
            return Err(Error::new_spanned(condition, message));
        };
        self.b.set_place(condition.span());
        self.b.check(&holds, instructions, message);
        Ok(Value::Unit)
    }
}

fn find(mac: &Macro) -> Option<&'static (&'static str, Expand)> {
    MACROS.iter().find(|(name, _)| mac.path.is_ident(name))
}

/// Whether the language has the macro.
pub(super) fn is_known(mac: &Macro) -> bool {
    find(mac).is_some()
}

/// The error of a macro outside of the language.
pub(super) fn unknown(mac: &Macro) -> Error {
    let name = text::shorten(mac.path.to_token_stream());
    let known = MACROS.iter().map(|(name, _)| format!("`{name}!`"));
    let known = known.collect::<Vec<_>>().join(", ");
    let here = ELSEWHERE.iter().find(|(names, _)| names.contains(&&*name));
    let message = match here {
        Some((_, here)) => format!("no macro `{name}!` in kernels: {here}"),
        None => format!("no macro `{name}!` in kernels: there are {known}"),
    };
    Error::new_spanned(&mac.path, message)
}
