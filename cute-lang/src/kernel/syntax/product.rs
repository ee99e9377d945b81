//! `#[instances(…)]`: an instance for each combination of values.

use super::errors::Errors;
use super::instance::Instance;
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, Expr, ExprLit, GenericParam, Lit, Result, Signature, Token, bracketed, parenthesized,
    token,
};

/// `(T, D) in [(bf16, f32), (i8, i32)], CFG in [SMALL, LARGE]`: an instance for each combination.
pub(super) struct Product {
    choices: Vec<Choice>,
}

/// `T in [bf16, f32]`, or `(T, D) in [(bf16, f32), (i8, i32)]`.
struct Choice {
    /// The parameters: one, or several that are chosen together.
    names: Vec<Ident>,
    /// Their values, a list as long as `names` for each choice.
    values: Vec<Vec<Expr>>,
}

impl Choice {
    /// Each choice, as the parameters with their values.
    fn pairs(&self) -> impl Iterator<Item = impl Iterator<Item = (&Ident, &Expr)>> {
        self.values
            .iter()
            .map(|values| self.names.iter().zip(values))
    }
}

impl Product {
    /// The parameters, in order.
    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.choices.iter().flat_map(|choice| &choice.names)
    }

    /// Refuses constants that are chosen together with other parameters, since host code chooses each from an `enum` of its own, and
    /// other parameters than those of the kernel's first product, or another order, in which instances are named.
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
        let mut instances = vec![(String::new(), Vec::new())];
        for choice in &self.choices {
            let mut longer = Vec::new();
            for (name, before) in instances {
                for pairs in choice.pairs() {
                    let (mut name, mut all): (String, Vec<(Ident, Expr)>) =
                        (name.clone(), before.clone());
                    for (parameter, value) in pairs {
                        name.push_str(&format!("_{}", text_of(value)?));
                        all.push((parameter.clone(), value.clone()));
                    }
                    longer.push((name, all));
                }
            }
            if longer.len() > MAX_INSTANCES {
                let message = format!("more than {MAX_INSTANCES} instances");
                return Err(Error::new(choice.names[0].span(), message));
            }
            instances = longer;
        }
        let named = instances.into_iter().map(|(name, values)| Instance {
            name: Ident::new(&format!("{}{name}", kernel.unraw()), kernel.span()),
            values,
            chosen: true,
        });
        Ok(named.collect())
    }
}

/// The most instances that `#[instances(…)]` makes.
const MAX_INSTANCES: usize = 256;

/// The part of an instance's name that stands for a value.
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
        let choices = Punctuated::<Choice, Token![,]>::parse_terminated(input)?;
        Ok(Self {
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
        let content;
        bracketed!(content in input);
        let values = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        if values.is_empty() {
            return Err(Error::new(
                first.span(),
                format!("no value is given for `{first}`"),
            ));
        }
        let values = values.into_iter().map(|value| match value {
            Expr::Tuple(tuple) if together && tuple.elems.len() == names.len() => {
                Ok(tuple.elems.into_iter().collect())
            }
            value if together => {
                let message = format!("expected a tuple of {} values", names.len());
                Err(Error::new_spanned(value, message))
            }
            value => Ok(vec![value]),
        });
        Ok(Self {
            values: values.collect::<Result<_>>()?,
            names,
        })
    }
}
