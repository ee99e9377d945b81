//! Reads of registers that the thread has not written.

use crate::error::FaultKind;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Followed, Reg};

impl Step<'_> {
    /// An error if a lane reads a followed register that it has not written.
    pub(crate) fn check_reads(&self, followed: &Followed, active: u32) -> Result<()> {
        self.check_written(&followed.reads, active)?;
        if let Some((condition, [first, second])) = followed.selected {
            let holds = self.warp.lanes(condition, active);
            self.check_written(first.as_slice(), holds)?;
            self.check_written(second.as_slice(), active & !holds)?;
        }
        match &followed.sum {
            // D is read only if it is added to the product.
            Some((added, rows)) => self.check_written(rows, self.warp.lanes(*added, active)),
            None => Ok(()),
        }
    }

    pub(crate) fn check_written(&self, rows: &[Reg], active: u32) -> Result<()> {
        for row in rows {
            let unwritten = active & !self.warp.written_rows[*row as usize];
            if unwritten != 0 {
                let register = self.code.registers[*row as usize].clone();
                let fault = FaultKind::UnwrittenRegister { register };
                return Err(Blame::lane(fault, unwritten.trailing_zeros() as usize));
            }
        }
        Ok(())
    }

    /// Called after an instruction that these lanes have executed.
    pub(crate) fn record_writes(&mut self, followed: &Followed, active: u32) {
        for row in &followed.writes {
            self.warp.written_rows[*row as usize] |= active;
        }
    }
}
