//! Memory of this project as slices of cudarc's.

use std::mem::ManuallyDrop;

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut, DevicePtrMut};
use cute_runtime::{Buffer, Element, Tensor};

use crate::{Error, Guest};

/// A buffer that is lent to cudarc, to read: [`Guest::lend`] makes one.
#[derive(Debug)]
pub struct Lent<'a, T: Element>(Loan<'a, T>);

/// A tensor that is lent to cudarc, to read and write: [`Guest::lend_mut`] makes one.
#[derive(Debug)]
pub struct LentMut<'a, T: Element>(Loan<'a, T>);

#[derive(Debug)]
struct Loan<'a, T: Element> {
    /// Not freed by cudarc.
    slice: ManuallyDrop<CudaSlice<T>>,
    buffer: &'a Buffer<T>,
    guest: &'a Guest,
    writes: bool,
}

impl Guest {
    /// Lends a buffer to cudarc, to read. The guest's stream waits for all work that writes the buffer, on whatever stream, and cudarc's
    /// other streams wait as for its own slices. Work of ours that writes the buffer after the drop waits for cudarc's.
    ///
    /// ```no_run
    /// # use cute_cudarc::{Error, Guest};
    /// # use cute_runtime::Tensor;
    /// # fn copy(guest: &Guest) -> Result<(), Error> {
    /// let x = Tensor::from_slice(guest.device(), &[1.0f32; 100], [10, 10])?;
    /// let lent = guest.lend(x.buffer())?;
    /// assert_eq!(guest.stream().clone_dtoh(&lent.view())?, [1.0; 100]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Buffer::order_read`], [`Error::TrackedCapture`], and [`Error::Cudarc`] if cudarc makes no events.
    pub fn lend<'a, T: Element>(&'a self, buffer: &'a Buffer<T>) -> Result<Lent<'a, T>, Error> {
        Ok(Lent(self.loan(buffer, false)?))
    }

    /// Lends a tensor to cudarc, to read and write: all elements of its buffer, gaps included. The order is that of
    /// [`lend`](Guest::lend), and work of ours that reads the tensor is also waited for, and waits.
    ///
    /// # Errors
    /// As for [`lend`](Guest::lend).
    pub fn lend_mut<'a, T: Element, const R: usize>(
        &'a self,
        tensor: &'a mut Tensor<T, R>,
    ) -> Result<LentMut<'a, T>, Error> {
        Ok(LentMut(self.loan(tensor.buffer(), true)?))
    }

    fn loan<'a, T: Element>(
        &'a self,
        buffer: &'a Buffer<T>,
        writes: bool,
    ) -> Result<Loan<'a, T>, Error> {
        let stream = self.stream();
        self.check(stream)?;
        if stream.context().is_event_tracking() {
            // `upgrade_device_ptr` panics if it gets no event.
            stream.context().new_event(None)?;
        }
        order(self, buffer, writes)?;
        // SAFETY: the buffer has these elements, whose bytes are initialised, and is borrowed as long as the slice.
        let mut slice = unsafe { stream.upgrade_device_ptr::<T>(buffer.address(), buffer.len()) };
        // Another stream of cudarc's waits for the event of writes, which comes behind our work.
        drop(slice.device_ptr_mut(stream).1);
        let loan = Loan {
            slice: ManuallyDrop::new(slice),
            buffer,
            guest: self,
            writes,
        };
        stream.context().check_err()?;
        Ok(loan)
    }
}

/// Puts the stream of the guest into the order of the work that uses the buffer.
fn order<T: Element>(guest: &Guest, buffer: &Buffer<T>, writes: bool) -> Result<(), Error> {
    let stream = guest.device().stream();
    match writes {
        true => buffer.order_write(&stream)?,
        false => buffer.order_read(&stream)?,
    }
    Ok(())
}

impl<T: Element> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this is the drop, and nothing else takes the slice.
        let slice = unsafe { ManuallyDrop::take(&mut self.slice) };
        // The stream waits for cudarc's other streams.
        slice.leak();
        if order(self.guest, self.buffer, self.writes).is_err() {
            // Without an order, cudarc's work has to end first. A failure is one of the device, which the next call reports.
            let _ = self.guest.stream().synchronize();
        }
    }
}

impl<T: Element> Lent<'_, T> {
    /// The elements, as cudarc's.
    pub fn view(&self) -> CudaView<'_, T> {
        self.0.slice.as_view()
    }
}

impl<T: Element> LentMut<'_, T> {
    /// The elements, as cudarc's, to read.
    pub fn view(&self) -> CudaView<'_, T> {
        self.0.slice.as_view()
    }

    /// The elements, as cudarc's, to write.
    pub fn view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.0.slice.as_view_mut()
    }
}
