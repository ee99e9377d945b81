//! Expressions.

use super::near;
use super::{
    Interpreter, MAX_DEPTH, MAX_STEPS, MAX_TUPLE, MAX_TUPLE_DEPTH, OPERATION_STEPS, VALUES_A_STEP,
};
use crate::kernel::builtins::{self, Argument, Call};
use crate::kernel::emit::arithmetic::{Cmp, Op};
use crate::kernel::syntax::text;
use crate::kernel::value::{
    Num, Scalar, Value, instruction_type, is_float, is_integer, is_signed, range, register_type,
    rust_name, wrap,
};
use crate::notation;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{
    BinOp, Error, Expr, ExprCall, ExprCast, ExprLit, ExprMethodCall, ExprPath, ExprRange,
    ExprUnary, GenericArgument, Lit, LitInt, PathArguments, RangeLimits, Result, UnOp,
};

impl Interpreter<'_> {
    /// The value of an expression. What it does at run time is emitted.
    pub fn eval(&mut self, expr: &Expr) -> Result<Value> {
        // A span is costly to make, and only needed for an error.
        if self.steps >= MAX_STEPS {
            self.work(1, expr.span())?;
        }
        self.steps += 1;
        if self.depth == MAX_DEPTH {
            let message = format!("expressions and calls nest more than {MAX_DEPTH} deep");
            return Err(self.end(expr.span(), message));
        }
        self.depth += 1;
        let value = self.eval_inner(expr);
        self.depth -= 1;
        value
    }

    fn eval_inner(&mut self, expr: &Expr) -> Result<Value> {
        match expr {
            Expr::Lit(expr) => self.literal(&expr.lit),
            Expr::Path(expr) => self.path(expr),
            Expr::Paren(expr) => self.eval(&expr.expr),
            Expr::Group(expr) => self.eval(&expr.expr),
            Expr::Infer(_) => Ok(Value::Wild),
            Expr::Tuple(expr) => self.tuple(expr.elems.iter()),
            Expr::Unary(expr) => self.unary(expr),
            Expr::Binary(expr) => self.binary(&expr.left, &expr.op, &expr.right),
            Expr::Assign(expr) => self.assign(&expr.left, &expr.right),
            Expr::Cast(expr) => self.cast(expr),
            Expr::Range(expr) => self.range(expr),
            Expr::Reference(expr) => match expr.mutability {
                Some(_) => Ok(Value::Reference(Box::new(self.variable_of(&expr.expr)?))),
                None => self.eval(&expr.expr),
            },
            Expr::Call(expr) => self.call(expr),
            Expr::MethodCall(expr) => self.method_call(expr),
            Expr::Field(expr) => {
                let base = self.eval(&expr.base)?;
                self.field(base, &expr.member)
            }
            Expr::Index(expr) => {
                let base = Argument {
                    span: expr.expr.span(),
                    value: self.eval(&expr.expr)?,
                };
                let index = Argument {
                    span: expr.index.span(),
                    value: self.eval(&expr.index)?,
                };
                self.call_builtin(
                    "index",
                    expr.bracket_token.span.open(),
                    Vec::new(),
                    vec![base, index],
                )
            }
            Expr::Block(expr) => match &expr.label {
                None => self.block(&expr.block),
                Some(label) => Err(Error::new(
                    label.span(),
                    "the kernel language has no labelled blocks",
                )),
            },
            Expr::If(expr) => self.if_else(expr),
            Expr::ForLoop(expr) => self.for_loop(expr),
            Expr::While(expr) => self.while_loop(expr),
            Expr::Loop(expr) => self.loop_loop(expr),
            Expr::Break(expr) => match &expr.expr {
                None => self.jump(expr.break_token.span, expr.label.as_ref(), |l| {
                    &mut l.on_break
                }),
                Some(value) => Err(Error::new(
                    value.span(),
                    "the kernel language has no `break` with a value",
                )),
            },
            Expr::Continue(expr) => self.jump(expr.continue_token.span, expr.label.as_ref(), |l| {
                &mut l.on_continue
            }),
            Expr::Return(expr) => self.return_from(expr),
            Expr::Macro(expr) => self.macro_call(&expr.mac),
            other => {
                let what = match other {
                    Expr::Closure(_) => "closures",
                    Expr::Match(_) => "`match`",
                    Expr::Struct(_) => "structs",
                    Expr::Array(_) | Expr::Repeat(_) => "arrays: use a tuple",
                    Expr::Try(_) => "`?`",
                    Expr::Unsafe(_) => "`unsafe` blocks: a kernel as a whole is an `unsafe fn`",
                    Expr::Async(_) | Expr::Await(_) => "`async`: use barriers",
                    _ => "such expressions",
                };
                Err(Error::new_spanned(
                    other,
                    format!("the kernel language has no {what}"),
                ))
            }
        }
    }

    fn literal(&mut self, lit: &Lit) -> Result<Value> {
        match lit {
            Lit::Int(lit) => self.integer(lit.base10_parse()?, lit),
            Lit::Float(lit) if lit.suffix() == "f32" => {
                Ok(Value::Float(lit.base10_parse::<f32>()?.into()))
            }
            Lit::Float(lit) => Ok(Value::Float(lit.base10_parse()?)),
            Lit::Bool(lit) => Ok(Value::Bool(lit.value)),
            Lit::Str(lit) => Ok(Value::Str(lit.value())),
            lit => Err(Error::new_spanned(
                lit,
                "expected a number, a truth value or a string",
            )),
        }
    }

    /// An integer literal with its sign, of the type that its suffix names.
    fn integer(&mut self, value: i128, lit: &LitInt) -> Result<Value> {
        let ty = register_type(lit.suffix()).filter(|ty| is_integer(*ty));
        if let Some(ty) = ty {
            self.b.set_place(lit.span());
            self.b.check_fits(value, ty)?;
        }
        Ok(Value::Int(value, ty))
    }

    fn path(&mut self, expr: &ExprPath) -> Result<Value> {
        match expr.path.get_ident() {
            Some(ident) => self.lookup(ident),
            None => Err(Error::new_spanned(
                expr,
                "expected a name of the kernel: paths lead nowhere here",
            )),
        }
    }

    fn tuple<'e>(&mut self, elements: impl Iterator<Item = &'e Expr>) -> Result<Value> {
        let mut values = Vec::new();
        for element in elements {
            let value = self.eval(element)?;
            // A tuple holds values, not variables.
            values.push(self.keep(value));
        }
        if values.is_empty() {
            return Ok(Value::Unit);
        }
        let tuple = Value::Tuple(values);
        let (size, depth) = tuple.extent();
        if size > MAX_TUPLE || depth > MAX_TUPLE_DEPTH {
            return Err(self.b.error(format!(
                "a tuple has at most {MAX_TUPLE} values, nested {MAX_TUPLE_DEPTH} deep: this one has {size}, nested {depth} deep"
            )));
        }
        Ok(tuple)
    }

    fn field(&mut self, base: Value, member: &syn::Member) -> Result<Value> {
        match (base, member) {
            (Value::Reference(value), member) => self.field(*value, member),
            (Value::Tuple(mut elements), syn::Member::Unnamed(index)) => {
                let i = index.index as usize;
                if i < elements.len() {
                    return Ok(elements.swap_remove(i));
                }
                Err(Error::new(
                    index.span,
                    format!("field {i} of a tuple of {}", elements.len()),
                ))
            }
            (base, member) => Err(Error::new_spanned(
                member,
                format!("{} has no such field", base.kind()),
            )),
        }
    }

    // ---- operators

    fn unary(&mut self, expr: &ExprUnary) -> Result<Value> {
        // `-128i8` is one number: 128 does not fit.
        if let (
            UnOp::Neg(_),
            Expr::Lit(ExprLit {
                lit: Lit::Int(lit), ..
            }),
        ) = (&expr.op, &*expr.expr)
        {
            return self.integer(-lit.base10_parse::<i128>()?, lit);
        }
        let value = self.eval(&expr.expr)?;
        self.b.set_place(expr.op.span());
        match (&expr.op, value) {
            (UnOp::Deref(_), Value::Reference(value)) => Ok(*value),
            (UnOp::Neg(_), Value::Int(value, ty)) if ty.is_none_or(is_signed) => {
                let zero = Value::Int(0, ty);
                self.b.integers(Op::Sub, &zero, &Value::Int(value, ty))
            }
            (UnOp::Not(_), Value::Int(value, Some(ty))) => {
                Ok(Value::Int(wrap(!value, ty), Some(ty)))
            }
            (UnOp::Neg(_), Value::Float(value)) => Ok(Value::Float(-value)),
            (UnOp::Neg(_), Value::Scalar(scalar))
                if is_signed(scalar.ty) || is_float(scalar.ty) =>
            {
                Ok(self.b.unary(Opcode::Neg, &scalar).into())
            }
            (UnOp::Not(_), Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnOp::Not(_), Value::Scalar(scalar))
                if scalar.ty == Type::Pred || is_integer(scalar.ty) =>
            {
                Ok(self.b.unary(Opcode::Not, &scalar).into())
            }
            (op, value) => {
                let op = op.to_token_stream();
                Err(self
                    .b
                    .error(format!("cannot apply `{op}` to {}", value.kind())))
            }
        }
    }

    fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Result<Value> {
        if matches!(op, BinOp::And(_) | BinOp::Or(_)) {
            return self.logic(left, op, right);
        }
        if let Some(arithmetic) = compound(op) {
            return self.assign_op(left, arithmetic, op, right);
        }
        let left = self.eval(left)?;
        let left = if may_assign(right) {
            self.keep(left)
        } else {
            left
        };
        let right = self.eval(right)?;
        self.b.set_place(op.span());
        match (simple(op), comparison(op)) {
            (Some(op), _) => self.arithmetic(op, &left, &right),
            (_, Some(cmp)) => self.compare(cmp, &left, &right),
            _ => Err(self.b.error("the kernel language has no such operator")),
        }
    }

    /// `a op b` for integers, floating-point numbers and truth values.
    pub(super) fn arithmetic(&mut self, op: Op, a: &Value, b: &Value) -> Result<Value> {
        if a.as_num().is_some() && b.as_num().is_some() {
            return self.b.integers(op, a, b);
        }
        if let (Op::And | Op::Or | Op::Xor, Some(a), Some(b)) = (op, truth(a), truth(b)) {
            return Ok(self.truth_table(op, a, b));
        }
        let known = match (op, a, b) {
            (Op::Add, Value::Float(a), Value::Float(b)) => Some(Value::Float(a + b)),
            (Op::Sub, Value::Float(a), Value::Float(b)) => Some(Value::Float(a - b)),
            (Op::Mul, Value::Float(a), Value::Float(b)) => Some(Value::Float(a * b)),
            (Op::Div, Value::Float(a), Value::Float(b)) => Some(Value::Float(a / b)),
            _ => None,
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => Some(a.ty),
            (Value::Scalar(a), Value::Float(_)) => Some(a.ty),
            (Value::Float(_), Value::Scalar(b)) => Some(b.ty),
            _ => None,
        };
        let rounding = match (op, ty) {
            (Op::Div, Some(Type::F32 | Type::F64)) => Some(Modifier::Rn),
            // Without `.rn` the assembler may contract a product and a sum: Rust would not.
            (Op::Add | Op::Sub | Op::Mul, Some(ty)) if is_float(ty) => Some(Modifier::Rn),
            (Op::Min | Op::Max, Some(ty)) if is_float(ty) => None,
            _ => {
                return Err(self.b.error(format!(
                    "no such operation on {} and {}",
                    a.kind(),
                    b.kind()
                )));
            }
        };
        // Both are registers or floating-point constants, by the type found above.
        let ty = ty.unwrap_or(Type::F32);
        let (a, b) = (
            self.float_or_register(a, ty)?,
            self.float_or_register(b, ty)?,
        );
        Ok(self
            .b
            .compute(ty, op.opcode(), (rounding, ty), [a, b])
            .into())
    }

    /// `&`, `|` and `^` of truth values.
    fn truth_table(&mut self, op: Op, a: Truth<'_>, b: Truth<'_>) -> Value {
        match (op, a, b) {
            (Op::And, Truth::Known(a), Truth::Known(b)) => Value::Bool(a & b),
            (Op::Or, Truth::Known(a), Truth::Known(b)) => Value::Bool(a | b),
            (_, Truth::Known(a), Truth::Known(b)) => Value::Bool(a ^ b),
            (Op::And, Truth::Known(false), _) | (Op::And, _, Truth::Known(false)) => {
                Value::Bool(false)
            }
            (Op::Or, Truth::Known(true), _) | (Op::Or, _, Truth::Known(true)) => Value::Bool(true),
            (Op::Xor, Truth::Known(true), Truth::Predicate(p))
            | (Op::Xor, Truth::Predicate(p), Truth::Known(true)) => self
                .b
                .compute(Type::Pred, Opcode::Not, Type::Pred, [p.operand()])
                .into(),
            (_, Truth::Known(_), Truth::Predicate(p))
            | (_, Truth::Predicate(p), Truth::Known(_)) => Value::Scalar(p.clone()),
            (op, Truth::Predicate(a), Truth::Predicate(b)) => self
                .b
                .compute(
                    Type::Pred,
                    op.opcode(),
                    Type::Pred,
                    [a.operand(), b.operand()],
                )
                .into(),
        }
    }

    fn float_or_register(&mut self, value: &Value, ty: Type) -> Result<Operand> {
        match value {
            Value::Scalar(scalar) => Ok(scalar.operand()),
            Value::Float(value) => self.float_operand(*value, ty),
            other => Err(self
                .b
                .error(format!("expected a number, found {}", other.kind()))),
        }
    }

    fn compare(&mut self, cmp: Cmp, a: &Value, b: &Value) -> Result<Value> {
        if let (Some(x), Some(y)) = (a.as_num(), b.as_num()) {
            self.b.common_type(a, b)?;
            return self.b.compare(cmp, &x, &y);
        }
        if let (Cmp::Eq | Cmp::Ne, Some(a), Some(b)) = (cmp, truth(a), truth(b)) {
            let differ = self.truth_table(Op::Xor, a, b);
            return match (cmp, truth(&differ)) {
                (Cmp::Eq, Some(differ)) => {
                    Ok(self.truth_table(Op::Xor, differ, Truth::Known(true)))
                }
                _ => Ok(differ),
            };
        }
        if let (Value::Float(a), Value::Float(b)) = (a, b) {
            return Ok(Value::Bool(match cmp {
                Cmp::Eq => a == b,
                Cmp::Ne => a != b,
                Cmp::Lt => a < b,
                Cmp::Le => a <= b,
                Cmp::Gt => a > b,
                Cmp::Ge => a >= b,
            }));
        }
        if let (Some(a), Some(b), Cmp::Eq | Cmp::Ne) = (a.to_algebra(), b.to_algebra(), cmp) {
            return Ok(Value::Bool((a == b) == (cmp == Cmp::Eq)));
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => a.ty,
            (Value::Scalar(a), Value::Float(_)) => a.ty,
            (Value::Float(_), Value::Scalar(b)) => b.ty,
            _ => {
                return Err(self
                    .b
                    .error(format!("cannot compare {} with {}", a.kind(), b.kind())));
            }
        };
        if !is_float(ty) {
            return Err(self
                .b
                .error(format!("cannot compare {} with {}", a.kind(), b.kind())));
        }
        let (a, b) = (
            self.float_or_register(a, ty)?,
            self.float_or_register(b, ty)?,
        );
        // `!=` of a NaN holds.
        let modifier = match cmp {
            Cmp::Ne => Modifier::Neu,
            cmp => cmp.modifier(),
        };
        Ok(self
            .b
            .compute(Type::Pred, Opcode::Setp, (modifier, ty), [a, b])
            .into())
    }

    fn cast(&mut self, expr: &ExprCast) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        let Some(ty) = self.scalar_type(&expr.ty) else {
            return Err(Error::new(expr.ty.span(), "`as` converts to a number type"));
        };
        self.b.set_place(expr.as_token.span);
        match value {
            Value::Int(value, _) if is_integer(ty) => Ok(Value::Int(wrap(value, ty), Some(ty))),
            // Not through f64, which would round twice.
            Value::Int(value, _) if ty == Type::F32 => Ok(Value::Float((value as f32).into())),
            Value::Int(value, _) if is_float(ty) => Ok(Value::Float(value as f64)),
            Value::Float(value) if ty == Type::F32 => Ok(Value::Float((value as f32).into())),
            Value::Float(value) if is_float(ty) => Ok(Value::Float(value)),
            // Rust's `as` saturates, and makes 0 of a NaN.
            Value::Float(value) if is_integer(ty) => {
                let (least, greatest) = range(ty);
                let value = (value as i128).clamp(least, greatest);
                Ok(Value::Int(value, Some(ty)))
            }
            Value::Bool(value) if is_integer(ty) => Ok(Value::Int(value.into(), Some(ty))),
            Value::Scalar(scalar) if scalar.ty == Type::Pred && is_integer(ty) => {
                let operands = [Operand::Int(1), Operand::Int(0), scalar.operand()];
                let computed = instruction_type(ty);
                Ok(self.b.compute(ty, Opcode::Selp, computed, operands).into())
            }
            Value::Scalar(scalar) => Ok(self.b.convert(&scalar, ty)?.into()),
            value => Err(self.b.error(format!(
                "no conversion from {} to `{}`",
                value.kind(),
                rust_name(ty)
            ))),
        }
    }

    fn range(&mut self, expr: &ExprRange) -> Result<Value> {
        let (Some(start), Some(end)) = (&expr.start, &expr.end) else {
            return Err(Error::new(
                expr.limits.span(),
                "a range needs both its bounds: `a..b`",
            ));
        };
        let (start, end) = (self.bound(start)?, self.bound(end)?);
        let end = match (&expr.limits, end) {
            (RangeLimits::HalfOpen(_), end) => end,
            (RangeLimits::Closed(_), Num::Const(end)) => Num::Const(end.saturating_add(1)),
            (RangeLimits::Closed(dots), Num::Reg(_)) => {
                return Err(Error::new(
                    dots.span(),
                    "`..=` needs an end known at expansion: use `a..b`",
                ));
            }
        };
        Ok(Value::Range(start, end))
    }

    fn bound(&mut self, expr: &Expr) -> Result<Num> {
        let value = self.eval(expr)?;
        value.as_num().ok_or_else(|| {
            Error::new(
                expr.span(),
                format!("expected an integer, found {}", value.kind()),
            )
        })
    }

    // ---- calls

    fn call(&mut self, expr: &ExprCall) -> Result<Value> {
        let Expr::Path(path) = &*expr.func else {
            return Err(Error::new_spanned(
                &expr.func,
                "expected the name of a function",
            ));
        };
        let [segment] = &path.path.segments.iter().collect::<Vec<_>>()[..] else {
            return Err(Error::new_spanned(
                path,
                "expected the name of a function: paths lead nowhere here",
            ));
        };
        let types = self.type_arguments(&segment.arguments)?;
        let args = self.arguments(&segment.ident, None, expr.args.iter())?;
        if let Some(function) = self
            .source
            .functions
            .iter()
            .find(|function| function.sig.ident == segment.ident)
        {
            return self.call_function(function, segment.ident.span(), types, args);
        }
        self.call_named(&segment.ident, types, args)
    }

    /// `receiver.f(…)` is `f(receiver, …)`.
    fn method_call(&mut self, expr: &ExprMethodCall) -> Result<Value> {
        let types = match &expr.turbofish {
            Some(generics) => {
                self.type_arguments(&PathArguments::AngleBracketed(generics.clone()))?
            }
            None => Vec::new(),
        };
        let args = self.arguments(&expr.method, Some(&expr.receiver), expr.args.iter())?;
        self.call_named(&expr.method, types, args)
    }

    fn call_named(
        &mut self,
        name: &Ident,
        types: Vec<Argument>,
        args: Vec<Argument>,
    ) -> Result<Value> {
        let text = name.to_string();
        if let Some(row) = builtins::find(&text) {
            return row.call(
                &mut self.b,
                &Call {
                    name: row.name(),
                    span: name.span(),
                    types,
                    args,
                },
            );
        }
        if let Some(operation) = cute_algebra::operations::find(&text) {
            self.work(OPERATION_STEPS, name.span())?;
            let call = Call {
                name: operation.name,
                span: name.span(),
                types,
                args,
            };
            return builtins::operate(&mut self.b, operation, &call);
        }
        let functions = self
            .source
            .functions
            .iter()
            .map(|function| function.sig.ident.to_string());
        let names: Vec<String> = functions
            .chain(builtins::names().map(str::to_string))
            .collect();
        let hint = near::hint(&text, names.iter().map(String::as_str));
        Err(Error::new(
            name.span(),
            format!("cannot find function `{text}`{hint}"),
        ))
    }

    /// The arguments of a call of `function`, with the receiver if there is one.
    fn arguments<'e>(
        &mut self,
        function: &Ident,
        receiver: Option<&'e Expr>,
        args: impl Iterator<Item = &'e Expr>,
    ) -> Result<Vec<Argument>> {
        let name = function.to_string();
        let operation = match builtins::find(&name) {
            None => cute_algebra::operations::find(&name),
            Some(_) => None,
        };
        let mut values: Vec<Argument> = Vec::new();
        for (i, expr) in receiver.into_iter().chain(args).enumerate() {
            let takes_word = operation.is_some_and(|operation| operation.takes_word(i));
            if takes_word && let Some(word) = self.word(expr) {
                values.push(Argument {
                    span: expr.span(),
                    value: Value::Algebra(cute_algebra::Value::Word(word)),
                });
                continue;
            }
            if may_assign(expr) {
                for argument in &mut values {
                    argument.value = self.keep(std::mem::replace(&mut argument.value, Value::Unit));
                }
            }
            values.push(Argument {
                span: expr.span(),
                value: self.eval(expr)?,
            });
        }
        Ok(values)
    }

    /// A name that no variable has, with its parameters: `SM75_U32x4_LDSM_N`, `UniversalCopy::<u128>`.
    fn word(&self, expr: &Expr) -> Option<String> {
        let Expr::Path(path) = expr else {
            return None;
        };
        let [segment] = &path.path.segments.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let name = segment.ident.to_string();
        let is_known = builtins::WORDS.contains(&&name[..])
            || self.scopes.iter().any(|scope| scope.contains_key(&name))
            || self.source.consts.iter().any(|item| item.ident == name);
        match &segment.arguments {
            _ if is_known => None,
            PathArguments::None => Some(name),
            PathArguments::AngleBracketed(generics) => {
                let parameters = generics.args.iter().map(|argument| match argument {
                    syn::GenericArgument::Type(syn::Type::Path(path)) => {
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

    fn type_arguments(&mut self, arguments: &PathArguments) -> Result<Vec<Argument>> {
        let PathArguments::AngleBracketed(generics) = arguments else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        for argument in &generics.args {
            let value = match argument {
                GenericArgument::Type(syn::Type::Path(path)) => self.path(&ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.path.clone(),
                })?,
                GenericArgument::Const(expr) => self.eval(expr)?,
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "expected an element type or an integer",
                    ));
                }
            };
            values.push(Argument {
                span: argument.span(),
                value,
            });
        }
        Ok(values)
    }

    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Result<Value> {
        if mac.path.is_ident("layout") {
            return self.notation(mac);
        }
        if mac.path.is_ident("ptx") {
            return self.ptx(mac);
        }
        if mac.path.is_ident("assert") {
            return self.assertion(mac);
        }
        let name = text::shorten(mac.path.to_token_stream());
        Err(Error::new_spanned(
            &mac.path,
            format!("no macro `{name}!` in kernels, only `layout!`, `ptx!` and `assert!`"),
        ))
    }

    /// `assert!(condition)` or `assert!(condition, "message")`, decided at expansion.
    fn assertion(&mut self, mac: &syn::Macro) -> Result<Value> {
        let arguments = mac.parse_body_with(
            syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated,
        )?;
        let mut arguments = arguments.iter();
        let (Some(condition), message, None) =
            (arguments.next(), arguments.next(), arguments.next())
        else {
            let wanted = "`assert!` takes a condition, and a message that may be left out";
            return Err(Error::new_spanned(&mac.path, wanted));
        };
        let message = match message.map(|message| self.eval(message)).transpose()? {
            Some(Value::Str(message)) => message,
            None => text::shorten(condition.to_token_stream()),
            Some(_) => {
                return Err(Error::new_spanned(
                    &mac.path,
                    "the message of `assert!` is a string",
                ));
            }
        };
        match self.eval(condition)? {
            Value::Bool(true) => Ok(Value::Unit),
            Value::Bool(false) => {
                let message = format!("assertion failed: {message}");
                Err(Error::new_spanned(condition, message))
            }
            _ => {
                let wanted = "an assertion is decided at expansion: its condition is a truth value that is known then";
                Err(Error::new_spanned(condition, wanted))
            }
        }
    }

    /// A layout that an item outside of the module names.
    fn named_layout(&mut self, name: &str, path: TokenStream) -> Result<cute_algebra::Value> {
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Err(Error::new_spanned(
                path,
                format!("`{name}` is known only when the kernel runs"),
            ));
        }
        match self.source.layouts.iter().find(|(known, _)| known == name) {
            Some((_, bound)) => bound
                .value(name)
                .map_err(|message| Error::new_spanned(path, message)),
            None => {
                self.source.unresolved.borrow_mut().push(path.clone());
                Err(Error::new_spanned(
                    path,
                    format!("cannot find layout `{name}`"),
                ))
            }
        }
    }

    /// A name among the tokens whose definition has an error.
    fn wrong_name(&self, tokens: TokenStream) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => self.wrong_name(group.stream()),
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let value = self
                    .scopes
                    .iter()
                    .rev()
                    .find_map(|scope| scope.get(&name))?;
                value.is_none().then(|| ident.span())
            }
            _ => None,
        })
    }

    /// `layout!(…)`, with the names in scope and those of items around the module.
    fn notation(&mut self, mac: &syn::Macro) -> Result<Value> {
        if let Some(span) = self.wrong_name(mac.tokens.clone()) {
            return Err(self.follow(span));
        }
        let names: usize = self.scopes.iter().map(HashMap::len).sum();
        self.work(OPERATION_STEPS + names / VALUES_A_STEP, mac.path.span())?;
        let mut known: HashMap<String, cute_algebra::Value> = HashMap::new();
        for scope in &self.scopes {
            known.extend(
                scope.iter().filter_map(|(name, value)| {
                    Some((name.clone(), value.as_ref()?.to_algebra()?))
                }),
            );
        }
        for (name, path) in notation::layout_names(mac.tokens.clone())? {
            if !known.contains_key(&name) {
                known.insert(name.clone(), self.named_layout(&name, path)?);
            }
        }
        notation::eval(mac.tokens.clone(), &|name| known.get(name).cloned())
            .map(Value::from_algebra)
    }
}

/// A truth value.
#[derive(Clone, Copy)]
enum Truth<'a> {
    Known(bool),
    Predicate(&'a Scalar),
}

fn truth(value: &Value) -> Option<Truth<'_>> {
    match value {
        Value::Bool(value) => Some(Truth::Known(*value)),
        Value::Scalar(scalar) if scalar.ty == Type::Pred => Some(Truth::Predicate(scalar)),
        _ => None,
    }
}

fn simple(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::Add(_) => Op::Add,
        BinOp::Sub(_) => Op::Sub,
        BinOp::Mul(_) => Op::Mul,
        BinOp::Div(_) => Op::Div,
        BinOp::Rem(_) => Op::Rem,
        BinOp::BitAnd(_) => Op::And,
        BinOp::BitOr(_) => Op::Or,
        BinOp::BitXor(_) => Op::Xor,
        BinOp::Shl(_) => Op::Shl,
        BinOp::Shr(_) => Op::Shr,
        _ => return None,
    })
}

fn compound(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::AddAssign(_) => Op::Add,
        BinOp::SubAssign(_) => Op::Sub,
        BinOp::MulAssign(_) => Op::Mul,
        BinOp::DivAssign(_) => Op::Div,
        BinOp::RemAssign(_) => Op::Rem,
        BinOp::BitAndAssign(_) => Op::And,
        BinOp::BitOrAssign(_) => Op::Or,
        BinOp::BitXorAssign(_) => Op::Xor,
        BinOp::ShlAssign(_) => Op::Shl,
        BinOp::ShrAssign(_) => Op::Shr,
        _ => return None,
    })
}

fn comparison(op: &BinOp) -> Option<Cmp> {
    Some(match op {
        BinOp::Eq(_) => Cmp::Eq,
        BinOp::Ne(_) => Cmp::Ne,
        BinOp::Lt(_) => Cmp::Lt,
        BinOp::Le(_) => Cmp::Le,
        BinOp::Gt(_) => Cmp::Gt,
        BinOp::Ge(_) => Cmp::Ge,
        _ => return None,
    })
}

/// Whether evaluating the expression may change a variable: it holds a block or a `&mut`.
fn may_assign(expr: &Expr) -> bool {
    match expr {
        // What most operands are, without a look at their tokens.
        Expr::Lit(_) | Expr::Path(_) | Expr::Infer(_) => return false,
        _ => {}
    }
    fn search(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace || search(group.stream())
            }
            TokenTree::Ident(ident) => ident == "mut",
            _ => false,
        })
    }
    search(expr.to_token_stream())
}
