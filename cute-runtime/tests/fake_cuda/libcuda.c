/* A CUDA driver without a GPU. It records every call and fails on demand. Its memory is the host's, and kernels do nothing.
 *
 * FAKE_CUDA_RECORD      the file to which calls are appended, one per line:
 *                       thread, current context, function, result, the handle or address it is about, details
 * FAKE_CUDA_FAIL        calls that fail without doing anything: `cuMemAlloc_v2:2:CUDA_ERROR_OUT_OF_MEMORY` for the second
 *                       one, `*` in place of the number for every one; several are separated by commas
 * FAKE_CUDA_DEVICES     compute capabilities of the devices, such as `8.0,9.0`; without it there is one of 9.0
 * FAKE_CUDA_PARAMETERS  bytes of every kernel's parameters, such as `128,4`
 * FAKE_CUDA_WORDS       words that every launch writes to the buffer whose address is its last parameter, such as `7,1`: the
 *                       number of words at its start, and the words from byte 16 on
 * FAKE_CUDA_LOG         the information log of the compiler; without it the log is empty, as where the driver has the code in its cache
 * FAKE_CUDA_TOGETHER    how many libraries must be compiled at the same time: a call of cuLibraryLoadData waits for others, and fails
 *                       after 10 seconds
 *
 * FAKE_CUDA_CAPTURING   if set, every stream that is asked for is captured, and events must not be asked for in a thread's usual mode
 * FAKE_CUDA_POINTER     the kind of every address: `device` (the default), `host`, `unknown`, or `1` for memory of device 1
 * FAKE_CUDA_NO_POOLS    if set, the devices have no memory pools
 * FAKE_CUDA_BUSY        how often each event is asked for before it is reached
 *
 * Without a record, failures and words, calls take next to no time, so that a benchmark measures its caller.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int CUresult;
typedef int CUdevice;
typedef void *Handle;
typedef uint64_t CUdeviceptr;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_READY = 600,
    TIMEOUT = 909
};

static const struct {
    CUresult code;
    const char *name;
} errors[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {NOT_READY, "CUDA_ERROR_NOT_READY"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {TIMEOUT, "CUDA_ERROR_TIMEOUT"},
    {999, "CUDA_ERROR_UNKNOWN"},
};
enum { ERRORS = sizeof errors / sizeof *errors, FUNCTIONS = 80, DEPTH = 16, DEVICES = 8, PARAMETERS = 8, WORDS = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int initialized, quick;
/* The primary context of each device, and another one of each. Tests know the name. */
char contexts[2 * DEVICES];
static int retained[DEVICES];
static __thread Handle stack[DEPTH];
static __thread int depth;

static Handle current(void) { return depth ? stack[depth - 1] : NULL; }

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

/* How often the function has been called, including this call. */
static int count(const char *function) {
    static struct {
        const char *function;
        int calls;
    } counts[FUNCTIONS];
    int i = 0;
    while (counts[i].function && strcmp(counts[i].function, function)) i++;
    counts[i].function = function;
    return ++counts[i].calls;
}

/* The error that FAKE_CUDA_FAIL demands of this call, if any. */
static CUresult demanded(const char *function, int call) {
    char *list = strdup(setting("FAKE_CUDA_FAIL", "")), *rest = list, *entry;
    CUresult result = SUCCESS;
    while ((entry = strsep(&rest, ","))) {
        const char *symbol = strsep(&entry, ":"), *number = strsep(&entry, ":");
        if (!number || strcmp(symbol, function) || (*number != '*' && atoi(number) != call)) continue;
        for (int i = 0; i < ERRORS; i++)
            if (!strcmp(entry, errors[i].name)) result = errors[i].code;
        if (result == SUCCESS) abort();
    }
    free(list);
    return result;
}

/* What a call needs: nothing, cuInit, or a current context as well. */
enum Need { NOTHING, INIT, CONTEXT };

static CUresult begin(const char *function, enum Need need) {
    if (quick) return need == CONTEXT && !current() ? INVALID_CONTEXT : SUCCESS;
    pthread_mutex_lock(&mutex);
    CUresult result = demanded(function, count(function));
    if (result == SUCCESS && need >= INIT && !initialized) result = NOT_INITIALIZED;
    if (result == SUCCESS && need == CONTEXT && !current()) result = INVALID_CONTEXT;
    return result;
}

__attribute__((format(printf, 4, 5))) static CUresult end(const char *function, CUresult result, Handle handle,
                                                          const char *details, ...) {
    if (quick) return result;
    const char *path = getenv("FAKE_CUDA_RECORD");
    FILE *record = path ? fopen(path, "a") : NULL;
    if (record) {
        fprintf(record, "%d %lx %s %d %lx ", gettid(), (long)current(), function, result, (long)handle);
        va_list arguments;
        va_start(arguments, details);
        vfprintf(record, details, arguments);
        va_end(arguments);
        fputc('\n', record);
        fclose(record);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

/* Parses a list such as `8.0,9.0` or `128,4`, and returns how many numbers it has. */
static int numbers(const char *text, double *values, int limit) {
    int n = 0;
    for (char *next; n < limit && *text; text = *next ? next + 1 : next) values[n++] = strtod(text, &next);
    return n;
}

static int devices(double *capabilities) {
    return numbers(setting("FAKE_CUDA_DEVICES", "9.0"), capabilities, DEVICES);
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    CUresult result = begin(__func__, NOTHING);
    for (int i = 0; i < ERRORS; i++)
        if (result == SUCCESS && errors[i].code == code) *name = errors[i].name;
    return end(__func__, result, NULL, "%d", code);
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    CUresult result = begin(__func__, NOTHING);
    if (result == SUCCESS) *text = "on demand";
    return end(__func__, result, NULL, "%d", code);
}

CUresult cuInit(unsigned flags) {
    CUresult result = begin(__func__, NOTHING);
    if (result == SUCCESS) initialized = 1;
    result = end(__func__, result, NULL, "%u", flags);
    quick = initialized && !getenv("FAKE_CUDA_RECORD") && !getenv("FAKE_CUDA_FAIL") && !getenv("FAKE_CUDA_WORDS");
    return result;
}

CUresult cuDeviceGetCount(int *n) {
    CUresult result = begin(__func__, INIT);
    double capabilities[DEVICES];
    if (result == SUCCESS) *n = devices(capabilities);
    return end(__func__, result, NULL, " ");
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CUresult result = begin(__func__, INIT);
    double capabilities[DEVICES];
    if (result == SUCCESS && (ordinal < 0 || ordinal >= devices(capabilities))) result = INVALID_DEVICE;
    if (result == SUCCESS) *device = ordinal;
    return end(__func__, result, NULL, "%d", ordinal);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) snprintf(name, length, "Fake GPU %d", device);
    return end(__func__, result, NULL, "%d", device);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    enum {
        MULTIPROCESSOR_COUNT = 16,
        MEMORY_CLOCK_RATE = 36,
        MEMORY_BUS_WIDTH = 37,
        MAJOR = 75,
        MINOR = 76,
        MEMORY_POOLS_SUPPORTED = 115
    };
    CUresult result = begin(__func__, INIT);
    double capabilities[DEVICES];
    if (result == SUCCESS && device >= devices(capabilities)) result = INVALID_DEVICE;
    if (result == SUCCESS) {
        int tenths = (int)(capabilities[device] * 10 + 0.5);
        switch (attribute) {
            case MAJOR: *value = tenths / 10; break;
            case MINOR: *value = tenths % 10; break;
            case MEMORY_POOLS_SUPPORTED: *value = !getenv("FAKE_CUDA_NO_POOLS"); break;
            case MULTIPROCESSOR_COUNT: *value = 132; break;
            case MEMORY_CLOCK_RATE: *value = 2619000; break;
            case MEMORY_BUS_WIDTH: *value = 5120; break;
            default: result = INVALID_VALUE;
        }
    }
    return end(__func__, result, NULL, "%d", attribute);
}

CUresult cuDevicePrimaryCtxRetain(Handle *context, CUdevice device) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) *context = &contexts[device], retained[device] = 1;
    return end(__func__, result, NULL, "%d", device);
}

CUresult cuCtxPushCurrent_v2(Handle context) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS && (!context || depth == DEPTH)) result = INVALID_CONTEXT;
    if (result == SUCCESS) stack[depth++] = context;
    return end(__func__, result, context, " ");
}

CUresult cuCtxPopCurrent_v2(Handle *context) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *context = stack[--depth];
    return end(__func__, result, result == SUCCESS ? *context : NULL, " ");
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) *flags = 0, *active = retained[device];
    return end(__func__, result, NULL, "%d", device);
}

CUresult cuCtxGetDevice(CUdevice *device) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *device = (int)((char *)current() - contexts) % DEVICES;
    return end(__func__, result, NULL, " ");
}

CUresult cuMemPoolCreate(Handle *pool, const void *properties) {
    (void)properties;
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) *pool = malloc(1);
    return end(__func__, result, NULL, " ");
}

CUresult cuMemPoolSetAttribute(Handle pool, int attribute, void *value) {
    (void)pool;
    CUresult result = begin(__func__, INIT);
    return end(__func__, result, NULL, "%d %lx", attribute, *(unsigned long *)value);
}

CUresult cuMemPoolTrimTo(Handle pool, size_t keep) {
    (void)pool;
    CUresult result = begin(__func__, INIT);
    return end(__func__, result, NULL, "%zu", keep);
}

CUresult cuMemPoolDestroy(Handle pool) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) free(pool);
    return end(__func__, result, NULL, " ");
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, Handle pool, Handle stream) {
    (void)pool;
    CUresult result = begin(__func__, CONTEXT);
    Handle memory = NULL;
    if (result == SUCCESS) {
        if (posix_memalign(&memory, 256, bytes)) abort();
        memset(memory, 0xA5, bytes);
        *address = (uintptr_t)memory;
    }
    return end(__func__, result, memory, "%zu %lx", bytes, (long)stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free((Handle)(uintptr_t)address);
    return end(__func__, result, (Handle)(uintptr_t)address, "%lx", (long)stream);
}

/* The types of memory are 1 for the host's and 2 for a device's. */
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
    CUresult result = begin(__func__, CONTEXT);
    const char *kind = setting("FAKE_CUDA_POINTER", "device");
    if (result == SUCCESS && !strcmp(kind, "unknown")) result = INVALID_VALUE;
    if (result == SUCCESS) switch (attribute) {
            case MEMORY_TYPE: *(unsigned *)value = strcmp(kind, "host") ? 2 : 1; break;
            case IS_MANAGED: *(char *)value = 0; break;
            case DEVICE_ORDINAL: *(int *)value = !strcmp(kind, "1"); break;
            default: result = INVALID_VALUE;
        }
    return end(__func__, result, NULL, "%d %lx", attribute, (long)address);
}

CUresult cuMemHostAlloc(Handle *memory, size_t bytes, unsigned flags) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *memory = malloc(bytes);
    return end(__func__, result, result == SUCCESS ? *memory : NULL, "%zu %u", bytes, flags);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, Handle memory, unsigned flags) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *address = (uintptr_t)memory;
    return end(__func__, result, memory, "%u", flags);
}

CUresult cuMemFreeHost(Handle memory) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free(memory);
    return end(__func__, result, memory, " ");
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) memset((Handle)(uintptr_t)address, value, bytes);
    return end(__func__, result, (Handle)(uintptr_t)address, "%zu %lx", bytes, (long)stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) memcpy((Handle)(uintptr_t)to, from, bytes);
    return end(__func__, result, (Handle)(uintptr_t)to, "%zu %lx", bytes, (long)stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) memcpy(to, (Handle)(uintptr_t)from, bytes);
    return end(__func__, result, (Handle)(uintptr_t)from, "%zu %lx", bytes, (long)stream);
}

/* Waits until as many threads as FAKE_CUDA_TOGETHER says have come here. */
static CUresult meet(void) {
    static atomic_int arrived;
    int together = atoi(setting("FAKE_CUDA_TOGETHER", "0"));
    arrived++;
    for (int i = 0; i < 10000 && arrived < together; i++) usleep(1000);
    return arrived < together ? TIMEOUT : SUCCESS;
}

CUresult cuLibraryLoadData(Handle *library, const char *code, int *jit_options, void **jit_values, unsigned jit_count,
                           int *options, void **values, unsigned count) {
    enum { INFO_LOG_BUFFER = 3, INFO_LOG_BUFFER_SIZE_BYTES = 4 };
    (void)options, (void)values;
    CUresult met = meet(), result = begin(__func__, CONTEXT);
    if (result == SUCCESS) result = count ? INVALID_VALUE : met;
    char *log = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; i < jit_count; i++) {
        if (jit_options[i] == INFO_LOG_BUFFER) log = jit_values[i];
        if (jit_options[i] == INFO_LOG_BUFFER_SIZE_BYTES) bytes = (size_t)jit_values[i];
    }
    if (result == SUCCESS) {
        *library = malloc(1);
        snprintf(log, bytes, "%s", setting("FAKE_CUDA_LOG", ""));
    }
    return end(__func__, result, result == SUCCESS ? *library : NULL, "%zu %u", strlen(code), jit_count);
}

CUresult cuLibraryUnload(Handle library) {
    CUresult result = begin(__func__, INIT);
    if (result == SUCCESS) free(library);
    return end(__func__, result, library, " ");
}

/* The handle of a module is that of its library. */
CUresult cuLibraryGetModule(Handle *module, Handle library) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *module = library;
    return end(__func__, result, library, " ");
}

/* The handle of a function is that of its module. */
CUresult cuModuleGetFunction(Handle *function, Handle module, const char *name) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *function = module;
    return end(__func__, result, module, "%s", name);
}

CUresult cuFuncSetAttribute(Handle function, int attribute, int value) {
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, function, "%d %d", attribute, value);
}

CUresult cuFuncGetAttribute(int *value, int attribute, Handle function) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *value = 40;
    return end(__func__, result, function, "%d", attribute);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Handle function, int threads, size_t bytes) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *blocks = 3;
    return end(__func__, result, function, "%d %zu", threads, bytes);
}

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    Handle stream, attributes;
    unsigned attribute_count;
} CUlaunchConfig;

/* 120 multiprocessors hold clusters, and the others are left over. */
CUresult cuOccupancyMaxActiveClusters(int *clusters, Handle function, const CUlaunchConfig *config) {
    enum { CLUSTER_DIMENSION = 4 };
    const struct {
        int id;
        char padding[4];
        unsigned extents[16];
    } *attribute = config->attributes;
    CUresult result = begin(__func__, CONTEXT);
    const unsigned *extents = attribute->extents;
    if (config->attribute_count != 1 || attribute->id != CLUSTER_DIMENSION) result = INVALID_VALUE;
    if (result == SUCCESS) *clusters = 120 / (extents[0] * extents[1] * extents[2]);
    return end(__func__, result, function, "%lx %u,%u,%u %u,%u,%u %u %u,%u,%u", (long)config->stream, config->grid[0],
               config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
               config->shared_bytes, extents[0], extents[1], extents[2]);
}

static int parameters(double *sizes) { return numbers(setting("FAKE_CUDA_PARAMETERS", ""), sizes, PARAMETERS); }

CUresult cuFuncGetParamInfo(Handle function, size_t index, size_t *offset, size_t *size) {
    CUresult result = begin(__func__, CONTEXT);
    double sizes[PARAMETERS];
    if (result == SUCCESS && index >= (size_t)parameters(sizes)) result = INVALID_VALUE;
    if (result == SUCCESS) *offset = 0, *size = (size_t)sizes[index];
    return end(__func__, result, function, "%zu", index);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, Handle function, void **pointers, void **extra) {
    (void)extra;
    CUresult result = begin(__func__, CONTEXT);
    if (quick) return result;
    double sizes[PARAMETERS], words[WORDS];
    int count = numbers(setting("FAKE_CUDA_WORDS", ""), words, WORDS), last = parameters(sizes) - 1;
    if (result == SUCCESS && count) {
        uint32_t *buffer = *(uint32_t **)pointers[last];
        buffer[0] = count;
        for (int i = 0; i < count; i++) buffer[4 + i] = (uint32_t)words[i];
    }
    /* Two digits for each byte, and a space after each parameter. */
    char bytes[PARAMETERS * (2 * 128 + 1) + 1] = "", *next = bytes;
    for (int i = 0, n = parameters(sizes); i < n; i++, next += sprintf(next, " "))
        for (int j = 0; j < (int)sizes[i] && j < 128; j++)
            next += sprintf(next, "%02x", ((unsigned char *)pointers[i])[j]);
    return end(__func__, result, function, "%lx %u,%u,%u %u,%u,%u %u %u %s", (long)config->stream, config->grid[0],
               config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
               config->shared_bytes, config->attribute_count, bytes);
}

/* The encoded tensor map is the address, followed by zeros. */
CUresult cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank, Handle address, const uint64_t *extents,
                                const uint64_t *strides, const unsigned *box, const unsigned *element_strides,
                                int interleave, int swizzle, int l2, int fill) {
    (void)strides, (void)box, (void)element_strides, (void)interleave, (void)swizzle, (void)l2, (void)fill;
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) {
        memset(map, 0, 128);
        map[0] = (uintptr_t)address;
    }
    return end(__func__, result, address, "%d %u %lu", type, rank, (unsigned long)extents[0]);
}

/* An event is how often it is still asked for before it is reached. */
CUresult cuEventCreate(Handle *event, unsigned flags) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *event = calloc(1, sizeof(int));
    return end(__func__, result, result == SUCCESS ? *event : NULL, "%u", flags);
}

CUresult cuEventRecord(Handle event, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *(int *)event = atoi(setting("FAKE_CUDA_BUSY", "0"));
    return end(__func__, result, event, "%lx", (long)stream);
}

/* How the thread's captures restrict its other calls: 2 for not at all. */
static __thread int mode;

CUresult cuThreadExchangeStreamCaptureMode(int *exchanged) {
    CUresult result = begin(__func__, INIT);
    int before = mode;
    if (result == SUCCESS) mode = *exchanged, *exchanged = before;
    return end(__func__, result, NULL, "%d", mode);
}

CUresult cuEventQuery(Handle event) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS && getenv("FAKE_CUDA_CAPTURING") && mode != 2) result = 900;
    if (result == SUCCESS && *(int *)event > 0) --*(int *)event, result = NOT_READY;
    return end(__func__, result, event, " ");
}

CUresult cuEventSynchronize(Handle event) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *(int *)event = 0;
    return end(__func__, result, event, " ");
}

CUresult cuEventElapsedTime_v2(float *milliseconds, Handle start, Handle stop) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *milliseconds = 2.5;
    return end(__func__, result, start, "%lx", (long)stop);
}

CUresult cuEventDestroy_v2(Handle event) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free(event);
    return end(__func__, result, event, " ");
}

/* A stream is its context. */
CUresult cuStreamCreateWithPriority(Handle *stream, unsigned flags, int priority) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) {
        *stream = malloc(sizeof(Handle));
        *(Handle *)*stream = current();
    }
    return end(__func__, result, result == SUCCESS ? *stream : NULL, "%u %d", flags, priority);
}

CUresult cuStreamDestroy_v2(Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free(stream);
    return end(__func__, result, stream, " ");
}

CUresult cuStreamGetCtx(Handle stream, Handle *context) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *context = *(Handle *)stream;
    return end(__func__, result, NULL, "%lx", (long)stream);
}

CUresult cuStreamIsCapturing(Handle stream, int *status) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *status = !!getenv("FAKE_CUDA_CAPTURING");
    return end(__func__, result, stream, "%d", !!getenv("FAKE_CUDA_CAPTURING"));
}

CUresult cuStreamSynchronize(Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, stream, " ");
}

CUresult cuStreamWaitEvent(Handle stream, Handle event, unsigned flags) {
    (void)flags;
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, event, "%lx", (long)stream);
}

CUresult cuStreamBeginCapture_v2(Handle stream, int mode) {
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, stream, "%d", mode);
}

CUresult cuStreamEndCapture(Handle stream, Handle *graph) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *graph = malloc(1);
    return end(__func__, result, result == SUCCESS ? *graph : NULL, "%lx", (long)stream);
}

CUresult cuGraphInstantiateWithFlags(Handle *executable, Handle graph, unsigned long long flags) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) *executable = malloc(1);
    return end(__func__, result, result == SUCCESS ? *executable : NULL, "%lx %llu", (long)graph, flags);
}

CUresult cuGraphDestroy(Handle graph) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free(graph);
    return end(__func__, result, graph, " ");
}

CUresult cuGraphLaunch(Handle executable, Handle stream) {
    CUresult result = begin(__func__, CONTEXT);
    return end(__func__, result, executable, "%lx", (long)stream);
}

CUresult cuGraphExecDestroy(Handle executable) {
    CUresult result = begin(__func__, CONTEXT);
    if (result == SUCCESS) free(executable);
    return end(__func__, result, executable, " ");
}
