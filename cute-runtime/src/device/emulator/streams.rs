//! Streams and events of an emulated device: numbers, and the points of the memory that events stand for.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cute_emulator::Point;

use crate::device::lock::lock;

/// The bit that the numbers of threads' default streams have, and those of other streams do not.
const THREAD: u64 = 1 << 62;

/// The bit of the numbers of streams and events that the device makes. Streams of others have numbers without it.
const MADE: u64 = 1 << 63;

/// The default stream of a thread.
pub(super) fn of_thread(thread: u64) -> u64 {
    THREAD | thread
}

/// The events of a device, and the number of the next stream or event.
#[derive(Default)]
pub(super) struct Events(Mutex<State>);

#[derive(Default)]
struct State {
    last: u64,
    recorded: HashMap<u64, Recorded>,
}

struct Recorded {
    point: Point,
    time: Instant,
    /// Whether the host has waited for it.
    waited_for: bool,
}

impl Events {
    /// A number that no stream and no event has.
    pub(super) fn new_number(&self) -> u64 {
        let mut state = lock(&self.0);
        state.last += 1;
        MADE | state.last
    }

    pub(super) fn record(&self, event: u64, point: Point) {
        let recorded = Recorded {
            point,
            time: Instant::now(),
            waited_for: false,
        };
        lock(&self.0).recorded.insert(event, recorded);
    }

    /// The point where the event was recorded last; `None` if it never was.
    pub(super) fn point(&self, event: u64) -> Option<Point> {
        Some(lock(&self.0).recorded.get(&event)?.point.clone())
    }

    /// The host has waited for a point.
    pub(super) fn waited_for(&self, point: &Point) {
        for recorded in lock(&self.0).recorded.values_mut() {
            recorded.waited_for |= point.includes(&recorded.point);
        }
    }

    pub(super) fn is_known_to_be_reached(&self, event: u64) -> bool {
        let state = lock(&self.0);
        state.recorded.get(&event).is_none_or(|it| it.waited_for)
    }

    pub(super) fn elapsed(&self, start: u64, end: u64) -> Duration {
        let state = lock(&self.0);
        let time = |event| state.recorded.get(&event).map(|it| it.time);
        match (time(start), time(end)) {
            (Some(start), Some(end)) => end.saturating_duration_since(start),
            _ => Duration::ZERO,
        }
    }

    pub(super) fn remove(&self, event: u64) {
        lock(&self.0).recorded.remove(&event);
    }
}
