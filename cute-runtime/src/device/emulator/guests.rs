//! Memory of the host that a guest of others owns, as an emulated device has it: a copy in the device's memory.
//!
//! A launch finds what the host has written before the call. The host finds what a launch has written once it has waited for the launch, not
//! earlier: a program that does not wait reads old values here, as it may on a GPU.

use std::collections::BTreeMap;
use std::ptr;

use cute_emulator::{GlobalMemory, MemoryError, Point};

/// The memory of guests, by the address of the first byte on the device.
#[derive(Default)]
pub(super) struct Guests(BTreeMap<u64, Guest>);

struct Guest {
    host: *mut u8,
    bytes: usize,
    /// How many tensors are in this memory.
    tensors: usize,
    /// The point behind the last work that has written it, unless the host has the bytes.
    written: Option<Point>,
}

// SAFETY: the memory may be used by any thread until the guest is released, as who has added it has promised.
unsafe impl Send for Guests {}

/// Where memory of the host is on the device.
pub(super) enum Place {
    /// It is new.
    Nowhere,
    /// At this address, in memory that is a guest's already.
    At(u64),
    /// It begins or ends in memory that is a guest's already: at this address of the host, of so many bytes.
    Across(u64, usize),
}

impl Guests {
    /// Where memory of the host is on the device. If it has an address there, one more tensor is in it.
    pub(super) fn place(&mut self, host: u64, bytes: usize) -> Place {
        for (&base, guest) in &mut self.0 {
            let (start, end) = (
                guest.host.addr() as u64,
                guest.host.addr() as u64 + guest.bytes as u64,
            );
            if start <= host && host + bytes as u64 <= end {
                guest.tensors += 1;
                return Place::At(base + (host - start));
            }
            if host < end && start < host + bytes as u64 {
                return Place::Across(start, guest.bytes);
            }
        }
        Place::Nowhere
    }

    /// # Safety
    /// Until it is removed, the `bytes` bytes at `host` are initialised memory that others use only as
    /// [`Tensor::from_raw_parts_mut`](crate::Tensor::from_raw_parts_mut) says.
    pub(super) unsafe fn add(&mut self, address: u64, host: *mut u8, bytes: usize) {
        let guest = Guest {
            host,
            bytes,
            tensors: 1,
            written: None,
        };
        self.0.insert(address, guest);
    }

    /// Copies what the host has to the device, for work on the memory that has this address in it.
    pub(super) fn enter(&self, memory: &mut GlobalMemory, address: u64) -> Result<(), MemoryError> {
        let found = self.0.range(..=address).next_back();
        let Some((&base, guest)) = found.filter(|(base, guest)| guest.has(**base, address)) else {
            return Ok(());
        };
        if guest.written.is_some() {
            return Ok(());
        }
        let on_device = memory.bytes_mut(base, guest.bytes)?;
        // SAFETY: the memory of the guest has so many bytes, which nobody writes meanwhile, as `add` demands.
        unsafe { ptr::copy_nonoverlapping(guest.host, on_device.as_mut_ptr(), guest.bytes) };
        Ok(())
    }

    /// Work up to this point has written the memory that has this address in it.
    pub(super) fn wrote(&mut self, address: u64, point: Point) {
        let found = self.0.range_mut(..=address).next_back();
        if let Some((_, guest)) = found.filter(|(base, guest)| guest.has(**base, address)) {
            guest.written = Some(point);
        }
    }

    /// Copies what work up to a point has written to the host, which has waited for the point.
    pub(super) fn leave(
        &mut self,
        memory: &GlobalMemory,
        point: &Point,
    ) -> Result<(), MemoryError> {
        for (&address, guest) in &mut self.0 {
            if guest.written.as_ref().is_some_and(|it| point.includes(it)) {
                guest.copy_to_host(memory, address)?;
            }
        }
        Ok(())
    }

    /// Copies what work has written to the host, for work of others on the same bytes: `bytes` bytes of the host from `host` on. Returns
    /// where these are on the device, as far as they are there.
    pub(super) fn lend(
        &mut self,
        memory: &GlobalMemory,
        host: u64,
        bytes: usize,
    ) -> Result<Vec<(u64, usize)>, MemoryError> {
        let mut lent = Vec::new();
        for (&base, guest) in &mut self.0 {
            let start = guest.host.addr() as u64;
            let from = host.max(start);
            let to = (host + bytes as u64).min(start + guest.bytes as u64);
            if from < to {
                if guest.written.is_some() {
                    guest.copy_to_host(memory, base)?;
                }
                lent.push((base + (from - start), (to - from) as usize));
            }
        }
        Ok(lent)
    }

    /// Ends a tensor in memory that has this address in it. The host then has what work has written. Returns the address of the memory if
    /// no tensor is left in it.
    pub(super) fn remove(
        &mut self,
        memory: &GlobalMemory,
        address: u64,
    ) -> Result<Option<u64>, MemoryError> {
        let Some((&base, guest)) = self.0.range_mut(..=address).next_back() else {
            return Ok(None);
        };
        if guest.written.is_some() {
            guest.copy_to_host(memory, base)?;
        }
        guest.tensors -= 1;
        if guest.tensors > 0 {
            return Ok(None);
        }
        self.0.remove(&base);
        Ok(Some(base))
    }
}

impl Guest {
    fn has(&self, base: u64, address: u64) -> bool {
        address - base < self.bytes as u64
    }

    fn copy_to_host(&mut self, memory: &GlobalMemory, address: u64) -> Result<(), MemoryError> {
        let on_device = memory.bytes(address, self.bytes)?;
        // SAFETY: the memory of the guest has so many bytes, which nobody uses meanwhile, as `add` demands. A tensor that is only read is
        // never written by work, so that its memory is not written here.
        unsafe { ptr::copy_nonoverlapping(on_device.as_ptr(), self.host, self.bytes) };
        self.written = None;
        Ok(())
    }
}
