//! Exchanges through shared memory, between the threads that hold a fragment together.
//!
//! Threads write to scratch, wait for one another, and read. If an earlier exchange may still read this scratch, they also wait before they
//! write. So no barrier follows the last exchange of a kernel.

use super::fragment::holder;
use super::sync::barrier_number;
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::shared::{Moment, Purpose};
use crate::kernel::ir::Operand;
use crate::kernel::value::Num;
use cute_chip::tma;
use cute_ptx::table::op;
use syn::Result;

/// The threads that hold a fragment, and the barrier at which they wait for one another.
pub(super) struct Group {
    threads: u32,
    name: &'static str,
    /// The number of a barrier; `None` if all threads of the CTA wait at barrier 0.
    barrier: Option<Num>,
    start: Moment,
}

/// The position of a group's scratch.
pub(super) struct Scratch {
    /// The scratch of the first group, in bytes.
    pub(super) base: u32,
    /// The distance in bytes from `base` to the scratch of the thread's group.
    pub(super) offset: Num,
}

impl Group {
    /// The `threads` threads that hold a fragment. Argument `index` is the number of their barrier; it may be omitted if they are all
    /// threads of the CTA.
    pub(super) fn new(b: &Builder, call: &Call, threads: i64, index: usize) -> Result<Self> {
        if threads > b.threads.into() {
            let message = format!(
                "`{}` exchanges values of the threads of one CTA, but the {threads} threads that hold the fragment are of several",
                call.name
            );
            return Err(call.error_at(0, message));
        }
        let barrier = match call.args.get(index) {
            Some(_) => Some(barrier_number(call, index)?),
            None if threads == i64::from(b.threads) => None,
            None => {
                let message = format!(
                    "{threads} of the {} threads of the CTA hold the fragment, and `{}` exchanges values between their warps: add the number of a barrier for these threads, as in `bar_sync`",
                    b.threads, call.name
                );
                return Err(call.error_at(0, message));
            }
        };
        Ok(Self {
            // At most the threads of the CTA.
            threads: threads as u32,
            name: call.name,
            barrier,
            start: b.shared.now(),
        })
    }

    /// Reserves scratch for each group of the CTA, and waits until the threads of the group have read its earlier contents.
    pub(super) fn scratch(&self, b: &mut Builder, bytes: u32) -> Result<Scratch> {
        let groups = b.threads / self.threads;
        let purpose = Purpose::Scratch {
            threads: self.threads,
            bytes,
        };
        let total = bytes.saturating_mul(groups);
        let base = scratch(b, self.name, purpose, total)?;
        // An iteration of a loop follows another one.
        if b.in_loop() || b.shared.is_shared(&(base..base + total)) {
            self.wait(b);
        }
        let offset = match groups {
            1 => Num::Const(0),
            _ => {
                let thread = b.thread();
                let group = b.div(&thread.into(), &Num::from(self.threads))?;
                b.mul(&group, &Num::from(bytes))?
            }
        };
        Ok(Scratch { base, offset })
    }

    /// Waits for the threads of the group.
    pub(super) fn wait(&self, b: &mut Builder) {
        let operands = match &self.barrier {
            None => vec![Operand::Int(0)],
            Some(id) => vec![id.operand(), Operand::Int(self.threads.into())],
        };
        b.emit(op::BarSync, (), operands);
    }

    /// The number of this thread in the group.
    pub(super) fn thread(&self, b: &mut Builder) -> Result<Num> {
        holder(b, self.threads.into())
    }

    /// Frees the scratch for the exchanges that follow.
    pub(super) fn end(self, b: &mut Builder) {
        b.shared.free_since(self.start, &[]);
    }
}

/// Reserves scratch of `total` bytes for the operation called `name`.
pub(super) fn scratch(b: &mut Builder, name: &str, purpose: Purpose, total: u32) -> Result<u32> {
    let base = b.allocate(total, tma::SHARED_ALIGN, purpose)?;
    let end = base + total;
    b.notes
        .add(format!("shared memory {base}..{end}: scratch of `{name}`"));
    Ok(base)
}
