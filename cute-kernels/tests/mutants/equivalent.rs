//! Mutants that no schedule and no hardware can tell from the kernel, by a rule for the PTX or by a probe: the kernel itself, with
//! a `trap` wherever the mutant would do anything else. If no thread reaches it, the launch cannot tell the two apart.

use std::collections::HashSet;
use std::fmt::Debug;
use std::path::Path;

use cute_kernels::gemm::fused::kernels::gemm_fused_CFG;
use cute_kernels::gemm::kernels::gemm_CFG;
use cute_kernels::lib::Config;
use cute_ptx::Module;
use cute_ptx::ast::{Guard, Inst, Line, Operand, Type};
use cute_ptx::table::{Effect, Modifier, Opcode};
use cute_runtime::Constant;

use crate::body::{Body, accesses_memory, is_synchronisation, is_wait};
use crate::flow::Flow;
use crate::mutation::{Mutant, entry, entry_mut, mnemonic};
use crate::shadow::shadowed;
use crate::shipped::parts;

/// Why the mutant is equivalent to the kernel.
pub(crate) struct Reason {
    pub(crate) text: &'static str,
    /// Whether the mutant is a correct kernel, of which the emulator must not report anything. Others compute the same although they
    /// break a rule, such as what the PTX says of the threads that execute an instruction.
    pub(crate) is_correct: bool,
}

/// Why the mutant is equivalent to the kernel, whatever the launch; `None` if no rule says so.
pub(crate) fn by_rule(module: &Module, mutant: &Mutant) -> Option<Reason> {
    reason(|proof| match proof {
        Proof::Correct(rule) | Proof::Rule(rule) => rule(module, mutant),
        Proof::Probe(_) => false,
    })
}

/// Why the mutant, of which nothing is reported, is equivalent to the kernel in a launch; `None` if no probe shows it. `passes` tells
/// whether the launch ends without an error with these modules instead of the kernel's.
pub(crate) fn by_probe(
    module: &Module,
    mutant: &Mutant,
    passes: impl Fn(&Module) -> bool,
) -> Option<Reason> {
    reason(|proof| match proof {
        Proof::Probe(probe) => probe(module, mutant).is_some_and(|probe| passes(&probe)),
        Proof::Correct(_) | Proof::Rule(_) => false,
    })
}

fn reason(shows: impl Fn(&Proof) -> bool) -> Option<Reason> {
    let row = EQUIVALENT.iter().find(|row| shows(&row.proof))?;
    Some(Reason {
        text: row.reason,
        is_correct: matches!(row.proof, Proof::Correct(_)),
    })
}

/// Into how many parts the CTAs of a cluster divide K.
fn parts_of_k(name: &str) -> u32 {
    let (kernel, _, constants) = parts(name);
    match kernel {
        "gemm_" => split_of::<gemm_CFG>(constants),
        // The activation comes first.
        "gemm_fused_" => (constants.split_once('_'))
            .map_or(1, |(_, constants)| split_of::<gemm_fused_CFG>(constants)),
        _ => 1,
    }
}

fn split_of<C: Constant<Value = Config> + Debug>(constants: &str) -> u32 {
    let found = C::ALL.iter().find(|it| format!("{it:?}") == constants);
    found.map_or(1, |it| it.value().split)
}

struct Row {
    reason: &'static str,
    proof: Proof,
}

enum Proof {
    /// Such mutants are correct kernels.
    Correct(fn(&Module, &Mutant) -> bool),
    /// Such mutants compute the same.
    Rule(fn(&Module, &Mutant) -> bool),
    /// Mutants do for which this module passes.
    Probe(fn(&Module, &Mutant) -> Option<Module>),
}

const EQUIVALENT: &[Row] = &[
    Row {
        reason: "when the next grid may begin changes the time alone, since it waits for the end of this one",
        proof: Proof::Correct(|_, mutant| {
            mutant.instruction.as_str() == "griddepcontrol.launch_dependents"
        }),
    },
    // What completes the phase after that which the thread waits for follows this wait, or the kernel is wrong: so it follows a second wait
    // right behind it, too, since the thread does nothing in between.
    Row {
        reason: "a wait for a phase that has just been waited for passes at once",
        proof: Proof::Correct(|_, mutant| {
            mutant.rule == "doubled" && is_wait(mutant.instruction.opcode())
        }),
    },
    // PTX has no number of registers that a thread needs: ptxas finds it, and refuses a kernel whose threads have fewer.
    Row {
        reason: "the CTA has the registers, whose number changes the speed alone",
        proof: Proof::Probe(|module, mutant| {
            let whole = ["left out", "later", "registers"].contains(&mutant.rule);
            let of_all = whole && mutant.instruction.opcode() == Opcode::Setmaxnreg;
            of_all.then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "a prefetch of the tensor map by other threads changes the time alone",
        proof: Proof::Rule(|module, mutant| {
            mutant.instruction.opcode() == Opcode::PrefetchTensormap
                && changed(module, mutant).is_some_and(|(a, b)| same_but_guard(a, b))
        }),
    },
    // PTX ISA, `wgmma.fence`: it must lie between accesses of registers and a wgmma that uses them.
    Row {
        reason: "no access of a register that the next wgmma use lies between it and a wgmma.fence before it",
        proof: Proof::Rule(is_fenced_before),
    },
    // PTX ISA, `barrier` and `barrier.cluster.arrive`: accesses before the barrier are performed for all threads that wait. The fence
    // is for copies and for other CTAs, and the emulator reports if these use an mbarrier that has been initialised after it.
    Row {
        reason: "a barrier of all threads orders the initialisation before their accesses, and nobody else uses the mbarrier",
        proof: Proof::Probe(announced_by_a_barrier),
    },
    Row {
        reason: "the thread that initialises the mbarrier arrives elsewhere before others of its CTA use it, and nobody else does",
        proof: Proof::Probe(|module, mutant| {
            let inst = original(module, mutant);
            let is_of_exchange = inst.mnemonic.opcode() == Opcode::MbarrierInit
                && is_at(mutant, "parts/split.rs", "Self {", 2);
            // Of the mbarriers of the exchange, `done` alone is for two arrivals, both of its own CTA.
            let is_of_own = is_of_exchange && inst.operands.last() == Some(&Operand::Int(2));
            let is_late = mutant.rule == "later" && is_of_own;
            is_late.then(|| mutant.apply(module))
        }),
    },
    // Warps give stages back one after the other.
    Row {
        reason: "the CTA waits at its end for arrivals behind those, by the same warps",
        proof: Proof::Probe(|module, mutant| {
            let text = "wait(self.empty[self.at.stage], self.at.phase);";
            let is_one = is_at(mutant, "parts/ring.rs", text, 1);
            let body = &entry(module).body;
            let place = original(module, mutant).place;
            let is_like = |line: &Line| match line {
                Line::Inst(inst) => inst.place == place && is_wait(inst.mnemonic.opcode()),
                _ => false,
            };
            let is_last = !body[mutant.at + 1..].iter().any(is_like);
            (is_one && !is_last).then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "the thread that announces bytes has neither written nor read shared memory since a barrier of all threads",
        proof: Proof::Probe(announces_alone),
    },
    Row {
        reason: "the warpgroup that waits for the sums of other CTAs has met the thread that announces them at a barrier",
        proof: Proof::Probe(|module, mutant| {
            let announces = is_at(
                mutant,
                "parts/split.rs",
                "expect_tx(arrived, bytes(into));",
                1,
            );
            (announces && mutant.rule == "weaker").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "threads of the own CTA alone arrive at the mbarrier, and copies that they have started",
        proof: Proof::Probe(|module, mutant| {
            let waits = [
                ("parts/ring.rs", "wait(self.empty[stage], self.at.phase);"),
                ("parts/ring.rs", "wait(self.full[stage], self.at.phase);"),
                ("parts/split.rs", "wait(exchange.done[0], turn % 2);"),
            ];
            let of_own = waits
                .iter()
                .any(|(file, text)| is_at(mutant, file, text, 1));
            let divided = parts_of_k(&entry(module).name) > 1;
            let still_acquires = match mutant.replacement() {
                Some([Line::Inst(inst)]) => inst.mnemonic.as_str().contains(".acquire.cta"),
                _ => false,
            };
            (of_own && divided && still_acquires).then(|| mutant.apply(module))
        }),
    },
    // A thread that waits behind each of its stores has none that still reads where it waited before.
    Row {
        reason: "the one wait of a tile for all stores to be read comes behind its store, too, and so before the next tile's",
        proof: Proof::Probe(|module, mutant| {
            let waits = is_at(
                mutant,
                "parts/epilogue/store.rs",
                "tma_wait_read(after);",
                1,
            );
            let inst = original(module, mutant);
            let of_all = inst.operands[..] == [Operand::Int(0)];
            let is_like = |line: &&Line| matches!(line, Line::Inst(it) if it.place == inst.place && it.mnemonic == inst.mnemonic);
            let is_one = entry(module).body.iter().filter(is_like).count() == 1;
            (waits && of_all && is_one && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    // CUTLASS's pipelines rely on it: a thread releases a stage after its own wait.
    Row {
        reason: "the wait of a warp for wgmma counts for its warpgroup, and the others use no accumulator before a wait of their own",
        proof: Proof::Probe(|module, mutant| {
            let inst = original(module, mutant);
            let waits = inst.mnemonic.opcode() == Opcode::WgmmaWaitGroup;
            // Behind a wait for all groups, each warp reads its sums.
            let leaves_one = inst.operands[..] == [Operand::Int(1)];
            let of_some = mutant.rule == "some warps";
            (waits && leaves_one && of_some).then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "a turn tells which phases are complete, and that does not depend on orders of accesses",
        proof: Proof::Probe(|module, mutant| {
            let arrives = is_at(
                mutant,
                "parts/mainloop/turns.rs",
                "arrive(barriers[1 - self.index]);",
                1,
            );
            let text = "wait(barriers[self.index], (turn + 1 + self.index) % 2);";
            let waits = is_at(mutant, "parts/mainloop/turns.rs", text, 1);
            (mutant.rule == "weaker" && (arrives || waits)).then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "warpgroups give their queries back behind the barrier, and come to no other before they have new ones",
        proof: Proof::Probe(|module, mutant| {
            let is_last = is_at(mutant, "attention.rs", "bar_sync(one + index, 128);", 1);
            let elsewhere = mutant.rule == "other barrier" && mutant.way == 0;
            (is_last && elsewhere).then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "all threads that meet at the barrier come from its line, and meet there once more",
        proof: Proof::Probe(|module, mutant| {
            let again = mutant.rule == "doubled";
            again.then(|| meets_alone(module, mutant, -8)).flatten()
        }),
    },
    Row {
        reason: "all threads that meet at the barrier come from its line, and no others have the new number",
        proof: Proof::Probe(|module, mutant| {
            // Threads that share a number do not meet alone.
            let elsewhere = mutant.rule == "other barrier" && mutant.way == 0;
            elsewhere.then(|| meets_alone(module, mutant, -1)).flatten()
        }),
    },
    Row {
        reason: "the threads that do not wait have no groups of their own",
        proof: Proof::Probe(|module, mutant| {
            let waits = mutant.instruction.opcode() == Opcode::CpAsyncBulkWaitGroup;
            let commits = |inst: &Inst| inst.mnemonic.opcode() == Opcode::CpAsyncBulkCommitGroup;
            waits
                .then(|| without_others(module, mutant, commits))
                .flatten()
        }),
    },
    // Their other accesses follow loads of the threads that have waited, by an mbarrier or a barrier, or the emulator reports them.
    Row {
        reason: "the threads that do not wait for the grid before read nothing that no thread of theirs has loaded for them",
        proof: Proof::Probe(|module, mutant| {
            let waits = mutant.instruction.opcode() == Opcode::Griddepcontrol;
            let reads = |inst: &Inst| {
                let loads = matches!(inst.mnemonic.opcode(), Opcode::Ld | Opcode::CpAsync);
                let copies = matches!(
                    inst.mnemonic.opcode(),
                    Opcode::CpAsyncBulkTensor | Opcode::CpAsyncBulk
                );
                let text = inst.mnemonic.as_str();
                loads && text.contains(".global") || copies && text.contains(".global.tile")
            };
            waits
                .then(|| without_others(module, mutant, reads))
                .flatten()
        }),
    },
    Row {
        reason: "the threads that read D have waited for a stage, and the thread that fills it for the grid before",
        proof: Proof::Probe(|module, mutant| {
            let waits = mutant.instruction.opcode() == Opcode::Griddepcontrol;
            let updates = entry(module).name.contains("gemm_update");
            (waits && updates && mutant.rule == "some warps").then(|| mutant.apply(module))
        }),
    },
    // `Split::release` lets the stages be filled again, and the next sums come behind another barrier of all warps. Where D is stored by
    // elements, nothing else orders the two.
    Row {
        reason: "the barriers of the store of D come between the sums of other CTAs and the end of their use, too",
        proof: Proof::Probe(|module, mutant| {
            let is_last = is_at(
                mutant,
                "parts/split.rs",
                "bar_sync(exchange.one + warpgroup, 128);",
                2,
            );
            let stored = !entry(module).name.contains("BY_ELEMENT");
            let left_out = ["left out", "some warps"].contains(&mutant.rule) && stored;
            let shows = is_last && (left_out || mutant.rule == "later");
            shows.then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "where CTAs divide K, the stages of the next tile are filled behind another wait",
        proof: Proof::Probe(|module, mutant| {
            let is_last = is_at(mutant, "parts/mainloop/consume.rs", "wgmma_wait(0);", 1);
            let divided = parts_of_k(&entry(module).name) > 1;
            (is_last && divided && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "of two CTAs, each warpgroup receives where it alone has read",
        proof: Proof::Probe(|module, mutant| {
            let is_first = is_at(mutant, "parts/split.rs", "bar_sync(exchange.both, 256);", 1);
            let of_two = parts_of_k(&entry(module).name) == 2;
            (is_first && of_two && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "bytes of this CTA are announced before the wait, and sent to others behind it",
        proof: Proof::Probe(|module, mutant| {
            let is_ready = is_at(
                mutant,
                "parts/split.rs",
                "wait(exchange.ready[warpgroup], turn % 2);",
                1,
            );
            (is_ready && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "before keys are loaded again, values are whose place is given back behind their product",
        proof: Proof::Probe(|module, mutant| {
            let is_of_keys = is_at(mutant, "attention.rs", "wgmma_wait(1);", 1);
            (is_of_keys && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "before values of the next tile are loaded, its queries are, whose place is given back behind all products",
        proof: Proof::Probe(|module, mutant| {
            let is_last = is_at(mutant, "attention.rs", "wgmma_wait(0);", 3);
            (is_last && mutant.rule == "later").then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "one thread alone accesses memory before the barrier and up to its new place",
        proof: Proof::Probe(by_one_thread),
    },
    Row {
        reason: "a tile of a row is read twice, and has arrived since the first time",
        proof: Proof::Probe(|module, mutant| {
            let is_wait = is_at(mutant, "row.rs", "cp_async_wait(self.count() - 1);", 1);
            let body = &entry(module).body;
            let of_line = |line: &Line| match (line, &body[mutant.at]) {
                (Line::Inst(inst), Line::Inst(wait)) => {
                    (&inst.mnemonic, &inst.operands) == (&wait.mnemonic, &wait.operands)
                }
                _ => false,
            };
            let is_again = body.iter().rposition(of_line) == Some(mutant.at);
            (is_wait && is_again).then(|| mutant.apply(module))
        }),
    },
    Row {
        reason: "what is computed without the guard is read under the guard only",
        proof: Proof::Rule(is_read_under_the_guard),
    },
    Row {
        reason: "no thread of the launch executes it, or fewer or more threads do",
        proof: Proof::Probe(other_threads),
    },
    Row {
        reason: "what it computes changes no access, no branch and no wait of the launch",
        proof: Proof::Probe(other_effects),
    },
];

/// Whether the instruction that a mutant changes comes from a line of a file of this crate: the `nth` with that text.
fn is_at(mutant: &Mutant, file: &str, text: &str, nth: usize) -> bool {
    let Some((path, line, _)) = &mutant.source else {
        return false;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = std::fs::read_to_string(source).expect("the file is there");
    let lines = source.lines().zip(1u32..);
    let mut lines = lines.filter(|(line, _)| line.trim() == text);
    let found = lines.nth(nth - 1);
    let (_, found) = found.unwrap_or_else(|| panic!("{file} has no such line: {text}"));
    path.ends_with(&format!("src/{file}")) && found == *line
}

/// The instruction that a mutant changes into another one.
fn changed<'a>(module: &'a Module, mutant: &'a Mutant) -> Option<(&'a Inst, &'a Inst)> {
    match (original(module, mutant), mutant.replacement()) {
        (before, Some([Line::Inst(after)])) => Some((before, after)),
        _ => None,
    }
}

/// The instruction that a mutant changes.
fn original<'a>(module: &'a Module, mutant: &Mutant) -> &'a Inst {
    match &entry(module).body[mutant.at] {
        Line::Inst(inst) => inst,
        _ => unreachable!("a mutant changes an instruction"),
    }
}

/// Whether the mutant lacks a `wgmma.fence`, and on each way to it another one lies behind the last access of the registers that
/// wgmma instructions use up to the next fence. Accesses by wgmma instructions of the same shape need no fence.
fn is_fenced_before(module: &Module, mutant: &Mutant) -> bool {
    if mutant.instruction.opcode() != Opcode::WgmmaFence || mutant.replacement() != Some(&[]) {
        return false;
    }
    let flow = Flow::new(&entry(module).body);
    let is_fence = |inst: &Inst| inst.mnemonic.opcode() == Opcode::WgmmaFence;
    let is_product = |inst: &Inst| inst.mnemonic.opcode() == Opcode::WgmmaMmaAsync;
    let (mut used, mut shapes) = (HashSet::new(), HashSet::new());
    flow.after(mutant.at, is_fence, |inst| {
        if is_product(inst) {
            shapes.insert(inst.mnemonic.as_str());
            for operand in &inst.operands {
                if let Operand::Vector(_) = operand {
                    operand.for_each_name(&mut |name| _ = used.insert(name));
                }
            }
        }
    });
    let mut accessed = false;
    let from_start = flow.before(mutant.at, is_fence, |inst| {
        if !(is_product(inst) && shapes.contains(inst.mnemonic.as_str())) {
            inst.for_each_read(&mut |name| accessed |= used.contains(name));
            inst.for_each_written(&mut |name| accessed |= used.contains(name));
        }
    });
    !from_start && !accessed
}

/// The mutant itself, if it initialises an mbarrier behind the fence that announces mbarriers, and the next instruction is a
/// barrier of all threads that orders it.
fn announced_by_a_barrier(module: &Module, mutant: &Mutant) -> Option<Module> {
    let is_late = mutant.rule == "later" && mutant.instruction.opcode() == Opcode::MbarrierInit;
    let mut after = entry(module).body[mutant.at + 1..]
        .iter()
        .filter_map(|line| match line {
            Line::Inst(inst) => Some(inst),
            _ => None,
        });
    let is_announced = is_late
        && after.any(|inst| inst.mnemonic.opcode() == Opcode::FenceMbarrierInit)
        && after
            .next()
            .is_some_and(|next| match next.mnemonic.opcode() {
                Opcode::BarSync => next.operands.len() == 1,
                Opcode::BarrierClusterArrive => !next.mnemonic.as_str().contains("relaxed"),
                _ => false,
            });
    is_announced.then(|| mutant.apply(module))
}

/// The kernel with another number for a named barrier, and traps where a thread comes to another barrier of the new number. If no thread
/// waits forever, all that meet at the barrier come from its line. A number in a register is moved by `step`.
fn meets_alone(module: &Module, mutant: &Mutant, step: i128) -> Option<Module> {
    const FREE: i128 = -8;
    let line = |inst: Inst| Line::Inst(inst);
    let name = |name: &str| Operand::Name(name.to_owned());
    let is_barrier = |inst: &Inst| {
        matches!(
            inst.mnemonic.opcode(),
            Opcode::BarSync | Opcode::BarArrive | Opcode::BarrierSync | Opcode::BarrierArrive
        )
    };
    let before = original(module, mutant);
    if !is_barrier(before) {
        return None;
    }
    // Where other barriers must not be: at the new number, or, if it is in a register, at any new one but that of all threads.
    let (new, compare, limit) = match before.operands[0] {
        Operand::Int(number) => (Some(number ^ 8), "setp.eq.u32", number ^ 8),
        _ if step == FREE => (None, "setp.lt.u32", -FREE),
        _ => (None, "setp.ne.u32", 0),
    };
    let body = &entry(module).body;
    let mut lines = vec![
        Line::Register {
            ty: Type::U32,
            name: "%elsewhere".to_owned(),
        },
        Line::Register {
            ty: Type::Pred,
            name: "%meets".to_owned(),
        },
    ];
    for (at, other) in body.iter().enumerate() {
        let Line::Inst(inst) = other else {
            lines.push(other.clone());
            continue;
        };
        if at == mutant.at {
            let mut moved = inst.clone();
            moved.operands[0] = match new {
                Some(number) => Operand::Int(number),
                None => {
                    let sum = [
                        name("%elsewhere"),
                        inst.operands[0].clone(),
                        Operand::Int(FREE),
                    ];
                    lines.push(line(Inst::new(mnemonic("add.u32"), sum)));
                    name("%elsewhere")
                }
            };
            lines.push(line(moved));
            continue;
        }
        if is_barrier(inst) && inst.operands[0] != Operand::Int(0) {
            let operands = [name("%elsewhere"), inst.operands[0].clone()];
            lines.push(line(Inst::new(mnemonic("mov.u32"), operands)));
            let operands = [name("%meets"), name("%elsewhere"), Operand::Int(limit)];
            lines.push(line(Inst::new(mnemonic(compare), operands)));
            lines.push(trap(Some(Guard {
                predicate: "%meets".to_owned(),
                negated: false,
            })));
        }
        lines.push(other.clone());
    }
    let mut module = module.clone();
    entry_mut(&mut module).body = lines;
    Some(module)
}

/// The mutant, if it weakens an arrival that announces bytes: with traps where the thread has accessed shared memory or written, other than
/// by copies and mbarriers, since the last barrier of all threads.
fn announces_alone(module: &Module, mutant: &Mutant) -> Option<Module> {
    let announces = mutant.instruction.as_str().contains("expect_tx");
    let [Line::Inst(weaker)] = mutant.replacement()? else {
        return None;
    };
    if mutant.rule != "weaker" || !announces {
        return None;
    }
    let name = |name: &str| Operand::Name(name.to_owned());
    let (accessed, trapped) = ("%accessed", "%trapped");
    let set = |value: i128, guard: &Option<Guard>| {
        let operands = [name(accessed), Operand::Int(value)];
        Line::Inst(Inst {
            guard: guard.clone(),
            ..Inst::new(mnemonic("mov.u32"), operands)
        })
    };
    let predicate = |name: &str| Line::Register {
        ty: Type::Pred,
        name: name.to_owned(),
    };
    let mut lines = vec![
        Line::Register {
            ty: Type::U32,
            name: accessed.to_owned(),
        },
        predicate(trapped),
        predicate(OWN),
        set(0, &None),
    ];
    for (at, line) in entry(module).body.iter().enumerate() {
        let Line::Inst(inst) = line else {
            lines.push(line.clone());
            continue;
        };
        if at == mutant.at {
            let compare = [name(trapped), name(accessed), Operand::Int(0)];
            lines.push(Line::Inst(Inst::new(mnemonic("setp.ne.u32"), compare)));
            if let Some(own) = &weaker.guard {
                let own_predicate = name(&own.predicate);
                lines.extend(both(name(trapped), own_predicate, [false, own.negated]));
            }
            lines.push(trap(Some(Guard {
                predicate: trapped.to_owned(),
                negated: false,
            })));
            lines.push(Line::Inst(weaker.clone()));
            continue;
        }
        lines.push(line.clone());
        match inst.mnemonic.opcode() {
            Opcode::BarSync if inst.operands.len() == 1 => lines.push(set(0, &None)),
            Opcode::BarrierClusterWait => lines.push(set(0, &None)),
            Opcode::CpAsyncBulk | Opcode::CpAsyncBulkTensor | Opcode::PrefetchTensormap => {}
            Opcode::Ld if inst.mnemonic.get("space") == Some(Modifier::Global) => {}
            _ if accesses_memory(inst) && !is_synchronisation(inst) => {
                lines.push(set(1, &inst.guard));
            }
            _ => {}
        }
    }
    let mut probe = mutant.apply(module);
    entry_mut(&mut probe).body = lines;
    Some(probe)
}

/// Of a mutant in which a barrier of all threads comes later: traps where any but the first thread accesses shared memory, or signals or waits,
/// from the beginning of the kernel up to the barrier's new place.
fn by_one_thread(module: &Module, mutant: &Mutant) -> Option<Module> {
    let [_, place] = &mutant.edits[..] else {
        return None;
    };
    let before = original(module, mutant);
    let of_all = before.mnemonic.opcode() == Opcode::BarSync && before.operands.len() == 1;
    if mutant.rule != "later" || !of_all {
        return None;
    }
    let name = |name: &str| Operand::Name(name.to_owned());
    let mut lines = vec![
        Line::Register {
            ty: Type::U32,
            name: "%who".to_owned(),
        },
        Line::Register {
            ty: Type::Pred,
            name: "%other".to_owned(),
        },
    ];
    for (at, line) in entry(module).body.iter().enumerate() {
        if let Line::Inst(inst) = line
            && at < place.lines.start
            && at != mutant.at
            && accesses_memory(inst)
        {
            let other = [name("%other"), name("%who"), Operand::Int(0)];
            lines.push(Line::Inst(Inst::new(
                mnemonic("mov.u32"),
                [name("%who"), name("%tid.x")],
            )));
            lines.push(Line::Inst(Inst::new(mnemonic("setp.ne.u32"), other)));
            let guard = Guard {
                predicate: "%other".to_owned(),
                negated: false,
            };
            if let Some(own) = &inst.guard {
                lines.extend(both(
                    name("%other"),
                    name(&own.predicate),
                    [false, own.negated],
                ));
            }
            lines.push(trap(Some(guard)));
        }
        lines.push(line.clone());
    }
    lines.insert(
        0,
        Line::Register {
            ty: Type::Pred,
            name: OWN.to_owned(),
        },
    );
    let mut module = module.clone();
    entry_mut(&mut module).body = lines;
    Some(module)
}

/// Whether the mutant is an instruction without effect that has lost its guard, and whose result is read only in the lines up to
/// the next label or branch, by instructions with this guard.
fn is_read_under_the_guard(module: &Module, mutant: &Mutant) -> bool {
    let Some((before, after)) = changed(module, mutant) else {
        return false;
    };
    let Some(guard) = before.guard.as_ref().filter(|_| after.guard.is_none()) else {
        return false;
    };
    if before.effect() != Effect::None {
        return false;
    }
    let mut written = HashSet::new();
    before.for_each_written(&mut |name| _ = written.insert(name));
    let mut block_ends = false;
    entry(module).body.iter().enumerate().all(|(at, line)| {
        let Line::Inst(inst) = line else {
            block_ends |= at > mutant.at && matches!(line, Line::Label(_));
            return true;
        };
        let (mut reads, mut changes) = (false, false);
        inst.for_each_read(&mut |name| reads |= written.contains(name));
        inst.for_each_written(&mut |name| changes |= name == guard.predicate);
        let is_after = at > mutant.at && !block_ends;
        block_ends |= at > mutant.at && (changes || inst.mnemonic.opcode() == Opcode::Bra);
        !reads || is_after && inst.guard.as_ref() == Some(guard)
    })
}

/// Traps where a thread executes the instruction in the kernel and not in the mutant, or the other way round.
fn other_threads(module: &Module, mutant: &Mutant) -> Option<Module> {
    let before = original(module, mutant);
    // The lines that compute the guard of the mutant, and the threads that only one of both executes.
    let (mut lines, guard) = match (&before.guard, changed(module, mutant)) {
        // Only the guard differs: the threads whose guards do.
        (Some(guard), Some((_, after))) if same_but_guard(before, after) => match after.guard {
            None => (vec![], Some(not(guard))),
            Some(_) => (vec![], None),
        },
        _ if mutant.rule == "another warp" => return None,
        (None, _) if mutant.rule == "some warps" => {
            let (lines, others) = of_others(mutant)?;
            (lines, Some(others))
        }
        (guard, _) => (vec![], guard.clone()),
    };
    lines.push(trap(guard));
    let mut module = module.clone();
    let place = Body::new(&entry(&module).body).whole(mutant.at).start;
    entry_mut(&mut module).body.splice(place..place, lines);
    Some(module)
}

/// Of a mutant in which some warps do not execute an instruction: traps where threads of these warps execute others.
fn without_others(
    module: &Module,
    mutant: &Mutant,
    others: impl Fn(&Inst) -> bool,
) -> Option<Module> {
    if mutant.rule != "some warps" {
        return None;
    }
    let (condition, guard) = of_others(mutant)?;
    let is_declared = |line: &Line| matches!(line, Line::Register { .. });
    let (mut lines, condition): (Vec<Line>, Vec<Line>) =
        condition.into_iter().partition(is_declared);
    lines.push(Line::Register {
        ty: Type::Pred,
        name: OWN.to_owned(),
    });
    for line in &entry(module).body {
        if let Line::Inst(inst) = line
            && others(inst)
        {
            lines.extend(condition.iter().cloned());
            if let Some(own) = &inst.guard {
                // The threads of these warps in which the guard does not hold do not trap.
                let operands =
                    [&guard.predicate, &own.predicate].map(|it| Operand::Name(it.clone()));
                let [d, p] = operands;
                let (own, other) = (own.negated, guard.negated);
                lines.extend(both(d, p, [other, own]));
                lines.push(trap(Some(Guard {
                    negated: false,
                    ..guard.clone()
                })));
            } else {
                lines.push(trap(Some(guard.clone())));
            }
        }
        lines.push(line.clone());
    }
    let mut module = module.clone();
    entry_mut(&mut module).body = lines;
    Some(module)
}

/// A predicate of a probe.
const OWN: &str = "%mutated_own";

/// d = d and p, each of them negated or not.
fn both(d: Operand, p: Operand, [d_negated, p_negated]: [bool; 2]) -> Vec<Line> {
    let mut lines = Vec::new();
    if d_negated {
        let operands = [d.clone(), d.clone()];
        lines.push(Line::Inst(Inst::new(mnemonic("not.pred"), operands)));
    }
    let name = Operand::Name(OWN.to_owned());
    let copy = if p_negated { "not.pred" } else { "mov.pred" };
    lines.push(Line::Inst(Inst::new(mnemonic(copy), [name.clone(), p])));
    let operands = [d.clone(), d, name];
    lines.push(Line::Inst(Inst::new(mnemonic("and.pred"), operands)));
    lines
}

/// Of a mutant in which some warps do not execute an instruction: the lines that compute which, and the guard of these.
fn of_others(mutant: &Mutant) -> Option<(Vec<Line>, Guard)> {
    let [edit] = &mutant.edits[..] else {
        return None;
    };
    let computes = |line: &&Line| match line {
        Line::Inst(inst) => inst.guard.is_none() && inst.effect() == Effect::None,
        line => matches!(line, Line::Register { .. }),
    };
    let lines: Vec<Line> = edit.with.iter().take_while(computes).cloned().collect();
    let Some(Line::Inst(guarded)) = edit.with.get(lines.len()) else {
        return None;
    };
    let guard = guarded.guard.as_ref()?;
    // A branch leads past a wait.
    let others = match guarded.mnemonic.opcode() {
        Opcode::Bra => guard.clone(),
        _ => not(guard),
    };
    Some((lines, others))
}

fn not(guard: &Guard) -> Guard {
    Guard {
        negated: !guard.negated,
        ..guard.clone()
    }
}

fn trap(guard: Option<Guard>) -> Line {
    Line::Inst(Inst {
        guard,
        ..Inst::new(mnemonic("trap"), [])
    })
}

/// Traps where the mutant makes an instruction do anything else than compute registers.
fn other_effects(module: &Module, mutant: &Mutant) -> Option<Module> {
    let (before, after) = changed(module, mutant)?;
    shadowed(module, mutant.at, before, after)
}

fn same_but_guard(a: &Inst, b: &Inst) -> bool {
    a.mnemonic == b.mnemonic && a.operands == b.operands
}
