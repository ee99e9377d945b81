//! The types of literals without a suffix, as Rust infers them: from what they meet, and `i32` and `f64` where they meet nothing
//! that has a type.
//!
//! An interpreter meets a literal before its uses. Arithmetic of known integers is exact until their type is known, so it
//! needs no type; but a register has one from the start. So a literal begins a class, a register of a class gets the type
//! that is most likely, and where a later use tells another one, the kernel is interpreted again with that type for
//! the literals of the class ([`Inference::again`]).

use crate::kernel::emit::builder::Builder;
use crate::kernel::value::types::{is_float, is_integer, range, rounded, rust_name};
use crate::kernel::value::{Class, Num, NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use proc_macro2::Span;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::take;
use syn::{Error, Result};

/// The floating-point types, of which a literal without a suffix may have one.
const FLOATS: [Type; 4] = [Type::F16, Type::Bf16, Type::F32, Type::F64];

/// How often a kernel is interpreted at most.
const MAX_PASSES: usize = 16;

/// The types of literals, as far as they have been told.
#[derive(Default)]
pub struct Inference {
    /// Where the interpreter is.
    pub position: Position,
    /// The types that earlier interpretations have found.
    told: BTreeMap<Position, Type>,
    passes: usize,
    classes: Vec<State>,
}

/// A position in the run of an interpreter, which is the same in each run, also if statements before it had errors: which statement
/// of which block, and which part of the statement.
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

/// What is known of a class.
struct State {
    /// The larger class of which this one has become a part, and which says all else.
    within: Option<Class>,
    integer: bool,
    /// Where one of its literals stands.
    span: Span,
    /// Where its literals were evaluated.
    literals: Vec<Position>,
    ty: Option<Type>,
    /// The type that its registers have got.
    assumed: Option<Type>,
    /// Whether something was computed that depends on the type.
    observed: bool,
    /// Whether an argument of a type parameter got the assumed type.
    generic: bool,
    /// Whether code that is not interpreted may tell the type.
    in_doubt: bool,
    /// Whether bits of a known integer may have been lost, which no type refuses.
    loses_bits: bool,
    /// The least and the greatest of its known integers.
    range: (i128, i128),
    /// The floating-point types in which a known result would be another.
    differs: Vec<Type>,
}

impl State {
    /// The type that Rust gives numbers whose uses tell none.
    fn fallback(&self) -> Type {
        match self.integer {
            true => Type::S32,
            false => Type::F64,
        }
    }

    /// Whether something depends on the type.
    fn is_used(&self) -> bool {
        self.assumed.is_some() || self.observed
    }

    /// Whether something differs among the types that may hold all of its numbers.
    fn depends(&self) -> bool {
        let differs = !self.differs.is_empty() || !self.holds_in(self.fallback());
        self.assumed.is_some() || self.observed && (self.loses_bits || differs)
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

    /// Whether what has been made of the class holds for the type.
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
    /// The type of the next literal without a suffix: that which an earlier interpretation has found, or a class of its own.
    pub fn literal(&mut self, integer: bool, span: Span) -> NumberType {
        let at = self.position.advance();
        if let Some(ty) = self.told.get(&at) {
            return NumberType::Is(*ty);
        }
        self.classes.push(State {
            within: None,
            integer,
            span,
            literals: vec![at],
            ty: None,
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

    /// What the next interpretation starts from, if one is needed: where numbers have another type than they got, or where
    /// they got a type that Rust does not fall back to and nothing has told. After an error, uses may be missing that tell
    /// types, so numbers fall back only if no type has been told that helps.
    ///
    /// It is an error if the last interpretation has found types that it did not have.
    pub fn again(&mut self, failed: bool) -> Result<Option<Inference>> {
        let mut told = take(&mut self.told);
        let mut wrong = None;
        for falls_back in [false, true] {
            for state in self.roots() {
                let ty = match state.ty {
                    Some(ty) => ty,
                    None if falls_back && state.is_used() && !state.in_doubt => state.fallback(),
                    None => continue,
                };
                if !state.holds_in(ty) {
                    told.extend(state.literals.iter().map(|at| (*at, ty)));
                    wrong = Some((state.span, ty));
                }
            }
            if failed && wrong.is_some() {
                break;
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
            passes,
            ..Inference::default()
        }))
    }

    /// An error of each literal whose type nothing tells that is interpreted, though code that is not may do so.
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

    /// The classes that are parts of no other.
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

    /// What is known of the class of a number, if its type is not known yet.
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

    /// Two classes of which neither has a type become one, unless one is of integers and the other is not.
    fn union(&mut self, a: Class, b: Class) -> Option<NumberType> {
        let (a, b) = (self.root(a), self.root(b));
        if self.classes[a.0].integer != self.classes[b.0].integer {
            return None;
        }
        // The larger one goes on, so that classes nest no deeper than the logarithm of their number.
        let size = |class: Class| self.classes[class.0].literals.len();
        let (a, b) = if size(a) < size(b) { (b, a) } else { (a, b) };
        if a != b {
            let part = &mut self.classes[b.0];
            part.within = Some(a);
            let (literals, differs) = (take(&mut part.literals), take(&mut part.differs));
            let (observed, generic, assumed) = (part.observed, part.generic, part.assumed);
            let (in_doubt, loses_bits, range) = (part.in_doubt, part.loses_bits, part.range);
            let state = &mut self.classes[a.0];
            state.literals.extend(literals);
            state.observed |= observed;
            state.generic |= generic;
            state.in_doubt |= in_doubt;
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

impl Builder {
    /// The type of a number, as far as it is known by now; `None` for what is no number.
    pub fn number_type(&self, value: &Value) -> Option<NumberType> {
        Some(self.inference.now(match value {
            Value::Int(_, ty) | Value::Float(_, ty) => *ty,
            Value::Scalar(scalar) => scalar_type(scalar)?,
            _ => return None,
        }))
    }

    /// The one type of two numbers, which tells what is not known of either.
    pub fn unify(&mut self, a: NumberType, b: NumberType) -> Result<NumberType> {
        let (a, b) = (self.inference.now(a), self.inference.now(b));
        match (a, b) {
            (NumberType::Any, other) | (other, NumberType::Any) => Ok(other),
            (NumberType::Is(one), NumberType::Is(two)) if one == two => Ok(a),
            (NumberType::Is(one), NumberType::Is(two)) => {
                let (one, two) = (rust_name(one), rust_name(two));
                Err(self.error(format!(
                    "mismatched types `{one}` and `{two}`: convert one with `as {one}`"
                )))
            }
            (NumberType::Inferred(class), NumberType::Is(ty))
            | (NumberType::Is(ty), NumberType::Inferred(class)) => {
                let state = self.inference.state(class);
                if !state.may_be(ty) {
                    let kind = match state.integer {
                        true => "an integer",
                        false => "a floating-point number",
                    };
                    let ty = rust_name(ty);
                    return Err(self.error(format!("expected a `{ty}`, found {kind}")));
                }
                state.ty = Some(ty);
                Ok(NumberType::Is(ty))
            }
            (NumberType::Inferred(one), NumberType::Inferred(two)) => {
                let both = self.inference.union(one, two);
                both.ok_or_else(|| {
                    self.error("mismatched types: an integer and a floating-point number")
                })
            }
        }
    }

    /// The one type of two values that are numbers, and `None` where one is none.
    pub fn unify_values(&mut self, a: &Value, b: &Value) -> Result<Option<NumberType>> {
        match (self.number_type(a), self.number_type(b)) {
            (Some(a), Some(b)) => self.unify(a, b).map(Some),
            _ => Ok(None),
        }
    }

    /// Tells a number its type, and refuses one of another type. What is no number is left alone.
    pub fn expect(&mut self, value: &Value, ty: Type) -> Result<()> {
        if let Some(found) = self.number_type(value) {
            self.unify(found, NumberType::Is(ty))?;
        }
        Ok(())
    }

    /// Tells a number its type, if it is not known yet and may be this one.
    pub fn tell(&mut self, value: &Value, ty: Type) {
        if let Some(found) = self.number_type(value)
            && let Some(state) = self.inference.open(found)
            && state.may_be(ty)
        {
            state.ty = Some(ty);
        }
    }

    /// Tells the registers of an argument the types with which a function has taken them, unless its result passes them on.
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

    /// Code that is not interpreted may tell the type of a number.
    pub fn doubt(&mut self, value: &Value) {
        if let Some(found) = self.number_type(value)
            && let Some(state) = self.inference.open(found)
        {
            state.in_doubt = true;
        }
    }

    /// The type of a register for a number of this type. That of a class is assumed, until a use tells it. An integer that goes with
    /// all types is `u32`.
    pub fn register_type(&mut self, ty: NumberType) -> Type {
        match self.inference.now(ty) {
            NumberType::Is(ty) => ty,
            NumberType::Inferred(class) => {
                let state = self.inference.state(class);
                let likely = match (state.integer, state.range.0 < 0) {
                    (true, false) => Type::U32,
                    (true, true) => Type::S32,
                    (false, _) => Type::F32,
                };
                *state.assumed.get_or_insert(likely)
            }
            NumberType::Any => Type::U32,
        }
    }

    /// The register as one of a number of this type.
    pub fn of_type(&self, register: Scalar, ty: NumberType) -> Scalar {
        let class = match self.inference.now(ty) {
            NumberType::Inferred(class) => Some(class),
            NumberType::Is(_) | NumberType::Any => None,
        };
        Scalar { class, ..register }
    }

    /// A known integer is of the class.
    pub fn holds(&mut self, ty: NumberType, value: i128) {
        if let Some(state) = self.inference.open(ty) {
            state.range.0 = state.range.0.min(value);
            state.range.1 = state.range.1.max(value);
        }
    }

    /// Bits of a known integer may be lost.
    pub fn loses_bits(&mut self, ty: NumberType) {
        if let Some(state) = self.inference.open(ty) {
            state.loses_bits = true;
        }
    }

    /// Something of a number is computed that depends on its type. `same` says whether it is the same in a floating-point type
    /// as in `f64`.
    pub fn observe(&mut self, ty: NumberType, same: impl Fn(Type) -> bool) {
        if let Some(state) = self.inference.open(ty) {
            state.observed = true;
            self.computed(ty, same);
        }
    }

    /// A type parameter gets the type of a number. That of a class is assumed.
    pub fn assume_generic(&mut self, ty: NumberType) -> Type {
        if let Some(state) = self.inference.open(ty) {
            state.generic = true;
        }
        self.register_type(ty)
    }

    /// Whether a type parameter got its type from the class of a number, which then tells nothing of it.
    pub fn is_assumed(&mut self, ty: NumberType, wanted: Type) -> bool {
        let state = self.inference.open(ty);
        state.is_some_and(|state| state.generic && state.assumed == Some(wanted))
    }

    /// A known floating-point number with its type as far as it is known by now, and rounded to it.
    pub fn float(&self, value: f64, ty: NumberType) -> (f64, NumberType) {
        match self.inference.now(ty) {
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
        let ty = self.inference.now(ty);
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
        if let Some(state) = self.inference.open(ty)
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
