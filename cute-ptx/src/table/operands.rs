//! The operands of an instruction: the meaning of the table's operand column for a mnemonic.

use super::modifier::{Mnk, Modifier};
use super::pattern::Named;
use super::rows::Row;
use crate::types::Type;
use std::fmt::{self, Display, Formatter};

/// One form of the operands of an instruction, in order.
pub type Form = Vec<Slot>;

/// The place of an operand in a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The allowed operands.
    pub kind: Kind,
    /// Whether the operand can be left out. The last optional operands are left out first; see [`present`].
    pub optional: bool,
}

/// The allowed operands at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A destination register, perhaps with a predicate as second destination (`d|p`).
    Def {
        /// The type of the destination.
        ty: Type,
        /// How closely the register's type must agree.
        fit: Fit,
        /// Whether `_` is allowed instead of the register.
        sink: bool,
        /// Whether a predicate follows.
        pair: Pair,
    },
    /// A register or a constant.
    Use {
        /// The type of the operand.
        ty: Type,
        /// How closely the register's type must agree.
        fit: Fit,
        /// The allowed constants; `None` allows all constants of the type.
        range: Option<Range>,
    },
    /// A register of this type. The types must agree as in [`Fit::Agree`].
    Register(Type),
    /// A register, constant, special register, or the address of a variable or parameter.
    Value(Type),
    /// A predicate register, possibly negated (`!%p`), or 0 or 1.
    Predicate,
    /// A predicate register that is not negated, or 0 or 1: `scale-d` of wgmma.
    Scale,
    /// An integer constant in this range.
    Int(Range),
    /// A vector of registers or, if it is a source, also of constants.
    Vector {
        /// The number of elements.
        len: usize,
        /// The type of an element.
        ty: Type,
        /// How closely the registers' type must agree.
        fit: Fit,
        /// Whether it is a destination. Then `_` is allowed as an element.
        def: bool,
    },
    /// A vector of 2 or 4 registers of equal width, for a `mov` that packs or unpacks.
    Pack {
        /// The width of all elements together, 32 or 64.
        bits: u32,
        /// Whether it is a destination. Then `_` is allowed as an element.
        def: bool,
    },
    /// An address in this state space.
    Address(Space),
    /// The address of a tensor map, and coordinates.
    Tensor {
        /// The number of coordinates.
        dims: usize,
    },
    /// A label of the entry.
    Label,
    /// The name of a list of labels.
    Targets,
    /// The name of a function.
    Function,
    /// The name of a prototype of a function.
    Prototype,
    /// The parameters for the arguments or the results of a call, in parentheses.
    Parameters,
    /// Only `_`.
    Sink,
}

impl Kind {
    /// Whether it is a destination.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Kind::Def { .. } | Kind::Vector { def: true, .. } | Kind::Pack { def: true, .. }
        )
    }

    /// The type of the register or constant, or of each element of a vector; `None` for kinds without a single type.
    pub fn ty(&self) -> Option<Type> {
        match self {
            Kind::Def { ty, .. } | Kind::Use { ty, .. } | Kind::Vector { ty, .. } => Some(*ty),
            Kind::Register(ty) | Kind::Value(ty) => Some(*ty),
            Kind::Predicate | Kind::Scale => Some(Type::Pred),
            Kind::Int(_) | Kind::Pack { .. } | Kind::Address(_) => None,
            Kind::Tensor { .. } | Kind::Label | Kind::Sink => None,
            Kind::Targets | Kind::Function | Kind::Prototype | Kind::Parameters => None,
        }
    }
}

/// How closely the types of a register and its operand must agree (PTX ISA 9.0, §9.2 and §9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The widths are equal. Both types are integers, both are floating-point, or one is untyped (`.b`).
    Agree,
    /// As [`Fit::Agree`], or the register is wider and neither type is floating-point: in loads, stores and conversions.
    Wider,
    /// The types are the same: for packed formats that are not register types, such as e4m3x2 in `.b16`.
    Exact,
}

/// Whether a destination has a predicate as second destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Only `d` is allowed.
    Never,
    /// `d` and `d|p` are allowed.
    Maybe,
    /// Only `d|p` is allowed.
    Always,
}

/// The integers allowed as a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// The multiples of the third number from the first to the second, both included.
    Span(i128, i128, i128),
    /// These integers.
    OneOf(Vec<i128>),
}

impl Range {
    /// Whether a value is allowed.
    pub fn contains(&self, value: i128) -> bool {
        match self {
            Range::Span(least, most, step) => {
                (*least..=*most).contains(&value) && value % step == 0
            }
            Range::OneOf(values) => values.contains(&value),
        }
    }

    /// The least allowed value.
    pub fn least(&self) -> i128 {
        match self {
            Range::Span(least, ..) => *least,
            Range::OneOf(values) => values.iter().copied().min().unwrap_or(0),
        }
    }
}

/// The state space of an address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// No space: a generic address.
    Generic,
    /// `.const`.
    Const,
    /// `.global`.
    Global,
    /// `.local`.
    Local,
    /// `.param`.
    Param,
    /// `.shared` or `.shared::cta`.
    Shared,
    /// `.shared::cluster`.
    SharedCluster,
}

impl Space {
    /// The space of a name without its dot, such as `shared::cta`.
    pub fn from_name(name: &str) -> Option<Space> {
        Some(match name {
            "generic" => Space::Generic,
            "const" => Space::Const,
            "global" => Space::Global,
            "local" => Space::Local,
            "param" => Space::Param,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::SharedCluster,
            _ => return None,
        })
    }

    /// The name without its dot; `generic` for the generic space.
    pub fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Const => "const",
            Space::Global => "global",
            Space::Local => "local",
            Space::Param => "param",
            Space::Shared => "shared",
            Space::SharedCluster => "shared::cluster",
        }
    }
}

/// The kinds of `given` operands in a form: the last optional ones are left out. `None` if the form does not take this number of
/// operands.
pub fn present(form: &Form, given: usize) -> Option<Vec<&Kind>> {
    let mut left_out = form.len().checked_sub(given)?;
    let mut kinds = Vec::with_capacity(given);
    for slot in form.iter().rev() {
        if slot.optional && left_out > 0 {
            left_out -= 1;
        } else {
            kinds.push(&slot.kind);
        }
    }
    kinds.reverse();
    (left_out == 0).then_some(kinds)
}

/// The forms of a mnemonic, from the notation described in [`table`](super). A mistake in a row's notation panics; a test
/// reads every row.
pub(super) fn forms(row: &Row, named: &Named) -> Vec<Form> {
    row.operands
        .split(';')
        .map(|form| {
            items(form)
                .into_iter()
                .filter_map(|item| slot(item, named))
                .collect()
        })
        .collect()
}

/// The operands of a form, separated by commas.
fn items(form: &str) -> Vec<&str> {
    form.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .collect()
}

fn slot(item: &str, named: &Named) -> Option<Slot> {
    if let Some(item) = item.strip_suffix('?') {
        return Some(Slot {
            kind: kind(item, named),
            optional: true,
        });
    }
    let item = match item.split_once('?') {
        Some((name, item)) => named.get(name).map(|_| item)?,
        None => item,
    };
    Some(Slot {
        kind: kind(item, named),
        optional: false,
    })
}

fn kind(item: &str, named: &Named) -> Kind {
    match item {
        "label" => return Kind::Label,
        "targets" => return Kind::Targets,
        "function" => return Kind::Function,
        "prototype" => return Kind::Prototype,
        "(param)" => return Kind::Parameters,
        "_" => return Kind::Sink,
        "scale" => return Kind::Scale,
        "members" => {
            return Kind::Use {
                ty: Type::U32,
                fit: Fit::Agree,
                range: None,
            };
        }
        "!pred" => return Kind::Predicate,
        "=acc" => return accumulators(named),
        "offsets" => {
            return Kind::Vector {
                len: count("dim", named) - 2,
                ty: Type::U16,
                fit: Fit::Agree,
                def: false,
            };
        }
        _ => {}
    }
    if let Some(space) = item
        .strip_prefix('[')
        .and_then(|item| item.strip_suffix(']'))
    {
        return match space.strip_prefix("tensor ") {
            Some(dims) => Kind::Tensor {
                dims: count(dims, named),
            },
            None => Kind::Address(address_space(space, named)),
        };
    }
    if let Some(range) = item.strip_prefix('#') {
        return Kind::Int(parse_range(range));
    }
    if let Some(name) = item.strip_prefix('@') {
        return Kind::Value(ty(name, named).0);
    }
    if let Some(name) = item.strip_prefix('%') {
        return Kind::Register(ty(name, named).0);
    }
    let (item, def) = match item.strip_prefix('=') {
        Some(item) => (item, true),
        None => (item, false),
    };
    if let Some(name) = item
        .strip_prefix('{')
        .and_then(|item| item.strip_suffix('}'))
    {
        return Kind::Pack {
            bits: ty(name, named).0.bits(),
            def,
        };
    }
    if let Some((len, name)) = item.split_once('*') {
        let (ty, fit) = ty(name, named);
        return match (count(len, named), def) {
            (0, true) => Kind::Def {
                ty,
                fit,
                sink: false,
                pair: Pair::Never,
            },
            (0, false) => Kind::Use {
                ty,
                fit,
                range: None,
            },
            (len, _) => Kind::Vector { len, ty, fit, def },
        };
    }
    if def {
        let (item, sink) = match item.strip_prefix('_') {
            Some(item) => (item, true),
            None => (item, false),
        };
        let (name, pair) = match (item.strip_suffix("[|pred]"), item.strip_suffix("|pred")) {
            (Some(name), _) => (name, Pair::Maybe),
            (None, Some(name)) => (name, Pair::Always),
            (None, None) => (item, Pair::Never),
        };
        let (ty, fit) = ty(name, named);
        return Kind::Def {
            ty,
            fit,
            sink,
            pair,
        };
    }
    let (name, range) = match item.split_once('@') {
        Some((name, range)) => (name, Some(parse_range(range))),
        None => (item, None),
    };
    let (ty, fit) = ty(name, named);
    Kind::Use { ty, fit, range }
}

/// The type in the notation, and how closely a register must agree with it.
fn ty(name: &str, named: &Named) -> (Type, Fit) {
    let (name, fit) = match (name.strip_prefix('~'), name.strip_suffix('!')) {
        (Some(name), _) => (name, Fit::Wider),
        (None, Some(name)) => (name, Fit::Exact),
        (None, None) => (name, Fit::Agree),
    };
    if let Some(name) = name.strip_prefix('2') {
        return (doubled(ty(name, named).0), fit);
    }
    let bound = named.get(name).and_then(Modifier::ty);
    let ty = bound.or_else(|| Type::from_name(name));
    (ty.unwrap_or_else(|| panic!("no type {name}")), fit)
}

fn doubled(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => panic!("no type twice as fit as {other}"),
    }
}

/// The number in the notation, or in the modifier bound to the name (`v4`, `x2`, `3d`); 0 if none is bound.
fn count(name: &str, named: &Named) -> usize {
    if let Ok(number) = name.parse() {
        return number;
    }
    match named.get(name) {
        None => 0,
        Some(Modifier::Vector(n) | Modifier::Matrices(n) | Modifier::Dims(n)) => n.into(),
        Some(other) => panic!("no number in {other}"),
    }
}

fn address_space(name: &str, named: &Named) -> Space {
    match named.get(name).map(|modifier| modifier.to_string()) {
        Some(bound) => Space::from_name(&bound).unwrap_or_else(|| panic!("no space is {bound}")),
        // The space is generic if none is bound to the name.
        None => Space::from_name(name).unwrap_or(Space::Generic),
    }
}

/// The accumulators of `m64nNkK`: N/2 registers, or N/4 of f16x2 if D is f16.
fn accumulators(named: &Named) -> Kind {
    let Some(Modifier::Mnk(Mnk { n, .. })) = named.get("shape") else {
        panic!("no shape");
    };
    let n = usize::from(n);
    match named.get("d").and_then(Modifier::ty) {
        Some(Type::F16) => Kind::Vector {
            len: n / 4,
            ty: Type::F16x2,
            fit: Fit::Agree,
            def: true,
        },
        Some(ty) => Kind::Vector {
            len: n / 2,
            ty,
            fit: Fit::Agree,
            def: true,
        },
        None => panic!("no type of accumulators"),
    }
}

fn parse_range(text: &str) -> Range {
    let number =
        |text: &str| -> i128 { text.parse().unwrap_or_else(|_| panic!("no number: {text}")) };
    let (span, step) = text.split_once('/').unwrap_or((text, "1"));
    match span.split_once("..") {
        Some((least, most)) => Range::Span(number(least), number(most), number(step)),
        None => Range::OneOf(text.split('|').map(number).collect()),
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Range::Span(least, most, 1) => write!(f, "{least} to {most}"),
            Range::Span(least, most, step) => {
                write!(f, "a multiple of {step} from {least} to {most}")
            }
            Range::OneOf(values) => {
                for (i, value) in values.iter().enumerate() {
                    let separator = match i {
                        0 => "",
                        i if i + 1 == values.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{separator}{value}")?;
                }
                Ok(())
            }
        }
    }
}

/// Prints the kind in words, as in "expected a .u32 register or constant".
impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Def { ty, sink, pair, .. } => {
                write!(f, "a {ty} register to write")?;
                write!(f, "{}", if *sink { " or `_`" } else { "" })?;
                match pair {
                    Pair::Never => Ok(()),
                    Pair::Maybe => write!(f, ", optionally with a predicate (d|p)"),
                    Pair::Always => write!(f, " and a predicate (d|p)"),
                }
            }
            Kind::Use {
                ty, range: None, ..
            } => write!(f, "a {ty} register or constant"),
            Kind::Use {
                ty,
                range: Some(range),
                ..
            } => write!(f, "a {ty} register or a constant ({range})"),
            Kind::Register(ty) => write!(f, "a {ty} register"),
            Kind::Value(ty) => write!(f, "a {ty} register, constant, special register or variable"),
            Kind::Predicate => write!(f, "a predicate register (may be negated), 0 or 1"),
            Kind::Scale => write!(f, "a predicate register, 0 or 1"),
            Kind::Int(range) => write!(f, "a constant ({range})"),
            Kind::Vector { len, ty, def, .. } => {
                write!(
                    f,
                    "a vector of {len} {ty} registers{}",
                    if *def { " to write" } else { "" }
                )
            }
            Kind::Pack { bits, def } => {
                write!(
                    f,
                    "a vector of registers{} with {bits} bits in all",
                    if *def { " to write" } else { "" }
                )
            }
            Kind::Address(space) => {
                let widths = match space {
                    Space::Shared | Space::SharedCluster => "32 or 64 bits",
                    _ => "64 bits",
                };
                write!(f, "a {} address ({widths})", space.name())
            }
            Kind::Tensor { dims } => write!(
                f,
                "a tensor map with {dims} coordinate{}",
                if *dims == 1 { "" } else { "s" }
            ),
            Kind::Label => write!(f, "a label"),
            Kind::Targets => write!(f, "a list of labels (.branchtargets)"),
            Kind::Function => write!(f, "a function"),
            Kind::Prototype => write!(f, "a prototype (.callprototype)"),
            Kind::Parameters => write!(f, "parameters in parentheses"),
            Kind::Sink => write!(f, "`_`"),
        }
    }
}
