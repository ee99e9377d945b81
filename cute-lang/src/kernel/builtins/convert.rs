//! Conversions of numbers and fragments to other types.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Element, Fragment, Held, Value, packing, word_type};
use cute_ptx::ast::Type;
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "convert::<T>(x)",
    apply: convert,
}];

fn convert(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    b.set_place(call.args[0].span);
    match &call.args[0].value {
        Value::Scalar(scalar) => Ok(b.convert(scalar, Type::of(element))?.into()),
        Value::Fragment(fragment) if fragment.element == element => {
            Ok(Value::Fragment(fragment.clone()))
        }
        Value::Fragment(fragment) => {
            let result = fragment.like(b, element);
            let packed = match (fragment.element, element) {
                (Element::F32, Element::BF16) => Some(Type::Bf16x2),
                (Element::F32, Element::F16) => Some(Type::F16x2),
                _ => None,
            };
            for value in 0..fragment.values.len() {
                match packed {
                    Some(_) if value % 2 == 1 => {}
                    Some(pair) => {
                        let low = fragment.part(value).0;
                        // The last of an odd number of values is converted together with itself.
                        let high = if value + 1 < fragment.values.len() {
                            fragment.part(value + 1).0
                        } else {
                            low.clone()
                        };
                        b.emit(
                            Opcode::Cvt,
                            (Modifier::Rn, pair, Type::F32),
                            [
                                result.part(value).0.operand(),
                                high.operand(),
                                low.operand(),
                            ],
                        );
                    }
                    None => {
                        let from = fragment.read(b, value);
                        let to = b.convert(&from, Type::of(element))?;
                        result.write(b, value, &to);
                    }
                }
            }
            Ok(Value::Fragment(result))
        }
        _ => Err(call.mismatch(0, "a run-time number or a fragment")),
    }
}

impl Fragment {
    /// A fragment of the same values in fresh registers of another type, packed in the order of the values.
    fn like(&self, b: &mut Builder, element: Element) -> Fragment {
        let count = self.values.len().div_ceil(packing(element));
        let registers = (0..count).map(|_| b.register(word_type(element))).collect();
        let values = self.values.iter().enumerate().map(|(slot, value)| Held {
            slot,
            coordinate: value.coordinate.clone(),
        });
        Fragment {
            element,
            registers,
            values: values.collect(),
            tile: self.tile.clone(),
            shape: self.shape.clone(),
        }
    }
}
