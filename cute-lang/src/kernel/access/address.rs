//! Addresses in shared memory.
//!
//! An offset is x + r: x is known at expansion, r at run time. A swizzle changes only bits below its period, `2^(M+B+|S|)`. If x and r have
//! no bit in common, `Sw(x + r) = Sw(x) ^ Sw(r)`. So `Sw(r)` is computed once, and `Sw(x)` becomes an immediate offset. Only bits of
//! `Sw(x)` that may also be set in `Sw(r)` need an `xor`, one for each value of these bits.

use crate::kernel::access::crd2idx::swizzled;
use crate::kernel::emit::builder::{Builder, SHARED_ALIGN, address_operand};
use crate::kernel::emit::claim::in_shared;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Element, Num, Scalar, Tensor, Value};
use cute_algebra::{Shape, Swizzle};
use cute_chip::PartialByte;
use cute_ptx::ast::Type;
use std::collections::BTreeMap;
use syn::Result;

/// The addresses of a tile of shared memory, in bytes.
#[derive(Clone, Debug)]
pub struct Addresses {
    base: i64,
    swizzle: Swizzle,
    /// The part of the offset that is known at expansion.
    known: i64,
    /// The offset that run-time coordinates add.
    dynamic: Num,
    /// The coordinate of the element and the extents of its modes, if there is a single element.
    bounds: Vec<(Num, i64)>,
    /// Where the shared memory of another CTA begins, if it is there.
    peer: Option<Scalar>,
    /// `shared_base + Sw(dynamic)`, if an address has needed it.
    hoisted: Option<Scalar>,
    /// By a mask, the exclusive or of `hoisted` and the mask.
    flipped: BTreeMap<i64, Scalar>,
}

impl Addresses {
    /// The addresses of memory at byte `base` of the kernel's shared memory.
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
            bounds: Vec::new(),
            peer: None,
            hoisted: None,
            flipped: BTreeMap::new(),
        }
    }

    /// The operand for the element at byte `known`. The run-time offset is added before the swizzle is applied.
    pub fn operand(&mut self, b: &mut Builder, known: i64) -> Result<Operand> {
        let (register, offset) = self.resolve(b, known)?;
        let operand = address_operand(&register, offset);
        if self.peer.is_none() {
            let offset = (&self.dynamic, self.known + known);
            self.claim(b, &operand, offset);
        }
        Ok(operand)
    }

    /// Claims that an operand is the byte at this offset, a run-time one and a known one.
    fn claim(&self, b: &mut Builder, operand: &Operand, offset: (&Num, i64)) {
        let start = u32::try_from(self.base).ok();
        if let Some((start, bytes)) = start.and_then(|it| Some((it, b.shared.around(it)?))) {
            let tensor = (b.notes.shared_name(start).unwrap_or_default(), bytes);
            let place = in_shared(tensor, self.base, self.swizzle, offset, &self.bounds);
            b.claims.add(operand, place);
        }
    }

    /// The address of the element in a register.
    pub fn register(&mut self, b: &mut Builder, known: i64) -> Result<Scalar> {
        let (register, offset) = self.resolve(b, known)?;
        let sum = b.add(&register.into(), &Num::from(offset))?;
        b.to_register(&sum, Type::U32)
    }

    fn resolve(&mut self, b: &mut Builder, known: i64) -> Result<(Scalar, i64)> {
        let known = self.known + known;
        let period = period(self.swizzle);
        let inside = period - 1;
        let dynamic = b.known.possible_bits(&self.dynamic) as i64;
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

    /// The address of the byte at this offset in shared memory. The base of shared memory is aligned alike in each CTA.
    fn absolute(&self, b: &mut Builder, dynamic: &Num) -> Result<Scalar> {
        let base = match &self.peer {
            Some(peer) => peer.clone(),
            None => b.shared_base(),
        };
        let sum = b.add(&base.into(), dynamic)?;
        b.to_register(&sum, Type::U32)
    }
}

/// The bits that a swizzle may change in a number with bits of `mask` only.
fn moved(swizzle: Swizzle, mask: i64) -> i64 {
    let source = mask & swizzle.source_mask();
    if swizzle.shift() >= 0 {
        source >> swizzle.shift()
    } else {
        source << -swizzle.shift()
    }
}

/// The number of indices after which the pattern of a swizzle repeats.
fn period(swizzle: Swizzle) -> i64 {
    match (swizzle.source_mask() | swizzle.target_mask()).checked_ilog2() {
        None => 1,
        Some(top) => 2i64
            .checked_shl(top)
            .filter(|&period| period > 0)
            .unwrap_or(i64::MAX),
    }
}

/// The number of bytes after which the pattern of a swizzle of such elements repeats.
pub(crate) fn period_in_bytes(swizzle: Swizzle, element: Element) -> i64 {
    match period(swizzle) {
        1 => 1,
        // A swizzle has a period of at least four elements, which fill whole bytes.
        period => period
            .checked_mul(element.bits().into())
            .map_or(i64::MAX, |bits| bits / 8),
    }
}

/// A swizzle of element indices as a swizzle of byte offsets.
pub(crate) fn in_bytes(swizzle: Swizzle, bytes: u32) -> Swizzle {
    // Illegal only if a bit is among the highest of 64. No swizzle of shared memory has so large a period; the period of the original
    // swizzle is checked, too.
    Swizzle::new(
        swizzle.bits(),
        swizzle.base() + bytes.ilog2(),
        swizzle.shift(),
    )
    .unwrap_or(swizzle)
}

/// The numbers of a coordinate in a mode, with the extents of their modes.
fn bounds(mode: &Shape, coordinate: &Value, found: &mut Vec<(Num, i64)>) {
    match (coordinate, coordinate.as_num()) {
        (_, Some(number)) => found.push((number, mode.leaves().product())),
        (Value::Tuple(coordinates), None) => {
            for (mode, coordinate) in mode.modes().iter().zip(coordinates) {
                bounds(mode, coordinate, found);
            }
        }
        _ => {}
    }
}

impl Tensor {
    /// The addresses of the tensor. The known offset of an element is its [`byte`](Self::byte).
    pub fn addresses(&self) -> std::result::Result<Addresses, PartialByte> {
        let swizzle = in_bytes(self.layout.swizzle(), self.element.bytes()?);
        Ok(Addresses {
            peer: self.peer.clone(),
            ..Addresses::new(self.base.into(), swizzle, self.dynamic.clone())
        })
    }

    /// The operand of the element at a coordinate.
    pub(crate) fn element(&self, b: &mut Builder, coordinate: &Value) -> Result<Operand> {
        let part = self.slice(b, coordinate)?;
        let mut addresses = b.whole(part.addresses())?;
        bounds(
            self.layout.layout().shape(),
            coordinate,
            &mut addresses.bounds,
        );
        addresses.operand(b, b.whole(part.byte(0))?)
    }
}
