//! From text to tokens. Line breaks and comments are tokens too, because the tree keeps blank lines and comments.

/// A token, borrowed from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name, directive or mnemonic: `%r1`, `%tid.x`, `.param`, `ld.shared::cta.b32`, `_`.
    Word(&'a str),
    /// A number as written: `12`, `0x1F`, `8.0`, `0f3F800000`.
    Number(&'a str),
    /// The inside of a string literal.
    Text(&'a str),
    /// One line of a comment, without `//`, `/*` and `*/`.
    Comment(&'a str),
    /// Any other character.
    Punct(char),
    Newline,
    End,
}

/// A token, and the line and column (in characters) where it begins; both count from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spanned<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The first error in a text that is not a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The problem, such as "expected an operand, found `,`".
    pub message: String,
}

/// All tokens; the last is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Spanned<'_>>, ParseError> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.take_while(|c| c.is_whitespace() && c != '\n');
        let (line, column) = (lexer.line, lexer.column);
        let mut push = |token| {
            tokens.push(Spanned {
                token,
                line,
                column,
            })
        };
        let Some(first) = lexer.rest.chars().next() else {
            push(Token::End);
            return Ok(tokens);
        };
        match first {
            '\n' => {
                lexer.advance(1);
                push(Token::Newline);
            }
            '/' if lexer.rest.starts_with("//") => {
                let comment = lexer.take_while(|c| c != '\n');
                let comment = comment[2..].trim_end();
                push(Token::Comment(comment.strip_prefix(' ').unwrap_or(comment)));
            }
            '/' if lexer.rest.starts_with("/*") => {
                let Some(end) = lexer.rest[2..].find("*/") else {
                    return Err(ParseError {
                        line,
                        column,
                        message: "this comment has no closing `*/`".into(),
                    });
                };
                let comment = lexer.advance(end + 4);
                for (i, words) in comment[2..end + 2].split('\n').enumerate() {
                    let line = line + i as u32;
                    if i > 0 {
                        tokens.push(Spanned {
                            token: Token::Newline,
                            line: line - 1,
                            column,
                        });
                    }
                    tokens.push(Spanned {
                        token: Token::Comment(words.trim()),
                        line,
                        column,
                    });
                }
            }
            '"' => {
                let Some(end) = lexer.rest[1..]
                    .find(['"', '\n'])
                    .filter(|&end| lexer.rest[1 + end..].starts_with('"'))
                else {
                    return Err(ParseError {
                        line,
                        column,
                        message: "this string has no closing `\"`".into(),
                    });
                };
                push(Token::Text(&lexer.advance(end + 2)[1..=end]));
            }
            '0'..='9' => push(Token::Number(
                lexer.take_while(|c| c.is_ascii_alphanumeric() || c == '.'),
            )),
            _ if starts_word(first) => push(Token::Word(lexer.word())),
            _ => {
                lexer.advance(first.len_utf8());
                push(Token::Punct(first));
            }
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for c in taken.chars() {
            (self.line, self.column) = if c == '\n' {
                (self.line + 1, 1)
            } else {
                (self.line, self.column + 1)
            };
        }
        taken
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// A word contains `.` and `::`, but not the single colon after a label. A directive ends before the next one, as in `.reg.b32`.
    fn word(&mut self) -> &'a str {
        let mut end = 1;
        let directive = self.rest.starts_with('.');
        loop {
            end += self.rest[end..]
                .find(|c| !continues_word(c) || directive && c == '.')
                .unwrap_or(self.rest.len() - end);
            match self.rest[end..]
                .strip_prefix("::")
                .and_then(|after| after.chars().next())
            {
                Some(next) if continues_word(next) => end += 2,
                _ => return self.advance(end),
            }
        }
    }
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%' | '.')
}

fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}
