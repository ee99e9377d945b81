//! Kernels: functions under `#[kernel(…)]`, and their instances.

use crate::kernel::syntax::errors::Errors;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, GenericParam, ItemFn, Result, Safety, Signature, Token};

/// A function under `#[kernel]`.
pub struct Kernel {
    /// Its doc comment.
    pub docs: Vec<Attribute>,
    /// `threads = …`.
    pub threads: Expr,
    /// `cluster = …`.
    pub cluster: Option<Expr>,
    /// The keyword of an `unsafe fn`.
    pub unsafety: Option<Token![unsafe]>,
    /// Its instances.
    pub instances: Vec<Instance>,
    /// The function.
    pub function: ItemFn,
}

/// `#[instance(name: Parameter = value, …)]`.
pub struct Instance {
    /// Name of the entry.
    pub name: Ident,
    /// The values of the kernel's generic parameters.
    pub values: Vec<(Ident, Expr)>,
}

/// A function with `#[kernel(…)]`.
pub(super) fn kernel(function: ItemFn) -> Result<Kernel> {
    let mut errors = Errors::default();
    let mut docs = Vec::new();
    let mut arguments = KernelArguments::default();
    let mut instances = Vec::new();
    for attr in &function.attrs {
        if attr.path().is_ident("doc") {
            docs.push(attr.clone());
        } else if attr.path().is_ident("kernel") {
            if let Some(parsed) = errors.record(attr.parse_args::<KernelArguments>()) {
                arguments = parsed;
            }
        } else if attr.path().is_ident("instance") {
            instances.extend(errors.record(attr.parse_args::<Instance>()));
        } else {
            errors.push(Error::new_spanned(
                attr,
                "a kernel takes `#[kernel(…)]`, `#[instance(…)]` and doc comments",
            ));
        }
    }
    errors.record(check_qualifiers(&function.sig));
    let unsafety = match function.sig.safety {
        Safety::Unsafe(keyword) => Some(keyword),
        _ => None,
    };
    let parameters: Vec<&Ident> = function
        .sig
        .generics
        .params
        .iter()
        .filter_map(parameter_name)
        .collect();
    if instances.is_empty() {
        if parameters.is_empty() {
            instances.push(Instance {
                name: function.sig.ident.clone(),
                values: Vec::new(),
            });
        } else {
            errors.push(Error::new(
                function.sig.ident.span(),
                "a generic kernel needs at least one `#[instance(name: Parameter = value, …)]`",
            ));
        }
    }
    for instance in &instances {
        errors.record(check_instance(instance, &parameters));
    }
    let threads = arguments.threads.unwrap_or_else(|| {
        errors.push(Error::new(
            function.sig.ident.span(),
            "`#[kernel(threads = …)]` says how many threads a CTA has",
        ));
        syn::parse_quote!(1)
    });
    errors.finish(Kernel {
        docs,
        threads,
        cluster: arguments.cluster,
        unsafety,
        instances,
        function,
    })
}

/// Refuses `const`, `async`, `extern` and `safe`, which have no meaning for a kernel.
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
    for parameter in parameters {
        if !instance.values.iter().any(|(name, _)| name == *parameter) {
            errors.push(Error::new(
                instance.name.span(),
                format!("the instance has no value for `{parameter}`"),
            ));
        }
    }
    errors.finish(())
}

/// The name of a type or const parameter.
pub fn parameter_name(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        _ => None,
    }
}

/// `threads = 384, cluster = (2, 1, 1)`.
#[derive(Default)]
struct KernelArguments {
    threads: Option<Expr>,
    cluster: Option<Expr>,
}

impl Parse for KernelArguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        for Assignment { name, value } in
            Punctuated::<Assignment, Token![,]>::parse_terminated(input)?
        {
            let slot = if name == "threads" {
                &mut arguments.threads
            } else if name == "cluster" {
                &mut arguments.cluster
            } else {
                return Err(Error::new(
                    name.span(),
                    format!("expected `threads` or `cluster`, found `{name}`"),
                ));
            };
            if slot.replace(value).is_some() {
                return Err(Error::new(name.span(), format!("`{name}` is given twice")));
            }
        }
        Ok(arguments)
    }
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        if input.is_empty() {
            return Ok(Self {
                name,
                values: Vec::new(),
            });
        }
        input.parse::<Token![:]>()?;
        let values = Punctuated::<Assignment, Token![,]>::parse_terminated(input)?;
        Ok(Self {
            name,
            values: values
                .into_iter()
                .map(|Assignment { name, value }| (name, value))
                .collect(),
        })
    }
}

struct Assignment {
    name: Ident,
    value: Expr,
}

impl Parse for Assignment {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            name,
            value: input.parse()?,
        })
    }
}
