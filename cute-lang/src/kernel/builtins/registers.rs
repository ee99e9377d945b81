//! The number of registers of a thread.

use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "setmaxnreg_inc(registers)",
        apply: |b, call| setmaxnreg(b, call, Modifier::Inc),
    },
    Builtin {
        signature: "setmaxnreg_dec(registers)",
        apply: |b, call| setmaxnreg(b, call, Modifier::Dec),
    },
];

fn setmaxnreg(b: &mut Builder, call: &Call, direction: Modifier) -> Result<Value> {
    let registers = call.constant_in(0, 24..=256)?;
    if registers % 8 != 0 {
        let (low, high) = (registers / 8 * 8, registers / 8 * 8 + 8);
        return Err(call.error_at(
            0,
            format!("{registers} is not a multiple of 8; nearest: {low} and {high}"),
        ));
    }
    let launched = launch_registers(b.threads);
    let (contradicts, bound) = match direction {
        Modifier::Dec => (registers > launched, "most"),
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
    instruction(b, Opcode::Setmaxnreg, direction, Some(registers.into()))
}

/// The number of registers of a multiprocessor of sm_90.
const REGISTER_FILE: u32 = 65_536;

/// The number of registers that a thread has when the kernel starts, if its CTA is the only one on the multiprocessor.
pub(crate) fn launch_registers(threads: u32) -> u32 {
    (REGISTER_FILE / threads.max(1) / 8 * 8).min(255)
}
