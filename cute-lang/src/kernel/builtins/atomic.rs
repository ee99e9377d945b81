//! Atomic operations on elements of tensors in shared and in global memory.

use super::index::element_register;
use crate::kernel::access::element::{Place, place, writes};
use crate::kernel::builtins::call::{Builtin, Call, named};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use crate::kernel::value::types::{alternatives, is_integer};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{AtomicOp, Noftz, Order, Scope};
use cute_ptx::table::op;
use syn::Result;

#[rustfmt::skip]
pub(super) const ROWS: &[Builtin] = &[
    Builtin { signature: "atomic_add(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Add) },
    Builtin { signature: "atomic_min(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Min) },
    Builtin { signature: "atomic_max(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Max) },
    Builtin { signature: "atomic_and(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::And) },
    Builtin { signature: "atomic_or(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Or) },
    Builtin { signature: "atomic_xor(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Xor) },
    Builtin { signature: "atomic_inc(x, coordinate, limit, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Inc) },
    Builtin { signature: "atomic_dec(x, coordinate, limit, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Dec) },
    Builtin { signature: "atomic_exch(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Exch) },
    Builtin { signature: "atomic_cas(x, coordinate, expected, value, [order], [scope])", apply: |b, call| update(b, call, AtomicOp::Cas) },
];

/// The orders, as the kernel language and as PTX write them.
const ORDERS: &[(&str, Order)] = &[
    ("RELAXED", Order::Relaxed),
    ("ACQUIRE", Order::Acquire),
    ("RELEASE", Order::Release),
    ("ACQ_REL", Order::AcqRel),
];

/// The scopes.
const SCOPES: &[(&str, Scope)] = &[
    ("CTA", Scope::Cta),
    ("CLUSTER", Scope::Cluster),
    ("GPU", Scope::Gpu),
    ("SYS", Scope::Sys),
];

/// Emits `atom`, which returns the old value. If nothing reads it, `atom` becomes `red` at the end of the kernel.
fn update(b: &mut Builder, call: &Call, op: AtomicOp) -> Result<Value> {
    let x = &call.args[0];
    let values = if op == AtomicOp::Cas { 2 } else { 1 };
    let (sem, scope) = order(call, 2 + values)?;
    let element = match &x.value {
        Value::Tensor(tensor) => tensor.element,
        Value::Global(global) => global.element,
        _ => return Err(call.mismatch(0, "a tensor in shared or global memory")),
    };
    let ty = Type::of(element);
    let Some(computed) = instruction_type(op, ty) else {
        let types = alternatives(|ty| instruction_type(op, ty).is_some());
        return Err(call.error_at(
            0,
            format!(
                "`{}` takes elements of type {types}, not `{element}`",
                call.name
            ),
        ));
    };
    let mut sources = Vec::with_capacity(3);
    for value in &call.args[2..2 + values] {
        b.set_place(value.span);
        sources.push(element_register(b, element, &value.value)?.operand());
    }
    b.set_place(call.args[1].span);
    let Some(Place { space, address }) = place(b, &x.value, &call.args[1].value)? else {
        return Err(call.mismatch(0, "a tensor in shared or global memory"));
    };
    writes(b, &x.value);
    sources.insert(0, address);
    let halves = matches!(computed, Type::F16 | Type::Bf16);
    let noftz = halves.then_some(Noftz);
    let modifiers = (sem, scope, space, op, noftz, computed);
    Ok(b.compute(ty, op::Atom, modifiers, sources).into())
}

/// The memory order and the scope, from argument `first` on.
fn order(call: &Call, first: usize) -> Result<(Option<Order>, Option<Scope>)> {
    let (mut sem, mut scope) = (None, None);
    for (index, argument) in call.args.iter().enumerate().skip(first) {
        let value = &argument.value;
        match (named(ORDERS, value), named(SCOPES, value)) {
            (Some(order), _) if sem.is_none() && scope.is_none() => sem = Some(order),
            (_, Some(found)) if scope.is_none() => scope = Some(found),
            _ => {
                return Err(call.mismatch(
                    index,
                    "an order, `RELAXED`, `ACQUIRE`, `RELEASE` or `ACQ_REL`, and then a scope, `CTA`, `CLUSTER`, `GPU` or `SYS`,",
                ));
            }
        }
    }
    Ok((sem, scope))
}

/// The PTX type of an operation on elements of this type; `None` if there is none.
fn instruction_type(op: AtomicOp, ty: Type) -> Option<Type> {
    let bits = ty.bits();
    let wide = matches!(bits, 32 | 64);
    match op {
        // A wrapping sum has the same bits for signed and unsigned integers.
        AtomicOp::Add if ty == Type::S64 => Some(Type::U64),
        AtomicOp::Add => (wide || !is_integer(ty)).then_some(ty),
        AtomicOp::Min | AtomicOp::Max => (wide && is_integer(ty)).then_some(ty),
        AtomicOp::Inc | AtomicOp::Dec => (ty == Type::U32).then_some(ty),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
            (wide && is_integer(ty)).then(|| ty.untyped())
        }
        AtomicOp::Exch => wide.then(|| ty.untyped()),
        AtomicOp::Cas => (bits >= 16).then(|| ty.untyped()),
    }
}
