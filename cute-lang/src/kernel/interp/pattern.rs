//! Patterns: the names that they bind, and whether they match.

use crate::kernel::emit::operation::{Cmp, Op};
use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Optional, Truth, Value};
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, PatType, RangeLimits, Result, Type};

impl Interpreter<'_> {
    /// Binds a pattern to a value. `start` is the first line that the initialiser emitted.
    pub(super) fn bind(&mut self, pat: &Pat, value: Value, start: usize) -> Result<()> {
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Paren(pat) => self.bind(&pat.pat, value, start),
            Pat::Type(pat) => {
                check_width(pat)?;
                let value = self.ascribe(value, &pat.ty)?;
                self.bind(&pat.pat, value, start)
            }
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                let name = pat.ident.to_string();
                self.b.set_place(pat.ident.span());
                let value = match pat.mutability {
                    Some(_) => self.variable(&name, value, start)?,
                    None => self.own(value)?,
                };
                self.define(&name, value);
                Ok(())
            }
            Pat::Reference(pat) => self.bind(&pat.pat, value, start),
            // Tests of values bind nothing.
            Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Or(_) => Ok(()),
            pat => {
                // With several results, the last line does not define all of them, so no register can be renamed.
                let start = self.length()?;
                let parts = self.matched(pat, &value)?;
                parts
                    .into_iter()
                    .try_for_each(|(pat, value)| self.bind(pat, value, start))
            }
        }
    }

    /// Whether a value matches a pattern.
    pub(super) fn test(&mut self, pat: &Pat, value: &Value) -> Result<Truth> {
        match pat {
            Pat::Wild(_) => Ok(Truth::Known(true)),
            Pat::Paren(pat) => self.test(&pat.pat, value),
            Pat::Type(pat) => self.test(&pat.pat, value),
            Pat::Reference(pat) => self.test(&pat.pat, value),
            Pat::Ident(name) if !self.is_constant(&name.ident) => Ok(Truth::Known(true)),
            Pat::Ident(name) if name.ident == "None" => match value {
                Value::Option(option) => self.not(&option.is_some.clone()),
                other => Err(unmatched(pat, other)),
            },
            Pat::Ident(name) => {
                let constant = self.lookup(&name.ident)?;
                self.equals(pat.span(), value, &constant)
            }
            Pat::Path(path) => {
                let constant = self.path(path)?;
                self.equals(pat.span(), value, &constant)
            }
            Pat::Lit(lit) => {
                let constant = self.eval(&Expr::Lit(lit.clone()))?;
                self.equals(pat.span(), value, &constant)
            }
            Pat::Range(range) => {
                let mut within = Truth::Known(true);
                let last = match range.limits {
                    RangeLimits::HalfOpen(_) => Cmp::Lt,
                    RangeLimits::Closed(_) => Cmp::Le,
                };
                for (bound, cmp) in [(&range.start, Cmp::Ge), (&range.end, last)] {
                    if let Some(bound) = bound {
                        let bound = self.eval(bound)?;
                        self.b.set_place(pat.span());
                        let holds = self.compare(cmp, value, &bound)?;
                        within = self.both(within, holds)?;
                    }
                }
                Ok(within)
            }
            Pat::Or(cases) => {
                let mut any = Truth::Known(false);
                for case in &cases.cases {
                    if let Some(name) = first_name(case)
                        && !self.is_constant(name)
                    {
                        let message = "a pattern with `|` binds no names in the kernel language";
                        return Err(Error::new(name.span(), message));
                    }
                    let holds = self.test(case, value)?;
                    any = self.either(any, holds)?;
                }
                Ok(any)
            }
            pat => {
                let mut all = match (pat, value) {
                    (Pat::TupleStruct(_), Value::Option(option)) => option.is_some.clone(),
                    _ => Truth::Known(true),
                };
                if all != Truth::Known(false) {
                    for (pat, value) in self.matched(pat, value)? {
                        let holds = self.test(pat, &value)?;
                        all = self.both(all, holds)?;
                    }
                }
                Ok(all)
            }
        }
    }

    /// The parts of a pattern, each with the part of the value that it matches.
    fn matched<'p>(&mut self, pat: &'p Pat, value: &Value) -> Result<Vec<(&'p Pat, Value)>> {
        let elements: Vec<&Pat> = match pat {
            Pat::Tuple(pat) => pat.elems.iter().collect(),
            Pat::Slice(pat) => pat.elems.iter().collect(),
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                return match value {
                    Value::Option(Optional {
                        value: Some(value), ..
                    }) => Ok(vec![(&some.elems[0], (**value).clone())]),
                    Value::Option(_) => Ok(Vec::new()),
                    other => Err(unmatched(pat, other)),
                };
            }
            Pat::Struct(fields) => {
                let Value::Struct(found) = value else {
                    return Err(unmatched(pat, value));
                };
                if self.as_struct(found, &fields.path)?.is_none() {
                    return Err(unmatched(pat, value));
                }
                let parts = fields.fields.iter();
                return parts
                    .map(|field| Ok((&*field.pat, self.field(value.clone(), &field.member)?)))
                    .collect();
            }
            pat => {
                return Err(Error::new_spanned(
                    pat,
                    "expected a name, `_`, a number, or a tuple, struct or `Some` of such patterns",
                ));
            }
        };
        match (pat, value) {
            (Pat::Tuple(_), Value::Tuple(values)) | (Pat::Slice(_), Value::Array(values))
                if values.len() == elements.len() =>
            {
                Ok(elements.into_iter().zip(values.iter().cloned()).collect())
            }
            (Pat::Tuple(_), Value::Unit) if elements.is_empty() => Ok(Vec::new()),
            (_, value) => Err(Error::new_spanned(
                pat,
                format!(
                    "a pattern of {} names does not match {}",
                    elements.len(),
                    value.kind()
                ),
            )),
        }
    }

    /// Whether a name in a pattern stands for a constant, not for a new variable.
    fn is_constant(&self, name: &Ident) -> bool {
        let text = name.to_string();
        text == "None" || self.source.constant(self.module, &text).is_some()
    }

    fn equals(&mut self, span: Span, value: &Value, constant: &Value) -> Result<Truth> {
        self.b.set_place(span);
        let equal = self.compare(Cmp::Eq, value, constant)?;
        self.both(Truth::Known(true), equal)
    }

    fn both(&mut self, a: Truth, b: impl Into<Value>) -> Result<Truth> {
        self.combined(Op::And, a, b.into())
    }

    fn either(&mut self, a: Truth, b: impl Into<Value>) -> Result<Truth> {
        self.combined(Op::Or, a, b.into())
    }

    fn not(&mut self, a: &Truth) -> Result<Truth> {
        self.combined(Op::Xor, a.clone(), Value::Bool(true))
    }

    fn combined(&mut self, op: Op, a: Truth, b: Value) -> Result<Truth> {
        let b = self.truth(&b)?;
        let both = self.truth_table(op, &a, &b);
        self.truth(&both)
    }

    /// Defines the names of a pattern whose value has an error.
    pub(super) fn define_as_wrong(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(pat) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(pat.ident.to_string(), None);
                }
            }
            Pat::Type(pat) => self.define_as_wrong(&pat.pat),
            Pat::Paren(pat) => self.define_as_wrong(&pat.pat),
            Pat::Tuple(pat) => pat.elems.iter().for_each(|pat| self.define_as_wrong(pat)),
            _ => {}
        }
    }
}

/// Refuses a variable of type `usize` or `isize`, since a register has a known width.
fn check_width(pat: &PatType) -> Result<()> {
    let is_variable = matches!(&*pat.pat, Pat::Ident(name) if name.mutability.is_some());
    let Type::Path(ty) = &*pat.ty else {
        return Ok(());
    };
    for (name, others) in [("usize", "`u32` or `u64`"), ("isize", "`i32` or `i64`")] {
        if is_variable && ty.path.is_ident(name) {
            let message =
                format!("a variable that changes has a known width: write {others}, not `{name}`");
            return Err(Error::new_spanned(ty, message));
        }
    }
    Ok(())
}

fn unmatched(pat: &Pat, value: &Value) -> Error {
    Error::new_spanned(pat, format!("this pattern does not match {}", value.kind()))
}

/// A name that the pattern binds.
fn first_name(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(pat) => Some(&pat.ident),
        Pat::Paren(pat) => first_name(&pat.pat),
        Pat::Tuple(pat) => pat.elems.iter().find_map(first_name),
        Pat::TupleStruct(pat) => pat.elems.iter().find_map(first_name),
        _ => None,
    }
}
