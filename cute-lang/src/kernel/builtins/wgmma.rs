//! Matrix multiplication by a warpgroup.

use crate::kernel::access::crd2idx::along;
use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::value::{Element, Fragment, Num, Scalar, Tensor, Value};
use cute_algebra::{
    Layout, LayoutError, Major, MmaAtom, MmaOperand, WgmmaOperand, composition, wgmma_operand,
};
use cute_hopper::{WgmmaInput, registers, wgmma};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "wgmma(acc, a, b, accumulate)",
        apply: multiply,
    },
    Builtin {
        signature: "wgmma_c(n)",
        apply: wgmma_c,
    },
    Builtin {
        signature: "wgmma_fence()",
        apply: |b, _| instruction(b, Opcode::WgmmaFence, (), None),
    },
    Builtin {
        signature: "wgmma_commit()",
        apply: |b, _| instruction(b, Opcode::WgmmaCommitGroup, (), None),
    },
    Builtin {
        signature: "wgmma_wait(groups)",
        apply: wgmma_wait,
    },
];

const M: i64 = wgmma::M as i64;
const OVERHEAD: u32 = wgmma::REGISTERS_BESIDE_ACCUMULATORS;

fn wgmma_wait(b: &mut Builder, call: &Call) -> Result<Value> {
    let groups = call.constant_in(0, 0..=wgmma::MAX_PENDING_GROUPS)?;
    instruction(b, Opcode::WgmmaWaitGroup, (), Some(groups.into()))
}

/// The layout of an accumulator of 64 × n, from (thread, value) to coordinates.
fn wgmma_c(_: &mut Builder, call: &Call) -> Result<Value> {
    accumulator(call.constant_in(0, wgmma::N)?.into())
        .map(|layout| Value::Algebra(layout.into()))
        .map_err(|error| call.error_at(0, error.kind()))
}

/// The layout of an accumulator does not depend on the types of A and B.
fn accumulator(n: i64) -> std::result::Result<Layout, LayoutError> {
    let atom: MmaAtom = format!("SM90_{M}x{n}x16_F32F16F16_SS").parse()?;
    composition(&Layout::identity([M, n])?, atom.layout(MmaOperand::C))
}

fn multiply(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(acc) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let (a, a_form) = operand(call, 1)?;
    let (bt, b_form) = operand(call, 2)?;
    if a.element != bt.element {
        return Err(call.error_at(
            2,
            format!(
                "A has elements of `{}`, but B has elements of `{}`",
                a.element, bt.element
            ),
        ));
    }
    let Some(input) = multiplied(a.element) else {
        let inputs = Element::ALL
            .iter()
            .filter(|element| multiplied(**element).is_some());
        let inputs: Vec<String> = inputs.map(|element| format!("`{element}`")).collect();
        let message = format!("wgmma takes {}, not `{}`", inputs.join(" and "), a.element);
        return Err(call.error_at(1, message));
    };
    if acc.element != Element::F32 {
        return Err(call.error_at(
            0,
            format!("an accumulator is of `f32`, not of `{}`", acc.element),
        ));
    }
    let (m, n) = (extent(a, 0), extent(bt, 0));
    let (k, b_k) = (extent(a, 1), extent(bt, 1));
    if m != M {
        return Err(call.error_at(
            1,
            format!("A has {m} rows, but wgmma takes {M}: use a `local_tile`"),
        ));
    }
    if !u32::try_from(n).is_ok_and(|n| wgmma::has_n(n, false)) {
        let (step, least, most) = (wgmma::N_STEP, wgmma::N.start(), wgmma::N.end());
        let message = format!("N is a multiple of {step} from {least} to {most}, not {n}");
        return Err(call.error_at(2, message));
    }
    if k != b_k {
        return Err(call.error_at(2, format!("the extent along K is {k} in A, but {b_k} in B")));
    }
    check_accumulator(call, acc, n)?;
    let (needed, launched) = (
        acc.registers.len() as u32 + OVERHEAD,
        registers::at_launch(b.threads),
    );
    if needed > launched {
        return Err(call.error_at(
            0,
            format!(
                "a product of N = {n} needs {needed} registers a thread, but a CTA of {} threads starts with {launched}: use N ≤ {}",
                b.threads,
                launched.saturating_sub(OVERHEAD) * 2 / wgmma::N_STEP * wgmma::N_STEP
            ),
        ));
    }

    let accumulate = match &call.args[3].value {
        Value::Bool(known) => predicate(b, *known),
        Value::Scalar(scalar) if scalar.ty == Type::Pred => scalar.operand(),
        _ => return Err(call.mismatch(3, "a truth value")),
    };
    let always = if a_form.steps.len() > 1 {
        predicate(b, true)
    } else {
        accumulate.clone()
    };
    let registers = Operand::Vector(acc.registers.iter().map(Scalar::operand).collect());
    let transposed = |form: &WgmmaOperand| Operand::Int(i128::from(form.major == Major::MN));
    let transposed = input
        .mn_major
        .then(|| [transposed(&a_form), transposed(&b_form)]);
    // N is at most 256, which is checked above.
    let shape = Modifier::M64 {
        n: n as u16,
        k: wgmma::k(a.element) as u8,
    };
    let ty = Modifier::from_name(a.element.ptx());
    let a_descriptors = Descriptors::new(b, call, 1, a, &a_form)?;
    let b_descriptors = Descriptors::new(b, call, 2, bt, &b_form)?;
    for (step, (&a_step, &b_step)) in a_form.steps.iter().zip(&b_form.steps).enumerate() {
        let a_descriptor = a_descriptors.at(b, a.byte(a_step))?;
        let b_descriptor = b_descriptors.at(b, bt.byte(b_step))?;
        let scale_d = if step == 0 {
            accumulate.clone()
        } else {
            always.clone()
        };
        let one = Operand::Int(1);
        let operands = [
            registers.clone(),
            a_descriptor,
            b_descriptor,
            scale_d,
            one.clone(),
            one,
        ];
        b.emit(
            Opcode::WgmmaMmaAsync,
            (shape, Type::F32, ty, ty),
            operands
                .into_iter()
                .chain(transposed.iter().flatten().cloned()),
        );
    }
    Ok(Value::Unit)
}

/// How elements of this type are multiplied, if tensors hold them and accumulators can be of `f32`.
fn multiplied(element: Element) -> Option<WgmmaInput> {
    let input = element.wgmma().filter(|_| element.rust().is_some());
    input.filter(|input| input.accumulators.contains(&Element::F32))
}

/// Argument `index` as an operand in shared memory.
fn operand(call: &Call, index: usize) -> Result<(&Tensor, WgmmaOperand)> {
    let Value::Tensor(tensor) = &call.args[index].value else {
        return Err(call.mismatch(index, "a tensor in shared memory"));
    };
    let form = wgmma_operand(tensor.element.bits(), &tensor.layout)
        .map_err(|error| call.error_at(index, error))?;
    Ok((tensor, form))
}

fn extent(tensor: &Tensor, mode: usize) -> i64 {
    tensor
        .layout
        .layout()
        .mode(mode)
        .map_or(1, |mode| mode.size())
}

/// Refuses a fragment whose values are not those of the accumulator in their order.
fn check_accumulator(call: &Call, acc: &Fragment, n: i64) -> Result<()> {
    let expected = accumulator(n).map_err(|error| call.error_at(0, error))?;
    let fits =
        acc.tile.as_ref().is_some_and(|tile| {
            let values: Vec<Layout> = (0..2).map(|mode| along(&expected, &[mode])).collect();
            let threads = values.iter().filter_map(|layout| layout.mode(0));
            let held: Vec<Vec<i64>> = values
                .iter()
                .filter_map(|layout| Some(layout.mode(1)?.values().collect()))
                .collect();
            threads.eq(tile.threads.iter().cloned())
                && acc.values.len() == held[0].len()
                && acc.values.iter().enumerate().all(|(i, value)| {
                    value.slot == i && value.coordinate == [held[0][i], held[1][i]]
                })
        });
    match fits {
        true => Ok(()),
        false => Err(call.error_at(
            0,
            format!("the accumulator of a product of {M} × {n} is `fragment::<f32>(wgmma_c({n}))`"),
        )),
    }
}

/// A known truth value in a predicate.
fn predicate(b: &mut Builder, value: bool) -> Operand {
    let predicate = b.set_predicate(
        Cmp::Ne,
        Type::U32,
        Operand::Int(value.into()),
        Operand::Int(0),
    );
    predicate.operand()
}

/// The matrix descriptors of a tile. The low word of a descriptor holds the address and the leading offset, the high
/// word everything else.
struct Descriptors {
    /// The run-time part of the address at which the tile starts, in units of 16 bytes.
    start: Scalar,
    /// The known part of that address, in bytes.
    base: i64,
    /// The descriptor for address 0.
    fields: u64,
    high: Scalar,
}

impl Descriptors {
    fn new(
        b: &mut Builder,
        call: &Call,
        index: usize,
        tensor: &Tensor,
        form: &WgmmaOperand,
    ) -> Result<Self> {
        let atom = form.swizzle.atom();
        if b.possible_bits(&tensor.dynamic).trailing_zeros() < atom.trailing_zeros() {
            let message = format!(
                "a run-time coordinate may put the tile at an address that is not a multiple of {atom}"
            );
            return Err(call.error_at(index, message));
        }
        // The JIT compiler of driver 580 crashes on a descriptor that is constant as a whole, so it always has a part
        // from a register.
        let base = b.shared_base();
        let start = b.add(&base.into(), &tensor.dynamic)?;
        let start = b.shr(&start, &Num::from(4u32))?;
        let start = b.to_register(&start, Type::U32)?;
        let fields = form.descriptor();
        let high = b.to_register(&Num::from((fields >> 32) as u32), Type::U32)?;
        Ok(Self {
            start,
            base: tensor.base.into(),
            fields,
            high,
        })
    }

    /// The descriptor of the operand that starts at byte `offset` of the tile.
    fn at(&self, b: &mut Builder, offset: i64) -> Result<Operand> {
        // Addresses in shared memory are below 2^18, so the sum fits the 14 bits of the field.
        let known = (self.base + offset) >> 4 | (self.fields & 0xffff_ffff) as i64;
        let low = b.add(&self.start.clone().into(), &Num::from(known))?;
        let halves = Operand::Vector(vec![low.operand(), self.high.operand()]);
        Ok(b.compute(Type::B64, Opcode::Mov, Type::B64, [halves])
            .operand())
    }
}
