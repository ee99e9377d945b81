//! Device memory: typed buffers.

use std::any::Any;
use std::iter;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use zerocopy::IntoBytes;

use crate::device::logging::{Level, log};
use crate::device::order::{Use, Used, Uses};
use crate::{Device, Element, Error, Stream};

/// An array of elements in a device's memory.
///
/// Its home is the stream of the device handle that made it: it is allocated, copied and freed on that stream. Dropping it frees the
/// memory once all work that uses it has ended, on whatever stream; the host does not wait for that. Memory that a
/// [`Graph`](crate::Graph) uses is freed only after the graph is dropped, too.
pub struct Buffer<T: Element> {
    memory: Arc<Memory>,
    len: usize,
    element: PhantomData<T>,
}

/// Memory of a device that buffers and graphs share. It is freed when the last of these is dropped.
pub(crate) struct Memory {
    /// The device, with the home stream.
    pub(crate) device: Device,
    /// 0 if there are no bytes.
    pub(crate) address: u64,
    uses: Mutex<Uses>,
    owner: Owner,
}

enum Owner {
    Device,
    /// The guard of others, which is dropped when their next work may use the memory.
    Guest(Mutex<Option<Box<dyn Any + Send>>>),
}

impl Device {
    /// A new buffer with a copy of the elements of a slice of the host.
    #[track_caller]
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::upload(self, data)
    }

    /// A new buffer of `len` zeros.
    #[track_caller]
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeros(self, len)
    }
}

impl<T: Element> Buffer<T> {
    #[track_caller]
    fn zeros(device: &Device, len: usize) -> Result<Self, Error> {
        let buffer = Buffer::alloc(device, len)?;
        if buffer.address() != 0 {
            let backend = device.backend();
            buffer.memory.enqueue(true, |stream| {
                // SAFETY: `alloc` has just returned the memory to this buffer, and no other code knows its address.
                unsafe { backend.clear(stream, buffer.address(), buffer.bytes()) }
            })?;
        }
        Ok(buffer)
    }

    #[track_caller]
    fn upload(device: &Device, data: &[T]) -> Result<Self, Error> {
        let mut buffer = Buffer::alloc(device, data.len())?;
        buffer.write(data)?;
        Ok(buffer)
    }

    #[track_caller]
    fn alloc(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        Ok(Buffer {
            memory: Arc::new(Memory::alloc(device, bytes)?),
            len,
            element: PhantomData,
        })
    }

    /// A buffer of memory that others own, of `len` elements from the address on.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw_parts_mut`](crate::Tensor::from_raw_parts_mut).
    pub(crate) unsafe fn of_guest(
        device: &Device,
        address: u64,
        len: usize,
        guard: Box<dyn Any + Send>,
    ) -> Result<Self, Error> {
        let (backend, queue) = (&**device.backend(), device.queue());
        let uses = Mutex::default();
        // The earlier work of others is on the home stream, so this counts as a piece of work that writes the memory.
        let import = |_| match len {
            0 => Ok(0),
            // SAFETY: the caller makes the promise that the call demands.
            _ => unsafe { backend.import(address, len * size_of::<T>()) },
        };
        let address = backend
            .order()
            .enqueue(backend, queue, iter::once((&uses, true)), import)?;
        let memory = Memory {
            device: device.clone(),
            address,
            uses,
            owner: Owner::Guest(Mutex::new(Some(guard))),
        };
        Ok(Buffer {
            memory: Arc::new(memory),
            len,
            element: PhantomData,
        })
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose memory this is.
    pub fn device(&self) -> &Device {
        &self.memory.device
    }

    /// The memory, for a launch that uses it.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Device address of the first element, to pass to other libraries; 0 if there are no elements.
    ///
    /// On a GPU, the address is valid in the device's context. Make that context current before you call the other library: the
    /// calls of this crate leave the thread's current context as it was. What the other library enqueues is not known here: let it
    /// use the [home stream](Device::stream), or order its stream by [`order_read`](Buffer::order_read) and
    /// [`order_write`](Buffer::order_write).
    pub fn address(&self) -> u64 {
        self.memory.address
    }

    /// Orders a stream for work of others that reads the buffer, such as a kernel of another library. The host does not wait.
    ///
    /// Call it before that work is enqueued: the stream then waits for all work that writes the buffer. Call it again behind that work:
    /// later work that writes or frees the buffer then waits for the stream.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the stream is one of another device, and [`Error::StreamCaptured`] if its owner captures it and it
    /// would have to wait for work of another stream.
    pub fn order_read(&self, stream: &Stream) -> Result<(), Error> {
        self.memory.order(stream, false)
    }

    /// Orders a stream for work of others that writes the buffer: as [`order_read`](Buffer::order_read), where the stream also waits for
    /// work that reads the buffer, and later work that reads it waits for the stream.
    ///
    /// # Errors
    /// As for [`order_read`](Buffer::order_read).
    pub fn order_write(&self, stream: &Stream) -> Result<(), Error> {
        self.memory.order(stream, true)
    }

    /// Overwrites all elements of the buffer.
    ///
    /// # Errors
    /// If `data` has another length than the buffer ([`Error::Length`]).
    pub fn copy_from(&mut self, data: &[T]) -> Result<(), Error> {
        if data.len() != self.len {
            return Err(Error::Length {
                function: "copy_from",
                destination: "the whole buffer".to_owned(),
                expected: self.len,
                found: data.len(),
            });
        }
        self.device().uncaptured("to copy from the host")?;
        self.write(data)
    }

    /// Overwrites all elements by as many others, which have been read when this returns.
    fn write(&mut self, data: &[T]) -> Result<(), Error> {
        debug_assert_eq!(data.len(), self.len);
        if data.is_empty() {
            return Ok(());
        }
        let (address, device) = (self.address(), self.device());
        self.memory.enqueue(true, |stream| {
            // SAFETY: the bytes are not empty and are exactly as many as the buffer's, and `&mut self` gives exclusive access to
            // the buffer's memory. They are borrowed until the copy has ended, for which `finish` waits.
            unsafe {
                device
                    .backend()
                    .start_write(stream, address, data.as_bytes())
            }
        })?;
        device.finish()
    }

    /// Copies all elements to the host, once all work on them has ended.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.download_range(0, self.len)
    }

    /// Copies `len` elements from `offset` on to the host.
    ///
    /// # Panics
    /// If they do not all lie in the buffer. Views are checked when they are made, so theirs do.
    pub(crate) fn download_range(&self, offset: usize, len: usize) -> Result<Vec<T>, Error> {
        assert!(offset <= self.len && len <= self.len - offset);
        let mut data = T::new_vec_zeroed(len).map_err(|_| Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        if data.is_empty() {
            return Ok(data);
        }
        let (device, address) = (self.device(), self.address());
        device.uncaptured("to copy to the host")?;
        self.memory.enqueue(false, |stream| {
            let address = address + (offset * size_of::<T>()) as u64;
            // SAFETY: the assertion above keeps the range within the buffer's memory, all of which was cleared or written when
            // the buffer was made; the range is not empty. `data` is borrowed until the copy has ended, for which `finish` waits.
            unsafe {
                device
                    .backend()
                    .start_read(stream, address, data.as_mut_bytes())
            }
        })?;
        device.finish()?;
        Ok(data)
    }
}

impl Memory {
    /// Memory of this many bytes, which is not initialised.
    #[track_caller]
    fn alloc(device: &Device, bytes: usize) -> Result<Self, Error> {
        let uses = Mutex::default();
        let mut address = 0;
        // Backends do not allocate 0 bytes.
        if bytes != 0 {
            device.check_stream("to allocate memory")?;
            let (backend, queue) = (&**device.backend(), device.queue());
            backend.held().check(bytes)?;
            let allocate = |stream| backend.alloc(stream, bytes);
            address =
                (backend.order()).enqueue(backend, queue, iter::once((&uses, true)), allocate)?;
            backend.held().add(address, bytes, Location::caller());
        }
        Ok(Memory {
            device: device.clone(),
            address,
            uses,
            owner: Owner::Device,
        })
    }

    /// The memory, as a piece of work uses it.
    pub(crate) fn used(&self, writes: bool) -> Use<'_> {
        (&self.uses, writes)
    }

    /// Lists work of others that uses the memory: all that is on the stream so far, and what follows up to the next such call.
    fn order(&self, stream: &Stream, writes: bool) -> Result<(), Error> {
        let on = self.device.on(stream)?;
        let (backend, queue) = (&**on.backend(), on.queue());
        let uses = iter::once(self.used(writes));
        (backend.order()).enqueue(backend, queue, uses, |_| Ok(()))
    }

    /// Enqueues work that uses the memory on its home stream.
    fn enqueue(
        &self,
        writes: bool,
        work: impl FnOnce(u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (backend, queue) = (&**self.device.backend(), self.device.queue());
        let uses = iter::once(self.used(writes));
        backend.order().enqueue(backend, queue, uses, work)
    }
}

impl Used for Memory {
    fn uses(&self) -> &Mutex<Uses> {
        &self.uses
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let (backend, queue) = (&**self.device.backend(), self.device.queue());
        match &mut self.owner {
            Owner::Device if self.address != 0 => {
                let uses = std::mem::take(&mut self.uses);
                // SAFETY: `alloc` returned the address to this memory. Only this drop frees it, and nobody can use the memory after
                // its drop.
                unsafe { backend.order().free(backend, queue, self.address, uses) };
            }
            Owner::Device => {}
            Owner::Guest(_) => {
                // The guard's owner knows the home stream only, which must come behind the work on others.
                let ordered = self.enqueue(true, |_| Ok(()));
                // The owner captures the home stream, or the device failed.
                if ordered.is_err()
                    && let Err(error) = backend.order().finish(backend, &self.uses)
                {
                    let line = format_args!(
                        "memory of others at {:#x} is given back, and work may still use it: {error}",
                        self.address
                    );
                    log(Level::Error, "cute_runtime::stream", line);
                }
                if self.address != 0 {
                    // SAFETY: the address is from `import`, and the memory is not used any more.
                    unsafe { backend.release(self.address) };
                }
            }
        }
        if let Owner::Guest(guard) = &mut self.owner {
            drop(guard.get_mut().map(Option::take));
        }
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x} on {}", self.address, self.device.name())
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} × {} at {:#x} on {}",
            self.len,
            T::TYPE,
            self.address(),
            self.device().name()
        )
    }
}
