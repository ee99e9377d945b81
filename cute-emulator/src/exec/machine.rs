//! Runs a decoded entry. The clusters of the grid start in order, and several run at a time. The seed decides the order of their
//! warps.

use super::order::{Delay, Order};
use super::passes::later;
use super::random::Random;
use super::state::cluster::{Cluster, Cta, state_bytes};
use super::state::global::{Global, first_cta};
use super::state::origin::Origin;
use super::state::queue::Budget;
use super::state::repetition::Repetition;
use super::state::shared::Shared;
use super::state::warp::{Wait, Warp};
use super::step::{Blame, Result as StepResult, Step};
use super::views::{Launched, launched};
use super::watch::Watch;
use crate::access::streams::Accesses;
use crate::error::{EmulatorError, Endless, Fault, Loop, Site, Stuck};
use crate::launch::Launch;
use crate::memory::GlobalMemory;
use crate::observed::Observed;
use crate::op::{Code, Op};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most instructions of a warp before another may run: one of these, at random.
const BUDGETS: [u32; 4] = [1, 16, 128, 1024];

/// Initialising this many bytes of a cluster's state is charged as one instruction.
const BYTES_PER_STEP: u64 = 1024;
/// Checking whether this many warps can run is charged as one instruction.
const WARPS_PER_STEP: usize = 64;
/// The most loops that an error names.
const MOST_LOOPS: usize = 8;
/// The steps that other warps get to write a byte that was read unwritten.
const LATE_STEPS: u64 = 1 << 18;
/// The indices of `Machine::before`.
const NO_END: usize = 0;
const NO_PROGRESS: usize = 1;
/// After this many instructions without progress, the states of warps are compared.
const SPINNING: u64 = 1 << 17;

/// Runs an entry to its end, as work of a stream. The caller has checked the launch.
pub(crate) fn run(
    code: &Arc<Code>,
    params: &[u8],
    variables: u64,
    memory: &mut GlobalMemory,
    stream: u64,
    launch: &Launch<'_>,
    observed: &mut Observed,
) -> Result<(), EmulatorError> {
    let clusters = launch
        .grid
        .iter()
        .zip(launch.cluster)
        .map(|(grid, cluster)| u64::from(grid / cluster))
        .fold(1, u64::saturating_mul);
    let state = state_bytes(code, launch);
    let room = usize::try_from(launch.limits.state_bytes / state).unwrap_or(usize::MAX);
    let operation = memory.streams.begin(stream, launch.overlaps);
    let mut machine = Machine {
        code,
        params,
        views: launched(&code.arguments, params, launch),
        variables,
        memory,
        global: Global::new(
            launch.checks.global,
            launch.grid,
            launch.cluster,
            launch.limits.recorded_bytes,
            operation,
        ),
        launch,
        random: Random(launch.schedule.seed),
        order: Order::new(launch.schedule.policy),
        watch: Watch::new(code, launch.grid, observed.trace.take()),
        pending: Budget::new(launch.limits.pending_bytes),
        start: state / BYTES_PER_STEP,
        residents: launch.schedule.resident_clusters.min(room).max(1),
        running: Vec::new(),
        free: Vec::new(),
        next: 0,
        clusters,
        stalled: false,
        progressed: 0,
        ended_at: 0,
        reached: 0,
        before: [None, None],
        rounds: BTreeMap::new(),
        unwritten: None,
    };
    let ended = machine.run();
    let result = machine.report(ended);
    machine.watch.end(code, observed);
    let Global {
        touched,
        waits,
        operation,
        ..
    } = machine.global;
    let accesses = Accesses::Grid {
        code: code.clone(),
        touched,
        waits,
    };
    let limit = launch.limits.recorded_bytes;
    memory.streams.end(&operation, accesses, limit);
    result
}

struct Machine<'a> {
    code: &'a Code,
    params: &'a [u8],
    /// The tensors in global memory that the module describes.
    views: Vec<Box<[Launched]>>,
    /// The address of the module's variables.
    variables: u64,
    memory: &'a mut GlobalMemory,
    global: Global,
    launch: &'a Launch<'a>,
    random: Random,
    order: Order,
    watch: Watch,
    pending: Budget,
    /// The steps charged for starting a cluster, in addition to one instruction.
    start: u64,
    /// How many clusters run at a time.
    residents: usize,
    running: Vec<Cluster>,
    /// The cleared shared memories of CTAs that have ended.
    free: Vec<Shared>,
    /// The number of clusters that have started.
    next: u64,
    /// The number of clusters of the grid.
    clusters: u64,
    /// Whether each warp that waits for an mbarrier has run on since the last instruction with progress.
    stalled: bool,
    /// The [steps](Machine::used) at the last instruction with progress.
    progressed: u64,
    /// The steps when a cluster last ended, or when global memory was last accessed for the first time.
    ended_at: u64,
    /// How many units of global memory had been accessed at that time.
    reached: u64,
    /// How often each instruction had been executed when the machine noticed that no cluster ends, and that nothing makes progress.
    before: [Option<Box<[u64]>>; 2],
    /// The states of warps since the machine noticed this, by the index of the cluster and of the warp.
    rounds: BTreeMap<(usize, usize), Repetition>,
    unwritten: Option<Unwritten>,
}

/// A read of a byte that was never written. Its warp stops, and the other warps run on for a while: if one of them writes the byte,
/// the fault is a race.
struct Unwritten {
    fault: Box<Fault>,
    /// The number of the cluster, the index of the warp in it, and the index of the instruction.
    cluster: u64,
    warp: usize,
    pc: usize,
    /// The steps at which the machine stops waiting for a write.
    until: u64,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<(), EmulatorError> {
        loop {
            while self.running.len() < self.residents && self.next < self.clusters {
                let first = first_cta(self.launch.grid, self.launch.cluster, self.next);
                let mut cluster = Cluster::new(
                    self.code,
                    self.launch,
                    self.variables,
                    self.next,
                    first,
                    &mut self.free,
                )?;
                self.global.begin(self.next);
                self.order.begin(&mut cluster, &mut self.random);
                self.running.push(cluster);
                self.next += 1;
                self.watch.counts.charged += 1 + self.start;
            }
            if self.running.is_empty() {
                return Ok(());
            }
            let limit = self.launch.limits.most_steps();
            if self.used() > limit {
                return Err(EmulatorError::StepLimit {
                    entry: self.code.name.clone(),
                    limit,
                    threads: self.stuck(),
                    schedule: self.launch.schedule,
                });
            }
            self.check_length()?;
            let warps: usize = self.running.iter().map(|cluster| cluster.warps.len()).sum();
            self.watch.counts.charged += (warps / WARPS_PER_STEP) as u64;
            let runnable = self.runnable();
            if runnable.is_empty() {
                self.unblock()?;
            } else {
                let (cluster, warp) = self.order.choose(&runnable, &mut self.random);
                self.slice(cluster, warp)?;
                let until = self.unwritten.as_ref().map(|unwritten| unwritten.until);
                if let Some(until) = until
                    && (self.is_written_late()? || self.used() > until)
                {
                    return Ok(());
                }
                if self.idle() > SPINNING {
                    self.check_end(&runnable, (cluster, warp))?;
                }
            }
            if self.order.delay() == Delay::Random
                && !self.running.is_empty()
                && self.random.one_in(2)
            {
                let cluster = self.random.below(self.running.len());
                self.advance_early(cluster)?;
            }
        }
    }

    /// The warps with a split that can run: each with its priority, the index of its cluster and its index in the cluster.
    fn runnable(&self) -> Vec<(u64, (usize, usize))> {
        let mut runnable = Vec::new();
        for (c, cluster) in self.running.iter().enumerate() {
            for (w, warp) in cluster.warps.iter().enumerate() {
                if warp.splits.iter().any(|split| cluster.ready(warp, split)) {
                    runnable.push((warp.priority, (c, w)));
                }
            }
        }
        runnable
    }

    /// Runs a split of a warp for a while. In seven of eight cases it is the split in the most calls and at the earliest instruction, so
    /// that it reaches the others and they reconverge. Otherwise it is a random one.
    fn slice(&mut self, c: usize, w: usize) -> Result<(), EmulatorError> {
        let cluster = &mut self.running[c];
        let mut warp = std::mem::take(&mut cluster.warps[w]);
        let ready: Vec<usize> = (0..warp.splits.len())
            .filter(|i| cluster.ready(&warp, &warp.splits[*i]))
            .collect();
        let behind = ready
            .iter()
            .copied()
            .min_by_key(|i| warp.splits[*i].order());
        let any = ready[self.random.below(ready.len())];
        let chosen = if self.random.one_in(8) {
            any
        } else {
            behind.unwrap_or(any)
        };
        let split = warp.splits.swap_remove(chosen);
        self.watch.resumes(self.code, cluster, &warp, &split);
        let (before, start) = (split.clone(), self.watch.counts.steps);
        let budget = BUDGETS[self.random.below(BUDGETS.len())];
        let mut pc = 0;
        let result = self.step(c, &mut warp, |step| {
            let result = step.run(split, budget);
            pc = step.pc;
            result
        });
        (self.watch).turn(self.code, &self.running[c], &warp, &before, start);
        self.order.after_turn(&mut warp, &mut self.random);
        self.running[c].warps[w] = warp;
        if let Err(error) = result {
            self.stop_at_unwritten(error, c, w, pc)?;
        }
        if self.running[c].ended() {
            self.end(c)?;
        }
        Ok(())
    }

    /// The result of the launch. A read of an unwritten byte is reported first: as a race, if another warp was about to write it.
    fn report(&mut self, ended: Result<(), EmulatorError>) -> Result<(), EmulatorError> {
        self.is_written_late()?;
        let Some(Unwritten { fault, .. }) = self.unwritten.take() else {
            return ended;
        };
        match ended {
            Err(EmulatorError::Fault(write)) if write.kind.may_race_with(&fault.kind) => {
                Err(EmulatorError::Fault(write))
            }
            _ => Err(EmulatorError::Fault(fault)),
        }
    }

    /// Stops a warp that has read an unwritten byte. The first such read is reported. Any other error ends the launch.
    fn stop_at_unwritten(
        &mut self,
        error: EmulatorError,
        c: usize,
        w: usize,
        pc: usize,
    ) -> Result<(), EmulatorError> {
        let fault = match error {
            EmulatorError::Fault(fault) if fault.kind.is_unwritten() => fault,
            error => return Err(error),
        };
        let until = self.used() + LATE_STEPS;
        let cluster = &mut self.running[c];
        cluster.warps[w].splits.clear();
        self.unwritten.get_or_insert(Unwritten {
            fault,
            cluster: cluster.number,
            warp: w,
            pc,
            until,
        });
        Ok(())
    }

    /// Whether the byte of the recorded read has been written since. If so, the fault becomes a race.
    fn is_written_late(&mut self) -> Result<bool, EmulatorError> {
        let Some(mut unwritten) = self.unwritten.take() else {
            return Ok(false);
        };
        let mut found = None;
        let running = |cluster: &Cluster| cluster.number == unwritten.cluster;
        if let Some(c) = self.running.iter().position(running) {
            let mut warp = std::mem::take(&mut self.running[c].warps[unwritten.warp]);
            let result = self.step(c, &mut warp, |step| {
                step.pc = unwritten.pc;
                let lane = unwritten.fault.site.lane.unwrap_or(0);
                found = step.written_since(&unwritten.fault.kind, lane as usize);
                Ok(())
            });
            self.running[c].warps[unwritten.warp] = warp;
            result?;
        }
        let late = found.is_some();
        if let Some(kind) = found {
            unwritten.fault.kind = kind;
        }
        self.unwritten = Some(unwritten);
        Ok(late)
    }

    /// Calls `f` with a [`Step`] for a warp of a cluster. `warp` is [`Warp::nobody`] for work of no warp.
    fn step(
        &mut self,
        c: usize,
        warp: &mut Warp,
        f: impl FnOnce(&mut Step<'_>) -> StepResult<()>,
    ) -> Result<(), EmulatorError> {
        let mut step = Step {
            code: self.code,
            params: self.params,
            views: &self.views,
            cluster: &mut self.running[c],
            warp,
            memory: self.memory,
            global: &mut self.global,
            random: &mut self.random,
            delay: self.order.delay(),
            watch: &mut self.watch,
            limits: &self.launch.limits,
            checks: self.launch.checks,
            pending: &mut self.pending,
            pc: 0,
            progress: false,
        };
        let result = f(&mut step);
        let (pc, progress) = (step.pc, step.progress);
        if progress {
            self.stalled = false;
            self.progressed = self.used();
            self.rounds.clear();
            self.before[NO_PROGRESS] = None;
        }
        result.map_err(|blame| self.fault(c, warp, pc, blame))
    }

    /// Called when no warp can run. A copy under way completes, if there is one. Without one, every warp that waits for an mbarrier runs
    /// on once, since the kernel may then do something else. If that changes nothing, it is a deadlock.
    fn unblock(&mut self) -> Result<(), EmulatorError> {
        let waiting: Vec<usize> = (0..self.running.len())
            .filter(|c| self.running[*c].copies_under_way() > 0)
            .collect();
        if !waiting.is_empty() {
            let c = waiting[self.random.below(waiting.len())];
            return self.land(c);
        }
        let mut given_up = false;
        if !self.stalled {
            for split in self
                .running
                .iter_mut()
                .flat_map(|cluster| &mut cluster.warps)
                .flat_map(|warp| &mut warp.splits)
            {
                split.given_up = matches!(split.wait, Some(Wait::Mbarrier { .. }));
                given_up |= split.given_up;
            }
            self.stalled = true;
        }
        if given_up {
            return Ok(());
        }
        Err(EmulatorError::Deadlock {
            entry: self.code.name.clone(),
            threads: self.stuck(),
            schedule: self.launch.schedule,
            steps: self.watch.counts.steps,
        })
    }

    /// The steps: executed instructions, and the steps charged in addition.
    fn used(&self) -> u64 {
        self.watch.counts.steps + self.watch.counts.charged
    }

    /// The steps since the last instruction with progress.
    fn idle(&self) -> u64 {
        self.used() - self.progressed
    }

    /// An error if no cluster has ended for too many steps.
    fn check_length(&mut self) -> Result<(), EmulatorError> {
        if self.reached != self.global.reached {
            self.reached = self.global.reached;
            self.ended_at = self.used();
            self.before[NO_END] = None;
        }
        let (steps, limit) = (
            self.used() - self.ended_at,
            self.launch.limits.cluster_steps,
        );
        if steps > limit {
            return Err(self.endless(Endless::Long { steps, limit }, NO_END));
        }
        if steps > limit / 2 && self.before[NO_END].is_none() {
            self.before[NO_END] = Some(self.watch.executed.clone().into());
        }
        Ok(())
    }

    fn endless(&self, why: Endless, noticed: usize) -> EmulatorError {
        EmulatorError::EndlessLoop {
            entry: self.code.name.clone(),
            why: why.into(),
            loops: self.loops(noticed),
            threads: self.stuck(),
            schedule: self.launch.schedule,
            steps: self.watch.counts.steps,
        }
    }

    /// The loops of the splits: for each split, the outermost loop that has run on since `noticed`.
    fn loops(&self, noticed: usize) -> Box<[Loop]> {
        let before = self.before[noticed].as_deref().unwrap_or_default();
        let times = |pc: usize| self.watch.executed[pc] - before.get(pc).copied().unwrap_or(0);
        let branches = self.code.instructions.iter().enumerate();
        let mut around: Vec<(usize, usize)> = branches
            .filter_map(|(pc, instruction)| match instruction.op {
                Op::Branch { target } if target <= pc && times(pc) > 0 => Some((target, pc)),
                _ => None,
            })
            .collect();
        around.sort_by_key(|(first, branch)| (*first, Reverse(*branch)));
        let mut found: Vec<(usize, usize)> = Vec::new();
        let warps = self.running.iter().flat_map(|cluster| &cluster.warps);
        for split in warps.flat_map(|warp| &warp.splits) {
            // The locations of the split, from the innermost call to the entry.
            let mut places = vec![split.waits_at()];
            let mut call = split.call.as_ref();
            while let Some(frame) = call {
                places.push(frame.at);
                call = frame.caller.as_ref();
            }
            let is_around = |at: &usize| {
                let mut around = around.iter();
                around.find(|(first, branch)| first <= at && at <= branch)
            };
            if let Some(outermost) = places.iter().rev().find_map(is_around)
                && !found.contains(outermost)
            {
                found.push(*outermost);
            }
        }
        let found = found.into_iter().take(MOST_LOOPS);
        let found = found.map(|(first, branch)| Loop {
            first: self.code.other(first),
            branch: self.code.other(branch),
            times: times(branch),
        });
        found.collect()
    }

    /// Called after a turn of a warp when no instruction has made progress for a while. It is an error if each warp that can run has
    /// repeated a state, or if there was no progress for too many steps.
    fn check_end(
        &mut self,
        runnable: &[(u64, (usize, usize))],
        turn: (usize, usize),
    ) -> Result<(), EmulatorError> {
        let state = self.running[turn.0].warps[turn.1].fingerprint();
        self.rounds.entry(turn).or_default().add(state);
        let repeats = |warp: &(usize, usize)| self.rounds.get(warp).is_some_and(Repetition::found);
        let executed = &self.watch.executed;
        self.before[NO_PROGRESS].get_or_insert_with(|| executed.clone().into());
        let (idle, limit) = (self.idle(), self.launch.limits.idle_steps);
        let why = match runnable.iter().all(|(_, warp)| repeats(warp)) {
            true => Endless::Repeats { idle },
            false if idle > limit => Endless::Idle { idle, limit },
            false => return Ok(()),
        };
        // The warps may wait for asynchronous work, which completes at some time.
        for c in 0..self.running.len() {
            if self.running[c].copies_under_way() > 0 {
                return self.land(c);
            }
            let under_way = |cta: &Cta| cta.stores.len() > 0;
            if let Some(rank) = self.running[c].ctas.iter().position(under_way) {
                self.progressed = self.used();
                self.rounds.clear();
                return self.step(c, &mut Warp::nobody(), |step| step.store_some(rank, true));
            }
        }
        Err(self.endless(why, NO_PROGRESS))
    }

    /// Completes a random copy of a cluster into shared memory.
    fn land(&mut self, c: usize) -> Result<(), EmulatorError> {
        self.step(c, &mut Warp::nobody(), |step| step.land_some())
    }

    /// Performs random asynchronous work of a cluster before a thread waits for it.
    fn advance_early(&mut self, c: usize) -> Result<(), EmulatorError> {
        let cluster = &self.running[c];
        let rank = self.random.below(cluster.ctas.len());
        let (copies, stores) = (cluster.copies_under_way(), cluster.ctas[rank].stores.len());
        match self.random.below(4) {
            0 if copies > 0 => self.land(c),
            1 | 2 if stores > 0 => {
                let write = self.random.one_in(2);
                self.step(c, &mut Warp::nobody(), |step| step.store_some(rank, write))
            }
            3 => {
                let w = self.random.below(self.running[c].warps.len());
                let mut warp = std::mem::take(&mut self.running[c].warps[w]);
                let result = self.step(c, &mut warp, |step| step.wgmma_advance().map(drop));
                self.running[c].warps[w] = warp;
                result
            }
            _ => Ok(()),
        }
    }

    /// Removes a cluster that has ended, after its asynchronous work is complete.
    fn end(&mut self, c: usize) -> Result<(), EmulatorError> {
        self.step(c, &mut Warp::nobody(), |step| {
            step.complete_copies()?;
            step.forget_unwaited();
            Ok(())
        })?;
        self.ended_at = self.used();
        self.before[NO_END] = None;
        let ended = self.running.swap_remove(c);
        self.global.end(ended.number);
        let grown = ended.warps.iter().map(|warp| warp.grown).sum();
        self.pending.give(grown);
        for mut cta in ended.ctas {
            cta.shared.clear();
            self.free.push(cta.shared);
        }
        Ok(())
    }

    fn site(&self, cluster: &Cluster, origin: Origin, lane: Option<usize>) -> Site {
        let instruction =
            &self.code.instructions[origin.instruction.min(self.code.instructions.len() - 1)];
        Site {
            entry: self.code.name.clone(),
            line: instruction.line,
            place: instruction.place.clone(),
            text: instruction.text.clone(),
            cta: cluster.ctas[origin.rank].id,
            warp: origin.warp,
            lane: lane.map(|lane| lane as u32),
        }
    }

    fn fault(&self, c: usize, warp: &Warp, pc: usize, blame: Blame) -> EmulatorError {
        let here = Origin {
            instruction: pc,
            rank: warp.rank,
            warp: warp.warp,
            lane: 0,
            started: 0,
        };
        let site = self.site(&self.running[c], blame.origin.unwrap_or(here), blame.lane);
        // The origin is that of asynchronous work, which no barrier holds back.
        let later = match blame.origin {
            None => later(self.code, &blame.kind, pc, &site, warp.rank),
            Some(_) => None,
        };
        EmulatorError::Fault(Box::new(Fault {
            site,
            later,
            elements: (blame.kind.shared_address())
                .map(|address| self.code.elements(address))
                .unwrap_or_default(),
            kind: blame.kind,
            schedule: self.launch.schedule,
            steps: self.watch.counts.steps,
        }))
    }

    /// Every split of every running warp, with its instruction and the reason why it waits.
    fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for cluster in &self.running {
            for warp in &cluster.warps {
                for split in &warp.splits {
                    let origin = Origin {
                        instruction: split.waits_at(),
                        rank: warp.rank,
                        warp: warp.warp,
                        lane: 0,
                        started: 0,
                    };
                    stuck.push(Stuck {
                        site: self.site(cluster, origin, None),
                        lanes: split.mask,
                        waits_for: cluster.waits_for(self.code, warp, split),
                    });
                }
            }
        }
        stuck
    }
}
