//! Modules: the driver compiles PTX and loads the result.
//!
//! A module is loaded as a library, since the driver compiles libraries of several threads at the same time, and modules of
//! `cuModuleLoadDataEx` one after another: 50 kernels take 16 threads 0.9 s in place of 9.2 s.
//!
//! The driver itself keeps what it has compiled on disk, and finds it there by the PTX. There is no cache of cubins beside that, since
//! the only cubins that the driver hands out are those of its linker. PTX for the linker is compiled as code that may be linked with
//! other code: there `setmaxnreg` is ignored, wgmma is serialised and registers spill in kernels that have none of this otherwise.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr;

use super::context::Entered;
use super::driver::check;
use super::sys::{self, CUfunction, CUlibrary, CUmodule};
use crate::{DriverError, Error};

/// Bytes of each of the compiler's two logs. The compiler cuts off a longer one.
const LOG_BYTES: usize = 64 << 10;

/// A module in the context that loaded it. Its drop unloads it, so it must not be dropped while one of its kernels runs.
pub(super) struct Module {
    module: CUmodule,
    /// The library whose only module this is. The handle of the module is valid as long as the library is loaded.
    _library: Library,
}

impl Module {
    /// Compiles PTX and loads the result. Also returns the compiler's information log, which is empty if the driver has taken the code
    /// from its cache.
    pub(super) fn load(
        entered: &Entered,
        kernel: &'static str,
        ptx: &CStr,
    ) -> Result<(Self, String), Error> {
        let mut info = vec![0u8; LOG_BYTES];
        let mut error = vec![0u8; LOG_BYTES];
        let size = ptr::without_provenance_mut::<c_void>(LOG_BYTES);
        // The verbose log, since only it says whether wgmma was serialised or `setmaxnreg` ignored.
        let options = [
            (
                sys::CU_JIT_INFO_LOG_BUFFER,
                info.as_mut_ptr().cast::<c_void>(),
            ),
            (sys::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, size),
            (
                sys::CU_JIT_ERROR_LOG_BUFFER,
                error.as_mut_ptr().cast::<c_void>(),
            ),
            (sys::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size),
            (sys::CU_JIT_LOG_VERBOSE, ptr::without_provenance_mut(1)),
            // Profilers then name the lines of the source that the PTX names.
            (
                sys::CU_JIT_GENERATE_LINE_INFO,
                ptr::without_provenance_mut(1),
            ),
        ];
        let mut names = options.map(|(name, _)| name);
        let mut values = options.map(|(_, value)| value);
        let mut library = ptr::null_mut();
        // SAFETY: the PTX is NUL-terminated, and the driver copies it. `names` and `values` have `names.len()` elements each, and
        // there are no options of the library itself. The log buffers have the sizes that the options state, and outlive the calls
        // that write to them, this one and that of `module`. Sizes and flags are passed as pointer-sized values, as the driver
        // defines these options.
        let answer = unsafe {
            sys::cuLibraryLoadData(
                &raw mut library,
                ptx.as_ptr().cast(),
                names.as_mut_ptr(),
                values.as_mut_ptr(),
                names.len() as c_uint,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
            )
        };
        // If the compiler refuses the PTX, the driver has the library, and the module is an error.
        let loaded =
            check("cuLibraryLoadData", answer).and_then(|()| Library(library).module(entered));
        let (info, errors) = (text(&info), text(&error));
        let module = loaded.map_err(|error| Error::Jit {
            kernel,
            error,
            log: format!("{errors}\n{info}").trim().to_string(),
        })?;
        Ok((module, info))
    }

    /// The entry called `name`. The handle is valid as long as the module is loaded.
    pub(super) fn function(&self, _entered: &Entered, name: &CStr) -> Result<CUfunction, Error> {
        let mut function = ptr::null_mut();
        // SAFETY: the pointer is valid for the write, the module is loaded, and the name is NUL-terminated.
        let answer =
            unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, name.as_ptr()) };
        check("cuModuleGetFunction", answer)?;
        Ok(function)
    }
}

/// A loaded library, which no context owns.
struct Library(CUlibrary);

impl Library {
    /// Its module in the current context.
    fn module(self, _entered: &Entered) -> Result<Module, DriverError> {
        let mut module = ptr::null_mut();
        // SAFETY: the pointer is valid for the write, and the library is loaded.
        let answer = unsafe { sys::cuLibraryGetModule(&raw mut module, self.0) };
        check("cuLibraryGetModule", answer)?;
        Ok(Module {
            module,
            _library: self,
        })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the library was loaded by cuLibraryLoadData and is unloaded once. No kernel of it runs: a module is dropped only
        // if a later step of `Function::compile` fails, before any launch. A compiled function stays in the GPU's cache until the
        // process ends.
        let _ = unsafe { sys::cuLibraryUnload(self.0) };
    }
}

/// The text of a log buffer, which ends at the first NUL.
fn text(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim_end().to_string()
}
