//! Fragments: registers of one thread, or its part of a tile that several threads hold.

use crate::kernel::access::crd2idx::{along, crd2idx};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::builtins::index::element_register;
use crate::kernel::builtins::thread::ctarank;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::types::number_type;
use crate::kernel::value::{
    Distributed, Element, Fragment, Held, Num, NumberType, Scalar, Value, packing, word_type,
};
use cute_algebra::{Layout, Shape, Tuple};
use cute_chip::registers;
use cute_ptx::ast::Type;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "fragment::<T>(layout, [mode or shape])",
        apply: fragment,
    },
    Builtin {
        signature: "fill(fragment, value)",
        apply: fill,
    },
    Builtin {
        signature: "coordinate(fragment, value)",
        apply: coordinate,
    },
];

fn fragment(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.whole_element()?;
    if let Value::Fragment(like) = &call.args[0].value {
        let like = like.like(b, element);
        return reduced(b, call, like);
    }
    let shape = call.args.get(1).and_then(|shape| shape.value.to_algebra());
    if let (Some(cute_algebra::Value::Layout(layout)), Some(cute_algebra::Value::Tuple(shape))) =
        (call.args[0].value.to_algebra(), shape)
    {
        return of_shape(b, call, element, &layout, shape);
    }
    let fragment = match call.args[0].value.to_algebra() {
        Some(cute_algebra::Value::Layout(layout)) if !layout.is_integral() => {
            distributed(b, call, 0, element, &layout)?
        }
        Some(cute_algebra::Value::Layout(layout)) => local(b, call, element, &layout)?,
        Some(cute_algebra::Value::Int(extent)) => {
            local(b, call, element, &compact(call, Tuple::Leaf(extent))?)?
        }
        Some(cute_algebra::Value::Tuple(shape)) => local(b, call, element, &compact(call, shape)?)?,
        _ => {
            return Err(call.mismatch(
                0,
                "a shape, a layout of registers or of threads and values, or a fragment",
            ));
        }
    };
    reduced(b, call, fragment)
}

/// The thread's part of a tile of this shape. The layout may omit modes of extent 1.
fn of_shape(
    b: &mut Builder,
    call: &Call,
    element: Element,
    layout: &Layout,
    shape: Shape,
) -> Result<Value> {
    let fragment = distributed(b, call, 0, element, layout)?;
    let fragment = fragment.in_modes(shape.rank()).into_owned();
    if fragment.shape != shape {
        let reached = layout.coshape();
        return Err(call.error_at(
            1,
            format!("the coordinates of {layout} have the extents {reached}, which are not those of the tile {shape}"),
        ));
    }
    Ok(written_later(b, fragment))
}

/// The fragment; if a mode is given, a similar fragment with extent 1 in this mode.
fn reduced(b: &mut Builder, call: &Call, fragment: Fragment) -> Result<Value> {
    let fragment = match call.args.get(1) {
        Some(_) => {
            let mode = mode_of(call, 1, &fragment)?;
            fragment.without(b, mode, fragment.element)
        }
        None => fragment,
    };
    Ok(written_later(b, fragment))
}

/// A new fragment without any written value.
fn written_later(b: &mut Builder, fragment: Fragment) -> Value {
    for register in &fragment.registers {
        if packing(fragment.element) > 1 {
            b.zero(register);
        }
        b.unwritten.add(register.register);
    }
    Value::Fragment(fragment)
}

/// Gives all values of a fragment one number.
fn fill(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(x) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    b.set_place(call.args[1].span);
    if number_type(x.element).is_none() {
        let message = format!(
            "no instruction computes with elements of `{}`: `convert` a fragment that is filled",
            x.element
        );
        return Err(call.error_at(0, message));
    }
    let number = element_register(b, x.element, &call.args[1].value)?;
    x.fill(b, &number);
    Ok(Value::Unit)
}

fn compact(call: &Call, shape: Shape) -> Result<Layout> {
    Layout::left(shape).map_err(|error| call.error_at(0, error))
}

/// A fragment of one thread. The layout gives the index among the elements of the registers for a coordinate.
fn local(b: &mut Builder, call: &Call, element: Element, layout: &Layout) -> Result<Fragment> {
    if layout.size() > layout.cosize() {
        return Err(call.error_at(0, format!("two coordinates of {layout} share a register: the layout of a fragment is injective")));
    }
    let registers = registers(b, call, element, layout.cosize())?;
    let slot = |value| {
        usize::try_from(value).ok().map(|slot| Held {
            slot,
            coordinate: Vec::new(),
        })
    };
    let Some(values) = layout.values().map(slot).collect() else {
        return Err(call.error_at(
            0,
            format!("{layout} has negative values, and registers are numbered from 0"),
        ));
    };
    Ok(Fragment {
        element,
        registers,
        values,
        tile: None,
        shape: layout.shape().clone(),
        is_variable: false,
    })
}

/// The thread's part of a tile. Argument `index` is the layout from (thread, value) to coordinates in the tile.
pub(super) fn distributed(
    b: &mut Builder,
    call: &Call,
    index: usize,
    element: Element,
    layout: &Layout,
) -> Result<Fragment> {
    let shape = match layout.coshape() {
        // No mode of the layout has a stride: all threads hold the first element.
        Tuple::Leaf(extent) => Tuple::Node(vec![Tuple::Leaf(extent)]),
        shape => shape,
    };
    let (Some(threads), Some(values), 2, 1) =
        (layout.mode(0), layout.mode(1), layout.rank(), shape.depth())
    else {
        return Err(call.mismatch(
            index,
            "a layout from (thread, value) to coordinates of a tile",
        ));
    };
    let modes = shape.rank();
    let registers = registers(b, call, element, values.size())?;
    let threads: Vec<Layout> = (0..modes).map(|mode| along(&threads, &[mode])).collect();
    let count = threads[0].size();
    let (cta, cluster) = (i64::from(b.threads), b.cluster_threads());
    if cta % count != 0 && count != cluster {
        let all = match cluster == cta {
            true => String::new(),
            false => format!(", nor is {count} the {cluster} threads of the cluster"),
        };
        return Err(call.error_at(
            index,
            format!(
                "{count} threads hold the tile, but {cta}, the threads of the CTA, is not a multiple of {count}{all}"
            ),
        ));
    }
    let thread = holder(b, count)?;
    let origin = threads
        .iter()
        .map(|threads| crd2idx(b, threads, &thread, 1))
        .collect::<Result<_>>()?;
    let coordinates: Vec<Vec<i64>> = (0..modes)
        .map(|mode| along(&values, &[mode]).values().collect())
        .collect();
    let held = |slot: usize| Held {
        slot,
        coordinate: coordinates.iter().map(|mode| mode[slot]).collect(),
    };
    let values = (0..coordinates[0].len()).map(held).collect();
    Ok(Fragment {
        element,
        registers,
        values,
        tile: Some(Distributed { threads, origin }),
        shape,
        is_variable: false,
    })
}

/// The number of this thread among the `count` threads that hold a tile: some threads of the CTA, or all of the cluster.
pub(super) fn holder(b: &mut Builder, count: i64) -> Result<Num> {
    let thread = b.thread().into();
    let threads = b.threads;
    if count == i64::from(threads) {
        return Ok(thread);
    }
    if count < i64::from(threads) {
        return b.rem(&thread, &Num::from(count));
    }
    let rank = ctarank(b);
    let first = b.mul(&rank, &Num::from(threads))?;
    b.add(&first, &thread)
}

fn registers(b: &mut Builder, call: &Call, element: Element, elements: i64) -> Result<Vec<Scalar>> {
    let words = (i128::from(elements) * i128::from(element.bits()) + 31) / 32;
    if words > i128::from(registers::MAX) {
        return Err(call.error_at(
            0,
            format!(
                "{elements} elements of {element} take {words} registers, but a thread has {}",
                registers::MAX
            ),
        ));
    }
    let count = (elements as usize).div_ceil(packing(element));
    Ok((0..count).map(|_| b.cell(word_type(element))).collect())
}

fn coordinate(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(Fragment {
        tile: Some(tile),
        values,
        ..
    }) = &call.args[0].value
    else {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    };
    let last = u32::try_from(values.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let value = &values[call.constant_in(1, 0..=last)? as usize];
    let sums = tile.origin.iter().zip(&value.coordinate);
    let sums = sums.map(|(origin, known)| Ok(b.add(origin, &Num::from(*known))?.into()));
    Ok(typed(Value::Tuple(sums.collect::<Result<_>>()?)))
}

/// A coordinate whose known integers are numbers of `u32`, as those in registers are.
pub(crate) fn typed(coordinate: Value) -> Value {
    match coordinate {
        Value::Int(known, _) => Value::Int(known, NumberType::Is(Type::U32)),
        Value::Tuple(modes) => Value::Tuple(modes.into_iter().map(typed).collect()),
        other => other,
    }
}

/// Argument `index` as a mode of a tile that several threads hold.
pub(super) fn mode_of(call: &Call, index: usize, x: &Fragment) -> Result<usize> {
    if x.tile.is_none() {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    }
    mode_number(call, index, x)
}

/// Argument `index` as the number of a mode of any fragment.
pub(super) fn mode_number(call: &Call, index: usize, x: &Fragment) -> Result<usize> {
    let mode = call.constant(index)?;
    let known = usize::try_from(mode)
        .ok()
        .filter(|mode| *mode < x.shape.rank());
    known.ok_or_else(|| {
        let message = format!(
            "a fragment of {} has no mode {mode}; if the tile has more modes of extent 1, `fragment::<T>(layout, shape)` takes its shape",
            x.shape
        );
        call.error_at(index, message)
    })
}
