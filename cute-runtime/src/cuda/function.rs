//! Kernels on the GPU: compiled by the driver, then launched.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;

use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute, CUjit_option, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUresult,
};

use super::driver::check;
use crate::device::{Compiled, Image};
use crate::launch::check_parameters;
use crate::{Error, Grid, LaunchRule};

/// Room for each of the compiler's two logs; it cuts off what is longer.
const LOG_BYTES: usize = 64 << 10;

/// A kernel in the current context. Its module is never unloaded.
pub(super) struct Function {
    function: CUfunction,
    /// Bytes of each of the entry's parameters.
    parameters: Vec<usize>,
    pub(super) compiled: Compiled,
}

// SAFETY: a CUfunction is a handle which the driver lets any thread use.
unsafe impl Send for Function {}
// SAFETY: as above; it is not changed after `compile`.
unsafe impl Sync for Function {}

impl Function {
    /// Compiles in the current context.
    pub(super) fn compile(image: &Image) -> Result<Self, Error> {
        let kernel = image.name;
        let nul = |error: std::ffi::NulError| Error::Launch {
            kernel,
            rule: LaunchRule::Nul {
                offset: error.nul_position(),
            },
        };
        let ptx = CString::new(image.ptx).map_err(nul)?;
        let name = CString::new(kernel).map_err(nul)?;
        let (module, log) = load(kernel, &ptx)?;

        let mut function = ptr::null_mut();
        // SAFETY: the pointer is valid for the write, the module is alive, the name NUL-terminated.
        let answer = unsafe { sys::cuModuleGetFunction(&raw mut function, module, name.as_ptr()) };
        check("cuModuleGetFunction", answer)?;
        // Beyond 48 KiB of dynamic shared memory, a kernel has to opt in. Our launches checked the range of the number.
        let smem = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is alive.
        check("cuFuncSetAttribute", unsafe {
            sys::cuFuncSetAttribute(function, smem, image.smem_bytes as c_int)
        })?;
        let registers = attribute(function, CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let local_bytes = attribute(
            function,
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        )?;
        let compiled = Compiled {
            log,
            registers: Some(registers),
            local_bytes: Some(local_bytes),
        };
        let parameters = parameter_sizes(function)?;
        Ok(Function {
            function,
            parameters,
            compiled,
        })
    }

    /// Launches on the default stream of the current context.
    pub(super) fn launch(
        &self,
        image: &Image,
        grid: Grid,
        parameters: &[Vec<u8>],
    ) -> Result<(), Error> {
        check_parameters(&self.parameters, parameters).map_err(|rule| Error::Launch {
            kernel: image.name,
            rule,
        })?;
        let [x, y, z] = image.cluster;
        let mut cluster = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { pad: [0; 64] },
        };
        cluster.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        let config = CUlaunchConfig {
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: image.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: image.smem_bytes,
            hStream: ptr::null_mut(),
            attrs: &raw mut cluster,
            numAttrs: c_uint::from(image.cluster != [1, 1, 1]),
        };
        let mut pointers: Vec<*mut c_void> = parameters
            .iter()
            .map(|bytes| bytes.as_ptr().cast_mut().cast::<c_void>())
            .collect();
        // SAFETY: the function is alive; there is a pointer for each of the entry's parameters, to as many bytes, which the
        // driver copies before it returns; the configuration outlives the call.
        let answer = unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                self.function,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check("cuLaunchKernelEx", answer)?;
        Ok(())
    }
}

/// The module and the compiler's information log.
fn load(kernel: &'static str, ptx: &CString) -> Result<(CUmodule, String), Error> {
    let mut info = vec![0u8; LOG_BYTES];
    let mut error = vec![0u8; LOG_BYTES];
    let size = ptr::without_provenance_mut::<c_void>(LOG_BYTES);
    // Verbose: the notes on serialised wgmma and dropped register hints appear in the information log alone.
    let options = [
        (
            CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            info.as_mut_ptr().cast::<c_void>(),
        ),
        (CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, size),
        (
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            error.as_mut_ptr().cast::<c_void>(),
        ),
        (CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size),
        (
            CUjit_option::CU_JIT_LOG_VERBOSE,
            ptr::without_provenance_mut(1),
        ),
    ];
    let mut names = options.map(|(name, _)| name);
    let mut values = options.map(|(_, value)| value);
    let mut module = ptr::null_mut();
    // SAFETY: the PTX is NUL-terminated; names and values have the given length; the log buffers have the stated sizes and
    // outlive the call, and sizes and flags are passed by value, as the driver defines these options.
    let answer = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            names.len() as c_uint,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let (info, error) = (text(&info), text(&error));
    match check("cuModuleLoadDataEx", answer) {
        Ok(()) => Ok((module, info)),
        Err(source) => Err(Error::Jit {
            kernel,
            source,
            log: format!("{error}\n{info}").trim().to_string(),
        }),
    }
}

fn attribute(function: CUfunction, attribute: CUfunction_attribute) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the write; the function is alive.
    check("cuFuncGetAttribute", unsafe {
        sys::cuFuncGetAttribute(&raw mut value, attribute, function)
    })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// What the entry itself says of its parameters, whatever the kernel's type says.
fn parameter_sizes(function: CUfunction) -> Result<Vec<usize>, Error> {
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the pointers are valid for the writes; the function is alive.
        let answer = unsafe {
            sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size)
        };
        // The index past the last is the one that is refused.
        if answer == CUresult::CUDA_ERROR_INVALID_VALUE {
            return Ok(sizes);
        }
        check("cuFuncGetParamInfo", answer)?;
        sizes.push(size);
    }
}

/// A log up to its NUL.
fn text(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim_end().to_string()
}
