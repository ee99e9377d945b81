//! `if`, `&&` and `||`.

use super::advice::of_argument;
use super::join::Ways;
use crate::kernel::emit::builder::{unless, when};
use crate::kernel::emit::known::Meaning;
use crate::kernel::emit::operation::Op;
use crate::kernel::emit::unread::is_pure;
use crate::kernel::interp::Interpreter;
use crate::kernel::ir::claims::Statement;
use crate::kernel::ir::{Guard, Inst, Line, Register, Registers};
use crate::kernel::value::{Scalar, Truth, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::Opcode;
use proc_macro2::Span;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprIf, Result};

/// The most instructions of a predicated branch. A longer branch is jumped over.
const MAX_PREDICATED: usize = 6;

impl Interpreter<'_> {
    pub(super) fn if_else(&mut self, expr: &ExprIf) -> Result<Value> {
        let otherwise = |this: &mut Self| match &expr.else_branch {
            Some((_, expr)) => this.eval(expr),
            None => Ok(Value::Unit),
        };
        let matched = match &*expr.cond {
            Expr::Let(condition) => {
                let value = self.eval(&condition.expr)?;
                Some((&condition.pat, self.keep(value)))
            }
            _ => None,
        };
        let then = |this: &mut Self| match &matched {
            Some((pat, value)) => this.scoped(pat, value, |this| this.block(&expr.then_branch)),
            None => this.block(&expr.then_branch),
        };
        let truth = match &matched {
            Some((pat, value)) => self.test(pat, value)?,
            None => {
                let value = self.condition(&expr.cond)?;
                self.truth(&value)?
            }
        };
        match truth {
            Truth::Known(true) => {
                let value = then(self)?;
                Ok(match &expr.else_branch {
                    Some((_, other)) => self.beside(value, other),
                    None => value,
                })
            }
            Truth::Known(false) => {
                let value = otherwise(self)?;
                Ok(self.beside_block(value, &expr.then_branch))
            }
            Truth::Predicate(predicate) => {
                let predicate = self.b.snapshot(&predicate);
                let fork = self.b.sites.fork("if", expr.cond.span());
                let value = self.choose(&predicate, expr.if_token.span(), then, otherwise);
                self.b.sites.join(&fork, &predicate);
                value
            }
        }
    }

    /// The value of one of two branches, by a predicate.
    pub(super) fn choose(
        &mut self,
        predicate: &Scalar,
        span: Span,
        then: impl FnOnce(&mut Self) -> Result<Value>,
        otherwise: impl FnOnce(&mut Self) -> Result<Value>,
    ) -> Result<Value> {
        // Both branches may run at the same time in different warps, and so may the code after them: their tensors share no memory, and
        // stay until the end of the enclosing block.
        let start = self.b.shared.now();
        let before = self.b.renamed.changes();
        let (then_value, then, then_dead) = self.assuming(predicate, true, then)?;
        self.b.shared.reserve_since(start);
        let changes = self.b.renamed.set_changes(before);
        let (else_value, other, else_dead) = self.assuming(predicate, false, otherwise)?;
        self.b.shared.reserve_since(start);
        match (then_dead, else_dead) {
            (true, _) => {}
            (false, true) => _ = self.b.renamed.set_changes(changes),
            (false, false) => self.b.renamed.add_changes(changes),
        }
        self.b.set_place(span);
        self.dead = then_dead && else_dead;
        match (then_dead, else_dead) {
            (false, false) => {}
            // If one branch never reaches its end, the value comes from the other.
            (true, _) => {
                self.branches(predicate, then, other);
                self.b.known.assume(predicate, false);
                return Ok(else_value);
            }
            (_, true) => {
                self.branches(predicate, then, other);
                self.b.known.assume(predicate, true);
                return Ok(then_value);
            }
        }
        if then.is_empty() && other.is_empty() {
            return self.select(predicate, &then_value, &else_value);
        }
        let ways = Ways::Branches(predicate);
        let merged = self.merge(ways, &then_value, &else_value)?;
        let mut complete = |mut lines: Vec<Line>, value: &Value| -> Result<Vec<Line>> {
            let ((), moves, _) = self.capture(|this| this.store_merged(ways, &merged, value))?;
            lines.extend(moves);
            Ok(lines)
        };
        let then = complete(then, &then_value)?;
        let other = complete(other, &else_value)?;
        self.branches(predicate, then, other);
        Ok(merged)
    }

    /// Runs a branch in which the predicate is true, or false, as [`capture`](Self::capture) does.
    pub(super) fn assuming<T>(
        &mut self,
        predicate: &Scalar,
        truth: bool,
        branch: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Line>, bool)> {
        self.capture(|this| {
            this.b.known.assume(predicate, truth);
            branch(this)
        })
    }

    /// The value of a condition: a known truth value or a predicate.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Value> {
        if let Expr::Let(expr) = expr {
            return Err(Error::new(
                expr.let_token.span,
                "`let` is the whole condition of an `if` or a `while` in the kernel language: write an `if` inside of it",
            ));
        }
        match self.eval(expr)? {
            // No thread gets here.
            _ if self.dead => Ok(Value::Bool(false)),
            value @ Value::Bool(_) => Ok(value),
            Value::Scalar(scalar) if scalar.ty == Type::Pred => Ok(Value::Scalar(scalar)),
            other => {
                let hint = match &other {
                    Value::Mask(_) => {
                        ": `select(condition, x, y)` chooses for each value, and `&`, `|` and `!` combine conditions of fragments"
                    }
                    other if other.as_num().is_some() => ": a number is compared, `x != 0`",
                    _ => "",
                };
                let message = format!("expected a condition, found {}{hint}", other.kind());
                let error = Error::new_spanned(expr, message);
                Err(of_argument(error, &other))
            }
        }
    }

    /// A value as a truth value, from a condition, a comparison or a logical operator.
    pub(super) fn truth(&self, value: &Value) -> Result<Truth> {
        Truth::of(value).ok_or_else(|| {
            let kind = value.kind();
            self.b
                .error(format!("{kind} is taken for a truth value (a defect)"))
        })
    }

    /// Emits two branches.
    fn branches(&mut self, predicate: &Scalar, then: Vec<Line>, other: Vec<Line>) {
        if other.is_empty()
            && let Some(lines) = predicated(&then, &when(predicate), self.b.registers())
        {
            return self.b.append(lines);
        }
        if then.is_empty()
            && let Some(lines) = predicated(&other, &unless(predicate), self.b.registers())
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

    /// The value of an `if` with branches that emit no instructions.
    fn select(&mut self, predicate: &Scalar, a: &Value, b: &Value) -> Result<Value> {
        match (a.as_num(), b.as_num()) {
            (Some(x), Some(y)) => {
                let ty = self.b.common_type(a, b)?;
                if x == y {
                    return Ok(x.typed(ty));
                }
                let register = self.b.inference.register_type(ty);
                let selected = self.b.select(predicate, register, &x, &y)?;
                Ok(self.b.of_number(selected, ty))
            }
            _ => match (a, b) {
                _ if let Some(pairs) = a.pairs(b) => {
                    let selected = pairs.map(|(a, b)| self.select(predicate, a, b));
                    Ok(a.with_parts(selected.collect::<Result<_>>()?))
                }
                _ => {
                    let ways = Ways::Branches(predicate);
                    let merged = self.merge(ways, a, b)?;
                    let ((), then, _) = self.capture(|this| this.store_merged(ways, &merged, a))?;
                    let ((), other, _) =
                        self.capture(|this| this.store_merged(ways, &merged, b))?;
                    if !then.is_empty() || !other.is_empty() {
                        self.branches(predicate, then, other);
                    }
                    Ok(merged)
                }
            },
        }
    }

    /// `&&` and `||`. If the right side has an effect, threads in which the left side decides jump over it.
    pub(super) fn logic(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Result<Value> {
        let and = matches!(op, BinOp::And(_));
        let left = match self.condition(left)? {
            Value::Bool(value) if value == and => return self.condition(right),
            Value::Scalar(scalar) => self.b.snapshot(&scalar),
            decided => {
                self.leave_out(right);
                return Ok(decided);
            }
        };
        let (what, span) = match and {
            true => ("&&", op.span()),
            false => ("||", op.span()),
        };
        let fork = self.b.sites.fork(what, span);
        let (value, lines, dead) = self.assuming(&left, and, |this| this.condition(right))?;
        // `a || return`: where threads go on, the left side has decided.
        let value = if dead { Value::Bool(!and) } else { value };
        self.b.sites.join(&fork, &left);
        if lines.iter().all(is_pure) {
            self.b.append(lines);
            let op = if and { Op::And } else { Op::Or };
            let right = self.truth(&value)?;
            return Ok(self.truth_table(op, &Truth::Predicate(left), &right));
        }
        self.decided(left, and, value, lines)
    }

    /// `left && right`, or `left || right`. These lines compute the right side. They run where the left side does not decide.
    pub(super) fn decided(
        &mut self,
        left: Scalar,
        and: bool,
        value: Value,
        lines: Vec<Line>,
    ) -> Result<Value> {
        let result = self.b.cell(Type::Pred);
        let mut moves = lines;
        if let Value::Scalar(right) = &value {
            self.b.assign(&result, left.operand());
            let ((), last, _) = self.capture(|this| {
                this.b.assign(&result, right.operand());
                Ok(())
            })?;
            moves.extend(last);
        }
        let decided = self.b.label("decided");
        self.b
            .branch_if(if and { unless(&left) } else { when(&left) }, &decided);
        self.b.append(moves);
        self.b.place_label(&decided);
        let right = match value {
            Value::Scalar(right) => right,
            Value::Bool(value) if value == and => return Ok(Value::Scalar(left)),
            decided => return Ok(decided),
        };
        let meaning = match and {
            true => Meaning::And(left, right),
            false => Meaning::Or(left, right),
        };
        self.b.known.means(&result, meaning);
        Ok(result.into())
    }
}

/// The lines of a branch without a jump, if they are few and each may have a guard: those that do more than compute have one.
///
/// A register that is written under a guard keeps its value in the other threads, so it is live from the start of the loops around it. A
/// kernel that stores a tile in twenty pieces would hold the addresses of all of them while it computes the tile.
fn predicated(lines: &[Line], guard: &Guard, registers: &Registers) -> Option<Vec<Line>> {
    let mut count = 0;
    // Other threads have no value in these, or another one.
    let mut under_guard = HashSet::new();
    let guarded = lines.iter().map(|line| match line {
        Line::Comment(_) | Line::Statement(Statement::Where(_)) => Some(line.clone()),
        // A collective instruction gets no guard.
        Line::Inst(inst) if inst.guard.is_none() && inst.origin.is_none() => {
            count += 1;
            let mut inst = inst.clone();
            if !is_pure(line) || !is_own(&inst, &under_guard, registers) {
                inst.for_each_written(&mut |register| _ = under_guard.insert(register));
                inst.guard = Some(guard.clone());
            }
            Some(Line::Inst(inst))
        }
        _ => None,
    });
    let guarded = guarded.collect::<Option<Vec<_>>>()?;
    (count <= MAX_PREDICATED).then_some(guarded)
}

/// Whether an instruction writes registers that no other one writes, and reads none that are written under a guard.
fn is_own(inst: &Inst, under_guard: &HashSet<Register>, registers: &Registers) -> bool {
    let mut is_own = true;
    inst.for_each_written(&mut |register| is_own &= registers.is_written_once(register));
    inst.for_each_read(&mut |register| is_own &= !under_guard.contains(&register));
    is_own
}

fn is_jump(line: &Line) -> bool {
    matches!(line, Line::Inst(inst) if inst.guard.is_none() && inst.mnemonic.opcode() == Opcode::Bra)
}
