//! Messages with holes: `print!`, `println!`, and the text of `assert!`.

use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::report::Message;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::types::{element_of, rust_name};
use crate::kernel::value::{Element, NumberType, Scalar, Tensor, Truth, Value, decimal};
use cute_ptx::ast::Type;
use proc_macro2::{Ident, Span};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Macro, Result, Token};

/// The most values of a message: each is an instruction, and four bytes of the buffer for every thread that reports.
const MAX_VALUES: usize = 1024;

/// A part of a format string.
enum Part {
    Text(String),
    /// `{}`.
    Hole,
    /// `{name}`.
    Named(Ident),
}

/// A format string and its arguments.
pub(super) struct Format {
    parts: Vec<Part>,
    arguments: Vec<Expr>,
}

impl Format {
    /// Checks that there is an argument for each hole. `None` for an empty message.
    pub(super) fn parse(
        name: &str,
        arguments: impl IntoIterator<Item = Expr>,
    ) -> Result<Option<Format>> {
        let mut arguments = arguments.into_iter();
        let literal = match arguments.next() {
            None => return Ok(None),
            Some(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) => text,
            Some(other) => {
                let message = format!(
                    "the message of `{name}!` is a string literal: `\"{{}}\"` shows a value"
                );
                return Err(Error::new_spanned(other, message));
            }
        };
        let (parts, arguments) = (parts(&literal)?, arguments.collect::<Vec<_>>());
        let holes = parts
            .iter()
            .filter(|part| matches!(part, Part::Hole))
            .count();
        if let Some(surplus) = arguments.get(holes) {
            let text = literal.value();
            let of_c = [
                "%d", "%f", "%u", "%i", "%s", "%g", "%x", "%ld", "%lu", "%lld", "%llu",
            ];
            let of_c = of_c.iter().find(|it| text.contains(**it));
            let message = match of_c {
                Some(it) => format!("a value is shown by `{{}}`, not by `{it}`"),
                None => {
                    format!("the message has {holes} `{{}}`, so there is none for this argument")
                }
            };
            return Err(Error::new_spanned(surplus, message));
        }
        if arguments.len() < holes {
            let message = format!(
                "the message has {holes} `{{}}`, but the number of arguments is {}",
                arguments.len()
            );
            return Err(Error::new(literal.span(), message));
        }
        Ok(Some(Format { parts, arguments }))
    }

    /// The names in its holes.
    pub(super) fn names(&self) -> impl Iterator<Item = &Ident> {
        self.parts.iter().filter_map(|part| match part {
            Part::Named(name) => Some(name),
            Part::Text(_) | Part::Hole => None,
        })
    }

    /// The arguments of holes without names.
    pub(super) fn arguments(&self) -> &[Expr] {
        &self.arguments
    }
}

/// The parts of a format string.
fn parts(literal: &LitStr) -> Result<Vec<Part>> {
    let text = literal.value();
    let error = |message: String| Error::new(literal.span(), message);
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            plain.push_str(brace);
            rest = after;
            continue;
        }
        let Some((hole, after)) = rest.split_once('}').filter(|_| brace == "{") else {
            return Err(error(format!(
                "this `{brace}` has no partner: `{brace}{brace}` shows one"
            )));
        };
        rest = after;
        parts.push(Part::Text(std::mem::take(&mut plain)));
        parts.push(match syn::parse_str::<Ident>(hole) {
            _ if hole.is_empty() => Part::Hole,
            Ok(name) => Part::Named(Ident::new(&name.to_string(), literal.span())),
            Err(_) => {
                let message =
                    format!("`{{{hole}}}` is not supported in kernels, only `{{}}` and `{{name}}`");
                return Err(error(message));
            }
        });
    }
    plain.push_str(rest);
    parts.push(Part::Text(plain));
    Ok(parts)
}

impl Interpreter<'_> {
    /// `print!` and `println!`, with a line break at the end of `println!`.
    pub(super) fn print(&mut self, mac: &Macro, name: &str) -> Result<Value> {
        let arguments =
            Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone())?;
        let mut message = match Format::parse(name, arguments)? {
            Some(format) => self.message(&format)?,
            None => Message::default(),
        };
        if name == "println" {
            message.text("\n");
        }
        self.b.print(message);
        Ok(Value::Unit)
    }

    /// The message of a format. Computes its values here.
    pub(super) fn message(&mut self, format: &Format) -> Result<Message> {
        let mut message = Message::default();
        let mut arguments = format.arguments.iter();
        for part in &format.parts {
            match part {
                Part::Text(text) => message.text(text),
                Part::Named(name) => {
                    let value = self.lookup(name)?;
                    self.show(&mut message, value, name.span())?;
                }
                Part::Hole => {
                    if let Some(argument) = arguments.next() {
                        let value = self.eval(argument)?;
                        self.show(&mut message, value, argument.span())?;
                    }
                }
            }
        }
        Ok(message)
    }

    /// Appends the text of a value.
    fn show(&mut self, message: &mut Message, value: Value, span: Span) -> Result<()> {
        self.b.set_place(span);
        match value {
            Value::Unit => message.text("()"),
            Value::Int(value, _) => message.text(&value.to_string()),
            Value::Float(value, ty) => {
                let (value, ty) = self.b.inference.float(value, ty);
                message.text(&decimal(value, ty));
            }
            Value::Bool(value) => message.text(&value.to_string()),
            Value::Str(text) => message.text(&text),
            Value::Word(word) => message.text(word),
            Value::Element(element) => message.text(element.name()),
            Value::Type(ty) => message.text(&ty.to_string()),
            Value::Algebra(value) => message.text(&value.to_string()),
            Value::Reference(value) => self.show(message, *value, span)?,
            Value::Tuple(parts) if parts.len() == 1 => {
                self.list(message, ["(", ",)"], parts, span)?
            }
            Value::Tuple(parts) => self.list(message, ["(", ")"], parts, span)?,
            Value::Array(parts) => self.list(message, ["[", "]"], parts, span)?,
            Value::Struct(value)
                if self.enumeration_of(&Value::Struct(value.clone())).is_some() =>
            {
                let name = &value.ty.name;
                let text = format!("a `{name}` has no text: show its number, `… as u32`");
                return Err(Error::new(span, text));
            }
            Value::Struct(value) if value.ty.fields.is_empty() => {
                message.text(&value.ty.name.to_string());
            }
            Value::Struct(value) if value.ty.fields[0] == "0" => {
                message.text(&value.ty.name.to_string());
                self.list(message, ["(", ")"], value.fields, span)?;
            }
            Value::Struct(value) => {
                message.text(&format!("{} {{ ", value.ty.name));
                for (index, (field, value)) in value.ty.fields.iter().zip(value.fields).enumerate()
                {
                    let comma = if index == 0 { "" } else { ", " };
                    message.text(&format!("{comma}{field}: "));
                    self.show(message, value, span)?;
                }
                message.text(" }");
            }
            Value::Scalar(scalar) if scalar.ty == Type::Pred => {
                let predicate = self.b.snapshot(&scalar);
                message.truth(predicate);
            }
            Value::Scalar(scalar) => {
                let Some(element) = element_of(scalar.ty) else {
                    let text = format!("a `{}` cannot be shown", rust_name(scalar.ty));
                    return Err(Error::new(span, text));
                };
                self.number(message, element, scalar, span)?;
            }
            Value::Fragment(fragment) => {
                message.text("[");
                for index in 0..fragment.values.len() {
                    message.text(if index == 0 { "" } else { ", " });
                    let value = fragment.read(&mut self.b, index);
                    self.number(message, fragment.element, value, span)?;
                }
                message.text("]");
            }
            Value::Tensor(tensor) => self.show_tensor(message, &tensor, &mut Vec::new(), span)?,
            Value::Option(option) if option.is_some == Truth::Known(false) => message.text("None"),
            other => {
                let text = format!("{} cannot be shown", other.kind());
                return Err(Error::new(span, text));
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        message: &mut Message,
        [open, close]: [&str; 2],
        parts: Vec<Value>,
        span: Span,
    ) -> Result<()> {
        message.text(open);
        for (index, part) in parts.into_iter().enumerate() {
            message.text(if index == 0 { "" } else { ", " });
            self.show(message, part, span)?;
        }
        message.text(close);
        Ok(())
    }

    /// The elements of a tile, by rows. The coordinate fixes its other modes.
    fn show_tensor(
        &mut self,
        message: &mut Message,
        tensor: &Tensor,
        coordinate: &mut Vec<Value>,
        span: Span,
    ) -> Result<()> {
        let layout = tensor.layout.layout();
        let Some(mode) = layout.mode(coordinate.len()) else {
            let coordinate = match &coordinate[..] {
                [only] => only.clone(),
                all => Value::Tuple(all.to_vec()),
            };
            let args = [Value::Tensor(tensor.clone()), coordinate];
            let args = args.map(|value| Argument { value, span }).into();
            let value = self.call_builtin("index", span, Vec::new(), args)?;
            return self.show(message, value, span);
        };
        message.text("[");
        for index in 0..mode.size() {
            message.text(if index == 0 { "" } else { ", " });
            coordinate.push(Value::Int(index.into(), NumberType::Any));
            self.show_tensor(message, tensor, coordinate, span)?;
            coordinate.pop();
        }
        message.text("]");
        Ok(())
    }

    fn number(
        &mut self,
        message: &mut Message,
        element: Element,
        value: Scalar,
        span: Span,
    ) -> Result<()> {
        if message.values() == MAX_VALUES {
            let text = format!("a message shows at most {MAX_VALUES} values");
            return Err(Error::new(span, text));
        }
        let value = self.b.snapshot(&value);
        message.number(element.host(), value);
        Ok(())
    }
}
