//! The record of a process's calls to the fake driver, and the rules that these calls must keep.

use std::collections::BTreeMap;

/// The driver's calls in order.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) calls: Vec<Call>,
    pub(crate) left: Left,
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) thread: String,
    /// The thread's current context after the call.
    pub(crate) context: u64,
    pub(crate) function: String,
    pub(crate) result: u32,
    /// The context, memory, module, event, stream or graph that the call is about.
    pub(crate) handle: u64,
    pub(crate) details: String,
}

/// A resource that was made and not yet freed.
struct Alive {
    kind: usize,
    context: u64,
    /// Its size: calls may name any address within it.
    bytes: u64,
}

/// The numbers of resources that a process has not freed at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) memory: usize,
    pub(crate) events: usize,
    pub(crate) modules: usize,
    /// Memory of the host to which the device writes.
    pub(crate) pinned: usize,
    pub(crate) streams: usize,
    /// Graphs as they were captured, and those that can be launched.
    pub(crate) graphs: usize,
    /// Contexts that were pushed and not popped.
    pub(crate) contexts: usize,
}

impl Left {
    /// How many resources these are.
    pub(crate) fn all(&self) -> usize {
        let once = self.memory + self.events + self.modules + self.pinned;
        once + self.streams + self.graphs + self.contexts
    }
}

/// The kinds of resources, each with the function that makes it and the one that frees it.
const LIFETIMES: [(&str, &str); 7] = [
    ("cuMemAllocFromPoolAsync", "cuMemFreeAsync"),
    ("cuEventCreate", "cuEventDestroy_v2"),
    ("cuLibraryLoadData", "cuLibraryUnload"),
    ("cuMemHostAlloc", "cuMemFreeHost"),
    ("cuStreamCreateWithPriority", "cuStreamDestroy_v2"),
    ("cuStreamEndCapture", "cuGraphDestroy"),
    ("cuGraphInstantiateWithFlags", "cuGraphExecDestroy"),
];

impl Record {
    /// The line that ends a step.
    pub(crate) const END_OF_STEP: &str = "end of step";

    /// Reads a record. Panics if the calls break a rule:
    ///
    /// - a thread pops its contexts in the reverse order of its pushes, all of them by the end of each step;
    /// - a resource is used in the context in which it was made, before it is freed, and is freed once;
    /// - work on memory comes after its allocation, copies and clears, and these and its freeing come after all work on it: by the order
    ///   of one stream, by events, or because the host has waited. Memory of the host that kernels write is freed after the host has waited.
    pub(crate) fn new(text: &str) -> Self {
        let mut calls = Vec::new();
        let mut stacks: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut alive: BTreeMap<u64, Alive> = BTreeMap::new();
        // Contexts that stay current because their pop failed.
        let mut kept = 0;
        let mut order = Order::default();
        for line in text.lines() {
            if line == Record::END_OF_STEP {
                let entered: usize = stacks.values().map(Vec::len).sum();
                assert_eq!(entered, kept, "contexts at the end of a step:\n{text}");
                continue;
            }
            let call = Call::parse(line);
            let stack = stacks.entry(call.thread.clone()).or_default();
            let (function, handle) = (call.function.as_str(), call.handle);
            let made = LIFETIMES.iter().position(|&(make, _)| make == function);
            let ended = LIFETIMES.iter().position(|&(_, end)| end == function);
            if call.result == 0 {
                let passed = |handle: &&u64| {
                    let bytes = format!("{:016x}", handle.swap_bytes());
                    function == "cuLaunchKernelEx" && call.details.contains(&bytes)
                };
                let passed: Vec<u64> = alive.keys().filter(passed).copied().collect();
                let base = alive
                    .range(..=handle)
                    .next_back()
                    .map_or(0, |(base, _)| *base);
                assert!(order.keeps(&call, base, &passed), "{line}\nin\n{text}");
            }
            if call.result != 0 {
                kept += usize::from(function == "cuCtxPopCurrent_v2");
            } else if function == "cuCtxPushCurrent_v2" {
                stack.push(handle);
            } else if function == "cuCtxPopCurrent_v2" {
                assert_eq!(stack.pop(), Some(handle), "{line}");
            } else if let Some(kind) = made {
                let bytes = match kind {
                    0 => call.decimal(0),
                    _ => 1,
                };
                let context = call.context;
                alive.insert(
                    handle,
                    Alive {
                        kind,
                        context,
                        bytes,
                    },
                );
            } else if handle > 2 || (handle != 0 && !function.starts_with("cuStream")) {
                let (&base, found) = alive.range(..=handle).next_back().expect(line);
                assert_eq!(found.context, call.context, "{line}");
                assert!(handle - base < found.bytes, "{line}\nin\n{text}");
                if let Some(kind) = ended {
                    assert_eq!((base, found.kind), (handle, kind), "{line}");
                    alive.remove(&handle);
                }
            }
            calls.push(call);
        }
        let count = |kind| alive.values().filter(|of| of.kind == kind).count();
        let left = Left {
            memory: count(0),
            events: count(1),
            modules: count(2),
            pinned: count(3),
            streams: count(4),
            graphs: count(5) + count(6),
            contexts: stacks.values().map(Vec::len).sum(),
        };
        Record { calls, left }
    }

    /// How often a function was called.
    pub(crate) fn count(&self, function: &str) -> usize {
        self.of(function).count()
    }

    /// The calls of a function.
    pub(crate) fn of(&self, function: &str) -> impl Iterator<Item = &Call> {
        self.calls
            .iter()
            .filter(move |call| call.function == function)
    }
}

/// What has ended at a moment: how many pieces of work of each stream.
type Clock = BTreeMap<u64, usize>;

/// The order of the work on all streams.
#[derive(Default)]
struct Order {
    /// How many pieces of work each stream has, and what ends before its next one.
    streams: BTreeMap<u64, (usize, Clock)>,
    events: BTreeMap<u64, Clock>,
    /// What the host has waited for.
    host: Clock,
    /// The work on each memory: its stream, its number there, and whether it is a launch.
    uses: BTreeMap<u64, Vec<(u64, usize, bool)>>,
    /// The memory that launches on a captured stream, in a graph, and in an executable graph use.
    captured: BTreeMap<u64, Vec<u64>>,
}

impl Order {
    /// Adds a call about the memory at `base`, or a launch to which the addresses are passed. False if it is not in order.
    fn keeps(&mut self, call: &Call, base: u64, passed: &[u64]) -> bool {
        let handle = call.handle;
        match &*call.function {
            "cuMemAllocFromPoolAsync" => {
                self.uses.remove(&handle);
                self.work(call.hexadecimal(1), &[handle], false)
            }
            "cuMemsetD8Async" | "cuMemcpyHtoDAsync_v2" | "cuMemcpyDtoHAsync_v2" => {
                self.work(call.hexadecimal(1), &[base], false)
            }
            "cuMemFreeAsync" => self.work(call.hexadecimal(0), &[base], false),
            "cuLaunchKernelEx" => {
                let stream = call.hexadecimal(0);
                if let Some(captured) = self.captured.get_mut(&stream) {
                    captured.extend(passed);
                    return true;
                }
                self.work(stream, passed, true)
            }
            "cuGraphLaunch" => {
                let passed = self.captured[&handle].clone();
                self.work(call.hexadecimal(0), &passed, true)
            }
            "cuStreamBeginCapture_v2" => {
                self.captured.insert(handle, Vec::new());
                true
            }
            "cuStreamIsCapturing" => {
                if call.decimal(0) != 0 {
                    self.captured.entry(handle).or_default();
                }
                true
            }
            "cuGraphDestroy" | "cuGraphExecDestroy" => self.captured.remove(&handle).is_some(),
            "cuStreamEndCapture" => {
                let captured = self.captured.remove(&call.hexadecimal(0));
                self.captured.insert(handle, captured.expect("a capture"));
                true
            }
            "cuGraphInstantiateWithFlags" => {
                let captured = self.captured[&call.hexadecimal(0)].clone();
                self.captured.insert(handle, captured);
                true
            }
            "cuEventRecord" => {
                let point = self.end_of(call.hexadecimal(0));
                self.events.insert(handle, point);
                true
            }
            "cuStreamWaitEvent" => {
                let point = self.events.get(&handle).cloned().unwrap_or_default();
                join(
                    &mut self.streams.entry(call.hexadecimal(0)).or_default().1,
                    &point,
                );
                true
            }
            "cuEventQuery" | "cuEventSynchronize" => {
                let point = self.events.get(&handle).cloned().unwrap_or_default();
                join(&mut self.host, &point);
                true
            }
            "cuStreamSynchronize" => {
                let point = self.end_of(handle);
                join(&mut self.host, &point);
                true
            }
            "cuMemFreeHost" => {
                let uses = self.uses.remove(&handle).unwrap_or_default();
                uses.iter()
                    .all(|&(stream, number, _)| has(&self.host, stream, number))
            }
            _ => true,
        }
    }

    /// Adds a piece of work. False if it is not after what it must come after.
    fn work(&mut self, stream: u64, memory: &[u64], is_launch: bool) -> bool {
        let host = self.host.clone();
        let (number, clock) = self.streams.entry(stream).or_default();
        join(clock, &host);
        *number += 1;
        let mut kept = true;
        for address in memory {
            let uses = self.uses.entry(*address).or_default();
            kept &= uses.iter().all(|&(of, number, launched)| {
                of == stream || has(clock, of, number) || (is_launch && launched)
            });
            uses.push((stream, *number, is_launch));
        }
        kept
    }

    /// The moment when all work of the stream has ended.
    fn end_of(&self, stream: u64) -> Clock {
        let (number, mut clock) = self.streams.get(&stream).cloned().unwrap_or_default();
        clock.insert(stream, number);
        clock
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&stream, &number) in other {
        let ended = clock.entry(stream).or_default();
        *ended = number.max(*ended);
    }
}

fn has(clock: &Clock, stream: u64, number: usize) -> bool {
    clock.get(&stream).is_some_and(|&ended| number <= ended)
}

impl Call {
    fn parse(line: &str) -> Self {
        let mut fields = line.splitn(6, ' ');
        let mut field = || fields.next().unwrap_or_default().to_string();
        Call {
            thread: field(),
            context: hexadecimal(&field()),
            function: field(),
            result: field().parse().unwrap(),
            handle: hexadecimal(&field()),
            details: field(),
        }
    }
}

impl Call {
    /// A number of the details.
    fn decimal(&self, place: usize) -> u64 {
        self.word(place).parse().unwrap()
    }

    /// A handle of the details.
    pub(crate) fn hexadecimal(&self, place: usize) -> u64 {
        hexadecimal(self.word(place))
    }

    fn word(&self, place: usize) -> &str {
        self.details.split(' ').nth(place).unwrap()
    }
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}
