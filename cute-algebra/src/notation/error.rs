//! The error of an expression.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::Range;

/// The error of an expression: a message and a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The message, one sentence with the numbers.
    pub message: String,
    /// The failed operations with their operands, if the text does not show them.
    pub note: Option<String>,
    /// The suggested correction, if there is one.
    pub help: Option<String>,
    /// The position, in the unit of the tokens: bytes for a text.
    pub at: Range<usize>,
}

impl NotationError {
    /// An error at `at`, without note and help.
    pub fn new(at: &Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            note: None,
            help: None,
            at: at.clone(),
        }
    }

    /// The message, the line of `text`, and carets under the token, in the form of rustc's errors. Positions must
    /// count bytes of `text`, as in errors of [`eval_str`](super::eval_str) and `FromStr`.
    /// ```
    /// use cute_algebra::Layout;
    /// let text = "(4,8):(1,(4))";
    /// let error = text.parse::<Layout>().unwrap_err();
    /// assert_eq!(error.render(text), "\
    /// error: shape and stride are not congruent: 8 in the shape meets (4) in the stride
    ///   |
    ///   | (4,8):(1,(4))
    ///   |          ^^^
    ///   = help: (4) is a tuple of one mode: write `4` or `(8)`");
    /// ```
    pub fn render(&self, text: &str) -> String {
        let before = text.get(..self.at.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..].lines().next().unwrap_or("");
        let column = before[line_start..].chars().count();
        let token = text.get(self.at.clone()).unwrap_or("");
        let width = token
            .lines()
            .next()
            .map_or(1, |part| part.chars().count().max(1));
        let mut rendered = format!(
            "error: {}\n  |\n  | {line}\n  | {}{}",
            self.message,
            " ".repeat(column),
            "^".repeat(width)
        );
        for (kind, remark) in [("note", &self.note), ("help", &self.help)] {
            if let Some(remark) = remark {
                rendered.push_str(&format!("\n  = {kind}: {remark}"));
            }
        }
        rendered
    }

    /// The same error with this help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl core::error::Error for NotationError {}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let remarks = [("note", &self.note), ("help", &self.help)];
        remarks.iter().try_for_each(|(kind, remark)| match remark {
            Some(remark) => write!(f, "\n{kind}: {remark}"),
            None => Ok(()),
        })
    }
}
