//! Elements by their coordinates: `at`, `x[c]` and `x[c] = y`.

use super::{array, mbarrier};
use crate::kernel::access::check::require_inside;
use crate::kernel::access::crd2idx::{swizzled, value_at, xor_map_value};
use crate::kernel::access::element::{Place, place, writes};
use crate::kernel::access::global::{COPY_OR, global_address};
use crate::kernel::access::list;
use crate::kernel::access::slice::{Selection, names_several};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::element::{AS_BYTES, width};
use crate::kernel::value::types::{is_float, is_integer, number_type, rust_name};
use crate::kernel::value::{Element, Num, Scalar, Value};
use cute_algebra::{ComposedLayout, Swizzle};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Accessible;
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "at(layout, coordinate)",
        apply: at,
    },
    Builtin {
        signature: "index(x, coordinate)",
        apply: index,
    },
    Builtin {
        signature: "index_assign(x, coordinate, value)",
        apply: index_assign,
    },
];

fn at(b: &mut Builder, call: &Call) -> Result<Value> {
    let (layout, swizzle, offset) = match &call.args[0].value {
        Value::Algebra(cute_algebra::Value::Layout(layout)) => {
            (layout.clone(), Swizzle::IDENTITY, 0)
        }
        Value::Algebra(cute_algebra::Value::Composed(layout)) => {
            (layout.layout().clone(), layout.swizzle(), layout.offset())
        }
        Value::Algebra(cute_algebra::Value::XorMap(map)) => {
            b.set_place(call.args[1].span);
            require_inside(b, "coordinates", map.shape(), &call.args[1].value)?;
            return match call.args[1].value.as_num() {
                Some(coordinate) => Ok(xor_map_value(b, map, &coordinate)?.into()),
                None => Err(call.mismatch(1, "an integer")),
            };
        }
        _ => return Err(call.mismatch(0, "a layout")),
    };
    b.set_place(call.args[1].span);
    require_inside(b, "coordinates", layout.shape(), &call.args[1].value)?;
    if !layout.is_integral() {
        let Some(coordinate) = call.args[1].value.as_num() else {
            return Err(call.mismatch(1, "an integer"));
        };
        return value_at(b, &layout, &coordinate);
    }
    let cosize = ComposedLayout::new(swizzle, offset, layout.clone());
    let is_natural = |layout: &ComposedLayout| {
        let mut strides = layout.layout().stride().leaves();
        layout.offset() >= 0 && strides.all(|stride| stride.value() >= 0)
    };
    let cosize = cosize.ok().filter(is_natural).and_then(|it| it.cosize());
    let mut selected = Selection {
        of: None,
        kept: Vec::new(),
        offset,
        dynamic: Num::Const(0),
    };
    selected.pick(b, &layout, &call.args[1].value, Ok(1))?;
    if !selected.kept.is_empty() {
        return Err(call.mismatch(1, "a coordinate without `_`"));
    }
    let index = b.add(&selected.dynamic, &Num::from(selected.offset))?;
    let value = swizzled(b, swizzle, &index)?;
    if let Some(cosize) = cosize {
        b.known.assume_below(&value, &Num::from(cosize));
    }
    Ok(value.into())
}

fn index(b: &mut Builder, call: &Call) -> Result<Value> {
    let coordinate = &call.args[1].value;
    b.set_place(call.args[1].span);
    match &call.args[0].value {
        Value::Tensor(tensor) => {
            if names_several(coordinate) {
                return Ok(Value::Tensor(tensor.slice(b, coordinate)?));
            }
            let ty = computed(b, call, tensor.element)?;
            let address = tensor.element(b, coordinate)?;
            Ok(load(b, tensor.space(), ty, address).into())
        }
        Value::Global(global) if names_several(coordinate) => {
            Ok(Value::Global(global.slice(b, coordinate)?))
        }
        Value::Global(global) => {
            let ty = computed(b, call, global.element)?;
            let address = global_address(b, global, coordinate, COPY_OR)?;
            Ok(load(b, Accessible::Global, ty, address).into())
        }
        Value::Fragment(fragment) => {
            computed(b, call, fragment.element)?;
            Ok(fragment.get(b, coordinate)?.into())
        }
        Value::Mask(mask) => {
            let value = mask.held.position(b, coordinate)?;
            Ok(mask.truths[value].clone().into())
        }
        Value::Barriers(barriers) => mbarrier::pick(b, barriers, coordinate),
        Value::List(list) => list::pick(b, *list, coordinate),
        Value::Tuple(elements) | Value::Array(elements) => match coordinate {
            Value::Int(index, _) => match usize::try_from(*index)
                .ok()
                .and_then(|index| elements.get(index))
            {
                Some(element) => Ok(element.clone()),
                None => Err(call.error_at(
                    1,
                    format!("index {index} is outside of {}", call.args[0].value.kind()),
                )),
            },
            Value::Scalar(_) if matches!(&call.args[0].value, Value::Array(_)) => {
                array::pick(b, call, elements)
            }
            _ => Err(call.mismatch(1, "an integer known at expansion")),
        },
        Value::TmaTensor(_) => Err(call.error_at(
            0,
            "a tensor that is accessed by TMA has no elements here: `tma_load` brings a tile to shared memory, and a parameter `Global<T, 2>` has elements",
        )),
        other => Err(call.error_at(
            0,
            format!("{} has no elements: a tensor, a fragment, barriers, an array, a list of parameters and a tuple have", other.kind()),
        )),
    }
}

fn index_assign(b: &mut Builder, call: &Call) -> Result<Value> {
    let [x, coordinate, value] = &call.args[..] else {
        return Err(b.error("an assignment has another number of operands than 3 (a defect)"));
    };
    let element = match &x.value {
        Value::Tensor(tensor) => tensor.element,
        Value::Global(global) => global.element,
        Value::Fragment(fragment) => fragment.element,
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    b.set_place(value.span);
    let ty = computed(b, call, element)?;
    let value = element_register(b, element, &value.value)?;
    b.set_place(coordinate.span);
    if let Value::Fragment(fragment) = &x.value {
        fragment.set(b, &coordinate.value, &value)?;
        return Ok(Value::Unit);
    }
    let Some(Place { space, address }) = place(b, &x.value, &coordinate.value)? else {
        let message = format!("{} has no address (a defect)", x.value.kind());
        return Err(call.error_at(0, message));
    };
    writes(b, &x.value);
    b.emit(op::St, (space, memory_type(ty)), [address, value.operand()]);
    Ok(Value::Unit)
}

/// The type that instructions use to compute with one element of `x`, argument 0.
fn computed(b: &Builder, call: &Call, element: Element) -> Result<Type> {
    if element.bytes().is_err() {
        let width = width(element);
        let message = format!("an access moves whole bytes, and {width}: {AS_BYTES}");
        return Err(call.error_at(0, message));
    }
    number_type(element).ok_or_else(|| {
        b.error(format!(
            "no instruction computes with one element of `{element}`: copy a fragment of `{element}` and `convert` it"
        ))
    })
}

/// A register that holds the value as an element.
pub(super) fn element_register(b: &mut Builder, element: Element, value: &Value) -> Result<Scalar> {
    let ty = Type::of(element);
    b.inference.tell(value, ty);
    match value {
        Value::Scalar(scalar) if scalar.ty == ty => Ok(scalar.clone()),
        Value::Int(value, own) if is_integer(ty) && own.known().is_none_or(|own| own == ty) => {
            b.to_register(&Num::Const(*value), ty)
        }
        Value::Float(value, own) if is_float(ty) && own.known().is_none_or(|own| own == ty) => {
            let constant = b.float_operand(*value, ty)?;
            let register = b.register(ty);
            b.assign(&register, constant);
            Ok(register)
        }
        Value::Scalar(scalar) => {
            let found = rust_name(scalar.ty);
            Err(b.error(format!("expected a value of type `{element}`, found `{found}`: convert it with `convert::<{element}>`")))
        }
        other => {
            let instead = match other {
                Value::Int(value, _) if is_float(ty) => {
                    format!(": as a floating-point number, it is `{value}.0`")
                }
                Value::Float(value, _) if is_integer(ty) && value.fract() == 0.0 => {
                    format!(": as an integer, it is `{value}`")
                }
                _ => String::new(),
            };
            Err(b.error(format!(
                "expected a value of type `{element}`, found {}{instead}",
                other.kind()
            )))
        }
    }
}

/// The type of the load or store of one element.
fn memory_type(ty: Type) -> Type {
    match ty {
        Type::F16 | Type::Bf16 => ty.untyped(),
        ty => ty,
    }
}

fn load(b: &mut Builder, space: Accessible, ty: Type, address: Operand) -> Scalar {
    b.compute(ty, op::Ld, (space, memory_type(ty)), [address])
}
