//! The stored decision of a plan.

use cute_runtime::{Device, ElementType};

use super::tile::Tile;
use crate::product::operands::Form;

/// The tile of a [`Plan`](crate::Plan), with the device and the product for which it holds. With the feature `serde` it can be
/// stored in a file, so that one run of a program measures and other runs use the result.
///
/// ```
/// use cute_kernels::{Plan, Tile};
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
/// let (a, b, mut d) = (matrix(16, 64)?, matrix(32, 64)?, matrix(16, 32)?);
/// let choice = Plan::autotune(&device, &a.view(), &b.view(), &mut d.view_mut())?.choice(&device);
/// assert_eq!(choice.product, "bf16 to bf16, 16 x 32 x 64, A and B along K and K, stored by TMA");
///
/// let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut())?.with_choice(&device, &choice)?;
/// assert_eq!(plan.tile(), choice.tile);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Choice {
    /// Name of the device.
    pub device: String,
    /// The product: its types, its extents, and how its matrices lie.
    pub product: String,
    /// The tile.
    pub tile: Tile,
}

impl Choice {
    pub(super) fn new(
        device: &Device,
        [input, by, output]: [ElementType; 3],
        form: &Form,
        tile: Tile,
    ) -> Self {
        let along = |mn, letter| if mn { letter } else { "K" };
        let [a_mn, b_mn] = form.reads_mn();
        let (a, b) = (along(a_mn, "M"), along(b_mn, "N"));
        let store = form.store();
        let inputs = match input == by {
            true => input.to_string(),
            false => format!("{input} by {by}"),
        };
        Self {
            device: device.name().to_owned(),
            product: format!(
                "{inputs} to {output}, {form}, A and B along {a} and {b}, stored by {store}"
            ),
            tile,
        }
    }
}
