//! Statements and where they come from: arguments, files and standard input.

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
}

impl Statement {
    /// The statement of an argument.
    pub(crate) fn argument(text: &str) -> Self {
        let text = text.trim().to_owned();
        Self { text, source: None }
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
    let (name, result) = match file {
        "-" => ("standard input", whole(io::stdin().lock())),
        _ => (file, File::open(file).and_then(whole)),
    };
    let text = result
        .map_err(|error| io::Error::new(error.kind(), format!("cannot read {name}: {error}")))?;
    Ok(split(name, &text))
}

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

/// The statements of a text: one a line, continued while a parenthesis or brace is open. A comment begins with `#`.
pub(crate) fn split(name: &str, text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut open = 0i64;
    for (line, number) in text.lines().zip(1..) {
        let line = without_comment(line).trim_end();
        let count = |signs: [char; 2]| line.matches(signs).count() as i64;
        match statements.last_mut().filter(|_| open > 0) {
            Some(statement) => {
                statement.text.push('\n');
                statement.text.push_str(line);
            }
            None if line.trim().is_empty() => continue,
            None => statements.push(Statement {
                text: line.trim_start().to_owned(),
                source: Some((name.to_owned(), number)),
            }),
        }
        open = (open + count(['(', '{']) - count([')', '}'])).max(0);
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
