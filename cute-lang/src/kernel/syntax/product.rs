//! `#[instances(…)]`: an instance for each combination of values, if the required features of the crate are on.

use super::errors::Errors;
use super::instance::Instance;
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprLit, GenericParam, Lit, LitStr, Meta, MetaNameValue, Result,
    Signature, Token, bracketed, parenthesized, token,
};

/// `cfg(feature = "small"), (T, D) in [(bf16, f32), #[cfg(feature = "int8")] (i8, i32)], CFG in [SMALL, TINY]`: an instance for each
/// combination.
pub(super) struct Product {
    /// The features that a crate needs to have any of the instances.
    features: Vec<LitStr>,
    choices: Vec<Choice>,
}

/// `T in [bf16, f32]`, or `(T, D) in [(bf16, f32), (i8, i32)]`.
struct Choice {
    /// The parameters: one, or several that are selected together.
    names: Vec<Ident>,
    /// Their values.
    values: Vec<Chosen>,
}

/// The values of the parameters that are selected together.
struct Chosen {
    /// The features that a crate needs to have an instance with these values.
    features: Vec<LitStr>,
    /// A value for each parameter.
    values: Vec<Expr>,
}

impl Choice {
    /// Each choice, as its features and the parameters with their values.
    fn pairs(&self) -> impl Iterator<Item = (&[LitStr], impl Iterator<Item = (&Ident, &Expr)>)> {
        self.values
            .iter()
            .map(|chosen| (&chosen.features[..], self.names.iter().zip(&chosen.values)))
    }
}

impl Product {
    /// The parameters, in order.
    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.choices.iter().flat_map(|choice| &choice.names)
    }

    /// Refuses constants selected together with other parameters, since host code selects each from an `enum` of its own. Also refuses
    /// parameters that differ from those of the kernel's first product, or have another order: names of instances follow it.
    pub(super) fn check(&self, first: Option<&Product>, sig: &Signature) -> Result<()> {
        let mut errors = Errors::default();
        let constant = |name: &&Ident| {
            let mut params = sig.generics.params.iter();
            params.any(|param| matches!(param, GenericParam::Const(param) if param.ident == **name))
        };
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

    /// The instances, named after the kernel and their values: `gemm_bf16_SMALL`.
    pub(super) fn instances(&self, kernel: &Ident) -> Result<Vec<Instance>> {
        let start = Instance {
            chosen: true,
            features: self.features.clone(),
            ..Instance::new(kernel.unraw(), Vec::new())
        };
        let mut instances = vec![start];
        for choice in &self.choices {
            let mut longer = Vec::new();
            for before in instances {
                for (features, pairs) in choice.pairs() {
                    let mut instance = before.clone();
                    instance.features.extend_from_slice(features);
                    let mut name = instance.name.to_string();
                    for (parameter, value) in pairs {
                        name.push_str(&format!("_{}", text_of(value)?));
                        instance.values.push((parameter.clone(), value.clone()));
                    }
                    instance.name = Ident::new(&name, kernel.span());
                    longer.push(instance);
                }
            }
            if longer.len() > MAX_INSTANCES {
                let message = format!("more than {MAX_INSTANCES} instances");
                return Err(Error::new(choice.names[0].span(), message));
            }
            instances = longer;
        }
        Ok(instances)
    }
}

/// The most instances of one `#[instances(…)]`.
const MAX_INSTANCES: usize = 256;

/// The text of a value in the name of an instance.
pub(crate) fn text_of(value: &Expr) -> Result<String> {
    let text = match value {
        Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Expr::Lit(ExprLit {
            lit: Lit::Int(lit), ..
        }) => Some(lit.base10_digits().to_owned()),
        Expr::Lit(ExprLit {
            lit: Lit::Bool(lit),
            ..
        }) => Some(lit.value.to_string()),
        _ => None,
    };
    text.ok_or_else(|| {
        let message = "this value gives the instance no name: use a type, an integer, a truth value or a constant";
        Error::new_spanned(value, message)
    })
}

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
            return Err(input.error(format!(
                "the values are a list in brackets: `{first} in [bf16, f16]`"
            )));
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
            let values = match value {
                Expr::Tuple(tuple) if together && tuple.elems.len() == names.len() => {
                    tuple.elems.into_iter().collect()
                }
                value if together => {
                    let message = format!("expected a tuple of {} values", names.len());
                    return Err(Error::new_spanned(value, message));
                }
                value => vec![value],
            };
            Ok(Chosen { features, values })
        });
        Ok(Self {
            values: values.collect::<Result<_>>()?,
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
