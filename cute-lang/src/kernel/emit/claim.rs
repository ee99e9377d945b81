//! Claims about addresses, in the comment at the end of an instruction: each address is this element of this tensor. The emulator checks
//! the addresses against the claims.
//!
//! | operand | claim |
//! |---|---|
//! | `[%rd5+16]` | `x[%i, %thread + 4]`: this element of a tensor in global memory |
//! | `[%x_map, {%r1, %r0}]` | `x[%r0, %r1]`: the box that begins at this element |
//! | `[%rd5]` | `item %i of d_ptr`: what item `%i` of a list has of this PTX parameter |
//! | `[%rd5+16]` | `d[%i][%r0, %r1]`: this element, or the box that begins there, of item `%i` of a list of tensors |
//! | `[%r3]` | `tile[%i < 8, %thread < 32] at %r2 in 0..1024`: byte `%r2` of the kernel's shared memory, where the tensor has bytes 0 to 1023, and the coordinates must be below these extents |
//! | `[%r4+8]` | `tile at Sw<3,4,3>(%r2 + 8) in 0..1024`: a byte that the swizzle gives |
//!
//! An instruction with several addresses has a claim for each, in order, with `_` for an address without a claim.
//!
//! A comment on a line of its own, `uniform %r5 in warp`, claims that `%r5` has the same value there in all threads of each warp. It may
//! also be `in warpgroup` or `in CTA`.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::divergence::Group;
use crate::kernel::value::{Num, Scalar, TensorId};
use cute_algebra::Swizzle;
use cute_ptx::ast::{Line, Operand, Type};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The claims about operands that are addresses of tensors, by the text of the operand.
#[derive(Default)]
pub struct Claims(HashMap<String, String>);

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
        let mut claim = self.shared_name(start).unwrap_or_default().to_owned();
        let bounds = bounds
            .iter()
            .map(|(number, extent)| format!("{} < {extent}", sum(number, 0)));
        list(&mut claim, bounds);
        let (dynamic, known) = (offset.0, i128::from(offset.1));
        let separator = if claim.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        _ = match swizzle.is_identity() {
            true => write!(
                claim,
                "{separator}at {}",
                sum(dynamic, known + i128::from(base))
            ),
            false => write!(
                claim,
                "{separator}at {base} + {swizzle}({})",
                sum(dynamic, known)
            ),
        };
        _ = write!(claim, " in {}..{}", memory.start, memory.end);
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
        let mut claim = self.params[id.param].name.clone();
        if let Some(index) = self.index_of(id) {
            list(&mut claim, [sum(index, 0)].into_iter());
        }
        let coordinate = coordinate.map(|(number, known, signed)| {
            let wraps = matches!(&number, Num::Reg(scalar) if scalar.ty == Type::U32);
            let prefix = if signed && wraps { "s32 " } else { "" };
            format!("{prefix}{}", sum(&number, known.into()))
        });
        list(&mut claim, coordinate);
        self.claims.0.insert(operand.to_string(), claim);
    }

    /// Claims that an operand is the value of one PTX parameter of a list for the item at this index.
    pub fn claim_item(&mut self, operand: &Operand, symbol: &str, index: &Num) {
        let claim = format!("item {} of {symbol}", sum(index, 0));
        self.claims.0.insert(operand.to_string(), claim);
    }

    /// Claims that a register has the same value here in all threads of each group.
    pub fn claim_agreement(&mut self, register: &Scalar, group: Group) {
        self.comment(format!("uniform {} in {}", register.name, group.name()));
    }

    /// The comment of an instruction with these operands; `None` if none of them has a claim.
    pub(super) fn claimed(&self, operands: &[Operand]) -> Option<String> {
        let is_place = |operand: &&Operand| {
            matches!(operand, Operand::Address { .. } | Operand::Tensor { .. })
        };
        let claims: Vec<&str> = operands
            .iter()
            .filter(is_place)
            .map(|operand| {
                self.claims
                    .0
                    .get(&operand.to_string())
                    .map_or("_", String::as_str)
            })
            .collect();
        let is_claimed = claims.iter().any(|claim| *claim != "_");
        is_claimed.then(|| claims.join("; "))
    }
}

/// For a line `uniform … in …`: the register with the same value in all threads of each group.
pub(super) fn agreement(comment: &str) -> Option<(&str, Group)> {
    let (register, name) = comment.strip_prefix("uniform %")?.split_once(" in ")?;
    let group = Group::ALL.into_iter().find(|group| group.name() == name)?;
    let register = &comment["uniform ".len()..][..register.len() + 1];
    Some((register, group))
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

/// `[a, b]`, or nothing for none.
fn list(text: &mut String, parts: impl Iterator<Item = String>) {
    let mut separator = "[";
    for part in parts {
        text.push_str(separator);
        text.push_str(&part);
        separator = ", ";
    }
    if separator == ", " {
        text.push(']');
    }
}

/// `%r3 + 8`.
fn sum(number: &Num, known: i128) -> String {
    match number {
        Num::Const(number) => (number + known).to_string(),
        Num::Reg(Scalar { name, .. }) if known == 0 => name.clone(),
        Num::Reg(Scalar { name, .. }) => format!("{name} + {known}"),
    }
}
