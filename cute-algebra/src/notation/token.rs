//! Tokens, and the lexer that splits a text into them.

use super::error::NotationError;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// The largest number of tokens of an expression.
pub const MAX_TOKENS: usize = 1 << 16;

/// A token with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of token, with its value.
    pub kind: TokenKind,
    /// The position, in a unit chosen by the caller: [`lex`] counts bytes.
    pub at: Range<usize>,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An integer without a sign.
    Int(u64),
    /// A word, or a path such as `shapes::A`.
    Word(String),
    /// One of ``( ) < > , : @ / - _``.
    Punct(char),
    /// An expression in braces, with the braces.
    Braced(String),
    /// Any other token. The parser accepts only a few of these, such as `*` and `%`.
    Other(String),
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Word(text) | Self::Braced(text) | Self::Other(text) => f.write_str(text),
            Self::Punct(sign) => sign.fmt(f),
        }
    }
}

/// Splits a text into tokens, whose positions are byte ranges.
pub fn lex(text: &str) -> Result<Vec<Token>, NotationError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length = match first {
            _ if first.is_whitespace() => {
                start += first.len_utf8();
                continue;
            }
            '0'..='9' => word_length(rest),
            _ if first.is_alphabetic() || first == '_' => path_length(rest),
            '{' => braces_length(rest),
            _ => first.len_utf8(),
        };
        let at = start..start + length;
        tokens.push(Token {
            kind: token_kind(&rest[..length], &at)?,
            at,
        });
        if tokens.len() > MAX_TOKENS {
            return Err(NotationError::new(
                &(start..text.len()),
                format!("more than {MAX_TOKENS} tokens"),
            ));
        }
        start += length;
    }
    Ok(tokens)
}

fn token_kind(text: &str, at: &Range<usize>) -> Result<TokenKind, NotationError> {
    let first = text.chars().next().unwrap_or(' ');
    let static_integer = text
        .strip_prefix('_')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    Ok(match first {
        '0'..='9' => {
            TokenKind::Int(parse_integer(text).map_err(|message| NotationError::new(at, message))?)
        }
        '_' if text == "_" => TokenKind::Punct('_'),
        // `_8` is the integer 8, since CuTe prints static integers in this way.
        '_' if let Some(digits) = static_integer => TokenKind::Int(
            parse_integer(digits).map_err(|message| NotationError::new(at, message))?,
        ),
        '(' | ')' | '<' | '>' | ',' | ':' | '@' | '/' | '-' => TokenKind::Punct(first),
        '{' => TokenKind::Braced(text.to_owned()),
        '∘' => {
            return Err(
                NotationError::new(at, "unknown sign `∘`").help("composition is written `o`")
            );
        }
        _ if first.is_alphabetic() || first == '_' => TokenKind::Word(text.to_owned()),
        _ => TokenKind::Other(text.to_owned()),
    })
}

/// The value of an integer literal: decimal, or with `0x`, `0o` or `0b`. `_` may separate digits.
pub fn parse_integer(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, &digits[2..]),
        [b'0', b'o', ..] => (8, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        _ => (10, &digits[..]),
    };
    let suffixes = [
        "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "isize", "usize",
    ];
    let mut before = suffixes
        .iter()
        .filter_map(|suffix| digits.strip_suffix(suffix));
    if radix == 10
        && let Some(value) = before.next()
    {
        return Err(format!(
            "integers have no type here: write `{value}` for `{text}`"
        ));
    }
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(format!("`{text}` is not an integer"));
    }
    u64::from_str_radix(digits, radix)
        .ok()
        .filter(|&value| value <= i64::MIN.unsigned_abs())
        .ok_or_else(|| format!("`{text}` does not fit 64 bits"))
}

/// The text without the braces around it.
pub(super) fn inside_of_braces(text: &str) -> &str {
    let mut inner = text.trim();
    while braces_length(inner) == inner.len()
        && let Some(rest) = inner.strip_prefix('{')
    {
        // The last of a text may lack its `}`.
        inner = rest.strip_suffix('}').unwrap_or(rest).trim();
    }
    inner
}

/// The length in bytes of the braces at the beginning of a text, with their contents.
fn braces_length(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

/// The length in bytes of the name `a` or the path `a::b::c` at the beginning of a text.
fn path_length(text: &str) -> usize {
    let mut length = word_length(text);
    while let Some(rest) = text[length..].strip_prefix("::")
        && rest.starts_with(|c: char| c.is_alphabetic() || c == '_')
    {
        length += 2 + word_length(rest);
    }
    length
}
