//! The functions that the driver defines: `vprintf`, `__assertfail`, `malloc` and `free`.

use crate::error::{Assertion, FaultKind};
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Call, SystemCall};

/// The most bytes of a string that are read.
const MAX_TEXT: usize = 1 << 12;
/// The most characters to which a conversion pads its text.
const MAX_WIDTH: usize = 1 << 10;
/// An allocation is charged as this many instructions, plus one for each KiB.
const STEPS_PER_BLOCK: u64 = 8;
/// The alignment of allocations by threads, in bytes.
const HEAP_ALIGN: u64 = 16;

impl Step<'_> {
    pub(super) fn system_call(
        &mut self,
        lane: usize,
        system: SystemCall,
        call: &Call,
    ) -> Result<()> {
        let mut args = [0; 5];
        for (arg, slot) in args.iter_mut().zip(&call.args) {
            let mut bytes = [0; 8];
            let address = self.frame(lane) + u64::from(slot.offset);
            self.read_local(lane..lane + 1, address, &mut bytes[..slot.bytes as usize])
                .map_err(|fault| Blame::lane(fault, lane))?;
            *arg = u64::from_le_bytes(bytes);
        }
        self.progress = true;
        let result = self.system_result(lane, system, args);
        let result = result.map_err(|fault| Blame::lane(fault, lane))?;
        if let Some(slot) = call.results.first() {
            let address = self.frame(lane) + u64::from(slot.offset);
            let bytes = result.to_le_bytes();
            self.write_local(lane..lane + 1, address, &bytes[..slot.bytes as usize])
                .map_err(|fault| Blame::lane(fault, lane))?;
        }
        Ok(())
    }

    fn system_result(
        &mut self,
        lane: usize,
        system: SystemCall,
        [a, b, c, d, _]: [u64; 5],
    ) -> std::result::Result<u64, FaultKind> {
        match system {
            SystemCall::Print => {
                let format = self.text(lane, a)?;
                let (text, conversions) = self.formatted(lane, &format, b)?;
                self.charge(text.len() as u64);
                let most = usize::try_from(self.limits.output_bytes).unwrap_or(usize::MAX);
                self.memory.print(&text, most);
                Ok(conversions)
            }
            SystemCall::AssertFail => Err(FaultKind::Assertion(Box::new(Assertion {
                condition: self.text(lane, a)?,
                file: self.text(lane, b)?,
                line: c as u32,
                function: self.text(lane, d)?,
            }))),
            // As on the device, an allocation that fails returns a null pointer.
            SystemCall::Allocate => {
                let bytes = usize::try_from(a).unwrap_or(usize::MAX);
                self.charge(STEPS_PER_BLOCK + a / 1024);
                Ok(self.memory.alloc(bytes, HEAP_ALIGN).unwrap_or(0))
            }
            SystemCall::Free if a == 0 => Ok(0),
            SystemCall::Free => match self.memory.free(a) {
                Ok(()) => Ok(0),
                Err(error) => Err(FaultKind::Operand(error.to_string())),
            },
        }
    }

    /// The text at a generic address, up to the first zero byte.
    fn text(&mut self, lane: usize, address: u64) -> std::result::Result<String, FaultKind> {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_TEXT {
            let mut byte = [0];
            let address = address.wrapping_add(bytes.len() as u64);
            self.read_generic(lane, address, &mut byte)?;
            if byte == [0] {
                break;
            }
            bytes.extend(byte);
        }
        self.charge(bytes.len() as u64);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of a C format with its arguments, and the number of arguments. The arguments lie one after another at an address, with
    /// the layout that a compiler gives them.
    fn formatted(
        &mut self,
        lane: usize,
        format: &str,
        mut address: u64,
    ) -> std::result::Result<(String, u64), FaultKind> {
        let (mut text, mut count) = (String::new(), 0);
        let mut rest = format;
        while let Some((before, after)) = rest.split_once('%') {
            text += before;
            let (conversion, after) = Conversion::parse(after);
            rest = after;
            let Some(mut conversion) = conversion else {
                text.push('%');
                continue;
            };
            let mut next = |step: &mut Self, bytes: usize| {
                let mut value = [0; 8];
                address = address.wrapping_add(bytes as u64 - 1) & !(bytes as u64 - 1);
                step.read_generic(lane, address, &mut value[..bytes])?;
                address = address.wrapping_add(bytes as u64);
                count += 1;
                Ok::<u64, FaultKind>(u64::from_le_bytes(value))
            };
            if conversion.width_is_argument {
                conversion.width = (next(self, 4)? as usize).min(MAX_WIDTH);
            }
            if conversion.precision_is_argument {
                conversion.precision = Some((next(self, 4)? as usize).min(MAX_WIDTH));
            }
            let value = next(self, conversion.bytes())?;
            let words = match conversion.letter {
                's' => self.text(lane, value)?,
                _ => String::new(),
            };
            text += &conversion.apply(value, words);
        }
        text += rest;
        Ok((text, count))
    }
}

/// A conversion of a format, such as `%-8.3f`.
#[derive(Clone, Debug, Default)]
struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    width: usize,
    width_is_argument: bool,
    precision: Option<usize>,
    precision_is_argument: bool,
    /// Whether the argument has 64 bits (`l`, `ll`, `z`, …).
    long: bool,
    letter: char,
}

impl Conversion {
    /// The conversion after a `%`, and the text after it; `None` for `%%` and for invalid conversions.
    fn parse(text: &str) -> (Option<Conversion>, &str) {
        let mut it = Conversion::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            match c {
                '-' => it.left = true,
                '0' => it.zeros = true,
                '+' => it.plus = true,
                ' ' => it.space = true,
                '#' => it.alternative = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        (it.width, it.width_is_argument, rest) = number(rest);
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, is_argument, after) = number(after);
            (it.precision, it.precision_is_argument) = (Some(precision), is_argument);
            rest = after;
        }
        while let Some(after) = rest.strip_prefix(['h', 'l', 'j', 'z', 't', 'L', 'q']) {
            it.long |= !rest.starts_with('h');
            rest = after;
        }
        let Some(letter) = rest.chars().next() else {
            return (None, "");
        };
        if !"diouxXcsfFeEgGaAp".contains(letter) {
            // `%%` prints one `%`. For an invalid conversion, the text after the sign is printed.
            return (None, rest.strip_prefix('%').unwrap_or(text));
        }
        it.letter = letter;
        (Some(it), &rest[1..])
    }

    /// The bytes of the argument.
    fn bytes(&self) -> usize {
        match self.letter {
            's' | 'p' | 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => 8,
            _ if self.long => 8,
            _ => 4,
        }
    }

    /// The text of an argument. `words` is the text of a string argument.
    fn apply(&self, value: u64, words: String) -> String {
        let signed = match self.long {
            true => value as i64,
            false => i64::from(value as i32),
        };
        let (sign, digits) = match self.letter {
            'd' | 'i' => (
                self.sign(signed < 0),
                self.digits(signed.unsigned_abs().to_string()),
            ),
            'u' => (String::new(), self.digits(value.to_string())),
            'o' => (String::new(), self.digits(format!("{value:o}"))),
            'x' => (self.prefix("0x", value), self.digits(format!("{value:x}"))),
            'X' => (self.prefix("0X", value), self.digits(format!("{value:X}"))),
            'p' => (String::new(), format!("{value:#x}")),
            'c' => (String::new(), char::from(value as u8).to_string()),
            's' => {
                let most = self.precision.unwrap_or(usize::MAX);
                (String::new(), words.chars().take(most).collect())
            }
            letter => {
                let number = f64::from_bits(value);
                let digits = float(number.abs(), letter, self.precision.unwrap_or(6), self);
                (self.sign(number.is_sign_negative()), digits)
            }
        };
        let missing = self
            .width
            .saturating_sub(sign.len() + digits.chars().count());
        let zeros = self.zeros && !self.left && !matches!(self.letter, 'c' | 's');
        match (self.left, zeros) {
            (true, _) => format!("{sign}{digits}{}", " ".repeat(missing)),
            (_, true) => format!("{sign}{}{digits}", "0".repeat(missing)),
            _ => format!("{}{sign}{digits}", " ".repeat(missing)),
        }
    }

    fn sign(&self, negative: bool) -> String {
        match (negative, self.plus, self.space) {
            (true, ..) => "-".to_owned(),
            (_, true, _) => "+".to_owned(),
            (.., true) => " ".to_owned(),
            _ => String::new(),
        }
    }

    fn prefix(&self, prefix: &str, value: u64) -> String {
        let shown = self.alternative && value != 0;
        if shown {
            prefix.to_owned()
        } else {
            String::new()
        }
    }

    /// An integer with at least as many digits as the precision.
    fn digits(&self, digits: String) -> String {
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        "0".repeat(missing) + &digits
    }
}

/// The number at the beginning of a format, whether it is an argument (`*`) instead, and the text after it.
fn number(text: &str) -> (usize, bool, &str) {
    if let Some(rest) = text.strip_prefix('*') {
        return (0, true, rest);
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let value = text[..end].parse().unwrap_or(0);
    (MAX_WIDTH.min(value), false, &text[end..])
}

/// A number without its sign, as a conversion of C writes it.
fn float(value: f64, letter: char, precision: usize, conversion: &Conversion) -> String {
    let text = match letter.to_ascii_lowercase() {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => "inf".to_owned(),
        'f' => format!("{value:.precision$}"),
        'e' => exponential(value, precision),
        'g' => {
            let precision = precision.max(1);
            let exponent = match exponential(value, precision - 1).split_once('e') {
                Some((_, exponent)) => exponent.parse::<i64>().unwrap_or(0),
                None => 0,
            };
            let short = if exponent < -4 || exponent >= precision as i64 {
                exponential(value, precision - 1)
            } else {
                let after = (precision as i64 - 1 - exponent) as usize;
                format!("{value:.after$}")
            };
            if conversion.alternative {
                short
            } else {
                without_zeros(&short)
            }
        }
        _ => hexadecimal(value),
    };
    if letter.is_ascii_uppercase() {
        text.to_ascii_uppercase()
    } else {
        text
    }
}

/// In exponential form: the exponent has a sign and at least two digits.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// Removes the zeros at the end of a fraction.
fn without_zeros(text: &str) -> String {
    let (digits, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{digits}{exponent}")
}

fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    match (exponent, fraction) {
        (0, 0) => "0x0p+0".to_owned(),
        (0, _) => format!("0x0{point}{digits}p-1022"),
        _ => format!("0x1{point}{digits}p{:+}", exponent as i64 - 1023),
    }
}
