//! Modules: the driver compiles PTX and loads the result.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr;

use super::context::{Context, Entered};
use super::driver::check;
use super::sys::{self, CUfunction, CUmodule};
use crate::Error;

/// Bytes of each of the compiler's two logs. The compiler cuts off a longer one.
const LOG_BYTES: usize = 64 << 10;

/// A loaded module. Its drop unloads it, so it must not be dropped while one of its kernels runs.
pub(super) struct Module {
    context: Context,
    module: CUmodule,
}

impl Module {
    /// Compiles PTX and loads the result. Also returns the compiler's information log.
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
        let mut module = ptr::null_mut();
        // SAFETY: the PTX is NUL-terminated. `names` and `values` have `names.len()` elements each. The log buffers have the
        // sizes that the options state, and outlive the call. Sizes and flags are passed as pointer-sized values, as the driver
        // defines these options.
        let answer = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut module,
                ptx.as_ptr().cast(),
                names.len() as c_uint,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let (info, errors) = (text(&info), text(&error));
        check("cuModuleLoadDataEx", answer).map_err(|error| Error::Jit {
            kernel,
            error,
            log: format!("{errors}\n{info}").trim().to_string(),
        })?;
        let module = Module {
            context: entered.context(),
            module,
        };
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

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the module was loaded by cuModuleLoadDataEx in this context and is unloaded once. No kernel of it runs:
            // a module is dropped only if a later step of `Function::compile` fails, before any launch. A compiled function
            // stays in the GPU's cache until the process ends.
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// The text of a log buffer, which ends at the first NUL.
fn text(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim_end().to_string()
}
