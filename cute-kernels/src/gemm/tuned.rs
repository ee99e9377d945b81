//! The tiles that were measured or chosen, for products that follow.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use cute_runtime::{Device, ElementType};

use super::choice::Choice;
use super::tile::Tile;
use crate::product::operands::Form;

/// Measured tiles, by the name of the device and the product.
type Tuned = HashMap<(String, String), Tile>;

static TUNED: LazyLock<Mutex<Tuned>> = LazyLock::new(Mutex::default);

/// A product without a plan: the types of A, B and D, and how they lie.
type Key = ([ElementType; 3], Form);

/// The tiles of products without plans, by the name of the device.
type Chosen = HashMap<String, HashMap<Key, Tile>>;

static CHOSEN: LazyLock<Mutex<Chosen>> = LazyLock::new(Mutex::default);

/// The most products of a kind of device whose tiles are in [`CHOSEN`]. Then all of them are forgotten.
const MOST: usize = 4096;

/// What [`Plan::autotune`](crate::Plan::autotune) has measured in this process, and what [`remember`] was given, in no order. With the
/// feature `serde`, they can be written to a file, so that other processes remember them.
pub fn tuned() -> Vec<Choice> {
    let tuned = lock(&TUNED);
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
    lock(&TUNED).insert(key, choice.tile);
    lock(&CHOSEN).remove(&choice.device);
}

/// The tile for the product of a choice, if one is remembered.
pub(super) fn tile(choice: &Choice) -> Option<Tile> {
    let tuned = lock(&TUNED);
    if tuned.is_empty() {
        return None;
    }
    let key = (choice.device.clone(), choice.product.clone());
    tuned.get(&key).copied()
}

/// The tile of a product without a plan, if there was one like it before.
pub(super) fn chosen(device: &Device, key: &Key) -> Option<Tile> {
    let chosen = lock(&CHOSEN);
    let tiles = chosen.get(device.name())?;
    tiles.get(key).copied()
}

/// Notes the tile of a product without a plan.
pub(super) fn choose(device: &Device, key: Key, tile: Tile) {
    let mut chosen = lock(&CHOSEN);
    let tiles = chosen.entry(device.name().to_owned()).or_default();
    if tiles.len() >= MOST {
        tiles.clear();
    }
    tiles.insert(key, tile);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
