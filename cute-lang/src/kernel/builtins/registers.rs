//! The number of registers of a thread.

use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::setmaxnreg::{INDEX, running};
use crate::kernel::value::Value;
use cute_chip::registers::{self, UNIT};
use cute_ptx::table::choice::Resize;
use cute_ptx::table::op;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "setmaxnreg_inc(registers)",
        apply: |b, call| setmaxnreg(b, call, Resize::Inc),
    },
    Builtin {
        signature: "setmaxnreg_dec(registers)",
        apply: |b, call| setmaxnreg(b, call, Resize::Dec),
    },
];

fn setmaxnreg(b: &mut Builder, call: &Call, direction: Resize) -> Result<Value> {
    let registers = call.constant_in(0, registers::SETMAXNREG)?;
    let low = registers / UNIT * UNIT;
    if registers != low {
        let high = low + UNIT;
        return Err(call.error_at(
            0,
            format!("{registers} is not a multiple of {UNIT}; nearest: {low} and {high}"),
        ));
    }
    let launched = b.chip.registers_at_launch(b.threads);
    let (contradicts, bound) = match direction {
        Resize::Dec => (registers > launched, "most"),
        _ => (registers < launched, "least"),
    };
    if contradicts {
        return Err(call.error_at(
            0,
            format!(
                "each thread of a CTA of {} starts with {launched} registers: `{}` takes at {bound} {launched}, not {registers}",
                b.threads, call.name
            ),
        ));
    }
    let index = b.known_once(INDEX);
    let warpgroups = running(b.threads, index.as_ref(), b.known.holding());
    b.budget.set(warpgroups, registers, call.span);
    instruction(b, op::Setmaxnreg, direction, Some(registers.into()))
}
