//! The options of copies.

use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::value::Value;
use cute_ptx::table::choice::{Accessible, Cs, L1Eviction, L2Prefetch, Modifiers, Takes};
use cute_ptx::table::{Modifier, op};
use syn::Result;

/// What the loads or stores of a copy have as modifiers, besides their vectors and types.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// The state space.
    space: Accessible,
    /// The hint for a line of the caches.
    line: Option<Line>,
    /// How many bytes the L2 cache prefetches on a miss. Stores have none.
    fetch: Option<L2Prefetch>,
}

/// A hint for a line of the caches.
#[derive(Clone, Copy)]
enum Line {
    /// It is used once.
    Streaming,
    /// How long it stays in the L1 cache.
    L1(L1Eviction),
}

impl Options {
    /// Those of a copy without hints.
    pub(super) fn of(space: Accessible) -> Self {
        Self {
            space,
            line: None,
            fetch: None,
        }
    }

    /// The modifiers of a load.
    pub(super) fn load(self) -> impl Modifiers<op::Ld> {
        (self.space, self.line, self.fetch)
    }

    /// The modifiers of a store.
    pub(super) fn store(self) -> impl Modifiers<op::St> {
        (self.space, self.line)
    }
}

impl<I: Takes<Cs> + Takes<L1Eviction>> Modifiers<I> for Line {
    fn push_to(self, modifiers: &mut Vec<Modifier>) {
        modifiers.push(match self {
            Line::Streaming => Cs.into(),
            Line::L1(eviction) => eviction.into(),
        });
    }
}

/// Words for the hints for lines of global memory.
const LINES: &[(&str, Line)] = &[
    ("STREAMING", Line::Streaming),
    ("EVICT_FIRST", Line::L1(L1Eviction::L1EvictFirst)),
    ("EVICT_LAST", Line::L1(L1Eviction::L1EvictLast)),
    ("NO_ALLOCATE", Line::L1(L1Eviction::L1NoAllocate)),
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
            [line, fetch] => Some((find(LINES, line), find(FETCHES, fetch)))
                .filter(|(line, fetch)| line.is_some() && fetch.is_some()),
            _ => None,
        },
        word => Some((find(LINES, word), find(FETCHES, word)))
            .filter(|(line, fetch)| line.is_some() || fetch.is_some()),
    };
    let Some((line, fetch)) = found else {
        return Err(call.mismatch(
            index,
            "STREAMING, EVICT_FIRST, EVICT_LAST or NO_ALLOCATE, for a load also L2_64B, L2_128B or L2_256B, or two of these as in \
             (NO_ALLOCATE, L2_256B)",
        ));
    };
    match direction {
        Direction::Load => Ok(Options {
            line,
            fetch,
            ..plain
        }),
        Direction::Store if fetch.is_some() && !matches!(call.args[0].value, Value::Global(_)) => {
            Err(call.error_at(
                index,
                "a store fetches nothing: L2_64B, L2_128B and L2_256B belong to loads",
            ))
        }
        Direction::Store => Ok(Options { line, ..plain }),
    }
}

fn find<C: Copy>(words: &[(&str, C)], value: &Value) -> Option<C> {
    let mut words = words.iter();
    words.find_map(|(word, choice)| {
        matches!(value, Value::Word(given) if given == word).then_some(*choice)
    })
}
