//! Errors of statements, as text with a caret and as JSON.

use crate::statement::Statement;
use anstyle::{AnsiColor, Style};
use cute_algebra::notation::NotationError;
use serde_json::{Value as Json, json};

const RED: Style = AnsiColor::Red.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default().bold();

/// Why a statement has no answer, and where.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) statement: Statement,
    pub(crate) error: Box<NotationError>,
}

impl Failure {
    pub(crate) fn new(statement: &Statement, error: NotationError) -> Self {
        Self {
            statement: statement.clone(),
            error: Box::new(error),
        }
    }

    /// An error about the whole statement.
    pub(crate) fn whole(statement: &Statement, message: impl ToString) -> Self {
        let at = 0..statement.text.lines().next().map_or(0, str::len);
        Self::new(statement, NotationError::new(&at, message.to_string()))
    }

    /// The message, its place and the line with a caret under the token.
    pub(crate) fn text(&self) -> String {
        let rendered = self.error.render(&self.statement.text);
        let mut text = heading(&self.error.message);
        if let Some((file, _)) = &self.statement.source {
            let (line, column) = self.place();
            text += &format!("\n {BLUE}-->{BLUE:#} {file}:{line}:{column}");
        }
        // `text` already has the message.
        let body = &rendered["error: ".len() + self.error.message.len()..];
        for line in body.lines().skip(1) {
            let carets = line.trim_start_matches([' ', '|']);
            text += "\n";
            text += &match !carets.is_empty() && carets.chars().all(|c| c == '^') {
                true => {
                    let margin = &line[..line.len() - carets.len()];
                    format!("{margin}{RED}{carets}{RED:#}")
                }
                false => line.to_owned(),
            };
        }
        text
    }

    pub(crate) fn json(&self) -> Json {
        let NotationError {
            message,
            note,
            help,
            at,
        } = &*self.error;
        let (line, column) = self.place();
        json!({ "error": {
            "message": message,
            "note": note,
            "help": help,
            "file": self.statement.source.as_ref().map(|(file, _)| file),
            "line": line,
            "column": column,
            "expression": self.statement.text,
            "token": self.statement.text.get(at.clone()),
        }})
    }

    /// The line and the column of the token, counted from 1.
    fn place(&self) -> (usize, usize) {
        let text = &self.statement.text;
        let before = text.get(..self.error.at.start).unwrap_or(text);
        let first = self.statement.source.as_ref().map_or(1, |(_, line)| *line);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            first + before.matches('\n').count(),
            before[start..].chars().count() + 1,
        )
    }
}

/// `error: message`, with colour.
pub(crate) fn heading(message: &str) -> String {
    format!("{RED}error{RED:#}: {message}")
}
