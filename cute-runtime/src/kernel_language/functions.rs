//! The functions of the kernel language, for documentation and editors.

// The test `documentation` of cute-lang writes this file: UPDATE_EXPECT=1 cargo test -p cute-lang --test kernels -- documentation

use crate::operations::{Value, declare, declare_words};

declare! {
    /// `abs(x)`
    ///
    /// Of a signed integer or a floating-point number.
    abs(x);
    /// `activemask()`
    ///
    /// All lanes of the warp call these together: the mask of the lanes that run together at this point. It may lack lanes that reach the point at another time.
    activemask();
    /// `wait(barrier, parity)`, `arrive(barrier)`, `expect_tx(barrier, bytes)`
    ///
    /// Waits until the phase of this parity has completed; arrives; arrives and announces bytes that TMA will write. On a new barrier, a wait for parity 1 returns at once.
    arrive(barrier);
    /// `arrive_at(barrier, cta)`
    ///
    /// Arrives at the same barrier of another CTA of the cluster, after this thread's earlier reads. It does not make earlier stores visible there.
    arrive_at(barrier, cta);
    /// `at(layout, coordinate)`
    ///
    /// The value of a layout, swizzled or not, or of a map of bits. The coordinate is a constant, or [known to be in range](crate::kernel_language#indices-in-range).
    at(layout, coordinate);
    /// `atomic_add(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64 f16 bf16 f32 f64.
    atomic_add(x, coordinate, value, order, scope);
    /// `atomic_and(x, coordinate, value, [order], [scope])`, `atomic_or(x, coordinate, value, [order], [scope])`, `atomic_xor(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64.
    atomic_and(x, coordinate, value, order, scope);
    /// `atomic_cas(x, coordinate, expected, value, [order], [scope])`
    ///
    /// Each returns the old value: types of 16, 32 and 64 bits: stores the value if the old one has the bits of `expected`.
    atomic_cas(x, coordinate, expected, value, order, scope);
    /// `atomic_inc(x, coordinate, limit, [order], [scope])`, `atomic_dec(x, coordinate, limit, [order], [scope])`
    ///
    /// Each returns the old value: u32: adds 1, and wraps to 0 after the limit; subtracts 1, and wraps to the limit after 0.
    atomic_dec(x, coordinate, limit, order, scope);
    /// `atomic_exch(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64 f32 f64: stores the value.
    atomic_exch(x, coordinate, value, order, scope);
    /// `atomic_inc(x, coordinate, limit, [order], [scope])`, `atomic_dec(x, coordinate, limit, [order], [scope])`
    ///
    /// Each returns the old value: u32: adds 1, and wraps to 0 after the limit; subtracts 1, and wraps to the limit after 0.
    atomic_inc(x, coordinate, limit, order, scope);
    /// `atomic_min(x, coordinate, value, [order], [scope])`, `atomic_max(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64.
    atomic_max(x, coordinate, value, order, scope);
    /// `atomic_min(x, coordinate, value, [order], [scope])`, `atomic_max(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64.
    atomic_min(x, coordinate, value, order, scope);
    /// `atomic_and(x, coordinate, value, [order], [scope])`, `atomic_or(x, coordinate, value, [order], [scope])`, `atomic_xor(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64.
    atomic_or(x, coordinate, value, order, scope);
    /// `atomic_and(x, coordinate, value, [order], [scope])`, `atomic_or(x, coordinate, value, [order], [scope])`, `atomic_xor(x, coordinate, value, [order], [scope])`
    ///
    /// Each returns the old value: u32 i32 u64 i64.
    atomic_xor(x, coordinate, value, order, scope);
    /// `sync_threads()`, `bar_sync(id, threads)`, `sync_warp()`, `sync_cluster()`
    ///
    /// Waits for all threads of the CTA; for `threads` threads at named barrier `id`; for all lanes of the warp, and makes their earlier writes to memory visible to each other; for all threads of the cluster.
    bar_sync(id, threads);
    /// `bfe(x, position, length)`
    ///
    /// `length` bits of x from `position` on. If x is signed, the highest of them is the sign.
    bfe(x, position, length);
    /// `bfi(field, x, position, length)`
    ///
    /// X with `length` bits from `position` on replaced by the lowest bits of `field`.
    bfi(field, x, position, length);
    /// `bits::<T>()`
    ///
    /// Width of an element in bits.
    bits[T]();
    /// `block_idx()`, `grid_dim()`
    ///
    /// Index of the CTA in the grid, extents of the grid: `.0`, `.1`, `.2` for x, y, z.
    block_idx();
    /// `brev(x)`, `reverse_bits(x)`
    ///
    /// The bits in reverse order.
    brev(x);
    /// `bytes(x)`, `size(x)`
    ///
    /// Number of bytes, number of elements, of a tensor or a fragment; `size` also of a layout. Elements of 4 bits that fill no whole bytes are an error of `bytes`.
    bytes(x);
    /// `floor(x)`, `ceil(x)`, `trunc(x)`, `round_ties_even(x)`
    ///
    /// Of: f16 f32 f64.
    ///
    /// Error: 0.
    ceil(x);
    /// `ceil_div(a, b)`
    ///
    /// Of integers.
    ceil_div(a, b);
    /// `clamp(x, least, greatest)`
    ///
    /// Limits x to the range of two numbers. A NaN stays a NaN.
    clamp(x, least, greatest);
    /// `clock()`, `clock64()`
    ///
    /// The cycle counter of the multiprocessor, as u32; as u64.
    clock();
    /// `clock()`, `clock64()`
    ///
    /// The cycle counter of the multiprocessor, as u32; as u64.
    clock64();
    /// `cluster_ctarank()`
    ///
    /// Rank of the CTA in its cluster, from 0.
    cluster_ctarank();
    /// `cluster_idx()`
    ///
    /// Index of the cluster in the grid: `.0`, `.1`, `.2` for x, y, z.
    cluster_idx();
    /// `clz(x)`, `leading_zeros(x)`, `trailing_zeros(x)`
    ///
    /// The number of zeros above the highest 1 bit, and below the lowest, as u32; for 0, the width.
    clz(x);
    /// `convert::<T>(x)`
    ///
    /// A number, or each element of a fragment, converted to `T`.
    convert[T](x);
    /// `coordinate(fragment, value)`
    ///
    /// The coordinate in the tile of this thread's value with the index `value`.
    coordinate(fragment, value);
    /// `copy(source, destination, [hint])`
    ///
    /// Copies between a fragment and a tensor in shared memory or a tile of global memory, or from a fragment to another one with the same layout. Between two tensors, each thread copies the part that it names, through registers. If whole warps hold 8- or 16-bit elements in the layout of a copy atom, the copy uses `ldmatrix` or `stmatrix`, with or without transposition; else the widest vectors that the layouts allow. All threads that hold the fragment must take part.
    copy(source, destination, hint);
    /// `copy_async(source, destination, [by], [ctas])`
    ///
    /// Starts to copy a tile of global memory to a tensor in shared memory, or back, without registers. If `by` is a barrier, or if the destination is global memory, one thread starts a [bulk copy](crate::kernel_language#bulk-copies). Otherwise the copy is `cp.async`, 4, 8 or 16 bytes at a time. `by` is then a layout from (thread, value) to coordinates, as for a fragment; without it, each thread copies the tile that it names. Elements outside of the tensor become 0.
    copy_async(source, destination, by, ctas);
    /// `copy_async_at(source, destination, barrier, cta)`
    ///
    /// Starts a bulk copy from shared memory to the address of `destination` in another CTA of the cluster. The same barrier in the other CTA counts the bytes.
    copy_async_at(source, destination, barrier, cta);
    /// `copy_inside(source, destination, [hint])`
    ///
    /// Copies a fragment to a tile of global memory. Elements outside of the tensor are left out.
    copy_inside(source, destination, hint);
    /// `copy_or(source, destination, fill, [hint])`
    ///
    /// Copies a tile of global memory to a fragment. Elements outside of the tensor become `fill` without a read.
    copy_or(source, destination, fill, hint);
    /// `copysign(x, sign)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0.
    copysign(x, sign);
    /// `sin(x)`, `cos(x)`
    ///
    /// Of: f32.
    ///
    /// Error: 1.6 ulp, for x of any size.
    cos(x);
    /// `sin_fast(x)`, `cos_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: absolute 2<sup>−20.5</sup> for |x| up to 2π, 2<sup>−14.7</sup> up to 100π.
    cos_fast(x);
    /// `popc(x)`, `count_ones(x)`
    ///
    /// The number of ones, as u32. The second name is Rust's, here and below.
    count_ones(x);
    /// `cp_async_commit()`, `cp_async_wait(groups)`
    ///
    /// Ends a group of `cp.async` copies; waits until at most `groups` of these groups of this thread are incomplete. `sync_threads()` then makes the elements visible to other threads.
    cp_async_commit();
    /// `cp_async_commit()`, `cp_async_wait(groups)`
    ///
    /// Ends a group of `cp.async` copies; waits until at most `groups` of these groups of this thread are incomplete. `sync_threads()` then makes the elements visible to other threads.
    cp_async_wait(groups);
    /// `div_fast(x, y)`
    ///
    /// Of: f32.
    ///
    /// Error: x / y: 2 ulp if |y| is from 2<sup>−126</sup> to 2<sup>126</sup>. For a greater |y|, the result is 0, or NaN for an infinite x.
    div_fast(x, y);
    /// `domain_offset(distance, tile)`
    ///
    /// The tile of global memory moved by a distance along each mode, which may be negative: elements before the tensor are [outside of it](crate::kernel_language#tiles-that-begin-anywhere).
    domain_offset(distance, tile);
    /// `elect()`
    ///
    /// All lanes of the warp call these together: true in one lane, chosen by the hardware.
    elect();
    /// `erf(x)`
    ///
    /// Of: f32.
    ///
    /// Error: 1 ulp.
    erf(x);
    /// `exp(x)`, `log(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0.87 ulp in f32; in f64 1 ulp from Rust's. `log` is the natural logarithm. These and the next functions are polynomials, computed with correctly rounded operations.
    exp(x);
    /// `exp2(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 2 ulp: one instruction in f32; in f64 1 ulp from Rust's.
    exp2(x);
    /// `exp2_fast(x)`
    ///
    /// Of: f16 bf16 f32.
    ///
    /// Error: f32 2 ulp, f16 relative 2<sup>−9.9</sup>, bf16 relative 2<sup>−7</sup>. On f16 it has subnormal results.
    exp2_fast(x);
    /// `exp_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: 2 + ⌊1.173 · |x|⌋ ulp.
    exp_fast(x);
    /// `wait(barrier, parity)`, `arrive(barrier)`, `expect_tx(barrier, bytes)`
    ///
    /// Waits until the phase of this parity has completed; arrives; arrives and announces bytes that TMA will write. On a new barrier, a wait for parity 1 returns at once.
    expect_tx(barrier, bytes);
    /// `extent(x, mode)`, `stride(x, [mode])`
    ///
    /// Of a tensor in global memory: an extent, as u32; a stride in elements, as u64, 1 for the last mode. Of a layout, the strides.
    extent(x, mode);
    /// `fence_proxy_async()`
    ///
    /// Makes this thread's writes to shared memory visible to TMA and wgmma.
    fence_proxy_async();
    /// `fill(fragment, value)`
    ///
    /// Sets all values of the fragment to one number.
    fill(fragment, value);
    /// `fill_outside(fragment, tile, value)`
    ///
    /// Sets the values outside of the tensor in global memory to one number. The tile gives their coordinates.
    fill_outside(fragment, tile, value);
    /// `floor(x)`, `ceil(x)`, `trunc(x)`, `round_ties_even(x)`
    ///
    /// Of: f16 f32 f64.
    ///
    /// Error: 0.
    floor(x);
    /// `fma(x, y, z)`, `mul_add(x, y, z)`
    ///
    /// Of: all.
    ///
    /// Error: 0.5 ulp: x · y + z is rounded once.
    fma(x, y, z);
    /// `fragment::<T>(layout, [mode or shape])`
    ///
    /// Registers. If the layout is a shape, each thread has a fragment of its own; if it maps (thread, value) to elements of a tile, several threads hold the tile together. In place of a layout, a fragment means its layout. With `mode`, this mode has extent 1, as in a result of `reduce`. `shape` is the shape of the tile: a layout such as `(32,1):(1@0,0)` does not tell whether the tile is `(32)` or `(32,1)`. A copy or an operation on two fragments needs no shape, since the other operand has one.
    fragment[T](layout, mode_or_shape);
    /// `to_bits(x)`, `from_bits::<T>(bits)`
    ///
    /// The bits of an f16, bf16, f32 or f64 as an unsigned integer of the same width; the number with these bits, also written `f32::from_bits(bits)`.
    from_bits[T](bits);
    /// `globaltimer()`
    ///
    /// A time in nanoseconds, as u64; the hardware chooses the step.
    globaltimer();
    /// `block_idx()`, `grid_dim()`
    ///
    /// Index of the CTA in the grid, extents of the grid: `.0`, `.1`, `.2` for x, y, z.
    grid_dim();
    /// `griddepcontrol_wait()`, `griddepcontrol_launch_dependents()`
    ///
    /// Waits until the prerequisite grids have ended and their writes are visible; lets the dependent grids start. A kernel that calls the first may start early: as soon as each CTA of the grid before has ended or called the second.
    griddepcontrol_launch_dependents();
    /// `griddepcontrol_wait()`, `griddepcontrol_launch_dependents()`
    ///
    /// Waits until the prerequisite grids have ended and their writes are visible; lets the dependent grids start. A kernel that calls the first may start early: as soon as each CTA of the grid before has ended or called the second.
    griddepcontrol_wait();
    /// `index(x, coordinate)`, `index_assign(x, coordinate, value)`
    ///
    /// Written `x[c]` and `x[c] = v`: an element. With `_` in the coordinate, the part of the tensor with these modes; in global memory also [ranges](crate::kernel_language#tensors-in-global-memory) of modes. For barriers, one barrier.
    index(x, coordinate);
    /// `index(x, coordinate)`, `index_assign(x, coordinate, value)`
    ///
    /// Written `x[c]` and `x[c] = v`: an element. With `_` in the coordinate, the part of the tensor with these modes; in global memory also [ranges](crate::kernel_language#tensors-in-global-memory) of modes. For barriers, one barrier.
    index_assign(x, coordinate, value);
    /// `is_nan(x)`, `is_infinite(x)`, `is_finite(x)`
    ///
    /// Of a floating-point number.
    is_finite(x);
    /// `is_nan(x)`, `is_infinite(x)`, `is_finite(x)`
    ///
    /// Of a floating-point number.
    is_infinite(x);
    /// `is_nan(x)`, `is_infinite(x)`, `is_finite(x)`
    ///
    /// Of a floating-point number.
    is_nan(x);
    /// `thread()`, `lane()`, `warp()`, `warpgroup()`, `warpgroup_thread()`
    ///
    /// The thread's index in the CTA; its index in its warp; the index of its warp; the index of its warpgroup; its index in its warpgroup. The assembler knows that `warp` and `warpgroup` are the same for all threads of a warp.
    lane();
    /// `clz(x)`, `leading_zeros(x)`, `trailing_zeros(x)`
    ///
    /// The number of zeros above the highest 1 bit, and below the lowest, as u32; for 0, the width.
    leading_zeros(x);
    /// `len(list)`
    ///
    /// The number of parameters in a list, as u32, or of values in an array. Written `list.len()`.
    len(list);
    /// `local_partition(x, layout, thread)`
    ///
    /// The elements of x, in shared memory or a tile of global memory, that this thread has: one in each tile of the shape of the layout of threads, at the place that the layout assigns to `thread`. The index `thread` is [known to be in range](crate::kernel_language#indices-in-range).
    local_partition(x, layout, thread);
    /// `local_tile(x, tile, coordinate)`
    ///
    /// The tile of the given shape at a coordinate counted in tiles. In global memory it may extend past the end of the tensor.
    local_tile(x, tile, coordinate);
    /// `exp(x)`, `log(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0.87 ulp in f32; in f64 1 ulp from Rust's. `log` is the natural logarithm. These and the next functions are polynomials, computed with correctly rounded operations.
    log(x);
    /// `log2(x)`, `tanh(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 1.6 ulp in f32; in f64 2 ulp and 3 ulp from Rust's.
    log2(x);
    /// `log2_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: absolute 2<sup>−22</sup> for x in 0.5 to 2, else relative 2<sup>−22</sup>.
    log2_fast(x);
    /// `log_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: absolute 2<sup>−21.41</sup> for x in 0.5 to 2, else 3 ulp.
    log_fast(x);
    /// `map(x, function)`
    ///
    /// The fragment of `function(value)`, or of `function(value, coordinate)` if it takes two arguments. A function that gives truth values makes a fragment of truth values.
    map(x, function);
    /// `match_any(x)`
    ///
    /// All lanes of the warp call these together: the mask of the lanes in which x has the same bits.
    match_any(x);
    /// `min(x, y)`, `max(x, y)`
    ///
    /// Of integers or of floating-point numbers. A NaN is ignored, and −0 is less than 0.
    max(x, y);
    /// `mbarriers(count, arrivals)`
    ///
    /// `count` barriers in shared memory; each expects `arrivals` arrivals. Before the body starts, thread 0 initialises them, and all threads wait for it.
    mbarriers(count, arrivals);
    /// `min(x, y)`, `max(x, y)`
    ///
    /// Of integers or of floating-point numbers. A NaN is ignored, and −0 is less than 0.
    min(x, y);
    /// `misalignment(tile, fragment)`
    ///
    /// The distance of the thread's first value from the previous multiple of 16 bytes, in elements, as u32.
    misalignment(tile, fragment);
    /// `mma(acc, a, b)`
    ///
    /// Acc = acc + a · bᵀ by operations of a warp, all three in registers. acc has the layout `tiled_mma(operation, atoms, tile, layoutC_TV)`; a has it with `layoutA_TV`, and b with `layoutB_TV`. `make_identity_layout` turns these into layouts to coordinates. `mma` uses the operation with the largest K that fits the fragments.
    mma(acc, a, b);
    /// `fma(x, y, z)`, `mul_add(x, y, z)`
    ///
    /// Of: all.
    ///
    /// Error: 0.5 ulp: x · y + z is rounded once.
    mul_add(x, y, z);
    /// `mul_hi(x, y)`
    ///
    /// The upper half of the double-width product.
    mul_hi(x, y);
    /// `named_barriers(count)`
    ///
    /// Returns n: the named barriers n to n + `count` − 1 belong to this call alone. Numbers are given from 15 down, so use low ones in `bar_sync` yourself.
    named_barriers(count);
    /// `nanosleep(nanoseconds)`
    ///
    /// Waits for about this time, up to a millisecond.
    nanosleep(nanoseconds);
    /// `overlay::<T>(tensor, layout)`
    ///
    /// A tensor of another type and layout that begins at the address of `tensor`. It must not be larger.
    overlay[T](tensor, layout);
    /// `peer(x, cta)`
    ///
    /// The tensor at the same place in the shared memory of [another CTA of the cluster](crate::kernel_language#shared-memory-of-other-ctas).
    peer(x, cta);
    /// `philox(counter, key)`
    ///
    /// Philox-4x32-10: four random u32 from a counter, a tuple of four u32, and a key, a tuple of two. The same arguments give the same numbers, so a thread needs no state: put its index into the counter.
    philox(counter, key);
    /// `popc(x)`, `count_ones(x)`
    ///
    /// The number of ones, as u32. The second name is Rust's, here and below.
    popc(x);
    /// `pow(x, y)`, `powf(x, y)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 1 ulp in f32; in f64 1 ulp from Rust's `powf`, with the same special values: the power 0 of any number is 1, also of a NaN. The logarithm has twice as many digits, so the cost is about three times that of `exp` and `log`.
    pow(x, y);
    /// `pow_fast(x, y)`
    ///
    /// Of: f32.
    ///
    /// Error: `exp2_fast(y * log2_fast(x))`: 2 + 3.5 · E ulp, where E = |y| · max(1, |log₂ x|) is at most 2²⁰; a larger E, as for an x near 1 and a huge y, has no bound. NaN for an x below 0.
    pow_fast(x, y);
    /// `pow(x, y)`, `powf(x, y)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 1 ulp in f32; in f64 1 ulp from Rust's `powf`, with the same special values: the power 0 of any number is 1, also of a NaN. The logarithm has twice as many digits, so the cost is about three times that of `exp` and `log`.
    powf(x, y);
    /// `powi(x, n)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: for a known integer n, the multiplications of Rust's `powi`: `x.powi(3)` is two of them. For any other n, write `pow(x, n as f32)`.
    powi(x, n);
    /// `prefetch(source)`
    ///
    /// Fetches a tile of global memory into the L2 cache.
    prefetch(source);
    /// `sqrt(x)`, `rcp(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0.5 ulp. `rcp` is 1 / x.
    rcp(x);
    /// `rcp_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: 1 ulp.
    rcp_fast(x);
    /// `redistribute(x, layout, [barrier])`
    ///
    /// The same tile held by another layout from (thread, value), or by the layout of another fragment. A value whose thread stays the same moves between registers. If its warp stays the same and every lane sends the same register, it moves by a shuffle. Otherwise all values go [through shared memory](crate::kernel_language#exchanges-between-warps).
    redistribute(x, layout, barrier);
    /// `reduce(x, mode, operation, [barrier])`
    ///
    /// The sum, `add`, or the extremum, `max` or `min`, along a mode of a fragment of `f32`, `i32` or `u32`. The mode then has extent 1. An extremum of `f16` or `bf16` is an `f32`; two values that share a register are compared at once. The layout decides the steps: each thread combines its values; lanes that differ only along the mode exchange by shuffles, such warps [through shared memory](crate::kernel_language#exchanges-between-warps), and such CTAs of a cluster through the shared memory of each.
    reduce(x, mode, operation, barrier);
    /// `reduce_async(source, destination, operation)`
    ///
    /// Starts a bulk copy from a tensor in shared memory that combines the old elements of a tile of global memory with the new ones.
    reduce_async(source, destination, operation);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_add(x);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_and(x);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_max(x);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_min(x);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_or(x);
    /// `redux_add(x)`, `redux_min(x)`, `redux_max(x)`, `redux_and(x)`, `redux_or(x)`, `redux_xor(x)`
    ///
    /// All lanes of the warp call these together: of all lanes, for u32 and i32.
    redux_xor(x);
    /// `brev(x)`, `reverse_bits(x)`
    ///
    /// The bits in reverse order.
    reverse_bits(x);
    /// `round(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0. Halves are rounded away from 0.
    round(x);
    /// `floor(x)`, `ceil(x)`, `trunc(x)`, `round_ties_even(x)`
    ///
    /// Of: f16 f32 f64.
    ///
    /// Error: 0.
    round_ties_even(x);
    /// `rsqrt(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 1 / √x: relative 2<sup>−22.9</sup>; in f64 the rounded root and its rounded reciprocal.
    rsqrt(x);
    /// `rsqrt_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: relative 2<sup>−22.9</sup>.
    rsqrt_fast(x);
    /// `scan(x, mode, operation, [barrier])`
    ///
    /// For each value, the sum or extremum of all values along a mode up to and including it; combined as by `reduce`.
    scan(x, mode, operation, barrier);
    /// `scan_exclusive(x, mode, operation, [barrier])`
    ///
    /// The same without the value itself. The first value is the neutral element of the operation: 0 for `add`.
    scan_exclusive(x, mode, operation, barrier);
    /// `setmaxnreg_inc(registers)`, `setmaxnreg_dec(registers)`
    ///
    /// Raises or lowers the number of registers of each thread of a warpgroup. All warpgroups together have as many registers as the CTA has at its start.
    setmaxnreg_dec(registers);
    /// `setmaxnreg_inc(registers)`, `setmaxnreg_dec(registers)`
    ///
    /// Raises or lowers the number of registers of each thread of a warpgroup. All warpgroups together have as many registers as the CTA has at its start.
    setmaxnreg_inc(registers);
    /// `shfl_bfly(x, mask, [width])`
    ///
    /// All lanes of the warp call these together: the value of x in lane `lane() ^ mask`.
    shfl_bfly(x, mask, width);
    /// `shfl_up(x, delta, [width])`, `shfl_down(x, delta, [width])`
    ///
    /// All lanes of the warp call these together: the value of x in the lane `delta` before this one; `delta` after this one.
    shfl_down(x, delta, width);
    /// `shfl_idx(x, lane, [width])`
    ///
    /// All lanes of the warp call these together: the value of x in lane `lane`.
    shfl_idx(x, lane, width);
    /// `shfl_up(x, delta, [width])`, `shfl_down(x, delta, [width])`
    ///
    /// All lanes of the warp call these together: the value of x in the lane `delta` before this one; `delta` after this one.
    shfl_up(x, delta, width);
    /// `sin(x)`, `cos(x)`
    ///
    /// Of: f32.
    ///
    /// Error: 1.6 ulp, for x of any size.
    sin(x);
    /// `sin_fast(x)`, `cos_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: absolute 2<sup>−20.5</sup> for |x| up to 2π, 2<sup>−14.7</sup> up to 100π.
    sin_fast(x);
    /// `bytes(x)`, `size(x)`
    ///
    /// Number of bytes, number of elements, of a tensor or a fragment; `size` also of a layout. Elements of 4 bits that fill no whole bytes are an error of `bytes`.
    size(x);
    /// `smem::<T>(layout)`
    ///
    /// A tensor in shared memory with this layout, [until the end of the block](crate::kernel_language#shared-memory).
    smem[T](layout);
    /// `smem_atom::<T>(major, swizzle)`
    ///
    /// CuTe's canonical layout atom for a major, `K` or `MN`, and a swizzle, `SW128`, `SW64`, `SW32` or `INTER`.
    smem_atom[T](major, swizzle);
    /// `sqrt(x)`, `rcp(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 0.5 ulp. `rcp` is 1 / x.
    sqrt(x);
    /// `sqrt_fast(x)`
    ///
    /// Of: f32.
    ///
    /// Error: relative 2<sup>−23</sup>.
    sqrt_fast(x);
    /// `extent(x, mode)`, `stride(x, [mode])`
    ///
    /// Of a tensor in global memory: an extent, as u32; a stride in elements, as u64, 1 for the last mode. Of a layout, the strides.
    stride(x, mode);
    /// `sum(x, mode, [barrier])`
    ///
    /// `reduce` by `add`.
    sum(x, mode, barrier);
    /// `sync_threads()`, `bar_sync(id, threads)`, `sync_warp()`, `sync_cluster()`
    ///
    /// Waits for all threads of the CTA; for `threads` threads at named barrier `id`; for all lanes of the warp, and makes their earlier writes to memory visible to each other; for all threads of the cluster.
    sync_cluster();
    /// `sync_threads()`, `bar_sync(id, threads)`, `sync_warp()`, `sync_cluster()`
    ///
    /// Waits for all threads of the CTA; for `threads` threads at named barrier `id`; for all lanes of the warp, and makes their earlier writes to memory visible to each other; for all threads of the cluster.
    sync_threads();
    /// `sync_threads()`, `bar_sync(id, threads)`, `sync_warp()`, `sync_cluster()`
    ///
    /// Waits for all threads of the CTA; for `threads` threads at named barrier `id`; for all lanes of the warp, and makes their earlier writes to memory visible to each other; for all threads of the cluster.
    sync_warp();
    /// `log2(x)`, `tanh(x)`
    ///
    /// Of: f32 f64.
    ///
    /// Error: 1.6 ulp in f32; in f64 2 ulp and 3 ulp from Rust's.
    tanh(x);
    /// `tanh_fast(x)`
    ///
    /// Of: f16 bf16 f32.
    ///
    /// Error: f32 relative 2<sup>−11</sup>, f16 absolute 2<sup>−10.987</sup>, bf16 absolute 2<sup>−8</sup>. It has no `.ftz`: subnormal numbers are kept.
    tanh_fast(x);
    /// `thread()`, `lane()`, `warp()`, `warpgroup()`, `warpgroup_thread()`
    ///
    /// The thread's index in the CTA; its index in its warp; the index of its warp; the index of its warpgroup; its index in its warpgroup. The assembler knows that `warp` and `warpgroup` are the same for all threads of a warp.
    thread();
    /// `tma_store(tile, destination, coordinate)`, `tma_commit()`
    ///
    /// Stores a tile, without the elements outside of the tensor; the tile may have fewer modes, as in `tma_load`; ends a group of stores.
    tma_commit();
    /// `tma_load(source, coordinate, tile, barrier, [ctas])`
    ///
    /// Loads a tile into shared memory, and counts its bytes at the barrier. The box, the swizzle mode and the number of instructions come from the layout of the tile. A tile with fewer modes than the source has extent 1 in the first modes of the source. With a mask `ctas`, the tile goes to the same address in each of these CTAs of the cluster, and the same barrier there counts its bytes.
    tma_load(source, coordinate, tile, barrier, ctas);
    /// `tma_prefetch(source, coordinate, tile)`
    ///
    /// Fetches into the L2 cache the elements that `tma_load` would load to this tile.
    tma_prefetch(source, coordinate, tile);
    /// `tma_prefetch_map(tensor)`
    ///
    /// Fetches the tensor map of a `TmaLoad` or a `TmaStore`, so that its first use does not wait.
    tma_prefetch_map(tensor);
    /// `tma_reduce(tile, destination, coordinate, operation)`
    ///
    /// Like `tma_store`, but [combines](crate::kernel_language#bulk-copies) the old elements with those of the tile.
    tma_reduce(tile, destination, coordinate, operation);
    /// `tma_store(tile, destination, coordinate)`, `tma_commit()`
    ///
    /// Stores a tile, without the elements outside of the tensor; the tile may have fewer modes, as in `tma_load`; ends a group of stores.
    tma_store(tile, destination, coordinate);
    /// `tma_wait_read(groups)`, `tma_wait(groups)`
    ///
    /// Waits until at most `groups` groups of this thread still read shared memory; are incomplete.
    tma_wait(groups);
    /// `tma_wait_read(groups)`, `tma_wait(groups)`
    ///
    /// Waits until at most `groups` groups of this thread still read shared memory; are incomplete.
    tma_wait_read(groups);
    /// `to_bits(x)`, `from_bits::<T>(bits)`
    ///
    /// The bits of an f16, bf16, f32 or f64 as an unsigned integer of the same width; the number with these bits, also written `f32::from_bits(bits)`.
    to_bits(x);
    /// `clz(x)`, `leading_zeros(x)`, `trailing_zeros(x)`
    ///
    /// The number of zeros above the highest 1 bit, and below the lowest, as u32; for 0, the width.
    trailing_zeros(x);
    /// `transpose(x)`
    ///
    /// A fragment, a tensor or a layout with its two modes exchanged: `select(x, 1, 0)`, which also reorders more modes. Only coordinates change: each value of a fragment stays in its register. `redistribute(transpose(x), layout)` moves the transposed tile to another layout.
    transpose(x);
    /// `floor(x)`, `ceil(x)`, `trunc(x)`, `round_ties_even(x)`
    ///
    /// Of: f16 f32 f64.
    ///
    /// Error: 0.
    trunc(x);
    /// `uniform(x, [group])`
    ///
    /// All lanes of the warp call these together: gives x, a number or a truth value. The kernel claims that x is the same in all lanes of the warp, or in all threads of the `WARPGROUP` or of the `CTA`. The claim [allows more calls behind a condition](crate::kernel_language#where-threads-may-part).
    uniform(x, group);
    /// `vote_any(condition)`, `vote_all(condition)`
    ///
    /// All lanes of the warp call these together: whether the condition holds in any lane; in all lanes.
    vote_all(condition);
    /// `vote_any(condition)`, `vote_all(condition)`
    ///
    /// All lanes of the warp call these together: whether the condition holds in any lane; in all lanes.
    vote_any(condition);
    /// `vote_ballot(condition)`
    ///
    /// All lanes of the warp call these together: the mask of the lanes in which it holds.
    vote_ballot(condition);
    /// `wait(barrier, parity)`, `arrive(barrier)`, `expect_tx(barrier, bytes)`
    ///
    /// Waits until the phase of this parity has completed; arrives; arrives and announces bytes that TMA will write. On a new barrier, a wait for parity 1 returns at once.
    wait(barrier, parity);
    /// `thread()`, `lane()`, `warp()`, `warpgroup()`, `warpgroup_thread()`
    ///
    /// The thread's index in the CTA; its index in its warp; the index of its warp; the index of its warpgroup; its index in its warpgroup. The assembler knows that `warp` and `warpgroup` are the same for all threads of a warp.
    warp();
    /// `thread()`, `lane()`, `warp()`, `warpgroup()`, `warpgroup_thread()`
    ///
    /// The thread's index in the CTA; its index in its warp; the index of its warp; the index of its warpgroup; its index in its warpgroup. The assembler knows that `warp` and `warpgroup` are the same for all threads of a warp.
    warpgroup();
    /// `thread()`, `lane()`, `warp()`, `warpgroup()`, `warpgroup_thread()`
    ///
    /// The thread's index in the CTA; its index in its warp; the index of its warp; the index of its warpgroup; its index in its warpgroup. The assembler knows that `warp` and `warpgroup` are the same for all threads of a warp.
    warpgroup_thread();
    /// `wgmma(acc, a, b, accumulate)`
    ///
    /// Acc = a · bᵀ, plus the old acc if `accumulate` is true. acc has the layout `wgmma_c(n)`, or is a `local_tile` of a larger fragment with this layout. a has 64 rows, b has n rows, and both have all of K. b is in shared memory. a is in shared memory, or is a fragment with the layout `wgmma_a`: for 16-bit elements, `convert` of an accumulator gives one. The rows of such a fragment may have any order, if acc has the same. The descriptors come from the layouts. [Table of types](crate::kernel_language#products-of-wgmma).
    wgmma(acc, a, b, accumulate);
    /// `wgmma_a::<T>(k)`
    ///
    /// The layout from (thread, value) to the elements of a 64 × k operand A in registers.
    wgmma_a[T](k);
    /// `wgmma_c(n)`
    ///
    /// The layout from (thread, value) to the elements of a 64 × n accumulator.
    wgmma_c(n);
    /// `wgmma_fence()`, `wgmma_commit()`, `wgmma_wait(groups)`
    ///
    /// Orders register accesses before wgmma; ends a batch; waits until at most `groups` batches are incomplete.
    wgmma_commit();
    /// `wgmma_fence()`, `wgmma_commit()`, `wgmma_wait(groups)`
    ///
    /// Orders register accesses before wgmma; ends a batch; waits until at most `groups` batches are incomplete.
    wgmma_fence();
    /// `wgmma_fence()`, `wgmma_commit()`, `wgmma_wait(groups)`
    ///
    /// Orders register accesses before wgmma; ends a batch; waits until at most `groups` batches are incomplete.
    wgmma_wait(groups);
}

declare_words! {
    /// A word of the kernel language, which selects a form of a function.
    K;
    /// A word of the kernel language, which selects a form of a function.
    MN;
    /// A word of the kernel language, which selects a form of a function.
    INTER;
    /// A word of the kernel language, which selects a form of a function.
    SW32;
    /// A word of the kernel language, which selects a form of a function.
    SW64;
    /// A word of the kernel language, which selects a form of a function.
    SW128;
    /// A word of the kernel language, which selects a form of a function.
    add;
    /// A word of the kernel language, which selects a form of a function.
    and;
    /// A word of the kernel language, which selects a form of a function.
    or;
    /// A word of the kernel language, which selects a form of a function.
    xor;
    /// A word of the kernel language, which selects a form of a function.
    inc;
    /// A word of the kernel language, which selects a form of a function.
    dec;
    /// A word of the kernel language, which selects a form of a function.
    RELAXED;
    /// A word of the kernel language, which selects a form of a function.
    ACQUIRE;
    /// A word of the kernel language, which selects a form of a function.
    RELEASE;
    /// A word of the kernel language, which selects a form of a function.
    ACQ_REL;
    /// A word of the kernel language, which selects a form of a function.
    WARPGROUP;
    /// A word of the kernel language, which selects a form of a function.
    CTA;
    /// A word of the kernel language, which selects a form of a function.
    CLUSTER;
    /// A word of the kernel language, which selects a form of a function.
    GPU;
    /// A word of the kernel language, which selects a form of a function.
    SYS;
    /// A word of the kernel language, which selects a form of a function.
    STREAMING;
    /// A word of the kernel language, which selects a form of a function.
    EVICT_FIRST;
    /// A word of the kernel language, which selects a form of a function.
    EVICT_LAST;
    /// A word of the kernel language, which selects a form of a function.
    NO_ALLOCATE;
    /// A word of the kernel language, which selects a form of a function.
    L2_64B;
    /// A word of the kernel language, which selects a form of a function.
    L2_128B;
    /// A word of the kernel language, which selects a form of a function.
    L2_256B;
}
