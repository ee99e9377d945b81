//! Tensors in shared memory.

use super::mbarrier;
use crate::kernel::access::address::period_in_bytes;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::{Builder, SHARED_ALIGN};
use crate::kernel::emit::shared::Purpose;
use crate::kernel::value::{Element, Global, Num, NumberType, Tensor, Value};
use cute_algebra::{ComposedLayout, Layout, LayoutError, Major, Swizzle, SwizzleMode};
use cute_chip::tma;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "smem::<T>(layout)",
        apply: smem,
    },
    Builtin {
        signature: "peer(x, cta)",
        apply: peer,
    },
    Builtin {
        signature: "overlay::<T>(tensor, layout)",
        apply: overlay,
    },
    Builtin {
        signature: "smem_atom::<T>(major, swizzle)",
        apply: smem_atom,
    },
    Builtin {
        signature: "size(x)",
        apply: size,
    },
    Builtin {
        signature: "bytes(x)",
        apply: bytes,
    },
];

fn smem(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let Placed {
        layout,
        size,
        align,
    } = placed(b, call, 0, element)?;
    b.set_place(call.span);
    let base = b.allocate(size, align, Purpose::Tensor)?;
    Ok(Value::Tensor(show(b, element, base, layout, size)))
}

/// Another tensor where a tensor begins.
fn overlay(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let Value::Tensor(below) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tensor in shared memory"));
    };
    let Placed {
        layout,
        size,
        align,
    } = placed(b, call, 1, element)?;
    let period = period_in_bytes(below.layout.swizzle(), below.element);
    let first = below.byte(0);
    let first = first.map_err(|error| {
        call.error_at(0, format!("the tensor begins inside of a byte: {error}"))
    })?;
    let start = i64::from(below.base) + first;
    let known = period.max(align.into()) - 1;
    if (start | b.known.possible_bits(&below.dynamic) as i64) & known != 0 {
        let place = match below.dynamic {
            Num::Const(0) => format!("begins at byte {start}"),
            _ => format!("begins at byte {start} plus an offset that is known only at run time"),
        };
        let message = format!(
            "the tensor {place}, which need not be a multiple of {}, as {element} at {} needs it over this tensor",
            known + 1,
            shown(&layout)
        );
        return Err(call.error_at(0, message));
    }
    let room = u64::try_from(below.layout.layout().cosize()).ok();
    let room = room.and_then(|cosize| below.element.room_of(cosize));
    let room =
        room.ok_or_else(|| call.error_at(0, "the tensor is outside of shared memory (a defect)"))?;
    let room = room.next_multiple_of(period as u64);
    if u64::from(size) > room {
        let message = format!(
            "{element} at {} takes {size} bytes, but the tensor has {room}",
            shown(&layout)
        );
        return Err(call.error_at(1, message));
    }
    // The start is inside of shared memory.
    let base = start as u32;
    let tensor = Tensor {
        element,
        base,
        layout,
        dynamic: below.dynamic.clone(),
        peer: None,
    };
    if tensor.dynamic == Num::Const(0) {
        show(b, element, base, tensor.layout.clone(), size);
    }
    Ok(Value::Tensor(tensor))
}

/// The tensor at the same place in the shared memory of another CTA of the cluster.
fn peer(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Tensor(tensor) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tensor in shared memory"));
    };
    let own = b.shared_base();
    Ok(Value::Tensor(Tensor {
        peer: Some(mbarrier::there(b, call, 1, &own)?),
        ..tensor.clone()
    }))
}

/// The same bytes as elements of another type.
pub(super) fn recast(b: &Builder, call: &Call, tensor: &Tensor) -> Result<Value> {
    let element = call.element()?;
    let [old, new] = [tensor.element, element].map(|element| i64::from(element.bits()));
    let layout = tensor.layout.recast(old, new);
    let layout = layout.map_err(|error| call.error_at(0, error))?;
    // Elements that are parts of bytes begin at any byte.
    let bytes = element.bytes().unwrap_or(1);
    if b.known.possible_bits(&tensor.dynamic) & (u64::from(bytes) - 1) != 0 {
        let message = format!(
            "the tensor begins at an offset that is known only at run time, and need not be a multiple of {bytes} bytes, as `{element}` needs it"
        );
        return Err(call.error_at(0, message));
    }
    Ok(Value::Tensor(Tensor {
        element,
        layout,
        ..tensor.clone()
    }))
}

/// As `recast`, for a tensor in global memory. Its strides count elements, so the width of elements stays.
pub(super) fn recast_global(call: &Call, global: &Global) -> Result<Value> {
    let element = call.element()?;
    let [old, new] = [global.element, element];
    if old.bits() != new.bits() {
        let message = format!(
            "elements of a tensor in global memory become others of {} bits, as `{old}` has, not `{new}`, which has {}",
            old.bits(),
            new.bits()
        );
        return Err(call.error_at(0, message));
    }
    Ok(Value::Global(Global {
        element,
        ..global.clone()
    }))
}

/// A tensor at byte `base`. A comment in the map of shared memory shows it.
fn show(b: &mut Builder, element: Element, base: u32, layout: ComposedLayout, size: u32) -> Tensor {
    let in_turn = b.shared.is_shared(&(base..base + size));
    b.notes.describe_shared(
        base..base + size,
        in_turn,
        format!("{element} at {}", shown(&layout)),
    );
    Tensor {
        element,
        base,
        layout,
        dynamic: Num::Const(0),
        peer: None,
    }
}

/// The layout of a tensor, with its size in bytes and its alignment.
struct Placed {
    layout: ComposedLayout,
    size: u32,
    align: u32,
}

/// Argument `index` as the layout of a tensor.
fn placed(b: &Builder, call: &Call, index: usize, element: Element) -> Result<Placed> {
    let plain = |layout: std::result::Result<Layout, LayoutError>| {
        let layout = layout.and_then(|layout| ComposedLayout::new(Swizzle::IDENTITY, 0, layout));
        layout.map_err(|error| call.error_at(index, error))
    };
    let layout = match call.args[index].value.to_algebra() {
        Some(cute_algebra::Value::Composed(layout)) => layout,
        Some(cute_algebra::Value::Layout(layout)) => plain(Ok(layout))?,
        Some(cute_algebra::Value::Int(extent)) => plain(Layout::left(extent))?,
        Some(cute_algebra::Value::Tuple(shape)) => plain(Layout::left(shape))?,
        Some(cute_algebra::Value::XorMap(_)) => {
            let message = "a tensor in shared memory takes a layout, swizzled or not, and no other map of bits; use `at` for the value of such a map";
            return Err(call.error_at(index, message));
        }
        Some(_) => return Err(call.mismatch(index, "a layout or a shape")),
        None => {
            return Err(call.mismatch(index, "a layout or a shape that is known at expansion"));
        }
    };
    if let Some(stride) = layout
        .layout()
        .stride()
        .leaves()
        .find(|stride| stride.value() < 0)
    {
        return Err(call.error_at(
            index,
            format!(
                "a tensor in shared memory takes no negative strides: {} has the stride {stride}",
                shown(&layout)
            ),
        ));
    }
    let period = period_in_bytes(layout.swizzle(), element);
    let end = layout.offset().checked_add(layout.layout().cosize());
    let span = end
        .and_then(|end| element.room_of(u64::try_from(end).ok()?))
        .and_then(|span| i64::try_from(span).ok());
    // A swizzle permutes the indices of a period, so whole periods are reserved.
    let size =
        span.and_then(|span| u32::try_from(span.checked_add(period - 1)? / period * period).ok());
    let Some(size) = size.filter(|_| layout.offset() >= 0) else {
        return Err(call.error_at(
            index,
            format!(
                "{element} at {} does not fit shared memory, {} bytes",
                shown(&layout),
                b.chip.cta_shared_bytes
            ),
        ));
    };
    // TMA needs aligned boxes. A tile that is aligned to the period of its swizzle needs no correction of addresses.
    let align = u32::try_from(period)
        .unwrap_or(SHARED_ALIGN)
        .clamp(tma::SHARED_ALIGN, SHARED_ALIGN);
    Ok(Placed {
        layout,
        size,
        align,
    })
}

/// The layout as text, without an identity swizzle.
fn shown(layout: &ComposedLayout) -> String {
    let plain = layout.as_layout().map(Layout::to_string);
    plain.unwrap_or_else(|| layout.to_string())
}

fn smem_atom(_: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let major = match call.args[0].value {
        Value::Word("K") => Major::K,
        Value::Word("MN") => Major::MN,
        _ => return Err(call.mismatch(0, "K or MN")),
    };
    let mode = SwizzleMode::ALL
        .into_iter()
        .find(|mode| matches!(call.args[1].value, Value::Word(word) if word == mode.name()));
    let Some(mode) = mode else {
        return Err(call.mismatch(1, "SW128, SW64, SW32 or INTER"));
    };
    let atom = cute_algebra::smem_atom(major, mode, element.bits().into());
    Ok(Value::Algebra(
        atom.map_err(|error| call.error_at(0, error))?.into(),
    ))
}

fn size(_: &mut Builder, call: &Call) -> Result<Value> {
    let size = match &call.args[0].value {
        Value::Tensor(tensor) => tensor.layout.layout().size().into(),
        Value::Global(global) => tile(call, global)?.size().into(),
        Value::Fragment(fragment) => fragment.values.len() as i128,
        Value::Mask(mask) => mask.truths.len() as i128,
        Value::Algebra(cute_algebra::Value::Layout(layout)) => layout.size().into(),
        Value::Algebra(cute_algebra::Value::Composed(layout)) => layout.layout().size().into(),
        _ => return Err(call.mismatch(0, "a tensor, a fragment or a layout")),
    };
    Ok(Value::Int(size, NumberType::Any))
}

fn bytes(_: &mut Builder, call: &Call) -> Result<Value> {
    let (element, count) = match &call.args[0].value {
        Value::Tensor(tensor) => (tensor.element, tensor.layout.layout().size().into()),
        Value::Global(global) => (global.element, tile(call, global)?.size().into()),
        Value::Fragment(fragment) => (fragment.element, fragment.values.len() as i128),
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    let bytes = element.bytes_of(count);
    let bytes = bytes.map_err(|error| call.error_at(0, error))?;
    Ok(Value::Int(bytes, NumberType::Any))
}

/// The layout of a tile of global memory.
fn tile<'g>(call: &Call, global: &'g Global) -> Result<&'g Layout> {
    let tile = global.tile();
    tile.ok_or_else(|| call.mismatch(0, "a tile, whose extents are known at expansion,"))
}
