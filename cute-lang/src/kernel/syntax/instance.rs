//! `#[instance(…)]`: an instance of a kernel, by name.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Result, Token};

/// `#[instance(name: Parameter = value, …)]`.
#[derive(Clone)]
pub struct Instance {
    /// Name of the entry.
    pub name: Ident,
    /// The values of the kernel's generic parameters. A run-time value is `_`.
    pub values: Vec<(Ident, Expr)>,
    /// Whether it is one of `#[instances(…)]`, which the host selects by their values. All of a kernel have the same parameters in the same
    /// order.
    pub chosen: bool,
    /// Whether one of its values is an element of an array or an expression, which has a number for a name.
    pub(crate) numbered: bool,
    /// The features that a crate needs to have it.
    pub features: Vec<LitStr>,
}

impl Instance {
    /// An independent instance that every crate has.
    pub(super) fn new(name: Ident, values: Vec<(Ident, Expr)>) -> Self {
        Self {
            name,
            values,
            chosen: false,
            numbered: false,
            features: Vec::new(),
        }
    }

    /// The parameters with run-time values.
    pub fn open(&self) -> impl Iterator<Item = &Ident> {
        let open = self.values.iter().filter(|(_, value)| is_open(value));
        open.map(|(name, _)| name)
    }

    /// An error at the place of the instance: at its name, or at the last of the values in its name.
    pub(super) fn error(&self, message: String) -> Error {
        match self.values.last().filter(|_| self.chosen) {
            Some((_, value)) => Error::new_spanned(value, message),
            None => Error::new(self.name.span(), message),
        }
    }
}

/// Whether a value is given at run time.
pub(crate) fn is_open(value: &Expr) -> bool {
    matches!(value, Expr::Infer(_))
}

/// `name = value`.
pub(super) struct Assignment {
    pub(super) name: Ident,
    pub(super) value: Expr,
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        if input.is_empty() {
            return Ok(Self::new(name, Vec::new()));
        }
        if input.peek(Token![=]) {
            let message =
                format!("an instance begins with its name: `#[instance(name: {name} = …)]`");
            return Err(Error::new(name.span(), message));
        }
        input.parse::<Token![:]>()?;
        let values = Punctuated::<Assignment, Token![,]>::parse_terminated(input)?;
        let values = values.into_iter();
        let values = values.map(|Assignment { name, value }| (name, value));
        Ok(Self::new(name, values.collect()))
    }
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
