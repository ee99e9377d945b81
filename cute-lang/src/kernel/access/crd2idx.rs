//! Instructions for layouts, swizzles and XOR maps at run-time coordinates.

use crate::kernel::emit::bits::{self, Right};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::{Num, Value};
use cute_algebra::{Layout, Swizzle, Tuple, XorMap, coalesce};
use cute_ptx::ast::Type;
use std::collections::BTreeMap;
use syn::Result;

/// The swizzle applied to a number.
pub(crate) fn swizzled(b: &mut Builder, swizzle: Swizzle, index: &Num) -> Result<Num> {
    if b.known.possible_bits(index) as i64 & swizzle.source_mask() == 0 {
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

/// The value of an XOR map at a 1-D coordinate. All bits that move by the same distance move in one shift.
pub(crate) fn xor_map_value(b: &mut Builder, map: &XorMap, coordinate: &Num) -> Result<Num> {
    let columns = map.bit_columns().ok_or_else(|| {
        b.error(format!(
            "a run-time coordinate of {map} cannot be split by its bits: an extent of its shape is not a power of two"
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
    // For each distance, the bits that move by it. A negative distance is a shift to the right.
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

/// The value of an integral layout at a 1-D coordinate, times `unit`. Uses the form of the layout with the fewest instructions.
///
/// Intermediate sums and products may wrap at 32 bits; the result is right because it fits. Only the coordinate itself is divided, and it
/// does not wrap.
pub(crate) fn crd2idx(
    b: &mut Builder,
    layout: &Layout,
    coordinate: &Num,
    unit: i64,
) -> Result<Num> {
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
    // The values of a layout into a coordinate space are taken component by component, by `along`.
    let bytes = in_units(b, layout, unit)?;
    let form = bytes.index_form().filter(|_| layout.is_integral());
    let form = form.ok_or_else(|| {
        let message = format!("{layout} has values that are no integers (a defect)");
        b.error(message)
    })?;
    let mut sum = Num::Const(0);
    for term in &form.terms {
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
        let possible = possible_values(b, &bytes, &coordinate) & b.known.possible_bits(&sum);
        b.known.limit_bits(result, possible);
    }
    Ok(sum)
}

/// The layout with its strides times `unit`, if its coordinates and its values fit 32 bits.
fn in_units(b: &Builder, layout: &Layout, unit: i64) -> Result<Layout> {
    let refused = || {
        b.error(format!(
            "a run-time coordinate of {layout} is not supported: its strides must not be negative, and its size and its values must fit 32 bits"
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

/// The bits that may be set in a value, from the bits that may be set in its coordinate. The layout gives them digit by digit, which is
/// tighter than the sums of the emitted form.
fn possible_values(b: &Builder, layout: &Layout, coordinate: &Num) -> u64 {
    let modes = coalesce(layout).flat_modes();
    let (mut sum, mut rest) = (0, b.known.possible_bits(coordinate));
    // A condition may say that a register is below the size. The result is computed only where this condition holds.
    if b.known.is_below_known(coordinate, layout.size().into()) {
        rest &= (layout.size() as u64).next_power_of_two() - 1;
    }
    let known = |op, bits, number: i64| bits::possible(op, bits, Right::Known(number as u64), 64);
    for (i, (extent, stride)) in modes.iter().enumerate() {
        let digit = match i + 1 < modes.len() {
            true => known(Op::Rem, rest, *extent),
            false => rest,
        };
        sum = bits::possible(
            Op::Add,
            sum,
            Right::Any(known(Op::Mul, digit, stride.value())),
            64,
        );
        rest = known(Op::Div, rest, *extent);
    }
    sum
}

/// The value of a layout at a 1-D coordinate: a number, or a tuple of numbers if the values are coordinates.
pub(crate) fn value_at(b: &mut Builder, layout: &Layout, coordinate: &Num) -> Result<Value> {
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
    Ok(crd2idx(b, &along(layout, path), coordinate, 1)?.into())
}

/// For a layout into coordinates, the layout of the component at `path`.
pub(crate) fn along(layout: &Layout, path: &[usize]) -> Layout {
    let strides = layout.stride().map(|stride| match stride.path() == path {
        true => stride.value().into(),
        false => 0.into(),
    });
    Layout::new(layout.shape().clone(), strides)
        .expect("it has the shape of a layout, and its size and its values are at most those")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::access::simulate::{Thread, name, take};

    #[test]
    fn coordinates_are_no_indices() {
        let mut b = Builder::new(128, [1, 1, 1]);
        let coordinate = b.thread().into();
        let layout = Layout::identity([16, 8]).unwrap();
        let error = crd2idx(&mut b, &layout, &coordinate, 4).unwrap_err();
        assert!(error.to_string().contains("a defect"), "{error}");
        assert!(crd2idx(&mut b, &along(&layout, &[1]), &coordinate, 4).is_ok());
    }

    #[test]
    fn maps_of_bits_are_the_algebras() {
        for (columns, instructions) in [
            // The identity together with bits that move by one distance.
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
                let Num::Reg(sum) =
                    xor_map_value(&mut b, &map, &coordinate.clone().into()).unwrap()
                else {
                    panic!("known");
                };
                let lines = take(&mut b, start);
                let [from, to] = [&coordinate, &sum].map(|it| name(&mut b, it));
                let more = usize::from(constant != 0);
                assert!(
                    instructions == 0 || lines.len() == instructions + more,
                    "{map}"
                );
                for (x, value) in (0..).zip(map.values()) {
                    let mut thread = Thread::new([(from.clone(), x)]);
                    thread.run(&lines);
                    assert_eq!(thread.registers[&to], value as u64, "{map} at {x}");
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
            let error = crd2idx(&mut b, &layout, &coordinate, 1).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
        // The emitted form subtracts more than any value of the layout.
        let layout: Layout = "(3,2):(2147483647,1)".parse().unwrap();
        let sum = crd2idx(&mut b, &layout, &coordinate, 1).unwrap();
        let lines = take(&mut b, 0);
        let (Num::Reg(from), Num::Reg(to)) = (coordinate, sum) else {
            panic!("known");
        };
        let [from, to] = [&from, &to].map(|it| name(&mut b, it));
        for (x, value) in (0..).zip(layout.values()) {
            let mut thread = Thread::new([(from.clone(), x)]);
            thread.run(&lines);
            assert_eq!(thread.registers[&to], value as u64);
        }
    }
}
