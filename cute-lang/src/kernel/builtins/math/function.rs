//! Floating-point functions: their description, and how a call becomes a known number or instructions.

use crate::kernel::builtins::call::{Call, name};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{alternatives, rust_name, single_type};
use crate::kernel::value::{NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::Found;
use syn::Result;

/// A function with one type for its arguments and its result.
pub(super) struct Function {
    /// How it is called.
    pub(super) signature: &'static str,
    /// The value for known floating-point numbers, which have 64 bits.
    pub(super) known: Known,
    /// The accepted floating-point types, with the code for them.
    pub(super) forms: &'static [(&'static [Type], Code)],
    /// The value for integers, if accepted, and their name in messages.
    pub(super) integers: Option<(&'static str, Integers)>,
}

/// A function of integers, known or in registers.
pub(super) type Integers = fn(&mut Builder, &Call) -> Result<Value>;

/// A function of known numbers.
pub(super) enum Known {
    /// Of one number.
    F1(fn(f64) -> f64),
    /// Of two.
    F2(fn(f64, f64) -> f64),
    /// Of three.
    F3(fn(f64, f64, f64) -> f64),
}

/// The code of a function in registers.
pub(super) enum Code {
    /// One instruction for a type.
    Instruction(fn(Type) -> Found),
    /// Several.
    Sequence(fn(&mut Builder, Type, &[Operand]) -> Scalar),
}

impl Function {
    /// The name.
    pub(super) fn name(&self) -> &'static str {
        name(self.signature)
    }

    /// Calls the function: a known number if all arguments are known, else a register.
    pub(super) fn call(&self, b: &mut Builder, call: &Call) -> Result<Value> {
        if let Some((_, integers)) = self.integers
            && call.args[0].value.as_num().is_some()
        {
            return integers(b, call);
        }
        let (common, ty) = self.common_type(b, call)?;
        let Some(ty) = ty else {
            let numbers = call.args.iter();
            let numbers: Vec<f64> = numbers.filter_map(|it| it.value.as_float()).collect();
            if self.known.value(&numbers).is_none() {
                return Err(call.error_at(0, "the function has other arguments (a defect)"));
            }
            let known = |numbers: &[f64]| self.known.value(numbers).unwrap_or(f64::NAN);
            return Ok(b.inference.known_float(common, &numbers, known));
        };
        let mut operands = Vec::with_capacity(call.args.len());
        for argument in &call.args {
            b.set_place(argument.span);
            operands.push(match &argument.value {
                Value::Float(value, _) => b.float_operand(*value, ty)?,
                Value::Scalar(scalar) => scalar.operand(),
                other => {
                    let message = format!("{} is no operand (a defect)", other.kind());
                    return Err(b.error(message));
                }
            });
        }
        b.set_place(call.span);
        let result = match self.code(ty) {
            Some(Code::Instruction(of)) => b.compute_mnemonic(ty, of(ty), operands),
            Some(Code::Sequence(emit)) => emit(b, ty, &operands),
            None => return Err(call.mismatch(0, &self.types())),
        };
        Ok(b.inference.of_type(result, common).into())
    }

    /// The type of the arguments, and the type of the arguments in registers, if there are any.
    fn common_type(&self, b: &mut Builder, call: &Call) -> Result<(NumberType, Option<Type>)> {
        let mut common = NumberType::Any;
        let mut in_registers = None;
        for (i, argument) in call.args.iter().enumerate() {
            b.set_place(argument.span);
            let ty = match &argument.value {
                Value::Float(_, ty) => *ty,
                Value::Scalar(scalar) if self.code(scalar.ty).is_some() => {
                    in_registers = Some(scalar.ty);
                    b.inference
                        .number_type(&argument.value)
                        .unwrap_or(NumberType::Is(scalar.ty))
                }
                Value::Scalar(scalar) if matches!(scalar.ty, Type::F16 | Type::Bf16) => {
                    let (ty, types) = (rust_name(scalar.ty), self.types());
                    let message = format!(
                        "`{}` takes {types}, not of `{ty}`: compute with `x as f32`, and convert the result by `as {ty}`",
                        call.name
                    );
                    return Err(call.error_at(i, message));
                }
                _ => return Err(call.mismatch(i, &self.types())),
            };
            common = b.unify(common, ty)?;
        }
        Ok((common, in_registers))
    }

    /// Whether the function takes numbers of a type.
    pub(super) fn takes(&self, ty: Type) -> bool {
        self.code(ty).is_some()
    }

    /// The code for a type. An instruction for a 16-bit type also exists for pairs.
    fn code(&self, ty: Type) -> Option<&Code> {
        let single = single_type(ty);
        let found = self.forms.iter().find(|(types, _)| types.contains(&single));
        let code = found.map(|(_, code)| code);
        code.filter(|code| single == ty || matches!(code, Code::Instruction(..)))
    }

    /// The accepted types, for messages.
    fn types(&self) -> String {
        let floats = alternatives(|ty| self.forms.iter().any(|(types, _)| types.contains(&ty)));
        match self.integers {
            Some((integers, _)) => format!("{integers} or a number of type {floats}"),
            None => format!("a number of type {floats}"),
        }
    }
}

impl Known {
    /// The value for these numbers; `None` for another number of them.
    fn value(&self, numbers: &[f64]) -> Option<f64> {
        match (self, numbers) {
            (Known::F1(f), [a]) => Some(f(*a)),
            (Known::F2(f), [a, b]) => Some(f(*a, *b)),
            (Known::F3(f), [a, b, c]) => Some(f(*a, *b, *c)),
            _ => None,
        }
    }
}
