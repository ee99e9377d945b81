//! Functions of the language and the arguments of their calls.

use crate::kernel::access::elementwise::Elementwise;
use crate::kernel::builtins;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::element::{AS_BYTES, width};
use crate::kernel::value::{Callable, Element, Num, Value};
use cute_algebra::operations;
use cute_algebra::operations::Operation;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Modifiers;
use cute_ptx::table::op::Instruction;
use proc_macro2::Span;
use std::ops::RangeInclusive;
use syn::{Error, Result};

/// A function of the language: a row of the table.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// The syntax of a call, such as `smem::<T>(layout)`. It gives the name and the number of arguments, and messages show it. An argument
    /// in brackets is optional.
    pub signature: &'static str,
    /// Runs it. The number of arguments has been checked before.
    pub apply: fn(&mut Builder, &Call) -> Result<Value>,
}

/// Functions that accept tensors in the shared memory of other CTAs.
const OF_PEERS: &[&str] = &[
    "index",
    "index_assign",
    "copy",
    "local_tile",
    "local_partition",
    "transpose",
    "size",
    "bytes",
    "atomic_add",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_exch",
    "atomic_cas",
    "atomic_inc",
    "atomic_dec",
];

/// Functions that accept tensors whose elements are parts of bytes.
const OF_BITS: &[&str] = &[
    "index",
    "index_assign",
    "overlay",
    "local_tile",
    "local_partition",
    "transpose",
    "peer",
    "size",
    "bytes",
];

/// A call.
pub struct Call {
    /// The name of the function.
    pub name: &'static str,
    /// Where the name stands.
    pub span: Span,
    /// The arguments between `::<` and `>`.
    pub types: Vec<Argument>,
    /// The receiver, if there is one, and the arguments between parentheses.
    pub args: Vec<Argument>,
}

/// An argument.
#[derive(Clone)]
pub struct Argument {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

impl Builtin {
    /// The name, which stands before `::<` or `(`.
    pub fn name(&self) -> &'static str {
        name(self.signature)
    }

    /// Whether it has a type between `::<` and `>`.
    pub fn takes_type(&self) -> bool {
        !list(self.signature, "::<", ">(").is_empty()
    }

    /// Checks the number of arguments, then calls the function.
    pub fn call(&'static self, b: &mut Builder, call: &Call) -> Result<Value> {
        let types = list(self.signature, "::<", ">(");
        let args = list(self.signature, "(", ")");
        let optional = args.iter().filter(|arg| arg.starts_with('[')).count();
        if call.types.len() != types.len() {
            let wanted = types.len()..=types.len();
            let error = self.miscount(call, "type argument", wanted, call.types.len());
            // CuTe's functions have numbers there.
            let is_number = |argument: &Argument| matches!(argument.value, Value::Int(..));
            return Err(match call.types.iter().any(is_number) {
                true => Error::new(call.span, format!("{error}: {}", of_numbers(self.name()))),
                false => error,
            });
        }
        let wanted = args.len() - optional..=args.len();
        if !wanted.contains(&call.args.len()) {
            return Err(self.miscount(call, "argument", wanted, call.args.len()));
        }
        self.check_peers(call)?;
        self.check_widths(call)?;
        b.sites.set_operation(self.name(), call.span);
        let result = (self.apply)(b, call);
        if let Some(error) = b.lacks(Some((self.name(), call.span))) {
            return Err(error);
        }
        let result = result?;
        for argument in &call.args {
            b.inference.take(&argument.value, &result);
        }
        Ok(result)
    }

    /// The name of argument `index` in the signature.
    pub fn argument(&self, index: usize) -> Option<&'static str> {
        let arguments = list(self.signature, "(", ")");
        arguments.get(index).copied()
    }

    /// Refuses a tensor of another CTA, unless the function reaches it.
    fn check_peers(&self, call: &Call) -> Result<()> {
        let is_peer = |argument: &Argument| matches!(&argument.value, Value::Tensor(tensor) if tensor.peer.is_some());
        match call.args.iter().position(is_peer) {
            Some(index) if !OF_PEERS.contains(&self.name()) => {
                let message = "a tensor in shared memory of its own CTA: `x[c]` and `copy` reach those of others,";
                Err(call.mismatch(index, message))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a tensor whose elements are parts of bytes, unless the function only needs their width.
    fn check_widths(&self, call: &Call) -> Result<()> {
        let mut tensors = call
            .args
            .iter()
            .filter_map(|argument| match &argument.value {
                Value::Tensor(tensor) => Some((argument.span, tensor.element)),
                _ => None,
            });
        match tensors.find(|(_, element)| element.bytes().is_err()) {
            Some((span, element)) if !OF_BITS.contains(&self.name()) => {
                let error = call.needs_bytes(element);
                Err(Error::new(span, format!("{error}: {AS_BYTES}")))
            }
            _ => Ok(()),
        }
    }

    fn miscount(
        &self,
        call: &Call,
        what: &str,
        wanted: RangeInclusive<usize>,
        got: usize,
    ) -> Error {
        let (least, most) = (wanted.start(), wanted.end());
        let s = if *most == 1 { "" } else { "s" };
        // `smem::<f32>(32, 32)`, for example.
        let numbers = call
            .args
            .iter()
            .rev()
            .take_while(|it| it.value.as_num().is_some());
        let hint = match numbers.count() > 1 && what == "argument" && got > *most {
            true => ": a shape or a coordinate is a tuple, `(i, j)`",
            false => "",
        };
        let wanted = match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        };
        Error::new(
            call.span,
            format!(
                "`{}` takes {wanted} {what}{s}, not {got}{hint}",
                self.signature
            ),
        )
    }
}

/// The syntax of numbers that are template arguments in CuTe.
fn of_numbers(name: &str) -> String {
    match name {
        "size" | "shape" | "rank" | "depth" | "cosize" | "stride" => {
            format!("that of a mode is `{name}(get(x, 0))`")
        }
        _ => "numbers are arguments in parentheses".into(),
    }
}

impl Call {
    /// An error at argument `index`, with what was expected and what was found.
    pub fn mismatch(&self, index: usize, expected: &str) -> Error {
        let argument = &self.args[index];
        Error::new(
            argument.span,
            format!(
                "`{}` takes {expected} here, not {}",
                self.name,
                argument.value.kind()
            ),
        )
    }

    /// An error at argument `index`.
    pub fn error_at(&self, index: usize, message: impl std::fmt::Display) -> Error {
        Error::new(self.args[index].span, message)
    }

    /// The element type between `::<` and `>`.
    pub fn element(&self) -> Result<Element> {
        match &self.types[0].value {
            Value::Element(element) => Ok(*element),
            other => Err(Error::new(
                self.types[0].span,
                format!("expected an element type, found {}", other.kind()),
            )),
        }
    }

    /// As [`element`](Self::element), for a function that needs elements of whole bytes.
    pub fn whole_element(&self) -> Result<Element> {
        let element = self.element()?;
        match element.bytes() {
            Ok(_) => Ok(element),
            Err(_) => Err(Error::new(self.types[0].span, self.needs_bytes(element))),
        }
    }

    /// The message for elements that are parts of bytes.
    fn needs_bytes(&self, element: Element) -> String {
        let (name, width) = (self.name, width(element));
        format!("`{name}` needs elements of whole bytes, and {width}")
    }

    /// Argument `index` as an integer known at expansion.
    pub fn constant(&self, index: usize) -> Result<i128> {
        match &self.args[index].value {
            Value::Int(value, _) => Ok(*value),
            _ => Err(self.mismatch(index, "an integer known at expansion")),
        }
    }

    /// Argument `index` as an integer known at expansion and within `range`.
    pub fn constant_in(&self, index: usize, range: std::ops::RangeInclusive<u32>) -> Result<u32> {
        let value = self.constant(index)?;
        match u32::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(self.error_at(
                index,
                outside(
                    &format!("{} of `{}`", self.argument(index), self.name),
                    value,
                    &range,
                ),
            )),
        }
    }

    /// The argument as messages name it.
    fn argument(&self, index: usize) -> String {
        let name = builtins::find(self.name).and_then(|row| row.argument(index));
        let name = name.map(|name| name.trim_matches(['[', ']']));
        name.map_or_else(
            || format!("argument {index}"),
            |name| format!("the argument `{name}`"),
        )
    }

    /// Applies an operation of the algebra to the arguments. If `first` is not empty, it replaces the first argument.
    pub fn apply(&self, operation: &Operation, first: Vec<cute_algebra::Value>) -> Result<Value> {
        let given = usize::from(!first.is_empty());
        let more = first.len().saturating_sub(1);
        let mut operands = first;
        for (i, argument) in self.args.iter().enumerate().skip(given) {
            let operand = argument.value.to_algebra();
            operands.push(operand.ok_or_else(|| self.mismatch(i, "a value known at expansion"))?);
        }
        let result = operations::apply(operation, &operands, false).map_err(|error| {
            let place = self
                .args
                .get(error.place().operand.saturating_sub(more))
                .map_or(self.span, |argument| argument.span);
            Error::new(place, error)
        })?;
        Ok(Value::from_algebra(result))
    }

    /// Runs a function of numbers. If an argument is a fragment, the function runs for each value, or for two values at once if it takes
    /// pairs of this type, and the result is a fragment.
    pub fn elementwise(
        &self,
        b: &mut Builder,
        takes: impl Fn(Type) -> bool,
        function: impl Fn(&mut Builder, &Call) -> Result<Value>,
    ) -> Result<Value> {
        let values: Vec<&Value> = self.args.iter().map(|argument| &argument.value).collect();
        let Some(each) = Elementwise::new(b, &values)? else {
            return function(b, self);
        };
        let each = each.in_pairs(b, takes)?;
        let mut results = Vec::new();
        for value in 0..each.count() {
            let numbers = each.arguments(b, value).into_iter();
            let args = numbers.zip(&self.args).map(|(value, argument)| Argument {
                value,
                span: argument.span,
            });
            let call = Call {
                name: self.name,
                span: self.span,
                types: self.types.clone(),
                args: args.collect(),
            };
            results.push(function(b, &call)?);
        }
        each.result(b, results)
    }

    /// The operation that argument `index` names, such as `add` or the function `max`.
    pub fn operation(&self, index: usize) -> Option<&str> {
        match &self.args[index].value {
            Value::Word(word) => Some(word),
            Value::Callable(Callable::Function(_, function)) => Some(function),
            _ => None,
        }
    }

    /// Argument `index` as an integer, known or in a register.
    pub fn num(&self, index: usize) -> Result<Num> {
        self.args[index]
            .value
            .as_num()
            .ok_or_else(|| self.mismatch(index, "an integer"))
    }
}

/// The message of a number outside of its range.
pub fn outside(what: &str, value: impl std::fmt::Display, range: &RangeInclusive<u32>) -> String {
    let (least, most) = (range.start(), range.end());
    format!("{what} is {value}; it can be {least} to {most}")
}

/// The name in a signature.
pub fn name(signature: &'static str) -> &'static str {
    let end = signature.find([':', '(']).unwrap_or(signature.len());
    &signature[..end]
}

/// The comma-separated parts between `open` and `close`.
fn list(signature: &'static str, open: &str, close: &str) -> Vec<&'static str> {
    let inner = signature
        .split_once(open)
        .and_then(|(_, rest)| rest.rsplit_once(close))
        .map_or("", |(inner, _)| inner);
    inner
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// What a word names in a table.
pub fn named<C: Copy>(words: &[(&str, C)], value: &Value) -> Option<C> {
    let Value::Word(word) = value else {
        return None;
    };
    words.iter().find(|row| row.0 == *word).map(|row| row.1)
}

/// Emits an instruction without a result and with at most one operand, a number.
pub fn instruction<I: Instruction>(
    b: &mut Builder,
    opcode: I,
    modifiers: impl Modifiers<I>,
    number: Option<i128>,
) -> Result<Value> {
    b.emit(opcode, modifiers, number.map(Operand::Int));
    Ok(Value::Unit)
}
