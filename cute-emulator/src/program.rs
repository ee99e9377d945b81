//! A loaded module, and the checks of a launch.

use crate::counts::Counts;
use crate::decode;
use crate::error::{EmulatorError, LaunchProblem};
use crate::exec;
use crate::launch::Launch;
use crate::limits::{Limits, hold};
use crate::memory::GlobalMemory;
use crate::observed::Observed;
use crate::op::Code;
use crate::variables::Image;
use cute_ptx::ast::{Entry, Item};
use std::collections::HashMap;
use std::sync::Arc;

/// All entries of a module together may have this many times [`Limits::instructions`].
const MOST_COPIES: u64 = 4;

/// A parsed, validated and decoded PTX module. It can be launched any number of times.
///
/// Its launches are held to the limits of the chip of its `.target`, a row of `cute-chip`: `sm_80`, `sm_90` or `sm_90a`. A module for
/// another target is held to those of `sm_90a`.
#[derive(Debug)]
pub struct Program {
    entries: Vec<(EntryInfo, Arc<Code>)>,
    by_name: HashMap<String, usize>,
    image: Image,
    /// The identity by which a memory finds the module's variables.
    identity: Arc<()>,
}

/// An entry's requirements for a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// The name of the entry.
    pub name: String,
    /// The name and the size in bytes of each parameter, in order.
    pub params: Vec<(String, u32)>,
    /// The value of `.reqntid`, with 1 for dimensions left out; `None` without the directive.
    pub required_block: Option<[u32; 3]>,
    /// The value of `.reqnctapercluster`, with 1 for dimensions left out; `None` without the directive.
    pub required_cluster: Option<[u32; 3]>,
    /// Bytes of static shared memory of each CTA.
    pub static_shared_bytes: u32,
}

impl Program {
    /// Parses, validates and decodes a module.
    ///
    /// # Errors
    ///
    /// The text does not parse, or the module is not valid, exceeds the default [`Limits`], or contains a feature that the emulator does
    /// not model. The error names the first such line.
    pub fn load(ptx: &str) -> Result<Program, EmulatorError> {
        Program::load_within(ptx, &Limits::default())
    }

    /// Like [`load`](Program::load), with other limits. Loading uses `text_bytes`, `entries`, `instructions` and `registers`.
    pub fn load_within(ptx: &str, limits: &Limits) -> Result<Program, EmulatorError> {
        hold(
            "bytes of the module's text",
            ptx.len() as u64,
            limits.text_bytes,
        )?;
        let source = cute_ptx::parse_with_lines(ptx)?;
        let entries: Vec<&Entry> = source
            .module
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Entry(entry) => Some(entry),
                _ => None,
            })
            .collect();
        hold(
            "entries of the module",
            entries.len() as u64,
            limits.entries,
        )?;
        if let Some(error) = cute_ptx::validate(&source.module).into_iter().next() {
            return Err(invalid(&entries, &source.lines, error));
        }
        let unsupported = |entry: &Entry, error: decode::Unsupported| EmulatorError::Unsupported {
            entry: entry.name.clone(),
            line: error.line,
            text: error.text,
            message: error.message,
        };
        let mut program = Program {
            entries: Vec::with_capacity(entries.len()),
            by_name: HashMap::with_capacity(entries.len()),
            image: Image::default(),
            identity: Arc::default(),
        };
        let Some(first) = entries.first() else {
            return Ok(program);
        };
        let mut instructions = 0;
        let shared = decode::module_scope(&source).map_err(|error| unsupported(first, error))?;
        for (entry, lines) in entries.into_iter().zip(&source.lines) {
            let code = decode::decode(&shared, entry, lines, limits)
                .map_err(|error| unsupported(entry, error))?;
            // A function is decoded again for each entry that calls it.
            instructions += code.instructions.len() as u64;
            let what = "instructions of all entries, with the functions that each calls,";
            hold(
                what,
                instructions,
                limits.instructions.saturating_mul(MOST_COPIES),
            )?;
            let index = program.entries.len();
            program.by_name.entry(entry.name.clone()).or_insert(index);
            program.entries.push((info(entry, &code), Arc::new(code)));
        }
        program.image = shared.image;
        Ok(program)
    }

    /// The entries, in the order of the text.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &EntryInfo> {
        self.entries.iter().map(|(info, _)| info)
    }

    /// The address and the size in bytes of a variable of the module in global or constant memory; `None` if there is no such variable.
    /// The variables get their initial values when this function or a launch first needs them in a memory.
    ///
    /// # Errors
    ///
    /// The memory has no room for the module's variables.
    pub fn variable(
        &self,
        memory: &mut GlobalMemory,
        name: &str,
    ) -> Result<Option<(u64, u64)>, EmulatorError> {
        let Some((offset, bytes)) = self.image.variables.get(name) else {
            return Ok(None);
        };
        Ok(Some((self.place_variables(memory)? + offset, *bytes)))
    }

    /// The address of the module's variables in a memory.
    fn place_variables(&self, memory: &mut GlobalMemory) -> Result<u64, EmulatorError> {
        if self.image.bytes.is_empty() {
            return Ok(0);
        }
        if let Some(address) = memory.module(&self.identity) {
            return Ok(address);
        }
        let address = memory.alloc(self.image.bytes.len(), self.image.align)?;
        memory.write(address, &self.image.at(address))?;
        memory.add_module(self.identity.clone(), address);
        Ok(address)
    }

    /// Runs all threads of an entry to their end, on the memory of one device.
    ///
    /// # Errors
    ///
    /// There is no such entry, the launch does not match it, the kernel faults or deadlocks, or it exceeds the launch's
    /// limits. After an error, the memory keeps the kernel's writes up to that point.
    pub fn launch(
        &self,
        memory: &mut GlobalMemory,
        entry: &str,
        launch: &Launch<'_>,
    ) -> Result<Counts, EmulatorError> {
        let mut observed = Observed::default();
        self.launch_observed(memory, entry, launch, &mut observed)?;
        Ok(observed.counts)
    }

    /// Like [`launch`](Program::launch). Adds its counts, and its trace if there is one, to `observed`, even if it fails.
    ///
    /// ```
    /// use cute_emulator::{Class, GlobalMemory, Launch, Observed, Program, Trace};
    ///
    /// let ptx = "
    /// .version 8.0
    /// .target sm_90a
    /// .address_size 64
    /// .visible .entry meet() { bar.sync 0; ret; }
    /// ";
    /// let launch = Launch { block: [64, 1, 1], ..Launch::default() };
    /// let mut observed = Observed { trace: Some(Trace::new()), ..Observed::default() };
    /// Program::load(ptx)?.launch_observed(&mut GlobalMemory::new(), "meet", &launch, &mut observed)?;
    ///
    /// let counts = observed.counts;
    /// assert_eq!((counts.steps, counts.instructions[Class::Synchronisation]), (4, 2));
    /// assert_eq!(counts.waits["barrier 0"].count, 1);
    /// assert!(observed.trace.unwrap().to_string().contains("waits: barrier 0"));
    /// # Ok::<(), cute_emulator::EmulatorError>(())
    /// ```
    pub fn launch_observed(
        &self,
        memory: &mut GlobalMemory,
        entry: &str,
        launch: &Launch<'_>,
        observed: &mut Observed,
    ) -> Result<(), EmulatorError> {
        self.launch_on(memory, 0, entry, launch, observed)
    }

    /// Like [`launch_observed`](Program::launch_observed), which is on stream 0, on any [stream](GlobalMemory::add_stream). A launch that
    /// [overlaps](Launch::overlaps) does so with those before it on its stream.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Program::launch). A [`StreamRace`](crate::FaultKind::StreamRace) is an access that nothing orders after
    /// an access of another stream.
    pub fn launch_on(
        &self,
        memory: &mut GlobalMemory,
        stream: u64,
        entry: &str,
        launch: &Launch<'_>,
        observed: &mut Observed,
    ) -> Result<(), EmulatorError> {
        let Some(&index) = self.by_name.get(entry) else {
            let available = self.entries().map(|info| info.name.clone()).collect();
            return Err(EmulatorError::NoEntry {
                name: entry.to_owned(),
                available,
            });
        };
        let (info, code) = &self.entries[index];
        let launch = &Launch {
            cluster: cluster(info, launch),
            ..launch.clone()
        };
        check(info, code, launch).map_err(|problem| EmulatorError::Launch {
            entry: entry.to_owned(),
            problem,
        })?;
        let mut params = vec![0_u8; code.param_bytes as usize];
        for (offset, arg) in code.param_offsets.iter().zip(launch.args) {
            params[*offset as usize..*offset as usize + arg.len()].copy_from_slice(arg);
        }
        let variables = self.place_variables(memory)?;
        exec::run(code, &params, variables, memory, stream, launch, observed)
    }
}

fn invalid(
    entries: &[&Entry],
    lines: &[Vec<u32>],
    error: cute_ptx::validate::Error,
) -> EmulatorError {
    let entry = entries
        .iter()
        .zip(lines)
        .find(|(entry, _)| Some(&entry.name) == error.entry.as_ref());
    let line = entry
        .zip(error.line)
        .and_then(|((_, lines), line)| lines.get(line));
    EmulatorError::Invalid {
        entry: error.entry,
        line: line.copied().unwrap_or(0),
        text: error.text,
        problem: Box::new(error.problem),
    }
}

fn info(entry: &Entry, code: &Code) -> EntryInfo {
    let directive = |name: &str| {
        let found = entry
            .directives
            .iter()
            .find(|directive| directive.name == name)?;
        let value = |i: usize| found.values.get(i).copied().unwrap_or(1);
        Some([value(0), value(1), value(2)])
    };
    let param = |param: &cute_ptx::ast::Param| (param.name.clone(), param.ty.layout().1);
    EntryInfo {
        name: entry.name.clone(),
        params: entry.params.iter().map(param).collect(),
        required_block: directive("reqntid"),
        required_cluster: directive("reqnctapercluster"),
        static_shared_bytes: code.static_shared,
    }
}

/// The cluster of a launch. If the launch leaves it at the default, it is the cluster that the entry requires.
fn cluster(info: &EntryInfo, launch: &Launch<'_>) -> [u32; 3] {
    match info.required_cluster {
        Some(required) if launch.cluster == [1; 3] => required,
        _ => launch.cluster,
    }
}

fn check(info: &EntryInfo, code: &Code, launch: &Launch<'_>) -> Result<(), LaunchProblem> {
    for (what, value) in [
        ("grid", launch.grid),
        ("block", launch.block),
        ("cluster", launch.cluster),
    ] {
        if value.contains(&0) {
            return Err(LaunchProblem::Zero { what, value });
        }
    }
    let product = |value: [u32; 3]| {
        value
            .iter()
            .map(|n| u64::from(*n))
            .fold(1, u64::saturating_mul)
    };
    let chip = code.chip;
    let limits = [
        (
            "threads per block",
            product(launch.block),
            chip.cta_threads.into(),
        ),
        (
            "CTAs per cluster",
            product(launch.cluster),
            chip.non_portable_cluster_ctas.into(),
        ),
        ("CTAs of the grid", product(launch.grid), launch.limits.ctas),
        (
            "bytes of dynamic shared memory",
            u64::from(launch.dynamic_shared_bytes),
            u64::from(exec::max_dynamic_shared(code)),
        ),
    ];
    for (what, value, limit) in limits {
        if value > limit {
            return Err(LaunchProblem::TooLarge { what, value, limit });
        }
    }
    let (state, limit) = (exec::state_bytes(code, launch), launch.limits.state_bytes);
    if state > limit {
        return Err(LaunchProblem::TooLarge {
            what: "bytes on the host for the registers and shared memory of a cluster",
            value: state,
            limit,
        });
    }
    match info.required_block {
        Some(required) if required != launch.block => {
            return Err(LaunchProblem::Block {
                block: launch.block,
                required,
            });
        }
        _ => {}
    }
    match info.required_cluster {
        Some(required) if required != launch.cluster => {
            return Err(LaunchProblem::Cluster {
                cluster: launch.cluster,
                required,
            });
        }
        _ => {}
    }
    if launch
        .grid
        .iter()
        .zip(launch.cluster)
        .any(|(grid, cluster)| grid % cluster != 0)
    {
        return Err(LaunchProblem::Grid {
            grid: launch.grid,
            cluster: launch.cluster,
        });
    }
    if launch.args.len() != info.params.len() {
        return Err(LaunchProblem::Arguments {
            given: launch.args.len(),
            expected: info.params.len(),
        });
    }
    for (index, (arg, (name, bytes))) in launch.args.iter().zip(&info.params).enumerate() {
        if arg.len() != *bytes as usize {
            let (given, expected) = (arg.len(), *bytes as usize);
            return Err(LaunchProblem::Argument {
                index,
                name: name.clone(),
                given,
                expected,
            });
        }
    }
    Ok(())
}
