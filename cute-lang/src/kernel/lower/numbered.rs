//! Values of `#[instances(…)]` without a name of their own: elements of constant arrays, and expressions. They have numbers for names.
//!
//! Values of instances are compared where they have no name. Elements of arrays and expressions are evaluated once for a module, before
//! kernels are lowered. Equal ones are one instance, since arrays are computed and host code finds instances by value. Two written names
//! of one value remain two instances, since host code uses both names.

use super::constants::evaluated;
use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::builder::Builder;
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::generics::check_generic;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::instance::Instance;
use crate::kernel::syntax::kernel::{Given, Kernel};
use crate::kernel::syntax::listed::{Listed, Numbers, text_of};
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::{NumberType, Value};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use std::mem::take;
use syn::spanned::Spanned;
use syn::{Error, Expr, GenericParam, Result, parse_quote};

/// The values of numbered names, by the names of the kernel, the parameter and the value.
#[derive(Default)]
pub(crate) struct Numbered(HashMap<[String; 3], Value>);

impl Numbered {
    /// The value of a parameter, if it is a numbered name.
    pub(super) fn value(&self, kernel: &Kernel, parameter: &Ident, name: &Expr) -> Option<&Value> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&key(kernel, parameter, text_of(name).ok()?))
    }
}

fn key(kernel: &Kernel, parameter: &Ident, name: String) -> [String; 3] {
    let kernel = &kernel.function.sig.ident;
    [kernel.to_string(), parameter.to_string(), name]
}

/// Names the values without a name in all kernels of the module, and lists the instances of these kernels. An array is evaluated once,
/// however many instances it has.
pub(super) fn number(source: &mut Source) -> Result<Numbered> {
    let (mut numbered, mut errors) = (Numbered::default(), Errors::default());
    let mut arrays = HashMap::new();
    for index in 0..source.module(HERE).kernels.len() {
        let kernel = &source.module(HERE).kernels[index];
        if kernel.is_named() {
            continue;
        }
        let mut naming = Naming {
            source,
            kernel,
            arrays: &mut arrays,
            numbers: Numbers::default(),
            known: HashMap::new(),
            renamed: Vec::new(),
            numbered: &mut numbered,
        };
        let Some(given) = errors.record(naming.given()) else {
            continue;
        };
        let renamed = naming.renamed;
        let kernel = &mut source.here_mut().kernels[index];
        (kernel.given, kernel.renamed) = (given, renamed);
        if errors.record(kernel.list()).is_some() {
            let instances = take(&mut kernel.instances);
            let instances = without_repetition(source, instances);
            source.here_mut().kernels[index].instances = instances;
        }
    }
    errors.record(source.module(HERE).check_instances());
    errors.finish(numbered)
}

/// Gives names to the values of a kernel.
struct Naming<'s> {
    source: &'s Source,
    kernel: &'s Kernel,
    /// The elements of arrays, by path.
    arrays: &'s mut HashMap<String, Vec<Value>>,
    numbers: Numbers,
    /// By parameter, its values.
    known: HashMap<String, Known>,
    renamed: Vec<(Ident, Ident, Expr)>,
    numbered: &'s mut Numbered,
}

/// The values of a parameter, as texts.
#[derive(Default)]
struct Known {
    /// By value, its first name as an expression.
    names: HashMap<String, Expr>,
    /// By name, its value.
    values: HashMap<String, String>,
}

impl Naming<'_> {
    /// The attributes with names for all values.
    fn given(&mut self) -> Result<Vec<Given>> {
        let (mut given, mut errors) = (self.kernel.given.clone(), Errors::default());
        // A written name is preferred to a number, wherever it is written.
        errors.record(self.written());
        for given in &mut given {
            if let Given::Product(product) = given {
                let named = product.name(&mut |parameter, listed| self.names(parameter, listed));
                errors.record(named);
            }
        }
        errors.finish(given)
    }

    /// Notes the values that are written with their names, of parameters that also have others.
    fn written(&mut self) -> Result<()> {
        let mut errors = Errors::default();
        let products = self.kernel.given.iter().filter_map(|given| match given {
            Given::Product(product) => Some(product),
            Given::One(_) => None,
        });
        let listed: Vec<(&Ident, &Listed)> = products.flat_map(|it| it.listed()).collect();
        let unnamed = |(_, listed): &&(&Ident, &Listed)| !matches!(listed, Listed::Named(_));
        let parameters: Vec<&Ident> = listed.iter().filter(unnamed).map(|(it, _)| *it).collect();
        for (parameter, listed) in listed {
            let Listed::Named(values) = listed else {
                continue;
            };
            let Some(written) = values.first().filter(|_| parameters.contains(&parameter)) else {
                continue;
            };
            let noted = evaluated(self.source, written, |_, value| Ok(value))
                .and_then(|value| self.constant(parameter, written, value))
                .and_then(|value| self.note(parameter, written, written, &value));
            errors.record(noted);
        }
        errors.finish(())
    }

    /// The names of an expression, or of the elements of an array, as values of a parameter. A value that has a name keeps it.
    fn names(&mut self, parameter: &Ident, listed: &Listed) -> Result<Vec<Expr>> {
        let (written, values) = match listed {
            Listed::Named(_) => return Ok(Vec::new()),
            Listed::Expr(expr) => (expr, vec![self.expression(parameter, expr)?]),
            Listed::Array(array) => (array, self.elements(parameter, array)?),
        };
        let names = self.numbers.names(parameter, listed, &|_| values.len());
        let mut kept = Vec::new();
        for (name, value) in names.into_iter().zip(values) {
            let expr = parse_quote!(#name);
            let first = self.note(parameter, written, &expr, &value)?;
            if first == expr {
                let key = key(self.kernel, parameter, name.to_string());
                self.numbered.0.insert(key, value);
            } else {
                let renamed = (parameter.clone(), name, first.clone());
                if !self.renamed.contains(&renamed) {
                    self.renamed.push(renamed);
                }
            }
            kept.push(first);
        }
        Ok(kept)
    }

    /// Notes a name of a value, and returns the first name of this value.
    fn note(
        &mut self,
        parameter: &Ident,
        written: &Expr,
        name: &Expr,
        value: &Value,
    ) -> Result<Expr> {
        let known = self.known.entry(parameter.to_string()).or_default();
        let value = text_of_value(value);
        let first = known.names.entry(value.clone());
        let first = first.or_insert_with(|| name.clone()).clone();
        let name = text_of(name)?;
        if *known.values.entry(name.clone()).or_insert(value.clone()) != value {
            let message = format!(
                "two values of `{parameter}` are named `{name}`: give a constant another name"
            );
            return Err(Error::new_spanned(written, message));
        }
        Ok(first)
    }

    /// The value of an expression.
    fn expression(&self, parameter: &Ident, expr: &Expr) -> Result<Value> {
        let value = evaluated(self.source, expr, |interpreter, value| {
            self.typed(interpreter, parameter, value)
                .map_err(|error| Error::new_spanned(expr, error))
        })?;
        self.constant(parameter, expr, value)
    }

    /// The elements of an array.
    fn elements(&mut self, parameter: &Ident, array: &Expr) -> Result<Vec<Value>> {
        let path = array.to_token_stream().to_string();
        let elements = match self.arrays.get(&path) {
            Some(elements) => elements.clone(),
            None => {
                let elements = elements(self.source, parameter, array)?;
                self.arrays.insert(path, elements.clone());
                elements
            }
        };
        let Some(first) = elements.first() else {
            let message = format!("the array is empty: no value is given for `{parameter}`");
            return Err(Error::new_spanned(array, message));
        };
        // All elements have one type.
        let mut interpreter = Interpreter::new(self.source, Builder::new(1, [1, 1, 1]));
        let typed = self.typed(&mut interpreter, parameter, first.clone());
        typed.map_err(|error| {
            let message =
                format!("the elements of the array are no values of `{parameter}`: {error}");
            Error::new_spanned(array, message)
        })?;
        let values = elements.into_iter();
        let values = values.map(|value| self.constant(parameter, array, value));
        values.collect()
    }

    /// A value of the type of a parameter, if this type does not depend on other parameters.
    fn typed(
        &self,
        interpreter: &mut Interpreter<'_>,
        parameter: &Ident,
        value: Value,
    ) -> Result<Value> {
        let Some(GenericParam::Const(param)) = self.kernel.parameter(parameter) else {
            return Ok(value);
        };
        match self.names_parameter(param.ty.to_token_stream()) {
            true => Ok(value),
            false => interpreter.ascribe(value, &param.ty),
        }
    }

    /// Whether tokens name a parameter of the kernel.
    fn names_parameter(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => self.names_parameter(group.stream()),
            TokenTree::Ident(name) => self.kernel.parameter(&name).is_some(),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }

    /// The value as one of a const parameter. It means the same to any interpreter.
    fn constant(&self, parameter: &Ident, written: &Expr, value: Value) -> Result<Value> {
        // Without such a parameter, the list of instances is refused.
        let Some(param) = self.kernel.parameter(parameter) else {
            return Ok(value);
        };
        let span = written.span();
        let (_, value) = check_generic(param, Argument { value, span })?;
        Ok(without_classes(value))
    }
}

/// The elements of a constant array.
fn elements(source: &Source, parameter: &Ident, array: &Expr) -> Result<Vec<Value>> {
    match evaluated(source, array, |_, value| Ok(value))? {
        Value::Array(elements) => Ok(elements.into_iter().map(without_classes).collect()),
        other => {
            let (name, kind) = (array.to_token_stream(), other.kind());
            let message = format!(
                "expected a constant array, found {kind}: a list of values is `{parameter} in [{name}]`"
            );
            Err(Error::new_spanned(array, message))
        }
    }
}

/// The value with no class of numbers, which only one interpreter knows.
fn without_classes(value: Value) -> Value {
    let any = |ty: NumberType| ty.known().map_or(NumberType::Any, NumberType::Is);
    match value {
        Value::Int(value, ty) => Value::Int(value, any(ty)),
        Value::Float(value, ty) => Value::Float(value, any(ty)),
        value => match value.parts() {
            Some(parts) => {
                let parts = parts.iter().cloned().map(without_classes);
                value.with_parts(parts.collect())
            }
            None => value,
        },
    }
}

/// A text that equal values of one type have in common. Floating-point numbers are compared bit by bit.
fn text_of_value(value: &Value) -> String {
    match value {
        Value::Float(value, _) => format!("{:x}", value.to_bits()),
        Value::Algebra(value) => value.to_string(),
        value => match value.parts() {
            Some(parts) => {
                let parts: Vec<String> = parts.iter().map(text_of_value).collect();
                format!("{}({})", value.kind(), parts.join(","))
            }
            None => value.clone().untyped().kind(),
        },
    }
}

/// The instances without repetitions in which a value has a number. Two that are written by names remain, as a mistake. The first of equal
/// instances remains, with the features of one that is built, if there is one.
fn without_repetition(source: &Source, instances: Vec<Instance>) -> Vec<Instance> {
    let mut different: Vec<Instance> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    for instance in instances {
        let texts = instance.values.iter().map(|(_, value)| text_of(value));
        let texts: Option<Vec<String>> = texts.map(Result::ok).collect();
        let place = texts.filter(|_| instance.chosen);
        let place = place.map(|texts| *places.entry(texts).or_insert(different.len()));
        match place.and_then(|place| different.get_mut(place)) {
            Some(other) if instance.numbered || other.numbered => {
                other.numbered &= instance.numbered;
                if source.missing_features(&instance).is_empty() {
                    other.features = instance.features;
                }
            }
            _ => different.push(instance),
        }
    }
    different
}
