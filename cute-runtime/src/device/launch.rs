//! Launches: the arguments are checked against the kernel's parameters and handed to the device.

use std::fmt::Debug;
use std::sync::Arc;

use cute_hopper::{shared, threads};

use crate::device::backend::Launch;
use crate::device::capture;
use crate::device::compiled::Compiled;
use crate::device::fact::{Named, Numbers, Term};
use crate::device::image::Image;
use crate::device::memory::Memory;
use crate::device::tensor_map::{RawView, check_stored, check_view, tensor_map};
use crate::{
    ArgumentRule, Device, Element, ElementType, Error, Grid, Kernel, LaunchRule, Param, TensorView,
    TensorViewMut,
};

const MAX_CLUSTER: u64 = threads::MAX_CLUSTER as u64;

/// The largest extent that a kernel reads: signed coordinates of 32 bits do not reach further.
const MAX_EXTENT: u32 = 1 << 31;

/// A launch argument of any type: made by `into` from a `&TensorView`, a `&mut TensorViewMut` or a number.
#[derive(Clone, Debug)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Tensor {
        view: RawView,
        memory: &'a Arc<Memory>,
        writable: bool,
    },
    Scalar {
        ty: ElementType,
        bytes: Vec<u8>,
    },
}

fn raw_view<T: Element, const R: usize>(
    address: u64,
    shape: [usize; R],
    strides: [usize; R],
) -> RawView {
    RawView {
        element: T::TYPE,
        address,
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    }
}

impl<'a, T: Element, const R: usize> From<&TensorView<'a, T, R>> for Argument<'a> {
    fn from(tensor: &TensorView<'a, T, R>) -> Self {
        let view = raw_view::<T, R>(tensor.address(), tensor.shape(), tensor.strides());
        Argument(Kind::Tensor {
            view,
            memory: tensor.buffer.memory(),
            writable: false,
        })
    }
}

impl<'a, T: Element, const R: usize> From<&'a mut TensorViewMut<'_, T, R>> for Argument<'a> {
    fn from(tensor: &'a mut TensorViewMut<'_, T, R>) -> Self {
        let view = raw_view::<T, R>(tensor.address(), tensor.shape(), tensor.strides());
        Argument(Kind::Tensor {
            view,
            memory: tensor.buffer.memory(),
            writable: true,
        })
    }
}

impl<T: Element> From<T> for Argument<'_> {
    fn from(value: T) -> Self {
        Argument(Kind::Scalar {
            ty: T::TYPE,
            bytes: value.as_bytes().to_vec(),
        })
    }
}

/// Checks a launch and starts it. On a GPU it returns before the kernel has finished.
///
/// The typed `launch` that `#[kernels]` declares for an instance is one call of this function, such as
/// `launch::<Self>(device, grid.into(), &[a.into(), m.into()])`. There `a` is a `&TensorView`, or a `&mut TensorViewMut` if
/// the kernel writes it, and `m` is a number.
///
/// # Safety
///
/// With this grid and these arguments, every element of a [`Param::Global`] that the kernel reads or writes lies inside the
/// tensor. Accesses by TMA need no such promise: the hardware checks them against the bounds in the tensor map.
pub unsafe fn launch<K: Kernel>(
    device: &Device,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    // SAFETY: the caller promises what `launch_image` asks for, and the implementation of `Kernel` that it is described.
    unsafe { launch_image(device, &Image::of::<K>(), grid, arguments) }
}

/// Checks a launch and starts it.
///
/// # Safety
///
/// As [`launch`] demands. The image is what a kernel's author promises in an implementation of [`Kernel`].
pub(crate) unsafe fn launch_image(
    device: &Device,
    image: &Image,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    let refuse = |rule| Error::Launch {
        kernel: image.name,
        rule,
    };
    check_limits(image).map_err(refuse)?;
    check_grid(image, grid).map_err(refuse)?;
    if arguments.len() != image.params.len() {
        return Err(refuse(LaunchRule::Arguments {
            expected: image.params.len(),
            found: arguments.len(),
        }));
    }
    let mut parameters = Vec::with_capacity(arguments.len());
    for (param, argument) in image.params.iter().zip(arguments) {
        lower(device, image.name, param, argument, &mut parameters)?;
    }
    let numbers = Launched {
        params: image.params,
        arguments,
    };
    for fact in image.facts {
        if let Some(numbers) = fact.broken_by(&numbers) {
            let fact = fact.text;
            return Err(refuse(LaunchRule::Fact { fact, numbers }));
        }
    }
    let tensors = image.params.iter().zip(arguments);
    let tensors = tensors.filter_map(|(param, argument)| match &argument.0 {
        Kind::Tensor { view, .. } => Some((param.name(), view)),
        Kind::Scalar { .. } => None,
    });
    let tensors: Vec<(&str, &RawView)> = tensors.collect();
    if capture::id(device.backend()).is_some() {
        if !image.reports.is_empty() {
            return Err(refuse(LaunchRule::Captured));
        }
        let memory = arguments.iter().filter_map(|argument| match &argument.0 {
            Kind::Tensor { memory, .. } => Some(Arc::clone(memory) as Arc<dyn Send + Sync>),
            Kind::Scalar { .. } => None,
        });
        let tensors = tensors.iter().map(|&(name, view)| (name, view.clone()));
        capture::list(Launch {
            image: image.clone(),
            grid,
            parameters,
            tensors: tensors.collect(),
            _memory: memory.collect(),
        });
        return Ok(());
    }
    // SAFETY: every address is that of an argument, and `lower` has checked that this is a tensor of this device, of the type
    // that the kernel's parameter has, and mutably borrowed if the kernel writes it. The kernel's author promises that the
    // kernel accesses global memory only through its parameters, and the caller promises that it stays inside the
    // tensors.
    unsafe { device.backend().launch(image, grid, &parameters, &tensors) }
}

/// The error of a launch that chooses an instance which the kernel does not have.
pub fn no_instance(kernel: &'static str, values: &[(&str, &dyn Debug)]) -> Error {
    let values = values.iter().map(|(name, value)| {
        // The variant of a number begins with `_`.
        let value = format!("{value:?}");
        format!("{name} = {}", value.trim_start_matches('_'))
    });
    let values = values.collect::<Vec<_>>().join(", ");
    Error::Launch {
        kernel,
        rule: LaunchRule::Instance { values },
    }
}

impl Device {
    /// Compiles a kernel for this device, as its first launch does, and returns what the compiler reports. A kernel that was
    /// compiled before is not compiled again.
    pub fn compile<K: Kernel>(&self) -> Result<Compiled, Error> {
        self.compile_image(&Image::of::<K>())
    }

    pub(crate) fn compile_image(&self, image: &Image) -> Result<Compiled, Error> {
        check_limits(image).map_err(|rule| Error::Launch {
            kernel: image.name,
            rule,
        })?;
        self.backend().compile(image)
    }
}

/// Refuses a kernel that exceeds a limit of the hardware.
fn check_limits(image: &Image) -> Result<(), LaunchRule> {
    if !(1..=threads::MAX_CTA).contains(&image.threads) {
        return Err(LaunchRule::Threads {
            threads: image.threads,
            limit: threads::MAX_CTA,
        });
    }
    if image.smem_bytes > shared::MAX_BYTES {
        return Err(LaunchRule::SharedMemory {
            bytes: image.smem_bytes,
            limit: shared::MAX_BYTES,
        });
    }
    let cluster = image
        .cluster
        .iter()
        .fold(1u64, |ctas, &extent| ctas.saturating_mul(u64::from(extent)));
    if !(1..=MAX_CLUSTER).contains(&cluster) {
        return Err(LaunchRule::ClusterSize {
            cluster,
            limit: MAX_CLUSTER,
        });
    }
    Ok(())
}

fn check_grid(image: &Image, grid: Grid) -> Result<(), LaunchRule> {
    for (i, extent) in <[u32; 3]>::from(grid).into_iter().enumerate() {
        let (axis, limit, cluster) = (['x', 'y', 'z'][i], threads::MAX_GRID[i], image.cluster[i]);
        if !(1..=limit).contains(&extent) {
            return Err(LaunchRule::Grid { grid, axis, limit });
        }
        if !extent.is_multiple_of(cluster) {
            let nearest = u64::from(extent).next_multiple_of(u64::from(cluster));
            return Err(LaunchRule::Cluster {
                grid,
                axis,
                cluster,
                nearest,
            });
        }
    }
    Ok(())
}

/// Checks an argument against its parameter and appends the bytes of the PTX parameters that it becomes.
fn lower(
    device: &Device,
    kernel: &'static str,
    param: &Param,
    argument: &Argument<'_>,
    parameters: &mut Vec<Vec<u8>>,
) -> Result<(), Error> {
    let refuse = |rule| Error::Argument {
        kernel,
        argument: param.name(),
        rule,
    };
    match (param, &argument.0) {
        (Param::Scalar { ty, .. }, Kind::Scalar { ty: found, bytes }) => {
            if ty != found {
                return Err(refuse(ArgumentRule::Element {
                    expected: *ty,
                    found: *found,
                }));
            }
            parameters.push(bytes.clone());
        }
        (
            Param::TmaLoad(recipe) | Param::TmaStore(recipe),
            Kind::Tensor {
                view,
                memory,
                writable,
            },
        ) => {
            check_home(device, &memory.device).map_err(refuse)?;
            let map = tensor_map(recipe, view).map_err(refuse)?;
            if matches!(param, Param::TmaStore(_)) {
                check_writable(*writable).map_err(refuse)?;
                check_stored(view).map_err(refuse)?;
            }
            parameters.push(device.backend().encode(&map)?.to_vec());
        }
        (
            Param::Global {
                element,
                rank,
                written,
                extents,
                ..
            },
            Kind::Tensor {
                view,
                memory,
                writable,
            },
        ) => {
            check_home(device, &memory.device).map_err(refuse)?;
            if *written {
                check_writable(*writable).map_err(refuse)?;
            }
            check_view(*element, *rank, view).map_err(refuse)?;
            parameters.push(view.address.to_le_bytes().to_vec());
            let outer = view
                .strides
                .split_last()
                .map_or(&[][..], |(_, outer)| outer);
            parameters.extend(
                outer
                    .iter()
                    .map(|&stride| (stride as u64).to_le_bytes().to_vec()),
            );
            if *extents {
                parameters.extend(extents_of(view).map_err(refuse)?);
            }
        }
        (Param::Scalar { .. }, Kind::Tensor { .. }) => {
            return Err(refuse(ArgumentRule::Kind {
                expected: "a number",
                found: "a tensor",
            }));
        }
        (_, Kind::Scalar { .. }) => {
            return Err(refuse(ArgumentRule::Kind {
                expected: "a tensor",
                found: "a number",
            }));
        }
    }
    Ok(())
}

/// The extents as parameters of 32 bits.
fn extents_of(view: &RawView) -> Result<Vec<Vec<u8>>, ArgumentRule> {
    let extent = |(mode, &extent): (usize, &usize)| match u32::try_from(extent) {
        Ok(short) if short <= MAX_EXTENT => Ok(short.to_le_bytes().to_vec()),
        _ => Err(ArgumentRule::ExtentBeyond {
            mode,
            extent: extent as u64,
            limit: MAX_EXTENT.into(),
        }),
    };
    view.shape.iter().enumerate().map(extent).collect()
}

/// The numbers of a launch, for its facts.
struct Launched<'a> {
    params: &'static [Param],
    arguments: &'a [Argument<'a>],
}

impl Numbers for Launched<'_> {
    fn number(&self, term: Term) -> Option<Named> {
        let of = |param: usize| {
            Some((
                self.params.get(param)?.name(),
                &self.arguments.get(param)?.0,
            ))
        };
        let (name, value) = match term {
            Term::Scalar(param) => match of(param)? {
                (name, Kind::Scalar { ty, bytes }) => (name.to_owned(), integer(*ty, bytes)?),
                _ => return None,
            },
            Term::Extent(param, mode) => match of(param)? {
                (name, Kind::Tensor { view, .. }) => (
                    format!("extent({name}, {mode})"),
                    *view.shape.get(mode)? as i128,
                ),
                _ => return None,
            },
            Term::Stride(param, mode) => match of(param)? {
                (name, Kind::Tensor { view, .. }) => {
                    // The kernel takes 1 for the stride of the last mode, which may have another if it has one element.
                    let last = mode + 1 == view.strides.len();
                    let stride = if last { 1 } else { *view.strides.get(mode)? };
                    (format!("stride({name}, {mode})"), stride as i128)
                }
                _ => return None,
            },
            Term::Address(param) => match of(param)? {
                (name, Kind::Tensor { view, .. }) => {
                    (format!("address of {name}"), view.address.into())
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Named { name, value })
    }
}

/// An integer argument.
fn integer(ty: ElementType, bytes: &[u8]) -> Option<i128> {
    Some(match ty {
        ElementType::U32 => u32::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::I32 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::U64 => u64::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::I64 => i64::from_le_bytes(bytes.try_into().ok()?).into(),
        _ => return None,
    })
}

fn check_writable(writable: bool) -> Result<(), ArgumentRule> {
    match writable {
        true => Ok(()),
        false => Err(ArgumentRule::ReadOnly),
    }
}

fn check_home(device: &Device, home: &Device) -> Result<(), ArgumentRule> {
    if device == home {
        return Ok(());
    }
    let (expected, mut found) = (device.name().to_string(), home.name().to_string());
    if found == expected {
        found.insert_str(0, "another ");
    }
    Err(ArgumentRule::OtherDevice { expected, found })
}
