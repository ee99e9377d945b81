//! The parser: from PTX text to a [`Module`].
//!
//! It reads all output of the printer, and ordinary compiler output: both kinds of comments, several registers
//! in one declaration, attributes of pointer parameters and of variables, and scoped blocks. Syntax that the tree cannot represent
//! (nested initial values, decimal exponents) is an error that names the line. `.pragma` is skipped, since it changes no
//! result. In `.file` and `.loc`, everything but the path and the location is skipped.

use crate::ast::{
    Directive, Entry, Function, Guard, Inst, Item, Line, Module, Operand, Param, ParamType, Place,
    Prototype, Type, Variable, families,
};
pub use crate::lex::ParseError;
use crate::lex::{Spanned, Token, tokens};
use crate::table::Unknown;
use std::collections::HashMap;
use std::str::FromStr;

/// The most blocks that can be open inside the body of an entry.
const MAX_BLOCKS: usize = 64;

/// A module, and the lines of the text from which it was parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The parsed module.
    pub module: Module,
    /// For each entry, in order, the line of the text (from 1) on which each line of its body begins.
    pub lines: Vec<Vec<u32>>,
    /// The same for each function that has a body.
    pub function_lines: Vec<Vec<u32>>,
    /// The line of each comment among the module's items.
    pub comment_lines: Vec<u32>,
}

/// Parses the text of a module. It checks only syntax and mnemonics; [`validate`](fn@crate::validate) checks the rest.
///
/// ```
/// let text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
/// let module = cute_ptx::parse::parse(text)?;
/// assert_eq!(module.to_string(), text);
/// # Ok::<(), cute_ptx::parse::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_with_lines(text).map(|source| source.module)
}

/// Parses the text of a module, and keeps the line number of every line of every body.
pub fn parse_with_lines(text: &str) -> Result<Source, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        position: 0,
    };
    parser.module()
}

impl FromStr for Module {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Module, ParseError> {
        parse(text)
    }
}

struct Parser<'t, 'a> {
    /// The last one is [`Token::End`]; `position` never goes beyond it.
    tokens: &'t [Spanned<'a>],
    position: usize,
}

/// The lines without statements that the tree keeps.
enum Trivia<'a> {
    Blank,
    /// A comment; `alone` is true if nothing precedes it on its line.
    Comment {
        text: &'a str,
        alone: bool,
    },
}

/// The body of an entry while it is parsed.
#[derive(Default)]
struct Body {
    lines: Vec<Line>,
    /// The line of the text on which each of `lines` begins, from 1.
    numbers: Vec<u32>,
    /// For each open block, the index of its first line.
    open: Vec<usize>,
    /// How many blocks have been closed. The names of the next closed block get this number as their suffix.
    closed: usize,
    /// The last `.loc`.
    place: Option<Place>,
}

impl Body {
    fn push(&mut self, line: Line, number: u32) {
        self.lines.push(line);
        self.numbers.push(number);
    }
}

impl<'a> Parser<'_, 'a> {
    fn module(&mut self) -> Result<Source, ParseError> {
        self.keyword(".version")?;
        let version = self.version()?;
        self.keyword(".target")?;
        let target = self.name("a target such as sm_90a")?;
        if self.peek() == Token::Punct(',') {
            return Err(self.expected("one target and no options"));
        }
        self.keyword(".address_size")?;
        if self.number::<u32>("an address size")? != 64 {
            self.position -= 1;
            return Err(self.error("only .address_size 64 is supported"));
        }
        let mut module = Module {
            version,
            target,
            items: Vec::new(),
        };
        let (mut lines, mut function_lines) = (Vec::new(), Vec::new());
        let mut comment_lines = Vec::new();
        loop {
            while let Some(trivia) = self.trivia() {
                module.items.push(match trivia {
                    Trivia::Blank => Item::Blank,
                    Trivia::Comment { text, .. } => {
                        comment_lines.push(self.tokens[self.position - 1].line);
                        Item::Comment(text.to_owned())
                    }
                });
            }
            match self.peek() {
                Token::End => {
                    return Ok(Source {
                        module,
                        lines,
                        function_lines,
                        comment_lines,
                    });
                }
                Token::Word(".file") => {
                    module.items.push(self.file()?);
                    continue;
                }
                Token::Word(".loc" | ".pragma") => {
                    self.skip_line();
                    continue;
                }
                _ => {}
            }
            let external = self.peek() == Token::Word(".extern");
            if let Token::Word(".visible" | ".weak" | ".common" | ".extern") = self.peek() {
                self.next();
            }
            match self.peek() {
                Token::Word(".entry") if !external => {
                    let (entry, numbers) = self.entry()?;
                    module.items.push(Item::Entry(entry));
                    lines.push(numbers);
                }
                Token::Word(".func") => {
                    let (function, numbers) = self.function(external)?;
                    module.items.push(Item::Function(function));
                    function_lines.extend(numbers);
                }
                Token::Word(".shared" | ".global" | ".const") => {
                    module.items.push(Item::Variable(self.variable(external)?));
                }
                _ => {
                    return Err(self.expected(
                        ".visible .entry, .func, or a variable in .shared, .global or .const",
                    ));
                }
            }
        }
    }

    fn version(&mut self) -> Result<(u32, u32), ParseError> {
        let version = match self.peek() {
            Token::Number(text) => text
                .split_once('.')
                .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))),
            _ => None,
        };
        let version = version.ok_or_else(|| self.expected("a version such as 8.0"))?;
        self.next();
        Ok(version)
    }

    fn file(&mut self) -> Result<Item, ParseError> {
        self.keyword(".file")?;
        let number = self.number("the number of a file")?;
        let Token::Text(path) = self.peek() else {
            return Err(self.expected("the path of a file"));
        };
        self.skip_line();
        let path = path.to_owned();
        Ok(Item::File { number, path })
    }

    fn place(&mut self) -> Result<Place, ParseError> {
        self.keyword(".loc")?;
        let place = Place {
            file: self.number("the number of a file")?,
            line: self.number("a line")?,
            column: self.number("a column")?,
        };
        self.skip_line();
        Ok(place)
    }

    fn entry(&mut self) -> Result<(Entry, Vec<u32>), ParseError> {
        self.keyword(".entry")?;
        let name = self.name("the name of the entry")?;
        let params = self.params()?;
        let directives = self.directives()?;
        self.punct('{')?;
        let body = self.body()?;
        Ok((
            Entry {
                name,
                params,
                directives,
                body: body.lines,
            },
            body.numbers,
        ))
    }

    /// A function, and the numbers of the lines of its body if it has one.
    fn function(&mut self, external: bool) -> Result<(Function, Option<Vec<u32>>), ParseError> {
        self.keyword(".func")?;
        let returns = self.params()?;
        let name = self.name("the name of the function")?;
        let params = self.params()?;
        let directives = self.directives()?;
        let body = match self.accept(';') {
            true => None,
            false => {
                self.punct('{')?;
                Some(self.body()?)
            }
        };
        let (body, numbers) = body.map(|body| (body.lines, body.numbers)).unzip();
        let function = Function {
            external,
            name,
            returns,
            params,
            directives,
            body,
        };
        Ok((function, numbers))
    }

    /// Parameters in parentheses; none if there are no parentheses.
    fn params(&mut self) -> Result<Vec<Param>, ParseError> {
        let mut params = Vec::new();
        if self.accept('(') && !self.accept(')') {
            loop {
                params.push(self.param()?);
                if !self.accept(',') {
                    break;
                }
            }
            self.punct(')')?;
        }
        Ok(params)
    }

    fn directives(&mut self) -> Result<Vec<Directive>, ParseError> {
        let mut directives = Vec::new();
        while let Token::Word(word) = self.peek() {
            directives.push(self.directive(word)?);
        }
        Ok(directives)
    }

    fn param(&mut self) -> Result<Param, ParseError> {
        self.keyword(".param")?;
        let mut align = self.align()?;
        let ty = self.ty()?;
        // `.ptr` tells compilers about the target of a pointer. The tree does not keep it.
        if self.peek() == Token::Word(".ptr") {
            self.next();
            if let Token::Word(".global" | ".const" | ".local" | ".shared") = self.peek() {
                self.next();
            }
            self.align()?;
        }
        let name = self.name("the name of a parameter")?;
        if !self.accept('[') {
            return Ok(Param {
                name,
                ty: ParamType::Scalar(ty),
            });
        }
        let len: u32 = self.number("a length")?;
        self.punct(']')?;
        let bytes = ty.bits() / 8;
        let align = *align.get_or_insert(bytes);
        let len = len
            .checked_mul(bytes)
            .ok_or_else(|| self.error("this parameter is longer than 2^32 - 1 bytes"))?;
        Ok(Param {
            name,
            ty: ParamType::Bytes { align, len },
        })
    }

    fn directive(&mut self, word: &str) -> Result<Directive, ParseError> {
        let Some(name) = word.strip_prefix('.') else {
            return Err(self.expected("a directive such as .reqntid, or {"));
        };
        self.next();
        let mut values = Vec::new();
        if let Token::Number(_) = self.peek() {
            values.push(self.number("a number")?);
            while self.accept(',') {
                values.push(self.number("a number")?);
            }
        }
        Ok(Directive {
            name: name.to_owned(),
            values,
        })
    }

    fn variable(&mut self, external: bool) -> Result<Variable, ParseError> {
        let space = match self.peek() {
            Token::Word(word @ (".shared" | ".global" | ".const" | ".local")) => {
                word[1..].to_owned()
            }
            _ => return Err(self.expected(".shared, .global, .const or .local")),
        };
        self.next();
        // Attributes such as `.managed` tell the driver about the placement of a variable. The tree does not keep them.
        if self.peek() == Token::Word(".attribute") {
            while !matches!(self.peek(), Token::Punct(')') | Token::End) {
                self.next();
            }
            self.punct(')')?;
        }
        let align = self.align()?;
        let ty = self.ty()?;
        let align = align.unwrap_or((ty.bits() / 8).max(1));
        let name = self.name("the name of a variable")?;
        let mut len = Some(1_u64);
        while self.accept('[') {
            len = match self.peek() {
                Token::Punct(']') => None,
                _ => {
                    let dimension: u64 = self.number("a length")?;
                    let product = len.and_then(|len| len.checked_mul(dimension));
                    Some(product.ok_or_else(|| {
                        self.error("this variable has more than 2^64 - 1 elements")
                    })?)
                }
            };
            self.punct(']')?;
        }
        let init = match self.accept('=') {
            true => self.initial_values()?,
            false => Vec::new(),
        };
        // If the length is not written, it is the number of values.
        if len.is_none() && !init.is_empty() {
            len = Some(init.len() as u64);
        }
        self.punct(';')?;
        Ok(Variable {
            external,
            space,
            align,
            ty,
            name,
            len,
            init,
        })
    }

    fn initial_values(&mut self) -> Result<Vec<Operand>, ParseError> {
        if !self.accept('{') {
            return Ok(vec![self.initial_value()?]);
        }
        let mut values = Vec::new();
        loop {
            values.push(self.initial_value()?);
            if !self.accept(',') {
                self.punct('}')?;
                return Ok(values);
            }
        }
    }

    /// A constant, or the address of a function or variable: `name`, `name+8` or `generic(name)+8`.
    fn initial_value(&mut self) -> Result<Operand, ParseError> {
        if self.peek() == Token::Punct('{') {
            return Err(self.error("nested initial values are not supported"));
        }
        let generic = self.peek() == Token::Word("generic") && self.after() == Token::Punct('(');
        if generic {
            self.next();
            self.punct('(')?;
        }
        let value = self.simple()?;
        if generic {
            self.punct(')')?;
        }
        match (&value, self.peek()) {
            (Operand::Name(_), Token::Punct('+')) => {
                self.next();
                let offset = self.offset()?;
                let base = Box::new(value);
                Ok(Operand::Address { base, offset })
            }
            _ => Ok(value),
        }
    }

    fn align(&mut self) -> Result<Option<u32>, ParseError> {
        if self.peek() != Token::Word(".align") {
            return Ok(None);
        }
        self.next();
        self.number("an alignment").map(Some)
    }

    fn body(&mut self) -> Result<Body, ParseError> {
        let mut body = Body::default();
        loop {
            while let Some(trivia) = self.trivia() {
                let number = self.tokens[self.position - 1].line;
                match (trivia, body.lines.last_mut()) {
                    (Trivia::Blank, _) => body.push(Line::Blank, number),
                    (
                        Trivia::Comment { text, alone: false },
                        Some(Line::Inst(Inst {
                            comment: comment @ None,
                            ..
                        })),
                    ) => *comment = Some(text.to_owned()),
                    (Trivia::Comment { text, .. }, _) => {
                        body.push(Line::Comment(text.to_owned()), number)
                    }
                }
            }
            let number = self.tokens[self.position].line;
            match self.peek() {
                Token::Punct('{') if body.open.len() < MAX_BLOCKS => {
                    self.next();
                    body.open.push(body.lines.len());
                }
                Token::Punct('{') => {
                    return Err(self.error(format!("blocks nest deeper than {MAX_BLOCKS}")));
                }
                Token::Punct('}') => {
                    self.next();
                    match body.open.pop() {
                        Some(start) => {
                            rename_block(&mut body.lines[start..], body.closed);
                            body.closed += 1;
                        }
                        None => return Ok(body),
                    }
                }
                Token::Word(".reg") => self.registers(&mut body, number)?,
                Token::Word(word @ (".shared" | ".local" | ".extern" | ".global" | ".const")) => {
                    let external = word == ".extern";
                    if external {
                        self.next();
                    }
                    let variable = self.variable(external)?;
                    body.push(Line::Variable(variable), number);
                }
                Token::Word(".param") => {
                    let param = self.param()?;
                    self.punct(';')?;
                    body.push(Line::Param(param), number);
                }
                Token::Word(".loc") => body.place = Some(self.place()?),
                Token::Word(".pragma" | ".file") => self.skip_line(),
                Token::Word(word)
                    if !word.starts_with('.') && self.after() == Token::Punct(':') =>
                {
                    self.position += 2;
                    let line = self.labelled(word.to_owned())?;
                    body.push(line, number);
                }
                Token::Word(_) | Token::Punct('@') => {
                    let inst = Inst {
                        place: body.place,
                        ..self.inst()?
                    };
                    body.push(Line::Inst(inst), number);
                }
                _ => return Err(self.expected("an instruction, a label, a declaration or }")),
            }
        }
    }

    /// The declaration after a name and a colon: a prototype or a list of labels. If there is none, the name is a label.
    fn labelled(&mut self, name: String) -> Result<Line, ParseError> {
        // After a label, blank lines and comments are lines of the body.
        let mut tokens = self.tokens[self.position..].iter().map(|it| it.token);
        let next = tokens.find(|token| !matches!(token, Token::Newline | Token::Comment(_)));
        let line = match next {
            Some(Token::Word(word @ ".callprototype")) => {
                self.keyword(word)?;
                let returns = self.params()?;
                self.keyword("_")?;
                let params = self.params()?;
                self.directives()?;
                Line::Prototype(Prototype {
                    name,
                    returns,
                    params,
                })
            }
            Some(Token::Word(word @ ".branchtargets")) => {
                self.keyword(word)?;
                let mut labels = vec![self.name("a label")?];
                while self.accept(',') {
                    labels.push(self.name("a label")?);
                }
                Line::Targets { name, labels }
            }
            _ => return Ok(Line::Label(name)),
        };
        self.punct(';')?;
        Ok(line)
    }

    fn registers(&mut self, body: &mut Body, number: u32) -> Result<(), ParseError> {
        self.keyword(".reg")?;
        let ty = self.ty()?;
        loop {
            let name = self.name("a register")?;
            if self.accept('<') {
                let count = self.number("the number of registers")?;
                self.punct('>')?;
                body.push(
                    Line::Registers {
                        ty,
                        prefix: name,
                        count,
                    },
                    number,
                );
            } else {
                body.push(Line::Register { ty, name }, number);
            }
            if !self.accept(',') {
                return self.punct(';');
            }
        }
    }

    fn inst(&mut self) -> Result<Inst, ParseError> {
        let guard = match self.accept('@') {
            true => {
                let negated = self.accept('!');
                Some(Guard {
                    negated,
                    predicate: self.name("a predicate register")?,
                })
            }
            false => None,
        };
        let mnemonic = match self.peek() {
            Token::Word(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => word
                .parse()
                .map_err(|unknown: Unknown| self.error(unknown.to_string()))?,
            _ => return Err(self.expected("an instruction")),
        };
        self.next();
        let mut operands = Vec::new();
        if !self.accept(';') {
            loop {
                operands.push(self.operand()?);
                if self.accept(';') {
                    break;
                }
                if !self.accept(',') {
                    return Err(self.expected("`,` or `;`"));
                }
            }
        }
        Ok(Inst {
            guard,
            ..Inst::new(mnemonic, operands)
        })
    }

    fn operand(&mut self) -> Result<Operand, ParseError> {
        let first = match self.peek() {
            Token::Punct('{') => Operand::Vector(self.vector('{', '}')?),
            Token::Punct('(') => Operand::List(self.vector('(', ')')?),
            Token::Punct('[') => self.address()?,
            Token::Punct('!') => {
                self.next();
                Operand::Not(self.name("a predicate register")?)
            }
            _ => self.simple()?,
        };
        if self.accept('|') {
            return Ok(Operand::Pair(Box::new(first), Box::new(self.simple()?)));
        }
        Ok(first)
    }

    fn vector(&mut self, open: char, close: char) -> Result<Vec<Operand>, ParseError> {
        self.punct(open)?;
        let mut elements = Vec::new();
        if self.accept(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.simple()?);
            if !self.accept(',') {
                self.punct(close)?;
                return Ok(elements);
            }
        }
    }

    fn address(&mut self) -> Result<Operand, ParseError> {
        self.punct('[')?;
        let base = Box::new(self.simple()?);
        if self.accept(',') {
            let coords = self.vector('{', '}')?;
            self.punct(']')?;
            return Ok(Operand::Tensor { map: base, coords });
        }
        let offset = match self.accept('+') {
            true => self.offset()?,
            false => 0,
        };
        self.punct(']')?;
        Ok(Operand::Address { base, offset })
    }

    fn offset(&mut self) -> Result<i64, ParseError> {
        let value = self.int()?;
        i64::try_from(value)
            .map_err(|_| self.error(format!("the offset {value} does not fit in 64 bits")))
    }

    /// A name or a number.
    fn simple(&mut self) -> Result<Operand, ParseError> {
        match self.peek() {
            Token::Word("_") => {
                self.next();
                Ok(Operand::Sink)
            }
            // The only named constant of PTX.
            Token::Word("WARP_SZ") => {
                self.next();
                Ok(Operand::Int(32))
            }
            Token::Word(name) if !name.starts_with('.') => {
                self.next();
                Ok(Operand::Name(name.to_owned()))
            }
            Token::Number(text) => match float(text) {
                Some(constant) => {
                    self.next();
                    Ok(constant)
                }
                None => self.int().map(Operand::Int),
            },
            Token::Punct('-') => self.int().map(Operand::Int),
            _ => Err(self.expected("an operand")),
        }
    }

    fn int(&mut self) -> Result<i128, ParseError> {
        let negative = self.accept('-');
        let value = match self.peek() {
            Token::Number(text) => integer(text),
            _ => return Err(self.expected("an integer")),
        };
        let value = value.ok_or_else(|| self.expected("an integer of at most 64 bits"))?;
        self.next();
        Ok(if negative {
            -i128::from(value)
        } else {
            i128::from(value)
        })
    }

    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, ParseError> {
        let value = match self.peek() {
            Token::Number(text) => integer(text).and_then(|value| T::try_from(value).ok()),
            _ => None,
        };
        let value = value.ok_or_else(|| self.expected(what))?;
        self.next();
        Ok(value)
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        let ty = match self.peek() {
            Token::Word(word) => word.strip_prefix('.').and_then(Type::from_name),
            _ => None,
        };
        let ty = ty.ok_or_else(|| self.expected("a type such as .b32"))?;
        self.next();
        Ok(ty)
    }

    fn name(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek() {
            Token::Word(name) if !name.starts_with('.') => {
                self.next();
                Ok(name.to_owned())
            }
            _ => Err(self.expected(what)),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.peek() != Token::Word(word) {
            return Err(self.expected(word));
        }
        self.next();
        Ok(())
    }

    fn punct(&mut self, c: char) -> Result<(), ParseError> {
        if !self.accept(c) {
            return Err(self.expected(&format!("`{c}`")));
        }
        Ok(())
    }

    fn accept(&mut self, c: char) -> bool {
        let found = self.peek() == Token::Punct(c);
        if found {
            self.next();
        }
        found
    }

    /// The next token that is neither a comment nor a line break.
    fn peek(&mut self) -> Token<'a> {
        while let Token::Newline | Token::Comment(_) = self.tokens[self.position].token {
            self.position += 1;
        }
        self.tokens[self.position].token
    }

    /// The token after the result of [`peek`](Self::peek).
    fn after(&self) -> Token<'a> {
        self.tokens
            .get(self.position + 1)
            .map_or(Token::End, |spanned| spanned.token)
    }

    /// Moves past the result of [`peek`](Self::peek).
    fn next(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    fn skip_line(&mut self) {
        while !matches!(
            self.tokens[self.position].token,
            Token::Newline | Token::End
        ) {
            self.position += 1;
        }
    }

    /// The next blank line or comment before the next statement.
    fn trivia(&mut self) -> Option<Trivia<'a>> {
        loop {
            let alone =
                self.position == 0 || self.tokens[self.position - 1].token == Token::Newline;
            let token = self.tokens[self.position].token;
            if let Token::Newline | Token::Comment(_) = token {
                self.position += 1;
            }
            match token {
                Token::Newline if alone => return Some(Trivia::Blank),
                Token::Newline => {}
                Token::Comment(text) => return Some(Trivia::Comment { text, alone }),
                _ => return None,
            }
        }
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        let Spanned { line, column, .. } = self.tokens[self.position];
        ParseError {
            line,
            column,
            message: message.into(),
        }
    }

    fn expected(&mut self, what: &str) -> ParseError {
        let found = match self.peek() {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::Punct(c) => format!("`{c}`"),
            _ => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }
}

/// An unsigned integer in base 16, 10, 8 or 2. The suffix `U` is accepted and dropped.
fn integer(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some("0b" | "0B") => (&digits[2..], 2),
        Some(_) if digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    match digits.starts_with('+') {
        true => None,
        false => u64::from_str_radix(digits, radix).ok(),
    }
}

/// A constant that begins with `0f` or `0d`, or a decimal fraction (double precision).
fn float(text: &str) -> Option<Operand> {
    match text.get(..2) {
        Some("0f" | "0F") if text.len() == 10 => {
            u32::from_str_radix(&text[2..], 16).ok().map(Operand::F32)
        }
        Some("0d" | "0D") if text.len() == 18 => {
            u64::from_str_radix(&text[2..], 16).ok().map(Operand::F64)
        }
        _ if text.contains('.') => text
            .parse::<f64>()
            .ok()
            .map(|value| Operand::F64(value.to_bits())),
        _ => None,
    }
}

/// Renames the declarations of a block. The tree has no blocks, so equal names in different blocks must differ: `p` of the third
/// closed block becomes `p$2`.
fn rename_block(lines: &mut [Line], block: usize) {
    let mut singles = HashMap::new();
    let mut prefixes = HashMap::new();
    for line in &mut *lines {
        match line {
            Line::Registers { prefix, count, .. } => {
                let renamed = format!("{prefix}${block}$");
                prefixes.insert(
                    std::mem::replace(prefix, renamed.clone()),
                    (*count, renamed),
                );
            }
            Line::Register { name, .. }
            | Line::Label(name)
            | Line::Variable(Variable { name, .. })
            | Line::Param(Param { name, .. })
            | Line::Prototype(Prototype { name, .. })
            | Line::Targets { name, .. } => {
                let renamed = format!("{name}${block}");
                singles.insert(std::mem::replace(name, renamed.clone()), renamed);
            }
            Line::Blank | Line::Comment(_) | Line::Inst(_) => {}
        }
    }
    let rename = |name: &mut String| {
        if let Some(renamed) = singles.get(name) {
            name.clone_from(renamed);
        } else if let Some(renamed) = member(name, &prefixes) {
            *name = renamed;
        }
    };
    for line in lines {
        if let Line::Targets { labels, .. } = line {
            labels.iter_mut().for_each(rename);
        } else if let Line::Inst(inst) = line {
            inst.guard
                .iter_mut()
                .for_each(|guard| rename(&mut guard.predicate));
            inst.operands
                .iter_mut()
                .for_each(|operand| operand.for_each_name_mut(&rename));
        }
    }
}

/// The new name of a register that belongs to a renamed family; `None` if it belongs to none.
fn member(name: &str, renamed: &HashMap<String, (u32, String)>) -> Option<String> {
    families(name).find_map(|(prefix, index)| {
        let (count, renamed) = renamed.get(prefix)?;
        (index < *count).then(|| format!("{renamed}{index}"))
    })
}
