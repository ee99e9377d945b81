//! How many registers a thread has.

use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// The number of registers of a thread.
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
    let contradicts = match direction {
        Modifier::Dec => registers > launched,
        _ => registers < launched,
    };
    if contradicts {
        return Err(call.error_at(
            0,
            format!(
                "a CTA of {} threads starts with {launched} registers a thread, and {registers} does not {direction}rease that",
                b.threads
            ),
        ));
    }
    instruction(b, Opcode::Setmaxnreg, direction, Some(registers.into()))
}

/// Registers of a multiprocessor of sm_90.
const REGISTER_FILE: u32 = 65_536;

/// Registers that each thread of a CTA has at its start, if the CTA takes all there are.
pub(crate) fn launch_registers(threads: u32) -> u32 {
    (REGISTER_FILE / threads.max(1) / 8 * 8).min(255)
}
