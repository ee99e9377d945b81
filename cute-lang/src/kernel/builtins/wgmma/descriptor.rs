//! The matrix descriptors of operands in shared memory.

use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Scalar, Tensor};
use cute_algebra::WgmmaOperand;
use cute_ptx::ast::Type;
use cute_ptx::table::op;
use syn::Result;

/// The matrix descriptors of a tile. The low word of a descriptor holds the address and the leading offset, the high
/// word everything else.
pub(super) struct Descriptors {
    /// The run-time part of the tile's start address, in units of 16 bytes.
    start: Scalar,
    /// The known part of the start address, in bytes.
    base: i64,
    /// The descriptor for address 0.
    fields: u64,
    high: Scalar,
}

impl Descriptors {
    pub(super) fn new(
        b: &mut Builder,
        call: &Call,
        index: usize,
        tensor: &Tensor,
        form: &WgmmaOperand,
    ) -> Result<Self> {
        let atom = form.swizzle.atom();
        if b.known.possible_bits(&tensor.dynamic).trailing_zeros() < atom.trailing_zeros() {
            let message = format!(
                "a run-time coordinate may put the tile at an address that is not a multiple of {atom}"
            );
            return Err(call.error_at(index, message));
        }
        // The JIT compiler of driver 580 crashes on a constant descriptor, so a part of it always comes from a register.
        let base = b.shared_base();
        let start = b.add(&base.into(), &tensor.dynamic)?;
        let start = b.shr(&start, &Num::from(4u32))?;
        let start = b.to_register(&start, Type::U32)?;
        let fields = form.descriptor();
        let high = b.to_register(&Num::from((fields >> 32) as u32), Type::U32)?;
        Ok(Self {
            start,
            base: tensor.base.into(),
            fields,
            high,
        })
    }

    /// The descriptor of the operand at byte `offset` of the tile.
    pub(super) fn at(&self, b: &mut Builder, offset: i64) -> Result<Operand> {
        // Addresses in shared memory are below 2^18, so the sum fits the 14 bits of the field.
        let known = (self.base + offset) >> 4 | (self.fields & 0xffff_ffff) as i64;
        let low = b.add(&self.start.clone().into(), &Num::from(known))?;
        let halves = Operand::Vector(vec![low.operand(), self.high.operand()]);
        Ok(b.compute(Type::B64, op::Mov, Type::B64, [halves]).operand())
    }
}
