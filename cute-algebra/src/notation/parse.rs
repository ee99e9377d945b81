//! From tokens to expressions.

use super::elsewhere::{self, spelled_elsewhere};
use super::error::NotationError;
use super::expr::{Expr, ExprKind, Fact, Leaf, MAX_NESTING, Order, Relation, Sign};
use super::token::{MAX_TOKENS, Token, TokenKind, lex};
use crate::symbolic::is_integer_name;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Parses all of `tokens` as one expression. `end` is the position after the last token, for errors about the end.
pub fn parse(tokens: &[Token], end: Range<usize>) -> Result<Expr, NotationError> {
    if tokens.len() > MAX_TOKENS {
        return Err(NotationError::new(
            &tokens[MAX_TOKENS].at,
            format!("more than {MAX_TOKENS} tokens"),
        ));
    }
    let mut parser = Parser {
        tokens,
        next: 0,
        end,
        depth: 0,
    };
    let parsed = parser.expr().and_then(|expr| match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.unexpected("`o`, `then`, `:`, `/` or the end")),
    });
    parsed.map_err(|error| spelled_elsewhere(tokens).unwrap_or(error))
}

/// Parses `where fact, …; expression`, or an expression alone.
///
/// ```text
/// facts := "where" fact ("," fact)* ";"
/// fact  := side "%" factor "==" "0"  |  side ("<" | "<=" | ">" | ">=" | "==") side
/// side  := product (("+" | "-") product)*;  product := factor (("*" | "/") factor)*
/// ```
pub fn parse_where(
    tokens: &[Token],
    end: Range<usize>,
) -> Result<(Vec<Fact>, Expr), NotationError> {
    let mut parser = Parser {
        tokens,
        next: 0,
        end: end.clone(),
        depth: 0,
    };
    // `where` is a keyword of Rust, so a macro passes it as another token than a name.
    let sign = parser
        .accept_word("where")
        .or_else(|| parser.accept_other("where"));
    if tokens.len() > MAX_TOKENS || sign.is_none() {
        return Ok((Vec::new(), parse(tokens, end)?));
    }
    let facts = parser.facts().map_err(|error| error.help(FACTS))?;
    Ok((facts, parse(parser.rest(), end)?))
}

/// The help for a wrong fact.
const FACTS: &str = "facts are `m % 64 == 0` and comparisons such as `m >= 64`; all of them hold, with `,` between them and `;` at the end";

/// The signs of products on a side of a fact, whose own sign may be `%`, and in braces.
const OF_FACTS: &[&str] = &["*", "/"];
const IN_BRACES: &[&str] = &["*", "/", "%"];

/// The help for a `*` between layouts.
const NO_PRODUCT_SIGN: &str = "composition is written `o`, products by name";

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    end: Range<usize>,
    depth: usize,
}

type Parsed = Result<Expr, NotationError>;

impl Parser<'_> {
    fn expr(&mut self) -> Parsed {
        let Some(sign) = self.accept_word("ragged") else {
            return self.quotient();
        };
        let mut expr = self.quotient()?;
        let at = expr.at.clone();
        let inner = match &mut expr.kind {
            ExprKind::Tuple(items) if items.len() == 1 => &mut items[0].kind,
            kind => kind,
        };
        if let ExprKind::Arithmetic(Sign::Over, sides) = inner {
            *inner = ExprKind::Call {
                operation: "zipped_divide".to_owned(),
                name_at: at,
                args: sides.to_vec(),
                ragged: true,
            };
        }
        let ExprKind::Call { ragged, .. } = inner else {
            return Err(
                NotationError::new(&sign, "`ragged` stands before an operation")
                    .help("for example `ragged logical_divide(10:1, 4:1)`, or `ragged A o B`"),
            );
        };
        *ragged = true;
        expr.at.start = sign.start;
        Ok(expr)
    }

    fn quotient(&mut self) -> Parsed {
        let mut left = self.chain()?;
        while let Some(sign) = self.accept('/') {
            let right = self.chain()?;
            left = match is_integer(&left) && is_integer(&right) {
                true => divided(left, right)?,
                false => binary("zipped_divide", sign, left, right, false)?,
            };
        }
        Ok(left)
    }

    fn chain(&mut self) -> Parsed {
        let first = self.operand()?;
        self.chain_from(first)
    }

    fn chain_from(&mut self, first: Expr) -> Parsed {
        let mut left = first;
        loop {
            let swizzle = matches!(left.kind, ExprKind::Swizzle(_));
            left = if swizzle && let Some(sign) = self.accept_word("o") {
                self.swizzled(left, sign)?
            } else if let Some(sign) = self.accept_word("o") {
                let right = self.operand()?;
                binary("composition", sign, left, right, false)?
            } else if let Some(sign) = self.accept_word("then") {
                let right = self.operand()?;
                binary("composition", sign, left, right, true)?
            } else {
                return Ok(left);
            };
        }
    }

    /// Parses the operand after `Sw o`, with the `o` at `sign`. The swizzle applies to the whole chain after it.
    fn swizzled(&mut self, swizzle: Expr, sign: Range<usize>) -> Parsed {
        self.enter()?;
        let first = self.chain_after_swizzle()?;
        let is_offset = is_offset(&first) && self.accept_word("o").is_some();
        let expr = if is_offset {
            let layout = self.chain()?;
            let at = swizzle.at.start..layout.at.end;
            node(ExprKind::Swizzled(Box::new([swizzle, first, layout])), at)
        } else {
            binary("composition", sign, swizzle, first, false)
        };
        self.depth -= 1;
        expr
    }

    /// Parses a chain, or only an integer if an `o` follows it, since this integer is the offset.
    fn chain_after_swizzle(&mut self) -> Parsed {
        let first = self.operand()?;
        let is_next = matches!(self.tokens.get(self.next), Some(token) if is_word(token, "o"));
        match is_offset(&first) && is_next {
            true => Ok(first),
            false => self.chain_from(first),
        }
    }

    fn operand(&mut self) -> Parsed {
        let shape = self.primary()?;
        let Some(colon) = self.accept(':') else {
            return Ok(shape);
        };
        match shape.kind {
            ExprKind::Int(_)
            | ExprKind::Tuple(_)
            | ExprKind::Name(_)
            | ExprKind::Braced(_)
            | ExprKind::Integer(_)
            | ExprKind::Arithmetic(..) => {}
            _ => return Err(NotationError::new(&colon, "only a shape has a stride")),
        }
        for (word, order) in [("row", Order::Row), ("col", Order::Col)] {
            if let Some(end) = self.accept_word(word) {
                let at = shape.at.start..end.end;
                return node(ExprKind::Ordered(Box::new(shape), order), at);
            }
        }
        if let Some(TokenKind::Word(word)) = self.peek()
            && let Some(error) = elsewhere::order(word, &self.here())
        {
            return Err(error);
        }
        // A name is the stride of one mode.
        if let (Some(TokenKind::Word(word)), ExprKind::Tuple(modes)) = (self.peek(), &shape.kind)
            && modes.len() > 1
            && let Some(order) = elsewhere::misspelled_order(word)
        {
            let message = format!("unknown order `{word}`");
            let help = format!("did you mean `{order}`?");
            return Err(NotationError::new(&self.here(), message).help(help));
        }
        match self.peek() {
            Some(
                TokenKind::Int(_)
                | TokenKind::Word(_)
                | TokenKind::Braced(_)
                | TokenKind::Punct('(' | '-'),
            ) => {}
            _ => return Err(self.unexpected("a stride")),
        }
        let stride = self.primary()?;
        let at = shape.at.start..stride.at.end;
        if let Some(colon) = self.accept(':') {
            let error = NotationError::new(&colon, "a layout has only one stride");
            return Err(match stride.kind {
                ExprKind::Arithmetic(Sign::Times, _) => error.help(NO_PRODUCT_SIGN),
                _ => error,
            });
        }
        node(ExprKind::Layout(Box::new(shape), Box::new(stride)), at)
    }

    /// Parses a value, or integers with arithmetic between them. The sign `/` is not among it, since it binds less than `:`.
    fn primary(&mut self) -> Parsed {
        let first = self.value()?;
        let mut sum = self.product(first, &["*", "%"])?;
        while is_integer(&sum)
            && let Some(sign) = self.accept_sign(&["+", "-"])
        {
            let first = self.factor()?;
            let product = self.product(first, &["*", "%"])?;
            sum = arithmetic(sign, sum, product)?;
        }
        Ok(sum)
    }

    fn value(&mut self) -> Parsed {
        self.enter()?;
        let start = self.here();
        let expr = match self.peek() {
            Some(TokenKind::Punct('-')) if !self.is_number_next() => self.negated(),
            Some(TokenKind::Int(_) | TokenKind::Punct('-')) => self.integer_or_basis(),
            Some(TokenKind::Punct('_')) => {
                self.next += 1;
                node(ExprKind::Underscore, start)
            }
            Some(TokenKind::Braced(text)) => match elsewhere::list(text, &start) {
                Some(error) => Err(error),
                None => {
                    let text = text.clone();
                    self.next += 1;
                    match integer_in_braces(&text, &start, self.depth) {
                        Some(inner) => node(ExprKind::Integer(Box::new(inner)), start),
                        None => node(ExprKind::Braced(text), start),
                    }
                }
            },
            Some(TokenKind::Punct('(')) => {
                let (items, at) = self.list('(', ')')?;
                node(ExprKind::Tuple(items), at)
            }
            Some(TokenKind::Punct('<')) => {
                let (items, at) = self.list('<', '>')?;
                node(ExprKind::Tiler(items), at)
            }
            Some(TokenKind::Word(word)) => {
                let word = word.clone();
                self.word(word)
            }
            _ => Err(self.unexpected("a layout, a shape or an operation")),
        };
        let expr = expr.and_then(|expr| self.behind(expr));
        self.depth -= 1;
        expr
    }

    /// Parses the suffixes of an integer, which bind most: `.div_ceil(…)`, and `@` with the index of a mode.
    fn behind(&mut self, integer: Expr) -> Parsed {
        let mut integer = integer;
        while is_integer(&integer) && is_ceiling(self.rest()) {
            self.next += 2;
            let (args, at) = self.list('(', ')')?;
            let [divisor] = <[Expr; 1]>::try_from(args)
                .map_err(|_| NotationError::new(&at, "`div_ceil` has one operand, the divisor"))?;
            let whole = integer.at.start..at.end;
            let sides = Box::new([integer, divisor]);
            integer = node(ExprKind::Arithmetic(Sign::Ceiling, sides), whole)?;
        }
        let can_scale = matches!(
            &integer.kind,
            ExprKind::Name(_)
                | ExprKind::Braced(_)
                | ExprKind::Integer(_)
                | ExprKind::Call { .. }
                | ExprKind::Arithmetic(Sign::Ceiling, _)
        );
        match can_scale && self.peek() == Some(&TokenKind::Punct('@')) {
            true => self.basis(integer),
            false => Ok(integer),
        }
    }

    /// Parses the factors after `first`, each after one of these signs, if `first` can be an integer.
    fn product(&mut self, first: Expr, signs: &[&str]) -> Parsed {
        let mut product = first;
        while is_integer(&product)
            && let Some(sign) = self.accept_sign(signs)
        {
            product = arithmetic(sign, product, self.factor()?)?;
        }
        Ok(product)
    }

    /// Parses an integer, a name, braces, parentheses or a call after a sign of arithmetic.
    fn factor(&mut self) -> Parsed {
        let is_call = matches!(
            self.tokens.get(self.next + 1),
            Some(token) if token.kind == TokenKind::Punct('(')
        );
        match self.peek() {
            Some(TokenKind::Word(_)) if is_call => self.value(),
            Some(TokenKind::Word(word)) => {
                let (name, at) = (ExprKind::Name(word.clone()), self.here());
                self.next += 1;
                let name = node(name, at)?;
                self.behind(name)
            }
            Some(TokenKind::Punct('-')) if !self.is_number_next() => self.negated(),
            Some(TokenKind::Int(_) | TokenKind::Punct('-')) => {
                let integer = self.integer()?;
                self.behind(integer)
            }
            Some(TokenKind::Braced(_) | TokenKind::Punct('(')) => self.value(),
            _ => Err(self.unexpected("an integer, a name or `{…}`")),
        }
    }

    /// Whether the sign `-` that is next belongs to a number.
    fn is_number_next(&self) -> bool {
        matches!(self.tokens.get(self.next + 1), Some(token) if !matches!(token.kind, TokenKind::Word(_) | TokenKind::Braced(_) | TokenKind::Punct('(')))
    }

    /// Parses `-n`, where n is not a number, as `-1*n`.
    fn negated(&mut self) -> Parsed {
        let at = self.here();
        self.next += 1;
        let factor = self.factor()?;
        arithmetic(Sign::Times, node(ExprKind::Int(-1), at)?, factor)
    }

    /// Parses facts, and the `;` behind them.
    fn facts(&mut self) -> Result<Vec<Fact>, NotationError> {
        let mut facts = Vec::new();
        while self.accept_other(";").is_none() {
            if !facts.is_empty() && self.accept(',').is_none() {
                return Err(self.unexpected("`,` or `;`"));
            }
            if facts.is_empty() || self.peek() != Some(&TokenKind::Other(";".to_owned())) {
                facts.push(self.fact()?);
            }
        }
        Ok(facts)
    }

    fn fact(&mut self) -> Result<Fact, NotationError> {
        let left = self.side(OF_FACTS)?;
        let expected = "`%` or a comparison";
        let relation = if self.accept_other("%").is_some() {
            Relation::Multiple
        } else if self.accept_equals() {
            Relation::Equal
        } else if self.accept('<').is_some() {
            match self.accept_other("=") {
                Some(_) => Relation::AtMost,
                None => Relation::Less,
            }
        } else if self.accept('>').is_some() {
            match self.accept_other("=") {
                Some(_) => Relation::AtLeast,
                None => Relation::Greater,
            }
        } else {
            return Err(self.unexpected(expected));
        };
        let right = match relation {
            Relation::Multiple => self.divisor(&left)?,
            _ => self.side(OF_FACTS)?,
        };
        let mut end = right.at.end;
        if relation == Relation::Multiple {
            if !self.accept_equals() {
                return Err(self.unexpected("`== 0`"));
            }
            if self.peek() != Some(&TokenKind::Int(0)) {
                return Err(self.unexpected("`0`"));
            }
            end = self.here().end;
            self.next += 1;
        }
        check_side(&left)?;
        check_side(&right)?;
        Ok(Fact {
            at: left.at.start..end,
            left,
            relation,
            right,
        })
    }

    /// Parses the divisor behind the `%` of a fact. As in Rust, `%` binds as `*` does, and more than `+`.
    fn divisor(&mut self, dividend: &Expr) -> Parsed {
        let divisor = self.factor()?;
        if let ExprKind::Arithmetic(Sign::Plus | Sign::Minus, _) = dividend.kind {
            let message = format!("`%` binds more than `+`: write `({dividend}) % {divisor} == 0`");
            return Err(NotationError::new(&dividend.at, message));
        }
        let product = self.product(divisor.clone(), OF_FACTS)?;
        match product == divisor {
            true => Ok(divisor),
            false => Err(NotationError::new(
                &product.at,
                format!("`%` binds as `*` and `/` do: write `{dividend} % ({product}) == 0`"),
            )),
        }
    }

    /// Parses an integer in which `/` is a quotient: one side of a fact, or the contents of braces. A `<` after a name
    /// is a comparison here, not the beginning of parameters.
    fn side(&mut self, signs: &[&str]) -> Parsed {
        let mut sum = self.side_product(signs)?;
        while is_integer(&sum)
            && let Some(sign) = self.accept_sign(&["+", "-"])
        {
            sum = arithmetic(sign, sum, self.side_product(signs)?)?;
        }
        Ok(sum)
    }

    fn side_product(&mut self, signs: &[&str]) -> Parsed {
        let first = match self.peek() {
            Some(TokenKind::Word(_)) => self.factor()?,
            _ => self.value()?,
        };
        self.product(first, signs)
    }

    fn word(&mut self, word: String) -> Parsed {
        let name_at = self.here();
        let open = self.tokens.get(self.next + 1).map(|token| &token.kind);
        match (&word[..], open) {
            ("Sw", Some(TokenKind::Punct('<'))) => {
                self.next += 1;
                let (fields, fields_at) = self.list('<', '>')?;
                let count = fields.len();
                let fields = <[Expr; 3]>::try_from(fields).map_err(|_| {
                    NotationError::new(
                        &fields_at,
                        format!("a swizzle has three numbers, B, M and S, not {count}"),
                    )
                })?;
                node(
                    ExprKind::Swizzle(Box::new(fields)),
                    name_at.start..fields_at.end,
                )
            }
            (_, Some(TokenKind::Punct('('))) => {
                self.next += 1;
                let (args, args_at) = self.list('(', ')')?;
                let at = name_at.start..args_at.end;
                node(
                    ExprKind::Call {
                        operation: word,
                        name_at,
                        args,
                        ragged: false,
                    },
                    at,
                )
            }
            ("o" | "then" | "row" | "col" | "ragged" | "Sw", _) => {
                Err(self.unexpected("a layout, a shape or an operation"))
            }
            (_, Some(TokenKind::Punct('<'))) if let Some(count) = self.parameters() => {
                let tokens = &self.rest()[..count];
                let text: String = tokens.iter().map(|token| token.kind.to_string()).collect();
                let at = name_at.start..tokens.last().map_or(name_at.end, |token| token.at.end);
                self.next += count;
                node(ExprKind::Name(text), at)
            }
            _ => match elsewhere::value(&word, &name_at) {
                Some(error) => Err(error),
                None => {
                    self.next += 1;
                    node(ExprKind::Name(word), name_at)
                }
            },
        }
    }

    /// If a name with words as parameters is next, such as `UniversalCopy<uint128_t>`: how many tokens it has.
    fn parameters(&self) -> Option<usize> {
        for (i, pair) in self.rest().get(1..)?.chunks(2).enumerate() {
            let [sign, next] = pair else {
                return (i > 0 && pair[0].kind == TokenKind::Punct('>')).then_some(2 * i + 2);
            };
            match (&sign.kind, &next.kind) {
                (TokenKind::Punct('>'), _) if i > 0 => return Some(2 * i + 2),
                (TokenKind::Punct('<'), TokenKind::Word(_)) if i == 0 => {}
                (TokenKind::Punct(','), TokenKind::Word(_)) if i > 0 => {}
                _ => return None,
            }
        }
        None
    }

    /// Parses items between `open`, which is the next token, and `close`. A comma may follow the last item.
    fn list(
        &mut self,
        open: char,
        close: char,
    ) -> Result<(Vec<Expr>, Range<usize>), NotationError> {
        let start = self.here().start;
        self.next += 1;
        let mut items = Vec::new();
        loop {
            if let Some(end) = self.accept(close) {
                return Ok((items, start..end.end));
            }
            if !items.is_empty() && self.accept(',').is_none() {
                return Err(match self.peek() {
                    None => {
                        NotationError::new(&(start..start + 1), format!("`{open}` is never closed"))
                    }
                    Some(_) => self.unexpected(&format!("`,` or `{close}`")),
                });
            }
            if items.is_empty() || self.peek() != Some(&TokenKind::Punct(close)) {
                items.push(self.expr()?);
            }
        }
    }

    fn integer_or_basis(&mut self) -> Parsed {
        let scale = self.integer()?;
        let ExprKind::Int(value) = scale.kind else {
            return Ok(scale);
        };
        let denominator = self.denominator()?;
        if self.peek() != Some(&TokenKind::Punct('@')) {
            return Ok(scale);
        }
        match denominator {
            None => self.basis(scale),
            Some(below) => {
                let (path, end) = self.indices()?;
                let at = scale.at.start..end;
                node(ExprKind::Fraction([value, below], path), at)
            }
        }
    }

    /// Parses the indices behind the scale of a basis element.
    fn basis(&mut self, scale: Expr) -> Parsed {
        let (path, end) = self.indices()?;
        let at = scale.at.start..end;
        node(ExprKind::Basis(Box::new(scale), path), at)
    }

    /// Parses `@` and the index of a mode, any number of times, and gives the position behind the last.
    fn indices(&mut self) -> Result<(Vec<usize>, usize), NotationError> {
        let mut path = Vec::new();
        let mut end = self.here().start;
        while self.accept('@').is_some() {
            let index = match self.peek() {
                Some(TokenKind::Int(index)) => usize::try_from(*index).unwrap_or(usize::MAX),
                _ => return Err(self.unexpected("the index of a mode")),
            };
            path.push(index);
            end = self.here().end;
            self.next += 1;
        }
        Ok((path, end))
    }

    /// Parses the denominator of a stride, `/2` or `/-2`, if an `@` follows it.
    fn denominator(&mut self) -> Result<Option<i64>, NotationError> {
        let [slash, rest @ ..] = self.rest() else {
            return Ok(None);
        };
        let (is_negative, rest) = match rest {
            [minus, rest @ ..] if minus.kind == TokenKind::Punct('-') => (true, rest),
            rest => (false, rest),
        };
        let [ratio, at, ..] = rest else {
            return Ok(None);
        };
        let TokenKind::Int(below) = ratio.kind else {
            return Ok(None);
        };
        if (&slash.kind, &at.kind) != (&TokenKind::Punct('/'), &TokenKind::Punct('@')) {
            return Ok(None);
        }
        let below = i64::try_from(below).map_err(|_| {
            NotationError::new(&ratio.at, format!("`{below}` does not fit 64 bits"))
        })?;
        self.next += 2 + usize::from(is_negative);
        Ok(Some(if is_negative { -below } else { below }))
    }

    fn integer(&mut self) -> Parsed {
        let start = self.here();
        let negative = self.accept('-').is_some();
        let Some(TokenKind::Int(magnitude)) = self.peek() else {
            return Err(self.unexpected("an integer"));
        };
        let value = i128::from(*magnitude) * if negative { -1 } else { 1 };
        let at = start.start..self.here().end;
        let value = i64::try_from(value)
            .map_err(|_| NotationError::new(&at, format!("`{value}` does not fit 64 bits")))?;
        self.next += 1;
        node(ExprKind::Int(value), at)
    }

    fn rest(&self) -> &[Token] {
        self.tokens.get(self.next..).unwrap_or_default()
    }

    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn here(&self) -> Range<usize> {
        self.tokens
            .get(self.next)
            .map_or(self.end.clone(), |token| token.at.clone())
    }

    fn accept(&mut self, sign: char) -> Option<Range<usize>> {
        let at = self.here();
        (self.peek() == Some(&TokenKind::Punct(sign))).then(|| {
            self.next += 1;
            at
        })
    }

    fn accept_other(&mut self, sign: &str) -> Option<Range<usize>> {
        let at = self.here();
        matches!(self.peek(), Some(TokenKind::Other(text)) if text == sign).then(|| {
            self.next += 1;
            at
        })
    }

    /// Accepts `==`, which is two tokens.
    fn accept_equals(&mut self) -> bool {
        let is_sign = |token: &Token| token.kind == TokenKind::Other("=".to_owned());
        let is_next =
            matches!(self.rest(), [first, second, ..] if is_sign(first) && is_sign(second));
        self.next += 2 * usize::from(is_next);
        is_next
    }

    /// Accepts a sign of arithmetic, if it is one of `signs`.
    fn accept_sign(&mut self, signs: &[&str]) -> Option<Sign> {
        let sign = match self.peek()? {
            TokenKind::Punct('-') => Sign::Minus,
            TokenKind::Other(text) => match &text[..] {
                "+" => Sign::Plus,
                "*" => Sign::Times,
                "%" => Sign::Modulo,
                _ => return None,
            },
            TokenKind::Punct('/') => Sign::Over,
            _ => return None,
        };
        signs.contains(&&*sign.to_string()).then(|| {
            self.next += 1;
            sign
        })
    }

    fn accept_word(&mut self, word: &str) -> Option<Range<usize>> {
        let at = self.here();
        self.tokens
            .get(self.next)
            .filter(|token| is_word(token, word))?;
        self.next += 1;
        Some(at)
    }

    fn enter(&mut self) -> Result<(), NotationError> {
        self.depth += 1;
        match self.depth > MAX_NESTING {
            true => Err(too_deep(&self.here())),
            false => Ok(()),
        }
    }

    fn unexpected(&self, expected: &str) -> NotationError {
        let at = self.here();
        let Some(found) = self.peek() else {
            return NotationError::new(&at, format!("expected {expected}, found the end"));
        };
        let error = NotationError::new(&at, format!("expected {expected}, found `{found}`"));
        match found {
            TokenKind::Word(word) if word == "O" => error.help("did you mean `o`, which composes?"),
            TokenKind::Int(_) | TokenKind::Word(_) if self.next > 0 => {
                error.help("modes are separated by `,`; `o` composes")
            }
            TokenKind::Punct(',') if expected.starts_with("`o`") => match self.rest().get(1).map(|it| &it.kind) {
                Some(TokenKind::Punct('<')) => error.help("`/` divides by a tiler: `A / <4,2>`"),
                Some(TokenKind::Int(_)) => error.help("several modes stand in parentheses: `(4,8):(8,1)`"),
                Some(TokenKind::Punct('(')) => error.help(
                    "a stride stands behind `:`, as in `(4,8):(8,1)`, and layouts side by side in parentheses, `(A, B)`",
                ),
                _ => error,
            },
            TokenKind::Punct('(') if self.next > 0 => error.help(
                "modes are separated by `,`; `o` composes; the value of L at a coordinate is `crd2idx((1,2), L)`",
            ),
            TokenKind::Punct('<') if self.next > 0 => error.help("`/` divides by a tiler"),
            TokenKind::Punct('@') => error.help("`1@0` is a basis element; a stride stands behind `:`"),
            TokenKind::Other(sign) => match sign.as_str() {
                "*" => error.help(NO_PRODUCT_SIGN),
                ";" => error.help("modes are separated by `,`, and a stride stands behind `:`"),
                "+" => error.help("only integers are added: a longer tuple is written out, `(128,64,3)`, and `Sw<0,0,0> o 1 o L` has the values of L plus 1"),
                "×" => error.help("a shape is written `(4,8)`"),
                _ => error,
            },
            _ => error,
        }
    }
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(&token.kind, TokenKind::Word(text) if text == word)
}

fn binary(operation: &str, sign: Range<usize>, left: Expr, right: Expr, flipped: bool) -> Parsed {
    let at = left.at.start..right.at.end;
    let args = if flipped {
        vec![right, left]
    } else {
        vec![left, right]
    };
    node(
        ExprKind::Call {
            operation: operation.to_owned(),
            name_at: sign,
            args,
            ragged: false,
        },
        at,
    )
}

/// Whether an expression between a swizzle and the layout that it applies to is the offset, by its form.
fn is_offset(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Braced(_)
        | ExprKind::Integer(_)
        | ExprKind::Arithmetic(..) => true,
        ExprKind::Name(name) => is_integer_name(name),
        _ => false,
    }
}

/// Whether these tokens begin with `.div_ceil(`.
fn is_ceiling(tokens: &[Token]) -> bool {
    match tokens {
        [dot, method, open, ..] => {
            dot.kind == TokenKind::Other(".".to_owned())
                && is_word(method, "div_ceil")
                && open.kind == TokenKind::Punct('(')
        }
        _ => false,
    }
}

/// The arithmetic between braces. All parts get the position of the braces. `None` for an integer or a name by itself, and for Rust
/// expressions such as a call of a function.
fn integer_in_braces(braced: &str, at: &Range<usize>, depth: usize) -> Option<Expr> {
    let inner = braced.strip_prefix('{')?.strip_suffix('}')?;
    let mut tokens = lex(inner).ok()?;
    tokens.iter_mut().for_each(|token| token.at = at.clone());
    let mut parser = Parser {
        tokens: &tokens,
        next: 0,
        end: at.clone(),
        depth,
    };
    let integer = parser.side(IN_BRACES).ok()?;
    let is_whole = parser.peek().is_none();
    let is_computed = matches!(
        &integer.kind,
        ExprKind::Arithmetic(..) | ExprKind::Call { .. }
    );
    (is_whole && is_computed && is_arithmetic(&integer)).then_some(integer)
}

/// Whether an expression has no parts but integers and arithmetic. A call is arithmetic only if Rust has no such call, since it has a
/// swizzle: `crd2idx(m, Sw<1,1,2>)`.
fn is_arithmetic(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Name(_) | ExprKind::Integer(_) => true,
        ExprKind::Braced(_) => !matches!(expr.leaf(&|_| None), Some(Leaf::Computed(_))),
        ExprKind::Arithmetic(_, sides) => sides.iter().all(is_arithmetic),
        ExprKind::Tuple(items) => matches!(&items[..], [only] if is_arithmetic(only)),
        ExprKind::Call { args, .. } => match &args[..] {
            [index, swizzle] => {
                is_arithmetic(index) && matches!(swizzle.kind, ExprKind::Swizzle(_))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Refuses a side of a fact that is no integer, or about which nothing can be known.
fn check_side(side: &Expr) -> Result<(), NotationError> {
    let mut leaves = side.integers(&|_| None).into_iter();
    let computed = leaves.find_map(|(leaf, at)| match leaf {
        Leaf::Computed(text) => Some((text, at)),
        _ => None,
    });
    if let Some((text, at)) = computed {
        let message = format!(
            "a fact is about names, but `{text}` may have another value each time: give it a name"
        );
        return Err(NotationError::new(&at, message));
    }
    match is_arithmetic(side) {
        true => Ok(()),
        false => Err(NotationError::new(
            &side.at,
            "a fact can contain only integers, names and arithmetic of them",
        )),
    }
}

/// Whether an expression can be an integer by its form.
fn is_integer(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Name(_)
        | ExprKind::Braced(_)
        | ExprKind::Integer(_)
        | ExprKind::Arithmetic(..)
        | ExprKind::Call { .. } => true,
        ExprKind::Tuple(items) => matches!(&items[..], [only] if is_integer(only)),
        _ => false,
    }
}

fn arithmetic(sign: Sign, left: Expr, right: Expr) -> Parsed {
    let at = left.at.start..right.at.end;
    node(ExprKind::Arithmetic(sign, Box::new([left, right])), at)
}

/// `left / right`, where `/` binds as `*` does: of sums it takes the nearest parts.
fn divided(left: Expr, right: Expr) -> Parsed {
    let (left_at, right_at) = (left.at.clone(), right.at.clone());
    match (left.kind, right.kind) {
        (left, ExprKind::Arithmetic(sign @ (Sign::Plus | Sign::Minus), sides)) => {
            let [first, last] = *sides;
            let left = node(left, left_at)?;
            arithmetic(sign, divided(left, first)?, last)
        }
        (ExprKind::Arithmetic(sign @ (Sign::Plus | Sign::Minus), sides), right) => {
            let [first, last] = *sides;
            let right = node(right, right_at)?;
            arithmetic(sign, first, divided(last, right)?)
        }
        (left, ExprKind::Arithmetic(sign @ (Sign::Times | Sign::Over | Sign::Modulo), sides)) => {
            let [first, last] = *sides;
            let left = node(left, left_at)?;
            arithmetic(sign, divided(left, first)?, last)
        }
        (left, right) => arithmetic(Sign::Over, node(left, left_at)?, node(right, right_at)?),
    }
}

/// A node of the syntax tree. An error if the tree would be higher than [`MAX_NESTING`]: recursion over it, also that of
/// `Drop`, must not overflow the stack.
pub(super) fn node(kind: ExprKind, at: Range<usize>) -> Parsed {
    let below = match &kind {
        ExprKind::Int(_)
        | ExprKind::Fraction(..)
        | ExprKind::Underscore
        | ExprKind::Name(_)
        | ExprKind::Braced(_) => 0,
        ExprKind::Tuple(items) | ExprKind::Tiler(items) | ExprKind::Call { args: items, .. } => {
            highest(items)
        }
        ExprKind::Arithmetic(_, sides) => highest(&sides[..]),
        ExprKind::Layout(shape, stride) => shape.height.max(stride.height),
        ExprKind::Ordered(part, _) | ExprKind::Basis(part, _) | ExprKind::Integer(part) => {
            part.height
        }
        ExprKind::Swizzle(parts) | ExprKind::Swizzled(parts) => highest(&parts[..]),
    };
    match below >= MAX_NESTING {
        true => Err(too_deep(&at)),
        false => Ok(Expr {
            kind,
            at,
            height: below + 1,
        }),
    }
}

fn highest(items: &[Expr]) -> usize {
    items.iter().map(|item| item.height).max().unwrap_or(0)
}

fn too_deep(at: &Range<usize>) -> NotationError {
    NotationError::new(at, format!("nested more than {MAX_NESTING} deep"))
}
