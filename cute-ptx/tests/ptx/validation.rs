//! The errors of validation, compared with those of NVIDIA's assembler.

use crate::rows;
use cute_ptx::ast::{Item, Line};
use cute_ptx::{Module, parse, validate};
use cute_ptxas::{Ptxas, Report, Usage};
use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const GEMM: &str = include_str!("kernels/gemm.ptx");

/// Declarations that the instructions below use.
const BODY: &str = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .u32 %u<4>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<4>;
.shared .align 8 .b64 bar[2];
mov.b64 %rd1, param;";

fn module(version: &str, target: &str, instructions: &str) -> Module {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.extern .shared .align 1024 .b8 dynamic[];\n.global .align 16 .b8 global[64];\n\
         .visible .entry k(.param .align 64 .b8 param[128])\n.reqntid 128\n{{\n{BODY}\n{instructions}\nend:\nret;\n}}\n"
    );
    parse(&text).unwrap()
}

#[test]
fn a_good_kernel_is_valid() {
    let module = parse(GEMM).unwrap();
    assert_eq!(validate(&module), []);
    assert_eq!(module.required_version(), (8, 0));
    let Some(ptxas) = Ptxas::find() else { return };
    let report = ptxas.assemble(GEMM, "sm_90a").unwrap();
    assert_eq!(report.complaints(), [""; 0]);
    assert_eq!(report.entries.len(), 1);
    assert_eq!(report.entries[0].entry, "gemm_bf16_64x64x64");
    assert!(report.entries[0].registers > 32);
}

#[test]
fn what_the_assembler_accepts_is_valid() {
    for text in rows::texts() {
        let errors = validate(&parse(&text.finish()).unwrap());
        let shown: Vec<String> = errors.iter().take(40).map(ToString::to_string).collect();
        assert!(
            errors.is_empty(),
            "{} errors:\n{}",
            errors.len(),
            shown.join("\n")
        );
    }
}

/// Every row with one operand replaced by a register of another type: the assembler accepts what is valid. It also
/// accepts some that is not: 16-bit registers as addresses.
#[test]
fn what_is_valid_the_assembler_accepts() {
    let Some(ptxas) = Ptxas::find() else { return };
    let text = rows::mutants();
    let module = parse(&text.finish()).unwrap();
    let refused: HashSet<String> = validate(&module)
        .into_iter()
        .map(|error| format!("{};", error.text))
        .collect();
    let report = ptxas.assemble(&text.finish(), "sm_90a").unwrap();
    let rejected: HashSet<&str> = report
        .errors
        .iter()
        .map(|(line, _)| text.line(*line))
        .collect();
    let valid = |line: &&String| !refused.contains(line.as_str());
    let wrong: Vec<&str> = text
        .lines()
        .iter()
        .filter(valid)
        .map(String::as_str)
        .filter(|line| rejected.contains(line))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(rejected.len() > 3000 && text.lines().iter().filter(valid).count() > 1000);
}

/// Lines that validation and the assembler refuse, and the message of validation.
const REFUSED: &[(&str, &str)] = &[
    (
        "add.u32 %r1, %r2;",
        "the instruction takes 3 operands, but 2 are given",
    ),
    (
        "add.u32 %f1, %r1, %r2;",
        "operand 1, `%f1`, is a .f32 register; expected a .u32 register to write",
    ),
    (
        "add.u32 %r1, %rd1, %r2;",
        "operand 2, `%rd1`, is a .b64 register; expected a .u32 register or constant",
    ),
    (
        "add.f32 %f1, %f2, 1;",
        "operand 3, `1`, is not an allowed constant; expected a .f32 register or constant",
    ),
    (
        "add.u32 %r1, %tid.x, 1;",
        "operand 2, `%tid.x`, does not fit here; expected a .u32 register or constant",
    ),
    (
        "add.f16 %h1, %h2, 15360;",
        "operand 3, `15360`, is not an allowed constant; expected a .f16 register or constant",
    ),
    (
        "fma.rn.bf16x2 %r1, %r2, %r3, %u1;",
        "operand 4, `%u1`, is a .u32 register; expected a .bf16x2 register or constant",
    ),
    (
        "mov.u32 %r9, 0;",
        "operand 1, `%r9`, is not declared; expected a .u32 register to write",
    ),
    (
        "mov.u32 %r1, global;",
        "operand 2, `global`, is in .global; expected a .u32 register, constant, special register or variable",
    ),
    (
        "mov.b64 %rd1, %tid.x;",
        "operand 2, `%tid.x`, is a .u32 register; expected a .b64 register, constant, special register or variable",
    ),
    (
        "mul.wide.u32 %r1, %r2, 4;",
        "operand 1, `%r1`, is a .b32 register; expected a .u64 register to write",
    ),
    (
        "shl.b32 %r1, %r2, %rd1;",
        "operand 3, `%rd1`, is a .b64 register; expected a .u32 register or constant",
    ),
    (
        "@%r1 ret;",
        "the guard `%r1` is a .b32 register; expected a .pred register",
    ),
    (
        "@%p9 ret;",
        "the guard `%p9` is not declared; expected a .pred register",
    ),
    ("bra nowhere;", "the entry has no label `nowhere`"),
    (
        "ld.shared.u32 %r1, [global];",
        "operand 2, `[global]`, is in .global; expected a shared address (32 or 64 bits)",
    ),
    (
        "ld.shared.u32 %r1, [%f1];",
        "operand 2, `[%f1]`, holds its address in a .f32 register; expected a shared address (32 or 64 bits)",
    ),
    (
        "ld.global.u32 %r1, [%r2];",
        "operand 2, `[%r2]`, holds its address in a .b32 register; expected a global address (64 bits)",
    ),
    (
        "ld.param.u32 %r1, [bar];",
        "operand 2, `[bar]`, is in .shared; expected a param address (64 bits)",
    ),
    (
        "ld.global.v4.f32 {%f1, %f2, %f3}, [%rd1];",
        "operand 1, `{%f1, %f2, %f3}`, has 3 elements; expected a vector of 4 .f32 registers to write",
    ),
    (
        "bar.sync 16;",
        "operand 1, `16`, is not an allowed constant; expected a .u32 register or a constant (0 to 15)",
    ),
    (
        "bar.sync 1, 33;",
        "operand 2, `33`, is not an allowed constant; expected a .u32 register or a constant (a multiple of 32 from 32 to 1024)",
    ),
    (
        "setmaxnreg.inc.sync.aligned.u32 25;",
        "operand 1, `25`, is not an allowed constant; expected a constant (a multiple of 8 from 24 to 256)",
    ),
    (
        "cp.async.ca.shared.global [bar], [%rd1], 5;",
        "operand 3, `5`, is not an allowed constant; expected a constant (4, 8 or 16)",
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [dynamic], [%rd1, {0}], [bar];",
        "operand 2, `[%rd1, {0}]`, has 1 element; expected a tensor map with 2 coordinates",
    ),
    (
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [dynamic], [param, {0}], [bar];",
        "operand 2, `[param, {0}]`, does not fit here; expected a tensor map with 1 coordinate",
    ),
    (
        "mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];",
        "operand 1, `%rd1`, does not fit here; expected `_`",
    ),
    (
        "elect.sync %p1, -1;",
        "operand 1, `%p1`, does not fit here; expected a .u32 register to write or `_` and a predicate (d|p)",
    ),
    (
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [bar];",
        "operand 1, `{%r1, %r2}`, has 2 elements; expected a vector of 4 .b32 registers to write",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
        "operand 1, `{%f1, %f2, %f3}`, has 3 elements; expected a vector of 4 .f32 registers to write",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 2, 1, 1, 0, 0;",
        "operand 4, `2`, does not fit here; expected a predicate register, 0 or 1",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd2, 1, 1, 1, 0, 0;",
        "operand 2, `{%r1, %r2, %r3, %r4}`, does not fit here; expected a .u64 register",
    ),
    (
        "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [bar], 0;",
        "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 needs PTX 8.6, but the module says 8.0",
    ),
    (".reg .b32 %r;\n.reg .b64 %r<9>;", "`%r` is declared twice"),
    (".reg .b32 %r3;", "`%r3` is declared twice"),
    (".reg .b32 bar;", "`bar` is declared twice"),
    (".shared .b64 param;", "`param` is declared twice"),
    (
        ".extern .shared .b8 more[];",
        "`.extern` is only for dynamic shared memory: a module's `.shared` array without a length",
    ),
    (".reg .bf16 value;", "a register cannot be declared .bf16"),
    (
        ".shared .pred flags[4];",
        "a variable cannot be declared .pred",
    ),
    (
        ".reg .b128 wide;",
        ".b128 needs PTX 8.3, but the module says 8.0",
    ),
    (
        ".shared .b8 none[0];",
        "a variable must have at least one element, unless it is `.extern .shared`",
    ),
    (
        ".shared .align 3 .b8 odd[4];",
        "the alignment 3 is not a power of two",
    ),
];

/// Lines that the assembler accepts and validation refuses, since the driver crashes, the hardware hangs, a constant is
/// truncated, or a name is ambiguous.
const STRICTER: &[(&str, &str)] = &[
    // Assemblers before CUDA 13 refuse this too.
    (
        ".shared .align 16 .b8 much[49168];",
        "49184 bytes of static shared memory are over the limit of 49152; declare them `.extern .shared`",
    ),
    // `%x10` would belong to both families.
    (
        ".reg .b32 %x<20>;\n.reg .b64 %x1<5>;",
        "`%x1` is declared twice",
    ),
    // `%r01` could be read as `%r1`.
    (
        "mov.u32 %r01, 0;",
        "operand 1, `%r01`, is not declared; expected a .u32 register to write",
    ),
    (
        "add.u32 %r1, %r2, 4294967296;",
        "operand 3, `4294967296`, is not an allowed constant; expected a .u32 register or constant",
    ),
    (
        "mbarrier.init.shared::cta.b64 [bar], 0;",
        "operand 2, `0`, is not an allowed constant; expected a .u32 register or a constant (1 to 1048575)",
    ),
    (
        "mov.u16 %h1, bar;",
        "operand 2, `bar`, is in .shared; expected a .u16 register, constant, special register or variable",
    ),
    (
        "wgmma.wait_group.sync.aligned 8;",
        "operand 1, `8`, is not an allowed constant; expected a constant (0 to 7)",
    ),
    (
        "mov.b64 %rd2, 0;\nadd.s64 %rd3, %rd2, 2;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd3, 1, 1, 1, 0, 0;",
        "the matrix descriptor `%rd3` is a compile-time constant, which crashes the driver's JIT compiler",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, 5, 1, 1, 1, 0, 0;",
        "operand 3, `5`, does not fit here; expected a .u64 register",
    ),
];

#[test]
fn each_mistake_is_named() {
    let ptxas = Ptxas::find();
    let cases = REFUSED
        .iter()
        .map(|case| (case, true))
        .chain(STRICTER.iter().map(|case| (case, false)));
    for ((instruction, message), refused) in cases {
        let module = module("8.0", "sm_90a", instruction);
        let errors = validate(&module);
        let problems: Vec<String> = errors
            .iter()
            .map(|error| error.problem.to_string())
            .collect();
        assert_eq!(problems, [*message], "of {instruction}");
        if let Some(ptxas) = &ptxas {
            let report = ptxas.assemble(&module.to_string(), "sm_90a").unwrap();
            assert_eq!(
                !report.errors.is_empty(),
                refused,
                "{instruction}: {:?}",
                report.errors
            );
        }
    }
}

#[test]
fn errors_name_entry_line_and_instruction() {
    let module = module(
        "8.0",
        "sm_90a",
        "add.u32 %r1, %r2;\n@%r1 sub.u32 %r1, %f1, 4;",
    );
    let Some(Item::Entry(entry)) = module.items.last() else {
        panic!("no entry")
    };
    let line = entry
        .body
        .iter()
        .position(|line| matches!(line, Line::Inst(inst) if inst.mnemonic.as_str() == "add.u32"))
        .unwrap();
    let errors: Vec<String> = validate(&module).iter().map(ToString::to_string).collect();
    let expected = [
        format!(
            "entry k, line {line} of its body, `add.u32 %r1, %r2`: the instruction takes 3 operands, but 2 are given"
        ),
        format!(
            "entry k, line {} of its body, `@%r1 sub.u32 %r1, %f1, 4`: the guard `%r1` is a .b32 register; expected a .pred register",
            line + 1
        ),
        format!(
            "entry k, line {} of its body, `@%r1 sub.u32 %r1, %f1, 4`: operand 2, `%f1`, is a .f32 register; expected a .u32 register or constant",
            line + 1
        ),
    ];
    assert_eq!(errors, expected);
}

#[test]
fn modules_and_entries_are_checked() {
    let text = |header: &str, params: &str, directives: &str, body: &str| {
        format!(
            "{header}\n.address_size 64\n.visible .entry k({params})\n{directives}\n{{\n{body}\nret;\n}}\n"
        )
    };
    let good = ".version 8.0 .target sm_90a";
    let cases = [
        (
            text(".version 8.0 .target hopper", "", "", ""),
            "`hopper` is not a target such as sm_90a",
        ),
        (
            text(".version 7.8 .target sm_90a", "", "", ""),
            "sm_90a needs PTX 8.0, but the module says 7.8",
        ),
        (
            text(
                ".version 8.0 .target sm_80",
                "",
                "",
                ".reg .u32 r;\nmov.u32 r, %cluster_ctarank;",
            ),
            "%cluster_ctarank needs sm_90, but the module says sm_80",
        ),
        (
            text(good, "", ".reqntid 1024, 2", ""),
            "`.reqntid` takes 1 to 3 numbers whose product is from 1 to 1024",
        ),
        (
            text(good, "", ".maxnreg", ""),
            "`.maxnreg` takes one number from 1 to 255",
        ),
        (
            text(good, "", ".reqntid 32 .maxntid 64", ""),
            "`.maxntid` and `.reqntid` exclude each other",
        ),
        (
            text(good, ".param .pred p", "", ""),
            "a parameter cannot be declared .pred",
        ),
        (
            text(good, "", ".reqnthreads 4", ""),
            "`.reqnthreads` is not a performance directive",
        ),
        (
            text(good, "", ".blocksareclusters", ""),
            ".blocksareclusters needs PTX 9.0, but the module says 8.0",
        ),
        (
            text(good, "", "", "setmaxnreg.inc.sync.aligned.u32 232;"),
            "setmaxnreg has no effect in an entry without .reqntid, .maxntid or .maxnreg; add one",
        ),
        (
            text(good, ".param .align 64 .b8 a[4096], .param .u32 b", "", ""),
            "4100 bytes of parameters are over the limit of 4096",
        ),
        (
            text(good, ".param .u32 a, .param .u32 a", "", ""),
            "`a` is declared twice",
        ),
        (
            text(good, "", "", ".reg .b32 %r<4000000000>;"),
            "4000000000 registers are over the limit of 1048576",
        ),
        (
            text(good, "", "", ".loc 1 2 3"),
            "the module has no `.file 1`",
        ),
        (
            text(good, "", "", "").replace(".visible", ".file 1 \"a\"\n.file 1 \"b\"\n.visible"),
            "`.file 1` is declared twice",
        ),
        (
            text(good, "", "", "").replace(".visible", ".file 1 \"a\\b\"\n.visible"),
            "`a\\b` cannot be the path of a file in PTX",
        ),
        (
            text(good, "", "", "again: again:"),
            "`again` is declared twice",
        ),
    ];
    for (text, message) in cases {
        let problems: Vec<String> = validate(&parse(&text).unwrap())
            .iter()
            .map(|error| error.problem.to_string())
            .collect();
        assert_eq!(problems, [message], "of {text}");
    }
}

#[test]
fn a_name_cannot_smuggle_text() {
    let mut module = module("8.0", "sm_90a", "");
    let Some(Item::Entry(entry)) = module.items.last_mut() else {
        panic!("no entry")
    };
    entry.body.push(Line::Label("end: trap; //".into()));
    assert_eq!(
        validate(&module)[0].problem.to_string(),
        "`end: trap; //` is not a PTX identifier"
    );
}

#[test]
fn the_version_follows_from_what_is_used() {
    let needs = |instruction: &str| module("8.0", "sm_90a", instruction).required_version();
    assert_eq!(needs("ret;"), (8, 0), "sm_90a itself");
    assert_eq!(
        needs("mbarrier.try_wait.relaxed.cta.shared::cta.b64 %p1, [bar], %rd1;"),
        (8, 6)
    );
    assert_eq!(needs("mov.u32 %r1, %aggr_smem_size;"), (8, 1));
}

#[test]
fn reports_of_the_assembler_are_taken_apart() {
    let report = Report::read(
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized in function 'k'\n\
         ptxas info    : 0 bytes gmem\n\
         ptxas info    : Compiling entry function 'k' for 'sm_90a'\n\
         ptxas info    : Function properties for k\n    \
             8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n\
         ptxas info    : Used 168 registers, used 1 barriers, 60000 bytes smem\n",
    );
    let usage = Usage {
        entry: "k".into(),
        registers: 168,
        spill_stores: 12,
        spill_loads: 16,
        stack: 8,
    };
    assert_eq!(report.entries, [usage]);
    assert_eq!(report.serialised().count(), 1);
    assert_eq!(report.complaints().len(), 2);
    let report = Report::read(
        "ptxas k.ptx, line 8; error   : Arguments mismatch for instruction 'add'\n\
         ptxas error   : Entry function 'k' uses too much shared data (0x493e0 bytes, 0x38c00 max)\n\
         ptxas fatal   : Ptx assembly aborted due to errors\n",
    );
    assert_eq!(report.complaints().len(), 2);
    assert_eq!(
        report.errors[0],
        (Some(8), "Arguments mismatch for instruction 'add'".into())
    );
}

/// Linear work takes four times as long for four times the size, quadratic work sixteen times. Nine is the limit, since
/// the host may be busy.
#[test]
fn floods_take_linear_time() {
    const TRIES: usize = 4;
    type Text = fn(usize) -> String;
    let floods: [(&str, usize, Text); 7] = [
        ("families", 10_000, |i| {
            format!(".reg .b32 %x{i}_<2>; mov.u32 %x{i}_1, 0;")
        }),
        ("families that begin alike", 10_000, |i| {
            format!(".reg .b32 %x{i}<1>; mov.u32 %x{i}0, 0;")
        }),
        ("one family again and again", 10_000, |i| {
            format!(".reg .b32 %x<1>; .reg .b32 %x{i}_;")
        }),
        ("registers", 10_000, |i| {
            format!(".reg .b32 x{i}; mov.u32 x{i}, 0;")
        }),
        ("labels", 10_000, |i| format!("L{i}: bra L{i};")),
        ("blocks", 5_000, |_| {
            "{ .reg .b32 x; mov.u32 x, 0; }".to_owned()
        }),
        ("errors", 5_000, |i| format!("mov.u32 %x{i}, 0;")),
    ];
    for (name, size, text) in floods {
        let time = |size: usize| {
            let lines: String = (0..size).map(|i| text(i) + "\n").collect();
            let start = clock();
            validate(&module("8.0", "sm_90a", &lines));
            clock() - start
        };
        let linear = (0..TRIES).any(|_| {
            let (small, large) = (time(size), time(4 * size));
            large <= 9 * small + Duration::from_millis(5)
        });
        assert!(linear, "{name}");
    }
}

/// The CPU time of this thread, where Linux reports it; else the time that has passed.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match statistics.split(' ').next().map(str::parse) {
        Some(Ok(nanoseconds)) => Duration::from_nanos(nanoseconds),
        _ => START.get_or_init(Instant::now).elapsed(),
    }
}
