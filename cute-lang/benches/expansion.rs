//! What `layout!` adds to a build: a crate of distinct layouts, each one operation of the algebra on static integers,
//! beside an empty crate.
//!
//! ```sh
//! cargo bench -p cute-lang --bench expansion            # 1000 layouts
//! cargo bench -p cute-lang --bench expansion -- 100 300 # other numbers
//! ```
//!
//! The crates are built by cargo in the dev profile that it gives everybody. Cargo calls this program in place of the
//! compiler, so that only the crate itself is measured, not what it depends on. Linux only: the numbers are /proc's.

use cute_algebra::notation::eval_str;
use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Builds of each crate, one after the other; the medians count.
const BUILDS: usize = 7;

/// The variable that names the file for the measurement. It is set only if cargo runs this program in place of the
/// compiler.
const REPORT: &str = "CUTE_EXPANSION_REPORT";

/// Clock ticks of /proc per second, on every Linux that Rust knows.
const TICKS: f64 = 100.0;

fn main() -> ExitCode {
    let result = match env::var_os(REPORT) {
        Some(report) => compile(Path::new(&report)),
        None => bench().map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn bench() -> Result<(), Box<dyn Error>> {
    let mut counts: Vec<usize> = env::args().filter_map(|arg| arg.parse().ok()).collect();
    if counts.is_empty() {
        counts.push(1000);
    }
    let package = Package::create()?;
    package.build("")?; // What the crate depends on.
    println!("layouts   wall s    cpu s   peak MB");
    for count in counts {
        let layouts = source(count);
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..BUILDS {
            without.push(package.build("")?);
            with.push(package.build(&layouts)?);
        }
        let (without, with) = (Build::median(&without), Build::median(&with));
        println!("{:7} {without}", 0);
        println!("{count:7} {with}");
        println!("  added {}", with.minus(&without));
    }
    Ok(())
}

/// Items with different layouts.
fn source(count: usize) -> String {
    let mut source = String::from("use cute_runtime::layout;\n");
    for (i, expression) in expressions().take(count).enumerate() {
        let _ = writeln!(source, "layout! {{ pub L{i} = {expression}; }}");
    }
    source
}

/// Different expressions that have a value, of twelve operations in turn.
fn expressions() -> impl Iterator<Item = String> {
    let mut seen = HashSet::new();
    let extents = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64];
    let extent = move |n: usize| extents[n % extents.len()];
    let candidates = (0..).flat_map(move |n| {
        let (m, k, t) = (extent(n), extent(n / 14), extent(n / 196));
        let (mk, mt, kt) = (m * k, m * t, k * t);
        [
            format!("coalesce(({m},(1,{k}),{t}):(1,(7,{m}),{}))", 2 * mk),
            format!("composition(({mt},{k}):({k},1), ({m},{k}):(1,{mt}))"),
            format!("complement(({m},{k}):({t},{mt}), {})", 4 * mk * t),
            format!("right_inverse(({m},{k},{t}):({kt},1,{k}))"),
            format!("left_inverse(({m},{k}):({kt},{t}))"),
            format!("logical_divide(({mt},{k}):({k},1), {m}:{t})"),
            format!("zipped_divide(({mt},{k}):({k},1), <{m},{k}>)"),
            format!("tiled_divide(({mt},{kt}):(1,{mt}), <{m}:{t},{k}:1>)"),
            format!("flat_divide(({mt},{kt}):({kt},1), <{m},{k}:{t}>)"),
            format!("logical_product(({m},{k}):({k},1), {t}:1)"),
            format!("blocked_product(({m},{k}):({k},1), ({t},{m}):(1,{t}))"),
            format!("raked_product(({m},{k}):(1,{m}), ({k},{t}):({t},1))"),
        ]
    });
    candidates.filter(move |text| eval_str(text).is_ok() && seen.insert(text.clone()))
}

/// A package outside the workspace, so that none of the workspace's profiles apply.
struct Package {
    folder: PathBuf,
}

impl Package {
    fn create() -> std::io::Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("expansion");
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cute-runtime");
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::create_dir_all(folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"expansion\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\ncute-runtime.path = {runtime:?}\n",
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            fs::copy(workspace.join(file), folder.join(file))?;
        }
        Ok(Self { folder })
    }

    /// Builds the crate with that source, whether or not it was built before.
    fn build(&self, source: &str) -> Result<Build, Box<dyn Error>> {
        let report = self.folder.join("report");
        fs::write(self.folder.join("src/lib.rs"), source)?;
        let cargo = Command::new(env!("CARGO"))
            .args(["build", "--quiet"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("RUSTC_WORKSPACE_WRAPPER", env::current_exe()?)
            .env(REPORT, &report)
            .status()?;
        if !cargo.success() {
            return Err("the crate does not build".into());
        }
        Build::parse(&fs::read_to_string(&report)?).ok_or_else(|| "no measurement".into())
    }
}

/// One run of the compiler.
#[derive(Clone, Copy)]
struct Build {
    wall: f64,
    cpu: f64,
    peak: f64,
}

impl Build {
    fn parse(report: &str) -> Option<Self> {
        let mut numbers = report.split(' ').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self {
            wall: next()?,
            cpu: next()?,
            peak: next()?,
        })
    }

    fn median(builds: &[Self]) -> Self {
        let median = |field: fn(&Self) -> f64| {
            let mut values: Vec<_> = builds.iter().map(field).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Self {
            wall: median(|build| build.wall),
            cpu: median(|build| build.cpu),
            peak: median(|build| build.peak),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            wall: self.wall - other.wall,
            cpu: self.cpu - other.cpu,
            peak: self.peak - other.peak,
        }
    }
}

impl std::fmt::Display for Build {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:8.2} {:8.2} {:9.1}", self.wall, self.cpu, self.peak)
    }
}

/// Runs the compiler and writes the time and the memory that it took.
fn compile(report: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next().ok_or("expected a compiler to run")?;
    let start = Instant::now();
    let mut child = Command::new(compiler).args(arguments).spawn()?;
    let process = Path::new("/proc").join(child.id().to_string());
    let mut peak = 0.0;
    // The memory of a process cannot be read after its end, but its times can until it is waited for.
    let cpu = loop {
        peak = peak_memory(&process).unwrap_or(peak);
        let stat = fs::read_to_string(process.join("stat"))?;
        let fields: Vec<_> = stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        if let ["Z", ..] = fields[..] {
            let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
            break (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / TICKS;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let wall = start.elapsed().as_secs_f64();
    let status = child.wait()?;
    fs::write(report, format!("{wall} {cpu} {peak}"))?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// In megabytes.
fn peak_memory(process: &Path) -> Option<f64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
