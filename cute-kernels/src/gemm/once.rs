//! A product without a plan: the tile of a product is remembered for the next one of the same form.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use super::input::{GemmInput, most_mn};
use super::plan::Plan;
use super::tile::Tile;
use super::tuned;
use crate::Error;
use crate::pack::Kept;
use crate::product::operands::Form;

/// The most memories for sums that are kept.
const MOST_DEVICES: usize = 16;

/// For each device, memory for the sums of parts of K, while no launch is being made with it. Work on a device is done in order, so
/// the next product may overwrite it.
static SUMS: Mutex<Vec<(Device, Kept)>> = Mutex::new(Vec::new());

/// D = A · Bᵀ by the tile with the least expected time.
pub(super) fn gemm_once<A, B, D, const R: usize>(
    device: &Device,
    a: &TensorView<'_, A, R>,
    b: &TensorView<'_, B, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error>
where
    A: GemmInput<D, B>,
    B: GemmInput<D, A>,
    D: Element,
{
    let form = Form::new(a, b, d, most_mn::<A, B, D>())?;
    let key = ([A::TYPE, B::TYPE, D::TYPE], form);
    let mut plan = match tuned::chosen(device, &key) {
        Some(tile) => Plan::by_tile::<A, B, D>(device, form, tile)?,
        None => {
            let mut plan = Plan::of::<A, B, D>(device, form)?;
            if let Some(tile) = tuned::tile(&plan.choice(device))
                && let Ok(tuned) = plan.clone().with_tile(tile)
            {
                plan = tuned;
            }
            tuned::choose(device, key, plan.tile());
            plan
        }
    };
    if matches!(plan.tile(), Tile::InParts(..)) && is_captured(device)? {
        plan = Plan::of::<A, B, D>(device, form)?;
    }
    with_sums(device, plan, |plan| plan.launch(device, a, b, d))
}

/// Launches a product by a plan that is used once, with memory for the sums of parts of K that is kept for all of them.
pub(super) fn with_sums(
    device: &Device,
    plan: Plan,
    launch: impl FnOnce(&Plan) -> Result<(), Error>,
) -> Result<(), Error> {
    if !matches!(plan.tile(), Tile::InParts(..)) {
        return launch(&plan);
    }
    if is_captured(device)? {
        // A graph would use the memory of the sums whenever it runs.
        return launch(&plan.without_parts());
    }
    plan.keep_sums(take(device));
    let launched = launch(&plan);
    let mut all = lock(&SUMS);
    all.push((device.clone(), plan.take_sums()));
    if all.len() > MOST_DEVICES {
        all.remove(0);
    }
    launched
}

/// Whether launches are captured, by this program or by others, and run later.
fn is_captured(device: &Device) -> Result<bool, Error> {
    Ok(device.capture_id().is_some() || device.is_captured()?)
}

/// The memory of a device, if no other thread has it.
fn take(device: &Device) -> Kept {
    let mut all = lock(&SUMS);
    let at = all.iter().position(|(of, _)| of == device)?;
    all.swap_remove(at).1
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
