//! The counts and the trace of a launch while it runs.

use super::state::cluster::Cluster;
use super::state::origin::Origin;
use super::state::warp::{Split, Wait, Warp};
use crate::counts::{Counts, Waits};
use crate::observed::Observed;
use crate::op::{Code, Instruction};
use crate::trace::{Event, Slice, Trace};
use cute_ptx::table::Class;
use std::collections::BTreeMap;

pub(crate) struct Watch {
    pub(crate) counts: Counts,
    /// How often each instruction was executed.
    pub(crate) executed: Vec<u64>,
    waits: BTreeMap<Awaited, Waits>,
    tracing: Option<Tracing>,
}

/// The object that a warp waits for, in any CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    Mbarrier(u32),
    Barrier(usize),
    Cluster,
    Warpgroup,
    Registers,
}

struct Tracing {
    trace: Trace,
    grid: [u32; 3],
    /// The rows with a name, by the number of the CTA.
    named: BTreeMap<u64, Vec<u64>>,
    /// The highest class of the instructions of this turn, and the first instruction of this class.
    turn: Option<(Class, usize)>,
    /// The current phase of each mbarrier and its beginning, by the number of the CTA and the address.
    phases: BTreeMap<(u64, u32), (u64, u64)>,
}

/// The rows of mbarriers come after those of warps.
const FIRST_BARRIER: u64 = 1 << 12;

impl Watch {
    pub(crate) fn new(code: &Code, grid: [u32; 3], trace: Option<Trace>) -> Watch {
        Watch {
            counts: Counts {
                launches: 1,
                ..Counts::default()
            },
            executed: vec![0; code.instructions.len()],
            waits: BTreeMap::new(),
            tracing: trace.map(|trace| Tracing {
                trace,
                grid,
                named: BTreeMap::new(),
                turn: None,
                phases: BTreeMap::new(),
            }),
        }
    }

    /// Called for each instruction that is executed.
    pub(crate) fn step(&mut self, code: &Code, pc: usize) {
        self.counts.steps += 1;
        self.executed[pc] += 1;
        if let Some(tracing) = &mut self.tracing {
            let class = code.instructions[pc].class;
            if tracing.turn.is_none_or(|(highest, _)| highest < class) {
                tracing.turn = Some((class, pc));
            }
        }
    }

    /// Called before a split that may have waited runs on.
    pub(crate) fn resumes(&mut self, code: &Code, cluster: &Cluster, warp: &Warp, split: &Split) {
        let Some(awaited) = split.wait.as_ref().and_then(Awaited::of) else {
            return;
        };
        let now = self.counts.steps;
        self.waits
            .entry(awaited)
            .or_default()
            .add(now - split.since);
        if let Some(tracing) = &mut self.tracing {
            let row = tracing.row(cluster, warp, split);
            let place = place(&code.instructions[split.waits_at()]);
            tracing.trace.add(Slice {
                name: format!("waits: {}", awaited.name(code)),
                cta: row.0,
                event: Event::Wait(row.1),
                start: split.since,
                end: now,
                place,
            });
        }
    }

    /// Called after a turn of a split that began at this step. `split` is its state at the beginning.
    pub(crate) fn turn(
        &mut self,
        code: &Code,
        cluster: &Cluster,
        warp: &Warp,
        split: &Split,
        start: u64,
    ) {
        if let Some(tracing) = &mut self.tracing
            && let Some((class, pc)) = tracing.turn.take()
        {
            let row = tracing.row(cluster, warp, split);
            tracing.trace.add(Slice {
                name: class.to_string(),
                cta: row.0,
                event: Event::Turn(row.1),
                start,
                end: self.counts.steps,
                place: place(&code.instructions[pc]),
            });
        }
    }

    /// Called when asynchronous work is performed.
    pub(crate) fn performed(
        &mut self,
        code: &Code,
        cluster: &Cluster,
        origin: Origin,
        kind: &'static str,
    ) {
        if let Some(tracing) = &mut self.tracing {
            let instruction = &code.instructions[origin.instruction];
            // The text may begin with a guard.
            let mut words = instruction.text.split_whitespace();
            let mnemonic = words.find(|word| !word.starts_with('@')).unwrap_or("");
            tracing.trace.add(Slice {
                name: mnemonic.to_owned(),
                cta: tracing.cta(cluster, origin.rank),
                event: Event::UnderWay(kind),
                start: origin.started.into(),
                end: self.counts.steps,
                place: place(instruction),
            });
        }
    }

    /// Called when the phase of an mbarrier may have become complete.
    pub(crate) fn phase(&mut self, code: &Code, cluster: &Cluster, rank: usize, address: u32) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        let Some(mbarrier) = cluster.ctas[rank].mbarriers.get(&address) else {
            return;
        };
        let (cta, now) = (tracing.cta(cluster, rank), self.counts.steps);
        let current = (u64::from(mbarrier.before) + mbarrier.phase, now);
        let earlier = tracing.phases.entry((cta, address)).or_insert((0, 0));
        if earlier.0 == current.0 {
            return;
        }
        let (phase, start) = std::mem::replace(earlier, current);
        let row = FIRST_BARRIER + u64::from(address);
        tracing.name(cta, row, || Awaited::Mbarrier(address).name(code));
        tracing.trace.add(Slice {
            name: format!("phase {phase}"),
            cta,
            event: Event::Phase(row),
            start,
            end: now,
            place: String::new(),
        });
    }

    /// Called when the launch has ended, also by an error.
    pub(crate) fn end(self, code: &Code, observed: &mut Observed) {
        let mut counts = self.counts;
        for (instruction, count) in code.instructions.iter().zip(&self.executed) {
            counts.instructions.add(instruction.class, *count);
        }
        for (awaited, waits) in self.waits {
            counts.waits.insert(awaited.name(code), waits);
        }
        observed.counts += &counts;
        if let Some(Tracing {
            mut trace, grid, ..
        }) = self.tracing
        {
            let ctas = grid.iter().map(|n| u64::from(*n)).product();
            trace.end(counts.steps, ctas);
            observed.trace = Some(trace);
        }
    }
}

impl Awaited {
    fn of(wait: &Wait) -> Option<Awaited> {
        Some(match wait {
            Wait::Lanes { .. } => return None,
            Wait::Mbarrier { address, .. } => Awaited::Mbarrier(*address),
            Wait::Barrier { id, .. } => Awaited::Barrier(*id),
            Wait::Cluster { .. } => Awaited::Cluster,
            Wait::Warpgroup { .. } => Awaited::Warpgroup,
            Wait::Registers { .. } => Awaited::Registers,
        })
    }

    fn name(self, code: &Code) -> String {
        match self {
            Awaited::Mbarrier(address) => code.mbarrier(address.into()),
            Awaited::Barrier(id) => format!("barrier {id}"),
            Awaited::Cluster => "cluster barrier".to_owned(),
            Awaited::Warpgroup => "wgmma of the warpgroup's other warps".to_owned(),
            Awaited::Registers => "registers for setmaxnreg".to_owned(),
        }
    }
}

impl Tracing {
    /// The number of a CTA in the grid.
    fn cta(&self, cluster: &Cluster, rank: usize) -> u64 {
        let [x, y, z] = cluster.ctas[rank].id.map(u64::from);
        let [width, height, _] = self.grid.map(u64::from);
        x + width * (y + height * z)
    }

    /// The CTA number and the row of a split. A split with all live lanes has the warp's row, any other that of its first lane.
    fn row(&mut self, cluster: &Cluster, warp: &Warp, split: &Split) -> (u64, u64) {
        let cta = self.cta(cluster, warp.rank);
        let rows_of_a_warp = 1 + u64::from(u32::BITS);
        let first = u64::from(warp.warp) * rows_of_a_warp;
        if split.mask | !warp.alive == u32::MAX {
            self.name(cta, first, || format!("warp {}", warp.warp));
            return (cta, first);
        }
        let lane = split.mask.trailing_zeros();
        let row = first + 1 + u64::from(lane);
        self.name(cta, row, || format!("warp {}, from lane {lane}", warp.warp));
        (cta, row)
    }

    /// Names a row, and its CTA, unless they have names.
    fn name(&mut self, cta: u64, row: u64, name: impl FnOnce() -> String) {
        let named = self.named.entry(cta).or_default();
        if named.is_empty() {
            let [x, y, _] = self.grid.map(u64::from);
            let id = (cta % x, cta / x % y, cta / x / y);
            self.trace.name(cta, None, format!("CTA {id:?}"));
        }
        if !named.contains(&row) {
            named.push(row);
            self.trace.name(cta, Some(row), name());
        }
    }
}

fn place(instruction: &Instruction) -> String {
    match &instruction.place {
        Some(place) => format!("{place} (line {} of the PTX)", instruction.line),
        None => format!("line {}", instruction.line),
    }
}
