//! The types of literals without a suffix, as in Rust: inferred from their uses; `i32` and `f64` if no use has a type.
//!
//! An interpreter sees a literal before its uses. Arithmetic of known integers is exact until their type is known, so it needs no type; but
//! a register needs one from the start. So a literal begins a class, and a register of a class gets the most likely type. If a later use
//! determines another type, the kernel is interpreted again with this type for the literals of the class ([`Inference::again`]).
//!
//! A kernel is interpreted again if a literal turns out to have another type. The interpreter meets a literal before the uses of the
//! literal, but a register needs a type from the start. So literals that are combined form a class, and the registers of the class get
//! the likely type. If the uses require another type, it is kept by the literal's position for the next interpretation. Nearly all
//! kernels are interpreted only once.

use crate::kernel::value::types::{is_float, is_integer, range, rounded, rust_name};
use crate::kernel::value::{Class, Num, NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use proc_macro2::Span;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::take;
use syn::Error;

/// The floating-point types that a literal without a suffix may have.
const FLOATS: [Type; 4] = [Type::F16, Type::Bf16, Type::F32, Type::F64];

/// How often a kernel is interpreted at most.
const MAX_PASSES: usize = 16;

/// The types of literals, as far as they have been told.
#[derive(Default)]
pub struct Inference {
    /// Where the interpreter is.
    pub position: Position,
    /// The types found by earlier interpretations.
    told: BTreeMap<Position, Type>,
    /// The types to assume for registers, where those that an earlier interpretation assumed could not hold the numbers.
    likely: BTreeMap<Position, Type>,
    passes: usize,
    classes: Vec<State>,
}

/// Why two numbers have no one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Both have a type.
    Types(Type, Type),
    /// A literal is no number of the other's type.
    Kind {
        /// The type of the other number.
        ty: Type,
        /// Whether the literal is an integer.
        integer: bool,
    },
    /// One is an integer, and the other a floating-point number.
    Kinds,
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Mismatch::Types(one, two) => {
                let (one, two) = (rust_name(one), rust_name(two));
                write!(
                    f,
                    "mismatched types `{one}` and `{two}`: convert one with `as {one}`"
                )
            }
            Mismatch::Kind { ty, integer } => {
                let kind = if integer {
                    "an integer"
                } else {
                    "a floating-point number"
                };
                write!(f, "expected a `{}`, found {kind}", rust_name(ty))
            }
            Mismatch::Kinds => {
                f.write_str("mismatched types: an integer and a floating-point number")
            }
        }
    }
}

/// A position in the run of an interpreter: the statement of the block, and the part of the statement. It is the same in each run, even if
/// earlier statements had errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    statement: u64,
    part: u64,
}

impl Position {
    /// The next part of the statement.
    pub fn advance(&mut self) -> Position {
        self.part += 1;
        *self
    }

    /// The start of a statement of the block that is this part.
    pub fn statement(self, index: usize) -> Position {
        let mut hasher = DefaultHasher::new();
        (self.statement, self.part, index).hash(&mut hasher);
        Position {
            statement: hasher.finish(),
            part: 0,
        }
    }
}

/// The state of a class.
struct State {
    /// The larger class that this one has been merged into. All other fields are then read there.
    within: Option<Class>,
    integer: bool,
    /// The place of one of its literals.
    span: Span,
    /// That literal.
    text: String,
    /// The positions of its literals.
    literals: Vec<Position>,
    ty: Option<Type>,
    /// The type to assume for its registers, if an earlier interpretation tells it.
    likely: Option<Type>,
    /// The type assumed for its registers.
    assumed: Option<Type>,
    /// Whether something was computed that depends on the type.
    observed: bool,
    /// Whether an argument of a type parameter got the assumed type.
    generic: bool,
    /// Whether code that is not interpreted may determine the type.
    in_doubt: bool,
    /// Whether bits of a known integer may have been lost. No type refuses this.
    loses_bits: bool,
    /// The least and the greatest of its known integers.
    range: (i128, i128),
    /// The floating-point types that would change a known result.
    differs: Vec<Type>,
}

impl State {
    /// The type in Rust of numbers whose uses do not determine one.
    fn fallback(&self) -> Type {
        match self.integer {
            true => Type::S32,
            false => Type::F64,
        }
    }

    /// A signed integer that holds all numbers so far, `i32` if possible; `f64` for floating-point numbers.
    fn roomy(&self) -> Type {
        let (least, greatest) = range(Type::S32);
        let fits = least <= self.range.0 && self.range.1 <= greatest;
        if self.integer && !fits {
            Type::S64
        } else {
            self.fallback()
        }
    }

    /// Gives the literals of the class a type.
    fn are(&self, ty: Type, types: &mut BTreeMap<Position, Type>) {
        types.extend(self.literals.iter().map(|at| (*at, ty)));
    }

    /// Whether something depends on the type.
    fn is_used(&self) -> bool {
        self.assumed.is_some() || self.observed
    }

    /// Whether some result differs between types, or some type cannot hold all of its numbers.
    fn depends(&self) -> bool {
        let (least, greatest) = self.range;
        let some_refuse = self.integer && (least < 0 || greatest > i8::MAX.into());
        let differs = !self.differs.is_empty() || !self.holds_in(self.fallback());
        self.assumed.is_some() || self.observed && (self.loses_bits || differs || some_refuse)
    }

    /// Known results would be others in these types.
    fn differ(&mut self, types: impl IntoIterator<Item = Type>) {
        for ty in types {
            if !self.differs.contains(&ty) {
                self.differs.push(ty);
            }
        }
    }

    fn may_be(&self, ty: Type) -> bool {
        match self.integer {
            true => is_integer(ty),
            false => is_float(ty),
        }
    }

    /// Whether the results of the class so far are right for the type.
    fn holds_in(&self, ty: Type) -> bool {
        let fits = || {
            let (least, greatest) = range(ty);
            least <= self.range.0 && self.range.1 <= greatest
        };
        self.assumed.is_none_or(|assumed| assumed == ty)
            && !self.differs.contains(&ty)
            && (!self.integer || fits())
    }
}

impl Inference {
    /// The type of the next literal without a suffix: the type found by an earlier interpretation, or a new class.
    pub fn literal(&mut self, integer: bool, span: Span, text: &str) -> NumberType {
        let at = self.position.advance();
        if let Some(ty) = self.told.get(&at) {
            return NumberType::Is(*ty);
        }
        self.classes.push(State {
            within: None,
            integer,
            span,
            text: text.to_owned(),
            literals: vec![at],
            ty: None,
            likely: self.likely.get(&at).copied(),
            assumed: None,
            observed: false,
            generic: false,
            in_doubt: false,
            loses_bits: false,
            range: (0, 0),
            differs: Vec::new(),
        });
        NumberType::Inferred(Class(self.classes.len() - 1))
    }

    /// The start of the next interpretation. One is needed if numbers have another type than assumed, or an assumed type that no use
    /// determines and that is not Rust's fallback. After an error, uses that determine types may be missing: so if no useful type has
    /// been found, registers whose numbers need another type assume that one, and their type stays open.
    ///
    /// It is an error if the last interpretation has found types that it did not have.
    pub fn again(&mut self, failed: bool) -> Result<Option<Inference>, Error> {
        let (mut told, mut likely) = (take(&mut self.told), take(&mut self.likely));
        let mut wrong = None;
        for state in self.roots() {
            if let Some(ty) = state.ty.filter(|ty| !state.holds_in(*ty)) {
                state.are(ty, &mut told);
                wrong = Some((state.span, ty));
            }
        }
        let open = |it: &&State| it.ty.is_none() && it.is_used();
        let without_useful = !failed || wrong.is_none();
        for state in self.roots().filter(open).filter(|_| without_useful) {
            let (ty, holds) = match state.assumed {
                Some(assumed) if failed => (state.roomy(), assumed == state.roomy()),
                _ => (
                    state.fallback(),
                    state.in_doubt || state.holds_in(state.fallback()),
                ),
            };
            if !holds {
                let is_assumed = failed && state.assumed.is_some();
                state.are(ty, if is_assumed { &mut likely } else { &mut told });
                wrong = Some((state.span, ty));
            }
        }
        let Some((span, ty)) = wrong else {
            return Ok(None);
        };
        let passes = self.passes + 1;
        if passes == MAX_PASSES {
            let ty = rust_name(ty);
            let message = format!(
                "the types of literals follow from one another in more than {MAX_PASSES} steps, and that of this one is `{ty}`: write some of them, as suffixes"
            );
            return Err(Error::new(span, message));
        }
        Ok(Some(Inference {
            told,
            likely,
            passes,
            ..Inference::default()
        }))
    }

    /// An error for each interpreted literal whose type could be determined only by code that is not interpreted.
    pub fn in_doubt(&self) -> impl Iterator<Item = Error> {
        let doubtful = |it: &&State| it.ty.is_none() && it.in_doubt && it.depends();
        self.roots().filter(doubtful).map(|state| {
            let example = match state.integer {
                true => "`0u32`",
                false => "`0.0f32`",
            };
            let message = format!(
                "the type of this number depends on code that is left out, since a condition is known: write it, such as {example}"
            );
            Error::new(state.span, message)
        })
    }

    /// The classes that have not been merged into others.
    fn roots(&self) -> impl Iterator<Item = &State> {
        self.classes.iter().filter(|state| state.within.is_none())
    }

    fn root(&self, mut class: Class) -> Class {
        while let Some(outer) = self.classes[class.0].within {
            class = outer;
        }
        class
    }

    fn state(&mut self, class: Class) -> &mut State {
        let root = self.root(class);
        &mut self.classes[root.0]
    }

    /// The class of a number, if its type is not known yet.
    fn open(&mut self, ty: NumberType) -> Option<&mut State> {
        match self.now(ty) {
            NumberType::Inferred(class) => Some(self.state(class)),
            NumberType::Is(_) | NumberType::Any => None,
        }
    }

    /// The type as far as it is known by now.
    pub fn now(&self, ty: NumberType) -> NumberType {
        let NumberType::Inferred(class) = ty else {
            return ty;
        };
        let root = self.root(class);
        match self.classes[root.0].ty {
            Some(ty) => NumberType::Is(ty),
            None => NumberType::Inferred(root),
        }
    }

    /// Merges two classes without a type, unless one is of integers and the other is not.
    fn union(&mut self, a: Class, b: Class) -> Option<NumberType> {
        let (a, b) = (self.root(a), self.root(b));
        if self.classes[a.0].integer != self.classes[b.0].integer {
            return None;
        }
        // The larger one stays, so classes nest no deeper than the logarithm of their number.
        let size = |class: Class| self.classes[class.0].literals.len();
        let (a, b) = if size(a) < size(b) { (b, a) } else { (a, b) };
        if a != b {
            let part = &mut self.classes[b.0];
            part.within = Some(a);
            let (literals, differs) = (take(&mut part.literals), take(&mut part.differs));
            let (observed, generic, assumed) = (part.observed, part.generic, part.assumed);
            let (in_doubt, loses_bits, range) = (part.in_doubt, part.loses_bits, part.range);
            let likely = part.likely;
            let state = &mut self.classes[a.0];
            state.literals.extend(literals);
            state.observed |= observed;
            state.generic |= generic;
            state.in_doubt |= in_doubt;
            state.likely = state.likely.or(likely);
            state.loses_bits |= loses_bits;
            state.range = (state.range.0.min(range.0), state.range.1.max(range.1));
            state.differ(differs);
            match (state.assumed, assumed) {
                // The registers of the two have different types, and a class has one.
                (Some(one), Some(two)) if one != two => state.differ([one, two]),
                (one, two) => state.assumed = one.or(two),
            }
        }
        Some(NumberType::Inferred(a))
    }
}

impl Inference {
    /// The type of a number, as far as it is known; `None` for any other value.
    pub fn number_type(&self, value: &Value) -> Option<NumberType> {
        Some(self.now(match value {
            Value::Int(_, ty) | Value::Float(_, ty) => *ty,
            Value::Scalar(scalar) => scalar_type(scalar)?,
            _ => return None,
        }))
    }

    /// The place and the text of a literal that gave a register its type, while no use has determined the type.
    pub fn literal_of(&self, register: &Scalar) -> Option<(Span, &str)> {
        let root = self.root(register.class?);
        let state = &self.classes[root.0];
        state.ty.is_none().then_some((state.span, &*state.text))
    }

    /// The one type of two numbers. Each determines unknown parts of the other's type.
    pub fn unify(&mut self, a: NumberType, b: NumberType) -> Result<NumberType, Mismatch> {
        let (a, b) = (self.now(a), self.now(b));
        match (a, b) {
            (NumberType::Any, other) | (other, NumberType::Any) => Ok(other),
            (NumberType::Is(one), NumberType::Is(two)) if one == two => Ok(a),
            (NumberType::Is(one), NumberType::Is(two)) => Err(Mismatch::Types(one, two)),
            (NumberType::Inferred(class), NumberType::Is(ty))
            | (NumberType::Is(ty), NumberType::Inferred(class)) => {
                let state = self.state(class);
                if !state.may_be(ty) {
                    let integer = state.integer;
                    return Err(Mismatch::Kind { ty, integer });
                }
                state.ty = Some(ty);
                Ok(NumberType::Is(ty))
            }
            (NumberType::Inferred(one), NumberType::Inferred(two)) => {
                self.union(one, two).ok_or(Mismatch::Kinds)
            }
        }
    }

    /// Determines the type of a number, if it is not known yet and may be this one.
    pub fn tell(&mut self, value: &Value, ty: Type) {
        if let Some(found) = self.number_type(value)
            && let Some(state) = self.open(found)
            && state.may_be(ty)
        {
            state.ty = Some(ty);
        }
    }

    /// Gives the registers of an argument the types at which a function has taken them, unless its result passes them on.
    pub fn take(&mut self, argument: &Value, result: &Value) {
        let registers = match argument {
            Value::Scalar(scalar) => vec![scalar.clone()],
            Value::Range(start, end, _) => {
                let bounds = [start, end].into_iter();
                let registers = bounds.filter_map(|bound| match bound {
                    Num::Reg(scalar) => Some(scalar.clone()),
                    Num::Const(_) => None,
                });
                registers.collect()
            }
            argument => {
                let parts = argument.parts().unwrap_or_default();
                return parts.iter().for_each(|part| self.take(part, result));
            }
        };
        for register in registers {
            let ty = register.ty;
            let taken = Value::Scalar(register);
            let passed_on = match (self.number_type(&taken), self.number_type(result)) {
                (Some(NumberType::Inferred(a)), Some(NumberType::Inferred(b))) => a == b,
                _ => false,
            };
            if !passed_on {
                self.tell(&taken, ty);
            }
        }
    }

    /// Notes that code that is not interpreted may determine the type of a number.
    pub fn doubt(&mut self, value: &Value) {
        if let Some(found) = self.number_type(value)
            && let Some(state) = self.open(found)
        {
            state.in_doubt = true;
        }
    }

    /// The type of a register for a number of this type. The type of a class is assumed, until a use determines it. An integer that fits
    /// all types gets `u32`.
    pub fn register_type(&mut self, ty: NumberType) -> Type {
        match self.now(ty) {
            NumberType::Is(ty) => ty,
            NumberType::Inferred(class) => {
                let state = self.state(class);
                let likely = state
                    .likely
                    .unwrap_or(match (state.integer, state.range.0 < 0) {
                        (true, false) => Type::U32,
                        (true, true) => Type::S32,
                        (false, _) => Type::F32,
                    });
                *state.assumed.get_or_insert(likely)
            }
            NumberType::Any => Type::U32,
        }
    }

    /// The register as one of a number of this type.
    pub fn of_type(&self, register: Scalar, ty: NumberType) -> Scalar {
        let class = match self.now(ty) {
            NumberType::Inferred(class) => Some(class),
            NumberType::Is(_) | NumberType::Any => None,
        };
        Scalar { class, ..register }
    }

    /// A known integer is of the class.
    pub fn holds(&mut self, ty: NumberType, value: i128) {
        if let Some(state) = self.open(ty) {
            state.range.0 = state.range.0.min(value);
            state.range.1 = state.range.1.max(value);
        }
    }

    /// Bits of a known integer may be lost.
    pub fn loses_bits(&mut self, ty: NumberType) {
        if let Some(state) = self.open(ty) {
            state.loses_bits = true;
        }
    }

    /// A result is computed that depends on the type of a number. `same` says whether it is the same in a floating-point type as in `f64`.
    pub fn observe(&mut self, ty: NumberType, same: impl Fn(Type) -> bool) {
        if let Some(state) = self.open(ty) {
            state.observed = true;
            self.computed(ty, same);
        }
    }

    /// Gives a type parameter the type of a number. The type of a class is assumed.
    pub fn assume_generic(&mut self, ty: NumberType) -> Type {
        if let Some(state) = self.open(ty) {
            state.generic = true;
        }
        self.register_type(ty)
    }

    /// Whether a type parameter got its type from the class of a number. The parameter then does not determine the type of this class.
    pub fn is_assumed(&mut self, ty: NumberType, wanted: Type) -> bool {
        let state = self.open(ty);
        state.is_some_and(|state| state.generic && state.assumed == Some(wanted))
    }

    /// A known floating-point number, with its type as far as it is known, rounded to this type.
    pub fn float(&self, value: f64, ty: NumberType) -> (f64, NumberType) {
        match self.now(ty) {
            NumberType::Is(ty) => (rounded(value, ty), NumberType::Is(ty)),
            ty => (value, ty),
        }
    }

    /// The result of a function of known floating-point numbers, rounded to their type.
    pub fn known_float(
        &mut self,
        ty: NumberType,
        arguments: &[f64],
        f: impl Fn(&[f64]) -> f64,
    ) -> Value {
        let in_type = |ty| {
            let arguments: Vec<f64> = arguments.iter().map(|it| rounded(*it, ty)).collect();
            rounded(f(&arguments), ty)
        };
        let ty = self.now(ty);
        let NumberType::Is(known) = ty else {
            let exact = f(arguments);
            self.computed(ty, |ty| {
                in_type(ty).to_bits() == rounded(exact, ty).to_bits()
            });
            return Value::Float(exact, ty);
        };
        Value::Float(in_type(known), ty)
    }

    /// A number has been computed; `same` is as in [`observe`](Self::observe).
    pub fn computed(&mut self, ty: NumberType, same: impl Fn(Type) -> bool) {
        if let Some(state) = self.open(ty)
            && !state.integer
        {
            state.differ(FLOATS.into_iter().filter(|ty| !same(*ty)));
        }
    }
}

/// The type of the number in a register.
fn scalar_type(scalar: &Scalar) -> Option<NumberType> {
    match scalar.class {
        Some(class) => Some(NumberType::Inferred(class)),
        None if is_integer(scalar.ty) || is_float(scalar.ty) => Some(NumberType::Is(scalar.ty)),
        None => None,
    }
}
