//! Device memory.
//!
//! Allocations, copies and the freeing of memory are enqueued on a stream, as launches are, and wait for nothing on the host. The memory
//! is of a pool of its own for each context, which keeps what is freed: the driver's default pool may be set up by others.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::context::Entered;
use super::driver::check;
use super::stream::handle;
use super::sys::{
    self, CUdevice, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUmemorytype, CUpointer_attribute,
};
use crate::Error;

/// A pool from which streams allocate.
pub(super) struct Pool(CUmemoryPool);

// SAFETY: a CUmemoryPool is a handle, and the driver allows any thread to use it.
unsafe impl Send for Pool {}
// SAFETY: as above, and the driver's functions may be called from several threads at the same time.
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool of a device's memory.
    pub(super) fn new(device: CUdevice) -> Result<Self, Error> {
        let properties = CUmemPoolProps {
            allocType: sys::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: 0,
            location: CUmemLocation {
                r#type: sys::CU_MEM_LOCATION_TYPE_DEVICE,
                id: device,
            },
            win32SecurityAttributes: ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let mut pool = ptr::null_mut();
        // SAFETY: the pointers are valid for the write and the read.
        check("cuMemPoolCreate", unsafe {
            sys::cuMemPoolCreate(&raw mut pool, &raw const properties)
        })?;
        let pool = Pool(pool);
        // By default, a pool gives its memory back at each synchronisation, and the next allocation is slow.
        let mut kept = u64::MAX;
        let threshold = sys::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is alive; the attribute is a number of 64 bits, which the driver reads.
        check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(pool.0, threshold, (&raw mut kept).cast::<c_void>())
        })?;
        Ok(pool)
    }

    /// Gives memory that is free back to the driver, but for so many bytes.
    pub(super) fn trim(&self, keep: usize) -> Result<(), Error> {
        // SAFETY: the pool is alive.
        check("cuMemPoolTrimTo", unsafe {
            sys::cuMemPoolTrimTo(self.0, keep)
        })?;
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the pool is from cuMemPoolCreate and is destroyed once. The driver keeps it until all its memory is freed.
        let _ = unsafe { sys::cuMemPoolDestroy(self.0) };
    }
}

/// What the driver knows of an address.
pub(super) struct Known {
    pub(super) is_host: bool,
    pub(super) ordinal: i32,
}

impl Entered {
    /// Allocates memory for the stream's later work. It is not initialised.
    pub(super) fn alloc(&self, pool: &Pool, stream: u64, bytes: usize) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the pointer is valid for the write; the pool and the stream are alive.
        check("cuMemAllocFromPoolAsync", unsafe {
            sys::cuMemAllocFromPoolAsync(&raw mut address, bytes, pool.0, handle(stream))
        })?;
        Ok(address)
    }

    /// Frees memory from `alloc` behind the stream's work.
    ///
    /// # Safety
    /// The address is from `alloc`, the caller does not use or free it again, and other streams' work that uses it ends before the
    /// stream's work so far.
    pub(super) unsafe fn free(&self, stream: u64, address: u64) -> Result<(), Error> {
        // SAFETY: the caller makes the promise.
        check("cuMemFreeAsync", unsafe {
            sys::cuMemFreeAsync(address, handle(stream))
        })?;
        Ok(())
    }

    /// Sets bytes to zero.
    ///
    /// # Safety
    /// The range lies in memory that is not freed, and no other code on the host uses it during the call.
    pub(super) unsafe fn clear(
        &self,
        stream: u64,
        address: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        // SAFETY: the range is allocated, as the caller promises.
        check("cuMemsetD8Async", unsafe {
            sys::cuMemsetD8Async(address, 0, bytes, handle(stream))
        })?;
        Ok(())
    }

    /// Starts to copy to the device.
    ///
    /// # Safety
    /// The destination is as `clear` demands. The bytes are not changed before the stream's work has ended.
    pub(super) unsafe fn start_write(
        &self,
        stream: u64,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Error> {
        // SAFETY: the destination is allocated and the source is valid for as long as the driver reads it, as the caller promises.
        check("cuMemcpyHtoDAsync", unsafe {
            sys::cuMemcpyHtoDAsync_v2(address, bytes.as_ptr().cast(), bytes.len(), handle(stream))
        })?;
        Ok(())
    }

    /// Starts to copy from the device.
    ///
    /// # Safety
    /// The source lies in memory that is initialised and not freed. The bytes are not used before the stream's work has ended.
    pub(super) unsafe fn start_read(
        &self,
        stream: u64,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: the source is allocated and the destination is valid for as long as the driver writes it, as the caller promises.
        check("cuMemcpyDtoHAsync", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to, address, bytes.len(), handle(stream))
        })?;
        Ok(())
    }

    /// Allocates memory of the host that every context knows, and the device, too.
    pub(super) fn alloc_host(&self, bytes: usize) -> Result<u64, Error> {
        let mut host = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the pointer is valid for the write.
        check("cuMemHostAlloc", unsafe {
            sys::cuMemHostAlloc(&raw mut host, bytes, flags)
        })?;
        Ok(host.expose_provenance() as u64)
    }

    /// # Safety
    /// The memory is from `alloc_host`, nothing uses it any more, and it is freed once.
    pub(super) unsafe fn free_host(&self, address: u64) {
        // A failure is ignored: a drop cannot return it.
        // SAFETY: the caller makes the promise.
        let _ = unsafe { sys::cuMemFreeHost(ptr::with_exposed_provenance_mut(address as usize)) };
    }

    /// What the driver knows of an address; `None` if it does not know it.
    pub(super) fn known(&self, address: u64) -> Result<Option<Known>, Error> {
        let kind = self.attribute(sys::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)?;
        // Managed memory has a type that depends on where it is. The driver writes one byte.
        let managed = self.attribute(sys::CU_POINTER_ATTRIBUTE_IS_MANAGED, address)?;
        let ordinal = self.attribute(sys::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)?;
        let (Some(kind), Some(managed), Some(ordinal)) = (kind, managed, ordinal) else {
            return Ok(None);
        };
        let is_host = CUmemorytype(kind as u32) == sys::CU_MEMORYTYPE_HOST;
        Ok(Some(Known {
            is_host: is_host && managed & 1 == 0,
            ordinal,
        }))
    }

    /// An attribute of an address that is a number of at most 32 bits.
    fn attribute(
        &self,
        attribute: CUpointer_attribute,
        address: u64,
    ) -> Result<Option<c_int>, Error> {
        // The driver writes 1, 4 or 8 bytes, by the attribute.
        let mut value = [0 as c_int; 2];
        // SAFETY: the pointer is valid for the write. The driver only looks the address up.
        let answer = unsafe {
            sys::cuPointerGetAttribute(value.as_mut_ptr().cast::<c_void>(), attribute, address)
        };
        if answer == sys::CUDA_ERROR_INVALID_VALUE {
            return Ok(None);
        }
        check("cuPointerGetAttribute", answer)?;
        Ok(Some(value[0]))
    }
}
