//! Tensors in shared memory.

use crate::kernel::access::address::{in_bytes, period};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::{Builder, SHARED_ALIGN};
use crate::kernel::value::{Num, Tensor, Value};
use cute_algebra::{ComposedLayout, Layout, LayoutError, Major, Swizzle, SwizzleMode};
use cute_hopper::{shared, tma};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "smem::<T>(layout)",
        apply: smem,
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
    let plain = |layout: std::result::Result<Layout, LayoutError>| {
        let layout = layout.and_then(|layout| ComposedLayout::new(Swizzle::IDENTITY, 0, layout));
        layout.map_err(|error| call.error_at(0, error))
    };
    let layout = match call.args[0].value.to_algebra() {
        Some(cute_algebra::Value::Composed(layout)) => layout,
        Some(cute_algebra::Value::Layout(layout)) => plain(Ok(layout))?,
        Some(cute_algebra::Value::Int(extent)) => plain(Layout::left(extent))?,
        Some(cute_algebra::Value::Tuple(shape)) => plain(Layout::left(shape))?,
        Some(cute_algebra::Value::XorMap(_)) => {
            let message = "a tensor in shared memory takes a layout, swizzled or not, and no other map of bits; use `at` for the value of such a map";
            return Err(call.error_at(0, message));
        }
        _ => return Err(call.mismatch(0, "a layout or a shape")),
    };
    let shown = layout
        .as_layout()
        .map_or_else(|| layout.to_string(), Layout::to_string);
    if let Some(stride) = layout
        .layout()
        .stride()
        .leaves()
        .find(|stride| stride.value() < 0)
    {
        return Err(call.error_at(
            0,
            format!("a tensor in shared memory takes no negative strides: {shown} has the stride {stride}"),
        ));
    }
    let width = element.bytes();
    let period = period(in_bytes(layout.swizzle(), width));
    let span = layout
        .offset()
        .checked_add(layout.layout().cosize())
        .and_then(|end| end.checked_mul(width.into()));
    // A swizzle permutes the indices of a period, so whole periods are reserved.
    let size =
        span.and_then(|span| u32::try_from(span.checked_add(period - 1)? / period * period).ok());
    let Some(size) = size.filter(|_| layout.offset() >= 0) else {
        return Err(call.error_at(
            0,
            format!(
                "{element} at {shown} does not fit shared memory, {} bytes",
                shared::MAX_BYTES
            ),
        ));
    };
    // TMA needs aligned boxes. A tile that is aligned to the period of its swizzle needs no correction of addresses.
    let align = u32::try_from(period)
        .unwrap_or(SHARED_ALIGN)
        .clamp(tma::SHARED_ALIGN, SHARED_ALIGN);
    b.set_place(call.span);
    let base = b.allocate(size, align)?;
    b.describe_shared(base..base + size, format!("{element} at {shown}"));
    Ok(Value::Tensor(Tensor {
        element,
        base,
        layout,
        dynamic: Num::Const(0),
    }))
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
        Value::Fragment(fragment) => fragment.values.len() as i128,
        Value::Algebra(cute_algebra::Value::Layout(layout)) => layout.size().into(),
        Value::Algebra(cute_algebra::Value::Composed(layout)) => layout.layout().size().into(),
        _ => return Err(call.mismatch(0, "a tensor, a fragment or a layout")),
    };
    Ok(Value::Int(size, None))
}

fn bytes(_: &mut Builder, call: &Call) -> Result<Value> {
    let bytes = match &call.args[0].value {
        Value::Tensor(tensor) => {
            i128::from(tensor.layout.layout().size()) * i128::from(tensor.width())
        }
        Value::Fragment(fragment) => {
            fragment.values.len() as i128 * i128::from(fragment.element.bytes())
        }
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    Ok(Value::Int(bytes, None))
}
