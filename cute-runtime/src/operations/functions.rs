//! The operations of the notation and of the kernel language, one page each.

// The test `documentation` of cute-lang writes this file: UPDATE_EXPECT=1 cargo test -p cute-lang --test kernels -- documentation

use super::{Value, declare, declare_words};

declare! {
    /// `alignment(layout)`: the largest number that divides all values.
    alignment(layout);
    /// `append(layout, layout | rank[, layout])`: modes added at the end.
    append(layout, layout2, layout3);
    /// `bank_conflicts(tile, element bits, threads and values, …)`: how often the busiest bank of shared memory is accessed at once; 1 means no conflict.
    bank_conflicts(tile, element_bits, threads_and_values, further);
    /// `best_swizzle(layout, element bits, threads and values, …)`: the layout under the swizzle with the fewest bank conflicts.
    best_swizzle(layout, element_bits, threads_and_values, further);
    /// `bijective(layout)`: the layout; an error with a witness if it is not bijective.
    bijective(layout);
    /// `blocked_product(layout, layout)`: ((A0, B0), …), blocks together.
    blocked_product(layout, layout2);
    /// `coalesce(layout[, profile])`: the same function with the fewest modes.
    coalesce(layout, profile);
    /// `compatible(shape, shape)`: whether every coordinate of the first is one of the second.
    compatible(shape, shape2);
    /// `complement(layout[, target])`: the ordered layout that fills the target together with the layout; strides 0 are left out.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    complement(layout, target);
    /// `composition(A, B)`: A(B(c)).
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    composition(a, b);
    /// `concat(layout, …)`: the layouts as modes of one.
    concat(layout, further);
    /// `conflict_free(tile, element bits, threads and values, …)`: the tile; an error with a witness if there are bank conflicts.
    conflict_free(tile, element_bits, threads_and_values, further);
    /// `conflict_free_map(layout, element bits, threads and values, …)`: a map of bits without bank conflicts; for each pattern, accesses of the busiest bank with the map and without it.
    ///
    /// It gives map, conflicts with it, conflicts without it.
    conflict_free_map(layout, element_bits, threads_and_values, further);
    /// `congruent(shape, shape)`: whether both are nested in the same way.
    congruent(shape, shape2);
    /// `copy_atom(operation, ThrID | SrcLayout | DstLayout | RefLayout)`: the threads of a copy operation, or a TV layout in bits.
    copy_atom(operation, thrid);
    /// `copy_atom_val(operation, element bits, ValLayoutSrc | ValLayoutDst | ValLayoutRef)`: a TV layout in elements.
    copy_atom_val(operation, element_bits, vallayoutsrc);
    /// `coshape(layout)`: the span of the values along each coordinate.
    coshape(layout);
    /// `cosize(layout)`: the span of the values: one more than the sum of (extent - 1) * |stride|.
    cosize(layout);
    /// `cosize_bound(layout)`: an upper bound of the span: the end of the block inside which a swizzle moves values.
    cosize_bound(layout);
    /// `crd2crd(coordinate, shape, shape)`: the same 1-D coordinate in another shape.
    crd2crd(coordinate, shape, shape2);
    /// `crd2idx(coordinate, layout | shape[, stride])`: the value at a coordinate.
    crd2idx(coordinate, layout, stride);
    /// `dense(layout)`: the layout; an error with a witness if it is not dense.
    dense(layout);
    /// `depth(layout)`: how deep the shape is nested.
    depth(layout);
    /// `dice(layout, coordinate)`: the modes where the coordinate has an integer.
    dice(layout, coordinate);
    /// `domain_distribute(shape, integer)`: a layout of that size, spread over the extents of the shape from left to right.
    domain_distribute(shape, integer);
    /// `downcast(layout, integer)`: the layout in units of an element split into that many parts.
    downcast(layout, integer);
    /// `equal(layout | tuple, layout | tuple)`: whether layouts are the same function, or tuples are the same.
    equal(layout, layout2);
    /// `evenly_divides(shape, shape)`: whether each mode of the second divides that of the first.
    evenly_divides(shape, shape2);
    /// `extension(layout, size)`: the layout extended to that size by its last mode.
    extension(layout, size);
    /// `filter(layout[, profile])`: the layout without modes of stride 0, coalesced.
    filter(layout, profile);
    /// `filter_zeros(layout)`: the same layout with extent 1 wherever the stride is 0.
    filter_zeros(layout);
    /// `flat_divide(layout, tiler)`: (tile, …, rest, …).
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    flat_divide(layout, tiler);
    /// `flat_product(layout, tiler)`: (layout, …, copies, …).
    flat_product(layout, tiler);
    /// `flatten(layout)`: all leaves as top-level modes.
    flatten(layout);
    /// `from_table(integer, …)`: the layout with these values; ragged, the one that begins with them.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    from_table(integer, further);
    /// `get(layout | tuple, integer, …)`: the mode at a path; of a tuple, the element.
    get(layout, integer, further);
    /// `group(layout, begin, end)`: the same layout with those modes grouped to one.
    group(layout, begin, end);
    /// `idx2crd(coordinate, shape[, stride])`: the natural coordinate; with a stride, the coordinate at which a compact layout has that value.
    idx2crd(coordinate, shape, stride);
    /// `index_form(layout)`: the cheapest arithmetic that computes the value at coordinate x.
    index_form(layout);
    /// `injective(layout)`: the layout; an error with a witness if it is not injective.
    injective(layout);
    /// `is_bijective(layout)`: whether the values are 0, 1, …, size - 1, each once.
    is_bijective(layout);
    /// `is_dense(layout)`: whether every value from the smallest to the largest occurs.
    is_dense(layout);
    /// `is_injective(layout)`: whether no two coordinates have the same value.
    is_injective(layout);
    /// `is_integral(layout | tuple)`: whether it is an integer, or a layout whose values are integers.
    is_integral(layout);
    /// `left_inverse(layout)`: L with L(A(i)) = i.
    left_inverse(layout);
    /// `local_partition(layout, threads, thread)`: what a thread has of a layout over which the threads are repeated, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    local_partition(layout, threads, thread);
    /// `local_tile(layout, tiler, coordinate)`: the tile at a coordinate of tiles, with further modes where it has `_`, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    local_tile(layout, tiler, coordinate);
    /// `logical_divide(layout, tiler)`: ((tile, rest), …).
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    logical_divide(layout, tiler);
    /// `logical_product(layout, tiler)`: ((layout, copies), …).
    logical_product(layout, tiler);
    /// `make_fragment_like(layout)`: the same, but the first mode varies fastest.
    make_fragment_like(layout);
    /// `make_identity_layout(shape)`: the layout that maps each coordinate to itself.
    make_identity_layout(shape);
    /// `make_layout_left(shape)`: the compact layout in which the leftmost mode varies fastest.
    make_layout_left(shape);
    /// `make_layout_like(layout)`: the compact layout with the same shape and the same order of strides.
    make_layout_like(layout);
    /// `make_layout_right(shape)`: the compact layout in which the rightmost mode varies fastest.
    make_layout_right(shape);
    /// `make_ordered_layout(shape, order)`: the compact layout whose modes vary fastest in that order.
    make_ordered_layout(shape, order);
    /// `matrix_operand(tile, element bits)`: for ldmatrix and stmatrix: whether transposed, how many matrices at once, where rows begin, bank conflicts.
    ///
    /// It gives transposed, matrices at once, rows, bank conflicts.
    matrix_operand(tile, element_bits);
    /// `max_alignment(layout)`: how many elements are contiguous and aligned.
    max_alignment(layout);
    /// `max_common_layout(layout, layout)`: the largest C with A(C(i)) = B(C(i)) = i.
    max_common_layout(layout, layout2);
    /// `max_common_vector(layout, layout)`: the size of their max_common_layout.
    max_common_vector(layout, layout2);
    /// `mma_atom(operation, Shape_MNK | ThrID | ALayout | BLayout | CLayout)`: the shape of an MMA operation, its threads, or a TV layout.
    mma_atom(operation, shape_mnk);
    /// `nullspace(layout)`: N with A(N(i)) = 0, for the modes of stride 0.
    nullspace(layout);
    /// `partition_A(operation, atom layout, permutation, M x K layout, thread)`: what a thread holds of A, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_A(operation, atom_layout, permutation, m_x_k_layout, thread);
    /// `partition_B(operation, atom layout, permutation, N x K layout, thread)`: what a thread holds of B, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_B(operation, atom_layout, permutation, n_x_k_layout, thread);
    /// `partition_C(operation, atom layout, permutation, M x N layout, thread)`: what a thread holds of C, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_C(operation, atom_layout, permutation, m_x_n_layout, thread);
    /// `partition_D(operation, element bits, threads, values, layout, thread)`: what a thread writes, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_D(operation, element_bits, threads, values, layout, thread);
    /// `partition_D_of_copy_A(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_D_of_copy_A(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_D_of_copy_B(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_D_of_copy_B(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_D_of_copy_C(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread writes in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_D_of_copy_C(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S(operation, element bits, threads, values, layout, thread)`: what a thread reads, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_S(operation, element_bits, threads, values, layout, thread);
    /// `partition_S_of_copy_A(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_S_of_copy_A(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S_of_copy_B(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_S_of_copy_B(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_S_of_copy_C(copy, element bits, operation, atom layout, permutation, layout, thread)`: what a thread reads in that copy, and the value where it begins.
    ///
    /// It gives layout, offset.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    partition_S_of_copy_C(copy, element_bits, operation, atom_layout, permutation, layout, thread);
    /// `partition_shape_A(operation, atom layout, permutation, shape)`: the shape of what a thread holds of A.
    partition_shape_A(operation, atom_layout, permutation, shape);
    /// `partition_shape_B(operation, atom layout, permutation, shape)`: the shape of what a thread holds of B.
    partition_shape_B(operation, atom_layout, permutation, shape);
    /// `partition_shape_C(operation, atom layout, permutation, shape)`: the shape of what a thread holds of C.
    partition_shape_C(operation, atom_layout, permutation, shape);
    /// `prepend(layout, layout | rank[, layout])`: modes added at the beginning.
    prepend(layout, layout2, layout3);
    /// `raked_product(layout, layout)`: ((B0, A0), …), blocks apart.
    raked_product(layout, layout2);
    /// `rank(layout)`: the number of top-level modes.
    rank(layout);
    /// `recast(layout, old bits, new bits)`: the layout in elements of another size.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    recast(layout, old_bits, new_bits);
    /// `replace(layout, integer, layout)`: one mode replaced.
    replace(layout, integer, layout2);
    /// `retile_of_copy_A(copy, element bits, operation, atom layout, permutation, fragment)`: registers of A in the order in which that copy takes them.
    retile_of_copy_A(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `retile_of_copy_B(copy, element bits, operation, atom layout, permutation, fragment)`: registers of B in the order in which that copy takes them.
    retile_of_copy_B(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `retile_of_copy_C(copy, element bits, operation, atom layout, permutation, fragment)`: registers of C in the order in which that copy takes them.
    retile_of_copy_C(copy, element_bits, operation, atom_layout, permutation, fragment);
    /// `right_inverse(layout)`: R with A(R(i)) = i.
    right_inverse(layout);
    /// `select(layout, integer, …)`: the listed modes.
    select(layout, integer, further);
    /// `shape(layout)`: the extents of the layout.
    shape(layout);
    /// `shape_div(shape, divisor[, CEIL | FLOOR | EXACT])`: the shape that is left without the first elements, as many as the divisor; with a rounding, each extent divided.
    shape_div(shape, divisor, ceil);
    /// `shape_mod(shape, integer)`: the shape of the first elements, as many as the integer.
    shape_mod(shape, integer);
    /// `size(layout)`: the number of coordinates.
    size(layout);
    /// `slice(layout, coordinate)`: the modes where the coordinate has `_`; for a swizzled layout, with the offset of the coordinate.
    slice(layout, coordinate);
    /// `slice_and_offset(layout, coordinate)`: the same, and the offset at which it begins.
    ///
    /// It gives layout, offset.
    slice_and_offset(layout, coordinate);
    /// `smem_atom(K | MN, INTER | SW32 | SW64 | SW128, element bits)`: a swizzled tile of shared memory.
    smem_atom(k, inter, element_bits);
    /// `smem_tile_to_shape(K | MN, INTER | SW32 | SW64 | SW128, element bits, shape[, order])`: the same tile repeated over a shape.
    smem_tile_to_shape(k, inter, element_bits, shape, order);
    /// `sort(layout)`: the leaves in ascending order of their strides.
    sort(layout);
    /// `stride(layout)`: the strides of the layout.
    stride(layout);
    /// `take(layout, begin, end)`: the modes from begin up to, but not including, end.
    take(layout, begin, end);
    /// `tensor_map(tile, tensor, element bits)`: for TMA: order of the modes, extents, byte strides, box, swizzle, number of boxes.
    ///
    /// It gives order of the modes, extents, byte strides, box, swizzle, boxes.
    tensor_map(tile, tensor, element_bits);
    /// `tile_to_shape(layout, shape[, order])`: the block repeated over a shape.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    tile_to_shape(layout, shape, order);
    /// `tiled_copy(operation, element bits, threads, values, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy over threads and their values: its tile, or a TV layout.
    tiled_copy(operation, element_bits, threads, values, tiledlayout_tv);
    /// `tiled_copy_A(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy over the threads and values of A: its tile, or a TV layout.
    tiled_copy_A(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_copy_B(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy over the threads and values of B: its tile, or a TV layout.
    tiled_copy_B(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_copy_C(copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV)`: the copy over the threads and values of C: its tile, or a TV layout.
    tiled_copy_C(copy, element_bits, operation, atom_layout, permutation, tiledlayout_tv);
    /// `tiled_divide(layout, tiler)`: ((tile, …), rest, …).
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    tiled_divide(layout, tiler);
    /// `tiled_mma(operation, atom layout, permutation, ThrLayoutVMNK | layoutA_TV | layoutB_TV | layoutC_TV)`: the operation over threads and a tile: its threads, or a TV layout.
    tiled_mma(operation, atom_layout, permutation, thrlayoutvmnk);
    /// `tiled_product(layout, tiler)`: ((layout, …), copies, …).
    tiled_product(layout, tiler);
    /// `unflatten(layout, profile)`: the leaves nested like the profile.
    unflatten(layout, profile);
    /// `unzip(layout)`: ((a0, a1, …), (b0, b1, …)) of ((a0, b0), (a1, b1), …).
    unzip(layout);
    /// `upcast(layout, integer)`: the layout in units of that many elements.
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    upcast(layout, integer);
    /// `vector_width(layout)`: how many elements are contiguous and aligned along the 1-D coordinate.
    vector_width(layout);
    /// `weakly_congruent(shape, shape)`: whether the first is the second with some subtrees replaced by leaves.
    weakly_congruent(shape, shape2);
    /// `wgmma_operand(tile, element bits)`: the fields of a wgmma descriptor: K or MN, swizzle, leading and stride byte offset; and where each instruction starts.
    ///
    /// It gives major, swizzle, leading byte offset, stride byte offset, starts of the instructions.
    wgmma_operand(tile, element_bits);
    /// `with_shape(layout, shape)`: the same strides under another shape.
    with_shape(layout, shape);
    /// `xor_map(columns[, value])`: the map of bits that starts from a value, or 0, and exclusive-ors one column for each bit of the coordinate that is set.
    xor_map(columns, value);
    /// `zip(layout[, layout])`: ((a0, b0), (a1, b1), …).
    zip(layout, layout2);
    /// `zipped_divide(layout, tiler)`: ((tile, …), (rest, …)).
    ///
    /// With `ragged` in front, it rounds up, as CuTe does.
    zipped_divide(layout, tiler);
    /// `zipped_product(layout, tiler)`: ((layout, …), (copies, …)).
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
