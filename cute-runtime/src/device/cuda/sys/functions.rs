//! The driver's functions that this crate calls: names, signatures, and the version of CUDA whose driver is the first to have each
//! (the number that `cudaTypedefs.h` gives it).
//!
//! A table for a macro: `sys` makes the loaded driver and callable functions of it, and a test of `cute-kernels` compares the signatures
//! with cudarc's, whose bindings are made of `cuda.h`.

macro_rules! driver_functions {
    ($with:ident) => {
        $with! {
            cuCtxGetDevice(device: *mut CUdevice) since 2.0;
            cuCtxPopCurrent_v2(context: *mut CUcontext) since 4.0;
            cuCtxPushCurrent_v2(context: CUcontext) since 4.0;
            cuDeviceGet(device: *mut CUdevice, ordinal: c_int) since 2.0;
            cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice) since 2.0;
            cuDeviceGetCount(count: *mut c_int) since 2.0;
            cuDeviceGetName(name: *mut c_char, bytes: c_int, device: CUdevice) since 2.0;
            cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int) since 7.0;
            cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) since 7.0;
            cuEventCreate(event: *mut CUevent, flags: c_uint) since 2.0;
            cuEventDestroy_v2(event: CUevent) since 4.0;
            cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) since 12.8;
            cuEventQuery(event: CUevent) since 2.0;
            cuEventRecord(event: CUevent, stream: CUstream) since 2.0;
            cuEventSynchronize(event: CUevent) since 2.0;
            cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction) since 2.2;
            cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, bytes: *mut usize) since 12.4;
            cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int) since 9.0;
            cuGetErrorName(error: CUresult, name: *mut *const c_char) since 6.0;
            cuGetErrorString(error: CUresult, text: *mut *const c_char) since 6.0;
            cuGraphDestroy(graph: CUgraph) since 10.0;
            cuGraphExecDestroy(graph: CUgraphExec) since 10.0;
            cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) since 11.4;
            cuGraphLaunch(graph: CUgraphExec, stream: CUstream) since 10.0;
            cuInit(flags: c_uint) since 2.0;
            cuLaunchKernelEx(
                config: *const CUlaunchConfig,
                function: CUfunction,
                parameters: *mut *mut c_void,
                extra: *mut *mut c_void
            ) since 11.6;
            cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary) since 12.0;
            cuLibraryLoadData(
                library: *mut CUlibrary,
                code: *const c_void,
                jit_options: *mut CUjit_option,
                jit_values: *mut *mut c_void,
                jit_count: c_uint,
                options: *mut CUlibraryOption,
                values: *mut *mut c_void,
                count: c_uint
            ) since 12.0;
            cuLibraryUnload(library: CUlibrary) since 12.0;
            cuMemAllocFromPoolAsync(
                address: *mut CUdeviceptr,
                bytes: usize,
                pool: CUmemoryPool,
                stream: CUstream
            ) since 11.2;
            cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) since 11.2;
            cuMemFreeHost(pointer: *mut c_void) since 2.0;
            cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) since 2.2;
            cuMemHostGetDevicePointer_v2(address: *mut CUdeviceptr, pointer: *mut c_void, flags: c_uint) since 3.2;
            cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) since 11.2;
            cuMemPoolDestroy(pool: CUmemoryPool) since 11.2;
            cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void) since 11.2;
            cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) since 11.2;
            cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) since 3.2;
            cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) since 3.2;
            cuMemsetD8Async(address: CUdeviceptr, value: c_uchar, bytes: usize, stream: CUstream) since 3.2;
            cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) since 2.0;
            cuOccupancyMaxActiveBlocksPerMultiprocessor(
                ctas: *mut c_int,
                function: CUfunction,
                threads: c_int,
                shared_bytes: usize
            ) since 6.5;
            cuOccupancyMaxActiveClusters(
                clusters: *mut c_int,
                function: CUfunction,
                config: *const CUlaunchConfig
            ) since 11.7;
            cuPointerGetAttribute(value: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr) since 4.0;
            cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode) since 10.1;
            cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int) since 5.5;
            cuStreamDestroy_v2(stream: CUstream) since 4.0;
            cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) since 10.0;
            cuStreamGetCtx(stream: CUstream, context: *mut CUcontext) since 9.2;
            cuStreamIsCapturing(stream: CUstream, status: *mut CUstreamCaptureStatus) since 10.0;
            cuStreamSynchronize(stream: CUstream) since 2.0;
            cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) since 3.2;
            cuTensorMapEncodeTiled(
                map: *mut CUtensorMap,
                data_type: CUtensorMapDataType,
                rank: u32,
                address: *mut c_void,
                extents: *const u64,
                strides: *const u64,
                box_extents: *const u32,
                element_strides: *const u32,
                interleave: CUtensorMapInterleave,
                swizzle: CUtensorMapSwizzle,
                l2_promotion: CUtensorMapL2promotion,
                fill: CUtensorMapFloatOOBfill
            ) since 12.0;
            cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) since 10.1;
        }
    };
}

pub(crate) use driver_functions;
