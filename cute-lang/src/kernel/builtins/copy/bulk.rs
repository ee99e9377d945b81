//! Bulk copies of contiguous memory: one thread starts them, without registers and without a tensor map.
//!
//! The algebra finds the pieces of a tile that are contiguous on both sides. Each piece is one instruction.

use super::part::{Part, known_tile};
use super::reduction::reduction;
use crate::kernel::access::address::Addresses;
use crate::kernel::access::crd2idx::along;
use crate::kernel::access::element::writes;
use crate::kernel::access::global::inside::Inside;
use crate::kernel::access::global::require;
use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::mbarrier::{self, there};
use crate::kernel::builtins::tma::cta_mask;
use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::facts::Quantity;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Element, Global, Tensor, Value};
use cute_algebra::{Layout, Swizzle, complement, max_common_layout};
use cute_chip::tma::BULK_ALIGN;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{MulticastCluster, Noftz, ReductionOp, SharedCluster, SharedCta};
use cute_ptx::table::{choice, op};
use syn::Result;

const ALIGN: i64 = BULK_ALIGN as i64;

/// Replaces a stride known only at launch when layouts are compared. No tile in shared memory is so large.
const FAR: i64 = 1 << 40;

/// Starts to copy a tile of global memory to shared memory. A barrier counts the bytes.
pub(super) fn load(b: &mut Builder, call: &Call, tile: &Global, tensor: &Tensor) -> Result<Value> {
    let barrier = mbarrier::address(b, call, 2)?;
    let mask = match call.args.get(3) {
        Some(_) => Some(cta_mask(b, call, 3)?),
        None => None,
    };
    let multicast = mask.as_ref().map(|_| MulticastCluster);
    let modifiers = (SharedCluster, choice::Global, multicast);
    let instead = Some("`copy_async` without a barrier, which writes 0 for elements outside");
    for piece in pieces(b, call, (0, tile), Some((1, tensor)), instead)? {
        let operands = [piece.shared, piece.global, piece.bytes, barrier.clone()];
        let operands = operands.into_iter().chain(mask.clone());
        b.emit(op::CpAsyncBulk, modifiers, operands);
    }
    Ok(Value::Unit)
}

/// Starts to copy a tensor in shared memory to a tile of global memory, in the thread's bulk group.
pub(super) fn store(b: &mut Builder, call: &Call, tensor: &Tensor, tile: &Global) -> Result<Value> {
    let modifiers = (choice::Global, SharedCta);
    let instead = Some("`copy_inside` from a fragment");
    for piece in pieces(b, call, (1, tile), Some((0, tensor)), instead)? {
        let operands = [piece.global, piece.shared, piece.bytes];
        b.emit(op::CpAsyncBulk, modifiers, operands);
    }
    writes(b, &call.args[1].value);
    Ok(Value::Unit)
}

/// Starts to combine the elements of a tile of global memory with a tensor in shared memory, in the thread's bulk group.
pub(super) fn reduce_async(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Tensor(tensor) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tensor in shared memory"));
    };
    let Value::Global(tile) = &call.args[1].value else {
        return Err(call.mismatch(1, "a tile of global memory"));
    };
    let (op, ty) = reduction(call, 2, tile.element)?;
    let halves = matches!(ty, Type::F16 | Type::Bf16) && op == ReductionOp::Add;
    let noftz = halves.then_some(Noftz);
    for piece in pieces(b, call, (1, tile), Some((0, tensor)), None)? {
        let operands = [piece.global, piece.shared, piece.bytes];
        b.emit(op::CpReduceAsyncBulk, (op, noftz, ty), operands);
    }
    writes(b, &call.args[1].value);
    Ok(Value::Unit)
}

/// Fetches a tile of global memory into the L2 cache.
pub(super) fn prefetch(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Global(tile) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tile of global memory"));
    };
    for piece in pieces(b, call, (0, tile), None, None)? {
        b.emit(op::CpAsyncBulkPrefetch, (), [piece.global, piece.bytes]);
    }
    Ok(Value::Unit)
}

/// Starts to copy a tensor in shared memory to a tensor in another CTA of the cluster. The barrier of that CTA counts the bytes.
pub(super) fn copy_async_at(b: &mut Builder, call: &Call) -> Result<Value> {
    let (Value::Tensor(from), Value::Tensor(to)) = (&call.args[0].value, &call.args[1].value)
    else {
        let tensors = call.args.iter();
        let other = tensors.take_while(|it| matches!(it.value, Value::Tensor(_)));
        return Err(call.mismatch(other.count(), "a tensor in shared memory"));
    };
    let Value::Barrier(barrier) = &call.args[2].value else {
        return Err(call.mismatch(2, "a barrier"));
    };
    same_elements(b, call, from, to.element)?;
    let (count, starts) = contiguous(b, call, from.layout.layout(), to.layout.layout())?;
    let bytes = whole_units(b, call, count, from.element)?;
    let (sources, places) = (indices(b, from, &starts)?, indices(b, to, &starts)?);
    check_shared(b, call, 0, from, &sources)?;
    check_shared(b, call, 1, to, &places)?;
    let own = barrier.addresses().register(b, 0)?;
    let barrier = there(b, call, 3, &own)?;
    let own = plain(to).register(b, 0)?;
    let to_there = there(b, call, 3, &own)?;
    let mut from_here = plain(from);
    for (source, place) in sources.into_iter().zip(places) {
        let operands = [
            address_operand(&to_there, b.whole(to.byte(place))?),
            from_here.operand(b, b.whole(from.byte(source))?)?,
            bytes.clone(),
            address_operand(&barrier, 0),
        ];
        let modifiers = (SharedCluster, SharedCta);
        b.emit(op::CpAsyncBulk, modifiers, operands);
    }
    Ok(Value::Unit)
}

/// The operands of one instruction.
struct Piece {
    /// `[address]`.
    global: Operand,
    /// `[address]`.
    shared: Operand,
    /// How many bytes it copies.
    bytes: Operand,
}

/// The pieces of a tile of global memory that are contiguous there and in the tensor in shared memory, if there is one. Each comes with the
/// index of its argument. `instead` is what accesses only the elements inside of the tensor, for messages.
fn pieces(
    b: &mut Builder,
    call: &Call,
    (argument, tile): (usize, &Global),
    shared: Option<(usize, &Tensor)>,
    instead: Option<&str>,
) -> Result<Vec<Piece>> {
    b.set_place(call.args[argument].span);
    let layout = known_tile(b, tile)?.clone();
    let offsets = offsets(b, tile, &layout)?;
    b.set_place(call.span);
    let (count, starts) = match shared {
        Some((_, tensor)) => {
            same_elements(b, call, tensor, tile.element)?;
            contiguous(b, call, tensor.layout.layout(), &offsets)?
        }
        None => contiguous(b, call, &offsets, &offsets)?,
    };
    let bytes = whole_units(b, call, count, tile.element)?;
    let modes: Vec<Layout> = (0..tile.origin.len())
        .map(|mode| along(&layout, &[mode]))
        .collect();
    let reach: Vec<i64> = modes.iter().map(|mode| mode.cosize() - 1).collect();
    let inside = Inside::new(b, tile, &[reach]);
    require(b, inside, instead)?;
    let coordinate =
        |at: &i64| -> Result<Vec<i64>> { modes.iter().map(|mode| value(b, mode, *at)).collect() };
    let coordinates = starts.iter().map(coordinate).collect::<Result<_>>()?;
    let mut part = Part::of(b, tile.clone(), coordinates)?;
    check_global(b, call, argument, tile, &part)?;
    let mut addresses = match shared {
        Some((argument, tensor)) => {
            let indices = indices(b, tensor, &starts)?;
            check_shared(b, call, argument, tensor, &indices)?;
            Some((tensor, plain(tensor), indices))
        }
        None => None,
    };
    let mut pieces = Vec::new();
    for number in 0..starts.len() {
        b.check_length()?;
        pieces.push(Piece {
            global: part.operand(b, number)?,
            shared: match &mut addresses {
                Some((tensor, addresses, indices)) => {
                    addresses.operand(b, b.whole(tensor.byte(indices[number]))?)?
                }
                None => Operand::Sink,
            },
            bytes: bytes.clone(),
        });
    }
    Ok(pieces)
}

/// The layout from coordinates of a tile to offsets in elements from its first element.
fn offsets(b: &Builder, tile: &Global, layout: &Layout) -> Result<Layout> {
    let last = tile.origin.len() - 1;
    let stride = |mode: usize| {
        let known = b.known.facts.value(Quantity::Stride(tile.id(), mode));
        let known = known.and_then(|known| i64::try_from(known).ok());
        known
            .filter(|known| (0..FAR).contains(known))
            .unwrap_or(FAR)
    };
    let strides = layout.stride().map(|step| match step.path() {
        [mode] if *mode == last => step.value().into(),
        [mode] => step.value().saturating_mul(stride(*mode)).into(),
        _ => 0.into(),
    });
    if layout.stride().leaves().any(|step| step.value() < 0) {
        return Err(b.error("a bulk copy takes a tile whose coordinates ascend"));
    }
    Layout::new(layout.shape().clone(), strides).map_err(|error| b.error(error))
}

/// The number of elements that are consecutive in both layouts of a tile, and the 1-D coordinates where such pieces begin.
fn contiguous(b: &Builder, call: &Call, x: &Layout, y: &Layout) -> Result<(i64, Vec<i64>)> {
    let extents =
        |layout: &Layout| -> Vec<i64> { layout.modes().iter().map(Layout::size).collect() };
    if extents(x) != extents(y) {
        let message = format!(
            "`{}` copies between tensors of one shape, not of {} and {}",
            call.name,
            x.shape(),
            y.shape()
        );
        return Err(b.error(message));
    }
    let common = max_common_layout(x, y).map_err(|error| b.error(error))?;
    let rest = complement(&common, x.size()).map_err(|error| b.error(error))?;
    Ok((common.size(), rest.values().collect()))
}

/// The bytes of a piece of `count` elements, if they are whole units of the engine.
fn whole_units(b: &Builder, call: &Call, count: i64, element: Element) -> Result<Operand> {
    let bytes = b.whole(element.bytes_of(count.into()))?;
    if bytes % i128::from(ALIGN) == 0 {
        return Ok(Operand::Int(bytes));
    }
    Err(b.error(format!(
        "`{}` moves multiples of {ALIGN} bytes, but of this tile no more than {bytes} bytes are contiguous on both sides: `copy` moves any number",
        call.name
    )))
}

/// Refuses elements of two types.
fn same_elements(b: &Builder, call: &Call, tensor: &Tensor, element: Element) -> Result<()> {
    if tensor.element == element {
        return Ok(());
    }
    let (own, name) = (tensor.element, call.name);
    Err(b.error(format!(
        "`{name}` copies between tensors of one element type, not of `{own}` and `{element}`"
    )))
}

/// Refuses pieces that may begin at an address that is not aligned for the engine, and names a fact that would prove the alignment.
fn check_global(
    b: &Builder,
    call: &Call,
    argument: usize,
    tile: &Global,
    part: &Part,
) -> Result<()> {
    let (name, unit) = (&b.params[tile.param].name, ALIGN / part.width);
    let unknown = part
        .multiples(b)
        .into_iter()
        .find(|(multiple, _)| multiple % i128::from(ALIGN) != 0);
    let reason = match unknown {
        Some((_, Some(Quantity::Stride(_, mode)))) => format!(
            "the fact `aligned({name}, {ALIGN})`, or `stride({name}, {mode}) % {unit} == 0`, says that they do"
        ),
        Some((_, Some(_))) => format!("the fact `aligned({name}, {ALIGN})` says that they do"),
        Some((_, None)) => format!(
            "the coordinate of the tile in the last mode must be a multiple of {unit} whatever the thread and the launch"
        ),
        None => {
            let last = part
                .coordinates
                .iter()
                .filter_map(|coordinate| coordinate.last());
            let Some(odd) = last.copied().find(|last| last % unit != 0) else {
                return Ok(());
            };
            format!(
                "one begins at coordinate {odd} in the last mode, which is no multiple of {unit}"
            )
        }
    };
    let message = format!(
        "`{}` takes pieces that begin at multiples of {ALIGN} bytes of `{name}`: {reason}",
        call.name
    );
    Err(call.error_at(argument, message))
}

/// Refuses a tensor in shared memory that is swizzled, or whose pieces may begin at bytes that are not multiples of 16.
fn check_shared(
    b: &Builder,
    call: &Call,
    argument: usize,
    tensor: &Tensor,
    indices: &[i64],
) -> Result<()> {
    if !tensor.layout.swizzle().is_identity() {
        let message = format!(
            "`{}` keeps the order of bytes, and this tensor is swizzled: `tma_load` and `tma_store` copy swizzled tiles",
            call.name
        );
        return Err(call.error_at(argument, message));
    }
    let dynamic = b.known.possible_bits(&tensor.dynamic) as i64;
    let is_aligned = |byte: i64| ((i64::from(tensor.base) + byte) | dynamic) & (ALIGN - 1) == 0;
    let mut starts = indices.iter().map(|index| tensor.byte(*index));
    if starts.all(|byte| byte.is_ok_and(is_aligned)) {
        return Ok(());
    }
    let message = format!(
        "`{}` takes pieces that begin at multiples of {ALIGN} bytes of shared memory, and one of this tensor may not",
        call.name
    );
    Err(call.error_at(argument, message))
}

/// The indices of the first elements of pieces.
fn indices(b: &Builder, tensor: &Tensor, starts: &[i64]) -> Result<Vec<i64>> {
    let starts = starts.iter();
    starts
        .map(|at| value(b, tensor.layout.layout(), *at))
        .collect()
}

/// The value of a layout at a 1-D coordinate, where a piece begins.
fn value(b: &Builder, layout: &Layout, at: i64) -> Result<i64> {
    let value = layout.at(at);
    value.ok_or_else(|| {
        b.error(format!(
            "a piece begins at {at}, outside of {layout} (a defect)"
        ))
    })
}

/// The addresses of a tensor without a swizzle.
fn plain(tensor: &Tensor) -> Addresses {
    Addresses::new(
        tensor.base.into(),
        Swizzle::IDENTITY,
        tensor.dynamic.clone(),
    )
}
