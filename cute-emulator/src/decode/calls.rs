//! Calls of functions, and branches by an index.

use super::Decoder;
use super::operands::{Arg, Result, take};
use super::scope::Scope;
use crate::op::{Call, Callee, Op, Slot, SystemCall};
use cute_ptx::ast::{Inst, Line, Operand, Param};
use cute_ptx::table::Opcode;

/// The numbers of the functions with a body that an entry's lines may call, directly or not. A function whose address is taken may be
/// called by every indirect call.
pub(super) fn reached(scope: &Scope<'_>, body: &[Line]) -> Vec<usize> {
    let mut found = vec![false; scope.functions.len()];
    let mut todo = vec![body];
    let mut order = Vec::new();
    while let Some(body) = todo.pop() {
        for line in body {
            let Line::Inst(inst) = line else { continue };
            if inst.mnemonic.opcode() != Opcode::Call {
                continue;
            }
            let numbers = match callee(inst).and_then(|name| scope.function_number(name)) {
                Some(number) => number..number + 1,
                None => 0..scope.functions.len(),
            };
            for number in numbers {
                let body = scope.functions[number].0.body.as_deref();
                if let (false, Some(body)) = (found[number], body) {
                    found[number] = true;
                    order.push(number);
                    todo.push(body);
                }
            }
        }
    }
    order
}

/// The operand of a call that gives its function: a function's name, or the register that holds an address.
fn callee(inst: &Inst) -> Option<&str> {
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name.as_str()),
        _ => None,
    })
}

impl Decoder<'_, '_> {
    pub(super) fn call(&mut self, inst: &Inst) -> Result<Op> {
        let name = callee(inst).ok_or("the call names no function")?;
        let declared = self.scope.function_number(name);
        let declared = declared.map(|number| (number, self.scope.functions[number].0));
        let (returns, params): (&[Param], &[Param]) = match (declared, inst.operands.last()) {
            (Some((_, function)), _) => (&function.returns, &function.params),
            (None, Some(Operand::Name(prototype))) => {
                let prototype = self.prototypes.get(prototype.as_str());
                let prototype = prototype.ok_or("the call has no prototype")?;
                (&prototype.returns, &prototype.params)
            }
            _ => return Err("the call has no prototype".to_owned()),
        };
        let lists: Vec<(bool, &[Operand])> = inst
            .operands
            .iter()
            .enumerate()
            .filter_map(|(i, operand)| match operand {
                Operand::List(list) => Some((i == 0, &list[..])),
                _ => None,
            })
            .collect();
        let list = |first| {
            let found = lists.iter().find(|(is_first, _)| *is_first == first);
            found.map_or(&[][..], |(_, list)| *list)
        };
        let results = self.slots(list(true), returns)?;
        let args = self.slots(list(false), params)?;
        let callee = match declared {
            Some((number, function)) if function.body.is_some() => Callee::Function(number),
            Some((_, function)) => {
                let found = SystemCall::find(&function.name, &args, &results);
                Callee::System(found.ok_or_else(|| {
                    format!(
                        "the function `{name}`, which the module does not define, is not modelled"
                    )
                })?)
            }
            None => Callee::Address(self.registers.register(name)?),
        };
        let frame_bytes = self.registers.addresses.names().frame_bytes;
        self.registers.frame();
        Ok(Op::Call(Box::new(Call {
            callee,
            frame_bytes,
            args,
            results,
        })))
    }

    /// The slots of a call's arguments or results.
    fn slots(&self, operands: &[Operand], params: &[Param]) -> Result<Box<[Slot]>> {
        if operands.len() != params.len() {
            return Err(format!(
                "the call has {} parameters or results where the function has {}",
                operands.len(),
                params.len()
            ));
        }
        let slot = |(operand, param): (&Operand, &Param)| match operand {
            Operand::Name(name) => {
                let addresses = &self.registers.addresses;
                addresses.slot(name, param.ty.layout().1)
            }
            other => Err(format!("`{other}` is not a parameter of the routine")),
        };
        operands.iter().zip(params).map(slot).collect()
    }

    pub(super) fn branch_indexed(&mut self, _: &Inst, args: Vec<Arg>) -> Result<Op> {
        let [index, _] = take(args)?;
        Ok(Op::BranchIndexed {
            index: index.row()?,
            targets: Box::default(),
        })
    }
}
