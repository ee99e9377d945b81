//! Generic parameters of functions and structs: given between `::<` and `>`, or inferred from arguments.

use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::param::ParamKind;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::types::element_of;
use crate::kernel::value::{Element, NumberType, TmaTensor, Value};
use proc_macro2::{Ident, Span};
use syn::{
    Error, Expr, GenericArgument, GenericParam, Generics, PathArguments, Result, Type,
    TypeParamBound, WherePredicate,
};

/// The generic parameters of a declaration.
pub(super) struct Parameters<'g> {
    params: Vec<&'g GenericParam>,
}

/// The names of parameters, and their values as far as they are known.
pub(super) type Bindings = Vec<(String, Value)>;

impl<'g> Parameters<'g> {
    /// All parameters except functions, as `F: Fn(u32)`, which accept any value.
    pub(super) fn of(generics: &'g Generics) -> Self {
        let params = generics.params.iter();
        Self {
            params: params
                .filter(|param| !is_function(param, generics))
                .collect(),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.params.iter().map(|param| name(param)).collect()
    }
}

/// Whether a generic parameter of this name stands for a function.
pub(super) fn is_function_parameter(name: &Ident, generics: &Generics) -> bool {
    let mut params = generics.params.iter();
    params.any(|param| {
        matches!(param, GenericParam::Type(ty) if ty.ident == *name) && is_function(param, generics)
    })
}

/// Whether a parameter stands for a function.
fn is_function(param: &GenericParam, generics: &Generics) -> bool {
    let GenericParam::Type(param) = param else {
        return false;
    };
    let predicates = generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    let bounds = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            Type::Path(ty) if ty.path.is_ident(&param.ident) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    bounds
        .chain([&param.bounds])
        .flatten()
        .any(is_function_bound)
}

/// Whether a bound is `Fn(…)`, `FnMut(…)` or `FnOnce(…)`.
pub(super) fn is_function_bound(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else {
        return false;
    };
    let last = bound.path.segments.last();
    last.is_some_and(|last| last.ident == "Fn" || last.ident == "FnMut" || last.ident == "FnOnce")
}

fn name(param: &GenericParam) -> String {
    match param {
        GenericParam::Type(param) => param.ident.to_string(),
        GenericParam::Const(param) => param.ident.to_string(),
        GenericParam::Lifetime(param) => param.lifetime.to_string(),
    }
}

impl Interpreter<'_> {
    /// The values of parameters that are given or follow from the types of the inputs.
    pub(super) fn known_generics<'i>(
        &mut self,
        of: &str,
        parameters: &Parameters<'_>,
        span: Span,
        given: Vec<Argument>,
        inputs: impl Iterator<Item = (&'i Type, &'i Value)>,
    ) -> Result<Vec<(String, Option<Value>)>> {
        let names = parameters.names();
        if !given.is_empty() && given.len() != names.len() {
            let wanted = match names.len() {
                0 => "no generic arguments".to_string(),
                count => format!("{count}, `{of}::<{}>`", names.join(", ")),
            };
            let message = format!(
                "`{of}` has {} generic arguments here, but takes {wanted}",
                given.len()
            );
            return Err(Error::new(span, message));
        }
        let mut values: Vec<(String, Option<Value>)> =
            names.iter().map(|name| (name.clone(), None)).collect();
        for ((param, slot), argument) in parameters.params.iter().zip(&mut values).zip(given) {
            if !matches!(argument.value, Value::Wild) {
                slot.1 = Some(check_generic(param, argument)?.1);
            }
        }
        let inputs: Vec<_> = inputs.collect();
        // Two values of a type parameter have one type.
        for (i, (ty, value)) in inputs.iter().enumerate() {
            let same = |other: &&Type| *other == *ty;
            if let Type::Path(path) = ty
                && path
                    .path
                    .get_ident()
                    .is_some_and(|it| names.iter().any(|name| it == name))
                && let Some((_, other)) = inputs[..i].iter().find(|(ty, _)| same(ty))
            {
                self.b.set_place(span);
                self.one_type(other, value)?;
            }
        }
        for untyped in [false, true] {
            for (ty, value) in &inputs {
                self.infer(ty, value, untyped, &mut values);
            }
        }
        Ok(values)
    }

    /// The values of all parameters: the given ones; for `_` and omitted ones, the values inferred from the types of the inputs.
    pub(super) fn bind_generics<'i>(
        &mut self,
        of: &str,
        parameters: &Parameters<'_>,
        span: Span,
        given: Vec<Argument>,
        inputs: impl Iterator<Item = (&'i Type, &'i Value)>,
    ) -> Result<Bindings> {
        let values = self.known_generics(of, parameters, span, given, inputs)?;
        if let Some((missing, _)) = values.iter().find(|(_, value)| value.is_none()) {
            let names = parameters.names();
            let message = format!(
                "nothing tells `{missing}` of `{of}`: write `{of}::<{}>`",
                names.join(", ")
            );
            return Err(Error::new(span, message));
        }
        let known = values.into_iter();
        Ok(known
            .filter_map(|(name, value)| Some((name, value?)))
            .collect())
    }

    /// Infers the values of parameters from a type and a value of this type. With `untyped`, numbers without a known type count with their
    /// assumed type.
    pub(super) fn infer(
        &mut self,
        ty: &Type,
        value: &Value,
        untyped: bool,
        values: &mut [(String, Option<Value>)],
    ) {
        match (ty, value) {
            (Type::Paren(ty), value) => self.infer(&ty.elem, value, untyped, values),
            (Type::Group(ty), value) => self.infer(&ty.elem, value, untyped, values),
            (Type::Reference(ty), Value::Reference(value)) => {
                self.infer(&ty.elem, value, untyped, values);
            }
            (Type::Reference(ty), value) => self.infer(&ty.elem, value, untyped, values),
            (Type::Tuple(ty), Value::Tuple(parts)) => {
                for (ty, part) in ty.elems.iter().zip(parts) {
                    self.infer(ty, part, untyped, values);
                }
            }
            (Type::Array(ty), Value::Array(parts)) => {
                infer_constant(
                    &ty.len,
                    &Value::Int(parts.len() as i128, NumberType::Any),
                    values,
                );
                for part in parts {
                    self.infer(&ty.elem, part, untyped, values);
                }
            }
            (Type::Array(ty), Value::List(list)) => {
                let (item, most) = self.b.item_of(*list);
                infer_constant(&ty.len, &Value::Int(most, NumberType::Any), values);
                self.infer(&ty.elem, &item, untyped, values);
            }
            (Type::Path(path), value) if let Some((_, item)) = self.alias(&path.path) => {
                let names = Parameters::of(&item.generics).names();
                let mut inner: Vec<_> = names.into_iter().map(|name| (name, None)).collect();
                self.infer(&item.ty, value, untyped, &mut inner);
                let last = path.path.segments.last();
                let Some(PathArguments::AngleBracketed(arguments)) = last.map(|it| &it.arguments)
                else {
                    return;
                };
                for (argument, (_, value)) in arguments.args.iter().zip(inner) {
                    if let Some(value) = value {
                        settle_argument(argument, value, values);
                    }
                }
            }
            (Type::Path(path), value) => {
                let Some(segment) = path.path.segments.last() else {
                    return;
                };
                let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                    let name = path.path.get_ident().map(Ident::to_string);
                    let slot = values
                        .iter_mut()
                        .find(|(known, _)| Some(known) == name.as_ref());
                    if let Some((_, slot @ None)) = slot {
                        *slot = self.type_of(value, untyped);
                    }
                    return;
                };
                if let Value::Option(option) = value {
                    if let (Some(GenericArgument::Type(ty)), Some(value)) =
                        (arguments.args.first(), &option.value)
                    {
                        self.infer(ty, value, untyped, values);
                    }
                    return;
                }
                for (argument, value) in arguments.args.iter().zip(self.generics_of(value)) {
                    settle_argument(argument, value, values);
                }
            }
            _ => {}
        }
    }

    /// The type of a value as the value of a generic parameter.
    fn type_of(&mut self, value: &Value, untyped: bool) -> Option<Value> {
        match value {
            value if let Some(ty) = self.b.inference.number_type(value) => {
                let ty = match ty {
                    NumberType::Is(ty) => ty,
                    ty if untyped => self.b.inference.assume_generic(ty),
                    _ => return None,
                };
                element_of(ty).map(Value::Element)
            }
            Value::Scalar(scalar) => element_of(scalar.ty).map(Value::Element),
            Value::Struct(value) => Some(Value::Type(value.ty.clone())),
            _ => None,
        }
    }

    /// The generic arguments of the type of a value. A parameter may be a `Store`, which has one more than other tensors.
    fn generics_of(&self, value: &Value) -> Vec<Value> {
        let tensor = |element: Element, rank: usize, by_tma: bool| {
            vec![
                Value::Element(element),
                Value::Int(rank as i128, NumberType::Any),
                Value::Bool(by_tma),
            ]
        };
        match value {
            Value::Tensor(tensor) => vec![Value::Element(tensor.element)],
            Value::Fragment(fragment) => vec![Value::Element(fragment.element)],
            Value::Global(global) => tensor(global.element, global.rank(), false),
            Value::TmaTensor(TmaTensor(id)) => match &self.b.params[id.param].kind {
                ParamKind::TmaLoad(map) | ParamKind::TmaStore(map) => {
                    tensor(map.element, map.rank, true)
                }
                _ => Vec::new(),
            },
            Value::Struct(value) => {
                let generics = value.ty.generics.iter();
                generics.map(|(_, value)| value.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The expression of a generic argument that is a value: `true`, `{ N > 1 }`, or a name, which looks like a type.
pub(in crate::kernel) fn value_of(argument: &GenericArgument) -> Option<Expr> {
    match argument {
        GenericArgument::Const(value) => Some(value.clone()),
        GenericArgument::Type(Type::Path(ty)) => Some(Expr::Path(syn::ExprPath {
            attrs: Vec::new(),
            qself: None,
            path: ty.path.clone(),
        })),
        _ => None,
    }
}

fn infer_constant(expr: &Expr, value: &Value, values: &mut [(String, Option<Value>)]) {
    if let Expr::Path(path) = expr
        && let Some(name) = path.path.get_ident()
    {
        settle(&name.to_string(), value.clone(), values);
    }
}

/// Gives the parameter named by an argument its value, if it has none.
fn settle_argument(
    argument: &GenericArgument,
    value: Value,
    values: &mut [(String, Option<Value>)],
) {
    match argument {
        GenericArgument::Type(Type::Path(path)) => {
            if let Some(name) = path.path.get_ident() {
                settle(&name.to_string(), value, values);
            }
        }
        GenericArgument::Const(expr) => infer_constant(expr, &value, values),
        _ => {}
    }
}

/// Gives a parameter its value, if it has none.
fn settle(name: &str, value: Value, values: &mut [(String, Option<Value>)]) {
    let slot = values.iter_mut().find(|(known, _)| known == name);
    if let Some((_, slot @ None)) = slot {
        *slot = Some(value);
    }
}

/// The name and the value of a type or const parameter, or an error if the argument has another kind.
pub fn check_generic(param: &GenericParam, argument: Argument) -> Result<(String, Value)> {
    let Argument { value, span } = argument;
    let wanted = match (param, &value) {
        (GenericParam::Type(_), Value::Element(_) | Value::Type(_)) => {
            return Ok((name(param), value));
        }
        (GenericParam::Const(_), value) if is_constant(value) => {
            return Ok((name(param), value.clone().untyped()));
        }
        (GenericParam::Type(_), _) => "an element type or a struct",
        (GenericParam::Const(_), _) => "a value known at expansion",
        (GenericParam::Lifetime(param), _) => {
            let message = "a function takes type and const parameters only";
            return Err(Error::new_spanned(param, message));
        }
    };
    let name = name(param);
    let hint = match (param, &value) {
        (GenericParam::Type(_), value) if is_constant(value) => {
            format!(": a parameter of numbers is declared by `const {name}: u32`")
        }
        _ => String::new(),
    };
    let message = format!("`{name}` is {wanted}, not {}{hint}", value.kind());
    Err(Error::new(span, message))
}

fn is_constant(value: &Value) -> bool {
    match value {
        Value::Int(..) | Value::Bool(_) => true,
        value => value.parts().is_some_and(|parts| {
            parts.iter().all(|part| {
                is_constant(part)
                    || matches!(
                        part,
                        Value::Float(..) | Value::Algebra(_) | Value::Element(_)
                    )
            })
        }),
    }
}
