//! Statements and where they come from: arguments, files and standard input.

use crate::unfinished::{Missing, Progress};
use cute_algebra::notation::{TokenKind, lex};
use std::fs::File;
use std::io::{self, Read};

/// A definition or an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The text without comment.
    pub(crate) text: String,
    /// The file and the line at which it begins, counted from 1; `None` for an argument.
    pub(crate) source: Option<(String, usize)>,
    /// What the last statement of a text lacks, if it is not finished.
    pub(crate) missing: Option<Box<Missing>>,
}

impl Statement {
    /// The statement of an argument.
    pub(crate) fn argument(text: &str) -> Self {
        Self::verbatim(text.trim())
    }

    /// The same with the white space around it.
    pub(crate) fn verbatim(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            source: None,
            missing: None,
        }
    }

    /// For `NAME = EXPR`: the name, and where the expression begins in the text.
    pub(crate) fn definition(&self) -> Option<(&str, usize)> {
        // A wrong token is reported when the expression is parsed.
        let first = self.text.find('=')?;
        let is_sign = |byte: usize| self.text.as_bytes().get(byte) == Some(&b'=');
        let name = self.text[..first].trim();
        match &lex(name).ok()?[..] {
            [only] if matches!(only.kind, TokenKind::Word(_)) && !is_sign(first + 1) => {
                Some((name, first + 1))
            }
            _ => None,
        }
    }
}

/// Largest size of a file in bytes. The limit stops endless devices such as `/dev/zero`.
const LARGEST: u64 = 1 << 24;

/// The statements of a file; `-` is standard input. An error names the file.
pub(crate) fn read(file: &str) -> io::Result<Vec<Statement>> {
    let name = if file == "-" { STANDARD_INPUT } else { file };
    Ok(split(name, &text_of(file)?))
}

/// The text of a file; `-` is standard input. An error names the file.
pub(crate) fn text_of(file: &str) -> io::Result<String> {
    let (name, result) = match file {
        "-" => (STANDARD_INPUT, whole(io::stdin().lock())),
        _ => (file, File::open(file).and_then(whole)),
    };
    result.map_err(|error| io::Error::new(error.kind(), format!("cannot read {name}: {error}")))
}

/// The name of what `-` reads.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// The whole text; an error above [`LARGEST`] bytes.
fn whole(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("it has more than {LARGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The statements of a text: one a line, continued while it is not finished. A comment begins with `#`.
pub(crate) fn split(name: &str, text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut progress = Progress::default();
    for (line, number) in text.lines().zip(1..) {
        let mut line = without_comment(line).trim_end();
        let is_unfinished = progress.missing().is_some();
        match statements.last_mut().filter(|_| is_unfinished) {
            Some(statement) => {
                statement.text.push('\n');
                statement.text.push_str(line);
            }
            None if line.trim().is_empty() => continue,
            None => {
                line = line.trim_start();
                progress = Progress::default();
                statements.push(Statement {
                    text: line.to_owned(),
                    source: Some((name.to_owned(), number)),
                    missing: None,
                });
            }
        }
        progress.line(line);
    }
    if let (Some(last), Some(missing)) = (statements.last_mut(), progress.missing()) {
        last.text.truncate(last.text.trim_end().len());
        last.missing = Some(Box::new(missing));
    }
    statements
}

/// A `#` inside of quotes begins no comment.
fn without_comment(line: &str) -> &str {
    let mut is_quoted = false;
    let start = line.find(|c| {
        is_quoted ^= c == '"';
        c == '#' && !is_quoted
    });
    &line[..start.unwrap_or(line.len())]
}
