//! A stream as a device handle names it: owned, borrowed or the default one.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::streams::Streams;
use crate::Error;

/// A stream, or one thread's part of the per-thread default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId {
    pub(super) queue: u64,
    /// The number of the thread; 0 unless the stream is the per-thread default stream.
    pub(super) thread: u64,
}

/// A stream. Its drop ends an owned stream and releases the owner of a borrowed one; work that was enqueued is done all the same.
pub(crate) struct Queue {
    id: u64,
    kind: Kind,
    /// Whether others know the stream, so that they may capture it.
    is_shared: AtomicBool,
}

enum Kind {
    /// The default stream of the device, whose number is 0.
    Default,
    /// The default stream of the thread that uses it.
    PerThread(Arc<dyn Streams>),
    Owned(Arc<dyn Streams>, u64),
    Foreign {
        backend: Arc<dyn Streams>,
        stream: u64,
        owner: Option<Arc<dyn Any + Send + Sync>>,
    },
}

/// The number of the default stream as a queue.
const DEFAULT: u64 = 0;

static NEXT: AtomicU64 = AtomicU64::new(DEFAULT + 1);

impl Queue {
    /// The default stream of any device.
    pub(crate) fn default_stream() -> Arc<Self> {
        Arc::new(Queue {
            id: DEFAULT,
            kind: Kind::Default,
            is_shared: AtomicBool::new(false),
        })
    }

    pub(crate) fn per_thread(backend: Arc<dyn Streams>) -> Arc<Self> {
        Queue::new(Kind::PerThread(backend))
    }

    /// # Safety
    /// The stream is from `create_stream` of the backend, and nobody else destroys it.
    pub(crate) unsafe fn owned(backend: Arc<dyn Streams>, stream: u64) -> Arc<Self> {
        Queue::new(Kind::Owned(backend, stream))
    }

    /// # Safety
    /// The stream is one of the backend, and lives as long as the owner.
    pub(crate) unsafe fn foreign(
        backend: Arc<dyn Streams>,
        stream: u64,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Arc<Self> {
        let owner = Some(owner);
        Queue::new(Kind::Foreign {
            backend,
            stream,
            owner,
        })
    }

    fn new(kind: Kind) -> Arc<Self> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let is_shared = AtomicBool::new(!matches!(kind, Kind::Owned(..)));
        Arc::new(Queue {
            id,
            kind,
            is_shared,
        })
    }

    /// The backend's number of the stream, for the calling thread.
    pub(crate) fn stream(&self, backend: &dyn Streams) -> u64 {
        match self.kind {
            Kind::Default => DEFAULT,
            Kind::PerThread(_) => backend.stream_of_thread(thread_number()),
            Kind::Owned(_, stream) | Kind::Foreign { stream, .. } => stream,
        }
    }

    pub(super) fn lane(&self) -> LaneId {
        LaneId {
            queue: self.id,
            thread: match self.kind {
                Kind::PerThread(_) => thread_number(),
                _ => 0,
            },
        }
    }

    /// Others get to know the stream.
    pub(crate) fn share(&self) {
        if !matches!(self.kind, Kind::Default) {
            self.is_shared.store(true, Ordering::Relaxed);
        }
    }

    /// Whether others know the stream. They cannot capture the default stream.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed)
    }

    /// Whether others capture the stream into a graph.
    pub(crate) fn is_captured(&self, backend: &dyn Streams) -> Result<bool, Error> {
        match self.is_shared() {
            // SAFETY: this value keeps the stream, or its owner.
            true => unsafe { backend.is_capturing(self.stream(backend)) },
            false => Ok(false),
        }
    }
}

/// A number of the thread, from 1.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    // While a thread ends, its number may be gone; no other thread has this one.
    let known = NUMBER.try_with(Cell::get).unwrap_or(u64::MAX);
    if known != 0 {
        return known;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let _ = NUMBER.try_with(|it| it.set(number));
    number
}

impl Drop for Queue {
    fn drop(&mut self) {
        match &mut self.kind {
            Kind::Default => {}
            Kind::PerThread(backend) => {
                backend.close(self.id);
            }
            Kind::Owned(backend, stream) => {
                if backend.close(self.id) {
                    // SAFETY: the stream is owned, and this is its last handle.
                    unsafe { backend.destroy_stream(*stream) };
                }
            }
            Kind::Foreign { backend, owner, .. } => {
                if !backend.close(self.id) {
                    // The order still names the stream, so its owner must stay.
                    std::mem::forget(owner.take());
                }
            }
        }
    }
}
