//! Claims about addresses, in the comment at the end of an instruction: each address is this element of this tensor. The emulator checks
//! the addresses against the claims. `cute-ptx` has their types, and what they look like.
//!
//! A comment of an instruction names the tensor and the coordinate of the address. It is made together with the address, from the
//! coordinate and not from the instructions that compute the address. The emulator compares the two, so it finds wrong coordinates of
//! kernels and wrong instructions of the expander. Both sides have the types of `cute-ptx/src/claims`. A comment cannot change the
//! machine code.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::divergence::Group;
use crate::kernel::value::{Num, Scalar, TensorId};
use cute_algebra::Swizzle;
use cute_ptx::ast::{Line, Operand, Type};
use cute_ptx::claims::{self, Place, Statement, Sum};
use std::collections::{HashMap, HashSet};

/// The claims about operands that are addresses of tensors, by the text of the operand.
#[derive(Default)]
pub struct Claims(HashMap<String, Place>);

/// The groups of threads that claims name.
const GROUPS: [(Group, claims::Group); 3] = [
    (Group::Warp, claims::Group::Warp),
    (Group::Warpgroup, claims::Group::Warpgroup),
    (Group::Cta, claims::Group::Cta),
];

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
        self.claims.0.insert(operand.to_string(), claim);
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
        self.claims.0.insert(operand.to_string(), claim);
    }

    /// Claims that an operand is the value of one PTX parameter of a list for the item at this index.
    pub fn claim_item(&mut self, operand: &Operand, symbol: &str, index: &Num) {
        let claim = Place::Item {
            index: sum(index, 0),
            parameter: symbol.to_owned(),
        };
        self.claims.0.insert(operand.to_string(), claim);
    }

    /// Claims that a register has the same value here in all threads of each group: of a warp, a warpgroup or a CTA.
    pub fn claim_agreement(&mut self, register: &Scalar, group: Group) {
        let register = register.name.clone();
        let groups = GROUPS.iter().find(|(it, _)| *it == group);
        if let Some((_, group)) = groups.copied() {
            self.comment(Statement::Uniform { register, group }.to_string());
        }
    }

    /// The claims about these operands, if there are any.
    pub(super) fn claimed(&self, operands: &[Operand]) -> Option<claims::Claims> {
        let is_place = |operand: &&Operand| {
            matches!(operand, Operand::Address { .. } | Operand::Tensor { .. })
        };
        let places = operands.iter().filter(is_place);
        let places = places.map(|operand| self.claims.0.get(&operand.to_string()).cloned());
        let places: Vec<Option<Place>> = places.collect();
        let is_claimed = places.iter().any(Option::is_some);
        is_claimed.then_some(claims::Claims { places, way: None })
    }
}

/// For a line `uniform … in …`: the register with the same value in all threads of each group.
pub(super) fn agreement(comment: &str) -> Option<(&str, Group)> {
    let Ok(Some(Statement::Uniform { register, group })) = Statement::read(comment) else {
        return None;
    };
    let (group, _) = GROUPS.iter().find(|(_, it)| *it == group)?;
    Some((
        &comment[comment.find(&register)?..][..register.len()],
        *group,
    ))
}

/// Whether a line claims that threads agree. The claim holds only where they execute the line.
pub fn is_agreement(line: &Line) -> bool {
    matches!(line, Line::Comment(text) if agreement(text).is_some())
}

/// Removes claims about registers that no line writes: their values were not needed.
pub(super) fn remove_unwritten(code: &mut Vec<Line>) {
    let mut written = HashSet::new();
    for line in code.iter() {
        if let Line::Inst(inst) = line {
            inst.for_each_written(&mut |name| _ = written.insert(name));
        }
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '%' | '_' | '$');
    let unknown = |claim: &String| {
        let mut words = claim.split(|c| !is_name(c));
        words.any(|word| word.starts_with('%') && !written.contains(word))
    };
    let comments = code
        .iter()
        .enumerate()
        .filter_map(|(index, line)| match line {
            Line::Inst(inst) => Some((index, inst.comment.as_ref()?)),
            _ => None,
        });
    let removed: Vec<usize> = comments
        .filter(|(_, comment)| unknown(comment))
        .map(|(index, _)| index)
        .collect();
    let is_known = |line: &Line| match line {
        Line::Comment(text) => agreement(text).is_none_or(|(name, _)| written.contains(name)),
        _ => true,
    };
    let known: Vec<bool> = code.iter().map(is_known).collect();
    for index in removed {
        if let Line::Inst(inst) = &mut code[index] {
            inst.comment = None;
        }
    }
    let mut known = known.into_iter();
    code.retain(|_| known.next() != Some(false));
}

/// `%r3 + 8`.
fn sum(number: &Num, known: i128) -> Sum {
    match number {
        Num::Const(number) => Sum::known(number + known),
        Num::Reg(Scalar { name, .. }) => Sum::new(name, known),
    }
}
