//! Paths of several names: `Name::f(…)`, `module::f(…)`, `module::CONSTANT`, `u32::MAX` and `T::Accumulator`.

use super::elsewhere::{elsewhere, function_elsewhere, type_hint};
use super::function::Invocation;
use super::types::no_number;
use super::{Interpreter, Scope, word};
use crate::kernel::builtins;
use crate::kernel::builtins::call::Argument;
use crate::kernel::value::types::{is_float, is_integer, number_type, range};
use crate::kernel::value::{Element, NumberType, Value};
use cute_ptx::ast::Type;
use quote::ToTokens;
use std::f64::consts;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprPath, Path, PathSegment, Result, Token};

impl Interpreter<'_> {
    /// The value of a path.
    pub(super) fn path(&mut self, expr: &ExprPath) -> Result<Value> {
        let path = &expr.path;
        if let Some(name) = path.get_ident() {
            return self.lookup(name);
        }
        if let [first, last] = &path.segments.iter().collect::<Vec<_>>()[..] {
            let (first, name) = (first.ident.to_string(), last.ident.to_string());
            if let Some(module) = self.source.imported(self.module, &first) {
                return self.in_module(module, Scope::new(), |this| this.lookup(&last.ident));
            }
            let element = self.element_named(&first);
            if let Some(value) = element.and_then(|element| associated_constant(element, &name)) {
                return Ok(value);
            }
            if let Some(element) = element.filter(|it| it.bytes().is_err() && name != "Accumulator")
            {
                return Err(Error::new_spanned(path, no_number(element)));
            }
            if let Some(element) = element.filter(|_| name == "Accumulator") {
                let accumulators = element.wgmma().map(|input| input.accumulators);
                return match accumulators.and_then(<[Element]>::last) {
                    Some(widest) => Ok(Value::Element(*widest)),
                    None => Err(Error::new_spanned(
                        path,
                        format!("wgmma does not multiply `{element}`"),
                    )),
                };
            }
        }
        if let Some(constant) = constant_of_rust(path) {
            return Ok(constant);
        }
        if let Some(operation) = word::operation(path) {
            return Ok(operation);
        }
        if let Some(variant) = self.variant(path)? {
            return Ok(variant);
        }
        let name = path.to_token_stream().to_string().replace(' ', "");
        let last = path.segments.last().map(|last| last.ident.to_string());
        let hint = last.and_then(|last| elsewhere(&last)).unwrap_or_default();
        Err(Error::new_spanned(
            path,
            format!("cannot find `{name}`{hint}"),
        ))
    }

    /// The element type of an alias with this name.
    fn alias_of_element(&mut self, name: &str) -> Option<Element> {
        self.source.alias(self.module, name)?;
        let path = Path::from(syn::Ident::new(name, proc_macro2::Span::call_site()));
        match self.through_alias(&path, |this, ty| this.type_value(ty)) {
            Ok(Some(Value::Element(element))) => Some(element),
            _ => None,
        }
    }

    /// Calls the value of a path of several names.
    pub(super) fn call_path(
        &mut self,
        path: &Path,
        args: &Punctuated<Expr, Token![,]>,
    ) -> Result<Value> {
        let mut before = path.clone();
        let last = before.segments.pop();
        let Some(last) = last else {
            return Err(Error::new_spanned(path, "expected the name of a function"));
        };
        before.segments.pop_punct();
        let mut evaluate = |this: &mut Self| this.arguments(&last.ident, None, args.iter());
        if let Some(value) = self.associated(&before, &last, &mut evaluate)? {
            return Ok(value);
        }
        if let Some(value) = self.function_of_type(&before, &last, args)? {
            return Ok(value);
        }
        if let Some(value) = self.tuple_struct(path, &mut evaluate)? {
            return Ok(value);
        }
        let module = before
            .get_ident()
            .and_then(|name| self.source.imported(self.module, &name.to_string()));
        let source = self.source;
        let found = module.and_then(|module| source.function(module, &last.ident.to_string()));
        let Some((module, function)) = found else {
            let name = path.to_token_stream().to_string().replace(' ', "");
            let owner = before.segments.last().map(|owner| owner.ident.to_string());
            let hint = owner.and_then(|owner| type_hint(&owner));
            let hint = hint.or_else(|| function_elsewhere(&last.ident.to_string()));
            let hint = hint.unwrap_or_default();
            let message = format!("cannot find the function `{name}`{hint}");
            return Err(Error::new_spanned(path, message));
        };
        let types = self.type_arguments(&last.arguments)?;
        let args = self.arguments(&last.ident, None, args.iter())?;
        self.invoke(Invocation {
            module,
            function,
            scope: Scope::new(),
            span: last.ident.span(),
            types,
            args,
        })
    }
}

impl Interpreter<'_> {
    /// `f32::sqrt(x)`, which is `sqrt(x)` for an x of this type, and `f32::from_bits(x)`, which is `from_bits::<f32>(x)`.
    fn function_of_type(
        &mut self,
        ty: &Path,
        name: &PathSegment,
        args: &Punctuated<Expr, Token![,]>,
    ) -> Result<Option<Value>> {
        let element = ty
            .get_ident()
            .and_then(|name| self.element_named(&name.to_string()));
        let function = builtins::find(&name.ident.to_string());
        let (Some(element), Some(function)) = (element, function) else {
            return Ok(None);
        };
        let args = self.arguments(&name.ident, None, args.iter())?;
        let types = match args.first() {
            Some(first) if function.takes_type() && is_of_numbers(&first.value) => {
                vec![Argument {
                    value: Value::Element(element),
                    span: ty.span(),
                }]
            }
            Some(Argument {
                value: Value::Fragment(fragment),
                ..
            }) if fragment.element == element => Vec::new(),
            Some(first) if first.value.is_number() && number_type(element).is_some() => {
                self.b.set_place(first.span);
                self.b.expect(&first.value, Type::of(element))?;
                Vec::new()
            }
            _ => return Ok(None),
        };
        self.call_named(&name.ident, types, args).map(Some)
    }

    /// The element type with this name, which may be a type parameter.
    fn element_named(&mut self, name: &str) -> Option<Element> {
        match self.find(name) {
            Some(Some(Value::Element(element))) => Some(*element),
            _ => Element::from_name(name).or_else(|| self.alias_of_element(name)),
        }
    }
}

fn is_of_numbers(value: &Value) -> bool {
    value.is_number() || matches!(value, Value::Fragment(_))
}

/// `std::f32::consts::PI` and the like.
fn constant_of_rust(path: &Path) -> Option<Value> {
    let segments: Vec<String> = path
        .segments
        .iter()
        .map(|it| it.ident.to_string())
        .collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (ty, name) = match segments[..] {
        ["std" | "core", ty, "consts", name] => (ty, name),
        [ty, "consts", name] => (ty, name),
        _ => return None,
    };
    let (_, value) = CONSTANTS.iter().find(|(known, _)| *known == name)?;
    match ty {
        // Rust's constant of f32 is the nearest number to the constant of f64.
        "f32" => Some(Value::Float(
            (*value as f32).into(),
            NumberType::Is(Type::F32),
        )),
        "f64" => Some(Value::Float(*value, NumberType::Is(Type::F64))),
        _ => None,
    }
}

/// The constants of mathematics in Rust's library.
const CONSTANTS: [(&str, f64); 19] = [
    ("E", consts::E),
    ("FRAC_1_PI", consts::FRAC_1_PI),
    ("FRAC_1_SQRT_2", consts::FRAC_1_SQRT_2),
    ("FRAC_2_PI", consts::FRAC_2_PI),
    ("FRAC_2_SQRT_PI", consts::FRAC_2_SQRT_PI),
    ("FRAC_PI_2", consts::FRAC_PI_2),
    ("FRAC_PI_3", consts::FRAC_PI_3),
    ("FRAC_PI_4", consts::FRAC_PI_4),
    ("FRAC_PI_6", consts::FRAC_PI_6),
    ("FRAC_PI_8", consts::FRAC_PI_8),
    ("LN_10", consts::LN_10),
    ("LN_2", consts::LN_2),
    ("LOG10_2", consts::LOG10_2),
    ("LOG10_E", consts::LOG10_E),
    ("LOG2_10", consts::LOG2_10),
    ("LOG2_E", consts::LOG2_E),
    ("PI", consts::PI),
    ("SQRT_2", consts::SQRT_2),
    ("TAU", consts::TAU),
];

/// `u32::MAX` and the like.
fn associated_constant(element: Element, name: &str) -> Option<Value> {
    let ty = Type::of(element);
    if is_integer(ty) {
        let (least, greatest) = range(ty);
        let value = match name {
            "MIN" => least,
            "MAX" => greatest,
            "BITS" => return Some(Value::Int(ty.bits().into(), NumberType::Is(Type::U32))),
            _ => return None,
        };
        return Some(Value::Int(value, NumberType::Is(ty)));
    }
    if !is_float(ty) {
        return None;
    }
    Some(Value::Float(
        match (name, ty) {
            ("INFINITY", _) => f64::INFINITY,
            ("NEG_INFINITY", _) => f64::NEG_INFINITY,
            ("NAN", _) => f64::NAN,
            ("MAX", Type::F32) => f32::MAX.into(),
            ("MIN", Type::F32) => f32::MIN.into(),
            ("EPSILON", Type::F32) => f32::EPSILON.into(),
            ("MAX", Type::F64) => f64::MAX,
            ("MIN", Type::F64) => f64::MIN,
            ("EPSILON", Type::F64) => f64::EPSILON,
            _ => return None,
        },
        NumberType::Is(ty),
    ))
}
