//! `if`, loops, `&&` and `||`.

use super::{Interpreter, Loop, Target, num};
use crate::kernel::emit::arithmetic::Cmp;
use crate::kernel::emit::builder::{unless, when};
use crate::kernel::emit::is_pure;
use crate::kernel::syntax::text;
use crate::kernel::value::{Num, Scalar, Value, instruction_type};
use cute_ptx::ast::{Guard, Line, Operand, Type};
use cute_ptx::table::{Opcode, Together};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Error, Expr, ExprForLoop, ExprIf, ExprLoop, ExprWhile, Label, Lifetime, Pat,
    Result,
};

/// Most iterations of a loop that is unrolled.
const MAX_UNROLL: i128 = 4096;

/// Most instructions of a branch that is predicated rather than jumped over.
const MAX_PREDICATED: usize = 6;

impl Interpreter<'_> {
    pub(super) fn if_else(&mut self, expr: &ExprIf) -> Result<Value> {
        let condition = self.condition(&expr.cond)?;
        let otherwise = expr.else_branch.as_ref().map(|(_, expr)| &**expr);
        let predicate = match condition {
            Value::Bool(true) => return self.block(&expr.then_branch),
            Value::Bool(false) => return otherwise.map_or(Ok(Value::Unit), |expr| self.eval(expr)),
            Value::Scalar(predicate) => self.b.snapshot(&predicate),
            _ => return Ok(Value::Unit),
        };
        let (then_value, then, then_dead) = self.capture(|this| this.block(&expr.then_branch))?;
        let (else_value, other, else_dead) = self.capture(|this| match otherwise {
            Some(expr) => this.eval(expr),
            None => Ok(Value::Unit),
        })?;
        self.b.set_place(expr.if_token.span());
        self.dead = then_dead && else_dead;
        match (then_dead, else_dead) {
            (false, false) => {}
            // Where one branch does not arrive, the value is the other's.
            (true, _) => {
                self.branches(&predicate, then, other);
                return Ok(else_value);
            }
            (_, true) => {
                self.branches(&predicate, then, other);
                return Ok(then_value);
            }
        }
        if then.is_empty() && other.is_empty() {
            return self.select(&predicate, &then_value, &else_value);
        }
        let merged = self.merge(&then_value, &else_value)?;
        let mut complete = |mut lines: Vec<Line>, value: &Value| -> Result<Vec<Line>> {
            let ((), moves, _) = self.capture(|this| this.store_all(&merged, value))?;
            lines.extend(moves);
            Ok(lines)
        };
        let then = complete(then, &then_value)?;
        let other = complete(other, &else_value)?;
        self.branches(&predicate, then, other);
        Ok(merged)
    }

    /// A condition: a truth value, or a predicate.
    fn condition(&mut self, expr: &Expr) -> Result<Value> {
        if let Expr::Let(expr) = expr {
            return Err(Error::new(
                expr.let_token.span,
                "the kernel language has no `if let` and no `while let`",
            ));
        }
        match self.eval(expr)? {
            value @ Value::Bool(_) => Ok(value),
            Value::Scalar(scalar) if scalar.ty == Type::Pred => Ok(Value::Scalar(scalar)),
            other => Err(Error::new(
                expr.span(),
                format!("expected a condition, found {}", other.kind()),
            )),
        }
    }

    /// Lays out two branches.
    fn branches(&mut self, predicate: &Scalar, then: Vec<Line>, other: Vec<Line>) {
        if other.is_empty()
            && let Some(lines) = predicated(&then, &when(predicate))
        {
            return self.b.append(lines);
        }
        if then.is_empty()
            && let Some(lines) = predicated(&other, &unless(predicate))
        {
            return self.b.append(lines);
        }
        if then.is_empty() {
            let end = self.b.label("endif");
            self.b.branch_if(when(predicate), &end);
            self.b.append(other);
            return self.b.place_label(&end);
        }
        let end = self.b.label("endif");
        if other.is_empty() {
            self.b.branch_if(unless(predicate), &end);
            self.b.append(then);
        } else {
            let otherwise = self.b.label("else");
            self.b.branch_if(unless(predicate), &otherwise);
            let jumps = then.last().is_some_and(is_jump);
            self.b.append(then);
            if !jumps {
                self.b.branch(&end);
            }
            self.b.place_label(&otherwise);
            self.b.append(other);
        }
        self.b.place_label(&end);
    }

    /// Both branches are values that cost nothing: choose between them.
    fn select(&mut self, predicate: &Scalar, a: &Value, b: &Value) -> Result<Value> {
        match (num(a), num(b)) {
            (Some(x), Some(y)) => {
                let ty = self.b.common_type(a, b)?;
                if x == y {
                    return Ok(x.typed(ty));
                }
                let ty = ty.unwrap_or(Type::U32);
                Ok(self.b.select(predicate, ty, &x, &y)?.into())
            }
            _ => match (a, b) {
                (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                    let selected = a.iter().zip(b).map(|(a, b)| self.select(predicate, a, b));
                    Ok(Value::Tuple(selected.collect::<Result<_>>()?))
                }
                _ => {
                    let merged = self.merge(a, b)?;
                    let ((), then, _) = self.capture(|this| this.store_all(&merged, a))?;
                    let ((), other, _) = self.capture(|this| this.store_all(&merged, b))?;
                    if !then.is_empty() || !other.is_empty() {
                        self.branches(predicate, then, other);
                    }
                    Ok(merged)
                }
            },
        }
    }

    /// Registers for the value of an `if`: where the branches agree on what is known, that itself.
    fn merge(&mut self, a: &Value, b: &Value) -> Result<Value> {
        let differ = || {
            format!(
                "the branches of a run-time `if` differ: {} and {}",
                a.kind(),
                b.kind()
            )
        };
        let ty = match (a, b) {
            (Value::Unit, Value::Unit) => return Ok(Value::Unit),
            (Value::Int(a, s), Value::Int(b, t)) if a == b && s.or(*t) == t.or(*s) => {
                return Ok(Value::Int(*a, s.or(*t)));
            }
            (Value::Bool(a), Value::Bool(b)) if a == b => return Ok(Value::Bool(*a)),
            (Value::Word(a), Value::Word(b)) if a == b => return Ok(Value::Word(a)),
            (Value::Element(a), Value::Element(b)) if a == b => return Ok(Value::Element(*a)),
            (Value::Algebra(a), Value::Algebra(b)) if a == b => {
                return Ok(Value::Algebra(a.clone()));
            }
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                let merged = a.iter().zip(b).map(|(a, b)| self.merge(a, b));
                return Ok(Value::Tuple(merged.collect::<Result<_>>()?));
            }
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => a.ty,
            (Value::Scalar(known), Value::Int(..) | Value::Float(_) | Value::Bool(_))
            | (Value::Int(..) | Value::Float(_) | Value::Bool(_), Value::Scalar(known)) => known.ty,
            (Value::Int(_, a), Value::Int(_, b)) => a.or(*b).unwrap_or(Type::U32),
            (Value::Float(_), Value::Float(_)) => Type::F32,
            (Value::Bool(_), Value::Bool(_)) => Type::Pred,
            _ => return Err(self.b.error(differ())),
        };
        Ok(Value::Scalar(self.b.register(ty)))
    }

    // ---- loops

    pub(super) fn for_loop(&mut self, expr: &ExprForLoop) -> Result<Value> {
        let range = self.eval(&expr.expr)?;
        let Value::Range(start, end) = self.keep(range) else {
            return Err(Error::new(
                expr.expr.span(),
                "a `for` loop runs over a range: `for i in a..b`",
            ));
        };
        match (start.constant(), end.constant()) {
            (Some(start), Some(end)) => self.unrolled(expr, start, end)?,
            _ => self.counted(expr, &start, &end)?,
        }
        Ok(Value::Unit)
    }

    /// Both bounds are known: the body once for each index.
    fn unrolled(&mut self, expr: &ExprForLoop, start: i128, end: i128) -> Result<()> {
        if end.saturating_sub(start) > MAX_UNROLL {
            let steps = end.saturating_sub(start);
            let message =
                format!("a loop of {steps} steps is not unrolled: the limit is {MAX_UNROLL}");
            return Err(Error::new(expr.expr.span(), message));
        }
        let on_break = self.target("for_break");
        self.enter(expr.label.as_ref(), on_break);
        let name = text::shorten(expr.pat.to_token_stream());
        let errors = self.errors.len();
        for i in start..end {
            self.work(1, expr.for_token.span)?;
            let on_continue = self.target("for_continue");
            self.current().on_continue = on_continue;
            let before = self.length()?;
            if !matches!(*expr.pat, Pat::Wild(_)) {
                self.b.comment(format!("{name} = {i}"));
            }
            let first = self.length()?;
            self.iteration(&expr.pat, Value::Int(i, None), &expr.body)?;
            self.arrive(|l| &mut l.on_continue);
            if self.length()? == first {
                self.b.split_off(before);
            }
            if self.dead || self.errors.len() > errors {
                break;
            }
        }
        self.leave();
        Ok(())
    }

    /// A loop that counts in a register. Its test stands at the end; the first is taken before it.
    fn counted(&mut self, expr: &ExprForLoop, start: &Num, end: &Num) -> Result<()> {
        self.b.set_place(expr.expr.span());
        let ty = match (start, end) {
            (Num::Reg(scalar), _) | (_, Num::Reg(scalar)) => scalar.ty,
            _ => Type::U32,
        };
        let Value::Scalar(enters) = self.b.compare(Cmp::Lt, start, end)? else {
            return Err(self.b.error("a range of known bounds is unrolled"));
        };
        let name = match &*expr.pat {
            Pat::Ident(pat) => pat.ident.to_string(),
            _ => "i".into(),
        };
        let counter = self.b.named_register(ty, &name);
        let head = self.b.label("for");
        let on_break = Target {
            label: self.b.label("for_end"),
            used: true,
        };
        self.b.branch_if(unless(&enters), &on_break.label);
        self.b.assign(&counter, start.operand());
        self.b.place_label(&head);
        self.enter(expr.label.as_ref(), on_break);
        let on_continue = self.target("for_next");
        self.current().on_continue = on_continue;
        self.iteration(&expr.pat, Value::Scalar(counter.clone()), &expr.body)?;
        self.arrive(|l| &mut l.on_continue);
        if !self.dead {
            self.b.emit(
                Opcode::Add,
                instruction_type(ty),
                [counter.operand(), counter.operand(), Operand::Int(1)],
            );
            let again = self
                .b
                .set_predicate(Cmp::Lt, ty, counter.operand(), end.operand());
            self.b.branch_if(when(&again), &head);
        }
        self.leave();
        Ok(())
    }

    pub(super) fn while_loop(&mut self, expr: &ExprWhile) -> Result<Value> {
        let head = self.b.label("while");
        let mut on_break = self.target("while_end");
        let start = self.length()?;
        self.b.place_label(&head);
        match self.condition(&expr.cond)? {
            Value::Bool(false) => {
                self.b.split_off(start);
                return Ok(Value::Unit);
            }
            Value::Scalar(predicate) => {
                on_break.used = true;
                self.b.branch_if(unless(&predicate), &on_break.label);
            }
            _ => {}
        }
        self.endless(expr.label.as_ref(), &expr.body, head, on_break)
    }

    pub(super) fn loop_loop(&mut self, expr: &ExprLoop) -> Result<Value> {
        let head = self.b.label("loop");
        let on_break = self.target("loop_end");
        self.b.place_label(&head);
        self.endless(expr.label.as_ref(), &expr.body, head, on_break)
    }

    /// The body of a loop whose head has been placed, and the jump back.
    fn endless(
        &mut self,
        label: Option<&Label>,
        body: &Block,
        head: String,
        on_break: Target,
    ) -> Result<Value> {
        self.enter(label, on_break);
        self.current().on_continue = Target {
            label: head.clone(),
            used: false,
        };
        self.block(body)?;
        if !self.dead {
            self.b.branch(&head);
        }
        self.dead = true;
        self.leave();
        Ok(Value::Unit)
    }

    fn iteration(&mut self, pat: &Pat, index: Value, body: &Block) -> Result<()> {
        self.scopes.push(Default::default());
        let result = self
            .bind(pat, index, None, usize::MAX)
            .and_then(|()| self.block(body));
        self.scopes.pop();
        result.map(drop)
    }

    fn enter(&mut self, label: Option<&Label>, on_break: Target) {
        let name = label.map(|label| label.name.ident.to_string());
        let on_continue = Target {
            label: String::new(),
            used: false,
        };
        self.loops.push(Loop {
            name,
            on_break,
            on_continue,
        });
    }

    fn current(&mut self) -> &mut Loop {
        self.loops
            .last_mut()
            .expect("called between `enter` and `leave`")
    }

    fn leave(&mut self) {
        self.arrive(|l| &mut l.on_break);
        self.loops.pop();
    }

    /// Places a target of the current loop, if something jumps there.
    fn arrive(&mut self, target: impl Fn(&mut Loop) -> &mut Target) {
        let target = target(self.current());
        if target.used {
            let label = target.label.clone();
            self.b.place_label(&label);
            self.dead = false;
        }
    }

    fn target(&mut self, stem: &str) -> Target {
        Target {
            label: self.b.label(stem),
            used: false,
        }
    }

    /// `break` and `continue`.
    pub(super) fn jump(
        &mut self,
        span: proc_macro2::Span,
        name: Option<&Lifetime>,
        target: impl Fn(&mut Loop) -> &mut Target,
    ) -> Result<Value> {
        let found = match name {
            None => self.loops.last_mut(),
            Some(name) => {
                let name = name.ident.to_string();
                self.loops
                    .iter_mut()
                    .rev()
                    .find(|l| l.name.as_deref() == Some(name.as_str()))
            }
        };
        let Some(found) = found else {
            let message = match name {
                Some(name) => format!("no loop around this is called `{name}`"),
                None => "no loop is around this".to_string(),
            };
            return Err(Error::new(span, message));
        };
        let target = target(found);
        target.used = true;
        let label = target.label.clone();
        self.b.branch(&label);
        self.dead = true;
        Ok(Value::Unit)
    }

    pub(super) fn return_from(&mut self, expr: &syn::ExprReturn) -> Result<Value> {
        if let Some(value) = &expr.expr {
            return Err(Error::new(
                value.span(),
                "a value is returned at the end of a function: its last expression, without `return`",
            ));
        }
        self.exit.used = true;
        let label = self.exit.label.clone();
        self.b.branch(&label);
        self.dead = true;
        Ok(Value::Unit)
    }

    // ---- logic

    /// `&&` and `||`. The right side is skipped where the left decides, if skipping can be noticed.
    pub(super) fn logic(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Result<Value> {
        let and = matches!(op, BinOp::And(_));
        let left = match self.condition(left)? {
            Value::Bool(value) if value == and => return self.condition(right),
            Value::Scalar(scalar) => self.b.snapshot(&scalar),
            decided => return Ok(decided),
        };
        let (value, lines, _) = self.capture(|this| this.condition(right))?;
        let right = match value {
            Value::Scalar(right) => right,
            Value::Bool(value) if value == and => {
                self.b.append(lines);
                return Ok(Value::Scalar(left));
            }
            decided => {
                self.b.append(lines);
                return Ok(decided);
            }
        };
        if lines.iter().all(is_pure) {
            self.b.append(lines);
            let opcode = if and { Opcode::And } else { Opcode::Or };
            return Ok(self
                .b
                .compute(
                    Type::Pred,
                    opcode,
                    Type::Pred,
                    [left.operand(), right.operand()],
                )
                .into());
        }
        let result = self.b.register(Type::Pred);
        self.b.assign(&result, left.operand());
        let ((), moves, _) = self.capture(|this| {
            this.b.append(lines);
            this.b.assign(&result, right.operand());
            Ok(())
        })?;
        let decided = self.b.label("decided");
        self.b
            .branch_if(if and { unless(&left) } else { when(&left) }, &decided);
        self.b.append(moves);
        self.b.place_label(&decided);
        Ok(result.into())
    }
}

/// The lines under a guard, if they are few and each may be guarded.
fn predicated(lines: &[Line], guard: &Guard) -> Option<Vec<Line>> {
    let mut count = 0;
    let guarded = lines.iter().map(|line| match line {
        Line::Comment(_) => Some(line.clone()),
        // What all threads of a warp run together cannot be left to some; a register written under a guard is read
        // under the same guard only, except by the guard itself.
        Line::Inst(inst) if inst.guard.is_none() && inst.mnemonic.together() == Together::No => {
            count += 1;
            let mut inst = inst.clone();
            inst.guard = Some(guard.clone());
            Some(Line::Inst(inst))
        }
        _ => None,
    });
    let guarded = guarded.collect::<Option<Vec<_>>>()?;
    (count <= MAX_PREDICATED).then_some(guarded)
}

fn is_jump(line: &Line) -> bool {
    matches!(line, Line::Inst(inst) if inst.guard.is_none() && inst.mnemonic.opcode() == Opcode::Bra)
}
