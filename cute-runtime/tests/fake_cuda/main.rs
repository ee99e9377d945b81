//! The CUDA backend on a fake driver. Each driver call that can fail fails once; the error must name the call, and nothing may
//! leak.
//!
//! A process loads the driver's library only once, so each run is a child process: the test's own executable, in which the same
//! test calls [`fake::child`] to do the child's part. The tests need a C compiler. Without one they print that they are skipped,
//! and with `CUTE_REQUIRE_CC=1` they fail.
//!
//! The driver's side is tested on a fake driver (`cute-runtime/tests/fake_cuda`) that records calls and fails each of them on demand,
//! since a real GPU does not fail on demand.

#![cfg(target_os = "linux")]

mod allocations;
mod fake;
mod record;
mod session;

use std::collections::{BTreeMap, BTreeSet};

use fake::{Fake, child, functions};
use record::Left;
use session::PARAMETERS;

/// The effect of a failing call.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// An error that begins with this text.
    Error(&'static str),
    /// An error that begins with this text, and no module stays loaded.
    NoModule(&'static str),
    /// No error, since the call is made in a drop. One resource leaks.
    Stays,
}
use Effect::{Error, NoModule, Stays};

/// Every function that is called when no call fails, with the effect of its failure.
const CALLS: &[(&str, Effect)] = &[
    ("cuCtxGetDevice", Error("cuCtxGetDevice")),
    ("cuCtxPopCurrent_v2", Stays),
    ("cuCtxPushCurrent_v2", Error("cuCtxPushCurrent")),
    ("cuDeviceGet", Error("cuDeviceGet")),
    ("cuDeviceGetAttribute", Error("cuDeviceGetAttribute")),
    ("cuDeviceGetCount", Error("cuDeviceGetCount")),
    ("cuDeviceGetName", Error("cuDeviceGetName")),
    (
        "cuDevicePrimaryCtxGetState",
        Error("cuDevicePrimaryCtxGetState"),
    ),
    (
        "cuDevicePrimaryCtxRetain",
        Error("cuDevicePrimaryCtxRetain"),
    ),
    ("cuEventCreate", Error("cuEventCreate")),
    ("cuEventDestroy_v2", Stays),
    ("cuEventElapsedTime_v2", Error("cuEventElapsedTime")),
    ("cuEventQuery", Error("cuEventQuery")),
    ("cuEventRecord", Error("cuEventRecord")),
    ("cuEventSynchronize", Error("cuEventSynchronize")),
    ("cuFuncGetAttribute", NoModule("cuFuncGetAttribute")),
    ("cuFuncGetParamInfo", NoModule("cuFuncGetParamInfo")),
    ("cuFuncSetAttribute", NoModule("cuFuncSetAttribute")),
    ("cuGraphDestroy", Stays),
    ("cuGraphExecDestroy", Stays),
    ("cuGraphInstantiateWithFlags", Error("cuGraphInstantiate")),
    ("cuGraphLaunch", Error("cuGraphLaunch")),
    ("cuInit", Error("cuInit")),
    ("cuLaunchKernelEx", Error("cuLaunchKernelEx")),
    (
        "cuLibraryGetModule",
        NoModule("kernel scale_all does not compile: cuLibraryGetModule"),
    ),
    (
        "cuLibraryLoadData",
        NoModule("kernel scale_all does not compile: cuLibraryLoadData"),
    ),
    ("cuMemAllocFromPoolAsync", Error("cuMemAllocFromPoolAsync")),
    ("cuMemFreeAsync", Stays),
    ("cuMemFreeHost", Stays),
    ("cuMemHostAlloc", Error("cuMemHostAlloc")),
    (
        "cuMemHostGetDevicePointer_v2",
        Error("cuMemHostGetDevicePointer"),
    ),
    ("cuMemPoolCreate", Error("cuMemPoolCreate")),
    ("cuMemPoolDestroy", Stays),
    ("cuMemPoolSetAttribute", Error("cuMemPoolSetAttribute")),
    ("cuMemPoolTrimTo", Error("cuMemPoolTrimTo")),
    ("cuMemcpyDtoHAsync_v2", Error("cuMemcpyDtoHAsync")),
    ("cuMemcpyHtoDAsync_v2", Error("cuMemcpyHtoDAsync")),
    ("cuMemsetD8Async", Error("cuMemsetD8Async")),
    ("cuModuleGetFunction", NoModule("cuModuleGetFunction")),
    (
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        NoModule("cuOccupancyMaxActiveBlocksPerMultiprocessor"),
    ),
    (
        "cuOccupancyMaxActiveClusters",
        Error("cuOccupancyMaxActiveClusters"),
    ),
    ("cuPointerGetAttribute", Error("cuPointerGetAttribute")),
    ("cuStreamBeginCapture_v2", Error("cuStreamBeginCapture")),
    ("cuStreamCreateWithPriority", Error("cuStreamCreate")),
    ("cuStreamDestroy_v2", Stays),
    ("cuStreamEndCapture", Error("cuStreamEndCapture")),
    ("cuStreamGetCtx", Error("cuStreamGetCtx")),
    ("cuStreamIsCapturing", Error("cuStreamIsCapturing")),
    ("cuStreamSynchronize", Error("cuStreamSynchronize")),
    ("cuStreamWaitEvent", Error("cuStreamWaitEvent")),
    ("cuTensorMapEncodeTiled", Error("cuTensorMapEncodeTiled")),
    (
        "cuThreadExchangeStreamCaptureMode",
        Error("cuThreadExchangeStreamCaptureMode"),
    ),
];

/// Functions that are also called where a failure changes nothing for the caller: in drops, which cannot return it, and to record or to ask
/// for an event that another call needs later, if at all.
const MAY_FAIL: [&str; 7] = [
    "cuCtxPushCurrent_v2",
    "cuEventCreate",
    "cuEventQuery",
    "cuEventRecord",
    "cuStreamIsCapturing",
    "cuStreamWaitEvent",
    "cuThreadExchangeStreamCaptureMode",
];

/// Functions that are called only after `cuModuleGetFunction` has failed, and the error that is reported if they fail too.
const CALLS_AFTER_A_FAILURE: &[(&str, &str, usize)] = &[
    (
        "cuGetErrorName",
        "cuModuleGetFunction: unknown (999): on demand",
        0,
    ),
    (
        "cuGetErrorString",
        "cuModuleGetFunction: CUDA_ERROR_UNKNOWN (999): unknown",
        0,
    ),
    (
        "cuLibraryUnload",
        "cuModuleGetFunction: CUDA_ERROR_UNKNOWN (999): on demand",
        1,
    ),
];

/// The steps of a compilation after the module is loaded.
const AFTER_LOADING: [&str; 5] = [
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuFuncGetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuFuncGetParamInfo",
];

const PARAMETERS_OF_KERNELS: (&str, &str) = ("FAKE_CUDA_PARAMETERS", PARAMETERS);

fn fail(calls: &str) -> [(&str, &str); 2] {
    [PARAMETERS_OF_KERNELS, ("FAKE_CUDA_FAIL", calls)]
}

#[test]
fn the_tables_hold_every_function_of_the_driver() {
    let calls = CALLS.iter().map(|&(function, _)| function);
    let rows: BTreeSet<&str> = calls
        .chain(CALLS_AFTER_A_FAILURE.iter().map(|&(function, ..)| function))
        .collect();
    let functions = functions();
    assert_eq!(rows, functions.iter().map(String::as_str).collect());
}

#[test]
fn every_failing_call_is_named_and_leaves_nothing_behind() {
    child(session::everything);
    let Some(fake) = Fake::build() else { return };
    let test = "every_failing_call_is_named_and_leaves_nothing_behind";
    let whole = fake.run(test, &[PARAMETERS_OF_KERNELS]);
    assert_eq!(whole.report, "done");
    // Two kernels are compiled, and the one about whose clusters the driver is asked.
    let compiled = Left {
        modules: 3,
        ..Left::default()
    };
    assert_eq!(but_kept(whole.record.left), compiled);

    let mut called: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &whole.record.calls {
        *called.entry(&call.function).or_default() += 1;
    }
    let rows: BTreeMap<&str, Effect> = CALLS.iter().copied().collect();
    assert!(called.keys().eq(rows.keys()), "{called:?}");

    let mut reported = BTreeSet::new();
    for (function, n) in called
        .iter()
        .flat_map(|(&function, &count)| (1..=count).map(move |n| (function, n)))
    {
        let demand = format!("{function}:{n}:CUDA_ERROR_UNKNOWN");
        let run = fake.run(test, &fail(&demand));
        let left = but_kept(run.record.left);
        match rows[function] {
            Error(name) | NoModule(name) if run.report != "done" => {
                let expected = format!("{name}: CUDA_ERROR_UNKNOWN (999): on demand");
                // The table names the first of the three kernels.
                let others = ["kernel shift", "kernel idle"];
                let found = others.iter().fold(run.report, |report, other| {
                    report.replace(other, "kernel scale_all")
                });
                assert_eq!(found.trim_end(), expected, "{demand}");
                let modules = match rows[function] {
                    NoModule(_) => (n - 1) / (called[function] / 3),
                    _ => left.modules.min(3),
                };
                let expected = Left {
                    modules,
                    ..Left::default()
                };
                assert_eq!(left, expected, "{demand}");
                reported.insert(function);
            }
            effect => {
                assert_eq!(run.report, "done", "{demand}");
                assert_eq!(left.modules, 3, "{demand}: {left:?}");
                let in_vain = matches!(effect, Stays);
                assert!(in_vain || MAY_FAIL.contains(&function), "{demand}");
                // Memory that cannot be freed when it is dropped is freed with the next that is.
                let leaked = left.all() - left.modules;
                assert!(leaked <= 1, "{demand}: {left:?}");
            }
        }
    }
    let reports = rows.iter().filter(|(_, effect)| !matches!(effect, Stays));
    assert!(reports.map(|(function, _)| function).eq(&reported));
}

/// What a GPU does not keep: events of its streams, and the buffers of launches for which nobody has waited.
fn but_kept(left: Left) -> Left {
    Left {
        events: 0,
        pinned: 0,
        ..left
    }
}

#[test]
fn what_is_called_after_a_failure_may_fail_too() {
    child(session::everything);
    let Some(fake) = Fake::build() else { return };
    for &(function, report, modules) in CALLS_AFTER_A_FAILURE {
        let demand = format!(
            "cuModuleGetFunction:1:CUDA_ERROR_UNKNOWN,{function}:1:CUDA_ERROR_INVALID_VALUE"
        );
        let run = fake.run(
            "what_is_called_after_a_failure_may_fail_too",
            &fail(&demand),
        );
        assert_eq!(run.report, report);
        assert_eq!(run.record.count(function), 1);
        let expected = Left {
            modules,
            ..Left::default()
        };
        assert_eq!(run.record.left, expected, "{demand}");
    }
}

#[test]
fn a_driver_without_one_of_the_functions_is_refused() {
    child(session::three_devices);
    for function in functions() {
        let Some(fake) = Fake::build_without(&function) else {
            return;
        };
        let run = fake.run("a_driver_without_one_of_the_functions_is_refused", &[]);
        let refusal = format!("the CUDA driver has no {function}, which CUDA ");
        let reports: Vec<&str> = run.report.lines().collect();
        assert_eq!(reports.len(), 3);
        for report in reports {
            assert!(report.starts_with(&refusal), "{report}");
            assert!(
                report.ends_with(": a driver of CUDA 12.8 or later is needed"),
                "{report}"
            );
        }
        assert!(run.record.calls.is_empty());
    }
}

#[test]
fn a_failed_compilation_is_not_repeated() {
    child(session::a_hundred_and_one_launches);
    let Some(fake) = Fake::build() else { return };
    let loading = ["cuLibraryLoadData", "cuLibraryGetModule"];
    let compilation = AFTER_LOADING.iter().chain(&loading);
    for function in compilation {
        for (code, number) in [
            ("CUDA_ERROR_INVALID_PTX", 218),
            ("CUDA_ERROR_NOT_FOUND", 500),
            ("CUDA_ERROR_UNKNOWN", 999),
        ] {
            let demand = format!("{function}:*:{code}");
            let run = fake.run("a_failed_compilation_is_not_repeated", &fail(&demand));
            let jit = match loading.contains(function) {
                true => "kernel scale_all does not compile: ",
                false => "",
            };
            let answer = format!("101 × {jit}{function}: {code} ({number}): on demand");
            assert_eq!(run.report.trim_end(), answer);
            assert_eq!(run.record.count("cuLibraryLoadData"), 1, "{demand}");
            assert_eq!(run.record.left, Left::default(), "{demand}");
        }
    }
}

#[test]
fn a_compilation_without_memory_is_repeated() {
    child(session::a_hundred_and_one_launches);
    let Some(fake) = Fake::build() else { return };
    for function in AFTER_LOADING {
        let demand =
            format!("{function}:1:CUDA_ERROR_OUT_OF_MEMORY,{function}:2:CUDA_ERROR_OUT_OF_MEMORY");
        let run = fake.run("a_compilation_without_memory_is_repeated", &fail(&demand));
        let refusal = format!("{function}: CUDA_ERROR_OUT_OF_MEMORY (2): on demand");
        assert_eq!(run.report, format!("2 × {refusal}\n99 × done"));
        assert_eq!(run.record.count("cuLibraryLoadData"), 3);
        assert_eq!(run.record.count("cuLaunchKernelEx"), 99);
        assert_eq!(run.record.left.modules, 1);
    }
}

#[test]
fn the_driver_is_asked_once_for_each_size_of_clusters() {
    child(session::active_clusters);
    let Some(fake) = Fake::build() else { return };
    let test = "the_driver_is_asked_once_for_each_size_of_clusters";
    let refusals = "a cluster has 1 to 8 CTAs, not 0\na cluster has 1 to 8 CTAs, not 9";
    let run = fake.run(test, &[]);
    assert_eq!(run.report, format!("132\n30\n15\n30\n15\n{refusals}"));
    let calls: Vec<&str> = run.record.calls.iter().map(|it| &*it.function).collect();
    let opened = calls
        .iter()
        .position(|&call| call == "cuMemPoolSetAttribute");
    let mut expected = vec!["cuCtxPushCurrent_v2", "cuLibraryLoadData"];
    expected.extend(["cuLibraryGetModule", "cuModuleGetFunction"]);
    expected.push("cuFuncSetAttribute");
    expected.extend(["cuFuncGetAttribute"; 2]);
    expected.extend([
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "cuFuncGetParamInfo",
    ]);
    let asked = ["cuOccupancyMaxActiveClusters", "cuCtxPopCurrent_v2"];
    expected.extend(asked);
    expected.push("cuCtxPushCurrent_v2");
    expected.extend(asked);
    assert_eq!(calls[opened.expect("a context") + 1..], expected);
    // The attribute 8 is the most dynamic shared memory.
    let allowed = run.record.of("cuFuncSetAttribute");
    let allowed: Vec<&str> = allowed.map(|call| &*call.details).collect();
    assert_eq!(allowed, ["8 232448"]);
    // The stream, the grid, the block, the dynamic shared memory and the cluster.
    let questions = run.record.of("cuOccupancyMaxActiveClusters");
    let questions: Vec<&str> = questions.map(|call| &*call.details).collect();
    let question = |ctas: u32| format!("0 {},1,1 384,1,1 232448 {ctas},1,1", 132 * ctas);
    assert_eq!(questions, [4, 8].map(question));

    // An error is not kept, and the kernel is.
    let run = fake.run(
        test,
        &fail("cuOccupancyMaxActiveClusters:1:CUDA_ERROR_UNKNOWN"),
    );
    let failed = "cuOccupancyMaxActiveClusters: CUDA_ERROR_UNKNOWN (999): on demand";
    assert_eq!(run.report, format!("132\n{failed}\n15\n30\n15\n{refusals}"));
    assert_eq!(run.record.count("cuLibraryLoadData"), 1);
    assert_eq!(run.record.count("cuOccupancyMaxActiveClusters"), 3);
    assert_eq!(run.record.left.modules, 1);
}

#[test]
fn threads_compile_each_kernel_once() {
    child(session::launches_by_eight_threads);
    let Some(fake) = Fake::build() else { return };
    let test = "threads_compile_each_kernel_once";
    let run = fake.run(test, &[PARAMETERS_OF_KERNELS]);
    assert_eq!(run.report, ["done"; 8].join(" "));
    assert_eq!(run.record.count("cuLibraryLoadData"), 2);
    assert_eq!(run.record.count("cuLaunchKernelEx"), 16);
    let compiled = Left {
        modules: 2,
        ..Left::default()
    };
    assert_eq!(run.record.left, compiled);
    let threads: BTreeSet<&String> = run.record.calls.iter().map(|call| &call.thread).collect();
    assert_eq!(threads.len(), 8);
}

#[test]
fn kernels_of_a_list_are_compiled_at_the_same_time() {
    child(session::prepared);
    let Some(fake) = Fake::build() else { return };
    let test = "kernels_of_a_list_are_compiled_at_the_same_time";
    // On a machine that runs one thread at a time, the list is compiled by one.
    let together = std::thread::available_parallelism().map_or(1, |it| it.get().min(2));
    let together = together.to_string();
    let run = fake.run(test, &[("FAKE_CUDA_TOGETHER", &together)]);
    assert_eq!(run.report, "scale_all 1032\nscale_half 1032\nshift 1032");
    // The list is compiled once, also if a kernel is in it twice and if it is prepared again.
    assert_eq!(run.record.count("cuLibraryLoadData"), 3);
    assert_eq!(run.record.left.modules, 3);
    assert_eq!(run.record.left.contexts, 0);
    let compiled = run.record.of("cuLibraryLoadData");
    let threads: BTreeSet<&String> = compiled.map(|call| &call.thread).collect();
    assert!(threads.len().to_string() >= together);

    // The error of a kernel that the driver's compiler refuses names the kernel. Others have no kernel.
    let refused = fake.run(test, &fail("cuLibraryLoadData:*:CUDA_ERROR_INVALID_PTX"));
    let refusal = "kernel scale_all does not compile: cuLibraryLoadData: CUDA_ERROR_INVALID_PTX (218): on demand";
    assert_eq!(refused.report.trim_end(), refusal);
    for failing in ["cuModuleGetFunction", "cuCtxPushCurrent_v2"] {
        let run = fake.run(test, &fail(&format!("{failing}:*:CUDA_ERROR_NOT_FOUND")));
        let name = failing.trim_end_matches("_v2");
        let refusal = format!("{name}: CUDA_ERROR_NOT_FOUND (500): on demand");
        let expected = format!("kernel scale_all is not compiled: {refusal}");
        assert_eq!(run.report, expected);
        assert_eq!(run.record.left, Left::default());
    }
    let older = fake.run(test, &[("FAKE_CUDA_DEVICES", "8.0")]);
    let refusal = "Fake GPU 0 has compute capability 8.0: sm_90a code runs on 9.0 only";
    assert_eq!(
        older.report,
        format!("kernel scale_all is not compiled: {refusal}")
    );
}

#[test]
fn code_from_the_cache_of_the_driver_is_said_to_be() {
    child(session::compiled_with_a_log);
    let Some(fake) = Fake::build() else { return };
    let test = "code_from_the_cache_of_the_driver_is_said_to_be";
    let numbers = "registers of a thread: 40, bytes spilled: unknown, bytes of local memory: 40, bytes of shared memory: 1032, \
                   CTAs on a multiprocessor: 3";
    let cached = fake.run(test, &[]);
    let report = format!("{numbers}; the code is from the driver's cache");
    assert_eq!(
        cached.report,
        format!("true []\ncompiling `shift` took _ ms: {report}")
    );

    let log = "ptxas info    : Compiling entry function 'shift' for 'sm_90a'\n\
               ptxas         .     8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
               ptxas info    : Used 40 registers";
    let compiled = fake.run(test, &[("FAKE_CUDA_LOG", log)]);
    let report = numbers.replace("unknown", "4");
    assert_eq!(
        compiled.report,
        format!("false [{log}]\ncompiling `shift` took _ ms: {report}")
    );

    // The driver loads PTX that its compiler refuses, and has no module of it. The error has the log.
    let [_, failing] = fail("cuLibraryGetModule:*:CUDA_ERROR_INVALID_PTX");
    let refused = fake.run(test, &[failing, ("FAKE_CUDA_LOG", log)]);
    let refusal = "kernel shift does not compile: cuLibraryGetModule: CUDA_ERROR_INVALID_PTX (218): on demand";
    assert_eq!(
        refused.report,
        format!("{refusal}\n{log}\ncompiling `shift` took _ ms: {refusal}\n{log}")
    );
    assert_eq!(refused.record.left, Left::default());
}

#[test]
fn memory_that_cannot_be_freed_is_freed_with_the_next() {
    child(session::everything);
    let Some(fake) = Fake::build() else { return };
    let test = "memory_that_cannot_be_freed_is_freed_with_the_next";
    let freed = |failing: &str| {
        let run = fake.run(test, &fail(failing));
        assert_eq!(run.report, "done");
        (run.record.count("cuMemFreeAsync"), run.record.left.memory)
    };
    // A tensor of the other context, and two of this one.
    assert_eq!(freed("cuMemFreeAsync:1:CUDA_ERROR_UNKNOWN"), (3, 1));
    assert_eq!(freed("cuMemFreeAsync:2:CUDA_ERROR_UNKNOWN"), (4, 0));
    assert_eq!(freed("cuMemFreeAsync:*:CUDA_ERROR_UNKNOWN"), (4, 3));
}

#[test]
fn a_drop_frees_on_the_stream_and_does_not_wait() {
    child(session::launches_with_the_same_arguments);
    let Some(fake) = Fake::build() else { return };
    let test = "a_drop_frees_on_the_stream_and_does_not_wait";
    let run = fake.run(test, &[("FAKE_CUDA_PARAMETERS", "128,128,8,4,4")]);
    let functions = run.record.calls.iter().map(|call| call.function.as_str());
    let functions: Vec<&str> = functions.collect();
    let freed = [
        "cuCtxPushCurrent_v2",
        "cuMemFreeAsync",
        "cuCtxPopCurrent_v2",
    ];
    assert!(functions.ends_with(&[freed; 3].concat()), "{functions:?}");
    assert_eq!(run.record.left.memory, 0);
}

#[test]
fn a_device_without_pools_of_memory_allocates_nothing() {
    child(session::everything);
    let Some(fake) = Fake::build() else { return };
    let test = "a_device_without_pools_of_memory_allocates_nothing";
    let run = fake.run(test, &[("FAKE_CUDA_NO_POOLS", "1")]);
    let refusal = "Fake GPU 0 has no stream-ordered memory";
    assert!(run.report.starts_with(refusal), "{}", run.report);
    assert_eq!(run.record.count("cuMemPoolCreate"), 0);
    assert_eq!(run.record.left, Left::default());
}

#[test]
fn full_memory_is_an_error_that_says_who_holds_it() {
    child(session::full_memory);
    let Some(fake) = Fake::build() else { return };
    let test = "full_memory_is_an_error_that_says_who_holds_it";
    let demand = "cuMemAllocFromPoolAsync:3:CUDA_ERROR_OUT_OF_MEMORY";
    let run = fake.run(test, &fail(demand));
    let reason = "cuMemAllocFromPoolAsync: CUDA_ERROR_OUT_OF_MEMORY (2): on demand";
    let start = format!("no memory for 64 bytes: {reason}; 4096 bytes are held in 2 allocations: ");
    assert!(run.report.starts_with(&start), "{}", run.report);
    assert!(
        run.report
            .contains("4096 bytes in 2 of cute-runtime/tests/fake_cuda/session.rs:")
    );
}

/// Copies of page-locked memory are enqueued, and the host waits for them where it looks at the elements.
#[test]
fn buffers_of_the_host_are_copied_without_a_wait() {
    child(session::buffers_of_the_host);
    let Some(fake) = Fake::build() else { return };
    let test = "buffers_of_the_host_are_copied_without_a_wait";
    // An event is reached the third time that it is asked for. The copy from the first buffer has ended before its drop, and the copy
    // to the second one is found under way twice.
    let run = fake.run(test, &[("FAKE_CUDA_BUSY", "2")]);
    assert_eq!(run.report, "done");
    let calls = run.record.calls.iter().map(|call| &*call.function);
    let of_interest = [
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuEventSynchronize",
        "cuStreamSynchronize",
        "cuMemFreeHost",
    ];
    let calls: Vec<&str> = calls.filter(|call| of_interest.contains(call)).collect();
    let [up, down, waits, _, freed] = of_interest;
    assert_eq!(calls, [up, down, waits, up, freed, freed, freed, freed]);
    assert_eq!(run.record.left.pinned, 0);
}

#[test]
fn memory_of_others_is_of_the_device() {
    child(session::memory_of_others);
    let Some(fake) = Fake::build() else { return };
    let test = "memory_of_others_is_of_the_device";
    for (kind, rule) in [
        ("device", ""),
        (
            "host",
            "it is memory of the host, and the tensor is one of Fake GPU 0",
        ),
        (
            "unknown",
            "the driver knows no such memory: is it memory of the host?",
        ),
        (
            "1",
            "it is memory of CUDA device 1, and the tensor is one of Fake GPU 0",
        ),
    ] {
        let run = fake.run(test, &[("FAKE_CUDA_POINTER", kind)]);
        match rule {
            "" => assert_eq!(run.report, "done"),
            rule => assert!(run.report.ends_with(rule), "{}", run.report),
        }
        // The guard is dropped either way, which the session checks.
        assert_eq!(run.record.left.memory, 0, "{kind}");
    }
}

#[test]
fn streams_and_contexts_of_other_devices_are_refused() {
    child(session::of_another_device);
    let Some(fake) = Fake::build() else { return };
    let test = "streams_and_contexts_of_other_devices_are_refused";
    let run = fake.run(test, &[("FAKE_CUDA_DEVICES", "9.0,9.0")]);
    let expected = [
        "the stream is one of another context, not of that of Fake GPU 0",
        "the context is one of CUDA device 0, not of 1",
    ];
    assert_eq!(run.report, expected.join("\n"));
}

/// A launch on another stream waits by an event, and one on the same stream does not.
#[test]
fn a_tensor_makes_streams_wait_for_each_other() {
    child(session::one_tensor_on_two_streams);
    let Some(fake) = Fake::build() else { return };
    let test = "a_tensor_makes_streams_wait_for_each_other";
    let run = fake.run(test, &[("FAKE_CUDA_PARAMETERS", "8")]);
    assert_eq!(run.report, "done");
    let streams: Vec<u64> = (run.record.of("cuStreamCreateWithPriority"))
        .map(|it| it.handle)
        .collect();
    let word = |call: &record::Call, place| call.hexadecimal(place);
    let calls: Vec<(&str, u64)> = (run.record.calls.iter())
        .filter_map(|call| match &*call.function {
            "cuLaunchKernelEx" => Some(("launch", word(call, 0))),
            "cuStreamWaitEvent" => Some(("wait", word(call, 0))),
            "cuMemFreeAsync" => Some(("free", word(call, 0))),
            "cuStreamSynchronize" => Some(("synchronize", call.handle)),
            _ => None,
        })
        .collect();
    let [a, b] = streams[..] else {
        panic!("{streams:?}")
    };
    let expected = [
        ("launch", a),
        ("launch", a),
        ("wait", b),
        ("launch", b),
        ("launch", b),
        ("wait", a),
        ("free", a),
    ];
    assert_eq!(calls, expected);
}

/// An event of a thread's default stream that cannot be recorded is the error of the work of others that needs it: another thread would
/// record it on its own stream.
#[test]
fn work_of_a_thread_without_an_event_is_not_passed_by() {
    child(session::on_the_stream_of_a_thread);
    let Some(fake) = Fake::build() else { return };
    let test = "work_of_a_thread_without_an_event_is_not_passed_by";
    let parameters = ("FAKE_CUDA_PARAMETERS", "8");
    let run = fake.run(test, &[parameters]);
    assert_eq!(
        (&*run.report, run.record.count("cuLaunchKernelEx")),
        ("done", 2)
    );
    // Events behind the allocation, the clear and the launch.
    let failing = ("FAKE_CUDA_FAIL", "cuEventRecord:3:CUDA_ERROR_UNKNOWN");
    let run = fake.run(test, &[parameters, failing]);
    assert_eq!(
        run.report,
        "cuEventRecord: CUDA_ERROR_UNKNOWN (999): on demand"
    );
    assert_eq!(run.record.count("cuLaunchKernelEx"), 1);
}

/// While its owner captures a stream, launches go to it, and everything that a capture forbids is an error before it is done.
#[test]
fn a_stream_that_others_capture_takes_launches_alone() {
    child(session::on_a_captured_stream);
    let Some(fake) = Fake::build() else { return };
    let test = "a_stream_that_others_capture_takes_launches_alone";
    let settings = [("FAKE_CUDA_PARAMETERS", "8"), ("FAKE_CUDA_CAPTURING", "1")];
    let run = fake.run(test, &settings);
    let forbidden = [
        "to allocate memory",
        "to copy to the host",
        "to wait for the stream",
        "to take the time",
        "to launch a graph",
    ];
    let refused = forbidden.map(|what| {
        format!("the stream is captured into a graph by its owner, which forbids {what}: ")
    });
    let reports: Vec<&str> = run.report.lines().collect();
    assert_eq!(reports.len(), 2 + refused.len(), "{reports:#?}");
    for (report, refusal) in reports.iter().zip(&refused) {
        assert!(report.starts_with(refusal), "{report}");
    }
    assert_eq!(reports[refused.len()], "done");
    let uncompiled = "which forbids to compile a kernel: ";
    assert!(reports[refused.len() + 1].contains(uncompiled));
    // That of our own graph, and one on the stream.
    assert_eq!(run.record.count("cuLaunchKernelEx"), 2);
    // The memory is freed on the default stream, since a capture would free it whenever its graph runs.
    assert_eq!(run.record.left.memory, 0);
    let mut freed = run.record.of("cuMemFreeAsync");
    assert!(freed.all(|call| call.hexadecimal(0) == 0));
}

#[test]
fn a_launch_passes_the_bytes_of_its_arguments() {
    child(session::everything);
    let Some(fake) = Fake::build() else { return };
    let test = "a_launch_passes_the_bytes_of_its_arguments";
    let run = fake.run(test, &[PARAMETERS_OF_KERNELS]);
    let addresses: Vec<u64> = run
        .record
        .of("cuMemAllocFromPoolAsync")
        .map(|call| call.handle)
        .collect();
    let map = |address: u64| format!("{:016x}{}", address.swap_bytes(), "0".repeat(240));
    let [src, dst] = [map(addresses[0]), map(addresses[1])];
    // The stream, the grid, the block, the dynamic shared memory and the attributes; then the parameters: two tensor maps, 3.0, and the
    // buffer for reports, which each launch has for itself.
    let buffers = run.record.of("cuMemHostAlloc").map(|call| call.handle);
    let expected = buffers.map(|buffer| {
        let buffer = format!("{:016x}", buffer.swap_bytes());
        format!("0 2,1,1 32,1,1 1032 0 {src} {dst} 00004040 {buffer}")
    });
    let launches = run.record.of("cuLaunchKernelEx");
    let launches = launches.map(|call| call.details.trim_end());
    // The first three, which report.
    let launches: Vec<&str> = launches.take(3).collect();
    assert_eq!(launches, expected.collect::<Vec<_>>());
    assert_eq!(launches.len(), 3);
}

#[test]
fn a_repeated_launch_makes_no_other_calls_and_few_allocations() {
    child(session::launches_with_the_same_arguments);
    let Some(fake) = Fake::build() else { return };
    let test = "a_repeated_launch_makes_no_other_calls_and_few_allocations";
    // Two tensor maps, an address, and two numbers.
    let run = fake.run(test, &[("FAKE_CUDA_PARAMETERS", "128,128,8,4,4")]);
    let counts: Vec<&str> = run.report.trim_matches(['[', ']']).split(", ").collect();
    // The parameters and their sizes, pointers to them, and the names of the tensors.
    assert_eq!(counts[1..], ["4"; 3], "{}", run.report);
    assert_eq!(run.record.count("cuTensorMapEncodeTiled"), 2);
    let calls: Vec<&str> = run.record.calls.iter().map(|it| &*it.function).collect();
    let launched = calls.iter().rposition(|&call| call == "cuLaunchKernelEx");
    let end = launched.expect("a launch") + 2;
    let launch = [
        "cuCtxPushCurrent_v2",
        "cuLaunchKernelEx",
        "cuCtxPopCurrent_v2",
    ];
    assert_eq!(calls[end - 9..end], [launch; 3].concat());
}

#[test]
fn a_captured_launch_goes_to_the_stream_that_is_captured() {
    child(session::a_captured_launch);
    let Some(fake) = Fake::build() else { return };
    let test = "a_captured_launch_goes_to_the_stream_that_is_captured";
    let run = fake.run(test, &[("FAKE_CUDA_PARAMETERS", "8")]);
    assert_eq!(run.report, "done");
    let streams: Vec<u64> = run
        .record
        .of("cuStreamCreateWithPriority")
        .map(|it| it.handle)
        .collect();
    let launches: Vec<&str> = run
        .record
        .of("cuLaunchKernelEx")
        .filter_map(|call| call.details.split(' ').next())
        .collect();
    // In the graph, and outside. The capture that fails, and that of nothing, make no calls.
    assert_eq!(launches, [format!("{:x}", streams[0]), "0".to_owned()]);
    assert_eq!((streams.len(), run.record.count("cuGraphLaunch")), (1, 2));
    // The kernel is compiled before. The graph keeps the memory of its tensor.
    let place = |function: &str| {
        let mut calls = run.record.calls.iter();
        calls.position(|call| call.function == function)
    };
    assert!(place("cuLibraryLoadData") < place("cuStreamBeginCapture_v2"));
    assert!(place("cuGraphExecDestroy") < place("cuMemFreeAsync"));
    let compiled = Left {
        modules: 1,
        ..Left::default()
    };
    assert_eq!(run.record.left, compiled);
}

#[test]
fn threads_capture_beside_waits() {
    child(session::captures_beside_waits);
    let Some(fake) = Fake::build() else { return };
    let test = "threads_capture_beside_waits";
    let run = fake.run(test, &[("FAKE_CUDA_PARAMETERS", "8")]);
    assert_eq!(run.report, ["done"; 4].join(" "));
    assert_eq!(run.record.count("cuStreamBeginCapture_v2"), 100);
    assert_eq!(run.record.count("cuMemcpyDtoHAsync_v2"), 100);
}

#[test]
fn a_failed_assertion_is_the_error_of_every_later_call() {
    child(session::a_failing_launch);
    let Some(fake) = Fake::build() else { return };
    let test = "a_failed_assertion_is_the_error_of_every_later_call";
    // The first two waits are those of the uploads.
    let waits = (3..9).map(|n| format!("cuStreamSynchronize:{n}:CUDA_ERROR_LAUNCH_FAILED"));
    let failing = waits.collect::<Vec<_>>().join(",")
        + ",cuEventSynchronize:*:CUDA_ERROR_LAUNCH_FAILED,cuMemFreeHost:*:CUDA_ERROR_LAUNCH_FAILED";
    let failing = &*failing;
    let failed = "CUDA_ERROR_LAUNCH_FAILED (719): on demand";
    let silent = [
        "cuStreamSynchronize",
        "cuStreamSynchronize",
        "cuEventSynchronize",
    ]
    .map(|call| format!("{call}: {failed}"));
    let run = fake.run(test, &fail(failing));
    assert_eq!(run.report, silent.join("\n"));

    // The record of report 0, of thread 17 of CTA (3, 0, 0), with the value 200.
    let record = format!("{},3,0,0,17,{}", 0xc07e_0000u32, 200f32.to_bits());
    let [parameters, failing] = fail(failing);
    let run = fake.run(test, &[parameters, failing, ("FAKE_CUDA_WORDS", &record)]);
    let mut lines = include_str!("session.rs").lines();
    let line = 1 + lines
        .position(|line| line.contains("assert!(factor"))
        .unwrap();
    let place = format!("session.rs:{line} in CTA (3, 0, 0), warp 0, lane 17: ");
    let reports: Vec<&str> = run.report.lines().collect();
    assert_eq!(reports.len(), 3);
    for report in reports {
        assert!(report.starts_with("kernel scale_all: assertion failed at "));
        assert!(report.ends_with(&format!("{place}the factor 200 is too large")));
    }
}

#[test]
fn devices_are_found_by_their_capability() {
    child(session::three_devices);
    let Some(fake) = Fake::build() else { return };
    for (capabilities, expected) in [
        (
            "8.0,9.0",
            [
                "Fake GPU 0: Fake GPU 0 has compute capability 8.0: sm_90a code runs on 9.0 only; done",
                "Fake GPU 1: done; done",
                "CUDA device 2 does not exist: the driver lists 2 devices",
            ],
        ),
        (
            "7.5,10.0",
            [
                "Fake GPU 0: Fake GPU 0 has compute capability 7.5: sm_90a code runs on 9.0 only; \
                 Fake GPU 0 has compute capability 7.5: sm_80 code runs on 8.0 and later",
                "Fake GPU 1: Fake GPU 1 has compute capability 10.0: sm_90a code runs on 9.0 only; done",
                "CUDA device 2 does not exist: the driver lists 2 devices",
            ],
        ),
        (
            "",
            [
                "CUDA device 0 does not exist: the driver lists 0 devices",
                "CUDA device 1 does not exist: the driver lists 0 devices",
                "CUDA device 2 does not exist: the driver lists 0 devices",
            ],
        ),
    ] {
        let settings = [("FAKE_CUDA_DEVICES", capabilities)];
        let run = fake.run("devices_are_found_by_their_capability", &settings);
        assert_eq!(run.report, expected.join("\n"));
    }
}

#[test]
fn the_default_device_says_why_it_is_the_emulator() {
    child(session::the_default_device);
    let test = "the_default_device_says_why_it_is_the_emulator";
    let nothing = Fake::nothing();
    let Some(fake) = Fake::build() else { return };
    let Some(old) = Fake::build_without("cuEventElapsedTime_v2") else {
        return;
    };
    let none =
        "no CUDA driver: this machine has no libcuda that loads; `Device::emulator()` needs none";
    // The driver, its devices and the failing calls; then the name of the default device, the reason for the emulator, and the
    // level at which it is logged.
    #[rustfmt::skip]
    let rows = [
        (&nothing, "9.0", "", "emulator", none, "INFO"),
        (&old, "9.0", "", "emulator",
            "the CUDA driver has no cuEventElapsedTime_v2, which CUDA 12.8 added: a driver of CUDA 12.8 or later is needed", "WARN"),
        (&fake, "9.0", "cuInit:*:CUDA_ERROR_NO_DEVICE", "emulator",
            "cuInit: CUDA_ERROR_NO_DEVICE (100): on demand", "WARN"),
        (&fake, "9.0", "cuInit:*:CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "emulator",
            "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): on demand", "WARN"),
        (&fake, "9.0", "cuDeviceGetCount:*:CUDA_ERROR_UNKNOWN", "emulator",
            "cuDeviceGetCount: CUDA_ERROR_UNKNOWN (999): on demand", "WARN"),
        (&fake, "", "", "emulator",
            "no CUDA device can be used: the driver lists none", "WARN"),
        (&fake, "8.0", "", "emulator",
            "no CUDA device can be used: \
             device 0: Fake GPU 0 has compute capability 8.0: sm_90a code runs on 9.0 only", "WARN"),
        (&fake, "8.0,10.0", "", "emulator",
            "no CUDA device can be used: \
             device 0: Fake GPU 0 has compute capability 8.0: sm_90a code runs on 9.0 only; \
             device 1: Fake GPU 1 has compute capability 10.0: sm_90a code runs on 9.0 only", "WARN"),
        (&fake, "9.0", "cuDevicePrimaryCtxRetain:*:CUDA_ERROR_OUT_OF_MEMORY", "emulator",
            "no CUDA device can be used: \
             device 0: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2): on demand", "WARN"),
        (&fake, "9.0", "", "Fake GPU 0", "no reason", ""),
        (&fake, "8.0,9.0", "", "Fake GPU 1", "no reason", ""),
        // The session asks for the default device twice, so calls 1 and 3 are those for the first device.
        (&fake, "9.0,9.0",
            "cuDevicePrimaryCtxRetain:1:CUDA_ERROR_OUT_OF_MEMORY,cuDevicePrimaryCtxRetain:3:CUDA_ERROR_OUT_OF_MEMORY",
            "Fake GPU 1", "no reason", ""),
    ];
    for (fake, devices, failures, name, reason, level) in rows {
        let settings = [("FAKE_CUDA_DEVICES", devices), ("FAKE_CUDA_FAIL", failures)];
        let run = fake.run(test, &settings);
        let logged = match level {
            "" => String::new(),
            _ => format!(
                "{level} cute_runtime::device: the default device is the emulator: {reason}"
            ),
        };
        assert_eq!(run.report, format!("{name}\n{reason}\n{logged}"));
        // A context costs memory, so none is made for a device that is not chosen.
        if failures.is_empty() {
            let contexts = run.record.count("cuDevicePrimaryCtxRetain");
            assert_eq!(contexts, usize::from(name != "emulator"), "{devices}");
        }
    }
}
