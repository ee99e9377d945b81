//! The driver's constants that this crate uses, by their types. A table for a macro, as that of the [functions](super::functions).

macro_rules! driver_constants {
    ($with:ident) => {
        $with! {
            CUresult {
                CUDA_SUCCESS = 0,
                CUDA_ERROR_INVALID_VALUE = 1,
                CUDA_ERROR_OUT_OF_MEMORY = 2,
                CUDA_ERROR_NOT_INITIALIZED = 3,
                CUDA_ERROR_NOT_READY = 600,
            }
            CUdevice_attribute {
                CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
                CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
                CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
                CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
            }
            CUevent_flags {
                CU_EVENT_DEFAULT = 0,
                CU_EVENT_DISABLE_TIMING = 2,
            }
            CUfunction_attribute {
                CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
                CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
            }
            CUjit_option {
                CU_JIT_INFO_LOG_BUFFER = 3,
                CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
                CU_JIT_ERROR_LOG_BUFFER = 5,
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
                CU_JIT_LOG_VERBOSE = 12,
                CU_JIT_GENERATE_LINE_INFO = 13,
            }
            CUlaunchAttributeID {
                CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
                CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
            }
            CUmemAllocationType { CU_MEM_ALLOCATION_TYPE_PINNED = 1 }
            CUmemLocationType { CU_MEM_LOCATION_TYPE_DEVICE = 1 }
            CUmemPool_attribute { CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4 }
            CUmemorytype { CU_MEMORYTYPE_HOST = 1 }
            CUpointer_attribute {
                CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
                CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
                CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
            }
            CUstreamCaptureStatus { CU_STREAM_CAPTURE_STATUS_NONE = 0 }
            CUstreamCaptureMode { CU_STREAM_CAPTURE_MODE_RELAXED = 2 }
            CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 }
            CUtensorMapL2promotion {
                CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
                CU_TENSOR_MAP_L2_PROMOTION_L2_64B = 1,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
            }
            CUtensorMapFloatOOBfill {
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1,
            }
            CUstream_flags { CU_STREAM_NON_BLOCKING = 1 }
        }
    };
}

pub(crate) use driver_constants;
