//! Small launches of the shipped kernels, whose results are exact, so that a correct kernel gives the same bytes under every
//! schedule.

use cute_kernels::attention::kernels::{self as attention, attention_CAUSAL, attention_D};
use cute_kernels::gemm::fused::kernels::{self as fused, gemm_fused_CFG, gemm_fused_F};
use cute_kernels::gemm::gated::kernels::{self as gated, gemm_gated_CFG, gemm_gated_F};
use cute_kernels::gemm::grouped::kernels::{self as grouped, gemm_grouped_CFG};
use cute_kernels::gemm::kernels::{self as gemm, gemm_CFG, gemm_types};
use cute_kernels::gemm::linear::kernels::{self as linear, gemm_linear_CFG, gemm_update_CFG};
use cute_kernels::gemm::list::kernels::{self as list, gemm_list_CFG};
use cute_kernels::gemm::scaled::kernels::{self as scaled, gemm_block_scaled_CFG, gemm_scaled_CFG};
use cute_kernels::lib::{Config, SINGLE, SQUARE, SQUARE_PROMOTED};
use cute_kernels::norm::kernels::{self as norm, layer_norm_long_CFG, rms_norm_long_CFG};
use cute_kernels::pack::kernels::{self as pack, pack_MN};
use cute_kernels::quantise::Quantised;
use cute_kernels::quantise::kernels::quantise_rows_types;
use cute_kernels::softmax::kernels::{self as softmax, softmax_long_CFG};
use cute_kernels::{
    Activation, Epilogue, Error, GemmInput, Plan, Tile, Transpose, histogram, layer_norm,
    quantise_rows, rms_norm, saxpy, sum, sum_rows, transpose,
};
use cute_runtime::{Device, Element, Tensor, TensorView, TensorViewMut, bf16, e4m3};

/// A launch of a kernel, and of others that compute its arguments.
pub(crate) struct Launch {
    /// The name of the kernel, and what is special of the launch behind a comma.
    pub(crate) name: &'static str,
    /// Launches it, and returns the bytes of the result and of what lies beside it.
    pub(crate) run: fn(&Device) -> Result<Vec<u8>, Error>,
}

impl Launch {
    pub(crate) fn kernel(&self) -> &'static str {
        self.name.split(',').next().unwrap_or(self.name)
    }
}

const fn launch(name: &'static str, run: fn(&Device) -> Result<Vec<u8>, Error>) -> Launch {
    Launch { name, run }
}

/// Each computes more tiles than it has CTAs, and takes more steps along K than its rings have stages; no tile divides the extents. Of
/// two CTAs or clusters, one computes a second tile. Where warpgroups take turns, a tile takes as many steps as a ring has stages, so that
/// one alone reads a whole round of them. A kernel that waits for the grid before reads what that one has written.
pub(crate) const LAUNCHES: &[Launch] = &[
    // Two warpgroups compute a tile together, and have half of its rows each.
    launch("gemm_bf16_bf16_bf16_TILES_37", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_37, 1, [264, 88, 264])
    }),
    // They share A, which two wgmma multiply by parts of B.
    launch("gemm_bf16_bf16_bf16_TILES_36", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_36, 2, [136, 640, 200])
    }),
    // They share B.
    launch("gemm_bf16_bf16_f32_TILES_38", |device| {
        by_tile::<bf16, f32>(device, gemm_CFG::TILES_38, 2, [520, 120, 264])
    }),
    // They have half of the columns each.
    launch("gemm_bf16_bf16_bf16_TILES_46", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_46, 1, [72, 312, 456])
    }),
    launch("gemm_bf16_bf16_bf16_TILES_47", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_47, 2, [264, 264, 264])
    }),
    // Two warpgroups compute tiles in turn.
    launch("gemm_bf16_bf16_bf16_TILES_1", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_1, 1, [200, 88, 632])
    }),
    launch("gemm_bf16_bf16_f32_TILES_3", |device| {
        by_tile::<bf16, f32>(device, gemm_CFG::TILES_3, 2, [264, 88, 632])
    }),
    launch("gemm_bf16_bf16_bf16_TILES_2", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_2, 4, [136, 200, 632])
    }),
    launch("gemm_bf16_bf16_bf16_TILES_0", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_0, 8, [136, 136, 824])
    }),
    // Their products are stored transposed.
    launch("gemm_bf16_bf16_bf16_TILES_30", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_30, 1, [304, 184, 248])
    }),
    launch("gemm_bf16_bf16_f32_TILES_20", |device| {
        by_tile::<bf16, f32>(device, gemm_CFG::TILES_20, 2, [136, 216, 504])
    }),
    launch("gemm_bf16_bf16_bf16_TILES_39", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_39, 4, [136, 24, 2824])
    }),
    // CTAs divide K.
    launch("gemm_bf16_bf16_bf16_TILES_41", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::TILES_41, 2, [136, 72, 1032])
    }),
    launch("gemm_bf16_bf16_f32_TILES_45", |device| {
        by_tile::<bf16, f32>(device, gemm_CFG::TILES_45, 4, [72, 184, 1800])
    }),
    // A along M and B along N.
    launch("gemm_bf16_bf16_bf16_MAJORS_5", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::MAJORS_5, 1, [136, 120, 440])
    }),
    // A goes to registers.
    launch("gemm_tf32_tf32_f32_ONE_MAJOR_2", |device| {
        by_tile::<f32, f32>(device, gemm_CFG::ONE_MAJOR_2, 1, [136, 140, 152])
    }),
    launch("gemm_tf32_tf32_f32_MAJORS_7", |device| {
        by_tile::<f32, f32>(device, gemm_CFG::MAJORS_7, 1, [384, 56, 248])
    }),
    launch("gemm_tf32_tf32_f32_MAJORS_3", |device| {
        by_tile::<f32, f32>(device, gemm_CFG::MAJORS_3, 2, [264, 136, 152])
    }),
    // Elements of 8 bits.
    launch("gemm_e4m3_e4m3_f32_TILES_1", |device| {
        by_tile::<e4m3, f32>(device, gemm_CFG::TILES_1, 1, [200, 88, 1272])
    }),
    // D is stored by elements.
    launch("gemm_bf16_bf16_bf16_BY_ELEMENT_0", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::BY_ELEMENT_0, 2, [392, 41, 264])
    }),
    launch("gemm_bf16_bf16_f32_BY_ELEMENT_1", |device| {
        by_tile::<bf16, f32>(device, gemm_CFG::BY_ELEMENT_1, 1, [390, 57, 504])
    }),
    launch("gemm_bf16_bf16_bf16_BY_ELEMENT_2", |device| {
        by_tile::<bf16, bf16>(device, gemm_CFG::BY_ELEMENT_2, 2, [72, 57, 1160])
    }),
    // The sums of parts of K are added up.
    launch("add_parts_f32_bf16", |device| {
        let (m, n, k) = (40, 264, 1100);
        let b = bf16::uploaded(device, 1, n, k)?;
        let mut d = result::<bf16>(device, m, n)?;
        let a = bf16::computed(device, 1, m, k)?;
        let (a, b, mut view) = (a.view(), b.view(), d.view_mut());
        let plan = Plan::new(device, &a, &b, &view)?;
        let mut tiles = plan.candidates().iter().map(|(tile, _)| *tile);
        let in_parts = tiles.find(|tile| matches!(tile, Tile::InParts(..)));
        let plan = plan.with_tile(in_parts.expect("K is long"))?;
        plan.launch(device, &a, &b, &mut view)?;
        Ok(bytes(&d.buffer().download()?))
    }),
    // The product is scaled and added to a matrix.
    launch("gemm_linear_bf16_bf16_SQUARE", |device| {
        product::<bf16, bf16>(
            device,
            SQUARE,
            [136, 120, 440],
            |device, a, b, d, [m, n, k]| {
                let c = bf16::computed(device, 1, m, n)?;
                let c = c.view();
                Ok(linear::gemm_linear::launch(
                    gemm_linear_CFG::SQUARE,
                    device,
                    1,
                    a,
                    b,
                    &c,
                    d,
                    1,
                    m,
                    n,
                    k,
                    2.0,
                    -1.0,
                )?)
            },
        )
    }),
    // The largest values of rows are noted, here by several CTAs.
    launch("gemm_fused_bf16_bf16_Relu_FUSED_2", |device| {
        followed(device, gemm_fused_CFG::FUSED_2, 2, [136, 200, 696])
    }),
    // The transpose is stored, and eight lanes have a row. A tile has more stages than the ring, so that a warpgroup's turn matters.
    launch("gemm_fused_bf16_bf16_Relu_FUSED_4", |device| {
        followed(device, gemm_fused_CFG::FUSED_4, 2, [136, 24, 1100])
    }),
    // CTAs of a cluster divide K, and each stores a part of the columns. A tile has more
    // stages than the ring.
    launch("gemm_fused_bf16_bf16_Relu_FUSED_15", |device| {
        followed(device, gemm_fused_CFG::FUSED_15, 4, [136, 40, 3080])
    }),
    // D is stored by elements, and CTAs have columns of the same rows.
    launch("gemm_fused_bf16_bf16_Relu_FUSED_20", |device| {
        followed(device, gemm_fused_CFG::FUSED_20, 3, [136, 137, 568])
    }),
    // The same behind the sums of parts of K.
    launch("finish_parts_f32_bf16_Relu", |device| {
        let (m, n, k) = (40, 264, 1100);
        let b = bf16::uploaded(device, 1, n, k)?;
        let bias = bf16::computed(device, 1, 1, n)?;
        let bias = bias.buffer().view(0, [n as usize], [1])?;
        let c = bf16::computed(device, 1, m, n)?;
        let c = c.view();
        let mut largest = Tensor::<f32, 1>::zeros(device, [m as usize])?;
        let mut d = result::<bf16>(device, m, n)?;
        let a = bf16::computed(device, 1, m, k)?;
        let (a, b, mut view) = (a.view(), b.view(), d.view_mut());
        let epilogue = Epilogue::new().scale(2.0).bias(&bias).residual(-1.0, &c);
        let epilogue = epilogue
            .activation(Activation::Relu)
            .absmax(largest.view_mut());
        let plan = Plan::fused(device, &a, &b, &epilogue, &view)?;
        let mut tiles = plan.candidates().iter().map(|(tile, _)| *tile);
        let in_parts = tiles.find(|tile| matches!(tile, Tile::InParts(..)));
        let plan = plan.with_tile(in_parts.expect("K is long"))?;
        plan.launch_fused(device, &a, &b, epilogue, &mut view)?;
        Ok([bytes(&d.buffer().download()?), bytes(&largest.download()?)].concat())
    }),
    // Even columns are gates of the odd ones. A tile has more stages than the ring, so that a warpgroup's turn matters.
    launch("gemm_gated_bf16_bf16_Relu_GATED_0", |device| {
        with_gates(device, gemm_gated_CFG::GATED_0, 1, [136, 112, 1100])
    }),
    launch("gemm_linear_bf16_bf16_SQUARE_BY_ELEMENT", |device| {
        product::<bf16, bf16>(
            device,
            SQUARE,
            [136, 57, 440],
            |device, a, b, d, [m, n, k]| {
                let c = bf16::computed(device, 1, m, n)?;
                let c = c.view();
                Ok(linear::gemm_linear::launch(
                    gemm_linear_CFG::SQUARE_BY_ELEMENT,
                    device,
                    1,
                    a,
                    b,
                    &c,
                    d,
                    1,
                    m,
                    n,
                    k,
                    2.0,
                    -1.0,
                )?)
            },
        )
    }),
    launch("gemm_update_bf16_f32_SQUARE_BY_ELEMENT", |device| {
        product::<bf16, f32>(
            device,
            SQUARE,
            [136, 57, 440],
            |device, a, b, d, [m, n, k]| {
                // The second one reads D, too, as the first one has written it.
                for _ in 0..2 {
                    linear::gemm_update::launch(
                        gemm_update_CFG::SQUARE_BY_ELEMENT,
                        device,
                        1,
                        a,
                        b,
                        d,
                        1,
                        m,
                        n,
                        k,
                        2.0,
                        -1.0,
                    )?;
                }
                Ok(())
            },
        )
    }),
    // Scales of rows, and of blocks, whose sums are promoted.
    launch("gemm_scaled_e4m3_e4m3_bf16_SINGLE", |device| {
        product::<e4m3, bf16>(
            device,
            SINGLE,
            [136, 136, 528],
            |device, a, b, d, [m, n, k]| {
                let (x, y) = (
                    f32::computed(device, 1, 1, m)?,
                    f32::computed(device, 1, 1, n)?,
                );
                let (x, y) = (row(&x)?, row(&y)?);
                Ok(scaled::gemm_scaled::launch(
                    gemm_scaled_CFG::SINGLE,
                    device,
                    1,
                    a,
                    &x,
                    b,
                    &y,
                    d,
                    1,
                    m,
                    n,
                    k,
                )?)
            },
        )
    }),
    launch("gemm_scaled_e4m3_e4m3_f32_SQUARE_BY_ELEMENT", |device| {
        product::<e4m3, f32>(
            device,
            SQUARE,
            [136, 57, 784],
            |device, a, b, d, [m, n, k]| {
                let (x, y) = (
                    f32::computed(device, 1, 1, m)?,
                    f32::computed(device, 1, 1, n)?,
                );
                let (x, y) = (row(&x)?, row(&y)?);
                Ok(scaled::gemm_scaled::launch(
                    gemm_scaled_CFG::SQUARE_BY_ELEMENT,
                    device,
                    1,
                    a,
                    &x,
                    b,
                    &y,
                    d,
                    1,
                    m,
                    n,
                    k,
                )?)
            },
        )
    }),
    launch(
        "gemm_block_scaled_e4m3_e4m3_bf16_SQUARE_PROMOTED",
        |device| {
            product::<e4m3, bf16>(
                device,
                SQUARE_PROMOTED,
                [136, 248, 784],
                |device, a, b, d, [m, n, k]| {
                    let wide = k.div_ceil(128);
                    let x = f32::computed(device, 1, wide, m)?;
                    let y = f32::computed(device, 1, n.div_ceil(128), wide)?;
                    let (x, y) = (x.view(), y.view());
                    Ok(scaled::gemm_block_scaled::launch(
                        gemm_block_scaled_CFG::SQUARE_PROMOTED,
                        device,
                        1,
                        a,
                        &x,
                        b,
                        &y,
                        d,
                        1,
                        m,
                        n,
                        k,
                    )?)
                },
            )
        },
    ),
    launch(
        "gemm_block_scaled_e4m3_e4m3_f32_SQUARE_PROMOTED_BY_ELEMENT",
        |device| {
            product::<e4m3, f32>(
                device,
                SQUARE_PROMOTED,
                [136, 57, 784],
                |device, a, b, d, [m, n, k]| {
                    let wide = k.div_ceil(128);
                    let x = f32::computed(device, 1, wide, m)?;
                    let y = f32::computed(device, 1, n.div_ceil(128), wide)?;
                    let (x, y) = (x.view(), y.view());
                    Ok(scaled::gemm_block_scaled::launch(
                        gemm_block_scaled_CFG::SQUARE_PROMOTED_BY_ELEMENT,
                        device,
                        1,
                        a,
                        &x,
                        b,
                        &y,
                        d,
                        1,
                        m,
                        n,
                        k,
                    )?)
                },
            )
        },
    ),
    // Groups of rows: of one size, of several, and none.
    launch(
        "gemm_grouped_bf16_bf16_SQUARE, groups of one size",
        |device| {
            groups(
                device,
                &[128, 256],
                [120, 440],
                |device, a, b, ends, d, k| {
                    Ok(grouped::gemm_grouped::launch(
                        gemm_grouped_CFG::SQUARE,
                        device,
                        1,
                        a,
                        b,
                        ends,
                        d,
                        k,
                    )?)
                },
            )
        },
    ),
    launch(
        "gemm_grouped_bf16_bf16_SINGLE, groups of several sizes",
        |device| {
            groups(
                device,
                &[5, 5, 140],
                [136, 136],
                |device, a, b, ends, d, k| {
                    Ok(grouped::gemm_grouped::launch(
                        gemm_grouped_CFG::SINGLE,
                        device,
                        1,
                        a,
                        b,
                        ends,
                        d,
                        k,
                    )?)
                },
            )
        },
    ),
    launch(
        "gemm_grouped_bf16_bf16_WHOLE, groups of several sizes",
        |device| {
            groups(
                device,
                &[3, 3, 20, 25],
                [120, 328],
                |device, a, b, ends, d, k| {
                    Ok(grouped::gemm_grouped::launch(
                        gemm_grouped_CFG::WHOLE,
                        device,
                        1,
                        a,
                        b,
                        ends,
                        d,
                        k,
                    )?)
                },
            )
        },
    ),
    launch("gemm_grouped_bf16_bf16_SQUARE_BY_ELEMENT", |device| {
        groups(
            device,
            &[5, 5, 140],
            [57, 264],
            |device, a, b, ends, d, k| {
                Ok(grouped::gemm_grouped::launch(
                    gemm_grouped_CFG::SQUARE_BY_ELEMENT,
                    device,
                    1,
                    a,
                    b,
                    ends,
                    d,
                    k,
                )?)
            },
        )
    }),
    // Lists of products.
    launch("gemm_list_bf16_bf16_SQUARE", |device| {
        listed(
            device,
            &[[130, 120, 264], [70, 72, 200]],
            |device, a, b, d, k| {
                Ok(list::gemm_list::launch(
                    gemm_list_CFG::SQUARE,
                    device,
                    1,
                    a,
                    b,
                    d,
                    k,
                )?)
            },
        )
    }),
    launch("gemm_list_bf16_bf16_SINGLE", |device| {
        listed(
            device,
            &[[130, 120, 200], [70, 72, 72]],
            |device, a, b, d, k| {
                Ok(list::gemm_list::launch(
                    gemm_list_CFG::SINGLE,
                    device,
                    1,
                    a,
                    b,
                    d,
                    k,
                )?)
            },
        )
    }),
    launch("gemm_list_bf16_bf16_WHOLE", |device| {
        listed(
            device,
            &[[20, 120, 440], [70, 72, 328]],
            |device, a, b, d, k| {
                Ok(list::gemm_list::launch(
                    gemm_list_CFG::WHOLE,
                    device,
                    1,
                    a,
                    b,
                    d,
                    k,
                )?)
            },
        )
    }),
    launch("gemm_list_bf16_bf16_SQUARE_BY_ELEMENT", |device| {
        listed(
            device,
            &[[130, 57, 264], [70, 71, 200]],
            |device, a, b, d, k| {
                Ok(list::gemm_list::launch(
                    gemm_list_CFG::SQUARE_BY_ELEMENT,
                    device,
                    1,
                    a,
                    b,
                    d,
                    k,
                )?)
            },
        )
    }),
    // Few rows go from memory to registers.
    launch("gemm_streamed_bf16_bf16_bf16_ROWS_8", |device| {
        streamed::<bf16, bf16>(device, [5, 20, 2184])
    }),
    launch("gemm_streamed_bf16_bf16_f32_ROWS_16", |device| {
        streamed::<bf16, f32>(device, [13, 40, 1160])
    }),
    launch("gemm_streamed_bf16_bf16_bf16_ANY_8", |device| {
        streamed::<bf16, bf16>(device, [5, 20, 1101])
    }),
    launch("gemm_streamed_bf16_bf16_f32_ANY_16", |device| {
        streamed::<bf16, f32>(device, [13, 20, 1101])
    }),
    launch("gemm_streamed_e4m3_e4m3_f32_FP8_8", |device| {
        streamed::<e4m3, f32>(device, [5, 20, 2208])
    }),
    launch("gemm_streamed_e4m3_e4m3_bf16_FP8_16", |device| {
        streamed::<e4m3, bf16>(device, [13, 40, 1168])
    }),
    launch("gemm_streamed_tf32_tf32_f32_ROWS_8", |device| {
        streamed::<f32, f32>(device, [5, 20, 1092])
    }),
    launch("attention_64_false", |device| {
        scores::<64>(
            device,
            [200, 392],
            attention_D::_64,
            attention_CAUSAL::_false,
        )
    }),
    launch("attention_64_true", |device| {
        scores::<64>(
            device,
            [392, 392],
            attention_D::_64,
            attention_CAUSAL::_true,
        )
    }),
    launch("attention_128_false", |device| {
        scores::<128>(
            device,
            [136, 536],
            attention_D::_128,
            attention_CAUSAL::_false,
        )
    }),
    launch("attention_128_true", |device| {
        scores::<128>(
            device,
            [392, 392],
            attention_D::_128,
            attention_CAUSAL::_true,
        )
    }),
    launch("transpose_bf16", |device| transposed(device, [72, 40], 72)),
    launch("transpose_unaligned_bf16", |device| {
        transposed(device, [72, 40], 73)
    }),
    launch("pack_bf16_false", |device| {
        packed(device, pack_MN::_false, [10, 1100])
    }),
    launch("pack_bf16_true", |device| {
        packed(device, pack_MN::_true, [70, 130])
    }),
    // Rows of a warp, of several, and of a CTA, and those of which a CTA holds a part at a time.
    launch("softmax_bf16_HELD_0", |device| {
        of_rows::<bf16>(device, [7, 200], 0, |device, x, y| {
            cute_kernels::softmax(device, x, y)
        })
    }),
    launch("softmax_bf16_HELD_9", |device| {
        of_rows::<bf16>(device, [7, 201], 2, |device, x, y| {
            cute_kernels::softmax(device, x, y)
        })
    }),
    launch("softmax_bf16_HELD_2", |device| {
        of_rows::<bf16>(device, [5, 1544], 0, |device, x, y| {
            cute_kernels::softmax(device, x, y)
        })
    }),
    launch("softmax_bf16_HELD_6", |device| {
        of_rows::<bf16>(device, [2, 6152], 0, |device, x, y| {
            cute_kernels::softmax(device, x, y)
        })
    }),
    launch("softmax_long_f32_LONG_0", |device| {
        of_rows::<f32>(device, [2, 32_776], 0, |device, x, y| {
            let config = softmax_long_CFG::LONG_0;
            Ok(softmax::softmax_long::launch(config, device, 1, x, y)?)
        })
    }),
    launch("softmax_long_bf16_LONG_1", |device| {
        of_rows::<bf16>(device, [2, 6501], 2, |device, x, y| {
            let config = softmax_long_CFG::LONG_1;
            Ok(softmax::softmax_long::launch(config, device, 1, x, y)?)
        })
    }),
    launch("layer_norm_bf16_HELD_0", |device| {
        of_rows::<bf16>(device, [7, 200], 0, |device, x, y| {
            let w = weights::<bf16>(device, 200)?;
            layer_norm(device, x, &w.view(), &w.view(), 0.5, y)
        })
    }),
    launch("layer_norm_bf16_HELD_10", |device| {
        of_rows::<bf16>(device, [5, 1201], 2, |device, x, y| {
            let w = weights::<bf16>(device, 1201)?;
            layer_norm(device, x, &w.view(), &w.view(), 0.5, y)
        })
    }),
    launch("rms_norm_bf16_HELD_9", |device| {
        of_rows::<bf16>(device, [7, 201], 2, |device, x, y| {
            let w = weights::<bf16>(device, 201)?;
            rms_norm(device, x, &w.view(), 0.5, y)
        })
    }),
    launch("rms_norm_bf16_HELD_4", |device| {
        of_rows::<bf16>(device, [3, 3080], 0, |device, x, y| {
            let w = weights::<bf16>(device, 3080)?;
            rms_norm(device, x, &w.view(), 0.5, y)
        })
    }),
    launch("layer_norm_long_f32_LONG_0", |device| {
        of_rows::<f32>(device, [2, 32_776], 0, |device, x, y| {
            let (w, config) = (weights::<f32>(device, 32_776)?, layer_norm_long_CFG::LONG_0);
            Ok(norm::layer_norm_long::launch(
                config,
                device,
                1,
                x,
                &w.view(),
                &w.view(),
                y,
                0.5,
            )?)
        })
    }),
    launch("layer_norm_long_bf16_LONG_1", |device| {
        of_rows::<bf16>(device, [2, 6501], 2, |device, x, y| {
            let (w, config) = (weights::<bf16>(device, 6501)?, layer_norm_long_CFG::LONG_1);
            Ok(norm::layer_norm_long::launch(
                config,
                device,
                1,
                x,
                &w.view(),
                &w.view(),
                y,
                0.5,
            )?)
        })
    }),
    launch("rms_norm_long_f32_LONG_0", |device| {
        of_rows::<f32>(device, [2, 32_776], 0, |device, x, y| {
            let (w, config) = (weights::<f32>(device, 32_776)?, rms_norm_long_CFG::LONG_0);
            Ok(norm::rms_norm_long::launch(
                config,
                device,
                1,
                x,
                &w.view(),
                y,
                0.5,
            )?)
        })
    }),
    launch("rms_norm_long_bf16_LONG_1", |device| {
        of_rows::<bf16>(device, [2, 6501], 2, |device, x, y| {
            let (w, config) = (weights::<bf16>(device, 6501)?, rms_norm_long_CFG::LONG_1);
            Ok(norm::rms_norm_long::launch(
                config,
                device,
                1,
                x,
                &w.view(),
                y,
                0.5,
            )?)
        })
    }),
    launch("sum_rows_bf16_ROW_1024", |device| {
        sums_of_rows(device, [7, 200])
    }),
    launch("sum_rows_bf16_ROW_8192", |device| {
        sums_of_rows(device, [2, 9000])
    }),
    launch("sum_rows_bf16_ANY_1017", |device| {
        sums_of_rows(device, [7, 201])
    }),
    launch("sum_bf16_ROW_8192", |device| total(device, 36_000)),
    launch("sum_bf16_ANY_6137", |device| total(device, 36_001)),
    launch("quantise_rows_bf16_e4m3_false", |device| {
        quantised::<e4m3>(device, [11, 1101])
    }),
    launch("quantise_rows_bf16_i8_true", |device| {
        quantised::<i8>(device, [11, 1101])
    }),
    launch("histogram_16", |device| counts(device, 20_000)),
    launch("histogram_1", |device| counts(device, 9001)),
    launch("saxpy_4", |device| sums(device, 3000)),
    launch("saxpy_1", |device| sums(device, 3001)),
];

type View3<'a, T> = TensorView<'a, T, 3>;
type Result3<'a, D> = TensorViewMut<'a, D, 3>;

/// A · Bᵀ of small integers by a tile, with D zeros before. `launch` gets A, B and D as the kernel takes them, and M, N and K.
fn product<T: Input, D: Element>(
    device: &Device,
    tile: Config,
    [m, n, k]: [u32; 3],
    launch: impl Fn(&Device, &View3<T>, &View3<T>, &mut Result3<D>, [u32; 3]) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let b = match tile.b_mn {
        true => T::uploaded(device, 1, k, n)?,
        false => T::uploaded(device, 1, n, k)?,
    };
    let mut d = match tile.swapped {
        true => result::<D>(device, n, m)?,
        false => result::<D>(device, m, n)?,
    };
    // Last, since the host waits for all grids where it writes memory.
    let a = match tile.a_mn {
        true => T::computed(device, 1, k, m)?,
        false => T::computed(device, 1, m, k)?,
    };
    launch(device, &a.view(), &b.view(), &mut d.view_mut(), [m, n, k])?;
    Ok(bytes(&d.buffer().download()?))
}

fn by_tile<T: Input + gemm_types<T, D>, D: Element>(
    device: &Device,
    config: gemm_CFG,
    grid: u32,
    shape: [u32; 3],
) -> Result<Vec<u8>, Error> {
    product::<T, D>(
        device,
        config.value(),
        shape,
        |device, a, b, d, [m, n, k]| {
            Ok(gemm::gemm::launch(
                config, device, grid, a, b, d, 1, m, n, k, 1,
            )?)
        },
    )
}

/// relu(2 · A · Bᵀ - C + bias).
fn followed(
    device: &Device,
    config: gemm_fused_CFG,
    grid: u32,
    shape: [u32; 3],
) -> Result<Vec<u8>, Error> {
    let swapped = config.value().swapped;
    let run = |device: &Device,
               a: &View3<bf16>,
               b: &View3<bf16>,
               d: &mut Result3<bf16>,
               [m, n, k]: [u32; 3]| {
        let (rows, columns) = if swapped { (n, m) } else { (m, n) };
        // Cleared first: the launch overlaps the one before, which computes C.
        let mut largest = Tensor::<f32, 1>::zeros(device, [rows as usize])?;
        let bias = bf16::computed(device, 1, 1, columns)?;
        let bias = [bias
            .buffer()
            .view(0, [1, columns as usize], [columns as usize, 1])?];
        let c = bf16::computed(device, 1, rows, columns)?;
        let (c, largest) = ([c.view()], &mut [largest.view_mut()]);
        let relu = gemm_fused_F::Relu;
        fused::gemm_fused::launch(
            relu, config, device, grid, a, b, &bias, &c, largest, d, 1, m, n, k, 2.0, -1.0,
        )?;
        Ok(())
    };
    product::<bf16, bf16>(device, config.value(), shape, run)
}

/// relu(x) · y of the even and odd columns of A · Bᵀ.
fn with_gates(
    device: &Device,
    config: gemm_gated_CFG,
    grid: u32,
    [m, n, k]: [u32; 3],
) -> Result<Vec<u8>, Error> {
    let b = bf16::uploaded(device, 1, n, k)?;
    let mut d = result::<bf16>(device, m, n / 2)?;
    let a = bf16::computed(device, 1, m, k)?;
    let (a, b, mut to, relu) = (a.view(), b.view(), d.view_mut(), gemm_gated_F::Relu);
    gated::gemm_gated::launch(
        relu,
        config,
        device,
        grid,
        &a,
        &b,
        &[],
        &mut [],
        &mut to,
        1,
        m,
        n,
        k,
        1.0,
    )?;
    Ok(bytes(&d.buffer().download()?))
}

/// Products of groups of rows that end there. `launch` gets A, B, the ends, D and K.
fn groups(
    device: &Device,
    ends: &[i32],
    [n, k]: [u32; 2],
    launch: impl Fn(
        &Device,
        &TensorView<bf16, 2>,
        &View3<bf16>,
        &TensorView<i32, 1>,
        &mut TensorViewMut<bf16, 2>,
        u32,
    ) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let m = ends.last().map_or(0, |end| *end as u32);
    let b = bf16::uploaded(device, ends.len() as u32, n, k)?;
    let mut d = result::<bf16>(device, m, n)?.into_buffer();
    let a = bf16::computed(device, 1, m, k)?;
    let (count, ends) = (ends.len(), computed_ends(device, ends)?);
    let ends = ends.buffer().view(0, [count], [1])?;
    let (rows, columns, stride) = (m as usize, n as usize, a.strides()[1]);
    let a = a.buffer().view(0, [rows, k as usize], [stride, 1])?;
    let mut view = d.view_mut(0, [rows, columns], [columns, 1])?;
    launch(device, &a, &b.view(), &ends, &mut view, k)?;
    Ok(bytes(&d.download()?))
}

/// A list of products. `launch` gets the lists of A, B, D and K.
fn listed(
    device: &Device,
    shapes: &[[u32; 3]],
    launch: impl Fn(
        &Device,
        &[TensorView<bf16, 2>],
        &[TensorView<bf16, 2>],
        &mut [TensorViewMut<bf16, 2>],
        &[u32],
    ) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let (mut a, mut b, mut d, mut k) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let matrix = |x: Tensor<bf16, 3>| {
        let ([_, rows, columns], [_, stride, _]) = (x.shape(), x.strides());
        Tensor::new(x.into_buffer(), [rows, columns], [stride, 1])
    };
    for &[m, n, depth] in shapes {
        b.push(matrix(bf16::uploaded(device, 1, n, depth)?)?);
        d.push(matrix(result(device, m, n)?)?);
        a.push(matrix(bf16::computed(device, 1, m, depth)?)?);
        k.push(depth);
    }
    let [a, b] = [&a, &b].map(|list| list.iter().map(Tensor::view).collect::<Vec<_>>());
    let mut views: Vec<_> = d.iter_mut().map(Tensor::view_mut).collect();
    launch(device, &a, &b, &mut views, &k)?;
    let all = d.iter().map(|d| Ok(bytes(&d.buffer().download()?)));
    Ok(all.collect::<Result<Vec<_>, Error>>()?.concat())
}

fn streamed<T: Input + GemmInput<D, T>, D: Element>(
    device: &Device,
    [m, n, k]: [u32; 3],
) -> Result<Vec<u8>, Error> {
    let (b, mut d) = (T::uploaded(device, 1, n, k)?, result::<D>(device, m, n)?);
    let a = T::computed(device, 1, m, k)?;
    let (a, b, mut view) = (a.view(), b.view(), d.view_mut());
    let plan = Plan::new(device, &a, &b, &view)?.with_tile(Tile::Streamed)?;
    plan.launch(device, &a, &b, &mut view)?;
    Ok(bytes(&d.buffer().download()?))
}

/// Attention by one CTA, which computes several tiles.
fn scores<const D: usize>(
    device: &Device,
    [queries, keys]: [usize; 2],
    d: attention_D,
    causal: attention_CAUSAL,
) -> Result<Vec<u8>, Error> {
    let tensor = |length: usize, shift: usize| {
        let values = &numbers(length * D + shift)[shift..];
        Tensor::from_slice(device, values, [1, length, D])
    };
    let (q, k, v) = (tensor(queries, 0)?, tensor(keys, 1)?, tensor(keys, 2)?);
    let mut o = tensor(queries, 3)?;
    attention::attention::launch(
        d,
        causal,
        device,
        1,
        &q.view(),
        &k.view(),
        &v.view(),
        &mut o.view_mut(),
        1,
        queries as u32,
        keys as u32,
        0.125,
    )?;
    Ok(bytes(&o.download()?))
}

fn transposed(device: &Device, [m, n]: [usize; 2], pitch: usize) -> Result<Vec<u8>, Error> {
    let source = Tensor::from_slice(device, &numbers::<bf16>(m * n), [m, n])?;
    let mut destination = device.upload(&numbers::<bf16>((n + 1) * pitch))?;
    let mut view = destination.view_mut(0, [n, m], [pitch, 1])?;
    transpose(device, &source.view(), &mut view)?;
    Ok(bytes(&destination.download()?))
}

/// Copies a matrix whose rows, or columns if `mn`, begin anywhere.
fn packed(device: &Device, mn: pack_MN, [m, n]: [usize; 2]) -> Result<Vec<u8>, Error> {
    let (rows, columns) = if mn.value() { (n, m) } else { (m, n) };
    let stride = columns + 1;
    let x = device.upload(&numbers::<bf16>(rows * stride))?;
    let x = x.view(0, [1, rows, columns], [0, stride, 1])?;
    let mut y = Tensor::<bf16, 3>::zeros(device, [1, m, n.next_multiple_of(64)])?;
    pack::pack::launch(mn, device, 2, &x, &mut y.view_mut())?;
    Ok(bytes(&y.download()?))
}

/// Something of rows that are so many elements longer than x, from x to y.
fn of_rows<T: Input>(
    device: &Device,
    [m, n]: [usize; 2],
    pad: usize,
    launch: impl Fn(&Device, &TensorView<T, 2>, &mut TensorViewMut<T, 2>) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let stride = n + pad;
    let x = device.upload(&numbers::<T>((m + 1) * stride))?;
    let mut y = device.upload(&numbers::<T>((m + 1) * n))?;
    let x = x.view(0, [m, n], [stride, 1])?;
    launch(device, &x, &mut y.view_mut(0, [m, n], [n, 1])?)?;
    Ok(bytes(&y.download()?))
}

fn weights<T: Input>(device: &Device, n: usize) -> Result<Tensor<T, 1>, Error> {
    Ok(Tensor::from_slice(device, &numbers(n), [n])?)
}

fn sums_of_rows(device: &Device, [m, n]: [usize; 2]) -> Result<Vec<u8>, Error> {
    let x = Tensor::from_slice(device, &numbers::<bf16>(m * n), [m, n])?;
    let mut sums = Tensor::<f32, 1>::zeros(device, [m])?;
    sum_rows(device, &x.view(), &mut sums.view_mut())?;
    Ok(bytes(&sums.download()?))
}

fn total(device: &Device, n: usize) -> Result<Vec<u8>, Error> {
    let x = Tensor::from_slice(device, &numbers::<bf16>(n), [n])?;
    let mut total = Tensor::<f32, 1>::zeros(device, [1])?;
    sum(device, &x.view(), &mut total.view_mut())?;
    Ok(bytes(&total.download()?))
}

fn quantised<Y: Quantised>(device: &Device, [m, n]: [usize; 2]) -> Result<Vec<u8>, Error>
where
    bf16: quantise_rows_types<Y>,
{
    let x = Tensor::from_slice(device, &numbers::<bf16>(m * n), [m, n])?;
    let largest = Tensor::from_slice(device, &vec![4f32; m], [m])?;
    let mut y = Tensor::<Y, 2>::zeros(device, [m, n])?;
    let mut scales = Tensor::<f32, 1>::zeros(device, [m])?;
    let (mut to, mut of) = (y.view_mut(), scales.view_mut());
    quantise_rows(device, &x.view(), &largest.view(), &mut to, &mut of)?;
    Ok([bytes(&y.download()?), bytes(&scales.download()?)].concat())
}

fn counts(device: &Device, n: usize) -> Result<Vec<u8>, Error> {
    let data: Vec<u8> = (0..n).map(|i| (i * i / 7) as u8).collect();
    let data = Tensor::from_slice(device, &data, [n])?;
    let mut counts = Tensor::<u32, 1>::zeros(device, [256])?;
    histogram(device, &data.view(), &mut counts.view_mut())?;
    Ok(bytes(&counts.download()?))
}

fn sums(device: &Device, n: usize) -> Result<Vec<u8>, Error> {
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = Tensor::from_slice(device, &x, [n])?;
    let mut y = Tensor::from_slice(device, &vec![0.5f32; n], [n])?;
    saxpy(device, 2.0, &x.view(), &mut y.view_mut())?;
    Ok(bytes(&y.download()?))
}

/// Elements of A and B.
trait Input: Element {
    fn of(number: f32) -> Self;

    /// Rows that a kernel has written.
    fn computed(
        device: &Device,
        batches: u32,
        rows: u32,
        columns: u32,
    ) -> Result<Tensor<Self, 3>, Error>;

    /// Rows that the host has written.
    fn uploaded(
        device: &Device,
        batches: u32,
        rows: u32,
        columns: u32,
    ) -> Result<Tensor<Self, 3>, Error> {
        let [batches, rows, columns] = [batches, rows, columns].map(|it| it as usize);
        let stride = stride::<Self>(columns);
        let values = numbers::<Self>((batches * rows + 1) * stride);
        let strides = [rows * stride, stride, 1];
        let buffer = device.upload(&values)?;
        Ok(Tensor::new(buffer, [batches, rows, columns], strides)?)
    }
}

impl Input for bf16 {
    fn of(number: f32) -> Self {
        bf16::from_f32(number)
    }

    fn computed(
        device: &Device,
        batches: u32,
        rows: u32,
        columns: u32,
    ) -> Result<Tensor<Self, 3>, Error> {
        by_transpose(device, batches, rows, columns)
    }
}

impl Input for f32 {
    fn of(number: f32) -> Self {
        number
    }

    fn computed(
        device: &Device,
        batches: u32,
        rows: u32,
        columns: u32,
    ) -> Result<Tensor<Self, 3>, Error> {
        by_transpose(device, batches, rows, columns)
    }
}

impl Input for e4m3 {
    fn of(number: f32) -> Self {
        e4m3::from_f32(number)
    }

    fn computed(
        device: &Device,
        batches: u32,
        rows: u32,
        columns: u32,
    ) -> Result<Tensor<Self, 3>, Error> {
        let mut x = Self::uploaded(device, batches, rows, columns)?;
        let [_, m, n] = x.shape();
        let numbers = Tensor::from_slice(device, &numbers::<bf16>(m * n), [m, n])?;
        let largest = Tensor::from_slice(device, &vec![Self::LARGEST; m], [m])?;
        let mut scales = Tensor::<f32, 1>::zeros(device, [m])?;
        let strides = [x.strides()[1], 1];
        let mut buffer = x.into_buffer();
        let mut to = buffer.view_mut(0, [m, n], strides)?;
        let mut of = scales.view_mut();
        quantise_rows(device, &numbers.view(), &largest.view(), &mut to, &mut of)?;
        x = Tensor::new(buffer, [1, m, n], [m * strides[0], strides[0], 1])?;
        Ok(x)
    }
}

/// Rows that a kernel has copied from columns.
fn by_transpose<T: Input + Transpose>(
    device: &Device,
    batches: u32,
    rows: u32,
    columns: u32,
) -> Result<Tensor<T, 3>, Error> {
    let x = T::uploaded(device, batches, rows, columns)?;
    let ([_, m, n], strides) = (x.shape(), x.strides());
    let mut buffer = x.into_buffer();
    let pitch = stride::<T>(m);
    let source = device.upload(&numbers::<T>(n * pitch))?;
    let source = source.view(0, [n, m], [pitch, 1])?;
    let mut to = buffer.view_mut(0, [m, n], [strides[1], 1])?;
    transpose(device, &source, &mut to)?;
    Ok(Tensor::new(buffer, [1, m, n], strides)?)
}

/// Zeros, with memory behind the last row.
fn result<D: Element>(device: &Device, rows: u32, columns: u32) -> Result<Tensor<D, 3>, Error> {
    let (rows, columns) = (rows as usize, columns as usize);
    let zeros = Tensor::<D, 2>::zeros(device, [rows + 1, columns])?;
    let strides = [rows * columns, columns, 1];
    Ok(Tensor::new(
        zeros.into_buffer(),
        [1, rows, columns],
        strides,
    )?)
}

/// The only row.
fn row(x: &Tensor<f32, 3>) -> Result<TensorView<'_, f32, 2>, Error> {
    let [_, _, columns] = x.shape();
    Ok(x.buffer().view(0, [1, columns], [columns, 1])?)
}

/// These numbers, which a kernel has computed, as sums.
fn computed_ends(device: &Device, ends: &[i32]) -> Result<Tensor<i32, 2>, Error> {
    const K: usize = 16;
    let mut a = vec![0i8; ends.len() * K];
    for (row, end) in a.chunks_exact_mut(K).zip(ends) {
        let mut rest = *end;
        for element in row {
            *element = rest.min(100) as i8;
            rest -= i32::from(*element);
        }
    }
    let a = Tensor::from_slice(device, &a, [ends.len(), K])?;
    let b = Tensor::from_slice(device, &[1i8; K], [1, K])?;
    let mut d = Tensor::<i32, 2>::zeros(device, [ends.len(), 1])?;
    let (a, b, mut view) = (a.view(), b.view(), d.view_mut());
    let plan = Plan::new(device, &a, &b, &view)?.with_tile(Tile::Streamed)?;
    plan.launch(device, &a, &b, &mut view)?;
    Ok(d)
}

/// How far rows are apart that TMA can load.
fn stride<T: Element>(columns: usize) -> usize {
    columns.next_multiple_of(16 / size_of::<T>())
}

/// Integers from -3 to 3 without a short period.
fn numbers<T: Input>(count: usize) -> Vec<T> {
    let numbers = (0..count as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    numbers.map(|x| T::of((x % 7) as f32 - 3.0)).collect()
}

fn bytes<T: Element>(values: &[T]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.as_bytes().to_vec())
        .collect()
}
