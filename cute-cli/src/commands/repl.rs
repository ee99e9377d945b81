//! Statements typed or piped into `cute` without a command.

use super::{Context, Stop, evaluate};
use crate::args::Cli;
use crate::statement::{Statement, read, split};
use clap::Parser;
use cute_algebra::operations;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Editor, Helper};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

const HELP: &str = "\
An expression is evaluated, and `A = (4,8):(8,1)` defines a name. Commands of `cute` begin with a colon:

  :table A                  :explain A o (4,2)
  :svg -o picture.svg A     :compare \"A\" \"(8,4) then A\"
  :operations divide        :names     :help     :quit

Everything after the options of a command is one expression, unless it is quoted.
";

/// Evaluates the lines of standard input, with a prompt and a history if it is a terminal.
pub(crate) fn run(context: &mut Context) -> Result<(), Stop> {
    if !io::stdin().is_terminal() {
        for statement in read("-")? {
            if line(context, &statement)? == Next::Quit {
                break;
            }
        }
        return Ok(());
    }
    let mut editor: Editor<Prompt, FileHistory> = Editor::new().map_err(io::Error::other)?;
    editor.set_helper(Some(Prompt { names: Vec::new() }));
    let history = history();
    if let Some(history) = &history {
        // On the first run there is no history file.
        let _ = editor.load_history(history);
    }
    println!("cute {}, `:help` for help", env!("CARGO_PKG_VERSION"));
    loop {
        if let Some(prompt) = editor.helper_mut() {
            prompt.names = context
                .session
                .names()
                .map(|(name, _)| name.to_owned())
                .collect();
        }
        let text = match editor.readline("cute> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(io::Error::other(error).into()),
        };
        let _ = editor.add_history_entry(&text);
        for statement in split("", &text) {
            let statement = Statement {
                source: None,
                ..statement
            };
            if line(context, &statement)? == Next::Quit {
                return save(&mut editor, history);
            }
        }
    }
    save(&mut editor, history)
}

fn save(editor: &mut Editor<Prompt, FileHistory>, history: Option<PathBuf>) -> Result<(), Stop> {
    if let Some(history) = history {
        if let Some(folder) = history.parent() {
            std::fs::create_dir_all(folder)?;
        }
        editor.save_history(&history).map_err(io::Error::other)?;
    }
    Ok(())
}

/// `$CUTE_HISTORY`, or `cute/history` in the folder for the state of programs.
fn history() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let state = || variable("XDG_STATE_HOME").or(Some(variable("HOME")?.join(".local/state")));
    variable("CUTE_HISTORY").or_else(|| Some(state()?.join("cute/history")))
}

#[derive(PartialEq, Eq)]
enum Next {
    Line,
    Quit,
}

fn line(context: &mut Context, statement: &Statement) -> Result<Next, Stop> {
    let Some(command) = statement.text.strip_prefix(':') else {
        let result = match context.session.define(statement) {
            Some(defined) => defined.map(|()| None),
            None => evaluate(&context.session, statement).map(Some),
        };
        context.output.result(&result)?;
        return Ok(Next::Line);
    };
    match command.trim() {
        "quit" | "q" => return Ok(Next::Quit),
        "help" | "h" => anstream::print!("{HELP}"),
        "names" => {
            for (name, value) in context.session.names() {
                anstream::println!("{name} = {value}");
            }
        }
        command => {
            match Cli::try_parse_from(std::iter::once("cute".to_owned()).chain(words(command))) {
                Ok(Cli {
                    command: Some(command),
                    ..
                }) => match context.command(command) {
                    Err(Stop::Usage(message)) => context.output.complain(&message),
                    other => other?,
                },
                Ok(_) => {}
                Err(error) => error.print()?,
            }
        }
    }
    Ok(Next::Line)
}

/// The words of a command. Without quotes, the text after the options is one word.
fn words(command: &str) -> Vec<String> {
    if command.contains('"') {
        let parts = command.split('"').enumerate();
        let parts = parts.flat_map(|(i, part)| match i % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        });
        return parts.collect();
    }
    let mut words = Vec::new();
    let mut rest = command;
    // An option is followed by its value, and no expression begins with two dashes or a dash and a letter.
    let mut is_value = false;
    loop {
        rest = rest.trim_start();
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_option =
            word.starts_with('-') && !word[1..].starts_with(|c: char| c.is_ascii_digit());
        if !words.is_empty() && !is_option && !is_value {
            break;
        }
        is_value = is_option && !word.contains('=');
        words.push(word.to_owned());
        rest = after;
    }
    if !rest.is_empty() {
        words.push(rest.to_owned());
    }
    words
}

/// Completes names, and asks for another line while a parenthesis is open.
struct Prompt {
    names: Vec<String>,
}

impl Completer for Prompt {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        end: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let start = line[..end]
            .rfind(|c| !is_part(c))
            .map_or(0, |before| before + 1);
        let begun = &line[start..end];
        let known = operations::all()
            .map(|row| row.name.to_owned())
            .chain(self.names.iter().cloned());
        Ok((
            start,
            known
                .filter(|name| !begun.is_empty() && name.starts_with(begun))
                .collect(),
        ))
    }
}

impl Validator for Prompt {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let count = |signs: [char; 2]| context.input().matches(signs).count();
        Ok(match count(['(', '{']) > count([')', '}']) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Highlighter for Prompt {}

impl Hinter for Prompt {
    type Hint = String;
}

impl Helper for Prompt {}
