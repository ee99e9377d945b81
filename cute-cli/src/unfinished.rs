//! What a statement lacks at its end, so that it goes on in the next line.

/// The words behind which an operand stands.
const WORDS: [&str; 4] = ["o", "then", "ragged", "where"];

/// The signs behind which an operand stands.
const SIGNS: [char; 8] = [':', '@', '/', '*', '%', '+', '-', '='];

/// How far a statement has been read, line by line.
#[derive(Default)]
pub(crate) struct Progress {
    /// The open parentheses and brackets, with their positions in the text.
    open: Vec<(char, usize)>,
    /// Whether the expression, or the facts before it, have begun.
    has_begun: bool,
    /// Whether what stands here are facts, in which `<` is a comparison.
    is_facts: bool,
    /// Whether it is a command line behind a colon, in which `-o` is an option.
    is_command: bool,
    /// The sign or word at the end, if something must follow it.
    last: Option<String>,
    /// Bytes of the text so far.
    length: usize,
}

/// What a statement lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What is missing, in words.
    pub(crate) message: String,
    /// The parentheses and brackets that would close the open ones.
    pub(crate) closing: String,
    /// The position of the innermost open one.
    pub(crate) opened: Option<usize>,
}

impl Progress {
    /// Reads the next line, without its comment.
    pub(crate) fn line(&mut self, line: &str) {
        if self.length > 0 {
            self.length += 1;
        }
        if !self.has_begun {
            self.begin(line);
        }
        let mut is_quoted = false;
        for (at, sign) in line.char_indices() {
            is_quoted ^= sign == '"';
            if !is_quoted {
                self.sign(sign, self.length + at);
            }
        }
        self.length += line.len();
        if !line.trim().is_empty() {
            self.last = last(line).filter(|_| !self.is_command);
        }
    }

    /// Whether the expression begins, maybe behind the name that is defined, and whether with facts.
    fn begin(&mut self, line: &str) {
        let expression = match line.split_once('=') {
            Some((name, rest)) if is_word(name.trim()) && !rest.starts_with('=') => rest,
            _ => line,
        };
        let expression = expression.trim_start();
        self.has_begun = !expression.is_empty();
        self.is_command = line.trim_start().starts_with(':');
        let facts = expression.strip_prefix("where");
        self.is_facts = facts.is_some_and(|rest| !rest.starts_with(is_part));
    }

    fn sign(&mut self, sign: char, at: usize) {
        let closes = match sign {
            '(' | '{' => return self.open.push((sign, at)),
            '<' if !self.is_facts => return self.open.push((sign, at)),
            ';' => return self.is_facts = false,
            ')' => '(',
            '}' => '{',
            '>' if !self.is_facts => '<',
            _ => return,
        };
        if let Some(index) = self.open.iter().rposition(|(open, _)| *open == closes) {
            self.open.truncate(index);
        }
    }

    /// What is missing at the end of the last line; `None` if the statement may be whole.
    pub(crate) fn missing(&self) -> Option<Missing> {
        let closing: String = self
            .open
            .iter()
            .rev()
            .map(|(open, _)| closed_by(*open))
            .collect();
        let message = match (&self.last, self.open.last()) {
            (Some(last), _) if last == ";" => "an expression is missing behind `;`".to_owned(),
            (Some(last), _) => format!("an operand is missing behind `{last}`"),
            (None, Some((open, _))) => format!("`{}` is missing", closed_by(*open)),
            (None, None) if self.is_facts => "`;` and an expression are missing".to_owned(),
            (None, None) => return None,
        };
        Some(Missing {
            message,
            closing,
            opened: self.open.last().map(|(_, at)| *at),
        })
    }
}

fn closed_by(open: char) -> char {
    match open {
        '(' => ')',
        '{' => '}',
        _ => '>',
    }
}

/// The sign or word at the end of a line, if something must follow it.
fn last(line: &str) -> Option<String> {
    let line = line.trim_end();
    let word = line.rfind(|c| !is_part(c)).map_or(line, |before| {
        let sign = line[before..].chars().next().map_or(1, char::len_utf8);
        &line[before + sign..]
    });
    let end = line.chars().next_back()?;
    match WORDS.contains(&word) {
        true => Some(word.to_owned()),
        false => (SIGNS.contains(&end) || end == ';').then(|| end.to_string()),
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::Progress;

    /// Checks what a text lacks, line by line.
    #[track_caller]
    fn check(text: &str, missing: Option<&str>) {
        let mut progress = Progress::default();
        text.lines().for_each(|line| progress.line(line));
        let found = progress.missing().map(|missing| missing.message);
        assert_eq!(found.as_deref(), missing, "{text}");
    }

    #[test]
    fn whole_statements_lack_nothing() {
        for text in [
            "",
            "A = (4,8)",
            "(4,\n8)",
            "where m < 5, n >= 2; (m,n):(n,1)",
            "T = where m % 4 == 0; (m,8) / <4,2>",
            "A / <4,\n_>",
            "8:1 fails \"expected (\"",
            "foo",
            "Sw<3,4,3> o 0 o (8,64)",
            ":svg -o",
            ":table (2,\n2)",
            ":svg (2,\n2) -o",
            "-3:-1",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn unfinished_statements_say_what_is_missing() {
        for (text, missing) in [
            ("(4,8", "`)` is missing"),
            ("A / <4,(2", "`)` is missing"),
            ("A / <4,2", "`>` is missing"),
            ("({m", "`}` is missing"),
            ("A o", "an operand is missing behind `o`"),
            ("A o\n\n", "an operand is missing behind `o`"),
            ("(A o", "an operand is missing behind `o`"),
            ("A\nthen", "an operand is missing behind `then`"),
            ("(4,8):", "an operand is missing behind `:`"),
            ("A =", "an operand is missing behind `=`"),
            ("where m % 4 == 0;", "an expression is missing behind `;`"),
            ("where m < 5,", "`;` and an expression are missing"),
            ("T =\nwhere m < 5", "`;` and an expression are missing"),
            (":table (2,", "`)` is missing"),
        ] {
            check(text, Some(missing));
        }
    }
}
