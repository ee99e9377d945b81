//! Checks the paths of threads through a kernel against the module's claims.

use super::claim::{first, lanes_where};
use crate::claim::{Comparison, Condition, Sum, Ways};
use crate::error::{FaultKind, OtherWay, Way};
use crate::exec::state::row::Row;
use crate::exec::step::{Blame, Result, Step};
use crate::op::Op;
use cute_ptx::claims::Order;

impl Step<'_> {
    /// An error if a lane reaches an instruction, executes it or skips it, and the module claims otherwise.
    pub(crate) fn check_way(&self, ways: &Ways, op: &Op, reached: u32, active: u32) -> Result<()> {
        for condition in &ways.here {
            self.check_condition(condition, reached, Way::Arrives)?;
        }
        if let Some(condition) = &ways.executed {
            self.check_same(condition, active, reached, [Way::Skips, Way::Executes])?;
        }
        if let (Some(condition), Op::Wgmma(wgmma)) = (&ways.adds, op) {
            let adds = self.warp.lanes(wgmma.scale_d, active);
            self.check_same(condition, adds, active, [Way::Replaces, Way::Adds])?;
        }
        let jumping = match op {
            Op::Branch { .. } | Op::Exit | Op::Return => active,
            _ => 0,
        };
        let mut next = ways.next.iter();
        next.try_for_each(|it| self.check_condition(it, reached & !jumping, Way::GoesOn))
    }

    /// An error if the lanes of the mask in which a condition holds are not `lanes`. `ways` names the lanes outside `lanes` and in it.
    fn check_same(
        &self,
        condition: &Condition,
        lanes: u32,
        mask: u32,
        ways: [Way; 2],
    ) -> Result<()> {
        first((self.holds(condition) ^ lanes) & mask).map_or(Ok(()), |lane| {
            let way = ways[(lanes >> lane & 1) as usize];
            Err(self.other_way(condition, way, lane))
        })
    }

    fn check_condition(&self, condition: &Condition, mask: u32, way: Way) -> Result<()> {
        first(!self.holds(condition) & mask)
            .map_or(Ok(()), |lane| Err(self.other_way(condition, way, lane)))
    }

    /// The lanes in which the condition holds.
    fn holds(&self, condition: &Condition) -> u32 {
        let comparisons = condition.comparisons.iter();
        let lanes = comparisons.map(|comparison| {
            let Comparison { left, order, right } = comparison;
            let signed = [left, right].iter().any(|sum| sum.signed);
            lanes(*order, signed, &self.values(left), &self.values(right))
        });
        match condition.any {
            true => lanes.fold(0, |some, lanes| some | lanes),
            false => lanes.fold(u32::MAX, |all, lanes| all & lanes),
        }
    }

    fn other_way(&self, condition: &Condition, way: Way, lane: usize) -> Blame {
        let value = |sum: &Sum| match sum.signed {
            true => (self.values(sum)[lane] as i64).to_string(),
            false => self.values(sum)[lane].to_string(),
        };
        let comparisons = condition.comparisons.iter().map(|it| {
            let (left, right) = (value(&it.left), value(&it.right));
            format!("{left} {} {right}", it.order.symbol())
        });
        let numbers: Vec<String> = comparisons.collect();
        let fault = OtherWay {
            way,
            condition: condition.text.clone(),
            numbers: numbers.join(if condition.any { " || " } else { " && " }),
        };
        Blame::lane(FaultKind::OtherWay(Box::new(fault)), lane)
    }
}

/// The lanes in which two numbers have an order.
fn lanes(order: Order, signed: bool, left: &Row, right: &Row) -> u32 {
    // With the sign bit inverted, signed numbers have the order of unsigned ones.
    let sign = if signed { 1 << 63 } else { 0 };
    let both = |lane: usize| (left[lane] ^ sign, right[lane] ^ sign);
    match order {
        Order::Equal => lanes_where(|lane| left[lane] == right[lane]),
        Order::Different => lanes_where(|lane| left[lane] != right[lane]),
        Order::Less => lanes_where(|lane| both(lane).0 < both(lane).1),
        Order::LessOrEqual => lanes_where(|lane| both(lane).0 <= both(lane).1),
        Order::Greater => lanes_where(|lane| both(lane).0 > both(lane).1),
        Order::GreaterOrEqual => lanes_where(|lane| both(lane).0 >= both(lane).1),
    }
}
