//! The bits of a register that may be set. With them, a `%` of a number that is always small and a carry between disjoint bits cost no
//! instruction.

use crate::kernel::emit::operation::Op;

/// Known properties of the right operand of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Right {
    /// The operand itself.
    Known(u64),
    /// The bits that may be set in it. It is not 0.
    Positive(u64),
    /// The bits that may be set in it.
    Any(u64),
}

/// The bits that may be set in `a op b` for unsigned integers of `width` bits, given the possible bits of a.
pub fn possible(op: Op, a: u64, right: Right, width: u32) -> u64 {
    let all = u64::MAX >> (64 - width);
    let (b, exact, divides) = match right {
        Right::Known(b) => (b, true, b != 0),
        Right::Positive(b) => (b, false, true),
        Right::Any(b) => (b, false, false),
    };
    let multiple = !below(a.trailing_zeros().min(b.trailing_zeros()));
    let power = (exact && b.is_power_of_two()).then(|| b.trailing_zeros());
    let bits = match op {
        Op::Mul if let Some(power) = power => a << power,
        Op::Div if let Some(power) = power => a >> power,
        Op::Rem if power.is_some() => a & (b - 1),
        Op::And => a & b,
        Op::Or | Op::Xor | Op::Max => a | b,
        Op::Add if a & b == 0 => a | b,
        Op::Add => a.checked_add(b).map_or(all, up_to) & multiple,
        Op::Sub => multiple,
        Op::Mul => {
            a.checked_mul(b).map_or(all, up_to)
                & !below(a.trailing_zeros().saturating_add(b.trailing_zeros()))
        }
        Op::Div if exact && divides => up_to(a / b),
        Op::Div if divides => up_to(a),
        Op::Rem if exact && divides => up_to(a).min(up_to(b - 1)) & multiple,
        Op::Rem if divides => up_to(a).min(up_to(b)) & multiple,
        // A division by 0 gives any number.
        Op::Div | Op::Rem => all,
        Op::Shl if exact => u32::try_from(b)
            .ok()
            .and_then(|b| a.checked_shl(b))
            .unwrap_or(0),
        Op::Shl => !below(a.trailing_zeros()),
        Op::Shr if exact => u32::try_from(b)
            .ok()
            .and_then(|b| a.checked_shr(b))
            .unwrap_or(0),
        Op::Shr => up_to(a),
        Op::Min => up_to(a).min(up_to(b)) & multiple,
    };
    bits & all
}

/// A mask of the lowest `count` bits.
fn below(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// The bits that may be set in a number of at most `limit`.
pub fn up_to(limit: u64) -> u64 {
    below(64 - limit.leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [Op; 12] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::Min,
        Op::Max,
    ];

    fn evaluate(op: Op, a: u64, b: u64) -> Option<u64> {
        let shift = u32::try_from(b).unwrap();
        Some(
            match op {
                Op::Add => a.wrapping_add(b),
                Op::Sub => a.wrapping_sub(b),
                Op::Mul => a.wrapping_mul(b),
                // A division by 0 gives any number.
                Op::Div => a.checked_div(b).unwrap_or(0xff),
                Op::Rem => a.checked_rem(b).unwrap_or(0xff),
                Op::And => a & b,
                Op::Or => a | b,
                Op::Xor => a ^ b,
                Op::Shl => a.checked_shl(shift)?,
                Op::Shr => a.checked_shr(shift)?,
                Op::Min => a.min(b),
                Op::Max => a.max(b),
            } & 0xff,
        )
    }

    fn subsets(mask: u64) -> impl Iterator<Item = u64> {
        (0..=mask).filter(move |value| value & !mask == 0)
    }

    #[test]
    fn no_operation_sets_a_bit_that_is_called_clear() {
        let masks = [0, 1, 3, 4, 7, 8, 12, 0b10100, 0x1f, 0x38, 0x70, 0x80, 0xff];
        for op in OPS {
            for a in masks {
                for b in masks {
                    for (x, y) in subsets(a).flat_map(|x| subsets(b).map(move |y| (x, y))) {
                        let Some(result) = evaluate(op, x, y) else {
                            continue;
                        };
                        let known = possible(op, a, Right::Known(y), 8);
                        assert_eq!(
                            result & !known,
                            0,
                            "{x} of {a:#b} {op:?} {y}: {result:#b} outside {known:#b}"
                        );
                        let positive = (y != 0).then_some(Right::Positive(b));
                        for right in positive.into_iter().chain([Right::Any(b)]) {
                            let unknown = possible(op, a, right, 8);
                            assert_eq!(
                                result & !unknown,
                                0,
                                "{x} of {a:#b} {op:?} {y} of {right:?}: {result:#b} outside {unknown:#b}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_addressing_relies_on() {
        assert_eq!(possible(Op::And, u64::MAX, Right::Known(7), 32), 7);
        assert_eq!(
            possible(Op::Shl, 0xffff_ffff, Right::Known(13), 32),
            0xffff_e000
        );
        assert_eq!(
            possible(Op::Mul, 0xffff_ffff, Right::Known(192), 32),
            0xffff_ffc0
        );
        assert_eq!(possible(Op::Add, 0x38, Right::Any(0x7), 32), 0x3f);
        assert_eq!(possible(Op::Rem, 0xffff_ffff, Right::Known(4), 32), 3);
    }
}
