//! Kernels: functions under `#[kernel(…)]`, and their instances.

use super::errors::Errors;
use super::generics::{parameter, parameters};
use super::instance::{Assignment, Instance};
use super::listed::Numbers;
use super::product::Product;
use cute_chip::Chip;
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::HashSet;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprLit, GenericParam, ItemFn, Lit, LitStr, Meta, Result, Safety,
    Signature, Token, parse_quote,
};

/// A function under `#[kernel]`.
pub struct Kernel {
    /// The doc comment.
    pub docs: Vec<Attribute>,
    /// `threads = …`.
    pub threads: Expr,
    /// `target = …`.
    pub chip: &'static Chip,
    /// `cluster = …`.
    pub cluster: Option<Expr>,
    /// `resident = …`.
    pub resident: Option<Expr>,
    /// `checked`, or `checked = …`.
    pub checked: Option<Expr>,
    /// The keyword of an `unsafe fn`.
    pub unsafety: Option<Token![unsafe]>,
    /// The attributes that give the instances, in order.
    pub(crate) given: Vec<Given>,
    /// The instances, once all values have names.
    pub instances: Vec<Instance>,
    /// The instances with run-time values.
    pub open: Vec<Instance>,
    /// Names of values that have an earlier name: the parameter, this name, and the earlier one.
    pub(crate) renamed: Vec<(Ident, Ident, Expr)>,
    /// The function.
    pub function: ItemFn,
}

/// An attribute that gives instances.
#[derive(Clone)]
pub(crate) enum Given {
    /// `#[instance(…)]`.
    One(Instance),
    /// `#[instances(…)]`.
    Product(Product),
}

impl Kernel {
    /// Whether all values of `#[instances(…)]` have names. The names of elements of an array follow from its value.
    pub(crate) fn is_named(&self) -> bool {
        self.given.iter().all(|given| match given {
            Given::One(_) => true,
            Given::Product(product) => product.is_named(),
        })
    }

    /// The features that instances need.
    pub(crate) fn features(&self) -> impl Iterator<Item = &LitStr> {
        self.given.iter().flat_map(|given| match given {
            Given::One(instance) => instance.features.iter().collect::<Vec<_>>(),
            Given::Product(product) => product.features().collect(),
        })
    }

    /// The parameter with this name.
    pub(crate) fn parameter(&self, name: &Ident) -> Option<&GenericParam> {
        parameter(&self.function.sig, name)
    }

    /// Lists the instances, whose values all have names. Those with run-time values are known without.
    pub(crate) fn list(&mut self) -> Result<()> {
        let (mut all, mut errors) = (Vec::new(), Errors::default());
        for given in &self.given {
            match given {
                Given::One(instance) => all.push(instance.clone()),
                Given::Product(product) => {
                    let instances = product.instances(&self.function.sig.ident);
                    all.extend(errors.record(instances).into_iter().flatten());
                }
            }
        }
        let parameters: Vec<&Ident> = parameters(&self.function.sig).collect();
        for instance in &all {
            errors.record(check_instance(instance, &parameters));
        }
        all.retain(|instance| instance.open().next().is_none());
        self.instances = all;
        errors.finish(())
    }

    /// The instances of `#[instances(…)]`, each with its index among all.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, &Instance)> {
        let instances = self.instances.iter().enumerate();
        instances.filter(|(_, instance)| instance.chosen)
    }
}

/// A function with `#[kernel(…)]`.
pub(super) fn kernel(function: ItemFn) -> Result<Kernel> {
    let mut errors = Errors::default();
    let mut docs = Vec::new();
    let mut arguments = KernelArguments::default();
    let mut given: Vec<Given> = Vec::new();
    for attr in &function.attrs {
        if attr.path().is_ident("doc") {
            docs.push(attr.clone());
        } else if attr.path().is_ident("kernel") {
            if matches!(attr.meta, Meta::Path(_)) {
                let message =
                    "the threads of a CTA are given in parentheses: `#[kernel(threads = 256)]`";
                errors.push(Error::new_spanned(attr, message));
            } else if let Some(parsed) = errors.record(attr.parse_args::<KernelArguments>()) {
                arguments = parsed;
            }
        } else if attr.path().is_ident("instance") {
            let instance = errors.record(attr.parse_args::<Instance>());
            given.extend(instance.map(Given::One));
        } else if attr.path().is_ident("instances") {
            let first = given.iter().find_map(|given| match given {
                Given::Product(product) => Some(product),
                Given::One(_) => None,
            });
            let parsed = attr.parse_args::<Product>().and_then(|product| {
                product.check(first, &function.sig)?;
                Ok(product)
            });
            given.extend(errors.record(parsed).map(Given::Product));
        } else {
            let message = match attr.path().is_ident("facts") {
                true => "facts stand before a parameter: `#[facts(…)] x: Global<f32, 1>`",
                false => {
                    "a kernel takes `#[kernel(…)]`, `#[instance(…)]`, `#[instances(…)]` and doc comments"
                }
            };
            errors.push(Error::new_spanned(attr, message));
        }
    }
    errors.record(check_qualifiers(&function.sig));
    let unsafety = match function.sig.safety {
        Safety::Unsafe(keyword) => Some(keyword),
        _ => None,
    };
    if given.is_empty() && errors.is_empty() {
        if parameters(&function.sig).next().is_none() {
            let instance = Instance::new(function.sig.ident.clone(), Vec::new());
            given.push(Given::One(instance));
        } else {
            errors.push(Error::new(
                function.sig.ident.span(),
                "a generic kernel needs at least one `#[instance(name: Parameter = value, …)]` or `#[instances(Parameter in [value, …], …)]`",
            ));
        }
    }
    let threads = arguments.threads.unwrap_or_else(|| {
        if errors.is_empty() {
            errors.push(Error::new(
                function.sig.ident.span(),
                "`#[kernel(threads = …)]` says how many threads a CTA has",
            ));
        }
        parse_quote!(1)
    });
    let chip = arguments.target.as_ref().map(chip);
    let chip = errors.record(chip.transpose()).flatten();
    let open = given.iter().filter_map(|given| match given {
        Given::One(instance) if instance.open().next().is_some() => Some(instance.clone()),
        Given::One(_) | Given::Product(_) => None,
    });
    let mut kernel = Kernel {
        docs,
        threads,
        chip: chip.unwrap_or(Chip::DEFAULT),
        cluster: arguments.cluster,
        resident: arguments.resident,
        checked: arguments.checked,
        unsafety,
        open: open.collect(),
        given,
        instances: Vec::new(),
        renamed: Vec::new(),
        function,
    };
    if kernel.is_named() {
        errors.record(kernel.list());
    }
    errors.finish(kernel)
}

/// The chip that `target = "…"` names.
fn chip(target: &Expr) -> Result<&'static Chip> {
    let named = match target {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => Chip::from_name(&name.value()),
        _ => None,
    };
    named.ok_or_else(|| {
        let names: Vec<String> = Chip::ALL.iter().map(|it| format!("`\"{it}\"`")).collect();
        let message = format!("the target of a kernel is one of {}", names.join(", "));
        Error::new_spanned(target, message)
    })
}

/// Refuses `const`, `async`, `extern` and `safe`, which are meaningless for a kernel.
fn check_qualifiers(sig: &Signature) -> Result<()> {
    let mut errors = Errors::default();
    let mut refuse = |token: &dyn ToTokens| {
        errors.push(Error::new_spanned(
            token,
            "a kernel is an `fn` or an `unsafe fn`",
        ));
    };
    if let Some(token) = &sig.constness {
        refuse(token);
    }
    if let Some(token) = &sig.asyncness {
        refuse(token);
    }
    if let Some(abi) = &sig.abi {
        refuse(abi);
    }
    if let Safety::Safe(token) = &sig.safety {
        refuse(token);
    }
    errors.finish(())
}

fn check_instance(instance: &Instance, parameters: &[&Ident]) -> Result<()> {
    let mut errors = Errors::default();
    for (i, (name, _)) in instance.values.iter().enumerate() {
        if !parameters.contains(&name) {
            let names: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
            errors.push(Error::new(
                name.span(),
                format!(
                    "the kernel has no parameter `{name}`; it has {}",
                    names.join(", ")
                ),
            ));
        }
        if instance.values[..i].iter().any(|(other, _)| other == name) {
            errors.push(Error::new(name.span(), format!("`{name}` is given twice")));
        }
    }
    // A wrong name also leaves a parameter without a value: one error is enough.
    let missed = errors.is_empty();
    for parameter in parameters.iter().filter(|_| missed) {
        if !instance.values.iter().any(|(name, _)| name == *parameter) {
            errors.push(Error::new(
                instance.name.span(),
                format!("the instance has no value for `{parameter}`"),
            ));
        }
    }
    errors.finish(())
}

/// `threads = 384, target = "sm_90a", cluster = (2, 1, 1), resident = 2, checked`.
#[derive(Default)]
struct KernelArguments {
    threads: Option<Expr>,
    target: Option<Expr>,
    cluster: Option<Expr>,
    resident: Option<Expr>,
    checked: Option<Expr>,
}

impl Parse for KernelArguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        let given = Punctuated::<KernelArgument, Token![,]>::parse_terminated(input)?;
        for KernelArgument(Assignment { name, value }) in given {
            let slot = if name == "threads" {
                &mut arguments.threads
            } else if name == "target" {
                &mut arguments.target
            } else if name == "cluster" {
                &mut arguments.cluster
            } else if name == "resident" {
                &mut arguments.resident
            } else if name == "checked" {
                &mut arguments.checked
            } else {
                let hint = match name.to_string().as_str() {
                    "num_warps" | "warps" => ": 4 warps are `threads = 128`",
                    "num_stages" => {
                        ": stages are written in the kernel, by `Ring` of `cute_kernels::lib`"
                    }
                    "grid" | "blocks" => ": the grid is an argument of `launch`",
                    "arch" | "sm" | "chip" => ": the chip is `target = \"sm_90a\"`",
                    "smem" | "shared" => ": shared memory follows from the calls of `smem`",
                    _ => "",
                };
                let message = format!(
                    "expected `threads`, `target`, `cluster`, `resident` or `checked`, found `{name}`{hint}"
                );
                return Err(Error::new(name.span(), message));
            };
            if slot.replace(value).is_some() {
                return Err(Error::new(name.span(), format!("`{name}` is given twice")));
            }
        }
        Ok(arguments)
    }
}

/// `name = value`, or `checked`, which stands for `checked = true`.
struct KernelArgument(Assignment);

impl Parse for KernelArgument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.fork().parse::<Ident>()?;
        if name != "checked" || input.peek2(Token![=]) {
            return Ok(Self(input.parse()?));
        }
        Ok(Self(Assignment {
            name: input.parse()?,
            value: parse_quote!(true),
        }))
    }
}

/// The names of a kernel's instances, as far as its attributes can be read, each with its parameters with run-time values. `length` guesses
/// the length of an array.
pub(crate) fn instance_names(
    function: &ItemFn,
    length: &dyn Fn(&Expr) -> usize,
) -> Vec<(Ident, Vec<Ident>)> {
    let mut names: Vec<(Ident, Vec<Ident>)> = Vec::new();
    let mut seen = HashSet::new();
    let mut numbers = Numbers::default();
    for attr in &function.attrs {
        let found = if attr.path().is_ident("instance") {
            attr.parse_args_with(|input: ParseStream<'_>| {
                let open = match input.fork().parse::<Instance>() {
                    Ok(instance) => instance.open().cloned().collect(),
                    Err(_) => Vec::new(),
                };
                let name = input.parse()?;
                input.parse::<proc_macro2::TokenStream>()?;
                Ok(vec![(name, open)])
            })
        } else if attr.path().is_ident("instances") {
            let product = attr.parse_args::<Product>();
            let instances = product.and_then(|mut product| {
                product.name(&mut |parameter, listed| {
                    let names = numbers.names(parameter, listed, length).into_iter();
                    Ok(names.map(|name| parse_quote!(#name)).collect())
                })?;
                product.instances(&function.sig.ident)
            });
            instances.map(|instances| {
                instances
                    .into_iter()
                    .map(|instance| (instance.name, Vec::new()))
                    .collect()
            })
        } else {
            continue;
        };
        for (name, open) in found.into_iter().flatten() {
            if seen.insert(name.to_string()) {
                names.push((name, open));
            }
        }
    }
    if names.is_empty() {
        names.push((function.sig.ident.clone(), Vec::new()));
    }
    names
}
