//! Claims about addresses, in the comment at the end of an instruction: each address is this element of this tensor. The emulator checks
//! the addresses against the claims. `cute-ptx` has their types, and what they look like.
//!
//! A comment of an instruction names the tensor and the coordinate of the address. It is made together with the address, from the
//! coordinate and not from the instructions that compute the address. The emulator compares the two, so it finds wrong coordinates of
//! kernels and wrong instructions of the expander. Both sides have the types of `cute-ptx/src/claims`. A comment cannot change the
//! machine code.

use crate::kernel::ir;
use crate::kernel::ir::claims::{Place, Statement, Sum};
use crate::kernel::ir::{Line, Operand};
use crate::kernel::value::Num;
use cute_algebra::Swizzle;
use cute_ptx::ast::Type;
use cute_ptx::claims;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The claims about operands that are addresses of tensors, by the operand.
#[derive(Default)]
pub struct Claims(HashMap<Operand, Place>);

/// The numbers of a coordinate in a tensor of shared memory, each with the extent of its mode.
pub type Bounds = [(Num, i64)];

impl Claims {
    /// Claims that an operand is this place.
    pub fn add(&mut self, operand: &Operand, place: Place) {
        self.0.insert(operand.clone(), place);
    }

    /// The claims about these operands, if there are any.
    pub(super) fn of(&self, operands: &[Operand]) -> Option<ir::claims::Claims> {
        let is_place = |operand: &&Operand| {
            matches!(operand, Operand::Address { .. } | Operand::Tensor { .. })
        };
        let places = operands.iter().filter(is_place);
        let places = places.map(|operand| self.0.get(operand).cloned());
        let places: Vec<Option<Place>> = places.collect();
        let is_claimed = places.iter().any(Option::is_some);
        is_claimed.then_some(ir::claims::Claims { places, way: None })
    }
}

/// Byte `base + Sw(dynamic + known)` of the kernel's shared memory, at a coordinate below these bounds. The tensor has these bytes, and a
/// name.
pub fn in_shared(
    (tensor, bytes): (&str, Range<u32>),
    base: i64,
    swizzle: Swizzle,
    offset: (&Num, i64),
    bounds: &Bounds,
) -> Place {
    let bounded = bounds.iter();
    let bounded = bounded.map(|(number, extent)| (sum(number, 0), *extent));
    let (dynamic, known, base) = (offset.0, i128::from(offset.1), i128::from(base));
    let (swizzle, offset) = match swizzle.is_identity() {
        true => (None, sum(dynamic, known + base)),
        false => {
            let swizzle = claims::Swizzle {
                bits: swizzle.bits(),
                base: swizzle.base(),
                shift: swizzle.shift(),
            };
            (Some((base, swizzle)), sum(dynamic, known))
        }
    };
    Place::Shared {
        tensor: tensor.to_owned(),
        coordinate: bounded.collect(),
        swizzle,
        offset,
        bytes,
    }
}

/// The element of a tensor at a coordinate, or a box that begins there. The tensor has this number if it is in a list. Each number of the
/// coordinate is a sum; a summand of 32 bits may be signed.
pub fn in_global(
    tensor: &str,
    item: Option<&Num>,
    coordinate: impl Iterator<Item = (Num, i64, bool)>,
) -> Place {
    let coordinate = coordinate.map(|(number, known, signed)| {
        let wraps = matches!(&number, Num::Reg(scalar) if scalar.ty == Type::U32);
        Sum {
            signed: signed && wraps,
            ..sum(&number, known.into())
        }
    });
    Place::Element {
        tensor: tensor.to_owned(),
        item: item.map(|index| sum(index, 0)),
        coordinate: coordinate.collect(),
    }
}

/// The value of one PTX parameter of a list for the item at this index.
pub fn in_list(symbol: &str, index: &Num) -> Place {
    Place::Item {
        index: sum(index, 0),
        parameter: symbol.to_owned(),
    }
}

/// Removes claims about registers that no line writes: their values were not needed.
pub(super) fn remove_unwritten(code: &mut Vec<Line>) {
    let mut written = HashSet::new();
    for line in code.iter() {
        if let Line::Inst(inst) = line {
            inst.for_each_written(&mut |register| _ = written.insert(register));
        }
    }
    for line in code.iter_mut() {
        if let Line::Inst(inst) = line
            && let Some(claims) = &inst.claims
        {
            let mut is_known = true;
            claims.map(&mut |register| is_known &= written.contains(register));
            if !is_known {
                inst.claims = None;
            }
        }
    }
    code.retain(|line| match line {
        Line::Statement(Statement::Uniform { register, .. }) => written.contains(register),
        _ => true,
    });
}

/// `%r3 + 8`.
fn sum(number: &Num, known: i128) -> Sum {
    match number {
        Num::Const(number) => Sum::known(number + known),
        Num::Reg(scalar) => Sum::new(scalar.register, known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ir::{Inst, Register};

    #[test]
    fn claims_are_about_addresses_and_registers_that_a_line_writes() {
        let register = |index| Operand::Register(Register::at(index));
        let address = Operand::Address {
            base: Box::new(register(0)),
            offset: 4,
        };
        let mut claims = Claims::default();
        claims.add(&address, in_list("d_ptr", &Num::Const(2)));
        assert_eq!(claims.of(&[register(0), register(1)]), None);
        let found = claims.of(&[register(1), address.clone()]).expect("a claim");
        assert_eq!(
            found.places,
            [Some(Place::Item {
                index: Sum::known(2),
                parameter: "d_ptr".into()
            })]
        );

        let claimed = |index| Inst {
            claims: Some(ir::claims::Claims {
                places: vec![Some(Place::Item {
                    index: Sum::new(Register::at(index), 0),
                    parameter: "d_ptr".into(),
                })],
                way: None,
            }),
            ..Inst::of("ld.param.u32", [register(5), address.clone()])
        };
        let uniform = |index| {
            Line::Statement(Statement::Uniform {
                register: Register::at(index),
                group: claims::Group::Warp,
            })
        };
        // Register 5 is written, and register 6 is not.
        let mut code = vec![
            Line::Inst(claimed(5)),
            Line::Inst(claimed(6)),
            uniform(5),
            uniform(6),
        ];
        remove_unwritten(&mut code);
        let mut kept = claimed(6);
        kept.claims = None;
        assert_eq!(code, [Line::Inst(claimed(5)), Line::Inst(kept), uniform(5)]);
    }
}
