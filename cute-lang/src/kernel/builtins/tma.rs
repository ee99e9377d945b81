//! Tensors read and written by TMA.
//!
//! Coordinates are in the order of the tensor's modes, rows first, also for TMA, although TMA instructions take the reverse order. So a
//! tile, its tensor and its coordinate agree mode by mode; the lowering reverses once.

use super::copy::reduction::reduction;
use super::mbarrier;
use crate::kernel::access::address::Addresses;
use crate::kernel::access::global::address::claim;
use crate::kernel::builtins::call::{Builtin, Call, instruction};
use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::claim::in_list;
use crate::kernel::emit::param::{ParamKind, TmaParam, TmaRecipe};
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Tensor, TensorId, TmaTensor, Value};
use cute_algebra::{Layout, Swizzle, TmaPlan, prepend_to_rank, tma_plan};
use cute_chip::ElementType;
use cute_chip::tma::{SHARED_ALIGN, start_problem};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{
    Dims, MulticastCluster, Read, SharedCluster, SharedCta, TensorMode, Tile,
};
use cute_ptx::table::{choice, op};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "tma_load(source, coordinate, tile, barrier, [ctas])",
        apply: tma_load,
    },
    Builtin {
        signature: "tma_store(tile, destination, coordinate)",
        apply: tma_store,
    },
    Builtin {
        signature: "tma_reduce(tile, destination, coordinate, operation)",
        apply: tma_reduce,
    },
    Builtin {
        signature: "tma_prefetch(source, coordinate, tile)",
        apply: tma_prefetch,
    },
    Builtin {
        signature: "tma_prefetch_map(tensor)",
        apply: tma_prefetch_map,
    },
    Builtin {
        signature: "tma_commit()",
        apply: |b, _| instruction(b, op::CpAsyncBulkCommitGroup, (), None),
    },
    Builtin {
        signature: "tma_wait_read(groups)",
        apply: |b, call| wait(b, call, Some(Read)),
    },
    Builtin {
        signature: "tma_wait(groups)",
        apply: |b, call| wait(b, call, None),
    },
];

/// The most bulk groups that a wait can leave pending.
const MAX_GROUPS: u32 = 63;

fn wait(b: &mut Builder, call: &Call, read: Option<Read>) -> Result<Value> {
    let groups = call.constant_in(0, 0..=MAX_GROUPS)?;
    instruction(b, op::CpAsyncBulkWaitGroup, read, Some(groups.into()))
}

/// Loads a tile into the shared memory of the CTA. If `ctas` is given, loads it into each CTA of the cluster whose bit is set, with the
/// tile and its barrier at the same offsets.
fn tma_load(b: &mut Builder, call: &Call) -> Result<Value> {
    let copies = copies(b, call, 0, 1, 2, true)?;
    let barrier = mbarrier::address(b, call, 3)?;
    let ctas = match call.args.get(4) {
        Some(_) => Some(cta_mask(b, call, 4)?),
        None => None,
    };
    let multicast = ctas.as_ref().map(|_| MulticastCluster);
    for Copy { tensor, tile, dims } in copies {
        let operands = [tile, tensor, barrier.clone()];
        let (to, from) = (SharedCluster, choice::Global);
        b.emit(
            op::CpAsyncBulkTensor,
            (dims, to, from, TensorMode::Tile, multicast),
            operands.into_iter().chain(ctas.clone()),
        );
    }
    Ok(Value::Unit)
}

/// Argument `index`, a set of CTAs of the cluster, as an operand.
pub(super) fn cta_mask(b: &mut Builder, call: &Call, index: usize) -> Result<Operand> {
    let size: u32 = b.cluster.iter().product();
    let mask = call.num(index)?;
    if let Num::Const(known) = mask
        && !(1..1 << size).contains(&known)
    {
        let message = format!(
            "a set of the CTAs of a cluster of {size} is from 0b1 to {:#b}, not {known:#b}",
            (1u32 << size) - 1
        );
        return Err(call.error_at(index, message));
    }
    let mask = match mask {
        Num::Reg(scalar) => b.convert(&scalar, Type::U16)?,
        known => b.to_register(&known, Type::U16)?,
    };
    Ok(mask.operand())
}

fn tma_store(b: &mut Builder, call: &Call) -> Result<Value> {
    for Copy { tensor, tile, dims } in copies(b, call, 1, 2, 0, false)? {
        b.emit(
            op::CpAsyncBulkTensor,
            (dims, choice::Global, SharedCta, TensorMode::Tile),
            [tensor, tile],
        );
    }
    Ok(Value::Unit)
}

/// Combines elements of a tensor with those of a tile.
fn tma_reduce(b: &mut Builder, call: &Call) -> Result<Value> {
    let copies = copies(b, call, 1, 2, 0, false)?;
    let element = map_of(b, call, 1)?.1.element;
    let (op, _) = reduction(call, 3, element)?;
    for Copy { tensor, tile, dims } in copies {
        let modifiers = (dims, op, Tile);
        b.emit(op::CpReduceAsyncBulkTensor, modifiers, [tensor, tile]);
    }
    Ok(Value::Unit)
}

/// Prefetches into the L2 cache the bytes that `tma_load` would load.
fn tma_prefetch(b: &mut Builder, call: &Call) -> Result<Value> {
    for Copy { tensor, dims, .. } in copies(b, call, 0, 1, 2, true)? {
        let modifiers = (dims, Tile);
        b.emit(op::CpAsyncBulkPrefetchTensor, modifiers, [tensor]);
    }
    Ok(Value::Unit)
}

/// Fetches the tensor map of a parameter.
fn tma_prefetch_map(b: &mut Builder, call: &Call) -> Result<Value> {
    let (id, _) = map_of(b, call, 0)?;
    let map = address_operand(&b.tensor_map(id), 0);
    if let Some(index) = b.index_of(id).cloned() {
        let symbol = b.params[id.param].symbol.clone();
        b.claims.add(&map, in_list(&symbol, &index));
    }
    b.emit(op::PrefetchTensormap, (), [map]);
    Ok(Value::Unit)
}

/// Argument `index` as a parameter with a tensor map.
fn map_of<'b>(b: &'b Builder, call: &Call, index: usize) -> Result<(TensorId, &'b TmaParam)> {
    if let Value::TmaTensor(TmaTensor(id)) = call.args[index].value
        && let ParamKind::TmaLoad(tma) | ParamKind::TmaStore(tma) = &b.params[id.param].kind
    {
        return Ok((id, tma));
    }
    Err(call.mismatch(index, "a `TmaLoad` or a `TmaStore` parameter"))
}

/// The operands of one instruction.
struct Copy {
    /// `[map, {coordinates}]`.
    tensor: Operand,
    /// `[address]`.
    tile: Operand,
    dims: Dims,
}

/// The instructions that copy a tile. `map`, `coordinate` and `tile` are indices of arguments.
fn copies(
    b: &mut Builder,
    call: &Call,
    map: usize,
    coordinate: usize,
    tile: usize,
    load: bool,
) -> Result<Vec<Copy>> {
    let Value::TmaTensor(TmaTensor(id)) = call.args[map].value else {
        return Err(call.mismatch(
            map,
            if load {
                "a `TmaLoad` parameter"
            } else {
                "a `TmaStore` parameter"
            },
        ));
    };
    let param = id.param;
    let (tma, is_load) = match &b.params[param].kind {
        ParamKind::TmaLoad(tma) => (tma.clone(), true),
        ParamKind::TmaStore(tma) => (tma.clone(), false),
        _ => return Err(call.mismatch(map, "a tensor map")),
    };
    let name = b.params[param].name.clone();
    if is_load != load {
        let (wanted, found) = if load {
            ("TmaLoad", "TmaStore")
        } else {
            ("TmaStore", "TmaLoad")
        };
        return Err(call.error_at(
            map,
            format!(
                "`{}` takes a `{wanted}`, but `{name}` is a `{found}`",
                call.name
            ),
        ));
    }
    let Value::Tensor(tile_tensor) = &call.args[tile].value else {
        return Err(call.mismatch(tile, "a tensor in shared memory"));
    };
    if tile_tensor.element.host() != tma.element.host() {
        let (tile_element, element) = (tile_tensor.element, tma.element);
        return Err(call.error_at(
            tile,
            format!("the tile has elements of `{tile_element}`, but `{name}` has elements of `{element}`"),
        ));
    }
    let tile_tensor = &tile_tensor.of_rank(b, tma.rank)?;
    let start = coordinates(call, coordinate, tma.rank)?;
    // The last mode of a tensor is contiguous.
    let order: Vec<usize> = (0..tma.rank).rev().collect();
    let plan = tma_plan(tma.element.bits(), &tile_tensor.layout, &order)
        .map_err(|error| call.error_at(tile, error))?;
    record(b, call, tile, param, &plan)?;
    let element = tma.element.host();
    check_starts(call, coordinate, element, &start, &plan, !load)?;
    instructions(b, call, tile, id, tile_tensor, &start, &plan)
}

/// Refuses a box if its start is known to be one that TMA does not allow.
fn check_starts(
    call: &Call,
    index: usize,
    element: ElementType,
    start: &[Num],
    plan: &TmaPlan,
    writes: bool,
) -> Result<()> {
    for piece in &plan.pieces {
        let modes = start.iter().zip(&piece.coordinate).rev().enumerate();
        for (dimension, (start, offset)) in modes {
            let known = start.constant().and_then(|start| i64::try_from(start).ok());
            let known = known.and_then(|start| start.checked_add(*offset));
            let problem = known.and_then(|at| start_problem(element, dimension, at, writes));
            if let Some(problem) = problem {
                return Err(call.error_at(index, problem));
            }
        }
    }
    Ok(())
}

impl Tensor {
    /// The tensor with leading modes of extent 1, up to this rank.
    fn of_rank(&self, b: &mut Builder, rank: usize) -> Result<Tensor> {
        let layout = self.layout.layout();
        if layout.rank() >= rank {
            return Ok(self.clone());
        }
        let one = Layout::new(1, 0);
        let layout = one.and_then(|one| prepend_to_rank(layout, rank as i64, &one));
        self.with_layout(b, layout.map_err(|error| b.error(error))?)
    }
}

/// Argument `index` as a coordinate of this rank.
fn coordinates(call: &Call, index: usize, rank: usize) -> Result<Vec<Num>> {
    let coordinates = match &call.args[index].value {
        Value::Tuple(elements) => elements.iter().map(Value::as_num).collect(),
        single => single.as_num().map(|num| vec![num]),
    };
    let Some(coordinates) = coordinates.filter(|coordinates: &Vec<Num>| coordinates.len() == rank)
    else {
        return Err(call.mismatch(index, &format!("a coordinate of {rank} integers")));
    };
    Ok(coordinates)
}

/// Records the tensor map for a use of the parameter. All uses of a parameter share one.
fn record(b: &mut Builder, call: &Call, tile: usize, param: usize, plan: &TmaPlan) -> Result<()> {
    // Extents of a box are at most 256.
    let recipe = TmaRecipe {
        box_shape: plan.box_shape.iter().map(|&extent| extent as u32).collect(),
        swizzle: plan.swizzle,
    };
    let name = b.params[param].name.clone();
    let (ParamKind::TmaLoad(tma) | ParamKind::TmaStore(tma)) = &mut b.params[param].kind else {
        let message = format!("`{name}` has no tensor map (a defect)");
        return Err(call.error_at(tile, message));
    };
    match &tma.recipe {
        Some(known) if *known == recipe => {}
        Some(known) => {
            let message = format!(
                "this tile needs boxes of {:?} and {}, but an earlier use of `{name}` needs {:?} and {}: \
                 a parameter has one tensor map",
                recipe.box_shape,
                recipe.swizzle.name(),
                known.box_shape,
                known.swizzle.name()
            );
            return Err(call.error_at(tile, message));
        }
        None => {
            let element = tma.element;
            let line = format!(
                "tensor map {name}: {element}, boxes of {:?}, {}",
                recipe.box_shape,
                recipe.swizzle.name()
            );
            tma.recipe = Some(recipe);
            b.notes.add(line);
        }
    }
    Ok(())
}

fn instructions(
    b: &mut Builder,
    call: &Call,
    index: usize,
    id: TensorId,
    tile: &Tensor,
    start: &[Num],
    plan: &TmaPlan,
) -> Result<Vec<Copy>> {
    let aligned =
        b.known.possible_bits(&tile.dynamic).trailing_zeros() >= SHARED_ALIGN.trailing_zeros();
    if !aligned {
        let message = format!(
            "a run-time coordinate may put the tile at an address that is not a multiple of {SHARED_ALIGN}"
        );
        return Err(call.error_at(index, message));
    }
    let map = b.tensor_map(id);
    // TMA applies the swizzle itself, so it takes addresses without it.
    let mut addresses = Addresses::new(tile.base.into(), Swizzle::IDENTITY, tile.dynamic.clone());
    let mut copies = Vec::new();
    for piece in &plan.pieces {
        let mut coords = Vec::new();
        // Tensor maps count dimensions from the innermost.
        for (start, offset) in start.iter().zip(&piece.coordinate).rev() {
            coords.push(b.add(start, &Num::from(*offset))?.operand());
        }
        let tensor = Operand::Tensor {
            map: Box::new(map.operand()),
            coords,
        };
        let place = start.iter().cloned().zip(piece.coordinate.iter().copied());
        let place = place.map(|(number, known)| (number, known, false));
        claim(b, &tensor, id, place);
        copies.push(Copy {
            tensor,
            tile: addresses.operand(b, b.whole(tile.byte(piece.offset))?)?,
            // A tensor map has at most five dimensions.
            dims: Dims(start.len() as u8),
        });
    }
    Ok(copies)
}
