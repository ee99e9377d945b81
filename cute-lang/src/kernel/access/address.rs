//! From coordinates to shared-memory addresses.
//!
//! A swizzle only moves bits below the period `2^(M+B+|S|)`, and on two numbers without a common bit it works apart:
//! `Sw(x ^ r) = Sw(x) ^ Sw(r)`. So the run-time part r of an address is swizzled once, and what is known, x, becomes
//! an immediate offset, all but those of its bits that may meet bits of `Sw(r)`: these are xor-ed, once for each
//! value that they have.

use crate::kernel::access::crd2idx::swizzled;
use crate::kernel::emit::builder::{Builder, SHARED_ALIGN, address_operand};
use crate::kernel::value::{Num, Scalar, Tensor};
use cute_algebra::Swizzle;
use cute_ptx::ast::{Operand, Type};
use std::collections::BTreeMap;
use syn::Result;

/// Where the elements of a tile are: all in bytes, all but the swizzle from the start of its memory.
#[derive(Clone, Debug)]
pub struct Addresses {
    base: i64,
    swizzle: Swizzle,
    /// What is known of the part that coordinates add.
    known: i64,
    /// What is not.
    dynamic: Num,
    /// `shared_base + Sw(dynamic)`, once it is needed.
    hoisted: Option<Scalar>,
    /// The same with bits exclusive-or-ed in.
    flipped: BTreeMap<i64, Scalar>,
}

impl Addresses {
    /// Of memory at byte `base` of the kernel's shared memory.
    pub fn new(base: i64, swizzle: Swizzle, dynamic: Num) -> Self {
        let (known, dynamic) = match dynamic
            .constant()
            .and_then(|known| i64::try_from(known).ok())
        {
            Some(known) => (known, Num::Const(0)),
            None => (0, dynamic),
        };
        Self {
            base,
            swizzle,
            known,
            dynamic,
            hoisted: None,
            flipped: BTreeMap::new(),
        }
    }

    /// The operand for byte `known`, to which the run-time part is added before the swizzle.
    pub fn operand(&mut self, b: &mut Builder, known: i64) -> Result<Operand> {
        let (register, offset) = self.resolve(b, known)?;
        Ok(address_operand(&register, offset))
    }

    /// The address in a register.
    pub fn register(&mut self, b: &mut Builder, known: i64) -> Result<Scalar> {
        let (register, offset) = self.resolve(b, known)?;
        let sum = b.add(&register.into(), &Num::from(offset))?;
        b.to_register(&sum, Type::U32)
    }

    fn resolve(&mut self, b: &mut Builder, known: i64) -> Result<(Scalar, i64)> {
        let known = self.known + known;
        let period = period(self.swizzle);
        let inside = period - 1;
        let dynamic = b.possible_bits(&self.dynamic) as i64;
        let carries = dynamic & known & inside != 0;
        if carries || period > i64::from(SHARED_ALIGN) {
            let sum = b.add(&self.dynamic.clone(), &Num::from(known))?;
            let swizzled = swizzled(b, self.swizzle, &sum)?;
            return Ok((self.absolute(b, &swizzled)?, self.base));
        }
        let hoisted = match &self.hoisted {
            Some(hoisted) => hoisted.clone(),
            None => {
                let swizzled = swizzled(b, self.swizzle, &self.dynamic.clone())?;
                let hoisted = self.absolute(b, &swizzled)?;
                self.hoisted.insert(hoisted).clone()
            }
        };
        let taken = (dynamic | moved(self.swizzle, dynamic)) & inside;
        let swizzled = self.swizzle.apply(known & inside);
        let (flip, add) = (swizzled & taken, swizzled & !taken);
        let register = match self.flipped.get(&flip) {
            _ if flip == 0 => hoisted,
            Some(register) => register.clone(),
            None => {
                let flipped = b.xor(&hoisted.into(), &Num::from(flip))?;
                let flipped = b.to_register(&flipped, Type::U32)?;
                self.flipped.insert(flip, flipped.clone());
                flipped
            }
        };
        Ok((register, self.base + (known & !inside) + add))
    }

    /// The run-time part, from the start of the kernel's shared memory to an address.
    fn absolute(&self, b: &mut Builder, dynamic: &Num) -> Result<Scalar> {
        let base = b.shared_base();
        let sum = b.add(&base.into(), dynamic)?;
        b.to_register(&sum, Type::U32)
    }
}

/// The bits that a swizzle may set in a number that has only bits of `mask`, besides those of `mask`.
fn moved(swizzle: Swizzle, mask: i64) -> i64 {
    let source = mask & swizzle.source_mask();
    if swizzle.shift() >= 0 {
        source >> swizzle.shift()
    } else {
        source << -swizzle.shift()
    }
}

/// What the pattern of a swizzle repeats after.
pub(crate) fn period(swizzle: Swizzle) -> i64 {
    match (swizzle.source_mask() | swizzle.target_mask()).checked_ilog2() {
        None => 1,
        Some(top) => 2i64
            .checked_shl(top)
            .filter(|&period| period > 0)
            .unwrap_or(i64::MAX),
    }
}

/// The swizzle of element indices as one of byte offsets.
pub(crate) fn in_bytes(swizzle: Swizzle, bytes: u32) -> Swizzle {
    // Element widths are at most 8 bytes, and a swizzle of indices in shared memory is far from bit 62.
    Swizzle::new(
        swizzle.bits(),
        swizzle.base() + bytes.ilog2(),
        swizzle.shift(),
    )
    .unwrap_or(swizzle)
}

impl Tensor {
    /// Its addresses, to be asked for with [`byte`](Self::byte).
    pub fn addresses(&self) -> Addresses {
        let swizzle = in_bytes(self.layout.swizzle(), self.element.bytes());
        Addresses::new(self.base.into(), swizzle, self.dynamic.clone())
    }
}
