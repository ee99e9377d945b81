//! Kernels on the GPU: the driver compiles and launches them.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;

use super::context::Entered;
use super::driver::check;
use super::module::Module;
use super::sys::{
    self, CUfunction, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeValue,
    CUlaunchConfig, CUstream,
};
use crate::device::compiled::Compiled;
use crate::device::image::Image;
use crate::device::parameters::Parameters;
use crate::{Error, Grid, LaunchRule};

/// A compiled kernel in a context. After its first launch it must never be dropped, since the drop unloads code that may be
/// running; the GPU's cache keeps it until the process ends.
pub(super) struct Function {
    function: CUfunction,
    /// The module that contains the function, which is valid only as long as the module is loaded.
    _module: Module,
    /// Bytes of each parameter of the PTX entry.
    parameters: Vec<usize>,
    /// Whether the kernel itself waits for the previous grid, so that it may start while that grid still runs.
    overlaps: bool,
    pub(super) compiled: Compiled,
}

// SAFETY: a CUfunction, a CUmodule and a CUlibrary are handles, and the driver allows any thread to use them.
unsafe impl Send for Function {}
// SAFETY: as above, and a `Function` is not changed after `compile`.
unsafe impl Sync for Function {}

impl Function {
    pub(super) fn compile(entered: &Entered, image: &Image) -> Result<Self, Error> {
        let kernel = image.name;
        let nul = |error: std::ffi::NulError| Error::Launch {
            kernel,
            rule: LaunchRule::Nul {
                offset: error.nul_position(),
            },
        };
        let ptx = CString::new(image.ptx).map_err(nul)?;
        let name = CString::new(kernel).map_err(nul)?;
        let (module, log) = Module::load(entered, kernel, &ptx)?;
        let function = module.function(entered, &name)?;
        // The driver refuses launches with more than 48 KiB of dynamic shared memory unless this attribute allows it.
        // `smem_bytes` is at most that of the chip, as `launch.rs` has checked, so it fits `c_int`.
        let smem = sys::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is alive.
        check("cuFuncSetAttribute", unsafe {
            sys::cuFuncSetAttribute(function, smem, image.smem_bytes as c_int)
        })?;
        let registers = attribute(entered, function, sys::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let local_bytes = attribute(entered, function, sys::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
        let ctas = resident_ctas(entered, function, image)?;
        let compiled = Compiled::by_driver(image, log, registers, local_bytes, ctas);
        let parameters = parameter_sizes(entered, function)?;
        Ok(Function {
            function,
            _module: module,
            parameters,
            overlaps: image.overlaps(),
            compiled,
        })
    }

    /// Launches on a stream of the context.
    ///
    /// # Safety
    /// With these parameters and this grid, the kernel accesses only global memory of tensors that its arguments name. The stream
    /// is alive, or null, which is the default stream.
    pub(super) unsafe fn launch(
        &self,
        _entered: &Entered,
        stream: CUstream,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
    ) -> Result<(), Error> {
        image.check_parameters(&self.parameters, parameters)?;
        let mut attributes = [cluster_of(image), overlap()];
        let clusters = image.cluster != [1, 1, 1];
        let attributes = &mut attributes[usize::from(!clusters)..1 + usize::from(self.overlaps)];
        let config = config(image, grid, stream, attributes);
        let mut pointers: Vec<*mut c_void> = parameters
            .iter()
            .map(|bytes| bytes.as_ptr().cast_mut().cast::<c_void>())
            .collect();
        // SAFETY: the function is alive. `check_parameters` has verified that there is one pointer for each parameter of the
        // entry, to as many bytes as the entry declares; the driver copies them before it returns. `config` and the
        // attributes, to which it points, outlive the call. That the kernel's accesses are legal, the caller promises.
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

    /// Number of clusters of such a launch that the device runs at the same time.
    pub(super) fn max_active_clusters(
        &self,
        _entered: &Entered,
        image: &Image,
        grid: Grid,
    ) -> Result<u32, Error> {
        let mut attributes = [cluster_of(image)];
        let config = config(image, grid, ptr::null_mut(), &mut attributes);
        let mut clusters = 0;
        // SAFETY: the pointer is valid for the write; the function is alive. `config` and the attribute, to which it points, outlive
        // the call.
        let answer = unsafe {
            sys::cuOccupancyMaxActiveClusters(&raw mut clusters, self.function, &raw const config)
        };
        check("cuOccupancyMaxActiveClusters", answer)?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }
}

/// What the driver is told of a launch. It points to the attributes.
fn config(
    image: &Image,
    grid: Grid,
    stream: CUstream,
    attributes: &mut [CUlaunchAttribute],
) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: grid.x,
        gridDimY: grid.y,
        gridDimZ: grid.z,
        blockDimX: image.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: image.smem_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as c_uint,
    }
}

/// The launch is in the clusters of the kernel.
fn cluster_of(image: &Image) -> CUlaunchAttribute {
    let [x, y, z] = image.cluster;
    CUlaunchAttribute {
        id: sys::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: CUlaunchAttributeValue {
            clusterDim: [x, y, z],
        },
    }
}

/// The launch may begin while the previous grid still runs.
fn overlap() -> CUlaunchAttribute {
    CUlaunchAttribute {
        id: sys::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: CUlaunchAttributeValue {
            programmaticStreamSerializationAllowed: 1,
        },
    }
}

fn attribute(
    _entered: &Entered,
    function: CUfunction,
    attribute: CUfunction_attribute,
) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the write; the function is alive.
    check("cuFuncGetAttribute", unsafe {
        sys::cuFuncGetAttribute(&raw mut value, attribute, function)
    })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Number of CTAs that a multiprocessor can hold at the same time.
fn resident_ctas(_entered: &Entered, function: CUfunction, image: &Image) -> Result<u32, Error> {
    let mut ctas = 0;
    // SAFETY: the pointer is valid for the write; the function is alive.
    let answer = unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut ctas,
            function,
            image.threads as c_int,
            image.smem_bytes as usize,
        )
    };
    check("cuOccupancyMaxActiveBlocksPerMultiprocessor", answer)?;
    Ok(u32::try_from(ctas).unwrap_or(0))
}

/// The sizes in bytes of the parameters that the PTX entry itself declares.
fn parameter_sizes(_entered: &Entered, function: CUfunction) -> Result<Vec<usize>, Error> {
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the pointers are valid for the writes; the function is alive.
        let answer = unsafe {
            sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size)
        };
        // The driver refuses only the index after the last parameter.
        if answer == sys::CUDA_ERROR_INVALID_VALUE {
            return Ok(sizes);
        }
        check("cuFuncGetParamInfo", answer)?;
        sizes.push(size);
    }
}
