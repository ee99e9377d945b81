//! Jumps out of loops, labelled blocks and functions, with their values.
//!
//! The values of all jumps to a target are known only at the target. So a jump with a value leaves a slot, and when its target is placed,
//! the slot becomes the moves to the registers of the merged value.

use super::join::Ways;
use crate::kernel::interp::Interpreter;
use crate::kernel::ir::Line;
use crate::kernel::value::Value;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprBreak, ExprContinue, ExprReturn, Label, Lifetime, Result, Type};

/// A loop or a labelled block around the current statement.
pub(super) struct Loop {
    kind: Kind,
    name: Option<String>,
    pub(super) on_break: JumpTarget,
    pub(super) on_continue: JumpTarget,
}

/// The kinds of code that a `break` leaves.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// `loop`: a `break` gives its value.
    Loop,
    /// `for` and `while`, without a value.
    Bounded,
    /// A labelled block.
    Block,
}

/// A label that is placed only if something jumps to it.
#[derive(Default)]
pub(super) struct JumpTarget {
    pub(super) label: String,
    pub(super) used: bool,
    /// The values of the jumps so far.
    arrivals: Vec<Arrival>,
    /// The number of lines before all jumps to it.
    start: usize,
    /// Whether code that is not interpreted may jump to it.
    in_doubt: bool,
    /// The type of its values, if it is declared.
    pub(super) ty: Option<Type>,
}

/// The value of one path to a target.
struct Arrival {
    value: Value,
    /// The slot for its moves. Without a slot, they come before the label.
    slot: Option<String>,
    span: Span,
}

impl JumpTarget {
    /// A target whose label has been placed, or will be.
    pub(super) fn to(label: String) -> Self {
        Self {
            label,
            ..Self::default()
        }
    }
}

impl Interpreter<'_> {
    pub(super) fn target(&mut self, stem: &str) -> JumpTarget {
        JumpTarget {
            label: self.b.label(stem),
            start: self.b.line_count(),
            ..JumpTarget::default()
        }
    }

    pub(super) fn enter(&mut self, kind: Kind, label: Option<&Label>, on_break: JumpTarget) {
        self.loops.push(Loop {
            kind,
            name: label.map(|label| label.name.ident.to_string()),
            on_break,
            on_continue: JumpTarget::default(),
        });
    }

    pub(super) fn current(&mut self) -> &mut Loop {
        self.loops
            .last_mut()
            .expect("called between `enter` and `leave`")
    }

    /// Places the label after the current loop or block, and returns its value. `end` is the value at its end.
    pub(super) fn leave(&mut self, end: Value) -> Result<Value> {
        let on_break = self.loops.pop().map(|left| left.on_break);
        let give = "the ways out of this give";
        self.land(on_break.unwrap_or_default(), end, give, None)
    }

    /// Places the label of the next iteration of the current loop, if any code jumps to it.
    pub(super) fn next_iteration(&mut self) {
        let target = &self.current().on_continue;
        if target.used {
            let label = target.label.clone();
            self.b.place_label(&label);
            self.dead = false;
        }
    }

    /// Places the label of a target, if any code jumps to it. Returns the merged value of all paths to it; `end` is the value of the code
    /// before the label, at `span`. `give` begins the error of values that cannot be merged.
    pub(super) fn land(
        &mut self,
        target: JumpTarget,
        end: Value,
        give: &'static str,
        span: Option<Span>,
    ) -> Result<Value> {
        if !target.used {
            if target.in_doubt {
                self.doubt(&end);
            }
            return Ok(end);
        }
        let mut arrivals = target.arrivals;
        if !self.dead {
            arrivals.push(Arrival {
                value: self.keep(end),
                slot: None,
                span: span.unwrap_or(self.b.place()),
            });
        }
        let value = self.join(&arrivals, target.start, give);
        self.b.place_label(&target.label);
        self.dead = false;
        if let (Ok(value), true) = (&value, target.in_doubt) {
            self.doubt(value);
        }
        value
    }

    /// The merged value of all arrivals, with the moves to its registers.
    fn join(&mut self, arrivals: &[Arrival], start: usize, give: &'static str) -> Result<Value> {
        let mut values = arrivals.iter();
        let Some(first) = values.next() else {
            return Ok(Value::Unit);
        };
        let ways = Ways::Jumps(give);
        let mut joined = first.value.clone();
        for arrival in values {
            self.b.set_place(arrival.span);
            joined = self.merge(ways, &joined, &arrival.value)?;
        }
        let mut moves: HashMap<&str, Vec<Line>> = HashMap::new();
        for arrival in arrivals {
            let mut lines = Vec::new();
            if arrivals.len() > 1 && joined != Value::Unit {
                self.b.set_place(arrival.span);
                let stored = self.capture(|this| this.store_merged(ways, &joined, &arrival.value));
                lines = stored?.1;
            }
            match &arrival.slot {
                Some(slot) => _ = moves.insert(slot, lines),
                None => self.b.append(lines),
            }
        }
        if !moves.is_empty() {
            self.b.fill(start, moves)?;
        }
        Ok(joined)
    }

    /// `break`, with a value or without.
    pub(super) fn break_from(&mut self, expr: &ExprBreak) -> Result<Value> {
        let left = self.left(expr.break_token.span, expr.label.as_ref())?;
        if let Some(value) = &expr.expr
            && self.loops[left].kind == Kind::Bounded
        {
            let message = "`for` and `while` have no value, since they may end without a `break`: `loop` has the value of its `break`";
            return Err(Error::new(value.span(), message));
        }
        let value = self.given(expr.expr.as_deref())?;
        if !self.dead {
            self.arrive("break", value, expr.span(), |this| {
                &mut this.loops[left].on_break
            });
        }
        Ok(Value::Unit)
    }

    pub(super) fn continue_from(&mut self, expr: &ExprContinue) -> Result<Value> {
        let span = expr.continue_token.span;
        let left = self.left(span, expr.label.as_ref())?;
        let left = &mut self.loops[left];
        if left.kind == Kind::Block {
            let message = "a labelled block has no next iteration: `continue` names a loop";
            return Err(Error::new(span, message));
        }
        left.on_continue.used = true;
        let label = left.on_continue.label.clone();
        self.b.sites.leaves("continue");
        self.b.branch(&label);
        self.dead = true;
        Ok(Value::Unit)
    }

    /// `return`, with a value or without.
    pub(super) fn return_from(&mut self, expr: &ExprReturn) -> Result<Value> {
        if let Some(value) = expr.expr.as_ref().filter(|_| self.calls == 0) {
            let message = "a kernel returns nothing: write `return;`";
            return Err(Error::new(value.span(), message));
        }
        let mut value = self.given(expr.expr.as_deref())?;
        if !self.dead {
            if let Some(ty) = self.exit.ty.clone() {
                let typed = self.ascribe(value, &ty);
                value = typed.map_err(|error| Error::new(expr.span(), error))?;
            }
            self.arrive("return", value, expr.span(), |this| &mut this.exit);
        }
        Ok(Value::Unit)
    }

    /// The value of a jump.
    fn given(&mut self, expr: Option<&Expr>) -> Result<Value> {
        match expr {
            Some(expr) => {
                let value = self.eval(expr)?;
                Ok(self.keep(value))
            }
            None => Ok(Value::Unit),
        }
    }

    /// Jumps to a target with a value.
    fn arrive(
        &mut self,
        how: &'static str,
        value: Value,
        span: Span,
        target: impl Fn(&mut Self) -> &mut JumpTarget,
    ) {
        let slot = match value {
            Value::Unit => None,
            _ => Some(self.b.slot()),
        };
        let target = target(self);
        target.used = true;
        target.arrivals.push(Arrival { value, slot, span });
        let label = target.label.clone();
        self.b.sites.leaves(how);
        self.b.branch(&label);
        self.dead = true;
    }

    /// The index of the loop or block that a `break` or `continue` leaves.
    fn left(&self, span: Span, name: Option<&Lifetime>) -> Result<usize> {
        let found = match name {
            None => self.loops.len().checked_sub(1),
            Some(name) => {
                let name = name.ident.to_string();
                let is_named = |around: &Loop| around.name.as_deref() == Some(name.as_str());
                self.loops.iter().rposition(is_named)
            }
        };
        let message = match (found, name) {
            (Some(at), None) if self.loops[at].kind == Kind::Block => {
                "`break` and `continue` in a labelled block need a label, as in Rust".to_string()
            }
            (Some(at), _) => return Ok(at),
            (None, Some(name)) => {
                format!(
                    "no loop or block around this has the label `'{}`",
                    name.ident
                )
            }
            (None, None) => "`break` and `continue` are in no loop here".to_string(),
        };
        Err(Error::new(span, message))
    }

    /// The values of jumps to targets that are not placed yet.
    pub(super) fn values_under_way(&self) -> impl Iterator<Item = &Value> {
        let breaks = self.loops.iter().map(|around| &around.on_break);
        let targets = breaks.chain([&self.exit]);
        targets.flat_map(|target| target.arrivals.iter().map(|arrival| &arrival.value))
    }

    /// Notes that code that is not interpreted may jump to any target that is not placed yet.
    pub(super) fn doubt_targets(&mut self, by_break: bool, by_return: bool) {
        self.exit.in_doubt |= by_return;
        for around in &mut self.loops {
            around.on_break.in_doubt |= by_break;
        }
    }
}
