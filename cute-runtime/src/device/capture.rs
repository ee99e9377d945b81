//! Capture: the launches of a thread are listed and not made.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::device::backend::{Backend, Launch};

/// The number of the next capture.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

struct Capture {
    id: u64,
    backend: Arc<dyn Backend>,
    launches: Vec<Launch>,
}

/// While this value lives, its thread lists the launches on a device. Dropping it discards the list.
pub(crate) struct Capturing(());

impl Capturing {
    pub(crate) fn begin(backend: &Arc<dyn Backend>) -> Result<Self, Error> {
        CAPTURE.with_borrow_mut(|capture| {
            if capture.is_some() {
                return Err(Error::Capturing);
            }
            *capture = Some(Capture {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                backend: backend.clone(),
                launches: Vec::new(),
            });
            Ok(Capturing(()))
        })
    }

    /// The launches, in their order.
    pub(crate) fn end(self) -> Vec<Launch> {
        CAPTURE.take().map_or(Vec::new(), |it| it.launches)
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        CAPTURE.take();
    }
}

/// The number of the capture, if this thread captures launches on the device.
pub(crate) fn id(backend: &Arc<dyn Backend>) -> Option<u64> {
    // A thread that ends captures nothing.
    let id = CAPTURE.try_with(|capture| {
        let capture = capture.borrow();
        let capture = capture.as_ref();
        capture
            .filter(|it| Arc::ptr_eq(&it.backend, backend))
            .map(|it| it.id)
    });
    id.ok().flatten()
}

/// Lists a launch, if this thread captures.
pub(crate) fn list(launch: Launch) {
    CAPTURE.with_borrow_mut(|capture| {
        if let Some(capture) = capture {
            capture.launches.push(launch);
        }
    });
}
