//! Patterns: the names that they bind, and whether they match.

use crate::kernel::emit::operation::{Cmp, Op};
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::pattern;
use crate::kernel::value::{Optional, Truth, Value};
use proc_macro2::{Ident, Span};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Error, Expr, Fields, Pat, PatSlice, PatTuple, PatType, RangeLimits, Result, Token, Type,
};

impl Interpreter<'_> {
    /// Binds a pattern to a value. `start` is the first line of the initialiser.
    pub(super) fn bind(&mut self, pat: &Pat, value: Value, start: usize) -> Result<()> {
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Paren(pat) => self.bind(&pat.pat, value, start),
            Pat::Type(pat) => {
                check_width(pat)?;
                let value = self.ascribe(value, &pat.ty)?;
                self.bind(&pat.pat, value, start)
            }
            Pat::Ident(pat) if pat.by_ref.is_none() => {
                if let Some((_, inner)) = &pat.subpat {
                    self.bind(inner, value.clone(), usize::MAX)?;
                }
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
        let pat = pattern::bare(pat);
        match pat {
            Pat::Wild(_) => Ok(Truth::Known(true)),
            Pat::Ident(name) if !self.is_constant(&name.ident) => match &name.subpat {
                Some((_, inner)) => self.test(inner, value),
                None => Ok(Truth::Known(true)),
            },
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
                    let mut names = pattern::names(case).into_iter();
                    if let Some(name) = names.find(|name| !self.is_constant(name)) {
                        let message = "a pattern with `|` binds no names in the kernel language: write an arm for each";
                        return Err(Error::new(name.span(), message));
                    }
                    let holds = self.test(case, value)?;
                    any = self.either(any, holds)?;
                }
                Ok(any)
            }
            pat => {
                let is_some = match (pat, value) {
                    (Pat::TupleStruct(_), Value::Option(option)) => option.is_some.clone(),
                    _ => Truth::Known(true),
                };
                match is_some {
                    Truth::Known(true) => self.test_parts(pat, value),
                    Truth::Known(false) => Ok(Truth::Known(false)),
                    Truth::Predicate(is_some) => {
                        let is_some = self.b.snapshot(&is_some);
                        let fork = self.b.sites.fork("match", pat.span());
                        // If there is no value, its registers are unwritten.
                        let (holds, lines, _) =
                            self.assuming(&is_some, true, |this| this.test_parts(pat, value))?;
                        if lines.is_empty() {
                            return self.both(Truth::Predicate(is_some), holds);
                        }
                        self.b.sites.join(&fork, &is_some);
                        let both = self.decided(is_some, true, holds.into(), lines)?;
                        self.truth(&both)
                    }
                }
            }
        }
    }

    /// Whether the parts of a value match those of a pattern.
    fn test_parts(&mut self, pat: &Pat, value: &Value) -> Result<Truth> {
        let mut all = Truth::Known(true);
        for (pat, value) in self.matched(pat, value)? {
            let holds = self.test(pat, &value)?;
            all = self.both(all, holds)?;
        }
        Ok(all)
    }

    /// The parts of a pattern, each with the matched part of the value.
    fn matched<'p>(&mut self, pat: &'p Pat, value: &Value) -> Result<Vec<(&'p Pat, Value)>> {
        let (elements, values): (_, &[Value]) = match (pat, value) {
            (Pat::Tuple(pat), Value::Tuple(values)) => (&pat.elems, values),
            (Pat::Tuple(pat), Value::Unit) => (&pat.elems, &[]),
            (Pat::Slice(pat), Value::Array(values)) => (&pat.elems, values),
            (Pat::TupleStruct(some), value) if some.path.is_ident("Some") => match value {
                Value::Option(Optional {
                    value: Some(value), ..
                }) => (&some.elems, std::slice::from_ref(&**value)),
                Value::Option(_) => return Ok(Vec::new()),
                other => return Err(unmatched(pat, other)),
            },
            (Pat::TupleStruct(fields), Value::Struct(found)) => {
                let is_tuple = found
                    .ty
                    .fields
                    .iter()
                    .all(|name| name.parse::<usize>().is_ok());
                if !is_tuple || self.as_struct(found, &fields.path)?.is_none() {
                    return Err(unmatched(pat, value));
                }
                (&fields.elems, &found.fields)
            }
            (Pat::Struct(fields), value) => {
                let is_enum = self.enumeration_of(value).is_some();
                let Value::Struct(found) = value else {
                    return Err(unmatched(pat, value));
                };
                if is_enum || self.as_struct(found, &fields.path)?.is_none() {
                    return Err(unmatched(pat, value));
                }
                let parts = fields.fields.iter();
                return parts
                    .map(|field| Ok((&*field.pat, self.field(value.clone(), &field.member)?)))
                    .collect();
            }
            (Pat::Tuple(PatTuple { elems, .. }) | Pat::Slice(PatSlice { elems, .. }), value) => {
                return Err(wrong_count(pat, elems.len(), value));
            }
            (Pat::TupleStruct(_), value) => return Err(unmatched(pat, value)),
            (pat, _) => {
                return Err(Error::new_spanned(
                    pat,
                    "expected a name, `_`, a number, or a tuple, struct or `Some` of such patterns",
                ));
            }
        };
        let pairs = pairs(elements, values.len());
        let pairs = pairs.ok_or_else(|| wrong_count(pat, elements.len(), value))?;
        let pairs = pairs.into_iter();
        Ok(pairs
            .map(|(pat, index)| (pat, values[index].clone()))
            .collect())
    }

    /// Whether a name in a pattern stands for a constant, not for a new variable.
    pub(super) fn is_constant(&self, name: &Ident) -> bool {
        let text = name.to_string();
        text == "None"
            || self.source.constant(self.module, &text).is_some()
            || self.is_unit_struct(&text)
    }

    /// Whether a name stands for a struct without fields.
    fn is_unit_struct(&self, name: &str) -> bool {
        let found = self.source.structure(self.module, name);
        found.is_some_and(|(_, item)| matches!(item.fields, Fields::Unit))
    }

    fn equals(&mut self, span: Span, value: &Value, constant: &Value) -> Result<Truth> {
        self.b.set_place(span);
        let equal = match self.compare_variants(Cmp::Eq, value, constant, false)? {
            Some(equal) => equal,
            None if is_unit(value) && value == constant => Value::Bool(true),
            None => self.compare(Cmp::Eq, value, constant)?,
        };
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

    /// Defines the names of a pattern for a value with an error.
    pub(super) fn define_as_wrong(&mut self, pat: &Pat) {
        if let Some(scope) = self.scopes.last_mut() {
            let names = pattern::names(pat).into_iter();
            scope.extend(names.map(|name| (name.to_string(), None)));
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

/// Whether a value is of a struct without fields.
fn is_unit(value: &Value) -> bool {
    matches!(value, Value::Struct(value) if value.fields.is_empty())
}

fn wrong_count(pat: &Pat, names: usize, value: &Value) -> Error {
    let kind = value.kind();
    Error::new_spanned(
        pat,
        format!("a pattern of {names} names does not match {kind}"),
    )
}

fn unmatched(pat: &Pat, value: &Value) -> Error {
    Error::new_spanned(pat, format!("this pattern does not match {}", value.kind()))
}

/// The elements of a pattern, each with the index of its value, from 0 to `values - 1`; `..` stands for the remaining values.
pub(super) fn pairs(
    elements: &Punctuated<Pat, Token![,]>,
    values: usize,
) -> Option<Vec<(&Pat, usize)>> {
    let rest = elements.iter().position(|pat| matches!(pat, Pat::Rest(_)));
    let others = elements.len() - usize::from(rest.is_some());
    if others > values || (rest.is_none() && others < values) {
        return None;
    }
    let left = values - others;
    let elements = elements.iter().enumerate();
    let pairs = elements.filter_map(|(index, pat)| match rest {
        Some(rest) if index == rest => None,
        Some(rest) if index > rest => Some((pat, index - 1 + left)),
        _ => Some((pat, index)),
    });
    Some(pairs.collect())
}
