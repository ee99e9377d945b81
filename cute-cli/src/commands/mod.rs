//! The commands.

mod access;
mod check;
mod compare;
mod draw;
mod explain;
mod operations;
#[cfg(feature = "ptx")]
mod ptx;
mod repl;

use crate::answer::Answer;
use crate::args::{Cli, Command, Common, Expressions};
use crate::failure::{Failure, heading};
use crate::session::Session;
use crate::statement::{Statement, read};
use clap::CommandFactory;
use clap::error::ErrorKind;
use serde_json::{Value as Json, to_string_pretty};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Runs the command. An error of input or output ends it.
pub(crate) fn run(cli: Cli) -> io::Result<ExitCode> {
    let mut context = Context::new(&cli.common)?;
    let stopped = match cli.command {
        Some(command) => context.command(command),
        None => repl::run(&mut context),
    };
    match stopped {
        Ok(()) => context.output.finish(),
        Err(Stop::Usage(message)) => Cli::command()
            .error(ErrorKind::WrongNumberOfValues, message)
            .exit(),
        Err(Stop::Io(error)) => Err(error),
    }
}

/// Why a command cannot go on.
pub(crate) enum Stop {
    /// The command line is wrong.
    Usage(String),
    /// Input or output failed.
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The error of a command without expressions.
const EXPECTED: &str = "expected an expression, such as `(4,8):(8,1)`: as an argument, in a file (`--file FILE`) or on standard input";

/// Shared state of the commands: definitions, expressions read from `--file`, output.
pub(crate) struct Context {
    session: Session,
    /// The expressions of these files. They are evaluated if the command has no expressions.
    expressions: Vec<Statement>,
    output: Output,
}

impl Context {
    fn new(common: &Common) -> io::Result<Self> {
        let mut context = Self {
            session: Session::default(),
            expressions: Vec::new(),
            output: Output::new(common.json),
        };
        let mut statements: Vec<_> = common
            .define
            .iter()
            .map(|text| Statement::argument(text))
            .collect();
        for file in &common.file {
            statements.extend(read(file)?);
        }
        for statement in statements {
            match context.session.define(&statement) {
                Some(Ok(())) => {}
                Some(Err(failure)) => context.output.failure(&failure)?,
                None => context.expressions.push(statement),
            }
        }
        Ok(context)
    }

    fn command(&mut self, command: Command) -> Result<(), Stop> {
        match command {
            Command::Eval(source) => self.each(source, &mut |session, statement| {
                evaluate(session, statement)
            }),
            Command::Table { source, slice } => self.each(source, &mut |session, statement| {
                draw::table(session, statement, slice.slice.as_deref())
            }),
            Command::Explain(source) => explain::run(self, source),
            Command::Svg(drawing) => draw::picture(self, drawing, &|picture| picture.to_svg()),
            Command::Latex(drawing) => draw::picture(self, drawing, &|picture| picture.to_latex()),
            Command::Compare { a, b } => Ok(compare::run(self, &a, &b)?),
            Command::Banks(access) => Ok(access::banks(self, &access)?),
            Command::Coalescing(access) => Ok(access::coalescing(self, &access)?),
            Command::Check { files } => Ok(check::run(self, &files)?),
            #[cfg(feature = "ptx")]
            Command::Ptx(options) => ptx::run(self, &options),
            #[cfg(not(feature = "ptx"))]
            Command::Ptx(_) => Err(Stop::Io(io::Error::other(
                "this `cute` was built without the command `ptx`: cargo install --path cute-cli --features ptx",
            ))),
            Command::Operations { word } => Ok(self.output.answer(&operations::list(&word)?)?),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "cute", &mut script);
                Ok(io::stdout().write_all(&script)?)
            }
            Command::Man { command } => manual(command.as_deref()),
        }
    }

    /// The statements of a command: from its arguments, else from the files, else from standard input.
    fn statements(&mut self, source: Expressions) -> Result<Vec<Statement>, Stop> {
        let files = std::mem::take(&mut self.expressions);
        let mut statements = Vec::new();
        for text in &source.expressions {
            match text.trim() {
                "-" => statements.extend(read("-")?),
                text => statements.push(Statement::argument(text)),
            }
        }
        if source.expressions.is_empty() {
            statements = match files.is_empty() {
                true if !io::stdin().is_terminal() => read("-")?,
                _ => files,
            };
        }
        match statements.is_empty() {
            true => Err(Stop::Usage(EXPECTED.into())),
            false => Ok(statements),
        }
    }

    /// Answers each expression; definitions are made in their turn.
    fn each(
        &mut self,
        source: Expressions,
        answer: &mut dyn FnMut(&Session, &Statement) -> Result<Answer, Failure>,
    ) -> Result<(), Stop> {
        for statement in self.statements(source)? {
            let result = match self.session.define(&statement) {
                Some(defined) => defined.map(|()| None),
                None => answer(&self.session, &statement).map(Some),
            };
            self.output.result(&result)?;
        }
        Ok(())
    }

    /// The only expression of a command; `None` where a definition before it is wrong.
    fn one(&mut self, source: Expressions) -> Result<Option<Statement>, Stop> {
        let mut expressions = Vec::new();
        for statement in self.statements(source)? {
            match self.session.define(&statement) {
                Some(Ok(())) => {}
                Some(Err(failure)) => {
                    self.output.failure(&failure)?;
                    return Ok(None);
                }
                None => expressions.push(statement),
            }
        }
        let count = expressions.len();
        match <[Statement; 1]>::try_from(expressions) {
            Ok([statement]) => Ok(Some(statement)),
            Err(_) => Err(Stop::Usage(format!(
                "expected one expression, found {count}"
            ))),
        }
    }
}

fn evaluate(session: &Session, statement: &Statement) -> Result<Answer, Failure> {
    let (prepared, symbolic) = session
        .symbolic(&statement.text)
        .map_err(|error| Failure::new(statement, error))?;
    Ok(Answer::value(&prepared.expr, &statement.text, &symbolic))
}

fn manual(name: Option<&str>) -> Result<(), Stop> {
    let mut command = Cli::command();
    command.build();
    let command = match name {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            let unknown = || Stop::Usage(format!("there is no command `{name}`"));
            found.ok_or_else(unknown)?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(io::stdout().write_all(&page)?)
}

/// Writes a file.
fn write(file: &str, text: &str) -> io::Result<()> {
    std::fs::write(file, text)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write {file}: {error}")))
}

/// Where answers and errors go: lines to standard output and standard error, or one JSON document to standard output.
pub(crate) struct Output {
    is_json: bool,
    documents: Vec<Json>,
    has_failed: bool,
}

impl Output {
    fn new(is_json: bool) -> Self {
        Self {
            is_json,
            documents: Vec::new(),
            has_failed: false,
        }
    }

    pub(crate) fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        match self.is_json {
            true => self.documents.push(answer.json.clone()),
            false => anstream::stdout().write_all(answer.text.as_bytes())?,
        }
        Ok(())
    }

    pub(crate) fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        self.has_failed = true;
        match self.is_json {
            true => self.documents.push(failure.json()),
            false => anstream::eprintln!("{}", failure.text()),
        }
        Ok(())
    }

    fn result(&mut self, result: &Result<Option<Answer>, Failure>) -> io::Result<()> {
        match result {
            Ok(Some(answer)) => self.answer(answer),
            Ok(None) => Ok(()),
            Err(failure) => self.failure(failure),
        }
    }

    /// The exit status is 1 although every statement has an answer.
    pub(crate) fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Writes the JSON document: the answer, or an array where there is not exactly one.
    fn finish(self) -> io::Result<ExitCode> {
        if self.is_json {
            let document = match <[Json; 1]>::try_from(self.documents) {
                Ok([only]) => only,
                Err(several) => Json::Array(several),
            };
            writeln!(io::stdout(), "{}", to_string_pretty(&document)?)?;
        }
        io::stdout().flush()?;
        Ok(if self.has_failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Prints an error without a statement.
    fn complain(&mut self, message: &str) {
        anstream::eprintln!("{}", heading(message));
    }
}
