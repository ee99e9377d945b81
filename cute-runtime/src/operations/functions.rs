//! The operations of the notation and of the kernel language, one page each.

// The test `documentation` of cute-lang writes this file: UPDATE_EXPECT=1 cargo test -p cute-lang --test kernels -- documentation

use super::{Value, declare, declare_words};

declare! {
    /// `alignment(layout)`: the largest number that divides all values.
    ///
    /// It is an error if the values are coordinates: `alignment((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// alignment((4,8):(12,16)) = 4
    /// ```
    alignment(layout);
    /// `append(layout, layout | rank[, layout])`: the layout with a further mode at the end; with a rank, with modes `1:0`, or copies of the given one, up to that rank.
    ///
    /// It is an error if the layout has a higher rank already: `append((2,3,4):(1,2,6), 2)`.
    ///
    /// ```text
    /// append(3:1, 4:3) = (3,4):(1,3)
    /// ```
    append(layout, layout2, layout3);
    /// `bank_conflicts(tile, element bits, threads and values, …)`: the largest number of accesses that one bank of shared memory serves one after another; 1 means no conflict.
    ///
    /// It is an error if an access is outside of the tile: `bank_conflicts(64:1, 32, 32:4)`.
    ///
    /// ```text
    /// bank_conflicts((32,32):(32,1), 32, 32:1) = 32
    /// ```
    bank_conflicts(tile, element_bits, threads_and_values, further);
    /// `best_swizzle(layout, element bits, threads and values, …)`: the layout under the swizzle with the fewest bank conflicts.
    ///
    /// It is an error if an access is outside of the tile: `best_swizzle(64:1, 32, 32:4)`.
    ///
    /// ```text
    /// best_swizzle((32,32):(32,1), 32, 32:32, 32:1) = Sw<5,0,5> o 0 o (32,32):(32,1)
    /// ```
    best_swizzle(layout, element_bits, threads_and_values, further);
    /// `bijective(layout)`: the layout itself, which is then known to be bijective.
    ///
    /// It is an error if the values are not 0, 1, …, size - 1, each once: `bijective((4,3):(1,5))`.
    ///
    /// ```text
    /// bijective((4,3):(3,1)) = (4,3):(3,1)
    /// ```
    bijective(layout);
    /// `blocked_product(layout, layout)`: ((A0, B0), …): B numbers copies of A, which stay together as blocks.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `blocked_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// blocked_product((2,5):(5,1), (3,4):(1,3)) = ((2,3),(5,4)):((5,10),(1,30))
    /// ```
    blocked_product(layout, layout2);
    /// `coalesce(layout[, profile])`: the same function with the fewest modes; with a profile, within each of its modes.
    ///
    /// It is an error if the profile has more modes than the layout: `coalesce((2,(1,6)):(1,(6,2)), (1,1,1))`.
    ///
    /// ```text
    /// coalesce((2,(1,6)):(1,(6,2))) = 12:1
    /// ```
    coalesce(layout, profile);
    /// `compatible(shape, shape)`: true if every coordinate of the first shape is one of the second.
    ///
    /// ```text
    /// compatible((4,6), (4,(2,3))) = true
    /// ```
    compatible(shape, shape2);
    /// `complement(layout[, target])`: the layout with increasing values that fills the target together with the layout, or without a target the span of the layout; strides 0 are left out.
    ///
    /// It is an error if a stride is not a multiple of the next smaller one times its extent, or the target is not a multiple of the largest stride times its extent: `complement(4:1, 6)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// complement((2,2):(1,6), 24) = (3,2):(2,12)
    /// ```
    complement(layout, target);
    /// `composition(A, B)`: the layout A(B(c)), which is also written `A o B`.
    ///
    /// It is an error if a value of B is past the end of A, or no layout has the values A(B(c)): `composition((5,3):(1,10), 6:2)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// (6,2):(8,2) o (4,3):(3,1) = ((2,2),3):((24,2),8)
    /// ```
    composition(a, b);
    /// `concat(layout, …)`: the layout whose modes are these layouts.
    ///
    /// It is an error if some values are integers and others are coordinates: `concat(4:1, 4:1@0)`.
    ///
    /// ```text
    /// concat(4:2, (2,3):(1,8)) = (4,(2,3)):(2,(1,8))
    /// ```
    concat(layout, further);
    /// `conflict_free(tile, element bits, threads and values, …)`: the tile itself, which is then known to have no bank conflicts.
    ///
    /// It is an error if there are bank conflicts: `conflict_free((32,32):(32,1), 32, 32:32, 32:1)`.
    ///
    /// ```text
    /// conflict_free((32,32):(33,1), 32, 32:1) = (32,32):(33,1)
    /// ```
    conflict_free(tile, element_bits, threads_and_values, further);
    /// `conflict_free_map(layout, element bits, threads and values, …)`: a map of bits without bank conflicts; for each pattern, accesses of the busiest bank with the map and without it.
    ///
    /// It gives map, conflicts with it, conflicts without it.
    ///
    /// It is an error if an access is outside of the tile: `conflict_free_map(64:1, 32, 32:4)`.
    ///
    /// ```text
    /// conflict_free_map((32,32):(32,1), 32, 32:32, 32:1) = [Sw<5,0,5>,(1,1),(1,32)]
    /// ```
    conflict_free_map(layout, element_bits, threads_and_values, further);
    /// `congruent(shape, shape)`: true if both shapes are nested in the same way.
    ///
    /// ```text
    /// congruent((2,(3,4)), (5,(6,7))) = true
    /// ```
    congruent(shape, shape2);
    /// `copy_atom(operation, ThrID | SrcLayout | DstLayout | RefLayout)`: the threads of a copy operation, or the layout that maps (thread, value) to bits.
    ///
    /// It is an error if there is no such operation: `copy_atom(SM75_U32x3_LDSM_N, SrcLayout)`.
    ///
    /// ```text
    /// copy_atom(SM75_U32x1_LDSM_N, SrcLayout) = ((8,4),128):((128,0),1)
    /// ```
    copy_atom(operation, thrid);
    /// `copy_atom_val(operation, element bits, ValLayoutSrc | ValLayoutDst | ValLayoutRef)`: the layout of a copy operation that maps (thread, value) to elements.
    ///
    /// It is an error if the bits of a thread are no whole number of elements: `copy_atom_val(SM75_U32x1_LDSM_N, 64, ValLayoutSrc)`.
    ///
    /// ```text
    /// copy_atom_val(SM75_U32x1_LDSM_N, 16, ValLayoutSrc) = ((8,4),8):((8,0),1)
    /// ```
    copy_atom_val(operation, element_bits, vallayoutsrc);
    /// `coshape(layout)`: the span of the values along each coordinate.
    ///
    /// ```text
    /// coshape((4,8):(1@0,2@1)) = (4,15)
    /// ```
    coshape(layout);
    /// `cosize(layout)`: the span of the values: one more than the sum of (extent - 1) * |stride|; of a swizzled layout, one more than the largest value.
    ///
    /// ```text
    /// cosize((4,8):(10,1)) = 38
    /// ```
    cosize(layout);
    /// `cosize_bound(layout)`: an upper bound of the span: the end of the block inside which a swizzle moves values.
    ///
    /// ```text
    /// cosize_bound(Sw<2,0,3> o (3,8):(8,1)) = 32
    /// ```
    cosize_bound(layout);
    /// `crd2crd(coordinate, shape, shape)`: the coordinate of the second shape that has the same 1-D coordinate as in the first shape.
    ///
    /// It is an error if the coordinate is outside of the first shape or of the second: `crd2crd((3,0), (3,6), (3,(2,3)))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// crd2crd((1,5), (3,6), (3,(2,3))) = (1,(1,2))
    /// ```
    crd2crd(coordinate, shape, shape2);
    /// `crd2idx(coordinate, layout | shape[, stride])`: the value of a layout at a coordinate.
    ///
    /// It is an error if the coordinate does not nest as the shape does, or is outside of it: `crd2idx((3,0), (3,(2,3)):(3,(12,1)))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// crd2idx((1,(1,2)), (3,(2,3)):(3,(12,1))) = 17
    /// ```
    crd2idx(coordinate, layout, stride);
    /// `dense(layout)`: the layout itself, which is then known to be dense.
    ///
    /// It is an error if a value between the smallest and the largest does not occur: `dense((4,3):(1,5))`.
    ///
    /// ```text
    /// dense((4,3):(1,2)) = (4,3):(1,2)
    /// ```
    dense(layout);
    /// `depth(layout)`: the number of levels of nesting of the shape.
    ///
    /// ```text
    /// depth((2,(3,(4,5)))) = 3
    /// ```
    depth(layout);
    /// `dice(layout, coordinate)`: the modes where the coordinate has an integer.
    ///
    /// It is an error if the coordinate does not nest as the shape does, or is outside of it: `dice((4,(2,3)):(1,(12,4)), (4,_))`.
    ///
    /// ```text
    /// dice((4,(2,3)):(1,(12,4)), (_,(1,_))) = (2):(12)
    /// ```
    dice(layout, coordinate);
    /// `domain_distribute(shape, integer)`: a layout that spreads an integer over the extents of a shape from left to right; each takes the largest common divisor of itself and what is left.
    ///
    /// ```text
    /// domain_distribute((15,14), 6) = (3,2):(1,15)
    /// ```
    domain_distribute(shape, integer);
    /// `downcast(layout, integer)`: the layout in units of an element split into that many parts.
    ///
    /// It is an error if the number of modes with stride 1 is not one: `downcast((32,1):(1,1), 3)`.
    ///
    /// ```text
    /// downcast((2,4):(1,2), 4) = (8,4):(1,8)
    /// ```
    downcast(layout, integer);
    /// `equal(layout | tuple, layout | tuple)`: true if two layouts are the same function of the 1-D coordinate, or two tuples are the same.
    ///
    /// ```text
    /// equal((2,(3,4)):(1,(2,6)), 24:1) = true
    /// ```
    equal(layout, layout2);
    /// `evenly_divides(shape, shape)`: true if each mode of the second shape divides that of the first.
    ///
    /// ```text
    /// evenly_divides((8,12), (4,5)) = false
    /// ```
    evenly_divides(shape, shape2);
    /// `extension(layout, size)`: the layout extended or cut to that size by its last mode.
    ///
    /// It is an error if the size is not a multiple of the extents before the last one: `extension((2,5):(1,4), 13)`.
    ///
    /// ```text
    /// extension((2,5):(1,4), 14) = (2,7):(1,4)
    /// ```
    extension(layout, size);
    /// `filter(layout[, profile])`: the layout without modes of stride 0, coalesced; with a profile, within each of its modes.
    ///
    /// It is an error if the profile has more modes than the layout: `filter((2,(4,3)):(1,(0,2)), (1,1,1))`.
    ///
    /// ```text
    /// filter((2,(4,3)):(1,(0,2))) = 6:1
    /// ```
    filter(layout, profile);
    /// `filter_zeros(layout)`: the same layout with extent 1 wherever the stride is 0.
    ///
    /// ```text
    /// filter_zeros((2,(4,3)):(1,(0,2))) = (2,(1,3)):(1,(0,2))
    /// ```
    filter_zeros(layout);
    /// `flat_divide(layout, tiler)`: (tile, …, rest, …): the tile of each mode, and then the rest of each mode.
    ///
    /// It is an error if the tiler does not divide the layout: `flat_divide((8,12):(12,1), <3,3>)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// flat_divide((8,12):(12,1), <4,3>) = (4,3,2,4):(12,1,48,3)
    /// ```
    flat_divide(layout, tiler);
    /// `flat_product(layout, tiler)`: (layout, …, copies, …): the modes of the layout, and then the copies of each mode.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `flat_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// flat_product((2,5):(5,1), <3:5,4:6>) = (2,5,3,4):(5,1,10,30)
    /// ```
    flat_product(layout, tiler);
    /// `flatten(layout)`: the layout with all leaves as top-level modes.
    ///
    /// ```text
    /// flatten((2,(3,(4,5))):(1,(2,(6,24)))) = (2,3,4,5):(1,2,6,24)
    /// ```
    flatten(layout);
    /// `from_table(integer, …)`: the layout with these values, in the order of its 1-D coordinates; in the ragged form, the layout that begins with them.
    ///
    /// It is an error if no layout has these values: `from_table(0, 1, 10, 12)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// from_table(0, 1, 4, 5, 8, 9) = (2,3):(1,4)
    /// ```
    from_table(integer, further);
    /// `get(layout | tuple, mode, …)`: the mode at a path of indices, the outermost first; of a tuple, the element.
    ///
    /// It is an error if there is no such mode: `get((2,(3,4)):(1,(2,6)), 2)`.
    ///
    /// ```text
    /// get((2,(3,4)):(1,(2,6)), 1, 0) = 3:2
    /// ```
    get(layout, mode, further);
    /// `group(layout, begin, end)`: the same layout with the modes from begin up to, but not including, end as one nested mode.
    ///
    /// It is an error if there are no such modes: `group((2,3,5,7):(1,2,6,30), 3, 5)`.
    ///
    /// ```text
    /// group((2,3,5,7):(1,2,6,30), 0, 2) = ((2,3),5,7):((1,2),6,30)
    /// ```
    group(layout, begin, end);
    /// `idx2crd(coordinate, shape[, stride])`: the natural coordinate, which has one integer for each leaf of the shape; with a stride, the coordinate at which a compact layout has that value.
    ///
    /// It is an error if the coordinate is outside of the shape, or the value is not below the cosize: `idx2crd(18, (3,(2,3)))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// idx2crd(16, (3,(2,3))) = (1,(1,2))
    /// ```
    idx2crd(coordinate, shape, stride);
    /// `index_form(layout)`: the cheapest arithmetic that computes the value at the 1-D coordinate x.
    ///
    /// It is an error if the values are coordinates: `index_form((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// index_form((4,(2,3)):(6,(1,2))) = (x & 3) * 6 + x / 4
    /// ```
    index_form(layout);
    /// `injective(layout)`: the layout itself, which is then known to be injective.
    ///
    /// It is an error if two coordinates have the same value: `injective((4,3):(1,2))`.
    ///
    /// ```text
    /// injective((4,3):(1,5)) = (4,3):(1,5)
    /// ```
    injective(layout);
    /// `is_bijective(layout)`: true if the values are 0, 1, …, size - 1, each once.
    ///
    /// ```text
    /// is_bijective((4,3):(3,1)) = true
    /// ```
    is_bijective(layout);
    /// `is_dense(layout)`: true if every value from the smallest to the largest occurs.
    ///
    /// ```text
    /// is_dense((4,3):(1,2)) = true
    /// ```
    is_dense(layout);
    /// `is_injective(layout)`: true if no two coordinates have the same value.
    ///
    /// ```text
    /// is_injective((4,3):(1,2)) = false
    /// ```
    is_injective(layout);
    /// `is_integral(layout | tuple)`: true if the operand is an integer, or a layout whose values are integers.
    ///
    /// ```text
    /// is_integral((4,8):(1@0,1@1)) = false
    /// ```
    is_integral(layout);
    /// `left_inverse(layout)`: a layout L with L(A(i)) = i.
    ///
    /// It is an error if two coordinates have the same value, or no layout is such a function: `left_inverse((5,3):(3,6))`.
    ///
    /// ```text
    /// left_inverse((4,8):(1,5)) = (5,8):(1,4)
    /// ```
    left_inverse(layout);
    /// `local_partition(layout, threads, thread)`: what a thread has of a layout over which the threads are repeated, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the threads do not divide the layout, or there is no such thread: `local_partition((8,12):(12,1), (2,4):(4,1), 8)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// local_partition((8,12):(12,1), (2,4):(4,1), 5) = [(4,3):(24,4),13]
    /// ```
    local_partition(layout, threads, thread);
    /// `local_tile(layout, tiler, coordinate)`: the tile at a coordinate of tiles, with further modes where it has `_`, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tiler does not divide the layout, or there is no such tile: `local_tile((8,12):(12,1), <4,3>, (2,0))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// local_tile((8,12):(12,1), <4,3>, (1,2)) = [(4,3):(12,1),54]
    /// ```
    local_tile(layout, tiler, coordinate);
    /// `logical_divide(layout, tiler)`: ((tile, rest), …): the tile and the rest of each mode.
    ///
    /// It is an error if the tiler does not divide the layout: `logical_divide(10:1, 4:1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// logical_divide((8,12):(12,1), <4,3>) = ((4,2),(3,4)):((12,48),(1,3))
    /// ```
    logical_divide(layout, tiler);
    /// `logical_product(layout, tiler)`: ((layout, copies), …): each mode, and the copies of it.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `logical_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// logical_product((2,5):(5,1), <3:5,4:6>) = ((2,3),(5,4)):((5,10),(1,30))
    /// ```
    logical_product(layout, tiler);
    /// `make_fragment_like(layout)`: the compact layout with the shape of a layout in which the first mode varies fastest, and the others in the order of their strides.
    ///
    /// It is an error if the values are coordinates: `make_fragment_like((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// make_fragment_like((4,2,3):(6,1,2)) = (4,2,3):(1,4,8)
    /// ```
    make_fragment_like(layout);
    /// `make_identity_layout(shape)`: the layout that maps each coordinate to itself.
    ///
    /// ```text
    /// make_identity_layout((4,(2,3))) = (4,(2,3)):(1@0,(1@0@1,1@1@1))
    /// ```
    make_identity_layout(shape);
    /// `make_layout_left(shape)`: the compact layout of a shape in which the leftmost mode varies fastest.
    ///
    /// ```text
    /// make_layout_left((2,(3,4))) = (2,(3,4)):(1,(2,6))
    /// ```
    make_layout_left(shape);
    /// `make_layout_like(layout)`: the compact layout with the shape of a layout, its modes varying fastest in the same order; modes of stride 0 keep it.
    ///
    /// It is an error if the values are coordinates: `make_layout_like((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// make_layout_like((4,6):(12,2)) = (4,6):(6,1)
    /// ```
    make_layout_like(layout);
    /// `make_layout_right(shape)`: the compact layout of a shape in which the rightmost mode varies fastest.
    ///
    /// ```text
    /// make_layout_right((2,(3,4))) = (2,(3,4)):(12,(4,1))
    /// ```
    make_layout_right(shape);
    /// `make_ordered_layout(shape, order)`: the compact layout of a shape in which the mode with the smallest number in the order varies fastest.
    ///
    /// It is an error if the order does not nest as the shape does: `make_ordered_layout((2,3,4), (1,0))`.
    ///
    /// ```text
    /// make_ordered_layout((2,3,4), (1,2,0)) = (2,3,4):(4,8,1)
    /// ```
    make_ordered_layout(shape, order);
    /// `matrix_operand(tile, element bits)`: what ldmatrix and stmatrix need to move a tile: whether transposed, how many matrices at once, where rows begin, and bank conflicts.
    ///
    /// It gives transposed, matrices at once, rows, bank conflicts.
    ///
    /// It is an error if ldmatrix cannot read the tile: `matrix_operand((8,8):(9,1), 16)`.
    ///
    /// ```text
    /// matrix_operand(smem_atom(MN, SW64, 16), 16) = [true,4,Sw<2,3,3> o 0 o (8,1,4):(32,0,8),1]
    /// ```
    matrix_operand(tile, element_bits);
    /// `max_alignment(layout)`: the number of contiguous, aligned elements that begin at each value.
    ///
    /// It is an error if the values are coordinates: `max_alignment((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// max_alignment((4,8):(1,8)) = 4
    /// ```
    max_alignment(layout);
    /// `max_common_layout(layout, layout)`: the largest layout C with A(C(i)) = B(C(i)) = i.
    ///
    /// It is an error if values are coordinates: `max_common_layout((4,8):(1@0,1@1), 32:1)`.
    ///
    /// ```text
    /// max_common_layout((4,8):(1,4), (4,8):(1,8)) = 4:1
    /// ```
    max_common_layout(layout, layout2);
    /// `max_common_vector(layout, layout)`: the size of the largest layout C with A(C(i)) = B(C(i)) = i: as many elements can be copied at once.
    ///
    /// It is an error if values are coordinates: `max_common_vector((4,8):(1@0,1@1), 32:1)`.
    ///
    /// ```text
    /// max_common_vector((4,8):(1,4), (4,8):(1,8)) = 4
    /// ```
    max_common_vector(layout, layout2);
    /// `mma_atom(operation, Shape_MNK | ThrID | ALayout | BLayout | CLayout)`: the shape of an MMA operation, its threads, or the layout that maps (thread, value) to elements of an operand.
    ///
    /// It is an error if there is no such operation: `mma_atom(SM80_16x8x9_F32F16F16F32_TN, CLayout)`.
    ///
    /// ```text
    /// mma_atom(SM80_16x8x8_F32F16F16F32_TN, CLayout) = ((4,8),(2,2)):((32,1),(16,8))
    /// ```
    mma_atom(operation, shape_mnk);
    /// `nullspace(layout)`: the layout N with A(N(i)) = 0 that consists of the modes of stride 0.
    ///
    /// ```text
    /// nullspace((2,4,3):(0,1,0)) = (2,3):(1,8)
    /// ```
    nullspace(layout);
    /// `partition_A(operation, atom layout, permutation, M x K layout, thread)`: what a thread holds of A, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the operation does not divide the layout, or there is no such thread: `partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [((2,2),2,4):((1,256),1024,8),2]
    /// ```
    partition_A(operation, atom_layout, permutation, m_x_k_layout, thread);
    /// `partition_B(operation, atom layout, permutation, N x K layout, thread)`: what a thread holds of B, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the operation does not divide the layout, or there is no such thread: `partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [(2,4,4):(1,512,8),2]
    /// ```
    partition_B(operation, atom_layout, permutation, n_x_k_layout, thread);
    /// `partition_C(operation, atom layout, permutation, M x N layout, thread)`: what a thread holds of C, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the operation does not divide the layout, or there is no such thread: `partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 200)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1) = [((2,2),2,4):((1,512),2048,16),2]
    /// ```
    partition_C(operation, atom_layout, permutation, m_x_n_layout, thread);
    /// `partition_D(operation, element bits, threads, values, layout, thread)`: what a thread writes, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, 32)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), Sw<3,3,3> o (8,64):row, 9) = [Sw<3,3,3> o 72 o ((8,1),2,1):((1,0),256,0),0]
    /// ```
    partition_D(operation, element_bits, threads, values, layout, thread);
    /// `partition_D_of_copy_A(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in the copy of A, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [(((2,2),1),2,4):(((1,256),0),1024,8),2]
    /// ```
    partition_D_of_copy_A(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_D_of_copy_B(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in the copy of B, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [((2,1),4,4):((1,0),512,8),2]
    /// ```
    partition_D_of_copy_B(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_D_of_copy_C(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in the copy of C, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1) = [((2,2),2,4):((1,512),2048,16),2]
    /// ```
    partition_D_of_copy_C(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S(operation, element bits, threads, values, layout, thread)`: what a thread reads, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (6,64):row, 9)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, 9) = [((8,1),2,1):((1,0),256,0),72]
    /// ```
    partition_S(operation, element_bits, threads, values, layout, thread);
    /// `partition_S_of_copy_A(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in the copy of A, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [((8,1),2,4):((1,0),1024,8),32]
    /// ```
    partition_S_of_copy_A(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S_of_copy_B(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in the copy of B, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1) = [((8,1),4,4):((1,0),512,8),32]
    /// ```
    partition_S_of_copy_B(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S_of_copy_C(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in the copy of C, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the tile of the copy does not divide the layout, or there is no such thread: `partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64):row, 1)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1) = [((2,2),2,4):((1,512),2048,16),2]
    /// ```
    partition_S_of_copy_C(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_shape_A(operation, atom layout, permutation, shape)`: the shape of what a thread holds of A.
    ///
    /// It is an error if the tile of the operation does not divide the shape: `partition_shape_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32))`.
    ///
    /// ```text
    /// partition_shape_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32)) = ((2,2),2,4)
    /// ```
    partition_shape_A(operation, atom_layout, permutation, shape);
    /// `partition_shape_B(operation, atom layout, permutation, shape)`: the shape of what a thread holds of B.
    ///
    /// It is an error if the tile of the operation does not divide the shape: `partition_shape_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,32))`.
    ///
    /// ```text
    /// partition_shape_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32)) = (2,4,4)
    /// ```
    partition_shape_B(operation, atom_layout, permutation, shape);
    /// `partition_shape_C(operation, atom layout, permutation, shape)`: the shape of what a thread holds of C.
    ///
    /// It is an error if the tile of the operation does not divide the shape: `partition_shape_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64))`.
    ///
    /// ```text
    /// partition_shape_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64)) = ((2,2),2,4)
    /// ```
    partition_shape_C(operation, atom_layout, permutation, shape);
    /// `prepend(layout, layout | rank[, layout])`: the layout with a further mode at the beginning; with a rank, with modes `1:0`, or copies of the given one, up to that rank.
    ///
    /// It is an error if the layout has a higher rank already: `prepend((2,3,4):(1,2,6), 2)`.
    ///
    /// ```text
    /// prepend(3:1, 4:3) = (4,3):(3,1)
    /// ```
    prepend(layout, layout2, layout3);
    /// `raked_product(layout, layout)`: ((B0, A0), …): B numbers copies of A, whose elements alternate.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `raked_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// raked_product((2,5):(5,1), (3,4):(1,3)) = ((3,2),(4,5)):((10,5),(30,1))
    /// ```
    raked_product(layout, layout2);
    /// `rank(layout)`: the number of top-level modes.
    ///
    /// ```text
    /// rank((2,(3,4))) = 2
    /// ```
    rank(layout);
    /// `recast(layout, old bits, new bits)`: the layout of elements of old bits as a layout of elements of new bits.
    ///
    /// It is an error if neither size divides the other, or the elements of a larger one are not all there: `recast((8,4):(1,8), 8, 12)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// recast((8,4):(1,8), 8, 16) = (4,4):(1,4)
    /// ```
    recast(layout, old_bits, new_bits);
    /// `replace(layout, mode, layout)`: the layout with another mode in the place of the one with this index.
    ///
    /// It is an error if there is no such mode: `replace((2,3,5):(1,2,6), 3, 4:8)`.
    ///
    /// ```text
    /// replace((2,3,5):(1,2,6), 1, 4:8) = (2,4,5):(1,8,6)
    /// ```
    replace(layout, mode, layout2);
    /// `retile_of_copy_A(copy, element bits, operation, atom layout, permutation, fragment)`: a thread's registers of A in the order in which the copy of A takes them.
    ///
    /// It is an error if the registers are no whole number of copies: `retile_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((3,2),2,4))`.
    ///
    /// ```text
    /// retile_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4)) = ((4,1),2,4):((1,0),4,8)
    /// ```
    retile_of_copy_A(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `retile_of_copy_B(copy, element bits, operation, atom layout, permutation, fragment)`: a thread's registers of B in the order in which the copy of B takes them.
    ///
    /// It is an error if the registers are no whole number of copies: `retile_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (3,4,4))`.
    ///
    /// ```text
    /// retile_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (2,4,4)) = ((2,1),4,4):((1,0),2,8)
    /// ```
    retile_of_copy_B(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `retile_of_copy_C(copy, element bits, operation, atom layout, permutation, fragment)`: a thread's registers of C in the order in which the copy of C takes them.
    ///
    /// It is an error if the registers are no whole number of copies: `retile_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((3,2),2,4))`.
    ///
    /// ```text
    /// retile_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4)) = ((2,2),2,4):((1,2),4,8)
    /// ```
    retile_of_copy_C(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `right_inverse(layout)`: the largest layout R with A(R(i)) = i.
    ///
    /// It is an error if the values are coordinates, or the operand is a map of bits that is not a bijection: `right_inverse((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// right_inverse((4,8):(8,1)) = (8,4):(4,1)
    /// ```
    right_inverse(layout);
    /// `select(layout, mode, …)`: the modes with these indices, in this order.
    ///
    /// It is an error if there is no such mode: `select((2,3,5,7):(1,2,6,30), 4)`.
    ///
    /// ```text
    /// select((2,3,5,7):(1,2,6,30), 3, 1) = (7,3):(30,2)
    /// ```
    select(layout, mode, further);
    /// `shape(layout)`: the extents of a layout.
    ///
    /// ```text
    /// shape((4,(2,3)):(1,(12,4))) = (4,(2,3))
    /// ```
    shape(layout);
    /// `shape_div(shape, divisor[, CEIL | FLOOR | EXACT])`: the shape of every n-th element, for n the divisor, or mode by mode for a tuple of divisors; with a rounding, each extent divided.
    ///
    /// It is an error if an extent and what is left of the divisor do not divide one another: `shape_div((3,6,2,8), 4)`.
    ///
    /// ```text
    /// shape_div((3,6,2,8), 9) = (1,2,2,8)
    /// ```
    shape_div(shape, divisor, ceil);
    /// `shape_mod(shape, integer)`: the shape of the first elements, as many as the integer.
    ///
    /// It is an error if an extent and what is left of the integer do not divide one another: `shape_mod((3,6,2,8), 4)`.
    ///
    /// ```text
    /// shape_mod((3,6,2,8), 9) = (3,3,1,1)
    /// ```
    shape_mod(shape, integer);
    /// `size(layout)`: the number of coordinates.
    ///
    /// ```text
    /// size((4,(2,3)):(0,(1,2))) = 24
    /// ```
    size(layout);
    /// `slice(layout, coordinate)`: the modes where the coordinate has `_`; for a swizzled layout, with the offset of the coordinate.
    ///
    /// It is an error if the coordinate does not nest as the shape does, or is outside of it: `slice((4,(2,3)):(1,(12,4)), (4,_))`.
    ///
    /// ```text
    /// slice((4,(2,3)):(1,(12,4)), (_,(1,_))) = (4,3):(1,4)
    /// ```
    slice(layout, coordinate);
    /// `slice_and_offset(layout, coordinate)`: the modes where the coordinate has `_`, and the value at which they begin.
    ///
    /// It gives layout, offset.
    ///
    /// It is an error if the coordinate does not nest as the shape does, or is outside of it: `slice_and_offset((4,(2,3)):(1,(12,4)), (4,_))`.
    ///
    /// ```text
    /// slice_and_offset((4,(2,3)):(1,(12,4)), (_,(1,_))) = [(4,3):(1,4),12]
    /// ```
    slice_and_offset(layout, coordinate);
    /// `smem_atom(K | MN, INTER | SW32 | SW64 | SW128, element bits)`: the smallest tile of shared memory with a swizzle mode, in its swizzled layout.
    ///
    /// It is an error if the hardware has no such tile of these elements: `smem_atom(K, SW128, 24)`.
    ///
    /// ```text
    /// smem_atom(K, SW128, 16) = Sw<3,3,3> o 0 o (8,64):(64,1)
    /// ```
    smem_atom(k, inter, element_bits);
    /// `smem_tile_to_shape(K | MN, INTER | SW32 | SW64 | SW128, element bits, shape[, order])`: the smallest tile of shared memory with a swizzle mode, repeated over a shape.
    ///
    /// It is an error if the tile does not divide the shape: `smem_tile_to_shape(K, SW128, 16, (128,60))`.
    ///
    /// ```text
    /// smem_tile_to_shape(K, SW128, 16, (128,64)) = Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))
    /// ```
    smem_tile_to_shape(k, inter, element_bits, shape, order);
    /// `sort(layout)`: the leaves in ascending order of their strides, which changes the order of the values.
    ///
    /// It is an error if the values are coordinates: `sort((4,8):(1@1,1@0))`.
    ///
    /// ```text
    /// sort((4,(2,3)):(6,(1,2))) = (2,3,4):(1,2,6)
    /// ```
    sort(layout);
    /// `stride(layout)`: the strides of a layout.
    ///
    /// ```text
    /// stride((4,8):row) = (8,1)
    /// ```
    stride(layout);
    /// `take(layout, begin, end)`: the modes from begin up to, but not including, end.
    ///
    /// It is an error if there are no such modes: no layout is empty: `take((2,3,5,7):(1,2,6,30), 1, 1)`.
    ///
    /// ```text
    /// take((2,3,5,7):(1,2,6,30), 1, 3) = (3,5):(2,6)
    /// ```
    take(layout, begin, end);
    /// `tensor_map(tile, tensor, element bits)`: what TMA needs to copy a tile: order of the modes, extents, byte strides, box, swizzle, and the number of boxes.
    ///
    /// It gives order of the modes, extents, byte strides, box, swizzle, boxes.
    ///
    /// It is an error if TMA cannot copy such a tile, or cannot read such a tensor: `tensor_map((64,64):(64,1), (100,99):(99,1), 16)`.
    ///
    /// ```text
    /// tensor_map(smem_atom(K, SW128, 16), (4096,1000):(1000,1), 16) = [(1,0),(1000,4096),(2000),(64,8),SW128,1]
    /// ```
    tensor_map(tile, tensor, element_bits);
    /// `tile_to_shape(layout, shape[, order])`: the block repeated over a shape, along its modes from left to right or in the given order.
    ///
    /// It is an error if a mode of the block does not divide that of the shape: `tile_to_shape((2,2):(2,1), (4,5))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// tile_to_shape((2,2):(2,1), (4,6)) = ((2,2),(2,3)):((2,4),(1,8))
    /// ```
    tile_to_shape(layout, shape, order);
    /// `tiled_copy(operation, element bits, threads, values, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy that a layout of threads does with these values each: its tile, or the layout that maps (thread, value) to elements.
    ///
    /// It is an error if the values of a thread are no whole number of copies: `tiled_copy(UniversalCopy<u128>, 16, (4,8):row, (1,4), TiledLayout_TV)`.
    ///
    /// ```text
    /// tiled_copy(UniversalCopy<u128>, 16, (4,8):row, (1,8), TiledLayout_TV) = ((8,4),8):((32,1),4)
    /// ```
    tiled_copy(operation, element_bits, threads, values, tiledlayout_tv);
    /// `tiled_copy_A(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy that the threads of an MMA operation do with what they hold of A: its tile, or the layout that maps (thread, value) to elements.
    ///
    /// It is an error if the values of a thread are no whole number of copies: `tiled_copy_A(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)`.
    ///
    /// ```text
    /// tiled_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV) = ((16,2,2,2),(8,1)):((1,0,16,0),(32,0))
    /// ```
    tiled_copy_A(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_copy_B(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy that the threads of an MMA operation do with what they hold of B: its tile, or the layout that maps (thread, value) to elements.
    ///
    /// It is an error if the values of a thread are no whole number of copies: `tiled_copy_B(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)`.
    ///
    /// ```text
    /// tiled_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV) = ((8,8,2),(8,1)):((1,0,8),(16,0))
    /// ```
    tiled_copy_B(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_copy_C(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy that the threads of an MMA operation do with what they hold of C: its tile, or the layout that maps (thread, value) to elements.
    ///
    /// It is an error if the values of a thread are no whole number of copies: `tiled_copy_C(SM75_U32x4_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (1,1,1), _, layoutS_TV)`.
    ///
    /// ```text
    /// tiled_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, Tiler_MN) = (32,16)
    /// ```
    tiled_copy_C(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_divide(layout, tiler)`: ((tile, …), rest, …): all tiles in mode 0, and then the rest of each mode.
    ///
    /// It is an error if the tiler does not divide the layout: `tiled_divide((8,12):(12,1), <3,3>)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// tiled_divide((8,12):(12,1), <4,3>) = ((4,3),2,4):((12,1),48,3)
    /// ```
    tiled_divide(layout, tiler);
    /// `tiled_mma(operation, atom layout, permutation, ThrLayoutVMNK | layoutA_TV | layoutB_TV | layoutC_TV)`: the threads of an MMA operation repeated over an atom layout, or the layout that maps (thread, value) to elements of the whole operand.
    ///
    /// It is an error if the permutation does not fit the repeated operation: `tiled_mma(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), <24,_,_>, layoutC_TV)`.
    ///
    /// ```text
    /// tiled_mma(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutC_TV) = ((4,8,2,2),((2,2),(1,1))):((64,1,16,256),((32,8),(0,0)))
    /// ```
    tiled_mma(operation, atom_layout, permutation, thrlayoutvmnk);
    /// `tiled_product(layout, tiler)`: ((layout, …), copies, …): the layout in mode 0, and then the copies of each mode.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `tiled_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// tiled_product((2,5):(5,1), <3:5,4:6>) = ((2,5),3,4):((5,1),10,30)
    /// ```
    tiled_product(layout, tiler);
    /// `unflatten(layout, profile)`: the layout with its leaves nested like the profile.
    ///
    /// It is an error if the profile has another number of leaves: `unflatten((2,3,4):(1,2,6), (0,0))`.
    ///
    /// ```text
    /// unflatten((2,3,4):(1,2,6), (0,(0,0))) = (2,(3,4)):(1,(2,6))
    /// ```
    unflatten(layout, profile);
    /// `unzip(layout)`: ((a0, a1, …), (b0, b1, …)) of a layout ((a0, b0), (a1, b1), …).
    ///
    /// It is an error if the modes have different ranks: `unzip(((2,4),(3,5,6)):((1,6),(2,24,120)))`.
    ///
    /// ```text
    /// unzip(((2,4),(3,5)):((1,6),(2,24))) = ((2,3),(4,5)):((1,2),(6,24))
    /// ```
    unzip(layout);
    /// `upcast(layout, integer)`: the layout in units of that many elements.
    ///
    /// It is an error if a stride and the number do not divide one another, or the elements of a unit are not all there: `upcast((2,8):(1,4), 4)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// upcast((8,4):(1,8), 4) = (2,4):(1,2)
    /// ```
    upcast(layout, integer);
    /// `vector_width(layout)`: the largest number v such that every v elements along the 1-D coordinate are contiguous and aligned.
    ///
    /// It is an error if the values are coordinates: `vector_width((4,8):(1@0,1@1))`.
    ///
    /// ```text
    /// vector_width(Sw<3,3,3> o (64,8):(1,64)) = 8
    /// ```
    vector_width(layout);
    /// `weakly_congruent(shape, shape)`: true if the first shape is the second with some subtrees replaced by integers.
    ///
    /// ```text
    /// weakly_congruent((6,12), (6,(3,4))) = true
    /// ```
    weakly_congruent(shape, shape2);
    /// `wgmma_operand(tile, element bits)`: the fields of a wgmma descriptor: K or MN, swizzle, leading and stride byte offset; and where each instruction starts.
    ///
    /// It gives major, swizzle, leading byte offset, stride byte offset, starts of the instructions.
    ///
    /// It is an error if wgmma cannot read the tile: `wgmma_operand((64,64):(65,1), 16)`.
    ///
    /// ```text
    /// wgmma_operand(smem_atom(K, SW128, 16), 16) = [K,SW128,16,16,(0,16,32,48)]
    /// ```
    wgmma_operand(tile, element_bits);
    /// `with_shape(layout, shape)`: the layout A under another shape: A(B(c)) for the compact layout B of the shape, in which the leftmost mode varies fastest.
    ///
    /// It is an error if the shape is larger than A, or no layout has these values: `with_shape((4,8):(8,1), (8,5))`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// with_shape((4,8):(8,1), (8,4)) = ((4,2),4):((8,1),2)
    /// ```
    with_shape(layout, shape);
    /// `xor_map(columns[, value])`: the map of bits that starts from a value, or 0, and exclusive-ors one column for each bit of the coordinate that is set.
    ///
    /// It is an error if a column is negative or too large, or there are more than 62: `xor_map((1,-1))`.
    ///
    /// ```text
    /// xor_map((1,2,4,9)) = Sw<1,0,3>
    /// ```
    xor_map(columns, value);
    /// `zip(layout[, layout])`: ((a0, b0), (a1, b1), …) of two layouts with the modes a0, a1, … and b0, b1, …, or of one layout ((a0, a1, …), (b0, b1, …)).
    ///
    /// It is an error if the two have different ranks: `zip((2,3):(1,2), (4,5,6):(6,24,120))`.
    ///
    /// ```text
    /// zip((2,3):(1,2), (4,5):(6,24)) = ((2,4),(3,5)):((1,6),(2,24))
    /// ```
    zip(layout, layout2);
    /// `zipped_divide(layout, tiler)`: ((tile, …), (rest, …)): all tiles in mode 0, and all rests in mode 1.
    ///
    /// It is an error if the tiler does not divide the layout: `zipped_divide((8,12):(12,1), <3,3>)`.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    ///
    /// ```text
    /// zipped_divide((8,12):(12,1), <4,3>) = ((4,3),(2,4)):((12,1),(48,3))
    /// ```
    zipped_divide(layout, tiler);
    /// `zipped_product(layout, tiler)`: ((layout, …), (copies, …)): the layout in mode 0, and all copies in mode 1.
    ///
    /// It is an error if copies would overlap, or no layout has their places: `zipped_product((12,2):(59,5), (2,3):(3,1))`.
    ///
    /// ```text
    /// zipped_product((2,5):(5,1), <3:5,4:6>) = ((2,5),(3,4)):((5,1),(10,30))
    /// ```
    zipped_product(layout, tiler);
}

declare_words! {
    /// A word of the notation, which selects a result of an operation.
    ALayout;
    /// A word of the notation, which selects a result of an operation.
    BLayout;
    /// A word of the notation, which selects a result of an operation.
    CEIL;
    /// A word of the notation, which selects a result of an operation.
    CLayout;
    /// A word of the notation, which selects a result of an operation.
    DstLayout;
    /// A word of the notation, which selects a result of an operation.
    EXACT;
    /// A word of the notation, which selects a result of an operation.
    FLOOR;
    /// A word of the notation, which selects a result of an operation.
    RefLayout;
    /// A word of the notation, which selects a result of an operation.
    Shape_MNK;
    /// A word of the notation, which selects a result of an operation.
    SrcLayout;
    /// A word of the notation, which selects a result of an operation.
    ThrID;
    /// A word of the notation, which selects a result of an operation.
    ThrLayoutVMNK;
    /// A word of the notation, which selects a result of an operation.
    TiledLayout_TV;
    /// A word of the notation, which selects a result of an operation.
    Tiler_MN;
    /// A word of the notation, which selects a result of an operation.
    ValLayoutDst;
    /// A word of the notation, which selects a result of an operation.
    ValLayoutRef;
    /// A word of the notation, which selects a result of an operation.
    ValLayoutSrc;
    /// A word of the notation, which selects a result of an operation.
    layoutA_TV;
    /// A word of the notation, which selects a result of an operation.
    layoutB_TV;
    /// A word of the notation, which selects a result of an operation.
    layoutC_TV;
    /// A word of the notation, which selects a result of an operation.
    layoutD_TV;
    /// A word of the notation, which selects a result of an operation.
    layoutS_TV;
}
