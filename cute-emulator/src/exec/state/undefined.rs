//! Undefined values in registers of a warp: the result of a shuffle from a lane that does not take part, a load from shared memory
//! that was never written, and results computed from these. A warp without undefined values pays nothing.

use super::origin::Origin;
use crate::error::{FaultKind, UndefinedValue};
use crate::op::Reg;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Why a value is undefined.
#[derive(Debug)]
pub(crate) enum Cause {
    /// A load, with the fault for a use of the value.
    Load(FaultKind, Origin),
    /// A shuffle. The register in it is the destination.
    Shuffle(UndefinedValue),
}

/// Lanes with undefined values, each once, with the cause.
#[derive(Clone, Default)]
pub(crate) struct Lanes(Vec<(u32, Rc<Cause>)>);

impl Lanes {
    pub(crate) fn of(mask: u32, cause: Cause) -> Lanes {
        Lanes(vec![(mask, Rc::new(cause))])
    }

    /// The same values in other lanes.
    pub(crate) fn on(mut self, mask: u32) -> Lanes {
        self.0.iter_mut().for_each(|(lanes, _)| *lanes = mask);
        self
    }

    /// The mask of these lanes.
    pub(crate) fn mask(&self) -> u32 {
        self.0.iter().fold(0, |all, (lanes, _)| all | lanes)
    }

    /// The first of these lanes in a mask, and its cause.
    pub(crate) fn first(&self, mask: u32) -> Option<(usize, &Cause)> {
        let first = self.mask() & mask;
        let lane = (first != 0).then(|| first.trailing_zeros() as usize)?;
        let (_, cause) = self.0.iter().find(|(lanes, _)| lanes >> lane & 1 == 1)?;
        Some((lane, cause))
    }

    /// These lanes, restricted to a mask.
    pub(crate) fn within(mut self, mask: u32) -> Lanes {
        self.0.iter_mut().for_each(|(lanes, _)| *lanes &= mask);
        self.0.retain(|(lanes, _)| *lanes != 0);
        self
    }

    /// These lanes and others.
    pub(crate) fn and(mut self, others: Lanes) -> Lanes {
        let known = self.mask();
        self.0.extend(others.within(!known).0);
        self
    }
}

/// The lanes in which each register is undefined.
#[derive(Default)]
pub(crate) struct Undefined(BTreeMap<Reg, Lanes>);

impl Undefined {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lanes of a mask in which a register is undefined.
    pub(crate) fn lanes(&self, row: Reg, mask: u32) -> Lanes {
        let lanes = self.0.get(&row).cloned().unwrap_or_default();
        lanes.within(mask)
    }

    /// The first lane of a mask in which a register is undefined, and the cause.
    pub(crate) fn first(&self, row: Reg, mask: u32) -> Option<(usize, &Cause)> {
        self.0.get(&row)?.first(mask)
    }

    /// Called when a register is written in the lanes of a mask. `undefined` are the lanes that get an undefined value.
    pub(crate) fn write(&mut self, row: Reg, mask: u32, undefined: Lanes) {
        let before = self.0.remove(&row).unwrap_or_default();
        let now = undefined.within(mask).and(before.within(!mask));
        if now.mask() != 0 {
            self.0.insert(row, now);
        }
    }

    /// Called when an undefined value is written in lanes.
    pub(crate) fn mark(&mut self, row: Reg, mask: u32, cause: Rc<Cause>) {
        self.write(row, mask, Lanes(vec![(mask, cause)]));
    }
}
