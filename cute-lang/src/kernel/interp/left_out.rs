//! The types of code that is not interpreted because a condition is known. They still determine types of literals in other code.
//!
//! Rust infers the types of `if N > 4 { 1 } else { x }` from both branches. Here, the last expression of the omitted branch determines its
//! type, if possible. Otherwise, or if the branch mentions a variable without a known type, this type is in doubt: unless other code
//! determines it, an error asks for it.

use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::bare::bare;
use crate::kernel::value::types::register_type;
use crate::kernel::value::{NumberType, Value};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;
use syn::{BinOp, Block, Expr, Lit, ReturnType, Stmt, UnOp};

/// The type of an expression that is not interpreted, as far as it is known.
enum Told {
    /// The type of its use, as for a literal.
    Anything,
    Type(NumberType),
    Nothing,
}

impl Told {
    /// The type of either of two expressions of the same type.
    fn or(self, other: impl FnOnce() -> Told) -> Told {
        match self {
            Told::Type(_) => self,
            Told::Anything => other(),
            Told::Nothing => match other() {
                other @ Told::Type(_) => other,
                Told::Anything | Told::Nothing => Told::Nothing,
            },
        }
    }
}

impl Interpreter<'_> {
    /// The value of a branch, if a branch with a value of the same type is omitted.
    pub(super) fn beside(&mut self, value: Value, left_out: &Expr) -> Value {
        if self.has_open(&value) {
            self.same_type(&value, left_out);
        }
        self.leave_out(left_out);
        value
    }

    /// The same beside a block.
    pub(super) fn beside_block(&mut self, value: Value, left_out: &Block) -> Value {
        if let [Stmt::Expr(last, None)] = &left_out.stmts[..] {
            return self.beside(value, last);
        }
        self.doubt(&value);
        self.leave_out(left_out);
        value
    }

    /// Omits code: variables in it without a type may get one there, and so may the values of jumps out of it.
    pub(super) fn leave_out(&mut self, code: &impl ToTokens) {
        let mut mentioned = HashSet::new();
        mentions(code.to_token_stream(), &mut mentioned);
        self.doubt_targets(mentioned.contains("break"), mentioned.contains("return"));
        let named = self.scopes.iter().flatten();
        let open = named.filter_map(|(name, value)| {
            let value = value.as_ref()?;
            self.has_open(value).then(|| (name.clone(), value.clone()))
        });
        let open: Vec<(String, Value)> = open.collect();
        for (name, value) in open {
            if mentioned.contains(&name) {
                self.doubt(&value);
            }
        }
    }

    /// Whether a number in a value has no type yet.
    fn has_open(&self, value: &Value) -> bool {
        match value {
            Value::Reference(value) => self.has_open(value),
            value => match value.parts() {
                Some(parts) => parts.iter().any(|part| self.has_open(part)),
                None => matches!(
                    self.b.inference.number_type(value),
                    Some(NumberType::Inferred(_))
                ),
            },
        }
    }

    pub(super) fn doubt(&mut self, value: &Value) {
        match value {
            Value::Reference(value) => self.doubt(value),
            value => match value.parts() {
                Some(parts) => parts.iter().for_each(|part| self.doubt(part)),
                None => self.b.inference.doubt(value),
            },
        }
    }

    fn same_type(&mut self, value: &Value, other: &Expr) {
        match (value.parts(), other) {
            (Some(parts), Expr::Tuple(tuple)) if tuple.elems.len() == parts.len() => {
                let pairs = parts.iter().zip(&tuple.elems);
                pairs.for_each(|(part, other)| self.same_type(part, other));
            }
            (Some(_), _) => self.doubt(value),
            (None, other) => match self.told(other) {
                Told::Anything => {}
                // Rust would refuse any other type. Omitted code has no errors here.
                Told::Type(ty) => {
                    let own = self.b.inference.number_type(value).unwrap_or(ty);
                    if self.b.unify(own, ty).is_err() {
                        self.doubt(value);
                    }
                }
                Told::Nothing => self.doubt(value),
            },
        }
    }

    fn told(&mut self, expr: &Expr) -> Told {
        match bare(expr) {
            Expr::Lit(lit) => {
                let suffix = match &lit.lit {
                    Lit::Int(lit) => lit.suffix(),
                    Lit::Float(lit) => lit.suffix(),
                    _ => "",
                };
                register_type(suffix).map_or(Told::Anything, |ty| Told::Type(NumberType::Is(ty)))
            }
            Expr::Unary(expr) if !matches!(expr.op, UnOp::Deref(_)) => self.told(&expr.expr),
            Expr::Cast(cast) => match self.scalar_type(&cast.ty) {
                Some(ty) => Told::Type(NumberType::Is(ty)),
                None => Told::Nothing,
            },
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                let value = name.and_then(|name| self.find(&name).cloned().flatten());
                match value.and_then(|value| self.b.inference.number_type(&value)) {
                    Some(ty) => Told::Type(ty),
                    None => Told::Nothing,
                }
            }
            Expr::Binary(expr) => match expr.op {
                BinOp::Shl(_) | BinOp::Shr(_) => self.told(&expr.left),
                BinOp::Add(_)
                | BinOp::Sub(_)
                | BinOp::Mul(_)
                | BinOp::Div(_)
                | BinOp::Rem(_)
                | BinOp::BitAnd(_)
                | BinOp::BitOr(_)
                | BinOp::BitXor(_) => {
                    let left = self.told(&expr.left);
                    left.or(|| self.told(&expr.right))
                }
                _ => Told::Nothing,
            },
            Expr::Block(expr) => self.told_by_block(&expr.block),
            Expr::If(expr) => {
                let then = self.told_by_block(&expr.then_branch);
                match &expr.else_branch {
                    Some((_, other)) => then.or(|| self.told(other)),
                    None => then,
                }
            }
            Expr::Match(expr) => {
                let arms = expr.arms.iter();
                arms.fold(Told::Anything, |told, arm| told.or(|| self.told(&arm.body)))
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return Told::Nothing;
                };
                let name = path.path.get_ident().map(ToString::to_string);
                let source = self.source;
                let found = name.and_then(|name| source.function(self.module, &name));
                match found.map(|(_, function)| &function.sig.output) {
                    Some(ReturnType::Type(_, ty)) => match self.scalar_type(ty) {
                        Some(ty) => Told::Type(NumberType::Is(ty)),
                        None => Told::Nothing,
                    },
                    _ => Told::Nothing,
                }
            }
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => Told::Anything,
            _ => Told::Nothing,
        }
    }

    /// The type of a block of one expression. With other statements, it could use names that they define.
    fn told_by_block(&mut self, block: &Block) -> Told {
        match &block.stmts[..] {
            [Stmt::Expr(last, None)] => self.told(last),
            _ => Told::Nothing,
        }
    }
}

/// The names among the tokens.
fn mentions(tokens: TokenStream, names: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => mentions(group.stream(), names),
            TokenTree::Ident(name) => _ = names.insert(name.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
