//! What the README says of other files of the repository: figures, versions, lists and limits are those of the files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The ratios to cuBLASLt are those of the table in `docs/performance.md`.
#[test]
fn ratios_are_those_of_the_table() {
    let page = read("docs/performance.md");
    let (_, table) = page.split_once("\n| A, B | D | large |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
    let number = |text: &str| text.parse::<f64>().unwrap();
    let (mut means, mut least) = (Vec::new(), f64::INFINITY);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let (all, classes) = cells[2..].split_last().unwrap();
        means.push(number(all));
        for class in classes.iter().filter(|class| !class.trim().is_empty()) {
            // The geometric mean, the least ratio, and in parentheses of how many.
            let (_, ratio) = class.split_once(", ").unwrap();
            least = least.min(number(ratio.split(' ').next().unwrap()));
        }
    }
    assert!(means.len() > 5);
    means.sort_by(f64::total_cmp);
    let (low, high) = (means[0], means[means.len() - 1]);
    let page = words(&page);
    let (count, _) = page.split_once(" ratios are below 0.92").unwrap();
    let count: Vec<&str> = count.rsplit(' ').take(3).collect();
    let [compared, _, below] = count[..] else {
        panic!("{count:?}");
    };
    assert!(page.contains(&format!("an algorithm for {compared} and")));
    let says = format!(
        "On an H100, the geometric mean of our speed over cuBLASLt's is {low:.2} to {high:.2} for each pair of types; of {compared} \
         ratios, {below} are below 0.92, and the least is {least:.2}."
    );
    assert!(words(&read("README.md")).contains(&says), "{says}");
}

/// What the README says of random products is a row of their table in `docs/performance.md`.
#[test]
fn random_products_are_those_of_the_page() {
    let page = read("docs/performance.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| all three |"))
        .unwrap();
    let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").skip(1).collect();
    let mut count = 0;
    let figures: Vec<String> = cells
        .iter()
        .flat_map(|cell| {
            let parts: Vec<&str> = cell.split(", ").collect();
            let of: u32 = parts[2].rsplit(' ').next().unwrap().parse().unwrap();
            count += of;
            [parts[0], parts[1]].map(|number| format!("{:.2}", number.parse::<f64>().unwrap()))
        })
        .collect();
    let [few, few_least, some, some_least, many, many_least] = &figures[..] else {
        panic!("{figures:?}");
    };
    let says = format!(
        "Of {count} random products of bf16 on an H200, the geometric mean of our speed over cuBLASLt's is {few} with up to 16 rows, \
         with the least at {few_least}; {some} with up to 512 rows, the least at {some_least}; and {many} with more, the least at \
         {many_least}."
    );
    assert!(words(&read("README.md")).contains(&says), "{says}");
}

/// The slow shapes that the README names are the slowest of "What is missing" of `docs/performance.md`.
#[test]
fn slow_shapes_are_those_of_the_page() {
    let (page, readme) = (read("docs/performance.md"), words(&read("README.md")));
    let (_, table) = page.split_once("\n| M × N × K | ratio | before |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
    let ratios = rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let shapes: Vec<&str> = cells[0].split(", ").collect();
        // A row without a ratio says in the last cell what other tiles reach.
        let ratios = cells[1]
            .split(", ")
            .filter_map(|ratio| ratio.parse::<f64>().ok());
        let pairs: Vec<(f64, &str)> = ratios.zip(shapes).collect();
        pairs
    });
    let (ratio, shape) = ratios.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let says = format!("Other shapes can be slower: {shape} of bf16 is at {ratio:.2},");
    assert!(readme.contains(&says), "{says}");

    let (_, copied) = page.split_once("64 × 8192 × 8192 + 1 is at ").unwrap();
    let (ratio, _) = copied.split_once(" of `f32`").unwrap();
    let says = format!("and 64 × 8192 × 8193 of f32, whose B is copied first, at {ratio}.");
    assert!(readme.contains(&says), "{says}");
}

/// The machine and the driver of the table of what is tested are those of `docs/performance.md`.
#[test]
fn the_tested_machine_is_that_of_the_measurements() {
    let page = read("docs/performance.md");
    for (row, tested) in [("GPU", "H100 80GB HBM3"), ("driver", "580.159.04")] {
        let readme = read("README.md");
        let row = readme
            .lines()
            .find(|line| line.starts_with(&format!("| {row} |")));
        assert!(row.unwrap().contains(tested), "{tested}");
        assert!(page.contains(tested), "{tested}");
    }
}

#[test]
fn versions_are_those_of_the_manifests() {
    let readme = words(&read("README.md"));
    let manifest = read("Cargo.toml");
    let package = section(&manifest, "[workspace.package]");
    let oldest = value(package, "rust-version");
    assert!(readme.contains(&format!("stable, {oldest} or later")));
    let version = value(package, "version");
    let (short, _) = version.rsplit_once('.').unwrap();
    for says in [
        format!("Version {short}: names may change."),
        format!("new, version {short} |"),
    ] {
        assert!(readme.contains(&says), "{says}");
    }

    // The pinned toolchain is a release, and no older than what is promised.
    let toolchain = read("rust-toolchain.toml");
    let numbers = |version: &str| -> Vec<u32> {
        version
            .split('.')
            .map(|number| number.parse().expect("a release of Rust"))
            .collect()
    };
    assert!(numbers(value(&toolchain, "channel")) >= numbers(oldest));

    // The errors of the runtime name the version of CUDA that the README asks for.
    let errors = read("cute-runtime/src/device/error.rs");
    let (_, needed) = errors
        .split_once("the CUDA driver has no {symbol}")
        .unwrap();
    let (_, needed) = needed.split_once("a driver of CUDA ").unwrap();
    let (needed, _) = needed.split_once(' ').unwrap();
    assert!(readme.contains(&format!("| CUDA {needed}, which on Linux is")));

    assert_eq!(value(package, "license"), "MIT OR Apache-2.0");
    assert!(readme.ends_with("MIT or Apache-2.0, at your choice."));
    for text in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(!read(text).is_empty());
    }
}

/// No package of the lock file compiles C, or looks for CUDA, Python or LLVM, when it is built, and no source needs a nightly Rust.
#[test]
fn nothing_but_rust_is_needed_to_build() {
    let lock = read("Cargo.lock");
    let builders = [
        "bindgen",
        "cc",
        "clang-sys",
        "cmake",
        "cust",
        "inkwell",
        "llvm-sys",
        "nvptx-sys",
        "pkg-config",
        "pyo3",
        "pyo3-ffi",
        "cuda-driver-sys",
        "cuda-runtime-sys",
        "find_cuda_helper",
    ];
    for builder in builders {
        assert!(
            !lock.contains(&format!("name = \"{builder}\"\n")),
            "{builder}"
        );
    }
    let manifest = read("Cargo.toml");
    let cudarc = manifest.lines().find(|line| line.starts_with("cudarc = "));
    let cudarc = cudarc.unwrap();
    assert!(cudarc.contains("default-features = false"));
    // With `dynamic-loading`, its build script panics where another crate of the program asks for `dynamic-linking`.
    assert!(cudarc.contains("\"fallback-dynamic-loading\""));
    assert!(!cudarc.contains("-linking"));
    // One library depends on it, which none depends on. A program that cargo builds by default does not have it either.
    let is_in = |name: &str, member: &str| {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let section = manifest
            .split("\n[")
            .find(|it| it.starts_with("dependencies]"));
        let section = section.unwrap_or_default();
        section
            .lines()
            .any(|line| line.split(['.', ' ']).next() == Some(name))
    };
    for member in members() {
        assert_eq!(
            is_in("cudarc", &member),
            member == "cute-cudarc",
            "{member}"
        );
        assert!(!is_in("cute-cudarc", &member), "{member}");
    }
    assert!(manifest.contains("\ndefault-members = [\"examples\"]\n"));

    for member in members() {
        let folder = root().join(&member);
        assert!(
            !folder.join("build.rs").exists(),
            "{member} has a build script"
        );
        for file in rust_files(&folder.join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            // docs.rs, which sets `docsrs`, has a nightly Rust.
            let features = text.lines().filter(|line| {
                line.starts_with("#![") && line.contains("feature(") && !line.contains("(docsrs, ")
            });
            assert_eq!(features.count(), 0, "{}", file.display());
        }
    }
}

/// The crates that a program with layouts alone is linked with are without `std`.
#[test]
fn layouts_alone_need_no_std() {
    for (library, attribute) in [
        ("cute-chip", "#![no_std]"),
        ("cute-algebra", "#![cfg_attr(not(test), no_std)]"),
        (
            "cute-runtime",
            "#![cfg_attr(not(any(feature = \"kernels\", feature = \"host\")), no_std)]",
        ),
    ] {
        let text = read(&format!("{library}/src/lib.rs"));
        assert!(text.lines().any(|line| line == attribute), "{library}");
        assert!(!text.contains("extern crate std"), "{library}");
    }
}

/// The commands of the installation name packages of this repository, and none of them is kept from being published.
#[test]
fn installed_packages_are_here() {
    let readme = read("README.md");
    let mut found = 0;
    for part in readme.split("--path ").skip(1) {
        let path = part.split(|c: char| c.is_whitespace() || c == '`').next();
        let path = path.unwrap();
        let package = path.strip_prefix("../cute/").unwrap_or(path);
        let manifest = read(&format!("{package}/Cargo.toml"));
        assert_eq!(value(section(&manifest, "[package]"), "name"), package);
        assert!(!manifest.contains("publish = false"), "{package}");
        found += 1;
    }
    assert_eq!(found, 6);
    let cli = read("cute-cli/Cargo.toml");
    assert_eq!(value(section(&cli, "[[bin]]"), "name"), "cute");
}

/// Each program has a row, each row a program, and the features that a program needs are told.
#[test]
fn examples_have_rows() {
    let readme = read("README.md");
    let section = section(&readme, "## Examples");
    let commands: Vec<String> = first_cells(section).collect();
    let name = |command: &String| command.rsplit(' ').next().unwrap().to_owned();
    let rows: BTreeSet<String> = commands.iter().map(name).collect();
    let mut programs = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("examples/examples")).unwrap() {
        let path = entry.unwrap().path();
        programs.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    assert!(programs.len() > 15);
    programs.insert("bench_gemm".into());
    assert!(root().join("cute-kernels/examples/bench_gemm").is_dir());
    assert_eq!(rows, programs, "(the README, then the programs)");

    let manifest = read("examples/Cargo.toml");
    for command in &commands {
        let name = name(command);
        let needed = manifest
            .split("[[example]]")
            .find(|example| example.contains(&format!("name = \"{name}\"\nrequired-features")));
        let options = match (&name[..], needed) {
            ("bench_gemm", _) => "-p cute-kernels --features all ".to_owned(),
            (_, None) => String::new(),
            (_, Some(example)) => {
                let (_, features) = example.split_once("required-features = [\"").unwrap();
                let (feature, _) = features.split_once('"').unwrap();
                format!("--features {feature} ")
            }
        };
        let expected = format!("cargo run --release {options}--example {name}");
        assert_eq!(command, &expected);
    }
}

/// The program says the same as the README about its options.
#[test]
fn options_of_gemm_are_those_of_its_help() {
    let program = read("examples/examples/gemm.rs");
    let (_, help) = program.split_once("usage: gemm ").unwrap();
    let (usage, _) = help.split_once('\n').unwrap();
    let options: Vec<&str> = usage
        .split(['[', ']', ' '])
        .filter(|word| word.starts_with("--"))
        .collect();
    assert!(options.len() > 3);
    let says = format!("lists the options (`{}`)", options.join(" "));
    assert!(words(&read("README.md")).contains(&says), "{says}");
}

/// The result in a comment of the first program is the calculator's answer, which the test `transcripts` of `cute-cli` holds.
#[test]
fn the_comment_of_the_first_program_is_the_calculators_answer() {
    let readme = read("README.md");
    let (_, answer) = readme
        .split_once("$ cute eval \"(6,2):(8,2) o (4,3):(3,1)\"\n")
        .unwrap();
    let answer = answer.lines().next().unwrap();
    let mut program = readme
        .lines()
        .filter(|line| line.starts_with("layout! { pub "));
    let says = |line: Option<&str>, text: &str| assert!(line.unwrap().contains(text), "{text}");
    says(program.next(), "pub A = (6,2):(8,2);");
    let second = program.next();
    says(second, "pub R = A o (4,3):(3,1);");
    says(second, &format!("// {answer}"));
}

/// The table of the crates is the workspace, and they depend on what it says.
#[test]
fn crates_are_the_workspace() {
    let readme = read("README.md");
    let rows: BTreeSet<String> =
        first_cells(section(&readme, "## Layout of the repository")).collect();
    let members = members().into_iter();
    // Two crates that the tests of `ui-tests` need.
    let members: BTreeSet<String> = members
        .filter(|member| !member.starts_with("ui-tests/"))
        .collect();
    assert_eq!(rows, members, "(the README, then the workspace)");

    let needs = |package: &str| -> Vec<String> {
        let manifest = read(&format!("{package}/Cargo.toml"));
        if !manifest.contains("\n[dependencies]\n") {
            return Vec::new();
        }
        let lines = section(&manifest, "[dependencies]").lines();
        let lines = lines.take_while(|line| !line.starts_with('['));
        let lines = lines.filter(|line| line.contains('=') && !line.contains("optional = true"));
        lines
            .map(|line| line.split(['.', ' ']).next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(needs("cute-chip"), [""; 0]);
    assert_eq!(needs("cute-algebra"), ["cute-chip"]);
    assert_eq!(needs("cute-macros"), ["cute-lang"]);
}

/// What the README says to be absent is absent.
#[test]
fn limits_are_as_stated() {
    let mut names = String::new();
    for file in rust_files(&root().join("cute-kernels/src")) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        names.extend(code.map(str::to_lowercase));
    }
    for absent in [
        "backward",
        "convolution",
        "conv2d",
        "im2col",
        "fp4",
        "e2m1",
        "sparse",
        "sparsity",
    ] {
        assert!(!names.contains(absent), "cute-kernels has {absent}");
    }

    // Every kernel is for the default chip.
    assert!(!names.contains("target = \""));
}

/// Each kind of kernel that the README lists is a function of `cute-kernels`.
#[test]
fn kernels_that_come_with_it_are_functions() {
    let readme = read("README.md");
    let row = readme
        .lines()
        .find(|line| line.starts_with("| kernels that come with it |"));
    let ours = row.unwrap().split(" | ").nth(1).unwrap();
    let library = read("cute-kernels/src/lib.rs");
    let public: BTreeSet<&str> = library
        .lines()
        .filter(|line| line.starts_with("pub use ") || line.starts_with("    "))
        .flat_map(|line| line.split([' ', ',', ':', ';', '{', '}']))
        .collect();
    for kernel in ours.split(", ") {
        let names: &[&str] = match kernel {
            "GEMM" => &["gemm"],
            "attention forward" => &["attention"],
            "softmax" => &["softmax"],
            "norms" => &["layer_norm", "rms_norm"],
            "sums" => &["sum", "sum_rows"],
            "transpose" => &["transpose"],
            other => panic!("which function is {other}?"),
        };
        for name in names {
            assert!(public.contains(name), "{name}");
        }
    }
}

/// Of the projects in the comparison, none has a speed in `docs/performance.md`, and those that are named as measured have one.
#[test]
fn only_what_is_named_was_measured_beside() {
    let page = read("docs/performance.md");
    for measured in ["cuBLASLt", "cuDNN", "_grouped_mm", "_scaled_mm"] {
        assert!(page.contains(measured), "{measured}");
    }
    for other in ["Triton", "CubeCL", "cute-rs", "CuTe DSL", "FlashInfer"] {
        assert!(!page.contains(other), "{other}");
    }
}

/// The folders of the workspace's members.
fn members() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let (_, members) = manifest.split_once("\nmembers = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    members
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The names in backquotes at the beginning of a table's rows.
fn first_cells(text: &str) -> impl Iterator<Item = String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned()))
}

/// What follows a heading, up to the next one of its kind.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text
        .split_once(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("no {heading}"));
    let next = format!(
        "\n{}",
        heading.split(|c: char| c.is_alphanumeric()).next().unwrap()
    );
    rest.split_once(&next).map_or(rest, |(section, _)| section)
}

/// The text of `key = "…"`.
fn value<'a>(manifest: &'a str, key: &str) -> &'a str {
    let start = format!("{key} = \"");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&start));
    let line = line.unwrap_or_else(|| panic!("no {key}"));
    line.split('"').next().unwrap()
}

/// A text with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sources below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

fn read(page: &str) -> String {
    let path = root().join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}
