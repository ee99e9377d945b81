//! The options of copies.

use crate::kernel::builtins::call::{Call, named};
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::value::Value;
use cute_ptx::table::choice::{
    Accessible, L1Eviction, L2Prefetch, LoadCache, Modifiers, StoreCache,
};
use cute_ptx::table::op;
use syn::Result;

/// What the loads or stores of a copy have as modifiers, besides their vectors and types.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// The state space.
    space: Accessible,
    /// The hint for lines of the caches.
    hint: Option<Hint>,
    /// How many bytes the L2 cache prefetches on a miss. Stores have none.
    fetch: Option<L2Prefetch>,
}

/// A hint for lines of the caches.
#[derive(Clone, Copy)]
enum Hint {
    /// Each is used once.
    Streaming,
    /// How long each stays in the L1 cache.
    L1(L1Eviction),
}

impl Options {
    /// Those of a copy without hints.
    pub(super) fn of(space: Accessible) -> Self {
        Self {
            space,
            hint: None,
            fetch: None,
        }
    }

    /// The modifiers of a load.
    pub(super) fn load(self) -> impl Modifiers<op::Ld> {
        let cache = self.streams().then_some(LoadCache::Cs);
        (self.space, cache, self.eviction(), self.fetch)
    }

    /// The modifiers of a store.
    pub(super) fn store(self) -> impl Modifiers<op::St> {
        let cache = self.streams().then_some(StoreCache::Cs);
        (self.space, cache, self.eviction())
    }

    fn streams(self) -> bool {
        matches!(self.hint, Some(Hint::Streaming))
    }

    fn eviction(self) -> Option<L1Eviction> {
        match self.hint {
            Some(Hint::L1(eviction)) => Some(eviction),
            _ => None,
        }
    }
}

/// Words for the hints for lines of global memory.
const HINTS: &[(&str, Hint)] = &[
    ("STREAMING", Hint::Streaming),
    ("EVICT_FIRST", Hint::L1(L1Eviction::L1EvictFirst)),
    ("EVICT_LAST", Hint::L1(L1Eviction::L1EvictLast)),
    ("NO_ALLOCATE", Hint::L1(L1Eviction::L1NoAllocate)),
];

/// Words for the prefetch sizes of loads of global memory.
const FETCHES: &[(&str, L2Prefetch)] = &[
    ("L2_64B", L2Prefetch::L2Prefetch64B),
    ("L2_128B", L2Prefetch::L2Prefetch128B),
    ("L2_256B", L2Prefetch::L2Prefetch256B),
];

/// The options of a copy of global memory. If argument `index` is given, it is its hint: a word of one of the tables, or one of each. For a
/// copy from global memory to global memory, the store only has the first part.
pub(super) fn options(call: &Call, index: usize, direction: Direction) -> Result<Options> {
    let plain = Options::of(Accessible::Global);
    let Some(argument) = call.args.get(index) else {
        return Ok(plain);
    };
    let found = match &argument.value {
        Value::Tuple(words) => match &words[..] {
            [hint, fetch] => Some((named(HINTS, hint), named(FETCHES, fetch)))
                .filter(|(hint, fetch)| hint.is_some() && fetch.is_some()),
            _ => None,
        },
        word => Some((named(HINTS, word), named(FETCHES, word)))
            .filter(|(hint, fetch)| hint.is_some() || fetch.is_some()),
    };
    let Some((hint, fetch)) = found else {
        return Err(call.mismatch(
            index,
            "STREAMING, EVICT_FIRST, EVICT_LAST or NO_ALLOCATE, for a load also L2_64B, L2_128B or L2_256B, or two of these as in \
             (NO_ALLOCATE, L2_256B)",
        ));
    };
    match direction {
        Direction::Load => Ok(Options {
            hint,
            fetch,
            ..plain
        }),
        Direction::Store if fetch.is_some() && !matches!(call.args[0].value, Value::Global(_)) => {
            Err(call.error_at(
                index,
                "a store fetches nothing: L2_64B, L2_128B and L2_256B belong to loads",
            ))
        }
        Direction::Store => Ok(Options { hint, ..plain }),
    }
}
