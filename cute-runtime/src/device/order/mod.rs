//! The order of work on several streams.
//!
//! Each piece of work (an allocation, a copy, a launch, the end of an allocation) has a number on its stream. Memory knows the last piece
//! that wrote it, and those that have read it since. A piece that uses the memory on another stream first waits for these, by an event.
//! So safe code cannot make a data race between two streams, and the host waits for nothing.
//!
//! With one stream, this costs two numbers for each tensor of a launch. From the second stream on, an event is recorded behind each
//! piece: recorded only when another stream needs it, it would make that stream also wait for the pieces in between.

mod queue;
mod streams;

pub(crate) use queue::Queue;
pub(crate) use streams::Streams;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::Error;
use crate::device::lock::lock;
use crate::device::logging::{Level, log};
use queue::LaneId;

/// How many events of a stream are kept. A piece of work whose event is no longer kept is waited for by a later one.
const EVENTS: usize = 32;

/// A piece of work, and all pieces before it on its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    lane: LaneId,
    number: u64,
}

/// The work that uses some memory.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    written: Option<Mark>,
    /// The last reading piece of each lane since then.
    read: Vec<Mark>,
}

/// The uses of some memory to which a piece of work is added, and whether it writes the memory.
pub(crate) type Use<'a> = (&'a Mutex<Uses>, bool);

/// Memory that knows the work that uses it.
pub(crate) trait Used: Send + Sync {
    fn uses(&self) -> &Mutex<Uses>;
}

/// The streams of a device on which something was enqueued.
#[derive(Default)]
pub(crate) struct Order {
    lanes: Mutex<Vec<Lane>>,
    /// Memory whose freeing failed, to be freed with the next.
    unfreed: Mutex<Vec<(u64, Mutex<Uses>)>>,
    /// Memory of the host, with its bytes, that copies may still use.
    unfreed_host: Mutex<Vec<(u64, usize, Mutex<Uses>)>>,
}

struct Lane {
    id: LaneId,
    /// The backend's number of the stream; `None` once the stream's last handle is dropped.
    stream: Option<u64>,
    /// Whether others know the stream.
    is_shared: bool,
    /// How many pieces of work were enqueued.
    enqueued: u64,
    /// Events, oldest first, each with the number of the piece behind which it was recorded. Who waits for one on the host shares it, and
    /// the last owner destroys it.
    events: VecDeque<(u64, Arc<u64>)>,
    /// The pieces of other lanes that this one has waited for.
    waited: Vec<Mark>,
    /// Of a thread's default stream, the error of an event that could not be recorded: another thread cannot record one later.
    failure: Option<Error>,
}

impl Uses {
    /// The work that must come before a piece that reads or writes the memory.
    fn before(&self, writes: bool) -> impl Iterator<Item = Mark> {
        let readers = if writes { &self.read[..] } else { &[] };
        self.written.into_iter().chain(readers.iter().copied())
    }

    fn add(&mut self, mark: Mark, writes: bool) {
        if writes {
            self.written = Some(mark);
            self.read.clear();
        } else if let Some(known) = self.read.iter_mut().find(|it| it.lane == mark.lane) {
            known.number = mark.number;
        } else {
            self.read.push(mark);
        }
    }
}

impl Order {
    /// Calls `enqueue` to enqueue one piece of work on the stream, behind the work on other streams that it depends on.
    ///
    /// The order is locked meanwhile, so `enqueue` runs no code of the user's.
    pub(crate) fn enqueue<'a, T>(
        &self,
        backend: &dyn Streams,
        queue: &Queue,
        uses: impl Iterator<Item = Use<'a>> + Clone,
        enqueue: impl FnOnce(u64) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let stream = queue.stream(backend);
        let (id, is_captured) = (queue.lane(), queue.is_captured(backend)?);
        let mut waits = 0;
        let result = {
            let mut lanes = lock(&self.lanes);
            let own = lanes.iter().position(|lane| lane.id == id);
            let own = own.unwrap_or_else(|| {
                remove_ended(backend, &mut lanes);
                lanes.push(Lane::new(id, stream, queue.is_shared()));
                lanes.len() - 1
            });
            lanes[own].is_shared = queue.is_shared();
            let alone = lanes.len() == 1;
            if !alone {
                for (memory, writes) in uses.clone() {
                    for mark in lock(memory).before(writes) {
                        waits += wait(backend, &mut lanes, own, mark, is_captured)?;
                    }
                }
            }
            let result = enqueue(stream)?;
            // What is captured runs later, when its graph is launched: its owner keeps the order then, as `Stream::from_raw` demands.
            if !is_captured {
                let lane = &mut lanes[own];
                lane.enqueued += 1;
                let number = lane.enqueued;
                uses.for_each(|(memory, writes)| {
                    lock(memory).add(Mark { lane: id, number }, writes)
                });
                if id.thread != 0 {
                    lane.failure = lane.record(backend, stream).err();
                } else if !alone {
                    // If it fails, the wait that finds no event records one, or has the error.
                    let _ = lane.record(backend, stream);
                }
            }
            result
        };
        if waits > 0 {
            let events = if waits == 1 { "event" } else { "events" };
            let line = format_args!("a stream waits for {waits} {events} of other streams");
            log(Level::Debug, "cute_runtime::stream", line);
        }
        Ok(result)
    }

    /// Frees memory on the stream, behind all work that uses it. If that fails, the memory is freed with the next.
    ///
    /// # Safety
    /// The backend has allocated the memory, and nobody uses or frees it from now on.
    pub(crate) unsafe fn free(
        &self,
        backend: &dyn Streams,
        queue: &Queue,
        address: u64,
        uses: Mutex<Uses>,
    ) {
        // A free that is captured would run whenever the graph does. Nobody captures the default stream, which also serves if the driver
        // does not say whether the other one is captured.
        let default = Queue::default_stream();
        let queue = match queue.is_captured(backend) {
            Ok(false) => queue,
            _ => &default,
        };
        let mut unfreed = std::mem::take(&mut *lock(&self.unfreed));
        unfreed.push((address, uses));
        unfreed.retain(|(address, uses)| {
            let one = std::iter::once((uses, true));
            // SAFETY: the callers make the promise that the call demands.
            let free = |stream| unsafe { backend.free(stream, *address) };
            let freed = self.enqueue(backend, queue, one, free).is_ok();
            if freed {
                backend.freed(*address);
            }
            !freed
        });
        lock(&self.unfreed).extend(unfreed);
    }

    /// Frees memory of the host, or lets a later call free it if work may still use it.
    ///
    /// # Safety
    /// As for `Backend::free_host`, but for work in the uses.
    pub(crate) unsafe fn free_host(
        &self,
        backend: &dyn Streams,
        address: u64,
        bytes: usize,
        uses: Mutex<Uses>,
    ) {
        let mut unfreed = std::mem::take(&mut *lock(&self.unfreed_host));
        unfreed.push((address, bytes, uses));
        unfreed.retain(|(address, bytes, uses)| {
            let ended = self.has_ended(backend, uses).unwrap_or(false);
            if ended {
                // SAFETY: the callers make the promise that the call demands, and no work uses the memory.
                unsafe { backend.free_host(*address, *bytes) };
            }
            !ended
        });
        lock(&self.unfreed_host).extend(unfreed);
    }

    /// Whether all work that uses some memory has ended.
    fn has_ended(&self, backend: &dyn Streams, uses: &Mutex<Uses>) -> Result<bool, Error> {
        let mut lanes = lock(&self.lanes);
        for mark in lock(uses).before(true) {
            if let Some(lane) = lanes.iter_mut().find(|it| it.id == mark.lane)
                && let Some((_, event)) = lane.event_behind(backend, mark.number)?
                // SAFETY: the event is of this lane, which the lock keeps.
                && !unsafe { backend.is_reached(*event)? }
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits, on the host, for all work that uses some memory.
    pub(crate) fn finish(&self, backend: &dyn Streams, uses: &Mutex<Uses>) -> Result<(), Error> {
        let mut events = Vec::new();
        {
            let mut lanes = lock(&self.lanes);
            for mark in lock(uses).before(true) {
                if let Some(lane) = lanes.iter_mut().find(|it| it.id == mark.lane) {
                    let event = lane.event_behind(backend, mark.number)?;
                    events.extend(event.map(|(_, event)| event));
                }
            }
        }
        // The order is not locked meanwhile: other threads go on.
        let mut finished = Ok(());
        for event in events {
            // SAFETY: the event is shared.
            finished = finished.and(unsafe { backend.finish_event(*event) });
            discard(backend, event);
        }
        finished
    }

    /// Destroys all events and frees memory of the host, before the backend ends.
    #[cfg(feature = "cuda")]
    pub(crate) fn clear(&self, backend: &dyn Streams) {
        let unfreed = std::mem::take(&mut *lock(&self.unfreed_host));
        for (address, bytes, uses) in unfreed {
            if self.has_ended(backend, &uses).unwrap_or(false) {
                // SAFETY: no work uses the memory, as its last owner has promised.
                unsafe { backend.free_host(address, bytes) };
            }
        }
        let lanes = std::mem::take(&mut *lock(&self.lanes));
        for (_, event) in lanes.into_iter().flat_map(|lane| lane.events) {
            discard(backend, event);
        }
    }

    /// Called when the last handle of a stream is dropped: its work gets a last event. False if that cannot be recorded, so that the
    /// stream must be kept.
    pub(crate) fn close(&self, backend: &dyn Streams, queue: u64) -> bool {
        let mut lanes = lock(&self.lanes);
        for lane in lanes.iter_mut().filter(|lane| lane.id.queue == queue) {
            if lane.last_event() < lane.enqueued
                && lane.failure.is_none()
                && let Some(stream) = lane.stream
                && lane.record(backend, stream).is_err()
            {
                return false;
            }
            // With a failure, the lane stays: what waits for it has the error.
            if lane.failure.is_none() {
                lane.stream = None;
            }
        }
        remove_ended(backend, &mut lanes);
        true
    }
}

/// Makes the lane at index `own` wait for a piece of work. Returns how many events it waits for: 1, or 0 if it comes later anyway.
fn wait(
    backend: &dyn Streams,
    lanes: &mut [Lane],
    own: usize,
    mark: Mark,
    is_captured: bool,
) -> Result<u32, Error> {
    let Lane { id, stream, .. } = lanes[own];
    let mut waited = lanes[own].waited.iter();
    let known = waited.position(|it| it.lane == mark.lane);
    let has_waited = known.is_some_and(|at| lanes[own].waited[at].number >= mark.number);
    // What is captured has waited for nothing that its stream waited for before.
    if mark.lane == id || (has_waited && !is_captured) {
        return Ok(0);
    }
    // A lane that is not listed has ended all its work.
    let Some(lane) = lanes.iter_mut().find(|it| it.id == mark.lane) else {
        return Ok(0);
    };
    let event = lane.event_behind(backend, mark.number)?;
    let (Some((number, event)), Some(stream)) = (event, stream) else {
        return Ok(0);
    };
    if is_captured {
        // A wait for an event that is not of the capture would break the capture.
        // SAFETY: the event is shared.
        return match unsafe { backend.is_known_to_be_reached(*event) } {
            true => Ok(0),
            false => Err(Error::StreamCaptured {
                what: "to wait for work of another stream that has not finished",
            }),
        };
    }
    // SAFETY: the event is shared, and the stream is that of the caller's handle.
    unsafe { backend.wait(stream, *event)? };
    let waited = &mut lanes[own].waited;
    match known {
        Some(at) => waited[at].number = number,
        None => waited.push(Mark { number, ..mark }),
    }
    Ok(1)
}

/// Forgets the streams that have no handle, once their work has ended.
fn remove_ended(backend: &dyn Streams, lanes: &mut Vec<Lane>) {
    lanes.retain_mut(|lane| {
        let ended = lane.stream.is_none()
            && lane.failure.is_none()
            && lane.events.back().is_none_or(|(_, event)| {
                // SAFETY: the event is of this lane.
                unsafe { backend.is_known_to_be_reached(**event) }
            });
        if ended {
            let events = lane.events.drain(..);
            events.for_each(|(_, event)| discard(backend, event));
        }
        !ended
    });
    let listed: Vec<LaneId> = lanes.iter().map(|lane| lane.id).collect();
    for lane in lanes {
        lane.waited.retain(|mark| listed.contains(&mark.lane));
    }
}

impl Lane {
    fn new(id: LaneId, stream: u64, is_shared: bool) -> Self {
        Lane {
            id,
            stream: Some(stream),
            is_shared,
            enqueued: 0,
            events: VecDeque::new(),
            waited: Vec::new(),
            failure: None,
        }
    }

    /// The number of the piece of work behind which the last event was recorded; 0 if there is none.
    fn last_event(&self) -> u64 {
        self.events.back().map_or(0, |(number, _)| *number)
    }

    /// The first kept event behind a piece of work, with the number of the last piece before it. If there is none, one is recorded now.
    fn event_behind(
        &mut self,
        backend: &dyn Streams,
        number: u64,
    ) -> Result<Option<(u64, Arc<u64>)>, Error> {
        if self.last_event() < number
            && let Some(stream) = self.stream
        {
            if let Some(error) = &self.failure {
                return Err(error.clone());
            }
            // SAFETY: the stream has a handle, or `close` had been called.
            if self.is_shared && unsafe { backend.is_capturing(stream)? } {
                return Err(Error::StreamCaptured {
                    what: "that another stream waits for its earlier work",
                });
            }
            self.record(backend, stream)?;
        }
        Ok(self.events.iter().find(|(of, _)| *of >= number).cloned())
    }

    /// Records an event behind all work of the lane. The oldest one is used again if there are many and nobody waits for it on the host:
    /// streams that wait for it are not affected.
    fn record(&mut self, backend: &dyn Streams, stream: u64) -> Result<(), Error> {
        let oldest = match self.events.len() {
            EVENTS => self.events.pop_front().map(|(_, event)| event),
            _ => None,
        };
        let event = match oldest.and_then(Arc::into_inner) {
            Some(event) => event,
            None => backend.create_event(false)?,
        };
        // SAFETY: the event is of this lane, and the stream has a handle, or `close` had been called.
        if let Err(error) = unsafe { backend.record(event, stream) } {
            // SAFETY: nobody else knows the event.
            unsafe { backend.destroy_event(event) };
            return Err(error);
        }
        self.events.push_back((self.enqueued, Arc::new(event)));
        Ok(())
    }
}

/// Ends the use of an event, which the last user destroys.
fn discard(backend: &dyn Streams, event: Arc<u64>) {
    if let Some(event) = Arc::into_inner(event) {
        // SAFETY: nobody else has the event.
        unsafe { backend.destroy_event(event) };
    }
}
