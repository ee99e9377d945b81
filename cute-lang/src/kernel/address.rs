//! From coordinates to shared-memory addresses.
//!
//! A swizzle only moves bits below the period `2^(M+B+|S|)`, and on two numbers without a common bit it works apart:
//! `Sw(x ^ r) = Sw(x) ^ Sw(r)`. So the run-time part r of an address is swizzled once, and what is known, x, becomes
//! an immediate offset, all but those of its bits that may meet bits of `Sw(r)`: these are xor-ed, once for each
//! value that they have.

use super::arithmetic::Op;
use super::bits;
use super::builder::{Builder, SHARED_ALIGN, address};
use super::value::{Num, Scalar, Value};
use cute_algebra::{Layout, Swizzle, Tuple, XorMap, coalesce};
use cute_ptx::ast::{Operand, Type};
use std::collections::BTreeMap;
use syn::Result;

/// Where the elements of a tile are: all in bytes, all but the swizzle from the start of its memory.
#[derive(Clone, Debug)]
pub struct Addresses {
    base: i64,
    swizzle: Swizzle,
    /// What is known of the part that coordinates add.
    known: i64,
    /// What is not.
    dynamic: Num,
    /// `shared_base + Sw(dynamic)`, once it is needed.
    hoisted: Option<Scalar>,
    /// The same with bits exclusive-or-ed in.
    flipped: BTreeMap<i64, Scalar>,
}

impl Addresses {
    /// Of memory at byte `base` of the kernel's shared memory.
    pub fn new(base: i64, swizzle: Swizzle, dynamic: Num) -> Self {
        let (known, dynamic) = match dynamic
            .constant()
            .and_then(|known| i64::try_from(known).ok())
        {
            Some(known) => (known, Num::Const(0)),
            None => (0, dynamic),
        };
        Self {
            base,
            swizzle,
            known,
            dynamic,
            hoisted: None,
            flipped: BTreeMap::new(),
        }
    }

    /// The operand for byte `known`, to which the run-time part is added before the swizzle.
    pub fn operand(&mut self, b: &mut Builder, known: i64) -> Result<Operand> {
        let (register, offset) = self.resolve(b, known)?;
        Ok(address(&register, offset))
    }

    /// The address in a register.
    pub fn register(&mut self, b: &mut Builder, known: i64) -> Result<Scalar> {
        let (register, offset) = self.resolve(b, known)?;
        let sum = b.add(&register.into(), &Num::from(offset))?;
        b.to_register(&sum, Type::U32)
    }

    fn resolve(&mut self, b: &mut Builder, known: i64) -> Result<(Scalar, i64)> {
        let known = self.known + known;
        let period = period(self.swizzle);
        let inside = period - 1;
        let dynamic = b.possible_bits(&self.dynamic) as i64;
        let carries = dynamic & known & inside != 0;
        if carries || period > i64::from(SHARED_ALIGN) {
            let sum = b.add(&self.dynamic.clone(), &Num::from(known))?;
            let swizzled = swizzled(b, self.swizzle, &sum)?;
            return Ok((self.absolute(b, &swizzled)?, self.base));
        }
        let hoisted = match &self.hoisted {
            Some(hoisted) => hoisted.clone(),
            None => {
                let swizzled = swizzled(b, self.swizzle, &self.dynamic.clone())?;
                let hoisted = self.absolute(b, &swizzled)?;
                self.hoisted.insert(hoisted).clone()
            }
        };
        let taken = (dynamic | moved(self.swizzle, dynamic)) & inside;
        let swizzled = self.swizzle.apply(known & inside);
        let (flip, add) = (swizzled & taken, swizzled & !taken);
        let register = match self.flipped.get(&flip) {
            _ if flip == 0 => hoisted,
            Some(register) => register.clone(),
            None => {
                let flipped = b.xor(&hoisted.into(), &Num::from(flip))?;
                let flipped = b.to_register(&flipped, Type::U32)?;
                self.flipped.insert(flip, flipped.clone());
                flipped
            }
        };
        Ok((register, self.base + (known & !inside) + add))
    }

    /// The run-time part, from the start of the kernel's shared memory to an address.
    fn absolute(&self, b: &mut Builder, dynamic: &Num) -> Result<Scalar> {
        let base = b.shared_base();
        let sum = b.add(&base.into(), dynamic)?;
        b.to_register(&sum, Type::U32)
    }
}

/// The bits that a swizzle may set in a number that has only bits of `mask`, besides those of `mask`.
fn moved(swizzle: Swizzle, mask: i64) -> i64 {
    let source = mask & swizzle.source_mask();
    if swizzle.shift() >= 0 {
        source >> swizzle.shift()
    } else {
        source << -swizzle.shift()
    }
}

/// What the pattern of a swizzle repeats after.
pub fn period(swizzle: Swizzle) -> i64 {
    match (swizzle.source_mask() | swizzle.target_mask()).checked_ilog2() {
        None => 1,
        Some(top) => 2i64
            .checked_shl(top)
            .filter(|&period| period > 0)
            .unwrap_or(i64::MAX),
    }
}

/// The swizzle of element indices as one of byte offsets.
pub fn in_bytes(swizzle: Swizzle, bytes: u32) -> Swizzle {
    // Element widths are at most 8 bytes, and a swizzle of indices in shared memory is far from bit 62.
    Swizzle::new(
        swizzle.bits(),
        swizzle.base() + bytes.ilog2(),
        swizzle.shift(),
    )
    .unwrap_or(swizzle)
}

/// The swizzle of a number.
pub fn swizzled(b: &mut Builder, swizzle: Swizzle, index: &Num) -> Result<Num> {
    if b.possible_bits(index) as i64 & swizzle.source_mask() == 0 {
        return Ok(index.clone());
    }
    if let Num::Const(index) = index {
        let index =
            i64::try_from(*index).map_err(|_| b.error(format!("{index} does not fit 64 bits")))?;
        return Ok(Num::from(swizzle.apply(index)));
    }
    let distance = Num::from(swizzle.shift().unsigned_abs());
    let shifted = if swizzle.shift() >= 0 {
        b.shr(index, &distance)?
    } else {
        b.shl(index, &distance)?
    };
    let moved = b.and(&shifted, &Num::from(swizzle.target_mask()))?;
    b.xor(index, &moved)
}

/// The value of a map of bits at a 1-D coordinate: bits that move by one distance move together.
pub fn mapped(b: &mut Builder, map: &XorMap, coordinate: &Num) -> Result<Num> {
    let columns = map.bit_columns().ok_or_else(|| {
        b.error(format!(
            "the bits of a coordinate of {map} are not those of its digits"
        ))
    })?;
    let coordinate = match coordinate {
        Num::Reg(scalar) => Num::Reg(b.convert(scalar, Type::U32)?),
        Num::Const(known) => {
            let value = i64::try_from(*known).ok().and_then(|known| map.at(known));
            return value
                .map(Num::from)
                .ok_or_else(|| b.error(format!("coordinate {known} is outside of {map}")));
        }
    };
    // From the distance, upwards or downwards, to the bits that move so far.
    let mut moves: BTreeMap<i32, i64> = BTreeMap::new();
    for (from, column) in (0i32..).zip(columns) {
        for to in (0i32..64).filter(|to| column >> to & 1 == 1) {
            *moves.entry(to - from).or_default() |= 1 << from;
        }
    }
    let mut sum = Num::Const(map.constant().into());
    for (distance, bits) in moves {
        let bits = b.and(&coordinate, &Num::from(bits))?;
        let amount = Num::from(distance.unsigned_abs());
        let moved = match distance < 0 {
            true => b.shr(&bits, &amount)?,
            false => b.shl(&bits, &amount)?,
        };
        sum = b.xor(&sum, &moved)?;
    }
    Ok(sum)
}

/// The value of an integral layout, times `unit`, at a 1-D coordinate: the terms of the layout's cheapest form.
///
/// Sums and products wrap at 32 bits, as a form by jumps may on its way to a value that does not; what is divided is the
/// coordinate itself, which is exact.
pub fn index(b: &mut Builder, layout: &Layout, coordinate: &Num, unit: i64) -> Result<Num> {
    let coordinate = match coordinate {
        Num::Reg(scalar) => Num::Reg(b.convert(scalar, Type::U32)?),
        Num::Const(known) => {
            let value = i64::try_from(*known)
                .ok()
                .and_then(|known| layout.at(known));
            let value = value
                .and_then(|value| value.checked_mul(unit))
                .map(Num::from);
            return value
                .ok_or_else(|| b.error(format!("coordinate {known} is outside of {layout}")));
        }
    };
    let bytes = in_units(b, layout, unit)?;
    let form = bytes.index_form();
    let mut sum = Num::Const(0);
    for term in form.iter().flat_map(|form| &form.terms) {
        let mut value = coordinate.clone();
        if let Some(mask) = term.mask {
            value = b.and(&value, &Num::from(mask))?;
        }
        value = b.div(&value, &Num::from(term.divisor))?;
        if let Some(modulus) = term.modulus {
            value = b.rem(&value, &Num::from(modulus))?;
        }
        let factor = Num::Const((term.factor.unsigned_abs() & u64::from(u32::MAX)).into());
        let product = b.mul(&value, &factor)?;
        sum = match term.factor < 0 {
            true => b.sub(&sum, &product)?,
            false => b.add(&sum, &product)?,
        };
    }
    if let (Num::Reg(result), true) = (&sum, sum != coordinate) {
        let possible = possible_values(b, &bytes, &coordinate) & b.possible_bits(&sum);
        b.limit_bits(result, possible);
    }
    Ok(sum)
}

/// The layout with its strides times `unit`, if 32 bits hold its coordinates and its values.
fn in_units(b: &Builder, layout: &Layout, unit: i64) -> Result<Layout> {
    let refused = || {
        b.error(format!(
            "32 bits do not hold the coordinates and the values of {layout}"
        ))
    };
    let strides = layout
        .stride()
        .map(|stride| stride.value().checked_mul(unit));
    let fits = |count: i64| count <= 1 << 32;
    let legal = strides
        .leaves()
        .all(|stride| stride.is_some_and(|stride| stride >= 0));
    let strides = strides.map(|stride| stride.unwrap_or_default().into());
    let scaled = Layout::new(layout.shape().clone(), strides).ok();
    let scaled = scaled.filter(|scaled| legal && fits(scaled.size()) && fits(scaled.cosize()));
    scaled.ok_or_else(refused)
}

/// The bits that a value may have, from those that its coordinate may have: digit by digit, whatever the form, whose sums
/// tell less.
fn possible_values(b: &Builder, layout: &Layout, coordinate: &Num) -> u64 {
    let modes = coalesce(layout).flat_modes();
    let (mut sum, mut rest) = (0, b.possible_bits(coordinate));
    let known = |op, bits, number: i64| bits::possible(op, bits, number as u64, true, 64);
    for (i, (extent, stride)) in modes.iter().enumerate() {
        let digit = match i + 1 < modes.len() {
            true => known(Op::Rem, rest, *extent),
            false => rest,
        };
        sum = bits::possible(
            Op::Add,
            sum,
            known(Op::Mul, digit, stride.value()),
            false,
            64,
        );
        rest = known(Op::Div, rest, *extent);
    }
    sum
}

/// The value of a layout at a 1-D coordinate: a tuple of numbers for a layout into a coordinate space.
pub fn evaluate(b: &mut Builder, layout: &Layout, coordinate: &Num) -> Result<Value> {
    component(b, layout, &layout.coshape(), &mut Vec::new(), coordinate)
}

fn component(
    b: &mut Builder,
    layout: &Layout,
    coshape: &cute_algebra::Shape,
    path: &mut Vec<usize>,
    coordinate: &Num,
) -> Result<Value> {
    if let Tuple::Node(modes) = coshape {
        let mut values = Vec::new();
        for (i, mode) in modes.iter().enumerate() {
            path.push(i);
            values.push(component(b, layout, mode, path, coordinate)?);
            path.pop();
        }
        return Ok(Value::Tuple(values));
    }
    Ok(index(b, &along(layout, path), coordinate, 1)?.into())
}

/// The layout of one component of a layout into a coordinate space.
pub fn along(layout: &Layout, path: &[usize]) -> Layout {
    let strides = layout.stride().map(|stride| match stride.path() == path {
        true => stride.value().into(),
        false => 0.into(),
    });
    // Congruent to the layout, and its size and span are at most the layout's.
    Layout::new(layout.shape().clone(), strides).unwrap_or_else(|_| Layout::unit())
}

#[cfg(test)]
mod tests {
    use super::super::simulate::{SHARED, Thread};
    use super::super::tensor::Tensor;
    use super::super::value::Element;
    use super::*;
    use cute_algebra::{ComposedLayout, Coord, SwizzleMode, tile_to_shape};

    /// Compares the address of every element of `tensor[coordinate]` with the algebra's, for every value of the run-time
    /// parts of the coordinate, `None`. Gives the number of instructions.
    fn check(
        layout: &ComposedLayout,
        element: Element,
        coordinate: &[Option<i64>],
        known_bits: bool,
    ) -> usize {
        let mut b = Builder::new(128, [1, 1, 1]);
        let base = b.allocate(64 * 1024, SHARED_ALIGN).unwrap() + SHARED_ALIGN;
        let tensor = Tensor {
            element,
            base,
            layout: layout.clone(),
            dynamic: Num::Const(0),
        };
        let modes = layout.layout().modes();
        let (mut values, mut inputs) = (Vec::new(), Vec::new());
        for (mode, index) in modes.iter().zip(coordinate) {
            values.push(match index {
                Some(-1) => Value::Wild,
                Some(index) => Value::Int((*index).into(), None),
                None => {
                    let register = b.register(Type::U32);
                    if known_bits {
                        b.limit_bits(&register, (mode.size() as u64).next_power_of_two() - 1);
                    }
                    inputs.push((register.name.clone(), mode.size() as u64));
                    register.into()
                }
            });
        }
        let part = tensor.slice(&mut b, &Value::Tuple(values)).unwrap();
        let mut addresses = part.addresses();
        let kept: Vec<i64> = part.layout.layout().values().collect();
        let operands: Vec<Operand> = kept
            .iter()
            .map(|index| addresses.operand(&mut b, part.byte(*index)).unwrap())
            .collect();
        let lines = b.split_off(0);
        let total: u64 = inputs.iter().map(|(_, size)| size).product();
        for mut run_time in 0..total {
            let mut registers = BTreeMap::new();
            let mut point = Vec::new();
            let mut names = inputs.iter();
            for index in coordinate {
                point.push(match index {
                    None => {
                        let (name, size) = names.next().unwrap();
                        registers.insert(name.clone(), run_time % size);
                        let value = run_time % size;
                        run_time /= size;
                        value as i64
                    }
                    Some(index) => *index,
                });
            }
            let mut thread = Thread::new(registers);
            thread.run(&lines);
            let free: i64 = modes
                .iter()
                .zip(&point)
                .filter(|(_, index)| **index == -1)
                .map(|(mode, _)| mode.size())
                .product();
            for (position, operand) in (0..free).zip(&operands) {
                let mut rest = position;
                let full: Coord = modes
                    .iter()
                    .zip(&point)
                    .map(|(mode, &index)| {
                        let digit = rest % mode.size();
                        rest = if index == -1 {
                            rest / mode.size()
                        } else {
                            rest
                        };
                        Tuple::Leaf(Some(if index == -1 { digit } else { index }))
                    })
                    .collect();
                let expected = SHARED as i64
                    + i64::from(base)
                    + layout.crd2idx(&full).unwrap() * i64::from(element.bytes());
                assert_eq!(
                    thread.address(operand) as i64,
                    expected,
                    "{layout} of {element} at {full}"
                );
            }
        }
        lines.len()
    }

    fn tiled(mode: SwizzleMode, element: Element, shape: [i64; 2]) -> ComposedLayout {
        let span = mode.span() / i64::from(element.bytes());
        let atom = Layout::new([8, span], [span, 1]).unwrap();
        let layout = tile_to_shape(&atom, &shape.into(), None).unwrap();
        ComposedLayout::new(Swizzle::from_mode(mode, element.bits()).unwrap(), 0, layout).unwrap()
    }

    #[test]
    fn addresses_are_the_algebras() {
        for element in [Element::U8, Element::BF16, Element::U32, Element::F64] {
            for mode in SwizzleMode::ALL {
                let layout = tiled(mode, element, [32, 256 / i64::from(element.bytes())]);
                for known_bits in [false, true] {
                    check(&layout, element, &[Some(-1), Some(-1)], known_bits);
                    check(&layout, element, &[None, Some(-1)], known_bits);
                    check(&layout, element, &[Some(-1), None], known_bits);
                    check(&layout, element, &[None, Some(3)], known_bits);
                    check(&layout, element, &[None, None], known_bits);
                }
            }
        }
    }

    #[test]
    fn addresses_of_other_layouts() {
        let plain = |layout| ComposedLayout::new(Swizzle::IDENTITY, 5, layout).unwrap();
        check(
            &plain(Layout::new([12, 10], [11, 1]).unwrap()),
            Element::F32,
            &[None, Some(-1)],
            false,
        );
        let nested = |text: &str| plain(text.parse().unwrap());
        check(
            &nested("((3,4),5):((7,2),40)"),
            Element::U16,
            &[None, None],
            true,
        );
        // Modes that are counted by jumps, up and down, from the coordinate and from a remainder of it.
        for (text, instructions) in [
            ("((7,12),8):((1,8),100)", 5),
            ("((30,10),2):((16,1),600)", 5),
            ("((5,4,7),3):((1,6,31),300)", 8),
            ("((30,4,5),(3,5)):((16,1,4),(700,500))", 0),
        ] {
            for known_bits in [false, true] {
                let count = check(&nested(text), Element::F32, &[None, Some(-1)], known_bits);
                assert!(
                    instructions == 0 || count == instructions,
                    "{text}: {count}"
                );
                check(&nested(text), Element::U8, &[None, None], known_bits);
            }
        }
        // A swizzle whose period is longer than the alignment of shared memory, and one that reads below what it changes.
        for swizzle in [
            Swizzle::new(5, 0, 5).unwrap(),
            Swizzle::new(3, 2, -4).unwrap(),
        ] {
            let layout =
                ComposedLayout::new(swizzle, 0, Layout::new([32, 32], [32, 1]).unwrap()).unwrap();
            check(&layout, Element::U32, &[None, Some(-1)], true);
            check(&layout, Element::U32, &[Some(-1), None], false);
        }
    }

    #[test]
    fn maps_of_bits_are_the_algebras() {
        for (columns, instructions) in [
            // The identity, and bits that move by one distance, together.
            (vec![1, 2, 4, 8, 17, 34, 68], 3),
            (vec![3, 2, 5, 11, 64, 0, 1], 0),
        ] {
            for constant in [0, 9] {
                let map = XorMap::new(columns.clone())
                    .unwrap()
                    .with_constant(constant);
                let mut b = Builder::new(128, [1, 1, 1]);
                let coordinate = b.thread();
                let start = b.split_off(0).len();
                let Num::Reg(sum) = mapped(&mut b, &map, &coordinate.clone().into()).unwrap()
                else {
                    panic!("known");
                };
                let lines = b.split_off(start);
                let more = usize::from(constant != 0);
                assert!(
                    instructions == 0 || lines.len() == instructions + more,
                    "{map}"
                );
                for (x, value) in (0..).zip(map.values()) {
                    let mut thread = Thread::new([(coordinate.name.clone(), x)]);
                    thread.run(&lines);
                    assert_eq!(thread.registers[&sum.name], value as u64, "{map} at {x}");
                }
            }
        }
    }

    #[test]
    fn indices_are_of_32_bits() {
        let mut b = Builder::new(128, [1, 1, 1]);
        let coordinate = Num::Reg(b.register(Type::U32));
        for text in [
            "(2,2):(1,4294967296)",
            "(4294967296,2):(0,1)",
            "(2,2):(1,-1)",
        ] {
            let layout: Layout = text.parse().unwrap();
            let error = index(&mut b, &layout, &coordinate, 1).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
        // A jump back by more than the values are.
        let layout: Layout = "(3,2):(2147483647,1)".parse().unwrap();
        let sum = index(&mut b, &layout, &coordinate, 1).unwrap();
        let lines = b.split_off(0);
        let (Num::Reg(from), Num::Reg(to)) = (coordinate, sum) else {
            panic!("known");
        };
        for (x, value) in (0..).zip(layout.values()) {
            let mut thread = Thread::new([(from.name.clone(), x)]);
            thread.run(&lines);
            assert_eq!(thread.registers[&to.name], value as u64);
        }
    }

    #[test]
    fn a_swizzle_is_applied_once() {
        let layout = tiled(SwizzleMode::B128, Element::BF16, [64, 64]);
        // One row: the row's offset and its swizzle, the sum with the base, and one exclusive-or for each further chunk of 16 bytes.
        assert_eq!(
            check(&layout, Element::BF16, &[None, Some(-1)], true),
            1 + 3 + 1 + 7
        );
        // A stage of a ring is a multiple of the period: nothing but its offset.
        let stages = tile_to_shape(
            &Layout::new([8, 64], [64, 1]).unwrap(),
            &[64, 64, 4].into(),
            None,
        )
        .unwrap();
        let ring = ComposedLayout::new(layout.swizzle(), 0, stages).unwrap();
        assert_eq!(
            check(&ring, Element::BF16, &[Some(-1), Some(-1), None], false),
            2
        );
    }
}
