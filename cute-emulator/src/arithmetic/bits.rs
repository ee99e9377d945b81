//! Functions of bits and of packed integers.

use crate::op::Function::{self, F2, F3};
use cute_ptx::ast::Type;
use cute_ptx::table::Modifier;

/// The function of `prmt` in a mode. The low two bits of the selector choose the bytes of the result.
pub(crate) fn permutation(mode: Modifier) -> Option<Function> {
    /// The bytes that `from` picks. Its arguments are the number of the result byte and the selector.
    fn picked(a: u64, b: u64, selector: u64, from: fn(u64, u64) -> u64) -> u64 {
        let bytes = u64::from(a as u32) | b << 32;
        (0..4).fold(0, |result, i| {
            let byte = bytes >> (8 * (from(i, selector & 3) & 7)) & 0xff;
            result | byte << (8 * i)
        })
    }
    Some(match mode {
        Modifier::F4e => F3(|a, b, c| picked(a, b, c, |i, c| c + i)),
        Modifier::B4e => F3(|a, b, c| picked(a, b, c, |i, c| c.wrapping_sub(i))),
        Modifier::Rc8 => F3(|a, b, c| picked(a, b, c, |_, c| c)),
        Modifier::Ecl => F3(|a, b, c| picked(a, b, c, |i, c| i.max(c))),
        Modifier::Ecr => F3(|a, b, c| picked(a, b, c, |i, c| i.min(c))),
        Modifier::Rc16 => F3(|a, b, c| picked(a, b, c, |i, c| 2 * (c & 1) + (i & 1))),
        _ => return None,
    })
}

/// `dp4a`: c + the sum of the products of the four bytes of a and b.
pub(crate) fn dot_of_four(a: Type, b: Type) -> Function {
    fn sum(a: u64, b: u64, c: u64, signed: [bool; 2]) -> u64 {
        let products = (0..4).map(|i| part(a, 8, i, signed[0]) * part(b, 8, i, signed[1]));
        u64::from((i64::from(c as u32) + products.sum::<i64>()) as u32)
    }
    match (a == Type::S32, b == Type::S32) {
        (false, false) => F3(|a, b, c| sum(a, b, c, [false, false])),
        (false, true) => F3(|a, b, c| sum(a, b, c, [false, true])),
        (true, false) => F3(|a, b, c| sum(a, b, c, [true, false])),
        (true, true) => F3(|a, b, c| sum(a, b, c, [true, true])),
    }
}

/// `dp2a`: c + the sum of the products of the two halves of a with the low or the high two bytes of b.
pub(crate) fn dot_of_two(high: bool, a: Type, b: Type) -> Function {
    fn sum(a: u64, b: u64, c: u64, signed: [bool; 2]) -> u64 {
        let products = (0..2).map(|i| part(a, 16, i, signed[0]) * part(b, 8, i, signed[1]));
        u64::from((i64::from(c as u32) + products.sum::<i64>()) as u32)
    }
    match (high, a == Type::S32, b == Type::S32) {
        (false, false, false) => F3(|a, b, c| sum(a, b, c, [false, false])),
        (false, false, true) => F3(|a, b, c| sum(a, b, c, [false, true])),
        (false, true, false) => F3(|a, b, c| sum(a, b, c, [true, false])),
        (false, true, true) => F3(|a, b, c| sum(a, b, c, [true, true])),
        (true, false, false) => F3(|a, b, c| sum(a, b >> 16, c, [false, false])),
        (true, false, true) => F3(|a, b, c| sum(a, b >> 16, c, [false, true])),
        (true, true, false) => F3(|a, b, c| sum(a, b >> 16, c, [true, false])),
        (true, true, true) => F3(|a, b, c| sum(a, b >> 16, c, [true, true])),
    }
}

/// `vabsdiff4`: the absolute differences of the four bytes of a and b; with `.add`, c + their sum.
pub(crate) fn differences(a: Type, b: Type, add: bool) -> Function {
    fn each(a: u64, b: u64, signed: [bool; 2]) -> [u64; 4] {
        std::array::from_fn(|i| {
            part(a, 8, i as u32, signed[0]).abs_diff(part(b, 8, i as u32, signed[1]))
        })
    }
    fn packed(bytes: [u64; 4]) -> u64 {
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | byte & 0xff)
    }
    fn sum(bytes: [u64; 4], c: u64) -> u64 {
        u64::from((bytes.iter().sum::<u64>() + c) as u32)
    }
    match (a == Type::S32, b == Type::S32, add) {
        (false, false, false) => F3(|a, b, _| packed(each(a, b, [false, false]))),
        (false, true, false) => F3(|a, b, _| packed(each(a, b, [false, true]))),
        (true, false, false) => F3(|a, b, _| packed(each(a, b, [true, false]))),
        (true, true, false) => F3(|a, b, _| packed(each(a, b, [true, true]))),
        (false, false, true) => F3(|a, b, c| sum(each(a, b, [false, false]), c)),
        (false, true, true) => F3(|a, b, c| sum(each(a, b, [false, true]), c)),
        (true, false, true) => F3(|a, b, c| sum(each(a, b, [true, false]), c)),
        (true, true, true) => F3(|a, b, c| sum(each(a, b, [true, true]), c)),
    }
}

/// Part `i` of a register that holds integers of this width.
fn part(register: u64, bits: u32, i: u32, signed: bool) -> i64 {
    let value = register >> (bits * i) & ((1 << bits) - 1);
    let shift = 64 - bits;
    match signed {
        true => (value << shift) as i64 >> shift,
        false => value as i64,
    }
}

/// The sum, least or greatest of packed 16-bit integers; with `relu`, at least 0.
pub(crate) fn of_halves(
    opcode: cute_ptx::table::Opcode,
    ty: Modifier,
    relu: bool,
) -> Option<Function> {
    use cute_ptx::table::Opcode;
    fn both(a: u64, b: u64, signed: bool, f: fn(i64, i64) -> i64) -> u64 {
        let half = |i| (f(part(a, 16, i, signed), part(b, 16, i, signed)) & 0xffff) as u64;
        half(1) << 16 | half(0)
    }
    Some(match (opcode, ty, relu) {
        (Opcode::Add, _, false) => F2(|a, b| both(a, b, false, |a, b| a + b)),
        (Opcode::Min, Modifier::U16x2, false) => F2(|a, b| both(a, b, false, i64::min)),
        (Opcode::Max, Modifier::U16x2, false) => F2(|a, b| both(a, b, false, i64::max)),
        (Opcode::Min, _, false) => F2(|a, b| both(a, b, true, i64::min)),
        (Opcode::Max, _, false) => F2(|a, b| both(a, b, true, i64::max)),
        (Opcode::Min, _, true) => F2(|a, b| both(a, b, true, |a, b| a.min(b).max(0))),
        (Opcode::Max, _, true) => F2(|a, b| both(a, b, true, |a, b| a.max(b).max(0))),
        _ => return None,
    })
}

/// `mul24`: the low or the high 32 of the 48 bits of the product of the low 24 bits.
pub(crate) fn product_of_24(a: u64, b: u64, signed: bool, high: bool) -> u64 {
    let of = |register: u64| part(register & 0xff_ffff, 24, 0, signed);
    let product = of(a) * of(b);
    u64::from(if high { product >> 16 } else { product } as u32)
}

/// `fns`: the position of the `offset`-th set bit of the mask, upwards from `base`, or downwards if `offset` is negative. Offset 0
/// tests the bit at `base` itself. All ones if there is none.
pub(crate) fn find_set(mask: u64, base: u64, offset: u64) -> u64 {
    let (base, offset) = (i64::from(base as u32), i64::from(offset as i32));
    let is_set = |at: &i64| (0..32).contains(at) && mask >> at & 1 == 1;
    let found = match offset {
        0 => Some(base).filter(is_set),
        1.. => (base..32).filter(is_set).nth(offset as usize - 1),
        _ => (0..=base.min(31))
            .rev()
            .filter(is_set)
            .nth(-offset as usize - 1),
    };
    found.map_or(u64::from(u32::MAX), |at| at as u64)
}

/// `bmsk`: `len` ones from bit `position` on. A position or length from 32 on counts as 32, or modulo 32 with `wrap`.
pub(crate) fn ones(position: u64, len: u64, wrap: bool) -> u64 {
    let held = |value: u64| match wrap {
        true => value & 31,
        false => u64::from(value as u32).min(32),
    };
    u64::from((((1_u64 << held(len)) - 1) << held(position)) as u32)
}

/// `szext`: the low `bits` bits, extended by zeros or by the highest of these bits.
pub(crate) fn extended(a: u64, bits: u64, signed: bool, wrap: bool) -> u64 {
    let a = a as u32;
    let len = match (bits as u32, wrap) {
        (32.., false) => return u64::from(a),
        (bits, _) => bits & 31,
    };
    let Some(shift) = 32_u32.checked_sub(len).filter(|shift| *shift < 32) else {
        return 0;
    };
    u64::from(match signed {
        true => ((a << shift) as i32 >> shift) as u32,
        false => a << shift >> shift,
    })
}
