//! Names that stand for themselves: hardware operations, such as `SM75_U32x4_LDSM_N` and `UniversalCopy::<u128>`, and words for operations
//! of the algebra, such as `CLayout`.

use super::Interpreter;
use crate::kernel::builtins;
use crate::kernel::value::Value;
use cute_algebra::{CopyAtom, MmaAtom};
use proc_macro2::Ident;
use syn::{ExprPath, GenericArgument, Path, PathArguments, Type};

impl Interpreter<'_> {
    /// A name that is not in scope, with its parameters.
    pub(super) fn word(&self, expr: &ExprPath) -> Option<String> {
        let name = expr.path.segments.first()?.ident.to_string();
        let is_known = builtins::WORDS.contains(&&name[..])
            || self.find(&name).is_some()
            || self.source.constant(self.module, &name).is_some();
        match is_known {
            true => None,
            false => spelled(&expr.path),
        }
    }
}

/// The hardware operation named by a path.
pub(super) fn operation(path: &Path) -> Option<Value> {
    let name = spelled(path)?;
    let is_operation = name.parse::<CopyAtom>().is_ok() || name.parse::<MmaAtom>().is_ok();
    is_operation.then(|| Value::Algebra(cute_algebra::Value::Word(name)))
}

/// A single name with its parameters, as CuTe writes it.
fn spelled(path: &Path) -> Option<String> {
    let [segment] = &path.segments.iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let name = segment.ident.to_string();
    match &segment.arguments {
        PathArguments::None => Some(name),
        PathArguments::AngleBracketed(generics) => {
            let parameters = generics.args.iter().map(|argument| match argument {
                GenericArgument::Type(Type::Path(path)) => {
                    path.path.get_ident().map(Ident::to_string)
                }
                _ => None,
            });
            let parameters: Option<Vec<_>> = parameters.collect();
            Some(format!("{name}<{}>", parameters?.join(",")))
        }
        PathArguments::Parenthesized(_) => None,
    }
}
