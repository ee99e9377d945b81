//! The end of a kernel: puts its parts in order and declares its registers.

use crate::kernel::emit::builder::{Builder, when};
use crate::kernel::emit::claim::remove_unwritten;
use crate::kernel::emit::divergence::{CALLS, Facts};
use crate::kernel::emit::once::written_again;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::param::Param;
use crate::kernel::emit::report::Report;
use crate::kernel::emit::unread::remove_unread;
use crate::kernel::emit::way::claim_ways;
use crate::kernel::emit::zeroed::remove_zeros;
use crate::kernel::ir::{Line, Operand};
use crate::kernel::value::{Num, Scalar};
use cute_ptx::ast;
use cute_ptx::ast::{Type, Variable};
use cute_ptx::table::choice::{Aligned, StoreOrder};
use cute_ptx::table::{Mnemonic, op};
use std::collections::HashMap;
use syn::Result;

/// A finished kernel.
pub struct Parts {
    /// Comments that precede the entry.
    pub header: Vec<String>,
    /// The files of the source, from number 1 on.
    pub files: Vec<String>,
    /// The statements that report to the host.
    pub reports: Vec<Report>,
    /// The body, declarations included.
    pub body: Vec<ast::Line>,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The parameters.
    pub params: Vec<Param>,
    /// Known numbers in global memory.
    pub tables: Vec<Variable>,
}

impl Builder {
    /// Removes unread results, declares the registers, and puts the parts of the kernel in order.
    pub fn finish(mut self) -> Result<Parts> {
        if let Some(error) = self.lacks(None) {
            return Err(error);
        }
        self.budget.check(self.chip, self.threads)?;
        self.notes.describe_parameters(&self.params);
        std::mem::take(&mut self.unwritten).check()?;
        std::mem::take(&mut self.renamed).check()?;
        let thread = (!self.init.is_empty()).then(|| self.thread());
        let mut start = Vec::new();
        if let Some(thread) = thread {
            let body = std::mem::take(&mut self.lines);
            let init = std::mem::take(&mut self.init);
            self.start_up(&thread, init);
            start = std::mem::replace(&mut self.lines, body);
        }
        let mut code = std::mem::take(&mut self.prologue);
        code.append(&mut start);
        code.append(&mut self.lines);
        let ret = self.instruction(Mnemonic::new(op::Ret, ()), []);
        code.extend(ret.map(Line::Inst));
        self.names.add(&self.registers);
        if let Some(register) = written_again(&code, &self.registers) {
            let name = self.names.of(register);
            return Err(self.error(format!("several instructions write `{name}` (a defect)")));
        }
        let mut calls = HashMap::new();
        for (name, call) in CALLS {
            calls.extend(self.known_once(name).map(|it| (it.register, call)));
        }
        let facts = Facts {
            threads: self.threads,
            cluster: self.cluster,
            bits: self.known.known_bits(),
            calls: &calls,
        };
        self.sites.check(&code, facts)?;
        if let Some(defect) = self.defect {
            return Err(defect);
        }
        remove_unread(&mut code);
        remove_zeros(&mut code, &self.zeroed);
        remove_unwritten(&mut code);
        claim_ways(&mut code, &self.known);
        let names = self.names;
        let mut body = names.declarations(&code);
        body.push(ast::Line::Blank);
        body.extend(code.into_iter().map(|line| names.line(line)));
        Ok(Parts {
            header: self.notes.texts(),
            files: self.sites.into_files(),
            reports: self.reports,
            body,
            shared_bytes: self.shared.end(),
            params: self.params,
            tables: self.tables,
        })
    }

    fn start_up(&mut self, thread: &Scalar, init: Vec<Line>) {
        self.comment("thread 0 initialises the barriers; everyone waits until that is visible");
        let label = self.label("initialised");
        let others = self.set_predicate(Cmp::Ne, Type::U32, &thread.clone().into(), &Num::Const(0));
        self.branch_if(when(&others), &label);
        self.append(init);
        self.emit(op::FenceMbarrierInit, (), []);
        self.place_label(&label);
        if self.cluster == [1, 1, 1] {
            self.emit(op::BarSync, (), [Operand::Int(0)]);
        } else {
            // The fence has released the writes of thread 0. A releasing barrier would wait for all memory accesses of all threads.
            let relaxed = (StoreOrder::Relaxed, Aligned);
            self.emit(op::BarrierClusterArrive, relaxed, []);
            self.emit(op::BarrierClusterWait, Aligned, []);
        }
    }
}
