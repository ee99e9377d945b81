//! Atomic operations on elements of tensors in shared and in global memory.

use super::index::element_register;
use crate::kernel::access::element::{Place, place, writes};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use crate::kernel::value::types::{alternatives, is_integer};
use cute_ptx::ast::Type;
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

#[rustfmt::skip]
pub(super) const ROWS: &[Builtin] = &[
    Builtin { signature: "atomic_add(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Add) },
    Builtin { signature: "atomic_min(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Min) },
    Builtin { signature: "atomic_max(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Max) },
    Builtin { signature: "atomic_and(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::And) },
    Builtin { signature: "atomic_or(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Or) },
    Builtin { signature: "atomic_xor(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Xor) },
    Builtin { signature: "atomic_inc(x, coordinate, limit, [order], [scope])", apply: |b, call| update(b, call, Modifier::Inc) },
    Builtin { signature: "atomic_dec(x, coordinate, limit, [order], [scope])", apply: |b, call| update(b, call, Modifier::Dec) },
    Builtin { signature: "atomic_exch(x, coordinate, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Exch) },
    Builtin { signature: "atomic_cas(x, coordinate, expected, value, [order], [scope])", apply: |b, call| update(b, call, Modifier::Cas) },
];

/// The orders, as the kernel language and as PTX write them.
const ORDERS: &[(&str, Modifier)] = &[
    ("RELAXED", Modifier::Relaxed),
    ("ACQUIRE", Modifier::Acquire),
    ("RELEASE", Modifier::Release),
    ("ACQ_REL", Modifier::AcqRel),
];

/// The scopes.
const SCOPES: &[(&str, Modifier)] = &[
    ("CTA", Modifier::Cta),
    ("CLUSTER", Modifier::Cluster),
    ("GPU", Modifier::Gpu),
    ("SYS", Modifier::Sys),
];

/// Emits `atom`, which returns the old value. If nothing reads it, `atom` becomes `red` at the end of the kernel.
fn update(b: &mut Builder, call: &Call, op: Modifier) -> Result<Value> {
    let x = &call.args[0];
    let values = if op == Modifier::Cas { 2 } else { 1 };
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
    let noftz = halves.then_some(Modifier::Noftz);
    let modifiers = (sem, scope, space, op, (noftz, computed));
    Ok(b.compute(ty, Opcode::Atom, modifiers, sources).into())
}

/// The memory order and the scope, from argument `first` on.
fn order(call: &Call, first: usize) -> Result<(Option<Modifier>, Option<Modifier>)> {
    let (mut sem, mut scope) = (None, None);
    for (index, argument) in call.args.iter().enumerate().skip(first) {
        let of = |words: &[(&str, Modifier)]| match &argument.value {
            Value::Word(word) => words.iter().find(|row| row.0 == *word).map(|row| row.1),
            _ => None,
        };
        match (of(ORDERS), of(SCOPES)) {
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
fn instruction_type(op: Modifier, ty: Type) -> Option<Type> {
    let bits = ty.bits();
    let wide = matches!(bits, 32 | 64);
    match op {
        // A wrapping sum has the same bits for signed and unsigned integers.
        Modifier::Add if ty == Type::S64 => Some(Type::U64),
        Modifier::Add => (wide || !is_integer(ty)).then_some(ty),
        Modifier::Min | Modifier::Max => (wide && is_integer(ty)).then_some(ty),
        Modifier::Inc | Modifier::Dec => (ty == Type::U32).then_some(ty),
        Modifier::And | Modifier::Or | Modifier::Xor => {
            (wide && is_integer(ty)).then(|| ty.untyped())
        }
        Modifier::Exch => wide.then(|| ty.untyped()),
        Modifier::Cas => (bits >= 16).then(|| ty.untyped()),
        _ => None,
    }
}
