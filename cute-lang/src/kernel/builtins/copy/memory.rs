//! Where the values of a fragment lie in a tensor.

use crate::kernel::access::address::{self, in_bytes};
use crate::kernel::access::crd2idx::along;
use crate::kernel::access::global;
use crate::kernel::access::global::inside::Inside;
use crate::kernel::access::global::part::sum;
use crate::kernel::builtins::copy::partition::partition;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::value::{Element, Fragment, Global, Num, Tensor};
use cute_ptx::ast::Operand;
use cute_ptx::table::Modifier;
use syn::Result;

/// The values of a fragment in memory.
#[derive(Clone)]
pub(super) enum Memory {
    /// In shared memory: what the layout of the tensor gives for each value.
    Shared(Tensor, address::Addresses, Vec<i64>),
    /// In global memory: the coordinate of each value in the parameter, relative to the origin.
    Global(Global, global::address::Addresses, Vec<Vec<i64>>),
}

/// Widest access in bytes, of shared memory and of global memory.
const WIDEST: i64 = cute_hopper::shared::WIDEST_ACCESS as i64;

impl Memory {
    pub(super) fn shared(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<Self> {
        check_elements(b, tensor.element, fragment.element)?;
        let (tensor, indices) = of_thread(b, tensor, fragment)?;
        let addresses = tensor.addresses();
        Ok(Memory::Shared(tensor, addresses, indices))
    }

    pub(super) fn global(b: &mut Builder, global: &Global, fragment: &Fragment) -> Result<Self> {
        check_elements(b, global.element, fragment.element)?;
        let Some(layout) = global.tile() else {
            let name = &b.params[global.param].name;
            return Err(b.error(format!(
                "the extents of this part of `{name}` are known only when the kernel runs: copy a `local_tile` of it"
            )));
        };
        let mut origin = global.origin.clone();
        let mut coordinates = vec![Vec::new(); fragment.values.len()];
        for (mode, origin) in origin.iter_mut().enumerate() {
            let (offset, own) = partition(b, &along(layout, &[mode]), fragment, 1)?;
            *origin = sum(b, origin, &offset)?;
            for (coordinate, own) in coordinates.iter_mut().zip(own) {
                coordinate.push(own);
            }
        }
        let global = Global {
            origin,
            ..global.clone()
        };
        let addresses = global::address::Addresses::new(&global);
        Ok(Memory::Global(global, addresses, coordinates))
    }

    /// The state space.
    pub(super) fn space(&self) -> Modifier {
        match self {
            Memory::Shared(..) => Modifier::Shared,
            Memory::Global(..) => Modifier::Global,
        }
    }

    /// The predicates of values in global memory.
    pub(super) fn inside(&self, b: &mut Builder) -> Result<Option<Inside>> {
        match self {
            Memory::Shared(..) => Ok(None),
            Memory::Global(global, _, coordinates) => Inside::new(b, global, coordinates).map(Some),
        }
    }

    /// The coordinates of values in global memory, relative to the origin.
    pub(super) fn coordinates(&self) -> &[Vec<i64>] {
        match self {
            Memory::Shared(..) => &[],
            Memory::Global(_, _, coordinates) => coordinates,
        }
    }

    /// The largest power of two for which no vector of so many elements, at a multiple of its length, lies across the end of
    /// the last mode.
    pub(super) fn lanes_at_end(&self, b: &Builder) -> i64 {
        match self {
            Memory::Shared(..) => 1,
            Memory::Global(global, ..) => {
                let last = global.origin.len() - 1;
                let divisor = b.facts.divisor(Quantity::Extent(global.param, last));
                (divisor & divisor.wrapping_neg()).min(WIDEST.into()) as i64
            }
        }
    }

    /// The address of a value.
    pub(super) fn operand(&mut self, b: &mut Builder, value: usize) -> Result<Operand> {
        match self {
            Memory::Shared(tensor, addresses, indices) => {
                addresses.operand(b, tensor.byte(indices[value]))
            }
            Memory::Global(_, addresses, coordinates) => addresses.operand(b, &coordinates[value]),
        }
    }

    /// Where each value lies: in a row, at an index. Values at consecutive indices of a row are consecutive in memory.
    pub(super) fn places(&self) -> Vec<(Vec<i64>, i64)> {
        match self {
            Memory::Shared(tensor, _, indices) => {
                let offset = tensor.layout.offset();
                indices
                    .iter()
                    .map(|index| (Vec::new(), offset + index))
                    .collect()
            }
            Memory::Global(_, _, coordinates) => {
                let place = |coordinate: &Vec<i64>| match coordinate.split_last() {
                    Some((last, row)) => (row.to_vec(), *last),
                    None => (Vec::new(), 0),
                };
                coordinates.iter().map(place).collect()
            }
        }
    }

    /// The largest number of elements for which this holds: where the index in a row is a multiple of it, the address is a
    /// multiple of its bytes for every thread, and not more than one access moves.
    pub(super) fn lanes(&self, b: &mut Builder) -> i64 {
        match self {
            Memory::Shared(tensor, ..) => {
                // The run-time offset is a multiple of this many bytes.
                let dynamic = 1i64 << b.possible_bits(&tensor.dynamic).trailing_zeros().min(4);
                let swizzle = in_bytes(tensor.layout.swizzle(), tensor.element.bytes());
                let chunk = match swizzle.is_identity() {
                    true => WIDEST,
                    false => 1 << swizzle.base().min(4),
                };
                WIDEST.min(dynamic).min(chunk) / tensor.width()
            }
            Memory::Global(global, _, coordinates) => {
                let width = i128::from(global.element.bytes());
                let mut multiple = i128::from(WIDEST);
                let mut limit = |bytes: i128| {
                    let power = bytes & bytes.wrapping_neg();
                    multiple = multiple.min(power.max(width));
                };
                limit(b.facts.divisor(Quantity::Address(global.param)));
                let last = global.origin.len() - 1;
                for (mode, origin) in global.origin.iter().enumerate() {
                    let at_zero = *origin == Num::Const(0);
                    let all_at_zero = coordinates.iter().all(|coordinate| coordinate[mode] == 0);
                    let multiple = 1i128 << b.possible_bits(origin).trailing_zeros().min(62);
                    if mode == last {
                        limit(multiple * width);
                    } else if !at_zero || !all_at_zero {
                        // A multiple of the stride is one of the stride's divisors as well.
                        let stride = Quantity::Stride(global.param, mode);
                        let steps = if all_at_zero { multiple } else { 1 };
                        limit((b.facts.divisor(stride) * width).saturating_mul(steps));
                    }
                }
                (multiple / width) as i64
            }
        }
    }
}

/// The tensor that begins at the coordinate of the thread, and what its layout gives for each value of the fragment.
pub(super) fn of_thread(
    b: &mut Builder,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<(Tensor, Vec<i64>)> {
    let layout = tensor.layout.layout();
    let (offset, indices) = partition(b, layout, fragment, tensor.width())?;
    let dynamic = b.add(&tensor.dynamic, &offset)?;
    let tensor = Tensor {
        dynamic,
        ..tensor.clone()
    };
    Ok((tensor, indices))
}

fn check_elements(b: &Builder, tensor: Element, fragment: Element) -> Result<()> {
    if tensor == fragment {
        return Ok(());
    }
    Err(b.error(format!(
        "the tensor has elements of `{tensor}`, but the fragment has elements of `{fragment}`: convert the fragment"
    )))
}
