//! The command `sanitize` on right and on broken kernels.

use std::ffi::OsString;
use std::path::Path;

use cute_examples::sanitize;
use serde_json::Value;

/// The exit code and what is printed.
fn run(arguments: &[&str]) -> (u8, String) {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let mut out = Vec::new();
    let code = sanitize::main(arguments, &mut out);
    (code, String::from_utf8(out).unwrap())
}

fn read_json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Two warps exchange numbers by way of shared memory.
const EXCHANGE: &str = "
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry exchange(.param .u64 out, .param .u32 first)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r4, [first];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, smem;
    mad.lo.u32 %r2, %r0, 4, %r1;
    add.u32 %r4, %r4, %r0;
    st.shared.u32 [%r2], %r0;
    bar.sync 0;
    st.shared.u32 [%r2], %r4;
    bar.sync 0;
    xor.b32 %r3, %r0, 63;
    mad.lo.u32 %r3, %r3, 4, %r1;
    ld.shared.u32 %r5, [%r3];
    mad.wide.u32 %rd1, %r0, 4, %rd0;
    st.global.u32 [%rd1], %r5;
    ret;
}
";

/// The description of a launch of PTX, in files of a folder.
fn described(folder: &Path, ptx: &str) -> String {
    std::fs::write(folder.join("exchange.ptx"), ptx).unwrap();
    let description = r#"{
        "ptx": "exchange.ptx", "block": [64], "shared": 256,
        "parameters": [{ "buffer": 256 }, { "u32": 5 }]
    }"#;
    let file = folder.join("launch.json");
    std::fs::write(&file, description).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_right_kernel_has_a_report_without_faults() {
    let folder = tempfile::tempdir().unwrap();
    let (json, trace) = (
        folder.path().join("report.json"),
        folder.path().join("trace.json"),
    );
    let (code, report) = run(&[
        "--schedules=5",
        "--seed=3",
        "--shape=1000",
        "--json",
        json.to_str().unwrap(),
        "--trace",
        trace.to_str().unwrap(),
        "histogram",
    ]);
    assert_eq!(code, 0, "{report}");
    for part in [
        "histogram 1000: 5 launches\n    warp instructions  ",
        "\n    shared memory      ",
        "\n1 cases under 5 schedules, 5 launches: nothing is wrong\n",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let report = read_json(&json);
    assert_eq!(
        (&report["failed"], &report["schedules"]),
        (&false.into(), &5.into())
    );
    let counts = &report["cases"][0]["counts"];
    assert!(
        counts["instructions"]["memory"].as_u64().unwrap() > 0,
        "{counts}"
    );
    let events = read_json(&trace);
    assert!(events["traceEvents"].as_array().unwrap().len() > 10);
}

#[test]
fn a_broken_kernel_is_reported_with_both_accesses() {
    let folder = tempfile::tempdir().unwrap();
    let (code, report) = run(&["--schedules=5", &described(folder.path(), EXCHANGE)]);
    assert_eq!(code, 0, "{report}");

    let broken = EXCHANGE.replace("%r4;\n    bar.sync 0;\n", "%r4;\n");
    let json = folder.path().join("report.json");
    let file = described(folder.path(), &broken);
    let (code, report) = run(&["--schedules=5", "--json", json.to_str().unwrap(), &file]);
    assert_eq!(code, 1, "{report}");
    for part in [
        "fault under ",
        "races at shared address 0x4",
        "st.shared.u32 [%r2], %r4",
        "ld.shared.u32 %r5, [%r3]",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let described = std::fs::read_to_string(&file).unwrap();
    let without = described.replace("\"block\"", "\"without\": [\"order\"], \"block\"");
    std::fs::write(&file, without).unwrap();
    let (_, of_fewer) = run(&["--schedules=5", &file]);
    assert!(!of_fewer.contains("races"), "{of_fewer}");
    let findings = read_json(&json)["cases"][0]["findings"].clone();
    assert!(
        findings[0]["schedules"].as_u64().unwrap() >= 1,
        "{findings}"
    );
}

#[test]
fn mistakes_of_the_user_are_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = described(folder.path(), EXCHANGE);
    for arguments in [
        &["gem"][..],
        &[],
        &["--schedules=0", "sum"],
        &["--shape=1,2", "sum"],
        &["--shape=a", "sum"],
        &["--loud", "sum"],
        &["missing.json"],
    ] {
        assert_eq!(run(arguments), (2, String::new()), "{arguments:?}");
    }
    for (from, to) in [
        ("exchange.ptx\"", "missing.ptx\""),
        ("\"block\": [64]", "\"block\": 64"),
        ("\"shared\"", "\"share\""),
        ("\"u32\": 5", "\"u32\": -5"),
        ("\"u32\": 5", "\"u128\": 5"),
        ("}]", "}"),
        ("\"block\"", "\"without\": [\"races\"], \"block\""),
    ] {
        let described = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, described.replace(from, to)).unwrap();
        assert_eq!(run(&[&file]), (2, String::new()), "{to}");
        std::fs::write(&file, described).unwrap();
    }
    // A parameter that is missing is an error of the launch.
    let described = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, described.replace(", { \"u32\": 5 }", "")).unwrap();
    let (code, report) = run(&[&file]);
    assert!(
        code == 1 && report.contains("1 argument, but the entry has 2 parameters"),
        "{report}"
    );
}

#[test]
fn help_lists_the_kernels() {
    let (code, help) = run(&["--help"]);
    assert_eq!(code, 0);
    // The names of the kernels are in a column that is as wide as the longest.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "usage: sanitize",
        "--schedules N",
        " gemm m,n,k: 520 x 200 x 384; ",
    ] {
        assert!(help.contains(part), "{part}\n{help}");
    }
}
