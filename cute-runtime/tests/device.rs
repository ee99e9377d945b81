//! Devices, memory, tensors and launches, with kernels written by hand.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::__private::{self, Argument};
use cute_runtime::{
    ArgumentRule, Device, Element, ElementType, Error, Grid, Instance, Kernel, L2Promotion,
    LaunchRule, OobFill, Param, SwizzleMode, Tensor, TmaRecipe, ViewError, bf16, f16,
};

/// A launch with a grid and arguments for which the kernels of this file stay inside their tensors. Tests that break
/// this rule run on the emulator, which checks every access.
fn launch<K: Kernel>(device: &Device, grid: Grid, arguments: &[Argument<'_>]) -> Result<(), Error> {
    // SAFETY: the kernel stays inside its tensors, or runs on the emulator, as said above.
    unsafe { __private::launch::<K>(device, grid, arguments) }
}

/// c = a + b, with one thread for each element.
struct VectorAdd;

// SAFETY: the constants describe the PTX below, which keeps the rules of `Kernel`.
unsafe impl Kernel for VectorAdd {
    const NAME: &'static str = "vector_add";
    const PTX: &'static str = r"
.version 8.0
.target sm_90a
.address_size 64

.visible .entry vector_add(
    .param .u64 a_ptr,
    .param .u64 b_ptr,
    .param .u64 c_ptr,
    .param .u32 n
)
.reqntid 128, 1, 1
{
    .reg .pred %p<1>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<7>;
    .reg .f32 %f<3>;

    ld.param.u64 %rd0, [a_ptr];
    ld.param.u64 %rd1, [b_ptr];
    ld.param.u64 %rd2, [c_ptr];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 128, %r1;
    setp.ge.u32 %p0, %r3, %r0;
    @%p0 bra $end;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd0, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    add.u64 %rd6, %rd2, %rd3;
    ld.global.f32 %f0, [%rd4];
    ld.global.f32 %f1, [%rd5];
    add.f32 %f2, %f0, %f1;
    st.global.f32 [%rd6], %f2;
$end:
    ret;
}
";
    const THREADS: u32 = 128;
    const CLUSTER: [u32; 3] = [1, 1, 1];
    const SMEM_BYTES: u32 = 0;
    const PARAMS: &'static [Param] = &[
        Param::Global {
            name: "a",
            element: ElementType::F32,
            rank: 1,
            written: false,
            extents: false,
        },
        Param::Global {
            name: "b",
            element: ElementType::F32,
            rank: 1,
            written: false,
            extents: false,
        },
        Param::Global {
            name: "c",
            element: ElementType::F32,
            rank: 1,
            written: true,
            extents: false,
        },
        Param::Scalar {
            name: "n",
            ty: ElementType::U32,
        },
    ];
}

/// Copies a matrix in boxes of 8 × 32 elements through swizzled shared memory.
struct TmaCopy;

const BOX: TmaRecipe = TmaRecipe {
    name: "src",
    element: ElementType::U32,
    box_shape: &[8, 32],
    swizzle: SwizzleMode::B128,
    l2: L2Promotion::B128,
    fill: OobFill::Zero,
};

// SAFETY: the constants describe the PTX below, which keeps the rules of `Kernel`.
unsafe impl Kernel for TmaCopy {
    const NAME: &'static str = "tma_copy";
    const PTX: &'static str = r"
.version 8.0
.target sm_90a
.address_size 64

.extern .shared .align 1024 .b8 smem[];

.visible .entry tma_copy(
    .param .align 64 .b8 src[128],
    .param .align 64 .b8 dst[128]
)
.reqntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;

    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra $end;
    mov.u64 %rd0, src;
    cvta.param.u64 %rd1, %rd0;
    mov.u64 %rd2, dst;
    cvta.param.u64 %rd3, %rd2;
    mov.u32 %r1, smem;
    add.u32 %r2, %r1, 1024;
    mov.u32 %r3, %ctaid.x;
    shl.b32 %r4, %r3, 5;
    mov.u32 %r5, %ctaid.y;
    shl.b32 %r6, %r5, 3;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r4, %r6}], [%r2];
$wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra $wait;
    fence.proxy.async.shared::cta;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r4, %r6}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
$end:
    ret;
}
";
    const THREADS: u32 = 32;
    const CLUSTER: [u32; 3] = [1, 1, 1];
    const SMEM_BYTES: u32 = 1032;
    const PARAMS: &'static [Param] = &[
        Param::TmaLoad(BOX),
        Param::TmaStore(TmaRecipe { name: "dst", ..BOX }),
    ];
}

/// Each CTA writes its rank in its cluster to the last word of a large shared memory, and from there to global memory.
struct ClusterRank;

// SAFETY: the constants describe the PTX below, which keeps the rules of `Kernel`.
unsafe impl Kernel for ClusterRank {
    const NAME: &'static str = "cluster_rank";
    const PTX: &'static str = r"
.version 8.0
.target sm_90a
.address_size 64

.extern .shared .align 1024 .b8 smem[];

.visible .entry cluster_rank(
    .param .u64 ranks_ptr
)
.reqntid 32, 1, 1
{
    .reg .pred %p<1>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;

    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra $end;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    st.shared.u32 [%r2+199996], %r1;
    ld.shared.u32 %r3, [%r2+199996];
    ld.param.u64 %rd0, [ranks_ptr];
    mov.u32 %r4, %ctaid.x;
    mul.wide.u32 %rd1, %r4, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r3;
$end:
    ret;
}
";
    const THREADS: u32 = 32;
    const CLUSTER: [u32; 3] = [4, 1, 1];
    const SMEM_BYTES: u32 = 200_000;
    const PARAMS: &'static [Param] = &[Param::Global {
        name: "ranks",
        element: ElementType::U32,
        rank: 1,
        written: true,
        extents: false,
    }];
}

fn add(device: &Device, n: usize, grid: impl Into<Grid>) -> Result<Vec<f32>, Error> {
    let a = device.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let b = device.upload(&vec![0.5f32; n])?;
    let mut c = device.zeros::<f32>(n)?;
    let (a, b) = (a.view(0, [n], [1])?, b.view(0, [n], [1])?);
    let mut view = c.view_mut(0, [n], [1])?;
    launch::<VectorAdd>(
        device,
        grid.into(),
        &[
            (&a).into(),
            (&b).into(),
            (&mut view).into(),
            (n as u32).into(),
        ],
    )?;
    c.download()
}

#[test]
fn a_kernel_runs() {
    for device in devices(3) {
        for n in [1usize, 127, 128, 1000] {
            let expected: Vec<f32> = (0..n).map(|i| i as f32 + 0.5).collect();
            assert_eq!(
                add(&device, n, n.div_ceil(128) as u32).unwrap(),
                expected,
                "{n} on {}",
                device.name()
            );
        }
    }
}

#[test]
fn tma_reads_and_writes_the_tensor_and_nothing_else() {
    for device in devices(3) {
        for (rows, columns, pitch) in [
            (8, 32, 32),
            (1, 4, 4),
            (9, 36, 40),
            (31, 100, 104),
            (17, 64, 64),
        ] {
            let data: Vec<u32> = (0..(rows * pitch) as u32).collect();
            let src = Tensor::from_slice(&device, &data, [rows, pitch]).unwrap();
            let mut dst =
                Tensor::from_slice(&device, &vec![!0u32; rows * pitch], [rows, pitch]).unwrap();
            let from = src.view().slice(1, 0..columns).unwrap();
            let mut to = dst.view_mut().slice(1, 0..columns).unwrap();
            let grid = Grid {
                x: columns.div_ceil(32) as u32,
                y: rows.div_ceil(8) as u32,
                z: 1,
            };
            launch::<TmaCopy>(&device, grid, &[(&from).into(), (&mut to).into()]).unwrap();
            for (i, (copied, original)) in dst.download().unwrap().into_iter().zip(data).enumerate()
            {
                let expected = if i % pitch < columns { original } else { !0 };
                assert_eq!(
                    copied,
                    expected,
                    "element {i} of {rows} × {columns} on {}",
                    device.name()
                );
            }
        }
    }
}

#[test]
fn clusters_and_large_shared_memory_are_opted_into() {
    for device in devices(3) {
        let mut ranks = Tensor::from_slice(&device, &[!0u32; 8], [8]).unwrap();
        launch::<ClusterRank>(&device, 8.into(), &[(&mut ranks.view_mut()).into()]).unwrap();
        assert_eq!(
            ranks.download().unwrap(),
            [0, 1, 2, 3, 0, 1, 2, 3],
            "on {}",
            device.name()
        );
    }
}

#[test]
fn time_is_measured() {
    for device in devices(3) {
        let time = device.time(|| add(&device, 1000, 8).map(drop)).unwrap();
        assert!(time > std::time::Duration::ZERO, "on {}", device.name());
        let failed: Result<_, Error> = device.time(|| add(&device, 1000, 0).map(drop));
        assert!(failed.is_err());
    }
}

#[test]
fn a_graph_repeats_what_was_captured() {
    for device in devices(1) {
        let vector = |x: f32| Tensor::from_slice(&device, &[x; 256], [256]).unwrap();
        let (one, mut sum, mut twice) = (vector(1.0), vector(0.0), vector(0.0));
        // sum = one + twice, then twice = sum + sum.
        let graph = device
            .capture(|| {
                let (x, y) = (one.view(), twice.view());
                let (x, y, n) = ((&x).into(), (&y).into(), 256u32.into());
                let mut to = sum.view_mut();
                launch::<VectorAdd>(&device, 2.into(), &[x, y, (&mut to).into(), n])?;
                let x = sum.view();
                let (x, y, n) = ((&x).into(), (&x).into(), 256u32.into());
                let mut to = twice.view_mut();
                launch::<VectorAdd>(&device, 2.into(), &[x, y, (&mut to).into(), n])
            })
            .unwrap();
        assert_eq!(twice.download().unwrap(), [0.0; 256]);
        drop((one, sum));
        graph.launch().unwrap();
        assert_eq!(twice.download().unwrap(), [2.0; 256]);
        graph.launch().unwrap();
        assert_eq!(twice.download().unwrap(), [6.0; 256]);
        assert!(format!("{graph:?}").starts_with("Graph(2 launches on "));
    }
}

#[test]
fn what_cannot_be_captured_is_refused() {
    for device in devices(1) {
        let mut x = Tensor::from_slice(&device, &[1u32; 32], [32]).unwrap();
        let mut buffer = device.upload(&[1u32; 8]).unwrap();
        let graph = device.capture(|| Ok::<_, Error>(())).unwrap();
        let error = device
            .capture(|| {
                for refused in [
                    buffer.copy_from(&[2; 8]),
                    x.download().map(|_| ()),
                    device.synchronize(),
                    device.time(|| Ok::<_, Error>(())).map(|_| ()),
                    graph.launch(),
                    device.capture(|| Ok(())).map(|_| ()),
                ] {
                    assert!(matches!(refused, Err(Error::Capturing)), "{refused:?}");
                }
                drop(buffer);
                reporting::report::launch(&device, 1, &mut x.view_mut())
            })
            .unwrap_err();
        let expected = LaunchRule::Captured;
        assert!(
            matches!(&error, Error::Launch { rule, .. } if *rule == expected),
            "{error}"
        );
        // Afterwards, everything is as before.
        reporting::report::launch(&device, 1, &mut x.view_mut()).unwrap();
        graph.launch().unwrap();
        assert_eq!(x.download().unwrap(), [2; 32]);
    }
}

/// What a closure allocates is there, and belongs to the graph.
#[test]
fn tensors_are_made_in_a_capture() {
    for device in devices(1) {
        let mut sum = Tensor::from_slice(&device, &[0.0f32; 256], [256]).unwrap();
        let graph = device
            .capture(|| {
                let x = Tensor::from_slice(&device, &[2.0f32; 256], [256])?;
                let y = Tensor::from_slice(&device, &[0.5f32; 256], [256])?;
                let (x, y, n) = (x.view(), y.view(), 256u32.into());
                let (x, y) = ((&x).into(), (&y).into());
                launch::<VectorAdd>(&device, 2.into(), &[x, y, (&mut sum.view_mut()).into(), n])
            })
            .unwrap();
        // Other tensors may have the memory of those that were dropped.
        let _others = [(); 2].map(|()| Tensor::from_slice(&device, &[9.0f32; 256], [256]).unwrap());
        graph.launch().unwrap();
        assert_eq!(sum.download().unwrap(), [2.5; 256]);
    }
}

#[cute_runtime::kernels]
mod reporting {
    #[kernel(threads = 32)]
    pub fn report(#[facts(extent(x, 0) >= 32)] x: Global<u32, 1>) {
        let found = x[thread()];
        assert!(found < 10, "{found}");
        x[thread()] = found + 1;
    }
}

#[cute_runtime::kernels]
mod stating {
    #[kernel(threads = 1)]
    pub fn state(
        #[facts(ceil_div(extent(x, 0), 32) == n, extent(x, 0) / n >= d / 2)] x: Global<u32, 1>,
        n: u32,
        d: i32,
    ) {
        let last = extent(x, 0) - 1;
        x[last] = n;
    }
}

/// Facts may divide, and are held against the arguments as they are written.
#[test]
fn facts_divide() {
    let device = Device::emulator();
    let mut x = Tensor::<u32, 1>::zeros(&device, [65]).unwrap();
    let mut launch = |n, d| stating::state::launch(&device, 1, &mut x.view_mut(), n, d);
    launch(3, 43).unwrap();
    launch(3, -43).unwrap();
    for (n, d, expected) in [
        (2, 43, "ceil_div(extent(x, 0), 32) == n"),
        (0, 43, "ceil_div(extent(x, 0), 32) == n"),
        (3, 44, "extent(x, 0) / n >= d / 2"),
    ] {
        match launch(n, d) {
            Err(Error::Launch {
                rule: LaunchRule::Fact { fact, .. },
                ..
            }) => assert_eq!(fact, expected),
            other => panic!("{n}, {d}: {other:?}"),
        }
    }
}

#[test]
fn kernels_compile_ahead_of_their_launch() {
    for device in devices(3) {
        let compiled = device.compile::<VectorAdd>().unwrap();
        let known = !device.is_emulator() || cute_ptxas::Ptxas::installed().is_some();
        let nothing = known.then_some(0);
        assert_eq!(
            (compiled.local_bytes, compiled.spilled_bytes),
            (nothing, nothing)
        );
        assert_eq!(compiled.shared_bytes, VectorAdd::SMEM_BYTES);
        assert_eq!(
            compiled.registers.is_some_and(|registers| registers > 0),
            known
        );
        assert_eq!(
            compiled
                .ctas_per_multiprocessor
                .is_some_and(|ctas| ctas > 0),
            known
        );
        let line = compiled.to_string();
        assert_eq!(line.contains("unknown"), !known, "{line}");
    }
}

#[test]
fn a_list_of_kernels_compiles_ahead_of_their_launches() {
    for device in devices(3) {
        let list = [
            Instance::of::<ClusterRank>(),
            Instance::of::<VectorAdd>(),
            Instance::of::<TmaCopy>(),
        ];
        let compiled = device.prepare(&list).unwrap();
        let expected = [
            device.compile::<ClusterRank>(),
            device.compile::<VectorAdd>(),
            device.compile::<TmaCopy>(),
        ];
        assert_eq!(compiled, expected.map(Result::unwrap));
        assert_eq!(
            list.map(|it| it.name()),
            ["cluster_rank", "vector_add", "tma_copy"]
        );
        assert!(device.prepare(&[]).unwrap().is_empty());

        let list = [Instance::of::<VectorAdd>(), Instance::of::<Broken>()];
        let error = device.prepare(&list).unwrap_err().to_string();
        assert!(
            error.contains("broken") && error.contains("frobnicate"),
            "{error}"
        );
    }
}

/// A kernel with an instruction that does not exist.
struct Broken;
// SAFETY: no device compiles this PTX, so it never runs.
unsafe impl Kernel for Broken {
    const NAME: &'static str = "broken";
    const PTX: &'static str = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry broken()\n{\n    frobnicate.u32 %r0;\n}\n";
    const THREADS: u32 = 32;
    const CLUSTER: [u32; 3] = [1, 1, 1];
    const SMEM_BYTES: u32 = 0;
    const PARAMS: &'static [Param] = &[];
}

#[test]
fn ptx_that_does_not_compile_says_why() {
    for device in devices(3) {
        let error = launch::<Broken>(&device, 1.into(), &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("broken") && error.contains("frobnicate"),
            "{error}"
        );
    }
}

#[test]
fn a_kernel_that_misdescribes_its_ptx_is_refused() {
    struct Short;
    // SAFETY: `PARAMS` does not agree with the PTX. Every launch must refuse that, so the kernel never runs.
    unsafe impl Kernel for Short {
        const NAME: &'static str = VectorAdd::NAME;
        const PTX: &'static str = VectorAdd::PTX;
        const THREADS: u32 = VectorAdd::THREADS;
        const CLUSTER: [u32; 3] = VectorAdd::CLUSTER;
        const SMEM_BYTES: u32 = 0;
        const PARAMS: &'static [Param] = &[Param::Scalar {
            name: "a",
            ty: ElementType::U64,
        }];
    }
    for device in devices(3) {
        match launch::<Short>(&device, 1.into(), &[0u64.into()]) {
            Err(Error::Launch { rule, .. }) => {
                let (expected, found) = (vec![8, 8, 8, 4], vec![8]);
                assert_eq!(rule, LaunchRule::Parameters { expected, found });
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_access_out_of_bounds_is_reported_by_the_emulator() {
    let device = Device::emulator();
    let a = Tensor::<f32, 1>::zeros(&device, [100]).unwrap();
    let mut c = Tensor::<f32, 1>::zeros(&device, [100]).unwrap();
    let (a, mut c) = (a.view(), c.view_mut());
    let arguments = [(&a).into(), (&a).into(), (&mut c).into(), 101u32.into()];
    let error = launch::<VectorAdd>(&device, 1.into(), &arguments).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Emulator {
                kernel: "vector_add",
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("ld.global.f32 %f0, [%rd4]"),
        "{error}"
    );
    // A graph's launch says the same.
    let graph = device.capture(|| launch::<VectorAdd>(&device, 1.into(), &arguments));
    let again = graph.unwrap().launch().unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
}

#[test]
fn devices_are_themselves() {
    let (a, b) = (Device::emulator(), Device::emulator());
    assert!(a == a.clone() && a != b);
    assert!(a.is_emulator() && a.multiprocessor_count() > 0);
    a.synchronize().unwrap();
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&a);
    assert!(!Device::default().name().is_empty());
}

#[test]
fn clusters_have_a_multiprocessor_for_each_cta() {
    // The emulator has 4.
    let device = Device::emulator();
    let clusters = [1, 2, 3, 4, 8].map(|ctas| device.max_active_clusters(ctas).unwrap());
    assert_eq!(clusters, [4, 2, 1, 1, 1]);
    for ctas in [0, 9, u32::MAX] {
        let error = device.max_active_clusters(ctas).unwrap_err();
        assert!(matches!(error, Error::ClusterSize { limit: 8, .. }));
        let expected = format!("a cluster has 1 to 8 CTAs, not {ctas}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_missing_gpu_is_an_error() {
    // No machine has this many GPUs.
    assert!(Device::cuda(1 << 20).is_err());
}

#[test]
fn buffers_keep_every_element_type() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(device: &Device, data: &[T]) {
        let mut buffer = device.upload(data).unwrap();
        assert_eq!(buffer.len(), data.len());
        assert_eq!(buffer.download().unwrap(), data);
        assert!(matches!(
            buffer.copy_from(&data[1..]),
            Err(Error::Length { .. })
        ));
        let zeros = device.zeros::<T>(3).unwrap().download().unwrap();
        buffer.copy_from(data).unwrap();
        assert_eq!(zeros.len(), 3);
    }
    for device in devices(3) {
        check(&device, &[1u8, 2, 255]);
        check(&device, &[-1i8, 2]);
        check(&device, &[1u16, 2]);
        check(&device, &[-1i16, 2]);
        check(&device, &[1u32, 2]);
        check(&device, &[-1i32, 2]);
        check(&device, &[1u64, 2]);
        check(&device, &[-1i64, 2]);
        check(&device, &[f16::ONE, f16::MAX]);
        check(&device, &[bf16::ONE, bf16::MAX]);
        check(&device, &[1.0f32, -0.0]);
        check(&device, &[1.0f64, 1e300]);
        assert_eq!(
            device.zeros::<f32>(5).unwrap().download().unwrap(),
            [0.0; 5]
        );
        assert!(
            device
                .upload::<f32>(&[])
                .unwrap()
                .download()
                .unwrap()
                .is_empty()
        );
        assert!(matches!(
            device.zeros::<u64>(usize::MAX),
            Err(Error::TooLarge { .. })
        ));
        assert!(device.zeros::<u8>(1 << 50).is_err());
    }
}

#[test]
fn views_select_elements() {
    let device = Device::emulator();
    let tensor = Tensor::from_slice(&device, &(0..24u32).collect::<Vec<_>>(), [2, 3, 4]).unwrap();
    assert_eq!(tensor.strides(), [12, 4, 1]);
    let part = tensor
        .view()
        .slice(0, 1..2)
        .unwrap()
        .slice(2, 1..3)
        .unwrap();
    assert_eq!(part.download().unwrap(), [13, 14, 17, 18, 21, 22]);
    let turned = part.select([2, 1, 0]).unwrap();
    assert_eq!(turned.shape(), [2, 3, 1]);
    assert_eq!(turned.download().unwrap(), [13, 17, 21, 14, 18, 22]);
    assert!(
        tensor
            .view()
            .slice(1, 3..3)
            .unwrap()
            .download()
            .unwrap()
            .is_empty()
    );
    let broadcast = tensor.buffer().view(5, [3, 2], [0, 1]).unwrap();
    assert_eq!(broadcast.download().unwrap(), [5, 6, 5, 6, 5, 6]);
    // The buffer does not bound the extents and strides of a view without elements.
    let empty = tensor.buffer().view(0, [0, 9], [1, usize::MAX]).unwrap();
    let part = empty.slice(1, 5..6).unwrap();
    assert_eq!(part.address(), tensor.buffer().address());
    assert_eq!(part.download().unwrap(), []);
}

#[test]
fn views_outside_their_buffer_are_refused() {
    let device = Device::emulator();
    let mut buffer = device.zeros::<f32>(10).unwrap();
    let view = |offset, shape, strides| match buffer.view::<2>(offset, shape, strides) {
        Err(Error::View(error)) => Some(error),
        Ok(_) => None,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(view(0, [2, 5], [5, 1]), None);
    assert_eq!(view(9, [1, 1], [100, 100]), None);
    assert!(matches!(
        view(1, [2, 5], [5, 1]),
        Some(ViewError::OutOfBounds {
            last: 10,
            len: 10,
            ..
        })
    ));
    assert!(matches!(
        view(10, [1, 1], [1, 1]),
        Some(ViewError::OutOfBounds {
            last: 10,
            len: 10,
            ..
        })
    ));
    assert!(matches!(
        view(0, [usize::MAX, 3], [usize::MAX, 1]),
        Some(ViewError::Overflow { .. })
    ));
    assert!(matches!(
        view(usize::MAX, [2, 3], [1, 1]),
        Some(ViewError::Overflow { .. })
    ));
    assert_eq!(view(usize::MAX, [0, 3], [1, 1]), None);

    let overlap = buffer.view_mut(0, [3, 3], [2, 1]).unwrap_err();
    assert!(
        matches!(
            overlap,
            Error::View(ViewError::Overlap {
                mode: 0,
                stride: 2,
                span: 3,
                ..
            })
        ),
        "{overlap}"
    );
    assert!(buffer.view_mut(0, [3, 3], [1, 3]).is_ok());

    let view = buffer.view(0, [2, 5], [5, 1]).unwrap();
    assert!(matches!(
        view.slice(1, 2..6),
        Err(Error::View(ViewError::Range {
            mode: 1,
            end: 6,
            extent: 5,
            ..
        }))
    ));
    assert!(matches!(
        view.slice(2, 0..1),
        Err(Error::View(ViewError::Modes { rank: 2, .. }))
    ));
    assert!(matches!(
        view.select([0, 0]),
        Err(Error::View(ViewError::Modes { rank: 2, .. }))
    ));
    assert!(matches!(
        Tensor::from_slice(&device, &[1u8; 5], [2, 3]),
        Err(Error::Length {
            expected: 6,
            found: 5,
            ..
        })
    ));
    let padded = Tensor::from_slice_strided(&device, &[1u8; 8], [2, 3], [4, 1]).unwrap_err();
    let message = "`from_slice_strided` takes 6 elements, those of the extents [2, 3] without padding, and got 8";
    assert_eq!(padded.to_string(), message);
    let short = device
        .zeros::<u8>(3)
        .unwrap()
        .copy_from(&[1; 2])
        .unwrap_err();
    let message = "`copy_from` takes 3 elements, those of the whole buffer, and got 2";
    assert_eq!(short.to_string(), message);
    assert!(Tensor::<u8, 3>::zeros(&device, [usize::MAX, 2, 2]).is_err());
    assert!(
        buffer
            .view(0, [1 << 62, 4], [0, 0])
            .unwrap()
            .download()
            .is_err()
    );
    assert!(Tensor::from_slice_strided(&device, &[1u8, 2], [2], [usize::MAX / 2]).is_err());
    assert!(Tensor::from_slice_strided(&device, &[1u8, 2], [2], [usize::MAX]).is_err());
    assert!(Tensor::from_slice_strided(&device, &[1u8, 2], [2], [0]).is_err());
    assert!(Tensor::<u8, 2>::zeros_strided(&device, [3, 2], [usize::MAX, 1]).is_err());
}

/// The rule that a launch of `TmaCopy` with these arguments breaks.
fn rule(device: &Device, arguments: &[Argument<'_>]) -> (&'static str, ArgumentRule) {
    match launch::<TmaCopy>(device, 1.into(), arguments) {
        Err(Error::Argument { argument, rule, .. }) => (argument, rule),
        other => panic!("{other:?}"),
    }
}

#[test]
fn arguments_that_break_a_rule_are_named_before_the_launch() {
    for device in devices(3) {
        let src = Tensor::<u32, 2>::zeros(&device, [8, 32]).unwrap();
        let mut dst = Tensor::<u32, 2>::zeros(&device, [8, 32]).unwrap();
        let view = src.view();
        let src_argument = || Argument::from(&view);

        let mut floats = Tensor::<f32, 2>::zeros(&device, [8, 32]).unwrap();
        let expected = ArgumentRule::Element {
            expected: ElementType::U32,
            found: ElementType::F32,
        };
        assert_eq!(
            rule(&device, &[src_argument(), (&mut floats.view_mut()).into()]),
            ("dst", expected)
        );

        assert_eq!(
            rule(&device, &[src_argument(), src_argument()]),
            ("dst", ArgumentRule::ReadOnly)
        );

        let expected = ArgumentRule::Kind {
            expected: "a tensor",
            found: "a number",
        };
        assert_eq!(
            rule(&device, &[1u32.into(), src_argument()]),
            ("src", expected)
        );

        let odd = Tensor::<u32, 2>::zeros(&device, [8, 33]).unwrap();
        let expected = ArgumentRule::Stride {
            mode: 0,
            bytes: 132,
            align: 16,
            nearest: 36,
        };
        assert_eq!(
            rule(
                &device,
                &[(&odd.view()).into(), (&mut dst.view_mut()).into()]
            ),
            ("src", expected)
        );

        let shifted = view.slice(1, 1..32).unwrap();
        let expected = ArgumentRule::Address {
            excess: 4,
            align: 16,
        };
        assert_eq!(
            rule(&device, &[(&shifted).into(), (&mut dst.view_mut()).into()]),
            ("src", expected)
        );

        // Rows of a load may have any length. A store would overwrite the rest of the last 16-byte unit of each row.
        let mut narrow = dst.view_mut().slice(1, 0..31).unwrap();
        let expected = ArgumentRule::RowLength {
            mode: 1,
            bytes: 124,
            unit: 16,
        };
        assert_eq!(
            rule(&device, &[(&view).into(), (&mut narrow).into()]),
            ("dst", expected)
        );

        let turned = view.select([1, 0]).unwrap();
        let expected = ArgumentRule::NotContiguous {
            mode: 1,
            stride: 32,
        };
        assert_eq!(
            rule(&device, &[(&turned).into(), (&mut dst.view_mut()).into()]),
            ("src", expected)
        );

        let empty = view.slice(0, 3..3).unwrap();
        let expected = ArgumentRule::ZeroExtent { mode: 0 };
        assert_eq!(
            rule(&device, &[(&empty).into(), (&mut dst.view_mut()).into()]),
            ("src", expected)
        );

        let elsewhere = Device::emulator();
        let stranger = Tensor::<u32, 2>::zeros(&elsewhere, [8, 32]).unwrap();
        let (argument, broken) = rule(
            &device,
            &[(&stranger.view()).into(), (&mut dst.view_mut()).into()],
        );
        assert!(
            argument == "src" && matches!(broken, ArgumentRule::OtherDevice { .. }),
            "{broken}"
        );

        let (argument, broken) = match launch::<VectorAdd>(
            &device,
            1.into(),
            &[
                (&floats.view()).into(),
                (&floats.view()).into(),
                (&floats.view()).into(),
                1u64.into(),
            ],
        ) {
            Err(Error::Argument { argument, rule, .. }) => (argument, rule),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (argument, broken),
            (
                "a",
                ArgumentRule::Rank {
                    expected: 1,
                    found: 2
                }
            )
        );

        // A view that is borrowed to read must not be written element by element either.
        let row = floats.buffer().view(0, [128], [1]).unwrap();
        let arguments = [(&row).into(), (&row).into(), (&row).into(), 128u32.into()];
        match launch::<VectorAdd>(&device, 1.into(), &arguments) {
            Err(Error::Argument { argument, rule, .. }) => {
                assert_eq!((argument, rule), ("c", ArgumentRule::ReadOnly));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn errors_name_the_kernel_the_argument_and_the_numbers() {
    let device = Device::emulator();
    let odd = Tensor::<u32, 2>::zeros(&device, [8, 33]).unwrap();
    let mut dst = Tensor::<u32, 2>::zeros(&device, [8, 32]).unwrap();
    let error = launch::<TmaCopy>(
        &device,
        1.into(),
        &[(&odd.view()).into(), (&mut dst.view_mut()).into()],
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel tma_copy, argument src: the stride of mode 0 is 132 bytes: TMA needs a multiple of 16; the nearest larger legal \
         stride is 36 elements"
    );
    let error = dst.buffer().view(7, [8, 32], [32, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "shape [8, 32] with strides [32, 1] at offset 7 reaches element 262, but the buffer has 256 elements"
    );
}

/// A kernel whose launches are all refused before its PTX is compiled.
struct Shape<const THREADS: u32, const SMEM: u32, const X: u32>;

// SAFETY: there is no PTX, so it never runs.
unsafe impl<const THREADS: u32, const SMEM: u32, const X: u32> Kernel for Shape<THREADS, SMEM, X> {
    const NAME: &'static str = "shape";
    const PTX: &'static str = "";
    const THREADS: u32 = THREADS;
    const CLUSTER: [u32; 3] = [X, 1, 1];
    const SMEM_BYTES: u32 = SMEM;
    const PARAMS: &'static [Param] = &[];
}

#[test]
fn launches_that_break_a_rule_are_refused() {
    #[track_caller]
    fn check<K: Kernel>(grid: impl Into<Grid>, arguments: &[Argument<'_>], expected: LaunchRule) {
        match launch::<K>(&Device::emulator(), grid.into(), arguments) {
            Err(Error::Launch { rule, .. }) => assert_eq!(rule, expected),
            other => panic!("{other:?}"),
        }
    }
    type Plain = Shape<128, 0, 1>;
    check::<Plain>(
        1,
        &[1u32.into()],
        LaunchRule::Arguments {
            expected: 0,
            found: 1,
        },
    );
    check::<Plain>(
        0,
        &[],
        LaunchRule::Grid {
            grid: 0.into(),
            axis: 'x',
            limit: (1 << 31) - 1,
        },
    );
    check::<Plain>(
        (1, 65_536),
        &[],
        LaunchRule::Grid {
            grid: (1, 65_536).into(),
            axis: 'y',
            limit: 65_535,
        },
    );
    check::<Plain>(
        (1, 1, 0),
        &[],
        LaunchRule::Grid {
            grid: (1, 1, 0).into(),
            axis: 'z',
            limit: 65_535,
        },
    );
    check::<Shape<0, 0, 1>>(
        1,
        &[],
        LaunchRule::Threads {
            threads: 0,
            limit: 1024,
        },
    );
    check::<Shape<1025, 0, 1>>(
        1,
        &[],
        LaunchRule::Threads {
            threads: 1025,
            limit: 1024,
        },
    );
    check::<Shape<32, 232_449, 1>>(
        1,
        &[],
        LaunchRule::SharedMemory {
            bytes: 232_449,
            limit: 232_448,
        },
    );
    check::<Shape<32, 0, 16>>(
        16,
        &[],
        LaunchRule::ClusterSize {
            cluster: 16,
            limit: 8,
        },
    );
    check::<Shape<32, 0, 0>>(
        16,
        &[],
        LaunchRule::ClusterSize {
            cluster: 0,
            limit: 8,
        },
    );
    check::<Shape<32, 0, 2>>(
        3,
        &[],
        LaunchRule::Cluster {
            grid: 3.into(),
            axis: 'x',
            cluster: 2,
            nearest: 4,
        },
    );
    assert!(
        Device::emulator()
            .compile::<Shape<32, 232_449, 1>>()
            .is_err()
    );
}
