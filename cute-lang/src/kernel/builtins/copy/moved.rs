//! Copies of tiles with a run-time start and no fact about the alignment of vectors.
//!
//! Each thread checks its address. If it is aligned, vectors inside of the tensor are moved directly. Otherwise a vector is loaded from two
//! aligned ones, and stored element by element. Vectors across the end of a row are also moved this way.

use crate::kernel::access::global::inside::Inside;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::options::Options;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::registers;
use crate::kernel::builtins::copy::vector::WIDEST;
use crate::kernel::builtins::copy::vector::{self, Condition, vectorise};
use crate::kernel::emit::builder::{Builder, address_operand, unless, when};
use crate::kernel::emit::operation::{Cmp, Op};
use crate::kernel::ir::Operand;
use crate::kernel::value::{Fragment, Num, Scalar, packing};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Past, Side};
use cute_ptx::table::op;
use syn::Result;

/// Bytes of a register of a vector.
const WORD: i64 = 4;

/// The vectors of 16 bytes of a thread in a moved tile: each fills whole registers and lies in one row.
pub(super) fn vectors(part: &Part, fragment: &Fragment) -> Option<Vec<Vec<usize>>> {
    let width = part.width;
    let is_small = matches!(part.moved_start()?, Num::Reg(start) if start.ty == Type::U32);
    let places = part.places();
    let one_row = places.iter().all(|(row, _)| *row == places[0].0);
    let vectors = vectorise(WIDEST / width, &places);
    let is_whole = |vector: &Vec<usize>| {
        vector.len() as i64 * width == WIDEST && words(fragment, vector).is_some()
    };
    let fits = is_small && one_row && width <= WORD && vectors.iter().all(is_whole);
    fits.then_some(vectors)
}

/// The registers of a vector.
fn words(fragment: &Fragment, vector: &[usize]) -> Option<Vec<Scalar>> {
    let words = vector.chunks(packing(fragment.element));
    words
        .map(|values| fragment.whole_register(values))
        .collect()
}

/// The registers of one of [`vectors`].
fn whole_words(b: &Builder, fragment: &Fragment, vector: &[usize]) -> Result<Vec<Scalar>> {
    let words = words(fragment, vector);
    words.ok_or_else(|| b.error("a vector does not fill registers in their order (a defect)"))
}

/// Moves the values inside of the tensor. Registers of other values get `fill`.
pub(super) fn copy(
    b: &mut Builder,
    direction: Direction,
    mut part: Part,
    mut inside: Inside,
    fragment: &Fragment,
    vectors: &[Vec<usize>],
    fill: Option<Operand>,
) -> Result<()> {
    let start = part.moved_start().cloned();
    let start = start.ok_or_else(|| b.error("the tile has not been moved (a defect)"))?;
    let coordinates = part.coordinates.clone();
    let row = inside.row(b, &coordinates[0])?;
    let address = Address::new(b, &mut part)?;
    let extent = part.end(b);
    let across = vectors[0].len() as i64 - 1;
    // Vectors that begin below this limit are moved as vectors.
    let (first, limit) = match direction {
        Direction::Load => {
            let skipped = b.div(&address.above, &Num::from(address.width))?;
            let reach = [across, 2 * across + 1].map(Num::from);
            let reach = b.select(&address.is_aligned, Type::U32, &reach[0], &reach[1])?;
            (b.sub(&start, &skipped)?, up_to(b, &extent, &reach)?)
        }
        Direction::Store => {
            let limit = up_to(b, &extent, &Num::from(across))?;
            let limit = b.select(&address.is_aligned, Type::U32, &limit, &Num::Const(0))?;
            (start.clone(), limit)
        }
    };
    let limit = where_inside(b, row.as_ref(), limit)?;
    let end = b.add(&extent, &Num::from(across))?;
    let end = where_inside(b, row.as_ref(), end)?;
    let mut moved = Vec::new();
    for vector in vectors {
        let at = Num::from(coordinates[vector[0]].last().copied().unwrap_or(0));
        let begin = b.add(&first, &at)?;
        moved.push(b.compare_and(Cmp::Lt, &begin, &limit, None)?);
    }
    let options = part.options;
    match direction {
        Direction::Load => load(
            b,
            &address,
            options,
            fragment,
            vectors,
            &moved,
            &coordinates,
            fill.as_ref(),
        )?,
        Direction::Store => {
            for (vector, moved) in vectors.iter().zip(&moved) {
                let words = whole_words(b, fragment, vector)?;
                let to = address.of(&address.own, &coordinates[vector[0]], 0);
                let condition = Condition {
                    predicate: Some(moved.clone()),
                    fill: None,
                };
                vector::store(b, (options, to), &words, WIDEST, &condition);
            }
        }
    }
    let mut memory = Memory::Global(part);
    for (vector, moved) in vectors.iter().zip(&moved) {
        let at = coordinates[vector[0]].last().copied().unwrap_or(0);
        let begin = b.add(&start, &Num::from(at + across))?;
        let others = b.unary(op::Not, moved);
        let is_cut = b.compare_and(Cmp::Lt, &begin, &end, Some(&others))?;
        let next = b.label("next");
        b.branch_if(unless(&is_cut), &next);
        let elements: Vec<Vec<usize>> = vector.iter().map(|&value| vec![value]).collect();
        let mut inside = inside.clone();
        registers::transfer(
            b,
            direction,
            &mut memory,
            fragment,
            &elements,
            |b, value| {
                Ok(Condition {
                    predicate: inside.predicate(b, &coordinates[value])?,
                    fill: fill.clone(),
                })
            },
        )?;
        b.place_label(&next);
    }
    Ok(())
}

/// The number of coordinates c with `c + reach < extent`.
fn up_to(b: &mut Builder, extent: &Num, reach: &Num) -> Result<Num> {
    let end = b.binary(Op::Max, extent, reach)?;
    b.sub(&end, reach)
}

/// The limit where the row is inside of the tensor, else 0.
fn where_inside(b: &mut Builder, row: Option<&Scalar>, limit: Num) -> Result<Num> {
    match row {
        Some(row) => b.select(row, Type::U32, &limit, &Num::Const(0)),
        None => Ok(limit),
    }
}

/// Where a thread's part of a row lies.
struct Address {
    own: Scalar,
    /// The multiple of 16 bytes at or below it.
    aligned: Scalar,
    /// The bytes from `aligned` to `own`.
    above: Num,
    is_aligned: Scalar,
    width: i64,
}

impl Address {
    fn new(b: &mut Builder, part: &mut Part) -> Result<Self> {
        let own = part.row(b, 0)?;
        let low = b.convert(&own, Type::U32)?;
        let above = b.and(&low.into(), &Num::from(WIDEST - 1))?;
        let mask = u64::MAX - (WIDEST as u64 - 1);
        let aligned = b.and(&own.clone().into(), &Num::Const(mask.into()))?;
        let aligned = b.to_register(&aligned, Type::U64)?;
        let is_aligned = b.compare_and(Cmp::Eq, &above, &Num::Const(0), None)?;
        Ok(Self {
            own,
            aligned,
            above,
            is_aligned,
            width: part.width,
        })
    }

    fn of(&self, base: &Scalar, coordinate: &[i64], more: i64) -> Operand {
        let at = coordinate.last().copied().unwrap_or(0);
        address_operand(base, at * self.width + more)
    }
}

/// Loads the vectors for which `moved` holds.
#[expect(clippy::too_many_arguments, reason = "one for each part of a copy")]
fn load(
    b: &mut Builder,
    address: &Address,
    options: Options,
    fragment: &Fragment,
    vectors: &[Vec<usize>],
    moved: &[Scalar],
    coordinates: &[Vec<i64>],
    fill: Option<&Operand>,
) -> Result<()> {
    let mut loaded = Vec::new();
    for (vector, moved) in vectors.iter().zip(moved) {
        let low = whole_words(b, fragment, vector)?;
        let high: Vec<Scalar> = low.iter().map(|word| b.cell(word.ty)).collect();
        let both = b.compare_and(Cmp::Ne, &address.above, &Num::Const(0), Some(moved))?;
        // A register written only under a guard would be live from the start of the loops around it.
        for (words, predicate, more) in [(&low, moved, 0), (&high, &both, WIDEST)] {
            let from = address.of(&address.aligned, &coordinates[vector[0]], more);
            let condition = Condition {
                predicate: Some(predicate.clone()),
                fill: fill.cloned(),
            };
            vector::load(b, (options, from), words, WIDEST, &condition);
        }
        loaded.push((low, high, both));
    }
    let done = b.label("aligned");
    b.branch_if(when(&address.is_aligned), &done);
    let shift = Shift::new(b, address)?;
    for (low, high, both) in loaded {
        let words = low.iter().chain(&high).cloned().collect();
        let shifted = shift.apply(b, words);
        b.guarded(Some(when(&both)), |b| {
            for (to, from) in low.iter().zip(&shifted) {
                b.assign(to, from.operand());
            }
        });
    }
    b.place_label(&done);
    Ok(())
}

/// A shift of two vectors by a number of bytes below 16.
struct Shift {
    /// By the words of a step, whether it is taken.
    steps: Vec<(usize, Scalar)>,
    /// The bits of the rest, if elements are smaller than words.
    bits: Option<Num>,
}

impl Shift {
    fn new(b: &mut Builder, address: &Address) -> Result<Self> {
        let mut steps = Vec::new();
        for bytes in [2 * WORD, WORD] {
            let bit = b.and(&address.above, &Num::from(bytes))?;
            let taken = b.set_predicate(Cmp::Ne, Type::U32, &bit, &Num::Const(0));
            steps.push(((bytes / WORD) as usize, taken));
        }
        let bits = match address.width < WORD {
            true => {
                let rest = b.and(&address.above, &Num::from(WORD - 1))?;
                Some(b.mul(&rest, &Num::Const(8))?)
            }
            false => None,
        };
        Ok(Self { steps, bits })
    }

    /// The words from this byte on.
    fn apply(&self, b: &mut Builder, mut words: Vec<Scalar>) -> Vec<Scalar> {
        for (step, taken) in &self.steps {
            let pairs = words.iter().zip(&words[*step..]);
            let pairs: Vec<_> = pairs
                .map(|(word, next)| (word.clone(), next.clone()))
                .collect();
            let select = |(word, next): (Scalar, Scalar)| {
                let operands = [next.operand(), word.operand(), taken.operand()];
                b.compute(word.ty, op::Selp, word.ty, operands)
            };
            words = pairs.into_iter().map(select).collect();
        }
        let Some(bits) = &self.bits else {
            return words;
        };
        let pairs = words.iter().zip(&words[1..]);
        let shift = |(low, high): (&Scalar, &Scalar)| {
            let modifiers = (Side::R, Past::Wrap);
            let operands = [low.operand(), high.operand(), bits.operand()];
            b.compute(low.ty, op::Shf, modifiers, operands)
        };
        pairs.map(shift).collect()
    }
}
