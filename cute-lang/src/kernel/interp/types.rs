//! Types named in a kernel, and checks against them.

use super::generics::{is_function_bound, value_of};
use crate::kernel::emit::param::ParamKind;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::text;
use crate::kernel::value::element::width;
use crate::kernel::value::types::{is_float, is_integer, number_type, register_type, rounded};
use crate::kernel::value::{Element, NumberType, Optional, Scalar, TmaTensor, Value};
use cute_ptx::ast::Type;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, Path, PathArguments, Result};

impl Interpreter<'_> {
    /// The register type of a Rust type, if it is a number type or `bool`.
    pub(super) fn scalar_type(&mut self, ty: &syn::Type) -> Option<Type> {
        let syn::Type::Path(path) = ty else {
            return None;
        };
        if self.alias(&path.path).is_some() {
            let found = self.through_alias(&path.path, |this, ty| Ok(this.scalar_type(ty)));
            return found.ok()??;
        }
        let Some(ident) = path.path.get_ident() else {
            let path = syn::ExprPath {
                attrs: Vec::new(),
                qself: None,
                path: path.path.clone(),
            };
            return match self.path(&path) {
                Ok(Value::Element(element)) => number_type(element),
                _ => None,
            };
        };
        match self.find(&ident.to_string()) {
            Some(Some(Value::Element(element))) => number_type(*element),
            Some(_) => None,
            None => register_type(&ident.to_string()),
        }
    }

    /// Refuses a type of elements that are parts of bytes, which no register holds alone.
    pub(super) fn check_width(&mut self, ty: &syn::Type) -> Result<()> {
        let syn::Type::Path(path) = ty else {
            return Ok(());
        };
        if self.alias(&path.path).is_some() {
            // The error is at the type as it is written here.
            let inner = self.through_alias(&path.path, |this, ty| this.check_width(ty));
            return inner.map_or_else(|error| Err(Error::new(ty.span(), error)), |_| Ok(()));
        }
        let Some(name) = path.path.get_ident().map(ToString::to_string) else {
            return Ok(());
        };
        let element = match self.find(&name) {
            Some(Some(Value::Element(element))) => Some(*element),
            Some(_) => None,
            None => Element::from_name(&name),
        };
        match element.filter(|element| element.bytes().is_err()) {
            Some(element) => Err(Error::new(ty.span(), no_number(element))),
            None => Ok(()),
        }
    }

    /// Whether the path is a type parameter that stands for a function.
    fn is_function(&self, path: &Path) -> bool {
        let value = path
            .get_ident()
            .and_then(|name| self.find(&name.to_string()));
        matches!(value, Some(Some(Value::Callable(_))))
    }

    /// A number as one of a type; `None` if it has another.
    fn number_as(&mut self, value: &Value, wanted: Type) -> Result<Option<Value>> {
        let of_kind = match value.as_num() {
            Some(_) => is_integer(wanted),
            None => is_float(wanted),
        };
        let found = self.b.inference.number_type(value).filter(|_| of_kind);
        let Some(found) = found else { return Ok(None) };
        if self.b.inference.is_assumed(found, wanted) {
            return Ok(Some(value.clone()));
        }
        if found.known().is_some_and(|found| found != wanted) {
            return Ok(None);
        }
        self.b.unify(found, NumberType::Is(wanted))?;
        Ok(match value {
            Value::Int(int, _) => {
                self.b.check_fits(*int, wanted)?;
                Some(Value::Int(*int, NumberType::Is(wanted)))
            }
            Value::Float(float, _) => {
                let float = rounded(*float, wanted);
                Some(Value::Float(float, NumberType::Is(wanted)))
            }
            Value::Scalar(scalar) if scalar.ty == wanted => Some(Value::Scalar(Scalar {
                class: None,
                ..scalar.clone()
            })),
            _ => None,
        })
    }

    /// Unifies the types of the numbers in two values of one type.
    pub(super) fn one_type(&mut self, a: &Value, b: &Value) -> Result<()> {
        if let Some(mut pairs) = a.pairs(b) {
            return pairs.try_for_each(|(a, b)| self.one_type(a, b));
        }
        if a.is_number() && b.is_number() && a.as_num().is_some() == b.as_num().is_some() {
            self.b.unify_values(a, b)?;
        }
        Ok(())
    }

    /// Checks a value against a declared type.
    pub(in crate::kernel) fn ascribe(&mut self, value: Value, ty: &syn::Type) -> Result<Value> {
        let mismatch = |value: &Value| {
            let declared = text::shorten(quote::ToTokens::to_token_stream(ty));
            Error::new(
                ty.span(),
                format!("expected `{declared}`, found {}", value.kind()),
            )
        };
        if let Some(wanted) = self.scalar_type(ty) {
            self.b.set_place(ty.span());
            return match &value {
                value if value.is_number() => match self.number_as(value, wanted)? {
                    Some(number) => Ok(number),
                    None => Err(mismatch(value)),
                },
                Value::Bool(_) if wanted == Type::Pred => Ok(value),
                Value::Scalar(scalar) if scalar.ty == wanted => Ok(value),
                value => Err(mismatch(value)),
            };
        }
        self.check_width(ty)?;
        if let syn::Type::Path(path) = ty
            && self.alias(&path.path).is_some()
        {
            // The error names the type as it is written here.
            let ascribed = self.through_alias(&path.path, |this, ty| {
                let ascribed = this.ascribe(value.clone(), ty);
                ascribed.map_err(|_| mismatch(&value))
            })?;
            return Ok(ascribed.unwrap_or(Value::Unit));
        }
        match (ty, value) {
            (syn::Type::Tuple(ty), Value::Tuple(values)) if ty.elems.len() == values.len() => {
                let pairs = ty.elems.iter().zip(values);
                Ok(Value::Tuple(
                    pairs
                        .map(|(ty, value)| self.ascribe(value, ty))
                        .collect::<Result<_>>()?,
                ))
            }
            (syn::Type::Tuple(ty), Value::Unit) if ty.elems.is_empty() => Ok(Value::Unit),
            (syn::Type::Reference(ty), Value::Reference(value)) if ty.mutability.is_some() => {
                Ok(Value::Reference(Box::new(self.ascribe(*value, &ty.elem)?)))
            }
            (syn::Type::Reference(ty), value) if ty.mutability.is_none() => {
                self.ascribe(value, &ty.elem)
            }
            (syn::Type::Infer(_), value) => Ok(value),
            (syn::Type::Array(ty), Value::Array(values)) => {
                let len = self.eval(&ty.len)?.untyped();
                if len != Value::Int(values.len() as i128, NumberType::Any) {
                    return Err(mismatch(&Value::Array(values)));
                }
                let values = values
                    .into_iter()
                    .map(|value| self.ascribe(value, &ty.elem));
                Ok(Value::Array(values.collect::<Result<_>>()?))
            }
            (syn::Type::Array(ty), Value::List(list)) => {
                let (item, most) = self.b.item_of(list);
                if self.eval(&ty.len)?.untyped() != Value::Int(most, NumberType::Any) {
                    return Err(mismatch(&Value::List(list)));
                }
                self.ascribe(item, &ty.elem)?;
                Ok(Value::List(list))
            }
            (syn::Type::ImplTrait(ty), value @ Value::Callable(_))
                if ty.bounds.iter().any(is_function_bound) =>
            {
                Ok(value)
            }
            (syn::Type::Path(path), Value::Option(option)) if is_option(&path.path) => {
                let inner = option_argument(&path.path);
                let value = match (option.value, inner) {
                    (Some(value), Some(ty)) => Some(Box::new(self.ascribe(*value, ty)?)),
                    (value, _) => value,
                };
                Ok(Value::Option(Optional { value, ..option }))
            }
            (syn::Type::Path(path), Value::Struct(value)) => {
                match self.as_struct(&value, &path.path)? {
                    Some(value) => Ok(Value::Struct(value)),
                    None => Err(mismatch(&Value::Struct(value))),
                }
            }
            (syn::Type::Path(path), value @ Value::Callable(_)) if self.is_function(&path.path) => {
                Ok(value)
            }
            (syn::Type::Path(path), value @ (Value::Global(_) | Value::TmaTensor(_)))
                if path
                    .path
                    .segments
                    .last()
                    .is_some_and(|it| it.ident == "Store") =>
            {
                match self.is_store(&value, &path.path)? {
                    true => Ok(value),
                    false => Err(mismatch(&value)),
                }
            }
            (syn::Type::Path(path), value) => {
                let name = path
                    .path
                    .segments
                    .last()
                    .map(|segment| segment.ident.to_string())
                    .unwrap_or_default();
                let kinds: &[&str] = match &value {
                    Value::Tensor(_) => &["Tensor"],
                    Value::Global(_) => &["Global"],
                    Value::Fragment(_) => &["Fragment"],
                    Value::Barriers(_) => &["Barriers"],
                    Value::Barrier(_) => &["Barrier"],
                    Value::TmaTensor(_) => &["TmaLoad", "TmaStore"],
                    Value::Algebra(_) => &["Layout", "ComposedLayout", "Swizzle", "Tiler"],
                    Value::Int(..) => &["usize", "Layout", "Shape"],
                    Value::Range(..) => &["Range"],
                    Value::Tuple(_) => &["Shape", "Coord", "Tiler"],
                    _ => &[],
                };
                if kinds.contains(&name.as_str()) {
                    Ok(value)
                } else {
                    Err(mismatch(&value))
                }
            }
            (_, value) => Err(mismatch(&value)),
        }
    }

    /// Whether a tensor of global memory is a `Store<T, R, TMA>`, as far as the type says what `TMA` is.
    fn is_store(&mut self, value: &Value, path: &Path) -> Result<bool> {
        let by_tma = match value {
            Value::TmaTensor(TmaTensor(id)) => match &self.b.params[id.param].kind {
                ParamKind::TmaStore(_) => true,
                _ => return Ok(false),
            },
            _ => false,
        };
        let arguments = path.segments.last().map(|last| &last.arguments);
        let Some(PathArguments::AngleBracketed(arguments)) = arguments else {
            return Ok(true);
        };
        let declared = arguments.args.iter().nth(2).and_then(value_of);
        match declared {
            Some(declared) => Ok(matches!(self.eval(&declared)?, Value::Bool(it) if it == by_tma)),
            None => Ok(true),
        }
    }
}

/// The message of a number of elements that are parts of bytes.
pub(super) fn no_number(element: Element) -> String {
    format!("a number has whole bytes, and {}", width(element))
}

fn is_option(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| last.ident == "Option")
}

/// The `T` of `Option<T>`.
fn option_argument(path: &Path) -> Option<&syn::Type> {
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
