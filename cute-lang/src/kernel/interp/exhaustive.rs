//! Checks that the arms of a `match` are exhaustive, like rustc: column by column, over the constructors of a value.
//!
//! For numbers and strings, only names and `_` count as matching all.

use super::pattern::pairs;
use super::structure::member_name;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::pattern;
use crate::kernel::value::{NumberType, Optional, Struct, Truth, Value};
use proc_macro2::Span;
use syn::{Arm, Lit, Pat, Result};

/// The most patterns inspected on the way to a value. A deeper value counts as matched by no arm.
const MAX_DEPTH: usize = 256;

/// A pattern in a column; `None` matches all values.
type Cell<'p> = Option<&'p Pat>;

/// A constructor of values.
struct Constructor {
    /// The pattern text before the parts and after them.
    around: (String, &'static str),
    /// The names of the parts, or their numbers.
    names: Vec<String>,
    /// The parts. An unknown part is matched only by names and `_`.
    parts: Vec<Option<Value>>,
    /// The value, if it has no parts.
    value: Option<Value>,
}

impl Interpreter<'_> {
    /// A pattern of values that may match no arm; `None` if there are none.
    pub(super) fn uncovered(
        &mut self,
        value: &Value,
        arms: &[Arm],
        span: Span,
    ) -> Result<Option<String>> {
        let patterns = arms.iter().map(|arm| &arm.pat);
        let certain = patterns.filter(|pat| !matches!(pat, Pat::Guard(_)));
        let rows = certain.map(|pat| vec![Some(pat)]).collect();
        let found = self.missing(rows, vec![Some(value.clone())], span, MAX_DEPTH)?;
        Ok(found.map(|found| found.concat()))
    }

    /// A pattern for each column of values without a matching row.
    fn missing<'p>(
        &mut self,
        rows: Vec<Vec<Cell<'p>>>,
        values: Vec<Option<Value>>,
        span: Span,
        depth: usize,
    ) -> Result<Option<Vec<String>>> {
        self.work(1, span)?;
        let all = || vec!["_".to_string(); values.len()];
        if rows.is_empty() || depth == 0 {
            return Ok(Some(all()));
        }
        let rows = self.without_alternatives(rows);
        let is_tested = |column: usize| rows.iter().any(|row| row[column].is_some());
        let Some(column) = (0..values.len()).find(|column| is_tested(*column)) else {
            return Ok(None);
        };
        let Some(constructors) = self.constructors(values[column].as_ref())? else {
            // Any value other than the named ones.
            let rows = rows.into_iter().filter(|row| row[column].is_none());
            let mut others = values.clone();
            others[column] = None;
            return self.missing(rows.collect(), others, span, depth - 1);
        };
        for constructor in constructors {
            let mut inner = Vec::new();
            for row in &rows {
                if let Some(parts) = self.parts_of(row[column], &constructor)? {
                    let mut row = row.clone();
                    row.splice(column..=column, parts);
                    inner.push(row);
                }
            }
            let mut parts = values.clone();
            let count = constructor.parts.len();
            parts.splice(column..=column, constructor.parts.iter().cloned());
            if let Some(mut found) = self.missing(inner, parts, span, depth - 1)? {
                let parts: Vec<String> = found.drain(column..column + count).collect();
                found.insert(column, constructor.pattern(&parts));
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The rows with each pattern `a | b` as two rows, and names and `_` as none.
    fn without_alternatives<'p>(&self, rows: Vec<Vec<Cell<'p>>>) -> Vec<Vec<Cell<'p>>> {
        let mut plain = Vec::new();
        let mut open = rows;
        open.reverse();
        while let Some(mut row) = open.pop() {
            let alternatives = row.iter_mut().enumerate().find_map(|(column, cell)| {
                *cell = cell.and_then(|pat| self.tested(pat));
                match cell {
                    Some(Pat::Or(cases)) => Some((column, cases)),
                    _ => None,
                }
            });
            match alternatives {
                None => plain.push(row),
                Some((column, cases)) => {
                    let cases: Vec<&Pat> = cases.cases.iter().collect();
                    for case in cases.into_iter().rev() {
                        let mut row = row.clone();
                        row[column] = Some(case);
                        open.push(row);
                    }
                }
            }
        }
        plain
    }

    /// The pattern; `None` if it matches all values.
    fn tested<'p>(&self, pat: &'p Pat) -> Cell<'p> {
        match pattern::bare(pat) {
            Pat::Wild(_) => None,
            Pat::Ident(name) if !self.is_constant(&name.ident) => {
                let inner = name.subpat.as_ref();
                inner.and_then(|(_, inner)| self.tested(inner))
            }
            pat => Some(pat),
        }
    }

    /// The constructors of the type of this value, or `None` if they are not known.
    fn constructors(&mut self, value: Option<&Value>) -> Result<Option<Vec<Constructor>>> {
        let Some(value) = value else { return Ok(None) };
        if let Some((module, declared)) = self.enumeration_of(value) {
            let Value::Struct(held) = value else {
                return Ok(None);
            };
            let (numbers, ty) = self.discriminants(module, declared)?;
            let variants = declared.item.variants.iter().zip(numbers.iter());
            let variants = variants.map(|(variant, number)| {
                let name = format!("{}::{}", declared.item.ident, variant.ident);
                let number = Value::Int(*number, NumberType::Is(ty));
                let value = Value::Struct(Struct {
                    ty: held.ty.clone(),
                    fields: vec![number],
                });
                Constructor::plain(name, value)
            });
            return Ok(Some(variants.collect()));
        }
        if Truth::of(value).is_some() {
            let both = [true, false];
            let both = both.map(|it| Constructor::plain(it.to_string(), Value::Bool(it)));
            return Ok(Some(both.into()));
        }
        if let Value::Option(option) = value {
            let none = Value::Option(Optional {
                is_some: Truth::Known(false),
                value: None,
            });
            let some = Constructor {
                around: ("Some(".into(), ")"),
                names: vec!["0".into()],
                parts: vec![option.value.as_deref().cloned()],
                value: None,
            };
            return Ok(Some(vec![Constructor::plain("None".into(), none), some]));
        }
        let Some(parts) = value.parts() else {
            return Ok(None);
        };
        let numbers = || (0..parts.len()).map(|it| it.to_string()).collect();
        let (around, names) = match value {
            Value::Array(_) => (("[".to_string(), "]"), numbers()),
            Value::Struct(held) => {
                let (name, names) = (&held.ty.name, held.ty.fields.clone());
                let around = match names.first().map(String::as_str) {
                    None => (name.to_string(), ""),
                    Some("0") => (format!("{name}("), ")"),
                    Some(_) => (format!("{name} {{ "), " }"),
                };
                (around, names)
            }
            _ => (("(".to_string(), ")"), numbers()),
        };
        Ok(Some(vec![Constructor {
            around,
            names,
            parts: parts.iter().cloned().map(Some).collect(),
            value: None,
        }]))
    }

    /// The patterns for the parts of values with this constructor, or `None` if the pattern matches none of them.
    fn parts_of<'p>(
        &mut self,
        cell: Cell<'p>,
        constructor: &Constructor,
    ) -> Result<Option<Vec<Cell<'p>>>> {
        let count = constructor.parts.len();
        let Some(pat) = cell else {
            return Ok(Some(vec![None; count]));
        };
        if let Some(wanted) = &constructor.value {
            let found = match pat {
                Pat::Ident(name) => self.lookup(&name.ident)?,
                Pat::Path(path) => self.path(path)?,
                Pat::Lit(lit) => match &lit.lit {
                    Lit::Bool(lit) => Value::Bool(lit.value),
                    _ => return Ok(None),
                },
                _ => return Ok(None),
            };
            return Ok((found == *wanted).then(Vec::new));
        }
        let elements = match pat {
            Pat::Tuple(pat) => &pat.elems,
            Pat::Slice(pat) => &pat.elems,
            Pat::TupleStruct(pat) => &pat.elems,
            Pat::Struct(pat) => {
                let cell = |name: &String| {
                    let mut fields = pat.fields.iter();
                    let field = fields.find(|field| member_name(&field.member) == *name);
                    field.map(|field| &*field.pat)
                };
                return Ok(Some(constructor.names.iter().map(cell).collect()));
            }
            // The name of a struct without fields.
            Pat::Ident(_) | Pat::Path(_) => return Ok((count == 0).then(Vec::new)),
            _ => return Ok(None),
        };
        let pairs = pairs(elements, count);
        Ok(pairs.map(|pairs| {
            let mut cells = vec![None; count];
            for (pat, index) in pairs {
                cells[index] = Some(pat);
            }
            cells
        }))
    }
}

impl Constructor {
    /// A value without parts.
    fn plain(text: String, value: Value) -> Self {
        Self {
            around: (text, ""),
            names: Vec::new(),
            parts: Vec::new(),
            value: Some(value),
        }
    }

    /// The pattern of values with parts that match these.
    fn pattern(&self, parts: &[String]) -> String {
        let (before, behind) = &self.around;
        let parts = self.names.iter().zip(parts);
        let parts = parts.map(|(name, part)| match *behind {
            " }" => format!("{name}: {part}"),
            _ => part.clone(),
        });
        let parts: Vec<String> = parts.collect();
        format!("{before}{}{behind}", parts.join(", "))
    }
}
