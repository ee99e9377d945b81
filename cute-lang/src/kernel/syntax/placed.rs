//! Tokens as parsable text, each at the line and column of its source.

use crate::kernel::syntax::location::Location;
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// The most empty lines between two tokens. For more, a new place is recorded.
const MAX_EMPTY: u32 = 64;

/// The text of tokens, and the places of its lines.
#[derive(Default)]
pub struct Placed {
    /// The text.
    pub text: String,
    /// Places of lines in the order of the text. Other lines continue the file of the line before.
    pub places: Vec<Place>,
    /// The current line of the text, from 1.
    line: u32,
    /// The column in it, from 1.
    column: u32,
    previous: Previous,
}

/// The place of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line of the text, from 1.
    pub line: u32,
    /// The file.
    pub file: String,
    /// The line in the file, from 1.
    pub line_of_file: u32,
}

/// The end of the text, which determines whether a space follows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Previous {
    /// White space, or a delimiter.
    #[default]
    Open,
    /// A name or a literal.
    Word,
    /// A sign.
    Sign,
    /// A sign joined with the next one.
    Joint,
}

impl Placed {
    /// The text of tokens. Outside of the compiler there are no places, and all text is on one line.
    pub fn new(tokens: TokenStream) -> Self {
        let mut placed = Self {
            line: 1,
            column: 1,
            ..Self::default()
        };
        placed.stream(tokens);
        placed
    }

    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let signs = match group.delimiter() {
                        Delimiter::Parenthesis => "()",
                        Delimiter::Bracket => "[]",
                        Delimiter::Brace => "{}",
                        // An expression substituted by a macro stays one expression.
                        Delimiter::None if group.stream().into_iter().nth(1).is_some() => "()",
                        Delimiter::None => "",
                    };
                    let (open, close) = signs.split_at(signs.len() / 2);
                    self.token(open, group.span_open(), Previous::Open);
                    self.stream(group.stream());
                    self.token(close, group.span_close(), Previous::Open);
                }
                TokenTree::Ident(ident) => {
                    let name = match ident.to_string() {
                        name if name == "$crate" => "crate".to_owned(),
                        name => name,
                    };
                    self.token(&name, ident.span(), Previous::Word);
                }
                TokenTree::Literal(literal) => {
                    self.token(&literal.to_string(), literal.span(), Previous::Word);
                }
                TokenTree::Punct(punct) => {
                    let kind = match punct.spacing() {
                        Spacing::Joint => Previous::Joint,
                        Spacing::Alone => Previous::Sign,
                    };
                    self.token(&punct.as_char().to_string(), punct.span(), kind);
                }
            }
        }
    }

    fn token(&mut self, text: &str, span: Span, kind: Previous) {
        if text.is_empty() {
            return;
        }
        if self.previous != Previous::Joint {
            match Location::of(span) {
                Some(location) => self.move_to(&location),
                None => self.write(" "),
            }
            let word = kind == Previous::Word;
            match self.previous {
                Previous::Word if word => self.write(" "),
                Previous::Sign if !word && kind != Previous::Open => self.write(" "),
                _ => {}
            }
        }
        self.write(text);
        self.previous = kind;
    }

    /// Adds white space up to the line and column of a token, or records the place of a new line.
    fn move_to(&mut self, location: &Location) {
        let down = (self.places.last())
            .filter(|place| place.file == location.file)
            .and_then(|place| {
                (location.line + place.line).checked_sub(place.line_of_file + self.line)
            });
        match down {
            Some(down) if down <= MAX_EMPTY => (0..down).for_each(|_| self.write("\n")),
            _ => {
                if self.column > 1 {
                    self.write("\n");
                }
                self.places.push(Place {
                    line: self.line,
                    file: location.file.clone(),
                    line_of_file: location.line,
                });
            }
        }
        let missing = location.column.saturating_sub(self.column) as usize;
        self.write(&" ".repeat(missing));
    }

    fn write(&mut self, text: &str) {
        for char in text.chars() {
            match char {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.text.push_str(text);
        if text.ends_with([' ', '\n']) {
            self.previous = Previous::Open;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_again_as_they_were() {
        for text in [
            "fn k<'a, const N: u32>(x: &'a mut Global<T, 2>) -> u32 { x[(1, 0)] >>= -1i32; }",
            "a..=b; 'l: loop { break 'l; } x.0.1; 1.5 as f32; r#\"raw\"#; b'\\n'; !!y; &&z; < - 1",
            "layout!(Sw<3,0,3> o (8,8):(8,1)) #[doc = \"two\\nlines\"] |x, _| x ..= 2",
        ] {
            let tokens: TokenStream = text.parse().expect("tokens");
            let placed = Placed::new(tokens.clone());
            let again: TokenStream = placed.text.parse().expect("tokens");
            assert_eq!(again.to_string(), tokens.to_string());
            assert_eq!(placed.places, []);
        }
    }

    #[test]
    fn lines_are_those_of_the_files() {
        let mut placed = Placed {
            line: 1,
            column: 1,
            ..Placed::default()
        };
        for (text, file, line, column) in [
            ("one", "a.rs", 7, 5),
            ("two", "a.rs", 9, 3),
            ("three", "a.rs", 9, 6),
            ("four", "b.rs", 2, 1),
            ("five", "a.rs", 500, 1),
        ] {
            let location = Location {
                file: file.to_owned(),
                line,
                column,
            };
            placed.move_to(&location);
            placed.token(text, Span::call_site(), Previous::Word);
        }
        assert_eq!(placed.text, "     one\n\n   two three\n four\n five");
        let place = |line, file: &str, line_of_file| Place {
            line,
            file: file.to_owned(),
            line_of_file,
        };
        let expected = [
            place(1, "a.rs", 7),
            place(4, "b.rs", 2),
            place(5, "a.rs", 500),
        ];
        assert_eq!(placed.places, expected);
    }
}
