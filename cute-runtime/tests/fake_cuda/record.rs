//! The record of a process's calls to the fake driver, and the rules that these calls must keep.

use std::collections::{BTreeMap, BTreeSet};

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
    ("cuMemAlloc_v2", "cuMemFree_v2"),
    ("cuEventCreate", "cuEventDestroy_v2"),
    ("cuLibraryLoadData", "cuLibraryUnload"),
    ("cuMemHostAlloc", "cuMemFreeHost"),
    ("cuStreamCreate", "cuStreamDestroy_v2"),
    ("cuStreamEndCapture", "cuGraphDestroy"),
    ("cuGraphInstantiateWithFlags", "cuGraphExecDestroy"),
];

/// Functions that may return while the device still works.
const ASYNCHRONOUS: [&str; 5] = [
    "cuLaunchKernelEx",
    "cuGraphLaunch",
    "cuMemsetD8_v2",
    "cuMemcpyHtoD_v2",
    "cuEventRecord",
];

/// Functions that wait for the device, or may do so.
const WAITS: [&str; 4] = [
    "cuCtxSynchronize",
    "cuMemcpyDtoH_v2",
    "cuMemFree_v2",
    "cuMemFreeHost",
];

impl Record {
    /// The line that ends a step.
    pub(crate) const END_OF_STEP: &str = "end of step";

    /// Reads a record. Panics if the calls break a rule:
    ///
    /// - a thread pops its contexts in the reverse order of its pushes, all of them by the end of each step;
    /// - a resource is used in the context in which it was made, before it is freed, and is freed once;
    /// - no thread waits, copies from the device or frees its memory while a stream is captured;
    /// - memory is freed only when no work that its thread started may still be running, on any stream. Memory of the host is
    ///   used by the kernels that have its address alone, so that a copy from their stream is wait enough.
    pub(crate) fn new(text: &str) -> Self {
        let mut calls = Vec::new();
        let mut stacks: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut alive: BTreeMap<u64, Alive> = BTreeMap::new();
        // Contexts that stay current because their pop failed.
        let mut kept = 0;
        // Threads whose work may still be running on the device. In these tests, the thread that uses memory also frees it.
        let mut busy = BTreeSet::new();
        // What kernels that may still be running have the addresses of.
        let mut running = BTreeSet::new();
        let mut captured = BTreeSet::new();
        for line in text.lines() {
            if line == Record::END_OF_STEP {
                let entered: usize = stacks.values().map(Vec::len).sum();
                assert_eq!(entered, kept, "contexts at the end of a step:\n{text}");
                continue;
            }
            let call = Call::parse(line);
            let stack = stacks.entry(call.thread.clone()).or_default();
            let (function, handle) = (call.function.as_str(), call.handle);
            assert!(
                captured.is_empty() || !WAITS.contains(&function),
                "{line} while a stream is captured:\n{text}"
            );
            match function {
                "cuStreamBeginCapture_v2" if call.result == 0 => _ = captured.insert(handle),
                "cuStreamEndCapture" => _ = captured.remove(&hexadecimal(&call.details)),
                _ => {}
            }
            let made = LIFETIMES.iter().position(|&(make, _)| make == function);
            let ended = LIFETIMES.iter().position(|&(_, end)| end == function);
            if call.result != 0 {
                kept += usize::from(function == "cuCtxPopCurrent_v2");
            } else if function == "cuCtxPushCurrent_v2" {
                stack.push(handle);
            } else if function == "cuCtxPopCurrent_v2" {
                assert_eq!(stack.pop(), Some(handle), "{line}");
            } else if function == "cuCtxSynchronize" {
                busy.clear();
                running.clear();
            } else if let Some(kind) = made {
                let bytes = match kind {
                    0 => call.details.parse().unwrap(),
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
            } else if handle != 0 {
                let (&base, found) = alive.range(..=handle).next_back().expect(line);
                assert_eq!(found.context, call.context, "{line}");
                assert!(handle - base < found.bytes, "{line}\nin\n{text}");
                if let Some(kind) = ended {
                    let used = match kind {
                        0 => busy.contains(&call.thread),
                        3 => running.contains(&handle),
                        _ => false,
                    };
                    assert!(!used, "freed while the device is busy:\n{text}");
                    assert_eq!((base, found.kind), (handle, kind), "{line}");
                    alive.remove(&handle);
                }
            }
            if ASYNCHRONOUS.contains(&function) && call.result == 0 {
                busy.insert(call.thread.clone());
            }
            if function == "cuLaunchKernelEx" && call.result == 0 {
                let passed = |handle: &&u64| {
                    let bytes = format!("{:016x}", handle.swap_bytes());
                    call.details.contains(&bytes)
                };
                running.extend(alive.keys().filter(passed).copied());
            }
            if function == "cuMemcpyDtoH_v2" && call.result == 0 {
                running.clear();
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

    /// Whether the `n`-th call of a function, from 1, is made in a drop: between the push of the context and its pop, a resource is
    /// freed, and nothing else is done but to wait.
    pub(crate) fn is_in_a_destructor(&self, function: &str, n: usize) -> bool {
        let places = self.calls.iter().enumerate();
        let mut calls = places.filter(|(_, call)| call.function == function);
        let Some((place, _)) = calls.nth(n - 1) else {
            return false;
        };
        let is_push = |call: &&Call| call.function == "cuCtxPushCurrent_v2";
        let push = self.calls[..=place].iter().rposition(|call| is_push(&call));
        let mut rest = self.calls[push.map_or(0, |push| push + 1)..]
            .iter()
            .take_while(|call| !is_push(call) && call.function != "cuCtxPopCurrent_v2");
        let next = rest.find(|call| call.function != "cuCtxSynchronize");
        next.is_some_and(|call| LIFETIMES.iter().any(|&(_, end)| end == call.function))
    }
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

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}
