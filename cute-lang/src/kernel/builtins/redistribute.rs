//! Changes how threads hold a fragment: values move between registers, between lanes by shuffles, or through shared memory.

use super::copy::pack::pack;
use super::exchange::Group;
use super::fragment::distributed;
use crate::kernel::access::crd2idx::xor_map_value;
use crate::kernel::access::held::shown;
use crate::kernel::builtins::call::{Argument, Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::{Operand, Register};
use crate::kernel::value::{Fragment, Num, Scalar, Tensor, Value, packing};
use cute_algebra::{ComposedLayout, Layout, Swizzle, Tuple, XorMap};
use cute_chip::threads::WARP;
use cute_chip::{shared, tma};
use cute_ptx::table::choice::ShuffleMode;
use cute_ptx::table::op;
use std::collections::HashMap;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "redistribute(x, layout, [barrier])",
    apply: redistribute,
}];

const LANES: usize = WARP as usize;

/// The source of a value: the index of a value, in this thread or in the lane that the map gives.
struct Source {
    value: usize,
    lane: Option<XorMap>,
}

fn redistribute(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(x) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let y = match (&call.args[1].value, call.args[1].value.to_algebra()) {
        (Value::Fragment(like), _) => like.like(b, x.element),
        (_, Some(cute_algebra::Value::Layout(layout))) if !layout.is_integral() => {
            distributed(b, call, 1, x.element, &layout)?
        }
        _ => {
            return Err(call.mismatch(
                1,
                "a layout from (thread, value) to coordinates of a tile, or a fragment",
            ));
        }
    };
    let held = (Held::of(x), Held::of(&y));
    let (Some(from), Some(to)) = held else {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    };
    if !x.shape.leaves().eq(y.shape.leaves()) {
        let (x, y) = (&x.shape, &y.shape);
        return Err(call.error_at(1, format!("a fragment of {x} is no fragment of {y}")));
    }
    let (threads, others) = (from.places.len(), to.places.len());
    if threads != others {
        let message = format!("{threads} threads hold the fragment, but the layout has {others}");
        return Err(call.error_at(1, message));
    }
    if let Some(missing) = from.missing(&to) {
        let message =
            format!("no thread holds the value at {missing}, which the layout gives to a thread");
        return Err(call.error_at(1, message));
    }
    match from.sources(&to) {
        Some(sources) if x.element.bits() <= 32 || sources.iter().all(|it| it.lane.is_none()) => {
            by_registers(b, x, &y, &sources)?;
        }
        _ => through_memory(b, call, x, &y, &from)?,
    }
    Ok(Value::Fragment(y))
}

/// The elements of a tile in each thread. An element is its index in the tile.
struct Held {
    extents: Vec<i64>,
    /// By thread and value.
    places: Vec<Vec<i64>>,
    /// For each element, the threads and values that hold it.
    owners: HashMap<i64, Vec<(usize, usize)>>,
}

impl Held {
    fn of(fragment: &Fragment) -> Option<Self> {
        let tile = fragment.tile.as_ref()?;
        let extents: Vec<i64> = fragment.shape.leaves().copied().collect();
        let index = |thread: i64, coordinate: &[i64]| {
            let mut modes = coordinate.iter().zip(&tile.threads).zip(&extents).rev();
            modes.try_fold(0, |index, ((own, threads), extent)| {
                Some(index * extent + own + threads.at(thread)?)
            })
        };
        let (mut places, mut owners) = (Vec::new(), HashMap::new());
        for thread in 0..tile.threads.first()?.size() {
            let values = fragment.values.iter();
            let own: Option<Vec<i64>> = values.map(|it| index(thread, &it.coordinate)).collect();
            let own = own?;
            for (value, place) in own.iter().enumerate() {
                let owners: &mut Vec<(usize, usize)> = owners.entry(*place).or_default();
                owners.push((thread as usize, value));
            }
            places.push(own);
        }
        Some(Self {
            extents,
            places,
            owners,
        })
    }

    /// The coordinate of an element that `other` holds and `self` does not.
    fn missing(&self, other: &Held) -> Option<String> {
        let mut elements = other
            .owners
            .keys()
            .filter(|it| !self.owners.contains_key(it));
        let mut rest = *elements.next()?;
        let mut coordinate = Vec::new();
        for extent in &self.extents {
            coordinate.push(rest % extent);
            rest /= extent;
        }
        Some(shown(&coordinate))
    }

    /// The sources of the values of `to`, if each is one value of a lane of the same warp.
    fn sources(&self, to: &Held) -> Option<Vec<Source>> {
        let values = 0..to.places.first()?.len();
        let sources = values.map(|value| {
            let candidates = self.owners.get(&to.places[0][value])?;
            let mut own = (0..self.places[0].len()).filter(|from| {
                let mut threads = self.places.iter().zip(&to.places);
                threads.all(|(x, y)| x[*from] == y[value])
            });
            if let Some(own) = own.next() {
                return Some(Source {
                    value: own,
                    lane: None,
                });
            }
            candidates.iter().find_map(|(_, from)| {
                let lane = self.lanes(to, value, *from)?;
                Some(Source {
                    value: *from,
                    lane: Some(lane),
                })
            })
        });
        sources.collect()
    }

    /// The map from each lane to the lane whose value `from` becomes value `value`, if it is an XOR map and the same in all warps.
    fn lanes(&self, to: &Held, value: usize, from: usize) -> Option<XorMap> {
        let mut lanes: Vec<Option<usize>> = vec![None; LANES];
        for (thread, places) in to.places.iter().enumerate() {
            let mut owners = self.owners.get(&places[value])?.iter();
            let same =
                |(owner, own): &&(usize, usize)| *own == from && owner / LANES == thread / LANES;
            let (owner, _) = owners.find(same)?;
            let lane = &mut lanes[thread % LANES];
            if *lane.get_or_insert(owner % LANES) != owner % LANES {
                return None;
            }
        }
        let lanes: Vec<u64> = lanes
            .iter()
            .map(|it| it.map(|it| it as u64))
            .collect::<Option<_>>()?;
        let columns = (0..LANES.ilog2()).map(|bit| lanes[1 << bit] ^ lanes[0]);
        let map = XorMap::new(columns.collect::<Vec<u64>>())?.with_constant(lanes[0]);
        let agrees = (0..LANES).all(|lane| map.at(lane as i64) == Some(lanes[lane] as i64));
        agrees.then_some(map)
    }

    /// Two warps that hold the same element, and the element.
    fn twice(&self) -> Option<(usize, usize)> {
        self.owners.values().find_map(|owners| {
            let first = owners.first()?.0 / LANES;
            let other = owners.iter().find(|(thread, _)| thread / LANES != first)?;
            Some((first, other.0 / LANES))
        })
    }
}

/// Moves values between registers and lanes.
fn by_registers(b: &mut Builder, x: &Fragment, y: &Fragment, sources: &[Source]) -> Result<()> {
    let mut maps: Vec<(&XorMap, Num)> = Vec::new();
    let mut exchanged: HashMap<(usize, Register), Scalar> = HashMap::new();
    let mut parts = Vec::new();
    for source in sources {
        let (register, part) = x.part(source.value);
        let Some(map) = &source.lane else {
            parts.push((register, part));
            continue;
        };
        let index = match maps.iter().position(|(known, _)| *known == map) {
            Some(index) => index,
            None => {
                let thread = b.thread();
                let lane = b.and(&thread.into(), &Num::from(WARP - 1))?;
                let lane = xor_map_value(b, map, &lane)?;
                maps.push((map, lane));
                maps.len() - 1
            }
        };
        let key = (index, register.register);
        let other = exchanged.entry(key).or_insert_with(|| {
            let operands = [
                register.operand(),
                maps[index].1.operand(),
                Operand::Int((WARP - 1).into()),
                Operand::Int(u32::MAX.into()),
            ];
            b.compute(register.ty, op::Shfl, ShuffleMode::Idx, operands)
        });
        parts.push((other.clone(), part));
    }
    let bytes = b.whole(x.element.bytes())? as usize;
    for (register, parts) in y.registers.iter().zip(parts.chunks(packing(x.element))) {
        match parts {
            [(part, _)] if bytes >= 4 => b.assign(register, part.operand()),
            parts => pack(b, register, parts, bytes),
        }
    }
    Ok(())
}

/// Stores the values to scratch, and loads them from there.
fn through_memory(
    b: &mut Builder,
    call: &Call,
    x: &Fragment,
    y: &Fragment,
    from: &Held,
) -> Result<()> {
    if let Some((first, second)) = from.twice() {
        let message = format!(
            "warps {first} and {second} hold the same values of the fragment, and both would store them"
        );
        return Err(call.error_at(0, message));
    }
    let group = Group::new(b, call, from.places.len() as i64, 2)?;
    // A mode in which a thread holds neighbours is contiguous. Padded rows begin in different banks.
    let width = i64::from(b.whole(x.element.bytes())?);
    let modes = from.extents.len();
    let contiguous = [y, x].into_iter().find_map(neighbours);
    let contiguous = contiguous.unwrap_or(modes.saturating_sub(1));
    let mut strides = vec![1; modes];
    let mut size = from.extents[contiguous] + i64::from(shared::WIDEST_ACCESS) / width;
    for mode in (0..modes).filter(|mode| *mode != contiguous) {
        strides[mode] = size;
        size *= from.extents[mode];
    }
    let strides: Tuple<_> = strides
        .into_iter()
        .map(|it: i64| Tuple::Leaf(it.into()))
        .collect();
    let layout = Layout::new(x.shape.clone(), strides)
        .and_then(|layout| ComposedLayout::new(Swizzle::IDENTITY, 0, layout));
    let layout = layout.map_err(|error| call.error_at(0, error))?;
    let bytes = u32::try_from(size * width).unwrap_or(u32::MAX);
    let bytes = bytes
        .checked_next_multiple_of(tma::SHARED_ALIGN)
        .unwrap_or(u32::MAX);
    let scratch = group.scratch(b, bytes)?;
    let tensor = Value::Tensor(Tensor {
        element: x.element,
        base: scratch.base,
        layout,
        dynamic: scratch.offset,
        peer: None,
    });
    copy(b, call, Value::Fragment(x.clone()), tensor.clone())?;
    group.wait(b);
    copy(b, call, tensor, Value::Fragment(y.clone()))?;
    group.end(b);
    Ok(())
}

/// The mode in which the first two values of a thread are neighbours.
fn neighbours(fragment: &Fragment) -> Option<usize> {
    let [first, second, ..] = &fragment.values[..] else {
        return None;
    };
    let steps = second.coordinate.iter().zip(&first.coordinate);
    let steps: Vec<i64> = steps.map(|(second, first)| second - first).collect();
    let mode = steps.iter().position(|step| *step == 1)?;
    let alone = steps.iter().filter(|step| **step != 0).count() == 1;
    alone.then_some(mode)
}

/// `copy(source, destination)`.
fn copy(b: &mut Builder, call: &Call, source: Value, destination: Value) -> Result<Value> {
    let args = [source, destination].map(|value| Argument {
        value,
        span: call.args[0].span,
    });
    let call = Call {
        name: "copy",
        span: call.span,
        types: Vec::new(),
        args: args.into(),
    };
    super::copy::copy(b, &call)
}
