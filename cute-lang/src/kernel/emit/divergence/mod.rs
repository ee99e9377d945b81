//! Refuses collective operations where some of the threads may be elsewhere.
//!
//! A warp, a warpgroup, a CTA or a cluster executes such an operation together ([`Group`]): a vote, a shuffle, a barrier, a wgmma. It is an
//! error if a condition around it, or before an earlier jump, may differ between these threads. The analysis runs on all lines of the
//! finished kernel, so the operation or the condition may be in a function, a closure, or a function of the language: `flow` finds where
//! threads converge, `rules` the differences of registers, and `analysis` combines the two.
//!
//! Divergence is analysed on the lines of a finished kernel, and not during interpretation: all functions are inlined there, all
//! constructs are branches, and a variable that a loop changes is one register. For each group of threads that execute an instruction
//! together, a fixpoint finds the registers whose bits may differ within the group, and the blocks between a branch by such a register
//! and its post-dominator. Lines are moved, so instructions carry a number (`Inst::origin`), by which errors find their tokens.

mod analysis;
mod flow;
mod group;
mod rules;
mod varies;

use crate::kernel::ir::{Inst, Line, Register};
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::location::Location;
use crate::kernel::value::Scalar;
pub use analysis::Facts;
use analysis::{Analysis, Parting};
use cute_ptx::ast::Place;
pub use group::Group;
use group::{Members, members};
use proc_macro2::Span;
use std::collections::HashMap;
use syn::{Error, Result};

/// The most errors that are reported.
const MAX_ERRORS: usize = 8;

/// Functions whose results are computed once, by the names of their registers.
pub(super) const CALLS: [(&str, &str); 4] = [
    ("lane", "`lane()`"),
    ("warp", "`warp()`"),
    ("warpgroup", "`warpgroup()`"),
    ("warpgroup_thread", "`warpgroup_thread()`"),
];

/// Where statements, operations, conditions and jumps stand in the source.
pub struct Sites {
    /// The token that errors refer to.
    place: Span,
    /// The place of the current statement.
    source: Option<Location>,
    /// The call that entered an imported module, and the name of the module.
    pub import: Option<(Span, String)>,
    /// The source files of the places of instructions.
    files: Vec<String>,
    /// The operation being emitted, and its number, once it has one.
    current: Option<(&'static str, Span, Option<u32>)>,
    /// Operations with collective instructions, indexed by the number in these instructions.
    operations: Vec<(&'static str, Site)>,
    /// By predicate, the conditions that it decides.
    forks: HashMap<Register, Vec<Fork>>,
    /// `return`, `break` and `continue`, and how many operations were before each.
    jumps: Vec<(&'static str, u32)>,
}

/// A place in the source.
#[derive(Clone)]
struct Site {
    span: Span,
    /// The place in an imported module, if the span is the call that entered it.
    import: Option<String>,
}

/// A condition by which threads take one of two branches.
pub struct Fork {
    /// The construct with the condition: `if`.
    what: &'static str,
    site: Site,
    /// How many operations were before it.
    start: u32,
    /// The number of operations before its end.
    end: u32,
}

impl Default for Sites {
    fn default() -> Self {
        Self {
            place: Span::call_site(),
            source: None,
            import: None,
            files: Vec::new(),
            current: None,
            operations: Vec::new(),
            forks: HashMap::new(),
            jumps: Vec::new(),
        }
    }
}

impl Sites {
    /// Sets the token that errors refer to.
    pub fn set_place(&mut self, span: Span) {
        self.place = span;
    }

    /// The token that errors refer to.
    pub fn place(&self) -> Span {
        self.place
    }

    /// Sets the source place of the next instructions, and returns the previous one.
    pub fn set_source(&mut self, source: Option<Location>) -> Option<Location> {
        std::mem::replace(&mut self.source, source)
    }

    /// The source place of the next instructions.
    pub(super) fn source(&self) -> Option<&Location> {
        self.source.as_ref()
    }

    /// The source place of the next instructions, in PTX.
    pub(super) fn place_in_file(&mut self) -> Option<Place> {
        let source = self.source.as_ref()?;
        let known = self.files.iter().position(|file| *file == source.file);
        let index = known.unwrap_or_else(|| {
            self.files.push(source.file.clone());
            self.files.len() - 1
        });
        Some(Place {
            file: index as u32 + 1,
            line: source.line,
            column: source.column,
        })
    }

    /// The source files of the places of instructions, from number 1 on.
    pub(super) fn into_files(self) -> Vec<String> {
        self.files
    }

    /// Later instructions belong to the operation of this name.
    pub fn set_operation(&mut self, name: &'static str, span: Span) {
        self.set_place(span);
        self.current = Some((name, span, None));
    }

    /// The instruction with the number of its operation, if it is collective.
    pub fn numbered(&mut self, inst: Inst, threads: u32) -> Inst {
        if members(&inst, threads).is_none() {
            return inst;
        }
        let unnamed = (inst.mnemonic.as_str(), self.place, None);
        let (name, span, number) = self.current.unwrap_or(unnamed);
        let origin = number.unwrap_or_else(|| {
            let site = self.site(span);
            self.operations.push((name, site));
            self.operations.len() as u32 - 1
        });
        self.current = Some((name, span, Some(origin)));
        Inst {
            origin: Some(origin),
            ..inst
        }
    }

    /// Begins a condition that decides between two branches. `what` is its construct, such as `if`.
    pub fn fork(&self, what: &'static str, span: Span) -> Fork {
        let start = self.operations.len() as u32;
        Fork {
            what,
            site: self.site(span),
            start,
            end: start,
        }
    }

    /// Ends the branches of a condition that this predicate has decided.
    pub fn join(&mut self, fork: &Fork, predicate: &Scalar) {
        let fork = Fork {
            site: fork.site.clone(),
            end: self.operations.len() as u32,
            ..*fork
        };
        let forks = self.forks.entry(predicate.register);
        forks.or_default().push(fork);
    }

    /// Threads leave the code around this place: by a `return`, for example.
    pub fn leaves(&mut self, how: &'static str) {
        let before = self.operations.len() as u32;
        self.jumps.push((how, before));
    }

    fn site(&self, span: Span) -> Site {
        match &self.import {
            None => Site { span, import: None },
            Some((entry, module)) => {
                let place = self.source.as_ref();
                let place = place.map(|it| format!("{}:{}, ", it.file_name(), it.line));
                let place = place.unwrap_or_default();
                Site {
                    span: *entry,
                    import: Some(format!("{place}in the module `{module}`")),
                }
            }
        }
    }

    /// Refuses collective operations where some threads may be elsewhere. `code` has all lines of the kernel.
    pub(super) fn check(&self, code: &[Line], facts: Facts) -> Result<()> {
        if self.operations.is_empty() {
            return Ok(());
        }
        let threads = facts.threads;
        let ctas = facts.cluster.iter().product();
        let analysis = Analysis::new(code, facts);
        let mut errors = Errors::default();
        for (block, lines) in analysis.flow.blocks.iter().enumerate() {
            for line in &code[lines.lines.clone()] {
                let Line::Inst(inst) = line else { continue };
                let Some((number, members)) = inst.origin.zip(members(inst, threads)) else {
                    continue;
                };
                match members {
                    Members::All(group) => {
                        let least = group.least(threads, ctas);
                        if let Some(parting) = analysis.parted(block, least) {
                            self.refuse(&mut errors, number, group, parting, code);
                        }
                    }
                    Members::Listed(Some(mask))
                        if analysis.parted(block, Group::Warp).is_none() =>
                    {
                        let (name, site) = &self.operations[number as usize];
                        errors.push(site.error(format!(
                            "all lanes of the warp execute `{name}` here, but its mask, {mask:#x}, does not name all: name those that execute it"
                        )));
                    }
                    // The emulator checks the lanes of the mask against the lanes that arrive.
                    Members::Listed(_) => {}
                }
                if errors.len() >= MAX_ERRORS {
                    return errors.finish(());
                }
            }
        }
        errors.finish(())
    }

    /// An error at an operation, and one at the condition where its threads have diverged.
    fn refuse(
        &self,
        errors: &mut Errors,
        number: u32,
        group: Group,
        Parting { line, cause }: Parting,
        code: &[Line],
    ) {
        let (name, site) = &self.operations[number as usize];
        let fork = self.fork_at(&code[line], number);
        let threads = group.threads();
        let (place, remedy) = match fork {
            Some(fork) if (fork.start..fork.end).contains(&number) => (
                format!("it is {}", fork.inside()),
                "move it out of there, so that the condition chooses values and not the way",
            ),
            Some(fork) => (
                format!(
                    "some may have left by `{}`, {}",
                    self.jump(fork),
                    fork.inside()
                ),
                "let all of them go on, those without work to do as well",
            ),
            None => (
                "it is behind a condition, which".to_string(),
                "move it before the condition",
            ),
        };
        let marker = match group {
            Group::Warp => ", or write `uniform(…)` around it, if it is the same in all of them",
            Group::Warpgroup => {
                ", or write `uniform(…, WARPGROUP)` around it, if it is the same in all of them"
            }
            Group::Cta => {
                ", or write `uniform(…, CTA)` around it, if it is the same in all of them"
            }
            Group::Cluster => "",
        };
        errors.push(site.error(format!(
            "{threads} execute `{name}` together, but {place} may differ between them, since it depends on {cause}: {remedy}{marker}"
        )));
        if let Some(fork) = fork {
            errors.push(fork.site.error(format!(
                "this may differ between {threads}, since it depends on {cause}"
            )));
        }
    }

    /// The condition of a branch where threads diverge before an operation: of several with its predicate, the last one that begins before
    /// it. In a loop, it may also come after the operation.
    fn fork_at(&self, branch: &Line, operation: u32) -> Option<&Fork> {
        let Line::Inst(Inst {
            guard: Some(guard), ..
        }) = branch
        else {
            return None;
        };
        let forks = self.forks.get(&guard.predicate)?;
        let mut before = forks.iter().rev().filter(|it| it.start <= operation);
        before.next().or(forks.first())
    }

    /// How threads leave the code around a condition that decides whether they leave.
    fn jump(&self, fork: &Fork) -> &'static str {
        let mut jumps = self.jumps.iter();
        let jump = jumps.find(|(_, before)| (fork.start..=fork.end).contains(before));
        jump.map_or("jump", |(jump, _)| jump)
    }
}

impl Fork {
    /// Describes code whose threads the condition selects, followed by the reason: `inside of an `if`, whose condition`.
    fn inside(&self) -> &'static str {
        match self.what {
            "if" => "inside of an `if`, whose condition",
            "match" => "inside of a `match`, whose value",
            "let" => "inside of a `let … else`, whose value",
            "while" => "inside of a `while` loop, whose condition",
            "&&" => "on the right of an `&&`, whose left side",
            "||" => "on the right of an `||`, whose left side",
            _ => "inside of a `for` loop, whose number of iterations",
        }
    }
}

impl Site {
    fn error(&self, message: String) -> Error {
        Error::new(
            self.span,
            match &self.import {
                Some(place) => format!("{message} ({place})"),
                None => message,
            },
        )
    }
}
