//! A program of cudarc's that calls kernels of ours between its own: on two streams, with tensors of both, and in a graph.
//!
//! Without a CUDA driver, the same steps are done in memory of the host by the emulator, where the program's own kernels are loops.

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, CudaViewMut, LaunchConfig, PushKernelArg, sys,
};
use cudarc::nvrtc::Ptx;
use cute_cudarc::{Guest, cudarc};
use cute_runtime::{Device, Instance, Tensor, kernels};

#[kernels]
pub(crate) mod ours {
    /// y = x · x.
    #[kernel(threads = 256)]
    pub fn squares(x: Global<f32, 1>, #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            y[i] = x[i] * x[i];
        }
    }

    /// y = x + y.
    #[kernel(threads = 256)]
    pub fn add(x: Global<f32, 1>, #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            y[i] = x[i] + y[i];
        }
    }
}

/// A kernel of the program's: x = a · x + b.
const THEIRS: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 a, .param .f32 b)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .reg .f32 %f<3>;

    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r3, [n];
    setp.ge.u32 %p, %r0, %r3;
    @%p ret;
    ld.param.u64 %rd0, [x];
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    ld.param.f32 %f0, [a];
    ld.param.f32 %f1, [b];
    ld.global.f32 %f2, [%rd0];
    fma.rn.f32 %f2, %f0, %f2, %f1;
    st.global.f32 [%rd0], %f2;
    ret;
}
";

const N: usize = 1000;
const GRID: u32 = N.div_ceil(256) as u32;
/// How often the graph is launched.
const REPEATED: usize = 3;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let found = match Device::cuda(0) {
        Ok(device) => {
            println!("cudarc's program, on {}", device.name());
            with_cudarc()?
        }
        Err(reason) => {
            println!("on the emulator, in memory of the host: {reason}");
            with_host_memory()?
        }
    };
    let expected: Vec<f32> = (0..N).map(|i| expected(i as f32)).collect();
    println!("{:?} …", &found[..4]);
    match found == expected {
        true => println!("all {N} elements are as computed by hand"),
        false => return Err(format!("expected {:?} …", &expected[..4]).into()),
    }
    Ok(())
}

/// What the steps below make of an element.
fn expected(start: f32) -> f32 {
    let mut x = 2.0 * start + 1.0;
    let mut y = x * x;
    y += x;
    y = 0.5 * y - 1.0;
    for _ in 0..REPEATED {
        x = -x + 3.0;
        y += x;
        y += 1.0;
    }
    y
}

/// The function that the text of PTX has.
pub(crate) fn theirs(context: &Arc<CudaContext>) -> Result<CudaFunction, Box<dyn Error>> {
    let module = context.load_module(Ptx::from_src(THEIRS))?;
    Ok(module.load_function("scale")?)
}

/// Launches x = a · x + b on a stream.
pub(crate) fn scale(
    function: &CudaFunction,
    stream: &Arc<CudaStream>,
    x: &mut CudaViewMut<'_, f32>,
    a: f32,
    b: f32,
) -> Result<(), Box<dyn Error>> {
    let n = x.len() as u32;
    let mut launch = stream.launch_builder(function);
    launch.arg(x).arg(&n).arg(&a).arg(&b);
    // SAFETY: these are the kernel's parameters, and it changes the first `n` elements alone.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n))? };
    Ok(())
}

fn with_cudarc() -> Result<Vec<f32>, Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let (a, b) = (context.new_stream()?, context.new_stream()?);
    let function = theirs(&context)?;
    // SAFETY: the streams are not captured, and what `read`, `write` and `lend_mut` return is dropped.
    let (on_a, on_b) = unsafe { (Guest::new(&a)?, Guest::new(&b)?) };

    // Theirs and ours in turns, on one stream.
    let start: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let mut x = a.clone_htod(&start)?;
    scale(&function, &a, &mut x.as_view_mut(), 2.0, 1.0)?;
    let mut y = Tensor::<f32, 1>::zeros(on_a.device(), [N])?;
    let read = on_a.read(x.as_view(), [N], [1])?;
    ours::squares::launch(on_a.device(), GRID, &read.view(), &mut y.view_mut())?;
    drop(read);

    // On another stream: ours waits for the first by events of both, and the host does not.
    let read = on_b.read(x.as_view(), [N], [1])?;
    ours::add::launch(on_b.device(), GRID, &read.view(), &mut y.view_mut())?;
    drop(read);

    // Theirs in a tensor of ours, on the first stream again.
    let mut lent = on_a.lend_mut(&mut y)?;
    scale(&function, &a, &mut lent.view_mut(), 0.5, -1.0)?;
    drop(lent);
    let (x, y) = (a.clone_dtoh(&x)?, y.download()?);
    with_a_graph(&x, &y)
}

/// The program's graph, with launches of both. cudarc must not use events there, so this is another context of cudarc's.
fn with_a_graph(x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    // SAFETY: all work is on one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let function = theirs(&context)?;
    let (mut x, mut y) = (stream.clone_htod(x)?, stream.clone_htod(y)?);
    // SAFETY: the slices live as long as the graph, and are used on this stream alone. What `read` and `write` return is dropped.
    let guest = unsafe { Guest::new(&stream)? };
    guest.device().prepare(&[Instance::of::<ours::add>()])?;

    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    scale(&function, &stream, &mut x.as_view_mut(), -1.0, 3.0)?;
    let read = guest.read(x.as_view(), [N], [1])?;
    let mut write = guest.write(y.as_view_mut(), [N], [1])?;
    ours::add::launch(guest.device(), GRID, &read.view(), &mut write.view_mut())?;
    drop((read, write));
    scale(&function, &stream, &mut y.as_view_mut(), 1.0, 1.0)?;
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0))?;
    let graph = graph.ok_or("the capture has ended without a graph")?;

    for _ in 0..REPEATED {
        graph.launch()?;
    }
    Ok(stream.clone_dtoh(&y)?)
}

fn with_host_memory() -> Result<Vec<f32>, Box<dyn Error>> {
    let device = Device::emulator();
    let on_a = device.on(&device.new_stream()?)?;
    let on_b = device.on(&device.new_stream()?)?;
    let mut start: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let mut memory = vec![0.0; N];
    let (x_memory, y_memory) = (start.as_mut_ptr(), memory.as_mut_ptr());
    let scale = |on: &Device, x: *mut f32, a: f32, b: f32| {
        let work = |x: &mut [f32]| x.iter_mut().for_each(|x| *x = a * *x + b);
        // SAFETY: this is called for the memory above, which nobody else uses meanwhile.
        unsafe { on.emulate_others(x, N, work) }
    };

    // Theirs and ours in turns, on one stream.
    scale(&on_a, x_memory, 2.0, 1.0)?;
    // SAFETY: the memory lives longer, and is otherwise used by `scale` alone, in the order of the streams.
    let x = unsafe { Tensor::from_raw_parts(x_memory, [N], [1], &on_a, ())? };
    // SAFETY: as above.
    let mut y = unsafe { Tensor::from_raw_parts_mut(y_memory, [N], [1], &on_a, ())? };
    ours::squares::launch(&on_a, GRID, &x.view(), &mut y.view_mut())?;

    // On another stream: ours waits for the first, and the host does not.
    ours::add::launch(&on_b, GRID, &x.view(), &mut y.view_mut())?;
    drop((x, y));

    // Theirs in the memory of the tensor, on the first stream again, which has waited for the second.
    scale(&on_a, y_memory, 0.5, -1.0)?;

    // A graph of the emulator has launches of ours alone, and theirs stand between.
    // SAFETY: as above.
    let x = unsafe { Tensor::from_raw_parts(x_memory, [N], [1], &on_a, ())? };
    // SAFETY: as above.
    let mut y = unsafe { Tensor::from_raw_parts_mut(y_memory, [N], [1], &on_a, ())? };
    let graph = on_a.capture(|| ours::add::launch(&on_a, GRID, &x.view(), &mut y.view_mut()))?;
    for _ in 0..REPEATED {
        scale(&on_a, x_memory, -1.0, 3.0)?;
        graph.launch()?;
        scale(&on_a, y_memory, 1.0, 1.0)?;
    }
    drop((graph, x, y));
    Ok(memory)
}
