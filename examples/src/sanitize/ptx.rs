//! A launch of a PTX file, described by a file in JSON:
//!
//! ```json
//! {
//!   "ptx": "kernel.ptx", "entry": "k", "grid": [4], "block": [128], "cluster": [2], "shared": 1024,
//!   "parameters": [{ "buffer": 4096, "fill": "counting" }, { "u32": 7 }, { "f32": 1.5 }],
//!   "without": ["strict"]
//! }
//! ```
//!
//! `without` names the fields of [`Checks`] that are turned off.

use std::path::Path;

use cute_emulator::{
    Checks, EmulatorError, GlobalMemory, Launch, Limits, Observed, Program, Schedule, Trace,
};
use cute_runtime::EmulatorOptions;
use serde_json::{Map, Value};

use super::case::{Case, Failure, Outcome};

/// The keys of a description.
const KEYS: [&str; 8] = [
    "ptx",
    "entry",
    "grid",
    "block",
    "cluster",
    "shared",
    "parameters",
    "without",
];

/// A field of the checks.
type Check = fn(&mut Checks) -> &mut bool;

/// The checks that a description may turn off.
const CHECKS: [(&str, Check); 8] = [
    ("registers", |checks| &mut checks.registers),
    ("uninitialised", |checks| &mut checks.uninitialised),
    ("order", |checks| &mut checks.order),
    ("global", |checks| &mut checks.global),
    ("tensors", |checks| &mut checks.tensors),
    ("ways", |checks| &mut checks.ways),
    ("division", |checks| &mut checks.division),
    ("strict", |checks| &mut checks.strict),
];

/// The content of a description.
struct Description {
    program: Program,
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    shared: u32,
    parameters: Vec<Parameter>,
    without: Vec<Check>,
}

/// A parameter of the entry.
enum Parameter {
    /// The address of a buffer that holds these bytes, or nothing yet.
    Buffer {
        bytes: usize,
        fill: Option<Vec<u8>>,
    },
    Scalar(Vec<u8>),
}

/// The case that a file describes.
pub(super) fn case(file: &str) -> Result<Case, String> {
    let text = read(Path::new(file))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let described = description(Path::new(file), &value);
    let description = described.map_err(|error| format!("{file}: {error}"))?;
    Ok(Case {
        kernel: description.entry.clone(),
        shape: format!(
            "on a grid of {:?} by blocks of {:?}",
            description.grid, description.block
        ),
        run: Box::new(move |options| description.run(options)),
    })
}

impl Description {
    fn run(&self, options: EmulatorOptions) -> Outcome {
        let mut observed = Observed {
            trace: options.trace.then(Trace::new),
            ..Observed::default()
        };
        let result = self.launch(options, &mut observed);
        Outcome {
            result: result.map_err(|error| Failure::new(error.to_string(), Some(&error))),
            counts: observed.counts,
            trace: observed.trace,
        }
    }

    /// The bytes of all buffers after a launch.
    fn launch(
        &self,
        options: EmulatorOptions,
        observed: &mut Observed,
    ) -> Result<Vec<u8>, EmulatorError> {
        let mut memory = GlobalMemory::new();
        let (mut arguments, mut buffers) = (Vec::new(), Vec::new());
        for parameter in &self.parameters {
            arguments.push(match parameter {
                Parameter::Scalar(bytes) => bytes.clone(),
                Parameter::Buffer { bytes, fill } => {
                    let address = memory.alloc(*bytes, 1)?;
                    if let Some(fill) = fill {
                        memory.write(address, fill)?;
                    }
                    buffers.push((address, *bytes));
                    address.to_le_bytes().to_vec()
                }
            });
        }
        let mut checks = options.checks;
        for check in &self.without {
            *check(&mut checks) = false;
        }
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            dynamic_shared_bytes: self.shared,
            args: &arguments,
            schedule: Schedule {
                seed: options.seed,
                policy: options.schedule,
                resident_clusters: options.resident_clusters,
            },
            checks,
            limits: Limits {
                steps: options.step_limit,
                cluster_steps: options.cluster_limit,
                idle_steps: options.idle_limit,
                ..Limits::default()
            },
            ..Launch::default()
        };
        (self.program).launch_observed(&mut memory, &self.entry, &launch, observed)?;
        let mut result = Vec::new();
        for (address, bytes) in buffers {
            result.extend_from_slice(memory.bytes(address, bytes)?);
        }
        Ok(result)
    }
}

fn description(file: &Path, value: &Value) -> Result<Description, String> {
    let object = value.as_object().ok_or("expected an object in {…}")?;
    known_keys(object, &KEYS)?;
    let ptx = file.with_file_name(text(object, "ptx")?.ok_or("it has no `ptx`")?);
    let program = Program::load(&read(&ptx)?);
    let program = program.map_err(|error| format!("{}: {error}", ptx.display()))?;
    let names: Vec<&str> = program.entries().map(|entry| &entry.name[..]).collect();
    let entry = match (text(object, "entry")?, &names[..]) {
        (Some(name), _) if names.contains(&name) => name.to_owned(),
        (None, [only]) => (*only).to_owned(),
        (given, _) => {
            let found = given.map_or("none is named".to_owned(), |name| {
                format!("`{name}` is not among them")
            });
            return Err(format!("the entries are {}; {found}", names.join(", ")));
        }
    };
    let parameters = match object.get("parameters") {
        None => Vec::new(),
        Some(Value::Array(parameters)) => (parameters.iter().enumerate())
            .map(|(i, it)| parameter(it).map_err(|error| format!("parameter {i}: {error}")))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("`parameters` must be a list".to_owned()),
    };
    Ok(Description {
        program,
        entry,
        grid: dimensions(object, "grid")?,
        block: dimensions(object, "block")?,
        cluster: dimensions(object, "cluster")?,
        shared: number(object.get("shared").unwrap_or(&0.into()), "`shared`")?,
        parameters,
        without: without(object)?,
    })
}

fn without(object: &Map<String, Value>) -> Result<Vec<Check>, String> {
    let named = match object.get("without") {
        None => return Ok(Vec::new()),
        Some(Value::Array(named)) => named,
        Some(other) => return Err(format!("`without` must be a list of checks, not {other}")),
    };
    let check = |name: &Value| {
        let found = CHECKS.iter().find(|(known, _)| name == known);
        found.map(|(_, check)| *check).ok_or_else(|| {
            let known: Vec<&str> = CHECKS.iter().map(|(known, _)| *known).collect();
            let known = known.join(", ");
            format!("{name} is no check; `without` may have {known}")
        })
    };
    named.iter().map(check).collect()
}

fn parameter(value: &Value) -> Result<Parameter, String> {
    const TYPES: &str = "expected {\"buffer\": BYTES, \"fill\": …}, or a number under the name of its type: u32, s32, u64, s64, f32 or f64";
    let object = value.as_object().ok_or(TYPES)?;
    if let Some(bytes) = object.get("buffer") {
        known_keys(object, &["buffer", "fill"])?;
        let bytes = number::<u32>(bytes, "`buffer`")? as usize;
        let fill = match text(object, "fill")?.unwrap_or("zeros") {
            "zeros" => Some(vec![0; bytes]),
            "counting" => Some((0_u32..).flat_map(u32::to_le_bytes).take(bytes).collect()),
            "random" => Some(random().take(bytes).collect()),
            "none" => None,
            other => {
                return Err(format!(
                    "`fill` is zeros, counting, random or none, not {other}"
                ));
            }
        };
        return Ok(Parameter::Buffer { bytes, fill });
    }
    let mut entries = object.iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else {
        return Err(TYPES.to_owned());
    };
    let float = || value.as_f64().ok_or(format!("{value} is no number"));
    let bytes = match name.as_str() {
        "u32" => number::<u32>(value, name)?.to_le_bytes().to_vec(),
        "s32" => number::<i32>(value, name)?.to_le_bytes().to_vec(),
        "u64" => number::<u64>(value, name)?.to_le_bytes().to_vec(),
        "s64" => number::<i64>(value, name)?.to_le_bytes().to_vec(),
        "f32" => (float()? as f32).to_le_bytes().to_vec(),
        "f64" => float()?.to_le_bytes().to_vec(),
        _ => return Err(TYPES.to_owned()),
    };
    Ok(Parameter::Scalar(bytes))
}

/// Up to three dimensions; those left out are 1.
fn dimensions(object: &Map<String, Value>, key: &str) -> Result<[u32; 3], String> {
    let given = match object.get(key) {
        None => &[],
        Some(Value::Array(given)) if given.len() <= 3 => &given[..],
        Some(other) => {
            return Err(format!(
                "`{key}` must be a list of up to three numbers, not {other}"
            ));
        }
    };
    let mut dimensions = [1; 3];
    for (dimension, value) in dimensions.iter_mut().zip(given) {
        *dimension = number(value, key)?;
    }
    Ok(dimensions)
}

fn number<T: TryFrom<i128>>(value: &Value, what: &str) -> Result<T, String> {
    let wide = (value.as_u64().map(i128::from)).or_else(|| value.as_i64().map(i128::from));
    wide.and_then(|wide| T::try_from(wide).ok()).ok_or_else(|| {
        let ty = std::any::type_name::<T>();
        format!("{what} must be an integer that {ty} has, not {value}")
    })
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match object.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` must be a text, not {other}")),
    }
}

fn known_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "`{key}` is not known; the keys are {}",
            known.join(", ")
        )),
    }
}

/// The same bytes each time.
fn random() -> impl Iterator<Item = u8> {
    (1_u64..).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8)
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))
}
