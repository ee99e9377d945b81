//! Functions of numbers applied to fragments: once for each value.
//!
//! Fragments fit together if their threads hold the same coordinates. A mode of extent 1 fits any extent: its one coordinate serves for
//! all, as with stride 0.

use crate::kernel::access::crd2idx::along;
use crate::kernel::access::held::shown;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{half_bits, number_type, pair_type};
use crate::kernel::value::{
    Element, Fragment, Held, Mask, Num, NumberType, Scalar, Truth, Value, packing, word_type,
};
use cute_algebra::Tuple;
use cute_ptx::ast::Type;
use cute_ptx::table::op;
use std::collections::BTreeMap;
use syn::Result;

/// The arguments of a function of numbers. At least one is a fragment.
pub(crate) struct Elementwise<'a> {
    arguments: Vec<&'a Value>,
    /// The fragment with the largest extents. The result has its layout.
    whole: &'a Fragment,
    /// For each argument that is a fragment: the index of its value for each value of `whole`.
    partners: Vec<Vec<usize>>,
    /// If two values are computed at once: the registers of the pairs of each argument.
    pairs: Option<Vec<Vec<Scalar>>>,
    /// The first line that computes results.
    start: usize,
}

impl<'a> Elementwise<'a> {
    /// The arguments matched with each other; `None` if none is a fragment.
    pub(crate) fn new(b: &Builder, arguments: &[&'a Value]) -> Result<Option<Self>> {
        let fragments = arguments
            .iter()
            .filter_map(|argument| fragment_of(argument));
        // The first of several equally large ones.
        let Some(whole) = fragments.rev().max_by_key(|fragment| extents(fragment)) else {
            return Ok(None);
        };
        let partners = arguments
            .iter()
            .map(|argument| match fragment_of(argument) {
                None => Ok(Vec::new()),
                Some(part) if is_no_number(argument) => Err(b.error(format!(
                    "no instruction computes with elements of `{0}`: `convert` the fragment",
                    part.element
                ))),
                Some(part) => partners(whole, part).map_err(|why| b.error(why)),
            });
        Ok(Some(Self {
            arguments: arguments.to_vec(),
            whole,
            partners: partners.collect::<Result<_>>()?,
            pairs: None,
            start: b.check_length()?,
        }))
    }

    /// As `new`, if the result can be written to the first argument value by value: this is a fragment as large as any, each of its
    /// elements fills a register, and the other arguments have registers of their own.
    pub(crate) fn in_place(b: &Builder, arguments: &[&'a Value]) -> Result<Option<Self>> {
        let each = Self::new(b, arguments)?;
        let fits = |each: &Self| {
            let (first, others) = arguments.split_first()?;
            let first = fragment_of(first)?;
            let mut others = others.iter().filter_map(|other| fragment_of(other));
            let apart = others.all(|other| {
                let mut registers = other.registers.iter();
                registers.all(|register| !first.registers.contains(register))
            });
            let whole = extents(first) == extents(each.whole) && packing(first.element) == 1;
            (whole && apart).then_some(())
        };
        Ok(each.filter(|each| fits(each).is_some()))
    }

    /// As `new`, but computes pairs of 16-bit numbers at once, if the function takes pairs of this type and if in all fragments the two
    /// numbers of a pair share a register.
    pub(crate) fn in_pairs(
        mut self,
        b: &mut Builder,
        takes: impl Fn(Type) -> bool,
    ) -> Result<Self> {
        let single = number_type(self.whole.element);
        let pair = single.and_then(pair_type).filter(|pair| takes(*pair));
        let (Some(single), Some(pair)) = (single, pair) else {
            return Ok(self);
        };
        let count = self.whole.values.len() / 2;
        if !self.whole.values.len().is_multiple_of(2) || !self.lies_in_pairs(single) {
            return Ok(self);
        }
        let mut pairs = Vec::new();
        for (argument, partners) in self.arguments.iter().zip(&self.partners) {
            let registers = match argument {
                Value::Fragment(fragment) => {
                    let first = partners.iter().step_by(2);
                    first.map(|value| fragment.part(*value).0).collect()
                }
                Value::Scalar(number) => {
                    let twice = Operand::Vector(vec![number.operand(); 2]);
                    let twice = b.compute(Type::B32, op::Mov, Type::B32, [twice]);
                    vec![twice; count]
                }
                Value::Float(number, _) => {
                    b.expect(argument, single)?;
                    let bits = i128::from(half_bits(*number, single));
                    let twice = Num::Const(bits << 16 | bits);
                    vec![b.to_register(&twice, Type::U32)?; count]
                }
                // `lies_in_pairs` knows no others.
                other => {
                    let message = format!("{} makes no pairs (a defect)", other.kind());
                    return Err(b.error(message));
                }
            };
            let registers = registers.into_iter().map(|register| Scalar {
                ty: pair,
                variable: true,
                ..register
            });
            pairs.push(registers.collect());
        }
        self.pairs = Some(pairs);
        Ok(self)
    }

    /// Whether each argument is a number of this type, or a fragment of such numbers in which the two values of a pair share a register.
    fn lies_in_pairs(&self, single: Type) -> bool {
        let mut arguments = self.arguments.iter().zip(&self.partners);
        arguments.all(|(argument, partners)| match argument {
            Value::Float(..) => true,
            Value::Scalar(number) => number.ty == single,
            Value::Fragment(fragment) => {
                fragment.element == self.whole.element
                    && partners.chunks(2).all(|pair| {
                        let [low, high] = [pair[0], pair[1]].map(|value| fragment.part(value));
                        low.0 == high.0 && low.1 == 0 && high.1 == 1
                    })
            }
            _ => false,
        })
    }

    /// How many times the function runs.
    pub(crate) fn count(&self) -> usize {
        match self.pairs {
            Some(_) => self.whole.values.len() / 2,
            None => self.whole.values.len(),
        }
    }

    /// The arguments for this value, or for this pair of values.
    pub(crate) fn arguments(&self, b: &mut Builder, value: usize) -> Vec<Value> {
        if let Some(pairs) = &self.pairs {
            let registers = pairs.iter().map(|registers| &registers[value]);
            return registers.cloned().map(Value::Scalar).collect();
        }
        let pairs = self.arguments.iter().zip(&self.partners);
        let number = |(argument, partners): (&&Value, &Vec<usize>)| match argument {
            Value::Fragment(fragment) => fragment.read(b, partners[value]).into(),
            Value::Mask(mask) => mask.truths[partners[value]].clone().into(),
            other => Value::clone(other),
        };
        pairs.map(number).collect()
    }

    /// The fragment of these results, one for each value. Truth values make a fragment of truth values.
    pub(crate) fn result(&self, b: &mut Builder, results: Vec<Value>) -> Result<Value> {
        let truths: Option<Vec<Truth>> = results.iter().map(Truth::of).collect();
        match truths {
            Some(truths) => Ok(Value::Mask(self.mask(b, truths))),
            None => self.fragment(b, results).map(Value::Fragment),
        }
    }

    /// The fragment of these truth values. Variables are copied.
    fn mask(&self, b: &mut Builder, truths: Vec<Truth>) -> Mask {
        let truths = truths.into_iter().map(|truth| match truth {
            Truth::Predicate(predicate) => Truth::Predicate(b.snapshot(&predicate)),
            known => known,
        });
        Mask {
            truths: truths.collect(),
            held: self.whole.in_registers(self.whole.element, Vec::new()),
        }
    }

    fn fragment(&self, b: &mut Builder, results: Vec<Value>) -> Result<Fragment> {
        let mut computed = b.written_since(self.start);
        let results = results.into_iter().map(|result| match result {
            // Later writes may change a register of an argument or of another fragment. Writes to the result change nothing else.
            Value::Scalar(scalar) => {
                let is_own = !scalar.variable && computed.remove(&scalar.register);
                Ok(if is_own { scalar } else { b.copy(&scalar) })
            }
            // `x * 0` is known.
            Value::Int(value, NumberType::Is(ty)) => b.to_register(&Num::Const(value), ty),
            known => Err(b.error(format!(
                "the function gives {} for a value of the fragment, not a number in a register",
                known.kind()
            ))),
        });
        let results: Vec<Scalar> = results.collect::<Result<_>>()?;
        results.iter().for_each(|result| b.becomes_cell(result));
        if self.pairs.is_some() {
            let element = self.whole.element;
            let registers = results.into_iter().map(|pair| Scalar {
                ty: word_type(element),
                ..pair
            });
            return Ok(self.whole.in_registers(element, registers.collect()));
        }
        let first = results.first();
        let first = first.ok_or_else(|| b.error("a fragment has no values (a defect)"))?;
        let ty = first.ty;
        let element = Element::ALL.iter().find(|it| number_type(**it) == Some(ty));
        let element = *element.ok_or_else(|| b.error("the function gives no number"))?;
        Ok(self.whole.of(b, element, results))
    }
}

impl Fragment {
    /// Gives each value the corresponding number of another fragment of the same type.
    pub fn assign(&self, b: &mut Builder, from: &Fragment) -> Result<()> {
        if from.element != self.element {
            let (to, from) = (self.element, from.element);
            return Err(b.error(format!(
                "expected a fragment of `{to}`, found one of `{from}`: `convert` it"
            )));
        }
        let partners = partners(self, from).map_err(|why| b.error(why))?;
        if self.values == from.values {
            let registers = self.registers.iter().zip(&from.registers);
            registers.for_each(|(to, from)| b.assign(to, from.operand()));
            return Ok(());
        }
        for (value, &partner) in partners.iter().enumerate() {
            let number = from.read(b, partner);
            self.write(b, value, &number);
        }
        Ok(())
    }

    /// A fragment with the same layout and these values, which are in registers of their own.
    fn of(&self, b: &mut Builder, element: Element, values: Vec<Scalar>) -> Fragment {
        let registers = match packing(element) {
            1 => values,
            2 => {
                let pair = |pair: &[Scalar]| {
                    let halves = [&pair[0], pair.last().unwrap_or(&pair[0])];
                    let halves = halves.iter().map(|half| half.operand()).collect();
                    b.compute(Type::B32, op::Mov, Type::B32, [Operand::Vector(halves)])
                };
                values.chunks(2).map(pair).collect()
            }
            _ => {
                let result = self.like(b, element);
                for (value, number) in values.iter().enumerate() {
                    result.write(b, value, number);
                }
                return result;
            }
        };
        self.in_registers(element, registers)
    }

    /// A fragment of the same values in fresh registers of another type, packed in the order of the values.
    pub fn like(&self, b: &mut Builder, element: Element) -> Fragment {
        let count = self.values.len().div_ceil(packing(element));
        let registers = (0..count).map(|_| b.cell(word_type(element))).collect();
        self.in_registers(element, registers)
    }

    /// A fragment of this type in fresh registers with the same layout, but with extent 1 in one mode of its tile.
    pub fn without(&self, b: &mut Builder, mode: usize, element: Element) -> Fragment {
        let mut values: Vec<Held> = Vec::new();
        for held in &self.values {
            let mut held = held.clone();
            held.coordinate[mode] = 0;
            if values.iter().all(|it| it.coordinate != held.coordinate) {
                values.push(held);
            }
        }
        let tile = self.tile.clone().map(|mut tile| {
            // The coordinates are integers, which have no mode 0: all strides become 0.
            tile.threads[mode] = along(&tile.threads[mode], &[0]);
            tile.origin[mode] = Num::Const(0);
            tile
        });
        let extents = self.shape.leaves().enumerate();
        let extents = extents.map(|(other, extent)| if other == mode { 1 } else { *extent });
        let held = Fragment {
            values,
            tile,
            shape: extents.map(Tuple::Leaf).collect(),
            ..self.clone()
        };
        held.like(b, element)
    }

    /// A fragment of the same values in these registers, packed in the order of the values.
    fn in_registers(&self, element: Element, registers: Vec<Scalar>) -> Fragment {
        let values = self.values.iter().enumerate().map(|(slot, value)| Held {
            slot,
            coordinate: value.coordinate.clone(),
        });
        Fragment {
            element,
            registers,
            values: values.collect(),
            tile: self.tile.clone(),
            shape: self.shape.clone(),
            is_variable: false,
        }
    }
}

fn fragment_of(value: &Value) -> Option<&Fragment> {
    match value {
        Value::Fragment(fragment) => Some(fragment),
        Value::Mask(mask) => Some(&mask.held),
        _ => None,
    }
}

fn is_no_number(value: &Value) -> bool {
    matches!(value, Value::Fragment(fragment) if number_type(fragment.element).is_none())
}

fn extents(fragment: &Fragment) -> Vec<i64> {
    fragment.shape.leaves().copied().collect()
}

/// For each value of `whole`, the index of the corresponding value of `part`.
fn partners(whole: &Fragment, part: &Fragment) -> std::result::Result<Vec<usize>, String> {
    let differ = || {
        format!(
            "a fragment of {} and one of {} do not fit together: extents are equal, or 1",
            whole.shape, part.shape
        )
    };
    let rank = whole.shape.rank().max(part.shape.rank());
    let (whole, part) = (&*whole.in_modes(rank), &*part.in_modes(rank));
    let (all, own) = (extents(whole), extents(part));
    if all.len() != own.len() {
        return Err(differ());
    }
    let (Some(whole_tile), Some(part_tile)) = (&whole.tile, &part.tile) else {
        let local = whole.tile.is_none() && part.tile.is_none();
        return match local && all == own {
            true => Ok((0..whole.values.len()).collect()),
            false if local => Err(differ()),
            false => Err("one thread holds one fragment, and several hold the other".into()),
        };
    };
    let mut shared = Vec::new();
    for mode in 0..all.len() {
        if all[mode] != own[mode] {
            match own[mode] {
                1 => continue,
                _ => return Err(differ()),
            }
        }
        let (x, y) = (&whole_tile.threads[mode], &part_tile.threads[mode]);
        if x.size() != y.size() {
            let (x, y) = (x.size(), y.size());
            return Err(format!("{x} threads hold one fragment, and {y} the other"));
        }
        let mut starts = x.values().zip(y.values()).enumerate();
        if let Some((thread, (x, y))) = starts.find(|(_, (x, y))| x != y) {
            return Err(format!(
                "thread {thread} begins at {x} along mode {mode} in one fragment, and at {y} in the other: `redistribute` one"
            ));
        }
        shared.push(mode);
    }
    let place = |held: &Held| -> Vec<i64> {
        let coordinates = shared.iter().map(|mode| held.coordinate[*mode]);
        coordinates.collect()
    };
    let places = part.values.iter().map(&place).zip(0..);
    let places: BTreeMap<Vec<i64>, usize> = places.collect();
    let partner = |held: &Held| {
        let found = places.get(&place(held)).copied();
        found.ok_or_else(|| {
            let place = shown(&held.coordinate);
            format!("a thread holds a value at {place} of one fragment, but not of the other")
        })
    };
    whole.values.iter().map(partner).collect()
}
