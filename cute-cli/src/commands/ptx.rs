//! The PTX of the kernels of a Rust file.

use super::{Context, Stop, write};
use crate::answer::Answer;
use crate::args::Kernels;
use crate::failure::Failure;
use crate::near::path_help;
use crate::session::Session;
use crate::statement::{STANDARD_INPUT, Statement, text_of};
use cute_algebra::notation::NotationError;
use cute_lang::kernel::file::{File, Instances, Mistake};
use serde_json::{Value as Json, json};
use std::{io, panic, thread};

/// The stack on which kernels are lowered: as much as the compiler gives to macros.
const STACK_BYTES: usize = 8 << 20;

/// An instance with its module.
struct Shown {
    module: String,
    name: String,
    threads: u32,
    cluster: [u32; 3],
    shared_bytes: u32,
    ptx: String,
}

/// An instance that gets values when a program runs, so that it has no PTX yet.
struct Open {
    module: String,
    name: String,
    values: Vec<String>,
}

/// Prints the instances that are asked for, or their list.
pub(crate) fn run(context: &mut Context, options: &Kernels) -> Result<(), Stop> {
    let text = text_of(&options.source)?;
    let session = &context.session;
    // The places of tokens stay in the memory of the thread that reads them.
    let lowered = thread::scope(|scope| {
        let lower = || {
            lowered(
                &options.source,
                &text,
                options.module.as_deref(),
                session.clone(),
            )
        };
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, lower)?;
        let result = thread.join();
        io::Result::Ok(result.unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    });
    let missing = |name: &str, message: String, help: Option<String>| {
        let statement = Statement::verbatim(name);
        let mut failure = Failure::whole(&statement, message);
        failure.error.help = help;
        failure
    };
    let (mut shown, mut open) = match lowered? {
        Ok(lowered) => lowered,
        Err(Refused::NoModule(paths)) => {
            let failure = match &options.module {
                Some(module) if !paths.is_empty() => missing(
                    module,
                    format!("the file has no module of kernels `{module}`"),
                    path_help(module, &paths),
                ),
                _ => missing(
                    &options.source,
                    "there is no module of kernels in this file".into(),
                    Some("it is `#[kernels] mod name { … }`".into()),
                ),
            };
            return Ok(context.output.failure(&failure)?);
        }
        Err(Refused::Mistakes(mistakes)) => {
            for mistake in mistakes {
                context
                    .output
                    .failure(&failure(&options.source, &text, &mistake))?;
            }
            return Ok(());
        }
    };
    if let Some(name) = &options.instance {
        let paths = shown.iter().map(|it| path(&it.module, &it.name));
        let paths: Vec<_> = paths
            .chain(open.iter().map(|it| path(&it.module, &it.name)))
            .collect();
        shown.retain(|instance| is_named(name, &instance.module, &instance.name));
        open.retain(|instance| is_named(name, &instance.module, &instance.name));
        let refusal = match (&shown[..], &open[..]) {
            ([], []) => {
                let message = format!("there is no instance `{name}`");
                Some(missing(name, message, path_help(name, &paths)))
            }
            ([], [open, ..]) if !options.list => {
                let values = open.values.join(", ");
                let message =
                    format!("`{name}` gets {values} when a program runs, so it has no PTX before");
                Some(missing(name, message, None))
            }
            _ => None,
        };
        if let Some(failure) = refusal {
            return Ok(context.output.failure(&failure)?);
        }
    }
    let text = match options.list {
        true => list(&shown, &open),
        false => texts(&shown),
    };
    let is_printed = options.output == "-";
    let with_ptx = !options.list && is_printed;
    let mut json = json!({
        "file": options.source,
        "instances": shown.iter().map(|shown| shown.json(with_ptx)).collect::<Vec<_>>(),
        "open": open.iter().map(Open::json).collect::<Vec<_>>(),
    });
    if is_printed {
        return Ok(context.output.answer(&Answer { text, json })?);
    }
    write(&options.output, &text)?;
    json["output"] = options.output.clone().into();
    let text = String::new();
    Ok(context.output.answer(&Answer { text, json })?)
}

/// Why nothing was lowered.
enum Refused {
    /// The file has no module of kernels, or none of the wanted path; the paths that it has.
    NoModule(Vec<String>),
    Mistakes(Vec<Mistake>),
}

/// The name of an instance with its module, as the list has it.
fn path(module: &str, name: &str) -> String {
    format!("{module}::{name}")
}

/// Whether a name is that of an instance, alone or behind modules around it.
fn is_named(name: &str, module: &str, instance: &str) -> bool {
    let path = path(module, instance);
    let before = path.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

/// The instances of the modules of a file, or of one of them.
fn lowered(
    name: &str,
    text: &str,
    module: Option<&str>,
    mut session: Session,
) -> Result<(Vec<Shown>, Vec<Open>), Refused> {
    let file = File::parse(name, text).map_err(Refused::Mistakes)?;
    for (name, definition) in file.layouts() {
        // A layout that the calculator cannot evaluate is missing where a kernel names it.
        session.define(&Statement::argument(&format!("{name} = {definition}")));
    }
    let paths: Vec<&str> = match module {
        Some(module) => vec![module],
        None => file.modules().collect(),
    };
    if paths.is_empty() || module.is_some_and(|module| file.modules().all(|path| path != module)) {
        return Err(Refused::NoModule(
            file.modules().map(str::to_owned).collect(),
        ));
    }
    let (mut shown, mut open, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
    let value = |name: &str| session.numbers(name).ok().map(|value| value.to_string());
    for path in paths {
        match file.lower(path, &value) {
            Ok(Instances {
                lowered,
                open: more,
            }) => {
                let module = path.to_owned();
                open.extend(more.into_iter().map(|(name, values)| Open {
                    module: module.clone(),
                    name,
                    values,
                }));
                shown.extend(lowered.into_iter().map(|lowered| Shown {
                    module: module.clone(),
                    name: lowered.name.to_string(),
                    threads: lowered.threads,
                    cluster: lowered.cluster,
                    shared_bytes: lowered.smem_bytes,
                    ptx: lowered.module.to_string(),
                }));
            }
            Err(more) => mistakes.extend(more),
        }
    }
    match mistakes.is_empty() {
        true => Ok((shown, open)),
        false => Err(Refused::Mistakes(mistakes)),
    }
}

impl Shown {
    fn json(&self, with_ptx: bool) -> Json {
        let mut json = json!({
            "module": self.module,
            "name": self.name,
            "threads": self.threads,
            "cluster": self.cluster,
            "shared_bytes": self.shared_bytes,
        });
        if with_ptx {
            json["ptx"] = self.ptx.clone().into();
        }
        json
    }
}

impl Open {
    fn json(&self) -> Json {
        json!({ "module": self.module, "name": self.name, "values": self.values })
    }
}

/// The PTX of each instance; of several, with a comment in front that names the instance.
fn texts(shown: &[Shown]) -> String {
    match shown {
        [only] => only.ptx.clone(),
        several => {
            let texts = several.iter();
            let texts = texts.map(|it| format!("// {}\n{}", path(&it.module, &it.name), it.ptx));
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

fn list(shown: &[Shown], open: &[Open]) -> String {
    let heads = ["instance", "threads", "cluster", "shared bytes"].map(str::to_owned);
    let rows = shown.iter().map(|it| {
        let [x, y, z] = it.cluster;
        let cluster = format!("{x}x{y}x{z}");
        let numbers = [it.threads.to_string(), cluster, it.shared_bytes.to_string()];
        let [threads, cluster, bytes] = numbers;
        [path(&it.module, &it.name), threads, cluster, bytes]
    });
    let rows: Vec<_> = [heads].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2, 3].map(|column| width(column).unwrap_or(0));
    let lines = rows.iter().map(|[name, threads, cluster, bytes]| {
        let [a, b, c, d] = widths;
        format!("{name:a$}  {threads:>b$}  {cluster:>c$}  {bytes:>d$}\n")
    });
    let open = open.iter().map(|it| {
        let name = path(&it.module, &it.name);
        format!(
            "{name}: no PTX before a program gives {}\n",
            it.values.join(", ")
        )
    });
    lines.chain(open).collect()
}

/// The error with the line of the file at which it is.
fn failure(file: &str, text: &str, mistake: &Mistake) -> Failure {
    let (number, column) = mistake.begin;
    let line = text
        .lines()
        .nth(number.saturating_sub(1))
        .unwrap_or_default();
    let byte = |column: usize| {
        let mut starts = line.char_indices().map(|(at, _)| at);
        starts.nth(column.saturating_sub(1)).unwrap_or(line.len())
    };
    let end = match mistake.end {
        (last, column) if last == number => byte(column),
        _ => line.len(),
    };
    let start = byte(column);
    let mut lines = mistake.message.lines();
    let mut error = NotationError::new(&(start..end.max(start)), lines.next().unwrap_or_default());
    for line in lines {
        match (
            line.trim().strip_prefix("help: "),
            line.trim().strip_prefix("note: "),
        ) {
            (Some(help), _) => error = error.help(help),
            (_, Some(note)) => error.note = Some(note.to_owned()),
            _ => error.message += &format!("\n{line}"),
        }
    }
    if mistake.is_outside {
        error = error.help(
            "`cargo expand` shows the PTX of such a module; a layout is given as `-D NAME=LAYOUT`",
        );
    }
    let source = if file == "-" { STANDARD_INPUT } else { file };
    let statement = Statement {
        source: Some((source.to_owned(), number)),
        ..Statement::verbatim(line)
    };
    Failure::new(&statement, error)
}
