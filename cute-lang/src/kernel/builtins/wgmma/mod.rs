//! Matrix multiplication by a warpgroup.

mod descriptor;
mod operand;

use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Element, Fragment, Num, Scalar, Value};
use cute_chip::{WgmmaInput, registers, wgmma};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{MatrixType, Mnk};
use cute_ptx::table::op;
use operand::{A, M, Shared, atom, extents, layout_a, layout_c};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "wgmma(acc, a, b, accumulate)",
        apply: multiply,
    },
    Builtin {
        signature: "wgmma_a::<T>(k)",
        apply: wgmma_a,
    },
    Builtin {
        signature: "wgmma_c(n)",
        apply: wgmma_c,
    },
    Builtin {
        signature: "wgmma_fence()",
        apply: |b, _| instruction(b, op::WgmmaFence, (), None),
    },
    Builtin {
        signature: "wgmma_commit()",
        apply: |b, _| instruction(b, op::WgmmaCommitGroup, (), None),
    },
    Builtin {
        signature: "wgmma_wait(groups)",
        apply: wgmma_wait,
    },
];

const OVERHEAD: u32 = wgmma::REGISTERS_BESIDE_ACCUMULATORS;

fn wgmma_wait(b: &mut Builder, call: &Call) -> Result<Value> {
    let groups = call.constant_in(0, 0..=wgmma::MAX_PENDING_GROUPS)?;
    instruction(b, op::WgmmaWaitGroup, (), Some(groups.into()))
}

/// The layout of an accumulator of 64 × n, from (thread, value) to coordinates.
fn wgmma_c(_: &mut Builder, call: &Call) -> Result<Value> {
    layout_c(call.constant_in(0, wgmma::N)?.into())
        .map(|layout| Value::Algebra(layout.into()))
        .map_err(|error| call.error_at(0, error.kind()))
}

/// The layout of an operand A of 64 × k in registers, from (thread, value) to coordinates.
fn wgmma_a(_: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.whole_element()?;
    if element.wgmma().is_none() {
        return Err(syn::Error::new(call.types[0].span, not_multiplied(element)));
    }
    let (k, step) = (call.constant(0)?, i128::from(wgmma::k(element)));
    let steps = i64::try_from(k / step).unwrap_or(0);
    if k % step != 0 || !(1..=MAX_STEPS).contains(&steps) {
        let message = format!(
            "K is a multiple of {step} for `{element}`, up to {}, not {k}",
            MAX_STEPS as i128 * step
        );
        return Err(call.error_at(0, message));
    }
    layout_a(element, steps)
        .map(|layout| Value::Algebra(layout.into()))
        .map_err(|error| call.error_at(0, error.kind()))
}

/// The most instructions along K with operands A in registers of a thread: each takes four registers.
const MAX_STEPS: i64 = registers::MAX as i64 / 4;

fn multiply(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(acc) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let (a, bt) = (A::new(call, 1)?, Shared::new(call, 2)?);
    let (a_type, b_type) = (a.element(), bt.tensor.element);
    let input = input(call, [acc.element, a_type, b_type])?;
    let ([m, k], [n, b_k]) = (a.extents(), bt.extents());
    if m != M {
        return Err(call.error_at(
            1,
            format!("A has {m} rows, but wgmma takes {M}: use a `local_tile`"),
        ));
    }
    atom(n, [acc.element, a_type, b_type], a.stored())
        .map_err(|error| call.error_at(2, error.kind()))?;
    if k != b_k {
        return Err(call.error_at(
            2,
            format!("the extent along K is {k} in A, but {b_k} in B: A is M × K and B is N × K, whatever their major modes are"),
        ));
    }
    let (registers, order) = accumulator(call, acc, n)?;
    if order != a.order() {
        return Err(call.error_at(
            1,
            "the rows of A are in another order than those of the accumulator",
        ));
    }
    check_registers(b, call, acc.element, registers.len(), &a)?;

    let accumulate = match &call.args[3].value {
        Value::Bool(known) => predicate(b, *known),
        Value::Scalar(scalar) if scalar.ty == Type::Pred => scalar.operand(),
        _ => return Err(call.mismatch(3, "a truth value")),
    };
    let accumulators = registers.iter().map(|register| register.register);
    match call.args[3].value {
        Value::Bool(true) => {
            let in_loop = b.in_loop();
            b.unwritten.accumulate(accumulators, call.span, in_loop);
        }
        _ => accumulators.for_each(|register| b.unwritten.write(register)),
    }
    let steps = bt.form.steps.len();
    let always = if steps > 1 {
        predicate(b, true)
    } else {
        accumulate.clone()
    };
    let registers = Operand::Vector(registers.iter().map(Scalar::operand).collect());
    // The instruction can negate floating-point operands, and transpose 16-bit operands in shared memory.
    let one = Operand::Int(1);
    let mut constants = match a_type.is_float() {
        true => vec![one.clone(), one],
        false => Vec::new(),
    };
    if input.mn_major {
        if let A::Shared(a) = &a {
            constants.push(a.transposed());
        }
        constants.push(bt.transposed());
    }
    // N is at most 256, as checked above.
    let shape = Mnk {
        m: M as u8,
        n: n as u16,
        k: wgmma::k(a_type) as u8,
    };
    let [Some(d_type), Some(a_type), Some(b_type)] =
        [acc.element, a_type, b_type].map(MatrixType::of)
    else {
        return Err(b.error("a type of wgmma has no name in PTX (a defect)"));
    };
    let (a, bt) = (a.source(b, call, 1)?, bt.source(b, call, 2)?);
    for step in 0..steps {
        let (a_operand, b_operand) = (a.at(b, step)?, bt.at(b, step)?);
        let scale_d = match step {
            0 => accumulate.clone(),
            _ => always.clone(),
        };
        let operands = [registers.clone(), a_operand, b_operand, scale_d];
        b.emit(
            op::WgmmaMmaAsync,
            (shape, d_type, a_type, b_type),
            operands.into_iter().chain(constants.iter().cloned()),
        );
    }
    Ok(Value::Unit)
}

/// The operation of wgmma on these types of D, A and B. The error names the possible types.
fn input(call: &Call, [d, a, b]: [Element; 3]) -> Result<WgmmaInput> {
    if a.wgmma().is_none() {
        return Err(call.error_at(1, not_multiplied(a)));
    }
    let Some(input) = a.wgmma_by(b) else {
        let partners = Element::ALL.iter().copied();
        let partners = listed(partners.filter(|b| a.wgmma_by(*b).is_some()));
        let message = format!("wgmma multiplies `{a}` by {partners}, not by `{b}`");
        return Err(call.error_at(2, message));
    };
    if !input.accumulators.contains(&d) {
        let accumulators = listed(input.accumulators.iter().copied());
        let message = format!("wgmma adds products of `{a}` to {accumulators}, not to `{d}`");
        return Err(call.error_at(0, message));
    }
    Ok(input)
}

fn not_multiplied(element: Element) -> String {
    let inputs = Element::ALL.iter().copied();
    let inputs = listed(inputs.filter(|element| element.wgmma().is_some()));
    format!("wgmma takes {inputs}, not `{element}`")
}

/// The names, as in "`a`, `b` and `c`".
fn listed(elements: impl Iterator<Item = Element>) -> String {
    let mut names: Vec<String> = elements.map(|element| format!("`{element}`")).collect();
    let last = names.pop().unwrap_or_default();
    match names.is_empty() {
        true => last,
        false => format!("{} and {last}", names.join(", ")),
    }
}

/// The registers of an accumulator, which may be a tile of a larger fragment, and the order of its rows. Refuses a fragment with other
/// values than the accumulator's, or in another order.
fn accumulator(call: &Call, acc: &Fragment, n: i64) -> Result<(Vec<Scalar>, Vec<i64>)> {
    let expected = layout_c(n).map_err(|error| call.error_at(0, error))?;
    let order = match extents(acc) == [M, n] {
        true => acc.row_order(&expected, M).ok(),
        false => None,
    };
    let registers = acc.whole_registers(0..acc.values.len());
    registers.zip(order).ok_or_else(|| {
        call.error_at(
            0,
            format!(
                "the accumulator of a product of {M} × {n} is `fragment::<{}>(wgmma_c({n}))`",
                acc.element
            ),
        )
    })
}

/// Refuses a product that needs more registers than a thread has at the start of the kernel.
fn check_registers(
    b: &Builder,
    call: &Call,
    element: Element,
    accumulators: usize,
    a: &A,
) -> Result<()> {
    // Measured: ptxas 13.0 needs the registers of A, of one instruction, in addition to all others.
    let beside = OVERHEAD + a.registers();
    let (needed, launched) = (
        accumulators as u32 + beside,
        b.chip.registers_at_launch(b.threads),
    );
    if needed <= launched {
        return Ok(());
    }
    // A thread holds half of the elements of a row of D.
    let values = |n: u32| n / 2;
    let fits = |n: &u32| values(*n) * element.bits() / 32 <= launched.saturating_sub(beside);
    let is_integer = !a.element().is_float();
    let most = wgmma::N.rev().filter(|&n| wgmma::has_n(n, is_integer));
    Err(call.error_at(
        0,
        format!(
            "a product of N = {} needs {needed} registers a thread, but a CTA of {} threads starts with {launched}: use N ≤ {}",
            2 * accumulators as u32 * 32 / element.bits(),
            b.threads,
            most.into_iter().find(fits).unwrap_or(0)
        ),
    ))
}

/// A known truth value in a predicate.
fn predicate(b: &mut Builder, value: bool) -> Operand {
    let predicate = b.set_predicate(
        Cmp::Ne,
        Type::U32,
        &Num::from(u32::from(value)),
        &Num::Const(0),
    );
    predicate.operand()
}
