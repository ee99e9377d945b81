//! The tiles that were measured, for products that follow.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::choice::Choice;
use super::once;
use super::tile::Tile;

/// Tiles, by the name of the device and the product.
type Tiles = HashMap<(String, String), Tile>;

static TUNED: LazyLock<Mutex<Tiles>> = LazyLock::new(Mutex::default);

/// What [`Plan::autotune`](crate::Plan::autotune) has measured in this process, and what [`remember`] was given, in no order. With the
/// feature `serde`, they can be written to a file, so that other processes remember them.
pub fn tuned() -> Vec<Choice> {
    let tuned = lock();
    let choices = tuned.iter().map(|((device, product), tile)| Choice {
        device: device.clone(),
        product: product.clone(),
        tile: *tile,
    });
    choices.collect()
}

/// From now on, `gemm` and [`Plan::autotune`](crate::Plan::autotune) take this tile for such products on such devices. A tile that is not
/// in the build, without the feature `instantiate`, is left out of account.
///
/// ```
/// use cute_kernels::{Device, Plan, Tensor, bf16, remember, tuned};
/// let device = Device::emulator();
/// let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
/// let (a, b, d) = (&matrix(16, 64)?, &matrix(32, 64)?, &mut matrix(16, 32)?);
/// let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut())?;
/// let (other, _) = plan.candidates()[1];
/// remember(&plan.with_tile(other)?.choice(&device));
/// // On a GPU, so does what `Plan::autotune` has measured.
/// assert!(tuned().iter().any(|choice| choice.tile == other));
/// # Ok::<(), cute_kernels::Error>(())
/// ```
pub fn remember(choice: &Choice) {
    let key = (choice.device.clone(), choice.product.clone());
    lock().insert(key, choice.tile);
    once::forget(&choice.device);
}

/// The tile for the product of a choice, if one is remembered.
pub(super) fn tile(choice: &Choice) -> Option<Tile> {
    let tuned = lock();
    if tuned.is_empty() {
        return None;
    }
    let key = (choice.device.clone(), choice.product.clone());
    tuned.get(&key).copied()
}

fn lock() -> MutexGuard<'static, Tiles> {
    TUNED.lock().unwrap_or_else(PoisonError::into_inner)
}
