//! Numbers of a launch in registers: pointers, extents and strides of tensors, and number parameters.

use crate::kernel::emit::bits::up_to;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::{Fact, Quantity, Term};
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::param::{Param, ParamKind};
use crate::kernel::value::types::is_signed;
use crate::kernel::value::{Num, Scalar, TensorId};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::StateSpace;
use cute_ptx::table::op;

/// The greatest extent of a tensor if a kernel reads its extents: signed coordinates do not reach further.
pub const MAX_EXTENT: i128 = 1 << 31;

impl Builder {
    /// The address of the first element of a tensor, in global memory.
    pub fn pointer(&mut self, TensorId { param, item }: TensorId) -> Scalar {
        if let Some(item) = item {
            return self.items[item].address.clone();
        }
        let symbol = self.params[param].pointer_symbol();
        self.parameter(&symbol, &symbol, Type::U64, |b, pointer| {
            // The parameter is a generic address, but the loads and stores take a global address.
            let both = [pointer.operand(), pointer.operand()];
            b.emit(op::CvtaTo, StateSpace::Global, both);
        })
    }

    /// The generic address of the tensor map of a tensor.
    pub fn tensor_map(&mut self, TensorId { param, item }: TensorId) -> Scalar {
        if let Some(item) = item {
            return self.items[item].address.clone();
        }
        let symbol = self.params[param].symbol.clone();
        self.map(&symbol)
    }

    /// The index of a tensor in its list, if it is in one.
    pub fn index_of(&self, id: TensorId) -> Option<&Num> {
        id.item.map(|item| &self.items[item].index)
    }

    /// The length of a list, of type `u32`. Lengths that are equal by a fact share one register.
    pub fn length(&mut self, param: usize) -> Num {
        let length = Quantity::Length(param);
        if let Some(value) = self.known.facts.value(length) {
            return Num::Const(value);
        }
        let same = self.known.facts.same(length).into_iter();
        let first = same.filter_map(|same| match same {
            Quantity::Length(param) => Some(param),
            _ => None,
        });
        let param = first.min().unwrap_or(param);
        let symbol = self.params[param].length_symbol();
        let register = self.parameter(&symbol, &symbol, Type::U32, |_, _| {});
        self.limit_by_facts(&register, Quantity::Length(param));
        self.known.note_quantity(&register, Quantity::Length(param));
        register.into()
    }

    /// The extent of a mode of a tensor, of type `u32`. Extents that are equal by a fact share one register.
    pub fn extent(&mut self, id: TensorId, mode: usize) -> Num {
        let extent = Quantity::Extent(id, mode);
        if let Some(value) = self.known.facts.value(extent) {
            self.limit_extent(extent);
            return Num::Const(value);
        }
        for same in self.known.facts.same(extent) {
            let found = match same {
                Quantity::Scalar(param)
                    if matches!(self.params[param].kind, ParamKind::Scalar(Type::U32)) =>
                {
                    self.limit_extent(extent);
                    self.scalar(param)
                }
                Quantity::Extent(id, mode) => self.extent_register(id, mode),
                _ => None,
            };
            if let Some(found) = found {
                return found.into();
            }
        }
        let error = self.error("a tensor has no extents (a defect)");
        self.defect.get_or_insert(error);
        Num::Const(1)
    }

    /// Adds the fact that an extent is at most `MAX_EXTENT`. Otherwise, a launch checks only extents that it passes.
    fn limit_extent(&mut self, extent: Quantity) {
        let (_, greatest) = self.known.facts.bounds(extent);
        let Quantity::Extent(TensorId { param, .. }, mode) = extent else {
            return;
        };
        if greatest > MAX_EXTENT {
            self.known.facts.0.push(Fact {
                left: Term::Of(Quantity::Extent(param.into(), mode)),
                cmp: Cmp::Le,
                right: Term::Known(MAX_EXTENT),
                text: format!(
                    "extent({}, {mode}) <= {MAX_EXTENT}",
                    self.params[param].name
                ),
            });
        }
    }

    /// The stride of a mode of a tensor in elements, of type `u64`. The last mode has stride 1.
    pub fn stride(&mut self, id: TensorId, mode: usize) -> Num {
        let TensorId { param, item } = id;
        let last =
            matches!(self.params[param].kind, ParamKind::Global { rank, .. } if mode + 1 == rank);
        let stride = Quantity::Stride(id, mode);
        if let Some(value) = self.known.facts.value(stride).or(last.then_some(1)) {
            return Num::Const(value);
        }
        if let Some(item) = item {
            return self.items[item].strides[mode].clone().into();
        }
        let symbol = self.params[param].stride_symbol(mode);
        let register = self.parameter(&symbol, &symbol, Type::U64, |_, _| {});
        self.limit_by_facts(&register, stride);
        register.into()
    }

    /// A number parameter.
    pub fn scalar(&mut self, param: usize) -> Option<Scalar> {
        let Param {
            name,
            symbol,
            kind: ParamKind::Scalar(ty),
            ..
        } = self.params[param].clone()
        else {
            return None;
        };
        let register = self.parameter(&symbol, &name, ty, |_, _| {});
        let quantity = Quantity::Scalar(param);
        self.limit_by_facts(&register, quantity);
        // As an unsigned integer, a number below 0 is large, so the facts about it do not hold.
        if !is_signed(ty) || self.known.facts.bounds(quantity).0 >= 0 {
            self.known.note_quantity(&register, quantity);
        }
        Some(register)
    }

    fn extent_register(&mut self, id: TensorId, mode: usize) -> Option<Scalar> {
        let TensorId { param, item } = id;
        if let Some(item) = item {
            return Some(self.items[item].extents[mode].clone());
        }
        let symbol = self.params[param].extent_symbol(mode);
        let ParamKind::Global { extents, .. } = &mut self.params[param].kind else {
            return None;
        };
        *extents = true;
        let register = self.parameter(&symbol, &symbol, Type::U32, |_, _| {});
        self.limit_by_facts(&register, Quantity::Extent(id, mode));
        self.known
            .note_quantity(&register, Quantity::Extent(id, mode));
        Some(register)
    }

    /// A number of the launch as written in facts, unless it belongs to the tensors of a list.
    pub fn quantity_text(&self, quantity: Quantity) -> Option<String> {
        let name = |param: usize| &self.params[param].name;
        let of = |of: TensorId| of.item.is_none().then(|| name(of.param));
        Some(match quantity {
            Quantity::Scalar(param) => name(param).clone(),
            Quantity::Extent(tensor, mode) => format!("extent({}, {mode})", of(tensor)?),
            Quantity::Stride(tensor, mode) => format!("stride({}, {mode})", of(tensor)?),
            Quantity::Length(param) => format!("{}.len()", name(param)),
            Quantity::Address(_) => return None,
        })
    }

    /// Records the bits that may be set in a number of the launch.
    pub(super) fn limit_by_facts(&mut self, register: &Scalar, quantity: Quantity) {
        let (least, mut greatest) = self.known.facts.bounds(quantity);
        match quantity {
            Quantity::Extent(..) => greatest = greatest.min(MAX_EXTENT),
            Quantity::Length(param) => {
                let most = self.params[param].list.as_ref().map(|list| list.most);
                greatest = most.map_or(greatest, |most| greatest.min(most.into()));
            }
            _ => {}
        }
        let all = match (least, u64::try_from(greatest)) {
            (0.., Ok(most)) => {
                self.known.always(register, Cmp::Le, &Num::Const(greatest));
                up_to(most)
            }
            _ => u64::MAX,
        };
        let multiple = self.known.facts.divisor(quantity).trailing_zeros().min(63);
        self.known
            .limit_bits(register, all & (u64::MAX << multiple));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::emit::param::TmaParam;
    use crate::kernel::value::Element;
    use proc_macro2::Span;

    #[test]
    fn a_tensor_map_has_no_extent_of_1() {
        let mut b = Builder::new(32, [1, 1, 1]);
        b.params.push(Param {
            name: "x".into(),
            symbol: "x".into(),
            span: Span::call_site(),
            list: None,
            kind: ParamKind::TmaLoad(TmaParam {
                element: Element::F32,
                rank: 1,
                recipe: None,
            }),
        });
        b.extent(0.into(), 0);
        let error = b.defect.expect("an error of the kernel").to_string();
        assert!(error.contains("a defect"), "{error}");
    }
}
