//! Differences of the results of an instruction between threads, from the differences of its operands.
//!
//! Integers are followed bit by bit, so `thread() / 32`, `thread() & !31`, `thread() - 128 < 64` and the like are known to be the same in
//! all lanes of a warp. For other values, all bits may differ if a bit of an operand may.

use super::group::{Group, Members, members};
use super::varies::{Cause, Varies};
use crate::kernel::emit::operation::Cmp;
use crate::kernel::ir::{Inst, Operand, Register};
use cute_chip::threads::WARP;
use cute_ptx::ast::Type;
use cute_ptx::special;
use cute_ptx::table::{Modifier, Opcode, Results};

/// Known properties of the registers that an instruction reads.
pub(super) trait Known {
    /// The differences of a register between threads.
    fn varies(&self, register: Register) -> Varies;
    /// The bits of a register that may be set.
    fn possible(&self, register: Register) -> u64;
    /// Threads of a CTA.
    fn threads(&self) -> u32;
    /// CTAs of a cluster.
    fn cluster(&self) -> [u32; 3];
}

/// The differences of an instruction's results between the threads that execute it.
pub(super) fn result(inst: &Inst, known: &impl Known) -> Varies {
    let sources: Vec<Source> = inst
        .operands
        .iter()
        .enumerate()
        .filter(|(at, _)| !inst.mnemonic.writes(*at))
        .map(|(_, operand)| Source::of(operand, known))
        .collect();
    let all = || {
        let mut all = Varies::NOT;
        sources.iter().for_each(|it| _ = all.join(&it.varies));
        all.spread()
    };
    let mnemonic = inst.mnemonic;
    let words = WORDS
        .iter()
        .find(|(opcode, _)| *opcode == mnemonic.opcode());
    let words = words.map(|(_, words)| Cause::Of(words));
    let own = words.unwrap_or(Cause::Result(mnemonic));
    match (mnemonic.results(), members(inst, known.threads())) {
        (Results::Computed, _) => computed(inst, &sources).unwrap_or_else(all),
        (Results::Gathered | Results::Shuffled, Some(Members::Listed(_))) => {
            Varies::by_lane("lanes of a mask")
        }
        (Results::Gathered, Some(Members::All(group))) => {
            let gathered = all().gathered(group);
            words.map_or(gathered, |words| gathered.because(words))
        }
        (Results::Shuffled, _) => shuffled(inst, &sources),
        // All lanes ask at once; warps do not.
        (Results::Polled, _) => {
            let mut result = Varies::in_group(Group::Warpgroup, own);
            result.join(&all());
            result
        }
        (Results::Loaded, _) => match all() {
            _ if mnemonic.get("space") == Some(Modifier::Local) => {
                Varies::by_lane("memory of the thread")
            }
            loaded if loaded.is_in(Group::Cluster) => {
                loaded.because("data that is loaded from different addresses")
            }
            loaded => loaded,
        },
        (Results::Gathered | Results::Own, _) => Varies::by_lane(own),
    }
}

/// What messages call the results of some instructions. The others have the name of the instruction.
const WORDS: [(Opcode, &str); 9] = [
    (Opcode::Elect, "`elect()`"),
    (Opcode::Activemask, "`activemask()`"),
    (Opcode::MatchAny, "`match_any`"),
    (Opcode::BarRed, "the result of a barrier"),
    (Opcode::BarrierRed, "the result of a barrier"),
    (Opcode::MbarrierTestWait, "the state of an mbarrier"),
    (Opcode::MbarrierTryWait, "the state of an mbarrier"),
    (Opcode::Ld, "data that other threads change meanwhile"),
    (Opcode::Atom, "the result of an atomic operation"),
];

/// An operand that is read.
struct Source {
    varies: Varies,
    possible: u64,
    constant: Option<u64>,
}

impl Source {
    fn of(operand: &Operand, known: &impl Known) -> Self {
        let mut varies = Varies::NOT;
        operand.for_each_register(&mut |register| _ = varies.join(&known.varies(register)));
        if let Operand::Symbol(name) = operand
            && let Some((found, axis)) = special::lookup(name)
        {
            let (threads, cluster) = (known.threads(), known.cluster());
            varies.join(&Varies::special(found.register, axis, threads, cluster));
        }
        let constant = match operand {
            // The bits of a negative number.
            Operand::Int(number) => Some(*number as u64),
            _ => None,
        };
        let possible = match operand {
            Operand::Register(register) => known.possible(*register),
            _ => constant.unwrap_or(u64::MAX),
        };
        Self {
            varies,
            possible,
            constant,
        }
    }
}

/// The result of an operation on integers; `None` if all of its bits may differ as soon as a bit of an operand may.
fn computed(inst: &Inst, sources: &[Source]) -> Option<Varies> {
    let mnemonic = inst.mnemonic;
    let opcode = mnemonic.opcode();
    let is_saturated = mnemonic.has(Modifier::Sat) || mnemonic.has(Modifier::Relu);
    let ty = mnemonic.ty("t").or(mnemonic.ty("d"));
    let signed = ty.is_some_and(is_signed);
    let [a, rest @ ..] = sources else {
        return None;
    };
    let b = rest.first();
    let both = |bits: &dyn Fn(u64, u64) -> u64| Some(a.varies.with(&b?.varies, bits));
    let is_vector = inst
        .operands
        .iter()
        .any(|it| matches!(it, Operand::Vector(_)));
    match opcode {
        Opcode::Mov | Opcode::Cvta | Opcode::CvtaTo if !is_vector => return Some(a.varies),
        Opcode::Selp => return Some(chosen(a, b?, &rest.get(1)?.varies)),
        _ if is_saturated || !ty.is_some_and(is_integer) => return None,
        _ => {}
    }
    match opcode {
        Opcode::Cvt => {
            let (from, to) = (mnemonic.ty("s")?, mnemonic.ty("d")?);
            is_integer(from).then(|| converted(&a.varies, from, to))
        }
        Opcode::Not => Some(a.varies),
        Opcode::And => {
            let possible = a.possible & b?.possible;
            both(&|a, b| (a | b) & possible)
        }
        Opcode::Or | Opcode::Xor => both(&|a, b| a | b),
        Opcode::Shl => {
            let (amount, all) = (b?.constant?, below(ty?.bits()));
            let shift = |bits: u64, by| bits.checked_shl(by).map(|bits| bits & all);
            Some(a.varies.map(|bits| shifted(bits, amount, shift)))
        }
        Opcode::Shr if !signed => {
            let amount = b?.constant?;
            Some(
                a.varies
                    .map(|bits| shifted(bits, amount, |bits, by| bits.checked_shr(by))),
            )
        }
        Opcode::Add => {
            let carries = carries(a.possible & b?.possible);
            both(&|a, b| carries(a | b))
        }
        Opcode::Sub => {
            // Bits that are set need no borrow.
            let carries = carries(b?.possible & !a.constant.unwrap_or(0));
            both(&|a, b| carries(a | b))
        }
        Opcode::Mul if mnemonic.get("part") != Some(Modifier::Hi) => both(&product(a, b?)),
        Opcode::Mad if mnemonic.get("part") != Some(Modifier::Hi) => {
            let product = both(&product(a, b?))?;
            Some(product.with(&rest.get(1)?.varies, |a, b| up(a | b)))
        }
        Opcode::Div | Opcode::Rem if !signed => {
            let by = b?.constant.filter(|by| *by != 0)?;
            let low = below(by.trailing_zeros());
            Some(a.varies.map(|bits| match (opcode, bits & !low) {
                (Opcode::Div, 0) => 0,
                (Opcode::Div, _) => u64::MAX,
                (_, 0) => bits,
                (_, _) => bits | !low,
            }))
        }
        Opcode::Min | Opcode::Max => {
            let less = compared(Cmp::Lt.modifier().into(), ty?, a, b?);
            Some(chosen(a, b?, &less))
        }
        Opcode::Setp => {
            let compared = compared(mnemonic.get("cmp")?, ty?, a, b?);
            Some(match rest.get(1) {
                Some(other) => compared.with(&other.varies, |a, b| a | b),
                None => compared,
            })
        }
        _ => None,
    }
}

/// One of two values, by a truth value.
fn chosen(a: &Source, b: &Source, chooses: &Varies) -> Varies {
    let differ = match (a.constant, b.constant) {
        (Some(a), Some(b)) => a ^ b,
        _ => a.possible | b.possible,
    };
    let chosen = chooses.spread().map(|bits| bits & differ);
    let values = a.varies.with(&b.varies, |a, b| a | b);
    values.with(&chosen, |a, b| a | b)
}

fn is_integer(ty: Type) -> bool {
    use Type::*;
    is_signed(ty) || matches!(ty, Pred | B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64)
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// A mask of the lowest bits.
fn below(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// These bits and all above the lowest of them.
fn up(bits: u64) -> u64 {
    match bits {
        0 => 0,
        bits => !below(bits.trailing_zeros()),
    }
}

fn shifted(bits: u64, amount: u64, shift: impl Fn(u64, u32) -> Option<u64>) -> u64 {
    u32::try_from(amount)
        .ok()
        .and_then(|amount| shift(bits, amount))
        .unwrap_or(0)
}

/// The bits of a sum that may differ, from those of its operands, if carries begin only at these bits.
fn carries(from: u64) -> impl Fn(u64) -> u64 {
    let low = below(from.trailing_zeros());
    move |bits| bits & low | up(bits & !low)
}

fn product(a: &Source, b: &Source) -> impl Fn(u64, u64) -> u64 + use<> {
    // A bit of a factor is moved up by the zeros below the other one.
    let zeros = [b.possible, a.possible].map(|possible| possible.trailing_zeros());
    move |a, b| {
        let moved = |bits: u64, by: u32| bits.checked_shl(by).map_or(0, up);
        moved(up(a), zeros[0]) | moved(up(b), zeros[1])
    }
}

/// A converted integer: the bits that stay, and copies of its sign.
fn converted(varies: &Varies, from: Type, to: Type) -> Varies {
    let (width, kept) = (below(from.bits()), below(to.bits()));
    let sign = 1 << (from.bits() - 1);
    varies.map(|bits| {
        let copies = match is_signed(from) && bits & sign != 0 {
            true => !width,
            false => 0,
        };
        (bits & width | copies) & kept
    })
}

/// The result of a comparison. If the bound is a multiple of a power of two, lower bits of the other number do not matter.
fn compared(cmp: Modifier, ty: Type, a: &Source, b: &Source) -> Varies {
    let cmp = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]
        .into_iter()
        .find(|it| Modifier::from(it.modifier()) == cmp);
    let zeros = |source: &Source, more: u64| match source.constant {
        Some(constant) => constant.wrapping_add(more).trailing_zeros(),
        None if more == 0 => source.possible.trailing_zeros(),
        None => 0,
    };
    let zeros = match cmp {
        // `a < b`, and `b <= a`.
        Some(Cmp::Lt | Cmp::Ge) => zeros(b, 0).max(zeros(a, 1)),
        Some(Cmp::Le | Cmp::Gt) => zeros(a, 0).max(zeros(b, 1)),
        _ => 0,
    };
    // The sign decides in any case.
    let least = if is_signed(ty) { ty.bits() - 1 } else { 64 };
    let high = !below(zeros.min(least));
    a.varies
        .with(&b.varies, |a, b| u64::from((a | b) & high != 0))
        .spread()
}

/// A value of another lane.
fn shuffled(inst: &Inst, sources: &[Source]) -> Varies {
    let [value, lane, segments, ..] = sources else {
        return Varies::by_lane("a shuffle");
    };
    // The second result tells whether the lane exists.
    if matches!(inst.operands.first(), Some(Operand::Pair(..))) {
        return Varies::by_lane("a shuffle");
    }
    let lanes = WARP as u64 - 1;
    // Lanes that differ in the other bits are in different segments.
    let segment = segments.constant.filter(|it| it & lanes == lanes);
    let segment = segment.map(|it| (lanes & !(it >> 8)) as u8);
    let mode = inst.mnemonic.get("mode");
    let mut result = match (mode, segment) {
        (Some(Modifier::Idx), Some(segment)) if !lane.varies.is_in(Group::Warp) => {
            value.varies.without_lanes(segment)
        }
        (Some(Modifier::Bfly), Some(_)) if !lane.varies.is_in(Group::Warp) => value.varies,
        _ => value.varies.in_all_lanes(),
    };
    // The source lane may differ between warps.
    if value.varies.is_in(Group::Warp) {
        result.join(&lane.varies.spread());
    }
    result
}

/// For a butterfly shuffle: the flipped bits of the lane number, the source register and the destination register.
pub(super) fn butterfly(inst: &Inst) -> Option<(u8, Register, Register)> {
    let mnemonic = inst.mnemonic;
    let [
        Operand::Register(to),
        Operand::Register(from),
        Operand::Int(mask),
        Operand::Int(segments),
        _,
    ] = &inst.operands[..]
    else {
        return None;
    };
    let is_butterfly =
        mnemonic.opcode() == Opcode::Shfl && mnemonic.get("mode") == Some(Modifier::Bfly);
    let lanes = i128::from(WARP) - 1;
    let exchanges = mask & lanes == *mask && segments & lanes == lanes && segments >> 8 & mask == 0;
    let is_bit = u8::try_from(*mask).is_ok_and(u8::is_power_of_two);
    (is_butterfly && exchanges && is_bit && inst.guard.is_none()).then_some((
        *mask as u8,
        *from,
        *to,
    ))
}

/// The two registers of a commutative operation.
pub(super) fn joined(inst: &Inst) -> Option<(Register, Register)> {
    use Opcode::*;
    let commutes = matches!(
        inst.mnemonic.opcode(),
        Add | Mul | Min | Max | And | Or | Xor
    );
    match &inst.operands[..] {
        [_, Operand::Register(a), Operand::Register(b)] if commutes && inst.guard.is_none() => {
            Some((*a, *b))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_ptx::table::{Mnemonic, Modifier, op};

    /// Threads of the CTA in which programs run: two warpgroups.
    const THREADS: u32 = 256;

    /// The values of threads in a register, and the bits that may differ.
    struct Row {
        values: Vec<u32>,
        varies: Varies,
    }

    struct Registers(Vec<Row>);

    impl Registers {
        fn of(&self, register: Register) -> &Row {
            &self.0[register.index()]
        }
    }

    impl Known for Registers {
        fn varies(&self, register: Register) -> Varies {
            self.of(register).varies
        }

        fn possible(&self, register: Register) -> u64 {
            let values = self.of(register).values.iter();
            values.fold(0, |all, value| all | u64::from(*value))
        }

        fn threads(&self) -> u32 {
            THREADS
        }

        fn cluster(&self) -> [u32; 3] {
            [1, 1, 1]
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// Constants that change the decision of a rule.
    const CONSTANTS: [u32; 18] = [
        0,
        1,
        2,
        3,
        7,
        16,
        31,
        32,
        33,
        63,
        64,
        96,
        128,
        160,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffe0,
        0xffff_ffff,
    ];

    const OPERATIONS: &[(Opcode, &[Modifier])] = {
        use Modifier::{Lo, Type as Of};
        &[
            (Opcode::Add, &[Of(Type::U32)]),
            (Opcode::Add, &[Of(Type::S32)]),
            (Opcode::Sub, &[Of(Type::U32)]),
            (Opcode::Mul, &[Lo, Of(Type::U32)]),
            (Opcode::Div, &[Of(Type::U32)]),
            (Opcode::Rem, &[Of(Type::U32)]),
            (Opcode::Div, &[Of(Type::S32)]),
            (Opcode::Min, &[Of(Type::U32)]),
            (Opcode::Max, &[Of(Type::S32)]),
            (Opcode::And, &[Of(Type::B32)]),
            (Opcode::Or, &[Of(Type::B32)]),
            (Opcode::Xor, &[Of(Type::B32)]),
            (Opcode::Shl, &[Of(Type::B32)]),
            (Opcode::Shr, &[Of(Type::U32)]),
            (Opcode::Shr, &[Of(Type::S32)]),
            (Opcode::Shfl, &[Modifier::Idx]),
            (Opcode::Shfl, &[Modifier::Bfly]),
            (Opcode::Shfl, &[Modifier::Up]),
            (Opcode::Redux, &[Modifier::Add, Of(Type::U32)]),
        ]
    };

    const COMPARISONS: [Modifier; 6] = {
        use Modifier::*;
        [Eq, Ne, Lt, Le, Gt, Ge]
    };

    /// The result of an operation in each thread.
    fn evaluate(opcode: Opcode, modifiers: &[Modifier], a: &[u32], b: &[u32]) -> Option<Vec<u32>> {
        let signed = modifiers.contains(&Type::S32.into());
        let lanes = |thread: usize, lane: usize| thread / 32 * 32 + lane;
        let value = |thread: usize| {
            let (x, y) = (a[thread], b[thread]);
            let (s, t) = (x as i32, y as i32);
            Some(match opcode {
                Opcode::Add => x.wrapping_add(y),
                Opcode::Sub => x.wrapping_sub(y),
                Opcode::Mul => x.wrapping_mul(y),
                Opcode::Div if signed => s.checked_div(t)? as u32,
                Opcode::Div => x.checked_div(y)?,
                Opcode::Rem => x.checked_rem(y)?,
                Opcode::Min => x.min(y),
                Opcode::Max => s.max(t) as u32,
                Opcode::And => x & y,
                Opcode::Or => x | y,
                Opcode::Xor => x ^ y,
                Opcode::Shl => x.checked_shl(y).unwrap_or(0),
                Opcode::Shr if signed => (s >> y.min(31)) as u32,
                Opcode::Shr => x.checked_shr(y).unwrap_or(0),
                Opcode::Shfl if modifiers[0] == Modifier::Idx => a[lanes(thread, y as usize % 32)],
                Opcode::Shfl if modifiers[0] == Modifier::Bfly => a[thread ^ (y as usize % 32)],
                Opcode::Shfl => {
                    let lane = (thread % 32).checked_sub(y as usize % 32);
                    a[lanes(thread, lane.unwrap_or(thread % 32))]
                }
                Opcode::Redux => {
                    let all = &a[lanes(thread, 0)..][..32];
                    all.iter().fold(0_u32, |sum, it| sum.wrapping_add(*it))
                }
                _ => return None,
            })
        };
        (0..a.len()).map(value).collect()
    }

    fn compare(cmp: Modifier, signed: bool, a: u32, b: u32) -> bool {
        let found = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]
            .into_iter()
            .find(|it| Modifier::from(it.modifier()) == cmp);
        let cmp = found.expect("a comparison");
        match signed {
            true => cmp.holds(&(a as i32), &(b as i32)),
            false => cmp.holds(&a, &b),
        }
    }

    /// Whether two threads of a group have another value, in these bits.
    fn differ(values: &[u32], size: usize) -> u32 {
        let groups = values.chunks(size);
        let differ = |group: &[u32]| group.iter().fold(0, |bits, it| bits | (it ^ group[0]));
        groups.map(differ).fold(0, |a, b| a | b)
    }

    /// A next register of a random program.
    fn next(random: &mut Random, registers: &Registers) -> Option<(Inst, Vec<u32>)> {
        let count = registers.0.len();
        let operand = |random: &mut Random| match random.below(3) {
            0 => {
                let constant = CONSTANTS[random.below(CONSTANTS.len())];
                (
                    Operand::Int(constant.into()),
                    vec![constant; THREADS as usize],
                )
            }
            _ => {
                let index = random.below(count);
                (
                    Operand::Register(Register::at(index)),
                    registers.0[index].values.clone(),
                )
            }
        };
        let ((a, x), (b, y)) = (operand(random), operand(random));
        let d = Operand::Register(Register::at(count));
        if random.below(4) == 0 {
            let cmp = COMPARISONS[random.below(6)];
            let ty = [Type::U32, Type::S32][random.below(2)];
            let holds = x.iter().zip(&y);
            let holds = holds.map(|(x, y)| compare(cmp, ty == Type::S32, *x, *y).into());
            let mnemonic =
                Mnemonic::from_modifiers(Opcode::Setp, &[cmp, ty.into()]).expect("a comparison");
            return Some((Inst::new(mnemonic, [d, a, b]), holds.collect()));
        }
        if random.below(6) == 0 {
            let (p, chooses) = operand(random);
            let Operand::Register(_) = p else { return None };
            let chosen = chooses.iter().enumerate();
            let chosen = chosen.map(|(i, p)| if *p != 0 { x[i] } else { y[i] });
            // The predicate is a register with 0 or 1 here.
            if chooses.iter().any(|it| *it > 1) {
                return None;
            }
            let mnemonic = Mnemonic::new(op::Selp, Type::U32).expect("a selection");
            return Some((Inst::new(mnemonic, [d, a, b, p]), chosen.collect()));
        }
        let (opcode, modifiers) = OPERATIONS[random.below(OPERATIONS.len())];
        let values = evaluate(opcode, modifiers, &x, &y)?;
        let mnemonic = Mnemonic::from_modifiers(opcode, modifiers).expect("an operation");
        let members = Operand::Int(u32::MAX.into());
        let operands = match opcode {
            Opcode::Shfl => {
                let clamp = if modifiers[0] == Modifier::Up { 0 } else { 31 };
                // The rules take lanes beyond the warp modulo its size here; the instruction does not.
                if y.iter().any(|it| *it > 31) {
                    return None;
                }
                vec![d, a, b, Operand::Int(clamp), members]
            }
            Opcode::Redux => vec![d, a, members],
            _ => vec![d, a, b],
        };
        Some((Inst::new(mnemonic, operands), values))
    }

    /// For all operands, threads differ only in the bits given by the rules.
    #[test]
    fn threads_differ_where_the_rules_say() {
        let mut random = Random(1);
        let (mut same, mut total) = (0, 0);
        for program in 0..3000 {
            let random_value = |random: &mut Random, mask: u32| random.below(1 << 31) as u32 & mask;
            let uniform = random_value(&mut random, [u32::MAX, 127, !31][program % 3]);
            let warps: Vec<u32> = (0..8).map(|_| random_value(&mut random, 0xff)).collect();
            let lanes: Vec<u32> = (0..THREADS).map(|_| random_value(&mut random, 3)).collect();
            let tid = Varies::special(special::Register::Tid, 0, THREADS, [1, 1, 1]);
            let threads = THREADS as usize;
            let mut registers = Registers(vec![
                Row {
                    values: (0..THREADS).collect(),
                    varies: tid,
                },
                Row {
                    values: vec![uniform; threads],
                    varies: Varies::NOT,
                },
                Row {
                    values: (0..threads).map(|it| warps[it / 32]).collect(),
                    varies: Varies::in_group(Group::Warpgroup, "a warp"),
                },
                Row {
                    values: lanes,
                    varies: Varies::by_lane("a lane"),
                },
            ]);
            for _ in 0..12 {
                let Some((inst, values)) = next(&mut random, &registers) else {
                    continue;
                };
                let varies = result(&inst, &registers);
                for (group, size) in [
                    (Group::Warp, 32),
                    (Group::Warpgroup, 128),
                    (Group::Cta, 256),
                ] {
                    let found = differ(&values, size);
                    let said = varies.bits_in(group) as u32;
                    assert_eq!(
                        found & !said,
                        0,
                        "{inst:?} in {group:?}: {found:#x} in {said:#x}"
                    );
                    same += usize::from(said == 0 && found == 0);
                    total += usize::from(found == 0);
                }
                registers.0.push(Row { values, varies });
            }
        }
        println!("{same} of {total} that are the same are known to be");
        assert!(2 * same > total);
    }
}
