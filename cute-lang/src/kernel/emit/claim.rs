//! Claims about addresses, in the comment at the end of an instruction: each address is this element of this tensor. The emulator checks
//! the addresses against the claims. `cute-ptx` has their types, and what they look like.
//!
//! A comment of an instruction names the tensor and the coordinate of the address. It is made together with the address, from the
//! coordinate and not from the instructions that compute the address. The emulator compares the two, so it finds wrong coordinates of
//! kernels and wrong instructions of the expander. Both sides have the types of `cute-ptx/src/claims`. A comment cannot change the
//! machine code.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::divergence::Group;
use crate::kernel::ir;
use crate::kernel::ir::claims::{Place, Statement, Sum};
use crate::kernel::ir::{Line, Operand};
use crate::kernel::value::{Num, Scalar, TensorId};
use cute_algebra::Swizzle;
use cute_ptx::ast::Type;
use cute_ptx::claims;
use std::collections::{HashMap, HashSet};

/// The claims about operands that are addresses of tensors, by the operand.
#[derive(Default)]
pub struct Claims(HashMap<Operand, Place>);

/// The numbers of a coordinate in a tensor of shared memory, each with the extent of its mode.
pub type Bounds = [(Num, i64)];

impl Builder {
    /// Claims that an operand is byte `base + Sw(dynamic + known)` of the kernel's shared memory, at a coordinate below these
    /// bounds.
    pub fn claim_shared(
        &mut self,
        operand: &Operand,
        base: i64,
        swizzle: Swizzle,
        offset: (&Num, i64),
        bounds: &Bounds,
    ) {
        let start = u32::try_from(base).ok();
        let Some((start, memory)) = start.and_then(|it| Some((it, self.shared.around(it)?))) else {
            return;
        };
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
        let claim = Place::Shared {
            tensor: self.shared_name(start).unwrap_or_default().to_owned(),
            coordinate: bounded.collect(),
            swizzle,
            offset,
            bytes: memory,
        };
        self.claims.0.insert(operand.clone(), claim);
    }

    /// Claims that an operand is the element of a tensor at a coordinate, or a box that begins there. Each number of the coordinate is a
    /// sum; a summand of 32 bits may be signed.
    pub fn claim_global(
        &mut self,
        operand: &Operand,
        id: TensorId,
        coordinate: impl Iterator<Item = (Num, i64, bool)>,
    ) {
        let coordinate = coordinate.map(|(number, known, signed)| {
            let wraps = matches!(&number, Num::Reg(scalar) if scalar.ty == Type::U32);
            Sum {
                signed: signed && wraps,
                ..sum(&number, known.into())
            }
        });
        let claim = Place::Element {
            tensor: self.params[id.param].name.clone(),
            item: self.index_of(id).map(|index| sum(index, 0)),
            coordinate: coordinate.collect(),
        };
        self.claims.0.insert(operand.clone(), claim);
    }

    /// Claims that an operand is the value of one PTX parameter of a list for the item at this index.
    pub fn claim_item(&mut self, operand: &Operand, symbol: &str, index: &Num) {
        let claim = Place::Item {
            index: sum(index, 0),
            parameter: symbol.to_owned(),
        };
        self.claims.0.insert(operand.clone(), claim);
    }

    /// Claims that a register has the same value here in all threads of each group: of a warp, a warpgroup or a CTA.
    pub fn claim_agreement(&mut self, register: &Scalar, group: Group) {
        let group = match group {
            Group::Warp => claims::Group::Warp,
            Group::Warpgroup => claims::Group::Warpgroup,
            Group::Cta => claims::Group::Cta,
            Group::Cluster => return,
        };
        let register = register.register;
        self.push(Line::Statement(Statement::Uniform { register, group }));
    }

    /// The claims about these operands, if there are any.
    pub(super) fn claimed(&self, operands: &[Operand]) -> Option<ir::claims::Claims> {
        let is_place = |operand: &&Operand| {
            matches!(operand, Operand::Address { .. } | Operand::Tensor { .. })
        };
        let places = operands.iter().filter(is_place);
        let places = places.map(|operand| self.claims.0.get(operand).cloned());
        let places: Vec<Option<Place>> = places.collect();
        let is_claimed = places.iter().any(Option::is_some);
        is_claimed.then_some(ir::claims::Claims { places, way: None })
    }
}

/// The groups of threads that a claim names.
pub(super) fn named(group: claims::Group) -> Group {
    match group {
        claims::Group::Warp => Group::Warp,
        claims::Group::Warpgroup => Group::Warpgroup,
        claims::Group::Cta => Group::Cta,
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
