//! Elements of arrays at run-time indices.
//!
//! More than a few known elements lie in a table of the module in global memory. Other elements are in registers, which have no index: the
//! bits of the index select among them.

use crate::kernel::access::check::require_inside;
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::operation::{Cmp, Op};
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{half_bits, is_float};
use crate::kernel::value::{Num, NumberType, Scalar, Truth, Value};
use cute_algebra::Tuple;
use cute_ptx::ast::{self, Type};
use cute_ptx::table::choice::{Accessible, Wide};
use cute_ptx::table::op;
use syn::Result;

/// Up to this number, known elements are operands of instructions; more of them lie in a table.
const MOST_OPERANDS: usize = 4;
/// The most elements in registers among which an index can select.
pub(crate) const MOST_CHOSEN: usize = 64;

/// The element of an array at argument 1, an integer in a register.
pub(super) fn pick(b: &mut Builder, call: &Call, elements: &[Value]) -> Result<Value> {
    let index = checked_index(b, elements.len(), &call.args[1].value)?;
    among(b, &index, &elements.iter().collect::<Vec<_>>())
}

/// An index as a `u32` that no assignment changes. It is below the length, or is checked at run time.
pub(crate) fn checked_index(b: &mut Builder, length: usize, index: &Value) -> Result<Scalar> {
    let Some(Num::Reg(register)) = index.as_num() else {
        let kind = index.kind();
        return Err(b.error(format!("the index of an array is an integer, not {kind}")));
    };
    let register = b.snapshot(&register);
    let extent = i64::try_from(length).unwrap_or(i64::MAX);
    require_inside(
        b,
        "elements",
        &Tuple::Leaf(extent),
        &register.clone().into(),
    )?;
    b.convert(&register, Type::U32)
}

/// The value with this index. Tuples, arrays and structs are selected part by part.
fn among(b: &mut Builder, index: &Scalar, values: &[&Value]) -> Result<Value> {
    let [first, others @ ..] = values else {
        return Err(b.error("an array without elements has none"));
    };
    if let Some(parts) = first.parts()
        && others.iter().all(|other| first.pairs(other).is_some())
    {
        let mut chosen = Vec::new();
        for part in 0..parts.len() {
            let column = values.iter().filter_map(|value| value.parts()?.get(part));
            chosen.push(among(b, index, &column.collect::<Vec<_>>())?);
        }
        return Ok(first.with_parts(chosen));
    }
    if let Some(truths) = values
        .iter()
        .map(|value| Truth::of(value))
        .collect::<Option<Vec<_>>>()
    {
        return truth_among(b, index, truths);
    }
    if first.is_known() && others.iter().all(|other| other == first) {
        return Ok(Value::clone(first));
    }
    let mut common = NumberType::Any;
    for value in values {
        let Some(ty) = b.inference.number_type(value) else {
            return Err(b.error(format!(
                "an index that is known only when the kernel runs chooses among numbers, or among truth values, and an element is {}",
                value.kind()
            )));
        };
        common = b.unify(common, ty)?;
    }
    let ty = b.inference.register_type(common);
    let is_known = values.iter().all(|value| value.is_known());
    let chosen = match is_known && values.len() > MOST_OPERANDS {
        true => looked_up(b, index, ty, values)?,
        false => chosen(b, index, ty, values)?,
    };
    Ok(b.inference.of_type(chosen, common).into())
}

/// Truth values are chosen as the integers 0 and 1.
fn truth_among(b: &mut Builder, index: &Scalar, truths: Vec<Truth>) -> Result<Value> {
    let integers = truths.into_iter().map(|truth| match truth {
        Truth::Known(truth) => Value::Int(truth.into(), NumberType::Is(Type::U32)),
        Truth::Predicate(predicate) => {
            let (one, zero) = (Operand::Int(1), Operand::Int(0));
            b.choose(Type::U32, one, zero, &predicate).into()
        }
    });
    let integers: Vec<Value> = integers.collect();
    let integer = among(b, index, &integers.iter().collect::<Vec<_>>())?;
    match integer.as_num() {
        Some(Num::Reg(integer)) => Ok(b
            .set_predicate(Cmp::Ne, Type::U32, &integer.into(), &Num::Const(0))
            .into()),
        Some(Num::Const(known)) => Ok(Value::Bool(known != 0)),
        None => Err(b.error("an integer has become another value (a defect)")),
    }
}

/// The known number with this index, from a table.
fn looked_up(b: &mut Builder, index: &Scalar, ty: Type, values: &[&Value]) -> Result<Scalar> {
    let in_memory = match is_float(ty) && ty.bits() == 16 {
        true => ty.untyped(),
        false => ty,
    };
    let mut table = Vec::new();
    for value in values {
        table.push(match value {
            Value::Int(value, _) => {
                b.check_fits(*value, ty)?;
                ast::Operand::Int(*value)
            }
            Value::Float(value, _) => match ty {
                Type::F32 => ast::Operand::F32((*value as f32).to_bits()),
                Type::F64 => ast::Operand::F64(value.to_bits()),
                ty => ast::Operand::Int(half_bits(*value, ty).into()),
            },
            other => return Err(b.error(format!("{} is no known number (a defect)", other.kind()))),
        });
    }
    let table = b.table(in_memory, table);
    let start = b.compute(Type::U64, op::Mov, Type::U64, [Operand::Symbol(table)]);
    let bytes = Operand::Int((ty.bits() / 8).into());
    let operands = [index.operand(), bytes, start.operand()];
    let address = b.compute(Type::U64, op::Mad, (Wide, Type::U32), operands);
    let address = address_operand(&address, 0);
    Ok(b.compute(ty, op::Ld, (Accessible::Global, in_memory), [address]))
}

/// The number with this index, by its bits from the lowest on: each bit halves the candidates.
fn chosen(b: &mut Builder, index: &Scalar, ty: Type, values: &[&Value]) -> Result<Scalar> {
    if values.len() > MOST_CHOSEN {
        return Err(b.error(format!(
            "an array of {} elements in registers takes as many instructions for each element that is chosen when the kernel \
             runs, and {MOST_CHOSEN} is the limit: a tensor in shared memory, `smem`, has addresses",
            values.len()
        )));
    }
    let mut left = Vec::new();
    for value in values {
        left.push(operand(b, value, ty)?);
    }
    let mut bit = 1;
    while left.len() > 1 {
        let set = b.integers(
            Op::And,
            &index.clone().into(),
            &Value::Int(bit, NumberType::Is(Type::U32)),
        )?;
        let Some(set) = set.as_num() else {
            return Err(b.error("a bit is no integer (a defect)"));
        };
        let is_set = match &set {
            Num::Const(_) => None,
            Num::Reg(_) => Some(b.set_predicate(Cmp::Ne, Type::U32, &set, &Num::Const(0))),
        };
        let halved = left.chunks(2).map(|pair| match (pair, &is_set) {
            ([low, high], Some(is_set)) => {
                b.choose(ty, high.clone(), low.clone(), is_set).operand()
            }
            // The index has no such bit.
            _ => pair[0].clone(),
        });
        left = halved.collect();
        bit *= 2;
    }
    // A copy, also of the only one.
    let last = left.remove(0);
    let result = b.register(ty);
    b.assign(&result, last);
    Ok(result)
}

/// A number as an operand of its type.
fn operand(b: &mut Builder, value: &Value, ty: Type) -> Result<Operand> {
    match value {
        Value::Int(value, _) => {
            b.check_fits(*value, ty)?;
            Ok(Operand::Int(*value))
        }
        Value::Float(value, _) => b.float_operand(*value, ty),
        Value::Scalar(scalar) => Ok(scalar.operand()),
        other => Err(b.error(format!("{} is no number (a defect)", other.kind()))),
    }
}
