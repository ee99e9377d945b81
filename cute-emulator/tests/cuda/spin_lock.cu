// Each thread enters a section that a lock in global memory guards.
extern "C" __global__ void spin_lock(int *lock, volatile int *counter, unsigned long long *time) {
    unsigned long long start, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter = *counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        } else {
            __nanosleep(20);
        }
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    time[threadIdx.x] = end >= start;
}
