//! Runs the built binary: the transcripts of the documentation and of `tests/transcripts`, pipes, files and bad input.

#![cfg(unix)]

use expect_test::{ExpectFile, expect_file};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Each line that begins with `$ ` in a block of kind `console` is run, and what it prints replaces the lines after it.
/// `UPDATE_EXPECT=1` writes the files anew.
#[test]
fn transcripts() {
    let folder = folder("transcripts");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::os::unix::fs::symlink(package.join("../examples"), folder.join("examples")).unwrap();
    let mut pages = vec![package.join("../README.md")];
    for place in ["tests/transcripts", "../docs"] {
        let entries = std::fs::read_dir(package.join(place)).unwrap();
        pages.extend(entries.map(|entry| entry.unwrap().path()));
    }
    let mut count = 0;
    for page in pages {
        if page.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&page).unwrap();
        if text.contains("\n```console\n") {
            expect_file![page].assert_eq(&replayed(&text, &folder));
            count += 1;
        }
    }
    assert!(count > 8, "{count} pages with commands");
}

/// The examples of introductions to layouts have the values that these give, or that `docs/errata.md` gives in their place.
#[test]
fn examples_of_introductions_hold() {
    for (file, least) in [
        ("layouts.cute", 126),
        ("algebra.cute", 98),
        ("others.cute", 50),
        ("run_time.cute", 11),
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/introductions");
        let path = format!("{folder}/{file}");
        let output = cute(&["check", &path, "--json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["failed"], 0, "{file}: {report:#}");
        assert!(report["passed"].as_u64() >= Some(least), "{file}: {report}");
    }
}

/// The last column of each table has words of these examples.
#[test]
fn errata_are_among_the_examples_of_introductions() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(package.join("tests/introductions")).unwrap();
    let files = files.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let examples: String = files.collect();
    let page = std::fs::read_to_string(package.join("../docs/errata.md")).unwrap();
    let mut count = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let checks = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for check in checks.split('`').skip(1).step_by(2) {
            assert!(examples.contains(check), "{check}");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

/// The commands of the page about pictures draw.
#[test]
fn pictures() {
    let folder = folder("pictures");
    let text = read(&expect_file!["../../docs/pictures.md"]);
    let commands: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("cute "))
        .collect();
    assert!(commands.len() > 10);
    for command in commands {
        let output = shell(command, &folder);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && error.is_empty(),
            "{command}: {error}"
        );
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let end = match path.extension().and_then(|end| end.to_str()) {
            Some("svg") => "</svg>\n",
            _ => "\\end{document}\n",
        };
        assert!(text.ends_with(end), "{}", path.display());
    }
}

/// The pictures of the guides are what their commands draw. `UPDATE_EXPECT=1` draws them anew.
#[test]
fn pictures_of_guides() {
    let folder = folder("pictures_of_guides");
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    let commands = std::fs::read_to_string(guides.join("commands.txt")).unwrap();
    let commands: Vec<_> = commands
        .lines()
        .filter(|line| line.starts_with("cute "))
        .collect();
    assert!(!commands.is_empty());
    for command in commands {
        let output = shell(command, &folder);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {error}");
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let kept = guides.join(path.file_name().unwrap());
        expect_file![kept].assert_eq(&std::fs::read_to_string(&path).unwrap());
    }
}

/// With `--json`, every command writes one document, also for wrong expressions.
#[test]
fn json_is_valid() {
    for (arguments, status, key) in [
        (&["eval", "(4,8):(8,1)"][..], 0, "shape"),
        (
            &["eval", "where m % 4 == 0; (m,n) / <4,2>"],
            0,
            "conditions",
        ),
        (
            &["eval", "wgmma_operand(smem_atom(K, SW128, 16), 16)"],
            0,
            "results",
        ),
        (&["eval", "Sw<3,4,3> o (8,64):(64,1)"], 0, "swizzle"),
        (&["eval", "(4,4):(1@0,1@1)"], 0, "stride"),
        (&["eval", "<4:1,_>"], 0, "value"),
        (&["eval", "(4,"], 1, "error"),
        (&["table", "(4,8)"], 0, "rows"),
        (&["table", "_"], 1, "error"),
        (&["svg", "(4,8)"], 0, "picture"),
        (&["svg", "size(4)", "--tiler", "<"], 1, "error"),
        (&["latex", "(4,8)"], 0, "picture"),
        (&["latex", "m"], 1, "error"),
        (&["explain", "(4,8) / <2,4>"], 0, "steps"),
        (&["compare", "8:1", "8:2"], 1, "difference"),
        (&["compare", "8:1", "8:"], 1, "error"),
        (&["banks", "(32,32):(32,1)", "32:1"], 0, "better"),
        (&["banks", "8:1", "16:1"], 1, "error"),
        (&["coalescing", "(32,32):(32,1)", "32:1"], 0, "sectors"),
        (&["coalescing", "8:1", "16:1"], 1, "error"),
        (&["check", "/dev/null"], 0, "passed"),
    ] {
        let output = cute(arguments).arg("--json").output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(document.get(key).is_some(), "{arguments:?}: {document}");
    }
    for (arguments, count) in [(&["eval", "4", "5", "("][..], 3), (&["eval", "A = 4"], 0)] {
        let output = cute(arguments).arg("--json").output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document.as_array().map(Vec::len), Some(count));
    }
    let list = cute(&["operations", "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert!(list.as_array().unwrap().len() > 100);
    let text = |key| list[0][key].as_str().unwrap();
    assert_eq!(text("group"), "construct");
    assert_eq!(text("value"), "(2,(3,4)):(1,(2,6))");
    assert_eq!(list[2]["refused"], "make_ordered_layout((2,3,4), (1,0))");
}

/// A group lists its operations, and those of other groups that have the word in their names.
#[test]
fn operations_are_found_by_group_and_by_name() {
    let names = |word: &str| -> Vec<String> {
        let output = cute(&["operations", word, "--json"]).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = list.as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("elements"), ["upcast", "downcast", "recast"]);
    assert_eq!(names("inverse"), ["right_inverse", "left_inverse"]);
    assert!(names("divide").contains(&"evenly_divides".to_owned()));
    let output = cute(&["operations", "invrse"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("the nearest are right_inverse, left_inverse, "),
        "{error}"
    );
}

/// Whoever closes the pipe early gets no message.
#[test]
fn a_closed_pipe_ends_quietly() {
    for arguments in [
        &["table", "(256,256)"][..],
        &["svg", "(256,256)"],
        &["operations"],
        &["svg", "(256,256)", "--json"],
    ] {
        let mut child = cute(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}

#[test]
fn standard_input_is_read() {
    let session = "A = (4,8) # a comment\nA o (2,\n  4)\n\nsize(A)/2\n";
    for arguments in [&["eval"][..], &["eval", "-"], &["eval", "-f", "-"], &[]] {
        let output = with_input(arguments, session);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "(2,4):(1,4)\n16\n",
            "{arguments:?}"
        );
        assert!(output.status.success());
    }
    assert!(with_input(&["table", "-"], "(2,2)").status.success());
    assert!(
        with_input(&["svg", "-"], "(2,2)")
            .stdout
            .starts_with(b"<svg")
    );
    assert_eq!(
        with_input(&["check", "-"], "size((2,2)) == 4").stdout,
        b"1 passed, 0 failed\n"
    );
    // The definitions of a file serve the expressions of the command line.
    let output = with_input(&["eval", "A", "-f", "-", "-D", "B=2"], "A = (B,4)\n7");
    assert_eq!(output.stdout, b"(2,4):(1,2)\n");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let escape = b'\x1b';
    let plain = cute(&["eval", "("]).output().unwrap();
    assert!(!plain.stderr.contains(&escape));
    let forced = cute(&["eval", "("])
        .env("CLICOLOR_FORCE", "1")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    assert!(forced.stderr.contains(&escape));
    let none = cute(&["eval", "("])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!none.stderr.contains(&escape));
}

/// 2 for a wrong command line, 1 for a wrong expression, and never a panic.
#[test]
fn bad_input() {
    let deep = "(".repeat(100_000);
    for (arguments, status) in [
        (&["eval", "--no-such-option"][..], 2),
        (&["no-such-command"], 2),
        (&["table", "4", "5", "--slice"], 2),
        (&["svg", "4", "5"], 2),
        (&["latex", "4", "5"], 2),
        (&["svg", "4", "--color-by", "nothing"], 2),
        (&["svg", "4", "--data", "4", "--tiler", "4"], 2),
        (&["compare", "4"], 2),
        (&["banks", "4"], 2),
        (&["coalescing", "4", "4", "--bits", "x"], 2),
        (&["check"], 2),
        (&["completions", "no-such-shell"], 2),
        (&["man", "no-such-command"], 2),
        (&["operations", "no-such-word"], 2),
        (&["operations", "no-such-word", "--json"], 2),
        (&["eval", &deep], 1),
        (&["eval", ""], 1),
        (&["eval", "9999999999999999999"], 1),
        (&["eval", "9223372036854775807 + 1"], 1),
        (&["eval", "-9223372036854775808 / -1"], 1),
        (&["eval", "4 / 0"], 1),
        (&["eval", "4 % 0"], 1),
        (&["eval", "é = 4", "é o ∘"], 1),
        (&["eval", "o = 4"], 1),
        (&["eval", "A = A"], 1),
        (&["eval", "-D", "A", "A"], 1),
        (&["table", "(1000,1000)"], 1),
        (&["table", "(4,8)", "--slice", "(4,_)"], 1),
        (&["table", "(4,8)", "--slice", "(_,_,_)"], 1),
        (&["svg", "(4,8)", "--slice", "(-1,_)"], 1),
        (&["svg", "tiled_mma(X, 1, _)"], 1),
        (&["svg", "(4,8)", "-o", "/no/such/folder/file.svg"], 1),
        (&["latex", "8:1", "--tiler", "(_"], 1),
        (&["explain", "8:1 o 9:"], 1),
        (&["compare", "8:1", "Sw<1,0,1>"], 1),
        (&["banks", "8:1", "8:1", "--bits", "7"], 1),
        (&["coalescing", "8:1", "9:1"], 1),
        (&["check", "/no/such/file"], 1),
    ] {
        let output = cute(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
        assert!(
            error.starts_with("error: ") && !error.contains("panicked"),
            "{arguments:?}: {error}"
        );
    }
}

/// A device without an end is refused, whatever reads it.
#[test]
fn endless_input_is_refused() {
    let endless = || std::fs::File::open("/dev/zero").unwrap();
    for arguments in [
        &["eval", "-f", "/dev/zero"][..],
        &["check", "/dev/zero"],
        &["eval"],
        &["eval", "-"],
        &[],
    ] {
        let output = cute(arguments).stdin(endless()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(
            error.contains("it has more than 16777216 bytes"),
            "{arguments:?}: {error}"
        );
    }
}

/// Whether the command is there or not, it is listed, and its absence names the feature.
/// What an error says, as JSON.
fn refused(arguments: &[&str]) -> String {
    let output = cute(arguments).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_unknown_name_suggests_a_defined_one() {
    let error = refused(&["eval", "PART = (128,4):(4,1)", "size(PRAT)"]);
    assert!(error.contains("did you mean `PART`?"), "{error}");
    let error = refused(&["eval", "PART = (128,4):(4,1)", "size(LAYOUT)"]);
    assert!(error.contains("run-time integer"), "{error}");
}

/// `ragged` stands in an expression, so it is no advice for an argument.
#[test]
fn an_access_outside_of_the_tensor_has_no_advice_that_cannot_be_followed() {
    for (pattern, reached) in [
        ("(128,5):(4@1,1@1)", "coordinate 512 of mode 1"),
        ("(128,4):(4@0,1@1)", "mode 0"),
    ] {
        let error = refused(&["coalescing", "(1,512):(512,1)", pattern]);
        assert!(error.contains(reached), "{error}");
        assert!(!error.contains("ragged"), "{error}");
    }
}

#[test]
fn ptx_is_a_feature() {
    let help = cute(&["--help"]).output().unwrap();
    let is_listed = String::from_utf8_lossy(&help.stdout).contains("PTX of the kernels");
    assert_eq!(is_listed, cfg!(feature = "ptx"));
    let output = cute(&["ptx", "/dev/null"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let expected = match cfg!(feature = "ptx") {
        true => "there is no module of kernels in this file",
        false => "cargo install --path cute-cli --features ptx",
    };
    assert!(error.contains(expected), "{error}");
}

#[test]
#[cfg(feature = "ptx")]
fn ptx_of_a_file() {
    let text = "#[kernels]\nmod m {\n    #[kernel(threads = 32)]\n    #[instance(two: N = 2)]\n    #[instance(open: N = _)]\n    \
                pub fn k<const N: u32>(n: u32) {}\n}\n";
    let output = with_input(&["ptx", "-", "--json"], text);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let instance = &document["instances"][0];
    assert_eq!(
        (&instance["module"], &instance["name"]),
        (&"m".into(), &"two".into())
    );
    assert_eq!(instance["threads"], 32);
    assert!(
        instance["ptx"]
            .as_str()
            .unwrap()
            .contains(".visible .entry two(")
    );
    assert_eq!(document["open"][0]["values"][0], "N");

    let listed = with_input(&["ptx", "-", "--list", "--json"], text);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(listed["instances"][0].get("ptx").is_none());

    let wrong = text.replace("{}", "{ let x = y; }");
    let failed = with_input(&["ptx", "-", "--json"], &wrong);
    assert_eq!(failed.status.code(), Some(1));
    let failed: serde_json::Value = serde_json::from_slice(&failed.stdout).unwrap();
    let error = &failed["error"];
    assert_eq!((&error["line"], &error["token"]), (&6.into(), &"y".into()));
    let unknown = with_input(&["ptx", "-", "--json", "three"], text);
    let unknown = String::from_utf8(unknown.stdout).unwrap();
    assert!(
        unknown.contains("the file has `m::two`, `m::open`"),
        "{unknown}"
    );
    for (arguments, status) in [
        (&["ptx", "-", "--json", "two"][..], 0),
        (&["ptx", "-", "--json", "open"], 1),
        (&["ptx", "-", "--json", "m::two"], 0),
        (&["ptx", "-", "--json", "n::two"], 1),
        (&["ptx", "-", "--json", "three"], 1),
        (&["ptx", "-", "--json", "--module", "m"], 0),
        (&["ptx", "-", "--json", "--module", "n"], 1),
    ] {
        assert_eq!(
            with_input(arguments, text).status.code(),
            Some(status),
            "{arguments:?}"
        );
    }
    // Neither nesting nor broken text stops the process.
    for text in [
        "(".repeat(100_000),
        "{".repeat(1000) + &"}".repeat(1000),
        "\"".to_owned(),
    ] {
        assert_eq!(
            with_input(&["ptx", "-", "--json"], &text).status.code(),
            Some(1)
        );
    }
}

/// Two modules, one of them in another, with an instance of the same name.
#[cfg(feature = "ptx")]
const MODULES: &str = "use cute_runtime::kernels;\n\
    #[kernels]\nmod scans {\n    #[kernel(threads = 32)]\n    pub fn by_hand(n: u32) {}\n    \
    #[kernel(threads = 32)]\n    pub fn center(n: u32) {}\n}\n\
    mod outer {\n    #[kernels]\n    mod inner {\n        #[kernel(threads = 32)]\n        pub fn center(n: u32) {}\n    }\n}\n";

/// What `cute ptx` writes about [`MODULES`]: the names of the instances, or the error.
#[cfg(feature = "ptx")]
fn instances(arguments: &[&str]) -> Result<Vec<String>, serde_json::Value> {
    let arguments = [&["ptx", "-", "--json"], arguments].concat();
    let output = with_input(&arguments, MODULES);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    match document.get("instances").and_then(|list| list.as_array()) {
        Some(list) => {
            let text = |it: &serde_json::Value, key| it[key].as_str().unwrap().to_owned();
            let name = |it| format!("{}::{}", text(it, "module"), text(it, "name"));
            Ok(list.iter().map(name).collect())
        }
        None => Err(document["error"].clone()),
    }
}

/// Each name that `--list` prints is accepted, and so is the name alone.
#[test]
#[cfg(feature = "ptx")]
fn ptx_instances_are_named_as_listed() {
    let all = instances(&["--list"]).unwrap();
    assert_eq!(
        all,
        ["scans::by_hand", "scans::center", "outer::inner::center"]
    );
    for name in &all {
        assert_eq!(instances(&[name]).unwrap(), [name.as_str()]);
    }
    assert_eq!(instances(&["by_hand"]).unwrap(), ["scans::by_hand"]);
    assert_eq!(
        instances(&["inner::center"]).unwrap(),
        ["outer::inner::center"]
    );
    assert_eq!(instances(&["center"]).unwrap().len(), 2);
    for part in ["hand", "", "::by_hand", "ns::by_hand"] {
        assert!(instances(&[part]).is_err(), "{part}");
    }
}

/// The error of an instance or a module that is not there names the nearest, or else all, and shows the wrong name.
#[test]
#[cfg(feature = "ptx")]
fn ptx_names_near_instances_and_modules() {
    let all = "the file has `scans::by_hand`, `scans::center`, `outer::inner::center`";
    let modules = "the file has `scans`, `outer::inner`";
    for (arguments, help) in [
        (&["by_hnad"][..], "did you mean `scans::by_hand`?"),
        (&["scan::by_hand"], "did you mean `scans::by_hand`?"),
        (
            &["cneter"],
            "did you mean `scans::center` or `outer::inner::center`?",
        ),
        (&["something_else"], all),
        (&["--module", "scan"], "did you mean `scans`?"),
        (&["--module", "iner"], "did you mean `outer::inner`?"),
        (&["--module", "something_else"], modules),
    ] {
        let error = instances(arguments).unwrap_err();
        assert_eq!(error["help"], help);
        assert_eq!(error["token"], *arguments.last().unwrap());
        assert!(error["file"].is_null());
    }
}

/// `-o` writes what would be printed.
#[test]
#[cfg(feature = "ptx")]
fn ptx_is_written_to_a_file() {
    let file = folder("ptx_is_written_to_a_file").join("kernels.ptx");
    let path = file.to_str().unwrap();
    for arguments in [
        &["ptx", "-"][..],
        &["ptx", "-", "by_hand"],
        &["ptx", "-", "--list"],
    ] {
        let printed = with_input(arguments, MODULES).stdout;
        let written = with_input(&[arguments, &["-o", path]].concat(), MODULES);
        assert!(written.status.success() && written.stdout.is_empty());
        assert_eq!(std::fs::read(&file).unwrap(), printed);
    }
    let output = with_input(&["ptx", "-", "-o", path, "--json"], MODULES);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["output"], path);
    assert!(document["instances"][0].get("ptx").is_none());
    let refused = with_input(&["ptx", "-", "-o", "/no/such/folder/file.ptx"], MODULES);
    assert_eq!(refused.status.code(), Some(1));
}

/// The notation knows all functions of the kernel language. `UPDATE_EXPECT=1` writes their table anew.
#[test]
#[cfg(feature = "ptx")]
fn functions_of_kernels_are_named() {
    use cute_algebra::{notation, operations};
    let signatures = cute_lang::kernel::builtins::signatures();
    let name = |signature: &str| signature.split(['(', ':']).next().unwrap().to_owned();
    let signatures: std::collections::BTreeSet<&str> = signatures
        .filter(|signature| operations::find(&name(signature)).is_none())
        .collect();
    let mut text = String::from(
        "//! The functions of the kernel language that the notation does not have, for the error of a call.\n\n\
         // The test `functions_of_kernels_are_named` of cute-cli writes this file:\n\
         // UPDATE_EXPECT=1 cargo test -p cute-cli --features ptx --test cli -- functions_of_kernels\n\n\
         /// How they are called.\npub(super) const SIGNATURES: &[&str] = &[\n",
    );
    for signature in &signatures {
        text += &format!("    {signature:?},\n");
    }
    text += "];\n";
    expect_file!["../../cute-algebra/src/notation/kernel_functions.rs"].assert_eq(&text);
    for signature in signatures {
        let error = notation::eval_str(&format!("{}(8:1)", name(signature))).unwrap_err();
        let note = error.note.unwrap_or_default();
        assert!(note.contains("is a function of kernels"), "{signature}");
    }
}

/// An unknown name is corrected to a defined one, wherever both stand.
#[test]
fn mistyped_names_are_corrected() {
    let help = "did you mean `PART`?";
    let folder = folder("mistyped_names_are_corrected");
    let (definitions, expectations) = (folder.join("a.cute"), folder.join("b.cute"));
    std::fs::write(&definitions, "PART = (128,4):(4,1)\n").unwrap();
    std::fs::write(&expectations, "PART = (m,4)\nsize(PRAT) == 4\n").unwrap();
    let (definitions, expectations) = (
        definitions.to_str().unwrap(),
        expectations.to_str().unwrap(),
    );
    for arguments in [
        &["eval", "PART = (128,4):(4,1)", "size(PRAT)"][..],
        &["eval", "PART = (m,4)", "PRAT o 4"],
        &["eval", "-D", "PART=8", "A = size(Part)"],
        &["eval", "-f", definitions, "PARTS o 4"],
        &["explain", "-D", "PART=8", "size(PRAT)"],
        &["table", "-D", "PART=8", "PRAT"],
        &["compare", "-D", "PART=8", "8:1", "PRAT"],
        &[
            "svg",
            "-D",
            "PART=8",
            "tiled_copy(UniversalCopy<u128>, 16, PRAT, 4)",
        ],
        &["check", expectations],
    ] {
        let output = cute(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(help), "{arguments:?}: {error}");
    }
    // The prompt.
    let mut child = cute(&["--json"]);
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"PART = 8:1\nsize(PRAT)\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(help));
    // Numbers are needed, and the integer is almost a defined one; `n` is not almost `m`.
    for (expression, is_corrected) in [("(tiel,4)", true), ("(n,4)", false)] {
        let arguments = ["table", "-D", "tile=8", "-D", "m=8", expression];
        let output = cute(&arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error.contains("did you mean"), is_corrected, "{error}");
    }
    // Without a near name, the help is that of a run-time integer.
    let output = cute(&["eval", "-D", "PART=8", "size(QQQQ)"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("`{QQQQ}`"));
}

/// An access outside of the memory names the mode, and no `ragged`, which an access does not have.
#[test]
fn accesses_outside_of_the_memory() {
    for (access, message) in [
        (
            "(128,5):(4@1,1@1)",
            "this reaches coordinate 512 of mode 1, where the memory of shape (1,512) has 512",
        ),
        (
            "(128,4):(4@0,1@0)",
            "this reaches coordinate 511 of mode 0, where the memory of shape (1,512) has 1",
        ),
        (
            "(128,4):(4@1,-1@1)",
            "this reaches coordinate -3 of mode 1, which is below 0",
        ),
    ] {
        for command in ["coalescing", "banks"] {
            let arguments = [command, "(1,512):(512,1)", access, "--json"];
            let output = cute(&arguments).output().unwrap();
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(document["error"]["message"], message);
        }
    }
}

/// The vector of an access of row 0 is that of all rows only if each row begins at a multiple of it.
#[test]
fn vectors_at_other_places() {
    for (memory, access, vector, elsewhere) in [
        ("(37,1003):(1003,1)", "(128,4):(4@1,1@1)", 4, 1),
        ("(37,1002):(1002,1)", "(128,4):(4@1,1@1)", 4, 2),
        ("(37,1004):(1004,1)", "(128,4):(4@1,1@1)", 4, 4),
        // There is no other row.
        ("(1,1003):(1003,1)", "(128,4):(4@1,1@1)", 4, 4),
        // The access has the odd rows as well.
        ("(37,1003):(1003,1)", "((2,64),4):((1@0,4@1),1@1)", 1, 1),
        // It has only rows that begin at multiples.
        ("(37,1003):(1003,1)", "((2,64),4):((4@0,4@1),1@1)", 4, 1),
        // The elements of a vector run through two modes.
        ("(37,(2,512)):(1024,(1,2))", "(128,4):(4@1,1@1)", 4, 4),
        ("37111:1", "(128,4):(4,1)", 4, 4),
        ("(8,32):(-33,1)", "(8,4):(4@1,1@1)", 4, 1),
        ("(8,32):(0,1)", "(8,4):(4@1,1@1)", 4, 4),
        ("Sw<1,1,4> o (8,32):(32,1)", "(4,4):(4@1,1@1)", 4, 2),
    ] {
        for command in ["coalescing", "banks"] {
            let output = cute(&[command, memory, access, "--json"]).output().unwrap();
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let found = [&document["vector"], &document["vector_elsewhere"]];
            assert_eq!(found, [vector, elsewhere], "{memory} {access}: {document}");
            let output = cute(&[command, memory, access]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            let is_told = text.contains("\nat other places ");
            assert_eq!(is_told, elsewhere < vector, "{memory} {access}: {text}");
        }
    }
}

/// Layouts whose values are coordinates are compared as those of integers are.
#[test]
fn coordinates_are_compared() {
    for (a, b, status, text) in [
        (
            "(8,4):(4@1,1@0)",
            "(8,4):(4@1,1@0)",
            0,
            "equal: the same shape and stride\n",
        ),
        (
            "(8,4):(1@1,8@1)",
            "32:1@1",
            0,
            "equal as functions, with the shapes (8,4) and 32\n",
        ),
        (
            "(8,4):(4@1,1@1)",
            "(8,4):(4@1,1@0)",
            1,
            "different\nat coordinate 8\n  A(0,1) = (0,1)\n  B(0,1) = (1,0)\n",
        ),
        (
            "(8,4):(4@1,1@1)",
            "(8,5):(4@1,1@1)",
            1,
            "different: A has 32 coordinates, and B has 40; the first 32 values are equal\n",
        ),
    ] {
        let output = cute(&["compare", a, b]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), text);
        assert_eq!(output.status.code(), Some(status));
    }
    for (a, b, help) in [
        ("32:1", "32:1@1", "`L o B`"),
        ("32:1@1", "Sw<1,0,1> o 32:1", "`L o A`"),
    ] {
        let output = cute(&["compare", a, b]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(help), "{error}");
    }
}

/// A command that finds no expression says so, and where it looks.
#[test]
fn commands_without_expressions_say_what_they_expect() {
    for arguments in [
        &["eval"][..],
        &["eval", "-"],
        &["eval", "-D", "A=4"],
        &["table"],
        &["explain"],
        &["svg"],
    ] {
        let output = cute(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            error.starts_with("error: expected an expression, such as `(4,8):(8,1)`"),
            "{arguments:?}: {error}"
        );
    }
    // Definitions are statements.
    let output = cute(&["eval", "A = 4"]).output().unwrap();
    assert!(output.status.success());
}

/// The help of a command begins with the option for layouts of threads.
#[test]
fn help_says_how_threads_are_drawn() {
    for command in ["svg", "latex"] {
        let output = cute(&[command, "--help"]).output().unwrap();
        let help = String::from_utf8_lossy(&output.stdout);
        let first = help.lines().next().unwrap();
        assert!(first.contains("`--data`"), "{first}");
    }
}

/// The conditions of a value are the facts that it was computed under, and those that do not follow from them.
#[test]
fn conditions_have_the_stated_facts() {
    for (text, conditions) in [
        ("where c % 4 == 0; (r,c):(c,1)", &["c % 4 == 0"][..]),
        (
            "where m % 64 == 0; logical_divide((m,8), <64,_>)",
            &["m % 64 == 0", "m >= 1"],
        ),
        (
            "where m % 64 == 0, m >= 1; logical_divide((m,8), <64,_>)",
            &["m % 64 == 0", "m >= 1"],
        ),
    ] {
        let output = cute(&["eval", "--json", text]).output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = document["conditions"].as_array().unwrap();
        let has = |condition: &&str| found.iter().any(|it| it == condition);
        assert!(conditions.iter().all(has), "{text}: {document}");
    }
}

#[test]
fn completions_and_manual() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = cute(&["completions", shell]).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("coalescing"),
            "{shell}"
        );
    }
    for arguments in [&["man"][..], &["man", "svg"], &["man", "ptx"]] {
        let output = cute(arguments).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(".TH "),
            "{arguments:?}"
        );
    }
    assert!(
        cute(&["--version"])
            .output()
            .unwrap()
            .stdout
            .starts_with(b"cute ")
    );
}

fn cute(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cute"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("CLICOLOR_FORCE");
    command
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    let mut command = cute(arguments);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    let mut child = child.unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// An empty folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(file: &ExpectFile) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(&file.path);
    std::fs::read_to_string(path).unwrap()
}

/// The text, with what its commands print now. Without the feature `ptx`, what `cute ptx` prints stays as it is.
fn replayed(text: &str, folder: &Path) -> String {
    let (mut replayed, mut is_console) = (String::new(), false);
    let mut is_kept = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if let Some(command) = command {
            is_kept = !cfg!(feature = "ptx") && command.contains("cute ptx");
        }
        if command.is_none() && is_console && !is_kept && !line.starts_with("```") {
            continue;
        }
        replayed += &format!("{line}\n");
        if let Some(command) = command.filter(|_| !is_kept) {
            let output = shell(&format!("{{ {command}; }} 2>&1"), folder);
            replayed += &String::from_utf8_lossy(&output.stdout);
            if let Some(status) = output.status.code().filter(|status| *status != 0) {
                replayed += &format!("[exit status {status}]\n");
            }
        }
    }
    replayed
}

/// Runs a command in the folder, in which `cute` is the built binary.
fn shell(command: &str, folder: &Path) -> Output {
    let binaries = Path::new(env!("CARGO_BIN_EXE_cute"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("CLICOLOR_FORCE");
    shell
        .env("PATH", format!("{binaries}:{path}"))
        .output()
        .unwrap()
}
