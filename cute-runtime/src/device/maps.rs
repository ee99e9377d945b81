//! Tensor maps that a device has encoded.
//!
//! A tensor map is encoded once: it depends only on the recipe and the view, so a cached map never goes out of date, and the arguments
//! need no second check.

use std::ptr;
use std::sync::Mutex;

use cute_chip::tma::{MAP_BYTES, MAX_RANK};

use crate::device::lock::lock;
use crate::device::tensor_map::RawView;
use crate::{Error, TmaRecipe};

/// How many maps are kept: sets of a few.
const SETS: usize = 64;
const WAYS: usize = 4;

/// The encoded maps of recipes and views. A map depends on nothing else, so a kept map is correct, and its recipe and view have
/// passed their checks. A map can be in one set only. In a full set it replaces the oldest map. So addresses do not decide whether
/// the maps of a few tensors are kept.
#[derive(Default)]
pub(crate) struct Maps(Mutex<Vec<Set>>);

type Set = [Option<(Key, Map)>; WAYS];

type Map = [u8; MAP_BYTES];

/// The address of the `'static` recipe; the view's element type, address and rank; its extents and its strides.
type Key = [u64; 4 + 2 * MAX_RANK];

impl Maps {
    /// The map of a recipe and a view, which `encode` makes if it is not kept.
    pub(crate) fn get(
        &self,
        recipe: &'static TmaRecipe,
        view: &RawView<'_>,
        encode: impl FnOnce() -> Result<Map, Error>,
    ) -> Result<Map, Error> {
        let Some(key) = key(recipe, view) else {
            return encode();
        };
        let set = set(&key);
        if let Some(kept) = lock(&self.0).get(set)
            && let Some((_, map)) = kept.iter().flatten().find(|(known, _)| *known == key)
        {
            return Ok(*map);
        }
        let map = encode()?;
        let mut sets = lock(&self.0);
        sets.resize(SETS, [None; WAYS]);
        sets[set].rotate_right(1);
        sets[set][0] = Some((key, map));
        Ok(map)
    }
}

/// `None` for a view with more modes than a map has.
fn key(recipe: &'static TmaRecipe, view: &RawView<'_>) -> Option<Key> {
    let rank = view.shape.len();
    let mut key = [0; 4 + 2 * MAX_RANK];
    key[0] = ptr::from_ref(recipe).addr() as u64;
    key[1] = view.element as u64;
    key[2] = view.address;
    key[3] = rank as u64;
    let places = key.get_mut(4..4 + 2 * rank)?;
    for (place, &number) in places.iter_mut().zip(view.shape.iter().chain(view.strides)) {
        *place = number as u64;
    }
    Some(key)
}

/// The set of a map: the high bits of a product, on which all bits of the key have an effect.
fn set(key: &Key) -> usize {
    let mixed = key.iter().fold(0, |mixed: u64, number| {
        // 2⁶⁴ divided by the golden ratio.
        (mixed.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed >> (u64::BITS - SETS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{ElementType, L2Promotion, OobFill, SwizzleMode};

    const fn recipe(box_shape: &'static [u32]) -> TmaRecipe {
        TmaRecipe {
            name: "a",
            element: ElementType::BF16,
            box_shape,
            swizzle: SwizzleMode::B128,
            l2: L2Promotion::B256,
            fill: OobFill::Zero,
        }
    }

    static RECIPES: [TmaRecipe; 2] = [recipe(&[128, 64]), recipe(&[64, 64])];
    const VIEW: RawView<'_> = RawView {
        element: ElementType::BF16,
        address: 0x1000,
        shape: &[1000, 72],
        strides: &[80, 1],
    };

    #[test]
    fn a_map_is_made_once_and_another_is_another() {
        let maps = Maps::default();
        let made = Cell::new(0);
        let get = |recipe: &'static TmaRecipe, view: &RawView<'_>| {
            let encode = || {
                made.set(made.get() + 1);
                Ok([made.get(); MAP_BYTES])
            };
            maps.get(recipe, view, encode).unwrap()[0]
        };
        let [first, second] = &RECIPES;
        assert_eq!([get(first, &VIEW), get(first, &VIEW)], [1, 1]);
        let views = [
            RawView {
                element: ElementType::F16,
                ..VIEW
            },
            RawView {
                address: 0x2000,
                ..VIEW
            },
            RawView {
                shape: &[1001, 72],
                ..VIEW
            },
            RawView {
                strides: &[88, 1],
                ..VIEW
            },
            RawView {
                shape: &[1000, 72, 80],
                strides: &[1, 0, 0],
                ..VIEW
            },
        ];
        for (view, number) in views.iter().zip(2..) {
            assert_eq!(get(first, view), number, "{view:?}");
        }
        assert_eq!(get(second, &VIEW), 7);
        // More modes than a map has are not looked up.
        let many = RawView {
            shape: &[1; 6],
            strides: &[1; 6],
            ..VIEW
        };
        assert_eq!([get(first, &many), get(first, &many)], [8, 9]);
    }

    #[test]
    fn an_error_is_not_kept() {
        let maps = Maps::default();
        let error = || Err(Error::NoDriver);
        assert!(maps.get(&RECIPES[0], &VIEW, error).is_err());
        assert!(maps.get(&RECIPES[0], &VIEW, || Ok([0; MAP_BYTES])).is_ok());
    }

    /// The matrices of a model, one after another in memory: more than half of as many as there are places are kept.
    #[test]
    fn neighbours_are_spread_over_the_sets() {
        let all = SETS * WAYS;
        let mut taken = [0; SETS];
        for i in 0..all as u64 {
            let address = 0x7f00_0000_0000 + i * (8192 * 8192 * 2);
            let key = key(&RECIPES[0], &RawView { address, ..VIEW });
            taken[set(&key.expect("two modes"))] += 1;
        }
        let kept: usize = taken.into_iter().map(|maps| WAYS.min(maps)).sum();
        assert!(kept > all / 2, "{kept} of {all}");
    }

    /// A set keeps the maps that came last.
    #[test]
    fn maps_of_one_set_are_kept_together() {
        let keys = (0..).filter_map(|i: u64| {
            let address = 16 * i;
            let view = RawView { address, ..VIEW };
            (set(&key(&RECIPES[0], &view)?) == 0).then_some(address)
        });
        let addresses: Vec<u64> = keys.take(WAYS + 1).collect();
        let (maps, encoded) = (Maps::default(), Cell::new(0));
        let get = |address| {
            let encode = || {
                encoded.set(encoded.get() + 1);
                Ok([0; MAP_BYTES])
            };
            maps.get(&RECIPES[0], &RawView { address, ..VIEW }, encode)
        };
        for address in addresses.iter().chain(&addresses[1..]) {
            assert!(get(*address).is_ok());
        }
        assert_eq!(encoded.get(), WAYS + 1);
        assert!(get(addresses[0]).is_ok());
        assert_eq!(encoded.get(), WAYS + 2);
    }
}
