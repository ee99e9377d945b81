//! The printer: from a [`Module`] to readable text. [`parse`](crate::parse) of the text gives the same module.
//!
//! Comments at the end of a line start in one column. An instruction too long for a line, such as a wgmma with 128
//! accumulators, is broken into several lines. A line break inside a comment begins another comment, so the text of a
//! comment cannot become code.

use crate::ast::{
    Directive, Entry, Function, Guard, Inst, Item, Line, Module, Operand, Param, ParamType, Place,
    Prototype, Type, Variable,
};
use std::fmt::{self, Display, Formatter};

const INDENT: &str = "    ";
/// The indentation of the second and further lines of an instruction.
const CONTINUATION: &str = "        ";
/// The column, from 0, where comments after an instruction begin.
const COMMENT_COLUMN: usize = 60;
/// The most characters of a line. A longer instruction is broken.
const LINE_WIDTH: usize = 118;

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        writeln!(f, ".target {}", self.target)?;
        writeln!(f, ".address_size 64")?;
        self.items.iter().try_for_each(|item| write!(f, "{item}"))
    }
}

/// Prints the item with the line break at its end.
impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Blank => writeln!(f),
            Item::Comment(text) => comment(f, "", text),
            Item::File { number, path } => writeln!(f, ".file {number} \"{path}\""),
            Item::Variable(variable) => writeln!(f, "{variable};"),
            Item::Entry(entry) => write!(f, "{entry}"),
            Item::Function(function) => write!(f, "{function}"),
        }
    }
}

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".visible .entry {}", self.name)?;
        lines_of_params(f, &self.params)?;
        self.directives
            .iter()
            .try_for_each(|directive| writeln!(f, "{directive}"))?;
        body(f, &self.body)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.func ", if self.external { ".extern " } else { "" })?;
        if !self.returns.is_empty() {
            params(f, &self.returns)?;
            write!(f, " ")?;
        }
        write!(f, "{}", self.name)?;
        lines_of_params(f, &self.params)?;
        self.directives
            .iter()
            .try_for_each(|directive| writeln!(f, "{directive}"))?;
        match &self.body {
            Some(lines) => body(f, lines),
            None => writeln!(f, ";"),
        }
    }
}

impl Display for Prototype {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: .callprototype ", self.name)?;
        if !self.returns.is_empty() {
            params(f, &self.returns)?;
            write!(f, " ")?;
        }
        write!(f, "_ ")?;
        params(f, &self.params)
    }
}

fn params(f: &mut Formatter<'_>, params: &[Param]) -> fmt::Result {
    write!(f, "(")?;
    for (i, param) in params.iter().enumerate() {
        write!(f, "{}{param}", if i == 0 { "" } else { ", " })?;
    }
    write!(f, ")")
}

/// Prints parameters on a line each, and the line break after the closing parenthesis.
fn lines_of_params(f: &mut Formatter<'_>, params: &[Param]) -> fmt::Result {
    write!(f, "(")?;
    for (i, param) in params.iter().enumerate() {
        let separator = if i == 0 { "" } else { "," };
        write!(f, "{separator}\n{INDENT}{param}")?;
    }
    writeln!(f, "{})", if params.is_empty() { "" } else { "\n" })
}

fn body(f: &mut Formatter<'_>, lines: &[Line]) -> fmt::Result {
    writeln!(f, "{{")?;
    let mut place = None;
    for line in lines {
        if let Line::Inst(inst) = line
            && inst.place.is_some()
            && inst.place != place
        {
            place = inst.place;
            place
                .iter()
                .try_for_each(|place| writeln!(f, "{INDENT}{place}"))?;
        }
        write!(f, "{line}")?;
    }
    writeln!(f, "}}")
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            ParamType::Scalar(ty) => write!(f, ".param {ty} {}", self.name),
            ParamType::Bytes { align, len } => {
                write!(f, ".param .align {align} .b8 {}[{len}]", self.name)
            }
        }
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name)?;
        for (i, value) in self.values.iter().enumerate() {
            write!(f, "{}{value}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let external = if self.external { ".extern " } else { "" };
        write!(
            f,
            "{external}.{} .align {} {} {}[",
            self.space, self.align, self.ty, self.name
        )?;
        match self.len {
            Some(len) => write!(f, "{len}]")?,
            None => write!(f, "]")?,
        }
        for (i, value) in self.init.iter().enumerate() {
            write!(f, "{}", if i == 0 { " = {" } else { ", " })?;
            match value {
                Operand::Address { base, offset } => write!(f, "{base}+{offset}")?,
                value => write!(f, "{value}")?,
            }
        }
        write!(f, "{}", if self.init.is_empty() { "" } else { "}" })
    }
}

/// Prints the line with its indentation and the line break at its end.
impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Line::Blank => writeln!(f),
            Line::Comment(text) => comment(f, INDENT, text),
            Line::Registers { ty, prefix, count } => {
                writeln!(f, "{INDENT}.reg {ty} {prefix}<{count}>;")
            }
            Line::Register { ty, name } => writeln!(f, "{INDENT}.reg {ty} {name};"),
            Line::Variable(variable) => writeln!(f, "{INDENT}{variable};"),
            Line::Param(param) => writeln!(f, "{INDENT}{param};"),
            Line::Prototype(prototype) => writeln!(f, "{INDENT}{prototype};"),
            Line::Targets { name, labels } => {
                writeln!(f, "{INDENT}{name}: .branchtargets {};", labels.join(", "))
            }
            Line::Label(name) => writeln!(f, "{name}:"),
            Line::Inst(inst) => {
                let text = fill(&format!("{INDENT}{inst};"));
                match &inst.comment {
                    Some(words) => {
                        let column = text.lines().last().map_or(0, |line| line.chars().count());
                        let pad = COMMENT_COLUMN.saturating_sub(column).max(2);
                        writeln!(
                            f,
                            "{text}{:pad$}{}",
                            "",
                            slashed(&words.replace(['\n', '\r'], " "))
                        )
                    }
                    None => writeln!(f, "{text}"),
                }
            }
        }
    }
}

/// Prints the instruction on one line, without its semicolon and its comment.
impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        write!(f, "{}", self.mnemonic)?;
        for (i, operand) in self.operands.iter().enumerate() {
            write!(f, "{}{operand}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)
    }
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "@{}{}",
            if self.negated { "!" } else { "" },
            self.predicate
        )
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => write!(f, "{name}"),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Int(value) => write!(f, "{value}"),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Vector(elements) => vector(f, elements, '{', '}'),
            Operand::List(elements) => vector(f, elements, '(', ')'),
            // The assembler requires the `+` before a negative offset too.
            Operand::Address { base, offset: 0 } => write!(f, "[{base}]"),
            Operand::Address { base, offset } => write!(f, "[{base}+{offset}]"),
            Operand::Tensor { map, coords } => {
                write!(f, "[{map}, ")?;
                vector(f, coords, '{', '}')?;
                write!(f, "]")
            }
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Sink => write!(f, "_"),
        }
    }
}

/// Prints the type with its dot.
impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}

fn vector(f: &mut Formatter<'_>, elements: &[Operand], open: char, close: char) -> fmt::Result {
    write!(f, "{open}")?;
    for (i, element) in elements.iter().enumerate() {
        write!(f, "{}{element}", if i == 0 { "" } else { ", " })?;
    }
    write!(f, "{close}")
}

fn comment(f: &mut Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    text.split(['\n', '\r'])
        .try_for_each(|line| writeln!(f, "{indent}{}", slashed(line)))
}

fn slashed(text: &str) -> String {
    format!("// {text}").trim_end().to_owned()
}

/// Breaks a long line after commas, but never inside the brackets of an address.
fn fill(text: &str) -> String {
    if text.len() <= LINE_WIDTH {
        return text.to_owned();
    }
    let mut filled = String::with_capacity(text.len() + text.len() / 8);
    let mut column = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(next_break(rest));
        if column > 0 && column + piece.trim_end().len() > LINE_WIDTH {
            filled.truncate(filled.trim_end().len());
            filled.push('\n');
            filled.push_str(CONTINUATION);
            column = CONTINUATION.len();
        }
        filled.push_str(piece);
        column += piece.len();
        rest = after;
    }
    filled
}

fn next_break(text: &str) -> usize {
    let mut in_address = false;
    for (i, c) in text.char_indices() {
        match c {
            '[' => in_address = true,
            ']' => in_address = false,
            ' ' if !in_address && text[..i].ends_with(',') => return i + 1,
            _ => {}
        }
    }
    text.len()
}
