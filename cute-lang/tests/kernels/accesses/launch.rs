//! Launches of a case, and what they should do.

use super::case::{Access, Case, Extent, Held};
use super::part::{Modes, Number, Part};
use crate::random::Random;
use cute_emulator::{Extents, GlobalMemory, Launch, Program};
use cute_lang::kernel::emit::param::ParamKind;
use cute_lang::kernel::lower::Lowered;

/// Elements of memory before and after a tensor that are not its own.
const AROUND: usize = 64;

/// A kernel that is ready to run.
pub(super) struct Prepared<'c> {
    case: &'c Case,
    lowered: &'c Lowered,
    program: Program,
}

/// A tensor in memory.
struct Array {
    width: usize,
    /// The index of its first element.
    first: usize,
    extents: Vec<i128>,
    strides: Vec<i128>,
    /// All elements of the memory.
    data: Vec<u64>,
}

impl Array {
    fn index(&self, coordinate: &[i128]) -> usize {
        let pairs = coordinate.iter().zip(&self.strides);
        let sum: i128 = pairs.map(|(c, stride)| c * stride).sum();
        self.first + sum as usize
    }

    fn bytes(&self) -> Vec<u8> {
        let bytes = |value: &u64| value.to_le_bytes()[..self.width].to_vec();
        self.data.iter().flat_map(bytes).collect()
    }
}

impl<'c> Prepared<'c> {
    pub(super) fn new(case: &'c Case, lowered: &'c Lowered) -> Self {
        let text = lowered.module.to_string();
        let program = Program::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Self {
            case,
            lowered,
            program,
        }
    }

    /// Runs it with random extents and integers. True if it has ended by a check, as it should.
    pub(super) fn launch(&self, random: &mut Random) -> Result<bool, String> {
        let case = self.case;
        let mut values: Vec<i128> = case
            .args
            .iter()
            .map(|arg| value(random, arg.ty, &arg.near))
            .collect();
        let mut extents = Vec::new();
        for extent in &case.extents {
            let free = 1 + random.below(24) as i128;
            extents.push(match *extent {
                Extent::Free => free,
                Extent::Multiple(by) => by * (1 + random.below(3) as i128),
                Extent::Fixed(size) => size,
                Extent::Arg(index) => {
                    values[index] = free;
                    free
                }
                Extent::Large => (1 << 31) - random.below(3) as i128,
            });
        }
        let shown = format!("extents {extents:?}, arguments {values:?}");
        let x = self.tensor(random, &extents);
        let other: Vec<i128> = case.other().iter().map(|extent| (*extent).into()).collect();
        let z = compact(random, case.element.width, &other);
        let expected = self.expected(&x, &z, &values);
        let (error, found) = self.run(&x, &z, &values)?;
        match (expected, error) {
            (None, Some(error)) if error.contains("trap") => Ok(true),
            (None, Some(error)) => Err(format!("{shown}: {error}")),
            (None, None) => Err(format!("{shown}: an access outside is not told")),
            (Some(_), Some(error)) => Err(format!("{shown}: {error}")),
            (Some(expected), None) if expected == found => Ok(false),
            (Some(expected), None) => {
                let mut why = format!("{shown}: found and expected");
                for (name, (found, expected)) in ["x", "z"].iter().zip(found.iter().zip(&expected))
                {
                    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                        if found != expected {
                            why += &format!("\n{name} at {at}: {found:#x} {expected:#x}");
                        }
                    }
                }
                Err(why)
            }
        }
    }

    /// The tensor, at a random place between elements that are not its own.
    fn tensor(&self, random: &mut Random, extents: &[i128]) -> Array {
        let width = self.case.element.width;
        let lanes = 16 / width;
        let mut strides = vec![1; extents.len()];
        let mut next = 1;
        for mode in (0..extents.len()).rev() {
            strides[mode] = match self.case.extents[mode] {
                Extent::Large => 0,
                _ => next,
            };
            if mode + 1 == extents.len() || strides[mode] != 0 {
                next = strides[mode].max(next) * if strides[mode] == 0 { 1 } else { extents[mode] };
            }
            next += random.below(4) as i128;
            if self.case.is_aligned {
                next = (next + lanes as i128 - 1) / lanes as i128 * lanes as i128;
            }
        }
        let first = match self.case.is_aligned {
            true => AROUND,
            false => AROUND + random.below(lanes),
        };
        let last: i128 = extents
            .iter()
            .zip(&strides)
            .map(|(extent, stride)| (extent - 1) * stride)
            .sum();
        Array {
            width,
            first,
            extents: extents.into(),
            strides,
            data: data(random, width, first + last as usize + 1 + AROUND),
        }
    }

    /// The memory of both tensors afterwards; none if the kernel should end by a check.
    fn expected(&self, x: &Array, z: &Array, values: &[i128]) -> Option<[Vec<u64>; 2]> {
        let case = self.case;
        let mut after = [x.data.clone(), z.data.clone()];
        for thread in 0..case.threads {
            let value = |number: &Number| match number {
                Number::Known(known) => *known,
                Number::Arg(index) => values[*index],
                Number::Rem(index, by) => values[*index] % by,
                Number::Thread => thread.into(),
            };
            let mut part = Part::whole(&x.extents);
            for op in &case.ops {
                part = part.apply(op, &value).expect("a part");
            }
            match &part.modes {
                Modes::Whole(_) if case.access == Access::Loops => {
                    for index in 0..case.sizes.iter().product::<i64>() {
                        let place = digits(index, &case.sizes);
                        let in_loops = place.iter().enumerate();
                        let mut in_loops = in_loops.map(|(mode, at)| *at < part.extent(mode));
                        if in_loops.all(|it| it) {
                            after[1][z.index(&place)] = x.data[x.index(&part.at(&place)?)];
                        }
                    }
                    continue;
                }
                Modes::Whole(_) => {
                    let place: Vec<i128> = case.place.iter().map(value).collect();
                    let place = part.at(&place)?;
                    self.expect(&mut after, (x, x.index(&place)), (z, z.first));
                    continue;
                }
                Modes::Tile(_) => {}
            }
            let places: Vec<(i64, usize)> = match (&case.held, &case.place[..]) {
                (_, [_, ..]) => {
                    let digits = case.place.iter().map(value).zip(&case.sizes).rev();
                    let index = digits.fold(0, |sum, (digit, size)| sum * size + digit as i64);
                    vec![(index, z.first)]
                }
                (Held::Each, _) => {
                    let count = case.sizes.iter().product::<i64>();
                    let own = |index: i64| (index, z.index(&[thread.into(), index.into()]));
                    (0..count).map(own).collect()
                }
                // One thread stands for all.
                (Held::Together(_), _) if thread > 0 => Vec::new(),
                (Held::Together(_), _) => {
                    let count = case.sizes.iter().product::<i64>();
                    let own = |index| (index, z.index(&digits(index, &case.sizes)));
                    (0..count).map(own).collect()
                }
            };
            for (index, other) in places {
                match (part.of_tile(index), &case.access) {
                    (Some(place), _) => self.expect(&mut after, (x, x.index(&place)), (z, other)),
                    (None, Access::CopyOr | Access::FillOutside) => {
                        after[1][other] = case.element.fill_bits
                    }
                    (None, Access::CopyAsync) => after[1][other] = 0,
                    (None, Access::CopyInside) => {}
                    (None, _) => return None,
                }
            }
        }
        Some(after)
    }

    /// What an access does to an element of x that is inside, and to one of z.
    fn expect(
        &self,
        after: &mut [Vec<u64>; 2],
        (x, at): (&Array, usize),
        (z, other): (&Array, usize),
    ) {
        match self.case.access {
            Access::CopyInside | Access::CopyTo | Access::Write => after[0][at] = z.data[other],
            Access::Add => {
                let mask = u64::MAX >> (64 - 8 * x.width);
                after[0][at] = x.data[at].wrapping_add(z.data[other]) & mask;
            }
            Access::FillOutside => {}
            _ => after[1][other] = x.data[at],
        }
    }

    /// The error of the launch, and the memory of both tensors afterwards.
    fn run(
        &self,
        x: &Array,
        z: &Array,
        values: &[i128],
    ) -> Result<(Option<String>, [Vec<u64>; 2]), String> {
        let mut memory = GlobalMemory::new();
        let mut args: Vec<Vec<u8>> = Vec::new();
        let (mut places, mut extents) = (Vec::new(), Vec::new());
        for (param, array) in self.lowered.params.iter().zip([x, z]) {
            let bytes = array.bytes();
            let address = memory.alloc(bytes.len(), 16).expect("memory");
            memory.write(address, &bytes).expect("memory");
            places.push((address, bytes.len()));
            let first = address + (array.first * array.width) as u64;
            args.push(first.to_le_bytes().to_vec());
            let outer = array.strides.split_last().expect("a mode").1;
            args.extend(
                outer
                    .iter()
                    .map(|stride| (*stride as u64).to_le_bytes().to_vec()),
            );
            if let ParamKind::Global { extents: true, .. } = param.kind {
                let short = |extent: &i128| (*extent as u32).to_le_bytes().to_vec();
                args.extend(array.extents.iter().map(short));
            }
            extents.push(Extents {
                tensor: param.name.clone(),
                extents: array.extents.iter().map(|extent| *extent as u64).collect(),
            });
        }
        for (arg, value) in self.case.args.iter().zip(values) {
            let width = bits(arg.ty).0 as usize / 8;
            args.push(value.to_le_bytes()[..width].to_vec());
        }
        if !self.lowered.reports.is_empty() {
            const WORDS: u32 = 1 << 12;
            let buffer = memory.alloc(16 + 4 * WORDS as usize, 16).expect("memory");
            let header: Vec<u8> = [0, WORDS, 0, 0]
                .iter()
                .flat_map(|word: &u32| word.to_le_bytes())
                .collect();
            memory.write(buffer, &header).expect("memory");
            memory
                .write(buffer + 16, &vec![0; 4 * WORDS as usize])
                .expect("memory");
            args.push(buffer.to_le_bytes().to_vec());
        }
        let launch = Launch {
            block: [self.lowered.threads, 1, 1],
            dynamic_shared_bytes: self.lowered.smem_bytes,
            args: &args,
            extents: &extents,
            ..Launch::default()
        };
        let error = self.program.launch(&mut memory, "k", &launch).err();
        let found = places.iter().zip([x, z]).map(|((address, len), array)| {
            let bytes = memory.bytes(*address, *len).expect("memory");
            let number = |bytes: &[u8]| {
                let mut number = [0; 8];
                number[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(number)
            };
            bytes.chunks(array.width).map(number).collect()
        });
        let found: Vec<Vec<u64>> = found.collect();
        let found = found.try_into().map_err(|_| "two tensors".to_string())?;
        Ok((error.map(|error| error.to_string()), found))
    }
}

/// The coordinate at a 1-D coordinate.
fn digits(index: i64, extents: &[i64]) -> Vec<i128> {
    let mut rest = index;
    let digit = |extent: &i64| {
        let digit = rest % extent;
        rest /= extent;
        digit.into()
    };
    extents.iter().map(digit).collect()
}

fn compact(random: &mut Random, width: usize, extents: &[i128]) -> Array {
    let inner = |mode: usize| extents[mode + 1..].iter().product();
    let count: i128 = extents.iter().product();
    Array {
        width,
        first: 0,
        extents: extents.into(),
        strides: (0..extents.len()).map(inner).collect(),
        data: data(random, width, count as usize),
    }
}

/// Elements that differ, as far as their bits allow. In no type is one of them a signalling NaN.
fn data(random: &mut Random, width: usize, count: usize) -> Vec<u64> {
    let start = random.below(1 << 20) as u64;
    let mask = u64::MAX >> (64 - 8 * width) >> 2;
    let element = |index| {
        (start + index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 8 * width) & mask
    };
    (0..count).map(element).collect()
}

/// The bits of an integer type, and whether it is signed.
fn bits(ty: &str) -> (u32, bool) {
    (ty[1..].parse().expect("bits"), ty.starts_with('i'))
}

/// A number of a type.
fn value(random: &mut Random, ty: &str, near: &[i128]) -> i128 {
    let (bits, is_signed) = bits(ty);
    let range = match is_signed {
        // A distance is exact up to 2⁶⁰.
        true => -(1i128 << (bits - 1).min(50))..1 << (bits - 1).min(50),
        false => 0..1 << bits,
    };
    loop {
        let value = match random.below(8) {
            0..=2 => random.below(12) as i128,
            3 | 4 if !near.is_empty() => random.pick(near) + random.below(7) as i128 - 3,
            5 => {
                random.pick(&[1i128 << 31, 1 << 32, 1 << 16, 1 << 63]) + random.below(7) as i128 - 3
            }
            6 => random.pick(&[range.start, range.end - 1]) + random.below(40) as i128 - 20,
            _ => random.below(40) as i128 - if is_signed { 20 } else { 0 },
        };
        if range.contains(&value) {
            return value;
        }
    }
}
