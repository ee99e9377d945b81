//! `#[instances(…)]`: an instance for each combination of values, if the required features of the crate are on.

use super::errors::Errors;
use super::generics::parameter;
use super::instance::Instance;
use super::listed::{Listed, text_of};
use proc_macro2::Ident;
use std::mem::take;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprLit, GenericParam, Lit, LitStr, Meta, MetaNameValue, Result,
    Signature, Token, bracketed, parenthesized, token,
};

/// `cfg(feature = "small"), (T, D) in [(bf16, f32), #[cfg(feature = "int8")] (i8, i32)], CFG in [SMALL, ..TILES]`: an instance for each
/// combination.
#[derive(Clone)]
pub(crate) struct Product {
    /// The features that a crate needs to have any of the instances.
    features: Vec<LitStr>,
    choices: Vec<Choice>,
}

/// `T in [bf16, f32]`, `(T, D) in [(bf16, f32), (i8, i32)]`, or `CFG in TILES`.
#[derive(Clone)]
struct Choice {
    /// The parameters: one, or several that are selected together.
    names: Vec<Ident>,
    /// Their values.
    values: Vec<Chosen>,
}

/// The values of the parameters that are selected together.
#[derive(Clone)]
struct Chosen {
    /// The features that a crate needs to have an instance with these values.
    features: Vec<LitStr>,
    listed: Listed,
    /// Whether its name is a number, since it has none of its own.
    numbered: bool,
}

impl Choice {
    /// Each choice with names, and the parameters with their values.
    fn pairs(&self) -> impl Iterator<Item = (&Chosen, impl Iterator<Item = (&Ident, &Expr)>)> {
        self.values
            .iter()
            .filter_map(|chosen| match &chosen.listed {
                Listed::Named(values) => Some((chosen, self.names.iter().zip(values))),
                Listed::Expr(_) | Listed::Array(_) => None,
            })
    }
}

impl Product {
    /// The features of all instances, and of some values.
    pub(super) fn features(&self) -> impl Iterator<Item = &LitStr> {
        let values = self.choices.iter().flat_map(|choice| &choice.values);
        self.features
            .iter()
            .chain(values.flat_map(|chosen| &chosen.features))
    }

    /// What is listed for single parameters.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&Ident, &Listed)> {
        let of_one = |choice: &&Choice| choice.names.len() == 1;
        let choices = self.choices.iter().filter(of_one);
        choices.flat_map(|choice| {
            let values = choice.values.iter();
            values.map(|chosen| (&choice.names[0], &chosen.listed))
        })
    }

    /// Whether each value has a name.
    pub(super) fn is_named(&self) -> bool {
        self.listed()
            .all(|(_, listed)| matches!(listed, Listed::Named(_)))
    }

    /// Gives names to the values without one: `names` has them for an expression or an array of a parameter.
    pub(crate) fn name(
        &mut self,
        names: &mut dyn FnMut(&Ident, &Listed) -> Result<Vec<Expr>>,
    ) -> Result<()> {
        for choice in &mut self.choices {
            for chosen in take(&mut choice.values) {
                if let Listed::Named(_) = chosen.listed {
                    choice.values.push(chosen);
                    continue;
                }
                let names = names(&choice.names[0], &chosen.listed)?;
                choice.values.extend(names.into_iter().map(|name| Chosen {
                    features: chosen.features.clone(),
                    listed: Listed::Named(vec![name]),
                    numbered: true,
                }));
            }
        }
        Ok(())
    }

    /// The parameters, in order.
    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.choices.iter().flat_map(|choice| &choice.names)
    }

    /// Refuses constants selected together with other parameters, since host code selects each from an `enum` of its own, and types without
    /// a name. Also refuses parameters that differ from those of the kernel's first product, or have another order: names of instances follow it.
    pub(super) fn check(&self, first: Option<&Product>, sig: &Signature) -> Result<()> {
        let mut errors = Errors::default();
        let constant = |name: &&Ident| matches!(parameter(sig, name), Some(GenericParam::Const(_)));
        for choice in &self.choices {
            if let Some(name) = choice.names.iter().find(constant)
                && choice.names.len() > 1
            {
                let message = format!(
                    "only types are chosen together: write `{name} in […]` outside of the tuple"
                );
                errors.push(Error::new(name.span(), message));
            }
        }
        let ty = |name: &Ident| matches!(parameter(sig, name), Some(GenericParam::Type(_)));
        for (name, listed) in self.listed().filter(|(name, _)| ty(name)) {
            match listed {
                Listed::Named(_) => {}
                Listed::Expr(value) => _ = errors.record(text_of(value)),
                Listed::Array(array) => {
                    let message = format!(
                        "only the values of a const parameter are elements of an array: `{name} in [bf16, f16]`"
                    );
                    errors.push(Error::new_spanned(array, message));
                }
            }
        }
        if let Some(first) = first
            && let Some(last) = self.names().last()
        {
            let mut pairs = self.names().zip(first.names());
            let other = pairs.find(|(name, expected)| name != expected);
            let lengths = (self.names().count(), first.names().count());
            let place = match other {
                Some((name, _)) => Some(name),
                None => (lengths.0 != lengths.1).then_some(last),
            };
            if let Some(place) = place {
                let expected: Vec<String> = first.names().map(|name| format!("`{name}`")).collect();
                let message = format!(
                    "all `#[instances(…)]` of a kernel give the same parameters in the same order: {}",
                    expected.join(", ")
                );
                errors.push(Error::new(place.span(), message));
            }
        }
        errors.finish(())
    }

    /// The instances, named after the kernel and their values: `gemm_bf16_SMALL`. All values have names.
    pub(super) fn instances(&self, kernel: &Ident) -> Result<Vec<Instance>> {
        let start = Instance {
            chosen: true,
            features: self.features.clone(),
            ..Instance::new(kernel.unraw(), Vec::new())
        };
        let mut instances = vec![start];
        for choice in &self.choices {
            let mut longer = Vec::new();
            if instances.len() * choice.values.len() > MAX_INSTANCES {
                let message = format!("more than {MAX_INSTANCES} instances");
                return Err(Error::new(choice.names[0].span(), message));
            }
            for before in instances {
                for (chosen, pairs) in choice.pairs() {
                    let mut instance = before.clone();
                    instance.features.extend_from_slice(&chosen.features);
                    instance.numbered |= chosen.numbered;
                    let mut name = instance.name.to_string();
                    for (parameter, value) in pairs {
                        name.push_str(&format!("_{}", text_of(value)?));
                        instance.values.push((parameter.clone(), value.clone()));
                    }
                    instance.name = Ident::new(&name, kernel.span());
                    longer.push(instance);
                }
            }
            instances = longer;
        }
        Ok(instances)
    }
}

/// The most instances of one `#[instances(…)]`.
pub(crate) const MAX_INSTANCES: usize = 4096;

impl Parse for Product {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let features = match input.peek(syn::Ident) && input.peek2(token::Paren) {
            true => {
                let features = features_of(&input.parse()?)?;
                input.parse::<Option<Token![,]>>()?;
                features
            }
            false => Vec::new(),
        };
        let choices = Punctuated::<Choice, Token![,]>::parse_terminated(input)?;
        Ok(Self {
            features,
            choices: choices.into_iter().collect(),
        })
    }
}

impl Parse for Choice {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let together = input.peek(token::Paren);
        let names: Vec<Ident> = if together {
            let content;
            parenthesized!(content in input);
            let names = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
            names.into_iter().collect()
        } else {
            vec![input.parse()?]
        };
        let Some(first) = names.first() else {
            return Err(input.error("expected the names of parameters in the tuple before `in`"));
        };
        input.parse::<Token![in]>()?;
        if !input.peek(token::Bracket) {
            return Self::of_array(names, together, input);
        }
        let content;
        bracketed!(content in input);
        let values = Punctuated::<Conditional, Token![,]>::parse_terminated(&content)?;
        if values.is_empty() {
            return Err(Error::new(
                first.span(),
                format!("no value is given for `{first}`"),
            ));
        }
        let values = values.into_iter().map(|Conditional(features, value)| {
            let listed = match value {
                Expr::Tuple(tuple) if together && tuple.elems.len() == names.len() => {
                    Listed::Named(tuple.elems.into_iter().collect())
                }
                value if together => {
                    let message = format!("expected a tuple of {} values", names.len());
                    return Err(Error::new_spanned(value, message));
                }
                value => Listed::of_one(value)?,
            };
            Ok(Chosen {
                features,
                listed,
                numbered: false,
            })
        });
        Ok(Self {
            values: values.collect::<Result<_>>()?,
            names,
        })
    }
}

impl Choice {
    /// `TILES` behind `CFG in`.
    fn of_array(names: Vec<Ident>, together: bool, input: ParseStream<'_>) -> Result<Self> {
        let (start, first) = (input.span(), &names[0]);
        let array = match together {
            true => None,
            false => input.parse::<Expr>().and_then(Listed::array).ok(),
        };
        let Some(listed) = array else {
            let message = format!(
                "the values are a list in brackets, `{first} in [bf16, f16]`, or for a const parameter a constant array, `{first} in TILES`"
            );
            return Err(Error::new(start, message));
        };
        Ok(Self {
            values: vec![Chosen {
                features: Vec::new(),
                listed,
                numbered: false,
            }],
            names,
        })
    }
}

/// A value, and the features that it needs.
struct Conditional(Vec<LitStr>, Expr);

impl Parse for Conditional {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut features = Vec::new();
        for attribute in input.call(Attribute::parse_outer)? {
            features.extend(features_of(&attribute.meta)?);
        }
        Ok(Self(features, input.parse()?))
    }
}

/// The features of `cfg(feature = "a")`, or of `cfg(all(feature = "a", feature = "b"))`.
fn features_of(cfg: &Meta) -> Result<Vec<LitStr>> {
    let refused = |meta: &Meta| {
        let message = "expected `cfg(feature = \"…\")` or `cfg(all(feature = \"…\", …))`";
        Error::new_spanned(meta, message)
    };
    let inside = |meta: &Meta, name: &str| match meta {
        Meta::List(list) if list.path.is_ident(name) => {
            list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        }
        _ => Err(refused(meta)),
    };
    let mut features = Vec::new();
    let mut pending: Vec<Meta> = inside(cfg, "cfg")?.into_iter().rev().collect();
    if pending.len() != 1 {
        return Err(refused(cfg));
    }
    while let Some(meta) = pending.pop() {
        match &meta {
            Meta::NameValue(MetaNameValue {
                path,
                value:
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(name),
                        ..
                    }),
                ..
            }) if path.is_ident("feature") => features.push(name.clone()),
            meta => pending.extend(inside(meta, "all")?.into_iter().rev()),
        }
    }
    Ok(features)
}
