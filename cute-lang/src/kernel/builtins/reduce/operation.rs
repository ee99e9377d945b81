//! Operations that combine values: sums and extrema of 32-bit numbers, and extrema of pairs of 16-bit numbers.

use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::fragment::mode_of;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{number_type, pair_type, range};
use crate::kernel::value::{Fragment, Scalar, Value};
use cute_chip::threads::WARP;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::ShuffleMode;
use cute_ptx::table::op;
use syn::Result;

/// The names of the operations.
const OPERATIONS: &[(&str, Op)] = &[("add", Op::Add), ("max", Op::Max), ("min", Op::Min)];

/// The names of the operations in words.
pub(in crate::kernel::builtins) const NAMES: &str = "add, max or min";

/// An operation on numbers of a type.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    op: Op,
    ty: Type,
}

/// The arguments (x, mode, operation) of a call. For extrema of 16-bit numbers, the type is `f32`, if the call takes pairs.
pub(super) fn operands(call: &Call, takes_pairs: bool) -> Result<(&Fragment, usize, Operation)> {
    let Value::Fragment(x) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let mode = mode_of(call, 1, x)?;
    let word = call.operation(2);
    let operation = OPERATIONS.iter().find(|(name, _)| Some(*name) == word);
    let Some(&(_, op)) = operation else {
        return Err(call.mismatch(2, NAMES));
    };
    let ty = match number_type(x.element) {
        Some(ty) if ty.bits() == 32 => ty,
        Some(ty) if takes_pairs && op != Op::Add && pair_type(ty).is_some() => Type::F32,
        ty => {
            // No conversion to 32 bits keeps the numbers of a wider type.
            let is_wide = ty.is_some_and(|ty| ty.bits() > 32);
            let hint = if is_wide {
                ""
            } else {
                ": `convert` the fragment"
            };
            let message = format!(
                "`{}` takes elements of `f32`, `i32` or `u32`, not of `{}`{hint}",
                call.name, x.element
            );
            return Err(call.error_at(0, message));
        }
    };
    Ok((x, mode, Operation { op, ty }))
}

impl Operation {
    /// These values of a fragment combined, if there are any. 16-bit values that share a register are combined as a pair.
    pub(super) fn of_values(
        &self,
        b: &mut Builder,
        x: &Fragment,
        values: &[usize],
    ) -> Result<Option<Scalar>> {
        let single = Type::of(x.element);
        let (mut pairs, mut singles) = (Vec::new(), Vec::new());
        for values in values.chunks(2) {
            match (pair_type(single), x.whole_register(values)) {
                (Some(ty), Some(register)) => pairs.push(Scalar { ty, ..register }),
                _ => singles.extend(values.iter().map(|value| x.read(b, *value))),
            }
        }
        let of_type = |ty| Operation { ty, ..*self };
        let pair = pair_type(single).unwrap_or(single);
        if let Some(both) = of_type(pair).all(b, pairs)? {
            let halves = [b.register(single), b.register(single)];
            let vector = Operand::Vector(halves.iter().map(Scalar::operand).collect());
            b.emit(op::Mov, Type::B32, [vector, both.operand()]);
            singles.extend(halves);
        }
        match of_type(single).all(b, singles)? {
            Some(result) => Ok(Some(b.convert(&result, self.ty)?)),
            None => Ok(None),
        }
    }

    /// All of these combined, if there are any.
    pub(super) fn all(&self, b: &mut Builder, values: Vec<Scalar>) -> Result<Option<Scalar>> {
        let mut values = values.into_iter();
        let Some(mut sum) = values.next() else {
            return Ok(None);
        };
        for value in values {
            sum = self.join(b, &sum, Some(&value))?;
        }
        Ok(Some(sum))
    }

    /// x combined with y, if there is one.
    pub(super) fn join(&self, b: &mut Builder, x: &Scalar, y: Option<&Scalar>) -> Result<Scalar> {
        let Some(y) = y else { return Ok(x.clone()) };
        if let Some(mnemonic) = self.op.on_floats(self.ty) {
            return Ok(b.compute_mnemonic(self.ty, mnemonic, [x.operand(), y.operand()]));
        }
        let result = b.binary(self.op, &x.clone().into(), &y.clone().into())?;
        b.to_register(&result, self.ty)
    }

    /// x of another lane: its number is this lane's with the bits of `mask` flipped.
    pub(super) fn exchanged(&self, b: &mut Builder, x: &Scalar, mask: i64) -> Scalar {
        let operands = [
            x.operand(),
            Operand::Int(mask.into()),
            Operand::Int((WARP - 1).into()),
            Operand::Int(u32::MAX.into()),
        ];
        b.compute(self.ty, op::Shfl, ShuffleMode::Bfly, operands)
    }

    /// x where the predicate holds, else the neutral element.
    pub(super) fn only_if(&self, b: &mut Builder, predicate: &Scalar, x: &Scalar) -> Scalar {
        let operands = [x.operand(), self.identity(), predicate.operand()];
        b.compute(self.ty, op::Selp, self.ty, operands)
    }

    /// The neutral element.
    pub(super) fn identity(&self) -> Operand {
        match (self.op, self.ty) {
            (Op::Add, Type::F32) => Operand::F32(0f32.to_bits()),
            (Op::Max, Type::F32) => Operand::F32(f32::NEG_INFINITY.to_bits()),
            (Op::Min, Type::F32) => Operand::F32(f32::INFINITY.to_bits()),
            (Op::Add, _) => Operand::Int(0),
            (Op::Max, ty) => Operand::Int(range(ty).0),
            (Op::Min, ty) => Operand::Int(range(ty).1),
            (op, _) => unreachable!("{op:?} is none of `OPERATIONS`"),
        }
    }
}
