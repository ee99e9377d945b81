//! Picks items of lists of parameters, such as `a[i]` of `a: [TmaLoad<T, 2>; 64]`.
//!
//! Each PTX parameter of a list is an array of the numbers of all items. An item is loaded where the kernel picks it, since the index is
//! known only there. An item with a known index that exists in every launch is loaded once before the body, as a parameter of its own is.

use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::claim::in_list;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::item::Item;
use crate::kernel::emit::param::ParamKind;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Scalar, TensorId};
use cute_chip::tma::MAP_BYTES;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::StateSpace;
use cute_ptx::table::op;
use syn::Result;

impl Builder {
    /// Picks the tensor at an index of a list. The index must not change afterwards.
    pub fn pick(&mut self, param: usize, index: &Num) -> Result<TensorId> {
        let (least, _) = self.known.facts.bounds(Quantity::Length(param));
        if index.constant().is_none_or(|known| known >= least) {
            return self.pick_here(param, index);
        }
        let same = |item: &Item| (item.param, &item.index) == (param, index);
        match self.items.iter().position(same) {
            None => self.before_body(|b| b.pick_here(param, index)),
            item => Ok(TensorId { param, item }),
        }
    }

    fn pick_here(&mut self, list: usize, index: &Num) -> Result<TensorId> {
        let param = self.params[list].clone();
        let id = TensorId {
            param: list,
            item: Some(self.items.len()),
        };
        let mut item = Item {
            param: list,
            index: index.clone(),
            address: match param.kind {
                ParamKind::Global { .. } => self.pick_pointer(&param.pointer_symbol(), index)?,
                ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => {
                    self.pick_map(&param.symbol, index)?
                }
                ParamKind::Scalar(_) => {
                    return Err(self.error("a number of a list is no tensor (a defect)"));
                }
            },
            strides: Vec::new(),
            extents: Vec::new(),
        };
        if let ParamKind::Global { rank, .. } = param.kind {
            for mode in 0..rank {
                if mode + 1 < rank {
                    let stride = self.pick_number(&param.stride_symbol(mode), Type::U64, index)?;
                    self.limit_by_facts(&stride, Quantity::Stride(id, mode));
                    item.strides.push(stride);
                }
                let extent = self.pick_number(&param.extent_symbol(mode), Type::U32, index)?;
                self.limit_by_facts(&extent, Quantity::Extent(id, mode));
                self.known
                    .note_quantity(&extent, Quantity::Extent(id, mode));
                item.extents.push(extent);
            }
        }
        self.items.push(item);
        Ok(id)
    }

    /// The number at an index of an array parameter of PTX.
    pub fn pick_number(&mut self, symbol: &str, ty: Type, index: &Num) -> Result<Scalar> {
        let from = self.place_in(symbol, index, ty.bits() / 8)?;
        self.claims.add(&from, in_list(symbol, index));
        Ok(self.compute(ty, op::Ld, (StateSpace::Param, ty), [from]))
    }

    fn pick_pointer(&mut self, symbol: &str, index: &Num) -> Result<Scalar> {
        let pointer = self.pick_number(symbol, Type::U64, index)?;
        Ok(self.compute(
            Type::U64,
            op::CvtaTo,
            StateSpace::Global,
            [pointer.operand()],
        ))
    }

    fn pick_map(&mut self, symbol: &str, index: &Num) -> Result<Scalar> {
        let first = self.map(symbol);
        let offset = self.bytes_before(index, MAP_BYTES as u32)?;
        let address = self.add(&first.into(), &offset)?;
        self.to_register(&address, Type::U64)
    }

    /// The generic address of a tensor map, or of the first one of a list, among the parameters of the kernel.
    pub fn map(&mut self, symbol: &str) -> Scalar {
        self.once(&format!("{symbol}_map"), Type::U64, |b, map| {
            b.emit(
                op::Mov,
                Type::B64,
                [map.operand(), Operand::Symbol(symbol.into())],
            );
            b.emit(op::Cvta, StateSpace::Param, [map.operand(), map.operand()]);
        })
    }

    /// Where the number at an index lies among the parameters.
    fn place_in(&mut self, symbol: &str, index: &Num, bytes: u32) -> Result<Operand> {
        let first = self.once(&format!("{symbol}_first"), Type::U64, |b, first| {
            b.emit(
                op::Mov,
                Type::B64,
                [first.operand(), Operand::Symbol(symbol.into())],
            );
        });
        match self.bytes_before(index, bytes)? {
            Num::Const(offset) if let Ok(offset) = i32::try_from(offset) => {
                Ok(address_operand(&first, offset.into()))
            }
            offset => {
                let address = self.add(&first.into(), &offset)?;
                let address = self.to_register(&address, Type::U64)?;
                Ok(address_operand(&address, 0))
            }
        }
    }

    fn bytes_before(&mut self, index: &Num, bytes: u32) -> Result<Num> {
        let index = match index {
            Num::Reg(index) => self.convert(index, Type::U64)?.into(),
            known => known.clone(),
        };
        self.mul(&index, &Num::from(bytes))
    }
}
