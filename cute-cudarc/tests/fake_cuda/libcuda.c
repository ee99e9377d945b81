/* The driver without a GPU of cute-runtime's tests, and the functions that cudarc calls beside. A call that does what one of the others
 * does is recorded as that one. */
#include "../../../cute-runtime/tests/fake_cuda/libcuda.c"

CUresult cuCtxGetCurrent(Handle *context) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) *context = current();
    return end(__func__, result, NULL, " ");
}

CUresult cuCtxSetCurrent(Handle context) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) {
        if (!depth) depth = 1;
        stack[depth - 1] = context;
    }
    return end(__func__, result, NULL, "%lx", (long)context);
}

CUresult cuCtxSynchronize(void) {
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, NULL, " ");
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult result = begin(__func__, INIT);
    return end(__func__, result, NULL, "%d", device);
}

CUresult cuStreamCreate(Handle *stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, Handle stream) {
    return cuMemAllocFromPoolAsync(address, bytes, NULL, stream);
}
