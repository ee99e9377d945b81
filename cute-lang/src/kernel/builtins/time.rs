//! Clocks, and waiting for time to pass.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Value};
use cute_ptx::ast::Type;
use cute_ptx::special::{Register, Special};
use cute_ptx::table::op;
use syn::Result;

#[rustfmt::skip]
pub(super) const ROWS: &[Builtin] = &[
    Builtin { signature: "clock()", apply: |b, _| Ok(read(b, Register::Clock)) },
    Builtin { signature: "clock64()", apply: |b, _| Ok(read(b, Register::Clock64)) },
    Builtin { signature: "globaltimer()", apply: |b, _| Ok(read(b, Register::Globaltimer)) },
    Builtin { signature: "nanosleep(nanoseconds)", apply: nanosleep },
];

/// Reads a clock each time that execution gets here.
fn read(b: &mut Builder, register: Register) -> Value {
    let special = Special::of(register);
    let name = Operand::Symbol(special.name.into());
    b.compute(special.ty, op::Mov, special.ty, [name]).into()
}

fn nanosleep(b: &mut Builder, call: &Call) -> Result<Value> {
    let time = match call.num(0)? {
        Num::Const(_) => Operand::Int(call.constant_in(0, 0..=1_000_000)?.into()),
        Num::Reg(time) if time.ty == Type::U32 => time.operand(),
        Num::Reg(_) => return Err(call.mismatch(0, "a u32")),
    };
    b.emit(op::Nanosleep, (), [time]);
    Ok(Value::Unit)
}
