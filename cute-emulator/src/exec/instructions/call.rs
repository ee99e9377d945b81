//! Calls, returns, and branches by an index.

use crate::error::FaultKind;
use crate::exec::state::row::{Row, lanes};
use crate::exec::state::warp::{Frame, POISON, Split};
use crate::exec::step::{Blame, Flow, Leave, Result, Step};
use crate::op::{Call, Callee, Op, Reg, Slot, Subroutine};
use crate::windows::{CODE_WINDOW, FRAME_ALIGN, FUNCTION_BYTES, WINDOW_BYTES};
use std::rc::Rc;

/// The most bytes of local memory that a thread can have.
const MAX_LOCAL_BYTES: u64 = crate::decode::MAX_LOCAL_BYTES;
/// Making a frame of this many bytes in a lane is charged as one instruction.
const BYTES_PER_STEP: u64 = 1024;

/// The most bytes of registers that the calls of a thread may save.
const MAX_SAVED_BYTES: usize = 8 << 20;

/// The bytes from the caller's frame to the callee's frame: never 0, so that the local memory limits the depth of calls.
fn frame_len(call: &Call) -> u64 {
    u64::from(call.frame_bytes.max(1).next_multiple_of(FRAME_ALIGN))
}

impl Step<'_> {
    pub(crate) fn branch_indexed(
        &mut self,
        active: u32,
        index: Reg,
        targets: &[usize],
    ) -> Result<Flow> {
        let first = active.trailing_zeros() as usize;
        let chosen = self.warp.get(index, first) as u32;
        let Some(target) = targets.get(chosen as usize) else {
            let count = targets.len();
            let message = format!("index {chosen} is outside of the {count} labels of the branch");
            return Err(Blame::lane(FaultKind::Operand(message), first));
        };
        let same = |lane: &usize| self.warp.get(index, *lane) as u32 == chosen;
        let taken = lanes(active)
            .filter(same)
            .fold(0, |mask, lane| mask | 1 << lane);
        Ok(Flow::Leave(Leave::Call {
            target: *target,
            taken,
            waiting: active & !taken,
            frame: None,
        }))
    }

    pub(crate) fn call(&mut self, split: &Split, active: u32, call: &Call) -> Result<Flow> {
        let first = active.trailing_zeros() as usize;
        let (number, taken) = match call.callee {
            Callee::System(system) => {
                for lane in lanes(active) {
                    self.system_call(lane, system, call)?;
                }
                return Ok(Flow::Next);
            }
            Callee::Function(number) => (number, active),
            Callee::Address(row) => {
                let address = self.warp.get(row, first);
                let same = |lane: &usize| self.warp.get(row, *lane) == address;
                let taken = lanes(active)
                    .filter(same)
                    .fold(0, |mask, lane| mask | 1 << lane);
                (
                    self.function_at(address, call)
                        .map_err(|it| Blame::lane(it, first))?,
                    taken,
                )
            }
        };
        let Some(function) = self.code.functions.get(number).and_then(Option::as_ref) else {
            return Err(FaultKind::Operand("the function has no body".to_owned()).into());
        };
        self.enter_frame(taken, call, function)?;
        let depth = split.call.as_ref().map_or(0, |call| call.depth + 1);
        let mut callers = std::iter::successors(split.call.as_deref(), |it| it.caller.as_deref());
        let rows = match callers.any(|frame| frame.function == number) {
            true => function.rows.clone(),
            false => 0..0,
        };
        if (depth + 1) * rows.len() * size_of::<Row>() > MAX_SAVED_BYTES {
            let message = format!(
                "{} nested calls of functions that call themselves need too many registers",
                depth + 1
            );
            return Err(Blame::lane(FaultKind::Operand(message), first));
        }
        self.charge(rows.len() as u64);
        let saved = rows
            .map(|row| (row, self.warp.rows[row as usize]))
            .collect();
        Ok(Flow::Leave(Leave::Call {
            target: function.start,
            taken,
            waiting: active & !taken,
            frame: Some(Rc::new(Frame {
                at: split.pc,
                function: number,
                depth,
                saved,
                caller: split.call.clone(),
            })),
        }))
    }

    pub(crate) fn return_from(&mut self, split: &Split, active: u32) -> Result<Flow> {
        let code = self.code;
        let frame = split.call.as_ref();
        let found = frame.and_then(|frame| {
            let function = code.functions.get(frame.function)?.as_ref()?;
            match &code.instructions[frame.at].op {
                Op::Call(call) => Some((frame, function, call)),
                _ => None,
            }
        });
        let Some((frame, function, call)) = found else {
            return Err(FaultKind::Operand("the thread is in no function".to_owned()).into());
        };
        for lane in lanes(active) {
            let callee = self.frame(lane);
            let caller = callee - frame_len(call);
            for (from, to) in function.returns.iter().zip(&call.results) {
                self.copy_slot(lane, (callee, *from), (caller, *to))?;
            }
            self.set_frame(lane, caller);
            for (row, values) in &frame.saved {
                self.warp.set(*row, lane, values[lane]);
            }
        }
        Ok(Flow::Leave(Leave::Return(active)))
    }

    /// Makes frames behind the caller's, and copies the arguments of the call into them.
    fn enter_frame(&mut self, taken: u32, call: &Call, function: &Subroutine) -> Result<()> {
        let caller_bytes = frame_len(call);
        let limit = self.limits.local_bytes.min(MAX_LOCAL_BYTES);
        for lane in lanes(taken) {
            let caller = self.frame(lane);
            let (callee, bytes) = (caller + caller_bytes, u64::from(function.frame_bytes));
            if callee + bytes > limit {
                let message = format!(
                    "calls are nested so deep that the thread needs {} bytes of local memory; its limit is {limit}",
                    callee + bytes
                );
                return Err(Blame::lane(FaultKind::Operand(message), lane));
            }
            let len = self.warp.local[lane].len() as u64;
            if let Some(more) = (callee + bytes).checked_sub(len) {
                self.pending.take(more)?;
                self.warp.grown += more;
                self.warp.local[lane].resize((callee + bytes) as usize, POISON);
            }
            self.charge(bytes / BYTES_PER_STEP);
            for (from, to) in call.args.iter().zip(&function.params) {
                self.copy_slot(lane, (caller, *from), (callee, *to))?;
            }
            self.set_frame(lane, callee);
        }
        Ok(())
    }

    /// Copies an argument or a result between two slots of frames, given by their local addresses.
    fn copy_slot(&mut self, lane: usize, from: (u64, Slot), to: (u64, Slot)) -> Result<()> {
        let place = |(frame, slot): (u64, Slot)| {
            let start = (frame + u64::from(slot.offset)) as usize;
            start..start + slot.bytes as usize
        };
        let (from, to) = (place(from), place(to));
        let local = &mut self.warp.local[lane];
        if from.len() != to.len() || from.end > local.len() || to.end > local.len() {
            let message = "the call passes other parameters than the function has".to_owned();
            return Err(Blame::lane(FaultKind::Operand(message), lane));
        }
        local.copy_within(from, to.start);
        Ok(())
    }

    /// The local address of a lane's frame.
    pub(super) fn frame(&self, lane: usize) -> u64 {
        let row = self.code.frame.map_or(0, |row| self.warp.get(row, lane));
        row & (WINDOW_BYTES - 1)
    }

    fn set_frame(&mut self, lane: usize, address: u64) {
        if let Some(row) = self.code.frame {
            let window = self.warp.get(row, lane) & !(WINDOW_BYTES - 1);
            self.warp.set(row, lane, window | address);
        }
    }

    /// The number of the function at an address. Its parameters and results must have the sizes that the call gives.
    fn function_at(&self, address: u64, call: &Call) -> std::result::Result<usize, FaultKind> {
        let sizes = |slots: &[Slot]| -> Vec<u32> { slots.iter().map(|slot| slot.bytes).collect() };
        let offset = address.wrapping_sub(CODE_WINDOW);
        let number = usize::try_from(offset / FUNCTION_BYTES).unwrap_or(usize::MAX);
        let found = self.code.functions.get(number).and_then(Option::as_ref);
        let found = found.filter(|_| offset.is_multiple_of(FUNCTION_BYTES));
        let Some(function) = found else {
            return Err(FaultKind::Operand(format!(
                "{address:#x} is not the address of a function"
            )));
        };
        let fits = sizes(&function.params) == sizes(&call.args)
            && sizes(&function.returns) == sizes(&call.results);
        match fits {
            true => Ok(number),
            false => Err(FaultKind::Operand(format!(
                "the function `{}` has parameters or results of other sizes than the call's prototype",
                function.name
            ))),
        }
    }
}
